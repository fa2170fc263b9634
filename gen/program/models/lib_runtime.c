/* SPDX-License-Identifier: Apache-2.0 */
/* Runs of models in programs, by the interpreter: TVM's
 * executors, and tvm.driver.tvmc. */
#include "build_parts.h"
#include "numpy.h"
#include "ops.h"
#include "quota.h"
#include "random_stream.h"
#include "relay_values.h"

/* The seed of the random inputs. It is constant, so that each run has the same
 * numbers. */
enum { MADE_SEED = 0 };

/* The value of kind RUNTIME: a model with the arrays of its inputs and, after a
 * run, of its outputs. */
struct pv_runtime {
	const struct pv_graph *module;
	struct graph *graph;
	/* the array of each input; NULL: the input is not set yet */
	struct array **inputs;
	/* for each output of the model: its value; NULL before the first run */
	struct array **outputs;
};

/* -- a model with its arrays -- */

static struct pv_runtime *
runtime_of(struct eval *ev, struct py_span at, const struct pv_graph *module)
{
	struct pv_runtime *r = arena_new(ev->a, struct pv_runtime);

	r->module = module;
	r->graph = rmod_of(ev, at, module);
	if (r->graph == NULL) {
		return NULL;
	}
	r->inputs = arena_array(ev->a, struct array *, r->graph->inputs.n + 1);
	return r;
}

/* Makes a runtime of the first argument that is a built model. Returns NULL
 * after an error. */
static struct pv_runtime *
runtime_of_call(struct call *c)
{
	for (int i = 0; i < c->n; i++) {
		if (c->args[i].kind == PV_LIBRARY) {
			const struct pv_library *lib = c->args[i].u.any;

			return runtime_of(c->ev, c->span, lib->module);
		}
	}
	value_kind_error(c, 0, "a built model");
	return NULL;
}

bool
runtime_new(struct call *c, struct pval *out)
{
	struct pv_runtime *r = runtime_of_call(c);

	*out = (struct pval){ .kind = PV_RUNTIME, .u.runtime = r };
	return r != NULL;
}

/* The index of the input with the name or number `key`; -1 if it is the name of
 * a parameter; -2 after an error. */
static int
input_of(struct eval *ev, struct py_span at, const struct pv_runtime *r,
	 const struct pval *key)
{
	const struct graph *g = r->graph;
	const char **names = arena_array(ev->a, const char *, g->inputs.n + 1);
	const char *name;

	if (key->kind == PV_INT) {
		if (key->u.ival >= 0 && key->u.ival < g->inputs.n) {
			return (int)key->u.ival;
		}
		eval_error(ev, at, "the model has %d inputs", g->inputs.n);
		return -2;
	}
	if (key->kind != PV_STRING) {
		eval_error(ev, at, "an input has a name or a number");
		return -2;
	}
	name = key->u.text.data;
	for (int i = 0; i < g->inputs.n; i++) {
		names[i] = tensor_label(g->inputs.data[i]);
		if (strcmp(names[i], name) == 0) {
			return i;
		}
	}
	for (int i = 0; i < g->tensors.n; i++) {
		const struct tensor *t = g->tensors.data[i];

		if (tensor_is_constant(t) &&
		    strcmp(tensor_label(t), name) == 0) {
			return -1;
		}
	}
	eval_error(ev, at, "the model has no input %s%s", name,
		   py_suggest(ev->a, name, names, g->inputs.n));
	return -2;
}

/* Sets an input to a copy of the value, converted to the type of the input.
 * Returns false after an error. */
static bool
set_input(struct eval *ev, struct py_span at, struct pv_runtime *r,
	  const struct pval *key, const struct pval *v)
{
	int i = input_of(ev, at, r, key);

	if (i < 0) {
		/* a parameter that the program sets is ignored, because the
		 * model already contains it */
		return i == -1;
	}
	r->inputs[i] = array_for(ev, at, r->graph->inputs.data[i], v);
	return r->inputs[i] != NULL;
}

static bool
is_input(const struct graph *g, const struct pval *name)
{
	for (int i = 0; name->kind == PV_STRING && i < g->inputs.n; i++) {
		if (strcmp(tensor_label(g->inputs.data[i]),
			   name->u.text.data) == 0) {
			return true;
		}
	}
	return false;
}

