/* SPDX-License-Identifier: Apache-2.0 */
/* merge: loop fusion of adjacent nests with equal extents.
 *
 *   for i in range(8):           merge(i, j)      for i_j in range(8):
 *       B[i] = A[i] * 2              ->               B[i_j] = A[i_j] * 2
 *   for j in range(8):                                C[j_j] = B[i_j] + 1
 *       C[j] = B[j] + 1
 *
 * Legality: no iteration of a later nest may depend on (RAW, WAR or WAW) a
 * later iteration of an earlier nest. */
#include "edit.h"

enum { DEEPEST = 8 };

struct nest {
	struct stmt *loops[DEEPEST]; /* outermost first */
	int depth;
};

static bool
is_single(const struct stmt *s)
{
	return s->parent && s->parent->kind == STMT_FOR;
}

/* Lists the loops from the child of the common ancestor `common` down to
 * target. False after a diagnostic if there are other statements. */
static bool
find_nest(struct edit *e, struct stmt *target, const struct stmt *common,
	  struct nest *out)
{
	struct stmt *p = target;

	out->depth = 0;
	for (;; p = p->parent) {
		if (out->depth == DEEPEST) {
			return edit_fail(e,
					 "loop %s is in a nest of more "
					 "than %d loops; merge further out",
					 target->u.loop.var->name, DEEPEST);
		}
		if (p->u.loop.kind != FOR_SERIAL || p->notes) {
			return edit_fail(e,
					 "loop %s is %s; merge before "
					 "annotating",
					 p->u.loop.var->name,
					 for_kind_name(p->u.loop.kind));
		}
		out->loops[out->depth++] = p;
		if (p->parent == common) {
			break;
		}
		if (!is_single(p)) {
			return edit_fail(e,
					 "loop %s is not the whole body of "
					 "the loop around it; merge whole "
					 "nests",
					 p->u.loop.var->name);
		}
	}
	for (int i = 0, k = out->depth - 1; i < k; i++, k--) {
		struct stmt *t = out->loops[i];

		out->loops[i] = out->loops[k];
		out->loops[k] = t;
	}
	return true;
}

static bool
same_ranges(struct edit *e, const struct nest *x, const struct nest *y)
{
	struct analyser a;

	if (x->depth != y->depth) {
		return edit_fail(e,
				 "loops %s and %s are in nests of depth %d "
				 "and %d; merge loops of equal depth",
				 x->loops[x->depth - 1]->u.loop.var->name,
				 y->loops[y->depth - 1]->u.loop.var->name,
				 x->depth, y->depth);
	}
	analyser_at(&a, e->m, x->loops[0]);
	for (int i = 0; i < x->depth; i++) {
		for (int k = 0; k < 2; k++) {
			if (prove_equal(&a, x->loops[i]->args[k],
					y->loops[i]->args[k])) {
				continue;
			}
			return edit_fail(e,
					 "loops %s and %s have different "
					 "ranges; merge loops of equal ranges",
					 x->loops[i]->u.loop.var->name,
					 y->loops[i]->u.loop.var->name);
		}
	}
	return true;
}

/* -- dependences */

struct pair {
	struct edit *e;
	const struct nest *first, *second;
	const struct buffer *buffer;
	/* the boxes of a buffer that one iteration of the first nest accesses
	 * (made), and that one iteration of the second nest accesses (used) */
	struct range *made, *used;
};

static const struct expr *
at_vars(struct pair *p, const struct nest *n, struct var *const *vars,
	const struct expr *x)
{
	struct var *from[DEEPEST];
	const struct expr *to[DEEPEST];
	struct var_map map = { from, to, n->depth };

	for (int i = 0; i < n->depth; i++) {
		from[i] = n->loops[i]->u.loop.var;
		to[i] = vars[i]->expr;
	}
	return expr_substitute(p->e->m, x, &map);
}

/* Are the elements that iteration s of the first nest accesses disjoint from
 * those that iteration t of the second nest accesses? This must hold for all s
 * and t such that the loops outside of `level` have equal values in both, the
 * loop at `level` has a larger value in s, and the loops inside have any
 * values. */
static bool
disjoint_at(struct pair *p, int level)
{
	struct module *m = p->e->m;
	struct var *s[DEEPEST], *t[DEEPEST];
	struct analyser a;
	int64_t n;

	if (expr_is_int(p->first->loops[level]->args[1], &n) && n < 2) {
		return true; /* no iteration is later */
	}
	analyser_at(&a, m, p->first->loops[0]);
	for (int i = 0; i < p->first->depth; i++) {
		const struct stmt *l = p->first->loops[i];
		const struct expr *min = l->args[0], *extent = l->args[1];

		t[i] = var_new(m, "t", l->u.loop.var->type);
		s[i] = i < level ? t[i] : var_new(m, "s", t[i]->type);
		analyser_bind(&a, t[i], min, extent);
		if (i == level) {
			const struct expr *one = expr_int(m, t[i]->type, 1);

			analyser_bind(&a, s[i], expr_add(m, min, one),
				      expr_sub(m, extent, one));
			analyser_assume(&a, expr_lt(m, t[i]->expr, s[i]->expr));
		} else if (i > level) {
			analyser_bind(&a, s[i], min, extent);
		}
	}
	for (int d = 0; d < p->buffer->ndim; d++) {
		const struct expr *x = at_vars(p, p->first, s, p->made[d].min);
		const struct expr *y = at_vars(p, p->second, t, p->used[d].min);
		const struct expr *xe = at_vars(p, p->first, s,
						p->made[d].extent);
		const struct expr *ye = at_vars(p, p->second, t,
						p->used[d].extent);

		if (prove(&a, expr_le(m, expr_add(m, x, xe), y)) ||
		    prove(&a, expr_le(m, expr_add(m, y, ye), x))) {
			return true;
		}
	}
	return false;
}

