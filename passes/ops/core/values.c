/* SPDX-License-Identifier: Apache-2.0 */
/* Propagates values through shape computations, with symbolic dimensions:
 *
 * before	s = Shape(x), x: f32[n, 3, 8]; b = Gather(s, 0); c = Mul(b, 2)
 * after	s = [n, 3, 8]; b = n; c = n * 2, known as tensor.elems
 *
 * No operator is named here: the elements of a small output are computed by
 * evaluating its definition at each index, over the known elements of the
 * inputs (symbolic_eval.c). Needs shapes; changes only elems. */
#include "symbolic_eval.h"

const struct expr *
value_literal(struct module *m, const struct value *v, size_t i)
{
	union number x = v->data ? number_load(v->type, v->data, i) : v->fill;

	if (dtype_is_float(v->type)) {
		return expr_float(m, v->type, x.f);
	}
	return dtype_class(v->type) == DTC_BOOL ? expr_bool(m, x.i != 0)
						: expr_int(m, v->type, x.i);
}

static const struct expr *
number_literal(struct module *m, struct dtype t, union number v)
{
	if (dtype_is_float(t)) {
		return expr_float(m, t, v.f);
	}
	return dtype_class(t) == DTC_BOOL ? expr_bool(m, v.i != 0)
					  : expr_index(m, v.i);
}

bool
tensor_known(struct module *m, struct tensor *t)
{
	const struct value *v = t->value;
	const struct expr **elems;

	if (t->elems) {
		return true;
	}
	if (!v || v->elems > KNOWN_ELEMS_MAX ||
	    dtype_class(v->type) == DTC_STRING) {
		return false;
	}
	elems = arena_exprs(&m->arena, v->elems + 1);
	for (int64_t i = 0; i < v->elems; i++) {
		union number x = v->data ? number_load(v->type, v->data,
						       (size_t)i)
					 : v->fill;

		if (v->type.kind == DT_U64 && x.i < 0) {
			/* the number is beyond int64, so that known elements
			 * cannot hold it */
			return false;
		}
		elems[i] = number_literal(m, v->type, x);
	}
	t->elems = elems;
	t->n_elems = (int)v->elems;
	return true;
}

bool
input_elems(struct module *m, const struct node *n, int i,
	    const struct expr *const **v, int *count)
{
	struct tensor *t = node_input(n, i);

	if (!t || dtype_is_float(t->type) || !tensor_known(m, t)) {
		return false;
	}
	*v = t->elems;
	*count = t->n_elems;
	return true;
}

bool
input_ints(struct module *m, const struct node *n, int i, const int64_t **v,
	   int *count)
{
	const struct expr *const *elems;
	int64_t *list;

	if (!input_elems(m, n, i, &elems, count)) {
		return false;
	}
	list = arena_array(&m->arena, int64_t, *count + 1);
	for (int k = 0; k < *count; k++) {
		if (!expr_is_int(elems[k], &list[k])) {
			return false;
		}
	}
	*v = list;
	return true;
}

bool
input_scalar(const struct node *n, int i, double *v)
{
	const struct tensor *t = node_input(n, i);
	const struct value *value = t ? t->value : NULL;
	union number x;

	if (t && !value && t->elems && t->n_elems == 1) {
		const struct expr *e = t->elems[0];

		*v = e->kind == EXPR_FLOAT ? e->u.fval : (double)e->u.ival;
		return e->kind == EXPR_FLOAT || e->kind == EXPR_INT;
	}
	if (!value || value->elems != 1) {
		return false;
	}
	x = value->data ? number_load(value->type, value->data, 0)
			: value->fill;
	*v = dtype_is_float(value->type)            ? x.f
	     : dtype_class(value->type) == DTC_UINT ? (double)x.u
						    : (double)x.i;
	return true;
}

static bool
small_constant_shape(const struct tensor *t, int64_t *shape, int64_t *n)
{
	*n = 1;
	if (t->ndim > EVAL_RANK_MAX) {
		return false;
	}
	for (int d = 0; d < t->ndim; d++) {
		if (!expr_is_int(t->shape[d], &shape[d])) {
			return false;
		}
		*n *= shape[d];
		if (*n > KNOWN_ELEMS_MAX) {
			return false;
		}
	}
	return true;
}

static bool
worth_evaluating(struct module *m, const struct node *n)
{
	int64_t shape[EVAL_RANK_MAX], elems;
	bool all = true, none = true;

	for (int k = 0; k < n->n_outputs; k++) {
		if (n->outputs[k] &&
		    (n->outputs[k]->elems ||
		     !small_constant_shape(n->outputs[k], shape, &elems) ||
		     (dtype_is_float(n->outputs[k]->type) && elems > 64))) {
			return false;
		}
	}
	for (int i = 0; i < n->n_inputs; i++) {
		if (n->inputs[i]) {
			none = false;
			all &= tensor_known(m, n->inputs[i]);
		}
	}
	return all && !none;
}

void
infer_values(struct graph *g, struct node *n)
{
	struct module *m = g->module;
	struct arena *a = &m->arena;
	struct symbolic_eval s = { .m = m,
				   .tensors = n->inputs,
				   .n_inputs = n->n_inputs,
				   .n_outputs = n->n_outputs,
				   .budget = 200000 };

	if (node_is_control(n) || !worth_evaluating(m, n)) {
		return;
	}
	s.inputs = arena_array(a, struct te_tensor *, n->n_inputs + 1);
	s.outputs = arena_array(a, struct te_tensor *, n->n_outputs + 1);
	if (!ops_define_alone(g, n, s.inputs, s.outputs)) {
		return;
	}
	for (int k = 0; k < n->n_outputs; k++) {
		struct tensor *t = n->outputs[k];
		const struct expr **elems;
		int64_t shape[EVAL_RANK_MAX], count;

		if (!t || !s.outputs[k] || !s.outputs[k]->stage ||
		    !small_constant_shape(t, shape, &count)) {
			continue;
		}
		elems = arena_exprs(a, count + 1);
		if (symbolic_elems(&s, s.outputs[k], t->type, shape, t->ndim,
				   count, elems)) {
			t->elems = elems;
			t->n_elems = (int)count;
		}
	}
}
