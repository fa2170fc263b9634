/* SPDX-License-Identifier: Apache-2.0 */
/* The interpreter runs statements in order, one element at a time, and checks
 * every access. Loops of all kinds run serially. A block binds its iter vars,
 * runs its init if every reduction variable is at its first value, then its
 * body. */
#include "interp.h"

#include <stdlib.h>

#include "frame.h"
#include "thread_loops.h"

void
interp_fail(struct frame *f, const char *fmt, ...)
{
	struct diag_place place = { .item = f->func->name };
	va_list ap;

	if (f->interp->failed) {
		return; /* the first failure is reported */
	}
	f->interp->failed = true;
	va_start(ap, fmt);
	diag_error(&f->interp->module->diags, DIAG_INTERPRET, place, "%s",
		   arena_vprintf(&f->interp->arena, fmt, ap));
	va_end(ap);
}

static bool
stopped(const struct frame *f)
{
	return f->interp->failed || f->returned;
}

bool
launch_fits(struct frame *f, const struct step *s, int64_t extent)
{
	const int64_t *launch = f->interp->launch;

	if (!launch || s->tag < 0 || s->tag >= TAG_COUNT ||
	    launch[s->tag] == extent) {
		return true;
	}
	interp_fail(f, "%s has %lld threads, but was launched with %lld",
		    tag_name(s->tag), (long long)extent,
		    (long long)launch[s->tag]);
	return false;
}

static void
run_for(struct frame *f, const struct step *s)
{
	struct interp *x = f->interp;
	int64_t min = node_int(f, s->args[0]);
	int64_t extent = node_int(f, s->args[1]);
	int64_t block = x->block, thread = x->thread;
	bool hardware = s->tag >= 0 && s->tag < TAG_COUNT;
	bool outermost = hardware && !x->in_kernel;

	if (s->waits && tag_is_thread(s->tag)) {
		run_threads(f, s);
		return;
	}
	if (!launch_fits(f, s, extent)) {
		return;
	}
	x->in_kernel |= outermost;
	for (int64_t i = 0; i < extent && !stopped(f); i++) {
		s->var->bound = true;
		s->var->value.i = min + i;
		if (tag_is_thread(s->tag)) {
			x->thread = thread * extent + i;
		} else if (hardware) {
			x->block = block * extent + i;
			x->interval++;
		}
		run_step(f, s->children[0]);
	}
	s->var->bound = false;
	x->block = block;
	x->thread = thread;
	if (outermost) {
		x->in_kernel = false;
		x->interval++;
		race_end_kernel(x->races);
	}
}

/* Binds the block's iter vars to their values; *first is set if all reduction
 * variables are at their first value. */
static void
bind_iters(struct frame *f, const struct step *s, bool *first)
{
	const struct block *b = s->stmt->u.block;

	*first = true;
	for (int i = 0; i < b->n_iters; i++) {
		node_eval(f, s->args[1 + i]);
	}
	for (int i = 0; i < b->n_iters; i++) {
		int64_t value = s->args[1 + i]->value[0].i;
		int64_t min = node_int(f, s->iter_min[i]);
		int64_t extent = node_int(f, s->iter_extent[i]);

		if (value < min || value >= min + extent) {
			interp_fail(f,
				    "block '%s': '%s' is %lld, outside of "
				    "%lld..%lld",
				    b->name, b->iters[i].var->name,
				    (long long)value, (long long)min,
				    (long long)(min + extent - 1));
			return;
		}
		if (b->iters[i].kind == ITER_REDUCE && value != min) {
			*first = false;
		}
	}
	for (int i = 0; i < b->n_iters; i++) {
		s->iters[i]->value = s->args[1 + i]->value[0];
		s->iters[i]->bound = true;
	}
}

static void
run_block(struct frame *f, const struct step *s)
{
	const struct block *b = s->stmt->u.block;
	bool first;

	if (!node_int(f, s->args[0]) || stopped(f)) {
		return;
	}
	bind_iters(f, s, &first);
	for (int i = 0; i < b->n_allocs && !stopped(f); i++) {
		buffer_allocate(f, s->allocs[i]);
	}
	if (first && s->children[1] && !stopped(f)) {
		run_step(f, s->children[1]);
	}
	if (!stopped(f)) {
		run_step(f, s->children[0]);
	}
	for (int i = 0; i < b->n_iters; i++) {
		s->iters[i]->bound = false;
	}
	for (int i = 0; i < b->n_allocs; i++) {
		s->allocs[i]->bound = false;
	}
}

/* Stores lane i of the step's value in element `at`. True if the element had
 * this value already. */
