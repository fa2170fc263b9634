/* SPDX-License-Identifier: Apache-2.0 */
/* The TVMScript reader: limits of what a text can make. Names of functions of
 * steps, parameters of macros and lets in expressions stand for values, which a
 * few lines could double often. */
#include "script_read.h"

enum {
	MAX_PARTS = 1 << 14, /* of an expression, each as often as it is used */
	MAX_LEVELS = 1000,   /* of an expression: functions walk recursively */
	MAX_DEPTH = 5000,    /* of statements in statements */
	MAX_SUITES = 500,    /* of suites and loops of T.grid in others */
	MAX_LINES = 50000,   /* of all macros, as often as they are called */
	/* calls of macros, and iterations of their loops, in a function */
	MAX_EXPANDED = 10000
};

/* The parts and levels of e. Counting parts stops a little above MAX_PARTS. An
 * expression that was made before the text is read counts as one part. */
static struct script_size
size_of(struct script_reader *r, const struct expr *e)
{
	uint32_t at = e->id - r->first_id;
	struct script_size size = { 1, 1 };

	if (e->id < r->first_id) {
		return size;
	}
	while ((uint32_t)r->sizes.n <= at) {
		vec_push(&r->m->arena, &r->sizes, ((struct script_size){ 0 }));
	}
	if (r->sizes.data[at].parts > 0) {
		return r->sizes.data[at];
	}
	for (int i = 0; i < e->n_args && size.parts <= MAX_PARTS; i++) {
		struct script_size one = size_of(r, e->args[i]);

		size.parts += one.parts;
		size.levels = one.levels >= size.levels ? one.levels + 1
							: size.levels;
	}
	r->sizes.data[at] = size;
	return size;
}

bool
script_expr_fits(struct script_reader *r, const struct py_node *node,
		 const struct expr *e)
{
	struct script_size size;

	if (r->is_steps || e->n_args == 0) {
		return true;
	}
	size = size_of(r, e);
	if (size.parts > MAX_PARTS) {
		return script_fail(r, node,
				   "an expression of more than %d parts; store "
				   "some in buffers of their own",
				   MAX_PARTS);
	}
	return size.levels <= MAX_LEVELS ||
	       script_fail(
		       r, node,
		       "an expression more than %d levels deep; store parts "
		       "of it in buffers of their own",
		       MAX_LEVELS);
}

bool
script_fits(struct script_reader *r, const struct py_node *node,
	    const struct script_value *v)
{
	return v->kind != SCRIPT_EXPR || script_expr_fits(r, node, v->e);
}

bool
script_list_grows(struct script_reader *r, const struct py_node *node,
		  const struct script_value *item, struct script_value *list)
{
	struct script_size *all = &list->all;

	all->parts += 1 + item->all.parts;
	if (item->all.levels >= all->levels) {
		all->levels = item->all.levels + 1;
	}
	if (all->parts > SCRIPT_MAX_ITEMS) {
		return script_fail(r, node,
				   "a list of more than %d elements, with "
				   "those of lists in it",
				   SCRIPT_MAX_ITEMS);
	}
	return all->levels <= SCRIPT_MAX_LISTS ||
	       script_fail(r, node, "lists in lists more than %d deep",
			   SCRIPT_MAX_LISTS);
}

bool
script_list(struct script_reader *r, const struct py_node *node,
	    const struct script_value *items, int n, struct script_value *out)
{
	*out = (struct script_value){ .kind = SCRIPT_LIST,
				      .items = items,
				      .n_items = n,
				      .all = { .levels = 1 } };
	for (int i = 0; i < n; i++) {
		if (!script_list_grows(r, node, &items[i], out)) {
			return false;
		}
	}
	return true;
}

bool
script_expands(struct script_reader *r, const struct py_node *node)
{
	return r->n_expanded++ < MAX_EXPANDED ||
	       script_fail(r, node,
			   "more than %d calls of macros, and iterations of "
			   "their loops; write a loop of T",
			   MAX_EXPANDED);
}

bool
script_evals_fit(struct script_reader *r, const struct py_node *node)
{
	return r->n_evals <= MAX_LEVELS ||
	       script_fail(r, node,
			   "calls of functions and values in one another more "
			   "than %d deep; store parts in buffers of their own",
			   MAX_LEVELS);
}

bool
script_suites_fit(struct script_reader *r, const struct py_node *node, int n)
{
	return n <= MAX_SUITES - r->n_suites ||
	       script_fail(r, node,
			   "more than %d loops, branches and other suites in "
			   "one another",
			   MAX_SUITES);
}

bool
script_adds_line(struct script_reader *r, const struct py_node *node)
{
	return r->n_lines++ < MAX_LINES ||
	       script_fail(r, node,
			   "more than %d lines of macros; write a loop of T",
			   MAX_LINES);
}

bool
script_depth_fits(struct script_reader *r, const struct py_node *node)
{
	return r->depth <= MAX_DEPTH ||
	       script_fail(r, node,
			   "more than %d values and scopes that hold for the "
			   "rest of their suites; use buffers",
			   MAX_DEPTH);
}
