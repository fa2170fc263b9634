/* SPDX-License-Identifier: Apache-2.0 */
/* Does a set of stores cover a box completely? The padding of a layout whose
 * tile does not divide the extent is never stored; a copy of the box would read
 * uninitialized elements.
 *
 *	B[v_i // 4, v_j, v_i % 4], 0 <= v_i < 6: in the box [2][8][4],
 *	the elements [1, ., 2] and [1, ., 3] are not stored
 *
 * Groups of dimensions that share no variable are checked separately, so that
 * fewer elements are enumerated. */
#include <string.h>

#include "block_init.h"
#include "copy_block.h"
#include "iterate.h"
#include "region.h"

enum { GAP_DIMS = 16, COVERAGE_VARS = 16, GAP_POINTS = 1 << 16 };

/* The variables of a store's index and their ranges. */
struct domain {
	const struct var *var[COVERAGE_VARS];
	int64_t min[COVERAGE_VARS], extent[COVERAGE_VARS], value[COVERAGE_VARS];
	int n;
};

static bool
add_var(struct domain *d, const struct access *store, const struct var *v,
	const struct expr *min, const struct expr *extent)
{
	bool used = false;

	for (int i = 0; i < store->buffer->ndim; i++) {
		used |= expr_uses_var(store->index[i], v);
	}
	if (!used) {
		return true;
	}
	if (d->n == COVERAGE_VARS || !expr_is_int(min, &d->min[d->n]) ||
	    !expr_is_int(extent, &d->extent[d->n])) {
		return false;
	}
	d->var[d->n++] = v;
	return true;
}

/* Sets *d to the variables of the store's index and their ranges. Variables
 * that are bound by the statement `scope` or outside of it count as constants;
 * if scope is NULL, no variable does. False if a range is not constant, or if
 * there are more than COVERAGE_VARS variables; such variables are left out of
 * *d. */
static bool
find_domain(struct domain *d, const struct access *store,
	    const struct stmt *scope)
{
	bool still = false, all = true;

	for (const struct stmt *s = store->at; s; s = s->parent) {
		int first = d->n;

		still |= s == scope;
		if (s->kind == STMT_FOR) {
			all &= add_var(d, store, s->u.loop.var, s->args[0],
				       s->args[1]);
		}
		for (int i = 0;
		     s->kind == STMT_BLOCK && i < s->u.block->n_iters; i++) {
			const struct iter_var *it = &s->u.block->iters[i];

			all &= add_var(d, store, it->var, it->min, it->extent);
		}
		for (int i = first; i < d->n && still; i++) {
			d->extent[i] = 1;
		}
	}
	return all;
}

/* The block that allocates the accessed buffer; NULL if the buffer is a
 * parameter. */
static const struct stmt *
home_of(const struct access *x)
{
	const struct stmt *s = x->at;

	while (s && !(s->kind == STMT_BLOCK && scope_owns(s, x->buffer))) {
		s = s->parent;
	}
	return s;
}

static bool
evaluate(const struct domain *d, const struct expr *e, int64_t *out)
{
	int64_t x, y;

	if (expr_is_int(e, out)) {
		return true;
	}
	for (int i = 0; i < d->n && e->kind == EXPR_VAR; i++) {
		if (d->var[i] == e->u.var) {
			*out = d->value[i];
			return true;
		}
	}
	if (e->n_args != 2 || !evaluate(d, e->args[0], &x) ||
	    !evaluate(d, e->args[1], &y)) {
		return false;
	}
	switch (e->kind) {
	case EXPR_ADD:
		return !__builtin_add_overflow(x, y, out);
	case EXPR_SUB:
		return !__builtin_sub_overflow(x, y, out);
	case EXPR_MUL:
		return !__builtin_mul_overflow(x, y, out);
	case EXPR_FLOORDIV:
	case EXPR_FLOORMOD:
		if (y <= 0) {
			return false;
		}
		*out = e->kind == EXPR_FLOORDIV ? x / y - (x % y < 0)
						: x % y + (x % y < 0 ? y : 0);
		return true;
	default:
		return false;
	}
}

