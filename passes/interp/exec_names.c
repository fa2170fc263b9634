/* SPDX-License-Identifier: Apache-2.0 */
/* The variables and buffers of the executor's compiler, and the variables that
 * an expression depends on, also through block and LET variables. */
#include "exec.h"
#include "iterate.h"

enum column
exec_column(struct dtype t)
{
	if (dtype_class(t) == DTC_BOOL) {
		return COLUMN_BOOL;
	}
	if (dtype_is_float(t)) {
		return t.kind == DT_F64 ? COLUMN_F64 : COLUMN_F32;
	}
	return COLUMN_INT;
}

void
exec_bind(struct exec_builder *b, const struct var *v, const struct expr *value,
	  int reg, int slot)
{
	struct exec_binding binding = { v, value, reg, slot };

	vec_push(b->arena, &b->bindings, binding);
}

const struct exec_binding *
exec_find(const struct exec_builder *b, const struct var *v)
{
	for (int i = b->bindings.n - 1; i >= 0; i--) {
		if (b->bindings.data[i].var == v) {
			return &b->bindings.data[i];
		}
	}
	return NULL;
}

int
exec_slot(struct exec_builder *b, const struct var *v)
{
	int slot = b->exec->n_slots++;

	exec_bind(b, v, NULL, -1, slot);
	return slot;
}

int
exec_buffer(struct exec_builder *b, const struct buffer *buffer)
{
	for (int i = 0; i < b->buffers.n; i++) {
		if (b->buffers.data[i] == buffer) {
			return i;
		}
	}
	vec_push(b->arena, &b->buffers, buffer);
	b->exec->n_buffers = b->buffers.n;
	return b->buffers.n - 1;
}

/* ---- what an expression depends on */

bool
exec_uses(const struct exec_builder *b, const struct expr *e,
	  const struct var *v)
{
	struct expr_iter it = expr_each_of(e, EXPR_VAR);
	bool found = false;

	while (!found && (e = expr_next(&it)) != NULL) {
		const struct exec_binding *binding = exec_find(b, e->u.var);

		found = e->u.var == v || (binding && binding->value &&
					  exec_uses(b, binding->value, v));
	}
	expr_stop(&it);
	return found;
}

static bool
uses_any(const struct exec_builder *b, const struct expr *e,
	 const struct var *const *vars, int n)
{
	for (int i = 0; i < n; i++) {
		if (exec_uses(b, e, vars[i])) {
			return true;
		}
	}
	return false;
}

static bool
add_affine(const struct exec_builder *b, const struct expr *e, int64_t scale,
	   const struct var *const *vars, int n, int64_t *coeff)
{
	const struct exec_binding *binding;
	int64_t factor;

	switch (e->kind) {
	case EXPR_INT:
		return true;
	case EXPR_VAR:
		for (int i = 0; i < n; i++) {
			if (vars[i] == e->u.var) {
				coeff[i] += scale;
				return true;
			}
		}
		binding = exec_find(b, e->u.var);
		return !binding || !binding->value ||
		       add_affine(b, binding->value, scale, vars, n, coeff);
	case EXPR_ADD:
	case EXPR_SUB:
		return add_affine(b, e->args[0], scale, vars, n, coeff) &&
		       add_affine(b, e->args[1],
				  e->kind == EXPR_SUB ? -scale : scale, vars, n,
				  coeff);
	case EXPR_MUL:
		if (expr_is_int(e->args[1], &factor)) {
			return add_affine(b, e->args[0], scale * factor, vars,
					  n, coeff);
		}
		if (expr_is_int(e->args[0], &factor)) {
			return add_affine(b, e->args[1], scale * factor, vars,
					  n, coeff);
		}
		break;
	case EXPR_CAST:
		if (dtype_is_int(e->type) && dtype_is_int(e->args[0]->type) &&
		    dtype_bits(e->type) >= 32) {
			return add_affine(b, e->args[0], scale, vars, n, coeff);
		}
		break;
	default:
		break;
	}
	return !uses_any(b, e, vars, n);
}

bool
exec_affine(const struct exec_builder *b, const struct expr *e,
	    const struct var *const *vars, int n, int64_t *coeff)
{
	for (int i = 0; i < n; i++) {
		coeff[i] = 0;
	}
	return add_affine(b, e, 1, vars, n, coeff);
}
