/* SPDX-License-Identifier: Apache-2.0 */
/* The public interface: messages, the model, the result. */
#include <math.h>
#include <string.h>

#include "data_files.h"
#include "dialect.h"
#include "ops.h"
#include "plan.h"
#include "quantization.h"
#include "rewrite.h"
#include "size_words.h"
#include "tirc_context.h"
#include "version.h"

/* -- messages -- */

int
tirc_message_count(const struct tirc *t)
{
	return t->m->diags.list.n;
}

struct tirc_message
tirc_message(const struct tirc *t, int i)
{
	const struct diag *d = &t->m->diags.list.data[i];
	struct tirc_message out = { .id = diag_id_name(d->id),
				    .excerpt = d->place.excerpt };
	struct strbuf text;

	out.severity = d->severity == DIAG_ERROR     ? TIRC_ERROR
		       : d->severity == DIAG_WARNING ? TIRC_WARNING
						     : TIRC_NOTE;
	strbuf_init(&text);
	diag_format(d, &text);
	out.text = arena_strdup(&t->m->arena, text.data);
	strbuf_release(&text);
	return out;
}

/* -- the model -- */

static int64_t
dim_max(struct tirc *t, const struct tensor *x, int d)
{
	struct tensor one = *x;
	int64_t elems = 0;

	(void)t;
	one.ndim = 1;
	one.shape = &x->shape[d];
	tensor_max_elems(&one, &elems);
	return elems;
}

/* The node that computes the elements of x: its producer, or, if that only
 * moves or copies elements, a producer before it. NULL if x, or the tensor
 * whose elements are moved, has no producer. */
static const struct node *
elements_of(const struct tensor *x)
{
	const struct node *n = x->producer;

	while (n != NULL && n->op != NULL && n->n_inputs > 0 &&
	       (n->op->fuse == FUSE_INJECTIVE || n->op->fuse == FUSE_VIEW) &&
	       dtype_equal(n->inputs[0]->type, x->type)) {
		n = n->inputs[0]->producer;
	}
	return n;
}

/* Are the integer results of node n quantized? Then a result may be right
 * although it differs from the expected one by one step. */
static bool
is_quantizing(const struct node *n)
{
	static const char *const kinds[] = {
		"QuantizeLinear",
		"DynamicQuantizeLinear",
		"QLinearConv",
		"QLinearMatMul",
	};
	if (strcmp(n->domain, "tirc") == 0) {
		/* integer results of operators of the domain tirc are quantized
		 * numbers */
		return true;
	}
	for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
		if (node_is(n, kinds[i])) {
			return true;
		}
	}
	return false;
}

/* The largest magnitude of the elements of x; 0 if x is not a constant of
 * floats. */
static double
largest_constant(const struct tensor *x)
{
	const struct value *v = x->value;
	double most = 0;

	if (v == NULL || !dtype_is_float(v->type)) {
		return 0;
	}
	for (int64_t i = 0; i < v->elems; i++) {
		union number one = v->data != NULL
					   ? number_load(v->type, v->data,
							 (size_t)i)
					   : v->fill;

		most = fmax(most, fabs(one.f));
	}
	return most;
}

static double
quantization_step(const struct tensor *x)
{
	const struct node *n = elements_of(x);
	double scale = 1;

	if (n != NULL && node_is(n, "DequantizeLinear")) {
		scale = largest_constant(n->inputs[1]);
		x = n->inputs[0];
		n = elements_of(x);
	}
	return n != NULL && dtype_is_int(x->type) && is_quantizing(n) ? scale
								      : 0;
}

struct tirc_tensor
context_tensor(struct tirc *t, const struct tensor *x)
{
	struct arena *a = &t->m->arena;
	int64_t *dims = arena_array(a, int64_t, x->ndim + 1);
	const char **words = arena_array(a, const char *, x->ndim + 1);
	struct tirc_tensor out = {
		.name = x->name,
		.identifier = t->compiled ? package_field(&t->package, x)
					  : x->name,
		.dtype = dtype_name(x->type),
		.ndim = x->ndim,
		.dims = dims,
		.words = words,
		.step = t->exact != NULL && t->exact[x->id]
				? 0
				: quantization_step(x),
		.arithmetic = t->arithmetic != NULL &&
					      t->arithmetic[x->id] != DT_VOID
				      ? dtype_name(
						dtype_of(t->arithmetic[x->id]))
				      : NULL,
		.in_workspace = t->compiled && x->in_workspace,
	};
	const struct placement *at;

	for (int d = 0; d < x->ndim; d++) {
		struct strbuf s;

		strbuf_init(&s);
		size_words(graph_given_size(t->graph, x->shape[d]), &s);
		words[d] = arena_strdup(a, s.data);
		strbuf_release(&s);
		dims[d] = dim_max(t, x, d);
	}
	tensor_max_elems(x, &out.elems);
	if (out.in_workspace) {
		at = plan_find(&t->program.plan, x);
		out.offset_bytes = at->offset_bytes;
	}
	return out;
}

