/* SPDX-License-Identifier: Apache-2.0 */
/* The pool of runtime-c: each iteration of a loop is done once, whatever the
 * numbers; pools come and go; threads that sleep wake up. */
#include "tirc_pool.h"

#include <stdio.h>
#include <string.h>

enum { MOST = 1000 };

struct counts {
	int *times; /* each iteration was done */
	int by;
};

static void
count(const void *shared, int32_t begin, int32_t end)
{
	const struct counts *c = shared;

	for (int32_t i = begin; i < end; ++i) {
		c->times[i] += c->by;
	}
}

static int
check(int threads, int32_t n, int rounds)
{
	static struct tirc_pool pool;
	static int times[MOST];
	const struct counts c = { times, 3 };

	memset(times, 0, sizeof times);
	if (tirc_pool_start(&pool, threads) != 0) {
		fprintf(stderr, "%d threads do not start\n", threads);
		return 1;
	}
	for (int r = 0; r < rounds; ++r) {
		tirc_pool_for(&pool, n, count, &c);
		for (int32_t i = 0; i < MOST; ++i) {
			if (times[i] != (i < n ? 3 * (r + 1) : 0)) {
				fprintf(stderr,
					"%d threads, %d iterations: "
					"number %d was done %d times of %d\n",
					threads, (int)n, (int)i, times[i] / 3,
					r + 1);
				return 1;
			}
		}
	}
	tirc_pool_stop(&pool);
	tirc_pool_stop(&pool);
	return 0;
}

int
main(void)
{
	static const int threads[] = { 1, 2, 3, 8, TIRC_POOL_THREADS + 1 };
	static const int32_t sizes[] = { 0, 1, 2, 7, 64, MOST };
	int failed = 0;

	for (int t = 0; t < 5; ++t) {
		for (int s = 0; s < 6; ++s) {
			failed |= check(threads[t], sizes[s], 30);
		}
	}
	return failed;
}
