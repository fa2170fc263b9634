/* SPDX-License-Identifier: Apache-2.0 */
/* Reads the descriptions of a target's product instructions. */
#include "product_instr.h"

static enum product_kind
kind_of(const struct product_instr *p, const struct tensor_intrin *multiply)
{
	return multiply->threads > 0 ? PRODUCT_TENSOR_CORE
	       : p->fill != NULL     ? PRODUCT_TILE
				     : PRODUCT_DOT;
}

bool
product_describe(const struct target *t, const struct product_instr *p,
		 struct product_desc *out)
{
	const struct tensor_intrin *multiply = tensor_intrins_find(t->intrins,
								   p->multiply);
	const struct func *f;

	if (multiply == NULL || multiply->desc->params.n != 3) {
		return false;
	}
	f = multiply->desc;
	*out = (struct product_desc){
		.kind = kind_of(p, multiply),
		.instr = p,
		.multiply = multiply,
		.operand = { f->params.data[0].buffer,
			     f->params.data[1].buffer },
		.sum = f->params.data[2].buffer,
	};
	return out->operand[0] != NULL && out->operand[1] != NULL &&
	       out->sum != NULL;
}

bool
product_is_complete(const struct target *t, const struct product_desc *p)
{
	const char *const names[] = { p->instr->fill, p->instr->store,
				      p->instr->load[0], p->instr->load[1] };

	for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
		const struct tensor_intrin *other =
			names[i] != NULL
				? tensor_intrins_find(t->intrins, names[i])
				: p->multiply;

		if (other == NULL || other->desc->params.n == 0 ||
		    other->threads != p->multiply->threads) {
			return false;
		}
	}
	return true;
}

static bool
is_byte(struct dtype t)
{
	return dtype_bits(t) == 8;
}

int
target_block_elems(const struct target *t, struct dtype type)
{
	if (t->dot_loops && is_byte(type) && dtype_is_int(type)) {
		return t->vector_bytes;
	}
	for (int i = 0; i < t->n_products; i++) {
		struct product_desc p;

		if (t->products[i].fill != NULL &&
		    product_describe(t, &t->products[i], &p) &&
		    p.kind == PRODUCT_TILE && p.operand[0]->ndim == 2 &&
		    (dtype_equal(p.operand[0]->type, type) ||
		     (is_byte(p.operand[0]->type) && is_byte(type)))) {
			return (int)tensor_intrin_most(p.multiply,
						       p.operand[0]->shape[1]);
		}
	}
	return t->block_elems;
}

/* The number of adjacent elements in a column of the second operand that one
 * instruction sums; 1 for a tensor core, or if the extent is not constant. */
static int
depth_of(const struct product_desc *p)
{
	const struct buffer *b = p->operand[1];
	int64_t depth = 1;

	return p->kind != PRODUCT_TENSOR_CORE && b->ndim > 0 &&
			       expr_is_int(b->shape[b->ndim - 1], &depth)
		       ? (int)depth
		       : 1;
}

bool
target_byte_product(const struct target *t, struct dtype *data, int *depth)
{
	bool found = false;

	for (int i = 0; i < t->n_products; i++) {
		struct product_desc p;

		if (!product_describe(t, &t->products[i], &p) ||
		    !is_byte(p.operand[0]->type) ||
		    !dtype_is_int(p.operand[0]->type)) {
			continue;
		}
		if (!found) {
			*data = p.operand[0]->type;
			*depth = depth_of(&p);
		} else if (p.operand[1]->ndim > 1 && depth_of(&p) < *depth &&
			   dtype_equal(p.operand[0]->type, *data)) {
			*depth = depth_of(&p);
		}
		found = true;
	}
	if (!found && t->dot_loops) {
		*data = dtype_of(DT_U8);
		*depth = 1;
	}
	return found || t->dot_loops != 0;
}

int
target_dot_depth(const struct target *t, struct dtype data)
{
	for (int i = 0; i < t->n_products; i++) {
		struct product_desc p;

		if (product_describe(t, &t->products[i], &p) &&
		    p.kind != PRODUCT_TENSOR_CORE && p.operand[1]->ndim > 1 &&
		    dtype_equal(p.operand[0]->type, data)) {
			return depth_of(&p);
		}
	}
	return 0;
}

int
target_float_depth(const struct target *t, struct dtype type)
{
	for (int i = 0; i < t->n_products; i++) {
		struct product_desc p;

		if (product_describe(t, &t->products[i], &p) &&
		    p.kind == PRODUCT_DOT && p.operand[1]->ndim > 1 &&
		    dtype_equal(p.operand[0]->type, type) &&
		    dtype_equal(p.operand[1]->type, type) &&
		    p.sum->type.kind == DT_F32) {
			return depth_of(&p);
		}
	}
	return 0;
}
