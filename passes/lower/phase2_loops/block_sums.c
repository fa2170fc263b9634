/* SPDX-License-Identifier: Apache-2.0 */
/* Sums many floats block by block: the terms of each block are added to a
 * partial sum, which is then added to the total. The pass changes loops with
 * the note "sum_terms", whose value is the largest number of terms that one
 * accumulator may add.
 *
 *   for k in T.serial(4096,              for k_o in range(16):
 *       annotations={"sum_terms": 256}):     part[()] = 0
 *     acc[()] = acc[()] + x[k]      ->       for k in range(k_o * 256,
 *                                                    k_o * 256 + 256):
 *                                                part[()] = part[()] + x[k]
 *                                            acc[()] = acc[()] + part[()]
 *
 * A sum of n terms rounds each of them up to n times, so its error is at most n
 * u times the sum of the terms' magnitudes (u: half a unit in the last place of
 * 1); if a large term comes first, small ones may be lost altogether. In blocks
 * of b the error is at most (b + n / b) u. If there are more than 4 b blocks,
 * their sums are summed in blocks, too.
 *
 * The outermost loop of which one iteration does not have too many terms is
 * split. The block size is a divisor of its extent if there is one of at least
 * half the size, else the last block is shorter. Sums of several elements (a
 * tile) have as many partial sums. A running sum, which other statements of the
 * loop read, is read as total plus partial sum. */
#include "lower_passes.h"

#include "access.h"
#include "iterate.h"
#include "scope.h"
#include "sum_terms.h"
#include "thread_loops.h"

/* MOST_ELEMS: the largest number of elements of a tile. For blocks of b terms,
 * MOST_BLOCKS * b is the largest number of block sums that one accumulator may
 * add. */
enum { MOST_ELEMS = 1024, MOST_BLOCKS = 4 };

struct blocking {
	struct func *func;
	struct module *module;
	struct stmt *top;   /* the loop with the note "sum_terms" */
	struct stmt *store; /* the store total[index] = total[index] + term */
	const struct buffer *total;
	struct stmt *loop; /* the loop to split into blocks */
	/* the number of terms that one iteration of `loop` adds to an
	 * element */
	int64_t terms;
	/* the largest number of terms that one accumulator may add, which is
	 * the value of the note */
	int64_t most;
	int64_t allowed; /* a sum of this many terms needs no blocks */
	/* the index, in the total, of the element to which the store adds,
	 * simplified */
	const struct expr **index;
	const struct buffer *part; /* the buffer of partial sums */
	/* the index in `part` of the partial sum for total[index] */
	const struct expr **at;
	/* the condition under which an element of the total is summed; NULL if
	 * there is no condition */
	const struct expr *guard;
	bool is_running; /* the loop also reads the total */
	/* other stores in the loop add to elements of the total, too */
	bool is_shared;
	/* if is_shared: for each dimension of the total, does `part` have this
	 * dimension? */
	bool *kept;
};

/* The index of the operand total[index] in the store's sum; -1 if it is not a
 * sum of floats. */
static int
total_operand(const struct stmt *s)
{
	const struct expr *e = s->args[0];
	int k;

	if (e->kind != EXPR_ADD || e->type.lanes != 1 ||
	    !dtype_is_float(e->type)) {
		return -1;
	}
	k = access_own_operand(s);
	return k >= 0 && expr_uses_buffer(e->args[1 - k], s->u.buffer) ? -1 : k;
}

static struct var *
bound_var(const struct stmt *loop_or_let)
{
	return loop_or_let->kind == STMT_FOR ? loop_or_let->u.loop.var
					     : loop_or_let->u.var;
}

/* Does the variable of the loop or LET occur in the index of the element to
 * which the store adds? */
