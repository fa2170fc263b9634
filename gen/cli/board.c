/* SPDX-License-Identifier: Apache-2.0 */
/* Programs for microcontrollers, which run on a simulator: checks that the
 * compiler and the simulator are installed, and reads the numbers of
 * instructions and the sizes of memory that the program reports. */
#define _GNU_SOURCE
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cjson/cJSON.h>

#include "harness.h"

const char *
harness_find_command(struct arena *a, const char *command)
{
	size_t n = strcspn(command, " ");
	const char *name = arena_strndup(a, command, n);
	const char *path = getenv("PATH");

	if (strchr(name, '/') != NULL || path == NULL) {
		return access(name, X_OK) == 0 ? name : NULL;
	}
	while (*path != '\0') {
		size_t length = strcspn(path, ":");
		const char *found = arena_printf(a, "%.*s/%s", (int)length,
						 path, name);

		if (access(found, X_OK) == 0) {
			return found;
		}
		path += length + (path[length] == ':');
	}
	return NULL;
}

static bool
need_command(struct harness *h, const char *command, const char *package)
{
	return harness_find_command(&h->m->arena, command) != NULL ||
	       cli_error("%.*s is not installed%s%s",
			 (int)strcspn(command, " "), command,
			 package != NULL ? "; on Debian: apt-get install " : "",
			 package != NULL ? package : "");
}

bool
harness_find_tools(struct harness *h)
{
	struct tirc_summary s = tirc_summary(h->t);

	if (s.simulator == NULL) {
		return true;
	}
	if (h->cli->tirc.form != NULL &&
	    strcmp(h->cli->tirc.form, "graph") == 0) {
		return cli_error("--form graph: the executor of graphs does "
				 "not run on simulated boards");
	}
	return need_command(h, h->cli->cc != NULL ? h->cli->cc : s.cc,
			    s.cc_package) &&
	       need_command(h,
			    h->cli->runner != NULL ? h->cli->runner
						   : s.simulator,
			    s.simulator_package);
}

/* The bytes of an input or output in memory that the caller allocates; 0 if it
 * lies in the workspace. */
static int64_t
caller_bytes(struct tirc_tensor x)
{
	struct dtype type;

	dtype_from_name(x.dtype, &type);
	return x.in_workspace ? 0 : x.elems * dtype_bytes(type);
}

int64_t
cli_io_bytes(struct tirc *t)
{
	int64_t bytes = 0;

	for (int i = 0; i < tirc_input_count(t); i++) {
		bytes += caller_bytes(tirc_input(t, i));
	}
	for (int i = 0; i < tirc_output_count(t); i++) {
		bytes += caller_bytes(tirc_output(t, i));
	}
	return bytes;
}

bool
harness_read_board(struct harness *h)
{
	struct board *b = &h->board;
	FILE *f = fopen(harness_path(h, "board.txt"), "r");
	long long v[5];
	bool ok = f != NULL;

	for (int i = 0; ok && i < 5; i++) {
		ok = fscanf(f, "%lld", &v[i]) == 1;
	}
	if (f != NULL) {
		fclose(f);
	}
	if (!ok) {
		return cli_error("the program wrote no board.txt");
	}
	*b = (struct board){ .code_bytes = v[0],
			     .constant_bytes = v[1],
			     .data_bytes = v[2],
			     .bss_bytes = v[3],
			     .stack_bytes = v[4] };
	b->io_bytes = cli_io_bytes(h->t);
	b->workspace_bytes = tirc_summary(h->t).workspace_bytes;
	b->flash_bytes = b->code_bytes + b->constant_bytes + b->data_bytes;
	b->ram_bytes = b->data_bytes + b->bss_bytes + b->workspace_bytes +
		       b->io_bytes;
	return true;
}

static void
print_board(const struct harness *h, double instructions)
{
	const struct board *b = &h->board;
	const char *runner = h->cli->runner != NULL
				     ? h->cli->runner
				     : tirc_summary(h->t).simulator;

	say(stdout,
	    "board  run by %.*s\n"
	    "instructions  %.0f\n"
	    "flash  %lld bytes: code %lld, constants %lld, values of "
	    "variables %lld\n"
	    "RAM    %lld bytes: workspace %lld, inputs and outputs %lld, "
	    "variables %lld\n"
	    "stack  %lld bytes: written by this run, below its caller's frame\n",
	    (int)strcspn(runner, " "), runner, instructions,
	    (long long)b->flash_bytes, (long long)b->code_bytes,
	    (long long)b->constant_bytes, (long long)b->data_bytes,
	    (long long)b->ram_bytes, (long long)b->workspace_bytes,
	    (long long)b->io_bytes,
	    (long long)b->data_bytes + (long long)b->bss_bytes,
	    (long long)b->stack_bytes);
}

