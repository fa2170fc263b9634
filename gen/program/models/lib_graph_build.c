/* SPDX-License-Identifier: Apache-2.0 */
/* relay.build and nnvm.compiler.build: compile a model to source and to a graph
 * as data. */
#include "build_parts.h"
#include "dialects.h"
#include "relay_values.h"

/* Reads the argument executor= or runtime=: a word, or a dict or a target
 * string that contains the word. *aot: is the word "aot"? Returns false after
 * an error. */
static bool
is_aot(struct call *c, int i, bool *aot)
{
	const char *word;

	*aot = false;
	if (!arg_given(c, i)) {
		return true;
	}
	if (!arg_text(c, i, &word)) {
		return false;
	}
	*aot = strcmp(word, "aot") == 0;
	return *aot || strcmp(word, "graph") == 0 ||
	       call_error(c, i,
			  "there is no executor %s; there are graph and "
			  "aot",
			  word);
}

/* Sets *out to the target in argument i; without it, to the target of the
 * enclosing `with`; without that, to the target of the options, which is NULL
 * for the default. Returns false after an error. */
static bool
target_of(struct call *c, int i, const char **out)
{
	struct pv_target t;

	*out = c->ev->with_target != NULL ? c->ev->with_target->name
					  : c->ev->o->target;
	if (!arg_given(c, i)) {
		return true;
	}
	if (!read_target(c, i, &t)) {
		return false;
	}
	*out = t.name;
	return true;
}

static bool
build(struct call *c, const struct pv_graph *module, const char *target,
      bool aot, bool any_form, struct pval *out)
{
	struct eval *ev = c->ev;
	const struct graph_services *s = ev->o->graphs;
	struct pv_library *lib = arena_new(ev->a, struct pv_library);
	struct graph_build b = { .target = target,
				 .aot = aot,
				 .any_form = any_form };

	/* The program's target may be a string that changes single facts of a
	 * target: it is loaded here to report errors in the string. */
	if (target != NULL && target != ev->o->target &&
	    target_load_named(ev->m, target, ev->o->dialect_path) == NULL) {
		return false;
	}
	b.disabled = passes_left_out(ev, &b.n_disabled);
	lib->module = module;
	*out = pv_any(PV_LIBRARY, lib);
	if (!eval_tick(ev, c->span, 100000) ||
	    !s->build(s->ctx, &module->request, &b, &lib->built)) {
		return false;
	}
	ev->result->built_model = lib->built.model;
	return true;
}

bool
relay_build(struct call *c, struct pval *out)
{
	const struct pv_graph *module;
	struct pv_graph *bound;
	const char *target;
	bool aot;

	if (!rmod_argument(c, 0)) {
		return false;
	}
	if (c->args[0].kind != PV_GRAPH) {
		return value_kind_error(c, 0, "a module of relay");
	}
	module = c->args[0].u.any;
	if (module->request.text != NULL) {
		/* the parameters of a text are inputs */
		bound = rmod_copy(c->ev, module);
		if (!rmod_params(c, 7, bound)) {
			return false;
		}
		module = bound;
	}
	return target_of(c, 1, &target) && is_aot(c, 3, &aot) &&
	       build(c, module, target, aot, !arg_given(c, 3), out);
}

/* relay.build's counterpart relax.build(mod, target). It writes functions that
 * call each other, because TVM's virtual machine has functions, too. */
bool
relax_build(struct call *c, struct pval *out)
{
	const char *target;

	if (c->args[0].kind != PV_GRAPH) {
		return value_kind_error(c, 0, "a module of relax");
	}
	return target_of(c, 1, &target) &&
	       build(c, c->args[0].u.any, target, true, false, out);
}

/* tvm.compile(mod, target): builds a module of relax, or functions. */
bool
compile_any(struct call *c, struct pval *out)
{
	return c->args[0].kind == PV_GRAPH ? relax_build(c, out)
					   : build_compile(c, out);
}

/* nnvm.compiler.build(graph, target, shape, …), which returns the graph, the
 * library and the parameters. */
bool
nnvm_build(struct call *c, struct pval *out)
{
	struct pv_graph *module;
	struct pval lib, *items;
	const char *target;
	int n;

	if (c->args[0].kind != PV_GRAPH) {
		return value_kind_error(c, 0, "a graph of nnvm");
	}
	module = rmod_copy(c->ev, c->args[0].u.any);
	if (!rmod_shapes(c, 2, &module->request) || !target_of(c, 1, &target) ||
	    !build(c, module, target, false, false, &lib) ||
	    !library_items(c->ev, c->span, &lib, &items, &n)) {
		return false;
	}
	items[0] = lib;
	*out = pv_list_of(c->ev, PV_TUPLE, items, n);
	return true;
}

/* -- what was built -- */

/* The text of a file without the newline at its end, which print adds. */
static struct pval
text_of_file(struct eval *ev, const char *text)
{
	size_t n = strlen(text);

	return pv_text_n(ev, text, n - (n > 0 && text[n - 1] == '\n'));
}

static struct pval
weights_dict(struct eval *ev, struct py_span at, const struct pv_library *lib)
{
	struct pval d = pv_dict_new(ev);

	for (int i = 0; i < lib->built.n_weights; i++) {
		const struct graph_weight *w = &lib->built.weights[i];
		struct pv_param *p = arena_new(ev->a, struct pv_param);
		struct pval key = pv_string(ev, w->name);
		struct pval v = pv_any(PV_PARAM, p);

		p->dtype = w->dtype;
		p->ndim = w->ndim;
		p->shape = w->shape;

		if (!dict_set(ev, at, d.u.dict, &key, &v)) {
			break;
		}
	}
	return d;
}

bool
library_items(struct eval *ev, struct py_span at, const struct pval *v,
	      struct pval **items, int *n)
{
	const struct pv_library *lib = v->u.any;

	if (lib->built.json == NULL) {
		return eval_error(ev, at,
				  "the executor aot has no graph JSON, only a "
				  "library; build with executor=\"graph\"");
	}
	*n = 3;
	*items = arena_array(ev->a, struct pval, *n);
	(*items)[0] = text_of_file(ev, lib->built.json);
	(*items)[1] = *v;
	(*items)[2] = weights_dict(ev, at, lib);
	return true;
}

bool
library_json(struct call *c, struct pval *out)
{
	struct pval *items;
	int n;

	if (!library_items(c->ev, c->span, &c->self, &items, &n)) {
		return false;
	}
	*out = items[0];
	return true;
}

bool
library_params(struct call *c, struct pval *out)
{
	*out = weights_dict(c->ev, c->span, c->self.u.any);
	return true;
}

bool
library_source(struct call *c, struct pval *out)
{
	const struct pv_library *lib = c->self.u.any;

	*out = text_of_file(c->ev, lib->built.source);
	return eval_tick_bytes(c->ev, c->span, out->u.text.n);
}
