/* SPDX-License-Identifier: Apache-2.0 */
/* split, fuse and reorder: strip-mining, collapsing and permuting loops.
 *
 *   for i in range(128):        split(i, [0, 16])      for i_o in range(8):
 *       C[i] = ...                     ->                  for i_i in range(16):
 *                                                              C[i_o*16+i_i]
 */
#include <assert.h>

#include "loop_legality.h"

/* -- split */

/* The name of part i of the n parts into which a loop is split: "h_o" and "h_i"
 * for "h"; with more than two parts, "h_0", "h_1", … The inner part of an inner
 * part "h_i" is "h_i", too. */
static const char *
part_name(struct arena *a, const char *name, int i, int n)
{
	static const char *const two[] = { "o", "i" };
	size_t length = strlen(name);

	if (n == 2 && i == 1 && length > 2 &&
	    strcmp(name + length - 2, "_i") == 0) {
		return name;
	}
	return n == 2 ? arena_printf(a, "%s_%s", name, two[i])
		      : arena_printf(a, "%s_%d", name, i);
}

/* Factor i of a split: a positive integer, or an expression of sizes that is
 * provably positive. NULL after a diagnostic. */
static const struct expr *
split_factor(struct edit *e, struct analyser *a, const struct expr *total,
	     const struct sched_value *factor, int i)
{
	struct module *m = e->m;
	const struct expr *one = expr_int(m, total->type, 1);

	if (factor->kind == SV_INT && factor->u.ival > 0 &&
	    factor->u.ival <= INT32_MAX &&
	    (uint64_t)factor->u.ival > dtype_max_int(total->type)) {
		edit_fail(e, "the factors overflow; use smaller ones");
		return NULL;
	}
	if (factor->kind == SV_INT && factor->u.ival > 0 &&
	    factor->u.ival <= INT32_MAX) {
		return expr_int(m, total->type, factor->u.ival);
	}
	if (factor->kind == SV_EXPR && dtype_is_int(factor->u.expr->type) &&
	    prove(a, expr_le(m, one, factor->u.expr))) {
		return expr_mul(m, one, factor->u.expr);
	}
	edit_fail(e,
		  factor->kind == SV_INT
			  ? "factor %d is not a positive constant; give one, "
			    "or None to have it inferred"
			  : "factor %d may not be positive; give a number "
			    "above 0, or None to have it inferred",
		  i);
	return NULL;
}

/* total / product, rounded up. */
static const struct expr *
inferred_factor(struct analyser *a, const struct expr *total,
		const struct expr *product)
{
	struct module *m = a->module;
	const struct expr *rest;
	int64_t n, size;

	if (expr_is_int(total, &n) && expr_is_int(product, &size)) {
		return expr_int(m, total->type, n > 0 ? (n - 1) / size + 1 : 0);
	}
	rest = expr_sub(m, product, expr_int(m, total->type, 1));
	return simplify(a, expr_floordiv(m, expr_add(m, total, rest), product));
}

/* Checks that the loop's type can represent the number of iterations, which is
 * the product of the extents; extents that are NULL or not constant are left
 * out. False after a diagnostic. */
static bool
check_iterations(struct edit *e, const struct expr *const *extents, int n)
{
	int64_t extent, all = 1;

	for (int i = 0; i < n; i++) {
		if (extents[i] != NULL && expr_is_int(extents[i], &extent) &&
		    (__builtin_mul_overflow(all, extent, &all) ||
		     all > (int64_t)dtype_max_int(extents[i]->type))) {
			return edit_fail(e, "the factors overflow; use "
					    "smaller ones");
		}
	}
	return true;
}

/* Checks that the number of iterations is known if it is of 8 or 16 bits, which
 * expressions of other loops leave quickly. False after a diagnostic. */
static bool
check_type(struct edit *e, const struct expr *extent)
{
	return dtype_bits(extent->type) >= 32 ||
	       expr_is_int(extent, &(int64_t){ 0 }) ||
	       edit_fail(e,
			 "the number of iterations is a size of type %s; only "
			 "loops of 32 bits or more are split and fused then",
			 dtype_name(extent->type));
}

