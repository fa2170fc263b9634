#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""reverse_include.py BUILD LOWER HIGHER: with the very command that compiles
a source of layer LOWER, no header of layer HIGHER can be included, while
LOWER's own headers can; and no source of LOWER climbs out with a path."""
import glob
import json
import os
import re
import shlex
import subprocess
import sys
import tempfile

build, lower, higher = sys.argv[1:]
root = os.environ["TIRC_ROOT"]


def headers(layer):
    found = []
    for folder, _, names in os.walk(os.path.join(root, layer)):
        found += [os.path.join(folder, n) for n in names if n.endswith(".h")]
    return sorted(found)


def layer_command():
    with open(os.path.join(build, "compile_commands.json")) as file:
        for entry in json.load(file):
            source = os.path.normpath(os.path.join(entry["directory"],
                                                   entry["file"]))
            inside = os.path.relpath(source, root)
            if inside.startswith(lower + os.sep):
                return entry, shlex.split(entry["command"])
    sys.exit("no source of %s in compile_commands.json" % lower)


def preprocesses(entry, command, name, where):
    """Whether `#include "name"` is found from a file of the layer."""
    probe = os.path.join(where, "probe.c")
    with open(probe, "w") as file:
        file.write('#include "%s"\n' % name)
    args, skip = [], False
    for arg in command:
        if skip:
            skip = False
        elif arg in ("-o", "-MF", "-MQ"):
            skip = True
        elif arg not in ("-c", "-MD", entry["file"]):
            args.append(arg)
    return subprocess.run(args + ["-E", probe, "-o", os.devnull],
                          cwd=entry["directory"],
                          capture_output=True).returncode == 0


failed = []
entry, command = layer_command()
with tempfile.TemporaryDirectory() as where:
    own = [os.path.basename(h) for h in headers(lower)]
    for name in own[:1]:
        if not preprocesses(entry, command, name, where):
            failed.append("control: %s cannot include its own %s"
                          % (lower, name))
    for path in headers(higher):
        inside = os.path.relpath(path, os.path.join(root, higher))
        tails = {inside, os.path.basename(path), os.path.join(higher, inside)}
        for name in sorted(tails - set(own)):
            if preprocesses(entry, command, name, where):
                failed.append("%s can include %s's %s"
                              % (lower, higher, name))

climb = re.compile(r'^\s*#\s*include\s*["<][^">]*\.\./')
for path in sorted(glob.glob(os.path.join(root, lower, "**", "*.[ch]"),
                             recursive=True)):
    with open(path, encoding="utf-8") as file:
        for number, line in enumerate(file, 1):
            if climb.match(line):
                failed.append("%s:%d: an include with '..'" % (path, number))

if failed:
    sys.exit("\n".join(failed))
