/* SPDX-License-Identifier: Apache-2.0 */
/* The facts of a target on which schedules and their times depend, in the order
 * of struct target's members. */
#include <cjson/cJSON.h>

#include "json_put.h"
#include "records.h"

static void
put_numbers(cJSON *o, const struct target *t)
{
	const struct {
		const char *name;
		int64_t value;
	} rows[] = {
		{ "vector_bytes", t->vector_bytes },
		{ "vector_registers", t->vector_registers },
		{ "scalar_accumulators", t->scalar_accumulators },
		{ "without_fma", t->without_fma },
		{ "block_elems", t->block_elems },
		{ "dot_loops", t->dot_loops },
		{ "tf32", t->tf32 },
		{ "shift_zero_points", t->shift_zero_points },
		{ "byte_vectors", t->byte_vectors },
		{ "fmax_vectors", t->fmax_vectors },
		{ "half_vectors", t->half_vectors },
		{ "complete_unroll", t->complete_unroll },
		{ "l1_bytes", t->l1_bytes },
		{ "l2_bytes", t->l2_bytes },
		{ "prefetch_bytes", t->prefetch_bytes },
		{ "cores", t->cores },
		{ "core_gflops", t->core_gflops },
		{ "core_gbytes", t->core_gbytes },
		{ "cache_gbytes", t->cache_gbytes },
		{ "fork_ns", t->fork_ns },
		{ "stack_limit_bytes", t->stack_limit_bytes },
		{ "align_bytes", t->align_bytes },
		{ "max_threads", t->max_threads },
		{ "shared_bytes", t->shared_bytes },
		{ "block_threads", t->block_threads },
		{ "max_blocks", t->max_blocks },
		{ "copy_ahead_registers", t->copy_ahead_registers },
		{ "box_bytes", t->box_bytes },
		{ "warp_threads", t->warp_threads },
		{ "warp_size", t->warp_size },
		{ "async_stages", t->async_stages },
		{ "units", t->units },
		{ "loose_weights", t->loose_weights },
		{ "copied_borders", t->copied_borders },
	};

	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		if (rows[i].value != 0) {
			cJSON_AddNumberToObject(o, rows[i].name,
						(double)rows[i].value);
		}
	}
}

static void
put_lists(struct arena *a, cJSON *o, const struct target *t)
{
	cJSON *products = cJSON_CreateArray();

	for (int i = 0; i < t->n_products; i++) {
		cJSON_AddItemToArray(products,
				     cJSON_CreateString(
					     t->products[i].multiply));
	}
	cJSON_AddItemToObject(o, "products", products);
	cJSON_AddStringToObject(o, "vectors", dtype_list_text(a, t->vectors));
}

const char *
target_facts_text(struct module *m, const struct target *t)
{
	cJSON *o = cJSON_CreateObject();
	struct strbuf text;
	const char *copy;

	cJSON_AddStringToObject(o, "dialect", t->dialect);
	cJSON_AddStringToObject(o, "goal", t->goal != NULL ? t->goal : "speed");
	cJSON_AddStringToObject(o, "fp", t->fp != NULL ? t->fp : "default");
	put_numbers(o, t);
	put_lists(&m->arena, o, t);
	strbuf_init(&text);
	json_put(&text, o, false);
	copy = arena_strndup(&m->arena, text.data, text.len);
	strbuf_release(&text);
	cJSON_Delete(o);
	return copy;
}