/* Is the access the address of an element, through which a call may write at
 * any offset? */
static bool
is_opaque(const struct access *x)
{
	return x->at->kind == STMT_EVALUATE;
}

static struct range *
box_of(struct edit *e, const struct nest *n, const struct access *x)
{
	struct range *box = arena_array(&e->m->arena, struct range,
					x->buffer->ndim + 1);

	if (is_opaque(x)) {
		for (int d = 0; d < x->buffer->ndim; d++) {
			box[d].min = expr_int(e->m, x->buffer->shape[d]->type,
					      0);
			box[d].extent = x->buffer->shape[d];
		}
	} else {
		access_cover(e->f, n->loops[n->depth - 1]->children[0], x, 1,
			     box);
	}
	return box;
}

static bool
independent(struct edit *e, const struct nest *first, const struct nest *second)
{
	struct access_list xs = { 0 }, ys = { 0 };

	access_collect(e->f, first->loops[0], NULL, &xs);
	access_collect(e->f, second->loops[0], NULL, &ys);
	for (int i = 0; i < xs.list.n; i++) {
		const struct access *x = &xs.list.data[i];

		for (int k = 0; k < ys.list.n; k++) {
			const struct access *y = &ys.list.data[k];
			struct pair p = { e,         first, second,
					  x->buffer, NULL,  NULL };

			if (x->buffer != y->buffer ||
			    (x->load && y->load && !is_opaque(x) &&
			     !is_opaque(y))) {
				continue;
			}
			p.made = box_of(e, first, x);
			p.used = box_of(e, second, y);
			for (int level = 0; level < first->depth; level++) {
				if (disjoint_at(&p, level)) {
					continue;
				}
				return edit_fail(
					e,
					"an iteration of loop %s would "
					"access %s before the accesses of "
					"loop %s that must come first; do "
					"not merge them",
					second->loops[level]->u.loop.var->name,
					x->buffer->name,
					first->loops[level]->u.loop.var->name);
			}
		}
	}
	return true;
}

/* -- merging */

static struct stmt *
common_of(struct stmt **list, int n)
{
	struct stmt *s = list[0];

	for (int i = 1; i < n; i++) {
		s = stmt_common(s, list[i]);
	}
	return s;
}

static bool
check_neighbours(struct edit *e, const struct stmt *common,
		 const struct nest *nests, int n)
{
	int at = -1;

	for (int i = 0; i < common->n_children; i++) {
		if (common->children[i] == nests[0].loops[0]) {
			at = i;
		}
	}
	for (int i = 0; i < n; i++) {
		if (at + i >= common->n_children ||
		    common->children[at + i] != nests[i].loops[0]) {
			return edit_fail(e,
					 "loop %s does not follow loop %s "
					 "directly; name adjacent loops in "
					 "order",
					 nests[i].loops[0]->u.loop.var->name,
					 nests[i - 1]
						 .loops[0]
						 ->u.loop.var->name);
		}
	}
	return true;
}

static void
join(struct edit *e, const struct nest *nests, int n)
{
	struct func *f = e->f;
	struct stmt **bodies = arena_array(&e->m->arena, struct stmt *, n);
	int depth = nests[0].depth;
	struct stmt *inner = nests[0].loops[depth - 1];

	bodies[0] = inner->children[0];
	for (int i = 1; i < n; i++) {
		bodies[i] = nests[i].loops[depth - 1]->children[0];
		for (int d = 0; d < depth; d++) {
			struct var *from = nests[i].loops[d]->u.loop.var;
			const struct expr *to =
				nests[0].loops[d]->u.loop.var->expr;
			struct var_map map = { &from, &to, 1 };

			stmt_substitute(f, bodies[i], &map);
		}
		stmt_remove(f, nests[i].loops[0]);
	}
	stmt_set_child(f, inner, 0, stmt_seq(f, bodies, n));
}

bool
prim_merge(struct edit *e, const struct sched_value *args,
	   struct sched_value *out)
{
	struct stmt **list = edit_loops(e, &args[0]), *common;
	int n = args[0].n;
	struct nest *nests = arena_array(&e->m->arena, struct nest, n + 1);

	if (!list) {
		return false;
	}
	if (n < 2) {
		return edit_fail(e, "there is only one loop; name the loops "
				    "to merge");
	}
	common = common_of(list, n);
	if (common->kind != STMT_SEQ || scope_of(list[0]) != scope_of(common)) {
		return edit_fail(e,
				 "loops %s and %s are not adjacent; merge "
				 "adjacent loops",
				 list[0]->u.loop.var->name,
				 list[n - 1]->u.loop.var->name);
	}
	for (int i = 0; i < n; i++) {
		if (!find_nest(e, list[i], common, &nests[i]) ||
		    (i > 0 && !same_ranges(e, &nests[0], &nests[i]))) {
			return false;
		}
	}
	if (!check_neighbours(e, common, nests, n)) {
		return false;
	}
	for (int i = 0; i < n; i++) {
		for (int k = i + 1; k < n; k++) {
			if (!independent(e, &nests[i], &nests[k])) {
				return false;
			}
		}
	}
	join(e, nests, n);
	*out = sv_loop(nests[0].loops[nests[0].depth - 1]->id);
	return true;
}
