/* SPDX-License-Identifier: Apache-2.0 */
/* Merges and cancels Transposes, folds them into Gemm's flags, and moves them
 * behind elementwise nodes, where they may meet further Transposes to merge
 * with.
 *
 *	a = Transpose (x) {perm = [0, 2, 3, 1]}
 *	b = Relu (a)                               ->    y = Relu (x)
 *	y = Transpose (b) {perm = [0, 3, 1, 2]} */
#include "rewrite.h"

static int64_t *
perm_of(struct graph *g, const struct node *n)
{
	int ndim = n->inputs[0]->ndim;
	int64_t *perm = arena_array(&g->module->arena, int64_t, ndim + 1);
	const int64_t *given;
	int count = node_attr_ints(n, "perm", &given);

	for (int i = 0; i < ndim; i++) {
		perm[i] = count == ndim ? given[i] : ndim - 1 - i;
	}
	return perm;
}

/* Merges Transpose (Transpose (x)) into one, which may be the identity. False
 * after a diagnostic. */
static bool
merge_pair(struct graph *g, struct node *n)
{
	struct tensor *x = n->inputs[0];
	struct node *p = x->producer;
	int64_t *outer, *inner, *both;
	int ndim = x->ndim;

	if (!p || !node_is(p, "Transpose")) {
		return false;
	}
	outer = perm_of(g, n);
	inner = perm_of(g, p);
	both = arena_array(&g->module->arena, int64_t, ndim + 1);
	for (int i = 0; i < ndim; i++) {
		both[i] = inner[outer[i]];
	}
	node_set_input(n, 0, p->inputs[0]);
	node_set_attr_ints(g, n, "perm", both, ndim);
	if (x->uses.n == 0 && !x->is_output) {
		graph_remove_node(g, p, "transpose",
				  fate_of(g, "merged into %s", n));
		graph_absorb(n, p);
	} else {
		graph_share_origins(n, p);
	}
	return true;
}

/* Replaces a Transpose of a Gemm's matrix by a flag of the Gemm. */
static bool
into_gemm(struct graph *g, struct node *gemm)
{
	static const char *const flags[2] = { "transA", "transB" };
	bool changed = false;

	for (int i = 0; i < 2; i++) {
		struct tensor *x = gemm->inputs[i];
		struct node *p = x->producer;
		int64_t *perm;

		if (!p || !node_is(p, "Transpose")) {
			continue;
		}
		perm = perm_of(g, p);
		if (perm[0] != 1) {
			continue;
		}
		node_set_attr_int(g, gemm, flags[i],
				  !node_attr_int(gemm, flags[i], 0));
		node_set_input(gemm, i, p->inputs[0]);
		graph_share_origins(gemm, p);
		if (x->uses.n == 0 && !x->is_output) {
			graph_remove_node(g, p, "transpose",
					  fate_of(g, "%s reads it across",
						  gemm));
		}
		changed = true;
	}
	return changed;
}

/* The constant that replaces c, which is broadcast against a transposed tensor,
 * when the node is moved before the Transpose. NULL if c has a symbolic size or
 * is too large. */
static struct tensor *
constant_before(struct graph *g, struct tensor *c, const int64_t *perm,
		int ndim)
{
	struct arena *a = &g->module->arena;
	int64_t *shape = arena_array(a, int64_t, ndim + 1);
	int64_t *inverse = arena_array(a, int64_t, ndim + 1);
	struct tensor *reshaped;
	struct node *n;

	for (int i = 0; i < ndim; i++) {
		int k = i - (ndim - c->ndim);

		shape[i] = 1;
		if (k >= 0 && !expr_is_int(c->shape[k], &shape[i])) {
			return NULL;
		}
		inverse[perm[i]] = i;
	}
	reshaped = finish_constant(g, insert_reshape(g, NULL, c, c->name, ndim,
						     shape));
	if (!reshaped) {
		return NULL;
	}
	n = insert_node(g, NULL, "Transpose", c->name, &reshaped, 1);
	node_set_attr_ints(g, n, "perm", inverse, ndim);
	return finish_constant(g, n);
}

