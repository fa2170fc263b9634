/* SPDX-License-Identifier: Apache-2.0 */
/* Sizes, padding and reads of sliding windows. Padding is never stored: reads
 * that may be outside of the input are guarded. */
#include "window.h"

#include "analyse.h"
#include "dims.h"

static const char *
read_list(const struct node *n, const char *name, int want, int64_t *out,
	  int64_t least)
{
	const int64_t *list;
	int count = node_attr_ints(n, name, &list);

	if (count == 0) {
		for (int i = 0; i < want; i++) {
			out[i] = least;
		}
		return NULL;
	}
	if (count != want) {
		return "a list of strides, dilations or pads does not match "
		       "the rank of the input; correct its length";
	}
	for (int i = 0; i < want; i++) {
		if (list[i] < least || list[i] > INT32_MAX) {
			return "a stride, dilation or padding is out of "
			       "range; correct the attribute";
		}
		out[i] = list[i];
	}
	return NULL;
}

/* The number of elements of the input, along dimension d, from the first to the
 * last tap of a window. */
static int64_t
reach(const struct window *w, int d)
{
	return (w->kernel[d] - 1) * w->dilation[d] + 1;
}

/* max(e, 0) */
static const struct expr *
not_negative(struct module *m, const struct expr *e)
{
	return expr_is_int(e, &(int64_t){ 0 })
		       ? dim_max(m, e, expr_i32(m, 0))
		       : expr_max(m, e, expr_int(m, e->type, 0));
}

/* Splits a padding of `total` elements in two halves; an odd element goes to
 * the end if `upper`, else to the beginning. */
static void
split_padding(struct module *m, struct window *w, int d,
	      const struct expr *total, bool upper)
{
	const struct expr *half = dim_div(m, total, 2);
	const struct expr *other = dim_sub(m, total, half);

	w->begin[d] = dim_normal(m, upper ? half : other);
	w->end[d] = dim_normal(m, upper ? other : half);
}

/* The distance, along dimension d, from the first to the last of `count`
 * windows: (count - 1) * stride. */
static const struct expr *
strides_between(struct module *m, const struct window *w, int d,
		const struct expr *count)
{
	return dim_mul(m, dim_sub(m, count, expr_i32(m, 1)),
		       expr_index(m, w->stride[d]));
}

static void
same_sizes(struct module *m, struct window *w, int d, bool upper)
{
	const struct expr *total;

	w->out[d] = dim_normal(m, dim_ceil_div(m, w->in[d], w->stride[d]));
	total = strides_between(m, w, d, w->out[d]);
	total = dim_sub(m, dim_add(m, total, expr_index(m, reach(w, d))),
			w->in[d]);
	split_padding(m, w, d, not_negative(m, total), upper);
}

static void
explicit_sizes(struct module *m, struct window *w, int d, bool ceil)
{
	const struct expr *room = dim_add(m, w->in[d],
					  dim_add(m, w->begin[d], w->end[d]));
	const struct expr *last, *one = expr_i32(m, 1), *inside;

	room = dim_sub(m, room, expr_index(m, reach(w, d)));
	if (!ceil) {
		w->out[d] = dim_normal(m,
				       dim_add(m,
					       dim_div(m, room, w->stride[d]),
					       one));
		return;
	}
	last = dim_ceil_div(m, room, w->stride[d]);
	/* A window that starts in the padding at the end is dropped. */
	inside = expr_lt(m, dim_mul(m, last, expr_index(m, w->stride[d])),
			 dim_add(m, w->in[d], w->begin[d]));
	w->out[d] = dim_normal(m, expr_select(m, inside, dim_add(m, last, one),
					      last));
}

