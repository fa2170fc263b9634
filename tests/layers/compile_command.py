# SPDX-License-Identifier: Apache-2.0
"""The sources of the layers, and the commands that compile them."""
import json
import os
import shlex

ROOT = os.environ["TIRC_ROOT"]


def sources(layer, suffixes):
    found = []
    for folder, _, names in os.walk(os.path.join(ROOT, layer)):
        found += [os.path.join(folder, n) for n in names
                  if n.endswith(suffixes)]
    return sorted(found)


def headers(layer):
    return sources(layer, (".h",))


def room_of(path, rooms):
    """The room that a file lies in: the longest folder that holds it."""
    inside = os.path.relpath(path, ROOT)
    return max((r for r in rooms if inside.startswith(r + os.sep)), key=len)


def room_commands(build):
    """For each room ("ir", "passes/lower", ...) the entry of
    compile_commands.json of one of its sources, and its command as words. A
    room is what one static library is made of."""
    found = {}
    with open(os.path.join(build, "compile_commands.json")) as file:
        for entry in json.load(file):
            source = os.path.normpath(os.path.join(entry["directory"],
                                                   entry["file"]))
            inside = os.path.relpath(source, ROOT)
            library = os.path.basename(os.path.dirname(entry["output"]))
            folder = os.path.dirname(inside)
            while folder and library != "lib%s.a.p" % \
                    folder.replace("/", "_"):
                folder = os.path.dirname(folder)
            if folder:
                found.setdefault(folder,
                                 (entry, shlex.split(entry["command"])))
    return found


def probe_command(entry, command):
    """The command without its source and its outputs."""
    args, skip = [], False
    for arg in command:
        if skip:
            skip = False
        elif arg in ("-o", "-MF", "-MQ"):
            skip = True
        elif arg not in ("-c", "-MD", entry["file"]):
            args.append(arg)
    return args
