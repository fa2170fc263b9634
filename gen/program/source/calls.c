/* SPDX-License-Identifier: Apache-2.0 */
/* Checks the calls between the functions of a program before source is written.
 * T.call_func must name a function that is earlier in the list; the arguments
 * must be of the kinds of its parameters, and arrays must be large enough.
 * T.call_extern calls external functions, which the emitter lists. Only host
 * functions that tirc makes may launch kernels. */
#include "calls.h"

#include "analyse.h"
#include "iterate.h"
#include "pointer_map.h"
#include "quota.h"

struct checking {
	struct module *m;
	const char *file;
	/* the functions of the program, in the order of the program */
	const struct program_func *funcs;
	const struct text_map *positions; /* of funcs, by name */
	/* the index of the calling function in funcs */
	int n;
	const struct func *caller;
	struct stmt *at;
	bool ok;
};

#define refuse(c, ...)                                                         \
	((c)->ok = diag_error(&(c)->m->diags, DIAG_BAD_PROGRAM,                \
			      (struct diag_place){                             \
				      .file = (c)->file,                       \
				      .line = (c)->at->pos.line,               \
				      .col = (c)->at->pos.col,                 \
				      .item = (c)->caller->name },             \
			      __VA_ARGS__))

/* The buffers that the statement s itself allocates; those of statements inside
 * of s do not count. *n: the number of buffers. */
static const struct buffer *const *
allocated(struct stmt *s, int *n)
{
	*n = s->kind == STMT_BLOCK ? s->u.block->n_allocs
				   : s->kind == STMT_ALLOC;
	return s->kind == STMT_BLOCK ? s->u.block->allocs : &s->u.buffer;
}

/* The array of f, a parameter or a local array, whose pointer is the variable
 * `data`; NULL if f has no such array. */
static const struct buffer *
buffer_with(const struct func *f, const struct var *data)
{
	struct stmt *s;
	int n;

	for (int i = 0; i < f->params.n; i++) {
		const struct buffer *b = f->params.data[i].buffer;

		if (b != NULL && b->data == data) {
			return b;
		}
	}
	for (struct stmt_iter it = stmt_each(f->body); (s = stmt_next(&it));) {
		const struct buffer *const *list = allocated(s, &n);

		for (int i = 0; i < n; i++) {
			if (list[i]->data == data) {
				return list[i];
			}
		}
	}
	return NULL;
}

/* The buffer whose first element e loads, in the form that
 * program_name_addresses() writes; NULL if e has another form. */
static const struct buffer *
first_element_of(const struct expr *e)
{
	for (int d = 0; d < e->n_args; d++) {
		if (!expr_is_value(e->args[d], 0)) {
			return NULL;
		}
	}
	return e->kind == EXPR_LOAD ? e->u.buffer : NULL;
}

/* The array whose first element the argument points to; NULL if it is unknown. */
static const struct buffer *
pointed_to(struct checking *c, const struct expr *arg)
{
	if (arg->kind == EXPR_CALL && arg->u.intrin == INTRIN_ADDRESS_OF) {
		return first_element_of(arg->args[0]);
	}
	return arg->kind == EXPR_VAR ? buffer_with(c->caller, arg->u.var)
				     : NULL;
}

/* The number of scalars in an array, as a product: `known` is the product of
 * the constant sizes and the vector lanes (INT64_MAX if it is larger), `rest`
 * the product of the symbolic sizes, computed in 64 bits. text: the same as
 * `rest` in the program's own types, for messages. */
struct elements {
	int64_t known;
	const struct expr *rest, *text;
};

static const struct expr *
widen_var(void *ctx, const struct expr *e)
{
	return e->kind == EXPR_VAR && e->type.kind == DT_I32
		       ? expr_cast(ctx, dtype_of(DT_I64), e)
		       : NULL;
}

