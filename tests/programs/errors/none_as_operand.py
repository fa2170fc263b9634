from tvm import te, tir

A = te.placeholder((8,), name="A")
B = te.compute((8,), lambda i: tir.Select(A[i] > 0, A[i], None, span=None), name="B")
