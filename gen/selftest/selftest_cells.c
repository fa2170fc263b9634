/* SPDX-License-Identifier: Apache-2.0 */
/* The cells of the self-test. A cell is a loop over test values, for one
 * operation and type,
 *
 *	for (int32_t i = 0; i < 32; i++) { y[i] = op(a[i], b[i], c[i]); }
 *
 * that the interpreter runs and the dialect prints. */
#include <ctype.h>
#include <math.h>
#include <stdio.h>

#include "interp.h"
#include "selftest_cells.h"

/* Test value i of a float type. The first values are small with few bits, so
 * that results are exact with and without contraction. No value is a negative
 * zero, since compilers differ in its sign. */
static double
some_float(int i)
{
	static const double fixed[] = {
		0.0,  0.125, 1.0,   -1.0,   2.0,   0.5,   -0.5,  1.5,   2.5,
		-2.5, 3.25,  -7.75, 12.5,   -13.0, 0.25,  -0.75, 4.0,   6.5,
		-5.0, 9.25,  300.0, -300.0, 1e10,  -1e10, 1e30,  -1e30,
	};

	switch (i) {
	case 26:
		return INFINITY;
	case 27:
		return -INFINITY;
	case 28:
		return NAN;
	default:
		return i < 26 ? fixed[i] : (double)(i - 24) * 0.375;
	}
}

static union number
some_value(struct dtype t, int i)
{
	union number v = { .i = 0 };
	uint64_t bits = UINT64_C(0x9e3779b97f4a7c15) * (uint64_t)(i + 1);

	switch (dtype_class(t)) {
	case DTC_FLOAT:
		v.f = some_float(i);
		break;
	case DTC_BOOL:
		v.i = (int64_t)(bits >> 40 & 1);
		return v;
	case DTC_UINT:
		v.u = i % 7 == 0   ? dtype_max_int(t)
		      : i % 7 == 1 ? 0
		      : i % 7 == 2 ? 1
				   : bits >> (i * 5 % 60);
		break;
	default:
		v.i = i % 9 == 0   ? dtype_min_int(t)
		      : i % 9 == 1 ? (int64_t)dtype_max_int(t)
		      : i % 9 == 2 ? 0
		      : i % 9 == 3 ? -1
		      : i % 9 == 4 ? 1
				   : (int64_t)bits >> (i * 5 % 60);
		break;
	}
	return number_round(t, v);
}

/* Fills the inputs of the cells so that each value of an array meets several
 * values of the next array. */
void
cell_inputs(struct dtype t, unsigned char data[4][CELL_VALUES * 8])
{
	memset(data, 0, 4 * CELL_VALUES * 8);
	for (int i = 0; i < CELL_VALUES; i++) {
		union number b = some_value(t, (i * 5 + 7) % CELL_VALUES);

		number_store(t, data[0], (size_t)i, some_value(t, i));
		number_store(t, data[1], (size_t)i, b);
		number_store(t, data[2], (size_t)i,
			     some_value(t, (i * 3 + 2) % CELL_VALUES));
		if (dtype_is_float(t) ? b.f != b.f : b.i == 0) {
			b = number_cast(t, dtype_of(DT_I32),
					(union number){ .i = 3 });
		}
		number_store(t, data[3], (size_t)i, b);
	}
}

/* -- one cell -- */

struct draft {
	struct func *f;
	struct cell cell;
	const struct buffer *buffers[4]; /* a, b, c, y */
	const struct expr *a, *b, *c;
	const struct expr *index;
};

static const struct buffer *
array(struct module *m, const char *name, struct dtype t)
{
	const struct expr *n = expr_i32(m, CELL_VALUES);
	struct buffer_spec spec = {
		.name = name,
		.type = dtype_of(t.kind),
		.ndim = 1,
		.shape = &n,
	};

	return buffer_new(m, &spec);
}

/* Begins the function of a cell: makes its arrays, the operands d->a, d->b,
 * d->c and a loop without body over their elements. With vectors, one iteration
 * computes all lanes. */
