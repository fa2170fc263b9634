/* SPDX-License-Identifier: Apache-2.0 */
/* Finds the step that made a program wrong, by bisection. */
#include "bisect.h"

int
bisect_search(int first, int last,
	      enum bisect_state (*ask)(void *ctx, int step), void *ctx,
	      int *before)
{
	/* the graph is right before `low` and wrong after `high`; it is unknown
	 * after the steps from `known` to `high` - 1 */
	int low = first, high = last, known = last;

	while (low < known) {
		int middle = low + (known - low) / 2, at = middle;
		enum bisect_state state = ask(ctx, at);

		while (state == BISECT_UNKNOWN && at + 1 < known) {
			state = ask(ctx, ++at);
		}
		switch (state) {
		case BISECT_RIGHT:
			low = at + 1;
			break;
		case BISECT_WRONG:
			high = at;
			known = middle;
			break;
		case BISECT_UNKNOWN:
			known = middle;
			break;
		}
	}
	*before = low - 1;
	return high;
}
