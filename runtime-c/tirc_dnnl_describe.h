/* tirc_dnnl_describe.h, written by tirc beside models that use it.
 * SPDX-License-Identifier: MIT-0
 *
 * What a region of tirc_dnnl.h is described by. Each function adds a value,
 * which it gives as a number, or says what the next primitive does to its
 * result. Dimensions and kinds are in oneDNN's words; -1 stands for a bias or
 * shift that is not there. A call that fails is noted in the region, and the
 * rest of the description does nothing.
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
 * Where an operand does not lie as a primitive wants it, a copy is made: once
 * if it is a constant, else by a step, once for all who want it so. */
#ifndef TIRC_DNNL_DESCRIBE_H
#define TIRC_DNNL_DESCRIBE_H

#include <oneapi/dnnl/dnnl.h>
#include <stdint.h>
#include <string.h>

#include "tirc_dnnl.h"

#ifdef __cplusplus
extern "C" {
#endif

/* How a tensor lies: a structure in version 2, a pointer in version 3. */
typedef dnnl_memory_desc_t tirc_dnnl_layout;

/* What is stored as q stands for factor * (q - zero). */
struct tirc_dnnl_scale {
	float factor;
	int zero;
};

/* -- what there is -- */

/* An argument of each run. */
int tirc_dnnl_input(struct tirc_dnnl_region *r, int input,
		    dnnl_data_type_t element, int ndims,
		    const dnnl_dims_t dims);
/* A constant that stays where it is. */
int tirc_dnnl_constant(struct tirc_dnnl_region *r, const void *constant,
		       dnnl_data_type_t element, int ndims,
		       const dnnl_dims_t dims);
/* n numbers of 64 bits in 32, along an axis of ndims (-1: the last); or one for
 * all. */
int tirc_dnnl_factors(struct tirc_dnnl_region *r, const double *constant,
		      dnnl_dim_t n, int ndims, int axis);
/* n biases along the last of ndims; with them a sum times its factor has the
 * zero point that is wanted. */
int tirc_dnnl_biases(struct tirc_dnnl_region *r, const int32_t *constant,
		     dnnl_dim_t n, int ndims, int factors, int zero);
/* v is one of the region's results. */
void tirc_dnnl_output(struct tirc_dnnl_region *r, int v, int output);

/* -- what the next primitive does to its result -- */

/* A function. */
void tirc_dnnl_then_eltwise(struct tirc_dnnl_region *r, dnnl_alg_kind_t kind,
			    float alpha, float beta);
/* It is combined with a value of the same number of dimensions. */
void tirc_dnnl_then_binary(struct tirc_dnnl_region *r, dnnl_alg_kind_t kind,
			   int operand);
/* It has ndims dimensions, and is combined with a value of as many or fewer. */
void tirc_dnnl_then_combine(struct tirc_dnnl_region *r, dnnl_alg_kind_t kind,
			    int operand, int ndims);
/* A value of the same dimensions times a factor is added, in the value's memory
 * where in_place says that nobody else wants it. */
void tirc_dnnl_then_add(struct tirc_dnnl_region *r, float factor, int operand,
			bool in_place);
/* A sum of products of bytes is brought to bytes: times factors, between bounds
 * (those of the type are kept anyway). Processors without instructions for such
 * products give dnnl_unimplemented. */
void tirc_dnnl_then_requantize(struct tirc_dnnl_region *r,
			       dnnl_data_type_t element, int factors, int low,
			       int high);
/* Stored in bytes, it is what these stand for. */
void tirc_dnnl_then_restore(struct tirc_dnnl_region *r,
			    dnnl_data_type_t element, struct tirc_dnnl_scale x);
/* It has ndims dimensions, and is stored in bytes. */
void tirc_dnnl_then_quantize(struct tirc_dnnl_region *r, int ndims,
			     struct tirc_dnnl_scale y);
/* Stored in bytes (a), it and another value (b) are added as what they stand
 * for, and stored again (y); what is below 0 is 0 with relu. */
void tirc_dnnl_then_add_stored(struct tirc_dnnl_region *r,
			       dnnl_data_type_t element, int operand,
			       bool in_place, struct tirc_dnnl_scale a,
			       struct tirc_dnnl_scale b,
			       struct tirc_dnnl_scale y, bool relu);

/* -- views: the same elements -- */

/* Counted differently. */
int tirc_dnnl_view(struct tirc_dnnl_region *r, int x, int ndims,
		   const dnnl_dims_t dims);
/* With dimensions of 1 in front, so that there are ndims. */
int tirc_dnnl_raised(struct tirc_dnnl_region *r, int v, int ndims);
/* With dimensions in another order: which of x's each is. */
int tirc_dnnl_transposed(struct tirc_dnnl_region *r, int x, const int *order);
/* With dimensions i and j exchanged. */
int tirc_dnnl_swapped(struct tirc_dnnl_region *r, int v, int i, int j);
/* Weights for tirc_dnnl_inner_product: a constant w, whose rows (or columns)
 * count what x has behind its first dimension. */
int tirc_dnnl_rows(struct tirc_dnnl_region *r, int w, bool by_columns, int x);

/* -- primitives; element, ndims and dims are the result's -- */

/* gaps: elements between those of a window, dilations less 1. begin, end: of
 * padding. */
int tirc_dnnl_convolution(struct tirc_dnnl_region *r, int x, int w, int bias,
			  dnnl_data_type_t element, int ndims,
			  const dnnl_dims_t dims, const dnnl_dims_t strides,
			  const dnnl_dims_t gaps, const dnnl_dims_t begin,
			  const dnnl_dims_t end);
/* A window of 3x3 with strides of 1 and no gaps: by tiles (Winograd's) where
 * the library has such and the region gains by it. */
int tirc_dnnl_convolution_3x3(struct tirc_dnnl_region *r, int x, int w,
			      int bias, dnnl_data_type_t element, int ndims,
			      const dnnl_dims_t dims, const dnnl_dims_t begin,
			      const dnnl_dims_t end);
/* Of bytes, with biases of tirc_dnnl_biases; in the padding is `outside`. */
int tirc_dnnl_padded_convolution(struct tirc_dnnl_region *r, int x, int outside,
				 int w, int bias, dnnl_data_type_t element,
				 int ndims, const dnnl_dims_t dims,
				 const dnnl_dims_t strides,
				 const dnnl_dims_t gaps,
				 const dnnl_dims_t begin,
				 const dnnl_dims_t end);
/* w counts outputs first, as the library does. */
int tirc_dnnl_deconvolution(struct tirc_dnnl_region *r, int x, int w, int bias,
			    dnnl_data_type_t element, int ndims,
			    const dnnl_dims_t dims, const dnnl_dims_t strides,
			    const dnnl_dims_t gaps, const dnnl_dims_t begin,
			    const dnnl_dims_t end);
/* Rows of x by rows of w, which run through all dimensions of x but the
 * first. */
int tirc_dnnl_inner_product(struct tirc_dnnl_region *r, int x, int w, int bias,
			    dnnl_data_type_t element, int ndims,
			    const dnnl_dims_t dims);
/* Rows of a by columns of b. */
int tirc_dnnl_matmul(struct tirc_dnnl_region *r, int a, int b, int bias,
		     dnnl_data_type_t element, int ndims,
		     const dnnl_dims_t dims);
/* kernel: the window; NULL is all of x. */
int tirc_dnnl_pooling(struct tirc_dnnl_region *r, dnnl_alg_kind_t kind, int x,
		      int ndims, const dnnl_dims_t dims,
		      const dnnl_dim_t *kernel, const dnnl_dims_t strides,
		      const dnnl_dims_t gaps, const dnnl_dims_t begin,
		      const dnnl_dims_t end);
/* axis: from the front, or from the back if it is negative. */
int tirc_dnnl_softmax(struct tirc_dnnl_region *r, dnnl_alg_kind_t kind, int x,
		      int axis);
/* Over the last dimension. */
int tirc_dnnl_layer_normalization(struct tirc_dnnl_region *r, int x, int scale,
				  int shift, float epsilon);
/* Of each channel. */
int tirc_dnnl_batch_normalization(struct tirc_dnnl_region *r, int x, int scale,
				  int shift, int mean, int variance,
				  float epsilon);
/* Across channels. */
int tirc_dnnl_lrn(struct tirc_dnnl_region *r, int x, dnnl_dim_t size,
		  float alpha, float beta, float k);
int tirc_dnnl_resampling(struct tirc_dnnl_region *r, dnnl_alg_kind_t kind,
			 int x, int ndims, const dnnl_dims_t dims);
/* Over the dimensions that are 1 in dims. */
int tirc_dnnl_reduction(struct tirc_dnnl_region *r, dnnl_alg_kind_t kind, int x,
			int ndims, const dnnl_dims_t dims);
int tirc_dnnl_eltwise(struct tirc_dnnl_region *r, dnnl_alg_kind_t kind, int x,
		      float alpha, float beta);
/* Of two values; x has the result's shape, b may have 1 in places. */
int tirc_dnnl_binary(struct tirc_dnnl_region *r, dnnl_alg_kind_t kind, int x,
		     int b, dnnl_data_type_t element, int ndims,
		     const dnnl_dims_t dims);
/* n values one behind the other along the axis. uses: these values, layouts: as
 * many; both are overwritten. */
int tirc_dnnl_concatenation(struct tirc_dnnl_region *r, int axis, int n,
			    struct tirc_dnnl_use *uses,
			    tirc_dnnl_layout *layouts, int ndims,
			    const dnnl_dims_t dims);
/* What v, stored in bytes, stands for. */
int tirc_dnnl_restored(struct tirc_dnnl_region *r, int v,
		       struct tirc_dnnl_scale x);
/* v, stored in bytes. */
int tirc_dnnl_stored(struct tirc_dnnl_region *r, int v,
		     dnnl_data_type_t element, struct tirc_dnnl_scale y);

#ifdef __cplusplus
}
#endif

#endif