static bool
store_element(struct buffer_cell *c, const struct step *s, int i, int64_t at)
{
	struct dtype t = c->buffer->type;
	unsigned char *place = (unsigned char *)c->data + at * c->elem_bytes;
	unsigned char old[64];
	bool known = (size_t)c->elem_bytes <= sizeof old;

	if (known) {
		memcpy(old, place, (size_t)c->elem_bytes);
	}
	for (int k = 0; k < t.lanes; k++) {
		number_store(t, c->data, (size_t)(at * t.lanes + k),
			     s->args[0]->value[i * t.lanes + k]);
	}
	return known && memcmp(old, place, (size_t)c->elem_bytes) == 0;
}

static void
run_store(struct frame *f, const struct step *s)
{
	struct buffer_cell *c = s->buffer;
	struct dtype t = c->buffer->type;

	for (int i = 0; i < s->stmt->n_args; i++) {
		node_eval(f, s->args[i]);
	}
	if (stopped(f)) {
		return;
	}
	if (!c->bound || !c->data) {
		interp_fail(f, "'%s' is written but has no storage",
			    c->buffer->name);
		return;
	}
	for (int i = 0; i < s->args[0]->lanes / t.lanes; i++) {
		int64_t at = buffer_offset(f, c, s->args + 1, i);

		if (at < 0) {
			return;
		}
		race_note(f, c, at,
			  store_element(c, s, i, at) ? RACE_KEEPS
						     : RACE_WRITES);
		if (c->written) {
			c->written[at] = 1;
		}
	}
}

static void
run_while(struct frame *f, const struct step *s)
{
	while (!stopped(f)) {
		f->epoch++;
		if (!node_int(f, s->args[0]) || stopped(f)) {
			return;
		}
		run_step(f, s->children[0]);
	}
}

void
run_step(struct frame *f, const struct step *s)
{
	f->epoch++;
	switch (s->stmt->kind) {
	case STMT_FOR:
		run_for(f, s);
		break;
	case STMT_BLOCK:
		run_block(f, s);
		break;
	case STMT_STORE:
		run_store(f, s);
		break;
	case STMT_IF:
		if (node_int(f, s->args[0]) && !stopped(f)) {
			run_step(f, s->children[0]);
		} else if (!stopped(f) && s->stmt->n_children > 1 &&
			   s->children[1]) {
			run_step(f, s->children[1]);
		}
		break;
	case STMT_LET:
		node_eval(f, s->args[0]);
		s->var->value = s->args[0]->value[0];
		memcpy(s->var->lanes, s->args[0]->value,
		       sizeof *s->var->lanes * (size_t)s->args[0]->lanes);
		s->var->bound = true;
		run_step(f, s->children[0]);
		s->var->bound = false;
		break;
	case STMT_ALLOC:
		buffer_allocate(f, s->buffer);
		if (!stopped(f)) {
			run_step(f, s->children[0]);
		}
		s->buffer->bound = false;
		break;
	case STMT_ATTR:
		run_step(f, s->children[0]);
		break;
	case STMT_EVALUATE:
		node_eval(f, s->args[0]);
		break;
	case STMT_WHILE:
		run_while(f, s);
		break;
	case STMT_ASSERT:
		if (!node_int(f, s->args[0])) {
			interp_fail(f, "assertion failed: %s",
				    s->args[1]->expr->u.text);
		}
		break;
	case STMT_RETURN:
		if (s->stmt->n_args > 0) {
			node_eval(f, s->args[0]);
			f->result = s->args[0]->value[0];
		}
		f->returned = true;
		break;
	case STMT_SEQ:
		for (int i = 0; i < s->stmt->n_children && !stopped(f); i++) {
			run_step(f, s->children[i]);
		}
		break;
	case STMT_KIND_COUNT:
		break;
	}
}

/* ---- functions */

static struct frame *
frame_for(struct interp *x, struct func *func)
{
	for (int i = 0; i < x->frames.n; i++) {
		if (x->frames.data[i]->func == func) {
			return x->frames.data[i];
		}
	}
	struct frame *f = arena_new(&x->arena, struct frame);

	f->interp = x;
	f->func = func;
	f->arena = &x->arena;
	f->body = func->body ? frame_step(f, func->body) : NULL;
	vec_push(&x->arena, &x->frames, f);
	return f;
}

