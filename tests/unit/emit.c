/* SPDX-License-Identifier: Apache-2.0 */
/* Lowered functions as text, to the letter, in the first dialect that
 * ships. */
#include "emit.h"
#include "check.h"
#include "unit.h"

static struct module *m;
static const struct dialect *d;

static const struct expr *
at(const struct buffer *b, const struct expr *i, const struct expr *j)
{
	const struct expr *index[2] = { i, j };

	return expr_load(m, b, index, b->ndim);
}

static struct stmt *
put(struct func *f, const struct buffer *b, const struct expr *value,
    const struct expr *i, const struct expr *j)
{
	const struct expr *index[2] = { i, j };

	return stmt_store(f, b, value, index, b->ndim);
}

static const struct buffer *
array(const char *name, const char *scope, int64_t rows, int64_t columns)
{
	const struct expr *shape[2] = {
		expr_i32(m, rows),
		expr_i32(m, columns),
	};
	struct buffer_spec spec = {
		.name = name,
		.type = dtype_of(DT_F32),
		.scope = scope,
		.ndim = rows == 0      ? 0
			: columns == 0 ? 1
				       : 2,
		.shape = shape,
	};

	return buffer_new(m, &spec);
}

static struct stmt *
loop(struct func *f, struct var *v, int64_t n, struct stmt *body)
{
	return stmt_for(f, v, expr_i32(m, 0), expr_i32(m, n), FOR_SERIAL, body);
}

static struct var *
index_var(const char *name)
{
	return var_new(m, name, dtype_of(DT_I32));
}

static void
check_func(struct func *f, const char *want)
{
	struct strbuf s;

	strbuf_init(&s);
	if (!CHECK(emit_func(m, d, f, &s))) {
		fprintf(stderr, "  %s\n",
			m->diags.list.data[m->diags.list.n - 1].message);
	}
	CHECK_STR_EQ(s.data, want);
	strbuf_release(&s);
}

/* Accumulation, a scalar with its first value, one pointer read and written,
 * signs turned around. */
static void
sums(void)
{
	struct func *f = func_new(m, "sums");
	const struct buffer *x = array("x", NULL, 4, 8);
	const struct buffer *y = array("y", NULL, 4, 0);
	const struct buffer *acc = array("acc", "local", 0, 0);
	struct var *i = index_var("i"), *j = index_var("int");
	const struct expr *sum = expr_load(m, acc, NULL, 0);
	struct stmt *body[3];

	func_add_param(f, x->data, x);
	func_add_param(f, y->data, y);
	body[0] = put(f, acc, expr_float(m, dtype_of(DT_F32), 0), NULL, NULL);
	body[1] = loop(f, j, 8,
		       put(f, acc, expr_add(m, sum, at(x, i->expr, j->expr)),
			   NULL, NULL));
	body[2] = put(f, y,
		      expr_max(m, expr_sub(m, sum, at(y, i->expr, NULL)),
			       expr_float(m, dtype_of(DT_F32), 0)),
		      i->expr, NULL);
	f->body = loop(f, i, 4, stmt_alloc(f, acc, stmt_seq(f, body, 3)));
	check_func(
		f,
		"static float\n"
		"at_least_f32(float a, float b) /* NaN if a is */\n"
		"{\n\treturn a < b ? b : a;\n}\n\n"
		"static void\n"
		"sums(const float x[restrict 4][8], float y[restrict 4])\n{\n"
		"\tfor (int32_t i = 0; i < 4; ++i) {\n"
		"\t\tfloat acc = 0.0f;\n\n"
		"\t\tfor (int32_t int_ = 0; int_ < 8; ++int_) {\n"
		"\t\t\tacc += x[i][int_];\n\t\t}\n"
		"\t\ty[i] = at_least_f32(acc - y[i], 0.0f);\n\t}\n}\n");
}

/* Guards, names of indices, sibling loops that share a name, and an inner one
 * that may not. */
