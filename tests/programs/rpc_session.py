# SPDX-License-Identifier: Apache-2.0
# A session of RPC: built for a board, saved, uploaded and run, as far as tirc goes: here.
import numpy as np
import tvm
from tvm import rpc, te
from tvm.contrib import utils

n = 16
A = te.placeholder((n,), name="A")
B = te.compute((n,), lambda i: A[i] * 2.0, name="B")
s = te.create_schedule(B.op)
lib = tvm.build(s, [A, B], "llvm -target=armv7l-none-linux-gnueabihf", name="twice")
temp = utils.tempdir()
path = temp.relpath("twice.o")
lib.save(path)
other = temp.relpath("twice.tar")
lib.export_library(other)
print(path, temp.listdir())

server = rpc.Server(host="127.0.0.1", port=9190)
remote = rpc.connect(server.host, server.port, key="board", session_timeout=10)
remote.upload(path)
remote.upload(other, target="dev.tar")


def run(session, name):
    f = session.load_module(name)
    dev = session.cpu(0)
    a = tvm.nd.array(np.arange(n, dtype=A.dtype), dev)
    b = tvm.nd.array(np.zeros(n, dtype=B.dtype), dev)
    f(a, b)
    np.testing.assert_equal(b.numpy(), a.numpy() * 2)
    print(dev, 0 <= f.time_evaluator(f.entry_name, dev, number=10)(a, b).mean < 60)


run(remote, "twice.o")
run(remote, "dev.tar")
remote.remove("twice.o")
server.terminate()

session = rpc.connect_tracker("tracker", 9190).request("board", priority=1)
session.upload(other)
run(session, "twice.tar")
try:
    session.load_module("twice.o")
except ValueError as error:
    print(error)
