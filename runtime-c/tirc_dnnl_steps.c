/* tirc_dnnl_steps.c, written by tirc beside models that use it.
 * SPDX-License-Identifier: MIT-0
 *
 * The values and steps of a region. */
#include "tirc_dnnl_parts.h"

bool
tirc_dnnl_ok(struct tirc_dnnl_region *r, dnnl_status_t status)
{
	if (r->status == dnnl_success) {
		r->status = (int)status;
	}
	return r->status == dnnl_success;
}

/* -- values -- */

struct shape
tirc_dnnl_shape(int ndims, dnnl_data_type_t element, const dnnl_dims_t dims)
{
	struct shape s = { .element = element, .ndims = ndims };

	for (int i = 0; i < ndims; i++) {
		s.dims[i] = dims[i];
	}
	return s;
}

const_dnnl_memory_desc_t
tirc_dnnl_md_of(const struct tirc_dnnl_region *r, int v)
{
	const_dnnl_memory_desc_t md = NULL;

	dnnl_memory_get_memory_desc(r->values[v].memory, &md);
	return md;
}

struct shape
tirc_dnnl_value_shape(const struct tirc_dnnl_region *r, int v)
{
	struct shape s;

	tirc_dnnl_shape_of(tirc_dnnl_md_of(r, v), &s);
	return s;
}

size_t
tirc_dnnl_elements(const struct tirc_dnnl_region *r, int v)
{
	const struct shape s = tirc_dnnl_value_shape(r, v);
	size_t n = 1;

	for (int i = 0; i < s.ndims; i++) {
		n *= (size_t)s.dims[i];
	}
	return n;
}

int
tirc_dnnl_value(struct tirc_dnnl_region *r, const_dnnl_memory_desc_t md)
{
	struct dnnl_memory *memory = NULL;

	if (r->status != dnnl_success) {
		return 0;
	}
	if (r->n_values == r->most_values) {
		tirc_dnnl_ok(r, dnnl_out_of_memory);
		return 0;
	}
	if (!tirc_dnnl_ok(r, dnnl_memory_create(&memory, md, r->engine,
						DNNL_MEMORY_NONE))) {
		return 0;
	}
	r->values[r->n_values] = (struct tirc_dnnl_value){ .memory = memory,
							   .input = -1,
							   .output = -1,
							   .place = r->n_values,
							   .original = -1,
							   .first = r->n_steps,
							   .last = r->n_steps,
							   .weights = -1 };
	return r->n_values++;
}

int
tirc_dnnl_value_of(struct tirc_dnnl_region *r, tirc_dnnl_layout *l)
{
	int v = tirc_dnnl_value(r, tirc_dnnl_md(l));

	tirc_dnnl_layout_free(l);
	return v;
}

int
tirc_dnnl_view_of(struct tirc_dnnl_region *r, int x, tirc_dnnl_layout *l)
{
	int v = tirc_dnnl_value_of(r, l);
	const struct tirc_dnnl_value *from = &r->values[x];
	struct tirc_dnnl_value *to = &r->values[v];

	if (r->status != dnnl_success) {
		return 0;
	}
	if (from->is_fixed && from->original >= 0) {
		tirc_dnnl_ok(r, dnnl_unimplemented);
	} else if (from->is_fixed) {
		to->constant = from->constant;
		to->recipe = from->recipe;
		to->factors = from->factors;
		to->weights = from->weights;
		to->outside = from->outside;
		to->zero = from->zero;
		to->number = from->number;
		to->is_fixed = true;
	}
	to->place = from->place;
	to->is_view = true;
	r->values[x].is_view = true;
	return v;
}

static int
dense_value(struct tirc_dnnl_region *r, dnnl_data_type_t element, int ndims,
	    const dnnl_dims_t dims)
{
	const struct shape s = tirc_dnnl_shape(ndims, element, dims);
	tirc_dnnl_layout dense;

	tirc_dnnl_dense(r, &dense, &s);
	return tirc_dnnl_value_of(r, &dense);
}