static void
guards(void)
{
	struct func *f = func_new(m, "guards");
	const struct buffer *y = array("y", NULL, 8, 8);
	struct var *i = index_var("i"), *j = index_var("i");
	struct var *k = index_var("i"), *ih = index_var("ih");
	const struct expr *inside;
	struct stmt *two[2];

	func_add_param(f, y->data, y);
	inside = expr_and(m, expr_le(m, expr_i32(m, 0), ih->expr),
			  expr_lt(m, ih->expr, expr_i32(m, 8)));
	two[0] = loop(f, i, 8,
		      loop(f, j, 3,
			   stmt_let(f, ih,
				    expr_add(m, expr_add(m, i->expr, j->expr),
					     expr_i32(m, -1)),
				    stmt_if(f, inside,
					    put(f, y, at(y, j->expr, ih->expr),
						i->expr, ih->expr),
					    NULL))));
	two[1] =
		loop(f, k, 8,
		     put(f, y,
			 expr_select(m,
				     expr_or(m,
					     expr_and(m,
						      expr_lt(m, k->expr,
							      expr_i32(m, 3)),
						      expr_le(m, expr_i32(m, 1),
							      k->expr)),
					     expr_eq(m, k->expr,
						     expr_i32(m, 5))),
				     expr_float(m, dtype_of(DT_F32), 1.5),
				     at(y, k->expr, expr_i32(m, 0))),
			 k->expr, expr_floordiv(m, k->expr, expr_i32(m, 2))));
	f->body = stmt_seq(f, two, 2);
	check_func(f, "static void\nguards(float y[8][8])\n{\n"
		      "\tfor (int32_t i = 0; i < 8; ++i) {\n"
		      "\t\tfor (int32_t i_2 = 0; i_2 < 3; ++i_2) {\n"
		      "\t\t\tconst int32_t ih = i + i_2 - 1;\n\n"
		      "\t\t\tif (ih >= 0 && ih < 8) {\n"
		      "\t\t\t\ty[i][ih] = y[i_2][ih];\n"
		      "\t\t\t}\n\t\t}\n\t}\n"
		      "\tfor (int32_t i = 0; i < 8; ++i) {\n"
		      "\t\ty[i][i / 2] = (i < 3 && i >= 1) || i == 5 ? 1.5f : "
		      "y[i][0];\n"
		      "\t}\n}\n");
}

/* A size known at run time: the outermost one keeps the dimensions, an inner
 * one makes the index flat. */
static void
sizes(void)
{
	struct func *f = func_new(m, "sizes");
	struct var *n = var_new_dim(m, "n", 1, 16);
	const struct expr *outer[2] = { n->expr, expr_i32(m, 3) };
	const struct expr *inner[2] = { expr_i32(m, 3), n->expr };
	struct buffer_spec spec = {
		.name = "x",
		.type = dtype_of(DT_F32),
		.ndim = 2,
		.shape = outer,
	};
	const struct buffer *x = buffer_new(m, &spec), *y;
	struct var *i = index_var("i"), *j = index_var("j");

	spec.name = "y";
	spec.shape = inner;
	y = buffer_new(m, &spec);
	func_add_param(f, x->data, x);
	func_add_param(f, y->data, y);
	func_add_param(f, n, NULL);
	f->body = stmt_for(f, i, expr_i32(m, 0), n->expr, FOR_SERIAL,
			   loop(f, j, 3,
				put(f, y, at(x, i->expr, j->expr), j->expr,
				    i->expr)));
	check_func(f, "static void\n"
		      "sizes(const float x[restrict][3], float y[restrict], "
		      "int32_t n)\n{\n"
		      "\tfor (int32_t i = 0; i < n; ++i) {\n"
		      "\t\tfor (int32_t j = 0; j < 3; ++j) {\n"
		      "\t\t\ty[j * n + i] = x[i][j];\n\t\t}\n\t}\n}\n");
}

/* What the dialect cannot hold is said, not printed. */
static void
refused(void)
{
	struct func *f = func_new(m, "refused");
	const struct expr *n = expr_i32(m, 4);
	struct buffer_spec spec = {
		.name = "y",
		.type = dtype_of(DT_STRING),
		.ndim = 1,
		.shape = &n,
	};
	const struct buffer *y = buffer_new(m, &spec);
	struct strbuf s;
	int errors = m->diags.n_errors;

	func_add_param(f, y->data, y);
	f->body = put(f, y, at(y, expr_i32(m, 1), NULL), expr_i32(m, 0), NULL);
	strbuf_init(&s);
	CHECK(!emit_func(m, d, f, &s));
	CHECK(m->diags.n_errors > errors);
	strbuf_release(&s);
}

int
main(void)
{
	m = module_new();
	d = dialect_load(m, target_load(m, NULL, NULL)->dialect, NULL);
	if (CHECK(d != NULL)) {
		sums();
		guards();
		sizes();
		refused();
	}
	module_free(m);
	return check_done();
}
