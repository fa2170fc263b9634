/* SPDX-License-Identifier: Apache-2.0 */
/* Sums of one term have no rounding errors, though their operators are made for
 * sums: a ReduceSum of an axis of extent 1, an AveragePool of 1x1, an Einsum that
 * transposes, a MatMul by a permutation. */
#include "terms.h"

#include "affine.h"
#include "rewrite.h"

#include <ctype.h>

static bool
same_extent(const struct expr *a, const struct expr *b)
{
	int64_t x, y;

	return a == b || (expr_is_int(a, &x) && expr_is_int(b, &y) && x == y);
}

/* Have both the same extents, but for those of 1? */
static bool
same_extents(const struct tensor *a, const struct tensor *b)
{
	int i = 0, k = 0;

	for (;;) {
		while (i < a->ndim && expr_is_value(a->shape[i], 1)) {
			i++;
		}
		while (k < b->ndim && expr_is_value(b->shape[k], 1)) {
			k++;
		}
		if (i >= a->ndim || k >= b->ndim) {
			return i >= a->ndim && k >= b->ndim;
		}
		if (!same_extent(a->shape[i++], b->shape[k++])) {
			return false;
		}
	}
}

/* Are all extents from `first` to before `end` 1? */
static bool
all_ones(const struct tensor *t, int first, int end)
{
	for (int d = first; d < end; d++) {
		if (!expr_is_value(t->shape[d], 1)) {
			return false;
		}
	}
	return true;
}

/* -- Einsum -- */

/* Does an Einsum's result have the letter? Without "->" it has those that occur
 * once. */
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

/* Does one operand, whose letters begin at s, have no letter that is summed? Letters
 * behind "..." count from the last dimension. */
static bool
operand_has_one_term(const char *equation, const char *s,
		     const struct tensor *x)
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
			    !expr_is_value(x->shape[d], 1)) {
				return false;
			}
			d++;
		}
	}
	return true;
}

static bool
einsum_has_one_term(const struct node *n)
{
	const char *equation = node_attr_string(n, "equation", "");
	const char *s = equation, *result = strstr(equation, "->");

	if (result && strstr(equation, "...") && !strstr(result, "...")) {
		return false;
	}
	for (int i = 0; i < n->n_inputs && s; i++) {
		if (!operand_has_one_term(equation, s, n->inputs[i])) {
			return false;
		}
		s = strchr(s, ',');
		s = s ? s + 1 : NULL;
	}
	return true;
}

/* -- products -- */

/* Has a channel of the constant weights one that is not 0? */
static bool
picks_elements(struct graph *g, struct node *n)
{
	struct affine_host h;

	if (!affine_is_host(n) || !affine_host_read(g, n, &h)) {
		return false;
	}
	for (int64_t c = 0; c < h.channels; c++) {
		if (h.weights.channel_terms[c] == 1) {
			return true;
		}
	}
	return false;
}

static bool
product_has_one_term(struct graph *g, struct node *n)
{
	const struct tensor *x = n->inputs[0], *w = n->inputs[1];
	int64_t channels;

	if (node_is(n, "Conv")) {
		return all_ones(w, 1, w->ndim) || picks_elements(g, n);
	}
	if (node_is(n, "ConvTranspose")) {
		/* An element at an edge is in one window. */
		return expr_is_int(w->shape[0], &channels) &&
		       channels == node_attr_int(n, "group", 1);
	}
	if (x->ndim < 1) {
		return false;
	}
	return expr_is_value(x->shape[node_attr_int(n, "transA", 0)
					      ? 0
					      : x->ndim - 1],
			     1) ||
	       picks_elements(g, n);
}

bool
has_one_term(struct graph *g, struct node *n)
{
	if (node_is(n, "Conv") || node_is(n, "ConvTranspose") ||
	    node_is(n, "MatMul") || node_is(n, "Gemm")) {
		return product_has_one_term(g, n);
	}
	if (node_is(n, "Einsum")) {
		return einsum_has_one_term(n);
	}
	if (node_is(n, "AveragePool") || node_is(n, "LpPool")) {
		return pool_window_elems(n) == 1;
	}
	return (strncmp(n->op_type, "Reduce", 6) == 0 ||
		strncmp(n->op_type, "Global", 6) == 0) &&
	       !*n->domain && same_extents(n->inputs[0], n->outputs[0]);
}
