# SPDX-License-Identifier: Apache-2.0
# Asserts of TVMScript, whose messages are texts of strangers, and the size of an array
# as a reader's comment says it.
import tvm
from tvm.script import tir as T


@T.prim_func
def checked(a: T.handle, n: T.int64):
    A = T.match_buffer(a, (n * T.int64(4), 3))
    assert n == T.int64(2) or n > T.int64(4), ("ValueError", ["got */ \"n\" ", "??/\n\\"])
    assert n < T.int64(100000)
    for i in range(n * T.int64(4)):
        assert A[i, 1] >= T.float32(0), "a root of ${x} \" && 0); //"
        A[i, 0] = T.sqrt(A[i, 1])