static bool
selects_element(const struct blocking *x, const struct stmt *store,
		const struct stmt *loop_or_let)
{
	struct analyser a;

	analyser_at(&a, x->module, store);
	for (int d = 0; d < x->total->ndim; d++) {
		if (expr_uses_var(simplify(&a, store->args[1 + d]),
				  bound_var(loop_or_let))) {
			return true;
		}
	}
	return false;
}

/* Sets x->loop to the loop to split: the innermost loop whose iterations
 * together add more terms than a block has. False if no loop needs to be split,
 * or the loop cannot be split. */
static bool
find_loop(struct blocking *x)
{
	int64_t all = 1;

	x->terms = 1;
	x->loop = NULL;
	for (struct stmt *s = x->store->parent;; s = s->parent) {
		int64_t n;

		if (s->kind == STMT_FOR) {
			if (s->u.loop.kind != FOR_SERIAL &&
			    s->u.loop.kind != FOR_UNROLLED &&
			    s->u.loop.kind != FOR_VECTORIZED) {
				break;
			}
			if (!selects_element(x, x->store, s)) {
				n = loop_most_iterations(x->module, s);
				if (x->loop == NULL && n > x->most / x->terms) {
					x->loop = s;
				} else if (x->loop == NULL) {
					x->terms *= n > 1 ? n : 1;
				}
				if (n > 1 &&
				    __builtin_mul_overflow(all, n, &all)) {
					all = INT64_MAX;
				}
			}
		} else if (s->kind == STMT_WHILE ||
			   (s->kind == STMT_IF && s->children[1] != NULL) ||
			   (s->kind == STMT_ALLOC && s->u.buffer == x->total)) {
			break;
		}
		if (s == x->top) {
			break;
		}
	}
	/* If a size has no bound, the number of blocks has no bound either. */
	return x->loop != NULL && all > x->allowed &&
	       (all < INT64_MAX || x->allowed == x->most) &&
	       x->loop->u.loop.kind != FOR_VECTORIZED;
}

/* Collects the loops inside of the split loop that select the element: the axes
 * of the tile of partial sums. False if the tile is not small, or the element
 * is not selected by loops alone. */
static bool
find_tile(struct blocking *x)
{
	struct arena *arena = &x->module->arena;
	int depth = stmt_depth(x->store), d = depth;
	const struct expr **shape = arena_exprs(arena, depth + 1);
	struct buffer_spec spec = { .name = "part",
				    .type = x->total->type,
				    .scope = "local" };
	int64_t elems = 1, n;

	x->at = arena_exprs(arena, depth + 1);
	for (const struct stmt *s = x->store->parent; s != x->loop;
	     s = s->parent) {
		bool selects = (s->kind == STMT_FOR || s->kind == STMT_LET) &&
			       selects_element(x, x->store, s);

		if (!selects) {
			continue;
		}
		if (s->kind == STMT_LET || !expr_is_value(s->args[0], 0) ||
		    !expr_is_int(s->args[1], &n) || n < 1 ||
		    n > MOST_ELEMS / elems) {
			return false;
		}
		elems *= n;
		x->at[--d] = s->u.loop.var->expr;
		shape[d] = s->args[1];
	}
	x->at += d;
	spec.ndim = depth - d;
	spec.shape = shape + d;
	x->part = buffer_new(x->module, &spec);
	return true;
}

/* The conditions around a store to the total, inside of the split loop, that do
 * not change while an element is summed; NULL if there are none. Other
 * conditions only exclude terms. */
static const struct expr *
guard_of(const struct blocking *x, const struct stmt *store)
{
	struct conjuncts all = { 0 }, kept = { 0 };

	for (const struct stmt *s = store->parent; s != x->loop;
	     s = s->parent) {
		if (s->kind == STMT_IF) {
			expr_conjuncts(x->module, s->args[0], &all);
		}
	}
	for (int i = 0; i < all.list.n; i++) {
		const struct expr *c = all.list.data[i];
		bool term = expr_has_load(c);

		for (const struct stmt *s = store->parent;; s = s->parent) {
			term |= (s->kind == STMT_FOR || s->kind == STMT_LET) &&
				expr_uses_var(c, bound_var(s)) &&
				!selects_element(x, store, s);
			if (s == x->loop) {
				break;
			}
		}
		if (!term) {
			vec_push(&x->module->arena, &kept.list, c);
		}
	}
	return expr_conjunction(x->module, kept.list.data, kept.list.n);
}

