/* SPDX-License-Identifier: Apache-2.0 */
/* Are two functions equal, apart from the names of variables and buffers, ids
 * and positions? Variables and buffers are paired at their declaration (a
 * variable may be declared again after its scope) or at their first use; from
 * then on, where the first function uses a variable or buffer, the second
 * function must use its partner. */
#include <math.h>

#include "script.h"

struct pair {
	const void *key, *partner;
};

struct pairs {
	struct pair *slot;
	uint32_t n, cap;
};

struct comparison {
	struct arena arena;
	struct pairs forth, back; /* variables and buffers */
	struct pairs same;        /* expressions that were found equal */
	struct pairs alike;       /* expressions that were found equal apart
				   * from literals */
	bool but_literals;        /* the parameter of funcs_equal */
	/* literals may differ in the expression that is compared */
	bool loose;
	/* receives the literals that differ, in memory of literals_arena; or
	 * NULL */
	struct literal_pairs *literals;
	struct arena *literals_arena;
	/* of func_equal_named: names are compared, too */
	bool named;
	/* The two lists of functions being compared; their functions may call
	 * each other. */
	const struct func *const *a, *const *b;
	int n;
	struct strbuf *why;
	bool told;
};

static struct pair *
find(const struct pairs *p, const void *key)
{
	uint64_t hash = ((uint64_t)(uintptr_t)key >> 4) * 0x9E3779B97F4A7C15u;
	uint32_t at = (uint32_t)(hash >> 32) & (p->cap - 1);

	while (p->slot[at].key && p->slot[at].key != key) {
		at = (at + 1) & (p->cap - 1);
	}
	return &p->slot[at];
}

static struct pair *
put(struct comparison *c, struct pairs *p, const void *key)
{
	if (p->n * 2 >= p->cap) {
		struct pairs old = *p;

		p->cap = old.cap ? old.cap * 2 : 64;
		p->slot = arena_array(&c->arena, struct pair, p->cap);
		for (uint32_t i = 0; i < old.cap; i++) {
			if (old.slot[i].key) {
				*find(p, old.slot[i].key) = old.slot[i];
			}
		}
	}
	struct pair *slot = find(p, key);

	p->n += slot->key == NULL;
	slot->key = key;
	return slot;
}

static bool
differ(struct comparison *c, const char *what, const char *a, const char *b)
{
	if (c->why && !c->told) {
		strbuf_printf(c->why, "%s: %s and %s", what, a, b);
	}
	c->told = true;
	return false;
}

static bool
differ_exprs(struct comparison *c, const char *what, const struct expr *a,
	     const struct expr *b)
{
	struct strbuf x, y;

	if (c->told || !c->why) {
		c->told = true;
		return false;
	}
	strbuf_init(&x);
	strbuf_init(&y);
	expr_print(a, &x);
	expr_print(b, &y);
	differ(c, what, x.data, y.data);
	strbuf_release(&x);
	strbuf_release(&y);
	return false;
}

/* Are a and b partners? If neither of them has a partner, makes them partners.
 * *is_new: a had no partner before. */
static bool
partners(struct comparison *c, const void *a, const void *b, bool *is_new)
{
	struct pair *x = put(c, &c->forth, a);

	*is_new = x->partner == NULL;
	if (x->partner) {
		return x->partner == b;
	}
	struct pair *y = put(c, &c->back, b);

	if (y->partner) {
		return false;
	}
	put(c, &c->forth, a)->partner = b;
	y->partner = a;
	return true;
}

/* Makes a and b partners; partners that they had in other scopes no longer
 * count. */
static void
declare(struct comparison *c, const void *a, const void *b)
{
	struct pair *x = put(c, &c->forth, a);

	if (x->partner && x->partner != b) {
		c->same = c->alike = (struct pairs){ NULL, 0, 0 };
	}
	put(c, &c->forth, a)->partner = b;
	put(c, &c->back, b)->partner = a;
}

static bool
same_var(struct comparison *c, const struct var *a, const struct var *b)
{
	bool is_new;
	bool bounded_a = a->is_dim && a->min <= a->max;
	bool bounded_b = b->is_dim && b->min <= b->max;

	return (partners(c, a, b, &is_new) && dtype_equal(a->type, b->type) &&
		(!c->named || strcmp(a->name, b->name) == 0) &&
		bounded_a == bounded_b &&
		(!bounded_a || (a->min == b->min && a->max == b->max))) ||
	       differ(c, "variables", a->name, b->name);
}

static bool same_expr(struct comparison *c, const struct expr *a,
		      const struct expr *b);

