/* SPDX-License-Identifier: Apache-2.0 */
/* What the expressions of tvm.relay, which are texts (gen/program/texts/relay-*.py),
 * need of models: a module of the text of Relay, types of its results, places in
 * the program. */
#include "library_text.h"
#include "numpy.h"
#include "objects.h"
#include "relay_values.h"

/* -- places in the program -- */

/* Implements _here(): where the program called the function of the library, as a
 * tuple of four integers. */
bool
relay_here(struct call *c, struct pval *out)
{
	struct py_span at = c->ev->library_call;
	struct pval parts[] = { pv_int(at.line), pv_int(at.col),
				pv_int(at.end_line), pv_int(at.end_col) };

	*out = pv_list_of(c->ev, PV_TUPLE, parts, 4);
	return true;
}

/* The place that relay_here() gave; a program may have changed it, and gets the place
 * of the call c then. */
static struct py_span
span_of(const struct call *c, const struct pval *v)
{
	const struct pval *part;

	if (v->kind != PV_TUPLE || v->u.list->n != 4) {
		return c->ev->library_call;
	}
	part = v->u.list->data;
	for (int i = 0; i < 4; i++) {
		if (part[i].kind != PV_INT || part[i].u.ival < 1 ||
		    part[i].u.ival > INT32_MAX) {
			return c->ev->library_call;
		}
	}
	return (struct py_span){ .line = (int)part[0].u.ival,
				 .col = (int)part[1].u.ival,
				 .end_line = (int)part[2].u.ival,
				 .end_col = (int)part[3].u.ival };
}

/* Implements _fail(place, message): reports an error at the call that made an
 * expression. */
bool
relay_fail_at(struct call *c, struct pval *out)
{
	const struct source *src = c->ev->src;
	const char *message;

	(void)out;
	if (!arg_text(c, 1, &message)) {
		return false;
	}
	c->ev->src = c->ev->program;
	eval_raise(c->ev, span_of(c, &c->args[0]), "ValueError", "%s", message);
	c->ev->src = src;
	return false;
}

/* -- modules -- */

/* Sets *out to the array as the value of the input `name`: dense, in row-major
 * order. Returns false after an error. */
static bool
value_of(struct call *c, const char *name, const struct pval *v,
	 struct graph_param *out)
{
	struct array_work w;
	struct array *x;

	if (!np_value(c->ev, c->span, v, &x)) {
		return false;
	}
	if (!array_is_dense(x)) {
		w = np_work(c->ev);
		x = array_cast(&w, x, x->type);
		if (!np_done(c->ev, c->span, &w)) {
			return false;
		}
	}
	*out = (struct graph_param){
		.name = name,
		.type = x->type,
		.ndim = x->ndim,
		.shape = x->shape,
		.data = array_bytes(x, x->offset, array_elems(x)),
	};
	return true;
}

/* Sets *items and *n to the elements of argument i, a list. The library gives a list,
 * but of what the program may have put into its objects. */
static bool
list_of(struct call *c, int i, const struct pval **items, int *n)
{
	if (c->args[i].kind != PV_LIST) {
		return value_kind_error(c, i, "a list");
	}
	*items = c->args[i].u.list->data;
	*n = c->args[i].u.list->n;
	return true;
}

/* Reads the text in argument 0, and the names and arrays of the inputs that are
 * constants in arguments 1 and 2. Returns false after an error. */
static bool
read_request(struct call *c, struct graph_request *r)
{
	const struct pval *name = NULL, *array = NULL;
	struct graph_param *list;
	const char *text;
	int n = 0, n_arrays = 0;

	if (c->ev->o->graphs == NULL) {
		return call_error(c, -1,
				  "a schedule or a trace cannot read models");
	}
	if (!arg_text(c, 0, &text) || !list_of(c, 1, &name, &n) ||
	    !list_of(c, 2, &array, &n_arrays)) {
		return false;
	}
	if (n_arrays < n) {
		return call_error(c, 2, "fewer arrays than names");
	}
	list = arena_array(c->ev->a, struct graph_param, n + 1);
	for (int i = 0; i < n; i++) {
		if (name[i].kind != PV_STRING) {
			return value_kind_error(c, 1, "names");
		}
		if (!value_of(c, name[i].u.text.data, &array[i], &list[i])) {
			return false;
		}
	}
	*r = (struct graph_request){ .path = "relay",
				     .text = c->args[0].u.text.data,
				     .text_bytes = c->args[0].u.text.n,
				     .params = list,
				     .n_params = n };
	return true;
}

