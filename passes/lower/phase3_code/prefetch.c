/* SPDX-License-Identifier: Apache-2.0 */
/* Inserts prefetches: while the inner loops of an iteration read a parameter's
 * data repeatedly, a loop with the note "prefetch" prefetches the data of its
 * next iteration. The note's value is the number of bytes per prefetch; a note
 * "prefetch_of" lists the parameters whose data is prefetched ("A, B"; without
 * this note, all).
 *
 *   for o in range(4):                    for o in range(4):
 *       for h in range(8):                    o_next = min(o + 1, 3)
 *           for i in range(64):     ->        for h in range(8):
 *               … w[o, i] …                       for p in T.unroll(8):
 *                                                     prefetch w[o_next,
 *                                                                h * 8 + p]
 *                                                 for i in range(64): …
 *
 * Hardware prefetchers extrapolate from the last few reads, but the next block
 * of weights is a whole block ahead. Each iteration of the loops that repeat
 * the reads prefetches a part of the next block, so that memory traffic and
 * arithmetic overlap. Conditional reads are not prefetched: their parts might
 * not add up to the block; nor are reads at indices that are loaded. */
#include "access.h"
#include "lower_passes.h"
#include "scope.h"

#include <string.h>

enum { PREFETCH_LOOPS = 16 };

struct prefetch {
	struct func *func;
	struct stmt *loop; /* the loop that has the note about prefetching */
	int64_t line;
	const struct access *read;
	struct stmt *repeats[PREFETCH_LOOPS]; /* outermost first */
	int n_repeats;
	/* Loops over the elements that an iteration reads. rows: the innermost
	 * loop that is neither unrolled nor vectorized; row: an unrolled or
	 * vectorized loop inside of it, or NULL. */
	struct stmt *rows, *row;
	struct var *next; /* the number of the loop's next iteration */
};

static bool
index_depends_on(const struct access *x, const struct stmt *loop)
{
	for (int d = 0; d < x->buffer->ndim; d++) {
		if (expr_uses_var(x->index[d], loop->u.loop.var)) {
			return true;
		}
	}
	return false;
}

/* Can the address of the element that the next iteration reads be computed in
 * each case, although a condition may guard the read? */
static bool
address_is_total(struct prefetch *p)
{
	struct analyser a;
	bool total = true;

	analyser_at(&a, p->func->module, p->loop);
	for (int d = 0; d < p->read->buffer->ndim; d++) {
		total &= expr_is_total(&a, p->read->index[d]);
	}
	return total;
}

static bool
find_loops(struct prefetch *p)
{
	const struct access *x = p->read;
	const struct expr *last = x->index[x->buffer->ndim - 1];
	int64_t n;

	p->rows = p->row = NULL;
	p->n_repeats = 0;
	for (struct stmt *s = x->at; s != p->loop; s = s->parent) {
		bool inner = s->kind == STMT_FOR &&
			     (s->u.loop.kind == FOR_UNROLLED ||
			      s->u.loop.kind == FOR_VECTORIZED);

		/* Under a condition, only some iterations would prefetch their
		 * parts. */
		if (s->kind == STMT_IF) {
			return false;
		}
		if (s->kind != STMT_FOR || !expr_is_int(s->args[1], &n)) {
			if (s->kind == STMT_FOR || s->kind == STMT_WHILE) {
				return false;
			}
			continue;
		}
		if (!index_depends_on(x, s)) {
			if (!inner && p->rows != NULL) {
				if (p->n_repeats == PREFETCH_LOOPS) {
					return false;
				}
				p->repeats[p->n_repeats++] = s;
			}
		} else if (!inner && p->rows == NULL) {
			p->rows = s;
		} else if (inner && (p->rows != NULL || p->row != NULL ||
				     last != s->u.loop.var->expr)) {
			return false;
		} else if (inner) {
			p->row = s;
		}
	}
	for (int i = 0; i < p->n_repeats / 2; i++) {
		struct stmt *swap = p->repeats[i];

		p->repeats[i] = p->repeats[p->n_repeats - 1 - i];
		p->repeats[p->n_repeats - 1 - i] = swap;
	}
	return p->rows != NULL && p->n_repeats > 0 &&
	       index_depends_on(x, p->loop);
}

