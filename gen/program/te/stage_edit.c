/* SPDX-License-Identifier: Apache-2.0 */
/* Stages that a schedule adds: copies of tensors in another memory scope, and
 * partial results of a reduction. They are tensor expressions like those of the
 * program:
 *
 *   CC = s.cache_write(C, "local"):       C = f(A)  ->  CC = f(A); C = CC
 *   AA = s.cache_read(A, "shared", [C]):  C = f(A)  ->  AA = A; C = f(AA)
 *   BF = s.rfactor(B, ki):  B[i] = sum(k) A   ->  BF[ki, i] = sum(ko) A
 *                                                 B[i] = sum(ki) BF */
#include "stage.h"

static bool
can_rewrite(struct call *c, const struct stage *st)
{
	if (st->op->kind != TE_COMPUTE) {
		return call_error(c, -1,
				  "%s() of %s is not possible: it is "
				  "%s; schedule the function with "
				  "tvm.tir.Schedule",
				  c->row->name, st->op->name,
				  st->op->kind == TE_SCAN
					  ? "a scan"
					  : "an outside function");
	}
	return true;
}

/* The scan whose steps compute op, or NULL. */
static const struct te_stage *
scan_of(const struct te_schedule *s, const struct te_stage *op)
{
	for (int i = 0; i < s->stages.n; i++) {
		const struct te_stage *x = s->stages.data[i]->op;

		for (int k = 0; x->scan && k < x->scan->n_body; k++) {
			if (x->scan->body[k] == op) {
				return x;
			}
		}
	}
	return NULL;
}

/* Called after stages have changed: finds again which stages belong to the
 * steps of each scan. If op is not NULL and belongs to a step, `made` must
 * belong to a step of the same scan, because inputs of op may not exist before
 * the first step. Returns false after an error. */
static bool
settle_scans(struct call *c, struct te_schedule *s, const struct te_stage *op,
	     const struct te_stage *made)
{
	const struct te_stage *within = op ? scan_of(s, op) : NULL;
	const char *why;

	for (int i = 0; i < s->stages.n; i++) {
		struct te_stage *x = s->stages.data[i]->op;

		if (x->scan && !te_scan_settle(c->ev->m, x, &why)) {
			return call_error(c, -1, "%s", why);
		}
	}
	if (within && scan_of(s, made) != within) {
		return call_error(c, -1,
				  "%s reads nothing that changes with "
				  "the steps of %s; compute it in a tensor "
				  "before the scan",
				  op->name, within->name);
	}
	return true;
}

/* Gives t a buffer in another memory scope. To be called before anything loads
 * from t, because a load refers to the buffer. */
static void
put_in_scope(struct eval *ev, struct te_tensor *t, const char *scope)
{
	t->buffer = buffer_with_scope(ev->m, t->buffer, scope);
}

static bool
known_scope(struct call *c, int i, const char **scope)
{
	static const char *const scopes[] = {
		"global", "shared", "local", "warp", "const",
	};

	if (!arg_text(c, i, scope)) {
		return false;
	}
	if (strchr(*scope, '.')) {
		return true; /* the scope is one of the target's own */
	}
	for (size_t k = 0; k < sizeof scopes / sizeof *scopes; k++) {
		if (strcmp(scopes[k], *scope) == 0) {
			return true;
		}
	}
	return call_error(c, i, "there is no scope %s%s", *scope,
			  py_suggest(c->ev->a, *scope, scopes, 5));
}

static int
place_of(const struct te_schedule *s, const struct stage *st)
{
	for (int i = 0; i < s->stages.n; i++) {
		if (s->stages.data[i] == st) {
			return i;
		}
	}
	return 0;
}

static const struct expr **
axis_exprs(struct eval *ev, const struct iter_var *axes, int n)
{
	const struct expr **list = arena_exprs(ev->a, n + 1);

	for (int i = 0; i < n; i++) {
		list[i] = axes[i].var->expr;
	}
	return list;
}

static struct iter_var *
copy_axes(struct eval *ev, const struct iter_var *axes, int n)
{
	struct iter_var *copy = arena_array(ev->a, struct iter_var, n + 1);

	for (int i = 0; i < n; i++) {
		copy[i] = axes[i];
		copy[i].var = var_new(ev->m, axes[i].var->name,
				      axes[i].var->type);
	}
	return copy;
}

