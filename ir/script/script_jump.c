/* SPDX-License-Identifier: Apache-2.0 */
/* The TVMScript reader: break and continue. Statements of tirc have no jumps,
 * so the suite of a loop that contains a jump is rewritten before it is
 * read:
 *
 *	for i in range(8):               for i in range(8):
 *	    if A[i] < 0:                     if not left[0]:
 *	        continue             =>          if not A[i] < 0:
 *	    B[i] = A[i]                              B[i] = A[i]
 *	    if A[i] == 7:                            if A[i] == 7:
 *	        break                                    left[0] = True
 *
 * If one branch of an `if` jumps, the statements after the `if` move to the end
 * of the other branch. Statements that may also be reached after a jump are
 * guarded by a flag. The flag of `break` is False before the loop and guards
 * each iteration, that of `continue` is False at the start of each
 * iteration. */
#include "script_read.h"

/* The names of the flags, which no program can give to a variable. */
static const char left_name[] = "break", skipped_name[] = "continue";

/* the most nested branches to which the statements after them are moved */
enum { MOST_NESTED = 100 };

/* Does a statement or a suite jump to the end or out of the loop that is
 * rewritten? */
enum jumps { JUMPS_NEVER, JUMPS_MAYBE, JUMPS_ALWAYS };

struct rewriter {
	struct script_reader *r;
	bool has_break, has_continue;
	bool guards; /* a statement is guarded by the flags */
	bool skips;  /* the flag of `continue` is used */
	int depth;
	bool failed;
};

struct lines {
	VEC(const struct py_node *) list;
};

static enum jumps suite_jumps(struct script_reader *r,
			      const struct py_node *suite);

static enum jumps
line_jumps(struct script_reader *r, const struct py_node *line)
{
	enum jumps then, other;

	switch (line->kind) {
	case PY_BREAK:
	case PY_CONTINUE:
		return JUMPS_ALWAYS;
	case PY_IF:
		then = suite_jumps(r, line->kids[1]);
		other = suite_jumps(r, line->kids[2]);
		return then == other ? then : JUMPS_MAYBE;
	case PY_WITH:
		return script_calls(r, line->kids[0], "While")
			       ? JUMPS_NEVER
			       : suite_jumps(r, line->kids[line->n_kids - 1]);
	default:
		return JUMPS_NEVER;
	}
}

/* suite: a suite, an `elif`, which counts as one statement, or NULL. */
static enum jumps
suite_jumps(struct script_reader *r, const struct py_node *suite)
{
	enum jumps all = JUMPS_NEVER;

	if (suite == NULL || suite->kind == PY_IF) {
		return suite == NULL ? JUMPS_NEVER : line_jumps(r, suite);
	}
	for (int i = 0; i < suite->n_kids && all != JUMPS_ALWAYS; i++) {
		enum jumps one = line_jumps(r, suite->kids[i]);

		all = one > all ? one : all;
	}
	return all;
}

/* ---- nodes */

static struct py_node *
new_node(struct rewriter *w, enum py_kind kind, struct py_span at, int n)
{
	struct arena *a = &w->r->m->arena;
	struct py_node *node = arena_new(a, struct py_node);

	*node = (struct py_node){ .kind = kind, .span = at, .n_kids = n };
	node->kids = arena_array(a, const struct py_node *, n + 1);
	return node;
}

static const struct py_node *
with_kids(struct rewriter *w, enum py_kind kind, struct py_span at,
	  const struct py_node *a, const struct py_node *b,
	  const struct py_node *c, int n)
{
	struct py_node *node = new_node(w, kind, at, n);
	const struct py_node *kids[] = { a, b, c };

	node->kids = arena_copy(&w->r->m->arena, kids, sizeof kids);
	return node;
}

/* flag[0] */
static const struct py_node *
flag_element(struct rewriter *w, const char *flag, struct py_span at)
{
	struct py_node *name = new_node(w, PY_NAME, at, 0);
	struct py_node *zero = new_node(w, PY_INT, at, 0);

	name->text = flag;
	return with_kids(w, PY_SUBSCRIPT, at, name, zero, NULL, 2);
}

/* not condition */
static const struct py_node *
negated(struct rewriter *w, const struct py_node *condition, struct py_span at)
{
	struct py_node *node = new_node(w, PY_UNARY, at, 1);

	node->op = "not";
	node->kids = arena_copy(&w->r->m->arena, &condition, sizeof(void *));
	return node;
}

static const struct py_node *
not_flag(struct rewriter *w, const char *flag, struct py_span at)
{
	return negated(w, flag_element(w, flag, at), at);
}

