/* SPDX-License-Identifier: Apache-2.0 */
/* Runs a program, given by its words. Its input is an unlinked temporary file:
 * with a pipe, both processes could block on full pipes. */
#define _GNU_SOURCE

#include "process.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

/* The largest output of a program in bytes. */
#define MAX_OUTPUT ((size_t)1 << 28)

/* -- in the child -- */

struct child {
	const struct process *p;
	char *const *argv; /* ends in NULL */
	int input;         /* file descriptors, or -1 */
	int output;
	/* the pipe to which a struct failure is written if the program cannot
	 * be started */
	int error;
};

/* Why a program cannot be started: errno, and the part of the confinement that
 * failed, a constant text, or NULL. */
struct failure {
	int problem;
	const char *part;
};

static bool
connect_streams(const struct child *c)
{
	int nothing = open("/dev/null", O_RDWR);

	return nothing >= 0 &&
	       dup2(c->input >= 0 ? c->input : nothing, STDIN_FILENO) >= 0 &&
	       dup2(c->output >= 0 ? c->output : STDERR_FILENO,
		    STDOUT_FILENO) >= 0 &&
	       (!c->p->is_together ||
		dup2(STDOUT_FILENO, STDERR_FILENO) >= 0) &&
	       (!c->p->is_quiet || dup2(nothing, STDERR_FILENO) >= 0);
}

/* Confines this process, and executes the program. Returns only if one of both
 * fails: the part of the confinement that failed, or NULL if the program could
 * not be executed. */
static const char *
execute_confined(const struct child *c)
{
	const struct confinement *confined = c->p->confined;
	const struct confined_start call = { .path = confined->program,
					     .argv = c->argv,
					     .env = environ };
	const char *part = confine_enter(confined, &call);

	if (part == NULL) {
		execve(call.path, call.argv, call.env);
	}
	return part;
}

/* Runs the program in the child process, with default handling of signals. Does
 * not return. */
static void
start(const struct child *c)
{
	struct failure failure = { 0 };
	sigset_t none;

	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	signal(SIGPIPE, SIG_DFL);
	if (c->p->most_seconds > 0) {
		setpgid(0, 0);
	}
	if ((c->p->folder == NULL || chdir(c->p->folder) == 0) &&
	    connect_streams(c)) {
		if (c->p->confined != NULL) {
			failure.part = execute_confined(c);
		} else if (strchr(c->argv[0], '/') != NULL) {
			/* execvp() would give a file that it cannot execute to
			 * a shell, as a script */
			execv(c->argv[0], c->argv);
		} else {
			execvp(c->argv[0], c->argv);
		}
	}
	failure.problem = errno;
	(void)!write(c->error, &failure, sizeof failure);
	_exit(127);
}

/* -- in the parent -- */

