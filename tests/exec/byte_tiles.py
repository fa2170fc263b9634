#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""tests/programs/byte_tiles.py as C, against plain loops: in the twin of the
intrinsic, and in tiles of AMX where this machine has them."""
import os
import platform

from helper import ROOT, compilers, execute, fail, tirc, work_folder

MAIN = r"""
#include "byte_tiles.h"
#include <stdio.h>

static uint8_t a[48][512];
static int8_t b[3][128][64][4];
static int32_t c[48][192];

int
main(void)
{
	uint8_t *const all_a = (uint8_t *)&a;
	int8_t *const all_b = (int8_t *)&b;
	uint32_t seed = 1;

	for (int i = 0; i < 48 * 512; ++i) {
		seed = seed * 1664525u + 1013904223u;
		all_a[i] = (uint8_t)(seed >> 24);
	}
	for (int i = 0; i < 512 * 192; ++i) {
		seed = seed * 1664525u + 1013904223u;
		all_b[i] = (int8_t)((int)(seed >> 24) - 128);
	}
	bytes_product(a, b, c);
	for (int i = 0; i < 48; ++i) {
		for (int j = 0; j < 192; ++j) {
			int32_t sum = 0;

			for (int k = 0; k < 512; ++k) {
				sum += a[i][k] * b[j / 64][k / 4][j % 64][k % 4];
			}
			if (c[i][j] != sum) {
				printf("[%d][%d] is %d, not %d\n", i, j, (int)c[i][j], (int)sum);
				return 1;
			}
		}
	}
	return 0;
}
"""
MODES = ["-O0", "-O2"]
TILES = "-O2 -mamx-tile -mamx-int8"


def has_tiles():
    if platform.machine() != "x86_64":
        return False
    with open("/proc/cpuinfo", encoding="utf-8") as file:
        return any("amx_int8" in line.split() for line in file)


folder = work_folder()
tirc("codegen", os.path.join(ROOT, "tests", "programs", "byte_tiles.py"),
     "--target", "gnu-c", "-o", folder)
with open(os.path.join(folder, "main.c"), "w", encoding="utf-8") as file:
    file.write(MAIN)
if not has_tiles():
    print("not tried: AMX, which this machine has not")
exe = os.path.join(folder, "a.out")
for cc in compilers():
    for mode in MODES + [TILES] * has_tiles():
        execute([cc, "-std=gnu11", "-Wall", "-Wextra", "-Werror",
                 *mode.split(), "-I" + folder,
                 os.path.join(folder, "byte_tiles.c"),
                 os.path.join(folder, "main.c"), "-o", exe])
        execute([exe])
        if mode != TILES:
            continue
        text = execute(["objdump", "-d", exe]).stdout
        if "tdpbusd" not in text:
            fail(cc + " compiled no tiles")
