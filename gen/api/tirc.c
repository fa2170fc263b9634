/* SPDX-License-Identifier: Apache-2.0 */
/* The public interface: the context and the steps of a compilation. */
#include <stdlib.h>
#include <string.h>

#include "intrinsics_attach.h"
#include "kernels.h"
#include "onnx_import.h"
#include "package.h"
#include "partition.h"
#include "passes.h"
#include "product_instr.h"
#include "provenance.h"
#include "text.h"
#include "tirc_context.h"
#include "version.h"

struct tirc *
tirc_new(const struct tirc_options *options)
{
	struct tirc *t = calloc(1, sizeof *t);

	if (t == NULL) {
		memory_exhausted();
	}
	if (options != NULL) {
		t->options = *options;
	}
	t->m = module_new();
	t->m->quota.output_bytes = t->options.max_output_bytes;
	t->m->quota.memory_bytes = t->options.max_memory_bytes;
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
	for (int i = 0; i < t->models.n; i++) {
		tirc_free(t->models.data[i]);
	}
	if (t->program_path != NULL) {
		onnx_file_close(t->opened); /* shared with its models */
	}
	context_close_passes(t);
	context_close_backends(t);
	module_free(t->m);
	free(t);
}

/* -- options -- */

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

/* Has the name of the section only characters that source can have in quotes? False
 * after a diagnostic. */
static bool
check_section(struct tirc *t)
{
	const char *name = t->options.section;

	return name == NULL ||
	       text_is_identifier(arena_printf(&t->m->arena, "_%s", name),
				  ".$,:-") ||
	       context_bad_option(t, "--section", name,
				  "letters, digits and . _ $ , : -");
}

static bool
read_form(struct tirc *t, bool *graph)
{
	const char *form = t->options.form;

	*graph = form != NULL && strcmp(form, "graph") == 0;
	return form == NULL || *graph || strcmp(form, "aot") == 0 ||
	       context_bad_option(t, "--form", form, "aot or graph");
}

void
context_progress(struct tirc *t, const char *step, int done, int total)
{
	if (t->options.progress != NULL) {
		t->options.progress(t->options.progress_ctx, step, done, total);
	}
}

/* -- compile -- */

/* Sets the member `fate` of each node of the model: the names of the kernels
 * that compute the node, or, if there are none, the pass that removed it and
 * the reason. */
static void
set_fates(struct tirc *t)
{
	const struct node_fate *fates = package_fates(&t->package);
	struct arena *a = &t->m->arena;

	for (int i = 0; i < t->graph->origins.n; i++) {
		const struct node_fate *f = &fates[i];
		struct strbuf text;

		strbuf_init(&text);
		for (int k = 0; k < f->kernels.n; k++) {
			strbuf_printf(&text, "%s%s", k > 0 ? ", " : "",
				      f->kernels.data[k]->name);
		}
		if (f->kernels.n == 0) {
			strbuf_printf(&text, "(%s) %s", f->pass, f->why);
		}
		t->nodes.data[i].fate = arena_strdup(a, text.data);
		strbuf_release(&text);
	}
}

/* Sets `setting` to the value that the word of an option stands for; if the
 * word is NULL, the setting stays unchanged. False after a diagnostic. */
static bool
choose_word(struct tirc *t, const char *option, const char *word,
	    const char *expected, int setting)
{
	int n, value;

	if (word == NULL) {
		return true;
	}
	value = setting_value(settings_rows(&n) + setting, word);
	if (value < 0) {
		return context_bad_option(t, option, word, expected);
	}
	settings_set(&t->settings, setting, value);
	return true;
}

static int
at_most_int(int64_t v)
{
	return v < INT32_MAX ? (int)v : INT32_MAX;
}

/* Sets how convolutions are computed, from --conv. Winograd's algorithm rounds
 * differently and takes more memory; its transforms need channels in blocks.
 * False after a diagnostic. */
static bool
choose_conv(struct tirc *t)
{
	const struct target *target = t->target;
	struct settings *s = &t->settings;

	if (!choose_word(t, "--conv", t->options.conv,
			 "auto, direct or winograd", settings_find("conv"))) {
		return false;
	}
	if ((s->conv == CONV_AUTO &&
	     context_default_conv(target) == CONV_DIRECT) ||
	    context_takes_direct_alone(target)) {
		s->conv = CONV_DIRECT;
	}
	if (s->conv != CONV_DIRECT) {
		s->conv_gflops = target->core_gflops;
		s->conv_gbytes = target->core_gbytes;
		s->conv_cache_bytes = at_most_int(target->l2_bytes);
		s->conv_cache_gbytes = target->cache_gbytes;
	}
	return true;
}

/* Sets whether the images of a batch are computed in a loop. Several threads
 * share the images of each kernel instead; a list of calls, and times of
 * kernels that are called once, have no loops. */
static void
choose_images(struct tirc *t)
{
	const struct target *target = t->target;
	const char *form = t->options.form;

	if (target->max_threads > 0 || target->cores > 0 ||
	    t->options.profile ||
	    (form != NULL && strcmp(form, "graph") == 0)) {
		return;
	}
	t->settings.images_apart = target->optimize_memory;
	t->settings.images_cache_bytes = at_most_int(target->l1_bytes);
}