/* Gives a stage other bodies and inputs. Its output tensors stay the same. */
static void
rewrite_op(struct eval *ev, struct stage *st, const struct expr **bodies,
	   struct te_tensor **inputs, int n_inputs)
{
	struct te_stage *op = st->op;

	op->bodies = bodies;
	op->inputs = inputs;
	op->n_inputs = n_inputs;
	stage_reset(ev, st);
}

static bool
untouched(struct call *c, const struct stage *st)
{
	return st->events.n == 0 ||
	       call_error(c, -1,
			  "%s() must come before the loops of %s are scheduled",
			  c->row->name, st->op->name);
}

/* Reads argument 0, which is one tensor or a list of tensors of the same stage.
 * Sets *t to the first tensor and *st to its stage. Returns false after an
 * error. */
static bool
stage_tensors(struct call *c, struct te_tensor **t, struct stage **st)
{
	struct te_tensor **list;
	int n;

	if (!arg_tensors(c, 0, &list, &n)) {
		return false;
	}
	for (int i = 1; i < n; i++) {
		if (list[i]->stage != list[0]->stage) {
			return call_error(c, 0, "one operation at a time");
		}
	}
	if (n == 0) {
		return call_error(c, 0, "an empty list");
	}
	*t = list[0];
	*st = stage_of_buffer(c->self.u.te_schedule, list[0]->buffer);
	return true;
}

/* The bodies of op with its axes replaced by `axes`. All outputs of a reduction
 * share one body. */
static const struct expr **
bodies_over(struct eval *ev, const struct te_stage *op,
	    const struct iter_var *axes)
{
	const struct expr **made = arena_exprs(ev->a, op->n_out);
	struct var_map map = { .n = op->n_axes };

	map.from = arena_array(ev->a, struct var *, op->n_axes + 1);
	map.to = axis_exprs(ev, axes, op->n_axes);
	for (int i = 0; i < op->n_axes; i++) {
		map.from[i] = op->axes[i].var;
	}
	for (int k = 0; k < op->n_out; k++) {
		made[k] = expr_substitute(ev->m, op->bodies[k], &map);
	}
	return made;
}

bool
stage_cache_write(struct call *c, struct pval *out)
{
	struct eval *ev = c->ev;
	struct te_schedule *s = c->self.u.te_schedule;
	struct te_tensor *t = NULL, **caches;
	struct te_stage *op;
	struct stage *st = NULL;
	struct iter_var *axes;
	const struct expr **bodies, **index;
	const char *scope, **names;
	struct pval *results;

	if (!stage_tensors(c, &t, &st) || !known_scope(c, 1, &scope)) {
		return false;
	}
	if (!st) {
		return call_error(c, 0, "%s is not computed in this schedule",
				  t->buffer->name);
	}
	op = st->op;
	if (!can_rewrite(c, st) || !untouched(c, st)) {
		return false;
	}
	axes = copy_axes(ev, op->axes, op->n_axes);
	caches = arena_array(ev->a, struct te_tensor *, op->n_out);
	results = arena_array(ev->a, struct pval, op->n_out);
	bodies = arena_exprs(ev->a, op->n_out);
	names = arena_array(ev->a, const char *, op->n_out);
	for (int k = 0; k < op->n_out; k++) {
		names[k] = arena_printf(ev->a, "%s_%s",
					op->n_out == 1
						? op->name
						: op->out[k]->buffer->name,
					scope);
	}
	te_compute_multi(ev->m, names, op->tag, op->n_axes, axes,
			 bodies_over(ev, op, axes), op->n_out, op->inputs,
			 op->n_inputs, caches);
	caches[0]->stage->name = arena_printf(ev->a, "%s_%s", op->name, scope);
	index = axis_exprs(ev, op->axes, op->n_axes);
	for (int k = 0; k < op->n_out; k++) {
		put_in_scope(ev, caches[k], scope);
		bodies[k] = te_at(ev->m, caches[k], index, op->n_axes);
		te_remember(ev, caches[k], te_depth(ev, t));
		results[k] = pv_tensor(ev, caches[k]);
	}
	stage_add(ev, s, caches[0]->stage, place_of(s, st));
	rewrite_op(ev, st, bodies,
		   arena_copy(ev->a, caches,
			      sizeof *caches * (size_t)op->n_out),
		   op->n_out);
	*out = op->n_out == 1 ? results[0]
			      : pv_list_of(ev, PV_LIST, results, op->n_out);
	return settle_scans(c, s, op, caches[0]->stage);
}