static bool
set_inputs(struct eval *ev, struct py_span at, struct pv_runtime *r,
	   const struct pv_dict *d)
{
	for (int i = 0; i < d->keys.n; i++) {
		/* parameters of the model may be among the inputs in the dict,
		 * under any name */
		if (d->values.data[i].kind == PV_PARAM &&
		    !is_input(r->graph, &d->keys.data[i])) {
			continue;
		}
		if (!set_input(ev, at, r, &d->keys.data[i],
			       &d->values.data[i])) {
			return false;
		}
	}
	return true;
}

bool
runtime_set_input(struct call *c, struct pval *out)
{
	struct pv_runtime *r = c->self.u.runtime;

	(void)out;
	if (arg_given(c, 0) && arg_missing(c, 1)) {
		return call_error(c, 0, "set_input takes a name and an array");
	}
	return (!arg_given(c, 0) ||
		set_input(c->ev, c->span, r, &c->args[0], &c->args[1])) &&
	       set_inputs(c->ev, c->span, r, c->args[2].u.dict);
}

/* Counts the steps of a run. The interpreter does about RUN_RATE
 * multiplications and elements in the time of one step. Returns false after an
 * error if too few steps are left. */
static bool
count_run(struct eval *ev, struct py_span at, const struct graph *g)
{
	enum { RUN_RATE = 1024 };
	int64_t work = 0, elems;

	for (int i = 0; i < g->nodes.n && !ev->o->execute; i++) {
		const struct node *n = g->nodes.data[i];

		work = quota_plus(work, op_macs(n));
		for (int k = 0; k < n->n_inputs + n->n_outputs; k++) {
			const struct tensor *t =
				k < n->n_inputs ? n->inputs[k]
						: n->outputs[k - n->n_inputs];

			if (t != NULL && tensor_max_elems(t, &elems)) {
				work = quota_plus(work, elems);
			}
		}
	}
	if (work / RUN_RATE > ev->max_steps - ev->steps) {
		ev->fatal = true;
		return eval_error(ev, at,
				  "the model's run takes %lld operations, too "
				  "many for the interpreter; tirc lower "
				  "--execute runs it to its end",
				  (long long)work);
	}
	return eval_tick(ev, at, work / RUN_RATE + 1000);
}

/* Runs the model, whose inputs must all be set. Returns false after an error. */
static bool
run(struct eval *ev, struct py_span at, struct pv_runtime *r)
{
	const struct graph_services *s = ev->o->graphs;
	struct graph *g = r->graph;
	const void **in = arena_array(ev->a, const void *, g->inputs.n + 1);
	void **out = arena_array(ev->a, void *, g->outputs.n + 1);
	int errors = ev->m->diags.list.n;

	r->outputs = arena_array(ev->a, struct array *, g->outputs.n + 1);
	for (int i = 0; i < g->inputs.n; i++) {
		if (r->inputs[i] == NULL) {
			return eval_error(ev, at,
					  "input %s has no array; set_input "
					  "gives it one",
					  tensor_label(g->inputs.data[i]));
		}
		in[i] = r->inputs[i]->data;
	}
	for (int i = 0; i < g->outputs.n; i++) {
		r->outputs[i] = array_of_zeros(ev, at, g->outputs.data[i]);
		if (r->outputs[i] == NULL) {
			return false;
		}
		out[i] = r->outputs[i]->data;
	}
	return count_run(ev, at, g) &&
	       (s->run(s->ctx, &r->module->request, in, out) ||
		eval_locate(ev, at, errors));
}

bool
runtime_run(struct call *c, struct pval *out)
{
	struct pv_runtime *r = c->self.u.runtime;

	(void)out;
	return set_inputs(c->ev, c->span, r, c->args[0].u.dict) &&
	       run(c->ev, c->span, r);
}

bool
runtime_call(struct eval *ev, struct py_span at, const struct pval *f,
	     const struct call_args *args, struct pval *out)
{
	struct pv_runtime *r = f->u.runtime;

	for (int i = 0; i < args->values.n; i++) {
		const char *name = args->given.data[i].name;
		struct pval key = name ? pv_string(ev, name) : pv_int(i);

		if (args->values.data[i].kind != PV_PARAM &&
		    !set_input(ev, at, r, &key, &args->values.data[i])) {
			return false;
		}
	}
	if (!run(ev, at, r)) {
		return false;
	}
	if (r->graph->outputs.n == 1) {
		*out = pv_nd_of(ev, r->outputs[0]);
		return true;
	}
	*out = pv_list_of(ev, PV_TUPLE, NULL, 0);
	for (int i = 0; i < r->graph->outputs.n; i++) {
		vec_push(ev->a, out->u.list, pv_nd_of(ev, r->outputs[i]));
	}
	return true;
}