static bool
split_extents(struct edit *e, const struct stmt *loop,
	      const struct sched_value *factors, int n,
	      const struct expr **extents)
{
	struct module *m = e->m;
	const struct expr *total = loop->args[1];
	const struct expr *product = expr_int(m, total->type, 1);
	int64_t size;
	int inferred = -1;
	struct analyser a;

	if (!check_type(e, total)) {
		return false;
	}
	analyser_at(&a, m, loop);
	for (int i = 0; i < n; i++) {
		if (factors[i].kind == SV_NONE && inferred < 0) {
			inferred = i;
			continue;
		}
		if (factors[i].kind == SV_NONE) {
			return edit_fail(e,
					 "factors %d and %d are None; only "
					 "one can be inferred",
					 inferred, i);
		}
		extents[i] = split_factor(e, &a, total, &factors[i], i);
		if (!extents[i]) {
			return false;
		}
		if (!check_iterations(e, extents, i + 1)) {
			return false;
		}
		product = expr_mul(m, product, extents[i]);
	}
	if (inferred >= 0) {
		extents[inferred] = inferred_factor(&a, total, product);
	} else if (!prove(&a, expr_le(m, total, product))) {
		if (expr_is_int(product, &size)) {
			return edit_fail(e,
					 "the factors of %s cover only %lld "
					 "iterations; give larger ones",
					 loop->u.loop.var->name,
					 (long long)size);
		}
		return edit_fail(e,
				 "the factors may not cover all iterations "
				 "of %s; let one be inferred",
				 loop->u.loop.var->name);
	}
	return check_iterations(e, extents, n);
}

static void
add_predicate(struct func *f, struct stmt *s, const struct expr *cond)
{
	struct stmt_list blocks = { 0 };

	blocks_below(f, s, &blocks);
	for (int i = 0; i < blocks.list.n; i++) {
		struct stmt *b = blocks.list.data[i];

		stmt_set_arg(f, b, 0, expr_and(f->module, b->args[0], cond));
	}
}

bool
prim_split(struct edit *e, const struct sched_value *args,
	   struct sched_value *out)
{
	struct stmt *l = edit_loop(e, args[0].u.id), *body;
	struct arena *arena = &e->m->arena;
	int n = args[1].n;
	struct sched_value *parts;
	const struct expr **extents;
	const struct expr *value = NULL, *cond;
	struct stmt_place place;
	struct var **vars;
	struct analyser a;

	if (!l) {
		return false;
	}
	if (l->u.loop.kind != FOR_SERIAL || l->notes) {
		return edit_fail(e, "loop %s is %s; split before annotating",
				 l->u.loop.var->name,
				 for_kind_name(l->u.loop.kind));
	}
	if (n < 1) {
		return edit_fail(e, "no factors; give at least one");
	}
	extents = arena_exprs(arena, n);
	vars = arena_array(arena, struct var *, n);
	parts = arena_array(arena, struct sched_value, n);
	if (!split_extents(e, l, args[1].items, n, extents)) {
		return false;
	}
	place = stmt_place_of(l);
	analyser_at(&a, e->m, l);
	for (int i = 0; i < n; i++) {
		vars[i] = var_new(e->m,
				  part_name(arena, l->u.loop.var->name, i, n),
				  l->u.loop.var->type);
		value = value ? expr_add(e->m,
					 expr_mul(e->m, value, extents[i]),
					 vars[i]->expr)
			      : vars[i]->expr;
		analyser_bind(&a, vars[i], expr_int(e->m, vars[i]->type, 0),
			      extents[i]);
	}
	cond = expr_lt(e->m, value, l->args[1]);
	value = expr_add(e->m, l->args[0], value);
	body = l->children[0];
	{
		struct var_map map = { &l->u.loop.var, &value, 1 };

		stmt_substitute(e->f, body, &map);
	}
	if (!prove(&a, cond)) {
		if (args[3].u.ival) {
			return edit_fail(e,
					 "without a predicate, the factors "
					 "must give exactly the iterations of "
					 "%s; choose others, or leave "
					 "disable_predication out",
					 l->u.loop.var->name);
		}
		add_predicate(e->f, body, cond);
	}
	for (int i = n - 1; i >= 0; i--) {
		body = stmt_for(e->f, vars[i], expr_int(e->m, vars[i]->type, 0),
				extents[i], FOR_SERIAL, body);
		parts[i] = sv_loop(body->id);
	}
	stmt_put(e->f, place, body);
	bindings_simplify(e->f, body, args[2].u.ival);
	*out = sv_list(e->m, parts, n);
	return true;
}

