#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""far_indices.py: elements beyond 2^31 of an array are found, in every form that
indices have: by dimension, added up over constant extents (misra) and over
sizes with bounds. Of 4 GiB that are mapped, a few pages are touched; UBSan
watches the products."""
import os

import sys

from helper import (execute, fail, has_dialect, need, skip, tirc,
                    work_folder)

PROGRAM = """
from tvm.script import tir as T
@T.prim_func
def fixed(A: T.Buffer((65536, 65536), "int8"), B: T.Buffer((4, 4), "int8")):
    for i, j in T.grid(4, 4):
        with T.sblock("B"):
            v_i, v_j = T.axis.remap("SS", [i, j])
            B[v_i, v_j] = A[v_i * 21845, v_j * 21845]
@T.prim_func
def sized(var_A: T.handle, B: T.Buffer((4, 4), "int8"), n: T.int32, m: T.int32):
    T.func_attr({"tir_var_lower_bound": {"n": 1, "m": 1}, "tir_var_upper_bound": {"n": 65536, "m": 65536}})
    A = T.match_buffer(var_A, (n, m), "int8")
    for i, j in T.grid(4, 4):
        with T.sblock("B"):
            v_i, v_j = T.axis.remap("SS", [i, j])
            B[v_i, v_j] = A[v_i * 21845, v_j * 21845]
"""

MAIN = """
#define _GNU_SOURCE
#include <stdint.h>
#include <stdio.h>
#include <sys/mman.h>

%s
int
main(void)
{
	const size_t n = (size_t)65536 * 65536;
	signed char *a = mmap(NULL, n, PROT_READ | PROT_WRITE, MAP_PRIVATE |
			      MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	signed char b[2][16];
	int failed = 0;

	if (a == MAP_FAILED) {
		return 77;
	}
	for (size_t i = 0; i < 16; i++) {
		a[i / 4 * 21845 * 65536 + i %% 4 * 21845] = (signed char)(i + 1);
	}
	fixed((const void *)a, (void *)b[0]);
	sized((const void *)a, (void *)b[1], 65536, 65536);
	for (int i = 0; i < 16; i++) {
		failed |= b[0][i] != i + 1 || b[1][i] != i + 1;
	}
	printf("%%d, %%d\\n", b[0][15], b[1][15]);
	return failed;
}
"""

cc = need("gcc")
if sys.maxsize < 2 ** 40:
    skip("no room for such an array")
folder = work_folder()
path = os.path.join(folder, "far.py")
with open(path, "w", encoding="utf-8") as file:
    file.write(PROGRAM)
for target in filter(has_dialect, ("c99", "gnu-c", "misra")):
    out = os.path.join(folder, target)
    tirc("codegen", path, "--target", target, "-o", out)
    with open(os.path.join(out, "main.c"), "w", encoding="utf-8") as file:
        file.write(MAIN % '#include "far.h"\n')
    exe = os.path.join(out, "far")
    execute([cc, "-std=gnu11", "-O1", "-w",
             "-fsanitize=signed-integer-overflow",
             "-fno-sanitize-recover=all", "-I", out,
             os.path.join(out, "far.c"), os.path.join(out, "main.c"), "-o",
             exe])
    done = execute([exe], None)
    if done.returncode == 77:
        skip("4 GiB cannot be mapped")
    if done.returncode != 0:
        fail("%s: %s%s" % (target, done.stdout, done.stderr))
