/* tirc_dnnl_layers.c, written by tirc beside models that use it.
 * SPDX-License-Identifier: MIT-0
 *
 * The primitives of a region: each is described with the layouts that its
 * operands have, or that the library may choose, and becomes a step. */
#include "tirc_dnnl_v2.h"

/* The library chooses how v lies. */
static void
any_of(struct tirc_dnnl_region *r, tirc_dnnl_layout *l, int v)
{
	const struct shape s = tirc_dnnl_value_shape(r, v);

	tirc_dnnl_any(r, l, &s);
}

static const_dnnl_memory_desc_t
md_or_null(const struct tirc_dnnl_region *r, int v)
{
	return v < 0 ? NULL : tirc_dnnl_md_of(r, v);
}

/* -- convolutions -- */

struct window {
	const dnnl_dim_t *strides, *gaps, *begin, *end;
};

/* What a convolution by w reads or gives: the library chooses how it lies,
 * unless all are to lie as those by tiles want them. */
static void
picture(struct tirc_dnnl_region *r, tirc_dnnl_layout *l, int w_ndims,
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
describe_convolution(struct tirc_dnnl_region *r, dnnl_alg_kind_t kind, int x,
		     int w, int bias, const struct shape *y,
		     const struct window *at, dnnl_primitive_attr_t attr,
		     dnnl_primitive_desc_t *d)
{
	const struct shape xs = tirc_dnnl_value_shape(r, x);
	const struct shape ws = tirc_dnnl_value_shape(r, w);
	tirc_dnnl_layout xl, wl, yl;
	dnnl_status_t status;

	picture(r, &xl, ws.ndims, &xs);
	tirc_dnnl_any(r, &wl, &ws);
	picture(r, &yl, ws.ndims, y);
	status = (dnnl_status_t)r->status;
	if (status == dnnl_success) {
		status = dnnl_convolution_forward_primitive_desc_create(
			d, r->engine, dnnl_forward_inference, kind,
			tirc_dnnl_md(&xl), tirc_dnnl_md(&wl),
			md_or_null(r, bias), tirc_dnnl_md(&yl), at->strides,
			at->gaps, at->begin, at->end, attr);
	}
	tirc_dnnl_layout_free(&xl);
	tirc_dnnl_layout_free(&wl);
	tirc_dnnl_layout_free(&yl);
	return status;
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
	struct tirc_dnnl_use uses[] = { { DNNL_ARG_SRC, x },
					{ DNNL_ARG_WEIGHTS, w },
					{ DNNL_ARG_BIAS, bias } };
	dnnl_primitive_desc_t d = NULL;
	dnnl_primitive_attr_t attr;

	if (r->status != dnnl_success) {
		return 0;
	}
	attr = tirc_dnnl_attr(r, true, element, ndims);
	tirc_dnnl_ok(r, describe_convolution(r, dnnl_convolution_direct, x, w,
					     bias, &y, &at, attr, &d));
	dnnl_primitive_attr_destroy(attr);
	return tirc_dnnl_step(r, d, uses, 3);
}

/* Has the library such a convolution by tiles? */
static bool
can_tile(struct tirc_dnnl_region *r, int x, int w, int bias,
	 const struct shape *y, const struct window *at)
{
	dnnl_primitive_desc_t d = NULL;
	dnnl_status_t status;

	r->by_tiles = true;
	status = describe_convolution(r, dnnl_convolution_winograd, x, w, bias,
				      y, at, NULL, &d);
	r->by_tiles = false;
	dnnl_primitive_desc_destroy(d);
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
	struct tirc_dnnl_use uses[] = { { DNNL_ARG_SRC, x },
					{ DNNL_ARG_WEIGHTS, w },
					{ DNNL_ARG_BIAS, bias } };
	dnnl_status_t status = dnnl_unimplemented;
	dnnl_primitive_desc_t d = NULL;
	dnnl_primitive_attr_t attr;

	if (r->status != dnnl_success) {
		return 0;
	}
	if (r->by_tiles) {
		attr = tirc_dnnl_attr(r, true, element, ndims);
		status = describe_convolution(r, dnnl_convolution_winograd, x,
					      w, bias, &y, &at, attr, &d);
		dnnl_primitive_attr_destroy(attr);
	} else if (!r->can_tile) {
		r->can_tile = can_tile(r, x, w, bias, &y, &at);
	}
	if (status != dnnl_success) {
		return tirc_dnnl_convolution(r, x, w, bias, element, ndims,
					     dims, strides, gaps, begin, end);
	}
	r->n_tiled++;
	return tirc_dnnl_step(r, d, uses, 3);
}

int
tirc_dnnl_deconvolution(struct tirc_dnnl_region *r, int x, int w, int bias,
			dnnl_data_type_t element, int ndims,
			const dnnl_dims_t dims, const dnnl_dims_t strides,
			const dnnl_dims_t gaps, const dnnl_dims_t begin,
			const dnnl_dims_t end)
{
	const struct shape y = tirc_dnnl_shape(ndims, element, dims);
	struct tirc_dnnl_use uses[] = { { DNNL_ARG_SRC, x },
					{ DNNL_ARG_WEIGHTS, w },
					{ DNNL_ARG_BIAS, bias } };
	tirc_dnnl_layout xl, wl, yl;
	dnnl_primitive_desc_t d = NULL;
	dnnl_primitive_attr_t attr;

	if (r->status != dnnl_success) {
		return 0;
	}
	attr = tirc_dnnl_attr(r, true, element, ndims);
	any_of(r, &xl, x);
	any_of(r, &wl, w);
	tirc_dnnl_any(r, &yl, &y);
	if (r->status == dnnl_success) {
		tirc_dnnl_ok(r,
			     dnnl_deconvolution_forward_primitive_desc_create(
				     &d, r->engine, dnnl_forward_inference,
				     dnnl_deconvolution_direct,
				     tirc_dnnl_md(&xl), tirc_dnnl_md(&wl),
				     md_or_null(r, bias), tirc_dnnl_md(&yl),
				     strides, gaps, begin, end, attr));
	}
	tirc_dnnl_layout_free(&xl);
	tirc_dnnl_layout_free(&wl);
	tirc_dnnl_layout_free(&yl);
	dnnl_primitive_attr_destroy(attr);
	return tirc_dnnl_step(r, d, uses, 3);
}

/* -- products -- */

int
tirc_dnnl_inner_product(struct tirc_dnnl_region *r, int x, int w, int bias,
			dnnl_data_type_t element, int ndims,
			const dnnl_dims_t dims)
{
	const struct shape y = tirc_dnnl_shape(ndims, element, dims);
	struct tirc_dnnl_use uses[] = { { DNNL_ARG_SRC, x },
					{ DNNL_ARG_WEIGHTS, w },
					{ DNNL_ARG_BIAS, bias } };
	tirc_dnnl_layout xl, wl, yl;
	dnnl_primitive_desc_t d = NULL;
	dnnl_primitive_attr_t attr;

	if (r->status != dnnl_success) {
		return 0;
	}
	attr = tirc_dnnl_attr(r, true, element, ndims);
	any_of(r, &xl, x);
	any_of(r, &wl, w);
	tirc_dnnl_any(r, &yl, &y);
	if (r->status == dnnl_success) {
		tirc_dnnl_ok(r,
			     dnnl_inner_product_forward_primitive_desc_create(
				     &d, r->engine, dnnl_forward_inference,
				     tirc_dnnl_md(&xl), tirc_dnnl_md(&wl),
				     md_or_null(r, bias), tirc_dnnl_md(&yl),
				     attr));
	}
	tirc_dnnl_layout_free(&xl);
	tirc_dnnl_layout_free(&wl);
	tirc_dnnl_layout_free(&yl);
	dnnl_primitive_attr_destroy(attr);
	return tirc_dnnl_step(r, d, uses, 3);
}

int
tirc_dnnl_matmul(struct tirc_dnnl_region *r, int a, int b, int bias,
		 dnnl_data_type_t element, int ndims, const dnnl_dims_t dims)
{
	const struct shape y = tirc_dnnl_shape(ndims, element, dims);
	struct tirc_dnnl_use uses[] = {
		{ DNNL_ARG_SRC, tirc_dnnl_raised(r, a, ndims) },
		{ DNNL_ARG_WEIGHTS, tirc_dnnl_raised(r, b, ndims) },
		{ DNNL_ARG_BIAS, tirc_dnnl_raised(r, bias, ndims) }
	};
	tirc_dnnl_layout bl, yl;
	dnnl_primitive_desc_t d = NULL;
	dnnl_primitive_attr_t attr;
	bool is_fixed;

	if (r->status != dnnl_success) {
		return 0;
	}
	is_fixed = r->values[uses[1].value].is_fixed;
	attr = tirc_dnnl_attr(r, true, element, ndims);
	any_of(r, &bl, uses[1].value);
	tirc_dnnl_dense(r, &yl, &y);
	if (r->status == dnnl_success) {
		tirc_dnnl_ok(r,
			     dnnl_matmul_primitive_desc_create(
				     &d, r->engine,
				     tirc_dnnl_md_of(r, uses[0].value),
				     is_fixed ? tirc_dnnl_md(&bl)
					      : tirc_dnnl_md_of(r,
								uses[1].value),
				     md_or_null(r, uses[2].value),
				     tirc_dnnl_md(&yl), attr));
	}
	tirc_dnnl_layout_free(&bl);
	tirc_dnnl_layout_free(&yl);
	dnnl_primitive_attr_destroy(attr);
	return tirc_dnnl_step(r, d, uses, 3);
}

/* -- pools -- */

int
tirc_dnnl_pooling(struct tirc_dnnl_region *r, dnnl_alg_kind_t kind, int x,
		  int ndims, const dnnl_dims_t dims, const dnnl_dim_t *kernel,
		  const dnnl_dims_t strides, const dnnl_dims_t gaps,
		  const dnnl_dims_t begin, const dnnl_dims_t end)
{
	struct tirc_dnnl_use uses[] = { { DNNL_ARG_SRC, x } };
	dnnl_primitive_desc_t d = NULL;
	dnnl_primitive_attr_t attr;
	tirc_dnnl_layout l;
	struct shape xs, y;

	if (r->status != dnnl_success) {
		return 0;
	}
	xs = tirc_dnnl_value_shape(r, x);
	y = tirc_dnnl_shape(ndims, xs.element, dims);
	if (xs.element == dnnl_s8 || xs.element == dnnl_u8) {
		tirc_dnnl_channels_last(r, &l, &xs);
		if (r->status == dnnl_success) {
			uses[0].value = tirc_dnnl_as(r, x, tirc_dnnl_md(&l));
		}
		tirc_dnnl_layout_free(&l);
	}
	attr = tirc_dnnl_attr(r, true, xs.element, xs.ndims);
	tirc_dnnl_any(r, &l, &y);
	if (r->status == dnnl_success) {
		tirc_dnnl_ok(r, dnnl_pooling_forward_primitive_desc_create(
					&d, r->engine, dnnl_forward_inference,
					kind, tirc_dnnl_md_of(r, uses[0].value),
					tirc_dnnl_md(&l), strides,
					kernel != NULL ? kernel : xs.dims + 2,
					gaps, begin, end, attr));
	}
	tirc_dnnl_layout_free(&l);
	dnnl_primitive_attr_destroy(attr);
	return tirc_dnnl_step(r, d, uses, 1);
}

int
tirc_dnnl_resampling(struct tirc_dnnl_region *r, dnnl_alg_kind_t kind, int x,
		     int ndims, const dnnl_dims_t dims)
{
	struct tirc_dnnl_use uses[] = { { DNNL_ARG_SRC, x } };
	dnnl_primitive_desc_t d = NULL;
	dnnl_primitive_attr_t attr;
	tirc_dnnl_layout l;
	struct shape y;

	if (r->status != dnnl_success) {
		return 0;
	}
	y = tirc_dnnl_shape(ndims, tirc_dnnl_value_shape(r, x).element, dims);
	attr = tirc_dnnl_attr(r, true, y.element, ndims);
	tirc_dnnl_any(r, &l, &y);
	if (r->status == dnnl_success) {
		tirc_dnnl_ok(r, dnnl_resampling_forward_primitive_desc_create(
					&d, r->engine, dnnl_forward_inference,
					kind, NULL, tirc_dnnl_md_of(r, x),
					tirc_dnnl_md(&l), attr));
	}
	tirc_dnnl_layout_free(&l);
	dnnl_primitive_attr_destroy(attr);
	return tirc_dnnl_step(r, d, uses, 1);
}

int
tirc_dnnl_reduction(struct tirc_dnnl_region *r, dnnl_alg_kind_t kind, int x,
		    int ndims, const dnnl_dims_t dims)
{
	struct tirc_dnnl_use uses[] = { { DNNL_ARG_SRC, x } };
	dnnl_primitive_desc_t d = NULL;
	dnnl_primitive_attr_t attr;
	tirc_dnnl_layout l;
	struct shape y;

	if (r->status != dnnl_success) {
		return 0;
	}
	y = tirc_dnnl_shape(ndims, tirc_dnnl_value_shape(r, x).element, dims);
	attr = tirc_dnnl_attr(r, true, y.element, ndims);
	tirc_dnnl_any(r, &l, &y);
	if (r->status == dnnl_success) {
		tirc_dnnl_ok(r,
			     dnnl_reduction_primitive_desc_create(
				     &d, r->engine, kind, tirc_dnnl_md_of(r, x),
				     tirc_dnnl_md(&l), 0.0f, 0.0f, attr));
	}
	tirc_dnnl_layout_free(&l);
	dnnl_primitive_attr_destroy(attr);
	return tirc_dnnl_step(r, d, uses, 1);
}

/* -- normalisations and functions: the result lies as x does -- */

int
tirc_dnnl_softmax(struct tirc_dnnl_region *r, dnnl_alg_kind_t kind, int x,
		  int axis)
{
	struct tirc_dnnl_use uses[] = { { DNNL_ARG_SRC, x } };
	dnnl_primitive_desc_t d = NULL;
	dnnl_primitive_attr_t attr;
	struct shape xs;

	if (r->status != dnnl_success) {
		return 0;
	}
	xs = tirc_dnnl_value_shape(r, x);
	attr = tirc_dnnl_attr(r, true, xs.element, xs.ndims);
	if (r->status == dnnl_success) {
		const_dnnl_memory_desc_t md = tirc_dnnl_md_of(r, x);

		tirc_dnnl_ok(r,
			     dnnl_softmax_forward_primitive_desc_create(
				     &d, r->engine, dnnl_forward_inference,
				     kind, md, md,
				     axis < 0 ? axis + xs.ndims : axis, attr));
	}
	dnnl_primitive_attr_destroy(attr);
	return tirc_dnnl_step(r, d, uses, 1);
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
	dnnl_primitive_desc_t d = NULL;
	dnnl_primitive_attr_t attr;
	tirc_dnnl_layout l;
	struct shape xs, statistics;

	if (r->status != dnnl_success) {
		return 0;
	}
	xs = tirc_dnnl_value_shape(r, uses[0].value);
	statistics = tirc_dnnl_shape(xs.ndims - 1, dnnl_f32, xs.dims);
	attr = tirc_dnnl_attr(r, true, xs.element, xs.ndims);
	tirc_dnnl_dense(r, &l, &statistics);
	if (r->status == dnnl_success) {
		const_dnnl_memory_desc_t md = tirc_dnnl_md_of(r, uses[0].value);

		tirc_dnnl_ok(
			r,
			dnnl_layer_normalization_forward_primitive_desc_create(
				&d, r->engine, dnnl_forward_inference, md, md,
				tirc_dnnl_md(&l), epsilon, flags, attr));
	}
	tirc_dnnl_layout_free(&l);
	dnnl_primitive_attr_destroy(attr);
	return tirc_dnnl_step(r, d, uses, 3);
}

int
tirc_dnnl_batch_normalization(struct tirc_dnnl_region *r, int x, int scale,
			      int shift, int mean, int variance, float epsilon)
{
	struct tirc_dnnl_use uses[] = { { DNNL_ARG_SRC, x },
					{ DNNL_ARG_SCALE, scale },
					{ DNNL_ARG_SHIFT, shift },
					{ DNNL_ARG_MEAN, mean },
					{ DNNL_ARG_VARIANCE, variance } };
	dnnl_primitive_desc_t d = NULL;
	dnnl_primitive_attr_t attr;
	struct shape xs;

	if (r->status != dnnl_success) {
		return 0;
	}
	xs = tirc_dnnl_value_shape(r, x);
	attr = tirc_dnnl_attr(r, true, xs.element, xs.ndims);
	if (r->status == dnnl_success) {
		const_dnnl_memory_desc_t md = tirc_dnnl_md_of(r, x);

		tirc_dnnl_ok(
			r,
			dnnl_batch_normalization_forward_primitive_desc_create(
				&d, r->engine, dnnl_forward_inference, md, md,
				epsilon,
				dnnl_use_global_stats | dnnl_use_scale |
					dnnl_use_shift,
				attr));
	}
	dnnl_primitive_attr_destroy(attr);
	return tirc_dnnl_step(r, d, uses, 5);
}

int
tirc_dnnl_lrn(struct tirc_dnnl_region *r, int x, dnnl_dim_t size, float alpha,
	      float beta, float k)
{
	struct tirc_dnnl_use uses[] = { { DNNL_ARG_SRC, x } };
	dnnl_primitive_desc_t d = NULL;
	dnnl_primitive_attr_t attr;
	struct shape xs;

	if (r->status != dnnl_success) {
		return 0;
	}
	xs = tirc_dnnl_value_shape(r, x);
	attr = tirc_dnnl_attr(r, true, xs.element, xs.ndims);
	if (r->status == dnnl_success) {
		const_dnnl_memory_desc_t md = tirc_dnnl_md_of(r, x);

		tirc_dnnl_ok(r, dnnl_lrn_forward_primitive_desc_create(
					&d, r->engine, dnnl_forward_inference,
					dnnl_lrn_across_channels, md, md, size,
					alpha, beta, k, attr));
	}
	dnnl_primitive_attr_destroy(attr);
	return tirc_dnnl_step(r, d, uses, 1);
}

int
tirc_dnnl_eltwise(struct tirc_dnnl_region *r, dnnl_alg_kind_t kind, int x,
		  float alpha, float beta)
{
	struct tirc_dnnl_use uses[] = { { DNNL_ARG_SRC, x } };
	dnnl_primitive_desc_t d = NULL;
	dnnl_primitive_attr_t attr;
	struct shape xs;

	if (r->status != dnnl_success) {
		return 0;
	}
	xs = tirc_dnnl_value_shape(r, x);
	attr = tirc_dnnl_attr(r, true, xs.element, xs.ndims);
	if (r->status == dnnl_success) {
		const_dnnl_memory_desc_t md = tirc_dnnl_md_of(r, x);

		tirc_dnnl_ok(r, dnnl_eltwise_forward_primitive_desc_create(
					&d, r->engine, dnnl_forward_inference,
					kind, md, md, alpha, beta, attr));
	}
	dnnl_primitive_attr_destroy(attr);
	return tirc_dnnl_step(r, d, uses, 1);
}

/* -- of several values -- */

/* b as x lies, if it has the result's shape. */
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
	dnnl_primitive_desc_t d = NULL;
	dnnl_primitive_attr_t attr;
	tirc_dnnl_layout l;

	uses[1].value = beside(r, uses[0].value, uses[1].value, &y);
	if (r->status != dnnl_success) {
		return 0;
	}
	attr = tirc_dnnl_attr(r, true, element, ndims);
	tirc_dnnl_any(r, &l, &y);
	if (r->status == dnnl_success) {
		tirc_dnnl_ok(r, dnnl_binary_primitive_desc_create(
					&d, r->engine, kind,
					tirc_dnnl_md_of(r, uses[0].value),
					tirc_dnnl_md_of(r, uses[1].value),
					tirc_dnnl_md(&l), attr));
	}
	tirc_dnnl_layout_free(&l);
	dnnl_primitive_attr_destroy(attr);
	return tirc_dnnl_step(r, d, uses, 2);
}

