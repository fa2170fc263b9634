/* SPDX-License-Identifier: Apache-2.0 */
/* Sums of many floats, block by block: the rule annotates the reduction loops
 * of each sum whose accumulators add too many terms, and the pass block-sums
 * splits them.
 *
 * The error of an accumulator that adds n terms one after the other is at most
 * n u times the sum of the magnitudes of these terms (u = 2^-24 for float).
 * With at most MOST_TERMS terms per accumulator, the relative error is at most
 * 2^-16; each block costs one more addition. Products of two different values
 * are summed in tiles of accumulators that fill the registers; the tile is
 * stored and loaded at the end of each block, so these blocks are longer:
 * MOST_PRODUCTS terms, for an error of up to 2^-14. Lanes and threads have
 * accumulators of their own, whose terms are counted separately. */
#include "access.h"
#include "choose_parts.h"
#include "sum_terms.h"

enum { MOST_TERMS = 256, MOST_PRODUCTS = 1024 };

/* The most accumulators of a device's thread that get partial sums. */
enum { MOST_OF_THREAD = 16 };

/* Is the iter var a reduction or an ordered one, so that its values number the
 * terms of a sum? */
static bool
is_over_terms(const struct iter_var *v)
{
	return v->kind == ITER_REDUCE || v->kind == ITER_SCAN;
}

/* Does the store write to the same element for all terms of the sum, and does
 * the block have an axis over terms? */
static bool
keeps_element(const struct stmt *block, const struct stmt *store)
{
	const struct block *b = block->u.block;
	bool any = false;

	for (int i = 0; i < b->n_iters; i++) {
		if (!is_over_terms(&b->iters[i])) {
			continue;
		}
		any = true;
		for (int d = 1; d < store->n_args; d++) {
			if (expr_uses_var(store->args[d], b->iters[i].var)) {
				return false;
			}
		}
	}
	return any;
}

/* The term that is added to the accumulator by the first store of the block
 * that computes a sum of floats of at most 32 bits; NULL if there is no such
 * store. */
static const struct expr *
term_of(const struct stmt *block, const struct stmt *store)
{
	const struct expr *e;

	for (int i = 0; store->kind == STMT_SEQ && i < store->n_children; i++) {
		const struct expr *term = term_of(block, store->children[i]);

		if (term != NULL) {
			return term;
		}
	}
	if (store->kind != STMT_STORE || !keeps_element(block, store)) {
		return NULL;
	}
	e = store->args[0];
	if (e->kind != EXPR_ADD || !dtype_is_float(e->type) ||
	    dtype_bits(e->type) > 32) {
		return NULL;
	}
	for (int k = 0; k < 2; k++) {
		const struct expr *load = e->args[k];

		if (load->kind == EXPR_LOAD &&
		    load->u.buffer == store->u.buffer) {
			return e->args[1 - k];
		}
	}
	return NULL;
}

static bool
is_product(const struct expr *term)
{
	while (term->kind == EXPR_CAST || term->kind == EXPR_IF) {
		term = term->args[term->kind == EXPR_IF];
	}
	return term->kind == EXPR_MUL && term->args[0] != term->args[1];
}

static bool
is_loop_over_terms(const struct stmt *loop, const struct stmt *block)
{
	const struct block *b = block->u.block;

	for (int i = 0; i < b->n_iters; i++) {
		if (is_over_terms(&b->iters[i]) &&
		    expr_uses_var(block->args[i + 1], loop->u.loop.var)) {
			return true;
		}
	}
	return false;
}

/* Returns how many terms one accumulator of a thread adds. *accumulators: the
 * number of accumulators of the thread; *outer: the outermost loop over terms;
 * 0 if there is no loop over terms. */
static int64_t
count_terms(struct rules *r, int block, int *outer, int64_t *accumulators)
{
	const struct stmt *s = func_find(r->s.func, block);
	int64_t terms = 1;
	int *loops, n;

	*outer = 0;
	*accumulators = 1;
	if (!sched_get_loops(&r->s, block, &loops, &n)) {
		return 1;
	}
	for (int i = 0; i < n; i++) {
		const struct stmt *loop = func_find(r->s.func, loops[i]);
		int64_t extent = loop_most_iterations(r->module, loop);
		int64_t *count = is_loop_over_terms(loop, s) ? &terms
							     : accumulators;

		if (loop->u.loop.kind == FOR_THREAD || extent <= 1 ||
		    (*outer == 0 && count == accumulators)) {
			continue;
		}
		if (*outer == 0) {
			*outer = loops[i];
		}
		if (__builtin_mul_overflow(*count, extent, count)) {
			*count = INT64_MAX;
		}
	}
	return terms;
}

/* Annotates the outermost loop over the terms of the block's sum if an
 * accumulator adds too many terms. Returns the number of terms that the note
 * allows; 0: no note was added. */
static int64_t
annotate_sum(struct rules *r, int block)
{
	const struct stmt *s = func_find(r->s.func, block);
	const struct expr *term = term_of(s, s->children[0]);
	int64_t terms, accumulators, most;
	int outer;

	if (term == NULL || rules_order_is_visible(r->s.func, term)) {
		return 0;
	}
	terms = count_terms(r, block, &outer, &accumulators);
	most = is_product(term) ? MOST_PRODUCTS : MOST_TERMS;
	/* A device's thread has too few registers for a second large tile. */
	if (terms <= most ||
	    (accumulators > MOST_OF_THREAD && r->target->max_threads > 1)) {
		return 0;
	}
	if (stmt_note(func_find(r->s.func, outer), SUM_TERMS) == NULL &&
	    !sched_annotate(&r->s, outer, SUM_TERMS, sv_int(most))) {
		return 0;
	}
	return most;
}

/* Annotates the sums of the blocks inside of block `scope` (0: the root),
 * including blocks in the steps of a loop over time. Returns the largest number
 * of terms that one of the notes allows; 0: no note was added. */
static int64_t
annotate_below(struct rules *r, int scope)
{
	int *blocks, n = sched_get_child_blocks(&r->s, scope, &blocks);
	int64_t most = 0;

	for (int i = 0; i < n; i++) {
		int64_t terms = annotate_sum(r, blocks[i]);
		int64_t inner = annotate_below(r, blocks[i]);

		terms = inner > terms ? inner : terms;
		most = terms > most ? terms : most;
	}
	return most;
}

void
rules_block_sums(struct rules *r)
{
	int64_t most = annotate_below(r, 0);

	if (most > 0) {
		strbuf_printf(&r->words, ", sums in blocks of %lld",
			      (long long)most);
	}
}
