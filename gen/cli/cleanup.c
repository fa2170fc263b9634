/* SPDX-License-Identifier: Apache-2.0 */
/* Cleans up when a signal or a lack of memory ends the program. A thread waits
 * for the signals that end programs; it ends the child processes, removes the
 * temporary folder and half-written files, and raises the signal again. */
#define _GNU_SOURCE
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include <cjson/cJSON.h>

#include "arena.h"
#include "cleanup.h"
#include "cli.h"

enum { MAX_PROCESSES = 4096, ROUNDS = 50, ROUND_MS = 20 };

/* The size of a reserve of memory, which is freed when memory is exhausted, so
 * that the clean-up can still allocate its lists of processes and files. */
enum { RESERVE_BYTES = 512 << 10 };

/* This state is global, because a process has one handler for each signal. */
static struct {
	char scratch[256];  /* the temporary folder, or "" */
	const char *output; /* the file or folder of -o, or NULL */
	atomic_bool interrupted;
	atomic_bool stops_first;
	/* the first signal that arrived under cleanup_stop_first(), or 0 */
	atomic_int stopped;
	void *reserve; /* RESERVE_BYTES bytes of memory, or NULL */
} state;

/* -- files -- */

static void
remove_tree(int parent, const char *name)
{
	int fd = openat(parent, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW);
	DIR *dir = fd >= 0 ? fdopendir(fd) : NULL;
	const struct dirent *e;

	while (dir != NULL && (e = readdir(dir)) != NULL) {
		if (strcmp(e->d_name, ".") == 0 ||
		    strcmp(e->d_name, "..") == 0) {
			continue;
		}
		if (unlinkat(fd, e->d_name, 0) != 0) {
			remove_tree(fd, e->d_name);
		}
	}
	if (dir != NULL) {
		closedir(dir);
	}
	unlinkat(parent, name, AT_REMOVEDIR);
}

/* Removes from the folder the files of output_temporary() that this process has
 * not renamed yet. */
static void
remove_parts(const char *folder)
{
	char end[32];
	DIR *dir = opendir(folder);
	const struct dirent *e;
	size_t n_end = (size_t)snprintf(end, sizeof end, ".%ld.part",
					(long)getpid());

	while (dir != NULL && (e = readdir(dir)) != NULL) {
		size_t n = strlen(e->d_name);

		if (n > n_end && strcmp(e->d_name + n - n_end, end) == 0) {
			unlinkat(dirfd(dir), e->d_name, 0);
		}
	}
	if (dir != NULL) {
		closedir(dir);
	}
}

void
cleanup_now(void)
{
	if (state.output != NULL) {
		char parent[4096];
		const char *slash = strrchr(state.output, '/');

		remove_parts(state.output);
		snprintf(parent, sizeof parent, "%.*s",
			 slash != NULL ? (int)(slash - state.output) + 1 : 1,
			 slash != NULL ? state.output : ".");
		remove_parts(parent);
	}
	if (state.scratch[0] != '\0') {
		remove_tree(AT_FDCWD, state.scratch);
		state.scratch[0] = '\0';
	}
}

const char *
cleanup_scratch(void)
{
	const char *tmp = getenv("TMPDIR");
	int n;

	if (state.scratch[0] != '\0') {
		return state.scratch;
	}
	if (tmp == NULL || *tmp == '\0') {
		tmp = "/tmp";
	}
	n = snprintf(state.scratch, sizeof state.scratch, "%s/tirc-XXXXXX",
		     tmp);
	if (n < 0 || n >= (int)sizeof state.scratch ||
	    mkdtemp(state.scratch) == NULL) {
		state.scratch[0] = '\0';
		cli_error("a temporary folder cannot be made in %s: %s; TMPDIR "
			  "may name another one",
			  tmp, strerror(errno));
		return NULL;
	}
	setenv("TMPDIR", state.scratch, 1);
	return state.scratch;
}

void
cleanup_watch_output(const char *path)
{
	state.output = path;
}

/* -- processes -- */

struct process {
	pid_t pid, parent;
	/* the process is a child of this process, or a child of a child, and so
	 * on */
	bool below;
};

static int
list_processes(struct process *list)
{
	DIR *dir = opendir("/proc");
	const struct dirent *e;
	int n = 0;

	while (dir != NULL && n < MAX_PROCESSES && (e = readdir(dir)) != NULL) {
		char path[300], line[512];
		const char *after;
		long pid = strtol(e->d_name, NULL, 10);
		FILE *f;

		if (pid <= 0) {
			continue;
		}
		snprintf(path, sizeof path, "/proc/%ld/stat", pid);
		f = fopen(path, "r");
		if (f == NULL) {
			continue;
		}
		/* A line has the form "PID (NAME) STATE PARENT ...", and the
		 * name may contain any character, even ')'. */
		if (fgets(line, sizeof line, f) != NULL &&
		    (after = strrchr(line, ')')) != NULL && strlen(after) > 4 &&
		    after[2] != 'Z') {
			list[n++] = (struct process){
				.pid = (pid_t)pid,
				.parent = (pid_t)strtol(after + 4, NULL, 10),
			};
		}
		fclose(f);
	}
	if (dir != NULL) {
		closedir(dir);
	}
	return n;
}

