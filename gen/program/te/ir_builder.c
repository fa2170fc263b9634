/* SPDX-License-Identifier: Apache-2.0 */
/* Builds a tree of statements, one statement after the other, in scopes that
 * are opened and closed. */
#include "ir_builder.h"

void
ir_builder_init(struct ir_builder *b, struct module *m)
{
	struct ir_scope root = { .kind = IR_SCOPE_ROOT };

	memset(b, 0, sizeof *b);
	b->f = func_new(m, "builder");
	vec_push(&m->arena, &b->scopes, root);
}

static struct ir_scope *
innermost(const struct ir_builder *b)
{
	return &b->scopes.data[b->scopes.n - 1];
}

bool
ir_builder_open(struct ir_builder *b, const struct ir_scope *scope)
{
	if (b->scopes.n >= IR_BUILDER_DEPTH) {
		return false;
	}
	vec_push(&b->f->module->arena, &b->scopes, *scope);
	return true;
}

void
ir_builder_emit(struct ir_builder *b, struct stmt *s)
{
	vec_push(&b->f->module->arena, &innermost(b)->body.list, s);
}

static struct stmt *
last_statement(const struct ir_builder *b)
{
	const struct ir_scope *scope = innermost(b);

	return scope->body.list.n > 0
		       ? scope->body.list.data[scope->body.list.n - 1]
		       : NULL;
}

bool
ir_builder_can_else(const struct ir_builder *b)
{
	const struct stmt *last = last_statement(b);

	return last && last->kind == STMT_IF && !last->children[1];
}

static struct stmt *
loop(struct func *f, const struct ir_scope *s, struct stmt *body)
{
	struct stmt *made = stmt_for(f, s->var, s->first, s->extent, s->how,
				     body);

	made->u.loop.thread = s->thread;
	return made;
}

static void
close_one(struct ir_builder *b)
{
	const struct ir_scope s = b->scopes.data[--b->scopes.n];
	struct func *f = b->f;
	struct stmt *body = stmt_seq(f, s.body.list.data, s.body.list.n);
	struct stmt *then;

	switch (s.kind) {
	case IR_SCOPE_FOR:
		body = loop(f, &s, body);
		break;
	case IR_SCOPE_IF:
		body = stmt_if(f, s.value, body, NULL);
		break;
	case IR_SCOPE_ELSE:
		then = last_statement(b);
		innermost(b)->body.list.n--;
		body = stmt_if(f, then->args[0], then->children[0], body);
		break;
	case IR_SCOPE_WHILE:
		body = stmt_while(f, s.value, body);
		break;
	case IR_SCOPE_LET:
		body = stmt_let(f, s.var, s.value, body);
		break;
	case IR_SCOPE_ALLOC:
		body = stmt_alloc(f, s.buffer, body);
		break;
	default:
		break;
	}
	ir_builder_emit(b, body);
}

static void
close_implicit(struct ir_builder *b)
{
	while (innermost(b)->implicit) {
		close_one(b);
	}
}

void
ir_builder_close(struct ir_builder *b)
{
	close_implicit(b);
	if (b->scopes.n > 1) {
		close_one(b);
	}
}

struct stmt *
ir_builder_finish(struct ir_builder *b)
{
	close_implicit(b);
	if (b->scopes.n > 1) {
		return NULL;
	}
	b->finished = true;
	return stmt_seq(b->f, b->scopes.data[0].body.list.data,
			b->scopes.data[0].body.list.n);
}
