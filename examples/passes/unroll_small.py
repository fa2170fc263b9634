#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A lowering pass of one's own, as a filter over text: loops of at most four
iterations are unrolled. Reads TVMScript, writes TVMScript.

    tirc compile model.onnx --add-pass 3:"python3 unroll_small.py"
"""
import re
import sys


def unrolled(match):
    if int(match[2]) <= 4:
        return f"for {match[1]} in T.unroll({match[2]}):"
    return match[0]


sys.stdout.write(re.sub(r"for (\w+) in range\((\d+)\):", unrolled,
                        sys.stdin.read()))
