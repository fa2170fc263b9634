/* SPDX-License-Identifier: Apache-2.0 */
/* Which nodes may compute a sum that has only one term? Such a sum has no
 * rounding error: a ReduceSum of an axis of extent 1, an AveragePool of 1x1, an
 * Einsum that transposes, a MatMul by a permutation, a window of 2x2 of which
 * three taps lie in the padding. A term that is far smaller than another term
 * does not count, as with the weights [1, 1e-30], since a sum with such a term
 * has no rounding error either. If the number of terms is not known here, for
 * example because weights are inputs or bytes and may have zeros, or because a
 * size is not known, the answer is that there may be a sum of one term. */
#include "terms.h"

#include "rewrite.h"
#include "size_bounds.h"
#include "weight_range.h"
#include "window.h"

#include <ctype.h>

static int64_t
least_extent(const struct expr *e)
{
	int64_t least, most;

	return size_bounds(e, &least, &most) ? least : 0;
}

/* -- Einsum -- */

/* Does the result of an Einsum have the letter? An equation without "->" means
 * that the result has the letters that occur once. */
static bool
result_has(const char *equation, char letter)
{
	const char *result = strstr(equation, "->");
	int count = 0;

	for (const char *s = result ? result : equation; *s; s++) {
		count += *s == letter;
	}
	return result ? count > 0 : count == 1;
}

/* Does the operand x, whose letters in the equation begin at s, have a letter
 * that is summed over more than one element? Letters behind "..." count from
 * the last dimension. */
static bool
operand_is_summed(const char *equation, const char *s, const struct tensor *x)
{
	int d = 0, behind = 0;

	for (; *s && *s != ',' && *s != '-'; s++) {
		if (strncmp(s, "...", 3) == 0) {
			for (const char *p = s; *p && *p != ',' && *p != '-';
			     p++) {
				behind += isalpha((unsigned char)*p) != 0;
			}
			d = x->ndim - behind;
			s += 2;
		} else if (isalpha((unsigned char)*s)) {
			if (!result_has(equation, *s) &&
			    least_extent(x->shape[d]) > 1) {
				return true;
			}
			d++;
		}
	}
	return false;
}

/* Do all elements of the constant t count as terms: is none of them zero, or
 * far smaller than another element? False if t is not a constant. */
static bool
is_even(struct graph *g, struct tensor *t)
{
	struct weight_range r;
	int64_t elems;

	return tensor_is_constant(t) && t->ndim > 0 &&
	       tensor_const_elems(t, &elems) &&
	       weight_range_find(g, t, 0, 1, &r) && r.channel_terms[0] == elems;
}

static bool
einsum_has_several_terms(struct graph *g, const struct node *n)
{
	const char *equation = node_attr_string(n, "equation", "");
	const char *s = equation;
	bool summed = false;

	for (int i = 0; i < n->n_inputs && s; i++) {
		summed |= operand_is_summed(equation, s, n->inputs[i]);
		s = strchr(s, ',');
		s = s ? s + 1 : NULL;
	}
	return summed &&
	       (n->n_inputs == 1 ||
		(n->n_inputs == 2 &&
		 is_even(g, n->inputs[0]) != is_even(g, n->inputs[1])));
}

/* -- windows -- */

/* The smallest number of taps along dimension d that are elements of the input,
 * over all positions of the window where at least one tap is. */
static int64_t
taps_inside(const struct window *w, int d)
{
	int64_t begin, end, least, reach, cut;

	if (!size_bounds(w->begin[d], &least, &begin) ||
	    !size_bounds(w->end[d], &least, &end)) {
		return 1;
	}
	begin = (begin + w->dilation[d] - 1) / w->dilation[d];
	end = (end + w->dilation[d] - 1) / w->dilation[d];
	reach = (w->kernel[d] - 1) * w->dilation[d] + 1;
	cut = begin > end ? begin : end;
	if (least_extent(w->in[d]) < reach) {
		/* the window may be cut at both of its ends */
		cut = begin + end;
	}
	return w->kernel[d] - cut > 1 ? w->kernel[d] - cut : 1;
}

/* Sets *all to the number of taps of n's window, and *inside to a lower bound
 * of the number of taps that are elements of the input, over all positions of
 * the window where at least one tap is. False if n's window is not valid or has
 * too many taps. */
static bool
count_taps(struct graph *g, const struct node *n, const int64_t *kernel,
	   int64_t *all, int64_t *inside)
{
	struct window w;

	*all = *inside = 1;
	if (window_of_node(g->module, n, kernel, false, &w) != NULL) {
		return false;
	}
	for (int d = 0; d < w.n; d++) {
		if (__builtin_mul_overflow(*all, w.kernel[d], all)) {
			return false;
		}
		*inside *= taps_inside(&w, d);
	}
	if (node_attr_int(n, "ceil_mode", 0) != 0) {
		*inside = 1;
	}
	return true;
}

/* -- products -- */

