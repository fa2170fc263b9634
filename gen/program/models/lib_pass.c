/* SPDX-License-Identifier: Apache-2.0 */
/* Passes over the graphs of models: the passes of Relay and Relax in the table
 * relay_passes.def, passes that the program defines, lists of passes, and the
 * context that chooses among them. */
#include "library_text.h"
#include "objects.h"
#include "relay.h"
#include "relay_values.h"
#include "text.h"
#include "tir_nodes.h"

static const struct pv_pass rows[] = {
#define PASS(id, from, list, instead)                                          \
	{ .name = id, .level = from, .passes = list, .words = instead },
#include "relay_passes.def"
#undef PASS
};

enum { N_ROWS = sizeof rows / sizeof *rows };

/* TVM's default of opt_level. */
enum { USUAL_LEVEL = 2 };

/* Adds a note; for each name only once. */
static void
tell(struct call *c, const char *fmt, const char *name, const char *of)
{
	for (int i = 0; i < c->ev->told.n; i++) {
		if (strcmp(c->ev->told.data[i], name) == 0) {
			return;
		}
	}
	vec_push(c->ev->a, &c->ev->told, name);
	diag_note(&c->ev->m->diags, DIAG_ASSUMPTION, call_place(c, -1), fmt,
		  name, of);
}

/* -- the context -- */

/* The context of the enclosing `with`, or TVM's default. */
static const struct pv_pass_context *
pass_context(struct eval *ev)
{
	static const struct pv_pass_context usual = { .level = USUAL_LEVEL };

	return ev->context != NULL ? ev->context : &usual;
}

static bool
has_name(const struct pval *names, int n, const char *name)
{
	for (int i = 0; i < n; i++) {
		if (names[i].kind == PV_STRING &&
		    strcmp(names[i].u.text.data, name) == 0) {
			return true;
		}
	}
	return false;
}

/* Sets *found to the setting `key` of the pass context, which the program gave
 * by keyword or as positional argument `position`; to NULL if the program did
 * not give it. Returns false after an error. */
static bool
find_setting(struct call *c, const char *key, int position,
	     const struct pval **found)
{
	struct pval word = pv_string(c->ev, key);

	if (!dict_get(c->ev, c->span, c->args[1].u.dict, &word, found)) {
		return false;
	}
	if (*found == NULL && position < c->args[0].u.list->n) {
		*found = &c->args[0].u.list->data[position];
	}
	return true;
}

/* Reads a setting that is a list, of names or of instruments. Returns false after an error. */
static bool
read_names(struct call *c, const char *key, int position,
	   const struct pval **names, int *n)
{
	const struct pval *found;
	struct pval *items;

	*n = 0;
	if (!find_setting(c, key, position, &found)) {
		return false;
	}
	if (found == NULL || found->kind == PV_NONE) {
		return true;
	}
	if (!eval_items(c->ev, c->span, found, &items, n)) {
		return false;
	}
	*names = items;
	return true;
}

/* The settings of config={…} that tirc uses. */
static const char *const settings[] = { "tir.add_lower_pass",
					"tir.disable_vectorize",
					"tir.UnrollLoop" };

static bool
is_read(const struct pval *key)
{
	for (size_t i = 0; i < sizeof settings / sizeof *settings; i++) {
		if (key->kind == PV_STRING &&
		    strcmp(key->u.text.data, settings[i]) == 0) {
			return true;
		}
	}
	return false;
}

/* Adds a note about each setting of config={…} that tirc does not use. */
static void
note_config(struct call *c, const struct pval *config)
{
	const struct pv_dict *d = config->u.dict;

	for (int i = 0; config->kind == PV_DICT && i < d->keys.n; i++) {
		if (!is_read(&d->keys.data[i])) {
			tell(c, "PassContext: %s is not read; %s",
			     d->keys.data[i].kind == PV_STRING
				     ? d->keys.data[i].u.text.data
				     : "config",
			     "tirc's passes have no such setting");
		}
	}
}

