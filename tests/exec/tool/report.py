#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""`tirc report`: the page is well-formed, its links lead to its ids, it needs
nothing from elsewhere; every line of the source is in it once; ranges are within
extents; digests are those of the files that compile writes; words of a model are
text, whatever they have."""
import glob
import hashlib
import os
import re
import sys
from html.parser import HTMLParser

import turns
from helper import (DIGITS, ROOT, SANITIZED, fail, has_dialect, shared, tirc,
                    work_folder)
from proto import (blob, floats, graph, node, number, opset, tensor,
                   value_info)

VOID = {"meta", "br", "hr", "img", "link", "input", "wbr"}
TARGETS = ("c99", "gnu-c", "misra", "cuda", "opencl", "cortex-m4")
IN_THE_TEXT = {"misra", "cortex-m4"}  # weights, however many
DIALECTS = {"cortex-m4": "gnu-arm"}
RANGE = re.compile(r"\[(-?\d+|any)\.\.([^\]]+)\]")
EXTENT = re.compile(r"\[([^\]]*)\]")
KNOWN = {"proven", "an index is data",
         "first element of an instruction's operand"}


class Page(HTMLParser):
    """Its ids, links, rows of tables, and lines of source by id."""

    def __init__(self, where):
        super().__init__(convert_charrefs=True)
        self.where, self.open = where, []
        self.ids, self.links, self.rows = set(), [], []
        self.lines, self.line, self.cell = {}, None, None
        self.tags = set()

    def wrong(self, what):
        fail("%s: line %d: %s" % (self.where, self.getpos()[0], what))

    def handle_starttag(self, tag, attrs):
        self.tags.add(tag)
        if tag not in VOID:
            self.open.append(tag)
        for key, value in attrs:
            if key == "id":
                if value in self.ids:
                    self.wrong("the id %s occurs twice" % value)
                self.ids.add(value)
                if tag == "li" and value.startswith("line-"):
                    self.line = value
                    self.lines[value] = ""
            elif key in ("href", "xlink:href"):
                if not value.startswith("#"):
                    self.wrong("a link leads elsewhere: " + value)
                self.links.append(value[1:])
            elif key in ("src", "srcset", "action") or key.startswith("on"):
                self.wrong("an attribute %s" % key)
        if tag in ("script", "iframe", "object", "embed", "link", "img", "base"):
            self.wrong("an element %s" % tag)
        if tag == "tr":
            self.rows.append([])
        if tag in ("td", "th") and self.rows:
            self.cell = ""

    def handle_startendtag(self, tag, attrs):
        self.handle_starttag(tag, attrs)
        if tag not in VOID:
            self.open.pop()

    def handle_endtag(self, tag):
        if not self.open or self.open.pop() != tag:
            self.wrong("</%s> closes nothing" % tag)
        if tag == "li":
            self.line = None
        if tag in ("td", "th") and self.cell is not None:
            self.rows[-1].append(self.cell)
            self.cell = None

    def handle_data(self, data):
        if self.line is not None and self.open[-1] != "a":
            self.lines[self.line] += data
        if self.cell is not None:
            self.cell += data


def parse(path):
    with open(path, encoding="utf-8") as file:
        text = file.read()
    page = Page(path)
    page.feed(text)
    page.close()
    if page.open:
        fail("%s: not closed: %s" % (path, page.open))
    for link in page.links:
        if link not in page.ids:
            fail("%s: a link leads to no id: %s" % (path, link))
    if re.search(r"@import|url\(|https?://(?!www\.w3\.org/)", text):
        fail("%s names something elsewhere" % path)
    return page, text


def check_ranges(page, where):
    """The accesses of a page are within their arrays; how many there are."""
    n = 0
    for row in page.rows:
        if len(row) != 7 or row[1] not in ("read", "write"):
            continue
        n += 1
        array, _, _, ranges, extents, proof, _ = row
        if proof not in KNOWN:
            fail("%s: the access of %s%s of %s is %s" % (
                where, array, ranges, extents, proof))
        if proof != "proven":
            continue
        found, sizes = RANGE.findall(ranges), EXTENT.findall(extents)
        if len(found) != len(sizes):
            fail("%s: %s has %s of %s" % (where, array, ranges, extents))
        for (low, high), size in zip(found, sizes):
            if low == "any" or int(low) < 0 or (
                    high.isdigit() and size.isdigit()
                    and int(high) >= int(size)):
                fail("%s: %s has %s of %s" % (where, array, ranges, extents))
    return n


def check_files(page, out, where):
    """The digests are those of the files, and the lines are their lines."""
    names = sorted(os.listdir(out))
    digests = {row[0]: row[2] for row in page.rows
               if len(row) == 3 and re.fullmatch("[0-9a-f]{64}", row[2])}
    if sorted(digests) != names:
        fail("%s: files %s, written %s" % (where, sorted(digests), names))
    order = [row[0] for row in page.rows if row and row[0] in digests
             and len(row) == 3]
    for name in names:
        with open(os.path.join(out, name), "rb") as file:
            data = file.read()
        if hashlib.sha256(data).hexdigest() != digests[name]:
            fail("%s: another digest of %s" % (where, name))
        if not name.endswith((".h", ".c", ".cu", ".cl")) \
                or name.endswith("_weights.c"):
            continue
        number_, lines = order.index(name), data.decode().split("\n")[:-1]
        for i, line in enumerate(lines):
            shown = page.lines.get("line-%d-%d" % (number_, i + 1))
            if shown != line:
                fail("%s: line %d of %s: %r is shown as %r" % (
                    where, i + 1, name, line, shown))
        beyond = "line-%d-%d" % (number_, len(lines) + 1)
        if beyond in page.lines:
            fail("%s: a line that %s does not have" % (where, name))


def check_model(path, target, options=()):
    folder = work_folder()
    page_path = os.path.join(folder, "report.html")
    where = "%s for %s" % (path, target)
    given = [path, "--target", target, *options]
    tirc("report", *given, "-q", "-o", page_path)
    page, text = parse(page_path)
    if not re.match(r"<!DOCTYPE html><!-- written by tirc \d", text):
        fail(where + ": tirc would not replace its own report")
    n = check_ranges(page, where)
    out = os.path.join(folder, "out")
    tirc("compile", *given, "-q", "-o", out)
    check_files(page, out, where)
    if (target == "misra") != ("compliance" in page.ids):
        fail(where + ": compliance")
    return n


def models():
    found = [DIGITS] + sorted(glob.glob(os.path.join(ROOT, "tests", "golden",
                                                     "*.onnx")))
    top = shared()
    if top:
        found += sorted(p for p in glob.glob(os.path.join(
            top, "models", "**", "model.onnx"), recursive=True)
            if os.path.getsize(p) < 20e6
            and turns.is_turn_of(os.path.relpath(p, top), 3)
            and not (SANITIZED and is_large(p)))
    return found


def is_large(path):
    """Is it one of the large networks, whose files only say how many weights there
    are? Under the sanitizers a report of it takes a minute, and runs no code that the
    others do not."""
    return os.path.basename(os.path.dirname(path)).startswith("light_")


def targets_for(path):
    """Targets that have the weights in the text print 100 million numbers of the
    large networks."""
    return [t for t in TARGETS if not is_large(path) or t not in IN_THE_TEXT]


def hostile():
    """A model whose names and texts would be markup."""
    a = "</td></li><script>alert(1)</script><img src=x onerror=e>\"'&lt;`|\n"

    def n(name):
        return a + name
    body = graph(
        [node("Mul", [n("x"), n("w")], [n("a")], n("mul")),
         node("Relu", [n("a")], [n("y")], n("relu"))],
        [value_info(n("x"), [2, 3])], [value_info(n("y"), [2, 3])],
        [tensor(n("w"), [3], floats(1, 2, 3))], n("g"))
    return number(1, 8) + blob(2, n("producer")) + blob(7, body) + blob(
        8, opset(21))


def check_hostile():
    folder = work_folder()
    path = os.path.join(folder, "h.onnx")
    with open(path, "wb") as file:
        file.write(hostile())
    page_path = os.path.join(folder, "h.html")
    for target in ("c99", "misra"):
        tirc("report", path, "--target", target, "-q", "--name", "h", "--force",
             "-o", page_path)
        page, _ = parse(page_path)
        check_ranges(page, path)
        if not any("<script>alert(1)</script>" in cell
                   for row in page.rows for cell in row):
            fail("the names of the model are not shown")
    done = tirc("report", path, "--target", "c99", "-q", "--name", "h",
                "--markdown")
    for line in done.stdout.split("\n"):
        if not line.startswith("    ") and re.search(r"(?<!\\)<", line):
            fail("markup in Markdown: " + line)


def check_pictures():
    """A program dot that fails, or that prints anything else, leaves a list."""
    folder = work_folder()
    path, fake = os.path.join(folder, "p.html"), os.path.join(folder, "dot")
    for script, why in (("exit 3", "ended with status 3"),
                        ("echo '<script>'", "gives no picture")):
        with open(fake, "w", encoding="utf-8") as file:
            file.write("#!/bin/sh\n%s\n" % script)
        os.chmod(fake, 0o755)
        tirc("report", DIGITS, "--target", "c99", "-q", "-o", path,
             env={**os.environ, "PATH": folder + ":" + os.environ["PATH"]})
        _, text = parse(path)
        if why not in text or "conv1 (Conv)" not in text.replace("</a>", ""):
            fail("no list of nodes with a dot that does: " + script)
    page, _ = parse(path)
    if not {"svg", "rect"} <= page.tags:
        fail("there is no picture of the workspace")


def check_partition():
    """Of a partition, the digests of its text and of its constants are shown."""
    folder = work_folder()
    path = os.path.join(folder, "p.json")
    tirc("partition", DIGITS, "--target", "c99", "-o", path)
    text = tirc("report", path, "--target", "c99", "--markdown").stdout
    for name in ("p.json", "p.weights"):
        with open(os.path.join(folder, name), "rb") as file:
            row = "| %s | %s |" % (name, hashlib.sha256(
                file.read()).hexdigest())
        if row not in text:
            fail("no digest of " + name)


def check_output():
    """The same bytes each time; a file of somebody else is not replaced."""
    folder = work_folder()
    a, b = os.path.join(folder, "a.html"), os.path.join(folder, "b.html")
    for path in (a, b, a):
        tirc("report", DIGITS, "--target", "c99", "-o", path)
    with open(a, "rb") as x, open(b, "rb") as y:
        text = x.read()
        if text != y.read():
            fail("two reports differ")
    if tirc("report", DIGITS, "--target", "c99").stdout.encode() != text:
        fail("standard output has another report")
    with open(a, "w", encoding="utf-8") as file:
        file.write("mine\n")
    tirc("report", DIGITS, "--target", "c99", "-o", a, status=1)
    tirc("report", DIGITS, "--target", "c99", "-q", "--markdown", "-o", a,
         "--force")
    tirc("report", DIGITS, "--target", "c99", "-q", "--markdown", "-o", a)


if len(sys.argv) > 1:
    for given in sys.argv[1:]:
        for target in TARGETS:
            print(given, target, check_model(given, target))
    sys.exit()
check_output()
check_pictures()
check_partition()
check_hostile()
accesses = cases = 0
for target in TARGETS:
    if has_dialect(DIALECTS.get(target, target)):
        accesses += check_model(DIGITS, target)
        cases += 1
for given in models():
    for target in turns.some(os.path.relpath(given, ROOT), targets_for(given)):
        if has_dialect(DIALECTS.get(target, target)):
            accesses += check_model(given, target)
            cases += 1
if accesses < 100:
    fail("only %d accesses were shown" % accesses)
print("%d models and targets, %d accesses" % (cases, accesses))
