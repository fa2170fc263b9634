/* SPDX-License-Identifier: Apache-2.0 */
/* The values of models in programs: modules, passes, what is built of them. */
#ifndef TIRC_RELAY_VALUES_H
#define TIRC_RELAY_VALUES_H

#include "graph_services.h"
#include "library.h"

/* onnx.load: a model that nothing has read yet. */
struct pv_onnx {
	const char *path; /* for graph_request */
	const char *said; /* as the program names it */
};

/* GRAPH: a module of Relay, Relax or NNVM. */
struct pv_graph {
	struct graph_request request;
	struct graph **graph; /* holds NULL until rmod_of() has read it */
	bool is_relax;
	struct py_span at; /* where the program made it */
};

/* GRAPH_FUNC: a function of a module. */
struct pv_graph_func {
	const struct pv_graph *module;
	int function; /* see relay_function_name() */
};

/* PARAM: a parameter of a module, or a weight as it is stored. */
struct pv_param {
	const struct tensor *tensor; /* of the module; else NULL */
	const char *dtype;
	int ndim;
	const int64_t *shape;
};

/* LIBRARY: the result of relay.build. */
struct pv_library {
	const struct pv_graph *module;
	struct graph_built built;
	bool aot;
};

/* Reads argument i, a dict of inputs' shapes, into the request. False after an
 * error. */
bool rmod_shapes(struct call *c, int i, struct graph_request *r);
/* A copy of a module, which a step changes. */
struct pv_graph *rmod_copy(struct eval *ev, const struct pv_graph *of);
/* The dict of the parameters of main. */
struct pval params_dict(struct eval *ev, struct py_span at, struct graph *g);
/* Calls a value of kind PASS. */
bool pass_call(struct eval *ev, struct py_span at, const struct pval *f,
	       const struct call_args *args, struct pval *out);
/* Calls a value of kind RUNTIME, vm["main"](x, …): runs the model on the arguments and
 * gives its output, or a tuple of several. */
bool runtime_call(struct eval *ev, struct py_span at, const struct pval *f,
		  const struct call_args *args, struct pval *out);
/* Appends what print shows for the result of tvmc.run. */
void tvmc_result_text(struct eval *ev, const struct pval *v, bool repr,
		      struct strbuf *out);
/* The graph of a module, which is read and changed by its steps at the first call.
 * NULL after an error. */
struct graph *rmod_of(struct eval *ev, struct py_span at,
		      const struct pv_graph *module);
/* The passes of tirc that are left out in the context, in the arena. */
const char *const *passes_left_out(struct eval *ev, int *n);
/* Appends the text that print shows for a module or one of its functions; an error
 * is reported. */
void rmod_text(struct eval *ev, const struct pval *v, bool repr,
	       struct strbuf *out);
/* Sets *out to the function of a module with this name. False after an error. */
bool rmod_function(struct eval *ev, struct py_span at, const struct pval *of,
		   const struct pval *name, struct pval *out);
/* The values to which a library unpacks: graph, library, parameters. False after an
 * error. */
bool library_items(struct eval *ev, struct py_span at, const struct pval *v,
		   struct pval **items, int *n);

#define NAME(in, kind, name, params, function) name_fn function;
#include "models.def"
#undef NAME

extern const struct library models_library;
extern const struct kind_ops graph_func_ops;
extern const struct kind_ops graph_ops;
extern const struct kind_ops library_ops;
extern const struct kind_ops pass_ops;
extern const struct kind_ops runtime_ops;
extern const struct kind_ops tvmc_result_ops;

#endif
