#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""headers.py BUILD LAYER: every header of the layer compiles on its own, with
the flags of the layer's sources. A header that a source of its room includes before
anything else does: the source was compiled."""
import os
import re
import subprocess
import sys
import tempfile

from compile_command import (ROOT, headers, probe_command, room_commands, room_of,
                             sources)

FIRST = re.compile(r'^\s*#.*', re.M)

build, layer = sys.argv[1:]
commands = room_commands(build)
rooms = [*commands, "passes/compiled"]  # of headers alone


def first_includes():
    """(room, name of a header) of what the sources of the layer begin with."""
    for path in sources(layer, (".c",)):
        with open(path, encoding="utf-8") as file:
            line = FIRST.search(file.read())
        name = line and re.fullmatch(r'#include "([^"]+)"', line[0].strip())
        if name:
            yield room_of(path, rooms), name[1]


failed = []
proven = set(first_includes())
with tempfile.TemporaryDirectory() as where:
    probe = os.path.join(where, "probe.c")
    for path in headers(layer):
        room = room_of(path, rooms)
        if (room, os.path.basename(path)) in proven:
            continue
        entry, command = commands.get(room) or commands["passes/kernels"]
        with open(probe, "w") as file:
            file.write('#include "%s"\nextern int probe;\n' % path)
        done = subprocess.run(
            probe_command(entry, command) + ["-fsyntax-only", probe],
            cwd=entry["directory"], text=True, capture_output=True)
        if done.returncode != 0:
            failed.append("%s does not stand alone\n%s" % (path, done.stderr))
if failed:
    sys.exit("\n".join(failed))
