#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""compositions.py FOLDER OUT.c OUT.d: the functions of FOLDER/*.onnxtxt as a C
table (text_body.h), and a make-style list of the files, so that an added, changed
or removed one makes the table again. A head, <domain: ...>, is that of all functions
up to the next one."""
import glob
import os
import re
import sys

HEAD = re.compile(r'<domain: "([\w.]*)", opset_import: \["": \d+\]>$')
NAME = re.compile(r"(\w+) [<(]")


def c_array(text):
    """As numbers, as string literals must not be long."""
    numbers = list(text.encode("ascii")) + [0]
    return "\n".join("\t" + ",".join(map(str, numbers[at:at + 20])) + ","
                     for at in range(0, len(numbers), 20))


def functions(path):
    """(domain, name, text) of each function. The text has the head before the
    function, and as many empty lines before it as the file has lines."""
    head, domain, found = "", "", []
    with open(path, encoding="utf-8") as file:
        for number, line in enumerate(file):
            if HEAD.match(line):
                head, domain = line.strip(), HEAD.match(line)[1]
            elif NAME.match(line):
                found.append([domain, NAME.match(line)[1],
                              "\n" * number + head + line])
            elif found and not line.startswith("#"):
                found[-1][2] += line
    return found


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


if __name__ == "__main__":
    main()
