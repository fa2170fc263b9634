#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""links.py: links between the project's texts lead somewhere, pages of docs/ that
sources name are there, each page opens with a line on its readers, and docs/README.md
lists each."""
import glob
import os
import re
import subprocess
import sys

ROOT = os.environ.get("TIRC_ROOT") or os.path.dirname(os.path.dirname(
    os.path.dirname(os.path.abspath(__file__))))
TEXT = (".c", ".h", ".def", ".py", ".md", ".build", ".json", ".tmpl", ".txt",
        ".sh", "run")
failed = []


def read(path):
    with open(os.path.join(ROOT, path), encoding="utf-8") as file:
        return file.read()


def without_code(text):
    """The text without blocks of code, and without code that looks like a link:
    f["name"](x)."""
    text = re.sub(r"^ *```.*?^ *```$", "", text, flags=re.M | re.S)
    return re.sub(r"`[^`\n]*`", lambda m: "" if "](" in m[0] else m[0], text)


def anchors(path):
    found, seen = set(), {}
    for heading in re.findall(r"^#+ (.*)$", without_code(read(path)), re.M):
        heading = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", heading)
        name = re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-")
        seen[name] = seen.get(name, -1) + 1
        found.add(name + ("-%d" % seen[name] if seen[name] else ""))
    return found


def files():
    listed = subprocess.run(["git", "ls-files", "-co", "--exclude-standard"],
                            cwd=ROOT, capture_output=True, text=True)
    if listed.returncode == 0:
        return [f for f in listed.stdout.split("\n")
                if os.path.isfile(os.path.join(ROOT, f))]
    return [os.path.relpath(f, ROOT) for f in
            glob.glob(os.path.join(ROOT, "**", "*"), recursive=True)
            if os.path.isfile(f) and "/build" not in f]


everything = files()
for page in [f for f in everything if f.endswith(".md")]:
    for label, target in re.findall(r"\[([^\]]*)\]\(([^)\s]+)\)",
                                    without_code(read(page))):
        if re.match(r"[a-z]+:", target):
            continue
        path, _, anchor = target.partition("#")
        there = os.path.normpath(os.path.join(os.path.dirname(page), path)) \
            if path else page
        if not os.path.exists(os.path.join(ROOT, there)):
            failed.append("%s: there is no %s" % (page, target))
        elif anchor and there.endswith(".md") and \
                anchor not in anchors(there):
            failed.append("%s: there is no heading of %s" % (page, target))
for path in everything:
    if not path.endswith(TEXT) or "/golden/" in path:
        continue
    for name in re.findall(r"\bdocs/[\w/-]+\.md", read(path)):
        if not os.path.exists(os.path.join(ROOT, name)):
            failed.append("%s: there is no %s" % (path, name))
listed = re.findall(r"\]\(([\w/-]+\.md)\)", read("docs/README.md"))
for page in [f[len("docs/"):] for f in everything
             if f.startswith("docs/") and f.endswith(".md")]:
    if page == "README.md":
        continue
    if page not in listed:
        failed.append("docs/README.md does not list %s" % page)
    if not re.match(r"# [^\n]+\n\n(<!--[^\n]*-->\n\n)?For ",
                    read("docs/" + page)):
        failed.append("docs/%s does not open with its readers: For …" % page)
if failed:
    sys.exit("\n".join(failed))
