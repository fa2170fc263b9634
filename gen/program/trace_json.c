/* SPDX-License-Identifier: Apache-2.0 */
/* Writes and reads traces as JSON. The reader converts each instruction to a
 * line in the form of Python, which trace_python.c then reads:
 *
 *   ["Split", ["l1", "None", 4], [1, 0], ["l2", "l3"]]
 *     ->  l2, l3, = sch.split(loop=l1, factors=[None, 4], …) */
#include "trace_json.h"
#include "trace_python.h"

#include <math.h>
#include <stdlib.h>

#include "json_put.h"
#include "json_read.h"
#include "text.h"
#include "trace_map.h"

/* -- writing */

struct writer {
	const struct sched *s;
	const struct trace_names *names;
	struct strbuf *out;
};

static void
put_float(struct strbuf *out, double v)
{
	cJSON *number = cJSON_CreateNumber(v);
	char *text = number ? cJSON_PrintUnformatted(number) : NULL;

	strbuf_puts(out, text ? text : "0");
	cJSON_free(text);
	cJSON_Delete(number);
}

static void
put_expr(struct writer *w, const struct expr *e)
{
	struct strbuf text;

	strbuf_init(&text);
	expr_print(trace_expr(w->s, w->names, e), &text);
	json_put_text(w->out, text.data);
	strbuf_release(&text);
}

/* Writes an index map in the form in which TVM saves it. That form has no place
 * for sampled values; a map that contains such values is written as the text of
 * a lambda. */
static void
put_map(struct writer *w, const struct index_map *map)
{
	const struct index_map *named = trace_map(w->s, w->names, map);
	struct strbuf text;

	strbuf_init(&text);
	if (named != map) {
		index_map_print(w->s->module, named, &text);
	} else {
		index_map_save(w->s->module, map, &text);
	}
	json_put_text(w->out, text.data);
	strbuf_release(&text);
}

/* Writes a value. If `input` is set, the value is in the list of inputs, where
 * handles of blocks and loops are strings; a value that is a string is then
 * written with a second pair of quotes. */
static void
put_value(struct writer *w, const struct sched_value *v, bool input)
{
	const char *name;

	switch (v->kind) {
	case SV_NONE:
		strbuf_puts(w->out, input ? "\"None\"" : "null");
		break;
	case SV_BLOCK:
	case SV_LOOP:
		name = trace_handle(w->names, v->u.id);
		json_put_text(w->out, name ? name : "unknown");
		break;
	case SV_BOOL:
		if (input) { /* 0 or 1 would be read back as an integer */
			strbuf_puts(w->out, v->u.ival ? "true" : "false");
			break;
		}
		/* fall through */
	case SV_INT:
		strbuf_printf(w->out, "%lld", (long long)v->u.ival);
		break;
	case SV_FLOAT:
		if (input && v->u.fval == trunc(v->u.fval)) {
			/* without quotes and a point, the number would be read
			 * back as an integer */
			strbuf_printf(w->out, "\"%.1f\"", v->u.fval);
		} else {
			put_float(w->out, v->u.fval);
		}
		break;
	case SV_STRING:
		strbuf_puts(w->out, input ? "\"\\\"" : "\"");
		json_put_escaped(w->out, v->u.text);
		strbuf_puts(w->out, input ? "\\\"\"" : "\"");
		break;
	case SV_EXPR:
		put_expr(w, v->u.expr);
		break;
	case SV_MAP:
		put_map(w, v->u.map);
		break;
	case SV_LIST:
		strbuf_putc(w->out, '[');
		for (int i = 0; i < v->n; i++) {
			strbuf_puts(w->out, i ? ", " : "");
			put_value(w, &v->items[i], input);
		}
		strbuf_putc(w->out, ']');
		break;
	}
}

static void
put_params(struct writer *w, const struct sched_step *step, bool inputs)
{
	const char *comma = "";

	strbuf_putc(w->out, '[');
	for (int i = 0; i < step->primitive->n_params; i++) {
		const struct sched_param *p = &step->primitive->params[i];
		const struct sched_value *v = &step->args[i];

		if (p->is_input != inputs || p->role == PARAM_DECISION) {
			continue;
		}
		if (p->role == PARAM_STAR || p->role == PARAM_FACTORS) {
			for (int k = 0; k < v->n; k++) {
				strbuf_puts(w->out, comma);
				put_value(w, &v->items[k], true);
				comma = ", ";
			}
			continue;
		}
		strbuf_puts(w->out, comma);
		comma = ", ";
		if (p->role == PARAM_BUFFER) {
			strbuf_printf(w->out, "%lld, %d",
				      (long long)v->items[1].u.ival,
				      strcmp(v->items[0].u.text, "write") == 0);
		} else if (p->is_list && v->kind == SV_NONE) {
			strbuf_puts(w->out, "[]");
		} else {
			put_value(w, v, inputs);
		}
	}
	strbuf_putc(w->out, ']');
}