/* Has each channel of the constant weights w at least `lost` + 2 weights that
 * count as terms (weight_range.h)? A channel whose weights are all 0 is
 * allowed: its result is 0. */
static bool
has_several_weights(struct graph *g, struct tensor *w, int axis,
		    int64_t channels, int64_t lost)
{
	struct weight_range r;

	if (!weight_range_find(g, w, axis, channels, &r)) {
		return false;
	}
	for (int64_t c = 0; c < channels; c++) {
		if (r.channel_terms[c] > 0 && r.channel_terms[c] - lost < 2) {
			return false;
		}
	}
	return true;
}

/* Reads the extents of a constant; false if it has too many dimensions. */
static bool
read_extents(const struct tensor *w, int64_t *extents)
{
	for (int d = 0; d < w->ndim; d++) {
		if (d >= 2 + WINDOW_MAX ||
		    !expr_is_int(w->shape[d], &extents[d])) {
			return false;
		}
	}
	return true;
}

static bool
conv_has_several_terms(struct graph *g, const struct node *n)
{
	struct tensor *w = n->inputs[1];
	int64_t extents[2 + WINDOW_MAX], all, inside;

	return !tensor_is_constant(n->inputs[0]) && tensor_is_constant(w) &&
	       read_extents(w, extents) &&
	       count_taps(g, n, extents + 2, &all, &inside) &&
	       has_several_weights(g, w, 0, extents[0],
				   extents[1] * (all - inside));
}

/* Has each sum of a ConvTranspose several terms? An element of the result may
 * read only one tap of each channel of its group. */
static bool
conv_transpose_has_several_terms(struct graph *g, const struct node *n)
{
	struct tensor *w = n->inputs[1];
	int64_t extents[2 + WINDOW_MAX], taps = 1;
	int64_t groups = node_attr_int(n, "group", 1);

	if (tensor_is_constant(n->inputs[0]) || !tensor_is_constant(w) ||
	    !read_extents(w, extents) || groups < 1) {
		return false;
	}
	for (int d = 2; d < w->ndim; d++) {
		taps *= extents[d];
	}
	return has_several_weights(g, w, 1, extents[1],
				   extents[0] * taps - extents[0] / groups);
}

/* Does a MatMul or a Gemm have several terms in each sum? The matrices of
 * several batches may have zeros at different places. */
static bool
matmul_has_several_terms(struct graph *g, const struct node *n)
{
	bool first = tensor_is_constant(n->inputs[0]);
	bool transposed = node_attr_int(n, first ? "transA" : "transB", 0) != 0;
	struct tensor *w = n->inputs[first ? 0 : 1];
	int axis = w->ndim - (first != transposed ? 2 : 1);
	int64_t channels, terms, elems;

	if (first == tensor_is_constant(n->inputs[1]) ||
	    !tensor_const_elems(w, &elems)) {
		return false;
	}
	if (w->ndim == 1) {
		return has_several_weights(g, w, 0, 1, 0);
	}
	return expr_is_int(w->shape[axis], &channels) && channels > 0 &&
	       expr_is_int(w->shape[2 * w->ndim - 3 - axis], &terms) &&
	       has_several_weights(g, w, axis, channels,
				   elems / channels - terms);
}

/* -- sums of elements -- */

static bool
reduce_has_several_terms(struct graph *g, const struct node *n)
{
	const struct tensor *x = n->inputs[0];
	const int64_t *axes = NULL;
	int count = 0;
	bool all;

	if (node_input(n, 1)) {
		if (!input_ints(g->module, n, 1, &axes, &count)) {
			return false;
		}
	} else {
		count = node_attr_ints(n, "axes", &axes);
	}
	all = count == 0 && !node_attr_int(n, "noop_with_empty_axes", 0);
	for (int i = 0; i < (all ? x->ndim : count); i++) {
		int64_t axis = all ? i : axes[i];

		if (least_extent(x->shape[axis < 0 ? axis + x->ndim : axis]) >
		    1) {
			return true;
		}
	}
	return false;
}

static bool
plane_has_several_elements(const struct tensor *x)
{
	for (int d = 2; d < x->ndim; d++) {
		if (least_extent(x->shape[d]) > 1) {
			return true;
		}
	}
	return false;
}

static bool
sums_several_elements(struct graph *g, const struct node *n)
{
	const struct tensor *x = n->inputs[0];
	int64_t all, inside;

	if (node_is(n, "Conv")) {
		return conv_has_several_terms(g, n);
	}
	if (node_is(n, "ConvTranspose")) {
		return conv_transpose_has_several_terms(g, n);
	}
	if (node_is(n, "MatMul") || node_is(n, "Gemm")) {
		return matmul_has_several_terms(g, n);
	}
	if (node_is(n, "Einsum")) {
		return einsum_has_several_terms(g, n);
	}
	if (node_is(n, "AveragePool")) {
		return count_taps(g, n, NULL, &all, &inside) && inside > 1;
	}
	if (node_is(n, "GlobalAveragePool")) {
		return plane_has_several_elements(x);
	}
	if (node_is(n, "Det")) {
		return least_extent(x->shape[x->ndim - 1]) > 1;
	}
	return strncmp(n->op_type, "Reduce", 6) != 0 || *n->domain ||
	       reduce_has_several_terms(g, n);
}