/* The number of scalars in b. `values` replaces variables in its shape. */
static struct elements
elements_of(struct checking *c, const struct buffer *b,
	    const struct var_map *values)
{
	struct module *m = c->m;
	struct elements x = {
		.known = b->type.lanes,
		.rest = expr_int(m, dtype_of(DT_I64), 1),
		.text = expr_i32(m, 1),
	};

	for (int d = 0; d < b->ndim; d++) {
		const struct expr *wide = expr_rewrite(m, b->shape[d],
						       widen_var, m);
		int64_t size;

		wide = expr_substitute(m, wide, values);
		if (expr_is_int(wide, &size)) {
			x.known = quota_times(x.known, size > 0 ? size : 0);
			continue;
		}
		x.rest = expr_mul(m, x.rest, wide);
		x.text = expr_mul(m, x.text,
				  expr_substitute(m, b->shape[d], values));
	}
	return x;
}

/* The number of scalars that the callee's array parameter must have: the
 * arguments of the call replace the parameters in its shape. */
static struct elements
elements_needed(struct checking *c, const struct func *callee,
		const struct buffer *param, const struct expr *call)
{
	int n = callee->params.n;
	struct var_map map = {
		.from = arena_array(&c->m->arena, struct var *, n + 1),
		.to = arena_exprs(&c->m->arena, n + 1),
	};

	for (int i = 0; i < n; i++) {
		const struct param *p = &callee->params.data[i];

		if (p->buffer == NULL &&
		    dtype_equal(p->var->type, call->args[i + 1]->type)) {
			map.from[map.n] = p->var;
			map.to[map.n++] = call->args[i + 1];
		}
	}
	return elements_of(c, param, &map);
}

/* The number x as one expression, known * rest. */
static const struct expr *
whole(struct checking *c, const struct elements *x)
{
	return expr_mul(c->m, expr_int(c->m, dtype_of(DT_I64), x->known),
			x->rest);
}

/* Is it proven that the array has at least as many elements as the parameter,
 * for all values of the sizes? False if the number of elements that the
 * parameter needs depends on elements of arrays, since sums of such values may
 * wrap. */
static bool
is_large_enough(struct checking *c, const struct elements *has,
		const struct elements *needs)
{
	struct analyser a;

	analyser_init(&a, c->m);
	return !expr_has(needs->rest, EXPR_LOAD) &&
	       prove(&a, expr_le(c->m, whole(c, needs), whole(c, has)));
}

static const char *
text_of(struct checking *c, const struct elements *x)
{
	bool is_plain = x->known == 1 || x->text->kind == EXPR_VAR;
	struct strbuf s;
	const char *text;

	strbuf_init(&s);
	if (x->known != 1 || expr_is_value(x->rest, 1)) {
		strbuf_printf(&s, "%lld", (long long)x->known);
	}
	if (!expr_is_value(x->rest, 1)) {
		strbuf_puts(&s, x->known != 1 ? " * " : "");
		strbuf_puts(&s, is_plain ? "" : "(");
		expr_print(x->text, &s);
		strbuf_puts(&s, is_plain ? "" : ")");
	}
	text = arena_strdup(&c->m->arena, s.data);
	strbuf_release(&s);
	return text;
}

/* Reports an error unless array b, argument i of the call, surely has as many
 * elements as the callee's parameter. */
static void
check_size(struct checking *c, const struct func *callee, int i,
	   const struct expr *call, const struct buffer *b)
{
	const struct buffer *param = callee->params.data[i - 1].buffer;
	const struct var_map none = { 0 };
	struct elements has, needs;
	int64_t least, most;

	if (b->strides || param->strides) {
		if (!buffer_span(b, &least) || !buffer_span(param, &most) ||
		    quota_times(least, b->type.lanes) <
			    quota_times(most, param->type.lanes)) {
			refuse(c,
			       "argument %d of '%s' and the parameter %s have "
			       "strides, by which the array may be too small; "
			       "give an array of its size",
			       i, call->args[0]->u.text, param->name);
		}
		return;
	}
	if (buffer_const_elems(b, &least) && buffer_max_elems(param, &most) &&
	    quota_times(least, b->type.lanes) >=
		    quota_times(most, param->type.lanes)) {
		return;
	}
	has = elements_of(c, b, &none);
	needs = elements_needed(c, callee, param, call);
	if (!is_large_enough(c, &has, &needs)) {
		refuse(c,
		       "argument %d of '%s' has %s elements, and the "
		       "parameter %s: it may be too small; give an array of its "
		       "size",
		       i, call->args[0]->u.text, text_of(c, &has),
		       text_of(c, &needs));
	}
}

