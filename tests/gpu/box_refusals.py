# SPDX-License-Identifier: Apache-2.0
"""What cannot be copied as a box is refused, and the message says why. Each case is a
change of programs/boxes.py."""
import os

from helper import fail, tirc, work_folder

here = os.path.dirname(os.path.abspath(__file__))
ASYNC = '                    "software_pipeline_async_stages": [0],\n'
# target, what to replace by what, the message
CASES = [
    ("opencl", [], "a box of x to xs: there is no unit that copies boxes; copy by "
     "loops"),
    ("cuda", [(ASYNC, "")], "a box of x to xs, for which nothing waits; copy it in the "
     "first stage of a software pipeline, with software_pipeline_async_stages"),
    ("cuda", [("(96, 20)", "(96, 21)"), ("96, 20, 20, 1", "96, 21, 21, 1")],
     "a box of w to ws: a dimension whose elements are not a multiple of 16 bytes "
     "apart, or of unknown size"),
    ("cuda", [("32, 16), scope", "32, 15), scope"), ("j * 16, 32, 16", "j * 15, 32, 15"),
              ("0:32, 0:16", "0:32, 0:15"), ("j * 16 : j * 16 + 16", "j * 15 : j * 15 + 15"),
              ("j // 16, z % 32, j % 16", "j // 15 % 2, z % 32, j % 15")],
     "a box of w to ws: rows of 60 bytes; they have to be multiples of 16, side by "
     "side"),
    ("cuda", [('16, 32), scope="shared"', '16, 32), scope="shared.swizzle128"')],
     "only intrinsics know where elements of xs are, which is of the scope "
     "'shared.swizzle128'; tensorize the blocks that use it"),
    ("cuda", [('32, 16), scope="shared"', '32, 16), scope="shared.swizzle128"')],
     "a box of w to ws: rows of 64 bytes; those of the scope 'shared.swizzle128' have "
     "128"),
    ("cuda", [('16, 32), scope="shared"', '16, 32), scope="shared.other"')],
     "a box of x to xs: no boxes are copied to memory of the scope 'shared.other'"),
    ("cuda", [('"float32"', '"float64"'), ('T.float32', 'T.float64'),
              ('scope=', 'dtype="float64", scope=')],
     "a box of x to xs: no boxes of float64 are copied"),
    ("cuda", [("T.address_of(x[0, 0])", "T.address_of(x[8, 0])")],
     "a box of x to xs: the array's address is not that of its first element"),
    ("cuda", [("x: T.Buffer((40, 96)", "x: T.Buffer((1, 96)"),
              ("40, 96, 96, 1, i * 16, z * 32, 16, 32", "1, 96, 96, 1, 0, z * 32, 1, 32")],
     "a box of x to xs: it has 1 dimensions of more than one element, and boxes of so "
     "many are not copied"),
]

folder = work_folder()
with open(os.path.join(here, "programs", "boxes.py"), encoding="utf-8") as file:
    program = file.read()
for target, changes, message in CASES:
    text = program
    for old, new in changes:
        if old not in text:
            fail("the program has no '%s'" % old)
        text = text.replace(old, new)
    path = os.path.join(folder, "program.py")
    with open(path, "w", encoding="utf-8") as file:
        file.write(text)
    done = tirc("codegen", path, "--target", target, status=1)
    if message not in done.stderr:
        fail("'%s' is not in:\n%s" % (message, done.stderr))
print("%d refusals" % len(CASES))
