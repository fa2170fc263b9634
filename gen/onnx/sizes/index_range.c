/* SPDX-License-Identifier: Apache-2.0 */
/* Gathers whose indices leave the table for sizes that the options allow:
 *
 *	positions = Range (0, sequence, 1)     sequence = 1..600
 *	y = Gather (table, positions)          table: 512 rows
 *
 * The emitted code takes such an index modulo the number of rows, where other
 * runtimes report an error. Only indices that follow from sizes are known. */
#include "dims.h"
#include "sizes.h"

/* last: the largest index, for the largest value of the size. size: the size on
 * which the index depends; NULL if the index is a number or does not depend on
 * a single size. */
struct reach {
	int64_t last;
	const struct expr *size;
};

enum { DEPTH_MAX = 64 };

/* Sets *out to the largest value among the elements of t, which are numbers or
 * sizes. False if t has no known elements. */
static bool
reach_of_elems(const struct tensor *t, struct reach *out)
{
	const struct expr *one = t->n_elems == 1 ? t->elems[0] : NULL;

	*out = (struct reach){ .last = INT64_MIN, .size = one };
	for (int i = 0; i < t->n_elems; i++) {
		int64_t min, max;

		if (!dtype_is_int(t->type) ||
		    !size_bounds(t->elems[i], &min, &max)) {
			return false;
		}
		out->last = max > out->last ? max : out->last;
	}
	return t->n_elems > 0;
}

static bool
is_one(const struct tensor *t)
{
	int64_t v;

	return t && t->elems && t->n_elems == 1 &&
	       expr_is_int(t->elems[0], &v) && v == 1;
}

/* Has the result of node n only values of n's first input? */
static bool
keeps_values(const struct node *n)
{
	static const char *const ops[] = { "Expand",    "Flatten",  "Identity",
					   "Reshape",   "Squeeze",  "Tile",
					   "Transpose", "Unsqueeze" };

	for (size_t i = 0; i < sizeof ops / sizeof *ops; i++) {
		if (strcmp(n->op_type, ops[i]) == 0) {
			return true;
		}
	}
	return strcmp(n->op_type, "Cast") == 0 &&
	       dtype_is_int(n->inputs[0]->type) &&
	       dtype_is_int(n->outputs[0]->type);
}

static bool reach_of(const struct tensor *t, int depth, struct reach *out);

static bool
has_elems(const struct tensor *t)
{
	return t && t->elems && t->n_elems > 0;
}

/* The largest sum of a and b, of which one has known elements. */
static bool
reach_of_sum(const struct tensor *a, const struct tensor *b, int depth,
	     struct reach *out)
{
	struct reach more;

	if (has_elems(a)) {
		const struct tensor *t = a;

		a = b;
		b = t;
	}
	if (!has_elems(b) || !reach_of_elems(b, &more) ||
	    !reach_of(a, depth, out) ||
	    __builtin_add_overflow(out->last, more.last, &out->last)) {
		return false;
	}
	if (!more.size || more.size->kind != EXPR_INT) {
		out->size = out->size && out->size->kind == EXPR_INT ? more.size
								     : NULL;
	}
	return true;
}

/* Finds the largest element of t, if it follows from sizes and numbers. */
static bool
reach_of(const struct tensor *t, int depth, struct reach *out)
{
	const struct node *n = t ? t->producer : NULL;

	if (has_elems(t)) {
		return reach_of_elems(t, out);
	}
	if (!n || *n->domain || n->n_inputs == 0 || !n->inputs[0] ||
	    depth == DEPTH_MAX) {
		return false;
	}
	if (keeps_values(n)) {
		return reach_of(n->inputs[0], depth + 1, out);
	}
	if (strcmp(n->op_type, "Range") == 0 && n->n_inputs == 3 &&
	    is_one(n->inputs[2]) && n->inputs[1]) {
		return reach_of(n->inputs[1], depth + 1, out) &&
		       !__builtin_sub_overflow(out->last, 1, &out->last);
	}
	return strcmp(n->op_type, "Add") == 0 && n->n_inputs == 2 &&
	       reach_of_sum(n->inputs[0], n->inputs[1], depth + 1, out);
}

/* The option that keeps the index within n elements: "--dim sequence=1..512";
 * NULL if the index does not depend on a single size. */
static const char *
remedy(struct importer *imp, const struct reach *r, int64_t n)
{
	const struct expr *size = r->size ? graph_given_size(imp->g, r->size)
					  : NULL;
	int64_t min, max;

	if (!size || size->kind != EXPR_VAR || !size_bounds(size, &min, &max) ||
	    __builtin_sub_overflow(max, r->last - n + 1, &max) || max < min) {
		return NULL;
	}
	return arena_printf(&imp->tmp, "--dim %s=%lld..%lld", size->u.var->name,
			    (long long)min, (long long)max);
}

static void
note_index(struct importer *imp, const struct node *n)
{
	const struct tensor *x = n->inputs[0];
	int64_t axis = node_attr_int(n, "axis", 0), rows;
	struct arena *tmp = &imp->tmp;
	struct reach r;
	const char *option;

	axis += axis < 0 ? x->ndim : 0;
	if (axis < 0 || axis >= x->ndim ||
	    !expr_is_int(x->shape[axis], &rows) || rows < 1 ||
	    !reach_of(n->inputs[1], 0, &r) || r.last < rows) {
		return;
	}
	option = remedy(imp, &r, rows);
	import_assume(
		imp,
		arena_printf(
			tmp,
			"the largest sizes give indices up to %lld, but %s "
			"has %lld: indices beyond are taken modulo %lld; "
			"%s%s",
			(long long)r.last, import_quote(tmp, tensor_label(x)),
			(long long)rows, (long long)rows,
			option ? option : "give smaller sizes",
			option ? " excludes them" : " to exclude them"));
}

void
import_note_indices(struct importer *imp)
{
	for (int i = 0; i < imp->g->nodes.n; i++) {
		const struct node *n = imp->g->nodes.data[i];

		if (strcmp(n->op_type, "Gather") == 0 && !*n->domain &&
		    n->n_inputs == 2 && n->inputs[0] && n->inputs[1]) {
			note_index(imp, n);
		}
	}
}
