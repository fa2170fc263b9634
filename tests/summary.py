#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""summary.py TESTLOG.json...: what failed or was skipped and why, and last
the line "N passed, N failed, N skipped" over all of meson's test logs. Exit
status 1 if a test failed, or if none ran."""
import json
import sys

PASSED = {"OK", "EXPECTEDFAIL"}


def reason(test):
    text = (test.get("stdout") or "") + (test.get("stderr") or "")
    lines = [line for line in text.splitlines() if line.strip()]
    skips = [line for line in lines if line.startswith("skipped")]
    return (skips or lines or [""])[0]


def main():
    passed = failed = skipped = 0
    for path in sys.argv[1:]:
        try:
            with open(path, encoding="utf-8") as file:
                tests = [json.loads(line) for line in file if line.strip()]
        except FileNotFoundError:
            tests = []
        for test in tests:
            if test["result"] in PASSED:
                passed += 1
            elif test["result"] == "SKIP":
                skipped += 1
                print("skipped: %s: %s" % (test["name"], reason(test)))
            else:
                failed += 1
                print("failed: %s (%s)" % (test["name"], test["result"]))
    print("%d passed, %d failed, %d skipped" % (passed, failed, skipped))
    return 1 if failed or passed == 0 else 0


sys.exit(main())
