/* SPDX-License-Identifier: Apache-2.0 */
/* A halo of zeros around a tensor replaces guards:
 *
 *   if_then_else(0 <= h + kh - 1 < 56, x[c, h + kh - 1], 0)
 *   ->  x[c, h + kh]       with x[c, 0] = x[c, 57] = 0
 */
#include <math.h>

#include "host_device.h"
#include "iterate.h"
#include "layouts.h"
#include "scope.h"

/* Is e the float 0, and not -0, or an integer literal? If so, sets *v to its
 * value. */
static bool
is_whole(const struct expr *e, int64_t *v)
{
	if (e->kind == EXPR_FLOAT && e->u.fval == 0 && !signbit(e->u.fval)) {
		*v = 0;
		return true;
	}
	return expr_is_int(e, v);
}

void
guarded_loads_find(struct func *f, const struct buffer *b,
		   struct guarded_loads *out)
{
	struct tree_iter it = tree_each_of(f->body, EXPR_IF);
	const struct expr *e;
	int64_t outside;

	while ((e = tree_next(&it)) != NULL) {
		if (it.at->kind == STMT_STORE &&
		    e->args[1]->kind == EXPR_LOAD &&
		    e->args[1]->u.buffer == b &&
		    is_whole(e->args[2], &outside)) {
			struct guarded_load x = { it.at, e, e->args[1],
						  outside };

			vec_push(&f->module->arena, &out->list, x);
		}
	}
}

bool
guarded_load_bounds(struct func *f, const struct guarded_load *x, int d,
		    struct bounds *b)
{
	struct analyser a;

	analyser_init(&a, f->module);
	analyser_enter_scope(&a, x->at);
	*b = analyse_bounds(&a, x->load->args[d]);
	return b->min > INT32_MIN && b->max < INT32_MAX;
}

/* A halo beyond a symbolic extent has at most this many elements on each
 * side. */
enum { SYMBOLIC_HALO_MAX = 8 };

bool
guarded_load_reach(struct func *f, const struct buffer *b,
		   const struct guarded_load *x, int d, int64_t *before,
		   int64_t *after)
{
	struct module *m = f->module;
	const struct expr *i = x->load->args[d], *last;
	struct bounds r;
	int64_t extent;
	struct analyser a;

	if (!guarded_load_bounds(f, x, d, &r)) {
		return false;
	}
	*before = r.min < 0 ? -r.min : 0;
	if (expr_is_int(b->shape[d], &extent)) {
		*after = r.max >= extent ? r.max - (extent - 1) : 0;
		return true;
	}
	analyser_init(&a, m);
	analyser_enter_scope(&a, x->at);
	last = expr_sub(m, expr_cast(m, i->type, b->shape[d]),
			expr_int(m, i->type, 1));
	for (int64_t n = 0; n <= SYMBOLIC_HALO_MAX; n++) {
		const struct expr *end = expr_add(m, last,
						  expr_int(m, i->type, n));

		if (prove(&a, expr_le(m, i, end))) {
			*after = n;
			return *before <= SYMBOLIC_HALO_MAX;
		}
	}
	return false;
}

void
guarded_loads_widen_halo(struct func *f, const struct buffer *b,
			 const struct guarded_loads *loads,
			 struct tensor_layout *l)
{
	for (int i = 0; i < loads->list.n; i++) {
		const struct guarded_load *x = &loads->list.data[i];

		if (l->filled && l->fill != x->outside) {
			continue;
		}
		l->filled = true;
		l->fill = x->outside;
		for (int d = 0; d < b->ndim; d++) {
			int64_t before, after;

			if (!guarded_load_reach(f, b, x, d, &before, &after)) {
				continue;
			}
			l->before[d] = before > l->before[d] ? before
							     : l->before[d];
			l->after[d] = after > l->after[d] ? after : l->after[d];
		}
	}
}

/* May the guard of load x be dropped? The guard's test must hold for every
 * index inside of the buffer; it then fails only in the halo, whose elements
 * have the value that the guard gives there. */
static bool
may_drop_test(struct func *f, const struct buffer *b,
	      const struct guarded_load *x, const struct tensor_layout *l)
{
	for (int d = 0; d < b->ndim; d++) {
		int64_t before, after;

		if (!guarded_load_reach(f, b, x, d, &before, &after) ||
		    before > l->before[d] || after > l->after[d]) {
			return false;
		}
	}
	return guarded_load_holds_inside(f, b, x);
}

bool
guarded_load_holds_inside(struct func *f, const struct buffer *b,
			  const struct guarded_load *x)
{
	struct module *m = f->module;
	struct analyser a;

	analyser_init(&a, m);
	analyser_enter_scope(&a, x->at);
	for (int d = 0; d < b->ndim; d++) {
		const struct expr *i = simplify(&a, x->load->args[d]);

		analyser_assume(&a, expr_le(m, expr_int(m, i->type, 0), i));
		analyser_assume(&a,
				expr_lt(m, i,
					expr_cast(m, i->type, b->shape[d])));
	}
	return prove(&a, x->test->args[0]);
}

