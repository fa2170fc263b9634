#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""embed.py TEMPLATES_DIR OUT.c OUT.d [WITHOUT...]: all files below
TEMPLATES_DIR, but those below its folders WITHOUT, and the sources of runtime-c
beside it as runtime/NAME, as a C table sorted by path, and a make-style list of
the files and folders read, so that an added, changed or removed one rebuilds
the table."""
import os
import sys

OWN = {"meson.build", "embed.py"}


def collect(top):
    paths, folders = [], []
    for folder, names, files in os.walk(top):
        names[:] = sorted(n for n in names
                          if not n.startswith(".") and n != "__pycache__")
        folders.append(folder)
        for name in files:
            path = os.path.relpath(os.path.join(folder, name), top)
            if name.startswith(".") or name.endswith(("~", ".pyc")):
                continue
            if path.replace(os.sep, "/") not in OWN:
                paths.append(path.replace(os.sep, "/"))
    return sorted(paths, key=lambda p: p.encode()), folders


def c_string(text):
    return '"%s"' % text.replace("\\", "\\\\").replace('"', '\\"')


def main():
    top, out_path, dep_path, *without = sys.argv[1:]
    paths, folders = collect(top)
    runtime = os.path.join(top, os.pardir, "runtime-c")
    paths = sorted(paths + ["runtime/" + p for p in collect(runtime)[0]
                            if p.endswith((".h", ".c", ".ld"))])
    where = {p: os.path.join(runtime, p[len("runtime/"):])
             if p.startswith("runtime/") else os.path.join(top, p)
             for p in paths}
    folders.append(runtime)
    for prefix in without:
        paths = [p for p in paths if not p.startswith(prefix + "/")]
    out = ["/* Written by templates/embed.py; do not edit. */",
           '#include "templates.h"', "",
           "extern const struct template_file template_table[];",
           "extern const int template_table_count;", ""]
    rows = []
    for index, path in enumerate(paths):
        with open(where[path], "rb") as file:
            data = file.read()
        out.append("static const unsigned char file_%d[] = {" % index)
        padded = data + b"\0"
        for at in range(0, len(padded), 16):
            out.append("\t" + ",".join(map(str, padded[at:at + 16])) + ",")
        out.append("};\n")
        rows.append("\t{ %s, file_%d, %d }," % (c_string(path), index,
                                                len(data)))
    out.append("const struct template_file template_table[] = {")
    out += rows
    out.append("\t{ 0, 0, 0 } /* never an empty array */")
    out.append("};\n")
    out.append("const int template_table_count = %d;" % len(paths))
    with open(out_path, "w", encoding="utf-8") as file:
        file.write("\n".join(out) + "\n")
    inputs = [where[p] for p in paths] + folders
    with open(dep_path, "w", encoding="utf-8") as file:
        file.write("%s: %s\n" % (out_path, " ".join(
            p.replace(" ", "\\ ") for p in inputs)))


main()
