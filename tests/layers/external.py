#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""external.py BUILD: each function and table of ir, passes and gen that is not
static is used in another object file, or tests name it, or it belongs to an
interface: the headers that are installed and the public header tirc.h."""
import json
import os
import re
import shutil
import subprocess
import sys

from compile_command import ROOT, sources

LAYERS = ("ir", "passes", "gen")


def words(paths):
    found = set()
    for path in paths:
        with open(path, encoding="utf-8") as file:
            found.update(re.findall(r"\w+", file.read()))
    return found


def objects(build):
    """Each object file below the folders of the layers, and the source that
    it is made of if that is no generated one."""
    made_of = {}
    with open(os.path.join(build, "compile_commands.json")) as file:
        for entry in json.load(file):
            source = os.path.normpath(os.path.join(entry["directory"],
                                                   entry["file"]))
            output = os.path.join(build, entry["output"])
            inside = os.path.relpath(source, ROOT).split(os.sep)[0]
            made = os.path.relpath(output, build).split(os.sep)[0]
            if os.path.exists(output) and (inside in LAYERS or made in LAYERS):
                made_of[output] = source if inside in LAYERS else None
    return made_of


def symbols(paths):
    """(object file, name, is defined there) for each external symbol."""
    nm = subprocess.run(["nm", "-A", "-g", "-P"] + paths, text=True,
                        capture_output=True, check=True)
    for line in nm.stdout.splitlines():
        path, row = line.split(": ", 1)
        name, kind = row.split()[:2]
        yield path, name, kind not in "Uwv"


def interface(build):
    """The names in installed headers and in tirc.h."""
    with open(os.path.join(build, "meson-info",
                           "intro-install_plan.json")) as file:
        headers = list(json.load(file)["headers"])
    return words([h for h in headers if h.endswith(".h")] +
                 [os.path.join(ROOT, "gen", "api", "tirc.h")])


def main():
    if shutil.which("nm") is None:
        sys.exit(77)
    build = sys.argv[1]
    made_of = objects(build)
    home, users = {}, {}
    for path, name, defined in symbols(sorted(made_of)):
        if defined:
            home[name] = path
        else:
            users.setdefault(name, set()).add(path)
    if not home or not users:
        sys.exit("control: no symbol in the %d object files" % len(made_of))
    needed = interface(build) | words(sources("tests", (".c", ".h"))) | \
        {"main"}
    for layer in LAYERS:
        needed |= words(sources(layer, (".def",)))
    unused = ["%s: %s is used in no other file: make it static, or remove it"
              % (os.path.relpath(made_of[home[name]], ROOT), name)
              for name in sorted(home)
              if made_of[home[name]] and name not in users and
              name not in needed]
    if unused:
        sys.exit("\n".join(sorted(unused)))


if __name__ == "__main__":
    main()
