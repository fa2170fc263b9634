/* SPDX-License-Identifier: Apache-2.0 */
/* Tensor intrinsics as they ship: for every symbol that one calls, its text
 * (or its plain twin) is compiled and run, and gives what the interpreter
 * makes of the description, on dense and on spread-out views.
 *
 *	intrinsics twin|DIALECT FOLDER 'compiler and flags' [DIR]
 *	intrinsics load DIR              only reads; mistakes are printed
 */
#include <stdio.h>
#include <stdlib.h>

#include "interp.h"
#include "intrinsic_make.h"
#include "intrinsics.h"
#include "random_te.h"
#include "unit.h"

#include "../includes.h"

enum { MAX_PARAMS = 8, SIZE = 12 };

struct shot {
	const char *symbol;
	struct func *reference;
	void *in[MAX_PARAMS], *data[MAX_PARAMS];
	size_t bytes[MAX_PARAMS];
};

struct test {
	struct module *m;
	const struct dialect *dialect; /* NULL: twins */
	struct unit unit;              /* the dialect's, for its headers */
	const struct intrinsic_set *set;
	const char *folder, *cc;
	VEC(struct shot) shots;
	VEC(const struct intrinsic_text *) used; /* printed for their users */
	struct strbuf texts, calls;
	struct rng rng;
	int n_symbols, skipped;
};

static void
print_diags(const struct module *m)
{
	struct strbuf text;

	strbuf_init(&text);
	for (int i = 0; i < m->diags.list.n; i++) {
		diag_format(&m->diags.list.data[i], &text);
		strbuf_putc(&text, '\n');
	}
	fputs(text.data ? text.data : "", stderr);
	strbuf_release(&text);
}

/* ---- views with numbers for their strides */

static const struct expr *
as_number(struct module *m, const struct expr *e, int64_t value)
{
	return e->kind == EXPR_VAR ? expr_i32(m, value) : e;
}

/* Rows of spread more elements than needed, where the view leaves it open;
 * sizes that it leaves open are SIZE. */
static const struct buffer *
view_of(struct test *t, const struct buffer *b, int spread, struct var_map *map)
{
	struct module *m = t->m;
	const struct expr *strides[8], *shape[8];
	struct buffer_spec spec = {
		.name = b->name,
		.type = b->type,
		.ndim = b->ndim,
		.shape = shape,
		.strides = strides,
	};
	struct buffer *view;
	int64_t span = 1, extent;

	for (int d = 0; d < b->ndim; d++) {
		if (b->shape[d]->kind == EXPR_VAR) {
			map->from[map->n] = b->shape[d]->u.var;
			map->to[map->n++] = expr_i32(m, SIZE);
		}
		shape[d] = expr_substitute(m, b->shape[d], map);
	}
	for (int d = b->ndim - 1; d >= 0; d--) {
		const struct expr *own = b->strides ? b->strides[d] : NULL;

		strides[d] = own ? as_number(m, own, span) : expr_i32(m, span);
		if (own && own->kind == EXPR_VAR) {
			map->from[map->n] = own->u.var;
			map->to[map->n++] = strides[d];
		}
		expr_is_int(shape[d], &extent);
		span = span * extent + (d == b->ndim - 1 ? spread : 0);
	}
	view = buffer_new(m, &spec);
	view->data = b->data;
	return view;
}

static size_t
span_of(const struct buffer *b)
{
	int64_t last = 0, extent = 1, stride = 1;

	for (int d = 0; d < b->ndim; d++) {
		expr_is_int(b->shape[d], &extent);
		expr_is_int(b->strides[d], &stride);
		last += (extent - 1) * stride;
	}
	return (size_t)last + 1;
}

static void
fill(struct test *t, struct dtype type, void *data, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		union number v = { .i = 0 };

		if (dtype_is_float(type)) {
			v.f = rng_below(&t->rng, 9) - 4;
		} else {
			v.u = rng_next(&t->rng); /* all bits count */
			v = number_round(type, v);
		}
		number_store(type, data, i, v);
	}
}

/* ---- calls */

struct call_search {
	const struct expr *found;
};

