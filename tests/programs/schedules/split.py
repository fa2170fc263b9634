# SPDX-License-Identifier: Apache-2.0
block = sch.get_block("Y")
i, j = sch.get_loops(block)
o, ii = sch.split(i, factors=[None, 4])
sch.vectorize(j)