/* A list of layouts, as a function of the library takes it. */
#if DNNL_VERSION_MAJOR < 3
static void
list_layout(tirc_dnnl_layout *to, const_dnnl_memory_desc_t md)
{
	*to = *md;
}

static dnnl_status_t
describe_concatenation(const struct tirc_dnnl_region *r, int axis, int n,
		       const tirc_dnnl_layout *x, const tirc_dnnl_layout *y,
		       dnnl_primitive_attr_t attr, dnnl_primitive_desc_t *d)
{
	return dnnl_concat_primitive_desc_create(d, y, n, axis, x, attr,
						 r->engine);
}
#else
/* Still the value's: it is not freed. */
static void
list_layout(tirc_dnnl_layout *to, const_dnnl_memory_desc_t md)
{
	*to = (dnnl_memory_desc_t)md;
}

static dnnl_status_t
describe_concatenation(const struct tirc_dnnl_region *r, int axis, int n,
		       const tirc_dnnl_layout *x, const tirc_dnnl_layout *y,
		       dnnl_primitive_attr_t attr, dnnl_primitive_desc_t *d)
{
	return dnnl_concat_primitive_desc_create(d, r->engine, *y, n, axis,
						 (const const_dnnl_memory_desc_t
							  *)x,
						 attr);
}
#endif

int
tirc_dnnl_concatenation(struct tirc_dnnl_region *r, int axis, int n,
			struct tirc_dnnl_use *uses, tirc_dnnl_layout *layouts,
			int ndims, const dnnl_dims_t dims)
{
	dnnl_primitive_desc_t d = NULL;
	dnnl_primitive_attr_t attr;
	tirc_dnnl_layout l;
	struct shape y;

	if (r->status != dnnl_success) {
		return 0;
	}
	for (int i = 0; i < n; ++i) {
		uses[i].argument = DNNL_ARG_MULTIPLE_SRC + i;
		list_layout(&layouts[i], tirc_dnnl_md_of(r, uses[i].value));
	}
	y = tirc_dnnl_shape(ndims,
			    tirc_dnnl_value_shape(r, uses[0].value).element,
			    dims);
	attr = tirc_dnnl_attr(r, false, y.element, ndims);
	tirc_dnnl_any(r, &l, &y);
	if (r->status == dnnl_success) {
		tirc_dnnl_ok(r, describe_concatenation(r, axis, n, layouts, &l,
						       attr, &d));
	}
	tirc_dnnl_layout_free(&l);
	dnnl_primitive_attr_destroy(attr);
	return tirc_dnnl_step(r, d, uses, n);
}
