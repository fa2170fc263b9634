/* SPDX-License-Identifier: Apache-2.0 */
/* The executor's machine: runs the loops, and the ops of each program over the
 * current lanes. All state belongs to the run, so that several threads may run
 * one struct exec at the same time. */
#include <stdlib.h>

#include "exec.h"

struct machine {
	const struct exec *exec;
	int64_t *env;
	void **buffers;
	/* by buffer: memory that the run has allocated, or NULL */
	void **owned;
	unsigned char *columns; /* all columns */
	void **reg;             /* by register: the address of its values */
	int lanes;              /* the number of lanes in the current strip */
	bool failed;
	/* NULL, or where the run notes overflows */
	struct run_overflow *overflow;
};

/* The arithmetic is unsigned and wraps: in lanes outside of the mask, an index
 * that was loaded from data may have any value. */
static int64_t
address_offset(const struct machine *m, const struct exec_address *at)
{
	uint64_t offset = (uint64_t)at->base;

	for (int i = 0; i < at->terms.n; i++) {
		const struct exec_term *t = &at->terms.data[i];

		offset += (uint64_t)t->coeff *
			  (uint64_t)(t->is_register
					     ? *(const int64_t *)m->reg[t->slot]
					     : m->env[t->slot]);
	}
	return (int64_t)offset;
}

/* The mask of an op, by lane. NULL: the op is computed in all lanes. Also NULL
 * for a uniform op, which is always computed: if no lane needed it, its region
 * would have been skipped. */
static const unsigned char *
mask_of(const struct machine *m, const struct exec_op *op, int n)
{
	const unsigned char *mask = op->mask < 0 || op->uniform
					    ? NULL
					    : m->reg[op->mask];

	return mask && memchr(mask, 0, (size_t)n) ? mask : NULL;
}

/* The largest offset among the lanes of the mask; a negative offset counts as
 * larger than any other. */
static uint64_t
farthest(int64_t offset, const int64_t *gather, const unsigned char *mask,
	 int n)
{
	uint64_t most = 0;

	for (int i = 0; i < n; i++) {
		uint64_t at = (uint64_t)offset + (uint64_t)gather[i];

		most = (mask == NULL || mask[i]) && at > most ? at : most;
	}
	return most;
}

/* Are all accesses of the n lanes, or, if there is a mask, of the lanes in it,
 * inside of the buffer? offset: the offset of lane 0. */
static bool
is_inside(const struct machine *m, const struct exec_address *at,
	  int64_t offset, const unsigned char *mask, int n)
{
	const uint64_t elems = (uint64_t)m->exec->elems[at->buffer];
	int first = 0, last = n - 1;
	int64_t step;

	if (at->gather >= 0) {
		return farthest(offset, m->reg[at->gather], mask, n) < elems;
	}
	while (mask != NULL && first < n && !mask[first]) {
		first++;
	}
	while (mask != NULL && last > first && !mask[last]) {
		last--;
	}
	if (first == n) {
		return true;
	}
	return !__builtin_mul_overflow((int64_t)last, at->stride, &step) &&
	       (uint64_t)offset + (uint64_t)step < elems &&
	       (uint64_t)offset + (uint64_t)first * (uint64_t)at->stride <
		       elems;
}

/* Sets *offset to that of lane 0. False, and the machine has failed, if a lane's
 * access is outside of the buffer. */
static bool
locate(struct machine *m, const struct exec_address *at,
       const unsigned char *mask, int n, int64_t *offset)
{
	*offset = address_offset(m, at);
	m->failed |= !is_inside(m, at, *offset, mask, n);
	return !m->failed;
}

/* The place of lane 0 in memory, which has elements for n lanes; NULL if it has
 * not. */
static void *
place(struct machine *m, const struct exec_address *at, int n)
{
	int64_t offset;

	return locate(m, at, NULL, n, &offset)
		       ? (unsigned char *)m->buffers[at->buffer] +
				 offset * dtype_bytes(at->type)
		       : NULL;
}

/* Where the result of an op with n lanes is stored: directly in memory, or in
 * its column. For a load, it may be the loaded memory itself, which then serves
 * as the column and needs no copy. Unaligned elements, as a mapped file may
 * have, are copied to the column. NULL if an access is outside of its
 * buffer. */
static void *
destination(struct machine *m, const struct exec_op *op,
	    const struct exec_program *p, int n)
{
	unsigned char *column = m->columns +
				(size_t)op->dst * EXEC_COLUMN_BYTES;
	const struct exec_address *at;
	void *memory;

	if (op->direct >= 0) {
		return place(m, &p->addresses.data[op->direct], n);
	}
	if (!op->aliases) {
		return column;
	}
	at = &p->addresses.data[op->index];
	memory = place(m, at, n);
	return (uintptr_t)memory % (uintptr_t)dtype_bytes(at->type) == 0
		       ? memory
		       : column;
}

