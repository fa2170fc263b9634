/* tirc_dnnl.c, written by tirc beside models that use it.
 * SPDX-License-Identifier: MIT-0
 *
 * A region from its plan to its end: memory of values, objects of oneDNN,
 * runs. */
#include "tirc_dnnl_parts.h"

/* Does not compile if struct tirc_dnnl_argument differs from dnnl_exec_arg_t,
 * because lists of the first type are passed as lists of the second, or if
 * dnnl_success is not 0. */
struct tirc_dnnl_relies_on {
	int same_size[sizeof(struct tirc_dnnl_argument) ==
				      sizeof(dnnl_exec_arg_t)
			      ? 1
			      : -1];
	int same_place[offsetof(struct tirc_dnnl_argument, memory) ==
				       offsetof(dnnl_exec_arg_t, memory)
			       ? 1
			       : -1];
	int success_is_0[dnnl_success == 0 ? 1 : -1];
};

enum { ALIGN = 64 };

int
tirc_dnnl_open(struct tirc_dnnl *shared)
{
	dnnl_status_t status = dnnl_engine_create(&shared->engine, dnnl_cpu, 0);

	if (status == dnnl_success) {
		status = dnnl_stream_create(&shared->stream, shared->engine,
					    dnnl_stream_default_flags);
	}
	return (int)status;
}

void
tirc_dnnl_close(struct tirc_dnnl *shared)
{
	dnnl_stream_destroy(shared->stream);
	dnnl_engine_destroy(shared->engine);
	shared->stream = NULL;
	shared->engine = NULL;
}

/* -- the plan -- */

/* Sets the offset of each value that owns memory: the lowest offset at which no
 * other value is live during the steps that use the value. Returns the number
 * of bytes of all values. */
static size_t
place_values(struct tirc_dnnl_region *r)
{
	size_t bytes = 0;

	for (int i = 0; i < r->n_values && r->status == dnnl_success; i++) {
		struct tirc_dnnl_value *v = &r->values[i];

		if (v->input >= 0 || v->output >= 0 || v->is_fixed ||
		    v->place != i) {
			continue;
		}
		v->bytes = (dnnl_memory_desc_get_size(tirc_dnnl_md_of(r, i)) +
			    ALIGN - 1) /
			   ALIGN * ALIGN;
		for (int k = 0; k < i; k++) {
			const struct tirc_dnnl_value *o = &r->values[k];

			if (o->bytes > 0 && o->first <= v->last &&
			    v->first <= o->last &&
			    o->offset < v->offset + v->bytes &&
			    v->offset < o->offset + o->bytes) {
				v->offset = o->offset + o->bytes;
				k = -1; /* check all values again */
			}
		}
		if (bytes < v->offset + v->bytes) {
			bytes = v->offset + v->bytes;
		}
	}
	return bytes + ALIGN - 1; /* for the alignment */
}

/* Clears the whole region except its lists, and then describes it. */
static void
describe_as(struct tirc_dnnl_region *r, const struct tirc_dnnl *shared,
	    tirc_dnnl_describe *describe, const void *weights, bool by_tiles)
{
	*r = (struct tirc_dnnl_region){ .values = r->values,
					.steps = r->steps,
					.uses = r->uses,
					.arguments = r->arguments,
					.most_values = r->most_values,
					.most_steps = r->most_steps,
					.most_uses = r->most_uses,
					.engine = shared->engine,
					.stream = shared->stream,
					.by_tiles = by_tiles };
	describe(r, weights);
}

/* Describes the region with Winograd's algorithm for the convolutions for which
 * oneDNN has it; without this algorithm if more steps of the region would be
 * slow with it. */
static void
describe_best(struct tirc_dnnl_region *r, const struct tirc_dnnl *shared,
	      tirc_dnnl_describe *describe, const void *weights)
{
	int n_slow;

	describe_as(r, shared, describe, weights, false);
	if (r->status != dnnl_success || !r->can_tile) {
		return;
	}
	n_slow = r->n_slow;
	tirc_dnnl_free(r);
	describe_as(r, shared, describe, weights, true);
	if (r->status != dnnl_success || r->n_tiled == 0 ||
	    r->n_slow > n_slow) {
		tirc_dnnl_free(r);
		describe_as(r, shared, describe, weights, false);
	}
}

size_t
tirc_dnnl_plan(struct tirc_dnnl_region *r, const struct tirc_dnnl *shared,
	       tirc_dnnl_describe *describe, const void *weights)
{
	describe_best(r, shared, describe, weights);
	return place_values(r);
}

/* -- objects of oneDNN -- */

