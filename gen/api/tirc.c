/* SPDX-License-Identifier: Apache-2.0 */
/* The public interface: one context, the steps of one compilation. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "backend_load.h"
#include "intrinsics_attach.h"
#include "kernels.h"
#include "onnx_import.h"
#include "ops.h"
#include "package.h"
#include "partition.h"
#include "product_instr.h"
#include "provenance.h"
#include "quantization.h"
#include "tirc_context.h"
#include "version.h"

struct tirc *
tirc_new(const struct tirc_options *options)
{
	struct tirc *t = calloc(1, sizeof *t);

	if (t == NULL) {
		return NULL;
	}
	if (options != NULL) {
		t->options = *options;
	}
	t->m = module_new();
	t->targets = target_names(t->m, &t->n_targets);
	return t;
}

void
tirc_free(struct tirc *t)
{
	if (t == NULL) {
		return;
	}
	if (t->file != NULL) {
		onnx_file_close(t->file);
	}
	context_close_passes(t);
	context_close_backends(t);
	module_free(t->m);
	free(t);
}

/* -- options -- */

bool
context_bad_option(struct tirc *t, const char *option, const char *value,
		   const char *expected)
{
	return diag_error(&t->m->diags, DIAG_BAD_OPTION,
			  (struct diag_place){ 0 },
			  "%s %s: not understood; expected %s", option, value,
			  expected);
}

/* A decimal integer that ends at one of the characters of stop. */
static bool
read_int(const char **text, const char *stop, int64_t *out)
{
	char *end;
	long long v;

	errno = 0;
	v = strtoll(*text, &end, 10);
	if (end == *text || errno != 0 ||
	    (*end != '\0' && strchr(stop, *end) == NULL)) {
		return false;
	}
	*text = end;
	*out = v;
	return true;
}

static bool
read_input_shape(struct tirc *t, const char *text, struct input_shape *out)
{
	const char *colon = strrchr(text, ':');
	const char *at;
	VEC(int64_t) dims = { 0 };
	int64_t v;

	if (colon == NULL || colon == text) {
		return context_bad_option(
			t, "--input-shape", text,
			"NAME:D0,D1,… such as data:1,3,224,224");
	}
	for (at = colon + 1; *at != '\0'; at += *at == ',') {
		if (!read_int(&at, ",", &v) || v < 0) {
			return context_bad_option(
				t, "--input-shape", text,
				"NAME:D0,D1,… with sizes >= 0");
		}
		vec_push(&t->m->arena, &dims, v);
	}
	out->name = arena_strndup(&t->m->arena, text, (size_t)(colon - text));
	out->ndim = dims.n;
	out->dims = dims.data;
	return true;
}

static bool
read_dim(struct tirc *t, const char *text, struct dim_binding *out)
{
	const char *equals = strrchr(text, '=');
	const char *at;

	if (equals == NULL || equals == text) {
		return context_bad_option(t, "--dim", text,
					  "NAME=SIZE or NAME=MIN..MAX");
	}
	at = equals + 1;
	if (!read_int(&at, ".", &out->min) || out->min < 1) {
		return context_bad_option(
			t, "--dim", text,
			"NAME=SIZE or NAME=MIN..MAX, from 1 up");
	}
	out->max = out->min;
	if (*at != '\0') {
		if (strncmp(at, "..", 2) != 0) {
			return context_bad_option(t, "--dim", text,
						  "NAME=SIZE or NAME=MIN..MAX");
		}
		at += 2;
		if (!read_int(&at, "", &out->max) || out->max < out->min) {
			return context_bad_option(
				t, "--dim", text,
				"NAME=MIN..MAX with MIN <= MAX");
		}
	}
	out->name = arena_strndup(&t->m->arena, text, (size_t)(equals - text));
	return true;
}

static bool
read_weights_form(struct tirc *t, enum weights_form *out)
{
	static const char *const names[] = {
		[WEIGHTS_AUTO] = "auto",       [WEIGHTS_C] = "c",
		[WEIGHTS_INCBIN] = "incbin",   [WEIGHTS_FILE] = "file",
		[WEIGHTS_SECTION] = "section",
	};

	*out = WEIGHTS_AUTO;
	if (t->options.weights == NULL) {
		return true;
	}
	for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
		if (strcmp(t->options.weights, names[i]) == 0) {
			*out = (enum weights_form)i;
			return true;
		}
	}
	return context_bad_option(t, "--weights", t->options.weights,
				  "auto, c, incbin, file or section");
}

