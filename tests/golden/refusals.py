# SPDX-License-Identifier: Apache-2.0
"""refusals.py SOURCE_ROOT: every message a schedule primitive refuses with
(edit_fail in passes/schedule) is in a case of golden/schedules, or is checked
by one of UNIT_TESTS, in full: no script leads there.

EXEMPT lists the others, each with the reason; an entry whose message is
covered, or is no more, fails too.
"""
import pathlib
import re
import sys

LITERAL = re.compile(r'"((?:[^"\\]|\\.)*)"')
FORMAT = re.compile(r'%(?:%|[-+ 0#]*\d*(?:\.(?:\d+|\*))?(?:ll|l|z|j)?'
                    r'[diouxXeEfgGcsp])')

UNIT_TESTS = ["trace.c", "sched_tensorize.c"]

# "file: start of the message": why no case shows it
EXEMPT = {
    "edit.c: %d is not a block":
        "apply.c refuses handles of what is gone first",
    "edit.c: %d is not a loop":
        "apply.c refuses handles of what is gone first",
    "tensorize.c: %s is called elsewhere":
        "a case has one intrinsic; programs/errors/symbol_of_two.py has two",
}


def call_text(source, start):
    """The text between the parentheses of the call that begins at start."""
    at = depth = 0
    at = source.index("(", start)
    first = at + 1
    while True:
        literal = LITERAL.match(source, at)
        if literal:
            at = literal.end()
            continue
        depth += {"(": 1, ")": -1}.get(source[at], 0)
        if depth == 0:
            return source[first:at]
        at += 1


def message(call):
    """The format of a call: its first run of adjoining string literals."""
    found = LITERAL.search(call)
    if not found:
        return None
    text = found.group(1)
    while True:
        rest = re.compile(r"\s*").match(call, found.end()).end()
        found = LITERAL.match(call, rest)
        if not found:
            return text.encode().decode("unicode_escape")
        text += found.group(1)


def refusals(folder):
    for path in sorted(folder.rglob("*.c")):
        source = path.read_text()
        for use in re.finditer(r"\bedit_fail\(", source):
            call = call_text(source, use.start())
            if call.startswith("struct edit"):
                continue
            text = message(call)
            line = source.count("\n", 0, use.start()) + 1
            if text is None:
                sys.exit(f"{path.name}:{line}: no literal message; "
                         "give edit_fail one")
            yield f"{path.name}:{line}", path.name, text


def pattern(text):
    parts, at = [], 0
    for spec in FORMAT.finditer(text):
        parts.append(re.escape(text[at:spec.start()]))
        parts.append("%" if spec.group() == "%%" else ".*?")
        at = spec.end()
    parts.append(re.escape(text[at:]))
    return re.compile("".join(parts), re.DOTALL)


def expected(folder):
    for path in sorted(folder.glob("*.txt")):
        head, mark, refused = path.read_text().partition("\n## refused\n")
        if mark:
            yield refused.rstrip("\n")


def unit_literals(path):
    """The string literals of a C file, adjoining ones as one."""
    run = re.compile(r'(?:"(?:[^"\\\n]|\\.)*"\s*)+')
    for found in run.finditer(path.read_text()):
        yield "".join(LITERAL.findall(found.group()))


def main():
    root = pathlib.Path(sys.argv[1])
    cases = list(expected(root / "tests/golden/schedules"))
    for name in UNIT_TESTS:
        cases += unit_literals(root / "tests/unit" / name)
    total = covered = 0
    wrong, used = [], set()
    for place, name, text in refusals(root / "passes/schedule"):
        total += 1
        regex = pattern(text)
        key = next((k for k in EXEMPT
                    if f"{name}: {text}".startswith(k)), None)
        hit = any(regex.search(c) for c in cases)
        covered += hit
        if key:
            used.add(key)
        if hit and key:
            wrong.append(f"{place}: exempt, but a case has it: {text}")
        if not hit and not key:
            wrong.append(f"{place}: no case has it: {text}")
    wrong += [f"EXEMPT: no such message: {k}" for k in set(EXEMPT) - used]
    print(f"{total} refusals, {covered} covered, {len(used)} exempt")
    for line in sorted(wrong):
        print(line)
    return bool(wrong or not total)


sys.exit(main())
