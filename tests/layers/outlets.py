#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What leaves the program goes through one place for each kind of outlet, which
makes it safe: prints through say.c, JSON through json_put.c, files through
output_file.c; and numbers in texts are read by functions that tell mistakes."""
import os
import re
import sys

from compile_command import ROOT, sources

# pattern, what it is, the files that may have it
RULES = [
    (r"\b(v?f?printf|puts|putchar|perror)\(", "prints without say()",
     {"gen/cli/say.c"}),
    (r"\b(fputs|fputc|putc|fwrite)\([^;]*\b(stdout|stderr)\)",
     "prints without say()", {"gen/cli/style.c"}),
    (r"\bcJSON_Print\w*\(", "prints JSON without json_put()",
     {"gen/data/json_put.c", "gen/program/trace_json.c"}),
    (r"\bfopen\([^;]*\"[wa]|\bO_CREAT\b|\bcreat\(|\bfreopen\(",
     "makes a file without output_open()",
     {"gen/data/output_file.c",
      # appends whole lines under a lock
      "gen/records/records_write.c"}),
    (r"\b(atoi|atol|atoll|atof)\(", "reads a number without text_int()",
     set()),
]



def without_comments(text):
    return re.sub(r'("(?:[^"\\\n]|\\.)*")|/\*.*?\*/',
                  lambda m: m.group(1) or "\n" * m.group(0).count("\n"), text,
                  flags=re.DOTALL)


wrong = []
for path in [p for layer in ("ir", "passes", "gen")
             for p in sources(layer, (".c", ".h"))]:
    name = os.path.relpath(path, ROOT)
    with open(path, encoding="utf-8") as file:
        text = without_comments(file.read())
    for pattern, what, allowed in RULES:
        for match in re.finditer(pattern, text):
            if name not in allowed:
                wrong.append("%s:%d: %s" % (
                    name, text.count("\n", 0, match.start()) + 1, what))
print("\n".join(wrong) or "all outlets are used")
sys.exit(bool(wrong))
