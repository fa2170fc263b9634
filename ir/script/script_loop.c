/* SPDX-License-Identifier: Apache-2.0 */
/* The TVMScript reader: for loops. */
#include "script_read.h"

static const struct {
	const char *path;
	enum for_kind kind;
} loop_words[] = {
	{ "serial", FOR_SERIAL },         { "parallel", FOR_PARALLEL },
	{ "vectorized", FOR_VECTORIZED }, { "unroll", FOR_UNROLLED },
	{ "unrolled", FOR_UNROLLED },     { "thread_binding", FOR_THREAD },
};

static bool
define_loop(struct script_reader *r, const struct py_node *target,
	    const struct range *range, const char *thread, struct var **out)
{
	if (target->kind != PY_NAME) {
		return script_fail(r, target,
				   "no name; a loop's variable is "
				   "one");
	}
	*out = var_new(r->m, script_hint(r, target->text), range->extent->type);

	struct script_loop loop = { *out, range->min, range->extent, thread };

	vec_push(&r->m->arena, &r->loops, loop);
	script_define(r, target->text, script_value_of((*out)->expr, false));
	return true;
}

/* Reads the range of a loop from one argument a, the extent, or from two, a and
 * b, begin and end. False after an error. */
static bool
loop_range(struct script_reader *r, const struct py_node *a,
	   const struct py_node *b, struct range *out)
{
	if (b) {
		return script_range(r, a, b, out);
	}
	if (a->kind == PY_TUPLE && a->n_kids == 2) {
		return script_range(r, a->kids[0], a->kids[1], out);
	}
	if (!script_index(r, a, &out->extent)) {
		return false;
	}
	out->min = expr_int(r->m, out->extent->type, 0);
	return true;
}

/* Reads the suite of a loop; after a break its iterations do nothing. n: the loops
 * that share the suite. Returns false after an error. */
static bool
loop_suite(struct script_reader *r, const struct py_node *node,
	   enum for_kind kind, int n, struct script_loop_flags *flags,
	   struct stmt **out)
{
	if (!script_loop_suite(r, node->kids[2], flags, out)) {
		return false;
	}
	if (!flags->left) {
		return true;
	}
	if (n > 1 || (kind != FOR_SERIAL && kind != FOR_UNROLLED)) {
		return script_fail(r, node,
				   n > 1 ? "a break of T.grid, which leaves "
					   "only the inner loop; write the "
					   "loops one by one"
					 : "a break of a loop whose iterations "
					   "have no order; use T.serial");
	}
	*out = stmt_if(r->f,
		       script_loop_goes_on(r, flags, expr_bool(r->m, true)),
		       *out, NULL);
	return true;
}

/* The ranges of several loops, the outermost first. */
struct ranges {
	VEC(struct range) list;
};

/* Reads the extents of T.grid(4, *A.shape). */
static bool
grid_ranges(struct script_reader *r, const struct py_node *call,
	    struct ranges *out)
{
	for (int i = 1; i < call->n_kids; i++) {
		const struct py_node *one = call->kids[i];
		bool star = one->kind == PY_STAR;
		struct script_value v = { .kind = SCRIPT_NONE };
		struct range range;

		if (one->kind == PY_KEYWORD) {
			return script_fail(r, one,
					   "T.grid has "
					   "no named arguments; use T.serial");
		}
		if (star && !script_eval(r, one->kids[0], &v)) {
			return false;
		}
		if (star && v.kind != SCRIPT_LIST) {
			return script_fail(r, one,
					   "a star before %s; it takes a list",
					   script_describe(&v));
		}
		for (int k = 0; star && k < v.n_items; k++) {
			if (!script_settle(r, one, &v.items[k],
					   &range.extent)) {
				return false;
			}
			range.min = expr_int(r->m, range.extent->type, 0);
			vec_push(&r->m->arena, &out->list, range);
		}
		if (!star && !loop_range(r, one, NULL, &range)) {
			return false;
		}
		if (!star) {
			vec_push(&r->m->arena, &out->list, range);
		}
	}
	return true;
}

/* Defines the variables of T.grid: a name for each loop, or one for the list of all
 * of them. */
