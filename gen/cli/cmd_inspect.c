/* SPDX-License-Identifier: Apache-2.0 */
/* tirc inspect: prints the content of a model and the results of its
 * compilation. */
#include <stdlib.h>
#include <string.h>

#include <cjson/cJSON.h>

#include "arena.h"
#include "cli.h"
#include "json_put.h"
#include "text.h"

static char *
copy(const char *text)
{
	char *p = malloc(strlen(text) + 1);

	if (p == NULL) {
		memory_exhausted();
	}
	return strcpy(p, text);
}

/* A copy of the text. A text of more than 40 bytes is replaced by "…" and its
 * end, since long names of tensors often differ only at their ends. */
static char *
shorten(const char *text)
{
	size_t n = strlen(text);
	char *p = malloc(64);

	if (p == NULL) {
		memory_exhausted();
	}
	if (n <= 40) {
		snprintf(p, 64, "%s", text);
	} else {
		snprintf(p, 64, "…%s", text + n - 38);
	}
	return p;
}

static void
print_nodes(struct tirc *t)
{
	static const char *const header[] = {
		"#",    "operator", "output", "shape",
		"type", "MACs",     "params", "computed by",
	};
	static const bool right[] = {
		true, false, false, false, false, true, true, false,
	};
	int n = tirc_node_count(t);
	char **cells = calloc((size_t)n * 8 + 1, sizeof *cells);

	if (cells == NULL) {
		return;
	}
	for (int i = 0; i < n; i++) {
		struct tirc_node x = tirc_node(t, i);
		char **row = cells + (size_t)i * 8;
		char number[32];

		snprintf(number, sizeof number, "%d", i);
		row[0] = copy(number);
		row[1] = copy(x.op_type);
		row[2] = shorten(x.output);
		row[3] = copy(x.shape);
		row[4] = copy(x.dtype);
		row[5] = copy(x.macs > 0 ? style_count(number, (double)x.macs)
					 : "");
		row[6] = copy(
			x.parameters > 0
				? style_count(number, (double)x.parameters)
				: "");
		row[7] = copy(x.fate != NULL ? x.fate : "");
	}
	style_table(stdout, 8, header, right, n, (const char *const *)cells);
	for (int i = 0; i < n * 8; i++) {
		free(cells[i]);
	}
	free(cells);
}

/* The size of the workspace in bytes with the option --optimize=`optimize`.
 * Compiles the model again if --optimize of this command has another value. */
static int64_t
workspace_if(const struct cli *c, struct tirc *t, const char *optimize)
{
	const char *chosen = c->tirc.optimize != NULL ? c->tirc.optimize
						      : "speed";
	int64_t bytes = tirc_summary(t).workspace_bytes;
	struct cli other = *c;

	if (strcmp(chosen, optimize) == 0) {
		return bytes;
	}
	other.tirc.optimize = optimize;
	other.tirc.n_print_after = 0;
	t = cli_open(&other);
	if (t != NULL && tirc_compile(t)) {
		bytes = tirc_summary(t).workspace_bytes;
	}
	tirc_free(t);
	return bytes;
}

static void
print_place(struct tirc_tensor x)
{
	if (x.in_workspace) {
		say(stdout, "           %s at byte %lld\n", x.name,
		    (long long)x.offset_bytes);
	}
}

static void
print_memory(const struct cli *cli, struct tirc *t)
{
	struct tirc_summary s = tirc_summary(t);
	char a[32], b[32], c[32];
	int64_t parameters = 0;

	for (int i = 0; i < tirc_node_count(t); i++) {
		parameters += tirc_node(t, i).parameters;
	}
	say(stdout, "\nwork       %s MAC, %s FLOP, %s parameters\n",
	    style_count(a, (double)s.macs), style_count(b, s.flops),
	    style_count(c, (double)parameters));
	say(stdout, "workspace  %s planned, %s lower bound, ratio %.3f\n",
	    style_bytes(a, s.workspace_bytes), style_bytes(b, s.bound_bytes),
	    s.bound_bytes > 0
		    ? (double)s.workspace_bytes / (double)s.bound_bytes
		    : 1.0);
	say(stdout,
	    "           %s with --optimize speed, %s with --optimize "
	    "memory\n",
	    style_bytes(a, workspace_if(cli, t, "speed")),
	    style_bytes(b, workspace_if(cli, t, "memory")));
	for (int i = 0; i < tirc_input_count(t); i++) {
		print_place(tirc_input(t, i));
	}
	for (int i = 0; i < tirc_output_count(t); i++) {
		print_place(tirc_output(t, i));
	}
	say(stdout,
	    "RAM        %s: the workspace, and %s of inputs and outputs\n",
	    style_bytes(a, s.workspace_bytes + cli_io_bytes(t)),
	    style_bytes(b, cli_io_bytes(t)));
	say(stdout,
	    "stack      local arrays of at most %s in a kernel, and what "
	    "the compiler adds\n",
	    style_bytes(a, s.local_bytes));
	say(stdout, "weights    %s (%s)\n", style_bytes(a, s.weights_bytes),
	    s.weights);
	cli_print_winograd("winograd   ", s);
}

