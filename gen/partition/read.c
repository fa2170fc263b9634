/* SPDX-License-Identifier: Apache-2.0 */
/* Reads a partition from its text; reports every mistake with the file and the
 * place of the mistake in it. */
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "reading.h"
#include "text.h"

#define MAX_BYTES ((size_t)1 << 30) /* largest JSON */

/* Reads the name of the constants' file. folder NULL: the text is the output of
 * a command, which may name a file in any folder. False after a diagnostic. */
static bool
read_weights_name(struct reading *in, struct json j, const char *folder)
{
	const char *name = json_text(j, false);
	const char *slash = name != NULL ? strrchr(name, '/') : NULL;

	in->weights_name = name;
	in->folder = folder;
	if (folder == NULL && name != NULL) {
		in->folder = slash != NULL
				     ? arena_strndup(&in->m->arena, name,
						     (size_t)(slash - name))
				     : ".";
		in->weights_name = slash != NULL ? slash + 1 : name;
	}
	return !in->r.failed;
}

/* -- dimensions -- */

/* Reads the symbolic size i, {"name", "symbol", "min", "max"}: appends its
 * variable to graph.dims, and sets in->symbols[i] to the text of "symbol", or,
 * if there is no "symbol", to that of "name". False after a diagnostic. */
static bool
read_dim(struct reading *in, struct json j, int i)
{
	const char *name = json_text(json_get(j, "name"), true);
	const char *symbol = json_text(json_get(j, "symbol"), false);
	int64_t min = json_int(json_get(j, "min"), 0, INT64_MAX / 2, -1);
	int64_t max = json_int(json_get(j, "max"), 1, INT64_MAX / 2, -1);

	json_check_keys(j, "name symbol min max");
	if (in->r.failed) {
		return false;
	}
	symbol = symbol != NULL ? symbol : name;
	if (min < 0 || max < min) {
		return json_error(j, "min and max are expected here, with max "
				     "at least min");
	}
	if (!text_is_identifier(symbol, "")) {
		return json_error(json_get(j, "symbol"),
				  "a name of letters and digits is expected "
				  "here, which expressions can use");
	}
	for (int k = 0; k < i; k++) {
		if (strcmp(in->symbols[k], symbol) == 0) {
			return json_error(j, "%s is given twice; remove one",
					  symbol);
		}
	}
	in->symbols[i] = symbol;
	vec_push(&in->m->arena, &in->g->dims,
		 var_new_dim(in->m, name, min, max));
	return true;
}

static bool
read_dims(struct reading *in, struct json list)
{
	int n = json_length(list);

	if (n > GRAPH_MAX_DIMS) {
		return json_error(list,
				  "there are %d symbolic dimensions; at most "
				  "%d are supported: give some a number",
				  n, GRAPH_MAX_DIMS);
	}
	in->symbols = arena_array(&in->m->arena, const char *, n + 1);
	if (n == 0) {
		return !in->r.failed;
	}
	for (struct json j = json_first(list); j.value;
	     j = json_next(list, j)) {
		if (!read_dim(in, j, j.index)) {
			return false;
		}
	}
	return true;
}

/* -- settings -- */

/* The number of the setting's value j; -1 after a diagnostic. */
static int
read_setting(const struct setting_row *row, struct json j)
{
	const char *word;
	int value;

	if (row->most == 1 && row->word == NULL) {
		return json_bool(j);
	}
	if (row->word == NULL) {
		return (int)json_int(j, 0, row->most, -1);
	}
	word = json_text(j, true);
	value = word != NULL ? setting_value(row, word) : -1;
	if (word != NULL && value < 0) {
		json_error(j,
			   "this is not a value of the setting; remove it, or "
			   "write the partition again");
	}
	return value;
}

/* Reads the settings. The output of a backend's pass may omit them, but not
 * change them. */