/* Adds a note about each setting that tirc does not use. */
static void
note_settings(struct call *c)
{
	static const char *const names[] = { "trace" };
	const struct pv_dict *d = c->args[1].u.dict;

	for (int i = 0; i < d->keys.n; i++) {
		const char *key = d->keys.data[i].u.text.data;

		if (strcmp(key, "config") == 0) {
			note_config(c, &d->values.data[i]);
		}
		for (size_t k = 0; k < sizeof names / sizeof *names; k++) {
			if (strcmp(key, names[k]) == 0 &&
			    d->values.data[i].kind != PV_NONE) {
				tell(c, "PassContext: %s is not read; %s",
				     names[k],
				     "tirc's passes have no such settings");
			}
		}
	}
}

/* Sets *found to a setting in the dict; NULL if it is absent. Returns false
 * after an error. */
static bool
find_in(struct call *c, const struct pval *dict, const char *name,
	const struct pval **found)
{
	struct pval key = pv_string(c->ev, name);

	*found = NULL;
	return dict->kind != PV_DICT ||
	       dict_get(c->ev, c->span, dict->u.dict, &key, found);
}

/* Reads a dict such as {"auto_max_step": 16, "explicit_unroll": True}. Returns
 * false after an error. */
static bool
read_unroll(struct call *c, const struct pval *dict, struct pv_pass_context *p)
{
	const struct pval *steps, *written;

	if (dict->kind != PV_DICT) {
		return call_error(c, -1,
				  "tir.UnrollLoop is a dict of "
				  "auto_max_step and explicit_unroll");
	}
	if (!find_in(c, dict, "auto_max_step", &steps) ||
	    !find_in(c, dict, "explicit_unroll", &written)) {
		return false;
	}
	if (steps && (steps->kind != PV_INT || steps->u.ival < 0 ||
		      steps->u.ival > INT32_MAX)) {
		return call_error(c, -1,
				  "auto_max_step is a number of "
				  "statements, from 0");
	}
	p->unroll_steps = steps ? steps->u.ival : 0;
	p->unroll_explicit = true;
	return !written ||
	       eval_truth(c->ev, c->span, written, &p->unroll_explicit);
}

/* Reads config={"tir.add_lower_pass": [(1, pass)], …}. Returns false after an
 * error. */
static bool
read_config(struct call *c, struct pv_pass_context *p)
{
	const struct pval *config, *found;
	struct pval key = pv_string(c->ev, "config"), *items;

	if (!dict_get(c->ev, c->span, c->args[1].u.dict, &key, &config)) {
		return false;
	}
	if (!config) {
		return true;
	}
	if (!find_in(c, config, "tir.disable_vectorize", &found) ||
	    (found &&
	     !eval_truth(c->ev, c->span, found, &p->disable_vectorize)) ||
	    !find_in(c, config, "tir.UnrollLoop", &found) ||
	    (found && !read_unroll(c, found, p)) ||
	    !find_in(c, config, "tir.add_lower_pass", &found)) {
		return false;
	}
	if (!found) {
		return true;
	}
	if (!eval_items(c->ev, c->span, found, &items, &p->n_lower)) {
		return false;
	}
	for (int i = 0; i < p->n_lower; i++) {
		const struct pv_list *pair = items[i].u.list;

		if (items[i].kind != PV_TUPLE || pair->n != 2 ||
		    pair->data[0].kind != PV_INT || pair->data[0].u.ival < 0 ||
		    pair->data[0].u.ival > 3) {
			return call_error(c, -1,
					  "tir.add_lower_pass is a list of "
					  "pairs: a phase from 0 to 3, and a "
					  "pass");
		}
	}
	p->lower = items;
	return true;
}

