/* SPDX-License-Identifier: Apache-2.0 */
/* Runs the threads of a block in turns: each thread up to the next barrier,
 * then each thread from there on. A statement without a barrier is run once for
 * each thread. A statement that contains a barrier is run once; its loop
 * variables, LETs and local arrays have a copy for each thread. */
#include <stdlib.h>

#include "frame.h"
#include "thread_loops.h"

/* The most threads in a block. Devices allow fewer: most of them at most
 * 1,024. */
enum { MOST_THREADS = 1 << 16 };

/* A variable that has its own value in each thread. */
struct lane_var {
	/* the cell has the value of the thread that is running */
	struct var_cell *cell;
	union number *value; /* by thread: its value */
};

/* A local array, of which each thread has its own. */
struct lane_array {
	/* the cell has the array of the thread that is running */
	struct buffer_cell *cell;
	/* the cell of the buffer as it was before the threads ran */
	struct buffer_cell saved;
	size_t bytes, elems;
	char *data; /* the arrays of all threads, one after the other */
	unsigned char *written;
};

struct lanes {
	struct frame *f;
	int64_t n;
	VEC(struct lane_var) vars;
	VEC(struct lane_array) arrays;
};

static void run_all(struct lanes *l, const struct step *s);

static bool
stopped(const struct lanes *l)
{
	return l->f->interp->failed || l->f->returned;
}

static void
activate(struct lanes *l, int64_t lane)
{
	struct frame *f = l->f;

	f->epoch++;
	f->interp->thread = lane;
	for (int i = 0; i < l->vars.n; i++) {
		l->vars.data[i].cell->value = l->vars.data[i].value[lane];
		l->vars.data[i].cell->bound = true;
	}
	for (int i = 0; i < l->arrays.n; i++) {
		struct lane_array *a = &l->arrays.data[i];

		a->cell->data = a->data + (size_t)lane * a->bytes;
		a->cell->written = a->written + (size_t)lane * a->elems;
		if (a->cell->pointer) {
			a->cell->pointer->value.u = (uint64_t)(uintptr_t)
							    a->cell->data;
		}
	}
}

/* The value of n, which must be the same in all threads; reports an error if it
 * is not. */
static int64_t
common_int(struct lanes *l, struct node *n, const char *what)
{
	int64_t first = 0;

	if (!frame_take_steps(l->f, l->n)) {
		return 0;
	}
	for (int64_t lane = 0; lane < l->n && !stopped(l); lane++) {
		int64_t v;

		activate(l, lane);
		v = node_int(l->f, n);
		if (lane == 0) {
			first = v;
		} else if (v != first) {
			interp_fail(l->f,
				    "not all threads of the block reach a "
				    "barrier: %s differs",
				    what);
		}
	}
	return first;
}

/* Runs a thread loop: every thread becomes as many threads as the loop has
 * iterations. */
static void
run_thread_loop(struct lanes *l, const struct step *s)
{
	int64_t min = common_int(l, s->args[0], "a loop's start");
	int64_t extent = common_int(l, s->args[1], "a loop's extent");
	struct lane_var v = { s->var, NULL };
	struct arena *arena = l->f->arena;
	int64_t n;

	if (stopped(l) || !launch_fits(l->f, s, extent) || extent <= 0) {
		return;
	}
	if (extent > MOST_THREADS / l->n) {
		interp_fail(l->f,
			    "a block with a barrier has more than %d threads",
			    MOST_THREADS);
		return;
	}
	n = l->n * extent;
	if (l->arrays.n > 0) {
		interp_fail(l->f, "local arrays outside of the thread loops");
		return;
	}
	for (int i = 0; i < l->vars.n; i++) {
		union number *old = l->vars.data[i].value;

		l->vars.data[i].value = arena_array(arena, union number, n);
		for (int64_t k = 0; k < n; k++) {
			l->vars.data[i].value[k] = old[k / extent];
		}
	}
	v.value = arena_array(arena, union number, n);
	for (int64_t k = 0; k < n; k++) {
		v.value[k].i = min + k % extent;
	}
	vec_push(arena, &l->vars, v);
	l->n = n;
	run_all(l, s->children[0]);
	/* After the outermost thread loop, the thread block has ended. */
	s->var->bound = false;
}

static void
run_loop(struct lanes *l, const struct step *s)
{
	int64_t min = common_int(l, s->args[0], "a loop's start");
	int64_t extent = common_int(l, s->args[1], "a loop's extent");

	for (int64_t i = 0; i < extent && !stopped(l); i++) {
		s->var->bound = true;
		s->var->value.i = min + i;
		run_all(l, s->children[0]);
	}
	s->var->bound = false;
}

static void
run_let(struct lanes *l, const struct step *s)
{
	struct lane_var v = { s->var, NULL };

	if (!frame_take_steps(l->f, l->n)) {
		return;
	}
	v.value = arena_array(l->f->arena, union number, l->n);
	for (int64_t lane = 0; lane < l->n && !stopped(l); lane++) {
		activate(l, lane);
		node_eval(l->f, s->args[0]);
		v.value[lane] = s->args[0]->value[0];
	}
	vec_push(l->f->arena, &l->vars, v);
	if (!stopped(l)) {
		run_all(l, s->children[0]);
	}
	l->vars.n--;
	s->var->bound = false;
}

