/* SPDX-License-Identifier: Apache-2.0 */
/* The provenance of constants: where the bytes of a stored constant come from,
 * as text. Prints the nodes that computed the constant (tensor.made_by) as a
 * formula over the model's constants, and the constant's layout as indices. */
#include "provenance_constants.h"

#include "pointer_map.h"
#include "provenance.h"

enum { MOST_DEPTH = 12, MOST_NUMBERS = 8 };

/* A step of the walk: a tensor whose inputs before `next` have been visited. */
struct step {
	const struct tensor *tensor;
	int next; /* index of the next input */
};

/* The next input of a step that was not visited before; NULL if the step has no
 * more inputs. */
static const struct tensor *
next_input(struct step *s, struct pointer_map *seen)
{
	const struct node *n = s->tensor->made_by;

	while (n != NULL && s->next < n->n_inputs) {
		const struct tensor *t = n->inputs[s->next++];

		if (t != NULL && pointer_map_add(seen, t)) {
			return t;
		}
	}
	return NULL;
}

void
constant_walk(struct arena *a, const struct tensor *t,
	      void (*visit)(void *ctx, struct arena *a, const struct tensor *t),
	      void *ctx)
{
	struct pointer_map seen;
	VEC(struct step) path = { 0 };

	pointer_map_init(&seen, a);
	pointer_map_add(&seen, t);
	vec_push(a, &path, ((struct step){ t, 0 }));
	while (path.n > 0) {
		struct step *last = &path.data[path.n - 1];
		const struct tensor *input = next_input(last, &seen);

		if (input != NULL) {
			vec_push(a, &path, ((struct step){ input, 0 }));
		} else {
			visit(ctx, a, last->tensor);
			path.n--;
		}
	}
}

/* -- the model's constants -- */

/* Was n made by graph_describe()? Such a node has in place of an operator a
 * form, a text such as "$0 * $1" in which $0 stands for input 0? */
static bool
is_form(const struct node *n)
{
	return strcmp(n->domain, "tirc.form") == 0;
}

/* Has n, like a form, a text in place of an operator, but a text in which $
 * does not stand for an input? */
static bool
is_text(const struct node *n)
{
	return strcmp(n->domain, "tirc.text") == 0;
}

/* Is t an initializer or a Constant's output of the model? */
static bool
is_source(const struct tensor *t)
{
	return t->made_by == NULL ||
	       (is_form(t->made_by) && *t->made_by->op_type == '\0');
}

static const char *
source_name(const struct tensor *t)
{
	return t->model_name != NULL ? t->model_name : t->from;
}

static void
add_source(void *ctx, struct arena *a, const struct tensor *t)
{
	struct constant_sources *s = ctx;
	const char *name = is_source(t) ? source_name(t) : NULL;

	for (int i = 0; name != NULL && i < s->names.n; i++) {
		if (strcmp(s->names.data[i], name) == 0) {
			return;
		}
	}
	if (name != NULL) {
		vec_push(a, &s->names, name);
	}
}

struct constant_sources
provenance_sources(struct arena *a, const struct tensor *constant)
{
	struct constant_sources s = { 0 };

	constant_walk(a, constant, add_source, &s);
	return s;
}

/* -- formulas -- */

struct formula {
	struct strbuf out;
};

static void put_tensor(struct formula *f, const struct tensor *t, int depth,
		       bool inside);

/* Can the text of the form be an operand without parentheses around it: is it
 * one word, a text in parentheses, or a call? */
static bool
is_atom(const char *form)
{
	bool quoted = false;
	int depth = 0;

	for (const char *c = form; *c != '\0'; c++) {
		quoted ^= *c == '"';
		if (quoted) {
			continue;
		}
		depth += *c == '(' ? 1 : *c == ')' ? -1 : 0;
		if (depth == 0 && (*c == ' ' || *c == '-')) {
			return false;
		}
	}
	return true;
}

/* Is the "$n" at `at` in the form an operand of + - * /? Then the text in its
 * place may need parentheses. */
static bool
is_operand(const char *form, const char *at)
{
	return !(at > form && at[-1] == '(' && at[2] == ')') &&
	       !(at == form && at[2] == '\0');
}

static void
put_form(struct formula *f, const struct node *n, int depth, bool inside)
{
	const char *form = n->op_type;
	bool brackets = inside && !is_atom(form);

	strbuf_puts(&f->out, brackets ? "(" : "");
	for (const char *c = form; *c != '\0'; c++) {
		int input = c[0] == '$' && !is_text(n) ? c[1] - '0' : -1;

		if (input < 0) {
			strbuf_putc(&f->out, *c);
			continue;
		}
		put_tensor(f, n->inputs[input], depth + 1,
			   is_operand(form, c) ||
				   (inside && !brackets && form[2] == '\0'));
		c++;
	}
	strbuf_puts(&f->out, brackets ? ")" : "");
}

