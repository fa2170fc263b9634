#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A backend of the user's that keeps things between runs, with a library of the
test's own: members of the model's struct, memory that only the library knows,
every call that fails, nothing lost (AddressSanitizer), two contexts in two
threads, both ways of keeping weights; the same as a graph; regions against
generated code."""
import os

from helper import (DIGITS, ROOT, STRICT, compile_model, execute, fail, need,
                    results_alone, tirc, work_folder)

results_alone()

need("gcc")
BACKENDS = os.path.join(ROOT, "tests", "exec", "libraries", "backends")
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
	bytes = digits_workspace_bytes(&m);
	if (bytes == 0) return 100;
	if (bytes <= DIGITS_WORKSPACE_BYTES) return 101;
	fill(&c, bytes - less);
	in.image = image;
	out.prob = prob;
	status = (int)digits_init(&m, &c);
	*library = m.library_status;
	if (status != DIGITS_OK) {
		free(c.workspace);
		return digits_run(&m, &in, &out) == DIGITS_NOT_READY ? status
								     : 102;
	}
	for (int i = 0; i < n && status == DIGITS_OK; i++) {
		status = (int)digits_run(&m, &in, &out);
		*library = m.library_status;
	}
	digits_fini(&m);
	free(c.workspace);
	return digits_run(&m, &in, &out) == DIGITS_NOT_READY ? status : 103;
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
    execute(["gcc", "-std=gnu11", "-g", "-O0", "-fsanitize=" + sanitizer,
             *STRICT, "-o", "driver", *sources, "-lm", "-lpthread"], cwd=out)
    blob = [n for n in os.listdir(out) if n.endswith(".bin")]
    command = [os.path.join(out, "driver"), *[os.path.join(out, b)
                                              for b in blob]]
    execute(command)
    if sanitizer != "thread" and each_call(command, out) < 10:
        fail("few calls of the library")


GRAPH = r"""
#include "digits_kernels.h"
#include "tirc_graph.h"
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static char json[1 << 20], message[256];
static void *params;
static size_t json_bytes, params_bytes;
static float image[64], want[10];

static size_t load(const char *name, void *to)
{
	FILE *f = fopen(name, "rb");
	size_t n = f == NULL ? 0 : fread(to, 1, 1 << 20, f);

	if (f != NULL) fclose(f);
	return n;
}

/* Runs n times; a call that fails is told once, and the next run is whole. */
static int runs(float *prob, int n, int *failed)
{
	struct tirc_graph_config c;
	struct tirc_graph *g;
	int status;

	memset(&c, 0, sizeof c);
	c.json = json;
	c.json_bytes = json_bytes;
	c.kernels = &digits_kernels;
	c.params = params;
	c.params_bytes = params_bytes;
	c.message = failed != NULL ? message : NULL;
	c.message_bytes = sizeof message;
	status = (int)tirc_graph_create(&g, &c);
	if (status == TIRC_GRAPH_OK)
		status = (int)tirc_graph_set_input(g, "image", image,
						   sizeof image);
	for (int i = 0; i < n && status == TIRC_GRAPH_OK; i++) {
		status = (int)tirc_graph_run(g);
		if (status == TIRC_GRAPH_LIBRARY && failed != NULL) {
			*failed = strstr(tirc_graph_message(g), "42") != NULL;
			status = (int)tirc_graph_run(g);
		}
	}
	if (status == TIRC_GRAPH_OK)
		status = (int)tirc_graph_get_output(g, "prob", prob, 40);
	tirc_graph_destroy(g);
	return status;
}

static void *work(void *arg)
{
	float prob[10];

	(void)arg;
	return runs(prob, 100, NULL) != TIRC_GRAPH_OK ||
	       memcmp(prob, want, sizeof want) != 0 ? image : NULL;
}

int main(void)
{
	pthread_t one, two;
	void *a, *b;
	int status, failed = 0;

	params = aligned_alloc(64, 1 << 20);
	params_bytes = load("digits.params", params);
	json_bytes = load("digits_graph.json", json);
	for (unsigned i = 0; i < 64; i++)
		image[i] = (float)(i % 7);
	if (getenv("KEEPER_FAILS") != NULL) {
		status = runs(want, 1, &failed);
		free(params);
		if (failed) return status == TIRC_GRAPH_OK ? 0 : 3;
		if (status == TIRC_GRAPH_OK) return 50;
		return status == TIRC_GRAPH_LIBRARY &&
		       strstr(message, "42") != NULL ? 0 : 4;
	}
	if (runs(want, 1, NULL) != TIRC_GRAPH_OK) return 2;
	pthread_create(&one, NULL, work, NULL);
	pthread_create(&two, NULL, work, NULL);
	pthread_join(one, &a);
	pthread_join(two, &b);
	free(params);
	return a != NULL || b != NULL;
}
"""


def each_call(command, folder):
    """Every call of the library fails once. How many there are."""
    failed = 0
    while True:
        done = execute(command, status=None, cwd=folder,
                       env=dict(os.environ, KEEPER_FAILS=str(failed + 1)))
        if done.returncode == 50:
            return failed
        if done.returncode != 0:
            fail("call %d fails: status %d\n%s" % (
                failed + 1, done.returncode, done.stderr))
        failed += 1


def drive_graph(target, sanitizer):
    out = compile_model(DIGITS, *BYOC, "--target", target, "--form", "graph")
    with open(os.path.join(out, "driver.c"), "w") as file:
        file.write(GRAPH)
    runtime = os.path.join(ROOT, "runtime-c")
    execute(["gcc", "-std=gnu11", "-g", "-O0", "-fsanitize=" + sanitizer,
             *STRICT, "-I" + runtime, "-o", "driver", "driver.c",
             "digits_kernels.c", *[os.path.join(runtime, "tirc_graph%s.c" % p)
                                   for p in ("", "_check", "_json", "_look")],
             "-fopenmp-simd", "-lcjson", "-lm", "-lpthread"], cwd=out)
    execute(["./driver"], cwd=out)
    if sanitizer != "thread" and each_call(["./driver"], out) < 6:
        fail("few calls of the library as a graph")


def same_bits():
    results = []
    for form in ("aot", "graph"):
        path = os.path.join(work_folder(), "out.npz")
        tirc("run", DIGITS, *BYOC, "--form", form, "--output", path, "-q")
        with open(path, "rb") as file:
            results.append(file.read())
    if results[0] != results[1]:
        fail("as a graph other values come out")


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
drive("c", "address,undefined")
drive("file", "address,undefined")
drive("c", "thread")
same_bits()
for target in ("c99", "c-threads"):
    drive_graph(target, "address,undefined")
drive_graph("c99", "thread")
