#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""two_models.py: the sources of two models link into one program, whatever they
are written in. Every symbol that an object of a model defines for others starts
with the model's name, and so does every kernel of OpenCL."""
import glob
import os
import re
import shutil

from helper import *

GPU = os.path.join(ROOT, "tests", "gpu")
CPU = ["-w", "-I" + GPU, "-I" + os.path.join(GPU, "toolkit")]
C = ["gcc", "-std=gnu11", "-O0", "-fPIC", "-w"]
# For targets whose instructions this processor need not have.
ANY = "-DTIRC_ANY_PROCESSOR"
# Target, further options, the compiler, what its files end in.
CASES = [
    ("c99", [], C, ("c",)),
    ("c99", ["--form", "graph"],
     C + ["-I" + os.path.join(ROOT, "runtime-c")], ("c",)),
    ("gnu-c", ["--weights", "incbin"], C, ("c", "S")),
    ("misra", [], C, ("c",)),
    ("c-openmp", [], C + ["-fopenmp", ANY], ("c",)),
    ("c-threads", [], C + [ANY], ("c",)),
    ("cuda", [], ["g++", "-x", "c++", "-std=c++14"] + CPU, ("cu",)),
    ("opencl", [], C, ("c",)),
]
NVCC = ["nvcc", "-arch=sm_90", "-Xcompiler", "-fPIC"]
if shutil.which("nvcc"):
    CASES.append(("cuda", [], NVCC, ("cu",)))


def objects(target, options, compiler, endings, name):
    """The objects of digits as `name`, which define only what starts so."""
    out = compile_model(DIGITS, "--target", target, "--name", name, *options)
    made = []
    for end in endings:
        for source in sorted(glob.glob(os.path.join(out, "*." + end))):
            made.append(source + ".o")
            execute([*compiler, "-I" + out, "-c", source, "-o", made[-1]],
                    cwd=out)
    if "cu" in endings:  # weights are in C beside it
        for source in sorted(glob.glob(os.path.join(out, "*.c"))):
            made.append(source + ".o")
            execute([*C, "-I" + out, "-c", source, "-o", made[-1]], cwd=out)
    defined = execute(["nm", "-g", "--defined-only", *made]).stdout
    for symbol in re.findall(r"^[0-9a-f]+ [A-TX-Z] (\S+)$", defined, re.M):
        if not symbol.startswith(name + "_"):
            fail("%s %s: %s defines '%s'" % (target, options, name, symbol))
    for source in glob.glob(os.path.join(out, "*.cl")):
        with open(source, encoding="utf-8") as file:
            text = file.read()
        kernels = re.findall(r"^__kernel.*\n(\w+)\(", text, re.M)
        others = re.findall(r"^(?!static|__kernel)\w+ \**\w*\(?.*\n(\w+)\(",
                            text, re.M)
        if not kernels or others or any(
                not kernel.startswith(name + "_") for kernel in kernels):
            fail("OpenCL: kernels %s, functions %s" % (kernels, others))
    return made


for target, options, compiler, endings in CASES:
    if not has_dialect(target) or not shutil.which(compiler[0]):
        continue
    if target == "opencl" and not os.path.exists("/usr/include/CL/cl.h"):
        continue
    both = [o for name in ("left", "right")
            for o in objects(target, options, compiler, endings, name)]
    if "nvcc" in compiler:
        execute(["nvcc", "-shared", "-o", os.path.join(work_folder(), "both"),
                 *both])
    else:
        execute(["ld", "-r", "-o", os.path.join(work_folder(), "both.o"),
                 *both])

# Two models with regions, and one copy of the backend's runtime.
DRIVER = r"""
#include "left.h"
#include "right.h"
#include <stdlib.h>
#include <string.h>

static float image[LEFT_IMAGE_COUNT], y[2][LEFT_PROB_COUNT];
static struct left l;
static struct right r;

int main(void)
{
	struct left_config lc = { 0 };
	struct right_config rc = { 0 };
	const struct left_inputs li = { image };
	const struct right_inputs ri = { image };
	const struct left_outputs lo = { y[0] };
	const struct right_outputs ro = { y[1] };

	for (int i = 0; i < (int)LEFT_IMAGE_COUNT; i++)
		image[i] = (float)(i % 7);
	lc.workspace_bytes = left_workspace_bytes(&l);
	rc.workspace_bytes = right_workspace_bytes(&r);
	lc.workspace = aligned_alloc(64, (lc.workspace_bytes + 63) / 64 * 64);
	rc.workspace = aligned_alloc(64, (rc.workspace_bytes + 63) / 64 * 64);
	if (left_init(&l, &lc) != LEFT_OK) return 1;
	if (right_init(&r, &rc) != RIGHT_OK) return 2;
	if (left_run(&l, &li, &lo) != LEFT_OK) return 3;
	if (right_run(&r, &ri, &ro) != RIGHT_OK) return 4;
	left_fini(&l);
	if (right_run(&r, &ri, &ro) != RIGHT_OK) return 5;
	right_fini(&r);
	free(lc.workspace);
	free(rc.workspace);
	return memcmp(y[0], y[1], sizeof y[0]) != 0 || y[0][0] <= 0.0f;
}
"""


def regions(backend):
    out = work_folder()
    for name in ("left", "right"):  # into one folder: its runtime is there
        tirc("compile", DIGITS, "--name", name, "--byoc", backend,
             "--weights", "c", "-o", out, "-q")
    sources = sorted(glob.glob(os.path.join(out, "*.c")))
    execute([*C, "-I" + out, "-c", *sources], cwd=out)
    for source in sources:
        stem = os.path.basename(source)[:-2]
        prefix = stem.split("_")[0] + "_"
        prefix = "tirc_%s_" % backend if prefix == "tirc_" else prefix
        defined = execute(["nm", "-g", "--defined-only", stem + ".o"],
                          cwd=out).stdout
        for symbol in re.findall(r"^[0-9a-f]+ [A-TX-Z] (\S+)$", defined, re.M):
            if not symbol.startswith(prefix):
                fail("%s: %s.c defines '%s'" % (backend, stem, symbol))
    with open(os.path.join(out, "driver.c"), "w", encoding="utf-8") as file:
        file.write(DRIVER)
    execute([*C, "driver.c", *glob.glob(os.path.join(out, "*.o")), "-o",
             "driver", LIBRARIES[backend][1], "-lm"], cwd=out)
    execute([os.path.join(out, "driver")], cwd=out)


if has_library(*LIBRARIES["dnnl"]):
    regions("dnnl")
