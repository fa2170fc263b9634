/* SPDX-License-Identifier: Apache-2.0 */
/* In-place kernels: an output overwrites one of the inputs through the same
 * pointer.
 *
 *   add(x, b, y)   ->   add(b, y)      # y is read and written
 *
 * Legal if the live range of the input (with its views and parts of
 * concatenations) ends at the kernel, no other argument of the kernel aliases
 * it, input and output are not the caller's memory, and lowering proves that
 * every element is read before it is written. This is decided before signatures
 * are emitted, so that no restrict qualifier is violated. */
#include "access.h"
#include "iter_map.h"
#include "kernel_build.h"
#include "layouts.h"
#include "loop_legality.h"
#include "lower.h"
#include "ops.h"
#include "rewrite.h"

/* The most groups that a search for an ancestor visits; beyond it, the answer
 * is "not an ancestor". */
enum { SEARCH_MAX = 4096 };

struct search {
	struct builder *b;
	int candidate;
	int seen; /* the number of groups that the search has visited */
	bool found;
	VEC(const struct group *) open;
};

/* Adds the groups that compute the inputs of the node to the groups that the
 * search will visit. */
static void
search_inputs(struct search *s, const struct group *group,
	      const struct node *node)
{
	struct builder *b = s->b;

	for (int a = 0; a < node->n_inputs && !s->found; a++) {
		const struct tensor *t = node->inputs[a];
		int from;

		if (t == NULL || t->producer == NULL ||
		    group_index(group, t->producer) >= 0) {
			continue;
		}
		from = t->producer->group;
		/* Groups are in topological order: groups before the candidate
		 * cannot depend on it. */
		if (from < s->candidate || b->mark[from] == b->stamp) {
			continue;
		}
		b->mark[from] = b->stamp;
		s->found = from == s->candidate;
		vec_push(&b->m->arena, &s->open, b->g->groups.data[from]);
		s->seen++;
	}
}

/* Must group number `candidate` run before group number `of`, because `of`
 * depends on it? Also false if a search through SEARCH_MAX groups does not find
 * `candidate`. */
static bool
is_ancestor(struct builder *b, int of, int candidate)
{
	struct search s = { .b = b, .candidate = candidate };

	b->stamp++;
	vec_push(&b->m->arena, &s.open, b->g->groups.data[of]);
	while (s.open.n > 0 && !s.found && s.seen < SEARCH_MAX) {
		const struct group *group = s.open.data[--s.open.n];

		for (int i = 0; i < group->nodes.n; i++) {
			search_inputs(&s, group, group->nodes.data[i]);
		}
	}
	return s.found;
}

/* Does the group `group` make the last use of t's bytes: do all other groups
 * that read t or a view of t run before this one? */
static bool
dies_here(struct builder *b, struct tensor *t, const struct group *group)
{
	if (t->is_output) {
		return false;
	}
	for (int i = 0; i < t->uses.n; i++) {
		struct node *user = t->uses.data[i].node;

		for (int k = b->first_group[user->id];
		     k < b->first_group[user->id + 1]; k++) {
			struct group *other = b->group_list[k];

			if (other == group) {
				continue;
			}
			if (other->is_view) {
				if (!dies_here(b, user->outputs[0], group)) {
					return false;
				}
			} else if (!is_ancestor(b, group->id, other->id)) {
				return false;
			}
		}
	}
	return true;
}

/* Is dies_here true for every part of a concatenation? */
static bool
parts_die_here(struct builder *b, const struct tensor *whole,
	       const struct group *group)
{
	const struct node *n = whole->producer;

	for (int i = 0; n != NULL && i < n->n_inputs; i++) {
		struct tensor *root;

		if (n->inputs[i] == NULL || n->inputs[i]->part_of != whole) {
			continue;
		}
		root = graph_view_root(b->g, n->inputs[i]);
		if (!dies_here(b, root, group) ||
		    !parts_die_here(b, root, group)) {
			return false;
		}
	}
	return true;
}

/* Is t, or a view of t, a part of a concatenation? Then its place is fixed. */
static bool
becomes_part(struct builder *b, const struct tensor *t)
{
	if (t->part_of != NULL) {
		return true;
	}
	for (int i = 0; i < t->uses.n; i++) {
		struct node *user = t->uses.data[i].node;

		if (user->group >= 0 &&
		    b->g->groups.data[user->group]->is_view &&
		    becomes_part(b, user->outputs[0])) {
			return true;
		}
	}
	return false;
}

