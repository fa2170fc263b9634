/* SPDX-License-Identifier: Apache-2.0 */
/* Writes a trace as text, one step on each line. */
#include "trace.h"

static bool
sched_value_equal(const struct sched_value *a, const struct sched_value *b)
{
	if (a->kind != b->kind || a->n != b->n) {
		return false;
	}
	for (int i = 0; i < a->n; i++) {
		if (!sched_value_equal(&a->items[i], &b->items[i])) {
			return false;
		}
	}
	switch (a->kind) {
	case SV_NONE:
	case SV_LIST:
		return true;
	case SV_BLOCK:
	case SV_LOOP:
		return a->u.id == b->u.id;
	case SV_INT:
	case SV_BOOL:
		return a->u.ival == b->u.ival;
	case SV_FLOAT:
		return memcmp(&a->u.fval, &b->u.fval, sizeof a->u.fval) == 0;
	case SV_STRING:
		return strcmp(a->u.text, b->u.text) == 0;
	case SV_EXPR:
		return a->u.expr == b->u.expr;
	case SV_MAP:
		return a->u.map == b->u.map;
	}
	return false;
}

void
index_map_print(struct module *m, const struct index_map *map,
		struct strbuf *out)
{
	const struct expr **names = arena_exprs(&m->arena, map->n_logical + 1);
	struct var_map to = { map->logical, names, map->n_logical };

	strbuf_puts(out, "lambda");
	for (int i = 0; i < map->n_logical; i++) {
		names[i] = var_new(m, arena_printf(&m->arena, "i%d", i),
				   map->logical[i]->type)
				   ->expr;
		strbuf_printf(out, "%s i%d", i ? "," : "", i);
	}
	strbuf_puts(out, ": (");
	for (int i = 0; i < map->n_physical; i++) {
		strbuf_puts(out, i ? ", " : "");
		expr_print(expr_substitute(m, map->to_physical[i], &to), out);
	}
	strbuf_puts(out, map->n_physical == 1 ? ",)" : ")");
}

static void
put_handle(const struct func *f, int id, struct strbuf *out)
{
	const struct stmt *s = id > 0 ? func_find(f, id) : NULL;

	strbuf_puts(out, s && s->kind == STMT_BLOCK ? s->u.block->name
			 : s && s->kind == STMT_FOR ? s->u.loop.var->name
						    : "?");
}

static void
put_value(const struct func *f, const struct sched_value *v, struct strbuf *out)
{
	switch (v->kind) {
	case SV_NONE:
		strbuf_puts(out, "None");
		break;
	case SV_BLOCK:
	case SV_LOOP:
		put_handle(f, v->u.id, out);
		break;
	case SV_INT:
		strbuf_printf(out, "%lld", (long long)v->u.ival);
		break;
	case SV_BOOL:
		strbuf_puts(out, v->u.ival ? "True" : "False");
		break;
	case SV_FLOAT:
		strbuf_printf(out, "%g", v->u.fval);
		break;
	case SV_STRING:
		strbuf_printf(out, "\"%s\"", v->u.text);
		break;
	case SV_EXPR:
		expr_print(v->u.expr, out);
		break;
	case SV_MAP:
		index_map_print(f->module, v->u.map, out);
		break;
	case SV_LIST:
		strbuf_putc(out, '[');
		for (int i = 0; i < v->n; i++) {
			strbuf_puts(out, i ? ", " : "");
			put_value(f, &v->items[i], out);
		}
		strbuf_putc(out, ']');
		break;
	}
}

const char *
trace_step_text(const struct func *f, const struct primitive *p,
		const struct sched_value *args)
{
	struct strbuf out;
	const char *text, *comma = "";

	strbuf_init(&out);
	strbuf_printf(&out, "%s(", p->name);
	for (int i = 0; i < p->n_params; i++) {
		const struct sched_param *param = &p->params[i];
		bool star = param->role == PARAM_STAR;

		if (param->optional &&
		    sched_value_equal(&args[i], &param->initial)) {
			continue;
		}
		for (int k = 0; k < (star ? args[i].n : 1); k++) {
			strbuf_puts(&out, comma);
			put_value(f, star ? &args[i].items[k] : &args[i], &out);
			comma = ", ";
		}
	}
	strbuf_putc(&out, ')');
	text = arena_strndup(&f->module->arena, out.data, out.len);
	strbuf_release(&out);
	return text;
}

void
sched_print_trace(const struct sched *s, struct strbuf *out)
{
	for (int i = 0; i < s->trace.n; i++) {
		if (!s->trace.data[i].primitive->is_query) {
			strbuf_printf(out, "%s\n", s->trace.data[i].text);
		}
	}
}
