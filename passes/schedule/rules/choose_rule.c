/* SPDX-License-Identifier: Apache-2.0 */
/* Chooses and applies the rule for a kernel: inlines injective blocks, then
 * looks at the blocks that remain. */
#include "sched_rules.h"

bool
block_reduces(const struct stmt *block)
{
	for (int i = 0; i < block->u.block->n_iters; i++) {
		if (block->u.block->iters[i].kind == ITER_REDUCE) {
			return true;
		}
	}
	return false;
}

/* Sets *found if e is a division of floats or a function of them. */
static void
see_costly(void *ctx, const struct expr *e)
{
	bool *found = ctx;

	if (((e->kind == EXPR_CALL && !expr_is_extreme(e)) ||
	     e->kind == EXPR_DIV) &&
	    dtype_is_float(e->args[0]->type)) {
		*found = true;
	}
}

static void
see_call(void *ctx, const struct expr *e)
{
	bool *found = ctx;

	if (e->kind == EXPR_CALL && dtype_is_float(e->type) &&
	    !expr_is_extreme(e) && e->u.intrin != INTRIN_ABS &&
	    e->u.intrin != INTRIN_NEARBYINT && e->u.intrin != INTRIN_FLOOR &&
	    e->u.intrin != INTRIN_CEIL && e->u.intrin != INTRIN_TRUNC &&
	    e->u.intrin != INTRIN_LIKELY) {
		*found = true;
	}
}

static bool
store_has(const struct stmt *s, void (*see)(void *ctx, const struct expr *e))
{
	bool found = false;

	if (s->kind == STMT_STORE) {
		expr_visit(s->args[0], see, &found);
	}
	for (int i = 0; i < s->n_children && !found; i++) {
		found = s->children[i] != NULL &&
			store_has(s->children[i], see);
	}
	return found;
}

/* The number of the block's iter vars with more than one iteration. */
static int
count_loops(const struct stmt *block)
{
	int n = 0;

	for (int i = 0; i < block->u.block->n_iters; i++) {
		n += !expr_is_value(block->u.block->iters[i].extent, 1);
	}
	return n;
}

/* Does the block read the result of a reduction? Then it computes a statistic
 * of a row. */
static bool
is_statistic(struct rules *r, int id)
{
	int *producers, n;
	bool any = false;

	if (!sched_get_producers(&r->s, id, &producers, &n)) {
		return false;
	}
	for (int i = 0; i < n; i++) {
		any |= block_reduces(func_find(r->s.func, producers[i]));
	}
	return any;
}

static bool
is_output(const struct rules *r, const struct stmt *block)
{
	for (int i = 0; i < block->u.block->n_writes; i++) {
		if (func_has_param(r->s.func,
				   block->u.block->writes[i].buffer)) {
			return true;
		}
	}
	return false;
}

static void
count_expr(void *ctx, const struct expr *e)
{
	(void)e;
	++*(int *)ctx;
}

/* Is the block a table: computed from its iter vars alone, by more than a few
 * operations? */
static bool
is_table(const struct stmt *block)
{
	int size = 0;

	if (block->u.block->n_reads == 0 &&
	    block->children[0]->kind == STMT_STORE) {
		expr_visit(block->children[0]->args[0], count_expr, &size);
	}
	return size > 8;
}

/* The largest number of bytes of the block's output that one result of a
 * consumer's reduction reads; INT64_MAX for symbolic sizes. */
static int64_t
row_bytes(struct rules *r, const struct stmt *block, const int *users, int n)
{
	const struct buffer *b = block->u.block->writes[0].buffer;
	int64_t bytes = dtype_bytes(b->type), all, most = 0;

	if (!buffer_max_elems(b, &all)) {
		return INT64_MAX;
	}
	for (int i = 0; i < n; i++) {
		const struct block *user =
			func_find(r->s.func, users[i])->u.block;
		int64_t row = 1, extent;

		for (int k = 0; k < user->n_iters; k++) {
			if (user->iters[k].kind != ITER_REDUCE) {
				continue;
			}
			row = expr_is_int(user->iters[k].extent, &extent) &&
					      extent < all / row
				      ? row * extent
				      : all;
		}
		most = row > most ? row : most;
	}
	return most * bytes;
}

/* Would inlining repeat an expensive function? It would if a reduction reads
 * each element many times, if several blocks read it, or if each element of a
 * row reads a statistic of the row (its mean). If the target minimises memory,
 * repeating costs less than a row too large for the stack. */
