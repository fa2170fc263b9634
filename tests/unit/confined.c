/* SPDX-License-Identifier: Apache-2.0 */
/* A program that tries one thing, for confine.c: `confined WHAT [ARGUMENT]`. It
 * exits with 0 if that worked, with 1 if it was refused. */
#define _GNU_SOURCE
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/inotify.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

static char *const no_words[] = { NULL };

static int
opens(const char *path, int flags)
{
	return open(path, flags, 0644) >= 0;
}

static int
reads(const char *path)
{
	return opens(path, O_RDONLY);
}

static int
writes(const char *path)
{
	return opens(path, O_WRONLY);
}

static int
makes(const char *path)
{
	return opens(path, O_WRONLY | O_CREAT | O_TRUNC);
}

static int
lists(const char *path)
{
	return opendir(path) != NULL;
}

static int
removes(const char *path)
{
	return unlink(path) == 0;
}

static int
links(const char *path)
{
	return link(path, "linked") == 0;
}

static int
links_by_name(const char *path)
{
	return symlink(path, "linked") == 0;
}

static int
changes_mode(const char *path)
{
	return chmod(path, 0600) == 0;
}

static int
empties(const char *path)
{
	return truncate(path, 0) == 0;
}

static int
empties_by_opening(const char *path)
{
	return opens(path, O_RDONLY | O_TRUNC);
}

static int
watches(const char *path)
{
	return inotify_add_watch(inotify_init1(0), path, IN_OPEN) >= 0;
}

/* Makes another process the receiver of signals about a pipe. */
static int
owns_for_parent(const char *unused)
{
	int ends[2];

	(void)unused;
	return pipe(ends) == 0 && fcntl(ends[0], F_SETOWN, getppid()) == 0 &&
	       fcntl(ends[0], F_SETSIG, SIGURG) == 0;
}

/* Asks for the flags of a file, as chattr changes them. */
static int
controls_file(const char *path)
{
	const unsigned long flags = 0x80086601; /* FS_IOC_GETFLAGS */
	long value = 0;
	int fd = open(path, O_RDONLY);

	return ioctl(fd, flags, &value) == 0 || errno == ENOTTY ||
	       errno == EOPNOTSUPP;
}

static int
reads_descriptor(const char *number)
{
	char c;

	return pread(atoi(number), &c, 1, 0) == 1;
}

static int
opens_socket(const char *unused)
{
	(void)unused;
	return socket(AF_INET, SOCK_DGRAM, 0) >= 0 ||
	       socket(AF_UNIX, SOCK_STREAM, 0) >= 0;
}

static int
executes(const char *path)
{
	char *words[] = { strdup(path), NULL };

	execve(path, words, no_words);
	return 0; /* unless it is refused, `path` runs and exits with 0 */
}

static int
executes_descriptor(const char *path)
{
	char *words[] = { strdup(path), NULL };

	fexecve(open(path, O_RDONLY), words, no_words);
	return 0;
}

/* Ends a child at once, and waits for it. */
static int
ended(pid_t child)
{
	if (child == 0) {
		_exit(0);
	}
	return child > 0 && waitpid(child, NULL, 0) == child;
}

static int
forks(const char *unused)
{
	(void)unused;
	return ended(fork());
}

static int
forks_old(const char *unused)
{
	(void)unused;
#ifdef SYS_fork
	return ended((pid_t)syscall(SYS_fork));
#else
	return ended((pid_t)syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0));
#endif
}

static int
spawns(const char *path)
{
	char *words[] = { strdup(path), NULL };
	pid_t child;

	return posix_spawn(&child, path, NULL, NULL, words, no_words) == 0 &&
	       ended(child);
}

/* Signal 0 is only a question, which needs the same permission. */
static int
signals_parent(const char *unused)
{
	(void)unused;
	return kill(getppid(), 0) == 0 ||
	       syscall(SYS_tgkill, getppid(), getppid(), 0) == 0 ||
	       syscall(SYS_tkill, getppid(), 0) == 0;
}

static int
is_traced(const char *unused)
{
	(void)unused;
	return ptrace(PTRACE_TRACEME, 0, NULL, NULL) == 0;
}

static int
maps(size_t bytes, int how)
{
	return mmap(NULL, bytes, PROT_READ | PROT_WRITE,
		    how | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0) != MAP_FAILED;
}