static void
put_step(struct writer *w, int i, enum script_version version)
{
	const struct sched_step *step = &w->s->trace.data[i];
	const char *kind = step->primitive->kind;
	int first = w->names->first_result.data[i];

	if (version == SCRIPT_CURRENT && strcmp(kind, "GetBlock") == 0) {
		kind = "GetSBlock";
	}
	strbuf_printf(w->out, "[\"%s\", ", kind);
	put_params(w, step, true);
	strbuf_puts(w->out, ", ");
	put_params(w, step, false);
	strbuf_puts(w->out, ", [");
	for (int k = 0; k < trace_n_results(step); k++) {
		strbuf_printf(w->out, "%s\"%s\"", k ? ", " : "",
			      w->names->of_result.data[first + k]);
	}
	strbuf_puts(w->out, "]]");
}

static void
put_decisions(struct writer *w, const bool *keep)
{
	const char *comma = "";
	int at = 0;

	for (int i = 0; i < w->s->trace.n; i++) {
		const struct sched_step *step = &w->s->trace.data[i];

		for (int k = 0; keep[i] && k < step->primitive->n_params; k++) {
			if (step->primitive->params[k].role != PARAM_DECISION) {
				continue;
			}
			strbuf_printf(w->out, "%s[%d, ", comma, at);
			put_value(w, &step->args[k], false);
			strbuf_putc(w->out, ']');
			comma = ", ";
		}
		at += keep[i];
	}
}

void
trace_json_write(const struct sched *s, enum script_version version,
		 struct strbuf *out)
{
	bool *keep = arena_array(&s->module->arena, bool, s->trace.n + 1);
	struct trace_names names;
	struct writer w = { s, &names, out };
	const char *comma = "\n";

	trace_live(s, keep);
	trace_name_all(s, keep, &names);
	strbuf_puts(out, "[[");
	for (int i = 0; i < s->trace.n; i++) {
		if (keep[i]) {
			strbuf_puts(out, comma);
			put_step(&w, i, version);
			comma = ",\n";
		}
	}
	strbuf_puts(out, "\n], [");
	put_decisions(&w, keep);
	strbuf_puts(out, "]]\n");
}

/* -- reading */

struct converter {
	struct module *m;
	const struct source *src;
	/* the index of the current instruction in the trace, for messages */
	int at;
	int n; /* the number of instructions */
	/* for each instruction: its decision, or NULL */
	const cJSON **decision;
	struct strbuf out;
};

static bool
refuse(struct converter *c, const char *what)
{
	struct diag_place place = {
		.file = c->src->name,
		.item = arena_printf(&c->m->arena, "instruction %d", c->at),
	};

	return diag_error(&c->m->diags, DIAG_BAD_PROGRAM, place, "%s", what);
}

static void
quote(struct converter *c, const char *text, size_t n)
{
	strbuf_putc(&c->out, '"');
	for (size_t i = 0; i < n; i++) {
		if (text[i] == '"' || text[i] == '\\') {
			strbuf_putc(&c->out, '\\');
		}
		if ((unsigned char)text[i] < ' ') {
			strbuf_printf(&c->out, "\\x%02x",
				      (unsigned)(unsigned char)text[i]);
		} else {
			strbuf_putc(&c->out, text[i]);
		}
	}
	strbuf_putc(&c->out, '"');
}

static bool
convert_text(struct converter *c, const char *text, bool input, bool map)
{
	size_t n = strlen(text);
	const char *lambda;

	if (map && n > 1 && text[0] == '{') {
		lambda = index_map_load(c->m, text);
		if (!lambda) {
			return refuse(c, "this is not a saved index map; write "
					 "a lambda");
		}
		strbuf_puts(&c->out, lambda);
		return true;
	}
	if (strchr(text, '\n')) {
		return refuse(c, "a text contains a newline; write one line");
	}
	if (map && strncmp(text, "lambda", 6) == 0) {
		strbuf_puts(&c->out, text);
		return true;
	}
	if (!input) {
		quote(c, text, n);
	} else if (n >= 2 && text[0] == '"' && text[n - 1] == '"') {
		quote(c, text + 1, n - 2);
	} else {
		/* the text is a handle, None, or an expression such as v2 * 4 */
		strbuf_puts(&c->out, text);
	}
	return true;
}

