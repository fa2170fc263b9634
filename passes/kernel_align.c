/* SPDX-License-Identifier: Apache-2.0 */
/* Once the plan has placed everything: which arrays of vectors lie where
 * whole vectors may. What the caller gives may lie anywhere. */
#include "host_device.h"
#include "kernel_build.h"

static int64_t
address_align(int64_t base_align, int64_t offset)
{
	int64_t own = offset & -offset;

	return offset == 0 || own > base_align ? base_align : own;
}

static struct placement *
place_of(struct program *p, const struct kernel *k,
	 const struct kernel_arg *arg)
{
	for (int i = 0; i < p->plan.places.n; i++) {
		struct placement *at = &p->plan.places.data[i];

		if (arg->kind == ARG_SCRATCH
		    ? at->scratch_of == k && at->scratch == arg->buffer
		    : at->tensor != NULL && at->tensor == arg->tensor) {
			return at;
		}
	}
	return NULL;
}

/* The alignment that the argument's address is known to have, 0: none. */
static int64_t
known_align(struct program *p, const struct kernel_arg *arg,
	    const struct placement *at)
{
	if (arg->kind == ARG_WEIGHT) {
		return p->target->align_bytes;
	}
	return at != NULL && at->kind == PLACE_WORKSPACE
	       ? address_align(p->plan.align_bytes, at->offset_bytes) : 0;
}

static void
replace_param(struct func *f, const struct buffer *from,
	      const struct buffer *to)
{
	for (int i = 0; i < f->params.n; i++) {
		if (f->params.data[i].buffer == from) {
			stmt_replace_buffer(f, f->body, from, to);
			f->params.data[i].buffer = to;
			f->params.data[i].var = to->data;
		}
	}
}

static void
align_arg(struct program *p, struct kernel *k, struct kernel_arg *arg)
{
	const struct buffer *b = arg->buffer;
	struct placement *at = place_of(p, k, arg);
	int bytes = buffer_element_bytes(b);
	struct buffer_spec spec = {
		.name = b->name, .type = b->type, .ndim = b->ndim,
		.shape = b->shape, .strides = b->strides, .scope = b->scope,
		.align_bytes = bytes,
	};

	if (known_align(p, arg, at) < bytes || b->align_bytes >= bytes) {
		return;
	}
	arg->buffer = buffer_new(p->graph->module, &spec);
	if (at != NULL && at->scratch == b) {
		at->scratch = arg->buffer;
	}
	if (k->device != NULL) {
		for (int l = 0; l < k->device->n_launches; l++) {
			replace_param(k->device->launches[l].kernel, b,
				      arg->buffer);
		}
	} else {
		replace_param(k->func, b, arg->buffer);
	}
}

void
kernels_align(struct program *p)
{
	for (int i = 0; i < p->kernels.n; i++) {
		struct kernel *k = p->kernels.data[i];

		for (int a = 0; a < k->args.n; a++) {
			if (k->args.data[a].buffer != NULL &&
			    k->args.data[a].buffer->type.lanes > 1) {
				align_arg(p, k, &k->args.data[a]);
			}
		}
	}
}
