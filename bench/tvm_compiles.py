#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Does TVM itself compile a program of bench/tvm.py, for one of its targets?

    python bench/tvm_compiles.py < [program, …] > lines

Needs an interpreter with a TVM that has tvm.tirx. Reads a JSON list of texts; writes a
line of JSON for each: the name of a target, false if TVM compiles the last function or
module of the text for none of its targets, null if it does not take the text itself, so
that nothing follows. Each text is executed, in a process of its own."""
import importlib.util
import json
import os
import signal
import sys
import tempfile

# bench/tvm.py is not TVM.
HERE = os.path.dirname(os.path.abspath(__file__))
sys.path = [p for p in sys.path if os.path.abspath(p) != HERE]

import tvm  # noqa: E402
from tvm import tirx  # noqa: E402

HEAD = """import tvm
from tvm import te, tirx
from tvm import tirx as tir
from tvm.script import ir as I
from tvm.script import tirx as T
from tvm.script.tirx import tile as Tx
TIR = T
"""
# kinds of code generators, each with a target
TARGETS = {
    "c": "c",
    "llvm": "llvm",
    "cuda": {"kind": "cuda", "arch": "sm_100a"},
    "metal": "metal",
    "opencl": "opencl",
    "rocm": {"kind": "rocm", "mcpu": "gfx900"},
    "trn": "aws/trn1/trn1.2xlarge",
}
SECONDS = 60


@tvm.register_global_func("tvm_callback_cuda_compile", override=True)
def no_nvcc(code, *_):
    """The text of the kernels is all that counts."""
    return b" "


def function_of(text):
    """The last function or module of the text; None if TVM does not take it."""
    head, separator, body = text.partition("from tvm.script import tir as T\n")
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "program.py")
        with open(path, "w", encoding="utf-8") as file:
            file.write(HEAD + body if separator else head)
        spec = importlib.util.spec_from_file_location("program", path)
        module = importlib.util.module_from_spec(spec)
        sys.modules["program"] = module
        try:
            spec.loader.exec_module(module)
        except Exception:  # whatever the text and TVM raise
            return None
    found = [v for v in vars(module).values()
             if isinstance(v, (tirx.PrimFunc, tvm.IRModule))]
    return found[-1] if found else None


def ways(kind, module):
    """Ways to compile the module."""
    target = tvm.target.Target(TARGETS[kind],
                               host="c" if kind == "c" else "llvm")
    if kind == "trn":
        def by_pipeline():
            with tvm.target.Target(TARGETS[kind]):
                tvm.compile(module, tir_pipeline="trn")
        yield by_pipeline
    yield lambda: tirx.build(module, target=target)
    yield lambda: tvm.compile(module, target=target)
    for pipeline in ("s_tir", "tirx"):
        yield lambda: tirx.build(module, target=target, pipeline=pipeline)


def target_for(text):
    f = function_of(text)
    if f is None:
        return None
    module = f
    if isinstance(f, tirx.PrimFunc):
        module = tvm.IRModule({"main": f.with_attr("global_symbol", "main")})
    for kind in TARGETS:
        for way in ways(kind, module):
            try:
                way()
                return kind
            except Exception:  # the next way, or the next target
                pass
    return False


def in_child(text):
    """target_for(text), or None if it takes too long or ends the process."""
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(reader)
        signal.alarm(SECONDS)
        os.dup2(2, 1)  # what the text prints is no result
        os.write(writer, json.dumps(target_for(text)).encode())
        os._exit(0)
    os.close(writer)
    with os.fdopen(reader, "rb") as file:
        said = file.read()
    os.waitpid(child, 0)
    return json.loads(said) if said else None


def main():
    for text in json.load(sys.stdin):
        print(json.dumps(in_child(text)), flush=True)


if __name__ == "__main__":
    main()
