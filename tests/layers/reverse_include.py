#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""reverse_include.py BUILD LOWER HIGHER: with the very command that compiles
a source of layer LOWER, no header of layer HIGHER can be included, while
LOWER's own headers can; and no source of LOWER climbs out with a path."""
import json
import os
import re
import shlex
import subprocess
import sys
import tempfile

ROOT = os.environ["TIRC_ROOT"]
CLIMB = re.compile(r'^\s*#\s*include\s*["<][^">]*\.\./')


def sources(layer, suffixes):
    found = []
    for folder, _, names in os.walk(os.path.join(ROOT, layer)):
        found += [os.path.join(folder, n) for n in names
                  if n.endswith(suffixes)]
    return sorted(found)


def headers(layer):
    return sources(layer, (".h",))


def layer_command(build, layer):
    """The entry of compile_commands.json for one of the layer's sources, and
    its command as words."""
    with open(os.path.join(build, "compile_commands.json")) as file:
        for entry in json.load(file):
            source = os.path.normpath(os.path.join(entry["directory"],
                                                   entry["file"]))
            inside = os.path.relpath(source, ROOT)
            if inside.startswith(layer + os.sep) and \
                    "lib%s.a.p" % layer in entry["output"]:
                return entry, shlex.split(entry["command"])
    sys.exit("no source of %s in compile_commands.json" % layer)


def probe_command(entry, command):
    """The command without its source and what it writes."""
    args, skip = [], False
    for arg in command:
        if skip:
            skip = False
        elif arg in ("-o", "-MF", "-MQ"):
            skip = True
        elif arg not in ("-c", "-MD", entry["file"]):
            args.append(arg)
    return args


def finds(entry, command, name, where):
    """Whether `#include "name"` is found from a source of the layer."""
    probe = os.path.join(where, "probe.c")
    with open(probe, "w") as file:
        file.write('#include "%s"\n' % name)
    done = subprocess.run(
        probe_command(entry, command) + ["-E", probe, "-o", os.devnull],
        cwd=entry["directory"], text=True, capture_output=True)
    return done.returncode == 0


def main():
    build, lower, higher = sys.argv[1:]
    failed = []
    entry, command = layer_command(build, lower)
    with tempfile.TemporaryDirectory() as where:
        own = [os.path.basename(h) for h in headers(lower)]
        for name in own[:1]:
            if not finds(entry, command, name, where):
                failed.append("control: %s does not find its own %s"
                              % (lower, name))
        for path in headers(higher):
            inside = os.path.relpath(path, os.path.join(ROOT, higher))
            tails = {inside, os.path.basename(path),
                     os.path.join(higher, inside)}
            for name in sorted(tails - set(own)):
                if finds(entry, command, name, where):
                    failed.append("%s can include %s's %s"
                                  % (lower, higher, name))
    for path in sources(lower, (".c", ".h", ".def")):
        with open(path, encoding="utf-8") as file:
            for number, line in enumerate(file, 1):
                if CLIMB.match(line):
                    failed.append("%s:%d: an include with '..'"
                                  % (path, number))
    if failed:
        sys.exit("\n".join(failed))


if __name__ == "__main__":
    main()