static void
check_array(struct checking *c, const struct func *callee, int i,
	    const struct expr *call)
{
	const char *name = call->args[0]->u.text;
	const struct buffer *param = callee->params.data[i - 1].buffer;
	const struct buffer *b = pointed_to(c, call->args[i]);

	if (b == NULL) {
		refuse(c,
		       "argument %d of '%s' is not an array; give the pointer "
		       "of a buffer, as in A.data",
		       i, name);
	} else if (b->type.kind != param->type.kind) {
		refuse(c,
		       "argument %d of '%s' is an array of %s, and the "
		       "parameter one of %s; give one of that type",
		       i, name, dtype_name(b->type), dtype_name(param->type));
	} else {
		check_size(c, callee, i, call, b);
	}
}

/* Reports an error if two arguments are the same array and the callee may write
 * it, because the source declares parameters as arrays that do not overlap
 * (restrict). */
static void
check_apart(struct checking *c, const struct func *callee,
	    const struct expr *call)
{
	for (int i = 0; i < callee->params.n; i++) {
		const struct buffer *param = callee->params.data[i].buffer;

		if (param == NULL || !func_writes(callee, param)) {
			continue;
		}
		for (int j = 0; j < callee->params.n && c->ok; j++) {
			if (j != i && callee->params.data[j].buffer != NULL &&
			    pointed_to(c, call->args[i + 1]) ==
				    pointed_to(c, call->args[j + 1])) {
				refuse(c,
				       "arguments %d and %d of '%s' are the "
				       "same array, which '%s' writes; give "
				       "each an array of its own",
				       (i < j ? i : j) + 1, (i < j ? j : i) + 1,
				       callee->name, callee->name);
			}
		}
	}
}

static void
check_arguments(struct checking *c, const struct func *callee,
		const struct expr *e)
{
	const char *name = e->args[0]->u.text;

	if (e->n_args - 1 != callee->params.n) {
		refuse(c, "'%s' takes %d arguments, and the call has %d", name,
		       callee->params.n, e->n_args - 1);
		return;
	}
	for (int i = 1; i < e->n_args && c->ok; i++) {
		const struct param *p = &callee->params.data[i - 1];

		if (p->buffer != NULL) {
			check_array(c, callee, i, e);
		} else if (!dtype_equal(p->var->type, e->args[i]->type)) {
			refuse(c,
			       "argument %d of '%s' is %s, and the parameter "
			       "%s; cast it",
			       i, name, dtype_name(e->args[i]->type),
			       dtype_name(p->var->type));
		}
	}
	if (c->ok) {
		check_apart(c, callee, e);
	}
}

static void
check_call(struct checking *c, const struct expr *e)
{
	const char *name = e->args[0]->u.text;
	int callee;

	if (e->u.intrin == INTRIN_LAUNCH) {
		refuse(c,
		       "a program cannot launch the kernel '%s' itself; bind "
		       "the loops to threads, and tirc writes the function "
		       "that launches them",
		       name);
		return;
	}
	callee = text_map_get(c->positions, name, c->n);
	if (callee < c->n) {
		check_arguments(c, c->funcs[callee].func, e);
		return;
	}
	refuse(c,
	       "T.call_func calls '%s', which is not a function of the program, "
	       "or which leads back to this one; call an external function "
	       "with T.call_extern",
	       name);
}

/* -- order -- */

/* The functions of a list, by their indices in it. */
struct indices {
	VEC(int) list;
};

/* What the order of the functions of a list is made from. */
struct ordering {
	struct module *m;
	struct text_map index_of;
	/* for each function: its callers, each caller once */
	struct indices *callers;
	/* the number of functions that this one calls and that have no place in
	 * the new order yet */
	int *waits_for;
};

