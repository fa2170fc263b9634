#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What is emitted compiles without a word under strict flags, as C99 and the
header as C++17; other compilers accept it; only prefixed symbols are visible
and only the C library's mem* and libm are needed."""
import os
import re
import shutil
import subprocess

import turns
from helper import (DIGITS, STRICT, compile_model, compilers, execute, fail,
                    work_folder)

MEM = {"memcpy", "memset", "memmove", "memcmp"}
LIBM = re.compile(r"^(exp|exp2|log|log2|log1p|sqrt|sin|cos|tan|asin|acos|atan|"
                  r"sinh|cosh|tanh|asinh|acosh|atanh|erf|floor|ceil|trunc|"
                  r"round|nearbyint|rint|fabs|pow|fmod|atan2|copysign|fma|"
                  r"fmin|fmax|ldexp|ilogb)f?$")
STANDARD = {"c99": ["-std=c99"], "c99-avx512": ["-std=c99"],
            "c99-avx2": ["-std=c99"],
            "gnu-c": ["-std=gnu11", "-fopenmp-simd"],
            "misra": ["-std=c99", "-Wsign-conversion"]}


def sources(folder):
    return sorted(os.path.join(folder, name) for name in os.listdir(folder)
                  if name.endswith((".c", ".S")))


def check_symbols(objects, prefix):
    text = execute(["nm", "-g", *objects]).stdout
    defined, undefined = set(), set()
    for line in text.splitlines():
        words = line.split()
        if len(words) == 3:
            defined.add(words[2])
        elif len(words) == 2 and words[0] == "U":
            undefined.add(words[1])
    for name in sorted(defined):
        if not name.startswith(prefix):
            fail("a symbol without the prefix is visible: " + name)
    for name in sorted(undefined - defined):
        if name not in MEM and not LIBM.match(name):
            fail("a symbol from outside is needed: " + name)


def check(target, model, prefix, weights="c"):
    folder = compile_model(model, "--target", target, "--weights", weights)
    flags = [*STANDARD[target], "-I" + folder, *STRICT]
    for cc in compilers():
        # Where weights are is no matter of levels, and what clang warns of is
        # found before it optimises.
        levels = ("-O0", "-O2", "-O3") if cc == "gcc" else ("-O2",)
        for level in levels if weights == "c" else ("-O2",):
            objects = []
            for path in sources(folder):
                out = os.path.join(work_folder(), "a.o")
                execute([cc, *flags, level, "-c", path, "-o", out])
                objects.append(out)
            check_symbols(objects, prefix)
    include = os.path.join(work_folder(), "use.cpp")
    with open(include, "w") as f:
        f.write('#include "%s.h"\n#include "%s.h"\n'
                "int main() { return 0; }\n" % (prefix.rstrip("_"),
                                                prefix.rstrip("_")))
    for cxx in ("g++", "clang++"):
        if shutil.which(cxx):
            execute([cxx, "-std=c++17", "-I" + folder, *STRICT,
                     "-fsyntax-only", include])
    if target.startswith("c99") and shutil.which("tcc"):
        for path in sources(folder):
            execute(["tcc", "-Wall", "-Werror", "-DTIRC_ANY_PROCESSOR",
                     "-I" + folder, "-c", path,
                     "-o", os.path.join(work_folder(), "a.o")])
    if shutil.which("cppcheck"):
        done = subprocess.run(
            ["cppcheck", "--enable=warning,style,performance,portability",
             "--inline-suppr", "-DTIRC_ANY_PROCESSOR", "--error-exitcode=1", "--quiet",
             "--suppress=unusedStructMember", "--std=c99", "-I" + folder,
             *[s for s in sources(folder) if s.endswith(".c")]],
            text=True, capture_output=True)
        if done.returncode != 0:
            fail("cppcheck:\n" + done.stderr + done.stdout)


for target in STANDARD:
    if (not target.startswith("c99")
            and "without_gnu_c" in os.environ.get("TIRC", "")):
        continue
    for weights in ("c",) if target == "misra" \
            else turns.some(target, ("c", "file")):
        check(target, DIGITS, "digits_", weights)
