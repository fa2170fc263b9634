/* SPDX-License-Identifier: Apache-2.0 */
/* In which ranges the constants of the model are that kernels compute with: read
 * once, when the text of a kernel first asks. */
#include "packer.h"

struct range_sink {
	struct dtype type;
	struct value_range range;
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

/* NULL: it is not made of whole numbers of a byte and more. */
static const struct constant_range *
range_of_weight(struct packer *k, const struct weight *w)
{
	struct range_sink s = { .type = w->tensor->type };
	struct constant_range *c;

	for (int i = 0; i < k->constants.n; i++) {
		if (k->constants.data[i]->weight == w) {
			return k->constants.data[i];
		}
	}
	if (w->paired || !dtype_is_int(s.type) || dtype_bits(s.type) < 8 ||
	    (dtype_class(s.type) == DTC_UINT && dtype_bits(s.type) > 32)) {
		return NULL;
	}
	c = arena_new(k->a, struct constant_range);
	c->weight = w;
	c->known = weight_stream(k->g, w, see_bytes, &s) && s.any;
	c->range = s.range;
	vec_push(k->a, &k->constants, c);
	return c;
}

/* Over all kernels that have the parameter. */
static bool
range_of_parameter(void *ctx, const struct buffer *b, struct value_range *out)
{
	struct packer *k = ctx;
	bool found = false;

	for (int i = 0; i < k->p->kernels.n; i++) {
		const struct kernel *kernel = k->p->kernels.data[i];

		for (int a = 0; a < kernel->args.n &&
				a < kernel->func->params.n; a++) {
			const struct kernel_arg *arg = &kernel->args.data[a];
			const struct constant_range *c;

			if (kernel->func->params.data[a].buffer != b) {
				continue;
			}
			c = arg->kind == ARG_WEIGHT
			  ? range_of_weight(k, arg->weight) : NULL;
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
	}
	return found;
}

void
packer_tell_constants(struct packer *k, struct unit *u)
{
	u->constants.range = range_of_parameter;
	u->constants.ctx = k;
	u->intrins = k->p->target->intrins;
}
