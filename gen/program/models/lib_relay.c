/* SPDX-License-Identifier: Apache-2.0 */
/* Implements onnx.load, from_onnx, and the modules and functions that represent
 * models in programs. */
#include <inttypes.h>

#include "build_parts.h"
#include "graph_region.h"
#include "relay.h"
#include "relay_values.h"

/* -- models -- */

/* Can the evaluation read models: did the caller give the functions for this?
 * It does not for a schedule or a trace. Returns false after an error
 * otherwise. */
static bool
has_services(struct call *c)
{
	return c->ev->o->graphs != NULL ||
	       call_error(c, -1, "a schedule or a trace cannot read models");
}

bool
onnx_load(struct call *c, struct pval *out)
{
	struct pv_onnx *model = arena_new(c->ev->a, struct pv_onnx);
	const struct graph_services *s = c->ev->o->graphs;

	model->message = arena_new(c->ev->a, const struct model_message *);
	if (!has_services(c) || !arg_text(c, 0, &model->said)) {
		return false;
	}
	model->path = s->find(s->ctx, model->said, call_place(c, 0));
	*out = pv_any(PV_ONNX, model);
	return model->path != NULL;
}

/* Appends a shape in the form ":1,3,224,224". Returns false after an error. */
static bool
put_shape(struct call *c, int i, const struct pval *shape, struct strbuf *s)
{
	struct pval *sizes;
	int n;

	if (!eval_items(c->ev, c->spans[i], shape, &sizes, &n)) {
		return false;
	}
	for (int k = 0; k < n; k++) {
		if (sizes[k].kind != PV_INT) {
			return call_error(c, i,
					  "a size of an input is an integer, "
					  "not %s",
					  pv_kind_name(sizes[k].kind));
		}
		strbuf_printf(s, "%c%" PRId64, k == 0 ? ':' : ',',
			      sizes[k].u.ival);
	}
	return true;
}

bool
rmod_shapes(struct call *c, int i, struct graph_request *r)
{
	struct eval *ev = c->ev;
	VEC(const char *) list = { 0 };
	const struct pv_dict *d;

	if (i >= c->n || !arg_given(c, i)) {
		return true;
	}
	if (c->args[i].kind != PV_DICT) {
		return value_kind_error(c, i, "a dict of shapes");
	}
	d = c->args[i].u.dict;
	for (int k = 0; k < d->keys.n; k++) {
		struct strbuf s;
		bool ok;

		if (d->keys.data[k].kind != PV_STRING) {
			return value_kind_error(c, i, "names of inputs");
		}
		strbuf_init(&s);
		strbuf_puts(&s, d->keys.data[k].u.text.data);
		ok = put_shape(c, i, &d->values.data[k], &s);
		vec_push(ev->a, &list, arena_strdup(ev->a, s.data));
		strbuf_release(&s);
		if (!ok) {
			return false;
		}
	}
	r->shapes = list.data;
	r->n_shapes = list.n;
	return true;
}

/* Makes a module of the model in argument 0, with the shapes in argument 1.
 * Returns NULL after an error. */
static struct pv_graph *
module_of_model(struct call *c, bool is_relax)
{
	struct eval *ev = c->ev;
	struct pv_graph *module = arena_new(ev->a, struct pv_graph);

	if (c->args[0].kind != PV_ONNX) {
		value_kind_error(c, 0, "a model of onnx.load");
		return NULL;
	}
	module->request.path = ((const struct pv_onnx *)c->args[0].u.any)->path;
	module->graph = arena_new(ev->a, struct graph *);
	module->is_relax = is_relax;
	module->at = c->span;
	return rmod_shapes(c, 1, &module->request) &&
			       rmod_of(ev, c->span, module)
		       ? module
		       : NULL;
}

static struct pv_param *
param_of(struct eval *ev, const struct tensor *t)
{
	struct pv_param *p = arena_new(ev->a, struct pv_param);
	int64_t *shape = arena_array(ev->a, int64_t, t->ndim + 1);

	for (int d = 0; d < t->ndim; d++) {
		expr_is_int(t->shape[d], &shape[d]);
	}
	p->tensor = t;
	p->dtype = dtype_name(t->type);
	p->ndim = t->ndim;
	p->shape = shape;
	return p;
}

