/* SPDX-License-Identifier: Apache-2.0 */
/* Differences of texts: common subsequences, unified diffs. */
#include "snapshot.h"

/* The unchanged lines around a change. */
enum { CONTEXT = 3 };

/* Common subsequences of longer texts are not searched: their lines count as
 * different. */
enum { MOST_CELLS_OF_PAIR = 1 << 24 };

/* length[i * (n_new + 1) + j]: the longest common subsequence of the texts from i
 * and from j on. */
static int *
common_lengths(struct arena *a, const char *const *old, int n_old,
	       const char *const *new, int n_new)
{
	int width = n_new + 1;
	int *length = arena_array(a, int, (n_old + 1) * width);

	for (int i = n_old - 1; i >= 0; i--) {
		for (int j = n_new - 1; j >= 0; j--) {
			int *here = &length[i * width + j];
			int skip_old = here[width], skip_new = here[1];

			*here = old[i] == new[j]      ? here[width + 1] + 1
				: skip_old > skip_new ? skip_old
						      : skip_new;
		}
	}
	return length;
}

int *
pair_texts(struct comparing *c, const char *const *old, int n_old,
	   const char *const *new, int n_new)
{
	int *partner = arena_array(c->a, int, n_old + 1);
	int first = 0, last = 0, i, j, width;
	struct arena scratch;
	const int *length;
	int64_t cells;

	for (i = 0; i < n_old; i++) {
		partner[i] = -1;
	}
	while (first < n_old && first < n_new && old[first] == new[first]) {
		partner[first] = first;
		first++;
	}
	while (last < n_old - first && last < n_new - first &&
	       old[n_old - 1 - last] == new[n_new - 1 - last]) {
		partner[n_old - 1 - last] = n_new - 1 - last;
		last++;
	}
	n_old -= first + last;
	n_new -= first + last;
	cells = (int64_t)(n_old + 1) * (n_new + 1);
	if (cells > MOST_CELLS_OF_PAIR || cells > MOST_CELLS - c->cells) {
		return partner;
	}
	c->cells += cells;
	old += first;
	new += first;
	width = n_new + 1;
	arena_init_within(&scratch, c->a);
	length = common_lengths(&scratch, old, n_old, new, n_new);
	for (i = j = 0; i < n_old && j < n_new;) {
		if (old[i] == new[j]) {
			partner[first + i++] = first + j++;
		} else if (length[(i + 1) * width + j] >=
			   length[i * width + j + 1]) {
			i++;
		} else {
			j++;
		}
	}
	arena_release(&scratch);
	return partner;
}

/* -- unified diffs -- */

/* A line of a diff: a line of both texts, only of the old one, or only of the
 * new one. */
struct edit {
	char sign;
	/* the numbers of lines so far in the old and the new text */
	int old, new;
	const char *text;
};

typedef VEC(struct edit) edits;

static void
list_edits(struct comparing *c, const struct text_lines *old,
	   const struct text_lines *new, edits *out)
{
	const int *partner = pair_texts(c, old->line, old->n, new->line,
					new->n);
	struct arena *a = c->a;
	int j = 0;

	for (int i = 0; i <= old->n; i++) {
		int until = i < old->n ? partner[i] : new->n;

		if (i < old->n && until < 0) {
			vec_push(a, out,
				 ((struct edit){ '-', i, j, old->line[i] }));
			continue;
		}
		for (; j < until; j++) {
			vec_push(a, out,
				 ((struct edit){ '+', i, j, new->line[j] }));
		}
		if (i < old->n) {
			vec_push(a, out,
				 ((struct edit){ ' ', i, j, old->line[i] }));
			j++;
		}
	}
}

/* The end of the hunk that begins at `from`: changes that are at most 2 *
 * CONTEXT lines apart are in one hunk. */
static int
hunk_end(const edits *all, int from)
{
	int last = from;

	for (int i = from; i < all->n && i <= last + 2 * CONTEXT + 1; i++) {
		if (all->data[i].sign != ' ') {
			last = i;
		}
	}
	return last + CONTEXT + 1 < all->n ? last + CONTEXT + 1 : all->n;
}

static void
put_hunk(struct arena *a, const edits *all, int from, int to,
	 struct change_row *row)
{
	int n_old = 0, n_new = 0;

	for (int i = from; i < to; i++) {
		n_old += all->data[i].sign != '+';
		n_new += all->data[i].sign != '-';
	}
	vec_push(a, &row->lines,
		 arena_printf(a, "@@ -%d,%d +%d,%d @@",
			      all->data[from].old + (n_old > 0), n_old,
			      all->data[from].new + (n_new > 0), n_new));
	for (int i = from; i < to; i++) {
		vec_push(a, &row->lines,
			 arena_printf(a, "%c%s", all->data[i].sign,
				      all->data[i].text));
	}
}

void
put_unified(struct comparing *c, const struct text_lines *old,
	    const struct text_lines *new, struct change_row *row)
{
	edits all = { 0 };

	list_edits(c, old, new, &all);
	for (int i = 0, done = 0; i < all.n; i++) {
		int from, to;

		if (all.data[i].sign == ' ') {
			continue;
		}
		from = i - CONTEXT > done ? i - CONTEXT : done;
		to = hunk_end(&all, i);
		put_hunk(c->a, &all, from, to, row);
		done = to;
		i = to - 1;
	}
}