static void
transposed_sizes(struct module *m, struct window *w, int d,
		 const char *auto_pad, const int64_t *output_shape)
{
	bool upper = strcmp(auto_pad, "SAME_UPPER") == 0;
	bool same = upper || strcmp(auto_pad, "SAME_LOWER") == 0;
	const struct expr *full = strides_between(m, w, d, w->in[d]);

	full = dim_add(m, full,
		       expr_index(m, reach(w, d) + w->output_padding[d]));
	if (output_shape || same) {
		w->out[d] = output_shape ? expr_index(m, output_shape[d])
					 : dim_mul(m, w->in[d],
						   expr_index(m, w->stride[d]));
		split_padding(m, w, d,
			      not_negative(m, dim_sub(m, full, w->out[d])),
			      upper);
		return;
	}
	w->out[d] = dim_normal(m, dim_sub(m, full,
					  dim_add(m, w->begin[d], w->end[d])));
}

const char *
window_of_node(struct module *m, const struct node *n, const int64_t *kernel,
	       bool transposed, struct window *w)
{
	const struct tensor *x = n->inputs[0];
	const char *auto_pad = node_attr_string(n, "auto_pad", "NOTSET");
	bool upper = strcmp(auto_pad, "SAME_UPPER") == 0;
	bool same = upper || strcmp(auto_pad, "SAME_LOWER") == 0;
	bool valid = strcmp(auto_pad, "VALID") == 0;
	int64_t pads[2 * WINDOW_MAX];
	const int64_t *list;
	const char *wrong;
	int count;

	w->n = x->ndim - 2;
	if (w->n < 1 || w->n > WINDOW_MAX) {
		return "the input needs one to four dimensions after batch "
		       "and channels; reshape it";
	}
	wrong = read_list(n, "strides", w->n, w->stride, 1);
	wrong = wrong ? wrong : read_list(n, "dilations", w->n, w->dilation, 1);
	wrong = wrong ? wrong : read_list(n, "pads", 2 * w->n, pads, 0);
	wrong = wrong ? wrong
		      : read_list(n, "output_padding", w->n, w->output_padding,
				  0);
	if (wrong) {
		return wrong;
	}
	count = node_attr_ints(n, "kernel_shape", &list);
	if (!kernel && count != w->n) {
		return "kernel_shape does not match the rank of the input; "
		       "correct its length";
	}
	for (int d = 0; d < w->n; d++) {
		w->kernel[d] = kernel ? kernel[d] : list[d];
		if (w->kernel[d] < 1 || w->kernel[d] > INT32_MAX ||
		    (kernel && count == w->n && list[d] != kernel[d])) {
			return "kernel_shape contradicts the weights or is "
			       "not positive; correct the attribute";
		}
		if (w->kernel[d] == 1) {
			w->dilation[d] = 1; /* with a single tap, the dilation
					     * has no effect */
		}
		w->in[d] = x->shape[2 + d];
		w->begin[d] = expr_i32(m, valid ? 0 : pads[d]);
		w->end[d] = expr_i32(m, valid ? 0 : pads[w->n + d]);
	}
	count = node_attr_ints(n, "output_shape", &list);
	for (int d = 0; d < w->n; d++) {
		if (transposed) {
			transposed_sizes(m, w, d, auto_pad,
					 count >= w->n ? list + count - w->n
						       : NULL);
		} else if (same) {
			same_sizes(m, w, d, upper);
		} else {
			explicit_sizes(m, w, d,
				       node_attr_int(n, "ceil_mode", 0) != 0);
		}
	}
	return NULL;
}

const char *
window_axis_name(struct module *m, const struct window *w, int d,
		 const char *prefix)
{
	static const char *const names[WINDOW_MAX][WINDOW_MAX] = {
		{ "w" },
		{ "h", "w" },
		{ "d", "h", "w" },
		{ "t", "d", "h", "w" },
	};

	return arena_printf(&m->arena, "%s%s", prefix, names[w->n - 1][d]);
}

/* May the size of dimension d plus its padding plus the size of a window exceed
 * 2^31? */