/* Ends a list of arguments or elements: writes `end` in place of the comma
 * after the last one. */
static void
end_list(struct converter *c, const char *end)
{
	if (c->out.len >= 2 && c->out.data[c->out.len - 2] == ',') {
		c->out.len -= 2;
	}
	strbuf_puts(&c->out, end);
}

static bool
convert(struct converter *c, const cJSON *v, bool input, bool map)
{
	const cJSON *item;

	if (cJSON_IsString(v)) {
		return convert_text(c, v->valuestring, input, map);
	}
	if (cJSON_IsNull(v)) {
		strbuf_puts(&c->out, "None");
		return true;
	}
	if (cJSON_IsBool(v)) {
		strbuf_puts(&c->out, cJSON_IsTrue(v) ? "True" : "False");
		return true;
	}
	if (cJSON_IsNumber(v)) {
		char *text = cJSON_PrintUnformatted(v);

		strbuf_puts(&c->out, text ? text : "0");
		cJSON_free(text);
		return true;
	}
	if (!cJSON_IsArray(v)) {
		return refuse(c, "a JSON object is not allowed here; give "
				 "numbers, texts and lists");
	}
	strbuf_putc(&c->out, '[');
	cJSON_ArrayForEach(item, v)
	{
		if (!convert(c, item, input, map)) {
			return false;
		}
		strbuf_puts(&c->out, ", ");
	}
	end_list(c, "]");
	return true;
}

/* Converts the value at *next to the text of the argument for parameter p, and
 * moves *next behind it; a parameter that takes several values gets all values
 * that are left. Returns false after an error. */
static bool
convert_param(struct converter *c, const struct sched_param *p,
	      const cJSON **next)
{
	bool map = p->accepts & 1u << SV_MAP;

	if (p->role == PARAM_STAR || p->role == PARAM_FACTORS) {
		if (p->role == PARAM_STAR) {
			strbuf_puts(&c->out, "*[");
		} else {
			strbuf_printf(&c->out, "%s=[", p->name);
		}
		while (*next) {
			if (!convert(c, *next, true, false)) {
				return false;
			}
			strbuf_puts(&c->out, ", ");
			*next = (*next)->next;
		}
		end_list(c, "], ");
		return true;
	}
	if (p->role == PARAM_BUFFER) {
		const cJSON *which = *next ? (*next)->next : NULL;

		if (!cJSON_IsNumber(*next) || !cJSON_IsNumber(which)) {
			return refuse(c, "a buffer is a number and 0 (read) "
					 "or 1 (write)");
		}
		strbuf_printf(&c->out, "%s=(\"%s\", %d), ", p->name,
			      which->valueint ? "write" : "read",
			      (*next)->valueint);
		*next = which->next;
		return true;
	}
	strbuf_printf(&c->out, "%s=", p->name);
	if (p->is_list && cJSON_IsArray(*next) &&
	    cJSON_GetArraySize(*next) == 0 && p->optional) {
		strbuf_puts(&c->out, "None");
	} else if (!convert(c, *next, p->is_input, map)) {
		return false;
	}
	strbuf_puts(&c->out, ", ");
	*next = (*next)->next;
	return true;
}

static bool
convert_args(struct converter *c, const struct primitive *p,
	     const cJSON *inputs, const cJSON *attrs, const cJSON *decision)
{
	const cJSON *input = inputs->child, *attr = attrs->child;
	bool ok = true;

	for (int i = 0; ok && i < p->n_params; i++) {
		const struct sched_param *param = &p->params[i];
		const cJSON **next = param->is_input ? &input : &attr;

		/* Older releases of TVM write index maps as attributes, which
		 * are inputs now. */
		if (!input && param->is_input &&
		    param->accepts & 1u << SV_MAP) {
			next = &attr;
		}

		if (param->role == PARAM_DECISION) {
			if (decision) {
				strbuf_puts(&c->out, "decision=");
				ok = convert(c, decision, false, false);
			}
			continue;
		}
		if (!*next && param->role != PARAM_STAR &&
		    param->role != PARAM_FACTORS) {
			ok = param->optional ||
			     refuse(c,
				    arena_printf(&c->m->arena, "%s is missing",
						 param->name));
			continue;
		}
		ok = convert_param(c, param, next);
	}
	return ok && ((!input && !attr) ||
		      refuse(c, "there are more inputs or attributes than "
				"the instruction takes"));
}

