/* SPDX-License-Identifier: Apache-2.0 */
/* Signatures, and the binding of arguments to their parameters. */
#include "py_call.h"

#include "text.h"

/* ---- signatures */

/* Reads the parameter at `at` in a declaration into *slot. Returns the position
 * after it; NULL at the end of the declaration. named: a "*" precedes it, so
 * that it can only be given by name. */
static const char *
next_slot(struct arena *a, const char *at, bool named, struct py_slot *slot)
{
	size_t n;

	at += strspn(at, ", ");
	if (*at == '\0') {
		return NULL;
	}
	*slot = (struct py_slot){ .keyword_only = named };
	for (; *at == '*'; at++) {
		slot->kind = slot->kind == PY_PARAM_STAR ? PY_PARAM_DOUBLE_STAR
							 : PY_PARAM_STAR;
	}
	n = strcspn(at, ",?");
	slot->name = arena_strndup(a, at, n);
	slot->optional = at[n] == '?' || slot->kind != PY_PARAM_PLAIN;
	return at + n + (at[n] == '?');
}

struct py_signature
py_signature_declared(struct arena *a, const char *callee, const char *params)
{
	struct py_signature s = { .callee = callee };
	struct py_slot slot;
	bool named = false;
	int room = 1;

	for (const char *at = params; *at; at++) {
		room += *at == ',';
	}
	s.slots = arena_array(a, struct py_slot, room);
	while ((params = next_slot(a, params, named, &slot)) != NULL) {
		named |= slot.kind == PY_PARAM_STAR;
		if (*slot.name) {
			s.slots[s.n++] = slot;
		}
	}
	return s;
}

struct py_signature
py_signature_of(struct arena *a, const char *callee, const struct py_node *def)
{
	struct py_signature s = {
		.callee = callee,
		.slots = arena_array(a, struct py_slot, def->n_params + 1),
		.n = def->n_params,
	};

	for (int i = 0; i < s.n; i++) {
		const struct py_param *p = &def->params[i];

		s.slots[i] = (struct py_slot){
			.name = p->name,
			.kind = p->kind,
			.optional = p->initial || p->kind != PY_PARAM_PLAIN,
			.keyword_only = p->keyword_only,
		};
	}
	return s;
}

/* The index of the parameter called `name`; -1 if the signature has none of
 * this name. */
static int
slot_named(const struct py_signature *s, const char *name)
{
	for (int i = 0; i < s->n; i++) {
		if (s->slots[i].kind == PY_PARAM_PLAIN &&
		    strcmp(s->slots[i].name, name) == 0) {
			return i;
		}
	}
	return -1;
}

/* ---- binding */

struct binding {
	struct module *m;
	const struct source *src;
	const struct py_signature *s;
	const struct py_argument *args;
	int n;
	int *slot;
	bool *taken; /* by parameter */
};

static bool
takes_positions(const struct py_slot *slot)
{
	return !slot->keyword_only && slot->kind != PY_PARAM_DOUBLE_STAR;
}

static bool
too_many(const struct binding *b, const struct py_argument *extra)
{
	int room = 0, given = 0;

	for (int i = 0; i < b->s->n; i++) {
		room += takes_positions(&b->s->slots[i]);
	}
	for (int k = 0; k < b->n; k++) {
		given += b->args[k].name == NULL;
	}
	return py_error(b->m, b->src, extra->span,
			"%s takes %d argument%s by position, not %d",
			b->s->callee, room, room == 1 ? "" : "s", given);
}

static bool
bind_positions(const struct binding *b)
{
	int next = 0;

	for (int k = 0; k < b->n; k++) {
		if (b->args[k].name) {
			continue;
		}
		while (next < b->s->n && !takes_positions(&b->s->slots[next])) {
			next++;
		}
		if (next == b->s->n) {
			return too_many(b, &b->args[k]);
		}
		b->slot[k] = next;
		b->taken[next] = true;
		next += b->s->slots[next].kind == PY_PARAM_PLAIN;
	}
	return true;
}

static bool
unknown_name(const struct binding *b, const struct py_argument *arg)
{
	struct arena *a = &b->m->arena;
	const char **names = arena_array(a, const char *, b->s->n + 1);
	int n = 0;

	for (int i = 0; i < b->s->n; i++) {
		if (b->s->slots[i].kind == PY_PARAM_PLAIN) {
			names[n++] = b->s->slots[i].name;
		}
	}
	return py_error(b->m, b->src, arg->span, "%s has no parameter %s%s",
			b->s->callee, arg->name,
			py_suggest(a, arg->name, names, n));
}

