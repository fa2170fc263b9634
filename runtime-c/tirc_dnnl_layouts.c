/* tirc_dnnl_layouts.c, written by tirc beside models that use it.
 * SPDX-License-Identifier: MIT-0
 *
 * Memory layouts of tensors, and views of them. Version 2 of oneDNN has a
 * structure for a layout, version 3 an object in the library's heap. */
#include "tirc_dnnl_parts.h"

#if DNNL_VERSION_MAJOR < 3

#define create_with_tag dnnl_memory_desc_init_by_tag
#define create_with_strides dnnl_memory_desc_init_by_strides

const_dnnl_memory_desc_t
tirc_dnnl_md(const tirc_dnnl_layout *l)
{
	return l;
}

void
tirc_dnnl_layout_free(tirc_dnnl_layout *l)
{
	(void)l;
}

void
tirc_dnnl_shape_of(const_dnnl_memory_desc_t md, struct shape *s)
{
	*s = tirc_dnnl_shape(md->ndims, md->data_type, md->dims);
}

#else

#define create_with_tag dnnl_memory_desc_create_with_tag
#define create_with_strides dnnl_memory_desc_create_with_strides

const_dnnl_memory_desc_t
tirc_dnnl_md(const tirc_dnnl_layout *l)
{
	return *l;
}

void
tirc_dnnl_layout_free(tirc_dnnl_layout *l)
{
	dnnl_memory_desc_destroy(*l);
	*l = NULL;
}

void
tirc_dnnl_shape_of(const_dnnl_memory_desc_t md, struct shape *s)
{
	dnnl_data_type_t element = dnnl_data_type_undef;
	const dnnl_dims_t *dims = NULL;
	int ndims = 0;

	dnnl_memory_desc_query(md, dnnl_query_data_type, &element);
	dnnl_memory_desc_query(md, dnnl_query_ndims_s32, &ndims);
	dnnl_memory_desc_query(md, dnnl_query_dims, &dims);
	*s = tirc_dnnl_shape(dims != NULL ? ndims : 0, element,
			     dims != NULL ? *dims : NULL);
}

#endif

/* Makes the layout of s that oneDNN names by a tag. */
static void
tagged(struct tirc_dnnl_region *r, tirc_dnnl_layout *l, const struct shape *s,
       dnnl_format_tag_t tag)
{
	memset(l, 0, sizeof *l);
	if (r->status == dnnl_success) {
		tirc_dnnl_ok(r, create_with_tag(l, s->ndims, s->dims,
						s->element, tag));
	}
}

void
tirc_dnnl_any(struct tirc_dnnl_region *r, tirc_dnnl_layout *l,
	      const struct shape *s)
{
	tagged(r, l, s, dnnl_format_tag_any);
}

void
tirc_dnnl_blocks(struct tirc_dnnl_region *r, tirc_dnnl_layout *l,
		 const struct shape *s)
{
	tagged(r, l, s, dnnl_aBcd16b);
}

void
tirc_dnnl_strided(struct tirc_dnnl_region *r, tirc_dnnl_layout *l,
		  const struct shape *s, const dnnl_dims_t strides)
{
	memset(l, 0, sizeof *l);
	if (r->status == dnnl_success) {
		tirc_dnnl_ok(r, create_with_strides(l, s->ndims, s->dims,
						    s->element, strides));
	}
}

static void
dense_strides(const struct shape *s, dnnl_dims_t strides)
{
	strides[s->ndims - 1] = 1;
	for (int i = s->ndims - 1; i > 0; i--) {
		strides[i - 1] = strides[i] * s->dims[i];
	}
}

void
tirc_dnnl_dense(struct tirc_dnnl_region *r, tirc_dnnl_layout *l,
		const struct shape *s)
{
	dnnl_dims_t strides;

	dense_strides(s, strides);
	tirc_dnnl_strided(r, l, s, strides);
}