static bool
read_form(struct tirc *t, bool *graph)
{
	const char *form = t->options.form;

	*graph = form != NULL && strcmp(form, "graph") == 0;
	return form == NULL || *graph || strcmp(form, "aot") == 0 ||
	       context_bad_option(t, "--form", form, "aot or graph");
}

static void
progress(struct tirc *t, const char *step, int done, int total)
{
	if (t->options.progress != NULL) {
		t->options.progress(t->options.progress_ctx, step, done, total);
	}
}

/* -- load -- */

static const char *
shape_text(struct arena *a, const struct tensor *x)
{
	struct strbuf s;
	const char *text;

	if (x == NULL || x->ndim < 0) {
		return "?";
	}
	strbuf_init(&s);
	for (int d = 0; d < x->ndim; d++) {
		strbuf_puts(&s, d > 0 ? "x" : "");
		expr_print(x->shape[d], &s);
	}
	text = arena_strdup(a, x->ndim == 0 ? "scalar" : s.data);
	strbuf_release(&s);
	return text;
}

/* The nodes as the file has them, before passes change the graph. */
static void
remember_nodes(struct tirc *t)
{
	struct graph *g = t->graph;

	for (int i = 0; i < g->origins.n; i++) {
		const struct origin *o = &g->origins.data[i];
		struct tensor *x = o->output != NULL
					   ? graph_find_tensor(g, o->output)
					   : NULL;
		struct tirc_node info = {
			.name = o->name,
			.op_type = o->op_type,
			.output = o->output != NULL ? o->output : "",
			.shape = shape_text(&t->m->arena, x),
			.dtype = x != NULL && x->typed ? dtype_name(x->type)
						       : "?",
		};

		vec_push(&t->m->arena, &t->nodes, info);
	}
	for (int i = 0; i < g->nodes.n; i++) {
		const struct node *n = g->nodes.data[i];
		struct tirc_node *info;

		if (n->origins.n == 0) {
			continue;
		}
		info = &t->nodes.data[n->origins.data[0]];
		info->macs += op_macs(n);
		for (int k = 0; k < n->n_inputs; k++) {
			int64_t elems;

			if (n->inputs[k] != NULL &&
			    tensor_is_constant(n->inputs[k]) &&
			    tensor_const_elems(n->inputs[k], &elems)) {
				info->parameters += elems;
			}
		}
	}
}

/* A partition has its sizes, and goes on for the target that it was made
 * for, unless another is asked for. */
static bool
load_partition(struct tirc *t, const char *path)
{
	struct partition_facts facts = { .byoc_path = t->options.byoc_path };
	struct graph *g;

	if (t->options.n_input_shapes > 0 || t->options.n_dims > 0) {
		return context_bad_option(
			t, "--input-shape and --dim", path,
			"an ONNX model: the sizes of a partition are settled");
	}
	if (!context_load_backends(t)) {
		return false;
	}
	facts.backends = t->backends.data;
	facts.n_backends = t->backends.n;
	g = partition_read(t->m, path, &facts, &t->file);
	if (g == NULL) {
		return false;
	}
	t->graph = g;
	for (int i = 0; i < g->n_backends; i++) {
		context_keep_backend(t, g->backends[i]);
	}
	for (int i = 0; i < facts.n_backends; i++) {
		int k = 0;

		while (k < g->n_backends &&
		       g->backends[k] != facts.backends[i]) {
			k++;
		}
		if (k == g->n_backends) {
			return context_bad_option(
				t, "--byoc", facts.backends[i]->name,
				"a backend of the "
				"partition; which there are is settled in it");
		}
	}
	if (!t->graph->is_partitioned) {
		return diag_error(&t->m->diags, DIAG_BAD_PARTITION,
				  (struct diag_place){ .file = path,
						       .item = "/stage" },
				  "its regions are not settled; it is what a "
				  "backend's own pass reads");
	}
	t->partitioned = true;
	if (t->options.target == NULL) {
		t->options.target = facts.target;
	}
	remember_nodes(t);
	return true;
}