static bool
bind_names(const struct binding *b)
{
	const struct py_signature *s = b->s;
	bool has_rest = s->n > 0 &&
			s->slots[s->n - 1].kind == PY_PARAM_DOUBLE_STAR;

	for (int k = 0; k < b->n; k++) {
		const char *name = b->args[k].name;
		int at = name ? slot_named(s, name) : -1;

		if (!name) {
			continue;
		}
		if (at < 0 && !has_rest) {
			return unknown_name(b, &b->args[k]);
		}
		if (at >= 0 && b->taken[at]) {
			return py_error(b->m, b->src, b->args[k].span,
					"%s is given twice; give it once",
					name);
		}
		b->slot[k] = at >= 0 ? at : s->n - 1;
		b->taken[b->slot[k]] = true;
	}
	return true;
}

bool
py_bind(struct module *m, const struct source *src, struct py_span call,
	const struct py_signature *s, const struct py_argument *args, int n,
	int *slot)
{
	struct binding b = {
		.m = m,
		.src = src,
		.s = s,
		.args = args,
		.n = n,
		.slot = slot,
		.taken = arena_array(&m->arena, bool, s->n + 1),
	};

	if (!bind_positions(&b) || !bind_names(&b)) {
		return false;
	}
	for (int i = 0; i < s->n; i++) {
		if (!b.taken[i] && !s->slots[i].optional) {
			return py_error(m, src, call, "%s needs an argument %s",
					s->callee, s->slots[i].name);
		}
	}
	return true;
}

/* "a.b.c()", for messages. */
static const char *
callee_of(struct arena *a, const struct py_node *node)
{
	const char *text = "the function";
	struct strbuf path;

	strbuf_init(&path);
	if (py_put_path(node, &path)) {
		text = arena_printf(a, "%s()", path.data);
	}
	strbuf_release(&path);
	return text;
}

bool
py_bind_nodes(struct module *m, const struct source *src,
	      const struct py_node *call, const char *params,
	      const struct py_node **found)
{
	struct arena *a = &m->arena;
	struct py_signature s =
		py_signature_declared(a, callee_of(a, call->kids[0]), params);
	int n = call->n_kids - 1;
	struct py_argument *args = arena_array(a, struct py_argument, n + 1);
	int *slot = arena_array(a, int, n + 1);

	for (int k = 0; k < n; k++) {
		const struct py_node *one = call->kids[k + 1];

		if (one->kind == PY_STAR ||
		    (one->kind == PY_KEYWORD && !one->text)) {
			return py_error(m, src, one->span,
					"arguments from a list; write them "
					"out");
		}
		args[k].name = one->kind == PY_KEYWORD ? one->text : NULL;
		args[k].span = one->span;
	}
	if (!py_bind(m, src, call->span, &s, args, n, slot)) {
		return false;
	}
	for (int i = 0; i < s.n; i++) {
		found[i] = NULL;
	}
	for (int k = 0; k < n; k++) {
		const struct py_node *one = call->kids[k + 1];

		found[slot[k]] = args[k].name ? one->kids[0] : one;
	}
	return true;
}

/* ---- names, for messages */

bool
py_put_path(const struct py_node *node, struct strbuf *out)
{
	if (node->kind == PY_NAME) {
		strbuf_puts(out, node->text);
		return true;
	}
	if (node->kind != PY_ATTRIBUTE || !py_put_path(node->kids[0], out)) {
		return false;
	}
	strbuf_printf(out, ".%s", node->text);
	return true;
}

const char *
py_did_you_mean(struct arena *a, const char *name, const char *const *names,
		int n, const char *remedy)
{
	const char *nearest = text_nearest(name, names, n);

	return nearest ? arena_printf(a, "; did you mean %s?", nearest)
		       : arena_printf(a, "; %s", remedy);
}

const char *
py_suggest(struct arena *a, const char *name, const char *const *names, int n)
{
	struct strbuf s;
	const char *text;

	if (n == 0 || n > 12) {
		text = py_did_you_mean(a, name, names, n, "");
		return text[2] ? text : "";
	}
	strbuf_init(&s);
	strbuf_puts(&s, n > 1 ? "there are " : "there is ");
	for (int i = 0; i < n; i++) {
		strbuf_printf(&s, "%s%s", i ? ", " : "", names[i]);
	}
	text = py_did_you_mean(a, name, names, n, s.data);
	strbuf_release(&s);
	return text;
}
