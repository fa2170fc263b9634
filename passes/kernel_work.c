/* SPDX-License-Identifier: Apache-2.0 */
/* What a kernel does, in figures, from its lowered text. */
#include "kernel_build.h"
#include "lower.h"
#include "ops.h"

struct work {
	double flops;
	double times; /* product of the loops around */
};

static double
count_expr(const struct expr *e)
{
	double n = 0;

	switch (e->kind) {
	case EXPR_ADD:
	case EXPR_SUB:
	case EXPR_MUL:
	case EXPR_DIV:
	case EXPR_MIN:
	case EXPR_MAX:
		n = dtype_is_float(e->type) ? e->type.lanes : 0;
		break;
	case EXPR_CALL:
		n = dtype_is_float(e->type) ? e->type.lanes : 0;
		break;
	case EXPR_LOAD:
		return 0;
	default:
		break;
	}
	for (int i = 0; i < e->n_args; i++) {
		n += count_expr(e->args[i]);
	}
	return n;
}

static double
count_stmt(const struct stmt *s)
{
	double n = 0;

	if (s->kind == STMT_STORE) {
		return count_expr(s->args[0]);
	}
	if (s->kind == STMT_LET) {
		n = count_expr(s->args[0]);
	}
	for (int i = 0; i < s->n_children; i++) {
		double child = s->children[i] != NULL
				       ? count_stmt(s->children[i])
				       : 0;

		/* One of the branches is taken, the longer one. */
		if (s->kind == STMT_IF) {
			n = child > n ? child : n;
		} else {
			n += child;
		}
	}
	if (s->kind == STMT_FOR) {
		int64_t extent;

		if (expr_is_int(s->args[1], &extent)) {
			n *= (double)extent;
		}
	}
	return n;
}

static int64_t
arg_bytes(const struct kernel_arg *arg)
{
	int64_t elems;

	if (arg->buffer == NULL || !buffer_max_elems(arg->buffer, &elems)) {
		return 0;
	}
	return elems * buffer_element_bytes(arg->buffer);
}

/* What a function does with floats. */
struct float_uses {
	bool rounds, multiplies, adds, calls;
};

static bool
is_rounding(const struct expr *e)
{
	if (e->kind == EXPR_CAST) {
		return dtype_is_float(e->args[0]->type) &&
		       dtype_is_int(e->type);
	}
	return e->kind == EXPR_CALL &&
	       (e->u.intrin == INTRIN_NEARBYINT ||
		e->u.intrin == INTRIN_ROUND || e->u.intrin == INTRIN_FLOOR ||
		e->u.intrin == INTRIN_CEIL || e->u.intrin == INTRIN_TRUNC ||
		e->u.intrin == INTRIN_TO_INT);
}

/* Is it a function that a dialect may have a body for, of sums and products? */
static bool
is_written_out(const struct expr *e)
{
	return e->kind == EXPR_CALL &&
	       (e->u.intrin == INTRIN_EXP || e->u.intrin == INTRIN_LOG ||
		e->u.intrin == INTRIN_TANH || e->u.intrin == INTRIN_ERF ||
		e->u.intrin == INTRIN_SIGMOID);
}

static void
find_float_use(void *ctx, const struct expr *e)
{
	struct float_uses *uses = ctx;

	uses->rounds |= is_rounding(e);
	if (!dtype_is_float(e->type)) {
		return;
	}
	uses->multiplies |= e->kind == EXPR_MUL;
	uses->adds |= e->kind == EXPR_ADD || e->kind == EXPR_SUB;
	uses->calls |= is_written_out(e);
}

static bool
see_float_uses(void *ctx, struct stmt *s)
{
	for (int i = 0; i < s->n_args; i++) {
		if (s->args[i] != NULL) {
			expr_visit(s->args[i], find_float_use, ctx);
		}
	}
	return true;
}

static struct float_uses
float_uses(const struct func *f)
{
	struct float_uses uses = { false, false, false, false };

	stmt_visit(f->body, see_float_uses, &uses);
	return uses;
}

bool
kernel_rounds(const struct func *f)
{
	return float_uses(f).rounds;
}

bool
kernel_wants_apart(const struct func *f)
{
	struct float_uses uses = float_uses(f);

	return uses.rounds && ((uses.multiplies && uses.adds) || uses.calls);
}

static void
find_call(void *ctx, const struct expr *e)
{
	*(bool *)ctx |= e->kind == EXPR_CALL &&
			e->u.intrin == INTRIN_CALL_EXTERN;
}

static bool
see_call(void *ctx, struct stmt *s)
{
	for (int i = 0; i < s->n_args; i++) {
		if (s->args[i] != NULL) {
			expr_visit(s->args[i], find_call, ctx);
		}
	}
	return true;
}

void
kernel_measure(struct kernel *k)
{
	bool calls = false;

	stmt_visit(k->func->body, see_call, &calls);
	k->flops = count_stmt(k->func->body);
	k->stack_bytes = lower_stack_bytes(k->func);
	k->apart = kernel_wants_apart(k->func);
	for (int i = 0; i < k->group->nodes.n; i++) {
		const struct node *n = k->group->nodes.data[i];
		int64_t macs = op_macs(n);

		k->macs += macs;
		/* Instructions multiply, not the text. */
		if (calls && macs > 0 && dtype_is_float(n->inputs[0]->type)) {
			k->flops += 2 * (double)macs;
		}
	}
	if (k->group->region != NULL) {
		k->flops = 2 * (double)k->macs;
	}
	for (int i = 0; i < k->args.n; i++) {
		const struct kernel_arg *arg = &k->args.data[i];

		if (arg->kind == ARG_SCRATCH) {
			continue;
		}
		k->read_bytes += arg->read ? arg_bytes(arg) : 0;
		k->write_bytes += arg->written ? arg_bytes(arg) : 0;
		k->weight_bytes += arg->kind == ARG_WEIGHT ? arg_bytes(arg) : 0;
	}
}
