/* SPDX-License-Identifier: Apache-2.0 */
/* The shorthands of schedule.h, with arguments of C types. */
#include "schedule.h"

/* Sets *out to the ids of the items in `list`, a list of results, as an array
 * in the arena; returns their number. */
static int
ids_of(struct sched *s, const struct sched_value *list, int **out)
{
	*out = arena_array(&s->module->arena, int, list->n + 1);
	for (int i = 0; i < list->n; i++) {
		(*out)[i] = list->items[i].u.id;
	}
	return list->n;
}

static struct sched_value
loop_list(struct sched *s, const int *loops, int n)
{
	struct sched_value *items = arena_array(&s->module->arena,
						struct sched_value, n + 1);

	for (int i = 0; i < n; i++) {
		items[i] = sv_loop(loops[i]);
	}
	return sv_list(s->module, items, n);
}

/* Applies a primitive that has one argument and returns nothing. False after a
 * diagnostic. */
static bool
apply_to(struct sched *s, const char *primitive, struct sched_value arg)
{
	return sched_apply(s, primitive, &arg, 1, NULL);
}

int
sched_get_block(struct sched *s, const char *name)
{
	struct sched_value arg = sv_string(
				   arena_strdup(&s->module->arena, name)),
			   out;

	return sched_apply(s, "get_block", &arg, 1, &out) ? out.u.id : 0;
}

static bool
query(struct sched *s, const char *primitive, struct sched_value arg, int **ids,
      int *n)
{
	struct sched_value out;

	if (!sched_apply(s, primitive, &arg, 1, &out)) {
		return false;
	}
	*n = ids_of(s, &out, ids);
	return true;
}

bool
sched_get_loops(struct sched *s, int block, int **loops, int *n)
{
	return query(s, "get_loops", sv_block(block), loops, n);
}

int
sched_get_child_blocks(struct sched *s, int scope, int **blocks)
{
	int n = 0;

	if (scope == 0 && s->func->body->kind == STMT_BLOCK) {
		scope = sched_get_block(s, s->func->body->u.block->name);
	}
	query(s, "get_child_blocks", sv_block(scope), blocks, &n);
	return n;
}

bool
sched_get_producers(struct sched *s, int block, int **blocks, int *n)
{
	return query(s, "get_producers", sv_block(block), blocks, n);
}

bool
sched_get_consumers(struct sched *s, int block, int **blocks, int *n)
{
	return query(s, "get_consumers", sv_block(block), blocks, n);
}

bool
sched_split(struct sched *s, int loop, const int64_t *factors, int n, int *out)
{
	struct sched_value *items = arena_array(&s->module->arena,
						struct sched_value, n + 1);
	struct sched_value args[2] = { sv_loop(loop) }, result;

	for (int i = 0; i < n; i++) {
		items[i] = factors[i] == 0 ? sv_none() : sv_int(factors[i]);
	}
	args[1] = sv_list(s->module, items, n);
	if (!sched_apply(s, "split", args, 2, &result)) {
		return false;
	}
	for (int i = 0; i < n; i++) {
		out[i] = result.items[i].u.id;
	}
	return true;
}

bool
sched_fuse(struct sched *s, const int *loops, int n, int *out)
{
	struct sched_value arg = loop_list(s, loops, n), result;

	if (!sched_apply(s, "fuse", &arg, 1, &result)) {
		return false;
	}
	*out = result.u.id;
	return true;
}

bool
sched_merge(struct sched *s, int first, int second)
{
	int loops[2] = { first, second };

	return apply_to(s, "merge", loop_list(s, loops, 2));
}

bool
sched_reorder(struct sched *s, const int *loops, int n)
{
	return apply_to(s, "reorder", loop_list(s, loops, n));
}

bool
sched_reorder_block_iters(struct sched *s, int block, const int *order, int n)
{
	struct sched_value *items = arena_array(&s->module->arena,
						struct sched_value, n + 1);
	struct sched_value args[2] = { sv_block(block) };

	for (int i = 0; i < n; i++) {
		items[i] = sv_int(order[i]);
	}
	args[1] = sv_list(s->module, items, n);
	return sched_apply(s, "reorder_block_iter_var", args, 2, NULL);
}

bool
sched_parallel(struct sched *s, int loop)
{
	return apply_to(s, "parallel", sv_loop(loop));
}

bool
sched_vectorize(struct sched *s, int loop)
{
	return apply_to(s, "vectorize", sv_loop(loop));
}