/* Copies the fixed value `from` into the layout of the value `to`. */
static void
pack(struct tirc_dnnl_region *r, int from, int to)
{
	dnnl_primitive_desc_t d = NULL;
	dnnl_primitive_t reorder = NULL;
	const dnnl_exec_arg_t arguments[] = {
		{ DNNL_ARG_FROM, r->values[from].memory },
		{ DNNL_ARG_TO, r->values[to].memory }
	};

	if (tirc_dnnl_ok(r, dnnl_reorder_primitive_desc_create(
				    &d, tirc_dnnl_md_of(r, from), r->engine,
				    tirc_dnnl_md_of(r, to), r->engine, NULL)) &&
	    tirc_dnnl_ok(r, dnnl_primitive_create(&reorder, d)) &&
	    tirc_dnnl_ok(r, dnnl_primitive_execute(reorder, r->stream, 2,
						   arguments))) {
		tirc_dnnl_ok(r, dnnl_stream_wait(r->stream));
	}
	dnnl_primitive_destroy(reorder);
	dnnl_primitive_desc_destroy(d);
}

/* Computes value i once, in memory of oneDNN's own, since the region's memory
 * may be overwritten between runs. */
static void
make_fixed(struct tirc_dnnl_region *r, int i)
{
	struct tirc_dnnl_value *v = &r->values[i];
	struct dnnl_memory *memory = NULL;

	if (!tirc_dnnl_ok(r, dnnl_memory_create(&memory, tirc_dnnl_md_of(r, i),
						r->engine,
						DNNL_MEMORY_ALLOCATE))) {
		return;
	}
	dnnl_memory_destroy(v->memory);
	v->memory = memory;
	if (v->original >= 0) {
		pack(r, v->original, i);
	} else {
		tirc_dnnl_fill(r, v);
	}
}

static void
make_value(struct tirc_dnnl_region *r, int i, unsigned char *memory)
{
	struct tirc_dnnl_value *v = &r->values[i];
	const struct tirc_dnnl_value *place = &r->values[v->place];

	if (v->recipe == TIRC_DNNL_GIVEN) {
		tirc_dnnl_ok(r,
			     dnnl_memory_set_data_handle(v->memory,
							 (void *)v->constant));
	} else if (v->is_fixed) {
		make_fixed(r, i);
	} else if (place->input < 0 && place->output < 0) {
		tirc_dnnl_ok(r, dnnl_memory_set_data_handle(
					v->memory, memory + place->offset));
	} /* the pointers of inputs and outputs are set by each run */
}

void
tirc_dnnl_make(struct tirc_dnnl_region *r, void *memory)
{
	unsigned char *aligned = memory;

	if (r->status != dnnl_success) {
		return;
	}
	aligned += (ALIGN - (uintptr_t)memory % ALIGN) % ALIGN;
	for (int i = 0; i < r->n_values && r->status == dnnl_success; i++) {
		make_value(r, i, aligned);
	}
	for (int i = 0; i < r->n_uses; i++) {
		r->arguments[i] = (struct tirc_dnnl_argument){
			r->uses[i].argument, r->values[r->uses[i].value].memory
		};
	}
	for (int i = 0; i < r->n_steps && r->status == dnnl_success; i++) {
		struct tirc_dnnl_step *s = &r->steps[i];

		if (tirc_dnnl_ok(r, dnnl_primitive_create(&s->primitive,
							  s->description))) {
			dnnl_primitive_desc_destroy(s->description);
			s->description = NULL;
		}
	}
}

int
tirc_dnnl_run(const struct tirc_dnnl_region *r, const void *const *inputs,
	      void *const *outputs)
{
	const dnnl_exec_arg_t *arguments = (const void *)r->arguments;
	dnnl_status_t status = dnnl_success;

	for (int i = 0; i < r->n_values && status == dnnl_success; i++) {
		const struct tirc_dnnl_value *v = &r->values[i];
		const struct tirc_dnnl_value *place = &r->values[v->place];

		if (place->input >= 0) {
			status = dnnl_memory_set_data_handle(
				v->memory, (void *)inputs[place->input]);
		} else if (place->output >= 0) {
			status = dnnl_memory_set_data_handle(
				v->memory, outputs[place->output]);
		}
	}
	for (int i = 0; i < r->n_steps && status == dnnl_success; i++) {
		const struct tirc_dnnl_step *s = &r->steps[i];

		status = dnnl_primitive_execute(s->primitive, r->stream,
						s->n_uses,
						arguments + s->first_use);
	}
	return (int)(status == dnnl_success ? dnnl_stream_wait(r->stream)
					    : status);
}

void
tirc_dnnl_free(struct tirc_dnnl_region *r)
{
	for (int i = 0; i < r->n_steps; i++) {
		dnnl_primitive_destroy(r->steps[i].primitive);
		dnnl_primitive_desc_destroy(r->steps[i].description);
	}
	for (int i = 0; i < r->n_values; i++) {
		dnnl_memory_destroy(r->values[i].memory);
	}
	r->n_steps = 0;
	r->n_values = 0;
	r->n_uses = 0;
}
