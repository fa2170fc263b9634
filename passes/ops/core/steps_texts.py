#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""steps_texts.py ROOT FOLDER OUT.c OUT.d: the steps of operators, FOLDER/*.py, as a C
table (steps.c), and a make-style list of the files. In place of a line
"from heap import replace" is the text of heap.py."""
import os
import re
import sys

IMPORT = re.compile(r"^from (\w+) import .*$", re.MULTILINE)


def main():
    root, folder, out_path, dep_path = sys.argv[1:]
    sys.path.insert(0, os.path.join(root, "ir", "python"))
    import text_table
    texts = text_table.read(folder)

    def whole(text):
        return IMPORT.sub(lambda match: whole(texts[match[1]]), text)

    text_table.write(out_path, dep_path, folder, """\
/* Written by steps_texts.py; do not edit. */
#include "python.h"

extern const struct source steps_texts[];

%s

const struct source steps_texts[] = {
%s
	{ 0, 0, 0 },
};
""" % ("\n".join(text_table.c_array(name, whole(texts[name])) for name in texts),
       "\n".join("\t{ \"%s.py\", text_%s, sizeof text_%s - 1 }," % (
           name, name, name) for name in texts)))


if __name__ == "__main__":
    main()