static void
draft(struct cell_part *p, struct draft *d, struct dtype out, const char *name)
{
	struct module *m = p->m;
	struct var *i = var_new(m, "i", dtype_of(DT_I32));
	int lanes = p->type.lanes;

	memset(d, 0, sizeof *d);
	d->cell.in = dtype_of(p->type.kind);
	d->cell.out = dtype_of(out.kind);
	d->cell.name = arena_printf(&m->arena, "cell_%s", name);
	d->f = func_new(m, d->cell.name);
	d->buffers[0] = array(m, "a", p->type);
	d->buffers[1] = array(m, "b", p->type);
	d->buffers[2] = array(m, "c", p->type);
	d->buffers[3] = array(m, "y", out);
	d->index = i->expr;
	if (lanes > 1) {
		d->index = expr_ramp(m,
				     expr_mul(m, i->expr, expr_i32(m, lanes)),
				     expr_i32(m, 1), lanes);
	}
	d->a = expr_load(m, d->buffers[0], &d->index, 1);
	d->b = expr_load(m, d->buffers[1], &d->index, 1);
	d->c = expr_load(m, d->buffers[2], &d->index, 1);
	d->f->body = stmt_for(d->f, i, expr_i32(m, 0),
			      expr_i32(m, CELL_VALUES / lanes), FOR_SERIAL,
			      NULL);
}

/* Appends the text of the cell's function. On a device, each thread computes
 * one element, and the function launches the kernel if the language can do
 * that. False after a diagnostic. */
static bool
cell_text(struct cell_part *p, struct draft *d, struct strbuf *text)
{
	struct host_device split;

	if (p->u.d->device.rejected != NULL) {
		return unit_func(&p->u, d->f, text);
	}
	stmt_set_loop_kind(d->f, d->f->body, FOR_THREAD, "threadIdx.x");
	if (!lower_split_host_device(p->m, d->f, NULL, NULL, &split)) {
		return false;
	}
	name_set_add(&p->u.globals, split.launches[0].kernel->name);
	if (!unit_func(&p->u, split.launches[0].kernel, text)) {
		return false;
	}
	if (p->u.d->device.no_launch != NULL) {
		return true;
	}
	strbuf_putc(text, '\n');
	return unit_func(&p->u, split.host, text);
}

/* Prints a cell to the part's text. If the dialect lacks an operation that the
 * cell uses, records only this fact, and returns false. */
static bool
print_cell(struct cell_part *p, struct draft *d)
{
	struct diags *diags = &p->m->diags;
	int n = diags->list.n, errors = diags->n_errors;
	struct unit before = p->u;
	struct strbuf text;
	bool ok;

	strbuf_init(&text);
	name_set_add(&p->u.globals, d->cell.name);
	ok = cell_text(p, d, &text);
	if (ok) {
		strbuf_puts(&p->text, text.data);
		strbuf_putc(&p->text, '\n');
	} else if (diags->list.n > n &&
		   diags->list.data[n].id == DIAG_UNSUPPORTED) {
		vec_push(&p->m->arena, &p->rejected,
			 arena_printf(&p->m->arena, "%s: %s", d->cell.name + 5,
				      diags->list.data[n].message));
		diags->list.n = n;
		diags->n_errors = errors;
		p->u.helpers.n = before.helpers.n;
		p->u.vectors.n = before.vectors.n;
		p->u.parts.n = before.parts.n;
	} else {
		p->failed = true;
	}
	strbuf_release(&text);
	return ok;
}

/* Runs the function of the draft in the interpreter, and adds the cell with the
 * results to the part. */
