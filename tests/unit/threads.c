/* SPDX-License-Identifier: Apache-2.0 */
/* Contexts know nothing of each other: several threads, each with a model and
 * a target of its own, write the same text as one thread alone. Usage:
 * threads [MODEL]; the model is the example unless given. Under helgrind or
 * ThreadSanitizer the same run finds races. */
#define _POSIX_C_SOURCE 200809L
#include <pthread.h>
#include <stdlib.h>

#include "check.h"
#include "tirc.h"

struct work {
	const char *model, *target, *optimize;
	struct tirc *t;
	bool ok;
};

static void *
compile(void *ctx)
{
	struct work *w = ctx;

	w->t = tirc_new(&(struct tirc_options){
		.target = w->target,
		.optimize = w->optimize,
	});
	w->ok = tirc_load(w->t, w->model) && tirc_compile(w->t) &&
		tirc_harness(w->t) != NULL;
	return NULL;
}

static void
same_files(struct tirc *a, struct tirc *b)
{
	CHECK_EQ(tirc_file_count(a), tirc_file_count(b));
	CHECK(tirc_file_count(a) > 3);
	for (int i = 0; i < tirc_file_count(a); i++) {
		struct tirc_file x = tirc_file(a, i), y = tirc_file(b, i);

		CHECK_STR_EQ(x.name, y.name);
		CHECK_EQ(x.bytes, y.bytes);
		CHECK_STR_EQ(x.text, y.text);
	}
	CHECK_STR_EQ(tirc_harness(a), tirc_harness(b));
}

int
main(int argc, char **argv)
{
	const char *root = getenv("TIRC_ROOT");
	char digits[4096];
	const char *model = argc > 1 ? argv[1] : digits;
	struct work together[] = {
		{ .model = digits, .target = "c99" },
		{ .model = model, .target = "gnu-c", .optimize = "memory" },
		{ .model = "missing.onnx", .target = "c99" },
	};
	enum { N = sizeof together / sizeof *together };
	pthread_t threads[N];

	snprintf(digits, sizeof digits, "%s/examples/digits/digits.onnx",
		 root != NULL ? root : ".");
	for (int i = 0; i < N; i++) {
		CHECK_EQ(pthread_create(&threads[i], NULL, compile,
					&together[i]),
			 0);
	}
	for (int i = 0; i < N; i++) {
		pthread_join(threads[i], NULL);
	}
	for (int i = 0; i < N; i++) {
		struct work alone = together[i];

		compile(&alone);
		CHECK_EQ(together[i].ok, alone.ok);
		CHECK_EQ(alone.ok, i < 2);
		if (alone.ok) {
			same_files(together[i].t, alone.t);
		}
		CHECK_EQ(tirc_message_count(together[i].t),
			 tirc_message_count(alone.t));
		tirc_free(together[i].t);
		tirc_free(alone.t);
	}
	return check_done();
}