struct pval
params_dict(struct eval *ev, struct py_span at, struct graph *g)
{
	struct pval d = pv_dict_new(ev);
	int n;
	struct tensor *const *list = relay_params(g, &n);
	const char *const *names = relay_param_names(g);

	for (int i = 0; i < n; i++) {
		struct pval key = pv_string(ev, names[i]);
		struct pval v = pv_any(PV_PARAM, param_of(ev, list[i]));

		if (!dict_set(ev, at, d.u.dict, &key, &v)) {
			break;
		}
	}
	return d;
}

bool
relay_from_onnx(struct call *c, struct pval *out)
{
	struct pv_graph *module = module_of_model(c, false);
	struct pval pair[2];

	if (module == NULL) {
		return false;
	}
	pair[0] = pv_any(PV_GRAPH, module);
	pair[1] = params_dict(c->ev, c->span, *module->graph);
	*out = pv_list_of(c->ev, PV_TUPLE, pair, 2);
	return true;
}

/* Implements relay.fromtext and parser.parse: the module that a text describes. */
bool
relay_parse(struct call *c, struct pval *out)
{
	struct eval *ev = c->ev;
	struct pv_graph *module = arena_new(ev->a, struct pv_graph);

	if (!has_services(c) || !arg_text(c, 0, &module->request.text)) {
		return false;
	}
	module->request.path = "from_string";
	if (arg_given(c, 1) && !arg_text(c, 1, &module->request.path)) {
		return false;
	}
	module->request.text_bytes = c->args[0].u.text.n;
	module->graph = arena_new(ev->a, struct graph *);
	module->at = c->span;
	*out = pv_any(PV_GRAPH, module);
	return rmod_of(ev, c->span, module) != NULL;
}

bool
relax_from_onnx(struct call *c, struct pval *out)
{
	struct pv_graph *module = module_of_model(c, true);

	*out = pv_any(PV_GRAPH, module);
	return module != NULL;
}

/* Implements relax.frontend.detach_params: returns the module and the
 * parameters of its function main. The module keeps the parameters, and a call
 * may give them, too. */
bool
relax_detach_params(struct call *c, struct pval *out)
{
	struct pval pair[2], params, key = pv_string(c->ev, "main"), list;
	struct graph *g;

	if (c->args[0].kind != PV_GRAPH) {
		return value_kind_error(c, 0, "a module of from_onnx");
	}
	g = rmod_of(c->ev, c->span, c->args[0].u.any);
	if (g == NULL) {
		return false;
	}
	params = params_dict(c->ev, c->span, g);
	list = pv_list_of(c->ev, PV_LIST, params.u.dict->values.data,
			  params.u.dict->values.n);
	pair[0] = c->args[0];
	pair[1] = pv_dict_new(c->ev);
	*out = pv_list_of(c->ev, PV_TUPLE, pair, 2);
	return dict_set(c->ev, c->span, pair[1].u.dict, &key, &list);
}

bool
param_attribute(struct call *c, struct pval *out)
{
	const struct pv_param *p = c->self.u.any;

	if (strcmp(c->row->name, "dtype") == 0) {
		*out = pv_string(c->ev, p->dtype);
		return true;
	}
	*out = pv_list_of(c->ev, PV_TUPLE, NULL, 0);
	for (int i = 0; i < p->ndim; i++) {
		vec_push(c->ev->a, out->u.list, pv_int(p->shape[i]));
	}
	return true;
}

/* -- modules -- */

struct pv_graph *
rmod_copy(struct eval *ev, const struct pv_graph *of)
{
	struct pv_graph *copy = arena_copy(ev->a, of, sizeof *of);

	copy->graph = arena_new(ev->a, struct graph *);
	return copy;
}

struct graph *
rmod_of(struct eval *ev, struct py_span at, const struct pv_graph *module)
{
	const struct graph_services *s = ev->o->graphs;
	int errors = ev->m->diags.list.n;

	if (*module->graph == NULL && eval_tick(ev, at, 10000)) {
		*module->graph = s->read(s->ctx, &module->request);
		if (*module->graph == NULL) {
			eval_locate(ev, at, errors);
		}
	}
	return *module->graph;
}