void
guarded_loads_drop_tests(struct func *f, const struct buffer *b,
			 const struct tensor_layout *l)
{
	struct guarded_loads loads = { 0 };

	guarded_loads_find(f, b, &loads);
	for (int i = 0; i < loads.list.n; i++) {
		const struct guarded_load *x = &loads.list.data[i];

		if (!l->filled || l->fill != x->outside ||
		    !may_drop_test(f, b, x, l)) {
			continue;
		}
		for (int k = 0; k < x->at->n_args; k++) {
			stmt_set_arg(f, x->at, k,
				     expr_replace(f->module, x->at->args[k],
						  &x->test, &x->load, 1));
		}
	}
}

/* -- writing the halo */

struct border {
	struct func *f;
	const struct buffer *b;
	const struct tensor *t;
	const struct tensor_layout *l;
	/* the index, by dimension, of the element that is being written */
	const struct expr **index;
};

static struct stmt *
store_fill(struct border *w)
{
	return stmt_store(w->f, w->b,
			  expr_const(w->f->module, w->b->type,
				     (double)w->l->fill),
			  w->index, w->b->ndim);
}

static const char *
dim_name(struct module *m, const struct border *w, int d)
{
	static const char *const names[] = { "n", "c", "h", "w" };

	if (d == w->b->ndim - 1) {
		return "c_i";
	}
	return d < 4 ? names[d] : arena_printf(&m->arena, "i%d", d);
}

/* The store of the fill value to the elements of the halo of dimension `side`
 * whose index in that dimension is w->index[side], with the loops over the
 * dimensions from d on, outermost first. */
static struct stmt *
border_nest(struct border *w, int d, int side)
{
	struct module *m = w->f->module;
	const struct expr *extent;
	int64_t first = 0;
	struct stmt *loop;
	struct var *v;

	if (d == w->b->ndim) {
		return store_fill(w);
	}
	if (d == side) {
		return border_nest(w, d + 1, side);
	}
	/* Halo rows have the full width; halo columns lie between the halo
	 * rows. */
	extent = d < side && d != w->l->axis ? w->t->shape[d] : w->b->shape[d];
	if (d < side) {
		first = w->l->before[d];
	}
	if (expr_is_value(extent, 1)) {
		w->index[d] = expr_i32(m, first);
		return border_nest(w, d + 1, side);
	}
	v = var_new(m, dim_name(m, w, d), dtype_of(DT_I32));
	w->index[d] = v->expr;
	loop = border_nest(w, d + 1, side);
	return stmt_for(w->f, v, expr_i32(m, first), extent,
			d == w->b->ndim - 1 ? FOR_VECTORIZED : FOR_SERIAL,
			loop);
}

/* Adds to out the stores of the fill value to the halo before and after
 * dimension d. */
static void
add_borders(struct border *w, int d, struct stmt_list *out)
{
	struct module *m = w->f->module;
	const struct expr *extent = w->t->shape[d];

	for (int64_t i = 0; i < w->l->before[d] + w->l->after[d]; i++) {
		const struct expr *at = expr_int(m, extent->type, i);
		struct stmt *s;

		w->index[d] = i < w->l->before[d] ? at
						  : expr_add(m, extent, at);
		s = border_nest(w, 0, d);
		vec_push(&m->arena, &out->list, s);
	}
}

void
layouts_write_halos(struct module *m, struct kernel *k)
{
	struct func *f = k->func;
	struct stmt_list added = { 0 };
	struct stmt *root = f->body, *body;

	body = root->kind == STMT_BLOCK ? root->children[0] : root;
	vec_push(&m->arena, &added.list, body);
	for (int i = 0; i < k->args.n; i++) {
		const struct kernel_arg *arg = &k->args.data[i];
		struct border w = { .f = f,
				    .b = arg->buffer,
				    .t = arg->tensor };

		if (arg->kind != ARG_TENSOR || !arg->written ||
		    arg->tensor->layout == NULL) {
			continue;
		}
		w.l = arg->tensor->layout;
		w.index = arena_exprs(&m->arena, w.b->ndim);
		for (int d = 0; d < arg->tensor->ndim; d++) {
			add_borders(&w, d, &added);
		}
	}
	if (added.list.n == 1) {
		return;
	}
	if (lower_has_threads(f)) {
		struct var *v = var_new(m, "all", dtype_of(DT_I32));
		struct stmt *borders = stmt_seq(f, added.list.data + 1,
						added.list.n - 1);

		added.list.data[1] = stmt_for(f, v, expr_i32(m, 0),
					      expr_i32(m, 1), FOR_SERIAL,
					      borders);
		stmt_set_loop_kind(f, added.list.data[1], FOR_THREAD,
				   "blockIdx.x");
		added.list.n = 2;
	}
	body = stmt_seq(f, added.list.data, added.list.n);
	if (root->kind == STMT_BLOCK) {
		stmt_set_child(f, root, 0, body);
	} else {
		f->body = body;
	}
	func_commit(f);
}