/* -- cache_read -- */

static bool
read_instead(struct call *c, struct stage *st, const struct buffer *from,
	     struct te_tensor *cache)
{
	struct eval *ev = c->ev;
	struct te_stage *op = st->op;
	const struct expr **bodies;
	struct te_tensor **inputs;
	bool reads = false;

	if (!can_rewrite(c, st)) {
		return false;
	}
	inputs = arena_array(ev->a, struct te_tensor *, op->n_inputs + 1);
	for (int i = 0; i < op->n_inputs; i++) {
		bool this = op->inputs[i]->buffer == from;

		inputs[i] = this ? cache : op->inputs[i];
		reads |= this;
	}
	if (!reads) {
		return call_error(c, 2, "%s does not read %s", op->name,
				  from->name);
	}
	bodies = arena_exprs(ev->a, op->n_out);
	for (int i = 0; i < op->n_out; i++) {
		bodies[i] = expr_replace_buffer(ev->m, op->bodies[i], from,
						cache->buffer);
	}
	op->bodies = bodies;
	op->inputs = inputs;
	return true;
}

bool
stage_cache_read(struct call *c, struct pval *out)
{
	struct eval *ev = c->ev;
	struct te_schedule *s = c->self.u.te_schedule;
	struct te_tensor *t, *own, *cache, **readers;
	struct stage *st, *reader;
	const struct expr *value, **shape;
	struct iter_var *axes;
	const char *scope, **names;
	int n, place, ndim;

	if (!arg_tensor(c, 0, &t) || !known_scope(c, 1, &scope) ||
	    !arg_tensors(c, 2, &readers, &n)) {
		return false;
	}
	st = stage_of_buffer(s, t->buffer);
	ndim = t->buffer->ndim;
	own = st ? st->op->out[t->index] : t;
	names = arena_array(ev->a, const char *, ndim + 1);
	shape = arena_exprs(ev->a, ndim + 1);
	for (int d = 0; d < ndim; d++) {
		names[d] = arena_printf(ev->a, "ax%d", d);
		shape[d] = t->buffer->shape[d];
	}
	axes = te_axes(ev->m, ndim, shape, names);
	value = te_at(ev->m, own, axis_exprs(ev, axes, ndim), ndim);
	cache = te_compute(ev->m,
			   arena_printf(ev->a, "%s_%s", t->buffer->name, scope),
			   "injective", ndim, axes, value, &own, 1);
	put_in_scope(ev, cache, scope);
	place = st ? place_of(s, st) + 1 : 0;
	for (int i = 0; i < n; i++) {
		reader = stage_of_buffer(s, readers[i]->buffer);
		if (!reader) {
			return call_error(c, 2,
					  "%s is not computed in this "
					  "schedule",
					  readers[i]->buffer->name);
		}
		if (!read_instead(c, reader, t->buffer, cache)) {
			return false;
		}
	}
	stage_add(ev, s, cache->stage, place);
	if (!settle_scans(c, s, NULL, NULL)) {
		return false;
	}
	te_remember(ev, cache, te_depth(ev, t) + 1);
	*out = pv_tensor(ev, cache);
	return true;
}

/* -- rfactor -- */

/* The largest number of axes in an axis's value. */
enum { MOST_AXES = 1000 };

/* The values of axes that were split or fused, as expressions of the present
 * loops. */
struct axis_values {
	struct module *m;
	const struct stage *st;
	/* the guards of splits whose factor does not divide the extent; NULL if
	 * all divide it */
	const struct expr *condition;
	int n; /* the axes in the value so far */
};

static const struct expr *axis_value(struct axis_values *v,
				     const struct axis *x);

