/* SPDX-License-Identifier: Apache-2.0 */
/* Common subexpression elimination for index expressions.
 *
 *   if 1 <= h + kh and h + kh < 57:      ih: T.let = h + kh - 1
 *       acc = acc + x[h + kh - 1]   ->   if 0 <= ih and ih < 56:
 *                                            acc = acc + x[ih]
 *
 * Before that, conditions are rewritten in terms of the indices that they
 * guard. A LET is put just inside of the loop that binds the innermost variable
 * in its value. */
#include "lower_passes.h"

#include <ctype.h>

#include "access.h"
#include "index_lets.h"
#include "iterate.h"
#include "memo.h"

/* -- conditions in terms of indices */

struct guard {
	struct func *func;
	struct analyser *analyser;
	VEC(const struct expr *) indices;
	/* the results of align_select() so far, by expression */
	struct memo aligned;
};

static bool
is_compound(const struct expr *e)
{
	return dtype_is_int(e->type) && e->n_args > 0 && e->kind != EXPR_LOAD &&
	       e->kind != EXPR_CALL && e->kind != EXPR_CAST;
}

static void
add_index(struct guard *g, const struct expr *e)
{
	if (!is_compound(e) || expr_has_load(e)) {
		return;
	}
	vec_add(&g->func->module->arena, &g->indices, e);
}

/* The comparison a < b (or a <= b) in the form e < n or n <= e, with a number
 * n; NULL if it is not a bound of e. */
static const struct expr *
compare_with(struct guard *g, const struct expr *a, const struct expr *b,
	     bool or_equal, const struct expr *e)
{
	struct module *m = g->func->module;
	const struct expr *diff = expr_sub(m, a, b);
	int64_t c;

	if (!dtype_equal(a->type, e->type) || !dtype_equal(b->type, e->type)) {
		return NULL;
	}
	if (expr_is_int(simplify(g->analyser, expr_sub(m, diff, e)), &c)) {
		return expr_lt(m, e, expr_int(m, e->type, or_equal - c));
	}
	if (expr_is_int(simplify(g->analyser, expr_add(m, diff, e)), &c)) {
		return expr_le(m, expr_int(m, e->type, c + !or_equal), e);
	}
	return NULL;
}

static const struct expr *
align_condition(void *ctx, const struct expr *c)
{
	struct guard *g = ctx;
	bool swap = c->kind == EXPR_GT || c->kind == EXPR_GE;
	bool or_equal = c->kind == EXPR_LE || c->kind == EXPR_GE;

	if (c->kind != EXPR_LT && c->kind != EXPR_LE && !swap) {
		return NULL;
	}
	if (!dtype_is_int(c->args[0]->type) || expr_has_load(c)) {
		return NULL;
	}
	for (int i = 0; i < g->indices.n; i++) {
		const struct expr *found = compare_with(g, c->args[swap],
							c->args[!swap],
							or_equal,
							g->indices.data[i]);

		if (found) {
			return found;
		}
	}
	return NULL;
}

static const struct expr *
align_select(void *ctx, const struct expr *e)
{
	struct guard *g = ctx;
	struct module *m = g->func->module;
	const struct memo_entry *known;
	const struct expr *args[3], *aligned;

	if (e->kind != EXPR_IF || !expr_has_load(e->args[1])) {
		return NULL;
	}
	known = memo_get(&g->aligned, e);
	if (known != NULL) {
		return known->value;
	}
	args[0] = expr_rewrite(m, e->args[0], align_condition, g);
	args[1] = expr_rewrite(m, e->args[1], align_select, g);
	args[2] = expr_rewrite(m, e->args[2], align_select, g);
	aligned = expr_if(m, args[0], args[1], args[2]);
	memo_put(&g->aligned, e, aligned);
	return aligned;
}

