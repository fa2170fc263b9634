/* SPDX-License-Identifier: Apache-2.0 */
/* Statements as TVMScript. A let, allocation or attribute that is the last
 * statement of its suite needs no suite of its own for its body:
 *
 *	x: T.int32 = i * 4        with T.LetStmt(i * 4) as x:
 *	A[x] = T.float32(1)           A[x] = T.float32(1)
 *	                          A[0] = T.float32(2)
 *  */
#include "iterate.h"
#include "print.h"

void
print_indent(struct printer *p)
{
	for (int i = 0; i < p->indent; i++) {
		strbuf_puts(p->out, "    ");
	}
}

void
print_line(struct printer *p, const char *text)
{
	print_indent(p);
	strbuf_puts(p->out, text);
	strbuf_putc(p->out, '\n');
}

static void
print_suite(struct printer *p, const struct stmt *s)
{
	p->indent++;
	if (s) {
		print_stmt(p, s, true);
	} else {
		print_line(p, "pass");
	}
	p->indent--;
}

/* Appends a shape, (n, 8) or, in the old spelling, [n, 8]. */
static void
print_shape(struct printer *p, const struct expr *const *shape, int n)
{
	bool old = p->version == SCRIPT_OLD;

	strbuf_putc(p->out, old ? '[' : '(');
	print_exprs(p, shape, n);
	strbuf_puts(p->out, n == 1 && !old ? ",)" : old ? "]" : ")");
}

/* Appends the arguments that describe a buffer: [n, 8], dtype="float32",
 * strides=[...], scope="local", align=64 */
void
print_buffer_facts(struct printer *p, const struct buffer *b)
{
	print_shape(p, b->shape, b->ndim);
	strbuf_puts(p->out, p->version == SCRIPT_OLD ? ", dtype=\"" : ", \"");
	print_type(p, b->type);
	strbuf_putc(p->out, '"');
	if (b->strides) {
		strbuf_puts(p->out, ", strides=");
		print_shape(p, b->strides, b->ndim);
	}
	if (strcmp(b->scope, "global") != 0) {
		strbuf_puts(p->out, ", scope=");
		print_string(p, b->scope);
	}
	if (b->align_bytes > 0) {
		strbuf_printf(p->out, ", align=%d", b->align_bytes);
	}
}

/* ---- loops */

static bool
is_plain_loop(const struct stmt *s)
{
	return s && s->kind == STMT_FOR && s->u.loop.kind == FOR_SERIAL &&
	       !s->notes && expr_is_value(s->args[0], 0);
}

/* The number of loops, from s inwards, that are printed as one T.grid. */
static int
count_grid(const struct stmt *s)
{
	int n = 0;

	for (const struct stmt *at = s; is_plain_loop(at);
	     at = at->children[0]) {
		for (const struct stmt *outer = s; outer != at;
		     outer = outer->children[0]) {
			if (expr_uses_var(at->args[1], outer->u.loop.var)) {
				return n;
			}
		}
		n++;
	}
	return n;
}

static void
print_grid(struct printer *p, const struct stmt *s, int n)
{
	const struct stmt *at = s;

	print_indent(p);
	strbuf_puts(p->out, "for ");
	for (int i = 0; i < n; i++, at = at->children[0]) {
		strbuf_puts(p->out, i ? ", " : "");
		strbuf_puts(p->out, print_define(p, at->u.loop.var,
						 at->u.loop.var->name));
	}
	strbuf_puts(p->out, " in T.grid(");
	at = s;
	for (int i = 0; i < n; i++) {
		strbuf_puts(p->out, i ? ", " : "");
		print_expr(p, at->args[1], PRINT_LOOSE);
		at = at->children[0];
	}
	strbuf_puts(p->out, "):\n");
	print_suite(p, at);
}