static const struct expr **
simplified_index(const struct blocking *x, const struct stmt *at,
		 const struct expr *const *index)
{
	const struct expr **out = arena_exprs(&x->module->arena,
					      x->total->ndim + 1);
	struct analyser a;

	analyser_at(&a, x->module, at);
	for (int d = 0; d < x->total->ndim; d++) {
		out[d] = simplify(&a, index[d]);
	}
	return out;
}

/* Sets is_shared and is_running from the other accesses of the total in the
 * loop. False unless they are stores that add to the total, and loads of the
 * element that x->store adds to. */
static bool
find_others(struct blocking *x)
{
	struct access_list uses = { 0 };

	x->is_running = x->is_shared = false;
	access_collect(x->func, x->loop, x->total, &uses);
	for (int i = 0; i < uses.list.n; i++) {
		const struct access *u = &uses.list.data[i];
		const struct expr **index;

		if (u->at == x->store) {
			continue;
		}
		if (u->address) {
			return false;
		}
		if (u->at->kind == STMT_STORE && u->at->u.buffer == x->total) {
			x->is_shared = true;
			if (total_operand(u->at) < 0) {
				return false;
			}
			continue;
		}
		index = simplified_index(x, u->at, u->index);
		for (int d = 0; d < x->total->ndim; d++) {
			if (index[d] != x->index[d]) {
				return false;
			}
		}
		x->is_running = true;
	}
	return true;
}

/* Is the index in dimension d the same expression in all accesses, and does it
 * not depend on any variable bound in the split loop? */
static bool
is_fixed(const struct blocking *x, const struct access_list *uses, int d)
{
	for (int i = 0; i < uses->list.n; i++) {
		const struct access *u = &uses->list.data[i];
		const struct expr *e = simplified_index(x, u->at, u->index)[d];

		for (const struct stmt *s = u->at;; s = s->parent) {
			if ((s->kind == STMT_FOR || s->kind == STMT_LET) &&
			    expr_uses_var(e, bound_var(s))) {
				return false;
			}
			if (s == x->loop) {
				break;
			}
		}
		if (e != x->index[d]) {
			return false;
		}
	}
	return true;
}

/* Is the index in dimension d, in all accesses, the variable of a loop inside
 * of the split loop that runs over the whole dimension? */
static bool
is_covered(const struct blocking *x, const struct access_list *uses, int d)
{
	for (int i = 0; i < uses->list.n; i++) {
		const struct access *u = &uses->list.data[i];
		const struct expr *e = simplified_index(x, u->at, u->index)[d];

		for (const struct stmt *s = u->at; s != x->loop;
		     s = s->parent) {
			if (s->kind == STMT_FOR && e == s->u.loop.var->expr &&
			    expr_is_value(s->args[0], 0) &&
			    s->args[1] == x->total->shape[d]) {
				return true;
			}
		}
	}
	return false;
}

/* The index in `part` of the partial sum for the element total[index]. */
static const struct expr **
kept_index(const struct blocking *x, const struct expr *const *index)
{
	const struct expr **out = arena_exprs(&x->module->arena,
					      x->total->ndim + 1);
	int n = 0;

	for (int d = 0; d < x->total->ndim; d++) {
		if (x->kept[d]) {
			out[n++] = index[d];
		}
	}
	return out;
}

/* Makes the array of partial sums for a total to which several stores add; it
 * has the dimensions of the total in which loops select the index. False if the
 * array would be too large, if another thread may use an element of the total,
 * or if a store is under a condition, so that an element may have no value
 * yet. */
