/* SPDX-License-Identifier: Apache-2.0 */
/* Matching a block against the description of an instruction.
 *
 * The description's iter vars are paired with the block's in all orders; for
 * each pairing the two bodies are compared recursively. The first access of a
 * parameter determines the parameter's view; later accesses must agree with
 * this view. */
#include "tensor_match.h"

#include "iter_map.h"
#include "linear.h"

static bool
miss(struct tensor_match *t, const char *what)
{
	t->why = what;
	return false;
}

const struct expr *
buffer_stride(struct module *m, const struct buffer *b, int dim)
{
	const struct expr *stride;

	if (b->strides) {
		return b->strides[dim];
	}
	stride = expr_i32(m, 1);
	for (int d = b->ndim - 1; d > dim; d--) {
		stride = expr_mul_sizes(m, stride, b->shape[d]);
	}
	return stride;
}

const struct expr *
view_stride(struct module *m, const struct tensor_view *v, int dim)
{
	return expr_mul(m, buffer_stride(m, v->target, v->dim_of[dim]),
			expr_i32(m, v->step[dim]));
}

/* -- leaves */

bool
tensor_leaves(struct func *f, struct stmt *body, struct tensor_leaves *out)
{
	struct tensor_leaf leaf = { 0 };
	struct stmt_list nested = { 0 };

	switch (body->kind) {
	case STMT_SEQ:
		for (int i = 0; i < body->n_children; i++) {
			if (!tensor_leaves(f, body->children[i], out)) {
				return false;
			}
		}
		return body->n_children > 0;
	case STMT_FOR:
		return tensor_leaves(f, body->children[0], out);
	case STMT_BLOCK:
		blocks_below(f, body->children[0], &nested);
		if (nested.list.n > 0) {
			return false;
		}
		leaf.block = body;
		for (struct stmt *p = body; p; p = p->parent) {
			if (p->parent && p->parent->kind == STMT_BLOCK) {
				leaf.loops = loops_between(f, p, body,
							   &leaf.n_loops);
				break;
			}
		}
		vec_push(&f->module->arena, &out->list, leaf);
		return true;
	default:
		return false;
	}
}

void
tensor_match_init(struct tensor_match *t, struct edit *e,
		  const struct func *desc, struct stmt *outer)
{
	memset(t, 0, sizeof *t);
	t->e = e;
	t->desc = desc;
	t->outer = outer;
	t->n_views = desc->params.n;
	t->views = arena_array(&e->m->arena, struct tensor_view,
			       t->n_views + 1);
	for (int i = 0; i < t->n_views; i++) {
		t->views[i].param = desc->params.data[i].buffer;
	}
	analyser_init(&t->a, e->m);
	analyser_enter_scope(&t->a, outer->children[0]);
}

/* -- sizes */

static bool
same_size(struct tensor_match *t, const struct expr *desc,
	  const struct expr *have)
{
	if (desc->kind == EXPR_VAR) {
		for (int i = 0; i < t->sizes.n; i++) {
			if (t->sizes.data[i] == desc->u.var) {
				return prove_equal(&t->a,
						   t->size_values.data[i],
						   have);
			}
		}
		vec_push(&t->e->m->arena, &t->sizes, desc->u.var);
		vec_push(&t->e->m->arena, &t->size_values, have);
		return true;
	}
	return prove_equal(&t->a, desc, have);
}

/* -- one pairing of iter vars */

struct pairing {
	struct tensor_match *t;
	/* the block's iter vars that have several values */
	const struct iter_var *iters;
	int n;
	/* maps the description's iter vars to those of the block */
	struct var_map rename;
	/* from the block's iter vars of extent 1 to their only values */
	struct var_map fixed;
};

static bool
moves(const struct pairing *p, const struct expr *e)
{
	for (int i = 0; i < p->n; i++) {
		if (expr_uses_var(e, p->iters[i].var)) {
			return true;
		}
	}
	return false;
}

static struct tensor_view *
view_of(struct tensor_match *t, const struct buffer *param)
{
	for (int i = 0; i < t->n_views; i++) {
		if (t->views[i].param == param) {
			return &t->views[i];
		}
	}
	return NULL;
}

