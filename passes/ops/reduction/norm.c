/* SPDX-License-Identifier: Apache-2.0 */
/* Normalisations: (x - mean) / sqrt(variance + epsilon), then a scale and a
 * bias; as the stages sum, mean, square_sum, inv_std, result. */
#include "define.h"

struct moments {
	/* the mean of each row; NULL if the mean counts as 0 */
	struct te_tensor *mean, *inv_std;
	/* the sum of the squared deviations from the mean */
	struct te_tensor *square_sum;
	/* the number of elements in each mean */
	const struct expr *count;
	bool keep; /* reduced dimensions are kept with extent 1 */
};

/* Constants that are added so that the divisor is not 0. under: is added to the
 * variance before the root is taken; beside: is added to the root. */
struct epsilon {
	double under, beside;
};

static struct epsilon
epsilon_of(const struct node *n)
{
	return (struct epsilon){ .under = node_attr_float(n, "epsilon", 1e-5) };
}

static const struct expr *
plus(struct define *c, const struct expr *e, double least)
{
	return least != 0 ? expr_add(c->module, e, like(c, e, least)) : e;
}

/* Defines mean[…] and 1 / (sqrt(E[(x - mean)^2] + under) + beside) over the
 * dimensions that are flagged in `reduced`. */
static struct moments
define_moments(struct define *c, const struct te_tensor *x, const bool *reduced,
	       struct epsilon epsilon, bool centered, bool keep)
{
	struct module *m = c->module;
	struct dtype t = accumulator_type(x->buffer->type);
	int ndim = x->buffer->ndim;
	struct moments s = { .keep = keep };
	struct te_tensor *sum;
	struct reduce_plan p;
	const struct expr *e;

	if (centered) {
		p = reduce_plan(c, x, reduced, keep);
		e = expr_cast(m, t, te_at(m, x, p.at, ndim));
		sum = define_stage(c, "sum", "reduce", p.n_axes, p.axes,
				   te_sum(m, e, p.over, p.n_over));
		p = reduce_plan(c, x, reduced, keep);
		e = te_at(m, sum, axes_exprs(c, p.axes, p.n_axes), p.n_axes);
		s.mean = define_stage(c, "mean", "elementwise", p.n_axes,
				      p.axes,
				      expr_div(m, e,
					       define_count(c, t, p.count)));
	}
	p = reduce_plan(c, x, reduced, keep);
	e = expr_cast(m, t, te_at(m, x, p.at, ndim));
	if (centered) {
		e = expr_sub(m, e,
			     te_at(m, s.mean, axes_exprs(c, p.axes, p.n_axes),
				   p.n_axes));
	}
	sum = define_stage(c, "square_sum", "reduce", p.n_axes, p.axes,
			   te_sum(m, expr_mul(m, e, e), p.over, p.n_over));
	s.square_sum = sum;
	s.count = p.count;
	p = reduce_plan(c, x, reduced, keep);
	e = te_at(m, sum, axes_exprs(c, p.axes, p.n_axes), p.n_axes);
	e = expr_div(m, e, define_count(c, t, p.count));
	e = expr_call1(m, INTRIN_SQRT, plus(c, e, epsilon.under));
	e = plus(c, e, epsilon.beside);
	s.inv_std = define_stage(c, "inv_std", "elementwise", p.n_axes, p.axes,
				 expr_div(m, like(c, e, 1), e));
	return s;
}

/* (x - mean) * inv_std at an index of x. */
static const struct expr *
normalised(struct define *c, const struct te_tensor *x, const struct moments *s,
	   const bool *reduced, const struct expr *const *index)
{
	struct module *m = c->module;
	int ndim = x->buffer->ndim, rank = s->inv_std->buffer->ndim;
	const struct expr **at = kept_exprs(c, index, reduced, ndim);
	const struct expr *e = expr_cast(m, s->inv_std->buffer->type,
					 te_at(m, x, index, ndim));

	for (int d = 0; s->keep && d < ndim; d++) {
		at[d] = reduced[d] ? expr_int(m, index[d]->type, 0) : index[d];
	}
	if (s->mean) {
		e = expr_sub(m, e, te_at(m, s->mean, at, rank));
	}
	return expr_mul(m, e, te_at(m, s->inv_std, at, rank));
}

static const struct expr *
at_type(struct define *c, const struct expr *e, struct dtype t)
{
	return expr_cast(c->module, t, e);
}

/* Checks that input i is a vector of `size` elements or of one for each
 * channel; false after a diagnostic. */
