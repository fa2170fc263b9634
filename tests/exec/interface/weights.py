#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Every form of weights gives the same, right results; a weights file that is
short, of another model, misaligned or absent, or has a single other byte, is
refused by init."""
import os

from helper import (DIGITS, ROOT, compile_model, compilers, execute, fail,
                    results_alone, tirc, work_folder)

results_alone()

DRIVER = r"""
#include "digits.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
static union { double d; char c[DIGITS_WORKSPACE_BYTES + 64]; } ws;
static unsigned char file[1 << 20];
/* What init says if byte k is another one. */
static enum digits_status
refused(size_t k)
{
#ifdef DIGITS_TRUST_WEIGHTS
	return k < 64 ? DIGITS_BAD_WEIGHTS : DIGITS_OK;
#else
	(void)k;
	return DIGITS_BAD_WEIGHTS;
#endif
}

int main(int argc, char **argv)
{
	struct digits m;
	struct digits_config c;
	unsigned char *base = file + (64 - (size_t)file % 64);
	FILE *f = fopen(argv[1], "rb");
	size_t n = fread(base + 64, 1, sizeof file - 256, f);
	(void)argc;
	memset(&c, 0, sizeof c);
	c.workspace = ws.c + (64 - (size_t)ws.c % 64);
	c.workspace_bytes = DIGITS_WORKSPACE_BYTES;
	c.weights = base + 64;
	c.weights_bytes = n;
	if (digits_init(&m, &c) != DIGITS_OK) { puts("good file refused"); return 1; }
	c.weights_bytes = n - 1;
	if (digits_init(&m, &c) == DIGITS_OK) { puts("short file taken"); return 1; }
	c.weights_bytes = n;
	c.weights = NULL;
	if (digits_init(&m, &c) == DIGITS_OK) { puts("null taken"); return 1; }
	c.weights = base + 64;
	/* The mark of the byte order, the digest, all values. */
	for (size_t k = 16; k < n; k = k == 19 ? 32 : k == 39 ? 64 : k + 1) {
		const unsigned char bit = (unsigned char)(1 << k % 8);

		base[64 + k] ^= bit;
		if (digits_init(&m, &c) != refused(k)) {
			printf("a file with another byte %u: %d\n", (unsigned)k,
			       (int)digits_init(&m, &c));
			return 1;
		}
		base[64 + k] ^= bit;
	}
	if (digits_init(&m, &c) != DIGITS_OK) { puts("good file refused"); return 1; }
	memmove(base + 65, base + 64, n);
	c.weights = base + 65;
	if (digits_init(&m, &c) == DIGITS_OK) { puts("misaligned file taken"); return 1; }
	return 0;
}
"""

for target in ("c99", "gnu-c"):
    if target == "gnu-c" and "without_gnu_c" in os.environ.get("TIRC", ""):
        continue
    for form in ("c", "incbin", "file", "section"):
        if form == "incbin" and target == "c99":
            tirc("compile", DIGITS, "--target", target, "--weights", form,
                 "-o", work_folder(), status=None)
            continue
        tirc("test", DIGITS, "--target", target, "--weights", form)
out = compile_model(DIGITS, "--weights", "file")
driver = os.path.join(out, "driver.c")
with open(driver, "w") as f:
    f.write(DRIVER)
blob = [n for n in os.listdir(out) if n.endswith(".bin")]
if len(blob) != 1:
    fail("not one weights file: %s" % blob)
program = os.path.join(out, "driver")
for define in ((), ("-DDIGITS_TRUST_WEIGHTS",)):
    execute([compilers()[0], "-O2", "-Werror", "-Wall", *define, "-o", program,
             driver, os.path.join(out, "digits.c"), "-lm"])
    execute([program, os.path.join(out, blob[0])])
