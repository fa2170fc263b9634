#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""far_indices.py: elements beyond 2^31 of an array are found, in every form that
indices have: by dimension, added up over constant extents (misra) and over
sizes with and without bounds; and loops whose ends and indices are products of
sizes that 32 bits do not hold. Of 4 GiB that are mapped, a few pages are
touched; UBSan watches the products. Where no array is so large, int does."""
import json
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
@T.prim_func
def free(var_A: T.handle, B: T.Buffer((4, 4), "int8"), n: T.int32, m: T.int32):
    A = T.match_buffer(var_A, (n, m), "int8")
    for i, j in T.grid(4, 4):
        B[i, j] = A[i * 21845, j * 21845]
@T.prim_func
def spread(var_A: T.handle, B: T.Buffer((16,), "int8"), n: T.int32, m: T.int32):
    A = T.match_buffer(var_A, (n, m), "int8")
    for f in range(16):
        B[f] = A[(f * (n * m // 16)) // m, (f * (n * m // 16) + f) % m]
@T.prim_func
def quotient(var_A: T.handle, var_B: T.handle, n: T.int32, m: T.int32, k: T.int32):
    A = T.match_buffer(var_A, (n * m // k,), "int8")
    B = T.match_buffer(var_B, (n * m // k,), "int8")
    for i in range(n * m // k):
        B[i] = A[i]
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
	signed char b[5][16];
	int failed = 0;

	if (a == MAP_FAILED) {
		return 77;
	}
	for (size_t i = 0; i < 16; i++) {
		a[i / 4 * 21845 * 65536 + i %% 4 * 21845] = (signed char)(i + 1);
	}
	fixed((const void *)a, (void *)b[0]);
	sized((const void *)a, (void *)b[1], 65536, 65536);
	free_((const void *)a, (void *)b[2], 65536, 65536);
	for (size_t i = 0; i < 16; i++) {
		a[(i << 28) + i] = (signed char)(i + 1);
	}
	spread((const void *)a, b[3], 65536, 65536);
	quotient(b[3], b[4], 65536, 65536, 1 << 28);
	for (int i = 0; i < 16; i++) {
		for (int k = 0; k < 5; k++) {
			failed |= b[k][i] != i + 1;
		}
	}
	printf("%%d, %%d\\n", b[0][15], b[4][15]);
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

NARROW = {"description": "an int of 16 bits", "extends": "c99",
          "dialect": "c99", "int_bits": 16, "object_bytes": 32767}
with open(os.path.join(folder, "narrow.json"), "w", encoding="utf-8") as file:
    json.dump(NARROW, file)
text = tirc("codegen", path, "--dialect-path", folder, "--target",
            "narrow").stdout
if "A[i * m * 21845 + j * 21845]" not in text:
    fail("arrays of 32767 bytes have far elements:\n" + text)
