#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The intrinsic of docs/reference/intrinsics.md, in a folder of one's own, and the
family there: a program tensorizes with each, and what comes out compiles and
computes."""
import os
import re
import subprocess

from helper import ROOT, fail, tirc, work_folder

with open(os.path.join(ROOT, "docs", "reference", "intrinsics.md"),
          encoding="utf-8") as file:
    DOCS = file.read()
SCRIPT = re.search(r"```python\n(.*?)```", DOCS, re.S).group(1)
JSON, FAMILY = re.findall(r"```json\n(.*?)```", DOCS, re.S)
TWIN = """{{function}}
{{name}}(const int8_t *a, const int8_t *b, int32_t *c)
{
	for (int i = 0; i < 8; ++i) {
		c[0] += a[i] * b[i];
	}
}
"""
# Of TYPE, by INTRINSIC.
PROGRAM = """import tvm
from tvm import te

A = te.placeholder((5, 24), dtype="TYPE", name="A")
B = te.placeholder((7, 24), dtype="TYPE", name="B")
k = te.reduce_axis((0, 24), name="k")
C = te.compute((5, 7), lambda i, j: te.sum(
    A[i, k].astype("int32") * B[j, k].astype("int32"), axis=k), name="C")
sch = tvm.tir.Schedule(tvm.IRModule({"main": te.create_prim_func([A, B, C])}))
c = sch.get_block("C")
i, j, kk = sch.get_loops(c)
ko, ki = sch.split(kk, factors=[None, 8])
sch.decompose_reduction(c, ko)
sch.tensorize(ki, "INTRINSIC")
f = tvm.build(sch.mod, target="c99", name="f")
"""
MAIN = """
#include <stdio.h>

int
main(void)
{
	static TYPE_t a[5][24], b[7][24];
	static int32_t c[5][7];
	int wrong = 0;

	for (int i = 0; i < 7 * 24; ++i) {
		a[i / 24 % 5][i % 24] = (TYPE_t)(i % 11 - 5);
		b[i / 24][i % 24] = (TYPE_t)(i % 13 - 6);
	}
	f(a, b, c);
	for (int i = 0; i < 5; ++i) {
		for (int j = 0; j < 7; ++j) {
			int32_t sum = 0;

			for (int k = 0; k < 24; ++k) {
				sum += a[i][k] * b[j][k];
			}
			wrong += sum != c[i][j];
		}
	}
	printf("%d wrong\\n", wrong);
	return wrong != 0;
}
"""

folder = work_folder()
own = os.path.join(folder, "mine")


def write(path, text):
    with open(path, "w", encoding="utf-8") as out:
        out.write(text)


def write_intrinsic(name, json, script, twin):
    os.makedirs(os.path.join(own, name))
    write(os.path.join(own, name, "intrinsic.json"), json)
    write(os.path.join(own, name, "intrinsic.py"),
          "from tvm.script import ir as I\nfrom tvm.script import tir as T\n\n\n"
          + script)
    write(os.path.join(own, name, "twin.tmpl"), twin)
    write(os.path.join(own, name, "acme.tmpl"), "{{twin}}\n")


def check(intrinsic, kind, symbol):
    program = os.path.join(folder, "product.py")
    write(program, PROGRAM.replace("TYPE", kind).replace("INTRINSIC",
                                                         intrinsic))
    source = tirc("codegen", program, "--target", "c99", "--dialect-path",
                  own).stdout
    if "%s(const %s_t *a" % (symbol, kind) not in source:
        fail("the intrinsic's text is not in the source:\n" + source)
    if source.count(symbol + "(&A") != 1:
        fail("the program does not call the intrinsic:\n" + source)
    path = os.path.join(folder, "f.c")
    write(path, source + MAIN.replace("TYPE", kind))
    binary = os.path.join(folder, "f")
    subprocess.run(["cc", "-std=c99", "-Wall", "-Wextra", "-Werror", "-o",
                    binary, path], check=True)
    if subprocess.run([binary], check=False).returncode != 0:
        fail("the source computes something else")
    # Without the folder nobody knows it.
    done = tirc("codegen", program, "--target", "c99", status=1)
    if intrinsic not in done.stderr:
        fail("the message does not name it: " + done.stderr)


write_intrinsic("dot_8_acme", JSON, SCRIPT, TWIN)
check("dot_8_acme", "int8", "acme_dot_8")
write_intrinsic("dot_8", FAMILY, SCRIPT.replace('"int8"', '"{{type}}"').replace(
    "acme_dot_8", "acme_{{intrinsic}}"), TWIN.replace("int8_t", "{{c_type}}"))
check("dot_8_s8", "int8", "acme_dot_8_s8")
check("dot_8_u8", "uint8", "acme_dot_8_u8")
