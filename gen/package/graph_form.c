/* SPDX-License-Identifier: Apache-2.0 */
/* NAME_graph.json: the calls of the entry function as data. It lists the nodes
 * in the order of their calls with kernels and arguments, and the tensors with
 * places and shapes. Each tensor and each node has a line of its own, and the
 * names of the source, so that a new node in the model changes few lines.
 *
 *   {"name":"relu1","dtype":"float32","shape":[1,16,8,8],"at":"workspace",
 *    "offset":0,"bytes":4096,"from":["conv1"]}
 *   {"name":"conv1","kernel":"conv1","args":[{"read":"image"},
 *    {"param":64,"bytes":576},{"write":"relu1"}]} */
#include <cjson/cJSON.h>

#include "kernel.h"
#include "ops.h"
#include "package.h"
#include "packer.h"
#include "plan.h"
#include "text.h"

#define FORMAT "tirc graph 1"

struct describer {
	struct packer *k;
	/* for each tensor's id: its name in the JSON, or NULL */
	const char **ids;
	bool failed;
};

static bool
refuse(struct packer *k, enum diag_id id, const char *file, const char *why)
{
	struct diag_place place = { .file = file };

	return diag_error(&k->m->diags, id, place, "--form graph: %s", why);
}

bool
graph_form_allowed(struct packer *k)
{
	const struct graph_forms *f = &k->kernels->graph;

	if (k->g->steps.n > 0) {
		return refuse(k, DIAG_UNSUPPORTED, k->g->file,
			      "--form graph does not support sizes that are "
			      "multiples (--dim NAME=MIN..MAX:MULTIPLE); leave "
			      "the multiple out");
	}
	if (f->rejected != NULL) {
		return refuse(k, DIAG_UNSUPPORTED, k->kernels->file,
			      arena_printf(k->a, "%s; choose another target",
					   f->rejected));
	}
	if (graph_has_control(k->g)) {
		return refuse(k, DIAG_UNSUPPORTED, k->g->file,
			      "the model has branches or loops, which a list "
			      "of calls cannot have; use --form aot");
	}
	if (k->p->kernels.n == 0) {
		return refuse(k, DIAG_UNSUPPORTED, k->g->file,
			      "the model has no kernel; use --form aot");
	}
	if (k->g->run_sizes.n > 0) {
		return refuse(k, DIAG_UNSUPPORTED, k->g->file,
			      "the model has sizes that are known only when it "
			      "runs; use --form aot");
	}
	if (k->o->profile) {
		return refuse(k, DIAG_BAD_OPTION, k->kernels->file,
			      "--profile is for --form aot");
	}
	if (k->o->weights != WEIGHTS_AUTO && k->o->weights != WEIGHTS_FILE) {
		return refuse(k, DIAG_BAD_OPTION, k->kernels->file,
			      "the weights of this form are in a file; "
			      "remove --weights");
	}
	return true;
}

/* -- sizes -- */

bool
graph_arg_listed(const struct kernel *kernel, const struct kernel_arg *arg)
{
	return arg->kind != ARG_DIM &&
	       (kernel->init == NULL || arg->kind != ARG_WEIGHT);
}

int64_t
graph_arg_bytes(const struct kernel_arg *arg)
{
	int64_t elems, bytes = 0;

	switch (arg->kind) {
	case ARG_WEIGHT:
		return arg->weight->bytes;
	case ARG_SCRATCH:
		return arg->scratch_bytes;
	default:
		break;
	}
	if (buffer_max_elems(arg->buffer, &elems)) {
		bytes = elems * buffer_element_bytes(arg->buffer);
	}
	return bytes;
}

int64_t
graph_arg_align(const struct kernel_arg *arg)
{
	const struct buffer *b = arg->buffer;
	int whole = buffer_element_bytes(b);

	return b->type.lanes > 1 && b->align_bytes < whole
		       ? dtype_bytes(b->type)
	       : b->align_bytes > whole ? b->align_bytes
					: whole;
}

