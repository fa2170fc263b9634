#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What the validation suite has, as a table of text for
docs/explanation/qualification.md, which the test docs_transcripts keeps true. Numbers
of cases are rounded down, so that the page changes seldom."""
import glob
import os
import re

TESTS = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))


def count(pattern):
    return len(glob.glob(os.path.join(TESTS, pattern)))


def lines(path, pattern):
    with open(os.path.join(TESTS, path), encoding="utf-8") as file:
        return len(re.findall(pattern, file.read(), re.M))


def rounded(n):
    """To two digits, and to tens at most."""
    step = 10 ** max(len(str(n)) - 2, 1)
    return n // step * step


def onnx_tests():
    """The version of onnx, the number of its tests, and of the operators in each
    operator set that they are about."""
    with open(os.path.join(TESTS, "conformance.txt"), encoding="utf-8") as file:
        text = file.read()
    version, total = re.search(r"^onnx (\S+) (\d+)$", text, re.M).groups()
    return version, int(total), len(set(re.findall(r"^files (\S+ \d+) ", text,
                                                   re.M)))


def rows():
    version, total, operators = onnx_tests()
    yield "tests of onnx %s, of which a few are refused" % version, total
    yield "operators in these, each operator set by itself", operators
    for what, pattern in (
            ("graph passes: graphs before and after", "golden/graph/*.txt"),
            ("lowering passes: programs before and after",
             "golden/lower/*.txt"),
            ("schedule primitives: programs before and after",
             "golden/schedules/*.txt"),
            ("TVM programs, run and compared", "programs/*.py"),
            ("unit tests: programs in C", "unit/*.c"),
            ("scripts about emitted source, which most run", "exec/*/*.py"),
            ("fuzzers of readers", "fuzz/fuzz_*.c")):
        yield what, rounded(count(pattern))
    yield "malformed models and odd ones", rounded(lines(
        "bad/cases.py", r'^    "[\w ,./()\'-]+":'))


for label, number in rows():
    print("%6d  %s" % (number, label))
