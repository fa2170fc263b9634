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
	    const struct range *range, struct var **out)
{
	if (target->kind != PY_NAME) {
		return script_fail(r, target,
				   "no name; a loop's variable is "
				   "one");
	}
	*out = var_new(r->m, script_hint(r, target->text), range->extent->type);

	struct script_loop loop = { *out, range->min, range->extent };

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

static bool
read_grid(struct script_reader *r, const struct py_node *node,
	  const struct py_node *call, struct stmt **out)
{
	const struct py_node *target = node->kids[0];
	int n, names = r->names.n, loops = r->loops.n;
	const struct py_node *const *targets = script_items(&target, &n);
	struct range *ranges = arena_array(&r->m->arena, struct range, n + 1);
	struct var **vars = arena_array(&r->m->arena, struct var *, n + 1);
	struct script_loop_flags flags;

	if (n != call->n_kids - 1) {
		return script_fail(r, node,
				   "%d loop variables for %d "
				   "extents; give equally many",
				   n, call->n_kids - 1);
	}
	for (int i = 0; i < n; i++) {
		if (call->kids[1 + i]->kind == PY_KEYWORD) {
			return script_fail(r, call->kids[1 + i],
					   "T.grid has "
					   "no named arguments; use T.serial");
		}
		if (!loop_range(r, call->kids[1 + i], NULL, &ranges[i])) {
			return false;
		}
	}
	for (int i = 0; i < n; i++) {
		if (!define_loop(r, targets[i], &ranges[i], &vars[i])) {
			return false;
		}
	}
	if (!loop_suite(r, node, FOR_SERIAL, n, &flags, out)) {
		return false;
	}
	for (int i = n - 1; i >= 0; i--) {
		*out = stmt_for(r->f, vars[i], ranges[i].min, ranges[i].extent,
				FOR_SERIAL, *out);
		(*out)->pos = (struct src_pos){ node->span.line,
						node->span.col };
	}
	*out = script_loop_left(r, &flags, *out);
	script_leave(r, names);
	r->loops.n = loops;
	return true;
}

static bool
read_loop(struct script_reader *r, const struct py_node *node,
	  const struct py_node *call, enum for_kind kind, struct stmt **out)
{
	bool binds = kind == FOR_THREAD;
	const struct py_node *found[5] = { NULL };
	const struct py_node *const *more = found + (binds ? 3 : 2);
	const struct py_node *stop, *thread;
	const char *thread_name = NULL;
	struct range range;
	struct var *v;
	struct note *notes = NULL;
	struct script_loop_flags flags;
	int names = r->names.n, loops = r->loops.n;

	if (!script_args(r, call,
			 binds ? "start, stop?, thread?, *, annotations?, "
				 "step?"
			       : "start, stop?, *, annotations?, step?",
			 found)) {
		return false;
	}
	stop = found[1];
	thread = binds ? found[2] : NULL;
	if (binds && !thread && stop && stop->kind == PY_STRING) {
		thread = stop; /* T.thread_binding(16, "threadIdx.x") */
		stop = NULL;
	}
	if (binds && (thread ? !script_text(r, thread, &thread_name)
			     : !script_fail(r, call,
					    "no thread; add "
					    "thread=\"threadIdx.x\""))) {
		return false;
	}
	int64_t step;

	if (more[1] &&
	    (!script_constant(r, more[1], &step) ||
	     (step != 1 && !script_fail(r, more[1],
					"a loop with a step; "
					"multiply its variable instead")))) {
		return false;
	}
	if (!loop_range(r, found[0], stop, &range) ||
	    (more[0] && !script_notes(r, more[0], &notes)) ||
	    !define_loop(r, node->kids[0], &range, &v) ||
	    !loop_suite(r, node, kind, 1, &flags, out)) {
		return false;
	}
	*out = stmt_for(r->f, v, range.min, range.extent, kind, *out);
	(*out)->u.loop.thread = thread_name;
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
		if (call->n_kids == 4 && call->kids[0]->text[0] == 'r') {
			return script_fail(r, call->kids[3],
					   "a loop with a "
					   "step; multiply its variable "
					   "instead");
		}
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