int
tirc_dnnl_input(struct tirc_dnnl_region *r, int input, dnnl_data_type_t element,
		int ndims, const dnnl_dims_t dims)
{
	const int v = dense_value(r, element, ndims, dims);

	if (r->status == dnnl_success) {
		r->values[v].input = input;
	}
	return v;
}

int
tirc_dnnl_made(struct tirc_dnnl_region *r, enum tirc_dnnl_recipe recipe,
	       dnnl_data_type_t element, int ndims, const dnnl_dims_t dims)
{
	const int v = dense_value(r, element, ndims, dims);

	if (r->status == dnnl_success) {
		r->values[v].recipe = recipe;
		r->values[v].is_fixed = true;
	}
	return v;
}

int
tirc_dnnl_made_along(struct tirc_dnnl_region *r, enum tirc_dnnl_recipe recipe,
		     dnnl_data_type_t element, dnnl_dim_t n, int ndims,
		     int axis)
{
	dnnl_dims_t dims;

	for (int i = 0; i < ndims; i++) {
		dims[i] = 1;
	}
	dims[axis < 0 ? axis + ndims : axis] = n;
	return tirc_dnnl_made(r, recipe, element, ndims, dims);
}

int
tirc_dnnl_constant(struct tirc_dnnl_region *r, const void *constant,
		   dnnl_data_type_t element, int ndims, const dnnl_dims_t dims)
{
	int v = tirc_dnnl_made(r, TIRC_DNNL_GIVEN, element, ndims, dims);

	if (r->status == dnnl_success) {
		r->values[v].constant = constant;
		r->values[v].is_constant = true;
	}
	return v;
}

int
tirc_dnnl_number(struct tirc_dnnl_region *r, dnnl_data_type_t element,
		 float number, int ndims)
{
	const int v = tirc_dnnl_made_along(r, TIRC_DNNL_NUMBER, element, 1,
					   ndims, 0);

	if (r->status == dnnl_success) {
		r->values[v].number = number;
	}
	return v;
}

/* -- steps -- */

static void
add_use(struct tirc_dnnl_region *r, int argument, int value)
{
	if (r->status != dnnl_success) {
		return;
	}
	if (r->n_uses == r->most_uses) {
		tirc_dnnl_ok(r, dnnl_out_of_memory);
		return;
	}
	r->uses[r->n_uses++] = (struct tirc_dnnl_use){ argument, value };
	r->steps[r->n_steps - 1].n_uses++;
	r->values[r->values[value].place].last = r->n_steps - 1;
}

static bool
is_slow(const_dnnl_primitive_desc_t d)
{
	dnnl_primitive_kind_t kind = dnnl_undefined_primitive;
	const char *code = "";

	dnnl_primitive_desc_query(d, dnnl_query_primitive_kind, 0, &kind);
	dnnl_primitive_desc_query(d, dnnl_query_impl_info_str, 0, &code);
	return kind == dnnl_reorder || strncmp(code, "ref", 3) == 0;
}

/* Adds a step for the primitive descriptor d, which the step then owns, and the
 * use of its scratchpad. The caller adds the step's other uses. */
static void
begin_step(struct tirc_dnnl_region *r, dnnl_primitive_desc_t d)
{
	const_dnnl_memory_desc_t md;

	if (r->n_steps == r->most_steps) {
		tirc_dnnl_ok(r, dnnl_out_of_memory);
		dnnl_primitive_desc_destroy(d);
		return;
	}
	r->steps[r->n_steps++] = (struct tirc_dnnl_step){
		.description = d, .first_use = r->n_uses
	};
	r->n_slow += is_slow(d);
	md = dnnl_primitive_desc_query_md(d, dnnl_query_scratchpad_md, 0);
	if (dnnl_memory_desc_get_size(md) > 0) {
		int scratch = tirc_dnnl_value(r, md);

		if (r->status == dnnl_success) {
			r->values[scratch].first = r->n_steps - 1;
			add_use(r, DNNL_ARG_SCRATCHPAD, scratch);
		}
	}
}

