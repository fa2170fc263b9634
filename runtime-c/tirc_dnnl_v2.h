/* tirc_dnnl_v2.h, written by tirc beside models that use it.
 * SPDX-License-Identifier: MIT-0
 *
 * Version 3's functions that describe primitives, in version 2's words, which
 * have a structure for each. For tirc_dnnl_layers.c. */
#ifndef TIRC_DNNL_V2_H
#define TIRC_DNNL_V2_H

#include "tirc_dnnl_parts.h"

#if DNNL_VERSION_MAJOR < 3

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
	dnnl_status_t status =
		dnnl_dilated_convolution_forward_desc_init(&d, prop, kind, x, w,
							   bias, y, strides,
							   gaps, begin, end);

	return status != dnnl_success
		       ? status
		       : dnnl_primitive_desc_create(made, &d, attr, engine,
						    NULL);
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
	dnnl_status_t status =
		dnnl_dilated_deconvolution_forward_desc_init(&d, prop, kind, x,
							     w, bias, y,
							     strides, gaps,
							     begin, end);

	return status != dnnl_success
		       ? status
		       : dnnl_primitive_desc_create(made, &d, attr, engine,
						    NULL);
}

static dnnl_status_t
dnnl_inner_product_forward_primitive_desc_create(
	dnnl_primitive_desc_t *made, dnnl_engine_t engine,
	dnnl_prop_kind_t prop, const_dnnl_memory_desc_t x,
	const_dnnl_memory_desc_t w, const_dnnl_memory_desc_t bias,
	const_dnnl_memory_desc_t y, const_dnnl_primitive_attr_t attr)
{
	dnnl_inner_product_desc_t d;
	dnnl_status_t status = dnnl_inner_product_forward_desc_init(&d, prop, x,
								    w, bias, y);

	return status != dnnl_success
		       ? status
		       : dnnl_primitive_desc_create(made, &d, attr, engine,
						    NULL);
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
	dnnl_status_t status = dnnl_matmul_desc_init(&d, x, w, bias, y);

	return status != dnnl_success
		       ? status
		       : dnnl_primitive_desc_create(made, &d, attr, engine,
						    NULL);
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
	dnnl_status_t status = dnnl_pooling_v2_forward_desc_init(&d, prop, kind,
								 x, y, strides,
								 kernel, gaps,
								 begin, end);

	return status != dnnl_success
		       ? status
		       : dnnl_primitive_desc_create(made, &d, attr, engine,
						    NULL);
}

static dnnl_status_t
dnnl_softmax_forward_primitive_desc_create(
	dnnl_primitive_desc_t *made, dnnl_engine_t engine,
	dnnl_prop_kind_t prop, dnnl_alg_kind_t kind, const_dnnl_memory_desc_t x,
	const_dnnl_memory_desc_t y, int axis, const_dnnl_primitive_attr_t attr)
{
	dnnl_softmax_v2_desc_t d;
	dnnl_status_t status = dnnl_softmax_v2_forward_desc_init(&d, prop, kind,
								 x, y, axis);

	return status != dnnl_success
		       ? status
		       : dnnl_primitive_desc_create(made, &d, attr, engine,
						    NULL);
}

static dnnl_status_t
dnnl_layer_normalization_forward_primitive_desc_create(
	dnnl_primitive_desc_t *made, dnnl_engine_t engine,
	dnnl_prop_kind_t prop, const_dnnl_memory_desc_t x,
	const_dnnl_memory_desc_t y, const_dnnl_memory_desc_t statistics,
	float epsilon, unsigned flags, const_dnnl_primitive_attr_t attr)
{
	dnnl_layer_normalization_desc_t d;
	dnnl_status_t status =
		dnnl_layer_normalization_forward_desc_init(&d, prop, x,
							   statistics, epsilon,
							   flags);

	(void)y;
	return status != dnnl_success
		       ? status
		       : dnnl_primitive_desc_create(made, &d, attr, engine,
						    NULL);
}

static dnnl_status_t
dnnl_batch_normalization_forward_primitive_desc_create(
	dnnl_primitive_desc_t *made, dnnl_engine_t engine,
	dnnl_prop_kind_t prop, const_dnnl_memory_desc_t x,
	const_dnnl_memory_desc_t y, float epsilon, unsigned flags,
	const_dnnl_primitive_attr_t attr)
{
	dnnl_batch_normalization_desc_t d;
	dnnl_status_t status =
		dnnl_batch_normalization_forward_desc_init(&d, prop, x, epsilon,
							   flags);

	(void)y;
	return status != dnnl_success
		       ? status
		       : dnnl_primitive_desc_create(made, &d, attr, engine,
						    NULL);
}

static dnnl_status_t
dnnl_lrn_forward_primitive_desc_create(
	dnnl_primitive_desc_t *made, dnnl_engine_t engine,
	dnnl_prop_kind_t prop, dnnl_alg_kind_t kind, const_dnnl_memory_desc_t x,
	const_dnnl_memory_desc_t y, dnnl_dim_t size, float alpha, float beta,
	float k, const_dnnl_primitive_attr_t attr)
{
	dnnl_lrn_desc_t d;
	dnnl_status_t status = dnnl_lrn_forward_desc_init(&d, prop, kind, x,
							  size, alpha, beta, k);

	(void)y;
	return status != dnnl_success
		       ? status
		       : dnnl_primitive_desc_create(made, &d, attr, engine,
						    NULL);
}

static dnnl_status_t
dnnl_resampling_forward_primitive_desc_create(
	dnnl_primitive_desc_t *made, dnnl_engine_t engine,
	dnnl_prop_kind_t prop, dnnl_alg_kind_t kind, const float *factors,
	const_dnnl_memory_desc_t x, const_dnnl_memory_desc_t y,
	const_dnnl_primitive_attr_t attr)
{
	dnnl_resampling_desc_t d;
	dnnl_status_t status = dnnl_resampling_forward_desc_init(&d, prop, kind,
								 factors, x, y);

	return status != dnnl_success
		       ? status
		       : dnnl_primitive_desc_create(made, &d, attr, engine,
						    NULL);
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
	dnnl_status_t status = dnnl_binary_desc_init(&d, kind, a, b, y);

	return status != dnnl_success
		       ? status
		       : dnnl_primitive_desc_create(made, &d, attr, engine,
						    NULL);
}

static dnnl_status_t
dnnl_eltwise_forward_primitive_desc_create(
	dnnl_primitive_desc_t *made, dnnl_engine_t engine,
	dnnl_prop_kind_t prop, dnnl_alg_kind_t kind, const_dnnl_memory_desc_t x,
	const_dnnl_memory_desc_t y, float alpha, float beta,
	const_dnnl_primitive_attr_t attr)
{
	dnnl_eltwise_desc_t d;
	dnnl_status_t status = dnnl_eltwise_forward_desc_init(&d, prop, kind, x,
							      alpha, beta);

	(void)y;
	return status != dnnl_success
		       ? status
		       : dnnl_primitive_desc_create(made, &d, attr, engine,
						    NULL);
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
	dnnl_status_t status = dnnl_reduction_desc_init(&d, kind, x, y, p,
							epsilon);

	return status != dnnl_success
		       ? status
		       : dnnl_primitive_desc_create(made, &d, attr, engine,
						    NULL);
}

#endif

#endif