bool
tvm_pass_context(struct call *c, struct pval *out)
{
	struct pv_pass_context *p = arena_new(c->ev->a, struct pv_pass_context);
	const struct pval *level;

	p->level = USUAL_LEVEL;
	if (!find_setting(c, "opt_level", 0, &level)) {
		return false;
	}
	if (level != NULL) {
		if (level->kind != PV_INT || level->u.ival < 0 ||
		    level->u.ival > 10) {
			return call_error(c, -1, "opt_level is 0 to 4");
		}
		p->level = (int)level->u.ival;
	}
	*out = pv_any(PV_PASS_CONTEXT, p);
	note_settings(c);
	return read_config(c, p) &&
	       read_names(c, "instruments", 3, &p->instruments,
			  &p->n_instruments) &&
	       read_names(c, "required_pass", 1, &p->required,
			  &p->n_required) &&
	       read_names(c, "disabled_pass", 2, &p->disabled, &p->n_disabled);
}

static bool
runs_in_context(struct eval *ev, const struct pv_pass *pass)
{
	const struct pv_pass_context *p = pass_context(ev);

	if (has_name(p->disabled, p->n_disabled, pass->name)) {
		return false;
	}
	return pass->level <= p->level ||
	       has_name(p->required, p->n_required, pass->name);
}

const char *const *
passes_left_out(struct eval *ev, int *n)
{
	VEC(const char *) list = { 0 };

	for (int i = 0; ev->context != NULL && i < N_ROWS; i++) {
		const char *at = rows[i].passes, *word;

		if (runs_in_context(ev, &rows[i])) {
			continue;
		}
		while ((word = text_next_word(ev->a, &at)) != NULL) {
			/* several rows use these passes, so that they are never
			 * left out */
			if (strcmp(word, "dead") != 0 &&
			    strcmp(word, "annotate") != 0 &&
			    strcmp(word, "merge") != 0 &&
			    strcmp(word, "partition") != 0) {
				vec_push(ev->a, &list, word);
			}
		}
	}
	*n = list.n;
	return list.data;
}

/* -- making passes -- */

/* Reads the names of backends in the first argument of AnnotateTarget. Returns
 * false after an error. */
static bool
take_backends(struct call *c, struct pv_pass *pass)
{
	const struct graph_services *s = c->ev->o->graphs;
	struct pv_list *list = arena_new(c->ev->a, struct pv_list);
	const struct pval *items, *first;
	int n;

	if (c->args[0].u.list->n == 0) {
		return call_error(c, -1,
				  "AnnotateTarget needs the names of "
				  "backends");
	}
	first = &c->args[0].u.list->data[0];
	if (!eval_items_or_one(c->ev, c->span, first, first->kind == PV_STRING,
			       &items, &n)) {
		return false;
	}
	for (int i = 0; i < n; i++) {
		const char *names;

		if (items[i].kind != PV_STRING) {
			return call_error(c, -1,
					  "the name of a backend is a "
					  "text");
		}
		if (s != NULL &&
		    s->has_backend(s->ctx, items[i].u.text.data, &names)) {
			vec_push(c->ev->a, list, items[i]);
		} else {
			tell(c,
			     "there is no backend %s, so that it gets no part "
			     "of the graph; there are %s",
			     items[i].u.text.data, s != NULL ? names : "none");
		}
	}
	pass->backends = list->data;
	pass->n_backends = list->n;
	return true;
}

bool
relay_pass(struct call *c, struct pval *out)
{
	struct pv_pass *pass = NULL;

	for (int i = 0; i < N_ROWS; i++) {
		if (strcmp(rows[i].name, c->row->name) == 0) {
			pass = arena_copy(c->ev->a, &rows[i], sizeof rows[i]);
		}
	}
	if (pass->passes[0] != '\0') {
		tell(c, "%s is tirc's %s", pass->name,
		     arena_strndup(c->ev->a, pass->passes,
				   strcspn(pass->passes, " ")));
	} else if (pass->words[0] != '\0') {
		tell(c, "%s changes no graph here: %s", pass->name,
		     pass->words);
	}
	*out = pv_any(PV_PASS, pass);
	return strcmp(pass->name, "AnnotateTarget") != 0 ||
	       take_backends(c, pass);
}

