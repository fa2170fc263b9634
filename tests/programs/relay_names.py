#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""relay_names.py: each operator of Relay's text has a function that makes its call in
programs."""
import os
import re
import sys

from helper import fail, tirc, work_folder

ROOT = os.environ["TIRC_ROOT"]
TEXT = os.path.join(ROOT, "gen/onnx/compose/compositions/relay.onnxtxt")
# TVM makes calls of these in passes, and has no function of Python for them; the last is
# one of Relax's operators, which tirc prints of models.
WITHOUT = {"fast_exp", "fast_tanh", "fast_erf", "device_copy", "nn_rms_norm"}
GROUPS = {"nn_": "relay.nn.", "image_": "relay.image.", "qnn_": "relay.qnn.op.",
          "annotation_": "relay.annotation."}


def path_of(name):
    for start, path in GROUPS.items():
        if name.startswith(start):
            return path + name[len(start):]
    return "relay." + name


def main():
    with open(TEXT, encoding="utf-8") as file:
        text = file.read().split("<domain: \"tirc\"")[0]
    names = re.findall(r"^(\w+) (?:<|\()", text, re.M)
    others = ["concatenate", "einsum", "split", "stack", "qnn_concatenate"]
    wanted = [path_of(n) for n in names + others if n not in WITHOUT]
    if len(wanted) < 150:
        fail("%d operators are not all of them" % len(wanted))
    path = os.path.join(work_folder(), "names.py")
    with open(path, "w", encoding="utf-8") as file:
        file.write("from tvm import relay\n%s\nprint(\"all\")\n" % "\n".join(wanted))
    done = tirc("lower", path, status=0)
    if done.stdout != "all\n":
        fail(done.stdout + done.stderr)
    return 0


sys.exit(main())