static void
print_for(struct printer *p, const struct stmt *s)
{
	static const char *const spelling[] = {
		[FOR_SERIAL] = "T.serial",
		[FOR_PARALLEL] = "T.parallel",
		[FOR_VECTORIZED] = "T.vectorized",
		[FOR_UNROLLED] = "T.unroll",
		[FOR_THREAD] = "T.thread_binding",
	};
	int grid = count_grid(s);

	if (grid > 1) {
		print_grid(p, s, grid);
		return;
	}
	bool python = s->u.loop.kind == FOR_SERIAL && !s->notes &&
		      p->version == SCRIPT_CURRENT;

	print_indent(p);
	/* the text of the loop's domain, which is printed before the variable
	 * is defined, because the domain cannot use the variable */
	struct strbuf domain;
	struct strbuf *out = p->out;

	strbuf_init(&domain);
	p->out = &domain;
	if (!expr_is_value(s->args[0], 0)) {
		print_expr(p, s->args[0], PRINT_LOOSE);
		strbuf_puts(p->out, ", ");
	}
	print_end(p, s->args[0], s->args[1]);
	p->out = out;
	strbuf_printf(p->out, "for %s in %s(%s",
		      print_define(p, s->u.loop.var, s->u.loop.var->name),
		      python ? "range" : spelling[s->u.loop.kind], domain.data);
	strbuf_release(&domain);
	if (s->u.loop.kind == FOR_THREAD) {
		strbuf_puts(p->out, ", thread=");
		print_string(p, s->u.loop.thread);
	}
	if (s->notes) {
		strbuf_puts(p->out, ", annotations=");
		print_notes(p, s->notes);
	}
	strbuf_puts(p->out, "):\n");
	print_suite(p, s->children[0]);
}

/* ---- blocks */

/* Can the reader infer the root block from its content? */
static bool
is_implicit_root(const struct stmt *s)
{
	const struct block *b = s->u.block;

	if (s->parent || strcmp(b->name, "root") != 0 || b->n_iters > 0 ||
	    b->n_reads > 0 || b->n_writes > 0 || s->notes || s->children[1] ||
	    !expr_is_value(s->args[0], 1)) {
		return false;
	}
	return b->n_allocs > 0 || stmt_has(s->children[0], STMT_BLOCK);
}

/* 'S' or 'R', for T.axis.remap, if iter var i of the block s, spatial or
 * reduced, is bound to the variable of a loop around the block and has the
 * loop's whole range; else 0. */
static char
remap_letter(const struct stmt *s, int i)
{
	const struct iter_var *iter = &s->u.block->iters[i];
	const struct expr *binding = s->args[1 + i];

	if (binding->kind != EXPR_VAR ||
	    (iter->kind != ITER_SPATIAL && iter->kind != ITER_REDUCE)) {
		return 0;
	}
	for (const struct stmt *at = s->parent; at; at = at->parent) {
		if (at->kind == STMT_FOR && at->u.loop.var == binding->u.var) {
			bool whole = at->args[0] == iter->min &&
				     at->args[1] == iter->extent;

			return !whole                       ? 0
			       : iter->kind == ITER_SPATIAL ? 'S'
							    : 'R';
		}
	}
	return 0;
}

/* A block variable is named "v_i" for the axis i; in the old spelling, "i". */
static const char *
define_iter(struct printer *p, const struct var *v)
{
	const char *hint = v->name;

	if (p->version == SCRIPT_OLD && strncmp(hint, "v_", 2) == 0 &&
	    hint[2]) {
		hint += 2;
	}
	return print_define(p, v, hint);
}

static void
print_axis(struct printer *p, const struct iter_var *iter,
	   const struct expr *binding)
{
	static const char *const spelling[] = {
		[ITER_SPATIAL] = "spatial",
		[ITER_REDUCE] = "reduce",
		[ITER_SCAN] = "scan",
		[ITER_OPAQUE] = "opaque",
	};

	print_indent(p);
	strbuf_printf(p->out, "%s = T.axis.%s(", define_iter(p, iter->var),
		      spelling[iter->kind]);
	if (expr_is_value(iter->min, 0)) {
		print_expr(p, iter->extent, PRINT_LOOSE);
	} else {
		strbuf_putc(p->out, '(');
		print_expr(p, iter->min, PRINT_LOOSE);
		strbuf_puts(p->out, ", ");
		print_end(p, iter->min, iter->extent);
		strbuf_putc(p->out, ')');
	}
	strbuf_puts(p->out, ", ");
	print_expr(p, binding, PRINT_LOOSE);
	strbuf_puts(p->out, ")\n");
}

