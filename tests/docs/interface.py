#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""interface.py [--write]: docs/reference/c-interface.md has between

    <!-- declarations of gen/api/tirc.h -->
    <!-- end of declarations -->

the declarations of the header: a heading for each of its sections; each type,
and each group of functions that share a comment, as a block of C with the comment
below it. --write writes them."""
import os
import re
import sys
import textwrap

ROOT = os.environ.get("TIRC_ROOT") or os.path.dirname(os.path.dirname(
    os.path.dirname(os.path.abspath(__file__))))
PAGE = os.path.join(ROOT, "docs", "reference", "c-interface.md")
BLOCK = re.compile(r"(<!-- declarations of (\S+) -->\n).*?"
                   r"(<!-- end of declarations -->)", re.DOTALL)
FIRST_SECTION = "options and compilation"


def sentences(comment):
    """The text of a comment, without its stars, as one line."""
    body = re.sub(r"^/\*+|\*/$", "", comment.strip())
    return " ".join(re.sub(r"^\s*\* ?", "", body, flags=re.M).split())


def pieces(header):
    """(comment or None, declaration or None) in order: a comment belongs to the
    declaration right behind it."""
    text = header[header.index("struct tirc;"):header.rindex("#ifdef __cplusplus")]
    comment = None
    while text.strip():
        text = text.lstrip("\n")
        found = re.match(r"/\*.*?\*/", text, re.DOTALL)
        if found:
            if comment:
                yield comment, None
            comment, text = found.group(0), text[found.end():]
            if text.startswith("\n\n"):
                yield comment, None
                comment = None
            continue
        found = re.match(r"(?:struct|enum) \w+ \{[^{}]*\};|[^;]*;"
                         r"(?: /\*[^\n]*\*/)?", text)
        yield comment, found.group(0)
        comment, text = None, text[found.end():]


def markdown(header):
    lines = ["### " + FIRST_SECTION.capitalize(), ""]
    functions, words = [], ""

    def end_of_group():
        if functions:
            lines.extend(["```c", *functions, "```", ""])
        if words:
            lines.extend([textwrap.fill(words, 80, break_long_words=False,
                                        break_on_hyphens=False), ""])
        functions.clear()

    for comment, declaration in pieces(header):
        said = sentences(comment) if comment else ""
        section = re.match(r"-- (.*) --$", said)
        is_type = declaration is not None and "{" in declaration
        if said or is_type:
            end_of_group()
            words = ""
        if section:
            title = section.group(1)
            lines.extend(["### " + title[0].upper() + title[1:], ""])
            continue
        words = said or words
        if declaration:
            functions.append(declaration)
        if is_type:
            end_of_group()
            words = ""
    end_of_group()
    return "\n".join(lines)


def main():
    with open(PAGE, encoding="utf-8") as file:
        page = file.read()

    def block(found):
        with open(os.path.join(ROOT, found.group(2)), encoding="utf-8") as file:
            return found.group(1) + "\n" + markdown(file.read()) + "\n" + found.group(3)

    written, count = BLOCK.subn(block, page)
    if count != 1:
        sys.exit("%s: expected one block of declarations, found %d" % (PAGE, count))
    if written == page:
        return
    if sys.argv[1:] != ["--write"]:
        sys.exit("docs/reference/c-interface.md is not as gen/api/tirc.h says; "
                 "./run docs writes it")
    with open(PAGE, "w", encoding="utf-8") as file:
        file.write(written)


main()
