# SPDX-License-Identifier: Apache-2.0
"""What the Python tests share: running tirc and compilers, finding models,
skipping. A test is a program: it exits 0, 1 with a message, or 77 to skip.

    from helper import *
    out = compile_model(model, "--dialect", "c99")    # a folder
    for cc in compilers():
        build(cc, [...], ...)
"""
import atexit
import json
import os
import platform
import re
import shutil
import subprocess
import sys
import tempfile

ROOT = os.environ.get("TIRC_ROOT") or os.path.dirname(
    os.path.dirname(os.path.abspath(__file__)))
TIRC = os.environ.get("TIRC") or os.path.join(ROOT, "build", "tirc")
DIGITS = os.path.join(ROOT, "examples", "digits", "digits.onnx")
SANITIZED = bool(os.environ.get("TIRC_SANITIZED"))
# Was tirc built with the operators of ai.onnx.ml?
HAS_ML = not os.environ.get("TIRC_WITHOUT_ML")
WITHOUT_ML = "tirc was built without ai.onnx.ml (-Dml=false)"

# Everything that emitted C must compile under without a warning.
STRICT = ["-Wall", "-Wextra", "-Wpedantic", "-Wconversion", "-Wshadow",
          "-Wdouble-promotion", "-Werror",
          # Targets are for processors that this one need not be.
          "-DTIRC_ANY_PROCESSOR"]
# Strict C by the fastest compiler, where results are all that counts.
STRICT_C = (["--cc", os.path.join(ROOT, "tests", "results_cc.sh"), "--cflags", ""]
            if shutil.which("tcc") else ["--cflags", "-std=c99 -O0"])
# The options of `tirc test` for a model that is for no target in particular.
EITHER = [[], ["--target", "c99", *STRICT_C]]

# The kernels of OpenCL without the passes of its compiler that take longest.
QUICK_OPENCL = "-cl-opt-disable"


def skip(why):
    print("skipped: " + why)
    sys.exit(77)


def fail(why):
    sys.exit("failed: " + why)


def contents(folder):
    """Its files: bytes by name."""
    out = {}
    for name in sorted(os.listdir(folder)):
        with open(os.path.join(folder, name), "rb") as f:
            out[name] = f.read()
    return out


def work_folder():
    """An empty folder, removed when the test ends; TIRC_KEEP=1 keeps it."""
    path = tempfile.mkdtemp(prefix="tirc-test-")
    if os.environ.get("TIRC_KEEP") == "1":
        print("kept: " + path)
    else:
        atexit.register(shutil.rmtree, path, True)
    return path


def text_file(folder, name, text):
    """Writes a file of text in the folder and gives its path."""
    path = os.path.join(folder, name)
    with open(path, "w", encoding="utf-8") as file:
        file.write(text)
    return path


def execute(command, status=0, **options):
    """Runs a command; fails the test, with its output, unless it exits with
    `status` (None: anything but a signal). Gives the CompletedProcess."""
    done = subprocess.run([str(word) for word in command], text=True,
                          capture_output=True, stdin=subprocess.DEVNULL,
                          **options)
    wrong = done.returncode < 0 if status is None \
        else done.returncode != status
    if wrong:
        fail("exit status %d of: %s\n%s%s" % (
            done.returncode, " ".join(str(w) for w in command), done.stdout,
            done.stderr))
    return done


def tirc(*arguments, status=0, **options):
    return execute([TIRC, *arguments], status, **options)


def compile_model(model, *arguments):
    """`tirc compile` into a folder of its own, which it gives."""
    out = work_folder()
    tirc("compile", model, "-o", out, *arguments)
    return out


def compilers():
    """gcc and clang, those that are installed; skips where neither is."""
    found = [cc for cc in ("gcc", "clang") if shutil.which(cc)]
    return found or skip("neither gcc nor clang is installed")


def need(program):
    """Its path; skips the test where it is not installed."""
    return shutil.which(program) or skip(program + " is not installed")


def processor_name():
    """The processor's name as the kernel gives it, else the machine's kind."""
    try:
        with open("/proc/cpuinfo", encoding="utf-8") as file:
            for line in file:
                if line.startswith("model name"):
                    return line.partition(":")[2].strip()
    except OSError:
        pass
    return platform.machine()