static int
takes_memory(const char *bytes)
{
	return maps((size_t)atoll(bytes), MAP_PRIVATE);
}

static int
takes_shared_memory(const char *bytes)
{
	return maps((size_t)atoll(bytes), MAP_SHARED);
}

static int
shares_memory(const char *unused)
{
	(void)unused;
	return memfd_create("x", 0) >= 0;
}

/* Calls that a kernel may lack, or refuse to all. */
static int
uses_new_calls(const char *unused)
{
	enum { IO_URING_SETUP = 425, PIDFD_OPEN = 434 };
	char parameters[128] = { 0 };

	(void)unused;
	return syscall(IO_URING_SETUP, 1, parameters) >= 0 ||
	       syscall(PIDFD_OPEN, getppid(), 0) >= 0;
}

static int
writes_much(const char *path)
{
	int fd = open(path, O_WRONLY);

	signal(SIGXFSZ, SIG_IGN);
	return pwrite(fd, "x", 1, (off_t)1 << 34) == 1;
}

static int
leaves_core(const char *unused)
{
	struct rlimit core;

	(void)unused;
	return getrlimit(RLIMIT_CORE, &core) != 0 || core.rlim_max != 0;
}

/* -- what a program may do -- */

static int n_signals;

static void
count_signal(int sig)
{
	(void)sig;
	n_signals++;
}

static int
signals_itself(const char *unused)
{
	(void)unused;
	signal(SIGUSR1, count_signal);
	raise(SIGUSR1);
	kill(getpid(), SIGUSR1);
	return n_signals == 2;
}

static void *
add_one(void *sum)
{
	__atomic_add_fetch((int *)sum, 1, __ATOMIC_SEQ_CST);
	return NULL;
}

static int
has_threads(const char *unused)
{
	enum { THREADS = 16 };
	pthread_t threads[THREADS];
	int sum = 0;

	(void)unused;
	for (int i = 0; i < THREADS; i++) {
		if (pthread_create(&threads[i], NULL, add_one, &sum) != 0) {
			return 0;
		}
	}
	for (int i = 0; i < THREADS; i++) {
		pthread_join(threads[i], NULL);
	}
	return sum == THREADS;
}

static int
has_openmp(const char *unused)
{
	int sum = 0;

	(void)unused;
#ifdef _OPENMP
#pragma omp parallel num_threads(8) reduction(+ : sum)
	sum += 1;
	return sum == 8;
#else
	return sum == 0;
#endif
}

static const struct {
	const char *name;
	int (*try)(const char *argument);
} attempts[] = {
	{ "reads", reads },
	{ "writes", writes },
	{ "makes", makes },
	{ "lists", lists },
	{ "removes", removes },
	{ "links", links },
	{ "links_by_name", links_by_name },
	{ "changes_mode", changes_mode },
	{ "empties", empties },
	{ "empties_by_opening", empties_by_opening },
	{ "watches", watches },
	{ "owns_for_parent", owns_for_parent },
	{ "controls_file", controls_file },
	{ "reads_descriptor", reads_descriptor },
	{ "opens_socket", opens_socket },
	{ "executes", executes },
	{ "executes_descriptor", executes_descriptor },
	{ "forks", forks },
	{ "forks_old", forks_old },
	{ "spawns", spawns },
	{ "signals_parent", signals_parent },
	{ "is_traced", is_traced },
	{ "takes_memory", takes_memory },
	{ "takes_shared_memory", takes_shared_memory },
	{ "shares_memory", shares_memory },
	{ "uses_new_calls", uses_new_calls },
	{ "writes_much", writes_much },
	{ "leaves_core", leaves_core },
	{ "signals_itself", signals_itself },
	{ "has_threads", has_threads },
	{ "has_openmp", has_openmp },
};

int
main(int argc, char **argv)
{
	const size_t n = sizeof attempts / sizeof *attempts;

	for (size_t i = 0; argc > 1 && i < n; i++) {
		if (strcmp(attempts[i].name, argv[1]) == 0) {
			return attempts[i].try(argc > 2 ? argv[2] : "") ? 0 : 1;
		}
	}
	fprintf(stderr, "no such attempt\n");
	return 2;
}