int
tirc_input_count(const struct tirc *t)
{
	return t->graph->inputs.n;
}

int
tirc_output_count(const struct tirc *t)
{
	return t->graph->outputs.n;
}

struct tirc_tensor
tirc_input(struct tirc *t, int i)
{
	return context_tensor(t, t->graph->inputs.data[i]);
}

struct tirc_tensor
tirc_output(struct tirc *t, int i)
{
	return context_tensor(t, t->graph->outputs.data[i]);
}

int
tirc_dim_count(const struct tirc *t)
{
	return t->graph->dims.n;
}

struct tirc_dim
tirc_dim(const struct tirc *t, int i)
{
	struct dim_step s = graph_given_dim(t->graph, t->graph->dims.data[i]);

	return (struct tirc_dim){ s.given->name, s.given->min, s.given->max,
				  s.step };
}

/* Sets *out to the value of e for v = value; false if e has other variables. */
static bool
value_at(struct module *m, const struct expr *e, struct var *v, int64_t value,
	 int64_t *out)
{
	const struct expr *to = expr_int(m, v->type, value);
	struct var_map map = { &v, &to, 1 };

	return expr_is_int(expr_substitute(m, e, &map), out);
}

/* The expression e with the known values of symbolic sizes in place of their
 * variables; known[i] < 0: unknown. */
static const struct expr *
with_known(const struct tirc *t, const struct expr *e, const int64_t *known)
{
	const struct graph *g = t->graph;
	int64_t unused;

	for (int i = 0; i < g->dims.n; i++) {
		struct dim_step s = graph_given_dim(g, g->dims.data[i]);
		const struct expr *to = expr_int(t->m, s.var->type,
						 known[i] / s.step);
		struct var_map map = { &s.var, &to, 1 };

		if (known[i] >= 0 && !expr_is_int(e, &unused)) {
			e = expr_substitute(t->m, e, &map);
		}
	}
	return e;
}

int64_t
tirc_dim_value(const struct tirc *t, int dim, const int64_t *known, int input,
	       int axis, int64_t size)
{
	struct dim_step given = graph_given_dim(t->graph,
						t->graph->dims.data[dim]);
	const struct expr *e = t->graph->inputs.data[input]->shape[axis];
	int64_t least = given.var->min, most = given.var->max;

	if (graph_given_size(t->graph, e) == given.given->expr) {
		return size;
	}
	e = with_known(t, e, known);
	/* Binary search: a size rarely decreases when a symbolic size grows. */
	while (least <= most) {
		int64_t middle = least + (most - least) / 2, at;

		if (!expr_uses_var(e, given.var) ||
		    !value_at(t->m, e, given.var, middle, &at)) {
			return -1;
		}
		if (at == size) {
			return middle * given.step;
		}
		if (at < size) {
			least = middle + 1;
		} else {
			most = middle - 1;
		}
	}
	return -1;
}

int
tirc_const_input_count(const struct tirc *t)
{
	return t->const_inputs != NULL ? t->options.n_const_inputs : 0;
}

struct tirc_const_input
tirc_const_input(const struct tirc *t, int i)
{
	const struct const_input *c = &t->const_inputs[i];
	const struct array *a = c->array;

	return (struct tirc_const_input){
		.name = c->name,
		.position = *c->position,
		.dtype = dtype_name(a->type),
		.ndim = a->ndim,
		.dims = a->shape,
		.data = a->data,
		.bytes = a->elems * dtype_bytes(a->type),
	};
}

int
tirc_size_count(const struct tirc *t)
{
	return t->program.given_sizes.n;
}

struct tirc_dim
tirc_size(const struct tirc *t, int i)
{
	const struct var *v = t->program.given_sizes.data[i].size;

	return (struct tirc_dim){ v->name, v->min, v->max, 1 };
}

