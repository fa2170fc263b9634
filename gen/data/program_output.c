/* SPDX-License-Identifier: Apache-2.0 */
/* Runs a program by its argument vector, without a shell, and reads its standard
 * output. */
#define _POSIX_C_SOURCE 200809L

#include "program_output.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "shell.h"

/* The limit of what is kept; the rest is read and dropped. */
enum { MOST_BYTES = 1 << 22 };

static void
read_all(int fd, struct strbuf *out)
{
	char chunk[16384];
	ssize_t n;

	while ((n = read(fd, chunk, sizeof chunk)) != 0) {
		if (n < 0 && errno != EINTR) {
			return;
		}
		if (n > 0 && out->len + (size_t)n <= MOST_BYTES) {
			strbuf_write(out, chunk, (size_t)n);
		}
	}
}

/* Does not return. error: where the number of an error is written. */
static void
start(const char *const *argv, int output, int error)
{
	int nothing = open("/dev/null", O_RDWR);

	shell_child();
	if (nothing >= 0 && dup2(nothing, STDIN_FILENO) >= 0 &&
	    dup2(nothing, STDERR_FILENO) >= 0 &&
	    dup2(output, STDOUT_FILENO) >= 0) {
		execvp(argv[0], (char *const *)(const void *)argv);
	}
	(void)!write(error, "", 1);
	_exit(127);
}

int
program_output(const char *const *argv, struct strbuf *out)
{
	int output[2], error[2], status = 0;
	struct strbuf failed;
	pid_t child;

	if (pipe(output) != 0) {
		return -1;
	}
	if (pipe(error) != 0) {
		close(output[0]);
		close(output[1]);
		return -1;
	}
	fcntl(error[1], F_SETFD, FD_CLOEXEC);
	child = fork();
	if (child == 0) {
		close(output[0]);
		close(error[0]);
		start(argv, output[1], error[1]);
	}
	close(output[1]);
	close(error[1]);
	strbuf_init(&failed);
	if (child > 0) {
		read_all(output[0], out);
		read_all(error[0], &failed);
	}
	close(output[0]);
	close(error[0]);
	while (child > 0 && waitpid(child, &status, 0) < 0) {
		if (errno != EINTR) {
			child = -1;
		}
	}
	if (child < 0 || failed.len > 0) {
		status = -1;
	} else if (WIFEXITED(status)) {
		status = WEXITSTATUS(status);
	} else {
		status = 128 + WTERMSIG(status);
	}
	strbuf_release(&failed);
	return status;
}