static void
finish(struct cell_part *p, struct draft *d)
{
	unsigned char data[4][CELL_VALUES * 8];
	struct run_arg args[4] = { { .data = NULL } };
	int n = 0;

	cell_inputs(d->cell.in, data);
	for (int j = 0; j < 4; j++) {
		if (j == 3) {
			args[n++].data = d->cell.want;
		} else if (func_reads(d->f, d->buffers[j])) {
			d->cell.uses[j] = true;
			args[n++].data =
				data[j == 1 && d->cell.no_zero ? 3 : j];
		} else {
			continue;
		}
		func_add_param(d->f, d->buffers[j]->data, d->buffers[j]);
		/* without a memory qualifier: the self-test declares its arrays
		 * itself */
		d->f->params.data[d->f->params.n - 1].space = SPACE_LOCAL;
	}
	if (!interp_run(d->f, args, n)) {
		p->failed = true;
		return;
	}
	if (print_cell(p, d)) {
		vec_push(&p->m->arena, &p->cells, d->cell);
	}
}

static void
store_value(struct cell_part *p, struct draft *d, const struct expr *value)
{
	if (!p->failed) {
		stmt_set_child(d->f, d->f->body, 0,
			       stmt_store(d->f, d->buffers[3], value, &d->index,
					  1));
		finish(p, d);
	}
}

/* -- operations -- */

static const char *
named(struct cell_part *p, const char *what)
{
	char *lower = arena_strdup(&p->m->arena, what);

	for (char *at = lower; *at != '\0'; at++) {
		*at = (char)tolower((unsigned char)*at);
	}
	what = lower;
	return p->type.lanes > 1
		       ? arena_printf(&p->m->arena, "%s_%sx%d", what,
				      dtype_short(p->type), p->type.lanes)
		       : arena_printf(&p->m->arena, "%s_%s", what,
				      dtype_short(p->type));
}

static void
binaries(struct cell_part *p)
{
	static const enum expr_kind kinds[] = {
		EXPR_ADD,      EXPR_SUB,      EXPR_MUL, EXPR_DIV, EXPR_TRUNCMOD,
		EXPR_FLOORDIV, EXPR_FLOORMOD, EXPR_MIN, EXPR_MAX, EXPR_EQ,
		EXPR_NE,       EXPR_LT,       EXPR_LE,  EXPR_GT,  EXPR_GE,
	};
	bool is_float = dtype_is_float(p->type);

	for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
		bool divides = kinds[i] >= EXPR_DIV &&
			       kinds[i] <= EXPR_FLOORMOD;
		bool compares = kinds[i] >= EXPR_EQ && kinds[i] <= EXPR_GE;
		struct draft d;

		if (is_float && divides && kinds[i] != EXPR_DIV) {
			continue;
		}
		if (compares && p->u.d->types[DT_BOOL].rejected != NULL) {
			continue;
		}
		draft(p, &d, compares ? dtype_of(DT_BOOL) : p->type,
		      named(p, expr_kind_name(kinds[i])));
		d.cell.no_zero = divides && !is_float;
		store_value(p, &d, expr_binary(p->m, kinds[i], d.a, d.b));
	}
}

static void
intrinsics(struct cell_part *p)
{
	bool is_float = dtype_is_float(p->type);

	for (int op = 0; op < INTRIN_COUNT; op++) {
		bool any = op == INTRIN_ABS || op == INTRIN_POW;
		bool only_int = op >= INTRIN_BITAND && op <= INTRIN_POPCOUNT;
		bool asks = op == INTRIN_ISNAN || op == INTRIN_ISINF;
		const struct expr *args[3];
		struct dtype out = asks ? dtype_of(DT_BOOL) : p->type;
		struct draft d;

		if (op >= INTRIN_REINTERPRET ||
		    (!any && is_float == only_int) ||
		    p->u.d->types[out.kind].rejected != NULL) {
			continue;
		}
		draft(p, &d, out, named(p, intrin_name((enum intrin)op)));
		args[0] = d.a;
		args[1] = d.b;
		args[2] = d.c;
		d.cell.no_zero = op ==
				 /* b has no NaN, whose sign is not defined */
				 INTRIN_COPYSIGN;
		d.cell.near = is_float && !asks && op != INTRIN_ABS;
		store_value(p, &d,
			    expr_call(p->m, (enum intrin)op, out, args,
				      intrin_arity((enum intrin)op)));
	}
}

