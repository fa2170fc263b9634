/* SPDX-License-Identifier: Apache-2.0 */
/* Functions as TVMScript, in the current or the old spelling:
 *
 * 	@T.prim_func
 * 	def main(A: T.Buffer((8,), "float32"), B: T.Buffer((8,), "float32")):
 * 	    # with T.sblock("root"):
 * 	    for i0 in range(8):
 * 	        with T.sblock("B"):
 * 	            i0_1 = T.axis.spatial(8, i0)
 * 	            T.reads(A[i0_1])
 * 	            T.writes(B[i0_1])
 * 	            B[i0_1] = A[i0_1] + T.float32(1)
 */
#include "iterate.h"
#include "print.h"
#include "python.h"

/* Can the buffer be written in the signature? Only a dense global buffer of
 * constant shape and default alignment can; for any other buffer, the signature
 * has a handle that the body matches. */
static bool
fits_signature(const struct buffer *b)
{
	for (int i = 0; i < b->ndim; i++) {
		if (b->shape[i]->kind != EXPR_INT) {
			return false;
		}
	}
	return !b->strides && b->align_bytes == 0 &&
	       strcmp(b->scope, "global") == 0;
}

static void
print_signature_buffer(struct printer *p, const struct buffer *b)
{
	bool old = p->version == SCRIPT_OLD;

	strbuf_printf(p->out, "%s: T.Buffer%c", print_define_buffer(p, b),
		      old ? '[' : '(');
	if (old && b->ndim == 1) {
		print_exprs(p, b->shape, 1);
	} else {
		strbuf_putc(p->out, '(');
		print_exprs(p, b->shape, b->ndim);
		strbuf_puts(p->out, b->ndim == 1 ? ",)" : ")");
	}
	strbuf_puts(p->out, ", \"");
	print_type(p, b->type);
	strbuf_puts(p->out, old ? "\"]" : "\")");
}

static void
print_param(struct printer *p, const struct param *param, const char **handle)
{
	if (param->buffer && fits_signature(param->buffer)) {
		print_signature_buffer(p, param->buffer);
	} else if (param->buffer) {
		*handle = print_unique(
			p,
			arena_printf(&p->arena, "var_%s",
				     print_identifier(p, param->buffer->name)));
		strbuf_printf(p->out, "%s: T.handle", *handle);
	} else {
		strbuf_printf(p->out, "%s: T.",
			      print_define(p, param->var, param->var->name));
		print_type(p, param->var->type);
	}
}

struct sizes {
	struct printer *printer;
	const struct func *func;
	VEC(const struct var *)
	seen; /* the variables in the order of their
				       * first use */
};

static void
see_size(struct sizes *s, const struct var *v)
{
	vec_add(&s->printer->arena, &s->seen, v);
}

static void
see_sizes(struct sizes *s, const struct expr *e)
{
	for (struct expr_iter it = expr_each_of(e, EXPR_VAR);
	     (e = expr_next(&it));) {
		see_size(s, e->u.var);
	}
}

/* The sizes of f's parameters: size variables that are parameters, and the
 * variables in the shapes and strides of arrays. */
static struct sizes
find_sizes(struct printer *p, const struct func *f)
{
	struct sizes s = { .printer = p, .func = f };

	for (int i = 0; i < f->params.n; i++) {
		const struct param *param = &f->params.data[i];
		const struct buffer *b = param->buffer;

		if (!b && param->var->is_dim) {
			see_size(&s, param->var);
		}
		for (int d = 0; b && d < b->ndim; d++) {
			see_sizes(&s, b->shape[d]);
			if (b->strides) {
				see_sizes(&s, b->strides[d]);
			}
		}
	}
	return s;
}

static void
print_bounds(struct printer *p, const struct sizes *sizes, const char *key,
	     bool upper, bool *first)
{
	bool any = false;

	for (int i = 0; i < sizes->seen.n; i++) {
		const struct var *v = sizes->seen.data[i];

		if (!v->is_dim || v->min > v->max) {
			continue;
		}
		if (!any) {
			strbuf_printf(p->out, "%s\"%s\": {", *first ? "" : ", ",
				      key);
		}
		strbuf_printf(p->out, "%s\"", any ? ", " : "");
		print_var(p, v);
		strbuf_printf(p->out, "\": %lld",
			      (long long)(upper ? v->max : v->min));
		any = true;
		*first = false;
	}
	strbuf_puts(p->out, any ? "}" : "");
}

