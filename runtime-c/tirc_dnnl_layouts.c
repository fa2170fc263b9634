/* tirc_dnnl_layouts.c, written by tirc beside models that use it.
 * SPDX-License-Identifier: MIT-0
 *
 * How tensors lie, in words of oneDNN, and views of them. Version 2 has
 * structures for layouts, version 3 objects in its heap. */
#include "tirc_dnnl_parts.h"

#if DNNL_VERSION_MAJOR < 3

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

static dnnl_status_t
by_tag(tirc_dnnl_layout *l, const struct shape *s, dnnl_format_tag_t tag)
{
	return dnnl_memory_desc_init_by_tag(l, s->ndims, s->dims, s->element,
					    tag);
}

static dnnl_status_t
by_strides(tirc_dnnl_layout *l, const struct shape *s,
	   const dnnl_dims_t strides)
{
	return dnnl_memory_desc_init_by_strides(l, s->ndims, s->dims,
						s->element, strides);
}

bool
tirc_dnnl_reshaped(tirc_dnnl_layout *l, const_dnnl_memory_desc_t from,
		   int ndims, const dnnl_dims_t dims)
{
	return dnnl_memory_desc_reshape(l, from, ndims, dims) == dnnl_success;
}

dnnl_status_t
tirc_dnnl_permuted(tirc_dnnl_layout *l, const_dnnl_memory_desc_t from,
		   const int *to)
{
	return dnnl_memory_desc_permute_axes(l, from, to);
}

void
tirc_dnnl_shape_of(const_dnnl_memory_desc_t md, struct shape *s)
{
	*s = tirc_dnnl_shape(md->ndims, md->data_type, md->dims);
}

#else

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

static dnnl_status_t
by_tag(tirc_dnnl_layout *l, const struct shape *s, dnnl_format_tag_t tag)
{
	return dnnl_memory_desc_create_with_tag(l, s->ndims, s->dims,
						s->element, tag);
}

static dnnl_status_t
by_strides(tirc_dnnl_layout *l, const struct shape *s,
	   const dnnl_dims_t strides)
{
	return dnnl_memory_desc_create_with_strides(l, s->ndims, s->dims,
						    s->element, strides);
}

bool
tirc_dnnl_reshaped(tirc_dnnl_layout *l, const_dnnl_memory_desc_t from,
		   int ndims, const dnnl_dims_t dims)
{
	*l = NULL;
	return dnnl_memory_desc_reshape(l, from, ndims, dims) == dnnl_success;
}

dnnl_status_t
tirc_dnnl_permuted(tirc_dnnl_layout *l, const_dnnl_memory_desc_t from,
		   const int *to)
{
	*l = NULL;
	return dnnl_memory_desc_permute_axes(l, from, to);
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

/* One that was not made may be freed. */
static bool
starts(const struct tirc_dnnl_region *r, tirc_dnnl_layout *l)
{
	memset(l, 0, sizeof *l);
	return r->status == dnnl_success;
}

void
tirc_dnnl_any(struct tirc_dnnl_region *r, tirc_dnnl_layout *l,
	      const struct shape *s)
{
	if (starts(r, l)) {
		tirc_dnnl_ok(r, by_tag(l, s, dnnl_format_tag_any));
	}
}

void
tirc_dnnl_strided(struct tirc_dnnl_region *r, tirc_dnnl_layout *l,
		  const struct shape *s, const dnnl_dims_t strides)
{
	if (starts(r, l)) {
		tirc_dnnl_ok(r, by_strides(l, s, strides));
	}
}

void
tirc_dnnl_dense_strides(const struct shape *s, dnnl_dims_t strides)
{
	strides[s->ndims - 1] = 1;
	for (int i = s->ndims - 1; i > 0; --i) {
		strides[i - 1] = strides[i] * s->dims[i];
	}
}

void
tirc_dnnl_dense(struct tirc_dnnl_region *r, tirc_dnnl_layout *l,
		const struct shape *s)
{
	dnnl_dims_t strides;

	if (starts(r, l)) {
		tirc_dnnl_dense_strides(s, strides);
		tirc_dnnl_ok(r, by_strides(l, s, strides));
	}
}

void
tirc_dnnl_channels_last(struct tirc_dnnl_region *r, tirc_dnnl_layout *l,
			const struct shape *s)
{
	dnnl_dims_t strides;

	if (starts(r, l)) {
		strides[1] = 1;
		strides[s->ndims - 1] = s->dims[1];
		for (int i = s->ndims - 1; i > 2; --i) {
			strides[i - 1] = strides[i] * s->dims[i];
		}
		strides[0] = strides[2] * s->dims[2];
		tirc_dnnl_ok(r, by_strides(l, s, strides));
	}
}

void
tirc_dnnl_blocks(struct tirc_dnnl_region *r, tirc_dnnl_layout *l,
		 const struct shape *s)
{
	if (starts(r, l)) {
		tirc_dnnl_ok(r, by_tag(l, s, dnnl_aBcd16b));
	}
}

/* -- views: the same elements -- */

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
	if (!tirc_dnnl_reshaped(&l, tirc_dnnl_md_of(r, x), ndims, dims)) {
		x = tirc_dnnl_row_major(r, x);
		if (r->status != dnnl_success) {
			return 0;
		}
		if (!tirc_dnnl_reshaped(&l, tirc_dnnl_md_of(r, x), ndims,
					dims)) {
			tirc_dnnl_ok(r, dnnl_invalid_arguments);
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
	for (int i = 0; i < ndims; ++i) {
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
	for (int i = 0; i < s.ndims; ++i) {
		to[order[i]] = i;
	}
	if (!tirc_dnnl_ok(r,
			  tirc_dnnl_permuted(&l, tirc_dnnl_md_of(r, x), to))) {
		return 0;
	}
	return tirc_dnnl_view_of(r, x, &l);
}

int
tirc_dnnl_swapped(struct tirc_dnnl_region *r, int v, int i, int j)
{
	tirc_dnnl_layout l;
	dnnl_dims_t strides;
	struct shape s;
	dnnl_dim_t t;

	v = tirc_dnnl_row_major(r, v);
	if (r->status != dnnl_success) {
		return 0;
	}
	s = tirc_dnnl_value_shape(r, v);
	tirc_dnnl_dense_strides(&s, strides);
	t = s.dims[i], s.dims[i] = s.dims[j], s.dims[j] = t;
	t = strides[i], strides[i] = strides[j], strides[j] = t;
	tirc_dnnl_strided(r, &l, &s, strides);
	return tirc_dnnl_view_of(r, v, &l);
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
	strides[s.ndims - 1] = by_columns ? ws.dims[1] : 1;
	for (int i = s.ndims - 1; i > 1; --i) {
		strides[i - 1] = strides[i] * s.dims[i];
	}
	strides[0] = by_columns ? 1 : ws.dims[1];
	s.dims[0] = ws.dims[by_columns ? 1 : 0];
	tirc_dnnl_strided(r, &l, &s, strides);
	v = tirc_dnnl_value_of(r, &l);
	if (r->status == dnnl_success) {
		r->values[v].recipe = r->values[w].recipe;
		r->values[v].constant = r->values[w].constant;
		r->values[v].is_fixed = r->values[w].is_fixed;
	}
	return v;
}
