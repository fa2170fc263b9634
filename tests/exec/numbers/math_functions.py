#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The functions that dialects write themselves: over bit patterns of float,
each is within its bound of libm's in double, and infinities, zeros and NaN are
what they must be; with and without contraction; and loops of them become
vectors. TIRC_EVERY=1 tries all 2^32 patterns instead of some millions."""
import os
import re
import shutil

from helper import STRICT, compilers, execute, fail, tirc, work_folder

# The function, as C has it in double; the ULP that its comment claims.
FUNCTIONS = {
    "exp": ("exp(x)", 1.1), "log": ("log(x)", 1.0), "tanh": ("tanh(x)", 1.5),
    "erf": ("erf(x)", 3.0), "sigmoid": ("1.0 / (1.0 + exp(-x))", 2.5),
    "log1p": ("log1p(x)", 1.5), "sin": ("sin(x)", 1.6), "cos": ("cos(x)", 1.6),
}
N = 4096
PROGRAM = """
@T.prim_func
def all_%(name)s(x: T.Buffer((%(n)d,), "float32"),
                 y: T.Buffer((%(n)d,), "float32")):
    for i in range(%(n)d):
        with T.block("y"):
            v = T.axis.spatial(%(n)d, i)
            y[v] = T.%(name)s(x[v])
"""
TRY = """
static double
reference_%(name)s(double x)
{
	return %(reference)s;
}

static int
try_%(name)s(void)
{
	static float x[%(n)d], y[%(n)d];
	double worst = 0;
	float at = 0;

	for (uint64_t first = 0; first < END; first += %(n)d) {
		for (int i = 0; i < %(n)d; i++) {
			x[i] = pattern(first + i);
		}
		all_%(name)s(x, y);
		for (int i = 0; i < %(n)d; i++) {
			double off = distance(y[i], reference_%(name)s(x[i]));

			if (off > worst) {
				worst = off;
				at = x[i];
			}
		}
	}
	printf("%(name)s %%.3f ULP at %%a\\n", worst, at);
	return worst > %(bound)s;
}
"""
# Patterns: `step` apart, then all that are near a place where something
# changes, positive and negative.
MAIN = """
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include "functions.c"

#define STEP %(step)dull
#define NEAR 4096
#define COARSE (((1ull << 32) + STEP - 1) / STEP)
static const float places[] = { 0.0f, 0x1p-126f, 0x1p-149f, 0x1p-24f, 0.6f,
	0.9f, 1.0f, 0.70710678f, 1.41421356f, 4.0f, 9.0f, 10.0f, 41.0f, 44.0f,
	87.33655f, 88.72284f, 89.0f, 103.27893f, 103.97208f, 104.0f, 176.0f,
	178.5f, 0x1p127f, 0x1.6a09e6p127f, INFINITY, 0x1.921fb6p-1f,
	0x1.921fb6p0f, 0x1.921fb6p1f, 0x1.2d97c8p2f, 0x1.921fb6p20f, 0x1p50f,
	0x1p76f, 0x1p102f, 0x1.f9cbe2p7f, 0x1.47d0fep34f, 0x1.13093p76f,
	0x1.32ede2p85f, 0x1.f37c8ap95f, 0x1.b08c4ap111f };
#define PLACES (sizeof places / sizeof *places)
#define END (COARSE + PLACES * 2 * NEAR)

static float
pattern(uint64_t i)
{
	uint32_t bits = (uint32_t)(i * STEP);
	float x;

	if (i >= COARSE && i < END) {
		i -= COARSE;
		memcpy(&bits, &places[i / (2 * NEAR)], sizeof bits);
		bits += (uint32_t)(i / 2 %% NEAR) - NEAR / 2;
		bits ^= (uint32_t)(i %% 2) << 31;
	}
	memcpy(&x, &bits, sizeof x);
	return x;
}

/* From what is right, in units of the last place that a float there has. */
static double
distance(float got, double right)
{
	int e;

	if (isnan(right) || isnan(got)) {
		return isnan(right) && isnan(got) ? 0 : HUGE_VAL;
	}
	if (isinf((float)right) || isinf(got)) {
		return (float)right == got ? 0
		     : !isinf(got) && !isinf(right) && fabs(right) < 0x1p128 ? 1
		     : HUGE_VAL;
	}
	frexp(right, &e);
	e = e < -125 || right == 0 ? -125 : e;
	return fabs(got - right) / ldexp(1, e - 24);
}
"""


def write(folder, every):
    text = MAIN % {"step": 1 if every else 1021}
    program = "from tvm.script import tir as T\n"
    for name, (reference, bound) in FUNCTIONS.items():
        words = {"name": name, "n": N, "reference": reference,
                 "bound": bound}
        text += TRY % words
        program += PROGRAM % words
    text += "int main(void) { return %s; }\n" % " | ".join(
        "try_%s()" % name for name in FUNCTIONS)
    for name, what in (("functions.py", program), ("main.c", text)):
        with open(os.path.join(folder, name), "w", encoding="utf-8") as file:
            file.write(what)
    for name in ("functions.h", "functions.c"):
        if os.path.exists(os.path.join(folder, name)):
            os.remove(os.path.join(folder, name))


def check_vectors(cc, flags, folder):
    """Packed arithmetic and no call in each function?"""
    out = os.path.join(folder, "functions.o")
    execute([cc, *flags, "-c", os.path.join(folder, "functions.c"), "-o",
             out])
    text = execute(["objdump", "-d", "--no-show-raw-insn", out]).stdout
    for name in FUNCTIONS:
        body = re.search(r"<all_%s>:\n(.*?)(\n\n|\Z)" % name, text, re.S)
        if not body:
            fail("no function all_" + name)
        if not re.search(r"\bv?mulps\b|\bvfn?m\w+ps\b", body.group(1)) or \
                re.search(r"\bcall", body.group(1)):
            fail("%s %s: %s is computed one by one" % (
                cc, " ".join(flags), name))


folder = work_folder()
write(folder, os.environ.get("TIRC_EVERY") == "1")
is_x86 = os.uname().machine == "x86_64"
for target, levels in (
        ("c99", [["-std=c99", "-O2"]]),
        ("gnu-c", [["-std=gnu11", "-O3", "-fopenmp-simd", "-march=native"]])):
    done = tirc("codegen", os.path.join(folder, "functions.py"), "--target",
                target, "-o", folder, status=None)
    if done.returncode != 0 and target != "c99":
        continue  # a build without that target
    if done.returncode != 0:
        fail(done.stderr)
    for cc in compilers():
        for flags in levels:
            execute([cc, *flags, *STRICT, "-c", "-o", os.devnull,
                     os.path.join(folder, "functions.c")])
            exe = os.path.join(folder, "try")
            execute([cc, *flags, "-o", exe,
                     os.path.join(folder, "main.c"), "-lm"])
            print(cc, *flags)
            print(execute([exe]).stdout, end="")
            if is_x86 and shutil.which("objdump"):
                check_vectors(cc, flags, folder)