static bool
read_settings(struct reading *in, struct json object)
{
	struct settings *s = arena_new(&in->m->arena, struct settings);
	int n;
	const struct setting_row *rows = settings_rows(&n);

	in->g->settings = in->before != NULL ? in->before->settings : s;
	if (object.value == NULL) {
		return !in->r.failed;
	}
	if (!json_is_object(object, true)) {
		return false;
	}
	for (struct json j = json_first(object); j.value;
	     j = json_next(object, j)) {
		int i = settings_find(j.value->string);
		int value = i >= 0 ? read_setting(&rows[i], j) : -1;

		if (i < 0) {
			json_error(j, "there is no setting of this name; "
				      "remove it");
		} else if (value >= 0) {
			settings_set(s, i, value);
		}
	}
	for (int i = 0; i < n && !in->r.failed; i++) {
		if (settings_get(s, i) != settings_get(in->g->settings, i)) {
			json_error(object,
				   "a pass cannot change the settings; write "
				   "%s as the input has it",
				   rows[i].name);
		}
	}
	return !in->r.failed;
}

/* -- the file -- */

/* Reads the members before the tensors: version, names, digest, target, stage,
 * assumptions, options, settings, the name of the weights, and symbolic sizes. False
 * after a diagnostic. */
static bool
read_head(struct reading *in, struct json root, const char *folder,
	  struct partition_facts *facts)
{
	struct graph *g = in->g;
	const char *name, *stage;
	const char *const *texts;
	int n;

	json_check_keys(
		root,
		"tirc_partition name model digest target stage "
		"settings weights dims assumptions options inputs outputs states "
		"tensors nodes backends matches regions origins");
	if (json_int(json_get(root, "tirc_partition"), 1, 1000000, 0) !=
	    PARTITION_VERSION) {
		return json_error(
			json_get(root, "tirc_partition"),
			"this tirc reads version %d; write the partition "
			"again",
			PARTITION_VERSION);
	}
	name = json_text(json_get(root, "name"), true);
	g->name = name != NULL ? name : "";
	g->model = json_text(json_get(root, "model"), false);
	g->digest = json_text(json_get(root, "digest"), false);
	if (g->digest != NULL &&
	    strspn(g->digest, "0123456789abcdef") != strlen(g->digest)) {
		return json_error(json_get(root, "digest"),
				  "hexadecimal digits are expected here");
	}
	facts->target = json_text(json_get(root, "target"), false);
	stage = json_text(json_get(root, "stage"), false);
	g->is_partitioned = stage == NULL;
	texts = json_texts(json_get(root, "assumptions"), &n);
	for (int i = 0; i < n; i++) {
		graph_assume(g, texts[i]);
	}
	texts = json_texts(json_get(root, "options"), &n);
	for (int i = 0; i < n; i++) {
		vec_push(&g->module->arena, &g->import_options, texts[i]);
	}
	return read_settings(in, json_get(root, "settings")) &&
	       read_weights_name(in, json_get(root, "weights"), folder) &&
	       read_dims(in, json_get(root, "dims"));
}

static bool
read_tensors(struct reading *in, struct json object)
{
	if (!json_is_object(object, true)) {
		return false;
	}
	for (struct json j = json_first(object); j.value;
	     j = json_next(object, j)) {
		int errors = in->m->diags.n_errors;

		if (!read_tensor(in, j, j.value->string)) {
			in->r.failed = true;
			/* ends the reading if this tensor added no error,
			 * because its error was reported before, or after many
			 * errors */
			if (in->m->diags.n_errors == errors ||
			    in->m->diags.n_errors > 20) {
				return false;
			}
		}
	}
	return !in->r.failed;
}

static bool
read_inputs(struct reading *in, struct json list)
{
	if (json_length(list) == 0) {
		return !in->r.failed;
	}
	for (struct json j = json_first(list); j.value;
	     j = json_next(list, j)) {
		struct tensor *t = read_tensor_name(in, j);

		if (t == NULL) {
			continue;
		}
		if (t->is_input || tensor_is_constant(t) || t->elems) {
			json_error(
				j,
				t->is_input
					? "this name is listed twice; remove "
					  "one"
					: "a constant cannot be an input");
		}
		t->is_input = true;
		vec_push(&in->m->arena, &in->g->inputs, t);
	}
	return !in->r.failed;
}

