/* tirc_dnnl_v2.h, written by tirc beside models that use it.
 * SPDX-License-Identifier: MIT-0
 *
 * oneDNN 3's functions that create primitive descriptors, written for oneDNN 2.
 * Version 2 has a structure for each kind of primitive, an operation
 * descriptor, which must be filled first. Included by tirc_dnnl_layers.c. */
#ifndef TIRC_DNNL_V2_H
#define TIRC_DNNL_V2_H

#include "tirc_dnnl_parts.h"

#if DNNL_VERSION_MAJOR < 3

/* Creates a primitive descriptor from the operation descriptor `operation`, if
 * `filled`, the status of the function that filled in the operation descriptor,
 * is success; else returns `filled`. */
static dnnl_status_t
from_operation(dnnl_status_t filled, const void *operation,
	       dnnl_primitive_desc_t *made, dnnl_engine_t engine,
	       const_dnnl_primitive_attr_t attr)
{
	return filled != dnnl_success
		       ? filled
		       : dnnl_primitive_desc_create(made, operation, attr,
						    engine, NULL);
}

static dnnl_status_t
dnnl_convolution_forward_primitive_desc_create(
	dnnl_primitive_desc_t *made, dnnl_engine_t engine,
	dnnl_prop_kind_t prop, dnnl_alg_kind_t kind, const_dnnl_memory_desc_t x,
	const_dnnl_memory_desc_t w, const_dnnl_memory_desc_t bias,
	const_dnnl_memory_desc_t y, const dnnl_dims_t strides,
	const dnnl_dims_t gaps, const dnnl_dims_t begin, const dnnl_dims_t end,
	const_dnnl_primitive_attr_t attr)
{
	dnnl_convolution_desc_t d;
	const dnnl_status_t filled =
		dnnl_dilated_convolution_forward_desc_init(&d, prop, kind, x, w,
							   bias, y, strides,
							   gaps, begin, end);

	return from_operation(filled, &d, made, engine, attr);
}

static dnnl_status_t
dnnl_deconvolution_forward_primitive_desc_create(
	dnnl_primitive_desc_t *made, dnnl_engine_t engine,
	dnnl_prop_kind_t prop, dnnl_alg_kind_t kind, const_dnnl_memory_desc_t x,
	const_dnnl_memory_desc_t w, const_dnnl_memory_desc_t bias,
	const_dnnl_memory_desc_t y, const dnnl_dims_t strides,
	const dnnl_dims_t gaps, const dnnl_dims_t begin, const dnnl_dims_t end,
	const_dnnl_primitive_attr_t attr)
{
	dnnl_deconvolution_desc_t d;
	const dnnl_status_t filled =
		dnnl_dilated_deconvolution_forward_desc_init(&d, prop, kind, x,
							     w, bias, y,
							     strides, gaps,
							     begin, end);

	return from_operation(filled, &d, made, engine, attr);
}

static dnnl_status_t
dnnl_inner_product_forward_primitive_desc_create(
	dnnl_primitive_desc_t *made, dnnl_engine_t engine,
	dnnl_prop_kind_t prop, const_dnnl_memory_desc_t x,
	const_dnnl_memory_desc_t w, const_dnnl_memory_desc_t bias,
	const_dnnl_memory_desc_t y, const_dnnl_primitive_attr_t attr)
{
	dnnl_inner_product_desc_t d;
	const dnnl_status_t filled =
		dnnl_inner_product_forward_desc_init(&d, prop, x, w, bias, y);

	return from_operation(filled, &d, made, engine, attr);
}

static dnnl_status_t
dnnl_matmul_primitive_desc_create(dnnl_primitive_desc_t *made,
				  dnnl_engine_t engine,
				  const_dnnl_memory_desc_t x,
				  const_dnnl_memory_desc_t w,
				  const_dnnl_memory_desc_t bias,
				  const_dnnl_memory_desc_t y,
				  const_dnnl_primitive_attr_t attr)
{
	dnnl_matmul_desc_t d;

	return from_operation(dnnl_matmul_desc_init(&d, x, w, bias, y), &d,
			      made, engine, attr);
}

static dnnl_status_t
dnnl_pooling_forward_primitive_desc_create(
	dnnl_primitive_desc_t *made, dnnl_engine_t engine,
	dnnl_prop_kind_t prop, dnnl_alg_kind_t kind, const_dnnl_memory_desc_t x,
	const_dnnl_memory_desc_t y, const dnnl_dims_t strides,
	const dnnl_dims_t kernel, const dnnl_dims_t gaps,
	const dnnl_dims_t begin, const dnnl_dims_t end,
	const_dnnl_primitive_attr_t attr)
{
	dnnl_pooling_v2_desc_t d;
	const dnnl_status_t filled =
		dnnl_pooling_v2_forward_desc_init(&d, prop, kind, x, y, strides,
						  kernel, gaps, begin, end);

	return from_operation(filled, &d, made, engine, attr);
}

static dnnl_status_t
dnnl_softmax_forward_primitive_desc_create(
	dnnl_primitive_desc_t *made, dnnl_engine_t engine,
	dnnl_prop_kind_t prop, dnnl_alg_kind_t kind, const_dnnl_memory_desc_t x,
	const_dnnl_memory_desc_t y, int axis, const_dnnl_primitive_attr_t attr)
{
	dnnl_softmax_v2_desc_t d;
	const dnnl_status_t filled = dnnl_softmax_v2_forward_desc_init(&d, prop,
								       kind, x,
								       y, axis);

	return from_operation(filled, &d, made, engine, attr);
}