/* Maps the dimensions of a parameter to dimensions of the program's buffer: to
 * the buffer's last dimensions if the same indices vary there; else the k-th
 * dimension of the parameter whose index varies to the k-th dimension of the
 * buffer whose index varies. want: the description's index; have: the
 * program's. False if the numbers of varying dimensions differ. */
static bool
align_dims(struct pairing *p, struct tensor_view *v,
	   const struct expr *const *want, const struct expr *const *have)
{
	int n = v->param->ndim, rank = v->target->ndim, next = 0;
	bool trailing = rank >= n;

	for (int d = 0; d < rank && trailing; d++) {
		int at = d - (rank - n);

		trailing = at >= 0 ? moves(p, want[at]) == moves(p, have[d])
				   : !moves(p, have[d]);
	}
	for (int d = 0; d < n; d++) {
		v->dim_of[d] = trailing ? rank - n + d : -1;
		if (trailing || !moves(p, want[d])) {
			continue;
		}
		while (next < rank && !moves(p, have[next])) {
			next++;
		}
		if (next == rank) {
			return false;
		}
		v->dim_of[d] = next++;
	}
	for (; !trailing && next < rank; next++) {
		if (moves(p, have[next])) {
			return false;
		}
	}
	return true;
}

/* The factor by which the program's index `have` varies with the description's
 * index `want`: the stride of a strided convolution; else 1. */
static int64_t
step_of(struct pairing *p, const struct expr *want, const struct expr *have)
{
	struct linear x, y;
	int64_t step = 1;

	linear_of(&p->t->a, simplify(&p->t->a, want), &x);
	linear_of(&p->t->a, simplify(&p->t->a, have), &y);
	for (int i = 0; i < x.n; i++) {
		const struct term *t = linear_at(&x, i);

		if (t->coeff == 1 && moves(p, t->atom) &&
		    linear_coeff(&y, t->atom) > 1) {
			step = linear_coeff(&y, t->atom);
		}
	}
	return x.broken || y.broken ? 1 : step;
}

static bool
match_access(struct pairing *p, const struct buffer *param,
	     const struct expr *const *want, const struct buffer *target,
	     const struct expr *const *have)
{
	struct tensor_match *t = p->t;
	struct module *m = t->e->m;
	struct tensor_view *v = view_of(t, param);
	bool fresh;

	if (!v) {
		return miss(t, "the description uses a buffer that is not a "
			       "parameter");
	}
	if (!dtype_equal(param->type, target->type)) {
		return miss(t,
			    arena_printf(&m->arena,
					 "%s is %s where the "
					 "description has %s",
					 target->name, dtype_name(target->type),
					 dtype_name(param->type)));
	}
	if (param->scope[0] && strcmp(param->scope, target->scope) != 0) {
		return miss(t, arena_printf(&m->arena,
					    "%s has scope \"%s\", the "
					    "description requires \"%s\"",
					    target->name, target->scope,
					    param->scope));
	}
	fresh = !v->target;
	if (!fresh && v->target != target) {
		return miss(t, arena_printf(&m->arena,
					    "%s and %s stand for "
					    "one parameter",
					    target->name, v->target->name));
	}
	if (fresh) {
		v->target = target;
		v->dim_of = arena_array(&m->arena, int, param->ndim + 1);
		v->step = arena_array(&m->arena, int64_t, param->ndim + 1);
		v->offset = arena_exprs(&m->arena, target->ndim + 1);
		if (!align_dims(p, v, want, have)) {
			return miss(t, arena_printf(&m->arena,
						    "the index of "
						    "%s has another form",
						    target->name));
		}
	}
	for (int k = 0; k < param->ndim && fresh; k++) {
		v->step[k] = v->dim_of[k] < 0
				     ? 1
				     : step_of(p, want[k], have[v->dim_of[k]]);
	}
	for (int d = 0; d < target->ndim; d++) {
		const struct expr *offset = have[d];

		for (int k = 0; k < param->ndim; k++) {
			if (v->dim_of[k] == d) {
				offset = expr_sub(
					m, offset,
					expr_mul(m, want[k],
						 expr_i32(m, v->step[k])));
			}
		}
		offset = simplify(&t->a, offset);
		if (moves(p, offset) || expr_has_load(offset)) {
			return miss(t, arena_printf(&m->arena,
						    "dimension %d "
						    "of %s is indexed in "
						    "another way",
						    d, target->name));
		}
		if (fresh) {
			v->offset[d] = offset;
		} else if (!prove_equal(&t->a, v->offset[d], offset)) {
			return miss(t, arena_printf(&m->arena,
						    "%s is used at "
						    "two places",
						    target->name));
		}
	}
	return true;
}