/* Makes cells for the conversion to the nearest number of a shorter type, if
 * the dialect has a form for it. */
static void
saturations(struct cell_part *p)
{
	static const enum dtype_kind kinds[] = { DT_I8, DT_U8, DT_I16, DT_U16 };
	struct module *m = p->m;

	if (p->u.d->forms[FORM_SATURATE][DT_I32] == NULL) {
		return;
	}
	for (int i = 0; i < 4; i++) {
		struct dtype to = dtype_of(kinds[i]);
		const struct expr *low, *high;
		struct draft d;

		low = expr_const(m, p->type, dtype_min_int(to));
		high = expr_const(m, p->type, (int64_t)dtype_max_int(to));
		draft(p, &d, p->type,
		      arena_printf(&m->arena, "saturate_%s", dtype_short(to)));
		store_value(p, &d,
			    i % 2 == 0
				    ? expr_min(m, expr_max(m, d.a, low), high)
				    : expr_max(m, expr_min(m, d.a, high), low));
	}
}

static void
scales(struct cell_part *p)
{
	struct module *m = p->m;
	const struct expr *args[3];
	struct draft d;

	draft(p, &d, p->type, named(p, "scale_fixed"));
	args[0] = d.a;
	args[1] = d.b;
	args[2] = expr_sub(m, expr_floormod(m, d.c, expr_i32(m, 63)),
			   expr_i32(m, 31));
	store_value(p, &d, expr_call(m, INTRIN_SCALE_FIXED, p->type, args, 3));
	draft(p, &d, p->type, named(p, "mul_high"));
	args[0] = d.a;
	args[1] = d.b;
	store_value(p, &d, expr_call(m, INTRIN_MUL_HIGH, p->type, args, 2));
	saturations(p);
	if (p->u.d->types[DT_F64].rejected != NULL) {
		return;
	}
	draft(p, &d, p->type, named(p, "scale_nearest"));
	args[0] = d.a;
	args[1] = expr_mul(m, expr_cast(m, dtype_of(DT_F64), d.b),
			   expr_float(m, dtype_of(DT_F64), 0.5));
	store_value(p, &d,
		    expr_call(m, INTRIN_SCALE_NEAREST, p->type, args, 2));
}

/* Cells for both nibbles of a byte, signed and unsigned. */
static void
nibbles(struct cell_part *p)
{
	static const enum dtype_kind kinds[] = { DT_I8, DT_U8 };
	struct module *m = p->m;

	for (int i = 0; i < 2; i++) {
		struct dtype to = dtype_of(kinds[i]);
		const struct expr *args[2];
		struct draft d;

		draft(p, &d, to,
		      arena_printf(&m->arena, "nibble_%s", dtype_short(to)));
		args[0] = d.a;
		args[1] = expr_floormod(m, d.index, expr_i32(m, 2));
		store_value(p, &d, expr_call(m, INTRIN_NIBBLE, to, args, 2));
	}
}

static void
casts(struct cell_part *p)
{
	for (int k = 0; k < DT_COUNT; k++) {
		struct dtype to = dtype_of((enum dtype_kind)k);
		struct draft d;

		if ((!dtype_is_int(to) && !dtype_is_float(to) &&
		     k != DT_BOOL) ||
		    !dialect_computes(to) ||
		    p->u.d->types[k].rejected != NULL) {
			continue;
		}
		draft(p, &d, to,
		      arena_printf(&p->m->arena, "cast_%s_%s",
				   dtype_short(p->type), dtype_short(to)));
		store_value(p, &d, expr_cast(p->m, to, d.a));
	}
}

/* The i-th nested expression over the operands of d; it tests parentheses and
 * the promotion of narrow types. NULL if there are at most i. */