/* A group of dimensions whose indices share no variable with those of
 * dimensions outside of the group; and the box whose elements are numbered. */
struct dim_group {
	const struct access *store;
	const struct range *box;
	const bool *dims, *vars;
};

/* The row-major number, in the group's part of the box, of the element that the
 * store writes at present; -1 if the element is outside of the box, -2 if the
 * position is not known. */
static int64_t
place_of(const struct dim_group *g, const struct domain *d)
{
	int64_t at = 0, x, min, extent;

	for (int i = 0; i < g->store->buffer->ndim; i++) {
		if (!g->dims[i]) {
			continue;
		}
		if (!evaluate(d, g->store->index[i], &x) ||
		    !expr_is_int(g->box[i].min, &min) ||
		    !expr_is_int(g->box[i].extent, &extent)) {
			return -2;
		}
		if (x < min || x >= min + extent) {
			return -1;
		}
		at = at * extent + x - min;
	}
	return at;
}

/* Advances the group's variables to the next combination of their values; false
 * after the last combination. */
static bool
advance(const struct dim_group *g, struct domain *d)
{
	for (int i = 0; i < d->n; i++) {
		if (!g->vars[i]) {
			continue;
		}
		if (++d->value[i] < d->min[i] + d->extent[i]) {
			return true;
		}
		d->value[i] = d->min[i];
	}
	return false;
}

/* The number of elements of the group's part of the box; -1 if it is not
 * constant, not above 0, or does not fit in int64. */
static int64_t
volume_of(const struct dim_group *g)
{
	int64_t volume = 1, n;

	for (int i = 0; i < g->store->buffer->ndim; i++) {
		if (g->dims[i] &&
		    (!expr_is_int(g->box[i].extent, &n) || n < 1 ||
		     __builtin_mul_overflow(volume, n, &volume))) {
			return -1;
		}
	}
	return volume;
}

static int64_t
points_of(const struct dim_group *g, const struct domain *d)
{
	int64_t points = 1;

	for (int i = 0; i < d->n; i++) {
		if (g->vars[i] && d->extent[i] < 1) {
			return 0;
		}
		if (g->vars[i] &&
		    __builtin_mul_overflow(points, d->extent[i], &points)) {
			return -1;
		}
	}
	return points;
}

/* Sets seen[n] for each element n of the box that is stored, and *filled to the
 * number of these elements; false if they cannot be determined. */
static bool
mark_seen(const struct dim_group *g, struct domain *d, bool *seen,
	  int64_t *filled)
{
	for (int i = 0; i < d->n; i++) {
		d->value[i] = d->min[i];
	}
	do {
		int64_t at = place_of(g, d);

		if (at == -2) {
			return false;
		}
		if (at >= 0 && !seen[at]) {
			seen[at] = true;
			++*filled;
		}
	} while (advance(g, d));
	return true;
}

static bool
group_has_gaps(struct edit *e, const struct dim_group *g, struct domain *d)
{
	int64_t volume = volume_of(g), points = points_of(g, d), filled = 0;

	if (volume < 0 || points < 0 || points < volume) {
		return volume >= 0 && points >= 0;
	}
	return points <= GAP_POINTS &&
	       mark_seen(g, d, arena_array(&e->m->arena, bool, (int)volume),
			 &filled) &&
	       filled < volume;
}

/* Extends the sets `dims` and `vars` by all dimensions and variables that are
 * connected with those in them: an index uses the variable. True if a dimension
 * was added. */
static bool
grow(const struct access *store, const struct domain *d, bool *dims, bool *vars)
{
	bool grown, wider = false;

	do {
		grown = false;
		for (int i = 0; i < store->buffer->ndim; i++) {
			for (int k = 0; k < d->n; k++) {
				if (dims[i] != vars[k] &&
				    expr_uses_var(store->index[i], d->var[k])) {
					wider |= !dims[i];
					dims[i] = vars[k] = true;
					grown = true;
				}
			}
		}
	} while (grown);
	return wider;
}

