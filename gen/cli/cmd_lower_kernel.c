/* SPDX-License-Identifier: Apache-2.0 */
/* tirc lower --from-onnx MODEL --kernel NAME: prints one kernel of a model as
 * text, which the user can edit and give back with --schedule-for. */
#include "cli.h"

static void
list_kernels(struct tirc *t, FILE *out)
{
	for (int i = 0; i < tirc_kernel_count(t); i++) {
		struct tirc_kernel k = tirc_kernel(t, i);

		say(out, "%-24s %s\n", k.name, k.title);
	}
}

int
cli_lower_kernel(struct cli *c, FILE *out)
{
	const char *text = NULL;
	struct tirc *t;

	c->model = c->from_onnx;
	t = cli_open(c);
	if (t == NULL) {
		return CLI_INPUT;
	}
	if (tirc_compile(t)) {
		if (c->kernel == NULL) {
			list_kernels(t, out);
			text = "";
		} else if (c->explain_schedule) {
			text = tirc_kernel_explanation(t, c->kernel);
		} else if (c->show_trace) {
			text = tirc_kernel_trace(t, c->kernel, c->json);
		} else {
			text = tirc_kernel_script(t, c->kernel,
						  c->unscheduled  ? -1
						  : c->phase >= 0 ? c->phase
								  : 0,
						  c->old_script);
		}
	}
	cli_messages(t);
	cli_timings(t);
	if (text != NULL) {
		say_lines(out, text);
	}
	tirc_free(t);
	return text != NULL ? CLI_DONE : CLI_INPUT;
}
