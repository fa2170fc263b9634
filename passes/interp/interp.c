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
	const struct run_source *source = f->interp->source;
	const struct stmt *at = f->interp->at;
	va_list ap;

	if (f->interp->failed) {
		return; /* only the first failure is reported */
	}
	f->interp->failed = true;
	if (source) {
		bool known = at && at->pos.line > 0;

		place.file = source->file;
		place.line = known ? at->pos.line : source->line;
		place.col = known ? at->pos.col : source->col;
	}
	va_start(ap, fmt);
	diag_error(&f->interp->module->diags, DIAG_INTERPRET, place, "%s%s",
		   arena_vprintf(&f->interp->arena, fmt, ap),
		   source ? source->ending : "");
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

/* Does the loop's variable hold the end of the loop? Asked of a source only;
 * false after a diagnostic. */
static bool
loop_fits(struct frame *f, const struct step *s, int64_t min, int64_t extent)
{
	struct dtype t = s->var->var->type;
	int64_t end;

	if (!f->interp->source || extent <= 0 ||
	    (!__builtin_add_overflow(min, extent, &end) &&
	     dtype_holds(t, min) && dtype_holds(t, end))) {
		return true;
	}
	interp_fail(f,
		    "the loop of '%s' has %lld iterations from %lld, which %s "
		    "does not hold",
		    s->var->var->name, (long long)extent, (long long)min,
		    dtype_name(t));
	return false;
}

