#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The output contract: errors come back as codes; two instances of one model
and another model run in two threads at once (under ThreadSanitizer); what the
workspace and the outputs held before changes nothing."""
import os

import turns
from helper import DIGITS, compile_model, compilers, execute, work_folder

DRIVER = r"""
#include "digits.h"
#include "other.h"
#include <pthread.h>
#include <stdio.h>
#include <string.h>

#define SPACE (DIGITS_WORKSPACE_BYTES + 256)
static float image[DIGITS_IMAGE_COUNT];
static float want[DIGITS_PROB_COUNT];

static char *aligned(char *p) { return p + (64 - (size_t)p % 64); }

static int once(char *space, float *prob, int fill)
{
	struct digits m;
	struct digits_config c;
	struct digits_inputs in;
	struct digits_outputs out;
	memset(&c, 0, sizeof c);
	memset(space, fill, SPACE);
	memset(prob, fill, sizeof want);
	c.workspace = (void *)aligned(space);
	c.workspace_bytes = DIGITS_WORKSPACE_BYTES;
	in.image = image;
	out.prob = prob;
	if (digits_init(&m, &c) != DIGITS_OK) return 1;
	if (digits_run(&m, &in, &out) != DIGITS_OK) return 1;
	digits_fini(&m);
	return 0;
}

static int other(char *space, float *prob)
{
	struct other m;
	struct other_config c;
	struct other_inputs in;
	struct other_outputs out;
	memset(&c, 0, sizeof c);
	c.workspace = (void *)aligned(space);
	c.workspace_bytes = OTHER_WORKSPACE_BYTES;
	in.image = image;
	out.prob = prob;
	if (other_init(&m, &c) != OTHER_OK) return 1;
	if (other_run(&m, &in, &out) != OTHER_OK) return 1;
	other_fini(&m);
	return 0;
}

static void *work(void *arg)
{
	static char spaces[2][SPACE];
	static float probs[2][DIGITS_PROB_COUNT];
	long k = (long)arg;
	for (int i = 0; i < 50; i++) {
		if (once(spaces[k], probs[k], i) != 0 ||
		    memcmp(probs[k], want, sizeof want) != 0 ||
		    other(spaces[k], probs[k]) != 0 ||
		    memcmp(probs[k], want, sizeof want) != 0) return (void *)1;
	}
	return NULL;
}

#define CHECK(call, code) do { \
	int got = (int)(call); \
	if (got != (int)(code)) { \
		printf("line %d: %d, not %d\n", __LINE__, got, (int)(code)); \
		return 1; \
	} } while (0)

static int codes(void)
{
	static char space[SPACE];
	struct digits m;
	struct digits_config c;
	struct digits_inputs in;
	struct digits_outputs out;
	memset(&c, 0, sizeof c);
	CHECK(digits_init(NULL, &c), DIGITS_NULL);
	CHECK(digits_init(&m, NULL), DIGITS_NULL);
	CHECK(digits_init(&m, &c), DIGITS_NULL);
	c.workspace = (void *)aligned(space);
	CHECK(digits_init(&m, &c), DIGITS_SMALL_WORKSPACE);
	c.workspace_bytes = DIGITS_WORKSPACE_BYTES - 1;
	CHECK(digits_init(&m, &c), DIGITS_SMALL_WORKSPACE);
	c.workspace_bytes = DIGITS_WORKSPACE_BYTES + 8;
#ifndef TYPED_WORKSPACE
	c.workspace = aligned(space) + 1;
	CHECK(digits_init(&m, &c), DIGITS_MISALIGNED);
#endif
	c.workspace = (void *)aligned(space);
	CHECK(digits_init(&m, &c), DIGITS_OK);
	in.image = image;
	out.prob = want;
	CHECK(digits_run(NULL, &in, &out), DIGITS_NULL);
	CHECK(digits_run(&m, NULL, &out), DIGITS_NULL);
	CHECK(digits_run(&m, &in, NULL), DIGITS_NULL);
	in.image = NULL;
	CHECK(digits_run(&m, &in, &out), DIGITS_NULL);
	in.image = image;
	out.prob = NULL;
	CHECK(digits_run(&m, &in, &out), DIGITS_NULL);
	out.prob = want;
	CHECK(digits_run(&m, &in, &out), DIGITS_OK);
	digits_fini(&m);
	digits_fini(NULL);
	return 0;
}

int main(void)
{
	static char space[SPACE];
	static float prob[DIGITS_PROB_COUNT];
	pthread_t t[2];
	for (unsigned i = 0; i < DIGITS_IMAGE_COUNT; i++) {
		image[i] = (float)(i % 7) / 7.0f;
	}
	if (codes() != 0) return 1;
	for (int fill = 0; fill < 256; fill += 51) {
		if (once(space, prob, fill) != 0 ||
		    memcmp(prob, want, sizeof want) != 0) {
			printf("filling with %d changes the result\n", fill);
			return 1;
		}
	}
	for (long k = 0; k < 2; k++) {
		if (pthread_create(&t[k], NULL, work, (void *)k)) return 1;
	}
	for (int k = 0; k < 2; k++) {
		void *bad;
		pthread_join(t[k], &bad);
		if (bad) { puts("a thread saw another result"); return 1; }
	}
	return 0;
}
"""

# With a dialect less, one way through the rest is enough. The compilers of a target
# take turns.
less = "without_gnu_c" in os.environ.get("TIRC", "")
for target in ("c99",) if less else ("c99", "c99-avx512", "gnu-c", "misra"):
    a = compile_model(DIGITS, "--target", target)
    b = compile_model(DIGITS, "--target", target, "--name", "other")
    driver = os.path.join(work_folder(), "driver.c")
    with open(driver, "w") as f:
        f.write(DRIVER)
    files = [os.path.join(d, n) for d in (a, b) for n in sorted(os.listdir(d))
             if n.endswith((".c", ".S"))]
    typed = ["-DTYPED_WORKSPACE"] if target == "misra" else []
    for cc in compilers()[:1] if typed or less \
            else turns.some(target, compilers(), 1):
        for sanitizer in ("thread", "address,undefined")[less:]:
            program = os.path.join(work_folder(), "driver")
            execute([cc, "-std=gnu11", "-g", "-O0", "-fsanitize=" + sanitizer,
                     "-fno-sanitize-recover=all", "-DTIRC_ANY_PROCESSOR",
                     *typed, "-I" + a, "-I" + b, driver,
                     *files, "-o", program, "-lm", "-lpthread"])
            execute([program])
