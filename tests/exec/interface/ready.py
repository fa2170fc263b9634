#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A run before init, after an init that failed and after fini is a status, in
each interface: C, misra, threads, weights from a file; models with regions of
backends, with and without a state; CUDA on the CPU and OpenCL in
tests/gpu/contract."""
import os
import sys

from helper import (DIGITS, LIBRARIES, ROOT, STRICT, compilers, execute,
                    has_library, tirc, work_folder)

DRIVER = r"""
#include "net.h"
#include <stdio.h>
#include <string.h>

static %(type)s space;
static float image[NET_IMAGE_COUNT], prob[NET_PROB_COUNT];
%(weights)s
#define EXPECT(call, code) do { \
	const int got = (int)(call); \
	if (got != (int)(code)) { \
		printf("line %%d: %%d, not %%d\n", __LINE__, got, (int)(code)); \
		return 1; \
	} } while (0)

int main(void)
{
	struct net m;
	struct net_config c;
	struct net_inputs in;
	struct net_outputs out;
	int fill;

	memset(&c, 0, sizeof c);
	in.image = image;
	out.prob = prob;
%(setup)s
	for (fill = 0; fill < 256; fill += 5) { /* 0 and 255 among them */
		memset(&m, fill, sizeof m);
		EXPECT(net_run(&m, &in, &out), NET_NOT_READY);
%(asks)s		c.workspace = NULL;
		EXPECT(net_init(&m, &c), NET_NULL);
		EXPECT(net_run(&m, &in, &out), NET_NOT_READY);
		c.workspace = %(space)s;
		c.workspace_bytes = 1;
		EXPECT(net_init(&m, &c), NET_SMALL_WORKSPACE);
		EXPECT(net_run(&m, &in, &out), NET_NOT_READY);
		c.workspace_bytes = sizeof space;
		EXPECT(net_init(&m, &c), NET_OK);
		EXPECT(net_run(&m, &in, &out), NET_OK);
		net_fini(&m);
		EXPECT(net_run(&m, &in, &out), NET_NOT_READY);
		net_fini(&m);
		EXPECT(net_init(&m, &c), NET_OK);
		EXPECT(net_init(&m, NULL), NET_NULL);
		EXPECT(net_run(&m, &in, &out), NET_NOT_READY);
	}
	return 0;
}
"""
PLAIN = {"type": "struct { _Alignas(64) unsigned char bytes["
                 "(NET_WORKSPACE_BYTES + 63u) / 64u * 64u]; }",
         "space": "&space", "weights": "", "setup": "", "asks": ""}
FILE = dict(PLAIN, weights="static _Alignas(64) unsigned char blob["
                           "NET_WEIGHTS_BYTES];\n",
            setup="""	{
		FILE *file = fopen("net_weights.bin", "rb");

		EXPECT(file != NULL, 1);
		EXPECT(fread(blob, 1, sizeof blob, file), sizeof blob);
		fclose(file);
	}
	c.weights = blob;
	c.weights_bytes = sizeof blob;""")

# How much memory a library wants is only known when it is asked.
ASKED = dict(PLAIN, type="struct { _Alignas(64) unsigned char bytes[1 << 20]; }",
             asks="""		EXPECT(net_workspace_bytes(&m) - 1 < sizeof space, 1);
		EXPECT(net_run(&m, &in, &out), NET_NOT_READY);
""")
BACKENDS = os.path.join(ROOT, "tests", "exec", "libraries", "backends")
KEEPER = ["--byoc", "keeper", "--byoc-path", BACKENDS]

for target, how, more, link in [
        ("c99", PLAIN, ["--weights", "c"], []),
        ("misra", dict(PLAIN, type="struct net_workspace"), [], []),
        ("c-threads", PLAIN, ["--weights", "c"], []),
        ("gnu-c", FILE, ["--weights", "file"], []),
        ("c99", ASKED, ["--weights", "c", *KEEPER], ["-I", os.path.join(
            BACKENDS, "keeper")]),
        ("c99", PLAIN, ["--weights", "c", "--byoc", "cblas"], ["-lblas"]),
        ("c99", ASKED, ["--weights", "c", "--byoc", "dnnl"], ["-ldnnl"])]:
    named = [LIBRARIES[m] for m in more if m in LIBRARIES]
    if named and not has_library(*named[0]):
        continue
    out = work_folder()
    tirc("compile", DIGITS, "--target", target, "--name", "net", "-o", out,
         "-q", *more)
    with open(os.path.join(out, "driver.c"), "w", encoding="utf-8") as file:
        file.write(DRIVER % how)
    sources = [f for f in sorted(os.listdir(out)) if f.endswith((".c", ".S"))]
    for cc in compilers()[:1]:
        execute([cc, "-std=gnu11", "-O1", *STRICT, "-fopenmp-simd",
                 "-Wno-maybe-uninitialized", "-I",
                 os.path.join(ROOT, "runtime-c"), *sources, "-o", "driver",
                 *link, "-lm", "-lpthread"], cwd=out)
        execute([os.path.join(out, "driver")], cwd=out)
sys.exit(0)
