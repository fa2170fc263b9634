# SPDX-License-Identifier: Apache-2.0
"""Running sums of few long rows, which threads share by pieces: from both ends,
with and without the element itself, by pieces that divide the row and that do
not, and so many of them that their sums are a long row again."""
from ordered_nodes import Model, running

# Rows of 5000 and of 2048 are divided by pieces, those of 1283 are not.
TEXTS = ["CumSum [50][100]", "CumSum [3][32][64][2]", "CumSum [21][64]",
         "CumSum [1100][64]"]
SCHEDULES = {}
CASES = {"row": ([5000], 0, {}), "behind": ([5000], 0, {"exclusive": 1,
                                                       "reverse": 1}),
         "middle": ([3, 2048, 2], 1, {"exclusive": 1}),
         "filled": ([1283], -1, {"reverse": 1}), "twice": ([70400], 0, {})}


def write(folder):
    """Paths of the model and of its data."""
    m = Model()
    for name, (shape, axis, how) in CASES.items():
        x = m.given("of_" + name, *shape)
        m.node("CumSum", "of_%s %s" % (name, m.axis(axis)), name, **how)
        m.gives(name, running(x, axis, how.get("exclusive"),
                              how.get("reverse")))
    return m.write(folder)