/* Sends a signal to all descendants of this process and returns their number. */
static int
signal_descendants(int sig)
{
	struct process *list = calloc(MAX_PROCESSES, sizeof *list);
	int n = list != NULL ? list_processes(list) : 0, found = 0;
	bool more = true;

	while (more) {
		more = false;
		for (int i = 0; i < n; i++) {
			bool below = list[i].parent == getpid();

			for (int k = 0; k < n && !below; k++) {
				below = list[k].below &&
					list[k].pid == list[i].parent;
			}
			more |= below && !list[i].below;
			list[i].below = below;
		}
	}
	for (int i = 0; i < n; i++) {
		if (list[i].below) {
			kill(list[i].pid, sig);
			found++;
		}
	}
	free(list);
	return found;
}

static void
end_descendants(void)
{
	const struct timespec pause = { .tv_nsec = ROUND_MS * 1000000L };
	/* the number of successive rounds that found no descendant */
	int quiet = 0;

	/* The loop ends after two quiet rounds, because the main thread may
	 * start one more child after the last child ended and before
	 * cleanup_pause_if_interrupted() stops it. */
	for (int i = 0; i < ROUNDS && quiet < 2; i++) {
		/* SIGTERM is tried in the first half of the rounds, because a
		 * compiler that gets it removes its temporary files. */
		quiet = signal_descendants(i < ROUNDS / 2 ? SIGTERM
							  : SIGKILL) == 0
				? quiet + 1
				: 0;
		nanosleep(&pause, NULL);
	}
}

/* -- signals -- */

static const int ending[] = { SIGHUP, SIGINT, SIGTERM };

enum { N_ENDING = sizeof ending / sizeof *ending };

static void
end_by(int sig)
{
	sigset_t one;

	signal(sig, SIG_DFL);
	sigemptyset(&one);
	sigaddset(&one, sig);
	pthread_sigmask(SIG_UNBLOCK, &one, NULL);
	raise(sig);
}

static void *
wait_for_signal(void *set)
{
	int sig;

	if (sigwait(set, &sig) != 0) {
		return NULL;
	}
	if (sig != SIGHUP && atomic_load(&state.stops_first)) {
		atomic_store(&state.stopped, sig);
		end_descendants();
		if (sigwait(set, &sig) != 0) {
			return NULL;
		}
	}
	atomic_store(&state.interrupted, true);
	end_descendants();
	cleanup_now();
	end_by(sig);
	return NULL;
}

void
cleanup_stop_first(void)
{
	atomic_store(&state.stops_first, true);
}

bool
cleanup_was_stopped(void)
{
	return atomic_load(&state.stopped) != 0;
}

void
cleanup_end_if_stopped(void)
{
	if (cleanup_was_stopped()) {
		cleanup_now();
		end_by(atomic_load(&state.stopped));
	}
}

static void *
allocate(size_t bytes)
{
	void *p = malloc(bytes);

	if (p == NULL) {
		memory_exhausted();
	}
	return p;
}

void
cleanup_start(void)
{
	/* cJSON returns NULL both after a syntax error and when memory is
	 * exhausted. With this allocator, exhausted memory ends the program
	 * instead, so that NULL means a syntax error. */
	cJSON_Hooks hooks = { .malloc_fn = allocate, .free_fn = free };
	static sigset_t set;
	struct sigaction old;
	pthread_t thread;

	state.reserve = malloc(RESERVE_BYTES);
	cJSON_InitHooks(&hooks);
	/* With SIGPIPE ignored, a write to a closed pipe fails with an error
	 * like a write to a full disk, and does not end the program. */
	signal(SIGPIPE, SIG_IGN);
	sigemptyset(&set);
	for (int i = 0; i < N_ENDING; i++) {
		/* A signal that the caller had ignored (nohup) stays ignored. */
		if (sigaction(ending[i], NULL, &old) == 0 &&
		    old.sa_handler != SIG_IGN) {
			sigaddset(&set, ending[i]);
		}
	}
	pthread_sigmask(SIG_BLOCK, &set, NULL);
	if (pthread_create(&thread, NULL, wait_for_signal, &set) != 0) {
		pthread_sigmask(SIG_UNBLOCK, &set, NULL);
		return;
	}
	pthread_detach(thread);
}

void
cleanup_pause_if_interrupted(void)
{
	while (atomic_load(&state.interrupted)) {
		pause();
	}
}

static _Noreturn void
end_with(const char *text)
{
	if (write(STDERR_FILENO, text, strlen(text)) < 0) {
		/* an error of write() cannot be reported any more */
	}
	free(state.reserve);
	end_descendants();
	cleanup_now();
	_exit(CLI_INPUT);
}

void
memory_exhausted(void)
{
	end_with("error: out of memory; free some, raise the limit, or take a "
		 "smaller model\n");
}

void
memory_over_limit(size_t most_bytes)
{
	char text[160];

	snprintf(text, sizeof text,
		 "error: tirc would take more than %zu bytes of memory; raise "
		 "the limit with --max-memory, or take a smaller input\n",
		 most_bytes);
	end_with(text);
}
