/* SPDX-License-Identifier: Apache-2.0 */
/* TfIdfVectorizer: counts of n-grams, by tables of the n-grams that are sorted
 * when the code is generated (passes/ops/text/ngrams.c).
 *
 *	before	y = TfIdfVectorizer<mode="TFIDF", pool_strings=…, …>(x)
 *	after	y_number = tirc.FindString(x, y_words)
 *		y = tirc.NGrams(y_number, y_item, y_first, y_column, y_weight) */
#include "compose_strings.h"

#include <stdlib.h>

/* The number in pool.items of a string that is too long to occur in the input.
 * (tirc.FindString gives -1 for an input string that is not in the pool.) */
enum { NOT_FOUND = -2 };

struct ngram {
	const int64_t *items;
	int n;
	int64_t column;
	/* the index of the n-gram in the pool; if the pool has the n-gram
	 * twice, that of its last occurrence */
	int place;
	/* the tree's node for the items of the n-gram that add_level() has
	 * added so far */
	int node;
};

struct pool {
	/* The items of the pool's n-grams, one n-gram after the other. An item
	 * is an integer of the model, or, for strings, the string's index in
	 * the list of words (number_words()), or NOT_FOUND. */
	const int64_t *items;
	int n_items;
	/* the sorted n-grams whose lengths the node counts; if is_narrow,
	 * without n-grams that have an integer beyond int32 */
	struct ngram *grams;
	int n_grams;
	int64_t columns;
	bool is_narrow; /* the input is int32 */
	/* the weight of each n-gram, by ngram.place; NULL: all weights are 1 */
	const double *weights;
};

static int
compare_ngrams(const void *a, const void *b)
{
	const struct ngram *p = a, *q = b;

	for (int k = 0; k < p->n && k < q->n; k++) {
		if (p->items[k] != q->items[k]) {
			return p->items[k] < q->items[k] ? -1 : 1;
		}
	}
	return p->n != q->n ? (p->n > q->n) - (p->n < q->n)
			    : (p->place > q->place) - (p->place < q->place);
}

