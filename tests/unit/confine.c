/* SPDX-License-Identifier: Apache-2.0 */
/* A confined program (confined.c, the path of which is the argument) is refused
 * what it does without confinement, and may do what emitted programs do. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "check.h"
#include "process.h"
#include "program_file.h"

static struct arena a;
static const char *folder; /* that of the test */
static const char *program;
static struct confinement confined;

/* What a confined program has beyond its parts: limits of resources. */
enum { LIMITS = 0 };

static const char *
in_folder(const char *name)
{
	return arena_printf(&a, "%s/%s", folder, name);
}

static void
put_file(const char *path)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);

	CHECK(fd >= 0 && write(fd, "secret", 6) == 6);
	close(fd);
}

/* Makes the folders and files that each attempt starts with. */
static void
put_files(void)
{
	mkdir(in_folder("run"), 0755);
	mkdir(in_folder("home"), 0755);
	unlink(in_folder("run/made"));
	unlink(in_folder("run/linked"));
	put_file(in_folder("run/input"));
	put_file(in_folder("run/result"));
	put_file(in_folder("home/file"));
}

/* The exit status of an attempt. */
static int
status_of(const char *attempt, const char *argument, bool is_confined)
{
	struct command c = { 0 };
	int status = -1;
	struct process p = { .command = &c,
			     .folder = in_folder("run"),
			     .is_quiet = true,
			     .confined = is_confined ? &confined : NULL,
			     .status = &status };

	put_files();
	command_add_word(&a, &c, program);
	command_add_word(&a, &c, attempt);
	command_add_word(&a, &c, argument);
	process_run(&a, &p);
	return status;
}

static void
check_attempt(const char *attempt, const char *argument, bool is_confined,
	      int want)
{
	int status = status_of(attempt, argument, is_confined);

	if (!CHECK(status == want)) {
		fprintf(stderr, "\t%s %s, %s: status %d\n", attempt, argument,
			is_confined ? "confined" : "free", status);
	}
}

static void
test_refused(void)
{
	int open_file = open(in_folder("home/file"), O_RDONLY);
	const struct {
		int part;
		const char *attempt, *argument;
	} rows[] = {
		{ CONFINE_FILES, "reads", in_folder("home/file") },
		{ CONFINE_FILES, "reads", "../home/file" },
		{ CONFINE_FILES, "reads", "/etc/passwd" },
		{ CONFINE_FILES, "writes", in_folder("home/file") },
		{ CONFINE_FILES, "writes", "input" },
		{ CONFINE_FILES, "makes", in_folder("home/file") },
		{ CONFINE_FILES, "makes", "made" },
		{ CONFINE_FILES, "lists", in_folder("home") },
		{ CONFINE_FILES, "removes", "input" },
		{ CONFINE_FILES, "removes", "result" },
		{ CONFINE_CALLS, "links", "input" },
		{ CONFINE_CALLS, "links_by_name", "/etc/passwd" },
		{ CONFINE_CALLS, "changes_mode", "input" },
		{ CONFINE_CALLS, "empties", "input" },
		{ CONFINE_CALLS, "empties_by_opening", "input" },
		{ CONFINE_CALLS, "watches", in_folder("home") },
		{ CONFINE_CALLS, "owns_for_parent", "" },
		{ CONFINE_CALLS, "controls_file", "input" },
		{ LIMITS, "reads_descriptor",
		  arena_printf(&a, "%d", open_file) },
		{ CONFINE_CALLS, "opens_socket", "" },
		{ CONFINE_CALLS, "executes", "/bin/true" },
		{ CONFINE_CALLS, "executes_descriptor", "/bin/true" },
		{ CONFINE_CALLS, "forks", "" },
		{ CONFINE_CALLS, "forks_old", "" },
		{ CONFINE_CALLS, "spawns", "/bin/true" },
		{ CONFINE_CALLS, "signals_parent", "" },
		{ CONFINE_CALLS, "is_traced", "" },
		{ LIMITS, "takes_memory", "3000000000" },
		{ CONFINE_CALLS, "takes_shared_memory", "4096" },
		{ CONFINE_CALLS, "shares_memory", "" },
		{ LIMITS, "writes_much", "result" },
	};

	CHECK(open_file > STDERR_FILENO);
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		if ((confine_available() & rows[i].part) != rows[i].part) {
			printf("not tried: %s\n", rows[i].attempt);
			continue;
		}
		check_attempt(rows[i].attempt, rows[i].argument, false, 0);
		check_attempt(rows[i].attempt, rows[i].argument, true, 1);
	}
	close(open_file);
	check_attempt("leaves_core", "", true, 1);
	if ((confine_available() & CONFINE_CALLS) != 0) {
		check_attempt("uses_new_calls", "", true, 1);
	}
}