static bool
exceeds_32_bits(struct module *m, const struct window *w, int d,
		const struct expr *size)
{
	int64_t min, max;

	size = dim_add(m, size, dim_add(m, w->begin[d], w->end[d]));
	size = dim_add(m, size, expr_index(m, reach(w, d)));
	return size_bounds(size, &min, &max) && max > INT32_MAX;
}

const struct expr *
window_index(struct module *m, const struct window *w, int d,
	     const struct expr *e)
{
	return exceeds_32_bits(m, w, d, w->in[d]) ||
			       exceeds_32_bits(m, w, d, w->out[d])
		       ? expr_cast(m, dtype_of(DT_I64), e)
		       : e;
}

const struct expr *
window_position(struct module *m, const struct window *w, int d,
		const struct expr *o, const struct expr *k)
{
	const struct expr *at = expr_mul(m, window_index(m, w, d, o),
					 expr_index(m, w->stride[d]));

	/* With a single tap, k is 0. */
	if (w->kernel[d] > 1) {
		at = expr_add(m, at,
			      expr_mul(m, window_index(m, w, d, k),
				       expr_index(m, w->dilation[d])));
	}
	return expr_sub(m, at, w->begin[d]);
}

bool
window_below(const struct window *w, int d)
{
	return !expr_is_value(w->begin[d], 0);
}

bool
window_above(struct module *m, const struct window *w, int d)
{
	const struct expr *last =
		window_position(m, w, d, expr_sub(m, w->out[d], expr_i32(m, 1)),
				expr_i32(m, w->kernel[d] - 1));
	struct analyser a;

	analyser_init(&a, m);
	return !prove(&a, expr_lt(m, last, w->in[d]));
}

bool
window_may_miss(struct module *m, const struct window *w, int d)
{
	struct analyser a;
	const struct expr *reach = expr_index(m, (w->kernel[d] - 1) *
							 w->dilation[d]);

	if (!window_below(w, d) && !window_above(m, w, d)) {
		return false;
	}
	analyser_init(&a, m);
	return !prove(&a, expr_lt(m, expr_i32(m, 0), w->in[d])) ||
	       (w->dilation[d] > 1 && w->kernel[d] > 1) ||
	       !prove(&a, expr_le(m, w->begin[d], reach)) ||
	       !prove(&a, expr_le(m, w->end[d], reach));
}

struct iter_var *
window_axes(struct define *c, const struct window *w, const struct tensor *y,
	    const char *channel)
{
	const char *names[2 + WINDOW_MAX] = { "n", channel };

	for (int d = 0; d < w->n; d++) {
		names[2 + d] = window_axis_name(c->module, w, d, "o");
	}
	return te_axes(c->module, 2 + w->n, y->shape, names);
}

void
window_taps(struct define *c, const struct window *w, struct iter_var *taps)
{
	for (int d = 0; d < w->n; d++) {
		taps[d] = te_reduce_axis(c->module,
					 window_axis_name(c->module, w, d, "k"),
					 expr_i32(c->module, w->kernel[d]));
	}
}

const struct expr *
window_load(struct define *c, const struct window *w, const struct te_tensor *x,
	    const struct expr *batch, const struct expr *channel,
	    const struct iter_var *out, const struct iter_var *taps,
	    const struct expr *outside)
{
	struct module *m = c->module;
	const struct expr *at[2 + WINDOW_MAX] = { batch, channel };
	const struct expr *inside = expr_bool(m, true);

	for (int d = 0; d < w->n; d++) {
		const struct expr *p = window_position(m, w, d,
						       out[d].var->expr,
						       taps[d].var->expr);

		at[2 + d] = p;
		if (window_below(w, d)) {
			inside = expr_and(m, inside,
					  expr_le(m, expr_i32(m, 0), p));
		}
		if (window_above(m, w, d)) {
			inside = expr_and(m, inside, expr_lt(m, p, w->in[d]));
		}
	}
	return expr_if(m, inside, te_at(m, x, at, 2 + w->n), outside);
}
