/* SPDX-License-Identifier: Apache-2.0 */
/* Offsets for blocks with live ranges (dynamic storage allocation): a strategy
 * is an order in which blocks are placed: each block takes the lowest free gap
 * between those placed blocks whose live ranges overlap its own. Then the best
 * order is improved: blocks that end at the top are moved to the front. If so
 * many blocks are live together that one strategy would take seconds, a sweep
 * over the kernels places the blocks instead. The result is deterministic.
 *
 * The orders follow the greedy algorithms of Pisarchyk and Lee, "Efficient
 * Memory Management for Deep Neural Net Inference" (2020). */
#include "storages.h"

#include <stdlib.h>

/* the most steps of the improvement: one block moved in each */
#define MAX_STEPS 400
/* the limit of search.work: pairs of blocks that are compared and spans that
 * are sorted */
#define MAX_WORK 50000000LL

/* The block that is being placed cannot start at an offset x with from < x <
 * to. */
struct span {
	int64_t from, to;
};

/* A block with its key for sorting: a strategy places blocks with larger keys
 * first. */
struct keyed {
	int64_t key;
	int block;
};

struct search {
	struct arena *arena;
	VEC(struct span) forbidden;
	const struct block_life *blocks;
	int n;
	int64_t align_bytes;
	int *order;      /* the order in which blocks are placed */
	int64_t *offset; /* by block */
	struct keyed *keyed;
	bool *placed; /* by block */
	/* the blocks whose live ranges overlap that of the block that is being
	 * placed */
	int *beside;
	struct lives lives;
	/* the number of pairs compared and spans sorted so far; the search ends
	 * when it reaches MAX_WORK */
	int64_t work;
};

static int64_t
round_up(int64_t v, int64_t to)
{
	return to > 1 ? (v + to - 1) / to * to : v;
}

static void
forbid(struct search *s, int64_t from, int64_t to)
{
	if (to > 0) {
		vec_push(s->arena, &s->forbidden, ((struct span){ from, to }));
	}
}

/* Adds to s->forbidden the spans of offsets at which b would overlap `other`,
 * which is placed at offset `at`, while both are live. */
static void
forbid_block(struct search *s, const struct block_life *b,
	     const struct block_life *other, int64_t at)
{
	struct piece whole_b = { 0, b->bytes, b->first, b->last };
	struct piece whole_other = { 0, other->bytes, other->first,
				     other->last };
	int n_b = b->n_pieces ? b->n_pieces : 1;
	int n_other = other->n_pieces ? other->n_pieces : 1;

	for (int i = 0; i < n_b; i++) {
		const struct piece *p = b->n_pieces ? &b->pieces[i] : &whole_b;

		for (int k = 0; k < n_other; k++) {
			const struct piece *q = other->n_pieces
							? &other->pieces[k]
							: &whole_other;

			if (p->first <= q->last && q->first <= p->last) {
				forbid(s, at + q->start - p->end,
				       at + q->end - p->start);
			}
		}
	}
}

static int
compare_spans(const void *pa, const void *pb)
{
	const struct span *a = pa, *b = pb;

	return a->from < b->from ? -1 : a->from > b->from;
}

/* About n * log2 n: the work of sorting n spans. */
static int64_t
sorting_work(int n)
{
	int64_t work = 0;

	for (int left = n; left > 1; left /= 2) {
		work += n;
	}
	return work;
}

/* Places a block at the lowest free offset, or, if best, in the smallest free
 * gap that it fits. */
static void
place(struct search *s, int block, bool best)
{
	const struct block_life *b = &s->blocks[block];
	int64_t align = s->align_bytes > b->align_bytes ? s->align_bytes
							: b->align_bytes;
	int64_t at = 0, chosen = -1, slack = INT64_MAX;
	int n = lives_overlapping(&s->lives, block, s->beside);

	s->forbidden.n = 0;
	for (int i = 0; i < n; i++) {
		int other = s->beside[i];

		if (s->placed[other]) {
			forbid_block(s, b, &s->blocks[other], s->offset[other]);
		}
	}
	s->work += n + sorting_work(s->forbidden.n);
	if (s->forbidden.n > 0) {
		qsort(s->forbidden.data, (size_t)s->forbidden.n,
		      sizeof *s->forbidden.data, compare_spans);
	}
	for (int i = 0; i < s->forbidden.n; i++) {
		const struct span *x = &s->forbidden.data[i];

		if (at <= x->from && x->from - at < slack) {
			slack = x->from - at;
			chosen = at;
			if (!best) {
				break;
			}
		}
		if (x->to > at) {
			at = round_up(x->to, align);
		}
	}
	s->offset[block] = chosen >= 0 ? chosen : at;
	s->placed[block] = true;
}

static int64_t
place_all(struct search *s, bool best)
{
	int64_t size = 0;

	memset(s->placed, 0, sizeof *s->placed * (size_t)s->n);
	for (int i = 0; i < s->n; i++) {
		int b = s->order[i];

		place(s, b, best);
		if (s->offset[b] + s->blocks[b].bytes > size) {
			size = s->offset[b] + s->blocks[b].bytes;
		}
	}
	return size;
}