static int64_t
count_of(const struct stmt *loop)
{
	int64_t n = 1;

	return loop && expr_is_int(loop->args[1], &n) ? n : 1;
}

/* The statement that prefetches the data that the next iteration reads at the
 * given row and element. */
static struct stmt *
prefetch_element(struct prefetch *p, const struct expr *row,
		 const struct expr *element)
{
	struct module *m = p->func->module;
	const struct buffer *b = p->read->buffer;
	const struct expr **index = arena_exprs(&m->arena, b->ndim + 1);
	struct var *from[3] = { p->loop->u.loop.var, p->rows->u.loop.var };
	const struct expr *to[3] = { p->next->expr, row };
	struct var_map map = { from, to, 2 };
	const struct expr *e;

	if (p->row) {
		from[2] = p->row->u.loop.var;
		to[2] = element;
		map.n = 3;
	}
	for (int d = 0; d < b->ndim; d++) {
		index[d] = expr_substitute(m, p->read->index[d], &map);
	}
	e = expr_load(m, b, index, b->ndim);
	e = expr_call(m, INTRIN_READ_ADDRESS_OF, dtype_of(DT_HANDLE), &e, 1);
	return stmt_evaluate(p->func, expr_call(m, INTRIN_PREFETCH,
						dtype_of(DT_VOID), &e, 1));
}

/* Prefetches all cache lines of a row, or the one line that has several
 * rows. */
static struct stmt *
prefetch_row(struct prefetch *p, const struct expr *row)
{
	struct module *m = p->func->module;
	struct dtype index = p->rows->u.loop.var->type;
	int64_t bytes = (int64_t)dtype_bytes(p->read->buffer->type) *
			p->read->buffer->type.lanes;
	int64_t step = p->line > bytes ? p->line / bytes : 1;
	int64_t lines = (count_of(p->row) + step - 1) / step;
	struct var *v;
	const struct expr *first;

	if (lines <= 1) {
		return prefetch_element(p, row, expr_int(m, index, 0));
	}
	v = var_new(m, p->row->u.loop.var->name, index);
	first = expr_mul(m, v->expr, expr_int(m, index, step));
	return stmt_for(p->func, v, expr_int(m, index, 0),
			expr_int(m, index, lines), FOR_UNROLLED,
			prefetch_element(p, row, first));
}

/* The number of rows in a cache line if rows are single elements; else 1. */
static int64_t
rows_of_line(const struct prefetch *p)
{
	const struct buffer *b = p->read->buffer;
	int64_t bytes = (int64_t)dtype_bytes(b->type) * b->type.lanes;

	return !p->row && p->line > bytes &&
			       p->read->index[b->ndim - 1] ==
				       p->rows->u.loop.var->expr
		       ? p->line / bytes
		       : 1;
}

/* The number of the current iteration of all repeating loops, counted together
 * from 0; *count: the total number of these iterations. */
static const struct expr *
repetition(const struct prefetch *p, int64_t *count)
{
	struct module *m = p->func->module;
	const struct expr *e = NULL;

	*count = 1;
	for (int i = 0; i < p->n_repeats; i++) {
		const struct stmt *s = p->repeats[i];
		const struct expr *v = expr_sub(m, s->u.loop.var->expr,
						s->args[0]);

		e = e ? expr_add(m, expr_mul(m, e, s->args[1]), v) : v;
		*count *= count_of(s);
	}
	return e;
}

/* The name for the next iteration of a loop: "oc_o" -> "oc_next", "ic_i" ->
 * "ic_i_next". */
static const char *
next_name(struct module *m, const char *name)
{
	size_t n = strlen(name);

	if (n > 2 && strcmp(name + n - 2, "_o") == 0) {
		n -= 2;
	}
	return arena_printf(&m->arena, "%.*s_next", (int)n, name);
}

