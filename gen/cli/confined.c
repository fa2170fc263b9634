/* SPDX-License-Identifier: Apache-2.0 */
/* Chooses the confinement of the built program. Programs for this machine and
 * simulators are confined. The command of --runner and programs for devices are
 * not, because they need files, caches and processes that tirc does not know. */
#define _GNU_SOURCE
#include <stdlib.h>
#include <string.h>

#include "harness.h"
#include "process.h"
#include "program_file.h"

/* The limit of a program's memory and of each file that it writes is
 * SPARE_BYTES plus TIMES_ARRAYS times the bytes of the arrays. */
#define SPARE_BYTES ((int64_t)8000000000)
enum { TIMES_ARRAYS = 4 };

static bool
is_required(const struct harness *h)
{
	return h->cli->confine != NULL &&
	       strcmp(h->cli->confine, "require") == 0;
}

/* Handles a program that cannot be confined for the reason `why`. Returns true,
 * or, if the user requires confinement, false after an error message. */
static bool
not_confined(const struct harness *h, const char *why)
{
	return !is_required(h) || cli_error("--confine require: %s", why);
}

/* Lets the program read the folders that belong to its installation: for
 * "/opt/x/bin/p" /opt/x/share, /opt/x/lib and so on. */
static void
add_beside(struct arena *a, const char *program, struct confinement *c)
{
	static const char *const names[] = { "lib", "lib64", "libexec",
					     "share" };
	char *real = realpath(program, NULL);
	const char *slash = real != NULL ? strrchr(real, '/') : NULL;

	for (size_t i = 0; slash != NULL && i < sizeof names / sizeof *names;
	     i++) {
		vec_push(a, &c->reads,
			 arena_printf(a, "%.*s/../%s", (int)(slash - real),
				      real, names[i]));
	}
	free(real);
}

static bool
has_sanitizers(const struct harness *h)
{
	return strstr(harness_compiler(h), "-fsanitize=") != NULL;
}

/* Says which parts of the confinement this machine lacks, as the end of a
 * message; NULL if it has all of them. */
static const char *
lacking(void)
{
	switch (~confine_available() & (CONFINE_FILES | CONFINE_CALLS)) {
	case 0:
		return NULL;
	case CONFINE_FILES:
		return "this system has no Landlock, which keeps a program "
		       "from files";
	case CONFINE_CALLS:
		return "this system has no filter of system calls (seccomp) "
		       "for this processor";
	default:
		return "this system has neither Landlock nor a filter of "
		       "system calls (seccomp)";
	}
}

/* Does the program use LLVM's library for OpenMP? Up to version 16, this
 * library ends the program if it cannot make a file in /dev/shm, by which the
 * library finds a second copy of itself in the process. */
static bool
needs_shared_memory(const struct program_file *file)
{
	for (int i = 0; i < file->libraries.n; i++) {
		const char *name = file->libraries.data[i];

		if (strncmp(name, "libomp.", 7) == 0 ||
		    strncmp(name, "libomp-", 7) == 0 ||
		    strncmp(name, "libiomp5.", 9) == 0) {
			return true;
		}
	}
	return false;
}

/* Makes the confinement of the program at `path`: the files that it may read
 * and write, and the limit of its memory. file: the loader and the folders of
 * libraries that the program's headers name. */
static const struct confinement *
make(const struct harness *h, const char *path, const struct program_file *file)
{
	struct arena *a = &h->m->arena;
	struct confinement *c = arena_new(a, struct confinement);

	*c = (struct confinement){
		.program = path,
		.loader = file->loader,
		.bytes = quota_plus(SPARE_BYTES,
				    quota_times(TIMES_ARRAYS, h->array_bytes)),
		.sanitized = has_sanitizers(h),
		.required = is_required(h),
	};
	vec_push(a, &c->reads, "."); /* the folder of the program */
	for (int i = 0; i < file->folders.n; i++) {
		vec_push(a, &c->reads, file->folders.data[i]);
	}
	for (int i = 0; i < h->results.n; i++) {
		vec_push(a, &c->writes, h->results.data[i]);
	}
	if (needs_shared_memory(file)) {
		vec_push(a, &c->scratch, "/dev/shm");
	}
	if (tirc_summary(h->t).simulator != NULL) {
		add_beside(a, path, c);
	}
	return c;
}

/* The path of the file that the command executes, relative to the folder of the
 * program; *there: the same file relative to the present folder. NULL if the
 * file is not found. */
static const char *
executed(const struct harness *h, const struct command *command,
	 const char **there)
{
	if (tirc_summary(h->t).simulator == NULL) {
		*there = harness_path(h, "harness");
		return command->words.data[0];
	}
	return *there = harness_find_command(&h->m->arena,
					     command->words.data[0]);
}

bool
harness_confine(const struct harness *h, const struct command *command,
		const struct confinement **out)
{
	struct program_file file;
	const char *path, *there;

	*out = NULL;
	if (h->cli->confine != NULL && strcmp(h->cli->confine, "off") == 0) {
		return true;
	}
	if (h->cli->runner != NULL) {
		return not_confined(h, "the command of --runner is not "
				       "confined");
	}
	if (tirc_summary(h->t).is_device) {
		return not_confined(h, "programs for devices are not confined; "
				       "their drivers need other files");
	}
	if (is_required(h) && lacking() != NULL) {
		return not_confined(h, lacking());
	}
	path = executed(h, command, &there);
	if (path == NULL || !program_file_read(&h->m->arena, there, &file)) {
		return not_confined(h, "the program is not one of this machine "
				       "itself");
	}
	*out = make(h, path, &file);
	return true;
}
