/* tirc_dnnl_layers.c, written by tirc beside models that use it.
 * SPDX-License-Identifier: MIT-0
 *
 * The primitives of a region. Each is described with the layouts that its
 * operands have, or that the library may choose, and becomes a step. Once a
 * call has failed, tirc_dnnl_step only frees the layer. */
#include "tirc_dnnl_v2.h"

static const_dnnl_memory_desc_t
md_or_null(const struct tirc_dnnl_region *r, int v)
{
	return v < 0 ? NULL : tirc_dnnl_md_of(r, v);
}

/* Lets the library choose the layout l of value v for the primitive. */
static void
any_of(struct tirc_dnnl_region *r, tirc_dnnl_layout *l, int v)
{
	const struct shape s = tirc_dnnl_value_shape(r, v);

	tirc_dnnl_any(r, l, &s);
}

/* Starts a layer with a result of shape y, in a layout that the library
 * chooses. True unless a call has failed. */
static bool
start(struct tirc_dnnl_region *r, struct layer *l, const struct shape *y)
{
	l->attr = tirc_dnnl_attr(r, true, y->element, y->ndims);
	tirc_dnnl_any(r, &l->y, y);
	return r->status == dnnl_success;
}

/* Starts a layer with a result of these dimensions and of x's type, in a layout
 * that the library chooses. False if a call has failed. */
static bool
start_from(struct tirc_dnnl_region *r, struct layer *l, int x, int ndims,
	   const dnnl_dims_t dims)
{
	struct shape y;

	if (r->status != dnnl_success) {
		return false;
	}
	y = tirc_dnnl_shape(ndims, tirc_dnnl_value_shape(r, x).element, dims);
	return start(r, l, &y);
}

/* Starts a layer whose result, data x and weights w have layouts that the
 * library chooses. False if a call has failed. */
static bool
start_weighted(struct tirc_dnnl_region *r, struct layer *l, int x, int w,
	       dnnl_data_type_t element, int ndims, const dnnl_dims_t dims)
{
	const struct shape y = tirc_dnnl_shape(ndims, element, dims);

	if (r->status == dnnl_success && start(r, l, &y)) {
		any_of(r, &l->x, x);
		any_of(r, &l->w, w);
	}
	return r->status == dnnl_success;
}

/* Starts a layer with a result of x's shape and layout, and returns that
 * layout; NULL if a call has failed. */
static const_dnnl_memory_desc_t
start_like(struct tirc_dnnl_region *r, struct layer *l, int x)
{
	struct shape s;

	if (r->status != dnnl_success) {
		return NULL;
	}
	s = tirc_dnnl_value_shape(r, x);
	l->attr = tirc_dnnl_attr(r, true, s.element, s.ndims);
	return r->status == dnnl_success ? tirc_dnnl_md_of(r, x) : NULL;
}

/* Adds the step of a layer with the data x and without weights; returns the
 * index of the step's result. */
static int
unary_step(struct tirc_dnnl_region *r, struct layer *l, int x)
{
	struct tirc_dnnl_use uses[] = { { DNNL_ARG_SRC, x } };

	return tirc_dnnl_step(r, l, uses, 1);
}

/* Adds the step of a layer with the data x, the weights w and, unless it is -1,
 * the bias; returns the index of the step's result. */
static int
weighted_step(struct tirc_dnnl_region *r, struct layer *l, int x, int w,
	      int bias)
{
	struct tirc_dnnl_use uses[] = { { DNNL_ARG_SRC, x },
					{ DNNL_ARG_WEIGHTS, w },
					{ DNNL_ARG_BIAS, bias } };

	return tirc_dnnl_step(r, l, uses, 3);
}

/* -- convolutions -- */

struct window {
	const dnnl_dim_t *strides, *gaps, *begin, *end;
};

/* Sets l to the layout of the data or result of a convolution: in a region that
 * uses Winograd's algorithm, blocks of channels; else the layout that the
 * library chooses. */