static void
run_func_frame(struct frame *f, const struct run_arg *args, int n)
{
	struct func *func = f->func;

	if (n != func->params.n || f->running) {
		interp_fail(f,
			    f->running
				    ? "the function calls itself"
				    : "the function takes %d arguments, not %d",
			    func->params.n, n);
		return;
	}
	f->running = true;
	f->returned = false;
	f->result.i = 0;
	for (int i = 0; i < n; i++) {
		const struct param *p = &func->params.data[i];
		struct var_cell *cell;

		if (p->buffer) {
			continue;
		}
		cell = frame_var(f, p->var);
		cell->bound = true;
		cell->value.i = args[i].scalar;
		if (dtype_class(p->var->type) == DTC_HANDLE) {
			cell->value.u = (uint64_t)(uintptr_t)args[i].data;
		} else if (dtype_is_float(p->var->type)) {
			cell->value.f = (double)args[i].scalar;
		}
	}
	for (int i = 0; i < n && !f->interp->failed; i++) {
		if (func->params.data[i].buffer) {
			buffer_bind(f,
				    frame_buffer(f,
						 func->params.data[i].buffer),
				    args[i].data);
		}
	}
	if (f->body && !f->interp->failed) {
		run_step(f, f->body);
	}
	f->running = false;
}

/* In the arguments of a launch, the extents x, y, z of the grid and of the
 * blocks are between the name and the kernel's arguments. */
enum { LAUNCH_EXTENTS = 6 };

static void
read_launch(const struct node *call, int64_t *extent)
{
	static const int tags[LAUNCH_EXTENTS] = {
		TAG_BLOCK_X,  TAG_BLOCK_Y,  TAG_BLOCK_Z,
		TAG_THREAD_X, TAG_THREAD_Y, TAG_THREAD_Z,
	};

	for (int i = 0; i < LAUNCH_EXTENTS; i++) {
		extent[tags[i]] = call->args[1 + i]->value[0].i;
	}
}

/* Sets whether the memory of the callee's parameter i is private or shared: by
 * its type, or because the argument's memory is. */
static void
pass_scope(struct frame *callee, int i, const struct node *arg)
{
	const struct buffer *param = callee->func->params.data[i].buffer;
	const struct expr *e = arg->expr;
	struct buffer_cell *cell;

	if (param == NULL) {
		return;
	}
	cell = frame_buffer(callee, param);
	cell->is_private = buffer_is_private(param);
	cell->is_shared = buffer_is_shared(param);
	if (e->kind == EXPR_CALL && intrin_is_address(e->u.intrin)) {
		cell->is_private |= arg->args[0]->buffer->is_private;
		cell->is_shared |= arg->args[0]->buffer->is_shared;
	}
}

void
frame_call(struct frame *f, struct node *call)
{
	const char *name = call->args[0]->expr->u.text;
	struct func *func = module_find_func(f->interp->module, name);
	bool launch = call->expr->u.intrin == INTRIN_LAUNCH;
	int first = launch ? 1 + LAUNCH_EXTENTS : 1;
	int n = call->expr->n_args - first;
	int64_t extent[TAG_COUNT];

	if (!func) {
		interp_fail(
			f,
			call->expr->u.intrin == INTRIN_CALL_EXTERN
				? "the function '%s' is outside of the module"
				: "the module has no function '%s'",
			name);
		return;
	}
	struct frame *callee = frame_for(f->interp, func);
	struct run_arg *args = arena_array(f->arena, struct run_arg, n + 1);

	for (int i = 0; i < n; i++) {
		const struct node *arg = call->args[first + i];

		args[i].scalar = arg->value[0].i;
		args[i].data = (void *)(uintptr_t)arg->value[0].u;
		pass_scope(callee, i, arg);
	}
	if (launch) {
		read_launch(call, extent);
		f->interp->launch = extent;
	}
	run_func_frame(callee, args, n);
	f->interp->launch = NULL;
	call->value[0] = callee->result;
}

static bool
run(struct func *f, const struct run_arg *args, int n, bool races)
{
	struct interp x = { .module = f->module };

	arena_init(&x.arena);
	x.races = races ? race_table_new() : NULL;
	run_func_frame(frame_for(&x, f), args, n);
	for (int i = 0; i < x.frames.n; i++) {
		const struct frame *frame = x.frames.data[i];

		for (int k = 0; k < frame->owned.n; k++) {
			free(frame->owned.data[k]->data);
			free(frame->owned.data[k]->written);
		}
	}
	race_table_free(x.races);
	arena_release(&x.arena);
	return !x.failed;
}

bool
interp_run(struct func *f, const struct run_arg *args, int n)
{
	return run(f, args, n, false);
}

bool
interp_run_races(struct func *f, const struct run_arg *args, int n)
{
	return run(f, args, n, true);
}