static void
run_for(struct frame *f, const struct step *s)
{
	struct interp *x = f->interp;
	int64_t min = node_int(f, s->args[0]);
	int64_t extent = node_int(f, s->args[1]);
	int64_t block = x->block, thread = x->thread;
	bool lanes = x->source && s->stmt->u.loop.kind == FOR_VECTORIZED;
	/* Parallel loops in a parallel or vectorized loop run serially. */
	bool parallel = x->source && x->parallel_loops == 0 &&
			x->lane_loops == 0 &&
			s->stmt->u.loop.kind == FOR_PARALLEL;
	bool hardware = (s->tag >= 0 && s->tag < TAG_COUNT) || parallel;
	bool outermost = (hardware || lanes) && !x->in_kernel;

	if (s->waits && tag_is_thread(s->tag)) {
		run_threads(f, s);
		return;
	}
	if (!launch_fits(f, s, extent) || !loop_fits(f, s, min, extent)) {
		return;
	}
	x->in_kernel |= outermost;
	x->lane_loops += lanes;
	x->parallel_loops += parallel;
	x->interval += lanes;
	for (int64_t i = 0; i < extent && !stopped(f); i++) {
		s->var->bound = true;
		s->var->value.i = min + i;
		if (tag_is_thread(s->tag) || lanes) {
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
	x->lane_loops -= lanes;
	x->parallel_loops -= parallel;
	x->interval += lanes;
	if (outermost) {
		x->in_kernel = false;
		x->interval++;
		race_end_kernel(x->races);
	}
}

/* Binds the block's iter vars to their values; *first is set to true if all
 * reduction variables are at their first value. */
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

/* Stores lane i of the step's value in element `at`. */
static void
store_element(struct buffer_cell *c, const struct step *s, int i, int64_t at)
{
	struct dtype t = c->buffer->type;

	for (int k = 0; k < t.lanes; k++) {
		number_store(t, c->data, (size_t)(at * t.lanes + k),
			     s->args[0]->value[i * t.lanes + k]);
	}
}

/* The same, and records it. */
static void
store_noted(struct frame *f, struct buffer_cell *c, const struct step *s, int i,
	    int64_t at)
{
	unsigned char *place = (unsigned char *)c->data + at * c->elem_bytes;
	unsigned char old[64];
	size_t bytes = (size_t)c->elem_bytes;
	bool known = bytes <= sizeof old, same;

	if (known) {
		memcpy(old, place, bytes);
	}
	store_element(c, s, i, at);
	same = known && memcmp(old, place, bytes) == 0;
	race_note(f, c, at, same ? RACE_KEEPS : RACE_WRITES);
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
		if (race_is_noted(f, c)) {
			store_noted(f, c, s, i, at);
		} else {
			store_element(c, s, i, at);
		}
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
	f->interp->at = s->stmt;
	if (!frame_take_steps(f, 1)) {
		return;
	}
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
frame_for(struct interp *x, const struct func *func)
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
	pointer_map_init(&f->places, f->arena);
	f->body = func->body ? frame_step(f, func->body) : NULL;
	vec_push(&x->arena, &x->frames, f);
	return f;
}

/* The memory of an array in the run of a source: its size in bytes, and, by
 * element, whether the element was written; NULL: all elements were. */
struct memory {
	int64_t bytes;
	unsigned char *written;
};

/* Binds parameter i to the array that arg gives. memory: the array's memory;
 * NULL: it is as large as the parameter's shape says. called: the function was
 * called by another one, and the memory must be at least that large. */
static void
bind_param(struct frame *f, int i, const struct run_arg *arg,
	   const struct memory *memory, bool called)
{
	struct buffer_cell *cell = frame_buffer(f,
						f->func->params.data[i].buffer);

	buffer_bind(f, cell, arg->data);
	if (f->interp->failed) {
		return;
	}
	if (arg->bytes > 0 && cell->room_bytes > arg->bytes) {
		interp_fail(f,
			    "the array for '%s' has %lld bytes, and its shape "
			    "%lld",
			    cell->buffer->name, (long long)arg->bytes,
			    (long long)cell->room_bytes);
		return;
	}
	if (!memory) {
		return;
	}
	if (called && cell->room_bytes > memory->bytes) {
		interp_fail(f,
			    "its caller gives '%s' an array of %lld bytes, and "
			    "its shape has %lld",
			    cell->buffer->name, (long long)memory->bytes,
			    (long long)cell->room_bytes);
		return;
	}
	buffer_set_room(cell, memory->bytes);
	cell->written = memory->written;
}

/* Sets f->writes. */
static void
find_writes(struct frame *f)
{
	const struct func *func = f->func;

	f->writes = arena_array(f->arena, bool, func->params.n + 1);
	for (int i = 0; i < func->params.n; i++) {
		const struct buffer *b = func->params.data[i].buffer;

		f->writes[i] = b != NULL && func_writes(func, b);
	}
}

static bool
cells_overlap(const struct buffer_cell *a, const struct buffer_cell *b)
{
	const char *from = a->data, *to = b->data;

	return from < to + b->elems * b->elem_bytes &&
	       to < from + a->elems * a->elem_bytes;
}

/* Fails if a call gives the function two arrays that overlap, and the function
 * may write one of them: the source declares its parameters as arrays that do
 * not overlap (restrict). */
static void
check_apart(struct frame *f)
{
	const struct func *func = f->func;

	if (f->writes == NULL) {
		find_writes(f);
	}
	for (int i = 0; i < func->params.n; i++) {
		const struct buffer *b = func->params.data[i].buffer;

		for (int j = 0; j < func->params.n && f->writes[i]; j++) {
			const struct buffer *other =
				func->params.data[j].buffer;

			if (j != i && other != NULL &&
			    cells_overlap(frame_buffer(f, b),
					  frame_buffer(f, other))) {
				interp_fail(f,
					    "its caller gives '%s' and '%s' "
					    "memory that overlaps, and it "
					    "writes '%s'",
					    b->name, other->name, b->name);
				return;
			}
		}
	}
}

/* Fails if a scalar of a call is outside of the bounds that the function
 * declares for the scalar: the source was simplified by these bounds. */
static void
check_bounds(struct frame *f, const struct run_arg *args)
{
	for (int i = 0; i < f->func->params.n; i++) {
		const struct param *p = &f->func->params.data[i];

		if (p->buffer == NULL && p->var->min <= p->var->max &&
		    (args[i].scalar < p->var->min ||
		     args[i].scalar > p->var->max)) {
			interp_fail(f,
				    "its '%s' is %lld, outside of the bounds "
				    "that it declares",
				    p->var->name, (long long)args[i].scalar);
			return;
		}
	}
}

/* Gives the variable of a scalar parameter its value. Fails if an integer is
 * outside of the range of its type: indices are proven only for values in this
 * range. called: the function is called by a function of the module, and arg
 * has the bits of the value. */
static void
bind_scalar(struct frame *f, const struct var *v, const struct run_arg *arg,
	    bool called)
{
	struct var_cell *cell = frame_var(f, v);
	enum dtype_class kind = dtype_class(v->type);

	cell->bound = true;
	cell->value.i = arg->scalar;
	if (kind == DTC_HANDLE) {
		cell->value.u = (uint64_t)(uintptr_t)arg->data;
	} else if (dtype_is_float(v->type)) {
		if (!called) {
			cell->value.f = (double)arg->scalar;
		}
	} else if (dtype_bits(v->type) < 64 &&
		   !dtype_holds(v->type, arg->scalar)) {
		interp_fail(f, "its '%s' is %lld, which %s does not hold",
			    v->name, (long long)arg->scalar,
			    dtype_name(v->type));
	}
}

/* memory: for each argument of a call or of a source, the memory that it gives;
 * NULL in other runs. */
static void
run_func_frame(struct frame *f, const struct run_arg *args, int n,
	       const struct memory *memory, bool called)
{
	const struct func *func = f->func;

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

		if (!p->buffer) {
			bind_scalar(f, p->var, &args[i], called);
		}
	}
	for (int i = 0; i < n && !f->interp->failed; i++) {
		if (func->params.data[i].buffer) {
			bind_param(f, i, &args[i], memory ? &memory[i] : NULL,
				   called);
		}
	}
	if (f->interp->source && !f->interp->failed) {
		check_bounds(f, args);
	}
	if (f->interp->source && called && !f->interp->failed) {
		check_apart(f);
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
	cell->is_private = !callee->interp->source && buffer_is_private(param);
	cell->is_shared = !callee->interp->source && buffer_is_shared(param);
	if (e->kind == EXPR_CALL && intrin_is_address(e->u.intrin)) {
		cell->is_private |= arg->args[0]->buffer->is_private;
		cell->is_shared |= arg->args[0]->buffer->is_shared;
	}
}

/* The function that a call of `name` in a source runs; NULL if there is none.
 * Functions of the source come before external ones of the same name. */
static const struct func *
source_callee(const struct run_source *source, const char *name, bool external)
{
	for (int i = 0; i < source->n_callees; i++) {
		const struct run_callee *c = &source->callees[i];

		if ((external || !c->external) && strcmp(c->name, name) == 0) {
			return c->func;
		}
	}
	return NULL;
}

/* The buffer of f to whose memory the argument of a call points. NULL if that is
 * not known. */
static struct buffer_cell *
pointed_to(struct frame *f, const struct node *arg)
{
	if (arg->expr->kind == EXPR_CALL &&
	    intrin_is_address(arg->expr->u.intrin)) {
		return arg->args[0]->buffer;
	}
	for (int i = 0; i < f->buffers.n && arg->var; i++) {
		struct buffer_cell *c = f->buffers.data[i];

		if (c->pointer == arg->var && c->bound) {
			return c;
		}
	}
	return NULL;
}

/* Was all memory of c from element `at` on written? Asked if the elements of a
 * callee's parameter have another size than those of c, so that single elements
 * cannot be compared. */
static bool
is_written(const struct buffer_cell *c, int64_t at)
{
	for (int64_t i = at; c->written && i < c->room; i++) {
		if (!c->written[i]) {
			return false;
		}
	}
	return true;
}

/* Sets *out to the memory that an argument of a call gives to parameter i of the
 * callee. False after a diagnostic. */
static bool
given_memory(struct frame *f, const struct func *callee, int i,
	     const struct node *arg, struct memory *out)
{
	const struct buffer *param = callee->params.data[i].buffer;
	struct buffer_cell *c = pointed_to(f, arg);
	int64_t from;

	if (!c && f->interp->trusts_handles) {
		*out = (struct memory){ .bytes = INT64_MAX };
		return true;
	}
	if (!c || !c->bound || !c->data) {
		interp_fail(
			f,
			"argument %d of '%s' is not an array, but the function "
			"takes one",
			i + 1, callee->name);
		return false;
	}
	from = (int64_t)(arg->value[0].u - (uint64_t)(uintptr_t)c->data);
	if (from < 0 || from > c->room_bytes) {
		interp_fail(f, "argument %d of '%s' is not an address in '%s'",
			    i + 1, callee->name, c->buffer->name);
		return false;
	}
	*out = (struct memory){ .bytes = c->room_bytes - from };
	if (!c->written || !f->interp->source) {
		return true;
	}
	if (c->elem_bytes == dtype_bytes(param->type) * param->type.lanes) {
		out->written = c->written + from / c->elem_bytes;
		return true;
	}
	if (!is_written(c, from / c->elem_bytes)) {
		interp_fail(f,
			    "'%s' is given to '%s' as an array of another type "
			    "before it is written",
			    c->buffer->name, callee->name);
		return false;
	}
	return true;
}

/* Can parameter i of the callee represent the value of the argument? False
 * after a diagnostic. */
static bool
takes_value(struct frame *f, const struct func *callee, int i,
	    const struct node *arg)
{
	struct dtype from = arg->expr->type;
	struct dtype to = callee->params.data[i].var->type;

	if (dtype_equal(from, to) ||
	    (dtype_is_int(from) && dtype_is_int(to) &&
	     number_cast(to, from, arg->value[0]).i == arg->value[0].i)) {
		return true;
	}
	interp_fail(f,
		    "argument %d of '%s' is %s, and the function takes %s; "
		    "cast it",
		    i + 1, callee->name, dtype_name(from), dtype_name(to));
	return false;
}

/* Sets *out to the memory of the arguments of a call. False after a
 * diagnostic. */
static bool
pass_memory(struct frame *f, const struct func *callee,
	    struct node *const *args, struct memory *out)
{
	for (int i = 0; i < callee->params.n; i++) {
		const struct node *arg = args[i];
		bool good = callee->params.data[i].buffer
				    ? given_memory(f, callee, i, arg, &out[i])
				    : takes_value(f, callee, i, arg);

		if (!good) {
			return false;
		}
	}
	return true;
}

/* Is the result of the call used: is the call more than the whole statement
 * `at`? */
static bool
is_used(const struct node *call, const struct stmt *at)
{
	return call->expr->type.kind != DT_VOID &&
	       (at->kind != STMT_EVALUATE || at->args[0] != call->expr);
}

void
frame_call(struct frame *f, struct node *call)
{
	const char *name = call->args[0]->expr->u.text;
	const struct run_source *source = f->interp->source;
	const struct stmt *at = f->interp->at;
	const struct func *func =
		source ? source_callee(source, name,
				       call->expr->u.intrin ==
					       INTRIN_CALL_EXTERN)
		       : module_find_func(f->interp->module, name);
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
	if (n != func->params.n) {
		interp_fail(f, "'%s' takes %d arguments, not %d", func->name,
			    func->params.n, n);
		return;
	}
	if (source && is_used(call, at)) {
		interp_fail(f,
			    "the result of '%s' is used, and its source has "
			    "none",
			    func->name);
		return;
	}
	struct frame *callee = frame_for(f->interp, func);
	struct run_arg *args = arena_array(f->arena, struct run_arg, n + 1);
	struct memory *memory = arena_array(f->arena, struct memory, n + 1);

	if (!pass_memory(f, func, call->args + first, memory)) {
		return;
	}
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
	run_func_frame(callee, args, n, memory, true);
	f->interp->launch = NULL;
	f->interp->at = at;
	call->value[0] = callee->result;
}

/* The memory of the arguments of a source. */
static struct memory *
source_memory(struct interp *x, const struct func *f)
{
	const struct run_source *source = x->source;
	struct memory *memory = arena_array(&x->arena, struct memory,
					    f->params.n + 1);

	for (int i = 0; i < f->params.n; i++) {
		const struct buffer *b = f->params.data[i].buffer;

		if (!b) {
			continue;
		}
		memory[i].bytes = source->bytes[i];
		if (i >= source->n_given) {
			memory[i].written =
				arena_array(&x->arena, unsigned char,
					    source->bytes[i] /
							    dtype_bytes(
								    b->type) +
						    1);
		}
	}
	return memory;
}

static bool
run(struct interp *x, const struct func *f, const struct run_arg *args, int n,
    bool races)
{
	struct run_steps *steps = x->steps;

	if (steps != NULL) {
		steps->first = steps->left;
		steps->next = steps->tell != NULL && steps->left > steps->every
				      ? steps->left - steps->every
				      : 0;
	}
	x->module = f->module;
	arena_init(&x->arena);
	x->races = races ? race_table_new() : NULL;
	run_func_frame(frame_for(x, f), args, n,
		       x->source ? source_memory(x, f) : NULL, false);
	for (int i = 0; i < x->frames.n; i++) {
		const struct frame *frame = x->frames.data[i];

		for (int k = 0; k < frame->owned.n; k++) {
			free(frame->owned.data[k]->data);
			free(frame->owned.data[k]->written);
		}
	}
	race_table_free(x->races);
	arena_release(&x->arena);
	return !x->failed;
}

bool
interp_run(struct func *f, const struct run_arg *args, int n)
{
	struct interp x = { 0 };

	return run(&x, f, args, n, false);
}

bool
interp_run_entry(struct func *f, const struct run_arg *args, int n)
{
	struct interp x = { .trusts_handles = true };

	return run(&x, f, args, n, false);
}

bool
interp_run_races(struct func *f, const struct run_arg *args, int n)
{
	struct interp x = { 0 };

	return run(&x, f, args, n, true);
}

bool
interp_run_overflow(struct func *f, const struct run_arg *args, int n,
		    struct run_overflow *out)
{
	struct interp x = { .overflow = out };

	*out = (struct run_overflow){ .product = false };
	return run(&x, f, args, n, false);
}

bool
interp_run_source(const struct func *f, const struct run_arg *args, int n,
		  const struct run_source *how)
{
	struct interp x = { .source = how, .steps = how->steps };

	return run(&x, f, args, n, true);
}

bool
interp_run_steps(struct func *f, const struct run_arg *args, int n,
		 struct run_steps *steps)
{
	struct interp x = { .steps = steps };

	return run(&x, f, args, n, false);
}
