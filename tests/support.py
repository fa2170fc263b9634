#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What ONNX's tests gave, and the page that shows it.

    support.py            docs/reference/onnx-support.md is what tests/conformance.txt
                          says, and that agrees with itself
    support.py --write    writes the page

`./run conformance --report` writes both. A line of conformance.txt is

    onnx VERSION
    files OPERATOR SINCE COUNT ULP     SINCE: the operator set since which
                                       ONNX defines the operator so
    left TEST RESULT OPERATOR@SINCE,… REASON    a file that does not pass"""
import collections
import os
import sys

ROOT = os.environ.get("TIRC_ROOT") or os.path.dirname(os.path.dirname(
    os.path.abspath(__file__)))
RESULTS = os.path.join(ROOT, "tests", "conformance.txt")
PAGE = os.path.join(ROOT, "docs", "reference", "onnx-support.md")
HEAD = """# ONNX's tests, operator by operator

For readers who ask how well one operator is tested.

<!-- written by ./run conformance --report -->

onnx %s brings %d tests: a model and its data each. tirc translates each
model for the target gnu-c; the C is compiled with -O1 and must give the
expected results within the test's tolerance (float16: twice that; DFT and STFT:
results computed in float64). Inputs that decide the size of a result are
constants of the model. A test that ends in `_expanded` has the operator's
definition as nodes and counts for that operator; a test of several operators
counts for each.

- `since`: the first operator set with this definition of the operator;
- `passed`: how many of the operator's tests pass;
- `ULP`: the largest error of all results that are floats of 16 bits and more,
  in units in the last place of the expected value. Many expected values were
  computed in float32, too; sums that cancel have large errors in this unit. Of
  random operators only types and shapes are compared here.

%d tests pass, %d are refused with a message, %d fail.

| operator | since | passed | ULP |
|---|---|---|---|
"""
LEFT = """
## Tests that do not pass

| test | operators | reason |
|---|---|---|
"""


class Results:
    """rows: (operator, since) to [tests, ULP]; left: name of a test that does
    not pass to (result, [(operator, since)], reason)."""

    def __init__(self):
        self.version, self.n_tests = "", 0
        self.rows, self.left = {}, {}

    def text(self):
        lines = ["# ./run conformance --report writes this; tests/support.py "
                 "tells the form.",
                 "onnx %s %d" % (self.version, self.n_tests)]
        lines += ["files %s %d %d %s" % (*key, *value)
                  for key, value in sorted(self.rows.items())]
        lines += ["left %s %s %s %s" % (
            name, result, ",".join("%s@%d" % key for key in keys), reason)
            for name, (result, keys, reason) in sorted(self.left.items())]
        return "\n".join(lines) + "\n"

    def page(self):
        missing = collections.Counter(
            key for _, keys, _ in self.left.values() for key in keys)
        counts = collections.Counter(row[0] for row in self.left.values())
        out = HEAD % (self.version, self.n_tests,
                      self.n_tests - len(self.left), counts["refused"],
                      counts["failed"])
        for key, (tests, ulp) in sorted(self.rows.items()):
            passed = tests - missing[key]
            out += "| %s | %d | %d of %d | %s |\n" % (
                *key, passed, tests, ulp if passed else "")
        if self.left:
            out += LEFT
        for name, (_, keys, reason) in sorted(self.left.items()):
            out += "| %s | %s | %s |\n" % (
                name, ", ".join(key[0] for key in keys),
                reason.replace("|", "\\|"))
        return out

    def write(self):
        for path, text in ((RESULTS, self.text()), (PAGE, self.page())):
            with open(path, "w", encoding="utf-8") as file:
                file.write(text)


def read():
    """The stored results; none: an empty object."""
    found = Results()
    if not os.path.exists(RESULTS):
        return found
    with open(RESULTS, encoding="utf-8") as file:
        lines = [line.rstrip("\n") for line in file if line[0] != "#"]
    for line in lines:
        kind, rest = line.split(" ", 1)
        if kind == "onnx":
            found.version, count = rest.split()
            found.n_tests = int(count)
        elif kind == "files":
            operator, since, tests, ulp = rest.split()
            found.rows[operator, int(since)] = [int(tests), ulp]
        else:
            name, result, keys, reason = rest.split(" ", 3)
            pairs = (key.rsplit("@", 1) for key in keys.split(","))
            found.left[name] = (result, [(operator, int(since))
                                         for operator, since in pairs],
                                reason)
    return found


def main():
    results = read()
    if not results.rows:
        sys.exit("tests/conformance.txt has no results")
    for name, (_, keys, _) in results.left.items():
        if not set(keys) <= set(results.rows):
            sys.exit("tests/conformance.txt: %s has an operator without a "
                     "line" % name)
    if sys.argv[1:] == ["--write"]:
        results.write()
        return
    with open(PAGE, encoding="utf-8") as file:
        if file.read() != results.page():
            sys.exit("docs/reference/onnx-support.md is not what tests/conformance.txt "
                     "says\n./run docs writes it")


if __name__ == "__main__":
    main()
