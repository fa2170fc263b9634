/* SPDX-License-Identifier: Apache-2.0 */
/* Parameters of models in programs, and arrays for tensors. */
#include "numpy.h"
#include "relay_values.h"

struct array *
array_of_zeros(struct eval *ev, struct py_span at, const struct tensor *t)
{
	int64_t shape[ARRAY_MAX_RANK];
	struct array_work w;
	struct array *x;

	for (int d = 0; d < t->ndim; d++) {
		if (!expr_is_int(t->shape[d], &shape[d])) {
			eval_error(ev, at,
				   "the sizes of %s are open; give its shape "
				   "to from_onnx",
				   tensor_label(t));
			return NULL;
		}
	}
	w = np_work(ev);
	x = array_new(&w, t->type, t->ndim, shape);
	return np_done(ev, at, &w) ? x : NULL;
}

struct array *
array_of_constant(struct eval *ev, struct py_span at, const struct tensor *t)
{
	const struct value *v = t->value;
	struct array *x = array_of_zeros(ev, at, t);

	for (int64_t i = 0; x != NULL && i < array_elems(x); i++) {
		array_set(x, i,
			  v->data != NULL
				  ? number_load(v->type, v->data, (size_t)i)
				  : v->fill);
	}
	return x;
}

/* Implements params["w"].numpy(). */
bool
param_numpy(struct call *c, struct pval *out)
{
	const struct pv_param *p = c->self.u.any;
	struct array *x;

	if (p->tensor == NULL || p->tensor->value == NULL) {
		return call_error(c, -1,
				  "the elements of a built model's parameter "
				  "are in its file of weights, in the order in "
				  "which kernels read them; the parameters of "
				  "from_onnx have the model's order");
	}
	x = array_of_constant(c->ev, c->span, p->tensor);
	*out = pv_array(x);
	return x != NULL;
}

/* Sets *x to the value of a parameter or to an array. Returns false after an
 * error. */
static bool
take_value(struct eval *ev, struct py_span at, const struct pval *v,
	   struct array **x)
{
	const struct pv_param *p = v->u.any;

	if (v->kind != PV_PARAM) {
		return np_value(ev, at, v, x);
	}
	if (p->tensor == NULL || p->tensor->value == NULL) {
		return eval_error(ev, at,
				  "the elements of a built model's parameter "
				  "are in its file of weights");
	}
	*x = array_of_constant(ev, at, p->tensor);
	return *x != NULL;
}

struct array *
array_for(struct eval *ev, struct py_span at, const struct tensor *t,
	  const struct pval *v)
{
	struct array *x, *to = array_of_zeros(ev, at, t);
	struct array_work w;

	if (to == NULL || !take_value(ev, at, v, &x)) {
		return NULL;
	}
	if (x->ndim != to->ndim ||
	    memcmp(x->shape, to->shape, sizeof *x->shape * (size_t)x->ndim) !=
		    0) {
		eval_error(ev, at,
			   "the array for %s has another shape than the input",
			   tensor_label(t));
		return NULL;
	}
	w = np_work(ev);
	array_store(&w, to, x);
	return np_done(ev, at, &w) ? to : NULL;
}

/* Adds the value of an input to the request. Returns false after an error. */
static bool
add_param(struct eval *ev, struct py_span at, struct graph_param *out,
	  const struct tensor *t, const struct pval *v)
{
	struct array *x = array_for(ev, at, t, v);

	if (x == NULL) {
		return false;
	}
	*out = (struct graph_param){ .name = tensor_label(t),
				     .type = t->type,
				     .ndim = x->ndim,
				     .shape = x->shape,
				     .data = x->data };
	return true;
}

bool
rmod_params(struct call *c, int i, struct pv_graph *module)
{
	struct eval *ev = c->ev;
	const struct graph *g = rmod_of(ev, c->span, module);
	const struct pv_dict *d;
	struct graph_param *list;
	int n = 0;

	if (g == NULL || !arg_given(c, i)) {
		return g != NULL;
	}
	if (c->args[i].kind != PV_DICT) {
		return value_kind_error(c, i, "a dict of parameters");
	}
	d = c->args[i].u.dict;
	list = arena_array(ev->a, struct graph_param, g->inputs.n + 1);
	for (int k = 0; k < g->inputs.n; k++) {
		const struct tensor *t = g->inputs.data[k];
		struct pval key = pv_string(ev, tensor_label(t));
		const struct pval *v;

		if (!dict_get(ev, c->spans[i], d, &key, &v) ||
		    (v != NULL &&
		     !add_param(ev, c->spans[i], &list[n++], t, v))) {
			return false;
		}
	}
	if (n > 0) {
		module->request.params = list;
		module->request.n_params = n;
		module->graph = arena_new(ev->a, struct graph *);
	}
	return true;
}
