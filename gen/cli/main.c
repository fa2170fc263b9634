/* SPDX-License-Identifier: Apache-2.0 */
/* The tirc program: finds the verb, parses its options, runs it. */
#include <string.h>

#include "cli.h"

static void
overview(FILE *to)
{
	int n;
	const struct verb *verbs = cli_verbs(&n);

	fprintf(to,
		"tirc %s: machine-learning models in, readable C out\n\n"
		"usage: tirc VERB [options]\n\n",
		tirc_version());
	for (int i = 0; i < n; i++) {
		fprintf(to, "  %-9s %s\n", verbs[i].name, verbs[i].what);
	}
	fprintf(to,
		"\n`tirc VERB --help` tells more. Try:\n\n"
		"  tirc compile model.onnx -o out    write C source\n"
		"  tirc test model.onnx              compile, run, compare\n"
		"  tirc lower program.py             a tensor program\n"
		"\nExit status: 0 done, 1 the input's fault, 2 usage, "
		"3 a bug of tirc.\n");
}

int
main(int argc, char **argv)
{
	struct cli c = { 0 };
	int n;
	const struct verb *verbs = cli_verbs(&n);

	if (argc < 2) {
		overview(stderr);
		return CLI_USAGE;
	}
	if (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0 ||
	    strcmp(argv[1], "help") == 0) {
		overview(stdout);
		return CLI_DONE;
	}
	if (strcmp(argv[1], "--version") == 0) {
		return cmd_version(&c);
	}
	for (int i = 0; i < n; i++) {
		int status;

		if (strcmp(argv[1], verbs[i].name) != 0) {
			continue;
		}
		status = cli_options(&c, &verbs[i], argc - 1, argv + 1);
		if (status == CLI_DONE && c.help) {
			cli_verb_help(stdout, &verbs[i]);
		} else if (status == CLI_DONE) {
			status = verbs[i].run(&c);
		}
		cli_options_free(&c);
		return status;
	}
	fprintf(stderr, "tirc: no verb '%s'; `tirc --help` lists them\n",
		argv[1]);
	return CLI_USAGE;
}