static void
find_call(void *ctx, const struct expr *e)
{
	if (e->kind == EXPR_CALL && e->u.intrin == INTRIN_CALL_EXTERN) {
		((struct call_search *)ctx)->found = e;
	}
}

static bool
find_call_stmt(void *ctx, struct stmt *s)
{
	for (int i = 0; i < s->n_args; i++) {
		expr_visit(s->args[i], find_call, ctx);
	}
	return true;
}

static const char *
c_type(struct dtype t)
{
	switch (t.kind) {
	case DT_I8:
		return "int8_t";
	case DT_U8:
		return "uint8_t";
	case DT_I16:
		return "int16_t";
	case DT_BF16:
		return "uint16_t";
	case DT_I32:
		return "int32_t";
	case DT_F16:
		return "_Float16";
	default:
		return "float";
	}
}

/* Runs the reference here, and writes the call for the other side. */
static bool
add_shot(struct test *t, const struct tensor_intrin *intrin,
	 const struct func *part, const struct expr *call, int spread)
{
	struct module *m = t->m;
	struct var *from[16];
	const struct expr *to[16];
	struct var_map map = { from, to, 0 };
	const struct buffer *views[MAX_PARAMS];
	struct tensor_call c = { intrin, call->args[0]->u.text, part, views };
	struct shot shot = { .symbol = c.symbol };
	struct run_arg args[MAX_PARAMS] = { { .data = NULL } };
	const char *why = NULL;

	for (int i = 0; i < part->params.n; i++) {
		views[i] = view_of(t, part->params.data[i].buffer, spread,
				   &map);
	}
	shot.reference = intrinsic_reference(m, &c, &why);
	if (!shot.reference || !func_verify(shot.reference)) {
		fprintf(stderr, "%s: %s\n", c.symbol, why ? why : "unsound");
		return false;
	}
	for (int i = 0; i < shot.reference->params.n; i++) {
		const struct buffer *b = shot.reference->params.data[i].buffer;
		const struct expr *value;
		size_t n;

		if (!b) {
			value = expr_substitute(m, call->args[i + 1], &map);
			if (!expr_is_int(value, &args[i].scalar)) {
				return false;
			}
			continue;
		}
		n = 0;
		for (int v = 0; v < part->params.n; v++) {
			n = views[v]->data == b->data ? span_of(views[v]) : n;
		}
		shot.bytes[i] = n * (size_t)dtype_bytes(b->type);
		shot.data[i] = arena_alloc(&m->arena, shot.bytes[i]);
		fill(t, b->type, shot.data[i], n);
		shot.in[i] = arena_copy(&m->arena, shot.data[i], shot.bytes[i]);
		args[i].data = shot.data[i];
	}
	if (!interp_run(shot.reference, args, shot.reference->params.n)) {
		return false;
	}
	for (int i = 0; i < shot.reference->params.n; i++) {
		if (shot.in[i]) {
			strbuf_printf(&t->calls, "\tp[%d] = take(in, %zu);\n",
				      i, shot.bytes[i]);
		}
	}
	strbuf_printf(&t->calls, "\t%s(", shot.symbol);
	for (int i = 0; i < shot.reference->params.n; i++) {
		strbuf_puts(&t->calls, i ? ", " : "");
		if (shot.in[i]) {
			strbuf_printf(&t->calls, "(%s *)p[%d]",
				      c_type(shot.reference->params.data[i]
						     .buffer->type),
				      i);
		} else {
			strbuf_printf(&t->calls, "%lld",
				      (long long)args[i].scalar);
		}
	}
	strbuf_puts(&t->calls, ");\n");
	for (int i = 0; i < shot.reference->params.n; i++) {
		if (shot.in[i]) {
			strbuf_printf(&t->calls,
				      "\tfwrite(p[%d], 1, %zu, out);\n"
				      "\tfree(p[%d]);\n",
				      i, shot.bytes[i], i);
		}
	}
	vec_push(&m->arena, &t->shots, shot);
	return true;
}

static bool
is_printed(const struct test *t, const struct intrinsic_text *text)
{
	for (int i = 0; i < t->used.n; i++) {
		if (t->used.data[i] == text) {
			return true;
		}
	}
	return false;
}