static const struct expr *
nest(struct module *m, const struct draft *d, struct dtype t, int i)
{
	const struct expr *a = d->a, *b = d->b, *c = d->c;
	const struct expr *lt = expr_lt(m, a, b);
	const struct expr *eq = expr_eq(m, b, c);

	switch (i) {
	case 0:
		return expr_sub(m, a, expr_sub(m, b, c));
	case 1:
		return expr_mul(m, expr_add(m, a, b), expr_sub(m, b, c));
	case 2:
		return expr_sub(m, expr_neg(m, expr_neg(m, a)), expr_neg(m, b));
	case 3:
		return expr_add(m, a, expr_const(m, t, 3));
	case 4:
		return expr_select(m,
				   expr_or(m, expr_and(m, lt, eq),
					   expr_not(m, lt)),
				   expr_select(m, eq, a, b), c);
	case 5:
		return expr_max(m,
				expr_min(m, expr_add(m, a, b),
					 expr_const(m, t, 6)),
				expr_const(m, t, 0));
	case 6:
		return expr_max(m, expr_max(m, a, b), c);
	case 7:
		return expr_if(m, expr_lt(m, expr_add(m, a, b), c),
			       expr_mul(m, a, expr_mul(m, b, c)), b);
	default:
		return expr_add(m, expr_mul(m, a, expr_const(m, t, 2)),
				expr_mul(m, b, expr_const(m, t, 5)));
	}
}

static void
nests(struct cell_part *p)
{
	for (int i = 0; i < 9; i++) {
		struct draft d;

		draft(p, &d, p->type,
		      named(p, arena_printf(&p->m->arena, "nest_%d", i)));
		d.cell.near = dtype_is_float(p->type) &&
			      (i == 1 || i == 7 || i == 8);
		store_value(p, &d, nest(p->m, &d, p->type, i));
	}
}

/* Cells for y[i] = a[i] < b[i] ? a[i] : b[i], as loops of several kinds and as
 * branches. */
static void
statements(struct cell_part *p)
{
	static const enum for_kind kinds[] = { FOR_VECTORIZED, FOR_UNROLLED,
					       FOR_PARALLEL };
	static const char *const names[] = { "vectorized", "unrolled",
					     "parallel" };
	struct draft d;

	for (int i = 0; i < 3; i++) {
		draft(p, &d, p->type, named(p, names[i]));
		d.f->body->u.loop.kind = kinds[i];
		store_value(p, &d,
			    expr_if(p->m, expr_lt(p->m, d.a, d.b), d.a, d.c));
	}
	draft(p, &d, p->type, named(p, "if_else"));
	stmt_set_child(d.f, d.f->body, 0,
		       stmt_if(d.f, expr_lt(p->m, d.a, d.b),
			       stmt_store(d.f, d.buffers[3], d.a, &d.index, 1),
			       stmt_store(d.f, d.buffers[3], d.c, &d.index,
					  1)));
	finish(p, &d);
}

/* A cell that sums up the first elements of an array in a local variable. */
static void
local_sum(struct cell_part *p)
{
	struct module *m = p->m;
	struct var *j = var_new(m, "j", dtype_of(DT_I32));
	struct buffer_spec spec = { .name = "sum",
				    .type = p->type,
				    .scope = "local" };
	const struct buffer *sum = buffer_new(m, &spec);
	const struct expr *value = expr_load(m, sum, NULL, 0);
	struct stmt *list[3];
	struct draft d;

	draft(p, &d, p->type, named(p, "local"));
	list[0] = stmt_store(d.f, sum, expr_const(m, p->type, 0), NULL, 0);
	list[1] =
		stmt_for(d.f, j, expr_i32(m, 0),
			 expr_add(m, expr_floordiv(m, d.index, expr_i32(m, 2)),
				  expr_i32(m, 1)),
			 FOR_SERIAL,
			 stmt_store(d.f, sum,
				    expr_add(m, value,
					     expr_load(m, d.buffers[0],
						       (const struct expr *[]){
							       j->expr },
						       1)),
				    NULL, 0));
	list[2] = stmt_store(d.f, d.buffers[3], value, &d.index, 1);
	stmt_set_child(d.f, d.f->body, 0,
		       stmt_alloc(d.f, sum, stmt_seq(d.f, list, 3)));
	finish(p, &d);
}