static int
compare_keys(const void *pa, const void *pb)
{
	const struct keyed *a = pa, *b = pb;

	if (a->key != b->key) {
		return a->key > b->key ? -1 : 1;
	}
	return a->block < b->block ? -1 : a->block > b->block;
}

static void
sort_by_key(struct search *s, int64_t (*key)(const struct search *s, int b))
{
	for (int b = 0; b < s->n; b++) {
		s->keyed[b] = (struct keyed){ key(s, b), b };
	}
	qsort(s->keyed, (size_t)s->n, sizeof *s->keyed, compare_keys);
	for (int i = 0; i < s->n; i++) {
		s->order[i] = s->keyed[i].block;
	}
}

static int64_t
key_size(const struct search *s, int b)
{
	return s->blocks[b].bytes;
}

static int64_t
key_life(const struct search *s, int b)
{
	return s->blocks[b].last - s->blocks[b].first;
}

static int64_t
key_start(const struct search *s, int b)
{
	return -(int64_t)s->blocks[b].first;
}

static int64_t
key_area(const struct search *s, int b)
{
	return s->blocks[b].bytes *
	       (s->blocks[b].last - s->blocks[b].first + 1);
}

/* The key of block b in the order by conflicts: the total bytes of the blocks
 * whose live ranges overlap its own. */
static int64_t
key_conflict(const struct search *s, int b)
{
	return lives_overlapping_bytes(&s->lives, b);
}

static int64_t
key_breadth(const struct search *s, int b)
{
	return lives_peak_bytes(&s->lives, b);
}

static const struct strategy {
	const char *name;
	int64_t (*key)(const struct search *s, int b);
	bool best;
} strategies[] = {
	{ "size, best fit", key_size, true },
	{ "size, first fit", key_size, false },
	{ "start, best fit", key_start, true },
	{ "start, first fit", key_start, false },
	{ "area, best fit", key_area, true },
	{ "lifetime, best fit", key_life, true },
	{ "conflicts, best fit", key_conflict, true },
	{ "breadth, best fit", key_breadth, true },
};

#define N_STRATEGIES ((int)(sizeof strategies / sizeof *strategies))

struct best {
	int64_t size;
	int *order;
	int64_t *offset;
	bool fit;
	const char *name;
};

static void
keep(const struct search *s, struct best *best, int64_t size, bool fit,
     const char *name)
{
	best->size = size;
	best->fit = fit;
	best->name = name;
	memcpy(best->order, s->order, sizeof *s->order * (size_t)s->n);
	memcpy(best->offset, s->offset, sizeof *s->offset * (size_t)s->n);
}

/* Chooses a block in the order `best` that ends at the top of the workspace,
 * and moves it to an earlier place in the order. step: selects the block and
 * the distance. */
static void
move_top(struct search *s, const struct best *best, int step)
{
	int tops = 0, from = -1, to;
	int pick, at;

	for (int i = 0; i < s->n; i++) {
		int b = s->order[i];

		tops += best->offset[b] + s->blocks[b].bytes == best->size;
	}
	pick = step % tops;
	for (int i = 0; i < s->n && from < 0; i++) {
		int b = s->order[i];

		if (best->offset[b] + s->blocks[b].bytes == best->size &&
		    pick-- == 0) {
			from = i;
		}
	}
	/* At odd steps to the very front, at even steps by growing
	 * distances. */
	to = step % 2 ? 0 : from - 1 - step / 2 % (from + 1);
	to = to < 0 ? 0 : to;
	at = s->order[from];
	for (int i = from; i > to; i--) {
		s->order[i] = s->order[i - 1];
	}
	s->order[to] = at;
}

static void
improve(struct search *s, struct best *best, int64_t bound)
{
	int stuck = 0;

	memcpy(s->order, best->order, sizeof *s->order * (size_t)s->n);
	for (int step = 0;
	     step < MAX_STEPS && best->size > bound && s->work < MAX_WORK;
	     step++) {
		int64_t size;

		memcpy(s->order, best->order, sizeof *s->order * (size_t)s->n);
		for (int i = 0; i <= stuck % 4; i++) {
			move_top(s, best, step + i * 7);
		}
		size = place_all(s, best->fit);
		stuck++;
		if (size < best->size) {
			stuck = 0;
		}
		if (size <= best->size) {
			keep(s, best, size, best->fit,
			     size < best->size ? "improved" : best->name);
		}
	}
}

static void
try_strategies(struct search *s, struct best *best, int64_t bound)
{
	for (int i = 0; i < N_STRATEGIES && best->size > bound &&
			(i == 0 || s->work < MAX_WORK);
	     i++) {
		int64_t size;

		sort_by_key(s, strategies[i].key);
		size = place_all(s, strategies[i].best);
		if (size < best->size) {
			keep(s, best, size, strategies[i].best,
			     strategies[i].name);
		}
	}
}

/* -- the sweep */

/* The free spans of offsets, in ascending order; none touches the next. The
 * last span has no end. */
struct gaps {
	struct arena *arena;
	VEC(struct span) list;
};