def processor_features():
    """What the kernel calls this processor's instructions; empty where it does
    not tell."""
    try:
        with open("/proc/cpuinfo", encoding="utf-8") as file:
            for line in file:
                if line.startswith(("flags", "Features")):
                    return set(line.split(":")[1].split())
    except OSError:
        pass
    return set()


# What a program with the target's own flags needs of the processor that runs it.
NEEDS = {"x86-64-v2": "sse4_2", "x86-64-v3": "avx2", "c99-avx2": "avx2",
         "x86-64-v4": "avx512vl"}


def has_processor(target):
    """Whether this processor has the instructions of the target."""
    return target not in NEEDS or NEEDS[target] in processor_features()


def need_processor(target):
    """Skips the test of a target whose instructions this processor lacks."""
    if not has_processor(target):
        skip("this processor has no " + NEEDS[target])


def compiler_of_old_processor(path):
    """Writes a compiler that takes this machine's processor for one without AVX."""
    with open(path, "w", encoding="utf-8") as file:
        file.write("""#!/bin/sh
for word; do
    shift
    [ "$word" = -march=native ] && word=-march=x86-64
    set -- "$@" "$word"
done
exec gcc "$@"
""")
    os.chmod(path, 0o755)
    return path


# What a program that uses a backend's library begins with and is linked with.
LIBRARIES = {"dnnl": ("oneapi/dnnl/dnnl.h", "-ldnnl"),
             "cblas": ("cblas.h", "-lblas")}


def has_library(header, library):
    """Whether programs can be built with it."""
    with tempfile.TemporaryDirectory() as folder:
        return subprocess.run(
            ["cc", "-x", "c", "-", "-x", "none", library, "-o",
             os.path.join(folder, "main")],
            input="#include <%s>\nint main(void) { return 0; }\n" % header,
            text=True, capture_output=True).returncode == 0


def has_dialect(name):
    """Any may be taken out of templates/; all that is not of it, or extends it,
    still works."""
    path = os.path.join(ROOT, "templates", "dialects", name, "dialect.json")
    if not os.path.exists(path):
        return False
    with open(path, encoding="utf-8") as file:
        base = json.load(file).get("extends")
    return base is None or has_dialect(base)


def lacks_target(program):
    """Does a tensor program build for a target whose dialect is not there?"""
    with open(program, encoding="utf-8") as file:
        return not all(has_dialect({"c": "c99", "llvm": "c99"}.get(name, name))
                       for name in re.findall(r'target="([\w-]+)"',
                                              file.read()))


def shared():
    """The folder of reference models beside the source tree, or None."""
    path = os.environ.get("TIRC_SHARED") or os.path.join(
        os.path.dirname(ROOT), "shared")
    return path if os.path.isdir(os.path.join(path, "models")) else None


def shared_model(name):
    """models/NAME below it; skips the test where it is not there."""
    top = shared()
    path = top and os.path.join(top, "models", name)
    if not path or not os.path.exists(path):
        skip("no reference model " + name)
    return path


def results_alone():
    """Of programs that this test builds by tirc, nothing but their results counts:
    tirc builds them without optimisation, unless --cc says by which compiler. Once
    in 16 commits it is this test's turn to have the target's optimisation."""
    from turns import is_turn_of  # which imports this file

    if not is_turn_of(os.path.basename(sys.argv[0]) + " optimised", 16):
        os.environ["CC"] = os.path.join(ROOT, "tests", "unoptimised_cc.sh")


def measure(*command, clock="seconds"):
    """Runs a command that must succeed; gives its wall-clock seconds (or those
    of the processor: clock="cpu_seconds") and its peak resident bytes."""
    script = os.path.join(os.path.dirname(os.path.abspath(__file__)),
                          "measure.py")
    done = execute([sys.executable, "-I", "-S", script, *command])
    seen = json.loads(done.stdout)
    if seen["status"] != 0:
        fail("exit status %d of: %s\n%s" % (
            seen["status"], " ".join(str(w) for w in command), done.stderr))
    return seen[clock], seen["peak_bytes"]