static bool
worth_keeping(struct rules *r, int id, const struct stmt *block)
{
	int *users, n;

	if (block_select_axis(block) >= 0) {
		return true;
	}
	if ((!store_has(block, see_costly) && !is_table(block)) ||
	    !sched_get_consumers(&r->s, id, &users, &n)) {
		return false;
	}
	for (int i = 0; i < n; i++) {
		const struct stmt *user = func_find(r->s.func, users[i]);

		if (count_loops(user) > count_loops(block) &&
		    is_statistic(r, id)) {
			return true;
		}
	}
	if (!store_has(block, see_call) && !is_table(block)) {
		return false;
	}
	if (n > 1 &&
	    !(r->target->optimize_memory &&
	      row_bytes(r, block, users, n) > r->target->stack_limit_bytes)) {
		return true;
	}
	for (int i = 0; i < n; i++) {
		const struct stmt *user = func_find(r->s.func, users[i]);

		if (block_reduces(user) &&
		    user->u.block->n_iters > block->u.block->n_iters) {
			return true;
		}
	}
	return false;
}

/* All blocks of the function; the trace gets each by its name. */
static int
all_blocks(struct rules *r, int **blocks)
{
	int n = sched_get_child_blocks(&r->s, 0, blocks);

	for (int i = 0; i < n; i++) {
		sched_get_block(&r->s, func_find(r->s.func, (*blocks)[i])
					       ->u.block->name);
	}
	return n;
}

/* Is the block a copy padded with a constant, read by one reduction alone? */
static bool
is_padded_copy(struct rules *r, int id, const struct stmt *block)
{
	const struct stmt *store = block->children[0];
	const struct expr *e = store->kind == STMT_STORE ? store->args[0]
							 : NULL;
	int *users, n;

	return e != NULL && e->kind == EXPR_IF &&
	       e->args[1]->kind == EXPR_LOAD && e->args[2]->n_args == 0 &&
	       sched_get_consumers(&r->s, id, &users, &n) && n == 1 &&
	       block_reduces(func_find(r->s.func, users[0]));
}

static bool
is_operand(struct rules *r, int id)
{
	int *users, n;

	if (!sched_get_consumers(&r->s, id, &users, &n)) {
		return false;
	}
	for (int i = 0; i < n; i++) {
		if (block_reduces(func_find(r->s.func, users[i]))) {
			return true;
		}
	}
	return false;
}

void
rules_inline(struct rules *r, enum inline_kept kept)
{
	bool again = true;

	while (again) {
		int *blocks;
		int n = all_blocks(r, &blocks);

		again = false;
		for (int i = 0; i < n && !again; i++) {
			struct stmt *b = func_find(r->s.func, blocks[i]);

			if (block_reduces(b) || is_output(r, b) ||
			    worth_keeping(r, blocks[i], b) ||
			    (kept == KEEP_ROWS &&
			     is_padded_copy(r, blocks[i], b)) ||
			    (kept == KEEP_OPERANDS &&
			     is_operand(r, blocks[i])) ||
			    rules_is_bound(r, blocks[i])) {
				continue;
			}
			again = sched_compute_inline(&r->s, blocks[i]);
		}
	}
}

/* Applies a rule; rolls back a rule that fails. */
#define TRY(rule)                                                              \
	do {                                                                   \
		struct sched_mark mark = sched_checkpoint(&r->s);              \
		size_t words = r->words.len;                                   \
		if (rule) {                                                    \
			return true;                                           \
		}                                                              \
		rules_undo(r, mark, words);                                    \
	} while (0)

void
rules_undo(struct rules *r, struct sched_mark mark, size_t words)
{
	sched_rollback(&r->s, mark);
	r->words.len = words;
	if (r->words.data != NULL) {
		r->words.data[words] = '\0';
	}
}

/* The blocks of a kernel, by kind. */
struct shape {
	int *blocks, n;
	int reduction, output, n_reductions, n_outputs;
};

static struct shape
shape_of(struct rules *r)
{
	struct shape x = { 0 };

	x.n = all_blocks(r, &x.blocks);
	for (int i = 0; i < x.n; i++) {
		struct stmt *b = func_find(r->s.func, x.blocks[i]);

		if (is_output(r, b)) {
			x.output = x.blocks[i];
			x.n_outputs++;
		}
		if (block_reduces(b)) {
			x.reduction = x.blocks[i];
			x.n_reductions++;
		}
	}
	return x;
}