/* A text, with its headers and after the texts that it uses. */
static bool
print_text(struct test *t, const struct intrinsic_symbol *s,
	   const struct intrinsic_text *text)
{
	for (int i = 0; i < text->uses.n; i++) {
		const struct intrinsic_symbol *other =
			intrinsic_set_symbol(t->set, text->uses.data[i]);
		const struct intrinsic_text *first =
			other ? intrinsic_symbol_text(other, t->dialect) : NULL;

		if (first == NULL) {
			fprintf(stderr, "%s uses %s, which has no text\n",
				s->name, text->uses.data[i]);
			return false;
		}
		if (is_printed(t, first)) {
			continue;
		}
		vec_push(&t->m->arena, &t->used, first);
		if (!print_text(t, other, first)) {
			return false;
		}
	}
	for (int i = 0; i < text->needs.n; i++) {
		unit_need(&t->unit, text->needs.data[i]);
	}
	return intrinsic_text_print(t->m, s, text, NULL, &t->texts);
}

static bool
add_text(struct test *t, const char *symbol, bool *there)
{
	const struct intrinsic_symbol *s = intrinsic_set_symbol(t->set, symbol);
	struct intrinsic_text twin = { .function = "static void" };
	const struct intrinsic_text *text = &twin;

	*there = true;
	if (!s) {
		fprintf(stderr, "%s is called but has no text\n", symbol);
		return false;
	}
	if (t->dialect) {
		text = intrinsic_symbol_text(s, t->dialect);
		/* Several calls in a row are what tests/exec/targets/tiles.py has. */
		text = text && text->keeps ? NULL : text;
		*there = text != NULL;
		t->skipped += !text;
	} else {
		twin.file = s->file;
		twin.text = s->twin;
	}
	t->n_symbols += text != NULL;
	return !text || print_text(t, s, text);
}

static bool
add_part(struct test *t, const struct tensor_intrin *intrin,
	 const struct func *part)
{
	struct call_search q = { NULL };
	bool there;

	if (!part) {
		return true;
	}
	stmt_visit(part->body, find_call_stmt, &q);
	if (!q.found) {
		return true;
	}
	return add_text(t, q.found->args[0]->u.text, &there) &&
	       (!there || (add_shot(t, intrin, part, q.found, 0) &&
			   add_shot(t, intrin, part, q.found, 3)));
}

/* ---- running */

static const char harness[] =
	"static void *\ntake(FILE *in, size_t n)\n{\n"
	"\tvoid *p = malloc(n + 1);\n\n"
	"\tif (p == NULL || fread(p, 1, n, in) != n) {\n\t\texit(1);\n\t}\n"
	"\treturn p;\n}\n\nint\nmain(int argc, char **argv)\n{\n"
	"\tFILE *in = argc > 2 ? fopen(argv[1], \"rb\") : NULL;\n"
	"\tFILE *out = argc > 2 ? fopen(argv[2], \"wb\") : NULL;\n"
	"\tvoid *p[8];\n\n"
	"\tif (in == NULL || out == NULL) {\n\t\treturn 1;\n\t}\n";

static bool
write_files(struct test *t, const char *stem)
{
	FILE *in = fopen(arena_printf(&t->m->arena, "%s.in", stem), "wb");
	FILE *out = fopen(arena_printf(&t->m->arena, "%s.c", stem), "w");

	if (!in || !out) {
		return false;
	}
	for (int k = 0; k < t->shots.n; k++) {
		for (int i = 0; i < MAX_PARAMS; i++) {
			const struct shot *s = &t->shots.data[k];

			if (s->in[i]) {
				fwrite(s->in[i], 1, s->bytes[i], in);
			}
		}
	}
	fprintf(out, "#include <stdint.h>\n#include <stdio.h>\n"
		     "#include <stdlib.h>\n#include <string.h>\n");
	if (t->dialect) {
		print_includes(out, &t->unit);
	}
	fprintf(out,
		"\n%s\n%s%s"
		"\tfclose(in);\n\treturn fclose(out);\n}\n",
		t->texts.data, harness, t->calls.data);
	return fclose(in) == 0 && fclose(out) == 0;
}