static void
bits_of(struct cell_part *p)
{
	for (int k = 0; k < DT_COUNT; k++) {
		struct dtype to = dtype_of((enum dtype_kind)k);
		struct draft d;

		if (!(dtype_is_int(to) || dtype_is_float(to)) ||
		    dtype_bits(to) != dtype_bits(p->type) ||
		    p->u.d->types[k].rejected != NULL || k == p->type.kind ||
		    dtype_is_float(p->type) == dtype_is_float(to)) {
			continue;
		}
		draft(p, &d, to,
		      arena_printf(&p->m->arena, "bits_%s_%s",
				   dtype_short(p->type), dtype_short(to)));
		d.cell.no_zero = true;
		store_value(p, &d,
			    expr_call(p->m, INTRIN_REINTERPRET, to, &d.b, 1));
	}
}

void
cells_of_type(struct cell_part *p)
{
	struct draft d;

	if (p->type.kind == DT_BOOL) {
		draft(p, &d, p->type, "not_bool");
		store_value(p, &d, expr_not(p->m, d.a));
		draft(p, &d, p->type, "and_bool");
		store_value(p, &d, expr_and(p->m, d.a, d.b));
		draft(p, &d, p->type, "or_bool");
		store_value(p, &d, expr_or(p->m, d.a, expr_not(p->m, d.b)));
		casts(p);
		return;
	}
	binaries(p);
	intrinsics(p);
	nests(p);
	casts(p);
	bits_of(p);
	statements(p);
	local_sum(p);
	if (p->type.kind == DT_I32) {
		scales(p);
	}
	if (p->type.kind == DT_U8 && p->u.d->types[DT_I8].rejected == NULL) {
		nibbles(p);
	}
}

/* Cells for widening bytes to vectors of 32-bit integers, and narrowing. */
static void
bytes_in_vectors(struct cell_part *p)
{
	static const enum dtype_kind kinds[] = { DT_I8, DT_U8 };
	struct module *m = p->m;
	struct dtype wide = p->type, pair = { DT_U8, wide.lanes };
	const struct expr *args[2], *first;
	struct draft d;

	draft(p, &d, wide, named(p, "scale_nearest"));
	first = expr_mul(m, d.f->body->u.loop.var->expr,
			 expr_i32(m, wide.lanes));
	args[0] = d.a;
	args[1] = expr_cast(m, dtype_of(DT_F64),
			    expr_load(m, d.buffers[1], &first, 1));
	args[1] = expr_broadcast(m,
				 expr_mul(m, args[1],
					  expr_float(m, dtype_of(DT_F64),
						     0.25)),
				 wide.lanes);
	store_value(p, &d, expr_call(m, INTRIN_SCALE_NEAREST, wide, args, 2));
	for (int i = 0; i < 2; i++) {
		struct dtype byte = { (uint16_t)kinds[i], wide.lanes };
		struct dtype signed_byte = { DT_I8, wide.lanes };

		draft(p, &d, byte,
		      named(p, arena_printf(&m->arena, "%s_of",
					    dtype_short(dtype_of(kinds[i])))));
		store_value(p, &d, expr_cast(m, byte, d.a));
		draft(p, &d, wide,
		      named(p, arena_printf(&m->arena, "add_product_%s",
					    dtype_short(dtype_of(kinds[i])))));
		store_value(p, &d,
			    expr_add(m, d.a,
				     expr_mul(m,
					      expr_cast(m, wide,
							expr_cast(m, byte,
								  d.b)),
					      expr_cast(m, wide,
							expr_cast(m,
								  signed_byte,
								  d.c)))));
		draft(p, &d, byte,
		      named(p, arena_printf(&m->arena, "nibble_%s",
					    dtype_short(dtype_of(kinds[i])))));
		args[0] = expr_cast(m, pair, d.a);
		args[1] = expr_broadcast(m,
					 expr_floormod(m,
						       d.f->body->u.loop.var
							       ->expr,
						       expr_i32(m, 2)),
					 wide.lanes);
		store_value(p, &d, expr_call(m, INTRIN_NIBBLE, byte, args, 2));
	}
}

