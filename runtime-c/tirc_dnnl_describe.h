/* tirc_dnnl_describe.h, written by tirc beside models that use it.
 * SPDX-License-Identifier: MIT-0
 *
 * Functions that describe a region of tirc_dnnl.h. Each adds a value and
 * returns its index, or adds a post-operation to the next primitive. Dimensions
 * and kinds of algorithms are oneDNN's; -1 stands for a bias or a shift that
 * the primitive does not have. The first call that fails stores its status in
 * the region, and later calls do nothing.
 *
 *	const int x = tirc_dnnl_input(r, 0, dnnl_f32, 2,
 *				      (dnnl_dims_t){ 1, 64 });
 *	const int w = tirc_dnnl_constant(r, weights->w, dnnl_f32, 2,
 *					 (dnnl_dims_t){ 10, 64 });
 *	int y;
 *
 *	tirc_dnnl_then_eltwise(r, dnnl_eltwise_relu, 0.0f, 0.0f);
 *	y = tirc_dnnl_inner_product(r, x, w, -1, dnnl_f32, 2,
 *				    (dnnl_dims_t){ 1, 10 });
 *	tirc_dnnl_output(r, y, 0);
 *
 * Where a primitive wants an operand in another layout, the operand is copied:
 * constants by tirc_dnnl_make, other values by a step of each run. Primitives
 * that want the same layout share the copy. */
#ifndef TIRC_DNNL_DESCRIBE_H
#define TIRC_DNNL_DESCRIBE_H

#include <oneapi/dnnl/dnnl.h>
#include <stdint.h>
#include <string.h>

#include "tirc_dnnl.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The layout of a tensor in memory: oneDNN's memory descriptor, a structure in
 * version 2 and a pointer in version 3. */
typedef dnnl_memory_desc_t tirc_dnnl_layout;

/* The quantization of a tensor: its number q stands for factor * (q - zero). */
struct tirc_dnnl_scale {
	float factor;
	int zero;
};

/* -- arguments, constants, results -- */

/* Adds the argument that is inputs[input] of tirc_dnnl_run; returns the index
 * of the value. */
int tirc_dnnl_input(struct tirc_dnnl_region *r, int input,
		    dnnl_data_type_t element, int ndims,
		    const dnnl_dims_t dims);
/* Adds a dense constant, which the caller keeps until tirc_dnnl_free; returns
 * the index of the value. */
int tirc_dnnl_constant(struct tirc_dnnl_region *r, const void *constant,
		       dnnl_data_type_t element, int ndims,
		       const dnnl_dims_t dims);
/* Adds a value of rank ndims that holds n factors, converted to floats, along
 * its axis `axis` (-1: the last axis); n may be 1. Returns its index. */
int tirc_dnnl_factors(struct tirc_dnnl_region *r, const double *constant,
		      dnnl_dim_t n, int ndims, int axis);
/* Adds a value of rank ndims that holds n biases along its last axis. To each
 * bias it adds the zero point of the result (zero) divided by the factor by
 * which the sum is multiplied. Returns its index. */
int tirc_dnnl_biases(struct tirc_dnnl_region *r, const int32_t *constant,
		     dnnl_dim_t n, int ndims, int factors, int zero);
/* Makes each run write the value v to outputs[output] of tirc_dnnl_run. */
void tirc_dnnl_output(struct tirc_dnnl_region *r, int v, int output);

/* -- post-operations of the next primitive, in order -- */

/* Applies a function of oneDNN to each element of the result. */
void tirc_dnnl_then_eltwise(struct tirc_dnnl_region *r, dnnl_alg_kind_t kind,
			    float alpha, float beta);
/* Adds a post-operation: combines the result, by the operation `kind`, with the
 * value `operand`, which has the same rank. */
void tirc_dnnl_then_binary(struct tirc_dnnl_region *r, dnnl_alg_kind_t kind,
			   int operand);
/* Combines the result, of rank ndims, with the value `operand`, whose rank is
 * ndims or lower. */