/* Sets from --in-workspace whether inputs, and whether outputs, are parts of
 * the workspace. False after a diagnostic. */
static bool
choose_workspace(struct tirc *t)
{
	const char *what = t->options.in_workspace, *form = t->options.form;
	struct settings *s = &t->settings;

	if (what != NULL) {
		s->inputs_in_workspace = strcmp(what, "outputs") != 0;
		s->outputs_in_workspace = strcmp(what, "inputs") != 0;
	}
	if (!s->inputs_in_workspace && !s->outputs_in_workspace) {
		return true;
	}
	if (what != NULL && s->inputs_in_workspace && s->outputs_in_workspace &&
	    strcmp(what, "both") != 0) {
		return context_bad_option(t, "--in-workspace", what,
					  "inputs, outputs or both");
	}
	if (form != NULL && strcmp(form, "graph") == 0) {
		return context_bad_option(t, "--in-workspace with --form", form,
					  "aot: a graph's caller has the "
					  "tensors");
	}
	if (t->target->max_threads > 0) {
		return context_bad_option(t, "--in-workspace with --target",
					  t->target->name,
					  "a target that is not a device");
	}
	return true;
}

/* Sets from --requant how quantized operators round. False after a
 * diagnostic. */
static bool
choose_rounding(struct tirc *t)
{
	const char *requant = t->options.requant;

	if (requant == NULL) {
		return true;
	}
	t->settings.fixed_point = strcmp(requant, "tflite") == 0;
	return t->settings.fixed_point || strcmp(requant, "onnx") == 0 ||
	       context_bad_option(t, "--requant", requant, "onnx or tflite");
}

/* Sets, from --precision, the type in which weights are stored, and the number
 * of products that the target's dot product of this type sums. False after a
 * diagnostic. */
static bool
choose_precision(struct tirc *t)
{
	const char *word = t->options.precision;
	enum dtype_kind kind = DT_VOID;

	t->settings.perturb_rounded = t->options.factors;
	if (word == NULL || strcmp(word, "f32") == 0) {
		return true;
	}
	if (strcmp(word, "bf16") == 0) {
		kind = DT_BF16;
	} else if (strcmp(word, "f16") == 0) {
		kind = DT_F16;
	}
	t->settings.weight_type = kind;
	t->settings.weight_depth = target_float_depth(t->target,
						      dtype_of(kind));
	return kind != DT_VOID ||
	       context_bad_option(t, "--precision", word, "f32, bf16 or f16");
}

/* Sets the properties of the target that passes over the graph read. */
static void
set_target_settings(struct settings *s, const struct target *target)
{
	struct dtype type = dtype_of(DT_VOID);
	int depth = 0;

	if (!target->shift_zero_points ||
	    !target_byte_product(target, &type, &depth)) {
		type = dtype_of(DT_VOID);
		depth = 0;
	}
	/* the type, signed or unsigned, that the target's products of bytes
	 * need: passes give it to 8-bit tensors inside of the graph */
	s->byte_type = (enum dtype_kind)type.kind;
	s->byte_depth = depth;
	s->channel_block = target->dot_loops
				   ? target->block_elems
				   : target_block_elems(target,
							dtype_of(DT_I8));
	s->by_threads = target->max_threads > 1;
	s->slow_floats = target->max_threads == 0 && target->vectors.n == 0;
	s->by_elements = s->slow_floats && target->vector_bytes <= 16;
	s->small_constants = target->optimize_memory;
	s->part_align_bytes = target->align_tensors ? target->align_bytes
						    : target_wide_bytes(target);
}

