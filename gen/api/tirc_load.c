/* SPDX-License-Identifier: Apache-2.0 */
/* The public interface: loads a model or a partition, with the sizes that the
 * options give. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "arrays.h"
#include "ops.h"
#include "partition.h"
#include "passes.h"
#include "quantization.h"
#include "size_words.h"
#include "text.h"
#include "tirc_context.h"

/* Sets *out to the decimal integer at *text, which must be followed by one of
 * the characters in `stop`, and moves *text behind the integer. False if there
 * is no such integer. */
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

/* The name of a size contains one of these characters; a number does not. */
static const char size_letters[] = "abcdefghijklmnopqrstuvwxyz"
				   "ABCDEFGHIJKLMNOPQRSTUVWXYZ_";

static bool
read_input_shape(struct tirc *t, const char *text, struct input_shape *out)
{
	const char *colon = strrchr(text, ':');
	const char *at;
	VEC(int64_t) dims = { 0 };
	VEC(const char *) names = { 0 };
	int64_t v;

	if (colon == NULL || colon == text) {
		return context_bad_option(
			t, "--input-shape", text,
			"NAME:D0,D1,… such as data:1,3,224,224");
	}
	for (at = colon + 1; *at != '\0'; at += *at == ',') {
		size_t n = strcspn(at, ",");
		const char *word = arena_strndup(&t->m->arena, at, n);
		bool open = strcmp(word, "?") == 0;
		bool named = !open && strpbrk(word, size_letters) != NULL;

		if (open || named) {
			v = INPUT_SHAPE_OPEN;
			at += n;
		} else if (!read_int(&at, ",", &v) || v < 0) {
			return context_bad_option(
				t, "--input-shape", text,
				"NAME:D0,D1,… with sizes >= 0, names of sizes "
				"for --dim, or ? for what the model says");
		}
		vec_push(&t->m->arena, &dims, v);
		vec_push(&t->m->arena, &names, named ? word : NULL);
	}
	out->name = arena_strndup(&t->m->arena, text, (size_t)(colon - text));
	out->ndim = dims.n;
	out->dims = dims.data;
	out->names = names.data;
	return true;
}

/* Reads what --dim gives to a size, after the equals sign: a number, a range,
 * or a formula. False after a diagnostic. */
static bool
read_dim(struct tirc *t, const char *text, struct dim_binding *out)
{
	static const char form[] = "NAME=SIZE, NAME=MIN..MAX, "
				   "NAME=MIN..MAX:MULTIPLE, with MIN from 0 "
				   "and MAX from 1 up, or "
				   "NAME=FORMULA such as 2*n+1";
	const char *equals = strrchr(text, '=');
	const char *at;

	*out = (struct dim_binding){ .step = 1 };
	if (equals == NULL || equals == text || equals[1] == '\0') {
		return context_bad_option(t, "--dim", text, form);
	}
	at = equals + 1;
	out->name = arena_strndup(&t->m->arena, text, (size_t)(equals - text));
	if (strpbrk(at, size_letters) != NULL) {
		out->formula = at;
		return true;
	}
	if (!read_int(&at, ".", &out->min)) {
		return context_bad_option(t, "--dim", text, form);
	}
	out->max = out->min;
	if (strncmp(at, "..", 2) == 0) {
		at += 2;
		if (!read_int(&at, ":", &out->max)) {
			return context_bad_option(t, "--dim", text, form);
		}
	}
	if (*at == ':' && out->max > out->min) {
		at++;
		if (!read_int(&at, "", &out->step)) {
			return context_bad_option(t, "--dim", text, form);
		}
	}
	if (*at != '\0' || out->min < 0 || out->max < 1 ||
	    out->max < out->min || out->step < 1) {
		return context_bad_option(t, "--dim", text, form);
	}
	return true;
}

/* Reads "4" or "1..4" at *at, and moves *at behind it; a number alone is the
 * maximum, with the minimum 0. False if there is no number at *at. */
static bool
read_range(const char **at, int64_t *min, int64_t *max)
{
	*min = 0;
	if (!read_int(at, ".,", max)) {
		return false;
	}
	if (strncmp(*at, "..", 2) == 0) {
		*at += 2;
		*min = *max;
		if (!read_int(at, ",", max)) {
			return false;
		}
	}
	return *min <= *max && *min >= -INT32_MAX && *max <= INT32_MAX &&
	       (**at == '\0' || **at == ',');
}