/* The number of bytes of a tensor in its layout, which is at least the number
 * of bytes that kernels access. */
static int64_t
tensor_bytes(struct describer *x, const struct tensor *t)
{
	const struct tensor_layout *l = t->layout;
	int64_t bytes = dtype_bytes(t->type);

	for (int d = 0; d < t->ndim; d++) {
		int64_t extent = largest_size(t->shape[d]);

		if (l != NULL) {
			extent += l->before[d] + l->after[d];
		}
		if (l != NULL && l->axis == d) {
			extent = (extent + l->block - 1) / l->block * l->block;
		}
		bytes *= extent;
	}
	for (int i = 0; i < x->k->p->kernels.n; i++) {
		const struct kernel *kernel = x->k->p->kernels.data[i];

		for (int a = 0; a < kernel->args.n; a++) {
			const struct kernel_arg *arg = &kernel->args.data[a];

			if (arg->kind == ARG_TENSOR && arg->tensor == t &&
			    graph_arg_bytes(arg) > bytes) {
				bytes = graph_arg_bytes(arg);
			}
		}
	}
	return bytes;
}

static const char *
operation(enum expr_kind kind)
{
	switch (kind) {
	case EXPR_ADD:
		return "+";
	case EXPR_SUB:
		return "-";
	case EXPR_MUL:
		return "*";
	case EXPR_DIV:
		return "/";
	case EXPR_FLOORDIV:
		return "//";
	case EXPR_FLOORMOD:
		return "%";
	case EXPR_MIN:
		return "min";
	case EXPR_MAX:
		return "max";
	default:
		return NULL;
	}
}

/* A size as JSON: 7, "batch" or ["+", "batch", 7]. NULL for other kinds of
 * expressions. */
static cJSON *
extent_json(struct packer *k, const struct expr *e)
{
	cJSON *list;
	int64_t v;

	while (e->kind == EXPR_CAST) {
		e = e->args[0];
	}
	if (expr_is_int(e, &v)) {
		return cJSON_CreateNumber((double)v);
	}
	for (int i = 0; e->kind == EXPR_VAR && i < k->g->dims.n; i++) {
		if (k->g->dims.data[i] == e->u.var) {
			return cJSON_CreateString(k->dim_fields[i]);
		}
	}
	if (operation(e->kind) == NULL) {
		return NULL;
	}
	list = cJSON_CreateArray();
	cJSON_AddItemToArray(list, cJSON_CreateString(operation(e->kind)));
	for (int i = 0; i < 2; i++) {
		cJSON *operand = extent_json(k, e->args[i]);

		if (operand == NULL) {
			cJSON_Delete(list);
			return NULL;
		}
		cJSON_AddItemToArray(list, operand);
	}
	return list;
}

static cJSON *
shape_json(struct describer *x, const struct tensor *t)
{
	struct packer *k = x->k;
	cJSON *list = cJSON_CreateArray();

	for (int d = 0; d < t->ndim; d++) {
		cJSON *extent = extent_json(k, t->shape[d]);

		if (extent == NULL) {
			x->failed = true;
			refuse(k, DIAG_UNSUPPORTED, k->g->file,
			       arena_printf(
				       k->a,
				       "the graph's JSON cannot express the "
				       "shape %s of tensor '%s'; fix its "
				       "symbolic sizes with --dim NAME=SIZE",
				       shape_text(k, t), t->name));
			break;
		}
		cJSON_AddItemToArray(list, extent);
	}
	return list;
}

/* -- tensors -- */

/* Does the JSON list t? It lists all inputs and outputs, which the caller
 * allocates, and the tensors with a place in the workspace, but not constants. */
static bool
is_listed(const struct packer *k, const struct tensor *t)
{
	const struct placement *at = plan_find(&k->p->plan, t);

	if (t->is_input || t->is_output) {
		return true;
	}
	return at != NULL && at->kind != PLACE_NONE &&
	       at->kind != PLACE_WEIGHT && !tensor_is_constant(t);
}

