/* SPDX-License-Identifier: Apache-2.0 */
/* The values of models in programs: modules, passes, and built models. */
#ifndef TIRC_RELAY_VALUES_H
#define TIRC_RELAY_VALUES_H

#include "graph_services.h"
#include "library.h"

struct pv_pass;

/* The result of onnx.load: a model that is not imported yet. */
struct pv_onnx {
	const char *path; /* the path for struct graph_request */
	const char *said; /* the name that the program used */
	/* points to NULL until the program looks into the model */
	const struct model_message **message;
};

/* GRAPH: a module of Relay, Relax or NNVM. */
struct pv_graph {
	struct graph_request request;
	/* points to NULL until rmod_of() has read the graph */
	struct graph **graph;
	bool is_relax;
	/* the position in the program that made the module */
	struct py_span at;
};

/* GRAPH_FUNC: a function of a module. */
struct pv_graph_func {
	const struct pv_graph *module;
	int function; /* the number of the function for relay_function_name() */
};

/* PARAM: a parameter of a module, or a stored weight. */
struct pv_param {
	/* the parameter of a module; NULL for a stored weight */
	const struct tensor *tensor;
	const char *dtype;
	int ndim;
	const int64_t *shape;
};

/* LIBRARY: the result of relay.build. */
struct pv_library {
	const struct pv_graph *module;
	struct graph_built built;
};

/* An array of zeros with the type and shape of the tensor. Returns NULL after an
 * error. */
struct array *array_of_zeros(struct eval *ev, struct py_span at,
			     const struct tensor *t);
/* The elements of a constant as an array. Returns NULL after an error. */
struct array *array_of_constant(struct eval *ev, struct py_span at,
				const struct tensor *t);
/* Reads argument i, a dict of the shapes of inputs, into the request. Returns
 * false after an error. */
bool rmod_shapes(struct call *c, int i, struct graph_request *r);
/* A copy of the module `of`. Its request is a copy too, which the caller may
 * change. */
struct pv_graph *rmod_copy(struct eval *ev, const struct pv_graph *of);
/* Reads argument i, a dict of the values of parameters, into the request of a
 * module that has these parameters as inputs; others are ignored. Returns false
 * after an error. */
bool rmod_params(struct call *c, int i, struct pv_graph *module);
/* A copy of the value of a parameter, or of an array, with the type of the tensor,
 * whose shape it must have. Returns NULL after an error. */
struct array *array_for(struct eval *ev, struct py_span at,
			const struct tensor *t, const struct pval *v);
/* The module of Relay that v, an IRMODULE, became; else v. */
struct pval relay_of(const struct pval *v);
/* Sets *out to a module of kind GRAPH for a module, a function or an expression that
 * the program made of Relay's expressions. Returns false after an error. */
bool relay_graph(struct eval *ev, struct py_span at, const struct pval *object,
		 struct pval *out);
/* If argument i is a module, a function or an expression that the program made of
 * Relay's expressions, replaces it by a module of kind GRAPH. Returns false after an
 * error. */
bool rmod_argument(struct call *c, int i);
/* A dict of the parameters of main. */
struct pval params_dict(struct eval *ev, struct py_span at, struct graph *g);
/* Calls the instruments of the pass context before and after a pass over a module.
 * *runs: does no instrument prevent the pass? Return false after an error. */
bool instruments_before(struct eval *ev, struct py_span at,
			const struct pv_pass *pass, const struct pval *module,
			bool *runs);
bool instruments_after(struct eval *ev, struct py_span at,
		       const struct pv_pass *pass, const struct pval *module);
/* `with PassContext(…)` calls these before and after its block: the methods
 * enter_pass_ctx and exit_pass_ctx of its instruments. */
bool instruments_enter(struct eval *ev, struct py_span at, const struct pval *v,
		       struct pval *out);
void instruments_leave(struct eval *ev, const struct pval *v);
/* Appends what TVM prints of a pass. */
void pass_text(struct eval *ev, const struct pval *v, bool repr,
	       struct strbuf *out);
/* Calls a value of kind PASS. Returns false after an error. */
bool pass_call(struct eval *ev, struct py_span at, const struct pval *f,
	       const struct call_args *args, struct pval *out);
/* Calls a value of kind RUNTIME, as in vm["main"](x, …): runs the model with
 * the arguments as inputs. *out: the output, or a tuple of several. Returns
 * false after an error. */
bool runtime_call(struct eval *ev, struct py_span at, const struct pval *f,
		  const struct call_args *args, struct pval *out);
/* Appends the text that print() shows for v, the result of tvmc.run. */
void tvmc_result_text(struct eval *ev, const struct pval *v, bool repr,
		      struct strbuf *out);
/* The graph of a module. The first call reads the model and runs the passes of
 * the request. Returns NULL after an error. */
struct graph *rmod_of(struct eval *ev, struct py_span at,
		      const struct pv_graph *module);
/* The names of the passes of tirc that the current pass context leaves out;
 * sets *n to their number. */
const char *const *passes_left_out(struct eval *ev, int *n);
/* Appends the text that print shows for a module or for one of its functions.
 * Errors are reported. */
void rmod_text(struct eval *ev, const struct pval *v, bool repr,
	       struct strbuf *out);
/* Sets *out to the function of a module with this name. Returns false after an
 * error. */
bool rmod_function(struct eval *ev, struct py_span at, const struct pval *of,
		   const struct pval *name, struct pval *out);
/* Implements mod["main"] = f: f must be the function that the module has. Returns
 * false after an error. */
bool rmod_set_function(struct eval *ev, struct py_span at,
		       const struct pval *of, const struct pval *name,
		       const struct pval *f);
/* The values to which a built model unpacks: graph, library, parameters.
 * Returns false after an error. */
bool library_items(struct eval *ev, struct py_span at, const struct pval *v,
		   struct pval **items, int *n);

#define NAME(in, kind, name, params, function) name_fn function;
#include "models.def"
#undef NAME

extern const struct library models_library;
extern const struct kind_ops graph_func_ops;
extern const struct kind_ops graph_ops;
extern const struct kind_ops library_ops;
extern const struct kind_ops pass_context_ops;
extern const struct kind_ops pass_ops;
extern const struct kind_ops runtime_ops;
extern const struct kind_ops tvmc_result_ops;

#endif
