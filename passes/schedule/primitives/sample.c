/* SPDX-License-Identifier: Apache-2.0 */
/* sample_categorical, sample_perfect_tile and sample_compute_location: random
 * choices of a schedule search. Decisions are recorded; if a decision is passed
 * in, it is used instead of a random choice. The generator is splitmix64
 * (Steele, Lea, Flood 2014). */
#include "edit.h"

static uint64_t
next_random(struct sched *s)
{
	uint64_t x = s->random += 0x9e3779b97f4a7c15u;

	x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9u;
	x = (x ^ x >> 27) * 0x94d049bb133111ebu;
	return x ^ x >> 31;
}

/* A random number from 0 to n - 1. */
static int
below(struct sched *s, int n)
{
	return (int)(next_random(s) % (uint64_t)n);
}

bool
prim_sample_categorical(struct edit *e, const struct sched_value *args,
			struct sched_value *out)
{
	const struct sched_value *candidates = &args[0], *probs = &args[1];
	double sum = 0, at;
	int choice = 0;

	if (candidates->n < 1 || candidates->n != probs->n) {
		return edit_fail(e,
				 "%d candidates and %d probabilities; give "
				 "one probability to each candidate",
				 candidates->n, probs->n);
	}
	for (int i = 0; i < probs->n; i++) {
		if (!(probs->items[i].u.fval >= 0)) {
			return edit_fail(e,
					 "probs: item %d is negative; "
					 "probabilities must be at least 0",
					 i);
		}
		sum += probs->items[i].u.fval;
	}
	if (!(sum > 0)) {
		return edit_fail(e, "all probabilities are 0; give a "
				    "positive one");
	}
	if (args[2].kind == SV_INT) {
		if (args[2].u.ival < 0 || args[2].u.ival >= candidates->n) {
			return edit_fail(e,
					 "decision is %lld; the candidates "
					 "are 0 to %d",
					 (long long)args[2].u.ival,
					 candidates->n - 1);
		}
		choice = (int)args[2].u.ival;
	} else {
		at = (double)(next_random(e->s) >> 11) * 0x1p-53 * sum;
		while (choice + 1 < probs->n &&
		       at >= probs->items[choice].u.fval) {
			at -= probs->items[choice++].u.fval;
		}
	}
	e->decision = sv_int(choice);
	*out = sv_int(candidates->items[choice].u.ival);
	return true;
}

/* -- factors of a loop */

enum {
	MOST_EXTENT = 1 << 30, /* of a loop whose factors are found */
	MOST_ROOT = 1 << 10    /* no number up to it has more divisors below its
				* square root */
};

static bool
check_tile(struct edit *e, const struct sched_value *tile, int64_t extent,
	   int n)
{
	int64_t product = 1;

	for (int i = 0; i < tile->n; i++) {
		int64_t factor = tile->items[i].u.ival;

		if (factor < 1 ||
		    __builtin_mul_overflow(product, factor, &product)) {
			product = -1;
			break;
		}
	}
	return (tile->n == n && product == extent) ||
	       edit_fail(e, "decision is not a list of %d factors of %lld", n,
			 (long long)extent);
}

/* Distributes the prime factors of `rest` randomly over the first n tile sizes
 * in `tile`. */
static void
spread(struct sched *s, int64_t rest, int64_t *tile, int n)
{
	for (int64_t p = 2; rest > 1; p++) {
		if (p * p > rest) {
			p = rest;
		}
		while (rest % p == 0) {
			tile[below(s, n)] *= p;
			rest /= p;
		}
	}
}

/* Lists the divisors of extent that are at most `most`, in ascending order. */
static int
divisors_of(struct arena *a, int64_t extent, int64_t most, int64_t **out)
{
	int64_t *high;
	int n = 0, n_high = 0;

	*out = arena_array(a, int64_t, 2 * MOST_ROOT);
	high = arena_array(a, int64_t, MOST_ROOT);
	for (int64_t d = 1; d * d <= extent; d++) {
		if (extent % d == 0) {
			(*out)[n++] = d;
			if (d * d < extent) {
				high[n_high++] = extent / d;
			}
		}
	}
	while (n_high > 0) {
		(*out)[n++] = high[--n_high];
	}
	while ((*out)[n - 1] > most) {
		n--;
	}
	return n;
}

bool
prim_sample_perfect_tile(struct edit *e, const struct sched_value *args,
			 struct sched_value *out)
{
	struct arena *arena = &e->m->arena;
	const struct stmt *loop = edit_loop(e, args[0].u.id);
	int64_t n = args[1].u.ival, most = args[2].u.ival, extent;
	struct sched_value *items;
	int64_t *tile, *divisors;