bool
context_prepare(struct tirc *t)
{
	struct target *target;

	t->target = target_load_from(t->m, t->options.target,
				     t->options.dialect_path, t->target_file);
	if (t->target == NULL) {
		return false;
	}
	t->target = target_with_goal(t->m, t->target, t->options.optimize);
	if (t->target == NULL) {
		return false;
	}
	target = arena_copy(&t->m->arena, t->target, sizeof *target);
	target->intrins = arena_new(&t->m->arena, struct tensor_intrins);
	tensor_intrins_init(target->intrins, &t->m->arena);
	intrinsics_attach(t->m, t->options.dialect_path, target->intrins);
	set_target_settings(&t->settings, target);
	t->target = target_with_fp(t->m, target, t->options.fp);
	if (t->target == NULL) {
		return false;
	}
	t->settings.exact_rewrites = strcmp(t->target->fp, "strict") == 0;
	choose_images(t);
	if (!choose_rounding(t) || !choose_precision(t) ||
	    !choose_workspace(t) || !choose_conv(t) ||
	    !choose_word(t, "--regions", t->options.regions,
			 "within, alone or generated",
			 settings_find("regions_as")) ||
	    !context_backends(t)) {
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
	target->single_exit = dialect_has_single_exit(t->dialect);
	target->loose_weights = !dialect_aligns_weights(t->dialect);
	target->interface_apart = dialect_wants_interface_apart(t->dialect);
	target->fmax_vectors = dialect_has_fmax_vectors(t->dialect);
	target->half_vectors = dialect_has_half_vectors(t->dialect);
	t->target = target;
	t->settings.hides_float_bits = !dialect_reads_float_bits(t->dialect);
	t->graph->settings = &t->settings;
	return true;
}

bool
tirc_partition(struct tirc *t)
{
	struct pass_hooks hooks;

	if (t->partitioned) {
		return true;
	}
	if (!context_hooks(t, &hooks) || !context_prepare(t)) {
		return false;
	}
	context_progress(t, "graph passes", 1, 4);
	t->partitioned = graph_to_partition(t->graph, &hooks);
	if (t->partitioned && t->options.results != NULL &&
	    strcmp(t->options.results, "left") == 0) {
		graph_show_results(t->graph);
	}
	return t->partitioned;
}

bool
tirc_write_partition(struct tirc *t, const char *path)
{
	const char *target = t->target != NULL ? t->target->name
					       : t->options.target;
	const char *left_out = "";
	struct partition_facts facts = { 0 };

	if (target != NULL) {
		facts.target = target_text_for_file(t->m, target, &left_out);
	}
	if (left_out[0] != '\0') {
		diag_note(&t->m->diags, DIAG_BAD_OPTION,
			  (struct diag_place){ .file = path },
			  "the partition names the target without%s, which "
			  "only an option can set; give it again with --target "
			  "when the partition is compiled",
			  left_out);
	}
	return partition_write(t->graph, &facts, path, t->options.force);
}

/* Loads the kind of firmware package that the options name, if they name one.
 * False after a diagnostic. */
static bool
find_kind(struct tirc *t)
{
	if (t->options.package == NULL) {
		return true;
	}
	t->kind = firmware_load(t->m, t->options.package,
				t->options.package_path);
	return t->kind != NULL;
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
	    !check_section(t) || !read_form(t, &emit.graph) || !find_kind(t) ||
	    !context_prepare(t)) {
		return false;
	}
	if (t->kind != NULL && !emit.graph && emit.weights == WEIGHTS_AUTO) {
		emit.weights = WEIGHTS_C;
	}
	if (emit.name == NULL) {
		emit.name = t->graph->name;
	}
	context_progress(t, "graph passes", 1, 4);
	if ((!t->partitioned && !graph_to_partition(t->graph, &hooks)) ||
	    !graph_to_groups(t->graph, &hooks)) {
		return false;
	}
	if (t->options.results != NULL &&
	    strcmp(t->options.results, "stored") == 0) {
		graph_show_stored(t->graph);
	}
	context_progress(t, "kernels", 2, 4);
	if (!program_build(t->graph, t->target, &hooks, &t->program) ||
	    !context_schedules_used(t)) {
		return false;
	}
	context_progress(t, "source", 3, 4);
	start = hooks_start(&hooks);
	t->shaping = emit.shaping = context_shaping(t, &emit.n_shaping);
	t->n_shaping = emit.n_shaping;
	if (!package_build(&t->program, t->dialect, &emit, &t->package)) {
		return false;
	}
	hooks_took(&hooks, "source", start);
	set_fates(t);
	t->compiled = true;
	t->arithmetic = context_arithmetic(t);
	if (t->kind != NULL) {
		context_find_left(t);
		t->exact = context_exact(t);
	}
	return t->m->diags.n_errors == 0;
}

bool
tirc_arrange(struct tirc *t, const void *const *inputs,
	     const void *const *outputs, const double *const *allowed)
{
	const struct self_test values = {
		.inputs = inputs,
		.outputs = outputs,
		.allowed = allowed,
		.left = t->left.data,
		.n_left = t->left.n,
	};

	return t->compiled && t->kind != NULL &&
	       firmware_arrange(&t->package, t->kind, &values);
}

int
tirc_package_count(struct tirc *t)
{
	int n;

	firmware_names(t->m, t->options.package_path, &n);
	return n;
}

const char *
tirc_package(struct tirc *t, int i)
{
	int n;

	return firmware_names(t->m, t->options.package_path, &n)[i];
}

const char *
tirc_package_what(struct tirc *t, int i)
{
	const struct firmware_kind *kind =
		firmware_load(t->m, tirc_package(t, i),
			      t->options.package_path);

	return kind != NULL ? kind->description : "";
}

bool
tirc_write(struct tirc *t, const char *folder)
{
	context_progress(t, "files", 4, 4);
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
tirc_target_default(struct tirc *t)
{
	return target_default(t->m);
}

const char *
tirc_target_of_machine(struct tirc *t)
{
	return target_of_machine(t->m);
}

const char *
tirc_target_at_hand(struct tirc *t, const char *target, const char *cc,
		    const char *cflags)
{
	return target_at_hand(t->m, target, t->options.dialect_path, cc,
			      cflags);
}

const char *
tirc_target_what(struct tirc *t, int i)
{
	return target_description(t->m, t->targets[i]);
}