/* The variables of one index, and for each the number of its values; -1 if that
 * number is not constant. */
struct terms {
	struct var *vars[COVERAGE_VARS];
	int64_t count[COVERAGE_VARS];
	int n;
};

static void
add_term(struct terms *t, const struct expr *index, struct var *v,
	 const struct expr *extent)
{
	if (t->n < COVERAGE_VARS && expr_uses_var(index, v)) {
		t->vars[t->n] = v;
		if (!expr_is_int(extent, &t->count[t->n])) {
			t->count[t->n] = -1;
		}
		t->n++;
	}
}

/* Does the index in dimension d skip values? For example, 7 * i + j does,
 * unless j has at least seven values. */
static bool
steps_over(struct edit *e, const struct access *store, int d)
{
	const struct expr *index = store->index[d], *rest;
	int64_t coeff[COVERAGE_VARS], reach = 1;
	struct terms t = { .n = 0 };
	struct analyser a;

	for (const struct stmt *s = store->at; s; s = s->parent) {
		if (s->kind == STMT_FOR) {
			add_term(&t, index, s->u.loop.var, s->args[1]);
		}
		for (int i = 0;
		     s->kind == STMT_BLOCK && i < s->u.block->n_iters; i++) {
			add_term(&t, index, s->u.block->iters[i].var,
				 s->u.block->iters[i].extent);
		}
	}
	analyser_init(&a, e->m);
	if (!analyse_affine(&a, index, t.vars, t.n, coeff, &rest)) {
		return false;
	}
	for (int left = t.n; left > 0; left--) {
		int least = 0;

		for (int i = 0; i < left; i++) {
			coeff[i] = coeff[i] < 0 ? -coeff[i] : coeff[i];
			least = coeff[i] < coeff[least] ? i : least;
		}
		if (t.count[least] != 1 && coeff[least] > reach) {
			return true;
		}
		if (t.count[least] < 0) {
			/* a symbolic number of values: assumed to leave no gap
			 * up to the next variable's coefficient */
			return false;
		}
		reach += coeff[least] * (t.count[least] - 1);
		coeff[least] = coeff[left - 1];
		t.count[least] = t.count[left - 1];
	}
	return false;
}

/* For symbolic sizes: can the store leave out elements, in some of the
 * dimensions `dims` (NULL: in any dimension), because of a stride, or of a tile
 * whose size does not divide the extent? */
static bool
may_leave_elements(struct edit *e, const struct access *store, const bool *dims)
{
	bool divides = false, steps = false;

	for (int d = 0; d < store->buffer->ndim; d++) {
		if (dims && !dims[d]) {
			continue;
		}
		divides |= expr_has(store->index[d], EXPR_FLOORDIV) ||
			   expr_has(store->index[d], EXPR_FLOORMOD);
		steps |= steps_over(e, store, d);
	}
	return divides || steps;
}

/* Is the group's part of the box a single element whose position varies? */
static bool
single_element(const struct access *store, const struct range *box,
	       const bool *dims)
{
	bool moves = false;
	int64_t n;

	for (int i = 0; i < store->buffer->ndim; i++) {
		if (dims[i] && !expr_is_value(box[i].extent, 1)) {
			return false;
		}
		moves |= dims[i] && !expr_is_int(box[i].min, &n);
	}
	return moves;
}

/* The ranges in which the stores of the group `dims` are checked: a part of the
 * box whose position or size is not constant may be anywhere in the buffer. */
static const struct range *
anywhere(struct edit *e, const struct access *store, const struct range *box,
	 const bool *dims)
{
	int ndim = store->buffer->ndim;
	struct range *out = arena_array(&e->m->arena, struct range, ndim + 1);
	int64_t n;

	region_full(e->m, store->buffer, out);
	for (int i = 0; i < ndim; i++) {
		if (!dims[i] || (expr_is_int(box[i].min, &n) &&
				 expr_is_int(box[i].extent, &n))) {
			out[i] = box[i];
		}
	}
	return out;
}

