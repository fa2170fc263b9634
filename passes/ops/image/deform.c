/* SPDX-License-Identifier: Apache-2.0 */
/* tirc.DeformSample computes the elements that a deformable convolution sums:
 * for each tap of the kernel and each position of the output, the element at
 * the tap's position plus the offset in input 1, times the mask in input 2:
 *
 *	y[n, (c, kh, kw), oh, ow] =
 *		mask[n, (g, kh, kw), oh, ow] * x[n, c, ph, pw]
 *	ph = oh * stride + kh * dilation - pad +
 *	     offset[n, (g, kh, kw, 0), oh, ow]
 *
 * where g is the group of offsets of channel c. */
#include "sampler.h"
#include "window.h"

static bool
deform_window(struct infer *c, struct module *m, const struct node *n,
	      struct window *w, int64_t *taps)
{
	const int64_t *kernel;
	const char *wrong = "the kernel has too many dimensions";
	int rank = n->inputs[0]->ndim - 2;

	if (rank >= 1 && rank <= SAMPLER_MAX &&
	    node_attr_ints(n, "kernel_shape", &kernel) == rank) {
		wrong = window_of_node(m, n, kernel, false, w);
	}
	if (wrong) {
		return infer_error(c, DIAG_BAD_ATTRIBUTE, "%s", wrong);
	}
	*taps = 1;
	for (int d = 0; d < rank; d++) {
		*taps *= kernel[d];
	}
	return true;
}

/* Is input i absent, or has it `channels` channels, the batch size of input 0
 * and the spatial sizes of the output? */
static bool
fits(struct infer *c, const struct node *n, int i, const struct window *w,
     int64_t channels)
{
	const struct tensor *t = node_input(n, i);
	bool good = !t || t->ndim == w->n + 2;
	int64_t known;

	if (!t || !good) {
		return good;
	}
	good = dims_equal(c, t->shape[0], n->inputs[0]->shape[0]) &&
	       expr_is_int(t->shape[1], &known) && known == channels;
	for (int d = 0; d < w->n; d++) {
		good = good && dims_equal(c, t->shape[2 + d], w->out[d]);
	}
	return good;
}

bool
infer_deform_sample(struct infer *c, struct node *n)
{
	struct module *m = c->module;
	const struct tensor *x = n->inputs[0];
	const struct expr *shape[2 + SAMPLER_MAX];
	int64_t groups = node_attr_int(n, "offset_group", 1), channels, taps;
	struct window w;

	if (!deform_window(c, m, n, &w, &taps) ||
	    !infer_form(c, n, 1, TYPES_FLOAT, x->ndim, x->ndim)) {
		return false;
	}
	if (!expr_is_int(x->shape[1], &channels) || groups < 1 ||
	    channels % groups != 0 || !fits(c, n, 1, &w, groups * taps * w.n) ||
	    !fits(c, n, 2, &w, groups * taps)) {
		return infer_error(c, DIAG_BAD_SHAPE,
				   "the offsets or the mask do not have one "
				   "number for each tap and place; correct "
				   "their shapes");
	}
	shape[0] = x->shape[0];
	shape[1] = expr_index(m, channels * taps);
	for (int d = 0; d < w.n; d++) {
		shape[2 + d] = w.out[d];
	}
	infer_set(c, n->outputs[0], x->type, x->ndim, shape);
	return true;
}

struct deform {
	struct steps s;
	struct step_names names;
	const struct node *n;
	struct te_tensor *const *in;
	struct window w;
	/* n, group, taps, positions of the output; in this order */
	struct iter_var *axes;
	/* the number of the tap among all taps of its group of offsets */
	const struct expr *tap;
	int64_t taps;
	struct dtype wide;
};

static struct iter_var *
deform_axes(struct deform *f, int64_t groups)
{
	struct module *m = f->s.m;
	const struct expr *shape[2 + 2 * SAMPLER_MAX];
	const char *names[2 + 2 * SAMPLER_MAX] = { "n", "group" };
	int rank = f->w.n;

	shape[0] = f->n->inputs[0]->shape[0];
	shape[1] = expr_index(m, groups);
	for (int d = 0; d < rank; d++) {
		shape[2 + d] = expr_index(m, f->w.kernel[d]);
		names[2 + d] = window_axis_name(m, &f->w, d, "k");
		shape[2 + rank + d] = f->w.out[d];
		names[2 + rank + d] = window_axis_name(m, &f->w, d, "o");
	}
	return te_axes(m, 2 + 2 * rank, shape, names);
}

/* Number k of the `per_tap` numbers that input i (offsets or masks) has for the
 * current tap. */