int
tirc_dnnl_copy(struct tirc_dnnl_region *r, int v, const_dnnl_memory_desc_t md)
{
	dnnl_primitive_desc_t d = NULL;
	dnnl_primitive_attr_t attr;
	struct shape s;
	int copy = tirc_dnnl_value(r, md);

	if (r->status != dnnl_success) {
		return v;
	}
	r->values[copy].original = v;
	r->values[copy].constant = r->values[v].constant;
	r->values[copy].is_constant = r->values[v].is_constant;
	r->values[copy].is_fixed = r->values[v].is_fixed;
	if (r->values[v].is_fixed) {
		return copy; /* tirc_dnnl_make copies it */
	}
	s = tirc_dnnl_value_shape(r, v);
	attr = tirc_dnnl_attr(r, false, s.element, s.ndims);
	if (r->status == dnnl_success) {
		tirc_dnnl_ok(r, dnnl_reorder_primitive_desc_create(
					&d, tirc_dnnl_md_of(r, v), r->engine,
					tirc_dnnl_md_of(r, copy), r->engine,
					attr));
	}
	dnnl_primitive_attr_destroy(attr);
	if (r->status == dnnl_success) {
		begin_step(r, d);
		add_use(r, DNNL_ARG_FROM, v);
		add_use(r, DNNL_ARG_TO, copy);
	}
	return copy;
}

int
tirc_dnnl_as(struct tirc_dnnl_region *r, int v, const_dnnl_memory_desc_t md)
{
	if (r->status != dnnl_success || md == NULL ||
	    dnnl_memory_desc_get_size(md) == 0 ||
	    dnnl_memory_desc_equal(tirc_dnnl_md_of(r, v), md)) {
		return v;
	}
	for (int i = v + 1; i < r->n_values; i++) {
		if (r->values[i].original == v && r->values[i].place == i &&
		    dnnl_memory_desc_equal(tirc_dnnl_md_of(r, i), md)) {
			return i;
		}
	}
	return tirc_dnnl_copy(r, v, md);
}

int
tirc_dnnl_as_layout(struct tirc_dnnl_region *r, int v, tirc_dnnl_layout *l)
{
	v = tirc_dnnl_as(r, v, tirc_dnnl_md(l));
	tirc_dnnl_layout_free(l);
	return v;
}

int
tirc_dnnl_row_major(struct tirc_dnnl_region *r, int v)
{
	tirc_dnnl_layout dense;
	struct shape s;

	if (r->status != dnnl_success) {
		return v;
	}
	s = tirc_dnnl_value_shape(r, v);
	tirc_dnnl_dense(r, &dense, &s);
	return tirc_dnnl_as_layout(r, v, &dense);
}

/* -- operands and results -- */

/* The primitive writes the sum of the post-operation p to the memory of p's
 * operand. The operand is copied before, unless it has the layout of the
 * result, is in the region's memory, and is read neither as another argument of
 * this primitive nor by a later step. */
static void
place_sum(struct tirc_dnnl_region *r, struct tirc_dnnl_post *p,
	  const_dnnl_memory_desc_t md, const struct tirc_dnnl_use *uses,
	  int n_uses)
{
	const int as = tirc_dnnl_as(r, p->operand, md);
	const struct tirc_dnnl_value *v = &r->values[p->operand];
	bool in_place = as != p->operand || p->in_place;

	if (as == p->operand && (v->input >= 0 || v->is_fixed || v->is_view)) {
		in_place = false;
	}
	for (int i = 0; i < n_uses; i++) {
		if (uses[i].value >= 0 &&
		    r->values[uses[i].value].place == r->values[as].place) {
			in_place = false;
		}
	}
	p->operand = in_place ? as : tirc_dnnl_copy(r, p->operand, md);
	if (r->status == dnnl_success) {
		/* the step overwrites the copy: later steps need a copy of
		 * their own */
		r->values[p->operand].original = -1;
	}
}