static const struct expr *
fused_value(struct axis_values *v, const struct event *e, const struct axis *x)
{
	const struct expr *value = axis_value(v, e->axes[2]);
	const struct expr *right = e->axes[1]->iv.extent;

	if (!value) {
		return NULL;
	}
	return e->axes[0] == x ? expr_floordiv(v->m, value, right)
			       : expr_floormod(v->m, value, right);
}

static const struct expr *
split_value(struct axis_values *v, const struct event *e, const struct axis *x)
{
	struct module *m = v->m;
	const struct expr *left = axis_value(v, e->axes[1]);
	const struct expr *right = left ? axis_value(v, e->axes[2]) : NULL;
	const struct expr *value, *inside;
	int64_t whole, part;

	if (!right) {
		return NULL;
	}
	value = expr_add(m, expr_mul(m, left, e->axes[2]->iv.extent), right);
	if (!expr_is_int(x->iv.extent, &whole) ||
	    !expr_is_int(e->axes[2]->iv.extent, &part) || part < 1 ||
	    whole % part != 0) {
		inside = expr_lt(m, value, x->iv.extent);
		v->condition = v->condition ? expr_and(m, v->condition, inside)
					    : inside;
	}
	return value;
}

/* The value of x; NULL if it has too many axes. */
static const struct expr *
axis_value(struct axis_values *v, const struct axis *x)
{
	if (++v->n > MOST_AXES) {
		return NULL;
	}
	for (int i = 0; i < v->st->events.n; i++) {
		const struct event *e = &v->st->events.data[i];

		if (e->kind == EVENT_FUSE &&
		    (e->axes[0] == x || e->axes[1] == x)) {
			return fused_value(v, e, x);
		}
		if (e->kind == EVENT_SPLIT && e->axes[0] == x) {
			return split_value(v, e, x);
		}
	}
	return x->iv.var->expr;
}

/* Removes the stage's requests for the loops over its reduction axes. */
static void
drop_reduce_events(struct stage *st)
{
	int kept = 0;

	for (int i = 0; i < st->events.n; i++) {
		const struct event *e = &st->events.data[i];
		bool drop = false;

		for (int k = 0; k < e->n; k++) {
			drop |= e->axes[k]->iv.kind == ITER_REDUCE;
		}
		if (!drop) {
			st->events.data[kept++] = *e;
		}
	}
	st->events.n = kept;
}

struct factoring {
	/* the axes of the stage that computes the partial results */
	struct iter_var *axes;
	int n_axes;
	/* the axes over which that stage still reduces */
	struct iter_var *over;
	int n_over;
	/* maps the old axes to expressions over the new axes */
	struct var_map map;
	const struct expr *condition;
	int at; /* the index of the new dimension in the partial results */
};

/* Returns false after an error. */
static bool
plan_factoring(struct call *c, const struct stage *st, const struct axis *x,
	       struct factoring *f)
{
	struct eval *ev = c->ev;
	const struct te_stage *op = st->op;
	const struct reduction *r = stage_reduction(op);
	struct iter_var *old = copy_axes(ev, op->axes, op->n_axes);
	struct axis_values values = { .m = ev->m, .st = st };
	struct var_map leaves = { 0 };
	int most = st->leaves.n + op->n_axes + r->n_axes + 1, n = 0;

