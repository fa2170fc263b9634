#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The target native: which target it becomes for the macros that a compiler has,
that the words it becomes give the same files anywhere, and that a source which
relies on instructions is refused by compilers that lack them."""
import json
import os
import re
import shutil
import stat

import turns
from helper import DIGITS, ROOT, STRICT, compile_model, compilers, execute, \
    fail, tirc, work_folder

GNU = {"__GNUC__"}
V2 = GNU | {"__x86_64__", "__SSE2__", "__SSSE3__", "__SSE4_2__", "__POPCNT__"}
V3 = V2 | {"__AVX2__", "__FMA__", "__BMI__", "__BMI2__", "__F16C__",
           "__LZCNT__", "__MOVBE__"}
V4 = V3 | {"__AVX512F__", "__AVX512BW__", "__AVX512CD__", "__AVX512DQ__",
           "__AVX512VL__"}
VNNI = V4 | {"__AVX512VNNI__"}
BF16 = VNNI | {"__AVX512BF16__"}
ARM = GNU | {"__aarch64__", "__ARM_NEON"}
# What a compiler defines, and the target.
RESOLVED = [
    (V2, "x86-64-v2"),
    (V3, "x86-64-v3"),
    (V4, "x86-64-v4"),
    (VNNI, "x86-64-vnni"),
    (BF16, "x86-64-bf16"),
    # without dot products of bytes
    (V4 | {"__AVX512BF16__"}, "x86-64-v4"),
    (BF16 | {"__AMX_TILE__", "__AMX_INT8__"}, "x86-64-bf16"),
    (VNNI | {"__AMX_TILE__", "__AMX_INT8__", "__AMX_BF16__"}, "x86-64-amx"),
    # clang's names
    (VNNI | {"__AMXTILE__", "__AMXINT8__", "__AMXBF16__"}, "x86-64-amx"),
    # AVX-512 without what x86-64-v4 also has
    (V3 | {"__AVX512F__", "__AVX512CD__"}, "x86-64-v3"),
    (GNU | {"__x86_64__", "__SSE2__"}, "gnu-c"),
    (ARM, "aarch64 -cc=cc"),
    (GNU | {"__riscv"}, "gnu-c"),
    # a longer name, and a macro that is only a value
    (V2 | {"__AVX2__X", "A __AVX2__", "__AVX2"}, "x86-64-v2"),
    (set(), "c99"),
]
# A compiler that prints macros, does not know some flags, and stores its
# arguments.
FAKE = """#!/bin/sh
for word in "$@"; do
	case " %s " in *" $word "*) exit 1 ;; esac