static bool
check_vector(struct infer *c, const struct node *n, int i,
	     const struct expr *size, const struct expr *channels)
{
	const struct tensor *t = n->inputs[i];
	int64_t known;

	if (!infer_form(c, n, i, TYPES_FLOAT, 1, 1)) {
		return false;
	}
	if (expr_is_int(channels, &known) &&
	    expr_is_value(t->shape[0], known)) {
		return true;
	}
	if (!dims_equal(c, t->shape[0], size)) {
		return infer_error(c, DIAG_BAD_SHAPE,
				   "input %d does not have one element per "
				   "channel; correct its shape",
				   i);
	}
	return true;
}

/* Checks that inputs 1 to 4 of BatchNormalization are vectors with one element
 * for each channel; false after a diagnostic. */
static bool
check_channel_vectors(struct infer *c, const struct node *n)
{
	const struct tensor *x = n->inputs[0];
	const struct expr *channels = x->ndim > 1 ? x->shape[1]
						  : expr_i32(c->module, 1);

	for (int i = 1; i < 5; i++) {
		if (!check_vector(c, n, i, channels, channels)) {
			return false;
		}
	}
	return true;
}

static bool
check_channels(struct infer *c, const struct node *n)
{
	if (n->inputs[0]->ndim < 2) {
		return infer_error(c, DIAG_BAD_SHAPE,
				   "the input has rank %d; %s needs batch and "
				   "channels",
				   n->inputs[0]->ndim, n->op_type);
	}
	return true;
}

/* ---- BatchNormalization, at inference ---- */

bool
infer_batch_norm(struct infer *c, struct node *n)
{
	if (n->n_outputs > 1) {
		return infer_error(c, DIAG_BAD_ATTRIBUTE,
				   "there are %d outputs, which needs "
				   "training_mode; correct the model",
				   n->n_outputs);
	}
	if (!check_channel_vectors(c, n)) {
		return false;
	}
	infer_like_input(c, n);
	return true;
}

/* (x - mean) * (scale / sqrt(variance + epsilon)) + bias */
bool
define_batch_norm(struct define *c, const struct node *n,
		  struct te_tensor *const *in, struct te_tensor **out)
{
	struct module *m = c->module;
	const struct tensor *y = n->outputs[0];
	double epsilon = node_attr_float(n, "epsilon", 1e-5);
	struct dtype t = accumulator_type(y->type);
	struct iter_var *axes = define_axes(c, y);
	const struct expr **index = axes_exprs(c, axes, y->ndim);
	const struct expr *channel = y->ndim > 1 ? index[1] : expr_i32(m, 0);
	const struct expr *v[5], *factor, *e;

	v[0] = at_type(c, te_at(m, in[0], index, y->ndim), t);
	for (int i = 1; i < 5; i++) {
		v[i] = at_type(c, te_at(m, in[i], &channel, 1), t);
	}
	factor = expr_div(m, v[1],
			  expr_call1(m, INTRIN_SQRT,
				     expr_add(m, v[4],
					      like(c, v[4], epsilon))));
	e = expr_mul(m, expr_sub(m, v[0], v[3]), factor);
	out[0] = define_stage(c, "batch_norm", "broadcast", y->ndim, axes,
			      expr_cast(m, y->type, expr_add(m, e, v[2])));
	return true;
}

/* ---- BatchNormalization in training: with the moments of x itself ---- */

bool
infer_batch_norm_training(struct infer *c, struct node *n)
{
	if (!check_channel_vectors(c, n)) {
		return false;
	}
	infer_like_input(c, n);
	for (int k = 1; k < 3; k++) {
		const struct tensor *v = n->inputs[2 + k];

		infer_set(c, node_output(n, k), v->type, 1, v->shape);
	}
	return true;
}

/* A running statistic, output k: now / count * (1 - momentum) + input i *
 * momentum, for each channel. */
static struct te_tensor *
define_running(struct define *c, const struct node *n, int k, int i,
	       struct te_tensor *const *in, const struct te_tensor *now,
	       const struct expr *count)
{
	struct module *m = c->module;
	const struct tensor *y = n->outputs[k];
	struct dtype t = now->buffer->type;
	double momentum = node_attr_float(n, "momentum", 0.9);
	struct iter_var *axes = define_axes(c, y);
	const struct expr *channel = axes[0].var->expr, *e, *before;

	e = te_at(m, now, &channel, now->buffer->ndim);
	e = count ? expr_div(m, e, define_count(c, t, count)) : e;
	before = at_type(c, te_at(m, in[i], &channel, 1), t);
	e = expr_add(m, expr_mul(m, before, like(c, e, momentum)),
		     expr_mul(m, e, like(c, e, 1 - momentum)));
	return define_stage(c, k == 1 ? "running_mean" : "running_var",
			    "broadcast", 1, axes, expr_cast(m, y->type, e));
}