void
tirc_dnnl_channels_last(struct tirc_dnnl_region *r, tirc_dnnl_layout *l,
			const struct shape *s)
{
	dnnl_dims_t strides;

	strides[1] = 1;
	strides[s->ndims - 1] = s->dims[1];
	for (int i = s->ndims - 1; i > 2; i--) {
		strides[i - 1] = strides[i] * s->dims[i];
	}
	strides[0] = strides[2] * s->dims[2];
	tirc_dnnl_strided(r, l, s, strides);
}

/* -- views: values with the elements of another value -- */

int
tirc_dnnl_view(struct tirc_dnnl_region *r, int x, int ndims,
	       const dnnl_dims_t dims)
{
	tirc_dnnl_layout l;

	if (r->status != dnnl_success) {
		return 0;
	}
	if (r->values[x].is_constant) {
		return tirc_dnnl_constant(r, r->values[x].constant,
					  tirc_dnnl_value_shape(r, x).element,
					  ndims, dims);
	}
	if (dnnl_memory_desc_reshape(&l, tirc_dnnl_md_of(r, x), ndims, dims) !=
	    dnnl_success) {
		x = tirc_dnnl_row_major(r, x);
		if (r->status != dnnl_success ||
		    !tirc_dnnl_ok(r,
				  dnnl_memory_desc_reshape(&l,
							   tirc_dnnl_md_of(r,
									   x),
							   ndims, dims))) {
			return 0;
		}
	}
	return tirc_dnnl_view_of(r, x, &l);
}

int
tirc_dnnl_raised(struct tirc_dnnl_region *r, int v, int ndims)
{
	dnnl_dims_t dims;
	struct shape s;
	int more;

	if (v < 0 || r->status != dnnl_success) {
		return v;
	}
	s = tirc_dnnl_value_shape(r, v);
	if (s.ndims == ndims) {
		return v;
	}
	more = ndims - s.ndims;
	for (int i = 0; i < ndims; i++) {
		dims[i] = i < more ? 1 : s.dims[i - more];
	}
	return tirc_dnnl_view(r, v, ndims, dims);
}

int
tirc_dnnl_transposed(struct tirc_dnnl_region *r, int x, const int *order)
{
	int to[DNNL_MAX_NDIMS];
	tirc_dnnl_layout l;
	struct shape s;

	if (r->status != dnnl_success) {
		return 0;
	}
	s = tirc_dnnl_value_shape(r, x);
	for (int i = 0; i < s.ndims; i++) {
		to[order[i]] = i;
	}
	if (!tirc_dnnl_ok(r,
			  dnnl_memory_desc_permute_axes(&l,
							tirc_dnnl_md_of(r, x),
							to))) {
		return 0;
	}
	return tirc_dnnl_view_of(r, x, &l);
}

int
tirc_dnnl_swapped(struct tirc_dnnl_region *r, int v, int i, int j)
{
	int order[DNNL_MAX_NDIMS];

	for (int k = 0; k < DNNL_MAX_NDIMS; k++) {
		order[k] = k == i ? j : k == j ? i : k;
	}
	return tirc_dnnl_transposed(r, tirc_dnnl_row_major(r, v), order);
}

int
tirc_dnnl_rows(struct tirc_dnnl_region *r, int w, bool by_columns, int x)
{
	tirc_dnnl_layout l;
	dnnl_dims_t strides;
	struct shape ws, s;
	int v;

	if (r->status != dnnl_success) {
		return 0;
	}
	ws = tirc_dnnl_value_shape(r, w);
	s = tirc_dnnl_value_shape(r, x);
	s.element = ws.element;
	s.dims[0] = ws.dims[by_columns ? 1 : 0];
	dense_strides(&s, strides);
	if (by_columns) {
		strides[0] = 1;
		for (int i = 1; i < s.ndims; i++) {
			strides[i] *= ws.dims[1];
		}
	}
	tirc_dnnl_strided(r, &l, &s, strides);
	v = tirc_dnnl_value_of(r, &l);
	if (r->status == dnnl_success) {
		r->values[v].recipe = r->values[w].recipe;
		r->values[v].constant = r->values[w].constant;
		r->values[v].is_fixed = r->values[w].is_fixed;
	}
	return v;
}
