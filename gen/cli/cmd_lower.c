/* SPDX-License-Identifier: Apache-2.0 */
/* tirc lower: runs a tensor program and prints its output. */
#include <errno.h>
#include <string.h>

#include "cleanup.h"
#include "cli.h"
#include "output_file.h"

static void
write_text(void *ctx, const char *text, size_t length)
{
	style_progress_end();
	say_bytes(ctx, text, length);
}

static int
run_program(struct cli *c, FILE *out)
{
	struct tirc *t = cli_program(c);
	struct tirc_program_options o = {
		.old_script = c->old_script,
		.functions = c->phase >= 0 || c->schedule != NULL,
		.phase = c->phase >= 0         ? c->phase
			 : c->schedule != NULL ? 0
					       : 3,
		.schedule = c->schedule,
		.execute = c->execute,
		.print = write_text,
		.print_ctx = out,
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

static int
run(struct cli *c, FILE *out)
{
	return c->from_onnx != NULL ? cli_lower_kernel(c, out)
				    : run_program(c, out);
}

int
cmd_lower(struct cli *c)
{
	struct output o;
	struct arena a;
	int status;

	if (c->from_onnx == NULL && !cli_is_program(c->model)) {
		return CLI_USAGE;
	}
	if (c->out == NULL) {
		return run(c, stdout);
	}
	arena_init(&a);
	cleanup_watch_output(c->out);
	if (output_open(&o, &a, c->out)) {
		status = run(c, o.file);
		if (!output_close(&o, status == CLI_DONE) &&
		    status == CLI_DONE) {
			cli_error("%s: cannot be written: %s", c->out,
				  strerror(errno));
			status = CLI_INPUT;
		}
	} else {
		cli_error("%s: cannot be written: %s", c->out, strerror(errno));
		status = CLI_INPUT;
	}
	arena_release(&a);
	return status;
}
