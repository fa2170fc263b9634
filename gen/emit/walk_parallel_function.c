/* SPDX-License-Identifier: Apache-2.0 */
/* Parallel loops in languages that have none: the loop becomes a function over
 * a range of iterations, which the caller's threads call.
 *
 * for oh in T.parallel(56):        conv1_part(x, w, y, begin, end):
 *       y[oh] = …                        for oh in range(begin, end): …
 *                              ->
 *                                    conv1(x, w, y):
 *                                        shared = x, w, y
 *                                        share(56, conv1_task, shared)
 *
 * conv1_task unpacks `shared` and calls conv1_part. */
#include "iterate.h"
#include "walk_stmt.h"

/* Is s a parallel loop that can be outlined? Its variable must have 32 bits,
 * since the range is passed as two 32-bit numbers. */
static bool
is_shared(const struct stmt *s)
{
	return s->kind == STMT_FOR && s->u.loop.kind == FOR_PARALLEL &&
	       s->u.loop.var->type.kind == DT_I32;
}

bool
unit_shares(const struct unit *u, const struct func *f)
{
	struct stmt_iter it = stmt_each(f->body);
	const struct stmt *s;

	if (!u->d->tasks.used || u->model == NULL || u->in_part) {
		return false;
	}
	while ((s = stmt_next(&it)) != NULL && !is_shared(s)) {
	}
	return s != NULL;
}

/* -- captured variables of the loop -- */

struct captures {
	struct walker *w;
	bool *used; /* by index of the binding: does the loop use the
		     * variable? */
};

static void
use_var(struct captures *c, const struct var *v)
{
	int at = walk_binding(c->w, v);

	if (at >= 0) {
		c->used[at] = true;
	}
}

static void use_exprs(struct captures *c, const struct expr *const *list,
		      int n);

static void
use_buffer(struct captures *c, const struct buffer *b)
{
	use_var(c, b->data);
	use_exprs(c, b->shape, b->ndim);
	use_exprs(c, b->strides, b->ndim);
}

static void
use_exprs(struct captures *c, const struct expr *const *list, int n)
{
	struct tree_iter it = exprs_each(list, n);
	const struct expr *e;

	while ((e = tree_next(&it)) != NULL) {
		if (e->kind == EXPR_VAR) {
			use_var(c, e->u.var);
		} else if (e->kind == EXPR_LOAD) {
			use_buffer(c, e->u.buffer);
		}
	}
}

static void
use_stmts(struct captures *c, struct stmt *s)
{
	for (struct stmt_iter it = stmt_each(s); (s = stmt_next(&it));) {
		use_exprs(c, s->args, s->n_args);
		if (s->kind == STMT_STORE) {
			use_buffer(c, s->u.buffer);
		}
	}
}

/* -- the function over a range -- */

static struct var *
bound_of_range(struct walker *w, const char *name, int64_t most)
{
	struct var *v = var_new(w->m, name, dtype_of(DT_I32));

	v->is_dim = true;
	v->min = 0;
	v->max = most;
	return v;
}

static struct func *
make_part(struct walker *w, struct stmt *loop, const bool *used)
{
	struct func *part = func_new(w->m,
				     name_set_add(&w->u->globals,
						  arena_printf(w->a, "%s_part",
							       w->f->name)));
	int64_t most = INT32_MAX / 2;
	struct var *begin, *end;
	struct stmt *s;

	expr_is_int(loop->args[1], &most);
	begin = bound_of_range(w, "begin", most);
	end = bound_of_range(w, "end", most);
	for (int i = 0; i < w->bindings.n; i++) {
		const struct binding *b = &w->bindings.data[i];

		if (used[i]) {
			func_add_param(part, b->var->expr->u.var, b->buffer);
			part->params.data[part->params.n - 1].space = b->space;
		}
	}
	func_add_param(part, begin, NULL);
	func_add_param(part, end, NULL);
	s = stmt_clone(part, loop, false);
	s->parent = NULL;
	part->body = s;
	stmt_set_loop_kind(part, s, FOR_SERIAL, NULL);
	stmt_set_arg(part, s, 0, expr_add(w->m, loop->args[0], begin->expr));
	stmt_set_arg(part, s, 1, expr_sub(w->m, end->expr, begin->expr));
	return part;
}

