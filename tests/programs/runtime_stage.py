# A stage of a run-time size that another one reads: its memory is the
# caller's, and no array of variable length.
import tvm
from tvm import te

m, n = te.var("m"), te.var("n")
A = te.placeholder((m, n), name="A")
B = te.compute((m, n), lambda i, j: A[i, j] * 2.0 + 1.0, name="B")
C = te.compute((n,), lambda j: B[0, j] - B[m - 1, n - 1 - j], name="C")
s = te.create_schedule(C.op)
print(tvm.lower(s, [A, C], simple_mode=True))
