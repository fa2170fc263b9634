#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""bulk.py TEXTS: what the intrinsics of swizzled rows compute from bulk copies, as CUDA
on the CPU (bulk.cu), and that mistakes with such copies are seen. TEXTS: the
program that prints texts of intrinsics (intrinsic_texts.c)."""
import os
import re
import shutil
import sys

import asm_calls
from helper import execute, fail, skip, work_folder

# What is said of each mistake, by its name in bulk.cu.
MISTAKES = {
    "NO_WAIT": "products of what is still being copied",
    "NO_LOOP": "copies that this thread has not waited for",
    "WAITS_ALONE": "products of what is still being copied",
    "OTHER_PARITY": "products of what is still being copied",
    "OTHER_BARRIER": "products of what is still being copied",
    "NO_BYTES": "copies of bytes that nobody expects",
    "FEW_BYTES": "more bytes are copied than expected",
    "MANY_BYTES": "threads wait at such barriers for ever",
    "NO_FENCE": "a barrier that not all threads see yet",
    "NO_MEETING": "a barrier that not all threads see yet",
    "NO_ARRIVAL": "threads wait at such barriers for ever",
    "TOO_EARLY": "two copies to one place at once",
    "NO_COPY": "threads wait at such barriers for ever",
    "NO_END": "a copy to what products still read",
    "PLAIN_DESCRIPTOR": "products of what is still being copied",
    "PLAIN_MAP": "sum 128 is",
    "HALF_A_PLACE": "a copy to a place between two where one may begin",
}
# Texts of products, but for the mistake that nobody waits for these.
ALTERED = """
static const char *
altered(const char *text)
{
	static char open[4096];

	return wrong != NO_END ? text : static_cast<char *>(
		memcpy(open, text, strstr(text, "wgmma.wait_group") - text));
}
"""
here = os.path.dirname(os.path.abspath(__file__))


def intrinsics():
    """The texts, in the order in which they use each other; calls for asm."""
    products = ["64x128x128_%ss32_trans" % (2 * kind) for kind in ("s8", "u8")]
    products += ["64x128x64_%sf32%s" % (2 * kind, columns)
                 for kind in ("bf16", "f16") for columns in ("", "_trans")]
    names = ["wgmma", "wgmma_swizzle128", "wgmma_64x128", "wgmma_64x128_s32"]
    names += ["wgmma_sync_%s_swizzle128" % name for name in products]
    out = execute([sys.argv[1], "cuda-sm80"]
                  + ["tirc_" + name for name in names]).stdout
    out, n = re.subn(r"\(uint64_t\)1 << 62",
                     "(uint64_t)(wrong != PLAIN_DESCRIPTOR) << 62", out)
    out, m = re.subn(r"(ptx\()(TIRC_WGMMA_FOUR\(.*?\))", r"\1altered(\2)",
                     asm_calls.calls(out))
    if (n, m) != (1, 6):
        fail("texts are not what they were")
    return ALTERED + out


cxx = shutil.which("g++") or shutil.which("clang++") or skip(
    "there is no C++ compiler")
folder = work_folder()
with open(os.path.join(here, "bulk.cu"), encoding="utf-8") as file:
    source = file.read()
names = re.findall(r"\w+", re.search(r"enum \{\s*(RIGHT.*?)\}", source,
                                     re.DOTALL)[1])
if set(names) != {"RIGHT", *MISTAKES}:
    fail("mistakes that nothing is said of")
for name, text in (("bulk.cu", asm_calls.calls(source)),
                   ("intrinsics.h", intrinsics())):
    with open(os.path.join(folder, name), "w", encoding="utf-8") as file:
        file.write(text)
exe = os.path.join(folder, "bulk")
execute([cxx, "-x", "c++", "-std=c++14", "-O0", "-w", "-D" + asm_calls.NATIVE,
         "-I", here, "-I", os.path.join(here, "toolkit"),
         os.path.join(folder, "bulk.cu"), "-o", exe])
print(execute([exe]).stdout)
for name, message in MISTAKES.items():
    said = execute([exe, names.index(name)], 1).stdout
    if message not in said:
        fail("%s: %s" % (name, said))
