/* SPDX-License-Identifier: Apache-2.0 */
/* The TVMScript reader: indices of blocks and threads by the group that they count
 * in. The first call opens the loops of all blocks, or of all threads; the others
 * are computed from their variables.
 *
 * 	warp = T.warp_id([4])        for thread in T.thread_binding(128, thread="threadIdx.x"):
 * 	lane = T.lane_id([32])           warp = thread // 32
 * 	                                 lane = thread % 32 */
#include "script_read.h"

enum { WARP = 32, WARPGROUP = 128 };

/* What a call of T names: the number of a block or of a cluster of blocks; or the
 * number of the group of `unit` threads, among those of `within` threads. */
static const struct thread_word {
	const char *path;
	bool threads;
	int unit;   /* threads that have the same index */
	int within; /* threads in which the index counts; 0: all of a block */
} words[] = {
	{ "cta_id", false, 0, 0 },
	{ "cluster_id", false, 0, 0 },
	{ "cta_id_in_cluster", false, 0, 0 },
	{ "thread_id", true, 1, 0 },
	{ "warp_id", true, WARP, 0 },
	{ "warpgroup_id", true, WARPGROUP, 0 },
	{ "lane_id", true, 1, WARP },
	{ "warp_id_in_wg", true, WARP, WARPGROUP },
	{ "thread_id_in_wg", true, 1, WARPGROUP },
};

static const struct thread_word *
word_of(const struct script_reader *r, const struct py_node *call)
{
	const char *path = call->kind == PY_CALL ? script_path(r, call->kids[0])
						 : NULL;

	for (size_t i = 0; path && i < sizeof words / sizeof *words; i++) {
		if (strcmp(words[i].path, path) == 0) {
			return &words[i];
		}
	}
	return NULL;
}

bool
script_is_thread_ids(const struct script_reader *r, const struct py_node *call)
{
	return word_of(r, call) != NULL;
}

/* Does the word name the threads or the blocks themselves, one index for each size? */
static bool
names_threads(const struct thread_word *word)
{
	return strcmp(word->path, word->threads ? "thread_id" : "cta_id") == 0;
}

/* The sizes of the first call of T.path below the node that gives them, or NULL. */
static const struct py_node *
given_sizes(const struct script_reader *r, const struct py_node *node,
	    const char *path)
{
	const struct py_node *found = NULL;

	if (!node) {
		return NULL;
	}
	if (script_calls(r, node, path)) {
		for (int i = 1; i < node->n_kids; i++) {
			const struct py_node *one = node->kids[i];
			bool named = one->kind == PY_KEYWORD;

			if (named ? one->text != NULL &&
					    strcmp(one->text, "extents") == 0
				  : i == 1) {
				found = named ? one->kids[0] : one;
			}
		}
		return found && found->kind != PY_NONE ? found : NULL;
	}
	for (int i = 0; i < node->n_kids && !found; i++) {
		found = given_sizes(r, node->kids[i], path);
	}
	return found;
}

/* Evaluates up to three sizes; *n stays 0 if the function does not give them. */
static bool
sizes_of(struct script_reader *r, const char *path, const struct expr **out,
	 int *n)
{
	const struct py_node *node = given_sizes(r, r->def->kids[0], path);
	const struct py_node *const *list;

	*n = 0;
	if (!node) {
		return true;
	}
	list = script_items(&node, n);
	if (*n < 1 || *n > 3) {
		return script_fail(r, node,
				   "%d sizes of T.%s; give one to three", *n,
				   path);
	}
	for (int i = 0; i < *n; i++) {
		if (!script_index(r, list[i], &out[i])) {
			return false;
		}
	}
	return true;
}

/* The numbers of threads of a block: those of T.thread_id, or the product of the
 * groups that the function gives. */
static bool
thread_sizes(struct script_reader *r, const struct expr **out, int *n)
{
	static const struct {
		const char *path;
		int threads;
	} groups[] = { { "warp_id", WARP },
		       { "warpgroup_id", WARPGROUP },
		       { "warp_id_in_wg", WARP },
		       { "thread_id_in_wg", 1 },
		       { "lane_id", 1 } };

	if (!sizes_of(r, "thread_id", out, n)) {
		return false;
	}
	if (*n > 0) {
		return true;
	}
	for (size_t i = 0; i < sizeof groups / sizeof *groups; i++) {
		int given;

		if (!sizes_of(r, groups[i].path, out, &given)) {
			return false;
		}
		if (given > 0) {
			for (int k = 1; k < given; k++) {
				out[0] = expr_mul(r->m, out[0], out[k]);
			}
			out[0] = expr_mul(r->m, out[0],
					  expr_i32(r->m, groups[i].threads));
			*n = 1;
			return true;
		}
	}
	return true;
}

/* The numbers of blocks: those of T.cta_id, or of the clusters and their blocks. */
static bool
block_sizes(struct script_reader *r, const struct expr **out, int *n)
{
	const struct expr *within[3];
	int n_within;

	if (!sizes_of(r, "cta_id", out, n)) {
		return false;
	}
	if (*n > 0) {
		return true;
	}
	if (!sizes_of(r, "cluster_id", out, n) ||
	    !sizes_of(r, "cta_id_in_cluster", within, &n_within)) {
		return false;
	}
	for (int i = 0; i < *n && i < n_within; i++) {
		out[i] = expr_mul(r->m, out[i], within[i]);
	}
	for (int i = *n; i < n_within; i++) {
		out[i] = within[i];
		*n = i + 1;
	}
	return true;
}