static void
image_layout(struct tirc_dnnl_region *r, tirc_dnnl_layout *l, int w_ndims,
	     const struct shape *s)
{
	if (!r->by_tiles || s->element != dnnl_f32 || s->ndims != 4 ||
	    w_ndims != s->ndims || s->dims[1] % 16 != 0) {
		tirc_dnnl_any(r, l, s);
	} else {
		tirc_dnnl_blocks(r, l, s);
	}
}

static dnnl_status_t
describe_convolution(struct tirc_dnnl_region *r, struct layer *l,
		     dnnl_alg_kind_t kind, int x, int w, int bias,
		     const struct shape *y, const struct window *at)
{
	const struct shape xs = tirc_dnnl_value_shape(r, x);
	const struct shape ws = tirc_dnnl_value_shape(r, w);

	image_layout(r, &l->x, ws.ndims, &xs);
	tirc_dnnl_any(r, &l->w, &ws);
	image_layout(r, &l->y, ws.ndims, y);
	if (r->status != dnnl_success) {
		return (dnnl_status_t)r->status;
	}
	return dnnl_convolution_forward_primitive_desc_create(
		&l->description, r->engine, dnnl_forward_inference, kind,
		tirc_dnnl_md(&l->x), tirc_dnnl_md(&l->w), md_or_null(r, bias),
		tirc_dnnl_md(&l->y), at->strides, at->gaps, at->begin, at->end,
		l->attr);
}

int
tirc_dnnl_convolution(struct tirc_dnnl_region *r, int x, int w, int bias,
		      dnnl_data_type_t element, int ndims,
		      const dnnl_dims_t dims, const dnnl_dims_t strides,
		      const dnnl_dims_t gaps, const dnnl_dims_t begin,
		      const dnnl_dims_t end)
{
	const struct shape y = tirc_dnnl_shape(ndims, element, dims);
	const struct window at = { strides, gaps, begin, end };
	struct layer l = { 0 };

	if (r->status == dnnl_success) {
		l.attr = tirc_dnnl_attr(r, true, element, ndims);
		tirc_dnnl_ok(r, describe_convolution(r, &l,
						     dnnl_convolution_direct, x,
						     w, bias, &y, &at));
	}
	return weighted_step(r, &l, x, w, bias);
}

/* Does the library have Winograd's algorithm for this convolution? */
static bool
can_tile(struct tirc_dnnl_region *r, int x, int w, int bias,
	 const struct shape *y, const struct window *at)
{
	struct layer l = { 0 };
	dnnl_status_t status;

	r->by_tiles = true;
	status = describe_convolution(r, &l, dnnl_convolution_winograd, x, w,
				      bias, y, at);
	r->by_tiles = false;
	tirc_dnnl_layer_free(&l);
	return status == dnnl_success;
}

int
tirc_dnnl_convolution_3x3(struct tirc_dnnl_region *r, int x, int w, int bias,
			  dnnl_data_type_t element, int ndims,
			  const dnnl_dims_t dims, const dnnl_dims_t begin,
			  const dnnl_dims_t end)
{
	const struct shape y = tirc_dnnl_shape(ndims, element, dims);
	const dnnl_dims_t strides = { 1, 1 }, gaps = { 0, 0 };
	const struct window at = { strides, gaps, begin, end };
	struct layer l = { 0 };

	if (r->status != dnnl_success) {
		return 0;
	}
	if (r->by_tiles) {
		l.attr = tirc_dnnl_attr(r, true, element, ndims);
		if (describe_convolution(r, &l, dnnl_convolution_winograd, x, w,
					 bias, &y, &at) == dnnl_success) {
			r->n_tiled++;
			return weighted_step(r, &l, x, w, bias);
		}
		tirc_dnnl_layer_free(&l);
	} else if (!r->can_tile) {
		r->can_tile = can_tile(r, x, w, bias, &y, &at);
	}
	return tirc_dnnl_convolution(r, x, w, bias, element, ndims, dims,
				     strides, gaps, begin, end);
}