/* (x - mean(x)) / sqrt(var(x) + epsilon) * scale + bias; the running mean and
 * variance are updated with momentum. */
bool
define_batch_norm_training(struct define *c, const struct node *n,
			   struct te_tensor *const *in, struct te_tensor **out)
{
	struct module *m = c->module;
	const struct tensor *y = n->outputs[0];
	bool *reduced = arena_array(&m->arena, bool, y->ndim + 1);
	const struct expr **index, *channel, *e;
	struct iter_var *axes;
	struct moments s;

	for (int d = 0; d < y->ndim; d++) {
		reduced[d] = d != 1;
	}
	s = define_moments(c, in[0], reduced, epsilon_of(n), true, false);
	axes = define_axes(c, y);
	index = axes_exprs(c, axes, y->ndim);
	channel = y->ndim > 1 ? index[1] : expr_i32(m, 0);
	e = normalised(c, in[0], &s, reduced, index);
	e = expr_mul(m, e, at_type(c, te_at(m, in[1], &channel, 1), e->type));
	e = expr_add(m, e, at_type(c, te_at(m, in[2], &channel, 1), e->type));
	out[0] = define_stage(c, "batch_norm", "broadcast", y->ndim, axes,
			      expr_cast(m, y->type, e));
	if (node_output(n, 1)) {
		out[1] = define_running(c, n, 1, 3, in, s.mean, NULL);
	}
	if (node_output(n, 2)) {
		out[2] = define_running(c, n, 2, 4, in, s.square_sum, s.count);
	}
	return true;
}

/* ---- InstanceNormalization, GroupNormalization ---- */

bool
infer_instance_norm(struct infer *c, struct node *n)
{
	if (!check_channels(c, n)) {
		return false;
	}
	for (int i = 1; i < 3; i++) {
		if (!check_vector(c, n, i, n->inputs[0]->shape[1],
				  n->inputs[0]->shape[1])) {
			return false;
		}
	}
	infer_like_input(c, n);
	return true;
}

bool
define_instance_norm(struct define *c, const struct node *n,
		     struct te_tensor *const *in, struct te_tensor **out)
{
	struct module *m = c->module;
	const struct tensor *y = n->outputs[0];
	bool *reduced = arena_array(&m->arena, bool, y->ndim + 1);
	struct moments s;
	struct iter_var *axes;
	const struct expr **index, *e;

	for (int d = 2; d < y->ndim; d++) {
		reduced[d] = true;
	}
	s = define_moments(c, in[0], reduced, epsilon_of(n), true, false);
	axes = define_axes(c, y);
	index = axes_exprs(c, axes, y->ndim);
	e = normalised(c, in[0], &s, reduced, index);
	e = expr_mul(m, e, at_type(c, te_at(m, in[1], &index[1], 1), e->type));
	e = expr_add(m, e, at_type(c, te_at(m, in[2], &index[1], 1), e->type));
	out[0] = define_stage(c, "instance_norm", "broadcast", y->ndim, axes,
			      expr_cast(m, y->type, e));
	return true;
}

bool
infer_group_norm(struct infer *c, struct node *n)
{
	int64_t groups = node_attr_int(n, "num_groups", 0), channels;

	if (!check_channels(c, n)) {
		return false;
	}
	if (!expr_is_int(n->inputs[0]->shape[1], &channels)) {
		return infer_error(c, DIAG_UNKNOWN_SHAPE,
				   "the number of channels is not constant; "
				   "give it with --input-shape");
	}
	if (groups < 1 || channels % groups != 0) {
		return infer_error(c, DIAG_BAD_ATTRIBUTE,
				   "%lld channels cannot be divided into "
				   "%lld groups; correct num_groups",
				   (long long)channels, (long long)groups);
	}
	for (int i = 1; i < 3; i++) {
		/* The scale and bias of opset 18 have one element for each
		 * group. */
		if (!check_vector(c, n, i, expr_index(c->module, groups),
				  n->inputs[0]->shape[1])) {
			return false;
		}
	}
	infer_like_input(c, n);
	return true;
}