/* Can the elementwise node n be moved before the Transposes of its inputs, so
 * that one Transpose follows it? Each input must be a small constant, or the
 * result of a Transpose that only n reads; *perm is set to the permutation that
 * all these Transposes have. The result must not have more bytes than the
 * transposed inputs together. */
static bool
can_move_behind(struct graph *g, const struct node *n, int64_t **perm)
{
	const struct tensor *y = n->outputs[0];
	int64_t wide = 0;
	int ndim = -1;

	if (!n->op || *n->domain || n->n_outputs != 1 ||
	    (n->op->fuse != FUSE_ELEMENTWISE &&
	     n->op->fuse != FUSE_BROADCAST) ||
	    node_attr(n, "axis")) {
		return false;
	}
	for (int i = 0; i < n->n_inputs; i++) {
		struct tensor *x = n->inputs[i];
		struct node *p = x ? x->producer : NULL;
		int64_t *own;

		if (!x || tensor_is_constant(x)) {
			continue;
		}
		if (!p || !node_is(p, "Transpose") || !sole_user(x) ||
		    !tensor_same_shape(x, y)) {
			return false;
		}
		own = perm_of(g, p);
		if (ndim >= 0 &&
		    memcmp(own, *perm, sizeof *own * (size_t)ndim) != 0) {
			return false;
		}
		*perm = own;
		ndim = x->ndim;
		wide += dtype_bytes(x->type);
	}
	for (int i = 0; i < n->n_inputs; i++) {
		const struct tensor *c = n->inputs[i];

		/* Only small constants are handled here, and only for operators
		 * with NumPy's broadcasting. */
		if (c && tensor_is_constant(c) && c->ndim > 0 &&
		    (!n->op->body || c->ndim > ndim ||
		     tensor_bytes_max(c) > EAGER_BYTES)) {
			return false;
		}
	}
	return ndim >= 0 && dtype_bytes(y->type) <= wide;
}

static bool
move_behind(struct graph *g, struct node *n, const int64_t *perm)
{
	struct tensor *y = n->outputs[0], *inner;
	int ndim = y->ndim;
	struct node *moved = NULL, gone = { .graph = g };

	inner = graph_tensor(g, arena_printf(&g->module->arena, "%s.before",
					     y->name));
	for (int i = 0; i < n->n_inputs; i++) {
		struct tensor *x = n->inputs[i];

		if (!x) {
			continue;
		}
		if (tensor_is_constant(x)) {
			struct tensor *c = x;

			if (x->ndim > 0) {
				c = constant_before(g, x, perm, ndim);
			}
			if (!c) {
				return false;
			}
			node_set_input(n, i, c);
			continue;
		}
		moved = x->producer;
		node_set_input(n, i, moved->inputs[0]);
		if (x->uses.n == 0) {
			/* the Transpose that is made below, after n, takes the
			 * place of this one */
			graph_remove_node(g, moved, "transpose",
					  fate_of(g, "moved behind %s", n));
			graph_absorb(&gone, moved);
		} else {
			graph_share_origins(&gone, moved);
		}
	}
	n->outputs[0] = inner;
	inner->producer = n;
	y->producer = NULL;
	for (int i = 0; i < g->nodes.n; i++) {
		if (g->nodes.data[i] == n) {
			moved = graph_node_at(g, i + 1, "", "Transpose", "",
					      &inner, 1, &y, 1);
			break;
		}
	}
	moved->op = op_find("", "Transpose");
	graph_absorb(moved, &gone);
	node_set_attr_ints(g, moved, "perm", perm, ndim);
	return ops_infer_node(g, n) && ops_infer_node(g, moved);
}

bool
graph_transpose(struct graph *g)
{
	for (int i = 0; i < g->nodes.n; i++) {
		struct node *n = g->nodes.data[i];
		int before = g->nodes.n;
		int64_t *perm = NULL;

		if (node_is(n, "Transpose")) {
			merge_pair(g, n);
		} else if (node_is(n, "Gemm")) {
			into_gemm(g, n);
		} else if (can_move_behind(g, n, &perm) &&
			   !move_behind(g, n, perm)) {
			return false;
		}
		if (g->nodes.n < before) {
			i--;
		}
	}
	return true;
}