static bool
read_bound(struct tirc *t, const char *text, struct size_bound *out)
{
	static const char form[] = "NAME=MAX or NAME=MIN..MAX, or a list of "
				   "these for the elements of a tensor";
	const char *equals = strrchr(text, '=');
	VEC(int64_t) min = { 0 }, max = { 0 };
	const char *at;

	if (equals == NULL || equals == text) {
		return context_bad_option(t, "--bound", text, form);
	}
	for (at = equals; *at == '=' || *at == ',';) {
		int64_t a, b;

		at++;
		if (!read_range(&at, &a, &b)) {
			return context_bad_option(t, "--bound", text, form);
		}
		vec_push(&t->m->arena, &min, a);
		vec_push(&t->m->arena, &max, b);
	}
	out->name = arena_strndup(&t->m->arena, text, (size_t)(equals - text));
	out->n = min.n;
	out->min = min.data;
	out->max = max.data;
	return true;
}

static bool
read_sequence(struct tirc *t, const char *text, struct sequence_length *out)
{
	const char *equals = strrchr(text, '=');
	const char *at = equals != NULL ? equals + 1 : text;
	int64_t n = -1;

	if (equals == NULL || equals == text ||
	    (strcmp(at, "none") != 0 &&
	     (!read_int(&at, "", &n) || n < 0 || n > INT16_MAX))) {
		return context_bad_option(t, "--sequence", text,
					  "NAME=N or NAME=none");
	}
	out->name = arena_strndup(&t->m->arena, text, (size_t)(equals - text));
	out->n = (int)n;
	return true;
}

static bool
read_string_length(struct tirc *t, const char *text, struct string_length *out)
{
	const char *equals = strrchr(text, '=');
	const char *at = equals != NULL ? equals + 1 : text;

	if (equals == NULL || equals == text ||
	    !read_int(&at, "", &out->bytes) || out->bytes < 1 ||
	    out->bytes > INT32_MAX) {
		return context_bad_option(t, "--string-length", text,
					  "NAME=BYTES, from 1 up");
	}
	out->name = arena_strndup(&t->m->arena, text, (size_t)(equals - text));
	return true;
}

static bool
read_const_input(struct tirc *t, const char *text, struct const_input *out)
{
	const char *equals = strchr(text, '=');

	if (equals == NULL || equals == text) {
		return context_bad_option(t, "--const-input", text,
					  "NAME=VALUE,… or NAME=@FILE");
	}
	out->name = arena_strndup(&t->m->arena, text, (size_t)(equals - text));
	out->text = equals + 1;
	out->position = arena_new(&t->m->arena, int);
	out->array = arena_new(&t->m->arena, struct array);
	return true;
}

/* Reads the array of a --const-input from a file; in the path, the position of
 * the input replaces an asterisk. False after a diagnostic. */
static bool
read_array(struct module *m, const char *path, int position, struct array *out)
{
	const char *star = strchr(path, '*'), *slash;
	struct array *list;
	int n;

	if (star != NULL) {
		path = arena_printf(&m->arena, "%.*s%d%s", (int)(star - path),
				    path, position, star + 1);
	}
	slash = strrchr(path, '/');
	/* the .pb file of a data set, which may come from a stranger, is opened
	 * with care */
	if (star != NULL && slash != NULL && text_ends_in(path, ".pb")) {
		return arrays_read_set(m,
				       arena_strndup(&m->arena, path,
						     (size_t)(slash - path)),
				       slash + 1, out);
	}
	if (!arrays_read(m, path, NULL, &list, &n)) {
		return false;
	}
	*out = list[0];
	return true;
}

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
		size_words(x->shape[d], &s);
	}
	text = arena_strdup(a, x->ndim == 0 ? "scalar" : s.data);
	strbuf_release(&s);
	return text;
}

/* Sets the shape and the type of the node of a nested graph, whose tensors have
 * longer names in g than in the file. */
static void
describe_inner(struct tirc *t, const struct node *n, struct tirc_node *info)
{
	const struct tensor *x = n->n_outputs > 0 ? n->outputs[0] : NULL;

	if (x != NULL && x->typed &&
	    t->graph->origins.data[n->origins.data[0]].within >= 0 &&
	    strcmp(info->op_type, n->op_type) == 0) {
		info->shape = shape_text(&t->m->arena, x);
		info->dtype = dtype_name(x->type);
	}
}

/* Fills t->nodes with the model's nodes as the file has them, before passes
 * change the graph. */