void
rmod_text(struct eval *ev, const struct pval *v, bool repr, struct strbuf *out)
{
	struct py_span at = { 0 };
	const struct pv_graph_func *f = v->u.any;
	const struct pv_graph *module = v->kind == PV_GRAPH ? v->u.any
							    : f->module;
	struct graph *g = rmod_of(ev, at, module);

	(void)repr;
	if (g == NULL) {
		return;
	}
	if (module->is_relax) {
		relax_print(g, out);
	} else if (v->kind == PV_GRAPH) {
		relay_print(g, out);
	} else {
		relay_print_function(g, f->function, out);
	}
	/* print adds a newline at the end */
	if (out->len > 0 && out->data[out->len - 1] == '\n') {
		out->data[--out->len] = '\0';
	}
	eval_tick_bytes(ev, at, out->len);
}

static struct pval
function_value(struct eval *ev, const struct pv_graph *module, int i)
{
	struct pv_graph_func *f = arena_new(ev->a, struct pv_graph_func);

	*f = (struct pv_graph_func){ module, i };
	return pv_any(PV_GRAPH_FUNC, f);
}

bool
rmod_function(struct eval *ev, struct py_span at, const struct pval *of,
	      const struct pval *name, struct pval *out)
{
	const struct pv_graph *module = of->u.any;
	struct graph *g = rmod_of(ev, at, module);
	const char **names;
	int n, i;

	if (g == NULL) {
		return false;
	}
	n = relay_function_count(g);
	names = arena_array(ev->a, const char *, n + 1);
	for (i = 0; i < n; i++) {
		names[i] = relay_function_name(g, i);
	}
	if (!find_function(ev, at, name, names, n, &i)) {
		return false;
	}
	*out = function_value(ev, module, i);
	return true;
}

bool
rmod_set_function(struct eval *ev, struct py_span at, const struct pval *of,
		  const struct pval *name, const struct pval *f)
{
	const struct pv_graph_func *given = f->u.any;
	const struct pv_graph *module = of->u.any;
	struct pval own;

	if (!rmod_function(ev, at, of, name, &own)) {
		return false;
	}
	return (f->kind == PV_GRAPH_FUNC &&
		given->module->graph == module->graph &&
		given->function ==
			((const struct pv_graph_func *)own.u.any)->function) ||
	       eval_error(ev, at,
			  "the functions of an imported model, or of one that "
			  "passes changed, cannot be replaced");
}

bool
rmod_names(struct call *c, struct pval *out)
{
	struct graph *g = rmod_of(c->ev, c->span, c->self.u.any);

	if (g == NULL) {
		return false;
	}
	*out = pv_list_of(c->ev, PV_LIST, NULL, 0);
	for (int i = 0; i < relay_function_count(g); i++) {
		vec_push(c->ev->a, out->u.list,
			 pv_string(c->ev, relay_function_name(g, i)));
	}
	return true;
}

bool
rmod_functions(struct call *c, struct pval *out)
{
	const struct pv_graph *module = c->self.u.any;
	struct graph *g = rmod_of(c->ev, c->span, module);
	bool ok = g != NULL;

	*out = pv_dict_new(c->ev);
	for (int i = 0; ok && i < relay_function_count(g); i++) {
		struct pval key = pv_string(c->ev, relay_function_name(g, i));
		struct pval f = function_value(c->ev, module, i);

		ok = dict_set(c->ev, c->span, out->u.dict, &key, &f);
	}
	return ok;
}

/* The attributes of a function as a dict. The dict of main is empty. */
bool
rmod_func_attrs(struct call *c, struct pval *out)
{
	const struct pv_graph_func *f = c->self.u.any;
	struct graph *g = rmod_of(c->ev, c->span, f->module);
	struct pval key, v;

	*out = pv_dict_new(c->ev);
	if (g == NULL || f->function == 0) {
		return g != NULL;
	}
	key = pv_string(c->ev, "Compiler");
	v = pv_string(c->ev, g->regions.data[f->function - 1]->backend_name);
	if (!dict_set(c->ev, c->span, out->u.dict, &key, &v)) {
		return false;
	}
	key = pv_string(c->ev, "global_symbol");
	v = pv_string(c->ev, relay_function_name(g, f->function));
	return dict_set(c->ev, c->span, out->u.dict, &key, &v);
}
