/* SPDX-License-Identifier: Apache-2.0 */
#include "anchors.h"

void
anchors_add(struct anchors *l, int kind, int index, size_t at)
{
	vec_push(l->arena, &l->list, ((struct anchor){ kind, index, at }));
}

static void
move(struct anchor_pass *p, size_t from, size_t n, size_t to, bool unchanged)
{
	int count = p->anchors != NULL ? p->anchors->list.n : 0;

	for (; p->next < count; p->next++) {
		struct anchor *x = &p->anchors->list.data[p->next];

		if (x->at >= from + n) {
			return;
		}
		x->at = unchanged && x->at > from ? to + (x->at - from) : to;
	}
}

void
anchors_copied(struct anchor_pass *p, size_t from, size_t n, size_t to)
{
	move(p, from, n, to, true);
}

void
anchors_printed(struct anchor_pass *p, size_t from, size_t n, size_t to)
{
	move(p, from, n, to, false);
}
