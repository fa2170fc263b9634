/* tirc_dnnl_parts.h, written by tirc beside models that use it.
 * SPDX-License-Identifier: MIT-0
 *
 * Between the files of tirc_dnnl.h. */
#ifndef TIRC_DNNL_PARTS_H
#define TIRC_DNNL_PARTS_H

#include "tirc_dnnl_describe.h"

/* Type and dimensions of a value. */
struct shape {
	dnnl_data_type_t element;
	int ndims;
	dnnl_dims_t dims;
};

/* -- tirc_dnnl_layouts.c: how tensors lie -- */

#if DNNL_VERSION_MAJOR < 3
typedef const dnnl_memory_desc_t *const_dnnl_memory_desc_t;
#endif

/* Of a layout that was made, as oneDNN's functions take it. */
const_dnnl_memory_desc_t tirc_dnnl_md(const tirc_dnnl_layout *l);
/* Frees one, made or not. */
void tirc_dnnl_layout_free(tirc_dnnl_layout *l);
/* Each makes one, unless a call has failed before: what may be freed in any
 * case. The library chooses; as strides say; row after row, as arguments and
 * constants lie; with the channels of an element beside each other; in blocks
 * of 16 channels. */
void tirc_dnnl_any(struct tirc_dnnl_region *r, tirc_dnnl_layout *l,
		   const struct shape *s);
void tirc_dnnl_strided(struct tirc_dnnl_region *r, tirc_dnnl_layout *l,
		       const struct shape *s, const dnnl_dims_t strides);
void tirc_dnnl_dense(struct tirc_dnnl_region *r, tirc_dnnl_layout *l,
		     const struct shape *s);
void tirc_dnnl_channels_last(struct tirc_dnnl_region *r, tirc_dnnl_layout *l,
			     const struct shape *s);
void tirc_dnnl_blocks(struct tirc_dnnl_region *r, tirc_dnnl_layout *l,
		      const struct shape *s);
/* As `from` lies, counted differently: false if that cannot be. */
bool tirc_dnnl_reshaped(tirc_dnnl_layout *l, const_dnnl_memory_desc_t from,
			int ndims, const dnnl_dims_t dims);
/* With dimensions in another order: where each goes. */
dnnl_status_t tirc_dnnl_permuted(tirc_dnnl_layout *l,
				 const_dnnl_memory_desc_t from, const int *to);
/* Strides of elements that lie row after row. */
void tirc_dnnl_dense_strides(const struct shape *s, dnnl_dims_t strides);
/* What a layout is of. */
void tirc_dnnl_shape_of(const_dnnl_memory_desc_t md, struct shape *s);

/* -- tirc_dnnl_steps.c: values, steps; tirc_dnnl_posts.c: what is done to
 * results -- */

/* Notes the first call that fails; is all well? */
bool tirc_dnnl_ok(struct tirc_dnnl_region *r, dnnl_status_t status);
struct shape tirc_dnnl_shape(int ndims, dnnl_data_type_t element,
			     const dnnl_dims_t dims);
/* Of value v, which is one. */
const_dnnl_memory_desc_t tirc_dnnl_md_of(const struct tirc_dnnl_region *r,
					 int v);
struct shape tirc_dnnl_value_shape(const struct tirc_dnnl_region *r, int v);
size_t tirc_dnnl_elements(const struct tirc_dnnl_region *r, int v);
/* A value that lies so; 0 if a call has failed. */
int tirc_dnnl_value(struct tirc_dnnl_region *r, const_dnnl_memory_desc_t md);
/* Makes a value that lies as l says, and frees l. */
int tirc_dnnl_value_of(struct tirc_dnnl_region *r, tirc_dnnl_layout *l);
/* A value in the memory of x: the same elements, seen as l says; frees l. Of a
 * value that is made once, it must not be a copy. */
int tirc_dnnl_view_of(struct tirc_dnnl_region *r, int x, tirc_dnnl_layout *l);
/* A value that is made once. */
int tirc_dnnl_made(struct tirc_dnnl_region *r, enum tirc_dnnl_recipe recipe,
		   dnnl_data_type_t element, int ndims, const dnnl_dims_t dims);
/* One number for all elements of ndims dimensions. */
int tirc_dnnl_number(struct tirc_dnnl_region *r, dnnl_data_type_t element,
		     float number, int ndims);
/* v as md says: itself, or a copy. */
int tirc_dnnl_as(struct tirc_dnnl_region *r, int v,
		 const_dnnl_memory_desc_t md);
/* v, row after row. */
int tirc_dnnl_row_major(struct tirc_dnnl_region *r, int v);
/* Another v that lies as md says. */
int tirc_dnnl_copy(struct tirc_dnnl_region *r, int v,
		   const_dnnl_memory_desc_t md);
void tirc_dnnl_then(struct tirc_dnnl_region *r, struct tirc_dnnl_post post);
/* What primitives are made with that give elements of that type: scratchpads
 * are the region's, and, with posts, what is to be done to the result. To be
 * destroyed. */
dnnl_primitive_attr_t tirc_dnnl_attr(struct tirc_dnnl_region *r, bool posts,
				     dnnl_data_type_t element, int ndims);
/* A step of the primitive that d describes, which the region has then: its
 * uses, laid out as it wants them (value -1: none), and its result. */
int tirc_dnnl_step(struct tirc_dnnl_region *r, dnnl_primitive_desc_t d,
		   struct tirc_dnnl_use *uses, int n_uses);

/* -- tirc_dnnl_bytes.c -- */

/* An argument of the next primitive counts from zero. */
void tirc_dnnl_set_zero(struct tirc_dnnl_region *r, dnnl_primitive_attr_t attr,
			int argument, int zero);
/* Makes the numbers of a value that has a recipe. */
void tirc_dnnl_fill(struct tirc_dnnl_region *r,
		    const struct tirc_dnnl_value *v);

#endif