/* Is t, or a view of it, an output of the graph in the caller's memory? */
static bool
becomes_output(struct builder *b, const struct tensor *t)
{
	if (t->is_output && !t->in_workspace) {
		return true;
	}
	for (int i = 0; i < t->uses.n; i++) {
		struct node *user = t->uses.data[i].node;

		if (user->group >= 0 &&
		    b->g->groups.data[user->group]->is_view &&
		    becomes_output(b, user->outputs[0])) {
			return true;
		}
	}
	return false;
}

static bool
same_storage(const struct tensor *a, const struct tensor *b)
{
	return tensor_same_type(a, b) &&
	       layout_equal(a->layout, b->layout, a->ndim);
}

/* Are the bytes of t, or of a tensor of which t is a part, the bytes of
 * `whole`? */
static bool
lies_in(struct builder *b, struct tensor *t, const struct tensor *whole)
{
	while (t != whole && t->part_of != NULL) {
		t = graph_view_root(b->g, t->part_of);
	}
	return t == whole;
}

/* Is there an argument, other than argument `in`, that the kernel only reads
 * and whose bytes overlap those of root? */
static bool
is_read_twice(struct builder *b, const struct kernel *k, int in,
	      struct tensor *root)
{
	for (int i = 0; i < k->args.n; i++) {
		const struct kernel_arg *arg = &k->args.data[i];
		struct tensor *other;

		if (i == in || arg->kind != ARG_TENSOR || arg->written) {
			continue;
		}
		other = graph_view_root(b->g, arg->tensor);
		if (lies_in(b, other, root) || lies_in(b, root, other)) {
			return true;
		}
	}
	return false;
}

/* -- threads of a device */

/* Is every element of the array stored by exactly one instance of the block? */
static bool
is_own_place(struct func *f, const struct stmt *store,
	     const struct block *block)
{
	struct iter_map map;
	struct analyser a;

	analyser_init(&a, f->module);
	for (int d = 0; d < block->n_iters; d++) {
		const struct iter_var *it = &block->iters[d];

		if (it->kind != ITER_SPATIAL) {
			return false;
		}
		analyser_bind(&a, it->var, it->min, it->extent);
	}
	return iter_map_detect(&a, block->iters, block->n_iters, NULL,
			       store->args + 1, store->n_args - 1,
			       ITER_MAP_BIJECTIVE, &map);
}

/* Is x in an earlier loop nest than y? Each nest is a separate device
 * kernel. */
static bool
is_before(struct stmt *x, struct stmt *y)
{
	const struct stmt *all = stmt_common(x, y);

	if (all->kind != STMT_SEQ || all->parent == NULL ||
	    all->parent->kind != STMT_BLOCK || all->parent->parent != NULL) {
		return false;
	}
	for (int i = 0; i < all->n_children; i++) {
		if (stmt_contains(all->children[i], x)) {
			return true;
		}
		if (stmt_contains(all->children[i], y)) {
			return false;
		}
	}
	return false;
}

/* Is each load either in the statement `store`, with the same index as the
 * element that it stores, or in a device kernel that runs before that of
 * `store`? */
static bool
loads_at(const struct access_list *loads, struct stmt *store)
{
	for (int i = 0; i < loads->list.n; i++) {
		const struct access *x = &loads->list.data[i];

		if (x->at != store && is_before(x->at, store)) {
			continue;
		}
		if (x->at != store || x->buffer->ndim + 1 != store->n_args) {
			return false;
		}
		for (int d = 0; d < x->buffer->ndim; d++) {
			if (x->index[d] != store->args[d + 1]) {
				return false;
			}
		}
	}
	return true;
}

static bool
reads_own(struct func *f, const struct buffer *in, const struct buffer *out)
{
	struct access_list loads = { 0 }, uses = { 0 };
	struct stmt *store;
	const struct stmt *block;

	access_collect(f, f->body, in, &loads);
	access_collect(f, f->body, out, &uses);
	if (func_writes(f, in) || loads.list.n == 0 || uses.list.n != 1 ||
	    uses.list.data[0].load) {
		return false;
	}
	store = uses.list.data[0].at;
	for (block = store; block != NULL && block->kind != STMT_BLOCK;
	     block = block->parent) {
	}
	return store->kind == STMT_STORE && block != NULL &&
	       scope_of(block) != NULL && scope_of(scope_of(block)) == NULL &&
	       is_own_place(f, store, block->u.block) &&
	       loads_at(&loads, store) &&
	       bindings_injective(f, scope_child(block), block);
}

