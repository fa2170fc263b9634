#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""No identifier of emitted files is a word of a language: templates/reserved/
has all macros that the headers of the compilers here define; and a model whose
inputs, sizes, tensors, weights and kernels are called by such words, with
arrays of bool in its workspace, compiles in every dialect."""
import os
import re
import shutil
import subprocess

import numpy as np
from onnx import TensorProto, helper, numpy_helper, save

from helper import (DIGITS, ROOT, STRICT, compilers, execute, fail, tirc, work_folder)

HEADERS = """assert complex ctype errno fenv float inttypes iso646 limits locale
math setjmp signal stdalign stdarg stdatomic stdbool stddef stdint stdio stdlib
stdnoreturn string tgmath threads time uchar wchar wctype""".split()
# Of each list some; none may reach a file as it is.
WORDS = ["bool", "int", "I", "NAN", "INT_MAX", "stdin", "and", "class", "float4",
         "half", "uint", "kernel", "global", "dim3", "warpSize", "M_PI", "linux",
         "int8_t", "isnan", "true", "thread_local", "char8_t", "CHAR_BIT",
         "E2BIG", "size_t", "INFINITY", "restrict", "near", "nullptr", "ushort"]


def words(name):
    path = os.path.join(ROOT, "templates", "reserved", name + ".txt")
    with open(path, encoding="utf-8") as file:
        return {word for line in file if not line.startswith("#")
                for word in line.split()}


def macros(command, headers):
    """Those that are defined behind the headers that there are."""
    text = "".join("#if __has_include(<%s>)\n#include <%s>\n#endif\n" % (h, h)
                   for h in headers)
    done = subprocess.run([*command, "-dM", "-E", "-"], input=text, text=True,
                          capture_output=True)
    # GNU's names for float types that no emitted text has.
    return {m for m in re.findall(r"^#define ([A-Za-z]\w*)", done.stdout, re.M)
            if not re.search(r"[fF](16|32|64|128|32[xX]|64[xX])$", m)} \
        if done.returncode == 0 else set()


def check_lists():
    known = words("words")
    standard = [h + ".h" for h in HEADERS]
    seen = 0
    for command, headers in [
            (["gcc", "-x", "c", "-std=c99"], standard),
            (["gcc", "-x", "c", "-std=c11"], standard),
            (["gcc", "-x", "c", "-std=gnu17"], standard + ["pthread.h"]),
            (["clang", "-x", "c", "-std=c11"], standard),
            (["g++", "-x", "c++", "-std=c++17"], ["cmath", "cstdint", "cstddef"])]:
        if shutil.which(command[0]) is None:
            continue
        found = macros(command, headers)
        seen += len(found)
        if found - known:
            fail("%s defines what templates/reserved/words.txt does not have: "
                 "%s" % (" ".join(command), " ".join(sorted(found - known))))
    if seen < 500:
        fail("the compilers defined %d macros only" % seen)


def write_model(path):
    """Of the words, each is an input, a size, a tensor between kernels with its
    weight, and an output; half of the tensors are bool."""
    rng = np.random.default_rng(1)
    nodes, weights, inputs, outputs = [], [], [], []
    for k, word in enumerate(WORDS):
        other = WORDS[(k + 1) % len(WORDS)]
        inputs.append(helper.make_tensor_value_info(
            word, TensorProto.FLOAT, [other, 4]))
        weights.append(numpy_helper.from_array(
            rng.standard_normal((4, 4)).astype(np.float32), word + ".weight"))
        nodes += [
            helper.make_node("MatMul", [word, word + ".weight"],
                             [word + "/" + word], word + "_product"),
            helper.make_node("Greater", [word + "/" + word, "zero"],
                             [other + "/positive"], word),
            helper.make_node("Transpose", [other + "/positive"],
                             [other + "/turned"], other, perm=[1, 0]),
            helper.make_node("Not", [other + "/turned"], [word + "_"], other),
            helper.make_node("Cast", [word + "_"], [word + "_out"],
                             to=TensorProto.FLOAT)]
        outputs.append(helper.make_tensor_value_info(
            word + "_out", TensorProto.FLOAT, [4, other]))
    weights.append(numpy_helper.from_array(np.float32(0), "zero"))
    graph = helper.make_graph(nodes, "words", inputs, outputs, weights)
    save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)],
                           ir_version=8), path)


def check_file(path, target, standard, flags):
    gpu = os.path.join(ROOT, "tests", "gpu")
    kind = os.path.splitext(path)[1]
    device = target.startswith(("cuda", "opencl"))
    if kind == ".c" and (not target.startswith("opencl") or
                         os.path.exists("/usr/include/CL/cl.h")):
        for cc in compilers():
            execute([cc, "-std=" + standard, *STRICT, *flags, "-fsyntax-only",
                     path])
    elif kind == ".h" and not device and shutil.which("g++"):
        execute(["g++", "-std=c++17", "-x", "c++", "-Wall", *flags,
                 "-fsyntax-only", path])
    elif kind == ".cu" and shutil.which("g++"):
        shutil.copy(path, path + ".cpp")
        execute(["g++", "-std=c++14", "-w", "-I", gpu, "-I",
                 os.path.join(gpu, "toolkit"), "-fsyntax-only",
                 path + ".cpp"])
    elif kind == ".cl" and shutil.which("clang"):
        execute(["clang", "-x", "cl", "-cl-std=CL1.2", "-Xclang",
                 "-finclude-default-header", "-fsyntax-only", path])


def check_texts():
    folder = work_folder()
    model = os.path.join(folder, "words.onnx")
    write_model(model)
    sizes = [w for word in WORDS for w in ("--dim", word + "=1..3")]
    flags = ["-I", os.path.join(ROOT, "runtime-c"), "-fopenmp-simd"]
    # "int8" and "t", "atomic" and "init" make words of C.
    for target, standard, name, *more in [
            ("c99", "c99", "net"), ("c99", "c99", "int8"),
            ("c99", "c99", "atomic"), ("misra", "c99", "net"),
            ("gnu-c", "gnu11", "net"), ("c-threads", "gnu11", "net"),
            ("cuda", "c99", "net"),
            # Extents of launches are sizes as they are.
            ("opencl", "c99", "net", "-Wno-sign-conversion"),
            ("opencl-cpu", "c99", "net", "-Wno-sign-conversion")]:
        out = os.path.join(folder, target + "-" + name)
        tirc("compile", model, "-o", out, "--target", target, "--name", name,
             "--weights", "c", *sizes)
        for file in sorted(os.listdir(out)):
            check_file(os.path.join(out, file), target, standard,
                       [*flags, *more])


PROGRAM = """from tvm.script import tir as T
@T.prim_func
def %s(A: T.Buffer((4,), "float32")):
    A[0] = T.float32(2)