/* Normalises x[n, c, …], viewed as [n, group, c, …], over all but the first two
 * dimensions. */
bool
define_group_norm(struct define *c, const struct node *n,
		  struct te_tensor *const *in, struct te_tensor **out)
{
	struct module *m = c->module;
	const struct tensor *y = n->outputs[0];
	int64_t groups = node_attr_int(n, "num_groups", 1), channels = 1;
	bool *reduced = arena_array(&m->arena, bool, y->ndim + 2);
	const struct expr **shape = arena_exprs(&m->arena, y->ndim + 2);
	const char **names = arena_array(&m->arena, const char *, y->ndim + 2);
	const struct expr **index, **at, *e, *size;
	struct te_tensor *grouped;
	struct iter_var *axes;
	struct moments s;

	expr_is_int(y->shape[1], &channels);
	size = expr_index(m, channels / groups);
	for (int d = 0; d < y->ndim + 1; d++) {
		shape[d] = d == 0   ? y->shape[0]
			   : d == 1 ? expr_index(m, groups)
			   : d == 2 ? size
				    : y->shape[d - 1];
		names[d] = d == 1 ? "g"
				  : axis_name(m, y->ndim, d == 0 ? 0 : d - 1);
		reduced[d] = d >= 2;
	}
	axes = te_axes(m, y->ndim + 1, shape, names);
	index = axes_exprs(c, axes, y->ndim + 1);
	at = axes_exprs(c, axes + 1, y->ndim);
	at[0] = index[0];
	at[1] = expr_add(m, expr_mul(m, index[1], size), index[2]);
	grouped = define_stage(c, "grouped", "injective", y->ndim + 1, axes,
			       te_at(m, in[0], at, y->ndim));
	s = define_moments(c, grouped, reduced, epsilon_of(n), true, false);
	axes = define_axes(c, y);
	index = axes_exprs(c, axes, y->ndim);
	at = arena_exprs(&m->arena, y->ndim + 2);
	at[0] = index[0];
	at[1] = expr_floordiv(m, index[1], size);
	at[2] = expr_floormod(m, index[1], size);
	for (int d = 2; d < y->ndim; d++) {
		at[d + 1] = index[d];
	}
	e = normalised(c, grouped, &s, reduced, at);
	for (int i = 1; i < 3; i++) {
		const struct expr *where = index[1], *v;

		if (!expr_is_value(in[i]->buffer->shape[0], channels)) {
			where = at[1];
		}
		v = at_type(c, te_at(m, in[i], &where, 1), e->type);
		e = i == 1 ? expr_mul(m, e, v) : expr_add(m, e, v);
	}
	out[0] = define_stage(c, "group_norm", "broadcast", y->ndim, axes,
			      expr_cast(m, y->type, e));
	return true;
}

/* ---- LayerNormalization, RMSNormalization ---- */

/* The type of mean and deviation: that of the attribute stash_type, by default
 * float32, also for float64 inputs. */
static struct dtype
stash_type(const struct node *n)
{
	struct dtype t;

	return dtype_from_onnx(node_attr_int(n, "stash_type", 1), &t) &&
			       dtype_is_float(t) && dtype_bits(t) >= 16
		       ? t
		       : dtype_of(DT_F32);
}

bool
infer_layer_norm(struct infer *c, struct node *n)
{
	const struct tensor *x = n->inputs[0];
	const struct expr **shape = arena_exprs(&c->module->arena, x->ndim + 1);
	struct dtype t = stash_type(n);
	int axis;

	if (!infer_axis(c, node_attr_int(n, "axis", -1), x->ndim, &axis)) {
		return false;
	}
	for (int i = 1; i < n->n_inputs; i++) {
		const struct tensor *v = n->inputs[i];

		if (!infer_form(c, n, i, TYPES_FLOAT, 0, x->ndim)) {
			return false;
		}
		for (int d = 0; v && d < v->ndim; d++) {
			int at = x->ndim - v->ndim + d;

			if (at < 0 || !infer_broadcasts_to(c, v->shape[d],
							   x->shape[at])) {
				return infer_error(
					c, DIAG_BAD_SHAPE,
					"input %d does not broadcast to input "
					"0; correct its shape",
					i);
			}
		}
	}
	for (int d = 0; d < x->ndim; d++) {
		shape[d] = d < axis ? x->shape[d] : expr_i32(c->module, 1);
	}
	infer_like_input(c, n);
	infer_set(c, node_output(n, 1), t, x->ndim, shape);
	infer_set(c, node_output(n, 2), t, x->ndim, shape);
	return true;
}