static void
insert_gap(struct gaps *g, int at, struct span gap)
{
	vec_push(g->arena, &g->list, gap);
	memmove(&g->list.data[at + 1], &g->list.data[at],
		sizeof gap * (size_t)(g->list.n - 1 - at));
	g->list.data[at] = gap;
}

static void
remove_gap(struct gaps *g, int at)
{
	g->list.n--;
	memmove(&g->list.data[at], &g->list.data[at + 1],
		sizeof *g->list.data * (size_t)(g->list.n - at));
}

/* Takes the lowest free span for the block; returns its offset. */
static int64_t
take_gap(struct gaps *g, int64_t bytes, int64_t align)
{
	int i = 0;
	int64_t at = 0;
	struct span left;

	for (;; i++) {
		at = round_up(g->list.data[i].from, align);
		if (at <= g->list.data[i].to - bytes) {
			break;
		}
	}
	left = g->list.data[i];
	g->list.data[i].from = at + bytes;
	if (at + bytes == left.to) {
		remove_gap(g, i);
	}
	if (left.from < at) {
		insert_gap(g, i, (struct span){ left.from, at });
	}
	return at;
}

static void
free_gap(struct gaps *g, int64_t from, int64_t to)
{
	int low = 0, high = g->list.n;

	while (low < high) {
		int middle = low + (high - low) / 2;

		if (g->list.data[middle].from < from) {
			low = middle + 1;
		} else {
			high = middle;
		}
	}
	if (from == to) {
		return;
	}
	if (g->list.data[low].from == to) {
		g->list.data[low].from = from;
	} else {
		insert_gap(g, low, (struct span){ from, to });
	}
	if (low > 0 && g->list.data[low - 1].to == from) {
		g->list.data[low - 1].to = g->list.data[low].to;
		remove_gap(g, low);
	}
}

static int64_t
key_end(const struct search *s, int b)
{
	return -(int64_t)s->blocks[b].last;
}

/* Places the blocks, in the order in which their live ranges start, each at the
 * lowest offset that is free in its live range. A block with pieces counts as
 * live as a whole. Returns the size of the workspace in bytes. */
static int64_t
sweep(struct search *s, int64_t *offset)
{
	struct gaps g = { .arena = s->arena };
	int *by_end = arena_array(s->arena, int, s->n + 1);
	int64_t size = 0;
	int ended = 0;

	vec_push(s->arena, &g.list, ((struct span){ 0, INT64_MAX }));
	sort_by_key(s, key_end);
	memcpy(by_end, s->order, sizeof *by_end * (size_t)s->n);
	sort_by_key(s, key_start);
	for (int i = 0; i < s->n; i++) {
		const struct block_life *b = &s->blocks[s->order[i]];
		int64_t at;

		for (; s->blocks[by_end[ended]].last < b->first; ended++) {
			int old = by_end[ended];

			free_gap(&g, offset[old],
				 offset[old] + s->blocks[old].bytes);
		}
		at = take_gap(&g, b->bytes,
			      s->align_bytes > b->align_bytes ? s->align_bytes
							      : b->align_bytes);
		offset[s->order[i]] = at;
		size = at + b->bytes > size ? at + b->bytes : size;
	}
	return size;
}

/* The number of pairs of blocks whose live ranges overlap, about. */
static int64_t
count_pairs(const struct search *s)
{
	int64_t live = 0, pairs = 0;
	int *starts = arena_array(s->arena, int, s->lives.times + 1);
	int *ends = arena_array(s->arena, int, s->lives.times + 1);

	for (int b = 0; b < s->n; b++) {
		starts[s->blocks[b].first]++;
		ends[s->blocks[b].last]++;
	}
	for (int t = 0; t < s->lives.times; t++) {
		live += starts[t];
		pairs += starts[t] * live;
		live -= ends[t];
	}
	return pairs;
}

int64_t
plan_offsets(struct arena *a, struct block_life *blocks, int n,
	     int64_t align_bytes, int64_t bound_bytes, const char **strategy)
{
	struct search s = {
		.arena = a,
		.blocks = blocks,
		.n = n,
		.align_bytes = align_bytes,
		.order = arena_array(a, int, n + 1),
		.offset = arena_array(a, int64_t, n + 1),
		.keyed = arena_array(a, struct keyed, n + 1),
		.placed = arena_array(a, bool, n + 1),
		.beside = arena_array(a, int, n + 1),
	};
	struct best best = {
		.size = INT64_MAX,
		.order = arena_array(a, int, n + 1),
		.offset = arena_array(a, int64_t, n + 1),
	};

	lives_find(&s.lives, a, blocks, n);
	if (count_pairs(&s) > MAX_WORK / 8) {
		best.size = sweep(&s, best.offset);
		best.name = "start, sweep";
	} else {
		try_strategies(&s, &best, bound_bytes);
		improve(&s, &best, bound_bytes);
	}
	for (int b = 0; b < n; b++) {
		blocks[b].offset_bytes = best.offset[b];
	}
	*strategy = best.name;
	return n > 0 ? best.size : 0;
}