/* a and b */
static const struct py_node *
both(struct rewriter *w, const struct py_node *a, const struct py_node *b)
{
	struct py_node *node = new_node(w, PY_BINARY, b->span, 2);
	const struct py_node *kids[] = { a, b };

	node->op = "and";
	node->kids = arena_copy(&w->r->m->arena, kids, sizeof kids);
	return node;
}

/* flag[0] = value */
static const struct py_node *
set_flag(struct rewriter *w, const char *flag, bool value, struct py_span at)
{
	return with_kids(w, PY_ASSIGN, at, flag_element(w, flag, at),
			 new_node(w, value ? PY_TRUE : PY_FALSE, at, 0), NULL,
			 2);
}

static const struct py_node *
suite_of(struct rewriter *w, const struct lines *lines, struct py_span at)
{
	struct py_node *suite = new_node(w, PY_SUITE, at, lines->list.n);

	if (lines->list.n > 0) {
		suite->kids = lines->list.data;
	}
	return suite;
}

/* ---- suites */

static void
add(struct rewriter *w, struct lines *to, const struct py_node *line)
{
	vec_push(&w->r->m->arena, &to->list, line);
}

/* Appends the lines of a suite, or the `if` that stands for an `elif` as one
 * line; appends nothing if the suite is NULL. */
static void
add_suite(struct rewriter *w, struct lines *to, const struct py_node *suite)
{
	if (suite != NULL && suite->kind == PY_IF) {
		add(w, to, suite);
		return;
	}
	for (int i = 0; suite != NULL && i < suite->n_kids; i++) {
		add(w, to, suite->kids[i]);
	}
}

static void rewrite(struct rewriter *w, const struct lines *from,
		    struct lines *to);

/* The suite after its rewrite, with the lines `rest` appended before it (rest
 * NULL: no lines). NULL if no lines are left. */
static const struct py_node *
branch(struct rewriter *w, const struct py_node *suite,
       const struct lines *rest, struct py_span at)
{
	struct lines from = { 0 }, to = { 0 };

	add_suite(w, &from, suite);
	for (int i = 0; rest != NULL && i < rest->list.n; i++) {
		add(w, &from, rest->list.data[i]);
	}
	rewrite(w, &from, &to);
	return from.list.n > 0 ? suite_of(w, &to, at) : NULL;
}

/* Appends the rewritten lines of `rest`, guarded so that they run only if no
 * flag is set. */
static void
add_guarded(struct rewriter *w, const struct lines *rest, struct lines *to)
{
	const struct py_node *condition = NULL;
	struct py_span at;

	if (rest->list.n == 0) {
		return;
	}
	at = rest->list.data[0]->span;
	w->guards = true;
	if (w->has_break) {
		condition = not_flag(w, left_name, at);
	}
	if (w->skips) {
		const struct py_node *skipped = not_flag(w, skipped_name, at);

		condition = condition ? both(w, condition, skipped) : skipped;
	}
	/* the flags are known only after the first pass */
	if (condition == NULL) {
		condition = new_node(w, PY_TRUE, at, 0);
	}
	add(w, to,
	    with_kids(w, PY_IF, at, condition, branch(w, NULL, rest, at), NULL,
		      3));
}

/* Appends an `if` that may jump, and the lines that follow it. */
static void
rewrite_if(struct rewriter *w, const struct py_node *line,
	   const struct lines *rest, struct lines *to)
{
	struct script_reader *r = w->r;
	enum jumps then = suite_jumps(r, line->kids[1]);
	enum jumps other = suite_jumps(r, line->kids[2]);
	bool in_then = other == JUMPS_ALWAYS && then != JUMPS_ALWAYS;
	bool in_other = then == JUMPS_ALWAYS && other != JUMPS_ALWAYS;
	const struct py_node *condition = line->kids[0], *first, *second;

	first = branch(w, line->kids[1], in_then ? rest : NULL, line->span);
	second = branch(w, line->kids[2], in_other ? rest : NULL, line->span);
	if (first->n_kids == 0 && second != NULL &&
	    line->kids[0]->kind == PY_COMPARE) {
		condition = negated(w, line->kids[0], line->span);
		first = second;
		second = NULL;
	}
	add(w, to,
	    with_kids(w, PY_IF, line->span, condition, first, second, 3));
	if (!in_then && !in_other && then != JUMPS_ALWAYS) {
		add_guarded(w, rest, to);
	}
}