static bool
same_exprs(struct comparison *c, const struct expr *const *a,
	   const struct expr *const *b, int n)
{
	for (int i = 0; i < n; i++) {
		if (!same_expr(c, a[i], b[i])) {
			return false;
		}
	}
	return true;
}

static bool
same_facts(struct comparison *c, const struct buffer *a, const struct buffer *b)
{
	return (dtype_equal(a->type, b->type) && a->ndim == b->ndim &&
		(!c->named || strcmp(a->name, b->name) == 0) &&
		(a->strides == NULL) == (b->strides == NULL) &&
		a->align_bytes == b->align_bytes &&
		strcmp(a->scope, b->scope) == 0 &&
		same_var(c, a->data, b->data) &&
		same_exprs(c, a->shape, b->shape, a->ndim) &&
		(!a->strides ||
		 same_exprs(c, a->strides, b->strides, a->ndim))) ||
	       differ(c, "facts of buffers", a->name, b->name);
}

static bool
same_buffer(struct comparison *c, const struct buffer *a,
	    const struct buffer *b)
{
	bool is_new;

	if (!partners(c, a, b, &is_new)) {
		return differ(c, "buffers", a->name, b->name);
	}
	return !is_new || same_facts(c, a, b);
}

static bool
declare_buffer(struct comparison *c, const struct buffer *a,
	       const struct buffer *b)
{
	declare(c, a, b);
	declare(c, a->data, b->data);
	return same_facts(c, a, b);
}

static bool
declare_var(struct comparison *c, const struct var *a, const struct var *b)
{
	declare(c, a, b);
	return same_var(c, a, b);
}

static bool
same_axes(struct comparison *c, const struct iter_var *a,
	  const struct iter_var *b, int n)
{
	for (int i = 0; i < n; i++) {
		if (a[i].kind != b[i].kind ||
		    !declare_var(c, a[i].var, b[i].var) ||
		    !same_expr(c, a[i].min, b[i].min) ||
		    !same_expr(c, a[i].extent, b[i].extent)) {
			return differ(c, "axes", a[i].var->name,
				      b[i].var->name);
		}
	}
	return true;
}

static bool
same_reduction(struct comparison *c, const struct reduction *a,
	       const struct reduction *b)
{
	const struct reducer *x = a->reducer, *y = b->reducer;

	if (a->index != b->index || a->n_axes != b->n_axes || x->n != y->n ||
	    (a->condition == NULL) != (b->condition == NULL) ||
	    !a->init != !b->init ||
	    !same_axes(c, a->axes, b->axes, a->n_axes) ||
	    (a->condition && !same_expr(c, a->condition, b->condition))) {
		return differ(c, "reductions", x->name, y->name);
	}
	for (int i = 0; i < x->n; i++) {
		if (!same_var(c, x->lhs[i], y->lhs[i]) ||
		    !same_var(c, x->rhs[i], y->rhs[i])) {
			return false;
		}
	}
	if (a->init && !same_exprs(c, a->init, b->init, x->n)) {
		return false;
	}
	return same_exprs(c, x->result, y->result, x->n) &&
	       same_exprs(c, x->identity, y->identity, x->n);
}

/* Are the names a and b equal, or are they the names of the functions a[k] and
 * b[k] for some k? */
static bool
same_text(const struct comparison *c, const char *a, const char *b)
{
	for (int i = 0; i < c->n; i++) {
		bool is_name = strcmp(a, c->a[i]->name) == 0;

		if (is_name || strcmp(b, c->b[i]->name) == 0) {
			return is_name && strcmp(b, c->b[i]->name) == 0;
		}
	}
	return strcmp(a, b) == 0;
}

/* Notes a literal of one function in whose place the other has another one. */
static void
note_literals(struct comparison *c, const struct expr *a, const struct expr *b)
{
	struct literal_pair pair = { a, b };

	if (c->literals == NULL || a == b) {
		return;
	}
	for (int i = 0; i < c->literals->list.n; i++) {
		if (c->literals->list.data[i].a == a &&
		    c->literals->list.data[i].b == b) {
			return;
		}
	}
	vec_push(c->literals_arena, &c->literals->list, pair);
}

