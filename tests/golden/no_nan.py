# SPDX-License-Identifier: Apache-2.0
# Of two numbers one comparison finds the larger. `best` holds numbers: elements
# that are NaN are left out. `all` does not, nor does `late`, which gets one of its
# elements.
from tvm.script import tir as T

@T.prim_func
def main(x: T.Buffer((4, 40), "float32"), y: T.Buffer((4, 3), "float32")):
    for i in range(4):
        with T.sblock("row"):
            v = T.axis.spatial(4, i)
            T.reads(x[v, 0:40])
            T.writes(y[v, 0:3])
            best = T.alloc_buffer((1,), "float32", scope="local")
            all = T.alloc_buffer((1,), "float32", scope="local")
            late = T.alloc_buffer((1,), "float32", scope="local")
            best[0] = T.float32("-inf")
            all[0] = T.float32("-inf")
            for k in range(40):
                best[0] = T.max(best[0], T.Select(T.isnan(x[v, k]), T.float32("-inf"), x[v, k]))
                all[0] = T.max(all[0], x[v, k])
            late[0] = T.max(best[0], T.float32(0))
            y[v, 0] = T.max(late[0], best[0])
            late[0] = all[0]
            y[v, 1] = T.max(late[0], best[0])
            y[v, 2] = T.max(all[0], late[0])
