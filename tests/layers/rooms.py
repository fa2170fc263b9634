#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""rooms.py BUILD: the folders of ir, passes and gen ("rooms") include each
other in one direction only. The command that compiles a source of a room says in
which folders (-I) the room finds headers. From that: no room finds a header of a
later layer; no two rooms find each other's headers, directly or by way of others;
every room that one sees, it uses; no source climbs out with a path; and the guard of
a header is named for its file."""
import functools
import os
import re
import sys

from compile_command import ROOT, headers, room_commands, room_of, sources

LAYERS = ("ir", "passes", "gen")
GUARD = re.compile(r"^#ifndef (\w+)\n#define \1$", re.MULTILINE)
INCLUDE = re.compile(r'^\s*#\s*include\s*"([^"]+)"', re.MULTILINE)


def wrong_guard(path):
    """What is wrong with the guard of the header, or None."""
    stem = re.sub(r"\W", "_", os.path.basename(path)).upper()
    want = stem if stem.startswith("TIRC_") else "TIRC_" + stem
    with open(path, encoding="utf-8") as file:
        guard = GUARD.search(file.read())
    if guard and guard[1] == want:
        return None
    return "%s: its guard is not %s" % (os.path.relpath(path, ROOT), want)


@functools.lru_cache(maxsize=None)
def has(folder, name):
    return os.path.exists(os.path.join(folder, name))


def found_by(entry, command, names):
    """Which of the names `#include "name"` would find."""
    folders = {os.path.normpath(os.path.join(entry["directory"], arg[2:]))
               for arg in command if arg.startswith("-I")}
    return {name for name in names
            if any(has(folder, name) for folder in folders)}


def cycle(sees):
    """A list of rooms that see each other in a circle, or None."""
    state = {}

    def visit(room, path):
        if state.get(room) == "done":
            return None
        if room in path:
            return path[path.index(room):] + [room]
        for other in sorted(sees[room]):
            circle = visit(other, path + [room])
            if circle:
                return circle
        state[room] = "done"
        return None

    for room in sorted(sees):
        circle = visit(room, [])
        if circle:
            return circle
    return None


def main():
    commands = room_commands(sys.argv[1])
    # A room of headers alone has no command, and sees what its headers do.
    rooms = sorted(commands) + ["passes/compiled"]
    failed = []
    home = {}
    for layer in LAYERS:
        for path in headers(layer):
            name = os.path.basename(path)
            if name in home:
                failed.append("two headers are called %s: %s and %s" % (
                    name, home[name], os.path.relpath(path, ROOT)))
            home[name] = os.path.relpath(path, ROOT)
            failed += filter(None, [wrong_guard(path)])
    names = sorted(home)
    tails = {os.path.relpath(home[n], layer): n for n in names
             for layer in LAYERS if home[n].startswith(layer + os.sep)}
    sees = {room: set() for room in rooms}
    for room in commands:
        entry, command = commands[room]
        asked = names + [t for t in tails if t not in home] + \
            sorted(home.values())
        found = found_by(entry, command, asked)
        for name in sorted(found):
            if name not in home:
                failed.append("%s finds %s by its path" % (room, name))
                continue
            there = room_of(os.path.join(ROOT, home[name]), rooms)
            if there != room:
                sees[room].add(there)
        own = [n for n in names
               if room_of(os.path.join(ROOT, home[n]), rooms) == room]
        for name in own:
            if name not in found:
                failed.append("control: %s does not find its own %s"
                              % (room, name))
    uses = {room: set() for room in rooms}
    for layer in LAYERS:
        for path in sources(layer, (".c", ".h", ".def")):
            room = room_of(path, rooms)
            with open(path, encoding="utf-8") as file:
                for name in INCLUDE.findall(file.read()):
                    if ".." in name.split("/"):
                        failed.append("%s: an include with '..'" % path)
                    elif name in home:
                        uses[room].add(room_of(
                            os.path.join(ROOT, home[name]), rooms))
    for room in sorted(sees):
        for other in sorted(sees[room]):
            if LAYERS.index(other.split("/")[0]) > \
                    LAYERS.index(room.split("/")[0]):
                failed.append("%s finds headers of %s, a later layer"
                              % (room, other))
        if room in commands:
            reached, todo = set(), [room]
            while todo:
                for other in uses[todo.pop()] - reached:
                    reached.add(other)
                    todo.append(other)
            layer = room.split("/")[0]
            for other in sorted(sees[room] - reached):
                if other.startswith(layer):
                    failed.append("%s sees %s and does not need it"
                                  % (room, other))
    circle = cycle(sees)
    if circle:
        failed.append("rooms see each other: " + " -> ".join(circle))
    if failed:
        sys.exit("\n".join(failed))


if __name__ == "__main__":
    main()