static const struct primitive *
find_kind(struct converter *c, const char *kind)
{
	int n;
	const struct primitive *list = sched_primitives(&n);
	const char **kinds, *nearest;

	if (strcmp(kind, "GetSBlock") == 0) {
		kind = "GetBlock";
	}
	for (int i = 0; i < n; i++) {
		if (strcmp(list[i].kind, kind) == 0) {
			return &list[i];
		}
	}
	kinds = arena_array(&c->m->arena, const char *, n + 1);
	for (int i = 0; i < n; i++) {
		kinds[i] = list[i].kind;
	}
	nearest = text_nearest(kind, kinds, n);
	refuse(c,
	       nearest ? arena_printf(&c->m->arena,
				      "there is no kind %s; "
				      "did you mean %s?",
				      kind, nearest)
		       : arena_printf(&c->m->arena,
				      "there is no kind %s; "
				      "docs/reference/schedules.md lists them",
				      kind));
	return NULL;
}

/* Sets c->decision[i] to the decision of instruction i. If an instruction has
 * several decisions, the first one counts. */
static void
note_decisions(struct converter *c, const cJSON *decisions)
{
	const cJSON *d;

	c->decision = arena_array(&c->m->arena, const cJSON *, c->n + 1);
	cJSON_ArrayForEach(d, decisions)
	{
		const cJSON *at = cJSON_IsArray(d) ? d->child : NULL;
		const cJSON *decision = at ? at->next : NULL;

		if (decision && !decision->next && cJSON_IsNumber(at) &&
		    at->valueint >= 0 && at->valueint < c->n &&
		    !c->decision[at->valueint]) {
			c->decision[at->valueint] = decision;
		}
	}
}

static bool
convert_instruction(struct converter *c, const cJSON *v)
{
	const cJSON *kind = cJSON_GetArrayItem(v, 0);
	const cJSON *inputs = cJSON_GetArrayItem(v, 1);
	const cJSON *attrs = cJSON_GetArrayItem(v, 2);
	const cJSON *results = cJSON_GetArrayItem(v, 3), *r;
	const struct primitive *p;

	if (cJSON_GetArraySize(v) != 4 || !cJSON_IsString(kind) ||
	    !cJSON_IsArray(inputs) || !cJSON_IsArray(attrs) ||
	    !cJSON_IsArray(results)) {
		return refuse(c, "an instruction is [kind, inputs, "
				 "attributes, results]");
	}
	p = find_kind(c, kind->valuestring);
	if (!p) {
		return false;
	}
	cJSON_ArrayForEach(r, results)
	{
		if (!cJSON_IsString(r) ||
		    !text_is_identifier(r->valuestring, "")) {
			return refuse(c, "a result is a name; use letters "
					 "and digits");
		}
		strbuf_printf(&c->out, "%s, ", r->valuestring);
	}
	if (cJSON_GetArraySize(results) == 1 && !p->gives_list) {
		/* removes the comma, which would make the only target a list of
		 * targets */
		c->out.len -= 2;
		strbuf_puts(&c->out, " ");
	}
	strbuf_printf(&c->out, "%ssch.%s(", results->child ? "= " : "",
		      p->name);
	if (!convert_args(c, p, inputs, attrs, c->decision[c->at])) {
		return false;
	}
	end_list(c, ")\n");
	return true;
}

/* -- the text that was made */

/* The limit of the converted text relative to the JSON text. A saved index map
 * may name a part several times, so that the map's text is longer than its
 * JSON. */
enum { LONGER_TIMES = 16, LONGER_BYTES = 65536 };

static bool
is_short_enough(struct converter *c)
{
	return c->out.len / LONGER_TIMES <= c->src->length + LONGER_BYTES ||
	       refuse(c, "the text of the instructions so far is too long; "
			 "use simpler index maps");
}

static bool
is_member_of(const struct py_node *n, const char *name)
{
	return n->kind == PY_ATTRIBUTE && n->kids[0]->kind == PY_NAME &&
	       strcmp(n->kids[0]->text, name) == 0;
}

/* Does the tree consist only of literals, names, operators, lambdas, and calls
 * of functions of TVMScript's namespace T? */