/* Appends a `with` whose suite may jump, and the lines that follow it. */
static void
rewrite_with(struct rewriter *w, const struct py_node *line,
	     const struct lines *rest, struct lines *to)
{
	int last = line->n_kids - 1;
	enum jumps jumps = suite_jumps(w->r, line->kids[last]);
	struct py_node *copy;
	const struct py_node **kids;

	if (script_is_block(w->r, line->kids[0])) {
		w->failed = true;
		script_fail(w->r, line,
			    "a block that leaves the loop around it; put the "
			    "loop into the block, or guard what follows with "
			    "a condition");
		return;
	}
	copy = new_node(w, PY_WITH, line->span, line->n_kids);
	kids = arena_copy(&w->r->m->arena, line->kids,
			  sizeof *kids * (size_t)line->n_kids);
	kids[last] = branch(w, line->kids[last], NULL, line->span);
	copy->kids = kids;
	add(w, to, copy);
	if (jumps != JUMPS_ALWAYS) {
		add_guarded(w, rest, to);
	}
}

/* Appends the rewritten lines to `to`, up to the first line that always
 * jumps. */
static void
rewrite(struct rewriter *w, const struct lines *from, struct lines *to)
{
	const struct py_node *const *lines = from->list.data;
	int n = from->list.n;

	if (++w->depth > MOST_NESTED && !w->failed) {
		w->failed = true;
		script_fail(w->r, lines[0],
			    "more than %d conditions after which a loop is "
			    "left, one behind the other; combine them",
			    (int)MOST_NESTED);
	}
	for (int i = 0; i < n && !w->failed; i++) {
		const struct py_node *line = lines[i];
		struct lines rest = { 0 };

		if (line_jumps(w->r, line) == JUMPS_NEVER) {
			add(w, to, line);
			continue;
		}
		for (int k = i + 1; k < n; k++) {
			add(w, &rest, lines[k]);
		}
		if (line->kind == PY_IF) {
			rewrite_if(w, line, &rest, to);
		} else if (line->kind == PY_WITH) {
			rewrite_with(w, line, &rest, to);
		} else if (line->kind == PY_BREAK) {
			w->has_break = true;
			add(w, to, set_flag(w, left_name, true, line->span));
		} else {
			w->has_continue = true;
			if (w->skips) {
				add(w, to,
				    set_flag(w, skipped_name, true,
					     line->span));
			}
		}
		break;
	}
	w->depth--;
}

/* ---- loops */

static const struct buffer *
new_flag(struct script_reader *r, const char *name, const char *hint)
{
	const struct expr *one = expr_i32(r->m, 1);
	struct buffer_spec spec = { .name = hint,
				    .type = dtype_of(DT_BOOL),
				    .scope = "local",
				    .ndim = 1,
				    .shape = &one };
	const struct buffer *flag = buffer_new(r->m, &spec);

	script_define(r, name,
		      (struct script_value){ .kind = SCRIPT_BUFFER,
					     .buffer = flag });
	return flag;
}

/* Allocates the flag's memory around s, and sets the flag to False before s. */
static struct stmt *
around(struct script_reader *r, const struct buffer *flag, struct stmt *s)
{
	const struct expr *zero = expr_i32(r->m, 0);
	struct stmt *pair[] = {
		stmt_store(r->f, flag, expr_bool(r->m, false), &zero, 1),
		s,
	};

	return stmt_alloc(r->f, flag, stmt_seq(r->f, pair, 2));
}

/* not flag[0] */
static const struct expr *
not_set(struct script_reader *r, const struct buffer *flag)
{
	const struct expr *zero = expr_i32(r->m, 0);

	return expr_not(r->m, expr_load(r->m, flag, &zero, 1));
}

bool
script_loop_suite(struct script_reader *r, const struct py_node *suite,
		  struct script_loop_flags *flags, struct stmt **out)
{
	struct rewriter w = { .r = r };
	const struct buffer *skipped = NULL;
	const struct py_node *body;

	*flags = (struct script_loop_flags){ 0 };
	if (suite_jumps(r, suite) == JUMPS_NEVER) {
		return script_read_suite(r, suite, out);
	}
	/* the first pass finds the flags that are needed, the second uses
	 * them */
	branch(&w, suite, NULL, suite->span);
	w.skips = w.guards && w.has_continue;
	body = branch(&w, suite, NULL, suite->span);
	if (w.failed) {
		return false;
	}
	if (w.has_break) {
		flags->left = new_flag(r, left_name, "left");
	}
	if (w.skips) {
		skipped = new_flag(r, skipped_name, "skipped");
	}
	if (!script_read_suite(r, body, out)) {
		return false;
	}
	if (skipped) {
		*out = around(r, skipped, *out);
	}
	return true;
}

const struct expr *
script_loop_goes_on(struct script_reader *r,
		    const struct script_loop_flags *flags,
		    const struct expr *condition)
{
	return flags->left ? expr_and(r->m, not_set(r, flags->left), condition)
			   : condition;
}

struct stmt *
script_loop_left(struct script_reader *r, const struct script_loop_flags *flags,
		 struct stmt *loop)
{
	return flags->left ? around(r, flags->left, loop) : loop;
}
