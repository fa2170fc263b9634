/* tirc_dnnl_posts.c, written by tirc beside models that use it.
 * SPDX-License-Identifier: MIT-0
 *
 * Post-operations and other attributes of primitives. */
#include "tirc_dnnl_parts.h"

void
tirc_dnnl_then(struct tirc_dnnl_region *r, struct tirc_dnnl_post post)
{
	if (r->n_posts == TIRC_DNNL_POSTS) {
		tirc_dnnl_ok(r, dnnl_invalid_arguments);
	} else {
		r->posts[r->n_posts++] = post;
	}
}

void
tirc_dnnl_then_eltwise(struct tirc_dnnl_region *r, dnnl_alg_kind_t kind,
		       float alpha, float beta)
{
	tirc_dnnl_then(r, (struct tirc_dnnl_post){ .kind = (int)kind,
						   .alpha = alpha,
						   .beta = beta,
						   .operand = -1 });
}

void
tirc_dnnl_then_binary(struct tirc_dnnl_region *r, dnnl_alg_kind_t kind,
		      int operand)
{
	tirc_dnnl_then(r, (struct tirc_dnnl_post){ .kind = (int)kind,
						   .operand = operand });
}

void
tirc_dnnl_then_combine(struct tirc_dnnl_region *r, dnnl_alg_kind_t kind,
		       int operand, int ndims)
{
	tirc_dnnl_then_binary(r, kind, tirc_dnnl_raised(r, operand, ndims));
}

void
tirc_dnnl_then_add(struct tirc_dnnl_region *r, float factor, int operand,
		   bool in_place)
{
	tirc_dnnl_then(r, (struct tirc_dnnl_post){ .kind = (int)dnnl_binary_add,
						   .alpha = factor,
						   .operand = operand,
						   .in_place = in_place,
						   .is_sum = true });
}

#if DNNL_VERSION_MAJOR < 3
/* Does a post-operation before number i apply the same function with other
 * parameters? */
static bool
is_repeated(const struct tirc_dnnl_region *r, int i)
{
	const struct tirc_dnnl_post *p = &r->posts[i];

	for (int k = 0; k < i; k++) {
		const struct tirc_dnnl_post *q = &r->posts[k];

		if (q->operand < 0 && q->kind == p->kind &&
		    (q->alpha != p->alpha || q->beta != p->beta)) {
			return true;
		}
	}
	return false;
}

/* If a post-operation is a function of the same kind as an earlier one, with
 * other parameters, replaces it by two binary operations with one number each:
 * kernels of oneDNN 2 may use the parameters of the first function for all
 * functions of its kind. Fails for functions other than linear and clip. */
static void
split_repeated(struct tirc_dnnl_region *r, int ndims)
{
	for (int i = 1; i < r->n_posts; i++) {
		const struct tirc_dnnl_post p = r->posts[i];
		const bool linear = p.kind == (int)dnnl_eltwise_linear;

		if (p.operand >= 0 || !is_repeated(r, i)) {
			continue;
		}
		if ((!linear && p.kind != (int)dnnl_eltwise_clip) ||
		    r->n_posts == TIRC_DNNL_POSTS) {
			tirc_dnnl_ok(r, dnnl_unimplemented);
			return;
		}
		memmove(&r->posts[i + 2], &r->posts[i + 1],
			(size_t)(r->n_posts - i - 1) * sizeof p);
		r->posts[i++] = (struct tirc_dnnl_post){
			.kind = (int)(linear ? dnnl_binary_mul
					     : dnnl_binary_max),
			.operand = tirc_dnnl_number(r, dnnl_f32, p.alpha, ndims)
		};
		r->posts[i] = (struct tirc_dnnl_post){
			.kind = (int)(linear ? dnnl_binary_add
					     : dnnl_binary_min),
			.operand = tirc_dnnl_number(r, dnnl_f32, p.beta, ndims)
		};
		r->n_posts++;
	}
}

