/* SPDX-License-Identifier: Apache-2.0 */
/* Results whose shape depends on data: nodes before it compute the sizes, and
 * tirc.RunSize reads them, as variables of the graph.
 *
 *	before	y = Expand(x, s)                # s: int64[2], an input
 *	after	n = tirc.RunSize(s)             # n = [s_0, s_1]
 *		y = Expand(x, n)                # y: [s_0, s_1]
 *
 * A variable has bounds, for the memory plan: from the operator (NonZero has at
 * most as many results as elements), or from --bound. The entry function checks
 * bounds that do not follow from the operator. */
#include "sizes.h"

#include "ops.h"

/* Is input i present, with a known type and rank, but unknown elements? */
static bool
is_unknown(struct importer *imp, const struct node *n, int i)
{
	const struct tensor *t = node_input(n, i);
	const struct expr *const *elems;
	int count;
	double v;

	return t && t->typed && t->ndim >= 0 &&
	       !input_elems(imp->m, n, i, &elems, &count) &&
	       !input_scalar(n, i, &v);
}

static bool
all_typed(const struct node *n)
{
	for (int i = 0; i < n->n_inputs; i++) {
		if (n->inputs[i] &&
		    (!n->inputs[i]->typed || n->inputs[i]->ndim < 0)) {
			return false;
		}
	}
	return n->n_inputs > 0 && n->inputs[0] && n->n_outputs > 0 &&
	       n->outputs[0];
}

/* Operators with an input that is a list of sizes: the index of that input, and
 * the smallest size that the list may contain. */
static const struct size_row {
	const char *op;
	int input;
	int64_t least;
} size_rows[] = {
	{ "CenterCropPad", 1, 0 }, { "ConstantOfShape", 0, 0 },
	{ "Expand", 1, 0 },        { "OneHot", 1, 1 },
	{ "Reshape", 1, 1 },       { "Resize", 3, 1 },
	{ "Tile", 1, 0 },          { "TopK", 1, 0 },
	{ "Pad", 1, -INT32_MAX },
};

bool
import_sizes(struct importer *imp, struct node *n, int pos)
{
	struct sizing s = {
		.u = { .imp = imp, .g = imp->g, .node = n, .pos = pos },
		.at = pos,
	};

	if (!all_typed(n)) {
		return true;
	}
	if (strcmp(n->domain, "tirc") == 0 &&
	    strcmp(n->op_type, "NonMaxSuppression") == 0 && n->n_outputs == 1) {
		return size_nms(&s);
	}
	if (strcmp(n->domain, "tirc") == 0 &&
	    strcmp(n->op_type, "Unique") == 0 && !node_attr(n, "rows")) {
		return size_unique(&s);
	}
	if (strcmp(n->domain, "tirc") == 0 &&
	    strcmp(n->op_type, "NonZero") == 0 && n->n_inputs == 1) {
		return size_nonzero(&s);
	}
	if (*n->domain) {
		return true;
	}
	for (size_t i = 0; i < sizeof size_rows / sizeof size_rows[0]; i++) {
		if (strcmp(size_rows[i].op, n->op_type) == 0 &&
		    is_unknown(imp, n, size_rows[i].input)) {
			if (!size_input(&s, size_rows[i].input,
					size_rows[i].least)) {
				return false;
			}
			n = imp->g->nodes.data[pos];
			break;
		}
	}
	if (strcmp(n->op_type, "Resize") == 0 && n == s.u.node) {
		return size_resize(&s);
	}
	if (strcmp(n->op_type, "Range") == 0 && n->n_inputs == 3 &&
	    n->inputs[1] && n->inputs[2] && !range_is_known(imp->m, n)) {
		return size_range(&s);
	}
	if (strcmp(n->op_type, "Split") == 0 && is_unknown(imp, n, 1)) {
		return size_split(&s);
	}
	if (strcmp(n->op_type, "Slice") == 0 && n->n_inputs >= 3 &&
	    (is_unknown(imp, n, 1) || is_unknown(imp, n, 2))) {
		return size_slice(&s);
	}
	return true;
}