static bool match_expr(struct pairing *p, const struct expr *want,
		       const struct expr *have);

static bool
is_commutative(const struct expr *e)
{
	switch (e->kind) {
	case EXPR_ADD:
	case EXPR_MUL:
	case EXPR_MIN:
	case EXPR_MAX:
	case EXPR_EQ:
	case EXPR_NE:
		return true;
	default:
		return false;
	}
}

static bool
match_args(struct pairing *p, const struct expr *want, const struct expr *have)
{
	for (int i = 0; i < want->n_args; i++) {
		if (!match_expr(p, want->args[i], have->args[i])) {
			return false;
		}
	}
	return true;
}

static bool
match_expr(struct pairing *p, const struct expr *want, const struct expr *have)
{
	struct tensor_match *t = p->t;
	struct tensor_view *saved;
	const char *why;
	bool good;

	if (want == have) {
		return true;
	}
	if (!dtype_equal(want->type, have->type)) {
		return miss(t, "a value has another type");
	}
	if (want->kind != have->kind ||
	    (want->kind != EXPR_LOAD && want->n_args != have->n_args)) {
		return (dtype_is_int(want->type) && !expr_has_load(want) &&
			!expr_has_load(have) &&
			prove_equal(&t->a, want, have)) ||
		       miss(t, "it computes something else");
	}
	switch (want->kind) {
	case EXPR_LOAD:
		return match_access(p, want->u.buffer, want->args,
				    have->u.buffer, have->args);
	case EXPR_CALL:
		if (want->u.intrin != have->u.intrin) {
			return miss(t, "it calls another function");
		}
		break;
	case EXPR_INT:
	case EXPR_FLOAT:
	case EXPR_STRING:
	case EXPR_VAR:
	case EXPR_REDUCE:
		return miss(t, "a constant or variable differs");
	default:
		break;
	}
	if (!is_commutative(want)) {
		return match_args(p, want, have);
	}
	saved = arena_copy(&t->e->m->arena, t->views,
			   sizeof *t->views * (size_t)t->n_views);
	good = match_args(p, want, have);
	if (!good) {
		memcpy(t->views, saved, sizeof *saved * (size_t)t->n_views);
		why = t->why;
		good = match_expr(p, want->args[0], have->args[1]) &&
		       match_expr(p, want->args[1], have->args[0]);
		t->why = why;
	}
	return good;
}

/* Simplifies an index: (v_o * 4 + v_i) // 4, for example, does not depend on
 * v_i. */
static const struct expr *
simplify_index(void *ctx, const struct expr *e)
{
	struct tensor_match *t = ctx;

	return type_is_index(e->type) && !expr_has_load(e) ? simplify(&t->a, e)
							   : NULL;
}

static bool
match_stmt(struct pairing *p, const struct stmt *want, const struct stmt *have)
{
	struct module *m = p->t->e->m;
	const struct expr **x, **y;

	if (want->kind != have->kind || want->n_children != have->n_children) {
		return miss(p->t, "its body has another form");
	}
	x = arena_exprs(&m->arena, want->n_args + 1);
	y = arena_exprs(&m->arena, have->n_args + 1);
	for (int i = 0; i < want->n_args; i++) {
		x[i] = expr_substitute(m, want->args[i], &p->rename);
	}
	for (int i = 0; i < have->n_args; i++) {
		y[i] = expr_rewrite(m,
				    expr_substitute(m, have->args[i],
						    &p->fixed),
				    simplify_index, p->t);
	}
	switch (want->kind) {
	case STMT_STORE:
		return match_access(p, want->u.buffer, x + 1, have->u.buffer,
				    y + 1) &&
		       match_expr(p, x[0], y[0]);
	case STMT_IF:
		if (!match_expr(p, x[0], y[0])) {
			return false;
		}
		break;
	case STMT_SEQ:
		break;
	default:
		return miss(p->t, "its body has a statement that "
				  "descriptions do not support");
	}
	for (int i = 0; i < want->n_children; i++) {
		if (!want->children[i] != !have->children[i]) {
			return miss(p->t, "its body has another form");
		}
		if (want->children[i] &&
		    !match_stmt(p, want->children[i], have->children[i])) {
			return false;
		}
	}
	return true;
}