static void
name_tensors(struct describer *x)
{
	struct packer *k = x->k;
	struct name_set names;

	x->ids = arena_array(k->a, const char *, k->g->tensors.n + 1);
	name_set_init(&names, k->a);
	for (int i = 0; i < k->g->tensors.n; i++) {
		const struct tensor *t = k->g->tensors.data[i];
		const struct kernel *from = writer_of(k, t);
		const char *stem = name_stem(k->a, t->name);

		if (!is_listed(k, t)) {
			continue;
		}
		if (t->is_input || t->is_output) {
			stem = t->name;
		} else if (stem == NULL) {
			stem = from != NULL ? arena_printf(k->a, "%s_out",
							   from->name)
					    : "view";
		}
		x->ids[t->id] = name_set_add(&names, stem);
	}
}

static void
put_field(cJSON *row, const char *at, const char *of, int64_t offset)
{
	metadata_text(row, "at", at);
	metadata_text(row, "of", of);
	cJSON_AddNumberToObject(row, "offset", (double)offset);
}

static void
put_place(struct describer *x, cJSON *row, const struct tensor *t)
{
	struct packer *k = x->k;
	const struct graph *g = k->g;
	const struct placement *at = plan_find(&k->p->plan, t);
	int input = tensor_index(t, g->inputs.data, g->inputs.n);
	int output = tensor_index(t, g->outputs.data, g->outputs.n);

	if (input >= 0) {
		put_field(row, "input", k->input_fields[input], 0);
	} else if (output >= 0) {
		put_field(row, "output", k->output_fields[output], 0);
	} else if (at->kind == PLACE_WORKSPACE) {
		put_field(row, "workspace", NULL, at->offset_bytes);
	} else {
		input = tensor_index(at->root, g->inputs.data, g->inputs.n);
		output = tensor_index(at->root, g->outputs.data, g->outputs.n);
		put_field(row, input >= 0 ? "input" : "output",
			  input >= 0 ? k->input_fields[input]
				     : k->output_fields[output],
			  at->offset_bytes);
	}
	cJSON_AddNumberToObject(row, "bytes", (double)tensor_bytes(x, t));
}

static cJSON *
around_json(const int64_t *list, int n)
{
	cJSON *out = cJSON_CreateArray();

	for (int i = 0; i < n; i++) {
		cJSON_AddItemToArray(out, cJSON_CreateNumber((double)list[i]));
	}
	return out;
}

static void
put_layout(cJSON *row, const struct tensor *t)
{
	const struct tensor_layout *l = t->layout;
	bool around = false;

	if (l == NULL) {
		return;
	}
	if (l->axis >= 0) {
		cJSON_AddNumberToObject(row, "axis", l->axis);
		cJSON_AddNumberToObject(row, "block", (double)l->block);
	}
	for (int d = 0; d < t->ndim; d++) {
		around |= l->before[d] > 0 || l->after[d] > 0;
	}
	if (around) {
		cJSON_AddItemToObject(row, "before",
				      around_json(l->before, t->ndim));
		cJSON_AddItemToObject(row, "after",
				      around_json(l->after, t->ndim));
	}
}

/* Adds to the list the names of the kernels that write t. If no kernel writes
 * t, because it is a view or a concatenation, adds the kernels that write its
 * inputs. */
static void
put_writers(struct describer *x, cJSON *list, const struct tensor *t)
{
	const struct kernel *from = writer_of(x->k, t);
	const struct node *n = t->producer;

	if (from != NULL) {
		const cJSON *item;

		cJSON_ArrayForEach(item, list)
		{
			if (strcmp(item->valuestring, from->name) == 0) {
				return;
			}
		}
		cJSON_AddItemToArray(list, cJSON_CreateString(from->name));
		return;
	}
	for (int i = 0; n != NULL && i < n->n_inputs; i++) {
		const struct tensor *in = n->inputs[i];

		if (in != NULL && !tensor_is_constant(in) && in != t &&
		    (in->part_of == t || i == 0)) {
			put_writers(x, list, in);
		}
	}
}

