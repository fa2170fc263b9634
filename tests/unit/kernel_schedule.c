/* SPDX-License-Identifier: Apache-2.0 */
/* The public interface to kernels' schedules: a model compiled with the traces
 * of its own kernels in files gives the same source; another schedule gives
 * another; mistakes are told. */
#define _POSIX_C_SOURCE 200809L

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "check.h"
#include "tirc.h"

enum { MOST = 16 };

static const char *
model(void)
{
	static char path[4096];

	snprintf(path, sizeof path, "%s/examples/digits/digits.onnx",
		 getenv("TIRC_ROOT"));
	return path;
}

static struct tirc *
compiled(const char *const *schedule_for, int n, bool *ok)
{
	struct tirc_options o = { .target = "c99",
				  .schedule_for = schedule_for,
				  .n_schedule_for = n };
	struct tirc *t = tirc_new(&o);

	*ok = tirc_load(t, model()) && tirc_compile(t);
	for (int i = 0; getenv("PRINT") && i < tirc_message_count(t); i++) {
		fprintf(stderr, "%s\n", tirc_message(t, i).text);
	}
	return t;
}

static void
write_text(const char *path, const char *text)
{
	FILE *file = fopen(path, "wb");

	if (CHECK(file != NULL)) {
		fputs(text, file);
		fclose(file);
	}
}

static const char *
source_of(struct tirc *t)
{
	for (int i = 0; i < tirc_file_count(t); i++) {
		if (strcmp(tirc_file(t, i).name, "digits.c") == 0) {
			return tirc_file(t, i).text;
		}
	}
	return "";
}

/* The source without the comments' lines on the schedule. */
static void
without_schedules(const char *text, char *out)
{
	bool skip = false;

	while (*text) {
		size_t n = strcspn(text, "\n") + 1;

		skip = strncmp(text, " *   schedule", 13) == 0 ||
		       (skip && strncmp(text, " *             ", 15) == 0);
		if (!skip) {
			memcpy(out, text, n);
			out += n;
		}
		text += n;
	}
	*out = '\0';
}

static void
check_same_source(struct tirc *a, struct tirc *b)
{
	char *x = calloc(1, strlen(source_of(a)) + 1);
	char *y = calloc(1, strlen(source_of(b)) + 1);

	without_schedules(source_of(a), x);
	without_schedules(source_of(b), y);
	CHECK(strlen(x) > 1000);
	CHECK_STR_EQ(y, x);
	free(x);
	free(y);
}

static void
test_own_traces(const char *folder, bool json)
{
	static char paths[MOST][4096], options[MOST][8192];
	const char *list[MOST];
	bool ok;
	struct tirc *t = compiled(NULL, 0, &ok), *again;
	int n = tirc_kernel_count(t);

	CHECK(ok && n > 2 && n <= MOST);
	for (int i = 0; i < n && n <= MOST; i++) {
		snprintf(paths[i], sizeof paths[i], "%s/%d.%s", folder, i,
			 json ? "json" : "py");
		snprintf(options[i], sizeof options[i], "%s=%s",
			 tirc_kernel(t, i).name, paths[i]);
		write_text(paths[i],
			   tirc_kernel_trace(t, tirc_kernel(t, i).name, json));
		list[i] = options[i];
		CHECK(strcmp(tirc_kernel_script(t, tirc_kernel(t, i).name, -1,
						false),
			     tirc_kernel_script(t, tirc_kernel(t, i).name, 0,
						false)) != 0);
	}
	again = compiled(list, n, &ok);
	if (CHECK(ok)) {
		check_same_source(t, again);
		for (int i = 0; i < n; i++) {
			CHECK_STR_EQ(tirc_kernel_script(again,
							tirc_kernel(t, i).name,
							0, false),
				     tirc_kernel_script(t,
							tirc_kernel(t, i).name,
							0, false));
		}
	}
	for (int i = 0; i < n; i++) {
		unlink(paths[i]);
	}
	tirc_free(again);
	tirc_free(t);
}

static void
check_message(const char *option, const char *want)
{
	bool ok;
	struct tirc *t = compiled(&option, 1, &ok);
	const char *got =
		tirc_message_count(t) > 0
			? tirc_message(t, tirc_message_count(t) - 1).text
			: "";

	CHECK(!ok);
	if (!CHECK(strstr(got, want) != NULL)) {
		fprintf(stderr, "%s\n", got);
	}
	tirc_free(t);
}

static void
test_by_hand(const char *folder)
{
	char path[4096], option[8192];
	const char *list = option;
	struct tirc *plain, *t;
	bool ok;

	snprintf(path, sizeof path, "%s/by_hand.py", folder);
	write_text(path, "b = sch.get_sblock(\"max_pool\")\n"
			 "l = sch.get_loops(b)\n"
			 "sch.unroll(l[-1])\n");
	plain = compiled(NULL, 0, &ok);
	snprintf(option, sizeof option, "pool1=%s", path);
	t = compiled(&list, 1, &ok);
	if (CHECK(ok)) {
		CHECK(strcmp(source_of(t), source_of(plain)) != 0);
		CHECK(strstr(source_of(t), "unroll(") != NULL);
	}
	tirc_free(t);
	tirc_free(plain);
	write_text(path, "b = sch.get_sblock(\"max_pool\")\n"
			 "sch.vectorize(sch.get_loops(b)[0])\n");
	check_message(option, ":2:1: step 3, vectorize: loop n contains other "
			      "loops");
	write_text(path, "b = sch.get_sblock(\"max_pool\")\n"
			 "sch.transform_layout(b, (\"read\", 0), "
			 "lambda n, c, h, w, b: (n, h, w, c, b))\n");
	check_message(option, "other kernels access it in its present layout");
	snprintf(option, sizeof option, "pool_1=%s", path);
	check_message(option, "the model has no kernel of that name; did you "
			      "mean pool1");
	check_message("pool1", "expected KERNEL=FILE");
	check_message("pool1=/nowhere", "No such file or directory");
	unlink(path);
}

int
main(void)
{
	char folder[] = "/tmp/tirc-kernel-schedule-XXXXXX";

	if (!CHECK(mkdtemp(folder) != NULL)) {
		return check_done();
	}
	test_own_traces(folder, false);
	test_own_traces(folder, true);
	test_by_hand(folder);
	rmdir(folder);
	return check_done();
}