/* -- kernels -- */

/* Reads the number of instructions that each kernel took in the last run.
 * Returns NULL after an error message. */
static double *
read_kernels(struct harness *h)
{
	const char *path = harness_path(h, "profile.txt");
	int n = tirc_kernel_count(h->t);
	double *counts = arena_array(&h->m->arena, double, n + 1);
	FILE *f = fopen(path, "r");
	bool ok = f != NULL;

	for (int r = 0; r < h->cli->repeat; r++) {
		for (int i = 0; i < n && ok; i++) {
			ok = fscanf(f, "%lf", &counts[i]) == 1;
		}
	}
	if (f != NULL) {
		fclose(f);
	}
	if (!ok) {
		cli_error("the program wrote too little to %s", path);
	}
	return ok ? counts : NULL;
}

static void
print_kernels(struct harness *h, const double *counts)
{
	static const char *const header[] = {
		"kernel", "instructions", "share",
		"MAC",    "per MAC",      "what it does",
	};
	static const bool right[] = { false, true, true, true, true, false };
	enum { COLUMNS = 6 };
	struct arena *a = &h->m->arena;
	int n = tirc_kernel_count(h->t);
	const char **cells = arena_array(a, const char *, n *COLUMNS + 1);
	const char **row = cells;
	double total = 0;

	for (int i = 0; i < n; i++) {
		total += counts[i];
	}
	for (int i = 0; i < n; i++, row += COLUMNS) {
		struct tirc_kernel k = tirc_kernel(h->t, i);
		double macs = (double)k.macs;

		row[0] = k.name;
		row[1] = arena_printf(a, "%.0f", counts[i]);
		row[2] = arena_printf(a, "%.0f%%",
				      total > 0 ? 100 * counts[i] / total : 0);
		row[3] = k.macs > 0 ? arena_printf(a, "%.0f", macs) : "";
		row[4] = k.macs > 0 ? arena_printf(a, "%.2f", counts[i] / macs)
				    : "";
		row[5] = k.title != NULL ? k.title : "";
	}
	say(stdout, "\n");
	style_table(stdout, COLUMNS, header, right, n, cells);
}

static void
add_kernels(struct harness *h, cJSON *top, const double *counts)
{
	cJSON *list = cJSON_AddArrayToObject(top, "kernels");

	for (int i = 0; i < tirc_kernel_count(h->t); i++) {
		cJSON *o = harness_kernel_json(h, i);

		cJSON_AddNumberToObject(o, "instructions", counts[i]);
		cJSON_AddItemToArray(list, o);
	}
}

/* Writes the file of --json. counts: the number of instructions of each kernel,
 * or NULL without --profile. Returns false after an error message. */
static bool
write_json(struct harness *h, double instructions, const double *counts)
{
	const struct board *b = &h->board;
	const struct {
		const char *name;
		double value;
	} members[] = {
		{ "instructions", instructions },
		{ "flash_bytes", (double)b->flash_bytes },
		{ "code_bytes", (double)b->code_bytes },
		{ "constant_bytes", (double)b->constant_bytes },
		{ "data_bytes", (double)b->data_bytes },
		{ "bss_bytes", (double)b->bss_bytes },
		{ "ram_bytes", (double)b->ram_bytes },
		{ "workspace_bytes", (double)b->workspace_bytes },
		{ "io_bytes", (double)b->io_bytes },
		{ "stack_bytes", (double)b->stack_bytes },
	};
	cJSON *top = cJSON_CreateObject();

	for (size_t i = 0; i < sizeof members / sizeof *members; i++) {
		cJSON_AddNumberToObject(top, members[i].name, members[i].value);
	}
	if (counts != NULL) {
		add_kernels(h, top, counts);
	}
	return harness_write_json(h, top);
}

bool
harness_board(struct harness *h)
{
	const double instructions = h->times_ns[h->cli->repeat - 1];
	const double *counts = NULL;

	if (h->cli->tirc.profile && (counts = read_kernels(h)) == NULL) {
		return false;
	}
	if (!h->cli->quiet) {
		print_board(h, instructions);
		if (counts != NULL) {
			print_kernels(h, counts);
		}
	}
	return h->cli->json_path == NULL || write_json(h, instructions, counts);
}
