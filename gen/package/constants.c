/* SPDX-License-Identifier: Apache-2.0 */
/* The value ranges of the model's constants. The range of a constant is
 * computed once, when the text of a kernel first needs it. */
#include "kernel.h"
#include "packer.h"
#include "plan.h"

struct range_sink {
	struct dtype type;
	struct bounds range;
	bool any;
};

static bool
see_bytes(void *ctx, const void *bytes, size_t n)
{
	struct range_sink *s = ctx;
	size_t elems = n / (size_t)dtype_bytes(s->type);

	for (size_t i = 0; i < elems; i++) {
		int64_t v = number_load(s->type, bytes, i).i;

		if (!s->any || v < s->range.min) {
			s->range.min = v;
		}
		if (!s->any || v > s->range.max) {
			s->range.max = v;
		}
		s->any = true;
	}
	return true;
}

/* The range of the elements of a constant of integers; the first call computes
 * it. NULL for other types, for types of fewer than 8 bits, for uint64, and for
 * a constant that stores two elements in a byte (paired). */
static const struct constant_range *
range_of_weight(struct packer *k, const struct weight *w)
{
	struct range_sink s = { .type = w->tensor->type };
	struct constant_range *c = k->constants[w->index];

	if (c != NULL) {
		return c;
	}
	if (w->paired || !dtype_is_int(s.type) || dtype_bits(s.type) < 8 ||
	    (dtype_class(s.type) == DTC_UINT && dtype_bits(s.type) > 32)) {
		return NULL;
	}
	c = k->constants[w->index] = arena_new(k->a, struct constant_range);
	c->known = weight_stream(k->g, w, see_bytes, &s) && s.any;
	c->range = s.range;
	return c;
}

/* Lists, for each array parameter of a kernel's function, the arguments that
 * all kernels that call the function pass to it. */
static void
list_given(struct packer *k)
{
	pointer_map_init(&k->given_first, k->a);
	for (int i = 0; i < k->p->kernels.n; i++) {
		const struct kernel *kernel = k->p->kernels.data[i];

		for (int a = 0;
		     a < kernel->args.n && a < kernel->func->params.n; a++) {
			const struct buffer *b =
				kernel->func->params.data[a].buffer;
			struct given g = { .arg = &kernel->args.data[a] };

			if (b != NULL) {
				g.next = pointer_map_get(&k->given_first, b,
							 -1);
				pointer_map_put(&k->given_first, b, k->given.n);
				vec_push(k->a, &k->given, g);
			}
		}
	}
}

bool
range_of_parameter(struct packer *k, const struct buffer *b, struct bounds *out)
{
	bool found = false;

	for (int i = pointer_map_get(&k->given_first, b, -1); i >= 0;
	     i = k->given.data[i].next) {
		const struct kernel_arg *arg = k->given.data[i].arg;
		const struct constant_range *c =
			arg->kind == ARG_WEIGHT
				? range_of_weight(k, arg->weight)
				: NULL;

		if (c == NULL || !c->known) {
			return false;
		}
		if (!found || c->range.min < out->min) {
			out->min = c->range.min;
		}
		if (!found || c->range.max > out->max) {
			out->max = c->range.max;
		}
		found = true;
	}
	return found;
}

/* Implements struct constant_ranges; ctx: the packer. */
static bool
tell_range(void *ctx, const struct buffer *b, struct bounds *out)
{
	return range_of_parameter(ctx, b, out);
}

void
packer_tell_constants(struct packer *k, struct unit *u)
{
	k->constants = arena_array(k->a, struct constant_range *,
				   k->p->weights.n + 1);
	list_given(k);
	u->constants.range = tell_range;
	u->constants.ctx = k;
	u->intrins = k->p->target->intrins;
}