static bool
define_grid(struct script_reader *r, const struct py_node *loop,
	    const struct ranges *ranges, struct var **vars)
{
	const struct py_node *target = loop->kids[0];
	int n_targets, n = ranges->list.n;
	const struct py_node *const *targets = script_items(&target,
							    &n_targets);
	struct script_value *all = arena_array(&r->m->arena,
					       struct script_value, n + 1),
			    list;
	struct py_node one = *target;

	if (n_targets == n) {
		for (int i = 0; i < n; i++) {
			if (!define_loop(r, targets[i], &ranges->list.data[i],
					 NULL, &vars[i])) {
				return false;
			}
		}
		return true;
	}
	if (target->kind != PY_NAME) {
		return script_fail(r, loop,
				   "%d loop variables for %d "
				   "extents; give equally many",
				   n_targets, n);
	}
	for (int i = 0; i < n; i++) {
		one.text = arena_printf(&r->m->arena, "%s_%d", target->text, i);
		if (!define_loop(r, &one, &ranges->list.data[i], NULL,
				 &vars[i])) {
			return false;
		}
		all[i] = script_value_of(vars[i]->expr, false);
	}
	if (!script_list(r, target, all, n, &list)) {
		return false;
	}
	script_define(r, target->text, list);
	return true;
}

static bool
read_grid(struct script_reader *r, const struct py_node *node,
	  const struct py_node *call, struct stmt **out)
{
	int n, names = r->names.n, loops = r->loops.n;
	struct ranges ranges = { { NULL, 0, 0 } };
	struct script_loop_flags flags;
	struct var **vars;

	if (!grid_ranges(r, call, &ranges)) {
		return false;
	}
	n = ranges.list.n;
	vars = arena_array(&r->m->arena, struct var *, n + 1);
	if (!script_suites_fit(r, call, n)) {
		return false;
	}
	r->n_suites += n;
	if (!define_grid(r, node, &ranges, vars) ||
	    !loop_suite(r, node, FOR_SERIAL, n, &flags, out)) {
		return false;
	}
	r->n_suites -= n;
	for (int i = n - 1; i >= 0; i--) {
		*out = stmt_for(r->f, vars[i], ranges.list.data[i].min,
				ranges.list.data[i].extent, FOR_SERIAL, *out);
		(*out)->pos = (struct src_pos){ node->span.line,
						node->span.col };
	}
	*out = script_loop_left(r, &flags, *out);
	script_leave(r, names);
	r->loops.n = loops;
	return true;
}

/* For a loop with a step: sets `range` to that of a loop which counts the steps
 * from 0 on, and *out to its variable. Defines the name as the value that it
 * has in the text, begin + step * (*out). False after an error. */
static bool
define_steps(struct script_reader *r, const struct py_node *node, int64_t step,
	     const char *name, struct range *range, struct var **out)
{
	struct module *m = r->m;
	struct dtype t = range->extent->type;
	const struct expr *size = expr_int(m, t, step), *begin = range->min;

	if (step < 1) {
		return script_fail(r, node, "a step of %lld; use one from 1 on",
				   (long long)step);
	}
	range->min = expr_int(m, t, 0);
	range->extent = expr_floordiv(m,
				      expr_add(m, range->extent,
					       expr_int(m, t, step - 1)),
				      size);
	*out = var_new(m, script_hint(r, name), t);
	script_define(r, name,
		      script_value_of(expr_add(m, begin,
					       expr_mul(m, (*out)->expr, size)),
				      false));
	return true;
}

/* The arguments of a loop; an argument that is absent is NULL. */
struct loop_args {
	const struct py_node *start, *stop, *thread, *notes, *step, *type,
		*unroll;
};

static bool
loop_args(struct script_reader *r, const struct py_node *call, bool binds,
	  struct loop_args *out)
{
	const struct py_node *found[6] = { NULL };

