/* SPDX-License-Identifier: Apache-2.0 */
/* Targets whose programs a simulator executes: are its tools there, and what the
 * program said of its instructions and memory. */
#define _GNU_SOURCE
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cjson/cJSON.h>

#include "harness.h"

/* Is the first word of the command a program that there is? */
static bool
command_is_there(struct arena *a, const char *command)
{
	size_t n = strcspn(command, " ");
	const char *name = arena_strndup(a, command, n);
	const char *path = getenv("PATH");

	if (strchr(name, '/') != NULL || path == NULL) {
		return access(name, X_OK) == 0;
	}
	while (*path != '\0') {
		size_t length = strcspn(path, ":");

		if (access(arena_printf(a, "%.*s/%s", (int)length, path, name),
			   X_OK) == 0) {
			return true;
		}
		path += length + (path[length] == ':');
	}
	return false;
}

static bool
need_command(struct harness *h, const char *command, const char *package)
{
	return command_is_there(&h->m->arena, command) ||
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
	if (h->cli->tirc.profile) {
		return cli_error("--profile measures this machine; a simulator "
				 "counts the instructions of whole runs");
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

static int64_t
tensor_bytes(struct tirc_tensor x)
{
	struct dtype type;

	dtype_from_name(x.dtype, &type);
	return x.elems * dtype_bytes(type);
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
	for (int i = 0; i < tirc_input_count(h->t); i++) {
		b->io_bytes += tensor_bytes(tirc_input(h->t, i));
	}
	for (int i = 0; i < tirc_output_count(h->t); i++) {
		b->io_bytes += tensor_bytes(tirc_output(h->t, i));
	}
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

	printf("instructions  %.0f\n"
	       "flash  %lld bytes: code %lld, constants %lld, values of "
	       "variables %lld\n"
	       "RAM    %lld bytes: workspace %lld, inputs and outputs %lld, "
	       "variables %lld\n"
	       "stack  %lld bytes\n",
	       instructions, (long long)b->flash_bytes,
	       (long long)b->code_bytes, (long long)b->constant_bytes,
	       (long long)b->data_bytes, (long long)b->ram_bytes,
	       (long long)b->workspace_bytes, (long long)b->io_bytes,
	       (long long)b->data_bytes + (long long)b->bss_bytes,
	       (long long)b->stack_bytes);
}

static bool
write_json(struct harness *h, double instructions)
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
	return harness_write_json(h, top);
}

bool
harness_board(struct harness *h)
{
	const double instructions = h->times_ns[h->cli->repeat - 1];

	if (!h->cli->quiet) {
		print_board(h, instructions);
	}
	return h->cli->json_path == NULL || write_json(h, instructions);
}