int
tirc_dnnl_deconvolution(struct tirc_dnnl_region *r, int x, int w, int bias,
			dnnl_data_type_t element, int ndims,
			const dnnl_dims_t dims, const dnnl_dims_t strides,
			const dnnl_dims_t gaps, const dnnl_dims_t begin,
			const dnnl_dims_t end)
{
	struct layer l = { 0 };
	dnnl_status_t status;

	if (start_weighted(r, &l, x, w, element, ndims, dims)) {
		status = dnnl_deconvolution_forward_primitive_desc_create(
			&l.description, r->engine, dnnl_forward_inference,
			dnnl_deconvolution_direct, tirc_dnnl_md(&l.x),
			tirc_dnnl_md(&l.w), md_or_null(r, bias),
			tirc_dnnl_md(&l.y), strides, gaps, begin, end, l.attr);
		tirc_dnnl_ok(r, status);
	}
	return weighted_step(r, &l, x, w, bias);
}

/* -- products -- */

int
tirc_dnnl_inner_product(struct tirc_dnnl_region *r, int x, int w, int bias,
			dnnl_data_type_t element, int ndims,
			const dnnl_dims_t dims)
{
	struct layer l = { 0 };

	if (start_weighted(r, &l, x, w, element, ndims, dims)) {
		tirc_dnnl_ok(r,
			     dnnl_inner_product_forward_primitive_desc_create(
				     &l.description, r->engine,
				     dnnl_forward_inference, tirc_dnnl_md(&l.x),
				     tirc_dnnl_md(&l.w), md_or_null(r, bias),
				     tirc_dnnl_md(&l.y), l.attr));
	}
	return weighted_step(r, &l, x, w, bias);
}

int
tirc_dnnl_matmul(struct tirc_dnnl_region *r, int a, int b, int bias,
		 dnnl_data_type_t element, int ndims, const dnnl_dims_t dims)
{
	const struct shape y = tirc_dnnl_shape(ndims, element, dims);
	struct layer l = { 0 };

	a = tirc_dnnl_raised(r, a, ndims);
	b = tirc_dnnl_raised(r, b, ndims);
	bias = tirc_dnnl_raised(r, bias, ndims);
	if (r->status != dnnl_success) {
		return 0;
	}
	l.attr = tirc_dnnl_attr(r, true, element, ndims);
	any_of(r, &l.w, b);
	tirc_dnnl_dense(r, &l.y, &y);
	if (r->status == dnnl_success) {
		tirc_dnnl_ok(r, dnnl_matmul_primitive_desc_create(
					&l.description, r->engine,
					tirc_dnnl_md_of(r, a),
					r->values[b].is_fixed
						? tirc_dnnl_md(&l.w)
						: tirc_dnnl_md_of(r, b),
					md_or_null(r, bias), tirc_dnnl_md(&l.y),
					l.attr));
	}
	return weighted_step(r, &l, a, b, bias);
}

/* -- pooling, resampling, reduction -- */

int
tirc_dnnl_pooling(struct tirc_dnnl_region *r, dnnl_alg_kind_t kind, int x,
		  int ndims, const dnnl_dims_t dims, const dnnl_dim_t *kernel,
		  const dnnl_dims_t strides, const dnnl_dims_t gaps,
		  const dnnl_dims_t begin, const dnnl_dims_t end)
{
	tirc_dnnl_layout channels_last;
	struct layer l = { 0 };
	struct shape xs;

	if (r->status != dnnl_success) {
		return 0;
	}
	xs = tirc_dnnl_value_shape(r, x);
	if (xs.element == dnnl_s8 || xs.element == dnnl_u8) {
		tirc_dnnl_channels_last(r, &channels_last, &xs);
		x = tirc_dnnl_as_layout(r, x, &channels_last);
	}
	if (start_from(r, &l, x, ndims, dims)) {
		tirc_dnnl_ok(r, dnnl_pooling_forward_primitive_desc_create(
					&l.description, r->engine,
					dnnl_forward_inference, kind,
					tirc_dnnl_md_of(r, x),
					tirc_dnnl_md(&l.y), strides,
					kernel != NULL ? kernel : xs.dims + 2,
					gaps, begin, end, l.attr));
	}
	return unary_step(r, &l, x);
}