static dnnl_status_t
append_eltwise(dnnl_post_ops_t ops, const struct tirc_dnnl_post *p)
{
	return dnnl_post_ops_append_eltwise(ops, 1.0f, (dnnl_alg_kind_t)p->kind,
					    p->alpha, p->beta);
}

static dnnl_status_t
append_sum(dnnl_post_ops_t ops, float scale)
{
	return dnnl_post_ops_append_sum(ops, scale);
}
#else
static void
split_repeated(struct tirc_dnnl_region *r, int ndims)
{
	(void)r; /* only version 2 of oneDNN needs the change */
	(void)ndims;
}

static dnnl_status_t
append_eltwise(dnnl_post_ops_t ops, const struct tirc_dnnl_post *p)
{
	return dnnl_post_ops_append_eltwise(ops, (dnnl_alg_kind_t)p->kind,
					    p->alpha, p->beta);
}

static dnnl_status_t
append_sum(dnnl_post_ops_t ops, float scale)
{
	return dnnl_post_ops_append_sum(ops, scale, 0, dnnl_data_type_undef);
}
#endif

/* Chooses the addition whose operand may be in the result's memory: the first
 * one whose operand has the type of the result. The operands of all other
 * additions are read from their own memory. */
static void
choose_sum(struct tirc_dnnl_region *r, dnnl_data_type_t element)
{
	bool chosen = false;

	for (int i = 0; i < r->n_posts && r->status == dnnl_success; i++) {
		struct tirc_dnnl_post *p = &r->posts[i];

		p->is_sum = p->is_sum && !chosen &&
			    tirc_dnnl_value_shape(r, p->operand).element ==
				    element;
		chosen = chosen || p->is_sum;
	}
}

static dnnl_status_t
append(const struct tirc_dnnl_region *r, dnnl_post_ops_t ops,
       const struct tirc_dnnl_post *p)
{
	if (p->is_sum) {
		return append_sum(ops, p->alpha);
	}
	if (p->operand >= 0) {
		return dnnl_post_ops_append_binary(ops,
						   (dnnl_alg_kind_t)p->kind,
						   tirc_dnnl_md_of(r,
								   p->operand));
	}
	return append_eltwise(ops, p);
}

static void
set_posts(struct tirc_dnnl_region *r, dnnl_primitive_attr_t attr,
	  dnnl_data_type_t element, int ndims)
{
	dnnl_post_ops_t ops = NULL;

	split_repeated(r, ndims);
	choose_sum(r, element);
	if (r->status == dnnl_success) {
		tirc_dnnl_ok(r, dnnl_post_ops_create(&ops));
	}
	for (int i = 0; i < r->n_posts && r->status == dnnl_success; i++) {
		tirc_dnnl_ok(r, append(r, ops, &r->posts[i]));
	}
	if (r->status == dnnl_success) {
		tirc_dnnl_ok(r, dnnl_primitive_attr_set_post_ops(attr, ops));
	}
	if (ops != NULL) {
		dnnl_post_ops_destroy(ops);
	}
}

dnnl_primitive_attr_t
tirc_dnnl_attr(struct tirc_dnnl_region *r, bool posts, dnnl_data_type_t element,
	       int ndims)
{
	dnnl_primitive_attr_t attr = NULL;

	if (r->status == dnnl_success &&
	    tirc_dnnl_ok(r, dnnl_primitive_attr_create(&attr))) {
		tirc_dnnl_ok(r, dnnl_primitive_attr_set_scratchpad_mode(
					attr, dnnl_scratchpad_mode_user));
	}
	if (r->outside != 0 && r->status == dnnl_success) {
		tirc_dnnl_set_zero(r, attr, DNNL_ARG_SRC, r->outside);
	}
	r->outside = 0;
	if (posts && r->n_posts > 0 && r->status == dnnl_success) {
		set_posts(r, attr, element, ndims);
	}
	return attr;
}