void
kernel_note_own_elements(struct joint *j)
{
	struct kernel *k = j->k;

	for (int o = 0; o < k->args.n; o++) {
		for (int i = 0; i < k->args.n; i++) {
			const struct kernel_arg *in = &k->args.data[i];
			const struct kernel_arg *out = &k->args.data[o];
			struct own_element own = { in->tensor, out->tensor };

			if (in->kind == ARG_TENSOR && !in->written &&
			    out->kind == ARG_TENSOR && out->written &&
			    reads_own(k->func, k->func->params.data[i].buffer,
				      k->func->params.data[o].buffer)) {
				vec_push(&j->b->m->arena, &j->own, own);
			}
		}
	}
}

static bool
is_own(const struct joint *j, const struct kernel_arg *in,
       const struct kernel_arg *out)
{
	for (int i = 0; i < j->own.n; i++) {
		if (j->own.data[i].in == in->tensor &&
		    j->own.data[i].out == out->tensor) {
			return lower_stores_once(j->k->func, in->buffer,
						 out->buffer);
		}
	}
	return false;
}

/* -- branches and loops */

/* Is `next` the value that the state gets for the next iteration of its
 * loop? */
static bool
is_next_state(const struct tensor *state, const struct tensor *next)
{
	const struct node *carry = state->producer;

	if (carry == NULL || !node_is_carry(carry)) {
		return false;
	}
	for (int i = 0; i < next->uses.n; i++) {
		const struct node *end = next->uses.data[i].node;
		int first;

		if (!node_ends_loop(end)) {
			continue;
		}
		first = next->uses.data[i].input - node_loop_end(end).states;
		if (first >= 0 && end->inputs[first] == carry->inputs[0]) {
			return true;
		}
	}
	return false;
}

/* Does control flow (a branch or loop) forbid that the output overwrites the
 * input, because it may read or keep the input, or decides the place of the
 * output? An input that is computed outside of a loop is read again by the next
 * iteration of the loop. */
static bool
control_forbids(const struct kernel *k, const struct kernel_arg *in,
		const struct kernel_arg *out, const struct tensor *root)
{
	const struct node *p = root->producer;

	if (in->is_element || out->is_element) {
		return true;
	}
	if (is_next_state(in->tensor, out->tensor)) {
		return false;
	}
	return tensor_read_by_control(out->tensor) ||
	       tensor_read_by_control(root) ||
	       (p != NULL &&
		(p->op->fuse == FUSE_CONTROL || p->body != kernel_body(k)));
}

/* Are both tensors in the workspace? It is enough if they are a state of the
 * model and its next value. */
static bool
places_are_free(struct builder *b, const struct tensor *root,
		const struct tensor *out)
{
	return is_next_of(b->g, root, out) ||
	       ((root->in_workspace || (!root->is_input && !root->is_output)) &&
		!becomes_output(b, out));
}

void
kernel_store_in_place(struct joint *j)
{
	bool threads = j->b->p->target->max_threads > 0;
	struct builder *b = j->b;
	struct kernel *k = j->k;

	for (int o = 0; o < k->args.n; o++) {
		struct kernel_arg *out = &k->args.data[o];

		if (out->kind != ARG_TENSOR || !out->written ||
		    becomes_part(b, out->tensor)) {
			continue;
		}
		for (int i = 0; i < k->args.n; i++) {
			struct kernel_arg *in = &k->args.data[i];
			struct tensor *root;

			if (in->kind != ARG_TENSOR || in->written ||
			    !same_storage(in->tensor, out->tensor)) {
				continue;
			}
			root = graph_view_root(b->g, in->tensor);
			if (!places_are_free(b, root, out->tensor) ||
			    tensor_is_constant(root) ||
			    control_forbids(k, in, out, root) ||
			    becomes_output(b, root) ||
			    !dies_here(b, root, k->group) ||
			    !parts_die_here(b, root, k->group) ||
			    is_read_twice(b, k, i, root) ||
			    !(threads ? is_own(j, in, out)
				      : lower_can_be_in_place(k->func,
							      in->buffer,
							      out->buffer))) {
				continue;
			}
			lower_make_in_place(k->func, in->buffer, out->buffer);
			out->in_place = in->tensor;
			out->read = true;
			memmove(&k->args.data[i], &k->args.data[i + 1],
				sizeof k->args.data[0] *
					(size_t)(k->args.n - i - 1));
			k->args.n--;
			if (i < o) {
				o--;
			}
			break;
		}
	}
}
