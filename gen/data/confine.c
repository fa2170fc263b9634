/* SPDX-License-Identifier: Apache-2.0 */
/* Confinement on Linux: limits of resources, then files, then system calls. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "confine_parts.h"

enum {
	/* for each processor: the time after which a program that never ends is
	 * stopped */
	MOST_CPU_SECONDS = 12 * 3600,
	/* Of the address space to the memory. Threads reserve stacks and heaps,
	 * of which they use little. */
	ADDRESSES_PER_BYTE = 16,
	/* descriptors that are closed where the kernel lacks close_range() */
	MOST_DESCRIPTORS = 4096
};

int
confine_available(void)
{
	return (confine_files_available() ? CONFINE_FILES : 0) |
	       (confine_calls_available() ? CONFINE_CALLS : 0);
}

/* Lowers a limit; never raises it. */
static bool
limit(int resource, int64_t most)
{
	struct rlimit old, new;
	rlim_t value = (rlim_t)most;

	if (getrlimit(resource, &old) != 0) {
		return false;
	}
	new.rlim_max = old.rlim_max < value ? old.rlim_max : value;
	new.rlim_cur = old.rlim_cur < value ? old.rlim_cur : value;
	return setrlimit(resource, &new) == 0;
}

static bool
limit_resources(const struct confinement *c)
{
	long processors = sysconf(_SC_NPROCESSORS_ONLN);
	int64_t seconds = (int64_t)MOST_CPU_SECONDS *
			  (processors > 0 ? processors : 1);

	return limit(RLIMIT_CORE, 0) && limit(RLIMIT_CPU, seconds) &&
	       limit(RLIMIT_FSIZE, c->bytes) &&
	       (c->sanitized ||
		(limit(RLIMIT_DATA, c->bytes) &&
		 limit(RLIMIT_AS, c->bytes * ADDRESSES_PER_BYTE)));
}

/* Has execve() close all descriptors except standard input, output and
 * error. */
static void
close_descriptors(void)
{
	const unsigned int close_on_exec = 1u << 2;

	if (syscall(436 /* close_range */, STDERR_FILENO + 1, ~0u,
		    close_on_exec) == 0) {
		return;
	}
	for (int fd = STDERR_FILENO + 1; fd < MOST_DESCRIPTORS; fd++) {
		int flags = fcntl(fd, F_GETFD);

		if (flags >= 0) {
			fcntl(fd, F_SETFD, flags | FD_CLOEXEC);
		}
	}
}

const char *
confine_enter(const struct confinement *c, const struct confined_start *start)
{
	close_descriptors();
	if (!limit_resources(c) && c->required) {
		return "limits";
	}
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0) {
		return c->required ? "no_new_privs" : NULL;
	}
	if (!confine_files(c) && c->required) {
		return "Landlock";
	}
	if (!confine_calls(c, start) && c->required) {
		return "seccomp";
	}
	return NULL;
}