/* Cells for rounding vectors of floats and narrowing them to bytes. */
static void
floats_in_vectors(struct cell_part *p)
{
	static const enum dtype_kind kinds[] = { DT_I8, DT_U8 };
	struct module *m = p->m;
	struct dtype ints = { DT_I32, p->type.lanes };
	struct draft d;

	draft(p, &d, p->type, named(p, "nearbyint"));
	store_value(p, &d, expr_call(m, INTRIN_NEARBYINT, p->type, &d.a, 1));
	for (int i = 0; i < 2; i++) {
		struct dtype byte = { (uint16_t)kinds[i], p->type.lanes };
		const char *name = dtype_short(dtype_of(kinds[i]));

		draft(p, &d, byte,
		      named(p, arena_printf(&m->arena, "%s_of", name)));
		store_value(p, &d, expr_cast(m, byte, d.a));
		draft(p, &d, p->type,
		      named(p, arena_printf(&m->arena, "of_%s_of", name)));
		store_value(p, &d,
			    expr_cast(m, p->type,
				      expr_cast(m, ints,
						expr_cast(m, byte, d.a))));
	}
}

void
cells_of_halves(struct cell_part *p)
{
	const struct dtype wide = { DT_F32, p->type.lanes };
	struct draft d;

	draft(p, &d, wide, named(p, "widen"));
	store_value(p, &d, expr_cast(p->m, wide, d.a));
}

void
cells_of_vectors(struct cell_part *p)
{
	static const enum expr_kind kinds[] = {
		EXPR_ADD, EXPR_SUB, EXPR_MUL, EXPR_DIV, EXPR_MIN, EXPR_MAX,
	};
	struct module *m = p->m;
	struct dtype one = dtype_of(p->type.kind);
	int lanes = p->type.lanes;
	const struct expr *first;
	struct draft d;

	for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
		if (kinds[i] == EXPR_DIV && !dtype_is_float(p->type)) {
			continue;
		}
		draft(p, &d, p->type, named(p, expr_kind_name(kinds[i])));
		store_value(p, &d, expr_binary(m, kinds[i], d.a, d.b));
	}
	draft(p, &d, p->type, named(p, "neg"));
	store_value(p, &d, expr_neg(m, d.a));
	draft(p, &d, p->type, named(p, "min_number"));
	store_value(p, &d,
		    expr_min(m, d.a,
			     expr_broadcast(m, expr_const(m, one, 6), lanes)));
	draft(p, &d, p->type, named(p, "max_number"));
	store_value(p, &d,
		    expr_max(m, d.a,
			     expr_broadcast(m, expr_const(m, one, 0), lanes)));
	draft(p, &d, p->type, named(p, "broadcast"));
	first = expr_mul(m, d.f->body->u.loop.var->expr, expr_i32(m, lanes));
	store_value(p, &d,
		    expr_add(m, d.a,
			     expr_broadcast(m,
					    expr_load(m, d.buffers[1], &first,
						      1),
					    lanes)));
	draft(p, &d, p->type, named(p, "select"));
	first = expr_mul(m, d.f->body->u.loop.var->expr, expr_i32(m, lanes));
	store_value(p, &d,
		    expr_if(m,
			    expr_lt(m, expr_load(m, d.buffers[2], &first, 1),
				    expr_const(m, one, 2)),
			    d.a, d.b));
	if (one.kind == DT_I32 && p->u.d->vectors.forms[FORM_CAST] != NULL) {
		bytes_in_vectors(p);
	}
	if (one.kind == DT_F32 && p->u.d->vectors.forms[FORM_CAST] != NULL) {
		floats_in_vectors(p);
	}
}