static void
align_guards(struct func *f, struct stmt *s)
{
	struct analyser a;
	struct guard g = { .func = f, .analyser = &a };
	struct access_list uses = { 0 };

	analyser_init(&a, f->module);
	memo_init(&g.aligned);
	access_collect(f, s, NULL, &uses);
	for (int i = 0; i < uses.list.n; i++) {
		for (int d = 0; d < uses.list.data[i].buffer->ndim; d++) {
			add_index(&g, uses.list.data[i].index[d]);
		}
	}
	stmt_set_arg(f, s, 0,
		     expr_rewrite(f->module, s->args[0],
				  s->kind == STMT_IF ? align_condition
						     : align_select,
				  &g));
	memo_release(&g.aligned);
}

/* -- repeated expressions */

struct candidate {
	const struct expr *e;
	int count, ops;
	struct stmt *common;
};

struct search {
	struct func *func;
	struct stmt *at;
	VEC(struct candidate) list;
};

/* A node of the expression that is searched. */
struct node_count {
	const struct expr *e;
	/* times: how often the expression is printed; ops: the number of
	 * operations in it */
	int times, ops;
	bool has_load;
};

enum {
	MANY = 1 << 20
}; /* the largest number of occurrences or operations that is counted; more are
    * not needed */

/* The nodes of an expression, each once, operands first. */
struct nodes {
	struct arena *arena;
	struct memo place; /* by node: its index in the list of nodes, plus 1 */
	VEC(struct node_count) list;
};

static struct node_count *
node_of(const struct nodes *n, const struct expr *e)
{
	return &n->list.data[(uintptr_t)memo_get(&n->place, e)->value - 1];
}

static int
bounded(int n)
{
	return n < MANY ? n : MANY;
}

static void
list_nodes(struct nodes *n, const struct expr *e)
{
	struct node_count node = { .e = e, .has_load = e->kind == EXPR_LOAD };

	if (memo_get(&n->place, e) != NULL) {
		return;
	}
	node.ops = (e->n_args > 0) +
		   (e->kind == EXPR_FLOORDIV || e->kind == EXPR_FLOORMOD);
	for (int i = 0; i < e->n_args; i++) {
		const struct node_count *operand;

		list_nodes(n, e->args[i]);
		operand = node_of(n, e->args[i]);
		node.ops = bounded(node.ops + operand->ops);
		node.has_load |= operand->has_load;
	}
	vec_push(n->arena, &n->list, node);
	memo_put(&n->place, e, (const void *)(uintptr_t)n->list.n);
}

/* Counts how often each node is printed: a node is printed each time that a
 * node with that operand is printed. */
static void
count_prints(struct nodes *n)
{
	n->list.data[n->list.n - 1].times = 1;
	for (int i = n->list.n - 1; i >= 0; i--) {
		const struct node_count *node = &n->list.data[i];

		for (int k = 0; k < node->e->n_args; k++) {
			struct node_count *operand = node_of(n,
							     node->e->args[k]);

			operand->times = bounded(operand->times + node->times);
		}
	}
}

static bool
is_index_op(const struct node_count *n)
{
	switch (n->e->kind) {
	case EXPR_ADD:
	case EXPR_SUB:
	case EXPR_MUL:
	case EXPR_FLOORDIV:
	case EXPR_FLOORMOD:
		return dtype_class(n->e->type) == DTC_INT &&
		       n->e->type.lanes == 1 && !n->has_load;
	default:
		return false;
	}
}

static void
add_candidate(struct search *q, const struct node_count *n)
{
	struct candidate fresh = { n->e, n->times, n->ops, q->at };

	for (int i = 0; i < q->list.n; i++) {
		struct candidate *c = &q->list.data[i];

		if (c->e == n->e) {
			c->count = bounded(c->count + n->times);
			c->common = stmt_common(c->common, q->at);
			return;
		}
	}
	vec_push(&q->func->module->arena, &q->list, fresh);
}

/* Counts occurrences in the printed text: a shared node counts each time it is
 * printed. */