bool
tirc_load(struct tirc *t, const char *path)
{
	struct arena *a = &t->m->arena;
	const struct tirc_options *o = &t->options;
	struct input_shape *shapes = arena_array(a, struct input_shape,
						 o->n_input_shapes + 1);
	struct dim_binding *dims = arena_array(a, struct dim_binding,
					       o->n_dims + 1);
	struct import_options import = {
		.shapes = shapes,
		.n_shapes = o->n_input_shapes,
		.dims = dims,
		.n_dims = o->n_dims,
	};
	struct pass_hooks hooks;
	double start;

	for (int i = 0; i < o->n_input_shapes; i++) {
		if (!read_input_shape(t, o->input_shapes[i], &shapes[i])) {
			return false;
		}
	}
	for (int i = 0; i < o->n_dims; i++) {
		if (!read_dim(t, o->dims[i], &dims[i])) {
			return false;
		}
	}
	if (!context_hooks(t, &hooks)) {
		return false;
	}
	progress(t, "import", 0, 4);
	start = hooks_start(&hooks);
	if (partition_is(path)) {
		return load_partition(t, path);
	}
	t->graph = onnx_import(t->m, path, &import, &t->file);
	if (t->graph == NULL) {
		return false;
	}
	hooks_took(&hooks, "import", start);
	remember_nodes(t);
	note_reals(t->graph);
	hooks.after_graph(t, "import", t->graph);
	return true;
}

/* -- compile -- */

/* The kernels that compute each node; else the constants that it went into;
 * else what a pass did, and why. */
static void
set_fates(struct tirc *t)
{
	const struct node_fate *fates = provenance_fates(&t->program);
	struct arena *a = &t->m->arena;

	for (int i = 0; i < t->graph->origins.n; i++) {
		const struct node_fate *f = &fates[i];
		const char *text = "";

		for (int k = 0; k < f->kernels.n; k++) {
			text = arena_printf(a, "%s%s%s", text,
					    k > 0 ? ", " : "",
					    f->kernels.data[k]->name);
		}
		if (f->kernels.n == 0) {
			text = arena_printf(a, "(%s) %s", f->pass, f->why);
		}
		t->nodes.data[i].fate = text;
	}
}

/* Channels in smaller blocks are not laid out in memory. */
enum { LEAST_BLOCK = 8 };

/* How convolutions are computed. Another algorithm rounds otherwise and takes
 * more memory; its transforms want channels in blocks. */
static bool
choose_conv(struct tirc *t)
{
	const char *conv = t->options.conv != NULL ? t->options.conv : "auto";
	struct conv_costs *c = &t->graph->conv;

	*c = (struct conv_costs){
		.which = CONV_AUTO,
		.gflops = t->target->core_gflops,
		.gbytes = t->target->core_gbytes,
	};
	if (strcmp(conv, "winograd") == 0) {
		c->which = CONV_WINOGRAD;
	} else if (strcmp(conv, "direct") == 0) {
		c->which = CONV_DIRECT;
	} else if (strcmp(conv, "auto") != 0) {
		return context_bad_option(t, "--conv", conv,
					  "auto, direct or winograd");
	}
	if ((c->which == CONV_AUTO &&
	     (c->gflops <= 1 || t->target->optimize_memory)) ||
	    t->target->block_elems < LEAST_BLOCK ||
	    t->target->max_threads > 0 || /* a device */
	    strcmp(t->target->fp, "strict") == 0) {
		c->which = CONV_DIRECT;
	}
	return true;
}

static bool
choose_backends(struct tirc *t)
{
	static const char *const uses[] = { "within", "alone", "generated" };
	const struct tirc_options *o = &t->options;

	for (int i = 0; o->regions != NULL && i < 3; i++) {
		if (strcmp(o->regions, uses[i]) == 0) {
			t->graph->regions_as = i;
		}
	}
	return context_backends(t);
}

/* Which sign tensors of 8 bits get inside of the graph. */
static void
choose_byte_type(struct tirc *t, const struct target *target)
{
	struct dtype type;
	int depth;

	if (target->shift_zero_points &&
	    target_byte_product(target, &type, &depth)) {
		t->graph->byte_type = type;
		t->graph->byte_depth = depth;
	}
}

