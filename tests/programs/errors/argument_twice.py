from tvm import te

A = te.placeholder((8,), "float32", dtype="int8")