/* -- all pairings */

/* Blocks with more pairings of iter vars than these are not matched. */
enum { MOST_TRIES = 10000 };

struct search {
	struct pairing p;
	/* the description's iter vars whose extent is above 1 */
	struct iter_var *want;
	bool *taken;
	const struct stmt *want_body, *have_body, *want_init, *have_init;
	const char *why;
	int tries; /* the pairings whose bodies were compared */
};

static bool
try_bodies(struct search *s)
{
	struct tensor_match *t = s->p.t;
	struct tensor_view *saved = arena_copy(&t->e->m->arena, t->views,
					       sizeof *t->views *
						       (size_t)t->n_views);

	if (match_stmt(&s->p, s->want_body, s->have_body) &&
	    (!s->want_init || match_stmt(&s->p, s->want_init, s->have_init))) {
		return true;
	}
	memcpy(t->views, saved, sizeof *saved * (size_t)t->n_views);
	/* The most useful reason is why the description's own order of iter
	 * vars fails. */
	s->why = s->why ? s->why : t->why;
	return false;
}

static bool
try_pairings(struct search *s, int at)
{
	struct tensor_match *t = s->p.t;
	struct module *m = t->e->m;

	if (at == s->p.n) {
		s->tries++;
		return try_bodies(s);
	}
	for (int i = 0; i < s->p.n && s->tries < MOST_TRIES; i++) {
		const struct iter_var *have = &s->p.iters[i];
		const struct iter_var *want = &s->want[at];
		int sizes = t->sizes.n;

		if (s->taken[i] || have->kind != want->kind) {
			continue;
		}
		if (!same_size(t, want->extent, have->extent)) {
			t->sizes.n = t->size_values.n = sizes;
			miss(t, arena_printf(&m->arena,
					     "iter var %s has "
					     "another extent",
					     have->var->name));
			continue;
		}
		s->taken[i] = true;
		s->p.rename.to[at] = expr_add(m,
					      expr_sub(m, have->var->expr,
						       have->min),
					      want->min);
		if (try_pairings(s, at + 1)) {
			return true;
		}
		s->taken[i] = false;
		t->sizes.n = t->size_values.n = sizes;
	}
	return false;
}

/* Lists in `out` the iter vars of b that have several values (if `spatial` is
 * set, only the spatial ones), and returns their number; iter vars with one
 * value are added to `fixed` with their value. */
static int
moving_iters(struct module *m, const struct block *b, bool spatial,
	     struct iter_var *out, struct var_map *fixed)
{
	int n = 0;

	fixed->from = arena_array(&m->arena, struct var *, b->n_iters + 1);
	fixed->to = arena_exprs(&m->arena, b->n_iters + 1);
	for (int i = 0; i < b->n_iters; i++) {
		if (expr_is_value(b->iters[i].extent, 1)) {
			fixed->from[fixed->n] = b->iters[i].var;
			fixed->to[fixed->n++] = b->iters[i].min;
		} else if (!spatial || b->iters[i].kind != ITER_REDUCE) {
			out[n++] = b->iters[i];
		}
	}
	return n;
}

/* Has the block no predicate, and do its loops give each combination of values
 * of its iter vars exactly once? If not, sets t->why. */