static void
run_load(struct machine *m, const struct exec_op *op,
	 const struct exec_program *p, int n)
{
	const struct exec_address *at = &p->addresses.data[op->index];
	const int64_t *gather = at->gather < 0 ? NULL : m->reg[at->gather];
	const unsigned char *mask = mask_of(m, op, n);
	int64_t offset;

	if (locate(m, at, mask, n, &offset)) {
		column_load(at->type, m->reg[op->dst], m->buffers[at->buffer],
			    offset, at->stride, gather, mask, n);
	}
}

static void
run_store(struct machine *m, const struct exec_op *op,
	  const struct exec_program *p, int n)
{
	const struct exec_address *at = &p->addresses.data[op->index];
	const int64_t *gather = at->gather < 0 ? NULL : m->reg[at->gather];
	const unsigned char *mask = mask_of(m, op, n);
	int64_t offset;

	if (locate(m, at, mask, n, &offset)) {
		column_store(at->type, m->buffers[at->buffer], offset,
			     at->stride, gather, m->reg[op->a], mask, n);
	}
}

static void
run_fold(struct machine *m, const struct exec_op *op,
	 const struct exec_program *p, int n)
{
	void *cell = place(m, &p->addresses.data[op->index], 1);

	m->failed |= cell == NULL || !column_fold(op, cell, m->reg[op->a],
						  mask_of(m, op, n), n);
}

static bool
holds_somewhere(const unsigned char *mask, int n)
{
	return memchr(mask, 1, (size_t)n) != NULL;
}

static void
run_program(struct machine *m, const struct exec_program *p, int lanes)
{
	for (int i = 0; i < p->ops.n; i++) {
		const struct exec_op *op = &p->ops.data[i];
		int n = op->uniform ? 1 : lanes;
		void *a = op->a < 0 ? NULL : m->reg[op->a];
		void *b = op->b < 0 ? NULL : m->reg[op->b];
		void *c = op->c < 0 ? NULL : m->reg[op->c];
		void *dst = NULL;

		if (op->dst >= 0) {
			dst = destination(m, op, p, n);
			if (dst == NULL) {
				return;
			}
			m->reg[op->dst] = dst;
		}
		switch ((enum exec_code)op->code) {
		case EXEC_ENV:
			if (op->column == COLUMN_BOOL) {
				*(unsigned char *)dst = m->env[op->index] != 0;
			} else {
				*(int64_t *)dst = m->env[op->index];
			}
			break;
		case EXEC_LOAD:
			if (!op->aliases ||
			    (unsigned char *)dst ==
				    m->columns + (size_t)op->dst *
							 EXEC_COLUMN_BYTES) {
				run_load(m, op, p, n);
			}
			break;
		case EXEC_STORE:
			run_store(m, op, p, n);
			break;
		case EXEC_FOLD:
			run_fold(m, op, p, n);
			/* its overflows are not noted */
			m->failed |= m->overflow != NULL;
			break;
		case EXEC_BINARY:
			if (m->overflow != NULL) {
				column_overflow(op, a, b, mask_of(m, op, n), n,
						m->overflow);
			}
			m->failed |= !column_binary(op, dst, a, b,
						    mask_of(m, op, n), n);
			break;
		case EXEC_NOT: {
			const unsigned char *x = a;
			unsigned char *d = dst;

			for (int k = 0; k < n; k++) {
				d[k] = !x[k];
			}
			break;
		}
		case EXEC_SELECT:
			column_select(op->column, dst, c, op->a_uniform, a, b,
				      n);
			break;
		case EXEC_CAST:
			column_cast(op->type, op->from, dst, a, n);
			break;
		case EXEC_CALL:
			m->failed |= !column_call(op, dst, a, b, c,
						  mask_of(m, op, n), n);
			break;
		case EXEC_BROADCAST:
			column_broadcast(op->column, dst, a, n);
			break;
		case EXEC_SKIP:
			if (!holds_somewhere(a, n)) {
				i = op->index - 1;
			}
			break;
		case EXEC_NOTHING:
			break;
		}
	}
}

static int64_t
program_value(struct machine *m, const struct exec_program *p,
	      enum column column)
{
	run_program(m, p, 1);
	return column == COLUMN_BOOL ? *(const unsigned char *)m->reg[p->result]
				     : *(const int64_t *)m->reg[p->result];
}

static void run_node(struct machine *m, const struct exec_node *x);

static void
run_loop(struct machine *m, const struct exec_node *x)
{
	int64_t min = x->min_program
			      ? program_value(m, x->min_program, COLUMN_INT)
			      : x->min;
	int64_t extent = x->extent_program ? program_value(m, x->extent_program,
							   COLUMN_INT)
					   : x->extent;

	if (x->strip == 0) {
		for (int64_t i = 0; i < extent && !m->failed; i++) {
			m->env[x->slot] = min + i;
			run_node(m, x->children[0]);
		}
		return;
	}
	for (int64_t i = 0; i < extent && !m->failed; i += x->strip) {
		int n = extent - i < x->strip ? (int)(extent - i) : x->strip;

		m->env[x->slot] = min + i;
		m->lanes = n * x->inner;
		run_node(m, x->children[0]);
	}
}

