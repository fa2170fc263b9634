#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A model that a program names is opened once: the file that was found to be in the
program's folder is the one that is read, built and run, whatever the folder has
under its name later. Counted with inotify,
which counts events of one kind that follow each other as one."""
import ctypes
import shutil
import struct

from helper import *

IN_CLOSE_NOWRITE, IN_OPEN = 0x10, 0x20
HEAD = struct.Struct("iIII")

libc = ctypes.CDLL(None, use_errno=True)
if not hasattr(libc, "inotify_init1"):
    skip("there is no inotify")
folder = work_folder()
model = os.path.join(folder, "digits.onnx")
shutil.copy(os.path.join(ROOT, "examples/digits/digits.onnx"), model)
program = os.path.join(folder, "program.py")
with open(program, "w", encoding="utf-8") as file:
    file.write("""
import numpy as np
import onnx
import tvm
from tvm import relay
from tvm.contrib import graph_executor

model = onnx.load("digits.onnx")
mod, params = relay.frontend.from_onnx(model)
mod = relay.transform.FoldConstant()(mod)
print(mod)
lib = relay.build(mod, target="c", params=params)
m = graph_executor.GraphModule(lib["default"](tvm.cpu()))
m.set_input(0, np.zeros((1, 1, 8, 8)))
m.run()
print(m.get_output(0).numpy().shape)
""")

watch = libc.inotify_init1(os.O_NONBLOCK)
if watch < 0 or libc.inotify_add_watch(
        watch, model.encode(), ctypes.c_uint32(IN_OPEN | IN_CLOSE_NOWRITE)) < 0:
    skip("inotify does not watch the folder")
tirc("lower", program)
opened = 0
try:
    data = os.read(watch, 1 << 16)
except BlockingIOError:
    data = b""
while data:
    _, mask, _, length = HEAD.unpack_from(data)
    opened += mask & IN_OPEN != 0
    data = data[HEAD.size + length:]
if opened != 1:
    fail("the model was opened %d times, not once" % opened)