	f->axes = arena_array(ev->a, struct iter_var, op->n_axes + 1);
	f->over = arena_array(ev->a, struct iter_var, most);
	f->map.from = arena_array(ev->a, struct var *, most);
	f->map.to = arena_exprs(ev->a, most);
	leaves.from = arena_array(ev->a, struct var *, most);
	leaves.to = arena_exprs(ev->a, most);
	for (int i = 0; i < op->n_axes; i++) {
		f->map.from[f->map.n] = op->axes[i].var;
		f->map.to[f->map.n++] = old[i].var->expr;
	}
	/* Among the present loops of the reduction, the factored one becomes a
	 * spatial axis of the partial results. Each partial result is a
	 * reduction over the other loops. */
	for (int i = 0; i < st->leaves.n; i++) {
		const struct axis *leaf = st->leaves.data[i];
		struct iter_var iv = leaf->iv;

		if (iv.kind != ITER_REDUCE) {
			continue;
		}
		/* the values of axes count from 0, and get their minimum below */
		iv.min = expr_int(ev->m, iv.min->type, 0);
		iv.var = var_new(ev->m, iv.var->name, iv.var->type);
		leaves.from[leaves.n] = leaf->iv.var;
		leaves.to[leaves.n++] = iv.var->expr;
		if (leaf == x) {
			iv.kind = ITER_SPATIAL;
			f->axes[f->at] = iv;
		} else {
			f->over[f->n_over++] = iv;
		}
	}
	for (int i = 0; i <= op->n_axes; i++) {
		if (i != f->at) {
			f->axes[i] = old[n++];
		}
	}
	f->n_axes = op->n_axes + 1;
	for (int i = 0; i < r->n_axes; i++) {
		const struct axis *root = pv_axis(ev, &r->axes[i]).u.axis;
		const struct expr *value = axis_value(&values, root);

		if (!value) {
			return call_error(c, 1,
					  "%s was split and fused into more "
					  "than %d loops",
					  root->iv.var->name, MOST_AXES);
		}
		f->map.from[f->map.n] = r->axes[i].var;
		f->map.to[f->map.n++] = expr_add(ev->m,
						 expr_substitute(ev->m, value,
								 &leaves),
						 r->axes[i].min);
	}
	if (values.condition) {
		f->condition = expr_substitute(ev->m, values.condition,
					       &leaves);
	}
	return true;
}

/* The bodies of the stage with the partial results: for each output, a
 * reduction over the remaining reduction loops, or, if no such loop remains,
 * the value that was reduced. */
static const struct expr **
partial_bodies(struct eval *ev, const struct te_stage *op, struct factoring *f)
{
	const struct reduction *r = stage_reduction(op);
	const struct expr **sources = arena_exprs(ev->a, op->n_out);
	const struct expr **made = arena_exprs(ev->a, op->n_out);

	for (int k = 0; k < op->n_out; k++) {
		sources[k] = expr_substitute(ev->m, op->bodies[0]->args[k],
					     &f->map);
	}
	if (r->condition) {
		const struct expr *old = expr_substitute(ev->m, r->condition,
							 &f->map);

		f->condition = f->condition ? expr_and(ev->m, f->condition, old)
					    : old;
	}
	if (f->n_over > 0) {
		te_reduce_multi(ev->m, r->reducer, sources, f->over, f->n_over,
				f->condition, made);
		return made;
	}
	for (int k = 0; k < op->n_out; k++) {
		made[k] = f->condition
				  ? expr_if(ev->m, f->condition, sources[k],
					    r->reducer->identity[k])
				  : sources[k];
	}
	return made;
}

/* Makes the stage "NAME_rf" with the partial results. out: gets its tensors. */
static void
make_partial(struct eval *ev, const struct te_stage *op, struct factoring *f,
	     struct te_tensor **out)
{
	const char **names = arena_array(ev->a, const char *, op->n_out);

	for (int k = 0; k < op->n_out; k++) {
		names[k] = arena_printf(ev->a, "%s_rf",
					op->out[k]->buffer->name);
	}
	te_compute_multi(ev->m, names, op->tag, f->n_axes, f->axes,
			 partial_bodies(ev, op, f), op->n_out, op->inputs,
			 op->n_inputs, out);
	out[0]->stage->name = arena_printf(ev->a, "%s_rf", op->name);
}

/* The bodies that reduce the partial results along the axis `rest`. */
static const struct expr **
final_bodies(struct eval *ev, const struct te_stage *op,
	     const struct factoring *f, struct te_tensor *const *partial,
	     struct iter_var *rest)
{
	const struct reduction *r = stage_reduction(op);
	const struct expr **index = arena_exprs(ev->a, f->n_axes);
	const struct expr **loaded = arena_exprs(ev->a, op->n_out);
	const struct expr **made = arena_exprs(ev->a, op->n_out);