static void
count_expr(struct search *q, const struct expr *e)
{
	struct arena tmp;
	struct nodes n = { .arena = &tmp };

	if (e->n_args == 0) {
		return;
	}
	arena_init_within(&tmp, &q->func->module->arena);
	memo_init(&n.place);
	list_nodes(&n, e);
	count_prints(&n);
	for (int i = 0; i < n.list.n; i++) {
		if (is_index_op(&n.list.data[i]) && n.list.data[i].ops >= 2) {
			add_candidate(q, &n.list.data[i]);
		}
	}
	memo_release(&n.place);
	arena_release(&tmp);
}

/* Is e, an argument of s, never printed as a whole, so that only its operands
 * count? The value of a LET has a name already; a loop with the extent b - a is
 * printed as running from a to before b. */
static bool
prints_operands(const struct stmt *s, const struct expr *e)
{
	return s->kind == STMT_LET ||
	       (s->kind == STMT_FOR && e == s->args[1] && e->kind == EXPR_SUB &&
		e->args[1] == s->args[0]);
}

static void
count_stmt(struct search *q, struct stmt *s)
{
	q->at = s;
	for (int i = 0; i < s->n_args; i++) {
		const struct expr *e = s->args[i];

		for (int k = 0; k < e->n_args && prints_operands(s, e); k++) {
			count_expr(q, e->args[k]);
		}
		if (!prints_operands(s, e)) {
			count_expr(q, e);
		}
	}
}

/* -- names */

/* The names of the variables in an expression. */
struct naming {
	/* the shortest stem of the variables (see stem_of): "h" for h_o and
	 * kh_o; NULL without variables */
	const char *stem;
	/* n_stems is 1 if all variables have the same stem */
	int n_vars, n_stems;
};

/* The stem of a loop variable's name: "w_o", "w_outer" -> "w". */
static const char *
stem_of(struct arena *arena, const char *name)
{
	static const char *const endings[] = { "_outer", "_inner", "_pos" };
	size_t length = strlen(name);

	for (size_t i = 0; i < sizeof endings / sizeof *endings; i++) {
		size_t n = strlen(endings[i]);

		if (length > n && strcmp(name + length - n, endings[i]) == 0) {
			return arena_strndup(arena, name, length - n);
		}
	}

	return length > 2 && name[length - 2] == '_'
		       ? arena_strndup(arena, name, length - 2)
		       : name;
}

static struct naming
naming_of(struct arena *a, const struct expr *e)
{
	struct naming n = { 0 };

	for (struct expr_iter it = expr_each_of(e, EXPR_VAR);
	     (e = expr_next(&it));) {
		const char *stem = stem_of(a, e->u.var->name);

		n.n_vars++;
		if (!n.stem || strcmp(stem, n.stem) != 0) {
			n.n_stems++;
		}
		/* The shortest stem is kept: "h" of "h" and "kh". */
		if (!n.stem || strlen(stem) < strlen(n.stem)) {
			n.stem = stem;
		}
	}
	return n;
}

/* The constant term of the sum e; 0 if e has none. */
static int64_t
offset_of(const struct expr *e)
{
	int64_t offset = 0;

	if (e->kind == EXPR_ADD && expr_is_int(e->args[1], &offset)) {
		return offset;
	}
	return e->kind == EXPR_SUB && expr_is_int(e->args[1], &offset) &&
			       offset > INT64_MIN
		       ? -offset
		       : 0;
}

/* Is e, a division by the integer `by`, rounded up: (n + by - 1) // by? */
static bool
rounds_up(const struct expr *e, int64_t by)
{
	return e->kind == EXPR_FLOORDIV && by > 1 &&
	       offset_of(e->args[0]) == by - 1;
}

/* A name made from base and an offset: "t" and 3 make "t3"; "t" and -1 make
 * "t_before1". */