/* -- elements that a mask makes 0, or tiny -- */

/* The nodes in front of a sum that are still searched for masks. */
#define MASK_NODES_MAX 64

/* Does x consist of flags or indices that are computed when the model runs, as
 * the result of OneHot or of a Cast of a condition does? */
static bool
is_made_of_flags(const struct tensor *x)
{
	const struct node *made = x->producer;

	while (made != NULL && made->op != NULL &&
	       (made->op->fuse == FUSE_VIEW ||
		made->op->fuse == FUSE_INJECTIVE) &&
	       !node_is(made, "OneHot") && made->inputs[0] != NULL) {
		made = made->inputs[0]->producer;
	}
	return made != NULL && (node_is(made, "OneHot") ||
				(node_is(made, "Cast") &&
				 !dtype_is_float(made->inputs[0]->type)));
}

/* Is a step of a ConvTranspose wider than its weights, so that no product reaches
 * some elements? */
static bool
leaves_gaps(const struct node *n)
{
	const struct tensor *w = n->inputs[1];
	const int64_t *strides;
	int rank = node_attr_ints(n, "strides", &strides);

	for (int i = 0; i < rank && i + 2 < w->ndim; i++) {
		if (strides[i] > least_extent(w->shape[i + 2])) {
			return true;
		}
	}
	return false;
}

static bool
is_one_of(const struct node *n, const char *const *names)
{
	while (*names != NULL && !node_is(n, *names)) {
		names++;
	}
	return *names != NULL;
}

/* Does n make some elements of its result 0 or far smaller than the rest, as a
 * choice between two tensors, a border of zeros or a product with [1, 0, 0]
 * does? */
static bool
is_mask(struct graph *g, const struct node *n)
{
	static const char *const always[] = {
		"CenterCropPad", "GridSample", "MaxUnpool", "ScatterElements",
		"ScatterND",     "Trilu",      "Where",     NULL,
	};
	static const char *const by_constant[] = { "Div", "Max", "Min", "Mul",
						   NULL };
	int64_t elems;

	if (is_one_of(n, always)) {
		return true;
	}
	if (node_is(n, "Resize")) {
		return strcmp(node_attr_string(n,
					       "coordinate_transformation_mode",
					       "half_pixel"),
			      "tf_crop_and_resize") == 0;
	}
	if (node_is(n, "ConvTranspose")) {
		return leaves_gaps(n);
	}
	if (node_is(n, "Pad")) {
		return strcmp(node_attr_string(n, "mode", "constant"),
			      "constant") == 0;
	}
	for (int i = 0; i < n->n_inputs; i++) {
		struct tensor *t = n->inputs[i];

		if (t == NULL) {
			continue;
		}
		if (!tensor_is_constant(t)) {
			if (node_is(n, "Mul") && is_made_of_flags(t)) {
				return true;
			}
			continue;
		}
		if (node_is(n, "Concat") ||
		    (is_one_of(n, by_constant) &&
		     !(tensor_const_elems(t, &elems) && elems == 1) &&
		     !is_even(g, t))) {
			return true;
		}
	}
	return false;
}

/* Can x have elements that a mask (is_mask()) made 0 or tiny? *left: the number
 * of nodes that may still be searched; if none is left, the answer is yes. */
static bool
is_masked(struct graph *g, const struct tensor *x, int *left)
{
	static const char *const keeps[] = { "GlobalMaxPool", "MaxPool",
					     "ReduceMax", "ReduceMin", NULL };
	const struct node *made = x->producer;
	enum fuse_class fuse = made && made->op ? made->op->fuse : FUSE_OPAQUE;

	if (made != NULL && made->op != NULL && is_mask(g, made)) {
		return true;
	}
	if (fuse != FUSE_ELEMENTWISE && fuse != FUSE_BROADCAST &&
	    fuse != FUSE_INJECTIVE && fuse != FUSE_VIEW &&
	    !(made != NULL && is_one_of(made, keeps))) {
		return false;
	}
	if (--*left < 0) {
		return true;
	}
	for (int i = 0; i < made->n_inputs; i++) {
		const struct tensor *t = made->inputs[i];

		if (t != NULL && dtype_is_float(t->type) &&
		    !tensor_is_constant(t) && is_masked(g, t, left)) {
			return true;
		}
	}
	return false;
}

bool
has_several_terms(struct graph *g, const struct node *n)
{
	int left = MASK_NODES_MAX;

	if (!sums_several_elements(g, n)) {
		return false;
	}
	for (int i = 0; i < n->n_inputs; i++) {
		const struct tensor *x = n->inputs[i];

		if (x != NULL && !tensor_is_constant(x) &&
		    is_masked(g, x, &left)) {
			return false;
		}
	}
	return true;
}