	if (call->kids[0]->kind == PY_NAME) { /* Python's range */
		if (!script_args(r, call, "start, stop?, step?, annotations?",
				 found)) {
			return false;
		}
		*out = (struct loop_args){ .start = found[0],
					   .stop = found[1],
					   .step = found[2],
					   .notes = found[3] };
		return true;
	}
	if (binds) {
		if (!script_args(r, call,
				 "start, stop?, thread?, *, annotations?, "
				 "step?",
				 found)) {
			return false;
		}
		*out = (struct loop_args){ .start = found[0],
					   .stop = found[1],
					   .thread = found[2],
					   .notes = found[3],
					   .step = found[4] };
		if (!out->thread && out->stop && out->stop->kind == PY_STRING) {
			/* T.thread_binding(16, "threadIdx.x") */
			out->thread = out->stop;
			out->stop = NULL;
		}
		return out->thread || script_fail(r, call,
						  "no thread; add "
						  "thread=\"threadIdx.x\"");
	}
	if (!script_args(
		    r, call,
		    "start, stop?, *, annotations?, step?, dtype?, unroll?",
		    found)) {
		return false;
	}
	*out = (struct loop_args){ .start = found[0],
				   .stop = found[1],
				   .notes = found[2],
				   .step = found[3],
				   .type = found[4],
				   .unroll = found[5] };
	return true;
}

/* Gives the range the type of the loop's variable, dtype="uint32". False after
 * an error. */
static bool
range_as(struct script_reader *r, const struct py_node *type,
	 struct range *range)
{
	struct dtype t;

	if (!script_type(r, type, &t)) {
		return false;
	}
	if (!dtype_is_int(t) || t.lanes != 1) {
		return script_fail(r, type, "no type of integers");
	}
	return script_cast(r, type, range->min, t, &range->min) &&
	       script_cast(r, type, range->extent, t, &range->extent);
}

static bool
read_loop(struct script_reader *r, const struct py_node *node,
	  const struct py_node *call, enum for_kind kind, struct stmt **out)
{
	struct loop_args args;
	const char *thread = NULL;
	struct range range;
	struct var *v;
	struct note *notes = NULL;
	struct script_loop_flags flags;
	int names = r->names.n, loops = r->loops.n;
	int64_t step = 1, unroll = 0;

	if (!loop_args(r, call, kind == FOR_THREAD, &args) ||
	    (args.thread && !script_text(r, args.thread, &thread)) ||
	    (args.step && !script_constant(r, args.step, &step)) ||
	    (args.unroll && !script_constant(r, args.unroll, &unroll))) {
		return false;
	}
	if (unroll != 0 && kind == FOR_SERIAL) {
		kind = FOR_UNROLLED;
	}
	if (!loop_range(r, args.start, args.stop, &range) ||
	    (args.type && !range_as(r, args.type, &range)) ||
	    (args.notes && !script_notes(r, args.notes, &notes))) {
		return false;
	}
	if (step == 1 || node->kids[0]->kind != PY_NAME
		    ? !define_loop(r, node->kids[0], &range, thread, &v)
		    : !define_steps(r, args.step, step, node->kids[0]->text,
				    &range, &v)) {
		return false;
	}
	if (!loop_suite(r, node, kind, 1, &flags, out)) {
		return false;
	}
	*out = stmt_for(r->f, v, range.min, range.extent, kind, *out);
	(*out)->u.loop.thread = thread;
	(*out)->notes = notes;
	(*out)->pos = (struct src_pos){ node->span.line, node->span.col };
	*out = script_loop_left(r, &flags, *out);
	script_leave(r, names);
	r->loops.n = loops;
	return true;
}

bool
script_for(struct script_reader *r, const struct py_node *node,
	   struct stmt **out)
{
	const struct py_node *call = node->kids[1];
	const char *path = call->kind == PY_CALL ? script_path(r, call->kids[0])
						 : NULL;

	if (call->kind == PY_CALL && call->n_kids < 2) {
		return script_fail(r, call,
				   "a loop without an extent; give "
				   "it one");
	}
	if (call->kind == PY_CALL && call->kids[0]->kind == PY_NAME &&
	    (strcmp(call->kids[0]->text, "range") == 0 ||
	     strcmp(call->kids[0]->text, "grid") == 0)) {
		path = call->kids[0]->text[0] == 'r' ? "serial" : "grid";
	}
	if (!path) {
		return script_fail(r, call,
				   "no loop of a tensor program; "
				   "loop over range, T.serial, T.grid, "
				   "T.parallel, T.vectorized, T.unroll or "
				   "T.thread_binding");
	}
	if (strcmp(path, "grid") == 0) {
		return read_grid(r, node, call, out);
	}
	for (size_t i = 0; i < sizeof loop_words / sizeof *loop_words; i++) {
		if (strcmp(loop_words[i].path, path) == 0) {
			return read_loop(r, node, call, loop_words[i].kind,
					 out);
		}
	}
	return script_unknown(r, call, path);
}