/* -- fuse */

static const char *
fused_name(struct edit *e, struct stmt *const *loops, int n)
{
	enum { LONGEST = 12 };
	const char *text = NULL;

	for (int i = 0; i < n; i++) {
		const char *name = loops[i]->u.loop.var->name;

		if (expr_is_value(loops[i]->args[1], 1)) {
			continue;
		}
		text = text ? arena_printf(&e->m->arena, "%s_%s", text, name)
			    : name;
	}
	return text && strlen(text) <= LONGEST ? text : "i";
}

static bool
check_nested(struct edit *e, struct stmt *const *loops, int n)
{
	for (int i = 0; i < n; i++) {
		if (loops[i]->u.loop.kind != FOR_SERIAL || loops[i]->notes) {
			return edit_fail(e,
					 "loop %s is %s; fuse before "
					 "annotating",
					 loops[i]->u.loop.var->name,
					 for_kind_name(loops[i]->u.loop.kind));
		}
		if (i == 0) {
			continue;
		}
		if (loops[i - 1]->children[0] != loops[i]) {
			return edit_fail(e,
					 "loop %s is not the whole body of "
					 "loop %s; fuse directly nested loops",
					 loops[i]->u.loop.var->name,
					 loops[i - 1]->u.loop.var->name);
		}
		for (int k = 0; k < i; k++) {
			if (expr_uses_var(loops[i]->args[0],
					  loops[k]->u.loop.var) ||
			    expr_uses_var(loops[i]->args[1],
					  loops[k]->u.loop.var)) {
				return edit_fail(e,
						 "the range of loop %s "
						 "depends on loop %s; fuse "
						 "rectangular loops only",
						 loops[i]->u.loop.var->name,
						 loops[k]->u.loop.var->name);
			}
		}
	}
	return true;
}

static void
note_fused(struct edit *e, const struct var *v, struct stmt *const *loops,
	   int n)
{
	struct arena *arena = &e->m->arena;
	const char **digits = arena_array(arena, const char *, n + 1);
	const struct expr **extents = arena_exprs(arena, n + 1);

	for (int i = 0; i < n; i++) {
		digits[i] = loops[i]->u.loop.var->name;
		extents[i] = loops[i]->args[1];
	}
	func_note_fused(e->f, v, n, digits, extents);
}

/* x, in 32 bits if it has fewer: the number of iterations of several loops. */
static const struct expr *
in_wide_type(struct edit *e, const struct expr *x)
{
	return dtype_bits(x->type) < 32 ? expr_cast(e->m, dtype_of(DT_I32), x)
					: x;
}

static const struct expr *
fused_extent(struct edit *e, const struct stmt *loop)
{
	return in_wide_type(e, loop->args[1]);
}

bool
prim_fuse(struct edit *e, const struct sched_value *args,
	  struct sched_value *out)
{
	struct stmt **list = edit_loops(e, &args[0]);
	int n = args[0].n;
	const struct expr **values = arena_exprs(&e->m->arena, n + 1);
	struct var **from = arena_array(&e->m->arena, struct var *, n + 1);
	struct var_map map = { from, values, n };
	const struct expr *total, *rest;
	struct stmt_place place;
	struct stmt *fused;
	struct analyser a;
	struct var *v;
	int64_t size = 1, extent;

	if (!list || !check_nested(e, list, n)) {
		return false;
	}
	total = fused_extent(e, list[0]);
	for (int i = 0; i < n; i++) {
		if (!check_type(e, list[i]->args[1])) {
			return false;
		}
		if (expr_is_int(list[i]->args[1], &extent) &&
		    (__builtin_mul_overflow(size, extent, &size) ||
		     size > INT32_MAX)) {
			return edit_fail(e, "the number of iterations "
					    "exceeds the index type; fuse "
					    "fewer loops");
		}
		if (i > 0) {
			total = expr_mul(e->m, total, fused_extent(e, list[i]));
		}
	}
	v = var_new(e->m, fused_name(e, list, n), total->type);
	analyser_at(&a, e->m, list[0]);
	bind_kept(&a, v, expr_int(e->m, v->type, 0), total, false);
	rest = v->expr;
	for (int i = n - 1; i >= 0; i--) {
		from[i] = list[i]->u.loop.var;
		values[i] = i ? expr_floormod(e->m, rest,
					      fused_extent(e, list[i]))
			      : rest;
		values[i] = simplify(&a,
				     expr_add(e->m,
					      in_wide_type(e, list[i]->args[0]),
					      values[i]));
		/* the fused variable has the widest type of the loops */
		values[i] = expr_cast(e->m, from[i]->type, values[i]);
		if (i) {
			rest = simplify(&a,
					expr_floordiv(e->m, rest,
						      fused_extent(e,
								   list[i])));
		}
	}
	place = stmt_place_of(list[0]);
	stmt_substitute(e->f, list[n - 1]->children[0], &map);
	fused = stmt_for(e->f, v, expr_int(e->m, v->type, 0), total, FOR_SERIAL,
			 list[n - 1]->children[0]);
	stmt_put(e->f, place, fused);
	bindings_simplify(e->f, fused, args[1].u.ival);
	note_fused(e, v, list, n);
	*out = sv_loop(fused->id);
	return true;
}