"""


def check_public():
    """What a source defines for its callers replaces no function of the libraries
    that a program is linked with, which would call it."""
    folder = work_folder()
    for name in ("memcpy", "pthread_getaffinity_np", "sysconf", "GOMP_parallel",
                 "omp_get_thread_num"):
        path = os.path.join(folder, "program.py")
        with open(path, "w", encoding="utf-8") as file:
            file.write(PROGRAM % name)
        tirc("codegen", path, "-o", folder, "--force")
        with open(os.path.join(folder, "program.h"), encoding="utf-8") as file:
            text = file.read()
        if not re.search(r"\b%s_+\(" % name, text):
            fail("a program defines %s:\n%s" % (name, text))
    for name in ("pthread_attr", "sem", "cnd"):
        tirc("compile", DIGITS, "--name", name, "-o", folder, "--force")
        if not os.path.exists(os.path.join(folder, name + "_model.h")):
            fail("a model defines %s_init" % name)
    path = os.path.join(folder, "table.onnxtxt")
    with open(path, "w", encoding="utf-8") as file:
        file.write("""<ir_version: 10, opset_import: ["" : 22]>
mq (float[4] x) => (float[1] send) {
    open = Softmax(x)
    send = ReduceSum(open)
}""")
    tirc("compile", path, "--form", "graph", "--name", "mq", "-o", folder,
         "--force")
    with open(os.path.join(folder, "mq_kernels.c"),
              encoding="utf-8") as file:
        if re.search(r"^mq_(open|send)\(", file.read(), re.MULTILINE):
            fail("a kernel of a table is called mq_open")


check_lists()
check_texts()
check_public()
