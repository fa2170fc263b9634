from tvm import te, tir

A = te.placeholder((8,), name="A")
B = te.compute((8,), lambda i: tir.max(A[i], te.exp), name="B")
