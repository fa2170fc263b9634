/* SPDX-License-Identifier: Apache-2.0 */
/* Splits a storage into byte ranges with separate live ranges: a part of a
 * concatenation is not live before it is written, nor after it is read for the
 * last time. */
#include "storages.h"

#include <stdlib.h>

static int
compare_edges(const void *pa, const void *pb)
{
	const int64_t *a = pa, *b = pb;

	return *a < *b ? -1 : *a > *b;
}

static int
find_edge(const int64_t *edges, int n, int64_t at)
{
	int low = 0, high = n - 1;

	while (low < high) {
		int middle = (low + high) / 2;

		if (edges[middle] < at) {
			low = middle + 1;
		} else {
			high = middle;
		}
	}
	return low;
}

/* The byte ranges between adjacent edges (starts and ends of uses), and for
 * each range the first or the last use that covers it. */
struct runs {
	int64_t *edges; /* ascending, each once */
	/* the number of ranges, which is one less than the number of edges */
	int n;
	/* by range: the use that covers it; -1 if no use does */
	int *use;
	/* by range: itself if no use is assigned to it yet; else a range after
	 * it, from which the search for the next range without a use
	 * continues */
	int *next;
};

static int
next_free(struct runs *r, int run)
{
	int at = run;

	while (r->next[at] != at) {
		at = r->next[at];
	}
	while (r->next[run] != at) {
		int next = r->next[run];

		r->next[run] = at;
		run = next;
	}
	return at;
}

/* Assigns to each range the first use that covers it. Uses are taken in the
 * order of the kernels (step 1) or in reverse order (step -1). */
static void
cover(struct runs *r, const struct storage *s, int step)
{
	int n = s->touched.n;

	for (int i = 0; i <= r->n; i++) {
		r->use[i] = -1;
		r->next[i] = i;
	}
	for (int k = 0; k < n; k++) {
		int i = step > 0 ? k : n - 1 - k;
		const struct piece *use = &s->touched.data[i];
		int end = find_edge(r->edges, r->n + 1, use->end);
		int at = next_free(r,
				   find_edge(r->edges, r->n + 1, use->start));

		for (; at < end; at = next_free(r, at)) {
			r->use[at] = i;
			r->next[at] = at + 1;
		}
	}
}

static struct runs
find_runs(struct arena *a, const struct storage *s)
{
	int n_edges = 2 * s->touched.n, n = 0;
	struct runs r = { .edges = arena_array(a, int64_t, n_edges + 1) };

	for (int i = 0; i < s->touched.n; i++) {
		r.edges[2 * i] = s->touched.data[i].start;
		r.edges[2 * i + 1] = s->touched.data[i].end;
	}
	qsort(r.edges, (size_t)n_edges, sizeof *r.edges, compare_edges);
	for (int i = 0; i < n_edges; i++) {
		if (n == 0 || r.edges[n - 1] != r.edges[i]) {
			r.edges[n++] = r.edges[i];
		}
	}
	r.n = n > 0 ? n - 1 : 0;
	r.use = arena_array(a, int, n + 1);
	r.next = arena_array(a, int, n + 1);
	return r;
}

/* For each byte range between adjacent edges of uses, the live range goes from
 * the first use that covers it to the last. Adjacent ranges with equal live
 * ranges are merged. */
void
storage_find_pieces(struct arena *a, struct storage *s)
{
	struct runs r = find_runs(a, s);
	int *first = arena_array(a, int, r.n + 1);

	cover(&r, s, 1);
	memcpy(first, r.use, sizeof *first * (size_t)r.n);
	cover(&r, s, -1);
	for (int i = 0; i < r.n; i++) {
		struct piece x = { r.edges[i], r.edges[i + 1], -1, -1 };
		struct piece *before =
			s->pieces.n ? &s->pieces.data[s->pieces.n - 1] : NULL;

		if (first[i] < 0) {
			continue;
		}
		x.first = s->touched.data[first[i]].first;
		x.last = s->touched.data[r.use[i]].last;
		if (before && before->end == x.start &&
		    before->first == x.first && before->last == x.last) {
			before->end = x.end;
		} else {
			vec_push(a, &s->pieces, x);
		}
	}
}