static cJSON *
tensors_json(struct describer *x)
{
	struct packer *k = x->k;
	cJSON *list = cJSON_CreateArray();

	for (int i = 0; i < k->g->tensors.n && !x->failed; i++) {
		const struct tensor *t = k->g->tensors.data[i];
		cJSON *row, *from;

		if (x->ids[t->id] == NULL) {
			continue;
		}
		row = cJSON_CreateObject();
		from = cJSON_CreateArray();
		metadata_text(row, "name", x->ids[t->id]);
		metadata_text(row, "dtype", dtype_name(t->type));
		cJSON_AddItemToObject(row, "shape", shape_json(x, t));
		put_layout(row, t);
		put_place(x, row, t);
		put_writers(x, from, t);
		cJSON_AddItemToObject(row, "from", from);
		cJSON_AddItemToArray(list, row);
	}
	return list;
}

/* The names of the tensors in the model. They are on one line, because tensors
 * are numbered anew with every edit of the model. */
static cJSON *
model_names_json(struct describer *x)
{
	struct packer *k = x->k;
	cJSON *object = cJSON_CreateObject();

	for (int i = 0; i < k->g->tensors.n; i++) {
		const struct tensor *t = k->g->tensors.data[i];

		if (x->ids[t->id] != NULL) {
			metadata_text(object, x->ids[t->id], t->name);
		}
	}
	return object;
}

/* -- nodes -- */

static void
put_run(cJSON *row, const char *key, int64_t at, int64_t bytes)
{
	cJSON_AddNumberToObject(row, key, (double)at);
	cJSON_AddNumberToObject(row, "bytes", (double)bytes);
}

static cJSON *
arg_json(struct describer *x, const struct kernel *kernel,
	 const struct kernel_arg *arg)
{
	struct packer *k = x->k;
	cJSON *row = cJSON_CreateObject();

	switch (arg->kind) {
	case ARG_TENSOR:
		metadata_text(row,
			      arg->in_place != NULL ? "update"
			      : arg->written        ? "write"
						    : "read",
			      x->ids[arg->tensor->id]);
		if (arg->in_place != NULL) {
			metadata_text(row, "of", x->ids[arg->in_place->id]);
		}
		break;
	case ARG_WEIGHT:
		put_run(row, "param", arg->weight->offset_bytes,
			arg->weight->bytes);
		break;
	default:
		put_run(row, "scratch",
			plan_find_scratch(&k->p->plan, kernel, arg->buffer)
				->offset_bytes,
			arg->scratch_bytes);
		break;
	}
	return row;
}

static cJSON *
nodes_json(struct describer *x)
{
	struct packer *k = x->k;
	cJSON *list = cJSON_CreateArray();

	for (int i = 0; i < k->p->kernels.n; i++) {
		const struct kernel *kernel = k->p->kernels.data[i];
		cJSON *row = cJSON_CreateObject();
		cJSON *args = cJSON_CreateArray();

		metadata_text(row, "name", kernel->name);
		metadata_text(row, "kernel", kernel->func->name);
		for (int a = 0; a < kernel->args.n; a++) {
			if (graph_arg_listed(kernel, &kernel->args.data[a])) {
				cJSON_AddItemToArray(args,
						     arg_json(x, kernel,
							      &kernel->args.data
								       [a]));
			}
		}
		cJSON_AddItemToObject(row, "args", args);
		cJSON_AddItemToArray(list, row);
	}
	return list;
}

/* -- the file -- */