static void
put_ints(struct formula *f, const char *name, const int64_t *v, int n)
{
	strbuf_printf(&f->out, "%s = [", name);
	for (int i = 0; i < n; i++) {
		strbuf_printf(&f->out, "%s%lld", i > 0 ? ", " : "",
			      (long long)v[i]);
	}
	strbuf_puts(&f->out, "]");
}

/* Is the value of the attribute ONNX's number of a data type? Then the name of
 * the type is printed. */
static bool
is_type(const struct node *n, const struct attr *at)
{
	return *n->domain == '\0' && (strcmp(at->name, "dtype") == 0 ||
				      strcmp(at->name, "output_dtype") == 0 ||
				      (strcmp(at->name, "to") == 0 &&
				       strcmp(n->op_type, "Cast") == 0));
}

/* Prints the attributes of n: {perm = [1, 0]}, {to = int64}. */
static void
put_attrs(struct formula *f, const struct node *n)
{
	const char *before = "{";

	for (int i = 0; i < n->attrs.n; i++) {
		const struct attr *at = &n->attrs.data[i];
		struct dtype type;

		if (at->kind != ATTR_INT && at->kind != ATTR_INTS) {
			continue;
		}
		strbuf_puts(&f->out, before);
		if (at->kind == ATTR_INTS) {
			put_ints(f, at->name, at->ints, at->n);
		} else if (is_type(n, at) && dtype_from_onnx(at->i, &type)) {
			strbuf_printf(&f->out, "%s = %s", at->name,
				      dtype_name(type));
		} else {
			strbuf_printf(&f->out, "%s = %lld", at->name,
				      (long long)at->i);
		}
		before = ", ";
	}
	strbuf_puts(&f->out, *before == ',' ? "}" : "");
}

static const char *
infix(const struct node *n)
{
	static const char *const signs[][2] = {
		{ "Mul", " * " },
		{ "Add", " + " },
		{ "Sub", " - " },
		{ "Div", " / " },
	};

	for (size_t i = 0; i < sizeof signs / sizeof *signs; i++) {
		if (*n->domain == '\0' && n->n_inputs == 2 &&
		    strcmp(n->op_type, signs[i][0]) == 0) {
			return signs[i][1];
		}
	}
	return NULL;
}

static void
put_operator(struct formula *f, const struct node *n, int depth, bool inside)
{
	const char *sign = infix(n), *between = sign != NULL ? sign : ", ";

	if (sign == NULL) {
		strbuf_puts(&f->out, n->op_type);
		put_attrs(f, n);
	}
	strbuf_puts(&f->out, sign == NULL || inside ? "(" : "");
	for (int i = 0; i < n->n_inputs; i++) {
		strbuf_puts(&f->out, i > 0 ? between : "");
		if (n->inputs[i] != NULL) {
			put_tensor(f, n->inputs[i], depth + 1, sign != NULL);
		}
	}
	strbuf_puts(&f->out, sign == NULL || inside ? ")" : "");
}

/* Prints a constant without a name: a number, a short list of numbers, or
 * "constant". */
static void
put_unnamed(struct formula *f, const struct tensor *t)
{
	const struct value *v = t->value;
	int64_t n = v != NULL ? v->elems : MOST_NUMBERS + 1;

	if (n > MOST_NUMBERS || dtype_class(t->type) == DTC_STRING) {
		strbuf_puts(&f->out, "constant");
		return;
	}
	strbuf_puts(&f->out, t->ndim > 0 ? "[" : "");
	for (int64_t i = 0; i < n; i++) {
		union number x = v->data != NULL ? number_load(v->type, v->data,
							       (size_t)i)
						 : v->fill;

		strbuf_puts(&f->out, i > 0 ? ", " : "");
		if (dtype_is_float(v->type)) {
			strbuf_printf(&f->out, "%g", x.f);
		} else {
			strbuf_printf(&f->out, "%lld", (long long)x.i);
		}
	}
	strbuf_puts(&f->out, t->ndim > 0 ? "]" : "");
}

