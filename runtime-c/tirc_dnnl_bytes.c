/* tirc_dnnl_bytes.c, written by tirc beside models that use it.
 * SPDX-License-Identifier: MIT-0
 *
 * Quantized values, 8-bit integers q that stand for factor * (q - zero): how
 * sums of products are requantized, and the constants for it. */
#include "tirc_dnnl_parts.h"

/* -- values that are computed once -- */

int
tirc_dnnl_factors(struct tirc_dnnl_region *r, const double *constant,
		  dnnl_dim_t n, int ndims, int axis)
{
	const int v = tirc_dnnl_made_along(r, TIRC_DNNL_FACTORS, dnnl_f32, n,
					   ndims, axis);

	if (r->status == dnnl_success) {
		r->values[v].constant = constant;
	}
	return v;
}

int
tirc_dnnl_biases(struct tirc_dnnl_region *r, const int32_t *constant,
		 dnnl_dim_t n, int ndims, int factors, int zero)
{
	const int v = tirc_dnnl_made_along(r, TIRC_DNNL_BIASES, dnnl_f32, n,
					   ndims, -1);

	if (r->status == dnnl_success) {
		r->values[v].constant = constant;
		r->values[v].factors = factors;
		r->values[v].zero = zero;
	}
	return v;
}

/* Biases of a model include the term of the data's zero point: minus the zero
 * point times the sum of the weights. Where the primitive subtracts the zero
 * point from the data itself, this function adds that term back. */
static void
fill_biases(const struct tirc_dnnl_region *r, const struct tirc_dnnl_value *v,
	    size_t n, float *to)
{
	const size_t step = tirc_dnnl_elements(r, v->factors) > 1 ? 1 : 0;
	const double *factor = r->values[v->factors].constant;
	const int32_t *bias = v->constant;
	const int8_t *weights = NULL;
	size_t depth = 0;

	if (v->weights >= 0) {
		weights = r->values[v->weights].constant;
		depth = tirc_dnnl_elements(r, v->weights) / n;
	}
	for (size_t k = 0; k < n; k++) {
		double sum = 0.0;

		for (size_t i = 0; i < depth; i++) {
			sum += weights[k * depth + i];
		}
		to[k] = (float)(bias[k] + v->outside * sum +
				v->zero / factor[k * step]);
	}
}

void
tirc_dnnl_fill(struct tirc_dnnl_region *r, const struct tirc_dnnl_value *v)
{
	const int at = (int)(v - r->values);
	const size_t n = tirc_dnnl_elements(r, at);
	const double *from = v->constant;
	void *to = NULL;

	if (!tirc_dnnl_ok(r, dnnl_memory_get_data_handle(v->memory, &to))) {
		return;
	}
	switch (v->recipe) {
	case TIRC_DNNL_NONE:
	case TIRC_DNNL_GIVEN:
		break; /* nothing to compute */
	case TIRC_DNNL_FACTORS:
		for (size_t k = 0; k < n; k++) {
			((float *)to)[k] = (float)from[k];
		}
		break;
	case TIRC_DNNL_BIASES:
		fill_biases(r, v, n, to);
		break;
	case TIRC_DNNL_NUMBER:
		if (tirc_dnnl_value_shape(r, at).element == dnnl_f32) {
			*(float *)to = v->number;
		} else {
			*(int32_t *)to = (int32_t)v->number;
		}
		break;
	}
}

/* -- zero points and factors as attributes -- */

#if DNNL_VERSION_MAJOR < 3
void
tirc_dnnl_set_zero(struct tirc_dnnl_region *r, dnnl_primitive_attr_t attr,
		   int argument, int zero)
{
	tirc_dnnl_ok(r, dnnl_primitive_attr_set_zero_points(attr, argument, 1,
							    0, &zero));
}

/* Makes a reorder multiply by the factor (version 2 of oneDNN). */
static void
set_factor(struct tirc_dnnl_region *r, dnnl_primitive_attr_t attr, float factor)
{
	tirc_dnnl_ok(r, dnnl_primitive_attr_set_output_scales(attr, 1, 0,
							      &factor));
}
#else
/* Adds a value that holds one number, `number`, as an additional argument of
 * the next primitive; `argument` is its kind. */