static const char *
name_at(struct arena *arena, const char *base, int64_t offset)
{
	return offset >= 0
		       ? arena_printf(arena, "%s%lld", base, (long long)offset)
		       : arena_printf(arena, "%s_before%lld", base,
				      -(long long)offset);
}

/* The name of a quotient or remainder e: n // 4 is n_div4, (n + 3) // 4 is
 * n_div4_up, (k + 1) % 2 is k1_mod2. */
static const char *
name_of_division(struct arena *arena, const char *base, const struct expr *e)
{
	const char *sign = e->kind == EXPR_FLOORDIV ? "div" : "mod";
	int64_t by, offset = offset_of(e->args[0]);

	if (!expr_is_int(e->args[1], &by)) {
		return arena_printf(arena, "%s_%s", base, sign);
	}
	if (rounds_up(e, by)) {
		return arena_printf(arena, "%s_%s%lld_up", base, sign,
				    (long long)by);
	}
	return arena_printf(arena, "%s_%s%lld",
			    offset != 0 ? name_at(arena, base, offset) : base,
			    sign, (long long)by);
}

/* A name for the value of e: "h" and "kh" make "ih", "w_o" and "w_i" make "w";
 * t_o * 4 is t0, t_o * 4 + 3 is t3, t_o * 4 - 1 is t_before1. */
static const char *
name_for(struct func *f, struct stmt *at, const struct expr *e)
{
	struct arena *arena = &f->module->arena;
	struct naming n = naming_of(arena, e);
	const char *name, *base;

	base = n.stem ? n.stem : "at";
	if (e->kind == EXPR_FLOORDIV || e->kind == EXPR_FLOORMOD) {
		name = name_of_division(arena, base, e);
	} else if (n.n_vars == 1) {
		name = name_at(arena, base, offset_of(e));
	} else if (n.n_stems == 1) {
		name = base;
	} else {
		if (base[0] == 'o' && isalpha((unsigned char)base[1])) {
			base++;
		}
		name = arena_printf(arena, "i%s", base);
	}
	/* "_" keeps the digits of the name and of the suffix apart. */
	return let_name(f, at, name, n.n_vars == 1 ? "_" : "");
}

/* Can a LET bind the candidate's value at the outermost possible place? It
 * cannot around a kernel, or outside of the condition that guards a division in
 * the value. */
static bool
can_name(struct func *f, const struct candidate *c)
{
	struct stmt *at = let_place(c->common, c->e);
	struct analyser a;

	analyser_at(&a, f->module, at);
	return expr_is_total(&a, c->e) && !let_is_around_kernel(at);
}

static bool
name_one(struct func *f)
{
	struct search q = { .func = f };
	struct stmt_iter it = stmt_each(f->body);
	const struct candidate *best = NULL;
	struct stmt *at;
	struct var *v;

	while ((at = stmt_next(&it)) != NULL) {
		count_stmt(&q, at);
	}
	for (int i = 0; i < q.list.n; i++) {
		const struct candidate *c = &q.list.data[i];

		if (c->count >= 2 && (!best || c->ops > best->ops) &&
		    can_name(f, c)) {
			best = c;
		}
	}
	if (!best) {
		return false;
	}
	at = let_place(best->common, best->e);
	v = var_new(f->module, name_for(f, at, best->e), best->e->type);
	stmt_replace_expr(f, at, best->e, v->expr);
	let_wrap(f, at, v, best->e);
	return true;
}

bool
lower_indices(struct func *f)
{
	enum { LIMIT = 100 };
	struct stmt *s;

	for (struct stmt_iter it = stmt_each(f->body); (s = stmt_next(&it));) {
		if (s->kind == STMT_IF ||
		    (s->kind == STMT_STORE && s->args[0]->kind != EXPR_LOAD)) {
			align_guards(f, s);
		}
	}
	for (int i = 0; i < LIMIT && name_one(f); i++) {
	}
	return true;
}