static cJSON *
io_json(struct describer *x, struct tensor *const *tensors, int n,
	const char *const *fields)
{
	cJSON *list = cJSON_CreateArray();

	for (int i = 0; i < n; i++) {
		cJSON *row = cJSON_CreateObject();

		metadata_text(row, "name", fields[i]);
		metadata_text(row, "tensor", x->ids[tensors[i]->id]);
		cJSON_AddItemToArray(list, row);
	}
	return list;
}

static cJSON *
sizes_json(struct packer *k)
{
	cJSON *list = cJSON_CreateArray();

	for (int i = 0; i < k->g->dims.n; i++) {
		const struct var *v = k->g->dims.data[i];
		cJSON *row = cJSON_CreateObject();

		metadata_text(row, "name", k->dim_fields[i]);
		cJSON_AddNumberToObject(row, "min", (double)v->min);
		cJSON_AddNumberToObject(row, "max", (double)v->max);
		cJSON_AddItemToArray(list, row);
	}
	return list;
}

static cJSON *
params_json(struct packer *k)
{
	cJSON *row = cJSON_CreateObject();

	metadata_text(row, "file", k->files[FILE_BLOB]);
	cJSON_AddNumberToObject(row, "bytes", (double)k->blob_bytes);
	cJSON_AddNumberToObject(row, "align",
				(double)k->p->target->align_bytes);
	return row;
}

static cJSON *
workspace_json(struct packer *k)
{
	const struct memory_plan *plan = &k->p->plan;
	cJSON *row = cJSON_CreateObject();

	cJSON_AddNumberToObject(row, "bytes", (double)plan->workspace_bytes);
	cJSON_AddNumberToObject(row, "align", (double)planned_align(k));
	return row;
}

/* Appends the members of the JSON that describe the calls of the kernels. Both
 * the kernels and their caller depend on these members. */
static void
put_calls(struct describer *x, struct strbuf *s)
{
	const struct graph *g = x->k->g;

	metadata_member(s, "workspace", workspace_json(x->k), false, false);
	metadata_member(s, "sizes", sizes_json(x->k), true, false);
	metadata_member(s, "inputs",
			io_json(x, g->inputs.data, g->inputs.n,
				x->k->input_fields),
			true, false);
	metadata_member(s, "outputs",
			io_json(x, g->outputs.data, g->outputs.n,
				x->k->output_fields),
			true, false);
	metadata_member(s, "tensors", tensors_json(x), true, false);
	metadata_member(s, "nodes", nodes_json(x), true, false);
}

bool
graph_form_describe(struct packer *k)
{
	struct describer x = { .k = k };
	struct anchors anchors = { .arena = k->a };
	struct strbuf calls, s;

	name_tensors(&x);
	strbuf_init(&calls);
	strbuf_init(&s);
	put_calls(&x, &calls);
	tdata_printf(k->data, "version_hash", "%08x", text_hash(calls.data));
	strbuf_putc(&s, '{');
	strbuf_putc(&s, '\n');
	metadata_member(&s, "format", cJSON_CreateString(FORMAT), false, false);
	metadata_member(&s, "license", cJSON_CreateString("MIT-0"), false,
			false);
	metadata_member(&s, "model", cJSON_CreateString(k->model), false,
			false);
	metadata_member(&s, "version",
			cJSON_CreateString(arena_printf(k->a, "%08x",
							text_hash(calls.data))),
			false, false);
	if (k->out->weights == WEIGHTS_FILE) {
		strbuf_puts(&s, "\t\"params\": ");
		metadata_digested(&s, params_json(k), false, &anchors,
				  ANCHOR_WEIGHTS_DIGEST, 0);
	}
	strbuf_puts(&s, calls.data);
	metadata_member(&s, "model_names", model_names_json(&x), false, true);
	strbuf_puts(&s, "}\n");
	add_file(k, FILE_GRAPH, OUT_TEXT, s.data, &anchors);
	strbuf_release(&calls);
	strbuf_release(&s);
	return !x.failed;
}