static void
remember_nodes(struct tirc *t)
{
	struct graph *g = t->graph;

	t->nodes.cap = g->origins.n;
	t->nodes.data = arena_array(&t->m->arena, struct tirc_node,
				    g->origins.n);
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
		describe_inner(t, n, info);
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

/* Loads a partition, which contains its sizes, settings and target. Options may
 * change settings and target; options about sizes are an error. */
static bool
load_partition(struct tirc *t, const char *path)
{
	struct partition_facts facts = { 0 };
	struct graph *g;

	if (t->options.n_input_shapes > 0 || t->options.n_dims > 0) {
		return context_bad_option(
			t, "--input-shape and --dim", path,
			"an ONNX model: the sizes of a partition are fixed");
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
	t->settings = *g->settings;
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
				"a backend of the partition, whose backends "
				"are fixed");
		}
	}
	if (!t->graph->is_partitioned) {
		return diag_error(&t->m->diags, DIAG_BAD_PARTITION,
				  (struct diag_place){ .file = path,
						       .item = "/stage" },
				  "its regions are not final: it is the "
				  "input of a backend's region pass");
	}
	t->partitioned = true;
	if (t->options.target == NULL) {
		t->options.target = facts.target;
		t->target_file = path;
	} else if (facts.target == NULL ||
		   strcmp(t->options.target, facts.target) != 0) {
		/* the algorithm of convolutions is chosen again for the new
		 * target */
		t->settings.conv = CONV_AUTO;
	}
	remember_nodes(t);
	return true;
}

bool
tirc_is_partition(const char *path)
{
	return partition_is(path);
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
	struct size_bound *bounds = arena_array(a, struct size_bound,
						o->n_bounds + 1);
	struct sequence_length *sequences = arena_array(a,
							struct sequence_length,
							o->n_sequences + 1);
	struct string_length *lengths = arena_array(a, struct string_length,
						    o->n_string_lengths + 1);
	struct const_input *consts = arena_array(a, struct const_input,
						 o->n_const_inputs + 1);
	struct import_options import = {
		.shapes = shapes,
		.n_shapes = o->n_input_shapes,
		.dims = dims,
		.n_dims = o->n_dims,
		.open_sizes = o->open_sizes,
		.bounds = bounds,
		.n_bounds = o->n_bounds,
		.seeded = o->seed != NULL,
		.sequences = sequences,
		.n_sequences = o->n_sequences,
		.string_lengths = lengths,
		.n_string_lengths = o->n_string_lengths,
		.functions = o->functions,
		.n_functions = o->n_functions,
		.const_inputs = consts,
		.n_const_inputs = o->n_const_inputs,
		.values = t->given.values,
		.n_values = t->given.n_values,
		.opened = t->opened,
		.read_array = read_array,
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
	for (int i = 0; i < o->n_bounds; i++) {
		if (!read_bound(t, o->bounds[i], &bounds[i])) {
			return false;
		}
	}
	if (o->seed != NULL) {
		const char *at = o->seed;

		if (!read_int(&at, "", &import.seed)) {
			return context_bad_option(t, "--seed", o->seed,
						  "an integer");
		}
	}
	for (int i = 0; i < o->n_sequences; i++) {
		if (!read_sequence(t, o->sequences[i], &sequences[i])) {
			return false;
		}
	}
	for (int i = 0; i < o->n_string_lengths; i++) {
		if (!read_string_length(t, o->string_lengths[i], &lengths[i])) {
			return false;
		}
	}
	for (int i = 0; i < o->n_const_inputs; i++) {
		if (!read_const_input(t, o->const_inputs[i], &consts[i])) {
			return false;
		}
	}
	t->const_inputs = consts;
	if (!context_hooks(t, &hooks)) {
		return false;
	}
	context_progress(t, "import", 0, 4);
	start = hooks_start(&hooks);
	if (t->given.text == NULL && !onnx_file_has(t->opened, path) &&
	    partition_is(path)) {
		if (!load_partition(t, path)) {
			return false;
		}
		context_note_options(t, "--state");
		return context_states(t);
	}
	t->graph = t->given.text == NULL
			   ? onnx_import(t->m, path, &import, &t->file)
			   : onnx_import_bytes(t->m, path, t->given.text,
					       t->given.text_bytes, &import,
					       &t->file);
	if (t->graph == NULL) {
		return false;
	}
	context_note_options(t, NULL);
	t->settings.conv = CONV_AUTO;
	hooks_took(&hooks, "import", start);
	remember_nodes(t);
	record_io_quantization(t->graph);
	if (!context_states(t)) {
		return false;
	}
	/* The passes for the options results and factors look into loops. So
	 * nodes that nothing reads are removed before these passes, for example
	 * the nodes of a loop with no iterations. */
	if ((o->results != NULL || o->factors) && !graph_dead(t->graph)) {
		return false;
	}
	if (o->results != NULL && strcmp(o->results, "each") == 0) {
		graph_show_results(t->graph);
	}
	if (o->factors && !graph_add_factors(t->graph)) {
		return false;
	}
	hooks.after_graph(t, "import", t->graph);
	return true;
}