	for (int i = 0, n = 0; i < f->n_axes; i++) {
		index[i] = i == f->at ? rest->var->expr
				      : op->axes[n++].var->expr;
	}
	for (int k = 0; k < op->n_out; k++) {
		loaded[k] = te_at(ev->m, partial[k], index, f->n_axes);
	}
	te_reduce_from(ev->m, r->reducer, loaded, rest, 1, NULL, r->init, made);
	return made;
}

/* Makes the stage reduce the partial results. The loops of its spatial axes
 * keep the requests that were made for them. */
static void
reduce_partial(struct eval *ev, struct stage *st, const struct factoring *f,
	       const struct axis *x, struct te_tensor *const *partial)
{
	struct te_stage *op = st->op;
	struct te_tensor **inputs = arena_array(ev->a, struct te_tensor *,
						op->n_inputs + op->n_out);
	struct iter_var rest = f->axes[f->at];
	const struct expr **bodies;
	VEC(struct axis *) kept = { 0 };
	int n = 0;

	rest.kind = ITER_REDUCE;
	rest.var = var_new(ev->m, x->iv.var->name, rest.var->type);
	bodies = final_bodies(ev, op, f, partial, &rest);
	for (int k = 0; k < op->n_out; k++) {
		inputs[n++] = partial[k];
	}
	for (int i = 0; i < op->n_inputs; i++) {
		struct exprs parts = { 0 };
		bool used = false;

		te_body_parts(ev->a, bodies[0], &parts);
		for (int k = 0; k < parts.list.n; k++) {
			used |= expr_uses_buffer(parts.list.data[k],
						 op->inputs[i]->buffer);
		}
		if (used) {
			inputs[n++] = op->inputs[i];
		}
	}
	drop_reduce_events(st);
	for (int i = 0; i < st->leaves.n; i++) {
		if (st->leaves.data[i]->iv.kind != ITER_REDUCE) {
			vec_push(ev->a, &kept, st->leaves.data[i]);
		}
	}
	vec_push(ev->a, &kept, pv_axis(ev, &rest).u.axis);
	rewrite_op(ev, st, bodies, inputs, n);
	st->leaves.n = 0;
	for (int i = 0; i < kept.n; i++) {
		vec_push(ev->a, &st->leaves, kept.data[i]);
	}
}

bool
stage_rfactor(struct call *c, struct pval *out)
{
	struct eval *ev = c->ev;
	struct te_schedule *s = c->self.u.te_schedule;
	struct te_tensor *t = NULL, **made;
	struct stage *st = NULL;
	struct factoring f = { 0 };
	struct axis *x;
	int64_t at = 0;

	if (!stage_tensors(c, &t, &st)) {
		return false;
	}
	if (!st || !stage_reduction(st->op)) {
		return call_error(c, 0,
				  "%s is not a reduction of this schedule",
				  t->buffer->name);
	}
	if (!can_rewrite(c, st)) {
		return false;
	}
	if (c->args[1].kind != PV_AXIS ||
	    stage_leaf(st, c->args[1].u.axis) < 0 ||
	    c->args[1].u.axis->iv.kind != ITER_REDUCE) {
		return call_error(c, 1, "a loop of %s's reduction is needed",
				  st->op->name);
	}
	x = c->args[1].u.axis;
	if (arg_given(c, 2) &&
	    !arg_int(c, 2, -1 - st->op->n_axes, st->op->n_axes, &at)) {
		return false;
	}
	f.at = (int)(at < 0 ? at + st->op->n_axes + 1 : at);
	if (f.at == 0 && scan_of(s, st->op)) {
		return call_error(c, 2,
				  "time is the first dimension of what "
				  "a scan computes; give factor_axis=1 or "
				  "more");
	}
	if (!plan_factoring(c, st, x, &f)) {
		return false;
	}
	made = arena_array(ev->a, struct te_tensor *, st->op->n_out);
	make_partial(ev, st->op, &f, made);
	reduce_partial(ev, st, &f, x, made);
	stage_add(ev, s, made[0]->stage, place_of(s, st));
	if (!settle_scans(c, s, st->op, made[0]->stage)) {
		return false;
	}
	*out = te_made(ev, made, st->op->n_out, te_depth(ev, t) + 1,
		       st->op->n_out == 1);
	return true;
}