static bool
find_whole(struct blocking *x)
{
	const struct buffer *b = x->total;
	bool own = !func_has_param(x->func, b) && buffer_is_private(b);
	struct buffer_spec spec = { .name = "part",
				    .type = b->type,
				    .scope = "local" };
	int64_t elems;
	struct access_list uses = accesses_of(x->func, x->loop, b);

	for (int i = 0; i < uses.list.n; i++) {
		if (guard_of(x, uses.list.data[i].at) != NULL) {
			return false;
		}
	}
	x->kept = arena_array(&x->module->arena, bool, b->ndim + 1);
	for (int d = 0; d < b->ndim; d++) {
		x->kept[d] = !is_fixed(x, &uses, d);
		if (x->kept[d] && !own && !is_covered(x, &uses, d)) {
			return false;
		}
		spec.ndim += x->kept[d];
	}
	spec.shape = kept_index(x, b->shape);
	x->part = buffer_new(x->module, &spec);
	x->at = kept_index(x, x->index);
	return buffer_const_elems(x->part, &elems) && elems <= MOST_ELEMS;
}

static const struct expr *
read_running(void *ctx, const struct expr *e)
{
	struct blocking *x = ctx;

	if (e->kind == EXPR_LOAD && e->u.buffer == x->total) {
		return expr_add(x->module, e,
				expr_load(x->module, x->part, x->at,
					  x->part->ndim));
	}
	return NULL;
}

/* A loop inside of the split loop whose variable selects the index in dimension
 * d of an access of the total; NULL if there is no such loop. */
static const struct stmt *
loop_over(const struct blocking *x, int d)
{
	struct access_list uses = accesses_of(x->func, x->loop, x->total);

	for (int i = 0; i < uses.list.n; i++) {
		const struct access *u = &uses.list.data[i];
		const struct expr **index = simplified_index(x, u->at,
							     u->index);

		for (const struct stmt *s = u->at; s != x->loop;
		     s = s->parent) {
			if (s->kind == STMT_FOR &&
			    expr_uses_var(index[d], s->u.loop.var)) {
				return s;
			}
		}
	}
	return NULL;
}

/* A nest over all elements of `part` that adds each partial sum to the total
 * (adds), or sets it to 0. */
static struct stmt *
each_of_array(struct blocking *x, bool adds)
{
	struct module *m = x->module;
	const struct buffer *b = x->total, *part = x->part;
	const struct expr **index = arena_exprs(&m->arena, b->ndim + 1), **at;
	struct stmt *nest;

	for (int d = 0; d < b->ndim; d++) {
		const struct stmt *loop = x->kept[d] ? loop_over(x, d) : NULL;
		const char *name = loop ? loop->u.loop.var->name : "i";

		index[d] = x->kept[d]
				   ? var_new(m, name, b->shape[d]->type)->expr
				   : x->index[d];
	}
	at = kept_index(x, index);
	nest = adds ? stmt_store(x->func, b,
				 expr_add(m, expr_load(m, b, index, b->ndim),
					  expr_load(m, part, at, part->ndim)),
				 index, b->ndim)
		    : stmt_store(x->func, part, expr_float(m, b->type, 0), at,
				 part->ndim);
	for (int d = b->ndim - 1; d >= 0; d--) {
		const struct stmt *loop = x->kept[d] ? loop_over(x, d) : NULL;

		if (x->kept[d]) {
			nest = stmt_for(x->func, index[d]->u.var,
					expr_int(m, index[d]->type, 0),
					b->shape[d],
					loop ? loop->u.loop.kind : FOR_UNROLLED,
					nest);
		}
	}
	return nest;
}

/* A nest that adds the partial sum of each element of the tile to the total
 * (adds), or sets it to 0. The nest has the guard of the sum, and the loops of
 * the sum that select an element. */
