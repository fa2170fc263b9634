#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""bad.py CASE.onnx [MESSAGE] [-- ARGUMENTS]: `tirc compile CASE.onnx` must
exit with status 1, say why on standard error (MESSAGE, where given, is part
of it; a literal, not a pattern), and leave no file behind."""
import os
import sys

from helper import HAS_ML, TIRC, WITHOUT_ML, execute, fail, skip, work_folder


def refuse(model, message="", arguments=()):
    out = os.path.join(work_folder(), "out")
    done = execute([TIRC, "compile", model, "-o", out, *arguments], status=1,
                   timeout=60)
    left = os.listdir(out) if os.path.isdir(out) else []
    if left:
        fail("left behind: " + " ".join(sorted(left)))
    if not done.stderr.strip():
        fail("no message")
    if message not in done.stderr:
        fail("the message lacks %r:\n%s" % (message, done.stderr))
    if len(done.stderr) > 20000:
        fail("a message of %d bytes" % len(done.stderr))
    if done.stdout.strip():
        fail("it printed on standard output:\n" + done.stdout)


if __name__ == "__main__":
    words = sys.argv[1:]
    more = []
    if "--" in words:
        at = words.index("--")
        words, more = words[:at], words[at + 1:]
    with open(words[0], "rb") as model:
        if not HAS_ML and b"ai.onnx.ml" in model.read():
            skip(WITHOUT_ML)
    refuse(words[0], words[1] if len(words) > 1 else "", more)
