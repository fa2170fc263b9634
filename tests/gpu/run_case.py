#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""run_case.py HOW GPU_CASES CASE [OPENCL_RUN]: a case's source, compiled and
run as HOW says, gives what the interpreter gives of its definition:

    opencl    on an OpenCL device
    cuda_cpu  CUDA on the CPU, threads taking turns in both orders
    clang     clang takes the CUDA source (the device's side)
    nvcc      nvcc takes it"""
import os
import re
import shutil
import sys

import asm_calls
import nvcc
from helper import (QUICK_OPENCL, execute, fail, lacks_target, need, skip,
                    work_folder)

here = os.path.dirname(os.path.abspath(__file__))
folder = work_folder()
rest = []


def emit(dialect):
    """Replaced by who has another source: fills folder, gives the plan."""
    program, case = rest[:2]
    execute([program, dialect, case, folder])
    with open(os.path.join(folder, "plan"), encoding="utf-8") as file:
        return [line.split() for line in file]


def on_opencl():
    if len(rest) < 3:
        skip("the OpenCL headers or the loader are not installed")
    emit("opencl")
    os.environ["POCL_CACHE_DIR"] = os.path.join(folder, "cache")
    os.environ["POCL_EXTRA_BUILD_FLAGS"] = QUICK_OPENCL
    done = execute([rest[2], folder], None)
    print(done.stdout)
    if done.returncode == 77:
        skip("there is no OpenCL device")
    if done.returncode != 0:
        fail(done.stdout)


MAIN = """
struct any {
	void *p;
	template <class T> operator T *() const
	{
		return static_cast<T *>(p);
	}
};

static any
read_file(const char *name, size_t bytes)
{
	FILE *file = fopen(name, "rb");
	/* As aligned as what cudaMalloc gives. */
	any a = { aligned_alloc(256, (bytes / 256 + 1) * 256) };

	if (file == NULL || fread(a.p, 1, bytes, file) != bytes) {
		printf("cannot read %%s\\n", name);
		exit(1);
	}
	fclose(file);
	return a;
}

template <class T> static int
differs(any got, any want, size_t bytes, int index)
{
	const T *g = got, *w = want;
	float part = sizeof(T) == 2 ? 1e-3f : 1e-5f;

	for (size_t i = 0; i < bytes / sizeof(T); i++) {
		float a = (float)g[i], b = (float)w[i];

		if (!(fabsf(a - b) <= part * fabsf(b) + 1e-6f)) {
			printf("parameter %%d, element %%zu: %%g, not %%g\\n",
			       index, i, (double)a, (double)b);
			return 1;
		}
	}
	return 0;
}

int
main()
{
	int failed = 0;
%s
	return failed;
}
"""


# What is compared as numbers; of other types bytes are to be the same.
TYPES = {"float32": "float", "float16": "half"}


def on_cpu():
    cxx = shutil.which("g++") or shutil.which("clang++") or skip(
        "there is no C++ compiler")
    plan = emit("cuda")
    lines, arguments, checks = [], [], []
    name = source = None
    for words in plan:
        i = len(arguments)
        if words[0] == "source":
            source = words[1]
        elif words[0] == "function":
            name = words[1]
        elif words[0] == "scalar":
            arguments.append(words[1])
        elif words[0] == "buffer":
            arguments.append("p%d" % i)
            lines.append('\tany p%d = read_file("%s/%d.in", %s);'
                         % (i, folder, i, words[2]))
            want = os.path.join(folder, "%d.want" % i)
            if os.path.exists(want):
                checks.append(
                    '\tfailed |= differs<%s>(p%d, read_file("%s", %s), %s, %d);'
                    % (TYPES.get(words[1], "unsigned char"), i, want,
                       words[2], words[2], i))
    if not checks:
        fail("nothing to compare")
    lines.append("\n\t%s(%s);" % (name, ", ".join(arguments)))
    with open(os.path.join(folder, source), encoding="utf-8") as file:
        text = file.read()
    # The one thing that a C++ compiler cannot be told by a header.
    text, n = re.subn(r"(\w+)<<<(.*?)>>>\(", r"emulate(\1, \2)(", text,
                      flags=re.DOTALL)
    if n == 0:
        fail("nothing is launched")
    # And what the header stands for; it emulates PTX.
    text = asm_calls.calls(text)
    text = re.sub(r"#include <(cuda|cuda_fp16|cuda_bf16|cuda_pipeline|mma)\.h>\n", "", text)
    path = os.path.join(folder, "main.cpp")
    with open(path, "w", encoding="utf-8") as file:
        file.write('#include "cuda_on_cpu.h"\n' + text
                   + MAIN % "\n".join(lines + checks))
    for order in ([], ["-DEMULATE_BACKWARDS"]):
        exe = os.path.join(folder, "run")
        execute([cxx, "-std=c++14", "-O0", "-w", "-D" + asm_calls.NATIVE,
                 "-I", here, *order, path, "-o", exe])
        execute([exe])


def by_clang():
    clang = need("clang")
    emit("cuda")
    path = os.path.join(folder, [f for f in os.listdir(folder)
                                 if f.endswith(".cu")][0])
    # Targets that this build of clang does not know are no mistake of ours.
    probe = os.path.join(folder, "probe.cu")
    with open(probe, "w", encoding="utf-8") as file:
        file.write('__attribute__((global)) void f() {}\n')
    flags = ["-x", "cuda", "--cuda-gpu-arch=sm_70", "-nocudainc",
             "-nocudalib", "--cuda-device-only", "-S", "-o", os.devnull,
             "-Wno-unknown-cuda-version"]
    done = execute([clang, *flags, probe], None)
    if done.returncode != 0:
        skip("clang has no CUDA here: " + done.stderr)
    # A kernel is told sizes that only say how large the arrays are.
    execute([clang, *flags, "-Wall", "-Wextra", "-Werror",
             "-Wno-unused-parameter", "-include",
             os.path.join(here, "cuda_syntax.h"), path])


def by_nvcc():
    nvcc.find()
    emit("cuda")
    path = os.path.join(folder, [f for f in os.listdir(folder)
                                 if f.endswith(".cu")][0])
    # The default of the compiler, and what is named: half, fragments and
    # products of warp groups are not the same code for all.
    for arch in ("", "sm_80", "sm_90a"):
        nvcc.accept(path, arch, host=arch == "")


WAYS = {"opencl": on_opencl, "cuda_cpu": on_cpu, "clang": by_clang,
        "nvcc": by_nvcc}

if __name__ == "__main__":
    rest = sys.argv[2:]
    if rest[1].endswith(".py") and lacks_target(rest[1]):
        skip("it builds for a target whose dialect is not there")
    WAYS[sys.argv[1]]()
