#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""library_texts.py ROOT FOLDER OUT.c OUT.d: the texts of modules, FOLDER/*.py, as a C
table (library_text.h), and a make-style list of the files. The module of a text is the
one that modules.def gives its name, in capitals: topi_nn.py has functions of TOPI_NN,
tvm.topi.nn, and relay-print.py is a part of RELAY, tvm.relay. Docstrings and comments become empty lines, so that the table is small and
lines keep their numbers."""
import os
import sys


def main():
    root, folder, out_path, dep_path = sys.argv[1:]
    sys.path.insert(0, os.path.join(root, "ir", "python"))
    import text_table
    texts = text_table.read(folder)
    names = {name: name.replace("-", "_") for name in texts}
    text_table.write(out_path, dep_path, folder, """\
/* Written by library_texts.py; do not edit. */
#include "library_text.h"

%s

const struct library_text library_text_table[] = {
%s
};
const int library_text_count = %d;
""" % ("\n".join(text_table.c_array(names[name], texts[name]) for name in texts),
       "\n".join("\t{ IN_%s, { \"%s\", text_%s, sizeof text_%s - 1 } }," % (
           name.split("-")[0].upper(), name.replace("_", "."), names[name], names[name])
                 for name in texts),
       len(texts)))


if __name__ == "__main__":
    main()
