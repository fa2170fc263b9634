#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""headers.py BUILD LAYER: every header of the layer compiles on its own, with
the flags of the layer's sources."""
import os
import subprocess
import sys
import tempfile

from compile_command import ROOT, headers, probe_command, room_commands

build, layer = sys.argv[1:]
failed = []
commands = room_commands(build)
with tempfile.TemporaryDirectory() as where:
    probe = os.path.join(where, "probe.c")
    for path in headers(layer):
        inside = os.path.relpath(path, ROOT)
        room = max((r for r in commands if inside.startswith(r + os.sep)),
                   key=len, default="passes/kernels")
        entry, command = commands[room]
        with open(probe, "w") as file:
            file.write('#include "%s"\nextern int probe;\n' % path)
        done = subprocess.run(
            probe_command(entry, command) + ["-fsyntax-only", probe],
            cwd=entry["directory"], text=True, capture_output=True)
        if done.returncode != 0:
            failed.append("%s does not stand alone\n%s" % (path, done.stderr))
if failed:
    sys.exit("\n".join(failed))
