/* SPDX-License-Identifier: Apache-2.0 */
/* Runs a user's command with text as its input and output. The input is an
 * unlinked temporary file, so that neither process blocks on a full pipe. */
#define _POSIX_C_SOURCE 200809L

#include "shell.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

/* The limit of a command's output. */
#define MAX_OUTPUT ((size_t)1 << 28)

static bool
read_all(int fd, struct strbuf *out)
{
	char chunk[65536];
	ssize_t n;

	while ((n = read(fd, chunk, sizeof chunk)) != 0) {
		if (n < 0 && errno == EINTR) {
			continue;
		}
		if (n < 0 || out->len + (size_t)n > MAX_OUTPUT) {
			return false;
		}
		strbuf_write(out, chunk, (size_t)n);
	}
	return true;
}

void
shell_child(void)
{
	sigset_t none;

	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	signal(SIGPIPE, SIG_DFL);
}

static bool
run(const char *folder, const char *command, FILE *in, struct strbuf *out,
    int *status)
{
	int ends[2];
	pid_t child;
	bool read;

	if (pipe(ends) != 0) {
		return false;
	}
	child = fork();
	if (child == 0) {
		shell_child();
		dup2(fileno(in), STDIN_FILENO);
		dup2(ends[1], STDOUT_FILENO);
		close(ends[0]);
		close(ends[1]);
		if (folder != NULL && chdir(folder) != 0) {
			_exit(127);
		}
		execl("/bin/sh", "sh", "-c", command, (char *)NULL);
		_exit(127);
	}
	close(ends[1]);
	read = child > 0 && read_all(ends[0], out);
	close(ends[0]);
	while (child > 0 && waitpid(child, status, 0) < 0) {
		if (errno != EINTR) {
			return false;
		}
	}
	return read;
}

bool
shell_run(const char *folder, const char *command, const char *text,
	  size_t length, struct strbuf *out, int *status)
{
	FILE *in = tmpfile();
	bool ok = in != NULL && fwrite(text, 1, length, in) == length &&
		  fflush(in) == 0 && fseek(in, 0, SEEK_SET) == 0;

	*status = 0;
	ok = ok && run(folder, command, in, out, status);
	if (in != NULL) {
		fclose(in);
	}
	return ok;
}