/* RUNTIME.benchmark(…): the time of one run with the present inputs. */
bool
runtime_benchmark(struct call *c, struct pval *out)
{
	struct call_args none = { 0 };
	struct pval timer;

	return nd_timer(c, &timer) &&
	       nd_time(c->ev, c->span, &timer, &none, out);
}

/* Copies an output into the array of argument 1, which is the result. */
static bool
copy_to(struct call *c, struct pval from, struct pval *out)
{
	struct pval into = c->args[1];
	const struct name_row *row = names_of(c->ev, PV_NDARRAY, "copyfrom");
	struct call copy = *c;

	if (into.kind != PV_NDARRAY) {
		return value_kind_error(c, 1, "an array of TVM");
	}
	copy.row = row;
	copy.self = into;
	copy.args = &from;
	copy.spans = c->spans;
	copy.n = 1;
	return row->fn(&copy, out);
}

bool
runtime_output(struct call *c, struct pval *out)
{
	struct pv_runtime *r = c->self.u.runtime;
	int64_t i;

	if (r->outputs == NULL) {
		return call_error(c, -1, "the model has not run; call run()");
	}
	if (!arg_int(c, 0, 0, r->graph->outputs.n - 1, &i)) {
		return false;
	}
	*out = pv_nd_of(c->ev, r->outputs[i]);
	return !arg_given(c, 1) || copy_to(c, *out, out);
}

bool
runtime_input(struct call *c, struct pval *out)
{
	struct pv_runtime *r = c->self.u.runtime;
	int i = input_of(c->ev, c->span, r, &c->args[0]);

	if (i >= 0 && r->inputs[i] != NULL) {
		*out = pv_nd_of(c->ev, r->inputs[i]);
		return true;
	}
	return i != -2 && call_error(c, 0, "the input has no array");
}

bool
runtime_count(struct call *c, struct pval *out)
{
	struct pv_runtime *r = c->self.u.runtime;

	*out = pv_int(strcmp(c->row->name, "get_num_inputs") == 0
			      ? r->graph->inputs.n
			      : r->graph->outputs.n);
	return true;
}

/* -- tvmc -- */

/* Implements tvmc.load(path, model_format, shape_dict). */
bool
tvmc_load(struct call *c, struct pval *out)
{
	struct pval model, pair;
	struct call of = *c;
	const char *format;

	if (arg_given(c, 1) &&
	    (!arg_text(c, 1, &format) ||
	     (strcmp(format, "onnx") != 0 &&
	      !call_error(c, 1, "tirc reads ONNX; export the model to it")))) {
		return false;
	}
	if (!onnx_load(c, &model)) {
		return false;
	}
	of.args = arena_copy(c->ev->a, c->args, sizeof *c->args * 3);
	of.args[0] = model;
	of.args[1] = c->args[2];
	of.n = 2;
	if (!relay_from_onnx(&of, &pair)) {
		return false;
	}
	*out = pair.u.list->data[0];
	return true;
}

static void
note(struct call *c, int i, const char *text)
{
	diag_note(&c->ev->m->diags, DIAG_ASSUMPTION, call_place(c, i), "%s",
		  text);
}

bool
tvmc_compile_model(struct call *c, struct pval *out)
{
	struct call of = *c;
	struct pval args[4] = { c->args[0], c->args[1], pv_none(), pv_none() };

	if (arg_given(c, 2)) {
		note(c, 2,
		     "tuning records are not read: tirc's rules schedule "
		     "each kernel");
	}
	if (arg_given(c, 3)) {
		note(c, 3,
		     "no package is written; tirc tvmc compile writes "
		     "one");
	}
	of.args = args;
	of.n = 4;
	return relay_build(&of, out);
}

/* Implements tvmc.tune(model, target, …) by a note, because a program measures
 * nothing: it may come from a stranger, and measurements compile and run what
 * they measure. Returns None, which tvmc.compile takes for no records. */
