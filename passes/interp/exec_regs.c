/* SPDX-License-Identifier: Apache-2.0 */
/* Finishes a program: a load from a buffer that the program does not store to
 * reads the memory directly; a value that is only stored is computed directly
 * in memory; registers of dead values are reused, so that the columns of a
 * program fit in the first-level cache. */
#include "exec.h"

/* Calls visit for every register that op reads. */
static void
visit_reads(const struct exec_program *p, struct exec_op *op,
	    void (*visit)(void *ctx, int *reg), void *ctx)
{
	int *operands[] = { &op->a, &op->b, &op->c, &op->mask };
	int addresses[] = { op->direct, -1 };

	if (op->code == EXEC_LOAD || op->code == EXEC_STORE ||
	    op->code == EXEC_FOLD) {
		addresses[1] = op->index;
	}
	for (int i = 0; i < 4; i++) {
		if (*operands[i] >= 0) {
			visit(ctx, operands[i]);
		}
	}
	for (int i = 0; i < 2; i++) {
		if (addresses[i] < 0) {
			continue;
		}
		struct exec_address *at = &p->addresses.data[addresses[i]];

		for (int k = 0; k < at->terms.n; k++) {
			if (at->terms.data[k].is_register) {
				visit(ctx, &at->terms.data[k].slot);
			}
		}
		if (at->gather >= 0) {
			visit(ctx, &at->gather);
		}
	}
}

static bool
accesses_buffer(const struct exec_program *p, int buffer, bool stores)
{
	for (int i = 0; i < p->ops.n; i++) {
		const struct exec_op *op = &p->ops.data[i];
		bool writes = op->code == EXEC_STORE || op->code == EXEC_FOLD;
		bool reads = op->code == EXEC_LOAD || op->code == EXEC_FOLD;

		if ((stores ? writes : reads) &&
		    p->addresses.data[op->index].buffer == buffer) {
			return true;
		}
	}
	return false;
}

static void
alias_loads(struct exec_program *p)
{
	for (int i = 0; i < p->ops.n; i++) {
		struct exec_op *op = &p->ops.data[i];
		const struct exec_address *at;

		if (op->code != EXEC_LOAD || op->mask >= 0 || op->skippable) {
			continue;
		}
		at = &p->addresses.data[op->index];
		op->aliases = column_is_memory(at->type) && at->gather < 0 &&
			      (op->uniform || at->stride == 1) &&
			      !accesses_buffer(p, at->buffer, true);
	}
}

struct count {
	int reg, n;
};

static void
count_read(void *ctx, int *reg)
{
	struct count *c = ctx;

	c->n += *reg == c->reg;
}

static int
count_reads(struct exec_program *p, int reg)
{
	struct count c = { reg, 0 };

	for (int i = 0; i < p->ops.n; i++) {
		visit_reads(p, &p->ops.data[i], count_read, &c);
	}
	return c.n;
}

static void
store_in_place(struct exec_program *p)
{
	for (int i = 1; i < p->ops.n; i++) {
		struct exec_op *op = &p->ops.data[i];
		struct exec_op *from = op - 1;
		const struct exec_address *at;

		if (op->code != EXEC_STORE || op->mask >= 0 || op->skippable ||
		    from->dst != op->a || from->uniform != op->uniform ||
		    (from->code != EXEC_BINARY && from->code != EXEC_CALL &&
		     from->code != EXEC_CAST && from->code != EXEC_SELECT)) {
			continue;
		}
		at = &p->addresses.data[op->index];
		if (column_is_memory(at->type) && at->gather < 0 &&
		    (op->uniform || at->stride == 1) &&
		    !accesses_buffer(p, at->buffer, false) &&
		    count_reads(p, op->a) == 1) {
			from->direct = op->index;
			op->code = EXEC_NOTHING;
			op->a = -1;
		}
	}
}

/* ---- registers */

struct lives {
	/* by register: the index of the last op that reads the register */
	int *last;
	int now;
};

static void
note_read(void *ctx, int *reg)
{
	struct lives *l = ctx;

	if (*reg < EXEC_PRESET) {
		l->last[*reg] = l->now;
	}
}