	if (!loop) {
		return false;
	}
	if (!expr_is_int(loop->args[1], &extent) || extent < 1) {
		return edit_fail(e,
				 "loop %s has no constant extent; split it "
				 "by constants",
				 loop->u.loop.var->name);
	}
	if (extent > MOST_EXTENT) {
		return edit_fail(e,
				 "loop %s has %lld iterations; give it at most "
				 "%d, whose factors are found",
				 loop->u.loop.var->name, (long long)extent,
				 MOST_EXTENT);
	}
	if (n < 1 || n > 64 || most < 1) {
		return edit_fail(e,
				 "n is %lld, max_innermost_factor %lld; "
				 "both are at least 1, n at most 64",
				 (long long)n, (long long)most);
	}
	if (args[3].kind == SV_LIST) {
		e->decision = *out = args[3];
		return check_tile(e, &args[3], extent, (int)n);
	}
	items = arena_array(arena, struct sched_value, n);
	tile = arena_array(arena, int64_t, n);
	for (int i = 0; i < n; i++) {
		tile[i] = 1;
	}
	if (n > 1) {
		int choices = divisors_of(arena, extent, most, &divisors);

		tile[n - 1] = divisors[below(e->s, choices)];
	}
	spread(e->s, n > 1 ? extent / tile[n - 1] : extent, tile,
	       n > 1 ? (int)n - 1 : 1);
	for (int i = 0; i < n; i++) {
		items[i] = sv_int(tile[i]);
	}
	e->decision = *out = sv_list(e->m, items, (int)n);
	return true;
}

/* -- compute location */

static bool
legal(struct edit *e, primitive_fn *apply, int block, int loop)
{
	struct sched_value args[4] = { sv_block(block), sv_loop(loop),
				       sv_bool(false), sv_int(-1) };
	struct sched_value result = { .kind = SV_NONE };
	struct edit trial = edit_begin(e->s, e->primitive);
	int errors = e->s->diags.list.n, count = e->s->diags.n_errors;
	bool ok = apply(&trial, args, &result);

	func_rollback(e->f, trial.checkpoint);
	e->s->diags.list.n = errors;
	e->s->diags.n_errors = count;
	return ok;
}

/* Lists the loops around the block's first consumer, outermost first. */
static int
consumer_loops(struct edit *e, const struct stmt *block,
	       struct stmt_list *loops)
{
	struct stmt_list beside = { 0 };
	const struct stmt *user = NULL;
	struct stmt **list;
	int n = 0;

	blocks_below(e->f, scope_of(block)->children[0], &beside);
	for (int i = 0; i < beside.list.n && !user; i++) {
		if (block_feeds(block, beside.list.data[i])) {
			user = beside.list.data[i];
		}
	}
	for (const struct stmt *p = user; p && p->parent->kind != STMT_BLOCK;
	     p = p->parent) {
		if (p->parent->kind == STMT_FOR) {
			vec_push(&e->m->arena, &loops->list, p->parent);
			n++;
		}
	}
	list = loops->list.data;
	for (int i = 0; i < n / 2; i++) {
		struct stmt *swap = list[i];

		list[i] = list[n - 1 - i];
		list[n - 1 - i] = swap;
	}
	return n;
}

bool
prim_sample_compute_location(struct edit *e, const struct sched_value *args,
			     struct sched_value *out)
{
	struct stmt *block = edit_block(e, args[0].u.id);
	struct stmt_list loops = { 0 };
	VEC(int) choices = { 0 };
	int n, choice;

	if (!block || !scope_of(block)) {
		return edit_fail(e, "the outermost block cannot move");
	}
	n = consumer_loops(e, block, &loops);
	vec_push(&e->m->arena, &choices, LOOP_ROOT);
	if (legal(e, prim_compute_inline, block->id, 0)) {
		vec_push(&e->m->arena, &choices, LOOP_INLINE);
	}
	for (int i = 0; i < n; i++) {
		if (legal(e, prim_compute_at, block->id,
			  loops.list.data[i]->id)) {
			vec_push(&e->m->arena, &choices, i);
		}
	}
	if (args[1].kind == SV_INT) {
		choice = -3;
		for (int i = 0; i < choices.n; i++) {
			if (choices.data[i] == args[1].u.ival) {
				choice = choices.data[i];
			}
		}
		if (choice == -3) {
			return edit_fail(e,
					 "decision is %lld, where block %s "
					 "cannot go",
					 (long long)args[1].u.ival,
					 block->u.block->name);
		}
	} else {
		choice = choices.data[below(e->s, choices.n)];
	}
	e->decision = sv_int(choice);
	*out = sv_loop(choice < 0 ? choice : loops.list.data[choice]->id);
	return true;
}