static int
compare(struct test *t, const char *path)
{
	FILE *f = fopen(path, "rb");
	int failed = 0;

	for (int k = 0; k < t->shots.n; k++) {
		const struct shot *s = &t->shots.data[k];

		for (int i = 0; i < MAX_PARAMS; i++) {
			void *got = malloc(s->bytes[i] + 1);

			if (s->in[i] &&
			    (!f ||
			     fread(got, 1, s->bytes[i], f) != s->bytes[i] ||
			     memcmp(got, s->data[i], s->bytes[i]) != 0)) {
				fprintf(stderr,
					"%s, run %d: argument %d "
					"differs\n",
					s->symbol, k, i);
				failed++;
			}
			free(got);
		}
	}
	if (f) {
		fclose(f);
	}
	return failed;
}

static bool
run_command(const char *command)
{
	bool good = system(command) == 0;

	if (!good) {
		fprintf(stderr, "failed: %s\n", command);
	}
	return good;
}

static bool
run(struct test *t)
{
	struct arena *a = &t->m->arena;
	struct tensor_intrins intrins;
	const char *stem = arena_printf(a, "%s/intrinsics", t->folder);
	const char *runner = getenv("TIRC_RUNNER"); /* an emulator */
	bool good;

	tensor_intrins_init(&intrins, a);
	good = intrinsic_set_register(t->m, t->set, &intrins);
	for (int i = 0; i < intrins.list.n && good; i++) {
		const struct tensor_intrin *x = intrins.list.data[i];

		good = func_verify(x->desc) && func_verify(x->impl) &&
		       add_part(t, x, x->impl) && add_part(t, x, x->reset) &&
		       add_part(t, x, x->update);
	}
	good = good &&
	       run_command(arena_printf(a, "mkdir -p '%s'", t->folder)) &&
	       write_files(t, stem) &&
	       run_command(arena_printf(a, "%s -o '%s' '%s.c'", t->cc, stem,
					stem)) &&
	       run_command(arena_printf(a, "%s '%s' '%s.in' '%s.out'",
					runner ? runner : "", stem, stem,
					stem)) &&
	       compare(t, arena_printf(a, "%s.out", stem)) == 0;
	fprintf(stderr,
		"%d intrinsics, %d symbols, %d runs, %d symbols "
		"without text\n",
		intrins.list.n, t->n_symbols, t->shots.n, t->skipped);
	return good && t->shots.n > 0;
}

static bool
load_only(struct test *t)
{
	struct tensor_intrins intrins;

	tensor_intrins_init(&intrins, &t->m->arena);
	return t->set && intrinsic_set_register(t->m, t->set, &intrins);
}

int
main(int argc, char **argv)
{
	struct test t = { .m = module_new(), .rng = { 5 } };
	bool good;

	if (argc < 3 || (argc < 4 && strcmp(argv[1], "load") != 0)) {
		fprintf(stderr,
			"usage: %s twin|DIALECT FOLDER 'compiler' "
			"[DIR], or load DIR\n",
			argv[0]);
		module_free(t.m);
		return 2;
	}
	strbuf_init(&t.texts);
	strbuf_init(&t.calls);
	if (strcmp(argv[1], "load") == 0) {
		t.set = intrinsic_set_load(t.m, argv[2]);
		good = load_only(&t);
	} else {
		t.folder = argv[2];
		t.cc = argv[3];
		t.set = intrinsic_set_load(t.m, argc > 4 ? argv[4] : NULL);
		if (strcmp(argv[1], "twin") != 0) {
			t.dialect = dialect_load(t.m, argv[1], NULL);
		}
		if (t.dialect) {
			unit_init(&t.unit, t.m, t.dialect);
		}
		good = t.set && (t.dialect || strcmp(argv[1], "twin") == 0) &&
		       run(&t);
	}
	print_diags(t.m);
	strbuf_release(&t.texts);
	strbuf_release(&t.calls);
	module_free(t.m);
	return !good;
}
