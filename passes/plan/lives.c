/* SPDX-License-Identifier: Apache-2.0 */
/* An interval tree: blocks sorted by the start of their live ranges, under a
 * tree of the maxima of the ends, so that overlapping live ranges are found
 * without visiting all blocks. */
#include "storages.h"

#include <stdlib.h>

struct start {
	int first, block;
};

static int
compare_starts(const void *pa, const void *pb)
{
	const struct start *a = pa, *b = pb;

	if (a->first != b->first) {
		return a->first < b->first ? -1 : 1;
	}
	return a->block < b->block ? -1 : a->block > b->block;
}

static void
sort_by_start(struct arena *a, struct lives *l)
{
	struct start *starts = arena_array(a, struct start, l->n + 1);

	for (int i = 0; i < l->n; i++) {
		starts[i] = (struct start){ l->blocks[i].first, i };
	}
	qsort(starts, (size_t)l->n, sizeof *starts, compare_starts);
	for (int i = 0; i < l->n; i++) {
		l->by_start[i] = starts[i].block;
	}
}

void
lives_find(struct lives *l, struct arena *a, const struct block_life *blocks,
	   int n)
{
	int64_t *change;

	*l = (struct lives){ .blocks = blocks, .n = n, .leaves = 1 };
	while (l->leaves < n) {
		l->leaves *= 2;
	}
	l->by_start = arena_array(a, int, n + 1);
	sort_by_start(a, l);
	l->latest = arena_array(a, int, 2 * l->leaves);
	for (int i = 0; i < l->leaves; i++) {
		l->latest[l->leaves + i] = i < n ? blocks[l->by_start[i]].last
						 : -1;
	}
	for (int i = l->leaves - 1; i > 0; i--) {
		int left = l->latest[2 * i], right = l->latest[2 * i + 1];

		l->latest[i] = left > right ? left : right;
	}
	l->times = l->latest[1] + 1;
	l->started = arena_array(a, int64_t, l->times + 1);
	l->ended = arena_array(a, int64_t, l->times + 1);
	change = arena_array(a, int64_t, l->times + 1);
	for (int i = 0; i < n; i++) {
		l->started[blocks[i].first] += blocks[i].bytes;
		change[blocks[i].last + 1] += blocks[i].bytes;
	}
	for (int k = 0; k <= l->times; k++) {
		l->started[k] += k > 0 ? l->started[k - 1] : 0;
		l->ended[k] = change[k] + (k > 0 ? l->ended[k - 1] : 0);
	}
}

/* Sets out[*n...] to the blocks below a node of the tree whose live ranges
 * overlap b's, and adds their number to *n. The node has `width` leaves, from
 * index `from` on. */
static void
add_alive(const struct lives *l, int node, int from, int width,
	  const struct block_life *b, int *out, int *n)
{
	if (from >= l->n || l->latest[node] < b->first ||
	    l->blocks[l->by_start[from]].first > b->last) {
		return;
	}
	if (width == 1) {
		out[(*n)++] = l->by_start[from];
		return;
	}
	add_alive(l, 2 * node, from, width / 2, b, out, n);
	add_alive(l, 2 * node + 1, from + width / 2, width / 2, b, out, n);
}

int
lives_overlapping(const struct lives *l, int block, int *out)
{
	int n = 0;

	add_alive(l, 1, 0, l->leaves, &l->blocks[block], out, &n);
	return n;
}

int64_t
lives_overlapping_bytes(const struct lives *l, int block)
{
	const struct block_life *b = &l->blocks[block];

	return l->started[b->last] - l->ended[b->first];
}

int64_t
lives_peak_bytes(const struct lives *l, int block)
{
	const struct block_life *b = &l->blocks[block];
	int64_t most = 0;

	for (int k = b->first; k <= b->last; k++) {
		int64_t sum = l->started[k] - l->ended[k];

		most = sum > most ? sum : most;
	}
	return most;
}
