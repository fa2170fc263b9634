#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""composition_texts.py: the texts of compositions are valid in ONNX's text form,
and give ONNX's operators attributes that they have. The check that the build runs
finds mistakes."""
import glob
import os
import subprocess
import sys

from onnx import defs, parser

from helper import ROOT, fail, work_folder

COMPOSE = os.path.join(ROOT, "gen", "onnx", "compose")
sys.path.insert(0, COMPOSE)
from compositions import functions  # noqa: E402


def schema_of(node):
    try:
        return defs.get_schema(node.op_type, domain=node.domain)
    except defs.SchemaError:
        return None


def check(path, text):
    function = parser.parse_function(text)
    for node in function.node:
        schema = schema_of(node)
        if schema is None and not node.domain:
            fail("%s: ONNX has no %s" % (path, node.op_type))
        for attribute in node.attribute if schema else []:
            if attribute.name not in schema.attributes:
                fail("%s: %s, %s has no attribute %s" % (
                    path, function.name, node.op_type, attribute.name))
    return function.name


count = 0
for path in sorted(glob.glob(os.path.join(COMPOSE, "compositions", "*.onnxtxt"))):
    for _, _, text in functions(path):
        check(os.path.basename(path), text)
        count += 1
if count < 20:
    fail("only %d texts were found" % count)
print(count, "texts")

# A text with a mistake, and the message.
WRONG = [
    ("(x) => (y) { y = Rellu (x) }", "there is no operator 'Rellu'"),
    ("(x) => (y) { y = Add (x) }", "too few or too many inputs of 'Add'"),
    ("(x) => (y) { y, z = Relu (x) }", "too few or too many outputs of 'Relu'"),
    ("(x) => (y) { y = Add (x, z) }", "no tensor and no attribute 'z'"),
    ("(x) => (y) { z = Relu (x) }", "no node computes the output 'y'"),
    ("(x) => (y) { y = Relu (x) z = Relu (x) }", "nothing reads the tensor 'z'"),
    ("(x) => (y) { [\"z\"] y = Relu (x) }", "no tensor and no attribute 'z'"),
    ("(x) => (y) { [\"x +\"] y = Relu (x) }", "expected"),
    ("(x) => (y) { [\"f(x)\"] y = Relu (x) }", "have no function 'f'"),
    ("(x) => (y) { y = Swish <alpha = @alpha> (x) }", "no attribute 'alpha'"),
    ("(x) => (y) { [\"len(x, x)\"] y = Relu (x) }", "have no function 'len'"),
    ("<x> (x) => (y) { y = Relu (x) }", "has the name of the input 'x'"),
    ("<y> (x) => (y) { y = Relu (x) }", "the same name as the tensor 'y'"),
    ("(x) => (y) { y = tirc.ScaledProduct <alpha = 1> (x) }",
     "declares no attribute 'alpha'"),
    ("(x) => (y) { y = Relu (x) = tirc.Error <bad = \"\"> () }",
     "only tirc.Error has no outputs"),
    ("(x) => (y) { y = Relu x }", "the operator's inputs"),
]
path = os.path.join(work_folder(), "text")
for text, message in WRONG:
    with open(path, "w", encoding="utf-8") as file:
        file.write('<domain: "", opset_import: ["": 28]>\nText ' + text)
    done = subprocess.run([os.environ["COMPOSITION_TEXTS"], path], text=True,
                          capture_output=True)
    if done.returncode != 1 or message not in done.stderr:
        fail("expected '%s' of %s:\n%s" % (message, text, done.stderr))
