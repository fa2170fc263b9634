/* SPDX-License-Identifier: Apache-2.0 */
/* tirc lower: runs a tensor program and prints what it prints. */
#include <string.h>

#include "cli.h"

static void
write_text(void *ctx, const char *text, size_t length)
{
	fwrite(text, 1, length, ctx);
}

/* 0 if the output is whole. */
static int
close_output(FILE *out, const char *path)
{
	bool bad = fflush(out) != 0 || ferror(out);

	if (out != stdout) {
		bad = fclose(out) != 0 || bad;
	}
	if (bad) {
		fprintf(stderr, "tirc lower: %s cannot be written\n",
			path != NULL ? path : "the output");
	}
	return bad ? CLI_INPUT : CLI_DONE;
}

static int
run_program(struct cli *c, FILE *out)
{
	struct tirc *t = cli_program(c);
	struct tirc_program_options o = {
		.old_script = c->old_script,
		.functions = c->phase >= 0 || c->schedule != NULL,
		.phase = c->phase >= 0 ? c->phase : c->schedule != NULL ? 0 : 3,
		.schedule = c->schedule,
		.print = write_text, .print_ctx = out,
	};
	bool ok = t != NULL && tirc_run_program(t, c->model, &o);

	if (t == NULL) {
		return CLI_BUG;
	}
	fflush(out);
	cli_messages(t);
	cli_timings(t);
	tirc_free(t);
	return ok ? CLI_DONE : CLI_INPUT;
}

int
cmd_lower(struct cli *c)
{
	FILE *out = c->out != NULL ? fopen(c->out, "wb") : stdout;
	int status;

	if (out == NULL) {
		fprintf(stderr, "tirc lower: %s cannot be written\n", c->out);
		return CLI_INPUT;
	}
	status = c->from_onnx != NULL ? cli_lower_kernel(c, out)
				      : run_program(c, out);
	if (close_output(out, c->out) != CLI_DONE && status == CLI_DONE) {
		status = CLI_INPUT;
	}
	if (status != CLI_DONE && c->out != NULL) {
		remove(c->out);
	}
	return status;
}