/* Opens the loops of all threads or blocks; the names of the target, if it names the
 * threads themselves, become those of the variables. */
static bool
open_loops(struct script_reader *r, const struct py_node *call,
	   const struct thread_word *word, const struct py_node *const *names,
	   int n_names, struct script_suite *suite, struct script_threads *t)
{
	static const char *const tags[2][3] = {
		{ "blockIdx.x", "blockIdx.y", "blockIdx.z" },
		{ "threadIdx.x", "threadIdx.y", "threadIdx.z" },
	};
	if (!(word->threads ? thread_sizes(r, t->sizes, &t->n)
			    : block_sizes(r, t->sizes, &t->n))) {
		return false;
	}
	if (t->n == 0) {
		return script_fail(r, call,
				   "a number of %s that is not given; write "
				   "T.%s([4])",
				   word->threads ? "threads" : "blocks",
				   word->threads ? "thread_id" : "cta_id");
	}
	for (int i = 0; i < t->n; i++) {
		struct script_opener o = { .kind = STMT_FOR,
					   .text = tags[word->threads][i],
					   .value = t->sizes[i] };
		const char *name = names_threads(word) && i < n_names &&
						   names[i]->kind == PY_NAME
					   ? names[i]->text
					   : NULL;

		o.min = expr_int(r->m, o.value->type, 0);
		o.var = var_new(r->m,
				name ? script_hint(r, name)
				     : (word->threads ? "thread" : "block"),
				o.value->type);
		t->index[i] = o.var->expr;
		vec_push(&r->m->arena, &r->loops,
			 ((struct script_loop){ o.var, o.min, o.value,
						o.text }));
		script_open(r, suite, call, o);
	}
	return true;
}

/* The number of the thread in its block, x first. */
static const struct expr *
flat_index(struct script_reader *r, const struct script_threads *t)
{
	const struct expr *sum = t->index[t->n - 1];

	for (int i = t->n - 2; i >= 0; i--) {
		sum = expr_add(r->m, expr_mul(r->m, sum, t->sizes[i]),
			       t->index[i]);
	}
	return sum;
}

/* The index i that the call names. */
static bool
index_of(struct script_reader *r, const struct py_node *call,
	 const struct thread_word *word, const struct script_threads *t, int i,
	 const struct expr **out)
{
	const struct expr *within[3], *one;
	int n;

	if (names_threads(word)) {
		*out = t->index[i];
		return true;
	}
	if (word->threads) {
		one = flat_index(r, t);
		if (word->within) {
			one = expr_floormod(r->m, one,
					    expr_int(r->m, one->type,
						     word->within));
		}
		*out = expr_floordiv(r->m, one,
				     expr_int(r->m, one->type, word->unit));
		return true;
	}
	if (!sizes_of(r, "cta_id_in_cluster", within, &n)) {
		return false;
	}
	if (i >= n) {
		return script_fail(r, call,
				   "clusters of a size that is not given; "
				   "write T.cta_id_in_cluster([2])");
	}
	*out = strcmp(word->path, "cluster_id") == 0
		       ? expr_floordiv(r->m, t->index[i], within[i])
		       : expr_floormod(r->m, t->index[i], within[i]);
	return true;
}

/* Defines the name as the index e: the variable of a loop, or a let. */
static void
define_index(struct script_reader *r, const struct py_node *call,
	     const char *name, const struct expr *e, struct script_suite *suite)
{
	struct script_opener opener;

	if (e->kind == EXPR_VAR) {
		script_define(r, name, script_value_of(e, false));
		return;
	}
	script_let(r, name, e, &opener);
	script_open(r, suite, call, opener);
}

bool
script_thread_ids(struct script_reader *r, const struct py_node *call,
		  const struct py_node *target, struct script_suite *suite)
{
	const struct thread_word *word = word_of(r, call);
	struct script_threads *t = &r->threads[word->threads];
	const struct py_node *found[3];
	const struct py_node *const *names = NULL;
	int n_names = 0, n_sizes = 1;
	struct dtype type;

	if (!script_args(r, call,
			 word->threads ? "extents?, dtype?"
				       : "extents?, preferred?, dtype?",
			 found)) {
		return false;
	}
	const struct py_node *typed = found[word->threads ? 1 : 2];

	if (target) {
		names = script_items(&target, &n_names);
	}
	if (found[0] && found[0]->kind != PY_NONE) {
		script_items(&found[0], &n_sizes);
	}
	if (names && n_names != n_sizes) {
		return script_fail(r, call,
				   "%d sizes for %d names; give one to three, "
				   "and a name for each",
				   n_sizes, n_names);
	}
	if (t->n == 0 && !open_loops(r, call, word, names, n_names, suite, t)) {
		return false;
	}
	for (int i = 0; i < n_names; i++) {
		const struct expr *e = NULL;

		if (names[i]->kind != PY_NAME || i >= t->n ||
		    (names_threads(word) && n_names != t->n)) {
			return script_fail(r, call,
					   "%d %s for %d indices; give one for "
					   "each",
					   n_names,
					   n_names == 1 ? "name" : "names",
					   t->n);
		}
		if (!index_of(r, call, word, t, i, &e) ||
		    (typed && (!script_type(r, typed, &type) ||
			       !script_cast(r, typed, e, type, &e)))) {
			return false;
		}
		define_index(r, call, names[i]->text, e, suite);
	}
	return true;
}