static void
give_number(struct tirc_dnnl_region *r, int argument, dnnl_data_type_t element,
	    float number)
{
	r->more[r->n_more++] = (struct tirc_dnnl_use){
		argument, tirc_dnnl_number(r, element, number, 1)
	};
}

void
tirc_dnnl_set_zero(struct tirc_dnnl_region *r, dnnl_primitive_attr_t attr,
		   int argument, int zero)
{
	tirc_dnnl_ok(r, dnnl_primitive_attr_set_zero_points_mask(attr, argument,
								 0));
	give_number(r, DNNL_ARG_ATTR_ZERO_POINTS | argument, dnnl_s32,
		    (float)zero);
}

/* Makes a reorder multiply by the factor (version 3 of oneDNN). */
static void
set_factor(struct tirc_dnnl_region *r, dnnl_primitive_attr_t attr, float factor)
{
	tirc_dnnl_ok(r, dnnl_primitive_attr_set_scales_mask(attr, DNNL_ARG_FROM,
							    0));
	give_number(r, DNNL_ARG_ATTR_SCALES | DNNL_ARG_FROM, dnnl_f32, factor);
}
#endif

/* -- post-operations -- */

/* Are sums of products of 8-bit integers exact? Without instructions for dot
 * products, oneDNN adds pairs of products in 16 bits, which overflow. */
static bool
sums_are_exact(void)
{
	switch (dnnl_get_effective_cpu_isa()) {
	case dnnl_cpu_isa_sse41:
	case dnnl_cpu_isa_avx:
	case dnnl_cpu_isa_avx2:
	case dnnl_cpu_isa_avx512_core:
		return false;
	default:
		return true;
	}
}

void
tirc_dnnl_then_requantize(struct tirc_dnnl_region *r, dnnl_data_type_t element,
			  int factors, int low, int high)
{
	const int least = element == dnnl_u8 ? 0 : -128;

	if (!sums_are_exact()) {
		tirc_dnnl_ok(r, dnnl_unimplemented);
	}
	tirc_dnnl_then_binary(r, dnnl_binary_mul, factors);
	if (low > least || high < least + 255) {
		tirc_dnnl_then_eltwise(r, dnnl_eltwise_clip, (float)low,
				       (float)high);
	}
}

/* Adds a post-operation: result * factor + more. */
static void
then_linear(struct tirc_dnnl_region *r, float factor, float more)
{
	tirc_dnnl_then_eltwise(r, dnnl_eltwise_linear, factor, more);
}

/* Adds post-operations that clip the result to the element type and round it,
 * as the model does when it stores the value. */
static void
then_store(struct tirc_dnnl_region *r, dnnl_data_type_t element)
{
	const float least = element == dnnl_u8 ? 0.0f : -128.0f;

	tirc_dnnl_then_eltwise(r, dnnl_eltwise_clip, least, least + 255.0f);
	tirc_dnnl_then_eltwise(r, dnnl_eltwise_round, 0.0f, 0.0f);
}

/* Adds post-operations that round the result to an integer and add the zero
 * point. */
static void
then_round(struct tirc_dnnl_region *r, int zero)
{
	tirc_dnnl_then_eltwise(r, dnnl_eltwise_round, 0.0f, 0.0f);
	if (zero != 0) {
		then_linear(r, 1.0f, (float)zero);
	}
}

void
tirc_dnnl_then_restore(struct tirc_dnnl_region *r, dnnl_data_type_t element,
		       struct tirc_dnnl_scale x)
{
	then_store(r, element);
	then_linear(r, x.factor, -x.factor * (float)x.zero);
}

void
tirc_dnnl_then_quantize(struct tirc_dnnl_region *r, int ndims,
			struct tirc_dnnl_scale y)
{
	tirc_dnnl_then_binary(r, dnnl_binary_div,
			      tirc_dnnl_number(r, dnnl_f32, y.factor, ndims));
	then_round(r, y.zero);
}