static void
print_axes(struct printer *p, const struct stmt *s)
{
	const struct block *b = s->u.block;

	for (int i = 0; i < b->n_iters;) {
		int end = i;

		while (end < b->n_iters && remap_letter(s, end)) {
			end++;
		}
		if (end - i < 2) {
			print_axis(p, &b->iters[i], s->args[1 + i]);
			i++;
			continue;
		}
		print_indent(p);
		for (int k = i; k < end; k++) {
			const struct var *v = b->iters[k].var;

			strbuf_puts(p->out, k > i ? ", " : "");
			strbuf_puts(p->out, define_iter(p, v));
		}
		strbuf_puts(p->out, " = T.axis.remap(\"");
		for (int k = i; k < end; k++) {
			strbuf_putc(p->out, remap_letter(s, k));
		}
		strbuf_puts(p->out, "\", [");
		print_exprs(p, s->args + 1 + i, end - i);
		strbuf_puts(p->out, "])\n");
		i = end;
	}
}

static void
print_regions(struct printer *p, const char *name, const struct region *list,
	      int n)
{
	print_indent(p);
	strbuf_printf(p->out, "T.%s(", name);
	for (int i = 0; i < n; i++) {
		strbuf_puts(p->out, i ? ", " : "");
		print_region(p, &list[i]);
	}
	strbuf_puts(p->out, ")\n");
}

static void
print_block_contents(struct printer *p, const struct stmt *s)
{
	const struct block *b = s->u.block;
	bool old = p->version == SCRIPT_OLD;

	for (int i = 0; i < b->n_allocs; i++) {
		print_indent(p);
		strbuf_printf(p->out, "%s = T.%salloc_buffer(",
			      print_define_buffer(p, b->allocs[i]),
			      old ? "" : "sblock_");
		print_buffer_facts(p, b->allocs[i]);
		strbuf_puts(p->out, ")\n");
	}
	if (s->children[1]) {
		print_line(p, "with T.init():");
		print_suite(p, s->children[1]);
	}
	print_stmt(p, s->children[0], true);
}

static void
print_block(struct printer *p, const struct stmt *s)
{
	const struct block *b = s->u.block;
	const char *word = p->version == SCRIPT_OLD ? "block" : "sblock";

	if (is_implicit_root(s)) {
		print_indent(p);
		strbuf_printf(p->out, "# with T.%s(\"root\")%s\n", word,
			      p->version == SCRIPT_OLD ? "" : ":");
		print_block_contents(p, s);
		return;
	}
	print_indent(p);
	strbuf_printf(p->out, "with T.%s(", word);
	print_string(p, b->name);
	strbuf_puts(p->out, "):\n");
	p->indent++;
	print_axes(p, s);
	if (!expr_is_value(s->args[0], 1)) {
		print_indent(p);
		strbuf_puts(p->out, "T.where(");
		print_expr(p, s->args[0], PRINT_LOOSE);
		strbuf_puts(p->out, ")\n");
	}
	print_regions(p, "reads", b->reads, b->n_reads);
	print_regions(p, "writes", b->writes, b->n_writes);
	if (s->notes) {
		print_indent(p);
		strbuf_printf(p->out, "T.%s_attr(", word);
		print_notes(p, s->notes);
		strbuf_puts(p->out, ")\n");
	}
	print_block_contents(p, s);
	p->indent--;
}

/* ---- statements whose scope is the rest of the suite */

/* Prints a LET and its body: "v: T.int32 = value" if it is the last statement
 * of its suite, else as a `with` statement in the printer's version. */
static void
print_let(struct printer *p, const struct stmt *s, bool last)
{
	struct var *v = s->u.var;
	bool old = p->version == SCRIPT_OLD;
	struct strbuf value;
	struct strbuf *out = p->out;

	strbuf_init(&value);
	p->out = &value;
	print_expr(p, s->args[0], PRINT_LOOSE);
	p->out = out;

	const char *name = print_define(p, v, v->name);

	print_indent(p);
	if (last) {
		strbuf_printf(p->out, "%s: T.", name);
		print_type(p, v->type);
		strbuf_printf(p->out, " = %s\n", value.data);
	} else if (old) {
		strbuf_printf(p->out, "%s = T.var(\"", name);
		print_type(p, v->type);
		strbuf_puts(p->out, "\")\n");
		print_indent(p);
		strbuf_printf(p->out, "with T.let(%s, %s):\n", name,
			      value.data);
	} else {
		strbuf_printf(p->out, "with T.LetStmt(%s) as %s:\n", value.data,
			      name);
	}
	strbuf_release(&value);
	p->indent += !last;
	print_stmt(p, s->children[0], true);
	p->indent -= !last;
}