double
process_clock(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* A child process that must end before a time; 0: it has no such time. */
struct deadline {
	pid_t child;
	double at;
	bool passed; /* the child was killed */
};

/* Kills the child and its process group if its time is over. */
static void
watch(struct deadline *d)
{
	if (d->at > 0 && !d->passed && process_clock() > d->at) {
		d->passed = true;
		kill(-d->child, SIGKILL);
		kill(d->child, SIGKILL);
	}
}

/* Waits until there is output to read, or the child's time is over. */
static void
wait_for_output(int fd, struct deadline *d)
{
	struct pollfd one = { .fd = fd, .events = POLLIN };

	while (d->at > 0 && !d->passed && poll(&one, 1, 20) == 0) {
		watch(d);
	}
}

/* Reads all output; false if it exceeds the limit or cannot be read. */
static bool
read_all(int fd, struct strbuf *out, struct deadline *d)
{
	char chunk[65536];
	size_t total = 0;
	ssize_t n;

	while (wait_for_output(fd, d),
	       (n = read(fd, chunk, sizeof chunk)) != 0) {
		if (n < 0 && errno == EINTR) {
			continue;
		}
		total += n < 0 ? 0 : (size_t)n;
		if (n < 0 || total > MAX_OUTPUT) {
			return false;
		}
		strbuf_write(out, chunk, (size_t)n);
	}
	return true;
}

static void
close_both(const int ends[2])
{
	if (ends[0] >= 0) {
		close(ends[0]);
	}
	if (ends[1] >= 0) {
		close(ends[1]);
	}
}

static bool
open_pipe(int ends[2])
{
	return pipe(ends) == 0 && fcntl(ends[0], F_SETFD, FD_CLOEXEC) == 0 &&
	       fcntl(ends[1], F_SETFD, FD_CLOEXEC) == 0;
}

static const char *
not_started(struct arena *a, int problem)
{
	if (problem == ENOEXEC) {
		return "is not for this machine, or a script without #!; name "
		       "a program that runs it (--runner qemu-aarch64, for "
		       "example)";
	}
	return arena_printf(a, "cannot be started: %s", strerror(problem));
}

static const char *
why_not_started(struct arena *a, const struct failure *f)
{
	return f->part == NULL ? not_started(a, f->problem)
			       : arena_printf(a, "cannot be confined: %s: %s",
					      f->part, strerror(f->problem));
}

/* Waits for the child, which gets a chance to end every few milliseconds before its
 * deadline. False: see errno. */
static bool
wait_until(struct deadline *d, int *status)
{
	const struct timespec pause = { .tv_nsec = 500000 };

	for (;;) {
		bool blocks = d->at == 0 || d->passed;
		pid_t ended = waitpid(d->child, status, blocks ? 0 : WNOHANG);

		if (ended == d->child) {
			return true;
		}
		if (ended < 0 && errno != EINTR) {
			return false;
		}
		if (!blocks) {
			nanosleep(&pause, NULL);
			watch(d);
		}
	}
}

/* Waits for the child. Returns NULL if it ended with status 0, else a text that
 * says how it ended. */
static const char *
end_of(struct arena *a, struct deadline *d, int *as_of_shell)
{
	int status = 0;

	if (!wait_until(d, &status)) {
		return not_started(a, errno);
	}
	if (as_of_shell != NULL) {
		*as_of_shell = WIFSIGNALED(status) ? 128 + WTERMSIG(status)
						   : WEXITSTATUS(status);
	}
	if (WIFSIGNALED(status)) {
		return arena_printf(a, "was ended by signal %d (%s)",
				    WTERMSIG(status),
				    strsignal(WTERMSIG(status)));
	}
	return WEXITSTATUS(status) != 0
		       ? arena_printf(a, "ended with status %d",
				      WEXITSTATUS(status))
		       : NULL;
}

/* Starts the child and waits for its end. output, error: open pipes; output[0]
 * < 0: the child's output goes to stderr. Returns NULL if the child ended with
 * status 0, else a text that says how it failed. */
static const char *
run(struct arena *a, const struct child *c, int output[2], int error[2])
{
	struct failure failure = { 0 };
	struct deadline d = { 0 };
	bool whole = true;
	const char *end;
	pid_t child;
	ssize_t n;

	/* otherwise the child would print buffered text a second time */
	fflush(NULL);
	child = fork();
	if (child == 0) {
		start(c);
	}
	if (child < 0) {
		return not_started(a, errno);
	}
	d.child = child;
	d.at = c->p->most_seconds > 0 ? process_clock() + c->p->most_seconds
				      : 0;
	close(error[1]);
	error[1] = -1;
	if (output[0] >= 0) {
		close(output[1]);
		output[1] = -1;
		whole = read_all(output[0], c->p->out, &d);
		/* a child that writes more after this is killed by a signal */
		close(output[0]);
		output[0] = -1;
	}
	do {
		n = read(error[0], &failure, sizeof failure);
	} while (n < 0 && errno == EINTR);
	end = end_of(a, &d, c->p->status);
	if (d.passed) {
		return arena_printf(a, "did not end within %g seconds",
				    c->p->most_seconds);
	}
	if (n == (ssize_t)sizeof failure) {
		if (c->p->is_missing != NULL) {
			*c->p->is_missing = true;
		}
		return why_not_started(a, &failure);
	}
	return whole ? end
		     : arena_printf(a, "wrote more than %zu bytes", MAX_OUTPUT);
}

static const char *
run_with_input(struct arena *a, const struct process *p, FILE *in)
{
	struct command ends = { 0 };
	int output[2] = { -1, -1 }, error[2] = { -1, -1 };
	struct child c = { .p = p, .input = in != NULL ? fileno(in) : -1 };
	const char *problem;

	for (int i = 0; i < p->command->words.n; i++) {
		vec_push(a, &ends.words, p->command->words.data[i]);
	}
	vec_push(a, &ends.words, NULL);
	c.argv = (char *const *)(const void *)ends.words.data;
	if (!open_pipe(error) || (p->out != NULL && !open_pipe(output))) {
		problem = not_started(a, errno);
	} else {
		c.output = output[1];
		c.error = error[1];
		problem = run(a, &c, output, error);
	}
	close_both(output);
	close_both(error);
	return problem;
}

const char *
process_run(struct arena *a, const struct process *p)
{
	FILE *in = NULL;
	const char *problem;

	if (p->command->words.n == 0) {
		return "cannot be started: the command has no word";
	}
	if (p->input != NULL) {
		in = tmpfile();
		if (in == NULL ||
		    fwrite(p->input, 1, p->input_bytes, in) != p->input_bytes ||
		    fflush(in) != 0 || fseek(in, 0, SEEK_SET) != 0) {
			problem = not_started(a, errno);
			if (in != NULL) {
				fclose(in);
			}
			return problem;
		}
	}
	problem = run_with_input(a, p, in);
	if (in != NULL) {
		fclose(in);
	}
	return problem;
}