static int
compare_words(const void *a, const void *b)
{
	return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/* Returns the list of words: the distinct strings of the pool that have at most
 * `bytes` bytes, sorted; *n: its length. Sets p->items to the index of each
 * string in the list. */
static const char **
number_words(struct compose *c, struct pool *p, const struct attr *strings,
	     int64_t bytes, int *n)
{
	struct arena *a = &c->m->arena;
	const char **words = arena_array(a, const char *, strings->n + 1);
	int64_t *items = arena_array(a, int64_t, strings->n + 1);
	int unique = 0, all = 0;

	for (int i = 0; i < strings->n; i++) {
		if ((int64_t)strlen(strings->strings[i]) <= bytes) {
			words[all++] = strings->strings[i];
		}
	}
	qsort(words, (size_t)all, sizeof *words, compare_words);
	for (int i = 0; i < all; i++) {
		if (unique == 0 || strcmp(words[unique - 1], words[i]) != 0) {
			words[unique++] = words[i];
		}
	}
	for (int i = 0; i < strings->n; i++) {
		const char **at = bsearch(&strings->strings[i], words,
					  (size_t)unique, sizeof *words,
					  compare_words);

		items[i] = at ? at - words : NOT_FOUND;
	}
	p->items = items;
	p->n_items = strings->n;
	*n = unique;
	return words;
}

/* Can the n integers occur in the input? They cannot if the input is int32 and
 * one of them does not fit in it. */
static bool
may_occur(const struct pool *p, const int64_t *items, int n)
{
	for (int k = 0; p->is_narrow && k < n; k++) {
		if (items[k] < INT32_MIN || items[k] > INT32_MAX) {
			return false;
		}
	}
	return true;
}

/* Reads the n-grams of `size` items in the range [from, to) of the pool's
 * items, and, if `wanted` is set, adds them to p->grams. False if the pool has
 * more n-grams than the attribute ngram_indexes. */
static bool
list_ngrams(struct pool *p, int size, bool wanted, int64_t from, int64_t to,
	    const struct attr *indexes, int *place)
{
	for (; to - from >= size; from += size) {
		if (*place >= indexes->n) {
			return false;
		}
		if (wanted && may_occur(p, p->items + from, size)) {
			p->grams[p->n_grams++] = (struct ngram){
				.items = p->items + from,
				.n = size,
				.column = indexes->ints[*place],
				.place = *place,
			};
		}
		++*place;
	}
	return true;
}

static bool
read_ngrams(struct compose *c, struct pool *p)
{
	const struct attr *counts = node_attr(c->node, "ngram_counts");
	const struct attr *indexes = node_attr(c->node, "ngram_indexes");
	int64_t least = node_attr_int(c->node, "min_gram_length", 1);
	int64_t most = node_attr_int(c->node, "max_gram_length", least);
	int place = 0;

	if (!counts || counts->kind != ATTR_INTS || !indexes ||
	    indexes->kind != ATTR_INTS || indexes->n == 0) {
		return compose_error(c, DIAG_BAD_ATTRIBUTE,
				     "it has no ngram_counts or no "
				     "ngram_indexes; correct the model");
	}
	for (int i = 0; i < indexes->n; i++) {
		int64_t column = indexes->ints[i];

		if (column < 0 || column >= INT32_MAX) {
			return compose_error(c, DIAG_BAD_ATTRIBUTE,
					     "its ngram_indexes has %lld; "
					     "correct the model",
					     (long long)column);
		}
		p->columns = column >= p->columns ? column + 1 : p->columns;
	}
	p->grams = arena_array(&c->imp->tmp, struct ngram, indexes->n + 1);
	for (int k = 0; k < counts->n; k++) {
		int64_t from = counts->ints[k];
		int64_t to = k + 1 < counts->n ? counts->ints[k + 1]
					       : p->n_items;

		if (from < 0 || to < from || to > p->n_items ||
		    !list_ngrams(p, k + 1, k + 1 >= least && k + 1 <= most,
				 from, to, indexes, &place)) {
			return compose_error(c, DIAG_BAD_ATTRIBUTE,
					     "its ngram_counts, ngram_indexes "
					     "and pool contradict each other; "
					     "correct the model");
		}
	}
	qsort(p->grams, (size_t)p->n_grams, sizeof *p->grams, compare_ngrams);
	return true;
}

struct tree {
	/* item[i]: the item of the n-gram that leads from its parent to node i
	 * + 1 */
	int64_t *item;
	int32_t *first, *column;
	double *weight;
	int n; /* nodes without the root */
};

/* Adds a node at depth `length` of the tree for each different prefix of that
 * length. */
static void
add_level(struct tree *t, struct pool *p, int length)
{
	const struct ngram *before = NULL;
	int parent = -1;

	for (int i = 0; i < p->n_grams; i++) {
		struct ngram *g = &p->grams[i];

		if (g->n < length) {
			continue;
		}
		if (g->node != parent ||
		    g->items[length - 1] != before->items[length - 1]) {
			parent = g->node;
			t->item[t->n++] = g->items[length - 1];
			t->column[t->n] = -1;
			t->first[parent + 1]++;
		}
		before = g;
		g->node = t->n;
		if (g->n == length) {
			t->column[t->n] = (int32_t)g->column;
			t->weight[t->n] = p->weights ? p->weights[g->place] : 1;
		}
	}
}

/* Makes a tree of all prefixes of n-grams. Its nodes are in breadth-first
 * order: the children of a node are next to each other, after the children of
 * the nodes before it. */
static void
make_tree(struct compose *c, struct pool *p, struct tree *t)
{
	struct arena *a = &c->m->arena;
	int most = 0, longest = 0;

	for (int i = 0; i < p->n_grams; i++) {
		most += p->grams[i].n;
		longest = p->grams[i].n > longest ? p->grams[i].n : longest;
	}
	t->item = arena_array(a, int64_t, most + 2);
	t->first = arena_array(a, int32_t, most + 3);
	t->column = arena_array(a, int32_t, most + 2);
	t->weight = arena_array(a, double, most + 2);
	t->column[0] = -1;
	for (int length = 1; length <= longest; length++) {
		add_level(t, p, length);
	}
	for (int i = 0; i <= t->n; i++) {
		t->first[i + 1] += t->first[i];
	}
}

/* Sets *given to the weight of each n-gram, or to NULL if the node does not use
 * weights. False after a diagnostic. */
static bool
read_weights(struct compose *c, const double **given)
{
	const char *mode = node_attr_string(c->node, "mode", "TF");
	const struct attr *weights = node_attr(c->node, "weights");
	const struct attr *indexes = node_attr(c->node, "ngram_indexes");

	*given = NULL;
	if (strcmp(mode, "TF") == 0 || !weights ||
	    weights->kind != ATTR_FLOATS || weights->n == 0) {
		return true;
	}
	*given = weights->floats;
	return weights->n == indexes->n ||
	       compose_error(c, DIAG_BAD_ATTRIBUTE,
			     "it has %d weights for %d n-grams; correct the "
			     "model",
			     weights->n, indexes->n);
}

/* The result of the node for x, a matrix of integers, or of the indices of
 * words that find_words() gives: the counts of n-grams, weighted as the mode
 * says. */
static struct tensor *
count(struct compose *c, struct pool *p, struct tensor *x)
{
	const char *mode = node_attr_string(c->node, "mode", "TF");
	struct tree t = { 0 };
	int64_t n, skips = node_attr_int(c->node, "max_skip_count", 0);
	const char *what = "counts";
	struct tensor *in[5] = { x }, *y;

	make_tree(c, p, &t);
	n = t.n > 0 ? t.n : 1; /* a constant must have at least one element */
	in[1] = compose_cast(c, "item",
			     compose_ints(c, "items", (int)n, t.item), x->type);
	n = t.n + 1;
	in[3] = compose_constant(c, "column", dtype_of(DT_I32), 1, &n,
				 t.column);
	if (p->weights) {
		in[4] = compose_floats(c, "weight", dtype_of(DT_F32), 1, &n,
				       t.weight);
	}
	n++;
	in[2] = compose_constant(c, "first", dtype_of(DT_I32), 1, &n, t.first);
	compose_set_int(c, "columns", p->columns);
	compose_set_int(c, "skips", skips < INT32_MAX ? skips : INT32_MAX - 1);
	compose_set_int(c, "once", strcmp(mode, "IDF") == 0);
	compose_nodes(c, "tirc", "NGrams", in, in[4] ? 5 : 4, &what, 1, &y);
	return y;
}

/* The strings of x, which may have any shape, as numbers: the position of the
 * string in the sorted list of words, or -1. */
static struct tensor *
find_words(struct compose *c, struct tensor *x, const char *const *words, int n)
{
	const int64_t rows[] = { -1, string_bytes(x) };
	struct tensor_content content;
	struct tensor *in[2], *found;
	const char *what = "found", *none = "";

	strings_content(&c->m->arena, n > 0 ? words : &none, n > 0 ? n : 1,
			&content);
	in[0] = compose_2(c, "strings", "Reshape", x,
			  compose_ints(c, "strings_shape", 2, rows));
	in[1] = compose_constant(c, "words", dtype_of(DT_U8), 2, content.shape,
				 content.value->data);
	compose_nodes(c, "tirc", "FindString", in, 2, &what, 1, &found);
	return compose_reshape(c, "numbers", found, tensor_rank(x), x->shape);
}

bool
compose_tfidf(struct compose *c)
{
	struct tensor *x = compose_input(c, 0), *y;
	const struct attr *ints = node_attr(c->node, "pool_int64s");
	const struct attr *strings = node_attr(c->node, "pool_strings");
	const char **words = NULL;
	struct pool p = { 0 };
	int rank = tensor_rank(x), n_words = 0;

	if (rank != 1 && rank != 2) {
		return compose_error(c, DIAG_BAD_SHAPE,
				     "its input must have the shape [C] or "
				     "[N, C]; correct the model");
	}
	if (x->is_string && strings && strings->kind == ATTR_STRINGS) {
		words = number_words(c, &p, strings, string_bytes(x), &n_words);
	} else if (!x->is_string && dtype_is_int(x->type) && ints &&
		   ints->kind == ATTR_INTS) {
		p.items = ints->ints;
		p.n_items = ints->n;
		p.is_narrow = x->type.kind == DT_I32;
	} else {
		return compose_error(c, DIAG_BAD_ATTRIBUTE,
				     "it has no pool of its input's type; "
				     "correct the model");
	}
	if (!read_ngrams(c, &p) || !read_weights(c, &p.weights)) {
		return false;
	}
	y = words ? find_words(c, x, words, n_words) : x;
	y = rank == 1 ? compose_unsqueeze(c, "row", y, 0) : y;
	y = count(c, &p, y);
	compose_result(c, 0, rank == 1 ? compose_squeeze(c, "list", y, 0) : y);
	return true;
}