/* Notes function i as a caller of each function that it calls. */
static void
find_callees(struct ordering *o, const struct func *f, int i)
{
	struct tree_iter it = tree_each_of(f->body, EXPR_CALL);
	const struct expr *e;

	while ((e = tree_next(&it)) != NULL) {
		int k = e->u.intrin == INTRIN_CALL_FUNC
				? text_map_get(&o->index_of, e->args[0]->u.text,
					       -1)
				: -1;
		struct indices *callers = k >= 0 ? &o->callers[k] : NULL;
		int n = callers != NULL ? callers->list.n : 0;

		if (callers == NULL || k == i ||
		    (n > 0 && callers->list.data[n - 1] == i)) {
			continue;
		}
		vec_push(&o->m->arena, &callers->list, i);
		o->waits_for[i]++;
	}
}

struct text_map
program_positions(struct module *m, const struct program_result *list)
{
	struct text_map positions;

	text_map_init(&positions, &m->arena);
	for (int i = 0; i < list->funcs.n; i++) {
		text_map_add(&positions, list->funcs.data[i].func->name, i);
	}
	return positions;
}

/* -- functions of one name */

/* A call of a function that has the name of an earlier function of the list. */
struct shadowed_call {
	int caller, callee;
	const char *name;
};

struct apart {
	struct module *m;
	struct program_result *list;
	struct text_map positions;
	struct pointer_map index_of; /* of program_func.func */
	VEC(struct shadowed_call) calls;
	const char **renamed; /* the new name of each function, or NULL */
};

/* The index of the function of f's own module with this name; -1 if the module has
 * no such function, or if it is not in the list. */
static int
sibling_named(const struct apart *x, const struct program_func *f,
	      const char *name)
{
	for (int i = 0; i < f->n_siblings; i++) {
		if (strcmp(f->siblings[i]->func->name, name) == 0) {
			return pointer_map_get(&x->index_of,
					       f->siblings[i]->func, -1);
		}
	}
	return -1;
}

/* Notes the calls in function i of functions whose name stands for another one. */
static void
find_shadowed(struct apart *x, int i)
{
	const struct program_func *f = &x->list->funcs.data[i];
	struct tree_iter it = tree_each_of(f->func->body, EXPR_CALL);
	const struct expr *e;

	while ((e = tree_next(&it)) != NULL) {
		struct shadowed_call call = { .caller = i, .callee = -1 };

		if (e->u.intrin == INTRIN_CALL_FUNC) {
			call.name = e->args[0]->u.text;
			call.callee = sibling_named(x, f, call.name);
		}
		if (call.callee >= 0 &&
		    text_map_get(&x->positions, call.name, call.callee) !=
			    call.callee) {
			vec_push(&x->m->arena, &x->calls, call);
		}
	}
}

/* A name that no function of the list has. */
static const char *
free_name(struct apart *x, const char *name)
{
	const char *tried = name;

	for (int n = 2; !text_map_add(&x->positions, tried, -1); n++) {
		tried = arena_printf(&x->m->arena, "%s_%d", name, n);
	}
	return tried;
}

/* Replaces the functions of entry i, which the program may still use, by copies. */
static void
copy_functions(struct apart *x, int i)
{
	struct program_func *f = &x->list->funcs.data[i];
	const char *name = x->renamed[i] ? x->renamed[i] : f->func->name;
	struct func **all[3] = { &f->func, &f->plain, &f->scheduled };

	for (int k = 0; k < 3; k++) {
		*all[k] = *all[k] ? func_clone(*all[k], name) : NULL;
	}
}

static void
rename_call(struct apart *x, const struct shadowed_call *call)
{
	struct program_func *f = &x->list->funcs.data[call->caller];
	struct func *all[3] = { f->func, f->plain, f->scheduled };

	for (int k = 0; k < 3; k++) {
		if (all[k]) {
			func_rename_calls(all[k], INTRIN_CALL_FUNC, call->name,
					  x->renamed[call->callee]);
		}
	}
}

/* Gives a function that is called a name of its own if an earlier function of the
 * list has its name: two modules of a program may have functions of one name. */