enum { MOST_PASSES = 1000, MOST_LISTS = 50 };

bool
pass_sequential(struct call *c, struct pval *out)
{
	struct pv_pass *pass = arena_new(c->ev->a, struct pv_pass);
	struct pval *items;

	pass->name = "sequential";
	if (arg_given(c, 2) && !arg_text(c, 2, &pass->name)) {
		return false;
	}
	if (!arg_items(c, 0, &items, &pass->n_list)) {
		return false;
	}
	for (int i = 0; i < pass->n_list; i++) {
		const struct pv_pass *inner = items[i].u.any;

		if (items[i].kind != PV_PASS) {
			return call_error(c, 0, "a list of passes has no %s",
					  pv_kind_name(items[i].kind));
		}
		pass->n_all += 1 + inner->n_all;
		pass->depth = inner->depth > pass->depth ? inner->depth
							 : pass->depth;
		if (pass->n_all > MOST_PASSES || pass->depth >= MOST_LISTS) {
			return call_error(
				c, 0,
				"a Sequential of more than %d passes, "
				"or %d lists in each other",
				MOST_PASSES, MOST_LISTS);
		}
	}
	pass->depth++;
	pass->list = items;
	*out = pv_any(PV_PASS, pass);
	return true;
}

/* Implements PrintIR(): a pass that prints the module. */
bool
pass_print_ir(struct call *c, struct pval *out)
{
	struct pv_pass *pass = arena_new(c->ev->a, struct pv_pass);
	struct pval *run = arena_new(c->ev->a, struct pval);
	struct pval header = arg_given(c, 0) ? c->args[0]
					     : pv_string(c->ev, "");

	pass->name = "PrintIR";
	pass->of_module = true;
	pass->function = run;
	*out = pv_any(PV_PASS, pass);
	return library_text_apply(c->ev, c->span, IN_RELAY, "_print_ir",
				  &header, 1, run);
}

/* relax.get_pipeline(name): a pass that does nothing, because the build runs
 * tirc's passes. */
bool
relax_pipeline(struct call *c, struct pval *out)
{
	struct pv_pass *pass = arena_new(c->ev->a, struct pv_pass);

	pass->name = "get_pipeline";
	pass->passes = "";
	pass->words = "the build runs tirc's passes";
	tell(c, "%s changes no graph here: %s", pass->name, pass->words);
	*out = pv_any(PV_PASS, pass);
	return true;
}

/* function_pass(f?, opt_level?, name?, …) and module_pass(…). Without f, the
 * result is a decorator. */
bool
pass_of_function(struct call *c, struct pval *out)
{
	struct pv_pass *pass = arena_new(c->ev->a, struct pv_pass);
	int64_t level = USUAL_LEVEL;

	if (arg_given(c, 1) && !arg_int(c, 1, 0, 10, &level)) {
		return false;
	}
	pass->name = c->row->name;
	pass->level = (int)level;
	pass->of_module = strcmp(c->row->name, "module_pass") == 0;
	if (arg_given(c, 2) && !arg_text(c, 2, &pass->name)) {
		return false;
	}
	if (arg_given(c, 0)) {
		pass->function = arena_copy(c->ev->a, &c->args[0],
					    sizeof *c->args);
	}
	*out = pv_any(PV_PASS, pass);
	return true;
}

/* -- running passes -- */

/* A copy of the module, to whose request the graph passes of `pass`, a row of
 * the table, are added. */
