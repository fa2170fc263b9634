/* tirc_dnnl_parts.h, written by tirc beside models that use it.
 * SPDX-License-Identifier: MIT-0
 *
 * Declarations that the source files tirc_dnnl*.c share. */
#ifndef TIRC_DNNL_PARTS_H
#define TIRC_DNNL_PARTS_H

#include "tirc_dnnl_describe.h"

/* The element type and the dimensions of a value. */
struct shape {
	dnnl_data_type_t element;
	int ndims;
	dnnl_dims_t dims;
};

/* The description of a primitive until tirc_dnnl_step creates the primitive;
 * all members are zero at first. A layer owns its members, which tirc_dnnl_step
 * or tirc_dnnl_layer_free frees. x, w, y: new layouts of the primitive's data,
 * of its weights or statistics, and of its result; a layout is all zero if the
 * primitive takes that of an existing value. */
struct layer {
	dnnl_primitive_desc_t description;
	dnnl_primitive_attr_t attr;
	tirc_dnnl_layout x, w, y;
};

/* -- tirc_dnnl_layouts.c: memory layouts of tensors -- */

#if DNNL_VERSION_MAJOR < 3
typedef const dnnl_memory_desc_t *const_dnnl_memory_desc_t;
#endif

/* The layout as the functions of oneDNN take it: a pointer. */
const_dnnl_memory_desc_t tirc_dnnl_md(const tirc_dnnl_layout *l);
/* Frees a layout; does nothing to one that is all zero. */
void tirc_dnnl_layout_free(tirc_dnnl_layout *l);
/* The next five functions make a layout each, which is all zero if a call has
 * failed. tirc_dnnl_any: the library chooses the layout. */
void tirc_dnnl_any(struct tirc_dnnl_region *r, tirc_dnnl_layout *l,
		   const struct shape *s);
void tirc_dnnl_strided(struct tirc_dnnl_region *r, tirc_dnnl_layout *l,
		       const struct shape *s, const dnnl_dims_t strides);
/* Row-major, without gaps: the layout of arguments and constants. */
void tirc_dnnl_dense(struct tirc_dnnl_region *r, tirc_dnnl_layout *l,
		     const struct shape *s);
/* The channels of a point of an image are adjacent (NHWC). */
void tirc_dnnl_channels_last(struct tirc_dnnl_region *r, tirc_dnnl_layout *l,
			     const struct shape *s);
/* Sets *l to the layout of shape s with the channels in blocks of 16
 * (nChw16c). */
void tirc_dnnl_blocks(struct tirc_dnnl_region *r, tirc_dnnl_layout *l,
		      const struct shape *s);
/* Sets s to the type and the dimensions of a layout. */
void tirc_dnnl_shape_of(const_dnnl_memory_desc_t md, struct shape *s);

/* -- tirc_dnnl_steps.c: values and steps -- */

/* Records `status` if it is the first failure. Returns true if no call has
 * failed so far. */
bool tirc_dnnl_ok(struct tirc_dnnl_region *r, dnnl_status_t status);
struct shape tirc_dnnl_shape(int ndims, dnnl_data_type_t element,
			     const dnnl_dims_t dims);
/* The layout of value v; the next functions give its shape and its number of
 * elements. */
const_dnnl_memory_desc_t tirc_dnnl_md_of(const struct tirc_dnnl_region *r,
					 int v);
struct shape tirc_dnnl_value_shape(const struct tirc_dnnl_region *r, int v);
size_t tirc_dnnl_elements(const struct tirc_dnnl_region *r, int v);
/* Adds a value with the layout md; returns its index, 0 if a call has
 * failed. */
int tirc_dnnl_value(struct tirc_dnnl_region *r, const_dnnl_memory_desc_t md);
/* Adds a value with the layout l, and frees l. */
int tirc_dnnl_value_of(struct tirc_dnnl_region *r, tirc_dnnl_layout *l);
/* Adds a view of the memory of x with the layout l, and frees l. x must not be
 * a copy of a constant. */
int tirc_dnnl_view_of(struct tirc_dnnl_region *r, int x, tirc_dnnl_layout *l);
/* Adds a dense value that tirc_dnnl_make computes once. */
int tirc_dnnl_made(struct tirc_dnnl_region *r, enum tirc_dnnl_recipe recipe,
		   dnnl_data_type_t element, int ndims, const dnnl_dims_t dims);
/* Adds a dense value, like tirc_dnnl_made, of rank ndims, with n elements along
 * its axis `axis` (-1: the last axis) and extent 1 along all other axes. */
int tirc_dnnl_made_along(struct tirc_dnnl_region *r,
			 enum tirc_dnnl_recipe recipe, dnnl_data_type_t element,
			 dnnl_dim_t n, int ndims, int axis);
/* Adds a value that holds one number, with ndims dimensions of 1. */
int tirc_dnnl_number(struct tirc_dnnl_region *r, dnnl_data_type_t element,
		     float number, int ndims);
/* v itself if its layout is md; else a copy of v that has this layout. */
int tirc_dnnl_as(struct tirc_dnnl_region *r, int v,
		 const_dnnl_memory_desc_t md);
/* v itself if it has the layout l; else a copy of v that has this layout. Frees
 * l. */
int tirc_dnnl_as_layout(struct tirc_dnnl_region *r, int v, tirc_dnnl_layout *l);
/* v itself if it is dense, else a dense copy of v. */
int tirc_dnnl_row_major(struct tirc_dnnl_region *r, int v);
/* A new copy of v with the layout md. */
int tirc_dnnl_copy(struct tirc_dnnl_region *r, int v,
		   const_dnnl_memory_desc_t md);
void tirc_dnnl_layer_free(struct layer *l);
/* Adds the step of a layer's primitive, and steps that copy operands which are
 * not in the layouts that the primitive wants (an operand with the value -1 is
 * absent). Frees the layer, and returns the index of the primitive's result. */
int tirc_dnnl_step(struct tirc_dnnl_region *r, struct layer *l,
		   struct tirc_dnnl_use *uses, int n_uses);

/* -- tirc_dnnl_posts.c: post-operations and attributes -- */

void tirc_dnnl_then(struct tirc_dnnl_region *r, struct tirc_dnnl_post post);
/* Creates the attributes of a primitive with a result of this type and rank:
 * the region provides the scratchpad; if `posts` is set, they include the
 * region's post-operations. The caller destroys them. */
dnnl_primitive_attr_t tirc_dnnl_attr(struct tirc_dnnl_region *r, bool posts,
				     dnnl_data_type_t element, int ndims);

/* -- tirc_dnnl_bytes.c: quantized values -- */

/* Sets the zero point of argument `argument` of the next primitive. */
void tirc_dnnl_set_zero(struct tirc_dnnl_region *r, dnnl_primitive_attr_t attr,
			int argument, int zero);
/* Computes the elements of the value v by its recipe. */
void tirc_dnnl_fill(struct tirc_dnnl_region *r,
		    const struct tirc_dnnl_value *v);

#endif