static struct stmt *
each_of_tile(struct blocking *x, bool adds)
{
	struct module *m = x->module;
	const struct buffer *b = x->total, *part = x->part;
	struct stmt *nest =
		adds ? stmt_store(x->func, b,
				  expr_add(m,
					   expr_load(m, b, x->index, b->ndim),
					   expr_load(m, part, x->at,
						     part->ndim)),
				  x->index, b->ndim)
		     : stmt_store(x->func, part, expr_float(m, b->type, 0),
				  x->at, part->ndim);

	if (x->guard != NULL) {
		nest = stmt_if(x->func, x->guard, nest, NULL);
	}
	for (struct stmt *s = x->store->parent; s != x->loop; s = s->parent) {
		if (s->kind == STMT_FOR && selects_element(x, x->store, s)) {
			nest = stmt_for(x->func, s->u.loop.var, s->args[0],
					s->args[1], s->u.loop.kind, nest);
			nest->notes = s->notes;
		}
	}
	return stmt_clone(x->func, nest, true);
}

/* Makes the store s add to the partial sum at the index `at` in place of the
 * total. */
static void
add_to_part(struct blocking *x, struct stmt *s, const struct expr **at)
{
	const struct expr *term = s->args[0]->args[1 - total_operand(s)];
	struct stmt *sum = stmt_store(x->func, x->part,
				      expr_add(x->module,
					       expr_load(x->module, x->part, at,
							 x->part->ndim),
					       term),
				      at, x->part->ndim);

	stmt_set_args(x->func, s, sum->args, sum->n_args);
	stmt_write(x->func, &s->u.buffer, &x->part, sizeof x->part);
}

static void
add_all_to_part(struct blocking *x)
{
	struct access_list uses = { 0 };

	if (x->is_running) {
		struct stmt *own = x->store;

		add_to_part(x, own, x->at);
		stmt_rewrite(x->func, x->loop->children[0], read_running, x);
		return;
	}
	access_collect(x->func, x->loop, x->total, &uses);
	for (int i = 0; i < uses.list.n; i++) {
		struct stmt *s = uses.list.data[i].at;

		if (s == x->store && s->u.buffer == x->total) {
			add_to_part(x, s, x->at);
		} else if (s->u.buffer == x->total) {
			add_to_part(x, s,
				    kept_index(x,
					       simplified_index(x, s,
								s->args + 1)));
		}
	}
}

/* The number of consecutive iterations of the split loop whose terms make one
 * partial sum. */
static int64_t
block_size(const struct blocking *x)
{
	int64_t most = x->most / x->terms, n;

	if (most < 2 || !expr_is_int(x->loop->args[1], &n)) {
		return most < 1 ? 1 : most;
	}
	for (int64_t size = most; size > most / 2; size--) {
		if (n % size == 0) {
			return size;
		}
	}
	/* blocks of about equal size */
	n = (n - 1) / ((n - 1) / most + 1) + 1;
	return n;
}

/* Splits the loop: it becomes the loop over blocks, around a new loop, with the
 * old variable, over the iterations of one block. Returns the new loop. If the
 * length of a block is not constant, the end of the block is bound to a
 * variable. */