void tirc_dnnl_then_combine(struct tirc_dnnl_region *r, dnnl_alg_kind_t kind,
			    int operand, int ndims);
/* Adds a post-operation: adds the value `operand`, which has the same
 * dimensions, multiplied by `factor`, to the result. in_place: no later step
 * reads the operand, so that its memory can hold the result. */
void tirc_dnnl_then_add(struct tirc_dnnl_region *r, float factor, int operand,
			bool in_place);
/* Requantizes the sums of a product of 8-bit integers: multiplies each sum by
 * its factor, and clips the products to low..high and to the range of the
 * element type. Fails with dnnl_unimplemented on processors without dot
 * products of 8-bit integers. */
void tirc_dnnl_then_requantize(struct tirc_dnnl_region *r,
			       dnnl_data_type_t element, int factors, int low,
			       int high);
/* Adds post-operations that clip the result to the range of the element type,
 * round it, and dequantize it by x. */
void tirc_dnnl_then_restore(struct tirc_dnnl_region *r,
			    dnnl_data_type_t element, struct tirc_dnnl_scale x);
/* Quantizes the result, of rank ndims. */
void tirc_dnnl_then_quantize(struct tirc_dnnl_region *r, int ndims,
			     struct tirc_dnnl_scale y);
/* Clips the result to the type and rounds it; adds another quantized value (b)
 * to the result (a); applies Relu if relu is true; quantizes the sum (y). */
void tirc_dnnl_then_add_stored(struct tirc_dnnl_region *r,
			       dnnl_data_type_t element, int operand,
			       bool in_place, struct tirc_dnnl_scale a,
			       struct tirc_dnnl_scale b,
			       struct tirc_dnnl_scale y, bool relu);

/* -- views of a value: the same elements with other dimensions; each function
 * returns the index of the view -- */

/* With other dimensions. */
int tirc_dnnl_view(struct tirc_dnnl_region *r, int x, int ndims,
		   const dnnl_dims_t dims);
/* A view of v of rank ndims: dimensions of 1 come before those of v. */
int tirc_dnnl_raised(struct tirc_dnnl_region *r, int v, int ndims);
/* A view with x's dimensions in another order: its dimension i is x's dimension
 * order[i]. */
int tirc_dnnl_transposed(struct tirc_dnnl_region *r, int x, const int *order);
/* A view with dimensions i and j exchanged. */
int tirc_dnnl_swapped(struct tirc_dnnl_region *r, int v, int i, int j);
/* Weights of tirc_dnnl_inner_product from a constant matrix w: each row of w
 * (each column if by_columns is set) has as many elements as x has for one
 * index of its first dimension. */
int tirc_dnnl_rows(struct tirc_dnnl_region *r, int w, bool by_columns, int x);

/* -- primitives; element, ndims and dims describe the result, whose index is
 * returned -- */

/* Adds a convolution of x and w, with bias; gaps: dilations minus 1. begin,
 * end: the padding. */
int tirc_dnnl_convolution(struct tirc_dnnl_region *r, int x, int w, int bias,
			  dnnl_data_type_t element, int ndims,
			  const dnnl_dims_t dims, const dnnl_dims_t strides,
			  const dnnl_dims_t gaps, const dnnl_dims_t begin,
			  const dnnl_dims_t end);
/* Adds a convolution as tirc_dnnl_convolution does, for a kernel of 3x3 with
 * strides and dilations of 1. The convolution uses Winograd's algorithm if
 * oneDNN has it and the region does not become slower. */
int tirc_dnnl_convolution_3x3(struct tirc_dnnl_region *r, int x, int w,
			      int bias, dnnl_data_type_t element, int ndims,
			      const dnnl_dims_t dims, const dnnl_dims_t begin,
			      const dnnl_dims_t end);
/* Adds a convolution of 8-bit integers with biases of tirc_dnnl_biases;
 * `outside` is the data's zero point, with which the padding is filled. */