static void
dims_of(const struct tirc *t, const struct tensor *x, const int64_t *values,
	int64_t *dims)
{
	struct graph *g = t->graph;
	const struct program *p = &t->program;
	int n = g->dims.n + p->given_sizes.n;
	struct var **from = arena_array(&t->m->arena, struct var *, n + 1);
	const struct expr **to = arena_exprs(&t->m->arena, n + 1);
	struct var_map map = { from, to, n };

	for (int d = 0; d < n; d++) {
		from[d] = d < g->dims.n ? g->dims.data[d]
					: p->given_sizes.data[d - g->dims.n]
						  .size->expr->u.var;
		to[d] = expr_int(t->m, from[d]->type,
				 values[d] / graph_given_dim(g, from[d]).step);
	}
	for (int d = 0; d < x->ndim; d++) {
		const struct expr *e = expr_substitute(t->m, x->shape[d], &map);

		if (!expr_is_int(e, &dims[d])) {
			dims[d] = 0;
		}
	}
}

void
tirc_input_dims(const struct tirc *t, int i, const int64_t *values,
		int64_t *dims)
{
	dims_of(t, t->graph->inputs.data[i], values, dims);
}

void
tirc_output_dims(const struct tirc *t, int i, const int64_t *values,
		 int64_t *dims)
{
	dims_of(t, t->graph->outputs.data[i], values, dims);
}

void
tirc_state_dims(const struct tirc *t, int i, const int64_t *values,
		int64_t *dims)
{
	dims_of(t, context_state_tensor(t, i), values, dims);
}

const char *
tirc_output_model_name(const struct tirc *t, int i)
{
	return t->graph->outputs.data[i]->model_name;
}

int
tirc_output_node(const struct tirc *t, int i)
{
	const struct node *n = t->graph->outputs.data[i]->producer;

	return n != NULL && n->origins.n > 0 ? n->origins.data[0] : -1;
}

int
tirc_node_count(const struct tirc *t)
{
	return t->nodes.n;
}

struct tirc_node
tirc_node(const struct tirc *t, int i)
{
	return t->nodes.data[i];
}

/* -- the result -- */

/* If a converter of TensorFlow Lite's models made the model, its results are
 * rounded, and the user has not chosen how: the name of the converter; else
 * NULL. */
static const char *
from_tflite(const struct tirc *t)
{
	static const char *const converters[] = { "tfl2onnx", "tflite2onnx",
						  "tf2onnx" };
	const char *by = t->graph->producer;

	if (by == NULL || t->options.requant != NULL ||
	    graph_rounding(t->graph) == NULL) {
		return NULL;
	}
	for (size_t i = 0; i < sizeof converters / sizeof *converters; i++) {
		if (strcmp(by, converters[i]) == 0) {
			return by;
		}
	}
	return NULL;
}

/* The summary of a program, whose functions are tested: the tools for the
 * target. */
static struct tirc_summary
program_summary(const struct tirc *t)
{
	const struct target *target = t->target;

	return (struct tirc_summary){
		.target = target->name,
		.named_target = t->named_target,
		.simulator = target->simulator.command,
		.simulator_argument = target->simulator.argument,
		.simulator_package = target->simulator.package,
		.cc_package = target->cc_package,
		.cc = target->cc,
		.cflags = target->cflags,
		.ldflags = target->ldflags,
		.library_cflags = "",
		.is_device = target->max_threads > 0,
	};
}

/* Are loops shared between threads? */
static bool
has_threads(const struct tirc *t)
{
	return t->target->max_threads == 0 &&
	       (t->dialect->tasks.used ||
		dialect_has_loop(t->dialect, SAY_PARALLEL));
}

static struct tirc_summary
model_summary(const struct tirc *t)
{
	static const char *const forms[] = {
		[WEIGHTS_AUTO] = "auto",       [WEIGHTS_C] = "c",
		[WEIGHTS_INCBIN] = "incbin",   [WEIGHTS_FILE] = "file",
		[WEIGHTS_SECTION] = "section",
	};
	struct winograd_memory w = graph_winograd_memory(t->graph);
	struct tirc_summary s = {
		.name = package_model(&t->package),
		.target = t->target->name,
		.workspace_bytes = t->program.plan.workspace_bytes,
		.bound_bytes = t->program.plan.bound_bytes,
		.weights_bytes = t->package.weights_bytes,
		.weights = t->package.weights == WEIGHTS_AUTO
				   ? "none"
				   : forms[t->package.weights],
		.winograd_convolutions = w.convolutions,
		.winograd_weights_bytes = w.weights_bytes,
		.winograd_direct_bytes = w.direct_bytes,
		.winograd_tiles_bytes = w.most_bytes,
		.rounding = graph_rounding(t->graph),
		.from_tflite = from_tflite(t),
		.compile_line = t->package.cc_line,
		.next = t->package.next,
		.simulator = t->target->simulator.command,
		.simulator_argument = t->target->simulator.argument,
		.simulator_package = t->target->simulator.package,
		.cc_package = t->target->cc_package,
		.cc = t->target->cc,
		.cflags = t->package.cflags,
		.ldflags = t->package.ldflags,
		.library_cflags = t->package.library_cflags,
		.l1_bytes = t->target->l1_bytes,
		.l2_bytes = t->target->l2_bytes,
		.tf32 = t->target->tf32,
		.cores = has_threads(t) ? t->target->cores : 0,
		.unused_cores = !has_threads(t) && t->target->max_threads == 0
					? t->target->cores
					: 0,
		.takes_threads = t->dialect->tasks.used,
		.is_device = t->target->max_threads > 0,
	};

	for (int i = 0; i < t->program.kernels.n; i++) {
		const struct kernel *k = t->program.kernels.data[i];

		s.flops += k->flops;
		s.operations += k->flops + k->int_ops;
		s.macs += k->macs;
		s.local_bytes = k->local_bytes > s.local_bytes ? k->local_bytes
							       : s.local_bytes;
	}
	return s;
}