static struct stmt *
split_loop(struct blocking *x, int64_t size)
{
	struct func *f = x->func;
	struct module *m = x->module;
	struct stmt *loop = x->loop, *inner;
	struct var *v = loop->u.loop.var, *blocks, *end = NULL;
	const struct expr *min = loop->args[0], *extent = loop->args[1];
	const struct expr *none = expr_int(m, v->type, 0);
	const struct expr *step = expr_int(m, v->type, size);
	const struct expr *n_blocks, *first, *n;
	struct note *notes = NULL;
	struct analyser a;
	int64_t same;

	blocks = var_new(m, arena_printf(&m->arena, "%s_o", v->name), v->type);
	first = expr_add(m, min, expr_mul(m, blocks->expr, step));
	n_blocks = expr_floordiv(m,
				 expr_add(m, extent,
					  expr_int(m, v->type, size - 1)),
				 step);
	n = expr_min(m, step,
		     expr_sub(m, extent, expr_mul(m, blocks->expr, step)));
	analyser_at(&a, m, loop);
	n_blocks = simplify(&a, n_blocks);
	analyser_bind(&a, blocks, none, n_blocks);
	if (expr_is_int(simplify(&a, n), &same)) {
		inner = stmt_for(f, v, first, step, loop->u.loop.kind,
				 loop->children[0]);
	} else {
		end = var_new(m, "end", v->type);
		inner = stmt_for(f, v, first, expr_sub(m, end->expr, first),
				 loop->u.loop.kind, loop->children[0]);
	}
	inner->notes = loop->notes;
	stmt_write(f, &loop->notes, &notes, sizeof notes);
	stmt_set_arg(f, loop, 0, none);
	stmt_set_arg(f, loop, 1, n_blocks);
	stmt_write(f, &loop->u.loop.var, &blocks, sizeof blocks);
	stmt_set_loop_kind(f, loop, FOR_SERIAL, NULL);
	if (end == NULL) {
		return inner;
	}
	return stmt_let(f, end,
			expr_min(m, expr_add(m, first, step),
				 expr_add(m, min, extent)),
			inner);
}

/* Splits the store's sum into blocks. Afterwards x->store is the store that
 * adds the blocks' sums, which may be split again. False, with nothing changed,
 * if the accumulators add few terms, or if partial sums are not possible. */
static bool
block_sum(struct blocking *x)
{
	struct func *f = x->func;
	struct stmt *parts[3];
	struct analyser a;
	int64_t size;

	x->total = x->store->u.buffer;
	if (total_operand(x->store) < 0 || !find_loop(x)) {
		return false;
	}
	x->index = simplified_index(x, x->store, x->store->args + 1);
	if (!find_others(x) || (x->is_shared && x->is_running) ||
	    !(x->is_shared ? find_whole(x) : find_tile(x))) {
		return false;
	}
	if (x->is_shared) {
		parts[0] = each_of_array(x, false);
		parts[2] = each_of_array(x, true);
	} else {
		x->guard = guard_of(x, x->store);
		analyser_at(&a, x->module, x->loop);
		if (x->guard != NULL && !expr_is_total(&a, x->guard)) {
			return false; /* other conditions may guard it */
		}
		parts[0] = each_of_tile(x, false);
		parts[2] = each_of_tile(x, true);
	}
	add_all_to_part(x);
	size = block_size(x);
	parts[1] = size > 1 ? split_loop(x, size) : x->loop->children[0];
	stmt_set_child(f, x->loop, 0,
		       stmt_alloc(f, x->part, stmt_seq(f, parts, 3)));
	for (x->store = parts[2]; x->store->kind != STMT_STORE;
	     x->store = x->store->children[0]) {
	}
	return true;
}

bool
lower_block_sums(struct func *f)
{
	struct stmt_list loops = loops_noted(f, SUM_TERMS);

	/* Inner loops are handled before outer ones: the splitting of a sum
	 * copies the loops inside of the split loop. */
	for (int i = loops.list.n - 1; i >= 0; i--) {
		struct stmt *top = loops.list.data[i];
		struct stmt_list stores;
		struct blocking x = { .func = f,
				      .module = f->module,
				      .top = top };

		if (!expr_is_int(stmt_note(top, SUM_TERMS), &x.most) ||
		    x.most < 2 || x.most > INT32_MAX) {
			continue;
		}
		stmt_set_note(f, top, SUM_TERMS, NULL);
		stores = stmts_of(&f->module->arena, top, STMT_STORE);
		for (int k = 0; k < stores.list.n; k++) {
			x.store = stores.list.data[k];
			x.allowed = x.most;
			while (block_sum(&x)) {
				x.allowed = MOST_BLOCKS * x.most;
			}
		}
	}
	return true;
}