static bool
same_payload(struct comparison *c, const struct expr *a, const struct expr *b)
{
	switch (a->kind) {
	case EXPR_INT:
		return c->loose || a->u.ival == b->u.ival;
	case EXPR_FLOAT:
		return c->loose || (isnan(a->u.fval) && isnan(b->u.fval)) ||
		       (a->u.fval == b->u.fval &&
			signbit(a->u.fval) == signbit(b->u.fval));
	case EXPR_STRING:
		return same_text(c, a->u.text, b->u.text);
	case EXPR_VAR:
		return same_var(c, a->u.var, b->u.var);
	case EXPR_LOAD:
		return same_buffer(c, a->u.buffer, b->u.buffer);
	case EXPR_CALL:
		return a->u.intrin == b->u.intrin;
	case EXPR_REDUCE:
		return same_reduction(c, a->u.reduce, b->u.reduce);
	default:
		return true;
	}
}

static bool
same_expr(struct comparison *c, const struct expr *a, const struct expr *b)
{
	struct pairs *same = c->loose ? &c->alike : &c->same;
	const struct pair *known = same->cap > 0 ? find(same, a) : NULL;
	bool loose = c->loose, args;

	if (known && known->partner == b) {
		return true;
	}
	if (a->kind != b->kind || !dtype_equal(a->type, b->type) ||
	    a->n_args != b->n_args || !same_payload(c, a, b)) {
		return differ_exprs(c, "expressions", a, b);
	}
	/* in the indices of a LOAD, literals must be equal */
	c->loose = loose && a->kind != EXPR_LOAD;
	args = same_exprs(c, a->args, b->args, a->n_args);
	c->loose = loose;
	if (loose && (a->kind == EXPR_INT || a->kind == EXPR_FLOAT)) {
		note_literals(c, a, b);
	}
	if (args) {
		put(c, same, a)->partner = b;
	}
	return args;
}

static bool
same_notes(struct comparison *c, const struct note *a, const struct note *b)
{
	for (; a && b; a = a->next, b = b->next) {
		if (strcmp(a->key, b->key) != 0) {
			return differ(c, "annotations", a->key, b->key);
		}
		if (!same_expr(c, a->value, b->value)) {
			return false;
		}
	}
	return (!a && !b) || differ(c, "annotations", a ? a->key : "none",
				    b ? b->key : "none");
}

static bool
same_regions(struct comparison *c, const struct region *a, int n,
	     const struct region *b, int n_b)
{
	if (n != n_b) {
		return false;
	}
	for (int i = 0; i < n; i++) {
		if (!same_buffer(c, a[i].buffer, b[i].buffer)) {
			return false;
		}
		for (int d = 0; d < a[i].buffer->ndim; d++) {
			if (!same_expr(c, a[i].ranges[d].min,
				       b[i].ranges[d].min) ||
			    !same_expr(c, a[i].ranges[d].extent,
				       b[i].ranges[d].extent)) {
				return false;
			}
		}
	}
	return true;
}

static bool
same_block(struct comparison *c, const struct block *a, const struct block *b)
{
	if (strcmp(a->name, b->name) != 0 || a->n_iters != b->n_iters ||
	    a->n_allocs != b->n_allocs ||
	    !same_axes(c, a->iters, b->iters, a->n_iters)) {
		return differ(c, "blocks", a->name, b->name);
	}
	for (int i = 0; i < a->n_allocs; i++) {
		if (!declare_buffer(c, a->allocs[i], b->allocs[i])) {
			return false;
		}
	}
	return (same_regions(c, a->reads, a->n_reads, b->reads, b->n_reads) &&
		same_regions(c, a->writes, a->n_writes, b->writes,
			     b->n_writes)) ||
	       differ(c, "regions of blocks", a->name, b->name);
}

static bool
same_own(struct comparison *c, const struct stmt *a, const struct stmt *b)
{
	switch (a->kind) {
	case STMT_FOR:
		return (a->u.loop.kind == b->u.loop.kind &&
			(a->u.loop.thread == NULL) ==
				(b->u.loop.thread == NULL) &&
			(!a->u.loop.thread ||
			 strcmp(a->u.loop.thread, b->u.loop.thread) == 0) &&
			declare_var(c, a->u.loop.var, b->u.loop.var)) ||
		       differ(c, "loops", a->u.loop.var->name,
			      b->u.loop.var->name);
	case STMT_BLOCK:
		return same_block(c, a->u.block, b->u.block);
	case STMT_STORE:
		return same_buffer(c, a->u.buffer, b->u.buffer);
	case STMT_ALLOC:
		return declare_buffer(c, a->u.buffer, b->u.buffer);
	case STMT_LET:
		return declare_var(c, a->u.var, b->u.var);
	case STMT_ATTR:
		return strcmp(a->u.key, b->u.key) == 0 ||
		       differ(c, "attributes", a->u.key, b->u.key);
	default:
		return true;
	}
}

