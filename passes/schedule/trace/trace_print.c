/* SPDX-License-Identifier: Apache-2.0 */
/* Prints a trace as Python statements, in the form of TVM's trace.show(). */
#include <stdio.h>
#include <stdlib.h>

#include "trace.h"

struct printer {
	const struct sched *s;
	const struct trace_names *names;
	struct strbuf *out;
};

static void
put_string(struct strbuf *out, const char *text)
{
	strbuf_putc(out, '"');
	for (const char *c = text; *c; c++) {
		if (*c == '"' || *c == '\\') {
			strbuf_putc(out, '\\');
		}
		if (*c == '\n') {
			strbuf_puts(out, "\\n");
		} else {
			strbuf_putc(out, *c);
		}
	}
	strbuf_putc(out, '"');
}

/* Prints the shortest decimal number that is read back as v. */
static void
put_float(struct strbuf *out, double v)
{
	char text[40];
	int digits = 1;

	do {
		snprintf(text, sizeof text, "%.*g", digits, v);
	} while (strtod(text, NULL) != v && ++digits <= 17);
	strbuf_puts(out, text);
	if (!strpbrk(text, ".ein")) {
		strbuf_puts(out, ".0");
	}
}

static void
put_value(struct printer *p, const struct sched_value *v, bool tuple)
{
	const char *name;

	switch (v->kind) {
	case SV_NONE:
		strbuf_puts(p->out, "None");
		break;
	case SV_BLOCK:
	case SV_LOOP:
		name = trace_handle(p->names, v->u.id);
		strbuf_puts(p->out, name ? name : "unknown");
		break;
	case SV_INT:
		strbuf_printf(p->out, "%lld", (long long)v->u.ival);
		break;
	case SV_BOOL:
		strbuf_puts(p->out, v->u.ival ? "True" : "False");
		break;
	case SV_FLOAT:
		put_float(p->out, v->u.fval);
		break;
	case SV_STRING:
		put_string(p->out, v->u.text);
		break;
	case SV_EXPR:
		expr_print(trace_expr(p->s, p->names, v->u.expr), p->out);
		break;
	case SV_MAP:
		index_map_print(p->s->module,
				trace_map(p->s, p->names, v->u.map), p->out);
		break;
	case SV_LIST:
		strbuf_putc(p->out, tuple ? '(' : '[');
		for (int i = 0; i < v->n; i++) {
			strbuf_puts(p->out, i ? ", " : "");
			put_value(p, &v->items[i], false);
		}
		strbuf_putc(p->out, tuple ? ')' : ']');
		break;
	}
}

static void
put_args(struct printer *p, const struct sched_step *step)
{
	const char *comma = "";

	for (int i = 0; i < step->primitive->n_params; i++) {
		const struct sched_param *param = &step->primitive->params[i];
		const struct sched_value *v = &step->args[i];

		if (param->optional && param->initial.kind == SV_NONE &&
		    v->kind == SV_NONE) {
			continue;
		}
		if (param->role == PARAM_STAR) {
			for (int k = 0; k < v->n; k++) {
				strbuf_puts(p->out, comma);
				put_value(p, &v->items[k], false);
				comma = ", ";
			}
			continue;
		}
		strbuf_printf(p->out, "%s%s=", comma, param->name);
		put_value(p, v, param->role == PARAM_BUFFER);
		comma = ", ";
	}
}

static void
put_step(struct printer *p, int i, enum script_version version)
{
	const struct sched_step *step = &p->s->trace.data[i];
	int n = trace_n_results(step), first = p->names->first_result.data[i];
	const char *name = step->primitive->name;

	for (int k = 0; k < n; k++) {
		strbuf_printf(p->out, "%s%s", k ? ", " : "",
			      p->names->of_result.data[first + k]);
	}
	if (n > 0) {
		strbuf_puts(p->out, step->result.kind == SV_LIST && n == 1
					    ? ", = "
					    : " = ");
	}
	if (version == SCRIPT_CURRENT && strcmp(name, "get_block") == 0) {
		name = "get_sblock";
	}
	strbuf_printf(p->out, "sch.%s(", name);
	put_args(p, step);
	strbuf_puts(p->out, ")\n");
}

void
trace_print_python(const struct sched *s, enum script_version version,
		   struct strbuf *out)
{
	bool *keep = arena_array(&s->module->arena, bool, s->trace.n + 1);
	struct trace_names names;
	struct printer p = { s, &names, out };
	bool any = false;

	trace_live(s, keep);
	trace_name_all(s, keep, &names);
	strbuf_puts(out, "def apply_schedule(sch):\n");
	for (int i = 0; i < s->trace.n; i++) {
		if (keep[i]) {
			strbuf_puts(out, "    ");
			put_step(&p, i, version);
			any = true;
		}
	}
	if (!any) {
		strbuf_puts(out, "    pass\n");
	}
}
