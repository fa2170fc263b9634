/* SPDX-License-Identifier: Apache-2.0 */
/* compute_inline: the stages that read an inlined stage compute its elements
 * themselves.
 *
 *   B[i] = A[i] * 2          s[B].compute_inline()
 *   C[i] = B[i] + 1                  ->              C[i] = A[i] * 2 + 1
 *
 * Inlining works on tensor expressions, in which each element is computed once;
 * so the order of loops does not matter, and the step of a scan is treated like
 * any other stage. */
#include "stage.h"

static bool
reads(const struct te_stage *op, const struct te_tensor *t)
{
	for (int i = 0; i < op->n_inputs; i++) {
		if (op->inputs[i] == t) {
			return true;
		}
	}
	return false;
}

/* Does op itself read t? A scan itself reads only its initial states; its other
 * inputs are read by the stages of its steps. */
static bool
reads_itself(const struct te_stage *op, const struct te_tensor *t)
{
	for (int k = 0; op->scan && k < op->n_out; k++) {
		if (op->scan->init[k] == t) {
			return true;
		}
	}
	return !op->scan && reads(op, t);
}

/* Replaces t in the list of op's inputs by the inputs of the stage that
 * computes t. */
static void
join_inputs(struct module *m, struct te_stage *op, const struct te_tensor *t)
{
	const struct te_stage *from = t->stage;
	struct te_tensor **list = arena_array(&m->arena, struct te_tensor *,
					      op->n_inputs + from->n_inputs);
	struct te_stage joined = { .inputs = list };

	for (int i = 0; i < op->n_inputs; i++) {
		if (op->inputs[i] != t) {
			list[joined.n_inputs++] = op->inputs[i];
		}
	}
	for (int i = 0; i < from->n_inputs; i++) {
		if (!reads(&joined, from->inputs[i])) {
			list[joined.n_inputs++] = from->inputs[i];
		}
	}
	op->inputs = list;
	op->n_inputs = joined.n_inputs;
}

/* Inlines the elements of t in a body; in a reduction, in all its expressions. */
static const struct expr *
inline_body(struct module *m, const struct expr *body,
	    const struct te_tensor *t)
{
	const struct reduction *r;
	struct reduction *made;
	const struct expr **init, **sources;

	if (body->kind != EXPR_REDUCE) {
		return te_inline(m, body, t);
	}
	r = body->u.reduce;
	made = arena_copy(&m->arena, r, sizeof *r);
	sources = arena_exprs(&m->arena, body->n_args);
	init = arena_exprs(&m->arena, body->n_args);
	for (int k = 0; k < body->n_args; k++) {
		sources[k] = te_inline(m, body->args[k], t);
		init[k] = r->init ? te_inline(m, r->init[k], t) : NULL;
	}
	made->init = r->init ? init : NULL;
	made->condition = r->condition ? te_inline(m, r->condition, t) : NULL;
	return expr_reduce(m, made, sources, body->n_args);
}

static bool
inline_into(struct module *m, struct te_stage *op, const struct te_tensor *t,
	    const char **why)
{
	const struct expr **bodies;

	if (op->kind != TE_COMPUTE) {
		*why = arena_printf(&m->arena,
				    "%s, %s, reads the whole of %s, which "
				    "cannot be inlined",
				    op->name,
				    op->kind == TE_SCAN ? "a scan"
							: "an outside function",
				    t->buffer->name);
		return false;
	}
	bodies = arena_exprs(&m->arena, op->n_out);
	for (int k = 0; k < op->n_out; k++) {
		bodies[k] = inline_body(m, op->bodies[k], t);
	}
	op->bodies = bodies;
	join_inputs(m, op, t);
	return true;
}

/* Does op compute the update of a scan of the schedule? */
static bool
is_update(const struct te_schedule *s, const struct te_stage *op)
{
	for (int i = 0; i < s->stages.n; i++) {
		const struct te_stage *x = s->stages.data[i]->op;

		for (int k = 0; x->scan && k < x->n_out; k++) {
			if (x->scan->update[k]->stage == op) {
				return true;
			}
		}
	}
	return false;
}

bool
stage_inline(struct module *m, struct te_schedule *s, int i, const char **why)
{
	const struct te_stage *of = s->stages.data[i]->op;

	if (of->kind != TE_COMPUTE || is_update(s, of)) {
		*why = arena_printf(&m->arena, "%s is %s and cannot be inlined",
				    of->name,
				    of->kind == TE_COMPUTE ? "stored by a scan"
				    : of->kind == TE_SCAN  ? "a scan"
							   : "an outside "
							     "function");
		return false;
	}
	for (int k = 0; k < s->stages.n; k++) {
		struct te_stage *op = s->stages.data[k]->op;

		for (int n = 0; n < of->n_out; n++) {
			if (reads_itself(op, of->out[n]) &&
			    !inline_into(m, op, of->out[n], why)) {
				return false;
			}
		}
	}
	for (int k = 0; k < s->stages.n; k++) {
		struct te_stage *op = s->stages.data[k]->op;

		if (op->scan && !te_scan_settle(m, op, why)) {
			return false;
		}
	}
	return true;
}