static void
name_apart(struct module *m, struct program_result *list)
{
	const int n = list->funcs.n;
	struct apart x = { .m = m,
			   .list = list,
			   .positions = program_positions(m, list),
			   .renamed = arena_array(&m->arena, const char *,
						  n + 1) };
	bool *copied = arena_array(&m->arena, bool, n + 1);

	pointer_map_init(&x.index_of, &m->arena);
	for (int i = 0; i < n; i++) {
		pointer_map_put(&x.index_of, list->funcs.data[i].func, i);
	}
	for (int i = 0; i < n; i++) {
		find_shadowed(&x, i);
	}
	for (int i = 0; i < x.calls.n; i++) {
		const struct shadowed_call *call = &x.calls.data[i];

		if (!x.renamed[call->callee]) {
			x.renamed[call->callee] = free_name(&x, call->name);
		}
	}
	for (int i = 0; i < x.calls.n; i++) {
		const int both[2] = { x.calls.data[i].caller,
				      x.calls.data[i].callee };

		for (int k = 0; k < 2; k++) {
			if (!copied[both[k]]) {
				copied[both[k]] = true;
				copy_functions(&x, both[k]);
			}
		}
		rename_call(&x, &x.calls.data[i]);
	}
}

void
program_order_calls(struct module *m, struct program_result *all)
{
	const int n = all->funcs.n;
	bool *placed = arena_array(&m->arena, bool, n + 1);
	struct program_result out;
	struct ordering o = {
		.m = m,
		.callers = arena_array(&m->arena, struct indices, n + 1),
		.waits_for = arena_array(&m->arena, int, n + 1),
	};

	name_apart(m, all);
	o.index_of = program_positions(m, all);
	out = *all;
	memset(&out.funcs, 0, sizeof out.funcs);
	for (int i = 0; i < n; i++) {
		find_callees(&o, all->funcs.data[i].func, i);
	}
	/* takes the first function all of whose callees have a place; in a
	 * circle of calls, which program_check_calls() refuses, the first
	 * function without a place */
	while (out.funcs.n < n) {
		int first = -1, next = -1;

		for (int i = n - 1; i >= 0; i--) {
			first = placed[i] ? first : i;
			next = placed[i] || o.waits_for[i] > 0 ? next : i;
		}
		next = next >= 0 ? next : first;
		placed[next] = true;
		vec_push(&m->arena, &out.funcs, all->funcs.data[next]);
		for (int k = 0; k < o.callers[next].list.n; k++) {
			o.waits_for[o.callers[next].list.data[k]]--;
		}
	}
	*all = out;
}

bool
program_check_calls(struct module *m, const struct program_result *list,
		    const struct text_map *positions, int i)
{
	struct checking c = {
		.m = m,
		.file = list->file,
		.funcs = list->funcs.data,
		.positions = positions,
		.n = i,
		.caller = list->funcs.data[i].func,
		.ok = true,
	};
	struct tree_iter it = tree_each_of(c.caller->body, EXPR_CALL);
	const struct expr *e;

	while (c.ok && (e = tree_next(&it)) != NULL) {
		if (e->u.intrin == INTRIN_CALL_FUNC ||
		    e->u.intrin == INTRIN_LAUNCH) {
			c.at = it.at;
			check_call(&c, e);
		}
	}
	tree_stop(&it);
	return c.ok;
}

/* -- pointers of local arrays -- */

struct local_arrays {
	struct func *f;
	VEC(struct var *) from;
	VEC(const struct expr *) to;
};

static void
add_local(struct local_arrays *l, const struct buffer *b)
{
	struct module *m = l->f->module;

	vec_push(&m->arena, &l->from, b->data);
	vec_push(&m->arena, &l->to, buffer_first_address(m, b));
}

void
program_name_addresses(struct func *f)
{
	struct local_arrays l = { .f = f };
	struct var_map map;
	struct stmt *s;
	int n;

	for (struct stmt_iter it = stmt_each(f->body); (s = stmt_next(&it));) {
		const struct buffer *const *list = allocated(s, &n);

		for (int i = 0; i < n; i++) {
			add_local(&l, list[i]);
		}
	}
	map = (struct var_map){ l.from.data, l.to.data, l.from.n };
	if (map.n > 0) {
		stmt_substitute(f, f->body, &map);
	}
}
