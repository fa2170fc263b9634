/* SPDX-License-Identifier: Apache-2.0 */
/* Texts of which each exists once, and pairs of items of two lists. */
#include "snapshot.h"

void
texts_init(struct texts *t, struct arena *a)
{
	*t = (struct texts){ .arena = a };
	text_map_init(&t->map, a);
}

const char *
texts_add(struct texts *t, const char *text, size_t n)
{
	int at = text_map_get_bytes(&t->map, text, n, -1);
	const char *copy;

	if (at >= 0) {
		return t->list.data[at];
	}
	copy = arena_strndup(t->arena, text, n);
	text_map_add(&t->map, copy, t->list.n);
	vec_push(t->arena, &t->list, copy);
	return copy;
}

static int *
no_partners(struct arena *a, int n)
{
	int *partner = arena_array(a, int, n + 1);

	for (int i = 0; i < n; i++) {
		partner[i] = -1;
	}
	return partner;
}

static struct pairing
pairing_new(struct arena *a, int n_old, int n_new)
{
	return (struct pairing){
		.old = arena_array(a, const char *, n_old + 1),
		.new = arena_array(a, const char *, n_new + 1),
		.of_old = no_partners(a, n_old),
		.of_new = no_partners(a, n_new),
		.n_old = n_old,
		.n_new = n_new,
	};
}

static void
pair(struct pairing *p, int i, int j)
{
	p->of_old[i] = j;
	p->of_new[j] = i;
}

/* Pairs the items without partners that have equal texts, in their orders; items
 * whose text is empty stay without. */
static void
pair_equal(struct comparing *c, struct pairing *p)
{
	/* first: by text, the first new item that has the text and no partner.
	 * The second array: by new item, the next one with the same text.
	 * n_new: there is none. */
	int *first = arena_array(c->a, int, p->n_new + 1);
	int *next = arena_array(c->a, int, p->n_new + 1);
	struct text_map map;
	int n = 0;

	text_map_init(&map, c->a);
	for (int j = p->n_new - 1; j >= 0; j--) {
		int at = text_map_get(&map, p->new[j], n);

		if (p->of_new[j] >= 0 || p->new[j][0] == '\0') {
			continue;
		}
		if (at == n) {
			text_map_add(&map, p->new[j], n);
			first[n++] = p->n_new;
		}
		next[j] = first[at];
		first[at] = j;
	}
	for (int i = 0; i < p->n_old; i++) {
		int at = text_map_get(&map, p->old[i], -1);

		if (at >= 0 && p->of_old[i] < 0 && first[at] < p->n_new) {
			pair(p, i, first[at]);
			first[at] = next[first[at]];
		}
	}
}

/* The items without partners: the texts by which they are paired, and their
 * indices. */
struct left_over {
	VEC(const char *) texts;
	VEC(int) at;
};

static struct left_over
list_left(struct comparing *c, const char *const *texts, const int *partner,
	  int n)
{
	struct left_over left = { 0 };

	for (int i = 0; i < n; i++) {
		if (partner[i] < 0) {
			vec_push(c->a, &left.texts,
				 texts_add(&c->texts, texts[i],
					   strlen(texts[i])));
			vec_push(c->a, &left.at, i);
		}
	}
	return left;
}

/* Pairs items without partners along the longest common subsequence of their
 * texts. */
static void
pair_in_order(struct comparing *c, struct pairing *p)
{
	struct left_over x = list_left(c, p->old, p->of_old, p->n_old);
	struct left_over y = list_left(c, p->new, p->of_new, p->n_new);
	const int *partner = pair_texts(c, x.texts.data, x.texts.n,
					y.texts.data, y.texts.n);

	for (int i = 0; i < x.at.n; i++) {
		if (partner[i] >= 0) {
			pair(p, x.at.data[i], y.at.data[partner[i]]);
		}
	}
}

struct pairing
pair_items(struct comparing *c, const void *old, int n_old, const void *new,
	   int n_new, pair_text_fn *text)
{
	struct pairing p = pairing_new(c->a, n_old, n_new);

	for (int by = 0; by < PAIR_TEXTS; by++) {
		for (int i = 0; i < n_old; i++) {
			p.old[i] = text(c->a, old, i, by);
		}
		for (int j = 0; j < n_new; j++) {
			p.new[j] = text(c->a, new, j, by);
		}
		if (by < PAIR_TEXTS - 1) {
			pair_equal(c, &p);
		} else {
			pair_in_order(c, &p);
		}
	}
	return p;
}
