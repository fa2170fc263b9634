#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A backend of the user's that keeps things between runs, with a library of the
test's own: members of the model's struct, memory that only the library knows,
every call that fails, nothing lost (AddressSanitizer), two contexts in two
threads, both ways of keeping weights; regions against generated code."""
import os

from helper import (DIGITS, ROOT, STRICT, compile_model, execute, fail, need,
                    tirc, work_folder)

need("gcc")
BACKENDS = os.path.join(ROOT, "tests", "exec", "backends")
os.environ["C_INCLUDE_PATH"] = os.path.join(BACKENDS, "keeper")
BYOC = ["--byoc", "keeper", "--byoc-path", BACKENDS]

DRIVER = r"""
#include "digits.h"
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

static float image[DIGITS_IMAGE_COUNT];
static float want[DIGITS_PROB_COUNT];
static void *weights;
static size_t weights_bytes;

static void fill(struct digits_config *c, size_t bytes)
{
	memset(c, 0, sizeof *c);
	c->workspace = aligned_alloc(64, (bytes + 63) / 64 * 64);
	c->workspace_bytes = bytes;
#ifdef DIGITS_WEIGHTS_BYTES
	c->weights = weights;
	c->weights_bytes = weights_bytes;
#endif
}

/* The status, and the library's. */
static int runs(float *prob, int n, size_t less, int *library)
{
	struct digits m;
	struct digits_config c;
	struct digits_inputs in;
	struct digits_outputs out;
	size_t bytes;
	int status;

	memset(&c, 0, sizeof c);
	memset(&m, 0xff, sizeof m);
	bytes = digits_workspace_bytes(&c);
	if (bytes == 0) return 100;
	if (bytes <= DIGITS_WORKSPACE_BYTES) return 101;
	fill(&c, bytes - less);
	in.image = image;
	out.prob = prob;
	status = (int)digits_init(&m, &c);
	*library = m.library_status;
	if (status != DIGITS_OK) {
		free(c.workspace);
		return status;
	}
	for (int i = 0; i < n && status == DIGITS_OK; i++) {
		status = (int)digits_run(&m, &in, &out);
		*library = m.library_status;
	}
	digits_fini(&m);
	free(c.workspace);
	return status;
}

static void *work(void *arg)
{
	float prob[DIGITS_PROB_COUNT];
	int library;

	(void)arg;
	return runs(prob, 100, 0, &library) != DIGITS_OK ||
	       memcmp(prob, want, sizeof want) != 0 ? image : NULL;
}

int main(int argc, char **argv)
{
	pthread_t one, two;
	void *a, *b;
	int status, library = 0;

	weights = aligned_alloc(64, 1 << 20);
	if (argc > 1) {
		FILE *f = fopen(argv[1], "rb");
		if (f == NULL) return 9;
		weights_bytes = fread(weights, 1, 1 << 20, f);
		fclose(f);
	}
	for (unsigned i = 0; i < DIGITS_IMAGE_COUNT; i++)
		image[i] = (float)(i % 7);
	if (getenv("KEEPER_FAILS") != NULL) {
		status = runs(want, 1, 0, &library);
		free(weights);
		if (status == DIGITS_OK) return 50; /* so many calls there are */
		if (status == 100) return 0;        /* while asking for bytes */
		return status == DIGITS_LIBRARY && library == 42 ? 0 : 3;
	}
	if (runs(want, 1, 64, &library) != DIGITS_SMALL_WORKSPACE) return 4;
	if (runs(want, 1, 0, &library) != DIGITS_OK) return 2;
	pthread_create(&one, NULL, work, NULL);
	pthread_create(&two, NULL, work, NULL);
	pthread_join(one, &a);
	pthread_join(two, &b);
	free(weights);
	return a != NULL || b != NULL;
}
"""


def drive(form, sanitizer):
    out = compile_model(DIGITS, *BYOC, "--target", "c99", "--weights", form)
    with open(os.path.join(out, "driver.c"), "w") as file:
        file.write(DRIVER)
    sources = [n for n in os.listdir(out) if n.endswith(".c")]
    execute(["gcc", "-std=gnu11", "-g", "-O1", "-fsanitize=" + sanitizer,
             *STRICT, "-o", "driver", *sources, "-lm", "-lpthread"], cwd=out)
    blob = [n for n in os.listdir(out) if n.endswith(".bin")]
    command = [os.path.join(out, "driver"), *[os.path.join(out, b)
                                              for b in blob]]
    execute(command)
    failed = 0
    while sanitizer != "thread":
        os.environ["KEEPER_FAILS"] = str(failed + 1)
        done = execute(command, status=None)
        if done.returncode == 50:
            break
        if done.returncode != 0:
            fail("call %d fails: status %d\n%s" % (
                failed + 1, done.returncode, done.stderr))
        failed += 1
    os.environ.pop("KEEPER_FAILS", None)
    if sanitizer != "thread" and failed < 10:
        fail("only %d calls of the library" % failed)


def check_text():
    text = open(os.path.join(compile_model(DIGITS, *BYOC), "digits.h")).read()
    for word in ('#include "keeper.h"', "struct keeper *keeper;",
                 "DIGITS_LIBRARY", "library_status;",
                 "size_t digits_workspace_bytes("):
        if word not in text:
            fail("no %s in the header" % word)


if "3 of 3" not in tirc("test", DIGITS, *BYOC).stdout:
    fail("digits with a backend of the user's")
if "all alike" not in tirc("test", DIGITS, *BYOC, "--each-region").stdout:
    fail("each region")
check_text()
done = tirc("compile", DIGITS, *BYOC, "--form", "graph", "-o", work_folder(),
            status=1)
if "--form aot" not in done.stderr:
    fail("--form graph: " + done.stderr)
drive("c", "address,undefined")
drive("file", "address,undefined")
drive("c", "thread")
