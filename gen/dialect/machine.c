/* SPDX-License-Identifier: Apache-2.0 */
/* Asks the compiler and the operating system about the machine that tirc runs
 * on. */
#define _POSIX_C_SOURCE 200809L

#include "machine.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "process.h"
#include "text.h"

/* -- macros -- */

/* Do the lines define the macro? Each line is "#define", the name of a macro,
 * and its value. */
static bool
defines_one(const char *lines, const char *macro)
{
	size_t n = strlen(macro);

	for (const char *at = lines; *at != '\0';) {
		const char *name = at + strcspn(at, " \n");

		name += strspn(name, " ");
		if (strncmp(name, macro, n) == 0 &&
		    strchr(" (\r\n", name[n]) != NULL) {
			return true;
		}
		at = name + strcspn(name, "\n");
		at += *at == '\n';
	}
	return false;
}

bool
machine_defines(const char *lines, const char *macros)
{
	struct arena a;
	const char *word;
	bool found = false;

	arena_init(&a);
	while (!found && (word = text_next_word(&a, &macros)) != NULL) {
		found = defines_one(lines, word);
	}
	arena_release(&a);
	return found;
}

/* -- the compiler -- */

const char *
machine_ask(struct arena *a, const char *const *texts, int n,
	    const char **problem)
{
	struct command command = { 0 };
	struct strbuf out;
	const struct process process = { .command = &command,
					 .out = &out,
					 .is_quiet = true };
	const char *answer = NULL, *failed;

	for (int i = 0; i < n; i++) {
		if (!command_add(a, &command, texts[i])) {
			*problem = arena_printf(a, COMMAND_QUOTE_OPEN,
						texts[i]);
			return NULL;
		}
	}
	strbuf_init(&out);
	failed = process_run(a, &process);
	if (failed == NULL) {
		answer = arena_strdup(a, out.data != NULL ? out.data : "");
	} else {
		*problem = arena_printf(a, "`%s` %s", command_text(a, &command),
					failed);
	}
	strbuf_release(&out);
	return answer;
}

/* -- caches and cores, as Linux reports them -- */

/* The first line of a file, or "" if it cannot be read. */
static const char *
first_line(struct arena *a, const char *path)
{
	char line[64] = "";
	FILE *f = fopen(path, "r");

	if (f != NULL) {
		if (fgets(line, sizeof line, f) == NULL) {
			line[0] = '\0';
		}
		fclose(f);
	}
	line[strcspn(line, "\n")] = '\0';
	return arena_strdup(a, line);
}

/* Sets *bytes to the size that a text gives: "48K", "2M" or a number of bytes.
 * False if the text is not a size. */
static bool
read_size(struct arena *a, const char *text, int64_t *bytes)
{
	size_t n = strlen(text);
	int shift = text_ends_in(text, "K")   ? 10
		    : text_ends_in(text, "M") ? 20
					      : 0;

	if (!text_int(arena_strndup(a, text, shift > 0 ? n - 1 : n), bytes) ||
	    *bytes <= 0 || *bytes > INT64_C(1) << (40 - shift)) {
		return false;
	}
	*bytes <<= shift;
	return true;
}

int64_t
machine_cache_bytes(struct arena *a, int level)
{
	static const char folder[] = "/sys/devices/system/cpu/cpu0/cache";
	enum { MOST = 16 };

	for (int i = 0; i < MOST; i++) {
		const char *at = arena_printf(a, "%s/index%d", folder, i);
		const char *type = first_line(a,
					      arena_printf(a, "%s/type", at));
		int64_t found, bytes;

		if (strcmp(type, "Instruction") == 0 ||
		    !text_int(first_line(a, arena_printf(a, "%s/level", at)),
			      &found) ||
		    found != level) {
			continue;
		}
		if (read_size(a, first_line(a, arena_printf(a, "%s/size", at)),
			      &bytes)) {
			return bytes;
		}
	}
	return 0;
}

int
machine_cores(void)
{
	long n = sysconf(_SC_NPROCESSORS_ONLN);

	return n < 1 ? 1 : n > 4096 ? 4096 : (int)n;
}
