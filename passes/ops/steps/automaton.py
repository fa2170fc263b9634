# SPDX-License-Identifier: Apache-2.0


def automaton(x, table, result, bytes):
    state = T.alloc_local((), "int32")
    state = 0
    for k in range(bytes):
        state = T.Cast("int32", table[state, T.Cast("int32", x[k])])
    result = state