static bool
store_has_gaps(struct edit *e, const struct access *store,
	       const struct range *box, const struct stmt *scope)
{
	struct domain d = { .n = 0 };
	bool done[GAP_DIMS] = { false };
	int ndim = store->buffer->ndim;

	if (ndim > GAP_DIMS || !find_domain(&d, store, scope)) {
		return may_leave_elements(e, store, NULL);
	}
	for (int i = 0; i < ndim; i++) {
		bool dims[GAP_DIMS] = { false },
		     vars[COVERAGE_VARS] = { false };
		struct dim_group g = { store, box, dims, vars };

		if (done[i]) {
			continue;
		}
		dims[i] = true;
		grow(store, &d, dims, vars);
		for (int k = 0; k < ndim; k++) {
			done[k] |= dims[k];
		}
		if (single_element(store, box, dims)) {
			/* a group with a single element counts as stored */
			continue;
		}
		g.box = anywhere(e, store, box, dims);
		if (group_has_gaps(e, &g, &d)) {
			return true;
		}
	}
	return false;
}

static bool
same_index(const struct access *x, const struct access *y)
{
	for (int d = 0; d < x->buffer->ndim; d++) {
		if (x->index[d] != y->index[d]) {
			return false;
		}
	}
	return true;
}

/* Sets seen[n] for each element n of the group's part of the box that the store
 * stores, and adds the number of newly set elements to *filled. False if they
 * cannot be determined, or are too many to be counted. */
static bool
mark_store(struct edit *e, const struct dim_group *g, struct domain *d,
	   int64_t volume, bool **seen, int64_t *filled)
{
	int64_t points = points_of(g, d);

	if (volume < 0 || volume > GAP_POINTS || points < 0 ||
	    points > GAP_POINTS) {
		return false;
	}
	if (!*seen) {
		*seen = arena_array(&e->m->arena, bool, (int)volume);
	}
	return mark_seen(g, d, *seen, filled);
}

/* Do all stores together leave out elements of the box in some of the
 * dimensions? dims: the set of these dimensions; dimensions that share a
 * variable with them in any store are added to it. */
static bool
dims_leave_elements(struct edit *e, const struct access_list *stores,
		    const struct range *box, const struct stmt *scope,
		    bool *dims)
{
	bool wider, known = true, leave = true, *seen = NULL;
	int64_t volume = 0, filled = 0;

	do {
		wider = false;
		for (int i = 0; i < stores->list.n; i++) {
			bool vars[COVERAGE_VARS] = { false };
			struct domain d = { .n = 0 };

			find_domain(&d, &stores->list.data[i], scope);
			wider |= grow(&stores->list.data[i], &d, dims, vars);
		}
	} while (wider);
	for (int i = 0; i < stores->list.n; i++) {
		const struct access *store = &stores->list.data[i];
		bool vars[COVERAGE_VARS] = { false };
		struct domain d = { .n = 0 };
		struct dim_group g = { store, anywhere(e, store, box, dims),
				       dims, vars };

		if (single_element(store, box, dims)) {
			return false;
		}
		find_domain(&d, store, scope);
		grow(store, &d, dims, vars);
		volume = volume_of(&g);
		known = known && mark_store(e, &g, &d, volume, &seen, &filled);
		leave = leave && may_leave_elements(e, store, dims);
	}
	return known ? filled < volume : leave;
}

/* Do the stores together leave out elements of the box? If the box is symbolic
 * or large, finds only elements that no store reaches in some of the
 * dimensions. */