void
tirc_dnnl_then_add_stored(struct tirc_dnnl_region *r, dnnl_data_type_t element,
			  int operand, bool in_place, struct tirc_dnnl_scale a,
			  struct tirc_dnnl_scale b, struct tirc_dnnl_scale y,
			  bool relu)
{
	const float ay = a.factor / y.factor, by = b.factor / y.factor;
	const int least = element == dnnl_u8 ? 0 : -128;

	then_store(r, element);
	tirc_dnnl_then_add(r, b.factor / a.factor, operand, in_place);
	then_linear(r, ay,
		    (float)y.zero - ay * (float)a.zero - by * (float)b.zero);
	if (relu && y.zero > least) {
		tirc_dnnl_then_eltwise(r, dnnl_eltwise_clip, (float)y.zero,
				       (float)(least + 255));
	}
}

/* -- primitives -- */

int
tirc_dnnl_padded_convolution(struct tirc_dnnl_region *r, int x, int outside,
			     int w, int bias, dnnl_data_type_t element,
			     int ndims, const dnnl_dims_t dims,
			     const dnnl_dims_t strides, const dnnl_dims_t gaps,
			     const dnnl_dims_t begin, const dnnl_dims_t end)
{
	bool padded = false;

	if (r->status != dnnl_success) {
		return 0;
	}
	for (int i = 0; i < ndims - 2; i++) {
		padded = padded || begin[i] > 0 || end[i] > 0;
	}
	if (padded && outside != 0) {
		r->values[bias].weights = w;
		r->values[bias].outside = outside;
		r->outside = outside;
	}
	return tirc_dnnl_convolution(r, x, w, bias, element, ndims, dims,
				     strides, gaps, begin, end);
}

/* Sets *l to a layout of floats with v's shape: dense if v is dense, else with
 * the channels last. */
static void
plain(struct tirc_dnnl_region *r, tirc_dnnl_layout *l, int v)
{
	struct shape s = tirc_dnnl_value_shape(r, v);
	bool is_dense;

	tirc_dnnl_dense(r, l, &s);
	is_dense = s.ndims < 3 || (r->status == dnnl_success &&
				   dnnl_memory_desc_equal(tirc_dnnl_md_of(r, v),
							  tirc_dnnl_md(l)));
	tirc_dnnl_layout_free(l);
	s.element = dnnl_f32;
	if (is_dense) {
		tirc_dnnl_dense(r, l, &s);
	} else {
		tirc_dnnl_channels_last(r, l, &s);
	}
}

int
tirc_dnnl_restored(struct tirc_dnnl_region *r, int v, struct tirc_dnnl_scale x)
{
	struct tirc_dnnl_use uses[] = { { DNNL_ARG_FROM, v } };
	struct layer l = { 0 };

	if (r->status != dnnl_success) {
		return 0;
	}
	plain(r, &l.y, v);
	l.attr = tirc_dnnl_attr(r, false, dnnl_f32,
				tirc_dnnl_value_shape(r, v).ndims);
	if (r->status == dnnl_success) {
		set_factor(r, l.attr, x.factor);
	}
	if (r->status == dnnl_success && x.zero != 0) {
		tirc_dnnl_set_zero(r, l.attr, DNNL_ARG_FROM, x.zero);
	}
	if (r->status == dnnl_success) {
		tirc_dnnl_ok(r, dnnl_reorder_primitive_desc_create(
					&l.description, tirc_dnnl_md_of(r, v),
					r->engine, tirc_dnnl_md(&l.y),
					r->engine, l.attr));
	}
	return tirc_dnnl_step(r, &l, uses, 1);
}

int
tirc_dnnl_stored(struct tirc_dnnl_region *r, int v, dnnl_data_type_t element,
		 struct tirc_dnnl_scale y)
{
	tirc_dnnl_layout l;
	struct shape s;

	if (r->status != dnnl_success) {
		return 0;
	}
	plain(r, &l, v);
	v = tirc_dnnl_as_layout(r, v, &l);
	if (r->status != dnnl_success) {
		return 0;
	}
	s = tirc_dnnl_value_shape(r, v);
	then_round(r, y.zero);
	return tirc_dnnl_binary(r, dnnl_binary_div, v,
				tirc_dnnl_number(r, dnnl_f32, y.factor,
						 s.ndims),
				element, s.ndims, s.dims);
}