/* Copies those operands of the primitive that are not in the layouts that it
 * wants. Returns the layout of the result. */
static const_dnnl_memory_desc_t
place_uses(struct tirc_dnnl_region *r, const_dnnl_primitive_desc_t d,
	   struct tirc_dnnl_use *uses, int n_uses)
{
	const_dnnl_memory_desc_t md = NULL;

	for (int i = 0; i < n_uses && r->status == dnnl_success; i++) {
		if (uses[i].value >= 0) {
			uses[i].value =
				tirc_dnnl_as(r, uses[i].value,
					     dnnl_primitive_desc_query_md(
						     d, dnnl_query_exec_arg_md,
						     uses[i].argument));
		}
	}
	if (r->status == dnnl_success) {
		md = dnnl_primitive_desc_query_md(d, dnnl_query_dst_md, 0);
	}
	for (int i = 0; i < r->n_posts && r->status == dnnl_success; i++) {
		if (r->posts[i].is_sum) {
			place_sum(r, &r->posts[i], md, uses, n_uses);
		}
	}
	return md;
}

/* Adds the result of the step, with the layout md, and the operands of its
 * post-operations to the uses; returns the index of the result. */
static int
add_result(struct tirc_dnnl_region *r, const_dnnl_memory_desc_t md)
{
	int y = tirc_dnnl_value(r, md);

	if (r->status == dnnl_success) {
		r->values[y].first = r->n_steps - 1;
	}
	for (int i = 0; i < r->n_posts && r->status == dnnl_success; i++) {
		const struct tirc_dnnl_post *p = &r->posts[i];

		if (p->is_sum) {
			r->values[y].place = r->values[p->operand].place;
		} else if (p->operand >= 0) {
			add_use(r,
				DNNL_ARG_ATTR_MULTIPLE_POST_OP(i) |
					DNNL_ARG_SRC_1,
				p->operand);
		}
	}
	add_use(r, DNNL_ARG_DST, y);
	return y;
}

void
tirc_dnnl_layer_free(struct layer *l)
{
	tirc_dnnl_layout_free(&l->x);
	tirc_dnnl_layout_free(&l->w);
	tirc_dnnl_layout_free(&l->y);
	dnnl_primitive_attr_destroy(l->attr);
	dnnl_primitive_desc_destroy(l->description);
}

int
tirc_dnnl_step(struct tirc_dnnl_region *r, struct layer *l,
	       struct tirc_dnnl_use *uses, int n_uses)
{
	const_dnnl_memory_desc_t md = place_uses(r, l->description, uses,
						 n_uses);
	int y = 0;

	if (r->status == dnnl_success) {
		begin_step(r, l->description);
		l->description = NULL;
		for (int i = 0; i < n_uses; i++) {
			if (uses[i].value >= 0) {
				add_use(r, uses[i].argument, uses[i].value);
			}
		}
		for (int i = 0; i < r->n_more; i++) {
			add_use(r, r->more[i].argument, r->more[i].value);
		}
		y = add_result(r, md);
	}
	tirc_dnnl_layer_free(l);
	r->n_more = 0;
	r->n_posts = 0;
	return y;
}

void
tirc_dnnl_output(struct tirc_dnnl_region *r, int v, int output)
{
	const struct tirc_dnnl_value *x;

	v = tirc_dnnl_row_major(r, v);
	if (r->status != dnnl_success) {
		return;
	}
	x = &r->values[v];
	if (x->input >= 0 || x->output >= 0 || x->is_fixed || x->place != v) {
		v = tirc_dnnl_copy(r, v, tirc_dnnl_md_of(r, v));
	}
	if (r->status == dnnl_success) {
		r->values[v].output = output;
	}
}