/* -- reorder */

static bool
is_listed(struct stmt *const *list, int n, const struct stmt *s)
{
	for (int i = 0; i < n; i++) {
		if (list[i] == s) {
			return true;
		}
	}
	return false;
}

/* Sets `chain` to the loops from the outermost to the innermost of the n loops
 * in `list`, with those between them; between these two there must be nothing
 * but loops. False after a diagnostic. */
static bool
loop_chain(struct edit *e, struct stmt *const *list, int n,
	   struct stmt_list *chain)
{
	struct stmt *inner = list[0], *outer = list[0];
	int seen = 0;

	for (int i = 1; i < n; i++) {
		if (stmt_depth(list[i]) > stmt_depth(inner)) {
			inner = list[i];
		}
		if (stmt_depth(list[i]) < stmt_depth(outer)) {
			outer = list[i];
		}
	}
	for (struct stmt *p = outer;; p = p->children[0]) {
		if (!p || p->kind != STMT_FOR) {
			return edit_fail(e,
					 "loops %s and %s are not in one "
					 "perfect nest; reorder directly "
					 "nested loops",
					 outer->u.loop.var->name,
					 inner->u.loop.var->name);
		}
		vec_push(&e->m->arena, &chain->list, p);
		seen += is_listed(list, n, p);
		if (p == inner) {
			break;
		}
	}
	if (seen != n) {
		return edit_fail(e,
				 "a loop is named twice or is outside of the "
				 "nest; name each loop of one nest once");
	}
	return true;
}

static bool
check_ranges(struct edit *e, const struct stmt_list *chain)
{
	for (int i = 0; i < chain->list.n; i++) {
		for (int k = 0; k < chain->list.n; k++) {
			const struct stmt *x = chain->list.data[i];
			const struct var *v = chain->list.data[k]->u.loop.var;

			if (expr_uses_var(x->args[0], v) ||
			    expr_uses_var(x->args[1], v)) {
				return edit_fail(e,
						 "the range of loop %s "
						 "depends on loop %s; their "
						 "order is fixed",
						 x->u.loop.var->name, v->name);
			}
		}
	}
	return true;
}

bool
prim_reorder(struct edit *e, const struct sched_value *args,
	     struct sched_value *out)
{
	struct stmt **list = edit_loops(e, &args[0]), **order;
	int n = args[0].n;
	struct stmt_list chain = { 0 };
	struct stmt_place place;
	struct stmt *below;
	int next = 0;

	(void)out;
	if (!list || !loop_chain(e, list, n, &chain) ||
	    !check_ranges(e, &chain)) {
		return false;
	}
	order = arena_array(&e->m->arena, struct stmt *, chain.list.n);
	for (int i = 0; i < chain.list.n; i++) {
		struct stmt *at = chain.list.data[i];

		order[i] = is_listed(list, n, at) ? list[next++] : at;
	}
	assert(next == n);
	if (!loops_permutable(e, chain.list.data[0],
			      chain.list.data[chain.list.n - 1], order,
			      chain.list.n)) {
		return false;
	}
	place = stmt_place_of(chain.list.data[0]);
	below = chain.list.data[chain.list.n - 1]->children[0];
	for (int i = chain.list.n - 1; i >= 0; i--) {
		stmt_set_child(e->f, order[i], 0, below);
		below = order[i];
	}
	stmt_put(e->f, place, below);
	return true;
}