static cJSON *
tensor_json(struct tirc_tensor x)
{
	cJSON *o = cJSON_CreateObject();
	cJSON *dims = cJSON_AddArrayToObject(o, "shape");

	cJSON_AddStringToObject(o, "name", x.name);
	cJSON_AddStringToObject(o, "dtype", x.dtype);
	for (int d = 0; d < x.ndim; d++) {
		int64_t v;

		cJSON_AddItemToArray(dims,
				     text_int(x.words[d], &v)
					     ? cJSON_CreateNumber((double)v)
					     : cJSON_CreateString(x.words[d]));
	}
	if (x.in_workspace) {
		cJSON_AddNumberToObject(o, "workspace_offset",
					(double)x.offset_bytes);
	}
	return o;
}

static bool
print_json(const struct cli *c, struct tirc *t)
{
	struct tirc_summary s = tirc_summary(t);
	cJSON *root = cJSON_CreateObject();
	cJSON *list = cJSON_AddArrayToObject(root, "inputs");
	cJSON *memory;
	struct strbuf text;

	for (int i = 0; i < tirc_input_count(t); i++) {
		cJSON_AddItemToArray(list, tensor_json(tirc_input(t, i)));
	}
	list = cJSON_AddArrayToObject(root, "outputs");
	for (int i = 0; i < tirc_output_count(t); i++) {
		cJSON_AddItemToArray(list, tensor_json(tirc_output(t, i)));
	}
	memory = cJSON_AddObjectToObject(root, "memory");
	cJSON_AddNumberToObject(memory, "workspace_bytes",
				(double)s.workspace_bytes);
	cJSON_AddNumberToObject(memory, "workspace_bytes_for_speed",
				(double)workspace_if(c, t, "speed"));
	cJSON_AddNumberToObject(memory, "workspace_bytes_for_memory",
				(double)workspace_if(c, t, "memory"));
	cJSON_AddNumberToObject(memory, "bound_bytes", (double)s.bound_bytes);
	cJSON_AddNumberToObject(memory, "ratio",
				s.bound_bytes > 0
					? (double)s.workspace_bytes /
						  (double)s.bound_bytes
					: 1.0);
	cJSON_AddNumberToObject(memory, "io_bytes", (double)cli_io_bytes(t));
	cJSON_AddNumberToObject(memory, "ram_bytes",
				(double)(s.workspace_bytes + cli_io_bytes(t)));
	cJSON_AddNumberToObject(memory, "local_array_bytes",
				(double)s.local_bytes);
	cJSON_AddNumberToObject(memory, "weights_bytes",
				(double)s.weights_bytes);
	cJSON_AddNumberToObject(memory, "winograd_weights_bytes",
				(double)s.winograd_weights_bytes);
	cJSON_AddNumberToObject(memory, "winograd_direct_weights_bytes",
				(double)s.winograd_direct_bytes);
	cJSON_AddNumberToObject(root, "macs", (double)s.macs);
	cJSON_AddNumberToObject(root, "flops", s.flops);
	list = cJSON_AddArrayToObject(root, "nodes");
	for (int i = 0; i < tirc_node_count(t); i++) {
		struct tirc_node x = tirc_node(t, i);
		cJSON *o = cJSON_CreateObject();

		cJSON_AddStringToObject(o, "name", x.name);
		cJSON_AddStringToObject(o, "operator", x.op_type);
		cJSON_AddStringToObject(o, "output", x.output);
		cJSON_AddStringToObject(o, "shape", x.shape);
		cJSON_AddStringToObject(o, "dtype", x.dtype);
		cJSON_AddNumberToObject(o, "macs", (double)x.macs);
		cJSON_AddNumberToObject(o, "parameters", (double)x.parameters);
		cJSON_AddStringToObject(o, "computed_by",
					x.fate != NULL ? x.fate : "");
		cJSON_AddItemToArray(list, o);
	}
	strbuf_init(&text);
	json_put(&text, root, true);
	cJSON_Delete(root);
	say_lines(stdout, text.data);
	say(stdout, "\n");
	strbuf_release(&text);
	return true;
}

int
cmd_inspect(struct cli *c)
{
	struct tirc *t = cli_open(c);
	bool ok;

	if (t == NULL) {
		return CLI_INPUT;
	}
	ok = tirc_compile(t);
	cli_messages(t);
	cli_timings(t);
	if (ok && c->json) {
		ok = print_json(c, t);
	} else if (ok && !c->quiet) {
		print_nodes(t);
		print_memory(c, t);
	}
	tirc_free(t);
	return ok ? CLI_DONE : CLI_INPUT;
}