static void
test_allowed(void)
{
	check_attempt("reads", "input", true, 0);
	check_attempt("reads", "result", true, 0);
	check_attempt("lists", ".", true, 0);
	check_attempt("makes", "result", true, 0);
	check_attempt("writes", "/dev/null", true, 0);
	check_attempt("takes_memory", "100000000", true, 0);
	check_attempt("signals_itself", "", true, 0);
	check_attempt("has_threads", "", true, 0);
	check_attempt("has_openmp", "", true, 0);
}

/* A program that is built with sanitizers: it may trace itself, take memory and
 * execute its own file, but no other. */
static void
test_sanitized(void)
{
	confined.sanitized = true;
	check_attempt("takes_memory", "3000000000", true, 0);
	check_attempt("is_traced", "", true, 0);
	if ((confine_available() & CONFINE_FILES) != 0) {
		check_attempt("executes", "/bin/true", true, 1);
		check_attempt("reads", "../home/file", true, 1);
	}
	if ((confine_available() & CONFINE_CALLS) != 0) {
		check_attempt("opens_socket", "", true, 1);
	}
	confined.sanitized = false;
}

/* All parts are required where the system has them all. */
static void
test_required(void)
{
	const int all = CONFINE_FILES | CONFINE_CALLS;

	confined.required = true;
	check_attempt("reads", "input", true,
		      confine_available() == all ? 0 : 127);
	confined.required = false;
}

static bool
prepare(const char *path)
{
	const char *tmp = getenv("TMPDIR");
	char *name = arena_printf(&a, "%s/tirc-test-XXXXXX",
				  tmp != NULL ? tmp : "/tmp");
	struct program_file file;

	program = realpath(path, NULL);
	folder = mkdtemp(name);
	if (!CHECK(folder != NULL) ||
	    !CHECK(program_file_read(&a, program, &file))) {
		return false;
	}
	CHECK(!program_file_read(&a, "/etc/passwd", &file) &&
	      !program_file_read(&a, "/no/such/file", &file));
	CHECK(program_file_read(&a, program, &file));
	confined = (struct confinement){ .program = program,
					 .loader = file.loader,
					 .bytes = 1000000000 };
	vec_push(&a, &confined.reads, ".");
	vec_push(&a, &confined.writes, "result");
	vec_push(&a, &confined.writes, "no such file");
	/* as LLVM's library for OpenMP needs it */
	vec_push(&a, &confined.scratch, "/dev/shm");
	return true;
}

static void
remove_files(void)
{
	static const char *const names[] = { "run/made",  "run/linked",
					     "run/input", "run/result",
					     "home/file", "run",
					     "home",      "." };

	for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
		remove(in_folder(names[i]));
	}
	rmdir(folder);
}

int
main(int argc, char **argv)
{
	if (confine_available() == 0) {
		printf("skipped: this system has neither Landlock nor filters "
		       "of system calls\n");
		return 77;
	}
	arena_init(&a);
	if (argc > 1 && prepare(argv[1])) {
		put_files();
		test_refused();
		test_allowed();
		test_sanitized();
		test_required();
		remove_files();
	}
	arena_release(&a);
	return check_done();
}