static void
insert(struct prefetch *p)
{
	struct func *f = p->func;
	struct module *m = f->module;
	struct dtype type = p->rows->u.loop.var->type;
	struct stmt_place place = stmt_place_of(p->rows);
	int64_t step = rows_of_line(p), repeats;
	int64_t rows = (count_of(p->rows) + step - 1) / step;
	const struct expr *turn = repetition(p, &repeats), *at;
	int64_t each = (rows + repeats - 1) / repeats;
	struct var *v = NULL, *named = NULL;
	const struct expr *value = NULL;
	struct stmt *pair[2];
	struct analyser a;

	at = expr_mul(m, turn, expr_int(m, type, each));
	if (each > 1) {
		v = var_new(m, "i", type);
		at = expr_add(m, at, v->expr);
	}
	analyser_at(&a, m, p->rows);
	if (v) {
		analyser_bind(&a, v, expr_int(m, type, 0),
			      expr_int(m, type, each));
	}
	at = simplify(&a, at);
	if (at->kind != EXPR_VAR) {
		value = at;
		named = var_new(m, next_name(m, p->rows->u.loop.var->name),
				type);
		at = named->expr;
	}
	pair[0] = prefetch_row(p, simplify(&a,
					   expr_add(m, p->rows->args[0],
						    expr_mul(m, at,
							     expr_int(m, type,
								      step)))));
	if (each * repeats > rows) {
		pair[0] = stmt_if(f, expr_lt(m, at, expr_int(m, type, rows)),
				  pair[0], NULL);
	}
	if (named) {
		pair[0] = stmt_let(f, named, value, pair[0]);
	}
	if (v) {
		pair[0] = stmt_for(f, v, expr_int(m, type, 0),
				   expr_int(m, type, each), FOR_UNROLLED,
				   pair[0]);
	}
	pair[1] = p->rows;
	stmt_put(f, place, stmt_seq(f, pair, 2));
}

static bool
is_input(const struct func *f, const struct buffer *b)
{
	for (int i = 0; i < f->params.n; i++) {
		if (f->params.data[i].buffer == b) {
			return !func_writes(f, b);
		}
	}
	return false;
}

/* Is `name` one of the names in the list `of` ("A, B")? If `of` is NULL, every
 * name is. */
static bool
is_named(const struct expr *of, const char *name)
{
	size_t n = strlen(name);
	const char *at = of && of->kind == EXPR_STRING ? of->u.text : NULL;

	while (at && *at != '\0') {
		size_t word = strcspn(at, ", ");

		if (word == n && strncmp(at, name, n) == 0) {
			return true;
		}
		at += word;
		at += strspn(at, ", ");
	}
	return at == NULL;
}

static void
prefetch_in(struct func *f, struct stmt *loop, int64_t line)
{
	struct module *m = f->module;
	struct dtype type = loop->u.loop.var->type;
	struct prefetch p = { .func = f, .loop = loop, .line = line };
	const struct expr *one = expr_int(m, type, 1), *last, *next;
	const struct expr *of = stmt_note(loop, "prefetch_of");
	struct access_list all = { 0 };
	VEC(const struct buffer *) done = { 0 };
	struct stmt *body = loop->children[0];
	struct stmt_place place = stmt_place_of(body);

	p.next = var_new(m, next_name(m, loop->u.loop.var->name), type);
	access_collect(f, body, NULL, &all);
	for (int i = 0; i < all.list.n; i++) {
		const struct access *x = &all.list.data[i];
		bool known = !x->load || x->address || x->buffer->ndim == 0 ||
			     !is_input(f, x->buffer) ||
			     !is_named(of, x->buffer->name);

		for (int k = 0; k < done.n; k++) {
			known |= done.data[k] == x->buffer;
		}
		p.read = x;
		if (!known && address_is_total(&p) && find_loops(&p)) {
			insert(&p);
			vec_push(&m->arena, &done, x->buffer);
		}
	}
	if (done.n == 0) {
		return;
	}
	body = loop->children[0];
	last = expr_sub(m, expr_add(m, loop->args[0], loop->args[1]), one);
	next = expr_min(m, expr_add(m, loop->u.loop.var->expr, one), last);
	place = stmt_place_of(body);
	stmt_put(f, place, stmt_let(f, p.next, next, body));
}

bool
lower_prefetch(struct func *f)
{
	struct stmt_list n = loops_noted(f, "prefetch");
	int64_t line;

	for (int i = 0; i < n.list.n; i++) {
		struct stmt *loop = n.list.data[i];

		if (expr_is_int(stmt_note(loop, "prefetch"), &line) &&
		    line > 0) {
			prefetch_in(f, loop, line);
		}
		stmt_set_note(f, loop, "prefetch", NULL);
		stmt_set_note(f, loop, "prefetch_of", NULL);
	}
	return true;
}