static bool
union_leaves_elements(struct edit *e, const struct access_list *stores,
		      const struct range *box, const struct stmt *scope)
{
	int ndim = stores->list.data[0].buffer->ndim;
	bool all[GAP_DIMS], vars[COVERAGE_VARS], *seen = NULL, known = true;
	bool done[GAP_DIMS] = { false };
	int64_t volume = 0, filled = 0;

	if (ndim > GAP_DIMS) {
		return false;
	}
	memset(all, true, sizeof all);
	memset(vars, true, sizeof vars);
	for (int i = 0; i < stores->list.n && known; i++) {
		struct dim_group g = { &stores->list.data[i], box, all, vars };
		struct domain d = { .n = 0 };

		volume = volume_of(&g);
		known = find_domain(&d, g.store, scope) &&
			mark_store(e, &g, &d, volume, &seen, &filled);
	}
	if (known) {
		return filled < volume;
	}
	for (int i = 0; i < ndim; i++) {
		bool dims[GAP_DIMS] = { false };

		if (done[i]) {
			continue;
		}
		dims[i] = true;
		if (dims_leave_elements(e, stores, box, scope, dims)) {
			return true;
		}
		for (int k = 0; k < ndim; k++) {
			done[k] |= dims[k];
		}
	}
	return false;
}

/* Does each of the stores have a condition, or its block a predicate, that
 * excludes values of the block's iter vars? */
static bool
left_out_everywhere(struct edit *e, const struct access_list *all)
{
	bool stored = false;

	for (int i = 0; i < all->list.n; i++) {
		const struct access *x = &all->list.data[i];
		const struct stmt *block = block_around(x->at);

		if (x->load) {
			continue;
		}
		if (expr_is_value(block->args[0], 1) ||
		    runs_everywhere(e, block, x->at)) {
			return false;
		}
		stored = true;
	}
	return stored;
}

bool
leaves_unstored(struct edit *e, struct stmt *s, const struct buffer *b,
		const struct range *box)
{
	struct access_list all = { 0 }, stores = { 0 };
	const struct stmt *scope;

	access_collect(e->f, s, b, &all);
	for (int i = 0; i < all.list.n; i++) {
		const struct access *x = &all.list.data[i];
		bool known = x->load != NULL;

		for (int k = 0; k < stores.list.n && !known; k++) {
			known = same_index(&stores.list.data[k], x);
		}
		if (!known) {
			vec_push(&e->m->arena, &stores.list, *x);
		}
	}
	if (left_out_everywhere(e, &all)) {
		return true;
	}
	if (stores.list.n == 0) {
		return false;
	}
	scope = s->kind == STMT_BLOCK && scope_of(s)
			? scope_of(s)
			: home_of(&stores.list.data[0]);
	return stores.list.n == 1
		       ? store_has_gaps(e, &stores.list.data[0], box, scope)
		       : union_leaves_elements(e, &stores, box, scope);
}

/* A product of the constant `number` and symbolic sizes. */
struct sizes {
	int64_t number;
	VEC(const struct expr *) others;
	bool broken;
};

static void
multiply(struct edit *e, struct sizes *p, const struct expr *x)
{
	int64_t n;

	if (expr_is_int(x, &n)) {
		p->broken |= __builtin_mul_overflow(p->number, n, &p->number);
	} else {
		vec_push(&e->m->arena, &p->others, x);
	}
}

static bool
same_sizes(const struct sizes *x, struct sizes *y)
{
	for (int i = 0; i < x->others.n; i++) {
		bool found = false;

		for (int k = 0; k < y->others.n && !found; k++) {
			found = y->others.data[k] == x->others.data[i];
			if (found) {
				y->others.data[k] = NULL;
			}
		}
		if (!found) {
			return false;
		}
	}
	return !x->broken && !y->broken && x->number == y->number &&
	       x->others.n == y->others.n;
}

bool
loops_fill_box(struct edit *e, const struct stmt *block, const struct stmt *top,
	       const struct range *box, int ndim)
{
	struct sizes points = { .number = 1 }, volume = { .number = 1 };

	for (int d = 0; d < ndim; d++) {
		multiply(e, &volume, box[d].extent);
	}
	for (const struct stmt *p = block; p; p = p == top ? NULL : p->parent) {
		if (p->kind == STMT_FOR && loop_drives(p, block, false)) {
			multiply(e, &points, p->args[1]);
		}
	}
	return same_sizes(&points, &volume);
}