/* The target and what it says of the graph. */
static bool
prepare(struct tirc *t)
{
	struct target *target;

	t->target = target_load(t->m, t->options.target,
				t->options.dialect_path);
	if (t->target == NULL) {
		return false;
	}
	target = arena_copy(&t->m->arena, t->target, sizeof *target);
	if (t->options.optimize != NULL) {
		if (strcmp(t->options.optimize, "memory") == 0) {
			target->optimize_memory = true;
		} else if (strcmp(t->options.optimize, "speed") != 0) {
			return context_bad_option(t, "--optimize",
						  t->options.optimize,
						  "speed or memory");
		}
	}
	if (t->options.requant != NULL) {
		if (strcmp(t->options.requant, "tflite") == 0) {
			t->graph->fixed_point = true;
		} else if (strcmp(t->options.requant, "onnx") != 0) {
			return context_bad_option(t, "--requant",
						  t->options.requant,
						  "onnx or tflite");
		}
	}
	target->intrins = arena_new(&t->m->arena, struct tensor_intrins);
	tensor_intrins_init(target->intrins, &t->m->arena);
	intrinsics_attach(t->m, t->options.dialect_path, target->intrins);
	choose_byte_type(t, target);
	t->graph->by_threads = target->max_threads > 1;
	t->graph->part_align_bytes = target->align_tensors
					     ? target->align_bytes
					     : target_wide_bytes(target);
	t->target = target_with_fp(t->m, target, t->options.fp);
	if (t->target == NULL) {
		return false;
	}
	if (!choose_conv(t) || !choose_backends(t)) {
		return false;
	}
	t->dialect = dialect_for_target(t->m, t->target,
					t->options.dialect_path);
	if (t->dialect == NULL) {
		return false;
	}
	if (!dialect_takes_regions(t->m, t->dialect,
				   t->options.n_byoc > 0 ||
					   t->graph->regions.n > 0)) {
		return false;
	}
	target = arena_copy(&t->m->arena, t->target, sizeof *target);
	target->typed_workspace = dialect_wants_parts(t->dialect);
	target->loose_weights = !dialect_aligns_weights(t->dialect);
	target->interface_apart = dialect_wants_interface_apart(t->dialect);
	target->fmax_vectors = dialect_has_fmax_vectors(t->dialect);
	t->target = target;
	return true;
}

bool
tirc_partition(struct tirc *t)
{
	struct pass_hooks hooks;

	if (t->partitioned) {
		return true;
	}
	if (!context_hooks(t, &hooks) || !prepare(t)) {
		return false;
	}
	progress(t, "graph passes", 1, 4);
	t->partitioned = graph_to_partition(t->graph, &hooks);
	return t->partitioned;
}

bool
tirc_write_partition(struct tirc *t, const char *path)
{
	const struct partition_facts facts = {
		.target = t->target != NULL ? t->target->name
					    : t->options.target,
	};

	return partition_write(t->graph, &facts, path, t->options.force);
}

bool
tirc_compile(struct tirc *t)
{
	struct pass_hooks hooks;
	double start;
	struct emit_options emit = {
		.name = t->options.name,
		.section = t->options.section,
		.version = version_text(),
		.profile = t->options.profile,
	};

	if (!context_hooks(t, &hooks) || !read_weights_form(t, &emit.weights) ||
	    !read_form(t, &emit.graph) || !prepare(t)) {
		return false;
	}
	if (emit.name == NULL) {
		emit.name = t->graph->name;
	}
	progress(t, "graph passes", 1, 4);
	if ((!t->partitioned && !graph_to_partition(t->graph, &hooks)) ||
	    !graph_to_groups(t->graph, &hooks)) {
		return false;
	}
	progress(t, "kernels", 2, 4);
	if (!program_build(t->graph, t->target, &hooks, &t->program) ||
	    !context_schedules_used(t)) {
		return false;
	}
	progress(t, "source", 3, 4);
	start = hooks_start(&hooks);
	if (!package_build(&t->program, t->dialect, &emit, &t->package)) {
		return false;
	}
	hooks_took(&hooks, "source", start);
	set_fates(t);
	t->compiled = true;
	return t->m->diags.n_errors == 0;
}

bool
tirc_write(struct tirc *t, const char *folder)
{
	progress(t, "files", 4, 4);
	return t->compiled && package_write(&t->program, &t->package, folder,
					    t->options.force);
}

int
tirc_dependency_count(const struct tirc *t)
{
	return (t->file != NULL ? onnx_file_count(t->file) : 0) + t->by_hand.n +
	       t->options.n_add_passes;
}

const char *
tirc_dependency(const struct tirc *t, int i)
{
	int files = t->file != NULL ? onnx_file_count(t->file) : 0;

	if (i < files) {
		return onnx_file_path(t->file, i);
	}
	if (i < files + t->by_hand.n) {
		return t->by_hand.data[i - files].file;
	}
	return t->options.add_passes[i - files - t->by_hand.n] + 2;
}

/* -- the program itself -- */

int
tirc_target_count(struct tirc *t)
{
	return t->n_targets;
}

const char *
tirc_target(struct tirc *t, int i)
{
	return t->targets[i];
}

const char *
tirc_target_what(struct tirc *t, int i)
{
	return target_description(t->m, t->targets[i]);
}