/* Makes the arrays of all threads. False after a diagnostic. */
static bool
make_arrays(struct lanes *l, const struct step *s, struct lane_array *a)
{
	const struct diag_place place = { .item = l->f->func->name };
	const size_t n = (size_t)l->n;
	int64_t bytes;

	a->elems = (size_t)s->buffer->elems + 1;
	a->bytes = a->elems * (size_t)s->buffer->elem_bytes;
	bytes = quota_times((int64_t)(a->bytes + a->elems), l->n);
	if (!quota_check_memory(l->f->interp->module, place, bytes)) {
		l->f->interp->failed = true;
		return false;
	}
	if (!frame_fill_steps(l->f, (size_t)bytes)) {
		return false;
	}
	a->data = malloc(a->bytes * n);
	a->written = calloc(n, a->elems);
	if (a->data == NULL || a->written == NULL) {
		interp_fail(l->f, "no memory for '%s' of %zu threads",
			    s->buffer->buffer->name, n);
		return false;
	}
	memset(a->data, 0xFF, a->bytes * n);
	return true;
}

static void
run_alloc(struct lanes *l, const struct step *s)
{
	struct lane_array a = { .cell = s->buffer, .saved = *s->buffer };

	if (!s->buffer->is_private) {
		activate(l, 0);
		buffer_allocate(l->f, s->buffer);
		if (!stopped(l)) {
			run_all(l, s->children[0]);
		}
		s->buffer->bound = false;
		return;
	}
	activate(l, 0);
	buffer_bind(l->f, s->buffer, NULL);
	if (stopped(l)) {
		return;
	}
	if (make_arrays(l, s, &a)) {
		vec_push(l->f->arena, &l->arrays, a);
		run_all(l, s->children[0]);
		l->arrays.n--;
	}
	free(a.data);
	free(a.written);
	*s->buffer = a.saved;
	s->buffer->bound = false;
}

static void
run_branch(struct lanes *l, const struct step *s)
{
	bool yes = common_int(l, s->args[0], "a condition") != 0;

	if (stopped(l)) {
		return;
	}
	if (yes) {
		run_all(l, s->children[0]);
	} else if (s->stmt->n_children > 1 && s->children[1]) {
		run_all(l, s->children[1]);
	}
}

static void
run_while(struct lanes *l, const struct step *s)
{
	while (!stopped(l) && common_int(l, s->args[0], "a condition") != 0 &&
	       !stopped(l)) {
		run_all(l, s->children[0]);
	}
}

/* Runs a store of values from other threads (a warp shuffle): all threads
 * compute their value before any reads one. */
static void
run_shuffle(struct lanes *l, const struct step *s)
{
	struct interp *x = l->f->interp;
	const struct expr *call = stmt_shuffle(s->stmt);
	struct node *value = frame_node(l->f, call->args[0]);
	struct node *mask = frame_node(l->f, call->args[1]);
	int64_t bits = common_int(l, mask, "the source lane");
	union number *all;

	if (stopped(l)) {
		return;
	}
	all = arena_array(l->f->arena, union number, l->n);
	for (int64_t lane = 0; lane < l->n && !stopped(l); lane++) {
		activate(l, lane);
		node_eval(l->f, value);
		all[lane] = value->value[0];
		if ((lane ^ bits) >= l->n || bits < 0) {
			interp_fail(l->f,
				    "thread %lld reads from a lane that does "
				    "not exist",
				    (long long)lane);
		}
	}
	for (int64_t lane = 0; lane < l->n && !stopped(l); lane++) {
		activate(l, lane);
		x->shuffled = &all[lane ^ bits];
		run_step(l->f, s);
	}
	x->shuffled = NULL;
}

static void
run_all(struct lanes *l, const struct step *s)
{
	if (!frame_take_steps(l->f, 1)) {
		return;
	}
	if (!s->waits) {
		for (int64_t lane = 0; lane < l->n && !stopped(l); lane++) {
			activate(l, lane);
			run_step(l->f, s);
		}
		return;
	}
	switch (s->stmt->kind) {
	case STMT_FOR:
		if (tag_is_thread(s->tag)) {
			run_thread_loop(l, s);
		} else {
			run_loop(l, s);
		}
		break;
	case STMT_LET:
		run_let(l, s);
		break;
	case STMT_ALLOC:
		run_alloc(l, s);
		break;
	case STMT_IF:
		run_branch(l, s);
		break;
	case STMT_WHILE:
		run_while(l, s);
		break;
	case STMT_ATTR:
		run_all(l, s->children[0]);
		break;
	case STMT_EVALUATE:
		l->f->interp->interval++;
		break;
	case STMT_STORE:
		run_shuffle(l, s);
		break;
	case STMT_SEQ:
		for (int i = 0; i < s->stmt->n_children && !stopped(l); i++) {
			run_all(l, s->children[i]);
		}
		break;
	default:
		interp_fail(l->f,
			    "a barrier inside of a %s; lower the function "
			    "first",
			    stmt_kind_name(s->stmt->kind));
		break;
	}
}

void
run_threads(struct frame *f, const struct step *s)
{
	struct lanes l = { .f = f, .n = 1 };
	struct interp *x = f->interp;
	bool outermost = !x->in_kernel;
	int64_t thread = x->thread;

	x->in_kernel = true;
	x->interval++;
	run_all(&l, s);
	x->interval++;
	x->thread = thread;
	if (outermost) {
		x->in_kernel = false;
		race_end_kernel(x->races);
	}
}
