/* SPDX-License-Identifier: Apache-2.0 */
/* Conversions between integers and their decimal digits in strings. The
 * importer makes these nodes from Cast (gen/onnx/compose/compose_text.c):
 *
 *	tirc.FormatInteger (x)         "-12" and zeros, in `bytes` bytes
 *	tirc.ParseInteger (x)          a sign and digits, to the first other byte */
#include "steps.h"

struct digits {
	struct steps s;
	const struct te_tensor *x;
	const struct expr *row;
	const struct buffer *rest, *at, *negative;
};

static const struct expr *
byte(const struct digits *d, int v)
{
	return expr_int(d->s.m, dtype_of(DT_U8), v);
}

static const struct expr *
big(const struct digits *d, int64_t v)
{
	return expr_int(d->s.m, dtype_of(DT_U64), v);
}

/* Adds `by` to a local variable. */
static struct stmt *
move(struct digits *d, const struct buffer *local, int by)
{
	struct module *m = d->s.m;

	return step_set(&d->s, local,
			expr_add(m, step_get(&d->s, local), expr_i32(m, by)));
}

static void
begin(struct digits *d, struct define *c, const char *name,
      const struct node *n, struct te_tensor *const *in, struct te_tensor **out)
{
	static const char *const names[] = { "y" };
	const struct tensor *y = n->outputs[0];

	d->s = steps_begin(c, name, name, names, &y->type, &y->ndim,
			   (const struct expr *const *[]){ y->shape }, 1, in, 1,
			   out);
	d->x = in[0];
	d->rest = step_local(&d->s, "rest", dtype_of(DT_U64));
	d->at = step_local(&d->s, "at", dtype_of(DT_I32));
	d->negative = step_local(&d->s, "negative", dtype_of(DT_BOOL));
}

static void
end(struct digits *d, struct iter_var *axes, struct stmt *body)
{
	struct steps *s = &d->s;

	body = step_alloc(s, d->at, step_alloc(s, d->negative, body));
	steps_end(s, axes, 1, step_alloc(s, d->rest, body));
}

/* ---- FormatInteger ---- */

/* The most bytes of the text of an element of input 0, which may be a bool. */
static int64_t
most_bytes(const struct node *n)
{
	const struct tensor *x = n->inputs[0];
	const struct node *cast = made_by(x, "", "Cast");
	bool is_signed = dtype_class(x->type) == DTC_INT;
	int bits = dtype_bits(x->type) - is_signed;

	if (cast && cast->inputs[0]->type.kind == DT_BOOL) {
		return 1;
	}
	/* log10(2) is below 0.30103 */
	return is_signed + 1 + bits * 30103 / 100000;
}

bool
infer_format_integer(struct infer *c, struct node *n)
{
	const struct expr *shape[2];
	int64_t bytes = node_attr_int(n, "bytes", 20);

	if (!infer_form(c, n, 0, TYPES_INTEGER, 1, 1)) {
		return false;
	}
	if (bytes < 1 || bytes > INT32_MAX ||
	    (bytes < most_bytes(n) && !(tensor_is_constant(n->inputs[0]) &&
					infer_positions(c, n, 0, 0, 10)))) {
		return infer_error(c, DIAG_BAD_ATTRIBUTE,
				   "a number has up to %lld bytes; correct "
				   "the attribute bytes",
				   (long long)most_bytes(n));
	}
	shape[0] = n->inputs[0]->shape[0];
	shape[1] = expr_index(c->module, bytes);
	infer_set(c, n->outputs[0], dtype_of(DT_U8), 2, shape);
	return true;
}

/* y[row, at] = the last digit of rest */
static struct stmt *
put_digit(struct digits *d)
{
	struct module *m = d->s.m;
	const struct expr *at[] = { d->row, step_get(&d->s, d->at) }, *digit;

	digit = expr_floormod(m, step_get(&d->s, d->rest), big(d, 10));
	digit = expr_add(m, expr_cast(m, dtype_of(DT_U8), digit), byte(d, '0'));
	return stmt_store(d->s.f, d->s.out[0]->buffer, digit, at, 2);
}

/* while rest has more digits: rest /= 10, then the statement `each` */
static struct stmt *
each_digit(struct digits *d, struct stmt *each)
{
	struct steps *s = &d->s;
	const struct expr *rest = step_get(s, d->rest);
	struct stmt *shorter = step_set(s, d->rest,
					expr_floordiv(s->m, rest, big(d, 10)));

	return stmt_while(s->f, expr_le(s->m, big(d, 10), rest),
			  step_seq(s, 2, shorter, each, NULL, NULL));
}

/* 	for j: y[row, j] = 0
 *	negative = x < 0; rest = the magnitude of x; at = the last digit's place
 *	y[row, at] = a digit for each one, from the last to the first
 *	if negative: y[row, 0] = '-' */