static bool
runs_whole(struct tensor_match *t, const struct tensor_leaf *x)
{
	const struct block *b = x->block->u.block;
	struct analyser_mark mark = analyser_mark(&t->a);
	struct iter_map map;
	bool good;

	for (int i = 0; i < x->n_loops; i++) {
		analyser_bind(&t->a, x->loops[i].var, x->loops[i].min,
			      x->loops[i].extent);
	}
	good = expr_is_value(x->block->args[0], 1) &&
	       iter_map_detect(&t->a, x->loops, x->n_loops, NULL,
			       x->block->args + 1, b->n_iters,
			       ITER_MAP_BIJECTIVE, &map);
	for (int i = 0; good && i < b->n_iters; i++) {
		const struct expr *size = iter_sum_extent(&t->a,
							  &map.indices[i]);

		good = size && prove_equal(&t->a, size, b->iters[i].extent) &&
		       prove_equal(&t->a, map.indices[i].base, b->iters[i].min);
	}
	analyser_pop(&t->a, mark);
	return good || miss(t, arena_printf(&t->e->m->arena,
					    "block %s does not cover whole "
					    "tiles",
					    b->name));
}

/* Are parameters of which the description writes one views of different buffers? An
 * implementation may read and write them in any order. */
static bool
views_apart(struct tensor_match *t)
{
	for (int i = 0; i < t->n_views; i++) {
		const struct tensor_view *x = &t->views[i];

		for (int k = 0; k < t->n_views; k++) {
			if (k != i && x->target &&
			    x->target == t->views[k].target &&
			    func_writes(t->desc, x->param)) {
				return miss(t, arena_printf(
						       &t->e->m->arena,
						       "%s stands for two "
						       "parameters, and one of "
						       "them is written",
						       x->target->name));
			}
		}
	}
	return true;
}

bool
tensor_match_block(struct tensor_match *t, const struct tensor_leaf *desc,
		   const struct tensor_leaf *block, enum tensor_part part)
{
	struct module *m = t->e->m;
	const struct block *want = desc->block->u.block;
	const struct block *have = block->block->u.block;
	struct iter_var *moving = arena_array(&m->arena, struct iter_var,
					      have->n_iters + 1);
	struct search s = {
		.p = { .t = t, .iters = moving },
		.want_body = desc->block->children[part == TENSOR_INIT],
		.have_body = block->block->children[0],
	};
	struct analyser_mark mark = analyser_mark(&t->a);
	struct var_map fixed = { 0 };
	bool good;
	int n;

	if (part == TENSOR_ALL) {
		s.want_init = desc->block->children[1];
		s.have_init = block->block->children[1];
		if (!s.want_init != !s.have_init) {
			return miss(t, "only one of the two has an init part");
		}
	}
	if (!runs_whole(t, block)) {
		return false;
	}
	s.want = arena_array(&m->arena, struct iter_var, want->n_iters + 1);
	n = moving_iters(m, want, part == TENSOR_INIT, s.want, &fixed);
	s.p.n = moving_iters(m, have, false, moving, &s.p.fixed);
	if (n != s.p.n) {
		return miss(t, arena_printf(&m->arena,
					    "block %s has %d iter "
					    "vars, the description %d",
					    have->name, s.p.n, n));
	}
	s.taken = arena_array(&m->arena, bool, n + 1);
	s.p.rename.from = arena_array(&m->arena, struct var *, n + fixed.n + 1);
	s.p.rename.to = arena_exprs(&m->arena, n + fixed.n + 1);
	s.p.rename.n = n + fixed.n;
	for (int i = 0; i < n; i++) {
		s.p.rename.from[i] = s.want[i].var;
		analyser_bind(&t->a, moving[i].var, moving[i].min,
			      moving[i].extent);
	}
	for (int i = 0; i < fixed.n; i++) {
		s.p.rename.from[n + i] = fixed.from[i];
		s.p.rename.to[n + i] = fixed.to[i];
	}
	good = try_pairings(&s, 0) && views_apart(t);
	t->why = s.why && s.tries < MOST_TRIES && !good ? s.why : t->why;
	if (s.tries >= MOST_TRIES && !good) {
		t->why = "more pairings of iter vars than are tried";
	}
	analyser_pop(&t->a, mark);
	return good;
}
