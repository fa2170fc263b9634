#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""compositions.py FOLDER OUT.c OUT.d: the functions of FOLDER/*.onnxtxt as a C
table (text_body.h), and a make-style list of the files, so that an added, changed
or removed one makes the table again. A function begins with the line of its head,
<domain: ...>."""
import glob
import os
import re
import sys

HEAD = re.compile(r'^<domain: "([\w.]*)", opset_import: \["": \d+\]>\s+(\w+)',
                  re.M)


def c_array(text):
    """As numbers, as string literals must not be long."""
    numbers = list(text.encode("ascii")) + [0]
    return "\n".join("\t" + ",".join(map(str, numbers[at:at + 20])) + ","
                     for at in range(0, len(numbers), 20))


def functions(path):
    """(domain, name, text) of each function; the text has as many empty lines
    at its beginning as the file has lines before it."""
    with open(path, encoding="utf-8") as file:
        text = file.read()
    if len(re.findall("^<", text, re.M)) != len(HEAD.findall(text)):
        sys.exit("%s: a function begins with a line such as "
                 '<domain: "com.microsoft", opset_import: ["": 28]>' % path)
    starts = [match.start() for match in HEAD.finditer(text)]
    for match, end in zip(HEAD.finditer(text), starts[1:] + [len(text)]):
        yield (match[1], match[2], "\n" * text.count("\n", 0, match.start()) +
               text[match.start():end].rstrip() + "\n")


def main():
    folder, out_path, dep_path = sys.argv[1:]
    paths = sorted(glob.glob(os.path.join(folder, "*.onnxtxt")))
    seen, arrays, rows = set(), [], []
    for path in paths:
        for domain, name, text in functions(path):
            if (domain, name) in seen:
                sys.exit("%s: there is another %s of the domain '%s'" % (
                    path, name, domain))
            seen.add((domain, name))
            arrays.append("static const char text_%d[] = {\n%s\n};" % (
                len(rows), c_array(text)))
            rows.append('\t{ "%s", "%s", "%s", text_%d },' % (
                domain, name, os.path.basename(path), len(rows)))
    with open(out_path, "w", encoding="utf-8") as file:
        file.write("""/* Written by compositions.py; do not edit. */
#include "text_body.h"

extern const struct composition_text composition_table[];
extern const int composition_table_count;

%s

const struct composition_text composition_table[] = {
%s
	{ 0, 0, 0, 0 } /* never an empty array */
};
const int composition_table_count = %d;
""" % ("\n".join(arrays), "\n".join(rows), len(rows)))
    with open(dep_path, "w", encoding="utf-8") as file:
        file.write("%s: %s\n" % (out_path, " ".join(
            p.replace(" ", "\\ ") for p in paths + [folder])))


main()