/* Compares the arguments of two statements. Literals may differ only in the
 * first argument of a STORE or LET, its value. */
static bool
same_args(struct comparison *c, const struct stmt *a, const struct stmt *b)
{
	for (int i = 0; i < a->n_args; i++) {
		bool same;

		c->loose = c->but_literals && i == 0 &&
			   (a->kind == STMT_STORE || a->kind == STMT_LET);
		same = same_expr(c, a->args[i], b->args[i]);
		c->loose = false;
		if (!same) {
			return false;
		}
	}
	return true;
}

static bool
same_stmt(struct comparison *c, const struct stmt *a, const struct stmt *b)
{
	if (!a || !b) {
		return a == b || differ(c, "statements",
					a ? stmt_kind_name(a->kind) : "none",
					b ? stmt_kind_name(b->kind) : "none");
	}
	if (a->kind != b->kind || a->n_args != b->n_args) {
		return differ(c, "statements", stmt_kind_name(a->kind),
			      stmt_kind_name(b->kind));
	}
	int n = a->n_children > b->n_children ? a->n_children : b->n_children;

	if (a->kind == STMT_SEQ && a->n_children != b->n_children) {
		return differ(c, "lengths of suites", "one", "the other");
	}
	if (!same_args(c, a, b) || !same_own(c, a, b) ||
	    !same_notes(c, a->notes, b->notes)) {
		return false;
	}
	for (int i = 0; i < n; i++) {
		if (!same_stmt(c, i < a->n_children ? a->children[i] : NULL,
			       i < b->n_children ? b->children[i] : NULL)) {
			return false;
		}
	}
	return true;
}

/* The number of parameters that scripts show; implied parameters, which scripts
 * do not show, are the last ones. */
static int
written_params(const struct func *f)
{
	int n = f->params.n;

	while (n > 0 && f->params.data[n - 1].implied) {
		n--;
	}
	return n;
}

static bool
same_func(struct comparison *c, const struct func *a, const struct func *b)
{
	int n = written_params(a);

	if (!dtype_equal(a->ret, b->ret) || n != written_params(b)) {
		return differ(c, "signatures of", a->name, b->name);
	}
	for (int i = 0; i < n; i++) {
		const struct param *x = &a->params.data[i];
		const struct param *y = &b->params.data[i];

		if ((x->buffer == NULL) != (y->buffer == NULL) ||
		    !same_var(c, x->var, y->var) ||
		    (x->buffer && !same_buffer(c, x->buffer, y->buffer))) {
			return differ(c, "parameters", x->var->name,
				      y->var->name);
		}
	}
	if (!target_facts_equal(&a->facts, &b->facts)) {
		return differ(c, "annotations", "facts of the target",
			      "others");
	}
	return same_notes(c, a->notes, b->notes) &&
	       same_stmt(c, a->body, b->body);
}

bool
func_equal(const struct func *a, const struct func *b, struct strbuf *why)
{
	struct comparison c = { .why = why };

	arena_init(&c.arena);
	bool same = (strcmp(a->name, b->name) == 0 ||
		     differ(&c, "names", a->name, b->name)) &&
		    same_func(&c, a, b);

	arena_release(&c.arena);
	return same;
}

bool
func_equal_named(const struct func *a, const struct func *b)
{
	struct comparison c = { .named = true };

	arena_init(&c.arena);
	bool same = same_func(&c, a, b);

	arena_release(&c.arena);
	return same;
}

/* Are the functions of the two lists equal, one by one? */
static bool
compare_lists(struct comparison *c)
{
	bool same = true;

	arena_init(&c->arena);
	for (int i = 0; same && i < c->n; i++) {
		/* each function has variables of its own: the pairs of the
		 * functions compared before are dropped */
		c->forth = c->back = (struct pairs){ NULL, 0, 0 };
		c->same = c->alike = c->forth;
		same = same_func(c, c->a[i], c->b[i]);
	}
	arena_release(&c->arena);
	return same;
}

bool
funcs_equal(const struct func *const *a, const struct func *const *b, int n,
	    bool but_literals)
{
	struct comparison c = {
		.a = a,
		.b = b,
		.n = n,
		.but_literals = but_literals,
	};

	return compare_lists(&c);
}

void
funcs_other_literals(struct arena *arena, const struct func *const *a,
		     const struct func *const *b, int n,
		     struct literal_pairs *out)
{
	struct comparison c = {
		.a = a,
		.b = b,
		.n = n,
		.but_literals = true,
		.literals = out,
		.literals_arena = arena,
	};

	compare_lists(&c);
}