bool
define_format_integer(struct define *c, const struct node *n,
		      struct te_tensor *const *in, struct te_tensor **out)
{
	struct module *m = c->module;
	struct iter_var *axes = define_axes(c, n->inputs[0]);
	struct digits d = { .row = axes[0].var->expr };
	struct steps *s = &d.s;
	struct var *j = var_new(m, "j", dtype_of(DT_I32));
	const struct expr *at[] = { d.row, j->expr }, *x, *magnitude, *minus;
	struct stmt *clear, *count, *write;

	begin(&d, c, "format_integer", n, in, out);
	x = te_at(m, in[0], &d.row, 1);
	magnitude = expr_cast(m, dtype_of(DT_U64), x);
	minus = dtype_class(x->type) == DTC_UINT
			? expr_bool(m, false)
			: expr_lt(m, x, expr_int(m, x->type, 0));
	magnitude = expr_select(m, step_get(s, d.negative),
				expr_sub(m, big(&d, 0), magnitude), magnitude);
	clear = step_for(s, j, n->outputs[0]->shape[1],
			 stmt_store(s->f, s->out[0]->buffer, byte(&d, 0), at,
				    2));
	count = step_seq(s, 4, step_set(s, d.negative, minus),
			 step_set(s, d.rest, magnitude),
			 step_set(s, d.at,
				  expr_cast(m, dtype_of(DT_I32),
					    step_get(s, d.negative))),
			 each_digit(&d, move(&d, d.at, 1)));
	write = each_digit(&d, step_seq(s, 2, move(&d, d.at, -1), put_digit(&d),
					NULL, NULL));
	at[1] = expr_i32(m, 0);
	write = step_seq(s, 4, step_set(s, d.rest, magnitude), put_digit(&d),
			 write,
			 stmt_if(s->f, step_get(s, d.negative),
				 stmt_store(s->f, s->out[0]->buffer,
					    byte(&d, '-'), at, 2),
				 NULL));
	end(&d, axes, step_seq(s, 3, clear, count, write, NULL));
	return true;
}

/* ---- ParseInteger ---- */

bool
infer_parse_integer(struct infer *c, struct node *n)
{
	if (!infer_strings(c, n, 0, 2, 2)) {
		return false;
	}
	infer_set(c, n->outputs[0], dtype_of(DT_I64), 1, n->inputs[0]->shape);
	return true;
}

static const struct expr *
is_byte(struct digits *d, int v)
{
	const struct expr *at[] = { d->row, step_get(&d->s, d->at) };

	return expr_eq(d->s.m, te_at(d->s.m, d->x, at, 2), byte(d, v));
}

/*	at = 0; negative = x[row, 0] == '-'; rest = 0
 *	if negative or x[row, 0] == '+': at = 1
 *	while at < bytes and x[row, at] is a digit:
 *		rest = 10 * rest + digit; at += 1
 *	y[row] = negative ? -rest : rest */
bool
define_parse_integer(struct define *c, const struct node *n,
		     struct te_tensor *const *in, struct te_tensor **out)
{
	struct module *m = c->module;
	struct dtype i64 = dtype_of(DT_I64);
	struct iter_var *axes = define_axes(c, n->outputs[0]);
	struct digits d = { .row = axes[0].var->expr };
	struct steps *s = &d.s;
	const struct expr *at[2] = { d.row }, *x, *digit, *rest, *is_digit;
	struct stmt *start, *more;

	begin(&d, c, "parse_integer", n, in, out);
	at[1] = step_get(s, d.at);
	x = te_at(m, in[0], at, 2);
	rest = step_get(s, d.rest);
	is_digit = expr_and(m, expr_le(m, byte(&d, '0'), x),
			    expr_le(m, x, byte(&d, '9')));
	digit = expr_cast(m, dtype_of(DT_U64), expr_sub(m, x, byte(&d, '0')));
	more = step_seq(s, 2,
			step_set(s, d.rest,
				 expr_add(m, expr_mul(m, rest, big(&d, 10)),
					  digit)),
			move(&d, d.at, 1), NULL, NULL);
	more = stmt_while(s->f,
			  expr_and(m, expr_lt(m, at[1], n->inputs[0]->shape[1]),
				   is_digit),
			  more);
	start = step_seq(s, 4, step_set(s, d.at, expr_i32(m, 0)),
			 step_set(s, d.rest, big(&d, 0)),
			 step_set(s, d.negative, is_byte(&d, '-')),
			 stmt_if(s->f,
				 expr_or(m, step_get(s, d.negative),
					 is_byte(&d, '+')),
				 move(&d, d.at, 1), NULL));
	rest = expr_select(m, step_get(s, d.negative),
			   expr_sub(m, big(&d, 0), rest), rest);
	end(&d, axes,
	    step_seq(s, 3, start, more,
		     stmt_store(s->f, s->out[0]->buffer,
				expr_cast(m, i64, rest), &d.row, 1),
		     NULL));
	return true;
}