struct renaming {
	const int *home;
};

static void
rename_read(void *ctx, int *reg)
{
	const struct renaming *r = ctx;

	if (*reg < EXEC_PRESET) {
		*reg = r->home[*reg];
	}
}

static void
assign_registers(struct arena *a, struct exec_program *p)
{
	int n = p->n_regs;
	struct lives lives = { arena_array(a, int, n + 1), 0 };
	int *home = arena_array(a, int, n + 1);
	int *unused = arena_array(a, int, n + 1);
	bool *pinned = arena_array(a, bool, n + 1);
	/* owner[h]: the register to which home h (a place among the columns)
	 * belongs; -1: no register */
	int *owner = arena_array(a, int, n + 1);
	int n_unused = 0;
	int n_homes = 0;

	for (int i = 0; i < p->ops.n; i++) {
		lives.now = i;
		visit_reads(p, &p->ops.data[i], note_read, &lives);
	}
	if (p->result >= 0 && p->result < EXEC_PRESET) {
		lives.last[p->result] = p->ops.n;
	}
	for (int i = 0; i < p->ops.n; i++) {
		const struct exec_op *op = &p->ops.data[i];

		if (op->dst >= 0) {
			/* The register may point at memory outside of the
			 * columns: no other register gets its home. */
			bool own = op->aliases || op->direct >= 0;
			int h = !own && n_unused > 0 ? unused[--n_unused]
						     : n_homes++;

			home[op->dst] = h;
			owner[h] = op->dst;
			pinned[h] = own;
		}
		for (int h = 0; h < n_homes; h++) {
			if (owner[h] >= 0 && !pinned[h] &&
			    lives.last[owner[h]] <= i) {
				owner[h] = -1;
				unused[n_unused++] = h;
			}
		}
	}

	/* Several ops may use an address: the registers of each address are
	 * renamed once. */
	struct renaming renaming = { home };

	for (int i = 0; i < p->ops.n; i++) {
		struct exec_op *op = &p->ops.data[i];
		int *operands[] = { &op->a, &op->b, &op->c, &op->mask,
				    &op->dst };

		for (int k = 0; k < 5; k++) {
			if (*operands[k] >= 0) {
				rename_read(&renaming, operands[k]);
			}
		}
	}
	for (int i = 0; i < p->addresses.n; i++) {
		struct exec_address *at = &p->addresses.data[i];

		for (int k = 0; k < at->terms.n; k++) {
			if (at->terms.data[k].is_register) {
				rename_read(&renaming, &at->terms.data[k].slot);
			}
		}
		if (at->gather >= 0) {
			rename_read(&renaming, &at->gather);
		}
	}
	if (p->result >= 0) {
		rename_read(&renaming, &p->result);
	}
	p->n_regs = n_homes;
}

void
exec_finish_program(struct arena *a, struct exec_program *p)
{
	for (int i = 0; i < p->ops.n; i++) {
		p->ops.data[i].column = exec_column(p->ops.data[i].from);
	}
	alias_loads(p);
	store_in_place(p);
	assign_registers(a, p);
}

static void
place(int *reg, int n_regs)
{
	if (*reg >= EXEC_PRESET) {
		*reg = n_regs + (*reg - EXEC_PRESET);
	}
}

void
exec_place_presets(struct exec *x)
{
	for (int i = 0; i < x->programs.n; i++) {
		struct exec_program *p = x->programs.data[i];

		for (int k = 0; k < p->ops.n; k++) {
			struct exec_op *op = &p->ops.data[k];

			place(&op->a, x->n_regs);
			place(&op->b, x->n_regs);
			place(&op->c, x->n_regs);
			place(&op->mask, x->n_regs);
		}
		for (int k = 0; k < p->addresses.n; k++) {
			struct exec_address *at = &p->addresses.data[k];

			for (int t = 0; t < at->terms.n; t++) {
				if (at->terms.data[t].is_register) {
					place(&at->terms.data[t].slot,
					      x->n_regs);
				}
			}
			place(&at->gather, x->n_regs);
		}
		place(&p->result, x->n_regs);
	}
}