static void
print_alloc(struct printer *p, const struct stmt *s, bool last)
{
	const char *name = print_define_buffer(p, s->u.buffer);

	print_indent(p);
	if (last) {
		strbuf_printf(p->out, "%s = T.decl_buffer(", name);
	} else {
		strbuf_puts(p->out, "with T.decl_buffer(");
	}
	print_buffer_facts(p, s->u.buffer);
	if (s->notes) {
		strbuf_puts(p->out, ", annotations=");
		print_notes(p, s->notes);
	}
	if (last) {
		strbuf_puts(p->out, ")\n");
	} else {
		strbuf_printf(p->out, ") as %s:\n", name);
	}
	p->indent += !last;
	print_stmt(p, s->children[0], true);
	p->indent -= !last;
}

static void
print_attr(struct printer *p, const struct stmt *s, bool last)
{
	print_indent(p);
	strbuf_puts(p->out, last ? "T.attr(0, " : "with T.attr(0, ");
	print_string(p, s->u.key);
	strbuf_puts(p->out, ", ");
	print_expr(p, s->args[0], PRINT_LOOSE);
	strbuf_puts(p->out, last ? ")\n" : "):\n");
	p->indent += !last;
	print_stmt(p, s->children[0], true);
	p->indent -= !last;
}

static void
print_if(struct printer *p, const struct stmt *s)
{
	print_indent(p);
	strbuf_puts(p->out, "if ");
	print_expr(p, s->args[0], PRINT_LOOSE);
	strbuf_puts(p->out, ":\n");
	print_suite(p, s->children[0]);
	if (s->n_children > 1 && s->children[1]) {
		print_line(p, "else:");
		print_suite(p, s->children[1]);
	}
}

static void
print_store(struct printer *p, const struct stmt *s)
{
	print_indent(p);
	strbuf_puts(p->out, print_buffer_name(p, s->u.buffer));
	strbuf_putc(p->out, '[');
	if (s->n_args == 1) {
		strbuf_puts(p->out, "()");
	}
	print_exprs(p, s->args + 1, s->n_args - 1);
	strbuf_puts(p->out, "] = ");
	print_expr(p, s->args[0], PRINT_LOOSE);
	strbuf_putc(p->out, '\n');
}

void
print_stmt(struct printer *p, const struct stmt *s, bool last)
{
	switch (s->kind) {
	case STMT_FOR:
		print_for(p, s);
		break;
	case STMT_BLOCK:
		print_block(p, s);
		break;
	case STMT_STORE:
		print_store(p, s);
		break;
	case STMT_IF:
		print_if(p, s);
		break;
	case STMT_LET:
		print_let(p, s, last);
		break;
	case STMT_ALLOC:
		print_alloc(p, s, last);
		break;
	case STMT_ATTR:
		print_attr(p, s, last);
		break;
	case STMT_EVALUATE:
		print_indent(p);
		strbuf_puts(p->out, "T.evaluate(");
		print_expr(p, s->args[0], PRINT_LOOSE);
		strbuf_puts(p->out, ")\n");
		break;
	case STMT_WHILE:
		print_indent(p);
		strbuf_puts(p->out, "while ");
		print_expr(p, s->args[0], PRINT_LOOSE);
		strbuf_puts(p->out, ":\n");
		print_suite(p, s->children[0]);
		break;
	case STMT_ASSERT:
		print_indent(p);
		strbuf_puts(p->out, "assert ");
		print_exprs(p, s->args, s->n_args);
		strbuf_putc(p->out, '\n');
		break;
	case STMT_RETURN:
		print_indent(p);
		strbuf_puts(p->out, "T.ret(");
		print_exprs(p, s->args, s->n_args);
		strbuf_puts(p->out, ")\n");
		break;
	case STMT_SEQ:
		if (s->n_children == 0) {
			print_line(p, "pass");
		}
		for (int i = 0; i < s->n_children; i++) {
			print_stmt(p, s->children[i],
				   last && i == s->n_children - 1);
		}
		break;
	case STMT_KIND_COUNT:
		break;
	}
}