static struct pval
after_passes(struct eval *ev, const struct pv_pass *pass,
	     const struct pv_graph *module)
{
	struct pv_graph *next = rmod_copy(ev, module);
	struct graph_request *r = &next->request;
	VEC(const char *) backends = { 0 }, passes = { 0 };
	const char *at = pass->passes, *word;

	for (int i = 0; i < r->n_backends; i++) {
		vec_push(ev->a, &backends, r->backends[i]);
	}
	for (int i = 0; i < pass->n_backends; i++) {
		vec_push(ev->a, &backends, pass->backends[i].u.text.data);
	}
	for (int i = 0; i < r->n_passes; i++) {
		vec_push(ev->a, &passes, r->passes[i]);
	}
	while ((word = text_next_word(ev->a, &at)) != NULL) {
		vec_push(ev->a, &passes, word);
	}
	r->backends = backends.data;
	r->n_backends = backends.n;
	r->passes = passes.data;
	r->n_passes = passes.n;
	return pv_any(PV_GRAPH, next);
}

/* Calls a pass that the program defines, for the module or for each of its
 * functions. A function that the pass returns must be the one that it got,
 * because tirc cannot rewrite the functions of graphs in a program. */
static bool
call_function(struct eval *ev, struct py_span at, const struct pv_pass *pass,
	      const struct pval *module, struct pval *out)
{
	const struct pv_graph *of = module->u.any;
	struct pval args[3] = { *module, *module,
				pv_any(PV_PASS_CONTEXT, pass_context(ev)) };
	struct graph *g = rmod_of(ev, at, of);

	*out = *module;
	if (g == NULL) {
		return false;
	}
	if (pass->of_module) {
		args[1] = args[2];
		if (!eval_apply(ev, at, pass->function, args, 2, out)) {
			return false;
		}
		return out->kind == PV_GRAPH || out->kind == PV_OBJECT ||
		       eval_error(ev, at, "a pass over modules gives a module");
	}
	for (int i = 0; i < relay_function_count(g); i++) {
		struct pval name = pv_string(ev, relay_function_name(g, i));
		struct pval result;

		if (!rmod_function(ev, at, module, &name, &args[0]) ||
		    !eval_apply(ev, at, pass->function, args, 3, &result)) {
			return false;
		}
		if (result.kind != PV_GRAPH_FUNC ||
		    result.u.any != args[0].u.any) {
			return eval_error(ev, at,
					  "a pass over functions gives the "
					  "function that it got; graphs are "
					  "rewritten by passes in C "
					  "(docs/how-to/passes.md)");
		}
	}
	return true;
}

static bool
changes_graphs(const struct pv_pass *pass)
{
	return pass->passes != NULL && pass->passes[0] != '\0';
}

/* Applies a pass, which is no list, to a module of expressions: a pass of tirc's to
 * the graph that the module describes, one that the program defines to the
 * expressions. All others give the expressions types. */
static bool
apply_to_expressions(struct eval *ev, struct py_span at,
		     const struct pv_pass *pass, const struct pval *module,
		     struct pval *out)
{
	struct pval args[3] = { *module,
				pv_any(PV_PASS_CONTEXT, pass_context(ev)) };
	struct pval graph;

	if (changes_graphs(pass)) {
		if (!relay_graph(ev, at, module, &graph)) {
			return false;
		}
		*out = after_passes(ev, pass, graph.u.any);
		return true;
	}
	if (pass->function == NULL) {
		return library_text_apply(ev, at, IN_RELAY, "_infer_module",
					  module, 1, out);
	}
	if (pass->of_module) {
		return eval_apply(ev, at, pass->function, args, 2, out);
	}
	args[2] = *pass->function;
	return library_text_apply(ev, at, IN_RELAY, "_map_functions", args, 3,
				  out);
}

static bool run_pass(struct eval *ev, struct py_span at,
		     const struct pv_pass *pass, const struct pval *module,
		     struct pval *out);

/* Applies a pass to a module. in_list: the pass is an element of a list of
 * passes: then it runs only if the pass context allows it. Returns false after
 * an error. */