static const struct expr *
of_tap(struct deform *f, int i, int64_t per_tap, int k)
{
	struct module *m = f->s.m;
	const struct expr *at[2 + SAMPLER_MAX];

	at[0] = f->axes[0].var->expr;
	at[1] = expr_add(m, expr_mul(m, f->tap, expr_index(m, per_tap)),
			 expr_i32(m, k));
	for (int d = 0; d < f->w.n; d++) {
		at[2 + d] = f->axes[2 + f->w.n + d].var->expr;
	}
	return expr_cast(m, f->wide, te_at(m, f->in[i], at, 2 + f->w.n));
}

/* The position of the current tap in dimension d, clamped so that it is at most
 * a few elements outside of the image. */
static const struct expr *
tap_position(struct deform *f, int d)
{
	struct module *m = f->s.m;
	const struct expr *low = expr_float(m, f->wide, -3);
	const struct expr *high = expr_add(m, expr_cast(m, f->wide, f->w.in[d]),
					   expr_float(m, f->wide, 2));
	const char *axis = sampler_axis(m, f->w.n, d);
	const struct expr *at =
		window_position(m, &f->w, d, f->axes[2 + f->w.n + d].var->expr,
				f->axes[2 + d].var->expr);

	at = expr_add(m, expr_cast(m, f->wide, at), of_tap(f, 1, f->w.n, d));
	at = step_name(&f->names, arena_printf(&m->arena, "%s_tap", axis), at);
	at = expr_call2(m, INTRIN_FMAX, at, low);
	at = expr_select(m, expr_lt(m, high, at), high, at);
	return step_name(&f->names, axis, at);
}

/* y[n, (c, tap), …] = value for each channel c of the group of offsets. */
static struct stmt *
store_channels(struct deform *f, const struct sampler *p, int64_t channels)
{
	struct steps *s = &f->s;
	struct module *m = s->m;
	struct var *c = var_new(m, "c", dtype_of(DT_I32));
	const struct expr *at[2 + SAMPLER_MAX], *channel, *value, *tap;
	const struct expr *group = f->axes[1].var->expr;
	const struct buffer *y = s->out[0]->buffer;

	channel = expr_add(m, expr_mul(m, group, expr_index(m, channels)),
			   c->expr);
	value = sampler_sum(p, m, f->in[0], f->axes[0].var->expr, channel,
			    f->wide);
	if (f->in[2]) {
		value = expr_mul(m, value,
				 step_name(&f->names, "factor",
					   of_tap(f, 2, 1, 0)));
	}
	tap = expr_sub(m, f->tap, expr_mul(m, group, expr_index(m, f->taps)));
	at[0] = f->axes[0].var->expr;
	at[1] = expr_add(m, expr_mul(m, channel, expr_index(m, f->taps)), tap);
	for (int d = 0; d < f->w.n; d++) {
		at[2 + d] = f->axes[2 + f->w.n + d].var->expr;
	}
	return step_for(s, c, expr_index(m, channels),
			stmt_store(s->f, y, expr_cast(m, y->type, value), at,
				   2 + f->w.n));
}

bool
define_deform_sample(struct define *c, const struct node *n,
		     struct te_tensor *const *in, struct te_tensor **out)
{
	static const char *const name[] = { "sample" };
	struct module *m = c->module;
	const struct tensor *x = n->inputs[0], *y = n->outputs[0];
	int64_t groups = node_attr_int(n, "offset_group", 1), channels;
	struct te_tensor *given[3] = { in[0], in[1],
				       n->n_inputs > 2 ? in[2] : NULL };
	struct deform f = { .n = n,
			    .in = given,
			    .wide = accumulator_type(x->type) };
	struct sampler p = { .rank = x->ndim - 2, .n_taps = 2 };
	struct stmt *body;

	if (!deform_window(NULL, m, n, &f.w, &f.taps) ||
	    !expr_is_int(x->shape[1], &channels)) {
		return false;
	}
	f.s = steps_begin(c, name[0], "sample", name, &y->type, &y->ndim,
			  (const struct expr *const *[]){ y->shape }, 1, given,
			  given[2] ? 3 : 2, out);
	f.names.s = &f.s;
	f.axes = deform_axes(&f, groups);
	f.tap = f.axes[1].var->expr;
	for (int d = 0; d < f.w.n; d++) {
		f.tap = expr_add(m,
				 expr_mul(m, f.tap,
					  expr_index(m, f.w.kernel[d])),
				 f.axes[2 + d].var->expr);
	}
	for (int d = 0; d < f.w.n; d++) {
		sampler_set(&p, &f.names, d, tap_position(&f, d), f.w.in[d],
			    PADDING_ZEROS, false);
	}
	body = store_channels(&f, &p, channels / groups);
	steps_end(&f.s, f.axes, 2 + 2 * f.w.n, step_named(&f.names, body));
	return true;
}
