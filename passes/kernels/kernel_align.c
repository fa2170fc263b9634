/* SPDX-License-Identifier: Apache-2.0 */
/* Notes which arrays of vectors are aligned to whole vectors, after the memory
 * is planned. The caller's arrays may have any alignment. */
#include "host_device.h"
#include "kernel_build.h"
#include "plan.h"

static int64_t
address_align(int64_t base_align, int64_t offset)
{
	int64_t own = offset & -offset;

	return offset == 0 || own > base_align ? base_align : own;
}

/* The alignment in bytes that the address of the argument surely has; 0 if no
 * alignment is known. */
static int64_t
known_align(struct program *p, const struct kernel_arg *arg,
	    const struct placement *at)
{
	if (arg->kind == ARG_WEIGHT) {
		return p->target->loose_weights ? 0 : p->target->align_bytes;
	}
	return at != NULL && at->kind == PLACE_WORKSPACE
		       ? address_align(p->plan.align_bytes, at->offset_bytes)
		       : 0;
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
	struct placement *scratch = arg->kind != ARG_SCRATCH
					    ? NULL
					    : plan_find_scratch(&p->plan, k, b);
	const struct placement *at = arg->kind == ARG_SCRATCH ? scratch
				     : arg->tensor != NULL
					     ? plan_find(&p->plan, arg->tensor)
					     : NULL;
	int bytes = buffer_element_bytes(b);
	struct buffer_spec spec = {
		.name = b->name,
		.type = b->type,
		.ndim = b->ndim,
		.shape = b->shape,
		.strides = b->strides,
		.scope = b->scope,
		.align_bytes = bytes,
	};

	if (known_align(p, arg, at) < bytes || b->align_bytes >= bytes) {
		return;
	}
	arg->buffer = buffer_new(p->graph->module, &spec);
	if (scratch != NULL) {
		scratch->scratch = arg->buffer;
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