static void
print_func_attr(struct printer *p, const struct func *f,
		const struct sizes *sizes)
{
	const struct note *all = func_attributes(f);
	bool bounded = false;
	bool first = true;

	for (int i = 0; i < sizes->seen.n; i++) {
		const struct var *v = sizes->seen.data[i];

		bounded |= v->is_dim && v->min <= v->max;
	}
	if (!all && !bounded) {
		return;
	}
	if (p->version == SCRIPT_OLD) {
		print_line(p, "# function attr dict");
	}
	print_indent(p);
	strbuf_puts(p->out, "T.func_attr({");
	for (const struct note *n = all; n; n = n->next) {
		strbuf_puts(p->out, first ? "" : ", ");
		print_string(p, n->key);
		strbuf_puts(p->out, ": ");
		print_expr(p, n->value, PRINT_LOOSE);
		first = false;
	}
	print_bounds(p, sizes, "tir_var_lower_bound", false, &first);
	print_bounds(p, sizes, "tir_var_upper_bound", true, &first);
	strbuf_puts(p->out, "})\n");
}

static void
print_func(struct printer *p, const struct func *f)
{
	bool old = p->version == SCRIPT_OLD;
	const char **handles = arena_array(&p->arena, const char *,
					   f->params.n + 1);

	print_line(p, "@T.prim_func");
	print_indent(p);
	strbuf_printf(p->out, "def %s%s(", f->name,
		      py_is_keyword(f->name, strlen(f->name)) ? "_" : "");
	for (int i = 0; i < f->params.n; i++) {
		if (!f->params.data[i].implied) {
			strbuf_puts(p->out, i ? ", " : "");
			print_param(p, &f->params.data[i], &handles[i]);
		}
	}
	strbuf_putc(p->out, ')');
	if (f->ret.kind != DT_VOID) {
		strbuf_puts(p->out, " -> T.");
		print_type(p, f->ret);
	} else if (old) {
		strbuf_puts(p->out, " -> None");
	}
	strbuf_puts(p->out, ":\n");
	p->indent++;

	struct sizes sizes = find_sizes(p, f);

	for (int i = 0; i < sizes.seen.n; i++) {
		const struct var *v = sizes.seen.data[i];

		if (func_has_var(f, v) && !func_implies(f, v)) {
			continue;
		}
		print_indent(p);
		strbuf_printf(p->out, old ? "%s = T.var(\"" : "%s = T.",
			      print_define(p, v, v->name));
		print_type(p, v->type);
		strbuf_puts(p->out, old ? "\")\n" : "()\n");
	}
	print_func_attr(p, f, &sizes);
	for (int i = 0; i < f->params.n; i++) {
		const struct buffer *b = f->params.data[i].buffer;

		if (!handles[i]) {
			continue;
		}
		print_indent(p);
		strbuf_printf(p->out, "%s = T.match_buffer(%s, ",
			      print_define_buffer(p, b), handles[i]);
		print_buffer_facts(p, b);
		strbuf_puts(p->out, ")\n");
	}
	if (old) {
		print_line(p, "# body");
	}
	if (f->body) {
		print_stmt(p, f->body, true);
	} else {
		print_line(p, "pass");
	}
	p->indent--;
}

void
func_print(const struct func *f, enum script_version version,
	   struct strbuf *out)
{
	struct printer p;

	printer_init(&p, version, out);
	strbuf_puts(out, "# from tvm.script import tir as T\n");
	print_func(&p, f);
	printer_release(&p);
}

void
module_print(const struct module *m, enum script_version version,
	     struct strbuf *out)
{
	struct printer p;

	if (version == SCRIPT_OLD) {
		strbuf_puts(out, "# from tvm.script import tir as T\n"
				 "@tvm.script.ir_module\nclass Module:\n");
	} else {
		strbuf_puts(out, "# from tvm.script import ir as I\n"
				 "# from tvm.script import tir as T\n\n"
				 "@I.ir_module\nclass Module:\n");
	}
	if (m->funcs.n == 0) {
		strbuf_puts(out, "    pass\n");
	}
	for (int i = 0; i < m->funcs.n; i++) {
		strbuf_puts(out, i ? "\n" : "");
		printer_init(&p, version, out);
		p.indent = 1;
		print_func(&p, m->funcs.data[i]);
		printer_release(&p);
	}
}