static bool
read_all(struct reading *in, struct json root, const char *folder,
	 struct partition_facts *facts)
{
	return json_is_object(root, true) &&
	       read_head(in, root, folder, facts) &&
	       read_origins(in, json_get(root, "origins")) &&
	       read_tensors(in, json_get(root, "tensors")) &&
	       read_inputs(in, json_get(root, "inputs")) &&
	       read_nodes(in, json_get(root, "nodes")) &&
	       read_outputs(in, json_get(root, "outputs")) &&
	       read_states(in, root) &&
	       check_nodes(in, json_get(root, "tensors")) &&
	       read_regions(in, root) && !in->r.failed;
}

struct graph *
partition_read_text(struct module *m, const char *name, const char *folder,
		    const char *text, struct partition_facts *facts,
		    struct onnx_file **file)
{
	cJSON *json = json_parse(m, name, text);
	struct reading in = {
		.r = { .module = m, .n_layers = 1, .id = DIAG_BAD_PARTITION },
		.m = m,
		.facts = facts,
	};
	bool ok;

	*file = NULL;
	if (json == NULL) {
		return NULL;
	}
	in.before = facts->before;
	in.r.layers[0].file = name;
	in.r.layers[0].value = json;
	in.g = graph_new(m, "");
	in.g->file = arena_strdup(&m->arena, name);
	in.file = onnx_file_new();
	ok = in.file != NULL &&
	     read_all(&in, json_root(&in.r, json), folder, facts);
	cJSON_Delete(json);
	if (!ok) {
		read_close_backends(&in);
		onnx_file_close(in.file);
		return NULL;
	}
	*file = in.file;
	return in.g;
}

void
partition_adopt(struct graph *g, const struct graph *edited)
{
	struct graph old = *g;

	*g = *edited;
	g->file = old.file;
	g->edits = old.edits + 1;
	g->byoc_notes = old.byoc_notes;
	for (int i = 0; i < g->nodes.n; i++) {
		g->nodes.data[i]->graph = g;
	}
}

/* -- files -- */

bool
partition_is(const char *path)
{
	struct stat s;
	FILE *f;
	int c = ' ';

	/* only regular files are opened: a pipe would lose the bytes that are
	 * read here */
	if (stat(path, &s) != 0 || !S_ISREG(s.st_mode)) {
		return false;
	}
	f = fopen(path, "rb");

	while (f != NULL && (c == ' ' || c == '\t' || c == '\n' || c == '\r')) {
		c = getc(f);
	}
	if (f != NULL) {
		fclose(f);
	}
	return c == '{';
}

struct graph *
partition_read(struct module *m, const char *path,
	       struct partition_facts *facts, struct onnx_file **file)
{
	const char *slash = strrchr(path, '/');
	const char *folder = slash == NULL ? "."
			     : slash == path
				     ? "/"
				     : arena_strndup(&m->arena, path,
						     (size_t)(slash - path));
	struct onnx_file *json = onnx_file_new();
	const char *why = "out of memory";
	const struct onnx_map *map = json != NULL
					     ? onnx_file_map(json, path,
							     &m->arena, &why)
					     : NULL;
	struct graph *g = NULL;

	*file = NULL;
	if (map == NULL || map->length > MAX_BYTES) {
		diag_error(&m->diags, DIAG_FILE_UNREADABLE,
			   (struct diag_place){ .file = path },
			   "cannot be read: %s",
			   map == NULL ? why : "larger than any partition");
	} else {
		quota_of_input(m, (int64_t)map->length);
		g = partition_read_text(m, path, folder,
					arena_strndup(&m->arena,
						      (const char *)map->base,
						      map->length),
					facts, file);
		if (g != NULL) {
			quota_of_input(m, (int64_t)map->length +
						  onnx_file_bytes(*file));
		}
	}
	onnx_file_close(json);
	return g;
}