static dnnl_status_t
dnnl_layer_normalization_forward_primitive_desc_create(
	dnnl_primitive_desc_t *made, dnnl_engine_t engine,
	dnnl_prop_kind_t prop, const_dnnl_memory_desc_t x,
	const_dnnl_memory_desc_t y, const_dnnl_memory_desc_t statistics,
	float epsilon, unsigned flags, const_dnnl_primitive_attr_t attr)
{
	dnnl_layer_normalization_desc_t d;
	const dnnl_status_t filled =
		dnnl_layer_normalization_forward_desc_init(&d, prop, x,
							   statistics, epsilon,
							   flags);

	(void)y;
	return from_operation(filled, &d, made, engine, attr);
}

static dnnl_status_t
dnnl_batch_normalization_forward_primitive_desc_create(
	dnnl_primitive_desc_t *made, dnnl_engine_t engine,
	dnnl_prop_kind_t prop, const_dnnl_memory_desc_t x,
	const_dnnl_memory_desc_t y, float epsilon, unsigned flags,
	const_dnnl_primitive_attr_t attr)
{
	dnnl_batch_normalization_desc_t d;
	const dnnl_status_t filled =
		dnnl_batch_normalization_forward_desc_init(&d, prop, x, epsilon,
							   flags);

	(void)y;
	return from_operation(filled, &d, made, engine, attr);
}

static dnnl_status_t
dnnl_lrn_forward_primitive_desc_create(
	dnnl_primitive_desc_t *made, dnnl_engine_t engine,
	dnnl_prop_kind_t prop, dnnl_alg_kind_t kind, const_dnnl_memory_desc_t x,
	const_dnnl_memory_desc_t y, dnnl_dim_t size, float alpha, float beta,
	float k, const_dnnl_primitive_attr_t attr)
{
	dnnl_lrn_desc_t d;
	const dnnl_status_t filled = dnnl_lrn_forward_desc_init(&d, prop, kind,
								x, size, alpha,
								beta, k);

	(void)y;
	return from_operation(filled, &d, made, engine, attr);
}

static dnnl_status_t
dnnl_resampling_forward_primitive_desc_create(
	dnnl_primitive_desc_t *made, dnnl_engine_t engine,
	dnnl_prop_kind_t prop, dnnl_alg_kind_t kind, const float *factors,
	const_dnnl_memory_desc_t x, const_dnnl_memory_desc_t y,
	const_dnnl_primitive_attr_t attr)
{
	dnnl_resampling_desc_t d;
	const dnnl_status_t filled = dnnl_resampling_forward_desc_init(&d, prop,
								       kind,
								       factors,
								       x, y);

	return from_operation(filled, &d, made, engine, attr);
}

static dnnl_status_t
dnnl_binary_primitive_desc_create(dnnl_primitive_desc_t *made,
				  dnnl_engine_t engine, dnnl_alg_kind_t kind,
				  const_dnnl_memory_desc_t a,
				  const_dnnl_memory_desc_t b,
				  const_dnnl_memory_desc_t y,
				  const_dnnl_primitive_attr_t attr)
{
	dnnl_binary_desc_t d;

	return from_operation(dnnl_binary_desc_init(&d, kind, a, b, y), &d,
			      made, engine, attr);
}

static dnnl_status_t
dnnl_eltwise_forward_primitive_desc_create(
	dnnl_primitive_desc_t *made, dnnl_engine_t engine,
	dnnl_prop_kind_t prop, dnnl_alg_kind_t kind, const_dnnl_memory_desc_t x,
	const_dnnl_memory_desc_t y, float alpha, float beta,
	const_dnnl_primitive_attr_t attr)
{
	dnnl_eltwise_desc_t d;
	const dnnl_status_t filled =
		dnnl_eltwise_forward_desc_init(&d, prop, kind, x, alpha, beta);

	(void)y;
	return from_operation(filled, &d, made, engine, attr);
}

static dnnl_status_t
dnnl_reduction_primitive_desc_create(dnnl_primitive_desc_t *made,
				     dnnl_engine_t engine, dnnl_alg_kind_t kind,
				     const_dnnl_memory_desc_t x,
				     const_dnnl_memory_desc_t y, float p,
				     float epsilon,
				     const_dnnl_primitive_attr_t attr)
{
	dnnl_reduction_desc_t d;
	const dnnl_status_t filled = dnnl_reduction_desc_init(&d, kind, x, y, p,
							      epsilon);

	return from_operation(filled, &d, made, engine, attr);
}

/* Copies a layout into the array that concatenation takes. */
static void
list_layout(tirc_dnnl_layout *to, const_dnnl_memory_desc_t md)
{
	*to = *md;
}

static dnnl_status_t
concatenation_create(dnnl_primitive_desc_t *made, dnnl_engine_t engine,
		     const_dnnl_memory_desc_t y, int n, int axis,
		     const tirc_dnnl_layout *x,
		     const_dnnl_primitive_attr_t attr)
{
	return dnnl_concat_primitive_desc_create(made, y, n, axis, x, attr,
						 engine);
}

#else

/* Copies a pointer into the array that concatenation takes. The layout still
 * belongs to its value, and must not be freed through the array. */
static void
list_layout(tirc_dnnl_layout *to, const_dnnl_memory_desc_t md)
{
	*to = (dnnl_memory_desc_t)md;
}

static dnnl_status_t
concatenation_create(dnnl_primitive_desc_t *made, dnnl_engine_t engine,
		     const_dnnl_memory_desc_t y, int n, int axis,
		     const tirc_dnnl_layout *x,
		     const_dnnl_primitive_attr_t attr)
{
	return dnnl_concat_primitive_desc_create(made, engine, y, n, axis,
						 (const const_dnnl_memory_desc_t
							  *)x,
						 attr);
}

#endif

#endif
