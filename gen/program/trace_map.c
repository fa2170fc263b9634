/* SPDX-License-Identifier: Apache-2.0 */
/* Saves and loads index maps in TVM's JSON format for objects. All objects are
 * elements of a list; a reference is an index in this list, and 0 is a null
 * reference. */
#include "trace_map.h"

#include <ctype.h>

#include "json_read.h"
#include "text.h"

static const struct {
	const char *type_key, *op;
	enum expr_kind kind;
} operators[] = {
	{ "tir.Add", " + ", EXPR_ADD },
	{ "tir.Sub", " - ", EXPR_SUB },
	{ "tir.Mul", " * ", EXPR_MUL },
	{ "tir.FloorDiv", " // ", EXPR_FLOORDIV },
	{ "tir.FloorMod", " % ", EXPR_FLOORMOD },
};
enum { N_OPERATORS = sizeof operators / sizeof *operators };

/* -- saving */

struct saver {
	struct module *m;
	const struct index_map *map;
	VEC(const char *) nodes;
};

static int
add_node(struct saver *s, const char *text)
{
	vec_push(&s->m->arena, &s->nodes, text);
	return s->nodes.n - 1;
}

static int
add_array(struct saver *s, const int *items, int n)
{
	const char *text = "";

	for (int i = 0; i < n; i++) {
		text = arena_printf(&s->m->arena, "%s%s%d", text, i ? ", " : "",
				    items[i]);
	}
	return add_node(s, arena_printf(&s->m->arena,
					"{\"type_key\": "
					"\"Array\", \"data\": [%s]}",
					text));
}

static int
add_var(struct saver *s, struct dtype type, int name)
{
	return add_node(
		s, arena_printf(&s->m->arena,
				"{\"type_key\": "
				"\"tir.Var\", \"attrs\": {\"dtype\": \"%s\", "
				"\"name\": \"%d\", \"span\": \"0\", "
				"\"type_annotation\": \"0\"}}",
				dtype_name(type), name));
}

static int
add_expr(struct saver *s, const struct expr *e, const int *vars)
{
	struct arena *a = &s->m->arena;
	int64_t v;
	int x, y;

	for (int i = 0; i < s->map->n_logical; i++) {
		if (e == s->map->logical[i]->expr) {
			return vars[i];
		}
	}
	if (e->kind == EXPR_VAR) { /* the name of a size identifies it */
		x = add_node(
			s, arena_printf(
				   a,
				   "{\"type_key\": "
				   "\"runtime.String\", \"repr_str\": \"%s\"}",
				   e->u.var->name));
		return add_var(s, e->type, x);
	}
	if (expr_is_int(e, &v)) {
		return add_node(
			s, arena_printf(
				   a,
				   "{\"type_key\": \"IntImm\""
				   ", \"attrs\": {\"dtype\": \"%s\", \"span\": "
				   "\"0\", \"value\": \"%lld\"}}",
				   dtype_name(e->type), (long long)v));
	}
	for (int i = 0; i < N_OPERATORS; i++) {
		if (operators[i].kind != e->kind) {
			continue;
		}
		x = add_expr(s, e->args[0], vars);
		y = add_expr(s, e->args[1], vars);
		return add_node(
			s, arena_printf(
				   a,
				   "{\"type_key\": \"%s\", "
				   "\"attrs\": {\"a\": \"%d\", \"b\": \"%d\", "
				   "\"dtype\": \"%s\", \"span\": \"0\"}}",
				   operators[i].type_key, x, y,
				   dtype_name(e->type)));
	}
	return 0;
}

void
index_map_save(struct module *m, const struct index_map *map,
	       struct strbuf *out)
{
	struct arena *a = &m->arena;
	struct saver s = { .m = m, .map = map };
	int *vars = arena_array(a, int, map->n_logical + 1);
	int *exprs = arena_array(a, int, map->n_physical + 1);
	int initial, final;

	add_node(&s, "{\"type_key\": \"\"}");
	add_node(&s, NULL);
	for (int i = 0; i < map->n_logical; i++) {
		int name = add_node(
			&s,
			arena_printf(
				a,
				"{\"type_key\": "
				"\"runtime.String\", \"repr_str\": \"i%d\"}",
				i));

		vars[i] = add_var(&s, map->logical[i]->type, name);
	}
	for (int i = 0; i < map->n_physical; i++) {
		exprs[i] = add_expr(&s, map->to_physical[i], vars);
	}
	initial = add_array(&s, vars, map->n_logical);
	final = add_array(&s, exprs, map->n_physical);
	s.nodes.data[1] = arena_printf(a,
				       "{\"type_key\": \"tir.IndexMap\", "
				       "\"attrs\": {\"final_indices\": \"%d\", "
				       "\"initial_indices\": \"%d\", "
				       "\"inverse_index_map\": \"0\"}}",
				       final, initial);
	strbuf_puts(out, "{\"root\": 1, \"nodes\": [");
	for (int i = 0; i < s.nodes.n; i++) {
		strbuf_printf(out, "%s%s", i ? ", " : "", s.nodes.data[i]);
	}
	strbuf_puts(out, "], \"b64ndarrays\": [], \"attrs\": {}}");
}

/* -- loading */

struct loader {
	struct module *m;
	const cJSON **nodes;
	/* for each node: the name of its variable, or NULL */
	const char **names;
	int n;
	/* the text so far; it has at most LONGEST bytes, plus one name */
	struct strbuf out;
	int depth;
};