/* Implements _model(text, names, arrays): the module that the text describes. */
bool
relay_model(struct call *c, struct pval *out)
{
	struct pv_graph *module = arena_new(c->ev->a, struct pv_graph);

	module->graph = arena_new(c->ev->a, struct graph *);
	module->at = c->ev->library_call;
	*out = pv_any(PV_GRAPH, module);
	return read_request(c, &module->request) &&
	       rmod_of(c->ev, c->span, module) != NULL;
}

struct pval
relay_of(const struct pval *v)
{
	bool became = v->kind == PV_IRMODULE &&
		      v->u.module->relay.kind == PV_OBJECT;

	return became ? v->u.module->relay : *v;
}

bool
relay_graph(struct eval *ev, struct py_span at, const struct pval *object,
	    struct pval *out)
{
	return library_text_apply(ev, at, IN_RELAY, "_graph", object, 1, out) &&
	       (out->kind == PV_GRAPH ||
		eval_error(ev, at,
			   "members of the module were changed: it "
			   "describes no model"));
}

bool
rmod_argument(struct call *c, int i)
{
	struct pval v = c->args[i];

	v = relay_of(&v);
	return v.kind != PV_OBJECT ||
	       relay_graph(c->ev, c->spans[i], &v, &c->args[i]);
}

/* -- types -- */

/* The number of the definition from which the node comes that a message names,
 * "node 1 Gemm 'dense_12'"; -1 if the name has no number. */
static int
definition_of(const char *item)
{
	const char *name = item != NULL ? strchr(item, '\'') : NULL;
	const char *end = name != NULL ? strchr(name + 1, '\'') : NULL;
	const char *at = end;
	int64_t n = 0;

	while (at != NULL && at > name + 1 && at[-1] >= '0' && at[-1] <= '9') {
		at--;
	}
	if (at == end || at[-1] != '_' || end - at > 9) {
		return -1;
	}
	for (; at < end; at++) {
		n = n * 10 + (*at - '0');
	}
	return (int)n;
}

/* Moves the errors from index `first` on to the calls that made the expressions
 * at fault: element i of argument `of` is the place of definition i. Returns false. */
static bool
locate_definitions(struct call *c, int of, int first)
{
	struct diags *d = &c->ev->m->diags;
	const struct source *src = c->ev->src;
	const struct pval *places = NULL;
	int n = 0;

	if (!list_of(c, of, &places, &n)) {
		return false;
	}
	for (int i = first; i < d->list.n; i++) {
		struct diag one = d->list.data[i];
		int k = definition_of(one.place.item);

		if (one.severity != DIAG_ERROR || k < 0 || k >= n) {
			continue;
		}
		c->ev->src = c->ev->program;
		d->list.data[i].place.item = NULL;
		d->list.data[i].place.file = NULL;
		eval_locate(c->ev, span_of(c, &places[k]), i);
		c->ev->src = src;
		d->list.data[i].id = one.id;
	}
	return false;
}

/* Implements _types(text, names, arrays, places): a list of the types of the
 * results of main, each a pair of a shape, in which an unknown size is -1, and the
 * name of the type of its elements. */
bool
relay_types(struct call *c, struct pval *out)
{
	const struct graph_services *s = c->ev->o->graphs;
	int errors = c->ev->m->diags.list.n, n = 0;
	struct graph_weight *types;
	struct graph_request r;

	if (!read_request(c, &r) || !eval_tick(c->ev, c->span, 10000)) {
		return false;
	}
	if (!s->types(s->ctx, &r, c->ev->a, &types, &n)) {
		return locate_definitions(c, 3, errors);
	}
	*out = pv_list_of(c->ev, PV_LIST, NULL, 0);
	for (int i = 0; i < n; i++) {
		struct pval pair[2] = { pv_list_of(c->ev, PV_TUPLE, NULL, 0),
					pv_string(c->ev, types[i].dtype) };

		for (int k = 0; k < types[i].ndim; k++) {
			vec_push(c->ev->a, pair[0].u.list,
				 pv_int(types[i].shape[k]));
		}
		vec_push(c->ev->a, out->u.list,
			 pv_list_of(c->ev, PV_TUPLE, pair, 2));
	}
	return true;
}
