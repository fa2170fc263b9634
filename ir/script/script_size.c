/* SPDX-License-Identifier: Apache-2.0 */
/* The TVMScript reader: limits of what a text can make. Names of functions of
 * steps, parameters of macros and lets in expressions stand for values, which a
 * few lines could double often. */
#include "script_read.h"

enum {
	MAX_PARTS = 1 << 18, /* of an expression, each as often as it is used */
	/* calls of macros, and iterations of their loops, in a function */
	MAX_EXPANDED = 10000
};

/* The number of parts of e. Counting stops a little above MAX_PARTS. An
 * expression that was made before the text is read counts as one part. */
static int
parts_of(struct script_reader *r, const struct expr *e)
{
	uint32_t at = e->id - r->first_id;
	int n = 1;

	if (e->id < r->first_id) {
		return 1;
	}
	while ((uint32_t)r->parts.n <= at) {
		vec_push(&r->m->arena, &r->parts, 0);
	}
	if (r->parts.data[at] > 0) {
		return r->parts.data[at];
	}
	for (int i = 0; i < e->n_args && n <= MAX_PARTS; i++) {
		n += parts_of(r, e->args[i]);
	}
	r->parts.data[at] = n;
	return n;
}

bool
script_fits(struct script_reader *r, const struct py_node *node,
	    const struct script_value *v)
{
	return v->kind != SCRIPT_EXPR || r->is_steps || v->e->n_args == 0 ||
	       parts_of(r, v->e) <= MAX_PARTS ||
	       script_fail(r, node,
			   "an expression of more than %d parts; store some in "
			   "buffers of their own",
			   MAX_PARTS);
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