/* Converts a statistic (mean or deviation) to the type of output y. */
static struct te_tensor *
stashed(struct define *c, const struct tensor *y, struct te_tensor *statistic)
{
	struct iter_var *axes = define_axes(c, y);
	const struct expr *e = te_at(c->module, statistic,
				     axes_exprs(c, axes, y->ndim), y->ndim);

	if (dtype_equal(e->type, y->type)) {
		return statistic;
	}
	return define_stage(c, "stashed", "broadcast", y->ndim, axes,
			    expr_cast(c->module, y->type, e));
}

static bool
define_over_last(struct define *c, const struct node *n,
		 struct te_tensor *const *in, struct te_tensor **out,
		 bool centered)
{
	struct module *m = c->module;
	const struct tensor *y = n->outputs[0];
	int64_t axis = node_attr_int(n, "axis", -1);
	bool *reduced = arena_array(&m->arena, bool, y->ndim + 1);
	struct moments s;
	struct iter_var *axes;
	const struct expr **index, *e;

	for (int d = 0; d < y->ndim; d++) {
		reduced[d] = d >= (axis < 0 ? axis + y->ndim : axis);
	}
	s = define_moments(c, in[0], reduced, epsilon_of(n), centered,
			   node_output(n, 1) || node_output(n, 2));
	axes = define_axes(c, y);
	index = axes_exprs(c, axes, y->ndim);
	e = normalised(c, in[0], &s, reduced, index);
	for (int i = 1; i < n->n_inputs && i < 3; i++) {
		const struct expr *v;

		if (!in[i]) {
			continue;
		}
		v = at_type(c,
			    define_broadcast(c, in[i], index, y->shape,
					     y->ndim),
			    e->type);
		e = i == 1 ? expr_mul(m, e, v) : expr_add(m, e, v);
	}
	out[0] = define_stage(c, centered ? "layer_norm" : "rms_norm",
			      "broadcast", y->ndim, axes,
			      expr_cast(m, y->type, e));
	if (node_output(n, 1)) {
		out[1] = stashed(c, n->outputs[1], s.mean);
	}
	if (node_output(n, 2)) {
		out[2] = stashed(c, n->outputs[2], s.inv_std);
	}
	return true;
}

bool
define_layer_norm(struct define *c, const struct node *n,
		  struct te_tensor *const *in, struct te_tensor **out)
{
	return define_over_last(c, n, in, out, true);
}

bool
define_rms_norm(struct define *c, const struct node *n,
		struct te_tensor *const *in, struct te_tensor **out)
{
	return define_over_last(c, n, in, out, false);
}

/* ---- MeanVarianceNormalization ---- */

static bool
mean_variance_axes(struct infer *c, struct module *m, const struct node *n,
		   bool **reduced)
{
	static const int64_t standard[] = { 0, 2, 3 };
	int ndim = n->inputs[0]->ndim, count;
	const int64_t *axes;

	*reduced = arena_array(&m->arena, bool, ndim + 1);
	count = node_attr_ints(n, "axes", &axes);
	if (!node_attr(n, "axes")) {
		axes = standard;
		count = 3;
	}
	if (c) {
		return infer_axes_set(c, axes, count, ndim, *reduced);
	}
	for (int i = 0; i < count; i++) {
		(*reduced)[axes[i] < 0 ? axes[i] + ndim : axes[i]] = true;
	}
	return true;
}

bool
infer_mean_variance_norm(struct infer *c, struct node *n)
{
	bool *reduced;

	if (!mean_variance_axes(c, c->module, n, &reduced)) {
		return false;
	}
	infer_like_input(c, n);
	return true;
}

bool
define_mean_variance_norm(struct define *c, const struct node *n,
			  struct te_tensor *const *in, struct te_tensor **out)
{
	const struct tensor *y = n->outputs[0];
	struct iter_var *axes;
	struct moments s;
	bool *reduced;

	mean_variance_axes(NULL, c->module, n, &reduced);
	s = define_moments(c, in[0], reduced,
			   (struct epsilon){ .beside = 1e-9 }, true, false);
	axes = define_axes(c, y);
	out[0] = define_stage(c, "mean_variance_norm", "broadcast", y->ndim,
			      axes,
			      expr_cast(c->module, y->type,
					normalised(c, in[0], &s, reduced,
						   axes_exprs(c, axes,
							      y->ndim))));
	return true;
}