done
cat %s
"""
folder = work_folder()


def compiler(name, macros, refused=""):
    """A command that only tells its macros."""
    lines = os.path.join(folder, name + ".h")
    with open(lines, "w", encoding="utf-8") as file:
        file.writelines("#define %s 1\n" % macro for macro in sorted(macros))
    return script(name, FAKE % (refused, lines))


def script(name, text):
    path = os.path.join(folder, name)
    with open(path, "w", encoding="utf-8") as file:
        file.write(text)
    os.chmod(path, os.stat(path).st_mode | stat.S_IXUSR)
    return path


def compiled(target, cc=None):
    """The files of the digits, by name, and what the summary calls native."""
    out = os.path.join(folder, "out")
    shutil.rmtree(out, ignore_errors=True)
    environment = dict(os.environ, CC=cc or "")
    said = tirc("compile", DIGITS, "--target", target, "-o", out,
                env=environment).stdout
    found = re.search(r"^target   native.* = (.*)$", said, re.M)
    files = {}
    for name in sorted(os.listdir(out)):
        with open(os.path.join(out, name), "rb") as file:
            files[name] = file.read()
    return files, found and found.group(1)


def without_caches(words):
    return re.sub(r" -l[12]_bytes=\d+", "", words)


def check_resolved():
    for i, (macros, wanted) in enumerate(RESOLVED):
        files, words = compiled("native", compiler("cc%d" % i, macros))
        if without_caches(words) != wanted:
            fail("%s is %s, not %s" % (sorted(macros), words, wanted))
        if json.loads(files["digits.json"])["target"] != words:
            fail("digits.json does not say " + words)
        if ("target " + words).encode() not in files["digits.c"]:
            fail("digits.c does not say " + words)
        if compiled(words, "/bin/false")[0] != files:
            fail("%s gives other files than native" % words)


def check_flags():
    # -march=native is not known: nothing is said of this machine.
    cc = compiler("plain", ARM, "-march=native -mcpu=native")
    if compiled("native", cc)[1] != "aarch64":
        fail("without flags for the machine at hand: %s"
             % compiled("native", cc)[1])
    # The compiler is older than the name x86-64-v3.
    cc = compiler("old", V3, "-march=x86-64-v3")
    if without_caches(compiled("native", cc)[1]) != "x86-64-v2":
        fail("a target is taken whose flags the compiler refuses")
    # The user's facts stay, and win.
    words = compiled("native -l2_bytes=12345", compiler("new", V3))[1]
    if not words.startswith("x86-64-v3 ") or "l2_bytes=12345" not in words or \
            words.count("l2_bytes") != 1:
        fail("facts of the user: " + words)
    # -cc is asked where neither --cc nor CC names a compiler.
    words = compiled("native -cc=%s" % compiler("fact", V2))[1]
    if not words.startswith("x86-64-v2 "):
        fail("-cc is not asked: " + words)


def check_refused():
    out = work_folder()
    for cc, words in (("/bin/false", "ended with status 1"),
                      (folder + "/none", "cannot be started")):
        done = tirc("compile", DIGITS, "--target", "native", "-o", out,
                    status=1, env=dict(os.environ, CC=cc))
        if words not in done.stderr or "--cc" not in done.stderr:
            fail("%s: %s" % (cc, done.stderr))
    # A program does not ask the machine.
    program = os.path.join(folder, "program.py")
    with open(os.path.join(ROOT, "tests", "programs", "errors",
                           "unknown_target.py"), encoding="utf-8") as file:
        text = file.read().replace("vax", "native")
    with open(program, "w", encoding="utf-8") as file:
        file.write(text)
    done = tirc("lower", program, status=1)
    if "the machine at hand" not in done.stderr:
        fail("a program's native: " + done.stderr)


def check_errors():
    """Compilers without the instructions refuse the source, and say why."""
    for target, flags, other in (
            ("x86-64-v3", "-march=x86-64-v3", "x86-64-v2"),
            ("x86-64-v4", "-march=x86-64-v4", "x86-64-v3"),
            ("x86-64-amx", "-march=x86-64-v4", "x86-64-v3"),
            ("c-openmp", "-march=x86-64-v4", "c-openmp -vector_bytes=32"),
            ("c-threads -vector_bytes=32", "-march=x86-64-v3",
             "c-threads -vector_bytes=16"),
            ("c99-avx512", "-march=x86-64-v4", "c99")):
        out = compile_model(DIGITS, "--target", target)
        command = ["-std=gnu11", "-O0", "-fopenmp-simd",
                   *[f for f in STRICT if not f.startswith("-D")], "-c",
                   "digits.c", "-o", "digits.o"]
        for cc in compilers():
            done = execute([cc, *command], status=None, cwd=out)
            if done.returncode == 0 or flags not in done.stderr or \
                    other not in done.stderr:
                fail("%s %s: %s" % (cc, target, done.stderr))
            execute([cc, *command, "-DTIRC_ANY_PROCESSOR", "-Wno-psabi"],
                    cwd=out)
    sizes = ("gnu-c", "gnu-c -vector_bytes=32", "gnu-c -vector_bytes=64")
    taken = turns.some("vectors", sizes)
    for target in sizes:
        files = compiled(target)[0]
        size = int(target.split("=")[-1]) if "=" in target else 16
        text = files["digits.c"].decode()
        if "#error" in text or "vector_size(%d)" % size not in text or \
                "vector_size(%d)" % (2 * size) in text:
            fail("%s has other vectors" % target)
        if target in taken:
            tirc("test", DIGITS, "--target", target, "-q", env=NO_CC)


def check_run():
    """run and test take the machine at hand; with --cflags, what these allow."""
    for verb in ("run", "test"):
        said = tirc(verb, DIGITS, env=NO_CC).stdout
        if "target   native = " not in said:
            fail("%s does not say its target: %s" % (verb, said))
    for flags, wanted in (("-O1 -march=x86-64-v2", "x86-64-v2"),
                          ("-O1 -march=haswell", "x86-64-v3")):
        done = execute(["gcc", *flags.split(), "-E", "-x", "c", os.devnull],
                       status=None) if shutil.which("gcc") else None
        if done is None or done.returncode != 0:
            continue
        cc = script("haswell", "#!/bin/sh\nexec gcc $(echo \"$@\" | sed "
                    "'s/-march=[^ ]*/%s/')\n" % flags.split()[1])
        for options, words in (
                (["--cflags", flags, "--cc", "gcc"], wanted),
                (["--cc", cc], wanted + " -l")):
            if not shutil.which("qemu-x86_64"):
                continue
            said = tirc("test", DIGITS, *options, "--runner",
                        "qemu-x86_64 -cpu " + (
                            "Nehalem" if wanted == "x86-64-v2" else "Haswell"),
                        env=NO_CC).stdout
            if "target   native = " + words not in said:
                fail("%s: %s" % (options, said))


NO_CC = {k: v for k, v in os.environ.items() if k != "CC"}
check_resolved()
check_flags()
check_refused()
check_errors()
check_run()
