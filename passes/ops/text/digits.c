/* SPDX-License-Identifier: Apache-2.0 */
/* Conversions between integers and their decimal digits in strings. The
 * importer makes these nodes from Cast (gen/onnx/compose/compose_text.c):
 *
 *	tirc.FormatInteger (x)         "-12" and zeros, in `bytes` bytes
 *	tirc.ParseInteger (x)          a sign and digits, to the first other byte */
#include "steps.h"

static bool
run(struct define *c, const char *name, const struct node *n,
    struct te_tensor *const *in, struct te_tensor **out)
{
	static const char *const names[] = { "y" };
	const struct tensor *x = n->inputs[0], *y = n->outputs[0];
	struct iter_var *axes = define_shape_axes(c, 1, y->shape);
	struct steps s = steps_begin(c, name, name, names, &y->type, &y->ndim,
				     (const struct expr *const *[]){ y->shape },
				     1, in, 1, out);

	steps_row(&s, "x", in[0], &axes[0].var->expr, 1);
	steps_row(&s, "y", out[0], &axes[0].var->expr, 1);
	steps_flag(&s, "is_signed", dtype_class(x->type) != DTC_UINT);
	return steps_run(&s, name, axes, 1);
}

/* ---- FormatInteger ---- */

/* The largest number of bytes in the text of an element of input 0, which may
 * be a bool. */
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

bool
define_format_integer(struct define *c, const struct node *n,
		      struct te_tensor *const *in, struct te_tensor **out)
{
	return run(c, "format_integer", n, in, out);
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

bool
define_parse_integer(struct define *c, const struct node *n,
		     struct te_tensor *const *in, struct te_tensor **out)
{
	return run(c, "parse_integer", n, in, out);
}