bool
tvmc_tune(struct call *c, struct pval *out)
{
	if (c->args[0].kind != PV_GRAPH) {
		return value_kind_error(c, 0, "a model of tvmc.load");
	}
	*out = pv_none();
	note(c, -1,
	     "programs measure nothing: tirc's rules schedule each kernel; to "
	     "tune the model, run tirc tune MODEL.onnx -o records.jsonl, and "
	     "tirc compile with --records records.jsonl");
	return true;
}

/* Makes the array of an input in the way of tvmc: random floats from 0 to 1, or
 * integers from 0 to 127. Returns false after an error. */
static bool
make_input(struct eval *ev, struct py_span at, struct random_stream *random,
	   const struct tensor *t, struct array **out)
{
	struct array *x = array_of_zeros(ev, at, t);

	*out = x;
	for (int64_t i = 0; x != NULL && i < array_elems(x); i++) {
		double v = random_double(random);

		if (!dtype_is_float(x->type)) {
			v = (double)(int)(v *
					  (x->type.kind == DT_BOOL ? 2 : 128));
		}
		array_set(x, i, number_of_double(x->type, v));
	}
	return x != NULL && eval_tick(ev, at, array_elems(x));
}

/* Implements tvmc.run(package, device, inputs). */
bool
tvmc_run_model(struct call *c, struct pval *out)
{
	struct pv_runtime *r = runtime_of_call(c);
	struct random_stream *random = arena_new(c->ev->a,
						 struct random_stream);

	*out = (struct pval){ .kind = PV_TVMC_RESULT, .u.runtime = r };
	if (r == NULL) {
		return false;
	}
	if (arg_given(c, 2) &&
	    (c->args[2].kind != PV_DICT
		     ? !value_kind_error(c, 2, "a dict of arrays")
		     : !set_inputs(c->ev, c->span, r, c->args[2].u.dict))) {
		return false;
	}
	random_seed_legacy(random, MADE_SEED);
	for (int i = 0; i < r->graph->inputs.n; i++) {
		if (r->inputs[i] == NULL &&
		    !make_input(c->ev, c->span, random,
				r->graph->inputs.data[i], &r->inputs[i])) {
			return false;
		}
	}
	return run(c->ev, c->span, r);
}

/* The attribute result.outputs: a dict of the arrays under the names output_0,
 * output_1, … */
bool
tvmc_outputs(struct call *c, struct pval *out)
{
	const struct pv_runtime *r = c->self.u.runtime;

	*out = pv_dict_new(c->ev);
	for (int i = 0; i < r->graph->outputs.n; i++) {
		struct pval key = pv_string(c->ev,
					    arena_printf(c->ev->a, "output_%d",
							 i));
		struct pval v = pv_array(r->outputs[i]);

		if (!dict_set(c->ev, c->span, out->u.dict, &key, &v)) {
			return false;
		}
	}
	return true;
}

bool
tvmc_output(struct call *c, struct pval *out)
{
	struct pval d;
	const struct pval *found;

	if (!tvmc_outputs(c, &d) ||
	    !dict_get(c->ev, c->span, d.u.dict, &c->args[0], &found)) {
		return false;
	}
	if (found == NULL) {
		return call_error(c, 0, "the outputs are output_0 and so on");
	}
	*out = *found;
	return true;
}

void
tvmc_result_text(struct eval *ev, const struct pval *v, bool repr,
		 struct strbuf *out)
{
	const struct pv_runtime *r = v->u.runtime;

	(void)ev;
	(void)repr;
	strbuf_puts(out, "Output Names:\n [");
	for (int i = 0; i < r->graph->outputs.n; i++) {
		strbuf_printf(out, "%s'output_%d'", i > 0 ? ", " : "", i);
	}
	strbuf_putc(out, ']');
}

/* Parts of a model of tvmc: model.mod and model.params. */
bool
tvmc_part(struct call *c, struct pval *out)
{
	struct graph *g = rmod_of(c->ev, c->span, c->self.u.any);

	if (strcmp(c->row->name, "mod") == 0 || g == NULL) {
		*out = c->self;
		return g != NULL;
	}
	*out = params_dict(c->ev, c->span, g);
	return true;
}