int
tirc_dnnl_resampling(struct tirc_dnnl_region *r, dnnl_alg_kind_t kind, int x,
		     int ndims, const dnnl_dims_t dims)
{
	struct layer l = { 0 };

	if (start_from(r, &l, x, ndims, dims)) {
		tirc_dnnl_ok(r, dnnl_resampling_forward_primitive_desc_create(
					&l.description, r->engine,
					dnnl_forward_inference, kind, NULL,
					tirc_dnnl_md_of(r, x),
					tirc_dnnl_md(&l.y), l.attr));
	}
	return unary_step(r, &l, x);
}

int
tirc_dnnl_reduction(struct tirc_dnnl_region *r, dnnl_alg_kind_t kind, int x,
		    int ndims, const dnnl_dims_t dims)
{
	struct layer l = { 0 };

	if (start_from(r, &l, x, ndims, dims)) {
		tirc_dnnl_ok(r,
			     dnnl_reduction_primitive_desc_create(
				     &l.description, r->engine, kind,
				     tirc_dnnl_md_of(r, x), tirc_dnnl_md(&l.y),
				     0.0f, 0.0f, l.attr));
	}
	return unary_step(r, &l, x);
}

/* -- normalizations and functions: the result has x's layout -- */

int
tirc_dnnl_softmax(struct tirc_dnnl_region *r, dnnl_alg_kind_t kind, int x,
		  int axis)
{
	struct layer l = { 0 };
	const_dnnl_memory_desc_t md = start_like(r, &l, x);

	if (md != NULL) {
		if (axis < 0) {
			axis += tirc_dnnl_value_shape(r, x).ndims;
		}
		tirc_dnnl_ok(r, dnnl_softmax_forward_primitive_desc_create(
					&l.description, r->engine,
					dnnl_forward_inference, kind, md, md,
					axis, l.attr));
	}
	return unary_step(r, &l, x);
}

int
tirc_dnnl_layer_normalization(struct tirc_dnnl_region *r, int x, int scale,
			      int shift, float epsilon)
{
	const unsigned flags = dnnl_use_scale |
			       (shift < 0 ? 0u : (unsigned)dnnl_use_shift);
	struct tirc_dnnl_use uses[] = { { DNNL_ARG_SRC,
					  tirc_dnnl_row_major(r, x) },
					{ DNNL_ARG_SCALE, scale },
					{ DNNL_ARG_SHIFT, shift } };
	struct layer l = { 0 };
	const_dnnl_memory_desc_t md = start_like(r, &l, uses[0].value);
	struct shape statistics;

	if (md != NULL) {
		tirc_dnnl_shape_of(md, &statistics);
		statistics.element = dnnl_f32;
		statistics.ndims--;
		tirc_dnnl_dense(r, &l.w, &statistics);
	}
	if (r->status == dnnl_success) {
		tirc_dnnl_ok(
			r,
			dnnl_layer_normalization_forward_primitive_desc_create(
				&l.description, r->engine,
				dnnl_forward_inference, md, md,
				tirc_dnnl_md(&l.w), epsilon, flags, l.attr));
	}
	return tirc_dnnl_step(r, &l, uses, 3);
}

int
tirc_dnnl_batch_normalization(struct tirc_dnnl_region *r, int x, int scale,
			      int shift, int mean, int variance, float epsilon)
{
	const unsigned flags = dnnl_use_global_stats | dnnl_use_scale |
			       dnnl_use_shift;
	struct tirc_dnnl_use uses[] = { { DNNL_ARG_SRC, x },
					{ DNNL_ARG_SCALE, scale },
					{ DNNL_ARG_SHIFT, shift },
					{ DNNL_ARG_MEAN, mean },
					{ DNNL_ARG_VARIANCE, variance } };
	struct layer l = { 0 };
	const_dnnl_memory_desc_t md = start_like(r, &l, x);

	if (md != NULL) {
		tirc_dnnl_ok(
			r,
			dnnl_batch_normalization_forward_primitive_desc_create(
				&l.description, r->engine,
				dnnl_forward_inference, md, md, epsilon, flags,
				l.attr));
	}
	return tirc_dnnl_step(r, &l, uses, 5);
}