static void
run_alloc(struct machine *m, const struct exec_node *x)
{
	if (!m->owned[x->buffer]) {
		m->owned[x->buffer] = malloc((size_t)x->bytes + 1);
		m->buffers[x->buffer] = m->owned[x->buffer];
		if (!m->owned[x->buffer]) {
			memory_exhausted();
		}
	}
	if (!m->failed) {
		run_node(m, x->children[0]);
	}
}

static void
run_node(struct machine *m, const struct exec_node *x)
{
	switch (x->kind) {
	case EXEC_SEQ:
		for (int i = 0; i < x->n_children && !m->failed; i++) {
			run_node(m, x->children[i]);
		}
		break;
	case EXEC_LOOP:
		run_loop(m, x);
		break;
	case EXEC_LEAF:
		run_program(m, x->program, x->has_lanes ? m->lanes : 1);
		break;
	case EXEC_IF:
		if (program_value(m, x->program, COLUMN_BOOL)) {
			run_node(m, x->children[0]);
		} else if (x->n_children > 1) {
			run_node(m, x->children[1]);
		}
		break;
	case EXEC_SET:
		m->env[x->slot] = program_value(m, x->program,
						x->is_bool ? COLUMN_BOOL
							   : COLUMN_INT);
		run_node(m, x->children[0]);
		break;
	case EXEC_ALLOC:
		run_alloc(m, x);
		break;
	}
}

static void
fill_presets(struct machine *m)
{
	for (int i = 0; i < m->exec->presets.n; i++) {
		const struct exec_preset *p = &m->exec->presets.data[i];
		void *column = m->reg[m->exec->n_regs + i];
		float single = (float)p->value.f;
		unsigned char truth = p->value.i != 0;

		switch (p->column) {
		case COLUMN_F32:
			column_broadcast(p->column, column, &single,
					 EXEC_LANES);
			break;
		case COLUMN_BOOL:
			column_broadcast(p->column, column, &truth, EXEC_LANES);
			break;
		case COLUMN_F64:
			column_broadcast(p->column, column, &p->value,
					 EXEC_LANES);
			break;
		case COLUMN_INT:
			for (int lane = 0; lane < EXEC_LANES; lane++) {
				((int64_t *)column)[lane] = p->value.i +
							    lane % p->inner *
								    p->step +
							    lane / p->inner *
								    p->row_step;
			}
			break;
		}
	}
}

/* Sets the arguments; the machine has failed if one has too few bytes. */
static void
bind_params(struct machine *m, const struct run_arg *args)
{
	const struct exec *x = m->exec;

	for (int i = 0; i < x->n_params; i++) {
		if (x->param_buffer[i] >= 0) {
			m->buffers[x->param_buffer[i]] = args[i].data;
			m->failed |= args[i].bytes > 0 &&
				     args[i].bytes < x->param_bytes[i];
		} else if (x->param_slot[i] >= 0) {
			m->env[x->param_slot[i]] = args[i].scalar;
		}
	}
}

static bool
run(struct machine m, const struct run_arg *args, int n)
{
	const struct exec *x = m.exec;
	size_t n_regs = (size_t)x->n_regs + (size_t)x->presets.n;

	if (n != x->n_params) {
		return false;
	}
	m.env = calloc((size_t)x->n_slots + 1, sizeof *m.env);
	m.buffers = calloc((size_t)x->n_buffers + 1, sizeof *m.buffers);
	m.owned = calloc((size_t)x->n_buffers + 1, sizeof *m.owned);
	m.reg = calloc(n_regs + 1, sizeof *m.reg);
	m.columns = calloc(n_regs + 1, EXEC_COLUMN_BYTES);
	if (!m.env || !m.buffers || !m.owned || !m.reg || !m.columns) {
		memory_exhausted();
	}
	for (size_t i = 0; i < n_regs; i++) {
		m.reg[i] = m.columns + i * EXEC_COLUMN_BYTES;
	}
	fill_presets(&m);
	bind_params(&m, args);
	if (!m.failed) {
		run_node(&m, x->root);
	}
	for (int i = 0; i < x->n_buffers; i++) {
		free(m.owned[i]);
	}
	free(m.env);
	free(m.buffers);
	free(m.owned);
	free(m.reg);
	free(m.columns);
	return !m.failed;
}

bool
exec_run(const struct exec *x, const struct run_arg *args, int n)
{
	return run((struct machine){ .exec = x }, args, n);
}

bool
exec_run_overflow(const struct exec *x, const struct run_arg *args, int n,
		  struct run_overflow *out)
{
	*out = (struct run_overflow){ .product = false };
	return run((struct machine){ .exec = x, .overflow = out }, args, n);
}