static void
put_tensor(struct formula *f, const struct tensor *t, int depth, bool inside)
{
	const char *name = source_name(t);

	if (t->made_by != NULL && *t->made_by->op_type != '\0' &&
	    depth <= MOST_DEPTH) {
		if (is_form(t->made_by) || is_text(t->made_by)) {
			put_form(f, t->made_by, depth, inside);
		} else {
			put_operator(f, t->made_by, depth, inside);
		}
	} else if (t->made_by == NULL || *t->made_by->op_type == '\0') {
		if (name != NULL) {
			strbuf_printf(&f->out, "\"%s\"", name);
		} else {
			put_unnamed(f, t);
		}
	} else {
		strbuf_puts(&f->out, "...");
	}
}

const char *
provenance_recipe(struct arena *a, const struct tensor *constant)
{
	struct formula f = { 0 };
	const char *text;

	strbuf_init(&f.out);
	put_tensor(&f, constant, 0, false);
	text = arena_strdup(a, f.out.data);
	strbuf_release(&f.out);
	return text;
}

void
provenance_restore(struct graph *g, struct tensor *constant, const char *recipe,
		   const struct constant_sources *sources,
		   const struct origin_list *origins)
{
	struct arena *a = &g->module->arena;
	struct node *n = arena_new(a, struct node);

	n->op_type = recipe;
	n->domain = "tirc.text";
	n->name = "";
	n->graph = g;
	n->inputs = arena_array(a, struct tensor *, sources->names.n + 1);
	for (int i = 0; i < sources->names.n; i++) {
		struct tensor *t = arena_new(a, struct tensor);

		t->name = t->model_name = sources->names.data[i];
		n->inputs[n->n_inputs++] = t;
	}
	for (int i = 0; i < origins->list.n; i++) {
		vec_push(a, &n->origins, origins->list.data[i]);
	}
	constant->made_by = n;
}

/* -- layouts -- */

/* The name of index i of a weight: for the weights of a convolution, a name
 * that says what the index counts ("oc"); else a letter for its position. */
static const char *
index_name(struct arena *a, const struct weight *w, int i)
{
	static const char *const window[] = { "oc", "ic", "kh", "kw" };
	static const char letters[] = "ijklmnpqrs";
	bool conv = w->map->n_logical == 4 && w->reader != NULL &&
		    strcmp(w->reader->group->anchor->op_type, "Conv") == 0 &&
		    strcmp(w->role, "w") == 0;

	return conv                          ? window[i]
	       : i < (int)sizeof letters - 1 ? arena_printf(a, "%c", letters[i])
					     : arena_printf(a, "i%d", i);
}

/* The text of an index, without spaces, and with / for quotients as in C, which
 * is correct because no index is negative. */
static const char *
index_text(struct arena *a, const struct expr *e)
{
	struct strbuf s;
	char *text;
	size_t n = 0;

	strbuf_init(&s);
	expr_print(e, &s);
	text = arena_strdup(a, s.data);
	for (size_t i = 0; i < s.len; i++) {
		if (text[i] != ' ' &&
		    (text[i] != '/' || i == 0 || text[i - 1] != '/')) {
			text[n++] = text[i];
		}
	}
	text[n] = '\0';
	strbuf_release(&s);
	return text;
}

/* Does the map only add padding, so that each element keeps its indices? */
static bool
only_pads(const struct index_map *map)
{
	bool same = map->n_physical == map->n_logical;

	for (int i = 0; i < map->n_physical && same; i++) {
		same = map->to_physical[i] == map->logical[i]->expr;
	}
	return same;
}

const char *
provenance_index(struct program *p, const struct weight *w)
{
	struct module *m = p->graph->module;
	const struct index_map *map = w->map;
	const char *text = "";
	struct var_map names;

	if (map == NULL) {
		return NULL;
	}
	names = (struct var_map){ .from = map->logical, .n = map->n_logical };
	names.to = arena_exprs(&m->arena, map->n_logical + 1);
	for (int i = 0; i < map->n_logical; i++) {
		const struct var *v = map->logical[i];
		const char *name = index_name(&m->arena, w, i);

		names.to[i] = var_new(m, name, v->type)->expr;
		text = arena_printf(&m->arena, "%s[%s]", text, name);
	}
	text = arena_printf(&m->arena, "%s at ", text);
	for (int i = 0; i < map->n_physical; i++) {
		const struct expr *e = expr_substitute(m, map->to_physical[i],
						       &names);

		/* Dimensions of the stored array that have extent 1 are left
		 * out. */
		if (!expr_is_value(map->physical_shape[i], 1)) {
			text = arena_printf(&m->arena, "%s[%s]", text,
					    index_text(&m->arena, e));
		}
	}
	return only_pads(map) ? arena_printf(&m->arena, "%s, then zeros", text)
			      : text;
}