int
tirc_dnnl_lrn(struct tirc_dnnl_region *r, int x, dnnl_dim_t size, float alpha,
	      float beta, float k)
{
	struct layer l = { 0 };
	const_dnnl_memory_desc_t md = start_like(r, &l, x);

	if (md != NULL) {
		tirc_dnnl_ok(r, dnnl_lrn_forward_primitive_desc_create(
					&l.description, r->engine,
					dnnl_forward_inference,
					dnnl_lrn_across_channels, md, md, size,
					alpha, beta, k, l.attr));
	}
	return unary_step(r, &l, x);
}

int
tirc_dnnl_eltwise(struct tirc_dnnl_region *r, dnnl_alg_kind_t kind, int x,
		  float alpha, float beta)
{
	struct layer l = { 0 };
	const_dnnl_memory_desc_t md = start_like(r, &l, x);

	if (md != NULL) {
		tirc_dnnl_ok(r, dnnl_eltwise_forward_primitive_desc_create(
					&l.description, r->engine,
					dnnl_forward_inference, kind, md, md,
					alpha, beta, l.attr));
	}
	return unary_step(r, &l, x);
}

/* -- binary operations, concatenation -- */

/* A copy of b in the layout of x, if b has the shape y of the result; else b
 * itself. */
static int
beside(struct tirc_dnnl_region *r, int x, int b, const struct shape *y)
{
	struct shape bs;

	if (r->status != dnnl_success) {
		return b;
	}
	bs = tirc_dnnl_value_shape(r, b);
	return memcmp(bs.dims, y->dims, sizeof bs.dims) != 0
		       ? b
		       : tirc_dnnl_as(r, b, tirc_dnnl_md_of(r, x));
}

int
tirc_dnnl_binary(struct tirc_dnnl_region *r, dnnl_alg_kind_t kind, int x, int b,
		 dnnl_data_type_t element, int ndims, const dnnl_dims_t dims)
{
	const struct shape y = tirc_dnnl_shape(ndims, element, dims);
	struct tirc_dnnl_use uses[] = {
		{ DNNL_ARG_SRC_0, tirc_dnnl_raised(r, x, ndims) },
		{ DNNL_ARG_SRC_1, tirc_dnnl_raised(r, b, ndims) }
	};
	struct layer l = { 0 };

	uses[1].value = beside(r, uses[0].value, uses[1].value, &y);
	if (start(r, &l, &y)) {
		tirc_dnnl_ok(r, dnnl_binary_primitive_desc_create(
					&l.description, r->engine, kind,
					tirc_dnnl_md_of(r, uses[0].value),
					tirc_dnnl_md_of(r, uses[1].value),
					tirc_dnnl_md(&l.y), l.attr));
	}
	return tirc_dnnl_step(r, &l, uses, 2);
}

int
tirc_dnnl_concatenation(struct tirc_dnnl_region *r, int axis, int n,
			struct tirc_dnnl_use *uses, tirc_dnnl_layout *layouts,
			int ndims, const dnnl_dims_t dims)
{
	struct layer l = { 0 };

	if (r->status != dnnl_success) {
		return 0;
	}
	for (int i = 0; i < n; i++) {
		uses[i].argument = DNNL_ARG_MULTIPLE_SRC + i;
		list_layout(&layouts[i], tirc_dnnl_md_of(r, uses[i].value));
	}
	if (start_from(r, &l, uses[0].value, ndims, dims)) {
		tirc_dnnl_ok(r, concatenation_create(&l.description, r->engine,
						     tirc_dnnl_md(&l.y), n,
						     axis, layouts, l.attr));
	}
	return tirc_dnnl_step(r, &l, uses, n);
}