/* Adds to `data` a member of the structure of captured variables: the variable
 * of binding b, and its value. */
static void
add_member(struct walker *w, const struct func *part, struct tdata *data,
	   const struct binding *b, int index, const char **values)
{
	struct tdata *one = tdata_item(data, "members");
	const char *value = b->text;

	tdata_text(one, "name", value);
	tdata_text(one, "value", arena_printf(w->a, "s->%s", value));
	if (b->buffer != NULL) {
		bool is_const = !func_writes(part, b->buffer);
		struct binding member = {
			.text = arena_printf(w->a, "s->%s", value),
			.space = b->space,
			.kind = is_const ? VALUE_CONST_VOID_POINTER
					 : VALUE_VOID_POINTER,
		};

		tdata_flag(one, "const", is_const);
		tdata_text(one, "space", w->d->spaces[b->space]);
		tdata_text(one, "value",
			   walk_pointer_argument(w, &member, b->buffer,
						 is_const, b->space));
		tdata_text(one, "member",
			   walk_render(w, w->d->tasks.array, one));
		if (b->kind == VALUE_SCALAR) {
			value = arena_printf(w->a, "&%s", value);
		}
	} else {
		tdata_text(one, "type", unit_type(w->u, b->var->type));
		tdata_text(one, "member",
			   walk_render(w, w->d->tasks.scalar, one));
	}
	*values = arena_printf(w->a, "%s%s%s", *values,
			       index > 0 ? "," TEXT_SPACE : "", value);
}

static bool
print_part(struct walker *w, const struct func *part, struct tdata *data)
{
	const struct dialect_template *t = &w->d->templates[TEMPLATE_TASK];
	struct strbuf text;
	bool ok;

	strbuf_init(&text);
	w->u->in_part = true;
	ok = unit_func(w->u, part, &text);
	w->u->in_part = false;
	strbuf_putc(&text, '\n');
	ok = ok &&
	     template_render(&w->m->diags, t->file, NULL, t->text, data, &text);
	strbuf_putc(&text, '\n');
	if (ok) {
		vec_push(w->a, &w->u->parts, arena_strdup(w->a, text.data));
	}
	strbuf_release(&text);
	return ok;
}

bool
walk_share(struct walker *w, struct stmt *loop, struct tdata *data)
{
	struct captures c = { w, arena_array(w->a, bool, w->bindings.n + 1) };
	const char *values = "";
	struct func *part;
	int n = 0;

	if (!w->u->d->tasks.used || w->u->model == NULL || w->u->in_part ||
	    w->shares || w->vectorizes || !is_shared(loop)) {
		return false;
	}
	use_stmts(&c, loop->children[0]);
	use_exprs(&c, loop->args, 1);
	part = make_part(w, loop, c.used);
	tdata_text(data, "open", TEXT_OPEN);
	tdata_text(data, "close", TEXT_CLOSE);
	tdata_text(data, "br", TEXT_SPACE);
	tdata_text(data, "model", w->u->model);
	tdata_text(data, "part", part->name);
	tdata_text(data, "task",
		   name_set_add(&w->u->globals,
				arena_printf(w->a, "%s_task", w->f->name)));
	tdata_text(data, "shared",
		   name_set_add(&w->u->globals,
				arena_printf(w->a, "%s_shared", w->f->name)));
	tdata_list(data, "members");
	for (int i = 0; i < w->bindings.n; i++) {
		if (c.used[i]) {
			add_member(w, part, data, &w->bindings.data[i], n++,
				   &values);
		}
	}
	tdata_text(data, "values",
		   arena_printf(w->a, "%c%s%c", MARK_OPEN, values, MARK_CLOSE));
	tdata_text(data, "var",
		   walk_bind(w, var_new(w->m, "shared", dtype_of(DT_HANDLE)),
			     "shared")
			   ->text);
	w->failed = w->failed || !print_part(w, part, data);
	return true;
}
