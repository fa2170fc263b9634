#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""transcripts.py [--write] [PAGE...]: what README.md and the pages of docs/ show is
what the commands print. A marker stands in front of a fenced block:

    <!-- file NAME -->            the block is the file NAME of the page's folder
    <!-- transcript -->           lines "$ COMMAND", each with what it prints; in
                                  the shown text a line "…" stands for any lines
    <!-- output of: COMMAND -->   the block is what the COMMAND of a shell prints
    <!-- part of: COMMAND -->     the block is among it, indentation aside; a line
                                  "..." stands for any lines

Commands of a page run in its order, in one fresh folder with the project's own folders
(`examples/`, `templates/`, …) and with tirc and the example compile_model in the PATH. In a marker, "needs: WORD ..." names programs, packages of Python as
python3:NAME, or files of ../shared/models as NAME.onnx=PATH, without which the block
is not compared;
"varies" says that numbers depend on the compiler or the machine. --write writes what
is printed in place of what differs."""
import glob
import importlib.util
import os
import re
import shlex
import shutil
import subprocess
import sys
import tempfile

ROOT = os.environ.get("TIRC_ROOT") or os.path.dirname(os.path.dirname(
    os.path.dirname(os.path.abspath(__file__))))
TIRC = os.environ.get("TIRC") or os.path.join(ROOT, "build", "tirc")
MODELS = os.path.join(os.environ.get("TIRC_SHARED") or os.path.join(
    os.path.dirname(ROOT), "shared"), "models")
BLOCK = re.compile(
    r"^<!-- (?P<kind>file|transcript|output of:|part of:)(?P<rest>.*?) ?-->\n\n?"
    r"(?P<open>```[^\n]*\n)(?P<body>.*?)(?P<close>^```$)", re.M | re.S)
ELLIPSIS = "…"


class Page:
    def __init__(self, path):
        self.path = path
        self.folder = tempfile.mkdtemp(prefix="tirc-docs-")
        self.differences, self.lost = [], []
        self.count = 0
        for name in ("examples", "runtime-c", "templates", "tests", "ir",
                     "passes", "gen"):
            os.symlink(os.path.join(ROOT, name),
                       os.path.join(self.folder, name))
        programs = os.path.join(self.folder, ".bin")
        os.mkdir(programs)
        build = os.path.dirname(os.path.abspath(TIRC))
        for path in ("tirc", "tests/docs/compile_model"):
            os.symlink(os.path.join(build, path),
                       os.path.join(programs, os.path.basename(path)))
        python = os.path.join(programs, "python3")
        with open(python, "w", encoding="utf-8") as file:
            file.write("#!/bin/sh\nexec %s \"$@\"\n" % shlex.quote(sys.executable))
        os.chmod(python, 0o755)
        self.environment = {
            **{k: v for k, v in os.environ.items() if k not in (
                "CC", "CFLAGS", "CMAKE_GENERATOR")},
            "PATH": programs + os.pathsep + os.environ["PATH"],
            "LC_ALL": "C.UTF-8"}

    def run(self, command, merged):
        done = subprocess.run(
            ["bash", "-c", command], cwd=self.folder, text=True,
            env=self.environment, stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT if merged else subprocess.PIPE)
        if not merged and done.returncode:
            sys.exit("%s: exit status %d of: %s\n%s" % (
                self.path, done.returncode, command, done.stderr))
        out = done.stdout.rstrip("\n")
        return out + "\n" if out else ""

    def has(self, word):
        """A program; a package of Python; or a model, which is put into the
        folder."""
        if word.startswith("python3:"):
            return importlib.util.find_spec(word.split(":")[1]) is not None
        name, equals, path = word.partition("=")
        if not equals:
            return shutil.which(name) is not None
        place = os.path.join(self.folder, name)
        if os.path.exists(os.path.join(MODELS, path)):
            if not os.path.exists(place):
                shutil.copy(os.path.join(MODELS, path), place)
            return True
        return False

    def block(self, found):
        self.count += 1
        words, _, needs = (" " + found["rest"].strip()).partition(" needs: ")
        varies = words.endswith(" varies")
        words = re.sub(" varies$", "", words).strip()
        needs = needs.split()
        body = found["body"]
        if found["kind"] == "file":
            path = os.path.join(self.folder, words)
            os.makedirs(os.path.dirname(path), exist_ok=True)
            with open(path, "w", encoding="utf-8") as file:
                file.write(body)
            return found[0]
        if not all([self.has(word) for word in needs]):
            return found[0]
        if found["kind"] == "transcript":
            new = self.transcript(body, varies)
        elif found["kind"] == "part of:":
            new = part(body, self.run(words, False), varies)
        else:
            new = self.run(words, False)
            if same(body, new, varies):
                new = body
        if new is None:
            self.lost.append(body)
        if new in (body, None):
            return found[0]
        self.differences.append((body, new))
        start, end = found.span("body")
        base = found.start()
        return found[0][:start - base] + new + found[0][end - base:]

    def transcript(self, body, varies):
        new, lines = "", body.splitlines(True)
        while lines:
            command = lines.pop(0)
            if not command.startswith("$ "):
                sys.exit("%s: a transcript begins with $: %s"
                         % (self.path, command))
            while command.endswith("\\\n"):
                command += lines.pop(0)
            shown = ""
            while lines and not lines[0].startswith("$ "):
                shown += lines.pop(0)
            printed = self.run(command[2:], True)
            new += command + (shown if same(shown, printed, varies)
                              else printed)
        return new


def without_numbers(text):
    return re.sub(" +", " ", re.sub(r"\d+([.,]\d+)*(e-?\d+)?", "0", text))


def same(shown, printed, varies):
    if varies:
        shown, printed = without_numbers(shown), without_numbers(printed)
    parts = [re.escape(part)
             for part in re.split("^%s\n" % ELLIPSIS, shown, flags=re.M)]
    return re.fullmatch("(?:.*\n)*?".join(parts), printed) is not None


def part(shown, printed, varies):
    """shown, if it is a part of what is printed; else the part from its first line to
    its last one; None: these lines are not there."""
    def plain(text):
        text = "".join(line.strip() + "\n" for line in text.splitlines())
        return without_numbers(text) if varies else text

    parts = [re.escape(piece) for piece in
             re.split(r"^(?:\.\.\.|%s)\n" % ELLIPSIS, plain(shown), flags=re.M)]
    if re.search("^" + "(?:.*\n)*?".join(parts), plain(printed), re.M):
        return shown
    lines = printed.splitlines(True)
    words = [line.strip() for line in lines]
    ends = [line.strip() for line in shown.splitlines()]
    if len(ends[0]) > 8 and words.count(ends[0]) == 1:
        start = words.index(ends[0])
        if ends[-1] in words[start:]:
            return "".join(lines[start:words.index(ends[-1], start) + 1])
    return None


def main():
    write = "--write" in sys.argv
    pages = [a for a in sys.argv[1:] if a != "--write"] or sorted(
        [os.path.join(ROOT, "README.md"), os.path.join(ROOT, "CONTRIBUTING.md")]
        + glob.glob(os.path.join(ROOT, "docs", "**", "*.md"), recursive=True))
    failed, lost, count = [], [], 0
    for path in pages:
        with open(path, encoding="utf-8") as file:
            text = file.read()
        if not BLOCK.search(text):
            continue
        page = Page(path)
        try:
            new = BLOCK.sub(page.block, text)
        finally:
            shutil.rmtree(page.folder)
        count += page.count
        name = os.path.relpath(path, ROOT)
        for body, printed in page.differences:
            failed.append("%s shows\n%sbut this is printed:\n%s"
                          % (name, body, printed))
        for body in page.lost:
            lost.append("%s shows what is not printed; write it anew by hand:"
                        "\n%s" % (name, body))
        if write and new != text:
            with open(path, "w", encoding="utf-8") as file:
                file.write(new)
    if lost or (failed and not write):
        sys.exit("\n".join(lost + failed) + "\n./run docs writes what differs")
    print("%d blocks" % count)


main()