/* Applies rule_padded_rows to a kernel of a padded copy, a reduction and its
 * output. */
static bool
choose_rows(struct rules *r)
{
	struct shape x = shape_of(r);
	bool fits = x.n == 3 && x.n_reductions == 1 && x.n_outputs == 1 &&
		    x.output != x.reduction;

	for (int i = 0; i < x.n && fits; i++) {
		int id = x.blocks[i];

		if (id != x.output && id != x.reduction &&
		    is_padded_copy(r, id, func_find(r->s.func, id))) {
			TRY(rule_padded_rows(r, id, x.reduction, x.output));
			TRY(rule_bordered_product(r, id, x.reduction,
						  x.output));
		}
	}
	return false;
}

static bool
choose(struct rules *r)
{
	struct shape x = shape_of(r);

	TRY(rule_recurrent(r));
	TRY(rule_ordered(r));
	if (x.n == 1 && x.n_reductions == 1) {
		TRY(rule_tuple_reduction(r, x.reduction));
	}
	if (x.n == 1 && x.n_reductions == 0) {
		TRY(rule_elementwise(r, x.output));
	} else if (x.n_outputs == 1 && x.n_reductions == 1 &&
		   (x.n == 1 || (x.n == 2 && x.output != x.reduction))) {
		if (rules_sums_rows(r, x.reduction)) {
			TRY(rule_lane_reduction(r, x.blocks, x.n, x.output));
		}
		if (!r->target->scalar_accumulators) {
			TRY(rule_matmul(r, x.reduction, x.output));
			while (r->next_product > r->first_product) {
				r->first_product = r->next_product;
				TRY(rule_matmul(r, x.reduction, x.output));
			}
			TRY(rule_window(r, x.reduction, x.output));
		}
		TRY(rule_lane_reduction(r, x.blocks, x.n, x.output));
		TRY(rule_reduction(r, x.reduction, x.output));
	} else if (x.n_outputs == 1) {
		TRY(rule_constant_matrix(r, x.blocks, x.n, x.output));
		TRY(rule_blocked_rows(r, x.blocks, x.n, x.output));
		TRY(rule_rowwise(r, x.blocks, x.n, x.output));
	} else if (x.n_reductions > 0) {
		/* Statistics are outputs, too. */
		TRY(rule_rowwise(r, x.blocks, x.n, x.output));
	}
	return false;
}

/* Reports that no schedule binds the kernel to threads, with the last
 * primitive's message. */
static bool
no_threads(struct rules *r)
{
	struct diag_place place = { .item = r->kernel->name };
	const struct diags *d = &r->s.diags;

	return diag_error(&r->module->diags, DIAG_UNSUPPORTED, place,
			  "no schedule binds the kernel to a device's "
			  "threads: %s",
			  d->list.n > 0 ? d->list.data[d->list.n - 1].message
					: "no block can be bound");
}

void
sched_for_kernel(struct sched *s, const struct kernel *k,
		 const struct target *target)
{
	int64_t *align = arena_array(&s->module->arena, int64_t,
				     s->func->params.n + 1);

	for (int i = 0; i < s->func->params.n && i < k->args.n; i++) {
		if (k->args.data[i].kind == ARG_WEIGHT &&
		    !target->loose_weights) {
			align[i] = target->align_bytes;
		}
	}
	s->intrins = target->intrins;
	s->param_align = align;
}

bool
default_schedule(struct kernel *k, const struct target *target,
		 struct module *m, struct sched *out)
{
	struct rules r = { .kernel = k, .target = target, .module = m };

	strbuf_init(&r.words);
	sched_init(&r.s, k->func);
	sched_for_kernel(&r.s, k, target);
	if (target->max_threads > 1) {
		if (!rules_threads(&r)) {
			return no_threads(&r);
		}
	} else {
		rules_inline(&r, KEEP_ROWS);
		if (!choose_rows(&r)) {
			rules_inline(&r, KEEP_NOTHING);
			if (!choose(&r)) {
				strbuf_puts(&r.words, "plain loops");
			}
		}
		rules_parallel(&r);
	}
	rules_block_sums(&r);
	k->schedule = arena_strndup(&m->arena, r.words.data, r.words.len);
	strbuf_release(&r.words);
	func_commit(k->func);
	if (out != NULL) {
		*out = r.s;
	}
	return sched_adopt_layouts(&r.s, k);
}