int tirc_dnnl_padded_convolution(struct tirc_dnnl_region *r, int x, int outside,
				 int w, int bias, dnnl_data_type_t element,
				 int ndims, const dnnl_dims_t dims,
				 const dnnl_dims_t strides,
				 const dnnl_dims_t gaps,
				 const dnnl_dims_t begin,
				 const dnnl_dims_t end);
/* Adds a transposed convolution; w has output channels before input
 * channels. */
int tirc_dnnl_deconvolution(struct tirc_dnnl_region *r, int x, int w, int bias,
			    dnnl_data_type_t element, int ndims,
			    const dnnl_dims_t dims, const dnnl_dims_t strides,
			    const dnnl_dims_t gaps, const dnnl_dims_t begin,
			    const dnnl_dims_t end);
/* Adds to the region the product of x and the transpose of w, summed over all
 * dimensions but the first. */
int tirc_dnnl_inner_product(struct tirc_dnnl_region *r, int x, int w, int bias,
			    dnnl_data_type_t element, int ndims,
			    const dnnl_dims_t dims);
/* Adds the matrix product of a and b, plus a bias. */
int tirc_dnnl_matmul(struct tirc_dnnl_region *r, int a, int b, int bias,
		     dnnl_data_type_t element, int ndims,
		     const dnnl_dims_t dims);
/* Adds a pooling of x of the given kind; kernel: its size, NULL for global
 * pooling. */
int tirc_dnnl_pooling(struct tirc_dnnl_region *r, dnnl_alg_kind_t kind, int x,
		      int ndims, const dnnl_dims_t dims,
		      const dnnl_dim_t *kernel, const dnnl_dims_t strides,
		      const dnnl_dims_t gaps, const dnnl_dims_t begin,
		      const dnnl_dims_t end);
/* Adds a softmax of x along the axis, counted from the end if it is
 * negative. */
int tirc_dnnl_softmax(struct tirc_dnnl_region *r, dnnl_alg_kind_t kind, int x,
		      int axis);
/* Over the last dimension. */
int tirc_dnnl_layer_normalization(struct tirc_dnnl_region *r, int x, int scale,
				  int shift, float epsilon);
/* For each channel. */
int tirc_dnnl_batch_normalization(struct tirc_dnnl_region *r, int x, int scale,
				  int shift, int mean, int variance,
				  float epsilon);
/* Across channels. */
int tirc_dnnl_lrn(struct tirc_dnnl_region *r, int x, dnnl_dim_t size,
		  float alpha, float beta, float k);
int tirc_dnnl_resampling(struct tirc_dnnl_region *r, dnnl_alg_kind_t kind,
			 int x, int ndims, const dnnl_dims_t dims);
/* Adds a reduction of x over the dimensions that are 1 in dims. */
int tirc_dnnl_reduction(struct tirc_dnnl_region *r, dnnl_alg_kind_t kind, int x,
			int ndims, const dnnl_dims_t dims);
int tirc_dnnl_eltwise(struct tirc_dnnl_region *r, dnnl_alg_kind_t kind, int x,
		      float alpha, float beta);
/* Adds an operation on x, which has the result's shape, and b, whose dimensions
 * of extent 1 are broadcast to that shape. */
int tirc_dnnl_binary(struct tirc_dnnl_region *r, dnnl_alg_kind_t kind, int x,
		     int b, dnnl_data_type_t element, int ndims,
		     const dnnl_dims_t dims);
/* Adds a concatenation along the axis. uses: the n operands; layouts: room for
 * n layouts; both are overwritten. */
int tirc_dnnl_concatenation(struct tirc_dnnl_region *r, int axis, int n,
			    struct tirc_dnnl_use *uses,
			    tirc_dnnl_layout *layouts, int ndims,
			    const dnnl_dims_t dims);
/* v, dequantized. */
int tirc_dnnl_restored(struct tirc_dnnl_region *r, int v,
		       struct tirc_dnnl_scale x);
/* v, quantized. */
int tirc_dnnl_stored(struct tirc_dnnl_region *r, int v,
		     dnnl_data_type_t element, struct tirc_dnnl_scale y);

#ifdef __cplusplus
}
#endif

#endif