bool
sched_unroll(struct sched *s, int loop)
{
	return apply_to(s, "unroll", sv_loop(loop));
}

bool
sched_bind(struct sched *s, int loop, const char *thread)
{
	struct sched_value args[2] = { sv_loop(loop), sv_string(thread) };

	return sched_apply(s, "bind", args, 2, NULL);
}

bool
sched_compute_inline(struct sched *s, int block)
{
	return apply_to(s, "compute_inline", sv_block(block));
}

bool
sched_reverse_compute_inline(struct sched *s, int block)
{
	return apply_to(s, "reverse_compute_inline", sv_block(block));
}

bool
sched_compute_at(struct sched *s, int block, int loop)
{
	struct sched_value args[2] = { sv_block(block), sv_loop(loop) };

	return sched_apply(s, "compute_at", args, 2, NULL);
}

bool
sched_reverse_compute_at(struct sched *s, int block, int loop)
{
	struct sched_value args[2] = { sv_block(block), sv_loop(loop) };

	return sched_apply(s, "reverse_compute_at", args, 2, NULL);
}

static bool
make_block(struct sched *s, const char *primitive,
	   const struct sched_value *args, int n, int *out)
{
	struct sched_value result;

	if (!sched_apply(s, primitive, args, n, &result)) {
		return false;
	}
	*out = result.u.id;
	return true;
}

bool
sched_cache_write(struct sched *s, int block, int write_index,
		  const char *scope, int *out)
{
	struct sched_value args[3] = { sv_block(block), sv_int(write_index),
				       sv_string(scope) };

	return make_block(s, "cache_write", args, 3, out);
}

bool
sched_cache_read(struct sched *s, int block, int read_index, const char *scope,
		 int *out)
{
	struct sched_value args[3] = { sv_block(block), sv_int(read_index),
				       sv_string(scope) };

	return make_block(s, "cache_read", args, 3, out);
}

bool
sched_reindex(struct sched *s, int block, int write_index, int *out)
{
	struct sched_value buffer[2] = { sv_string("write"),
					 sv_int(write_index) };
	struct sched_value args[2] = { sv_block(block),
				       sv_list(s->module, buffer, 2) };

	return make_block(s, "reindex", args, 2, out);
}

bool
sched_decompose_reduction(struct sched *s, int block, int loop, int *out)
{
	struct sched_value args[2] = { sv_block(block), sv_loop(loop) };

	return make_block(s, "decompose_reduction", args, 2, out);
}

bool
sched_rfactor_inside(struct sched *s, int loop, int factor_axis, int *out)
{
	struct sched_value args[2] = { sv_loop(loop), sv_int(factor_axis) };

	return make_block(s, "rfactor_inside", args, 2, out);
}

bool
sched_set_scope(struct sched *s, int block, int write_index, const char *scope)
{
	struct sched_value args[3] = { sv_block(block), sv_int(write_index),
				       sv_string(scope) };

	return sched_apply(s, "set_scope", args, 3, NULL);
}

bool
sched_annotate(struct sched *s, int loop_or_block, const char *key,
	       struct sched_value value)
{
	const struct stmt *at = func_find(s->func, loop_or_block);
	struct sched_value args[3] = { at && at->kind == STMT_BLOCK
					       ? sv_block(loop_or_block)
					       : sv_loop(loop_or_block),
				       sv_string(key), value };

	return sched_apply(s, "annotate", args, 3, NULL);
}

bool
sched_transform_layout(struct sched *s, int block, bool write, int index,
		       const struct index_map *map)
{
	struct sched_value which[2] = { sv_string(write ? "write" : "read"),
					sv_int(index) };
	struct sched_value args[3] = { sv_block(block),
				       sv_list(s->module, which, 2),
				       sv_map(map) };

	return sched_apply(s, "transform_layout", args, 3, NULL);
}

bool
sched_rename_loop(struct sched *s, int loop, const char *name)
{
	struct sched_value args[2] = { sv_loop(loop), sv_string(name) };

	return sched_apply(s, "rename_loop", args, 2, NULL);
}

bool
sched_rename_buffer(struct sched *s, int block, int write_index,
		    const char *name)
{
	struct sched_value args[3] = { sv_block(block), sv_int(write_index),
				       sv_string(name) };

	return sched_apply(s, "rename_buffer", args, 3, NULL);
}
