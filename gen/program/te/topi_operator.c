/* SPDX-License-Identifier: Apache-2.0 */
/* Operators on whole tensors, which are functions of topi. */
#include "te_parts.h"

bool
topi_operator(struct eval *ev, struct py_span at, const char *op,
	      const struct pval *x, const struct pval *y, struct pval *out)
{
	static const struct {
		const char *op, *name;
	} names[] = {
		{ "+", "add" },         { "-", "subtract" },
		{ "*", "multiply" },    { "/", "divide" },
		{ "%", "floor_mod" },   { "//", "floor_divide" },
		{ "**", "power" },      { "&", "bitwise_and" },
		{ "|", "bitwise_or" },  { "^", "bitwise_xor" },
		{ "<<", "left_shift" }, { ">>", "right_shift" },
	};
	struct pval f = { .kind = PV_BUILTIN }, args[2];

	for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
		if (strcmp(names[i].op, op) == 0) {
			op = names[i].name;
		}
	}
	f.u.row = names_in(ev, IN_TOPI, op);
	if (!f.u.row) {
		return eval_error(ev, at,
				  "%s is not defined for whole "
				  "tensors; index them",
				  op);
	}
	args[0] = *x;
	args[1] = y ? *y : pv_none();
	return eval_apply(ev, at, &f, args, y ? 2 : 1, out);
}

bool
topi_binary(struct eval *ev, struct py_span at, enum py_operator op,
	    const struct pval *x, const struct pval *y, struct pval *out)
{
	return topi_operator(ev, at, py_operator_text(op), x, y, out);
}

bool
topi_unary(struct eval *ev, struct py_span at, enum py_operator op,
	   const struct pval *x, struct pval *out)
{
	if (op == PY_OP_SUB) {
		return topi_operator(ev, at, "negative", x, NULL, out);
	}
	return eval_error(ev, at, "%s is not defined for %s",
			  py_operator_text(op), pv_kind_name(x->kind));
}
