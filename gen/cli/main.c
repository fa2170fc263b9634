/* SPDX-License-Identifier: Apache-2.0 */
/* The main function: finds the verb, reads its options and runs it. */
#define _POSIX_C_SOURCE 200809L
#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>

#include "cleanup.h"
#include "help.h"
#include "text.h"

/* Has the program that reads the pipe fd, such as `head`, closed it? */
static bool
reader_is_gone(int fd)
{
	struct pollfd one = { .fd = fd };

	return poll(&one, 1, 0) == 1 &&
	       (one.revents & (POLLERR | POLLHUP)) != 0;
}

/* Flushes standard output and reports an error of it, unless the error is that
 * the reader has closed the pipe. Returns the exit status: `status`, or
 * CLI_INPUT after an error if `status` is CLI_DONE. */
static int
check_output(int status)
{
	if (fflush(stdout) == 0 && ferror(stdout) == 0) {
		return status;
	}
	if (!reader_is_gone(fileno(stdout))) {
		cli_error("standard output cannot be written: %s",
			  errno != 0 ? strerror(errno)
				     : "an earlier write failed");
	}
	return status == CLI_DONE ? CLI_INPUT : status;
}

int
cli_no_such_verb(const char *word)
{
	const char *near, **names;
	int n;
	const struct verb *verbs = cli_verbs(&n);
	struct arena a;

	arena_init(&a);
	names = arena_array(&a, const char *, n + 1);
	for (int i = 0; i < n; i++) {
		names[i] = verbs[i].name;
	}
	near = text_nearest(word, names, n);
	arena_release(&a);
	say(stderr, "tirc: no verb '%s'; ", word);
	if (text_ends_in(word, ".onnx") || text_ends_in(word, ".onnxtxt")) {
		say(stderr, "did you mean tirc compile %s?\n", word);
	} else if (text_ends_in(word, ".py")) {
		say(stderr, "did you mean tirc lower %s?\n", word);
	} else if (near != NULL) {
		say(stderr, "did you mean tirc %s?\n", near);
	} else {
		say(stderr, "`tirc --help` lists them\n");
	}
	return CLI_USAGE;
}

/* Was the program started under this name, from any folder? */
static bool
is_called(const char *path, const char *name)
{
	const char *slash = strrchr(path, '/');

	return strcmp(slash != NULL ? slash + 1 : path, name) == 0;
}

static int
run_tvmc(int argc, char **argv)
{
	struct cli c = { 0 };
	int status;

	arena_init(&c.arena);
	c.rest = arena_array(&c.arena, const char *, argc + 1);
	for (int i = 0; i < argc; i++) {
		c.rest[i] = argv[i];
	}
	c.n_rest = argc;
	c.rtol = c.atol = -1;
	c.phase = -1;
	status = cmd_tvmc(&c);
	cli_options_free(&c);
	return status;
}

static int
run_verb(int argc, char **argv)
{
	struct cli c = { 0 };
	int n;
	const struct verb *verbs = cli_verbs(&n);

	if (argc > 0 && is_called(argv[0], "tvmc")) {
		return run_tvmc(argc - 1, argv + 1);
	}
	if (argc < 2) {
		cli_overview(stderr);
		return CLI_USAGE;
	}
	if (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0) {
		cli_overview(stdout);
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
		if (verbs[i].run == cmd_tvmc) {
			return run_tvmc(argc - 2, argv + 2);
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
	return cli_no_such_verb(argv[1]);
}

int
main(int argc, char **argv)
{
	int status;

	cleanup_start();
	status = check_output(run_verb(argc, argv));
	cleanup_now();
	return status;
}