enum { LONGEST = 10000, LONGEST_NAME = 200, DEEPEST = 100 };

static const cJSON *
node_at(struct loader *l, int64_t at)
{
	return at > 0 && at < l->n ? l->nodes[at] : NULL;
}

static const char *
type_key(const cJSON *node)
{
	const char *key = cJSON_GetStringValue(
		cJSON_GetObjectItemCaseSensitive(node, "type_key"));

	return key ? key : "";
}

static const char *
attr(const cJSON *node, const char *name)
{
	const char *text = cJSON_GetStringValue(
		cJSON_GetObjectItemCaseSensitive(
			cJSON_GetObjectItemCaseSensitive(node, "attrs"), name));

	return text ? text : "";
}

/* The index of the node to which the attribute `name` of a node refers, or -1. */
static int64_t
place_of(const cJSON *node, const char *name)
{
	int64_t at;

	return text_int(attr(node, name), &at) ? at : -1;
}

static const cJSON *
array_at(struct loader *l, const cJSON *map, const char *name)
{
	const cJSON *node = node_at(l, place_of(map, name));

	return node && strcmp(type_key(node), "Array") == 0
		       ? cJSON_GetObjectItemCaseSensitive(node, "data")
		       : NULL;
}

/* Appends the name of the size variable that node is. Returns false if the name
 * is not an identifier. */
static bool
load_size(struct loader *l, const cJSON *node)
{
	const cJSON *name = node_at(l, place_of(node, "name"));
	const char *text = cJSON_GetStringValue(
		cJSON_GetObjectItemCaseSensitive(name, "repr_str"));

	for (const char *c = text; c && *c; c++) {
		if (*c != '_' && !isalnum((unsigned char)*c)) {
			return false;
		}
	}
	if (!text || !*text || strlen(text) > LONGEST_NAME) {
		return false;
	}
	strbuf_puts(&l->out, text);
	return true;
}

static bool
load_expr(struct loader *l, int64_t at)
{
	const cJSON *node = node_at(l, at);
	const char *key = type_key(node);
	bool ok = false;
	int64_t v;
	double f;

	if (!node || ++l->depth > DEEPEST || l->out.len > LONGEST) {
		return false;
	}
	if (l->names[at]) {
		strbuf_puts(&l->out, l->names[at]);
		ok = true;
	} else if (strcmp(key, "tir.Var") == 0) {
		ok = load_size(l, node);
	} else if (strcmp(key, "IntImm") == 0) {
		ok = text_int(attr(node, "value"), &v);
		strbuf_printf(&l->out, "%lld", ok ? (long long)v : 0);
	} else if (strcmp(key, "FloatImm") == 0) {
		ok = text_float(attr(node, "value"), &f);
		strbuf_printf(&l->out, "%.17g", ok ? f : 0);
	}
	for (int i = 0; !ok && i < N_OPERATORS; i++) {
		if (strcmp(key, operators[i].type_key) != 0) {
			continue;
		}
		strbuf_putc(&l->out, '(');
		ok = load_expr(l, place_of(node, "a"));
		strbuf_puts(&l->out, operators[i].op);
		ok = ok && load_expr(l, place_of(node, "b"));
		strbuf_putc(&l->out, ')');
		break;
	}
	l->depth--;
	return ok;
}

static bool
load_map(struct loader *l, const cJSON *map)
{
	const cJSON *vars = array_at(l, map, "initial_indices");
	const cJSON *exprs = array_at(l, map, "final_indices"), *v;
	int i = 0;

	if (strcmp(type_key(map), "tir.IndexMap") != 0 || !vars || !exprs) {
		return false;
	}
	strbuf_puts(&l->out, "lambda");
	cJSON_ArrayForEach(v, vars)
	{
		if (!cJSON_IsNumber(v) || !node_at(l, v->valueint)) {
			return false;
		}
		if (l->out.len > LONGEST) {
			return false;
		}
		l->names[v->valueint] = arena_printf(&l->m->arena, "i%d", i);
		strbuf_printf(&l->out, "%s i%d", i ? "," : "", i);
		i++;
	}
	strbuf_puts(&l->out, ": (");
	cJSON_ArrayForEach(v, exprs)
	{
		if (!cJSON_IsNumber(v) || !load_expr(l, v->valueint)) {
			return false;
		}
		strbuf_puts(&l->out, ", ");
	}
	strbuf_puts(&l->out, ")");
	return true;
}

const char *
index_map_load(struct module *m, const char *text)
{
	cJSON *root = json_parse_quietly(text, NULL);
	const cJSON *at = cJSON_GetObjectItemCaseSensitive(root, "root");
	const cJSON *list = cJSON_GetObjectItemCaseSensitive(root, "nodes");
	const cJSON *node;
	struct loader l = { .m = m };
	const char *lambda = NULL;

	l.n = cJSON_GetArraySize(list);
	l.names = arena_array(&m->arena, const char *, l.n + 1);
	l.nodes = arena_array(&m->arena, const cJSON *, l.n + 1);
	l.n = 0;
	cJSON_ArrayForEach(node, list)
	{
		l.nodes[l.n++] = node;
	}
	strbuf_init(&l.out);
	if (cJSON_IsNumber(at) && load_map(&l, node_at(&l, at->valueint))) {
		lambda = arena_strndup(&m->arena, l.out.data, l.out.len);
	}
	strbuf_release(&l.out);
	cJSON_Delete(root);
	return lambda;
}