struct tirc_summary
tirc_summary(const struct tirc *t)
{
	return t->graph != NULL ? model_summary(t) : program_summary(t);
}

int
tirc_output_kernel(const struct tirc *t, int output)
{
	const struct tensor *y = t->graph->outputs.data[output];

	for (int i = 0; i < t->program.kernels.n; i++) {
		const struct kernel *k = t->program.kernels.data[i];

		for (int a = 0; a < k->args.n; a++) {
			if (k->args.data[a].tensor == y &&
			    k->args.data[a].written) {
				return i;
			}
		}
	}
	return -1;
}

int
tirc_kernel_count(const struct tirc *t)
{
	return t->program.kernels.n;
}

struct tirc_kernel
tirc_kernel(const struct tirc *t, int i)
{
	const struct kernel *k = t->program.kernels.data[i];

	return (struct tirc_kernel){
		.name = k->name,
		.title = k->title,
		.schedule = k->schedule,
		.flops = k->flops,
		.operations = k->flops + k->int_ops,
		.macs = k->macs,
		.read_bytes = k->read_bytes,
		.write_bytes = k->write_bytes,
		.local_bytes = k->local_bytes,
		.weight_bytes = k->weight_bytes,
	};
}

int
tirc_assumption_count(const struct tirc *t)
{
	return t->graph->assumptions.n;
}

const char *
tirc_assumption(const struct tirc *t, int i)
{
	return t->graph->assumptions.data[i];
}

const char *
tirc_flags_lacking(struct tirc *t, const char *cc, const char *cflags)
{
	return t->compiled
		       ? target_flags_lacking(t->m, t->package.relied_on.data,
					      t->package.relied_on.n, cc,
					      cflags)
		       : target_flags_lacking(t->m, t->relied_on,
					      t->n_relied_on, cc, cflags);
}

const char *
tirc_processor_lacks(struct tirc *t, const char *cc, const char *cflags)
{
	return target_processor_lacks(t->m, cc, cflags);
}

int
tirc_file_count(const struct tirc *t)
{
	return t->package.files.n;
}

struct tirc_file
tirc_file(const struct tirc *t, int i)
{
	const struct out_file *f = &t->package.files.data[i];

	return (struct tirc_file){ f->name, (int64_t)f->length, f->text,
				   f->is_source, f->is_metadata };
}

const char *
tirc_harness(struct tirc *t)
{
	return t->compiled ? package_harness(&t->package) : t->caller;
}

const char *
tirc_harness_name(const struct tirc *t)
{
	return t->compiled ? "harness.c" : t->caller_name;
}

int
tirc_harness_file_count(const struct tirc *t)
{
	return t->compiled         ? package_harness_files(&t->package)
	       : t->caller != NULL ? t->target->simulator.n_runtime
				   : 0;
}

struct tirc_file
tirc_harness_file(struct tirc *t, int i)
{
	struct tirc_file f = { 0 };
	const char *file;
	size_t n;

	if (t->compiled) {
		f.text = package_harness_file(&t->package, i, &f.name);
	} else {
		f.name = t->target->simulator.runtime[i];
		f.text = data_file(t->m, NULL,
				   arena_printf(&t->m->arena, "runtime/%s",
						f.name),
				   &file);
	}
	n = strlen(f.name);
	f.bytes = f.text != NULL ? (int64_t)strlen(f.text) : 0;
	f.is_source = n > 2 && strcmp(f.name + n - 2, ".c") == 0;
	return f;
}

const char *
tirc_harness_ldflags(const struct tirc *t)
{
	return t->compiled ? package_harness_ldflags(&t->package)
	       : t->caller != NULL && t->target->simulator.command != NULL
		       ? t->target->simulator.ldflags
		       : "";
}

const char *
tirc_version(void)
{
	return version_text();
}