static bool
is_plain(const struct py_node *n)
{
	int first = 0;

	switch (n->kind) {
	case PY_CALL:
		if (!is_member_of(n->kids[0], "T")) {
			return false;
		}
		first = 1;
		break;
	case PY_NAME:
	case PY_INT:
	case PY_FLOAT:
	case PY_STRING:
	case PY_TRUE:
	case PY_FALSE:
	case PY_NONE:
	case PY_TUPLE:
	case PY_LIST:
	case PY_KEYWORD:
	case PY_STAR:
	case PY_UNARY:
	case PY_BINARY:
	case PY_COMPARE:
	case PY_IFELSE:
		break;
	case PY_LAMBDA:
		for (int i = 0; i < n->n_params; i++) {
			if (n->params[i].initial != NULL) {
				return false;
			}
		}
		break;
	default:
		return false;
	}
	for (int i = first; i < n->n_kids; i++) {
		if (!is_plain(n->kids[i])) {
			return false;
		}
	}
	return true;
}

/* Is the statement a single call of a method of `sch`, perhaps with names for
 * its results? */
static bool
is_instruction(const struct py_node *n)
{
	const struct py_node *call;

	if (n->kind != PY_EXPRESSION && n->kind != PY_ASSIGN) {
		return false;
	}
	call = n->kids[n->n_kids - 1];
	if (call->kind != PY_CALL || !is_member_of(call->kids[0], "sch")) {
		return false;
	}
	for (int i = 1; i < call->n_kids; i++) {
		if (!is_plain(call->kids[i])) {
			return false;
		}
	}
	return true;
}

/* Texts from the JSON become parts of lines. Checks that no text has added
 * anything else: each line is still a single call with plain arguments. */
static bool
check_lines(struct converter *c)
{
	const struct source lines = { .name = c->src->name,
				      .text = c->out.data,
				      .length = c->out.len };
	const struct py_node *tree = py_parse(c->m, &lines);

	for (c->at = 0; tree != NULL && c->at < tree->n_kids; c->at++) {
		const struct py_node *line = tree->kids[c->at];

		if (c->at >= c->n || line->span.line != c->at + 1 ||
		    !is_instruction(line)) {
			return refuse(c, "a text is not an expression of "
					 "names, numbers and operators; write "
					 "one");
		}
	}
	return tree != NULL;
}

/* Converts all instructions to lines of c->out. Returns false after a
 * diagnostic. */
static bool
convert_trace(struct converter *c, const struct source *src)
{
	const char *text = arena_strndup(&c->m->arena, src->text, src->length);
	cJSON *root = json_parse(c->m, src->name, text);
	const cJSON *list = cJSON_GetArrayItem(root, 0), *v;
	const cJSON *decisions = cJSON_GetArrayItem(root, 1);
	bool ok = root != NULL;

	if (ok && (cJSON_GetArraySize(root) != 2 || !cJSON_IsArray(list) ||
		   !cJSON_IsArray(decisions))) {
		ok = refuse(c, "a trace is [instructions, decisions]");
	}
	strbuf_init(&c->out);
	strbuf_puts(&c->out, "");
	c->n = cJSON_GetArraySize(list);
	note_decisions(c, decisions);
	cJSON_ArrayForEach(v, list)
	{
		ok = ok && convert_instruction(c, v) && is_short_enough(c);
		c->at++;
	}
	cJSON_Delete(root);
	return ok && check_lines(c);
}

bool
trace_json_read(struct sched *s, const struct source *src)
{
	struct converter c = { .m = s->module, .src = src };
	bool ok = convert_trace(&c, src);

	if (ok) {
		/* each line of this text stands for one instruction of the
		 * trace */
		struct source *lines = arena_new(&s->module->arena,
						 struct source);

		lines->name = arena_printf(&s->module->arena, "%s, as Python",
					   src->name);
		lines->text = arena_strndup(&s->module->arena, c.out.data,
					    c.out.len);
		lines->length = c.out.len;
		ok = trace_read_loosely(s, lines);
	}
	strbuf_release(&c.out);
	return ok;
}

bool
trace_json_python(struct module *m, const struct source *src,
		  struct strbuf *out)
{
	struct converter c = { .m = m, .src = src };
	bool ok = convert_trace(&c, src);

	if (ok) {
		strbuf_write(out, c.out.data, c.out.len);
	}
	strbuf_release(&c.out);
	return ok;
}
