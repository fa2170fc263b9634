/* SPDX-License-Identifier: Apache-2.0 */
/* The lines that differ between two texts. */
#include "snapshot.h"

typedef VEC(const char *) lines;

static void
split(struct texts *t, const char *text, lines *out)
{
	while (*text != '\0') {
		size_t n = strcspn(text, "\n");

		vec_push(t->arena, out, texts_add(t, text, n));
		text += n;
		text += *text == '\n';
	}
}

static void
add(struct arena *a, struct line_changes *out, const lines *old, int from_old,
    int to_old, const lines *new, int from_new, int to_new)
{
	struct line_change x = { .old = from_old + 1,
				 .n_old = to_old - from_old,
				 .new = from_new + 1,
				 .n_new = to_new - from_new };

	x.old_line = x.n_old > 0 ? old->data[from_old] : NULL;
	x.new_line = x.n_new > 0 ? new->data[from_new] : NULL;
	if (x.n_old > 0 || x.n_new > 0) {
		vec_push(a, &out->list, x);
	}
}

void
difference_of_lines(struct module *m, const char *old, const char *new,
		    struct line_changes *out)
{
	struct comparing c = { .m = m, .a = &m->arena };
	lines x = { 0 }, y = { 0 };
	const int *partner;
	int i = 0, j = 0;

	texts_init(&c.texts, &m->arena);
	split(&c.texts, old, &x);
	split(&c.texts, new, &y);
	partner = pair_texts(&c, x.data, x.n, y.data, y.n);
	for (int k = 0; k <= x.n; k++) {
		int at = k < x.n ? partner[k] : y.n;

		if (at < 0) {
			continue;
		}
		add(&m->arena, out, &x, i, k, &y, j, at);
		i = k + 1;
		j = at + 1;
	}
}