static bool
rmod_apply(struct eval *ev, struct py_span at, const struct pv_pass *pass,
	   const struct pval *module, bool in_list, struct pval *out)
{
	bool runs;

	*out = *module;
	if (module->kind != PV_GRAPH && module->kind != PV_OBJECT) {
		return eval_error(ev, at,
				  "%s is a pass over modules of relay, and %s "
				  "is not one",
				  pass->name, pv_kind_name(module->kind));
	}
	if (in_list && !runs_in_context(ev, pass)) {
		return true;
	}
	if (!instruments_before(ev, at, pass, module, &runs)) {
		return false;
	}
	return !runs || (run_pass(ev, at, pass, module, out) &&
			 instruments_after(ev, at, pass, out));
}

/* Runs a pass, or those of its list, on a module. Returns false after an error. */
static bool
run_pass(struct eval *ev, struct py_span at, const struct pv_pass *pass,
	 const struct pval *module, struct pval *out)
{
	*out = *module;
	for (int i = 0; i < pass->n_list; i++) {
		struct pval before = *out;

		if (!rmod_apply(ev, at, pass->list[i].u.any, &before, true,
				out)) {
			return false;
		}
	}
	if (pass->list != NULL) {
		return true;
	}
	if (module->kind == PV_OBJECT) {
		return apply_to_expressions(ev, at, pass, module, out);
	}
	if (pass->function != NULL) {
		return call_function(ev, at, pass, module, out);
	}
	if (changes_graphs(pass)) {
		*out = after_passes(ev, pass, module->u.any);
	}
	return true;
}

/* Makes a pass of an object of the class that function_pass or module_pass
 * decorates: of its method transform_function or transform_module. */
static bool
pass_of_class(struct eval *ev, struct py_span at, const struct pv_pass *pass,
	      const struct call_args *args, struct pval *out)
{
	struct pv_pass *made = arena_copy(ev->a, pass, sizeof *pass);
	struct pval *method = arena_new(ev->a, struct pval);
	struct pval object;

	if (!eval_call(ev, at, pass->function, args, &object) ||
	    !eval_attribute(ev, at, &object,
			    pass->of_module ? "transform_module"
					    : "transform_function",
			    method)) {
		return false;
	}
	made->name = pass->function->u.class->name;
	made->function = method;
	*out = pv_any(PV_PASS, made);
	return true;
}

/* Implements the attributes info, name and opt_level of a pass. */
bool
pass_attribute(struct call *c, struct pval *out)
{
	const struct pv_pass *pass = c->self.u.any;

	*out = strcmp(c->row->name, "name") == 0 ? pv_string(c->ev, pass->name)
	       : strcmp(c->row->name, "info") == 0 ? c->self
						   : pv_int(pass->level);
	return true;
}

/* Calls f, a value of kind PASS. If f is a pass, runs it on the module in the
 * arguments; if f is a decorator, makes a pass of the function in the
 * arguments. */
bool
pass_call(struct eval *ev, struct py_span at, const struct pval *f,
	  const struct call_args *args, struct pval *out)
{
	const struct pv_pass *pass = f->u.any;
	bool is_decorator = pass->function == NULL && pass->words == NULL &&
			    pass->list == NULL;
	struct pv_pass *made;
	struct pval module;

	if (pass->function != NULL && pass->function->kind == PV_USER_CLASS) {
		return pass_of_class(ev, at, pass, args, out);
	}
	if (args->values.n != 1) {
		return eval_error(ev, at, "a pass is called with a module");
	}
	module = relay_of(&args->values.data[0]);
	if (!is_decorator && module.kind == PV_IRMODULE) {
		return tir_pass_apply(ev, at, f, &module, out);
	}
	if (!is_decorator) {
		return rmod_apply(ev, at, pass, &module, false, out);
	}
	made = arena_copy(ev->a, pass, sizeof *pass);
	made->function = arena_copy(ev->a, &args->values.data[0],
				    sizeof *args->values.data);
	*out = pv_any(PV_PASS, made);
	return true;
}
