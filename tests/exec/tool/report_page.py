#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A browser shows a report at 400 and at 1280 pixels without scrolling sideways,
and the report needs no JavaScript."""
import os
import re
import shutil
import subprocess

from helper import DIGITS, fail, need, shared, tirc, work_folder

BROWSER = need("chromium")
WIDTHS = (400, 1280)

# The page in frames of given widths; the width that each needs goes into the
# document, which the browser prints.
FRAMES = """<!DOCTYPE html><html><body><script>
const page = %s;
for (const width of %s) {
    const frame = document.createElement("iframe");
    frame.width = width;
    frame.height = 800;
    frame.sandbox = "allow-same-origin";
    frame.onload = () => {
        const inside = frame.contentDocument.documentElement;
        document.body.append("width " + width + " needs "
            + inside.scrollWidth + " of " + inside.clientWidth + "; ");
    };
    frame.srcdoc = page;
    document.body.append(frame);
}
</script></body></html>"""


def text_of(page):
    """The page as a text of JavaScript within an element of HTML."""
    import json
    return json.dumps(page).replace("<", "\\u003c")


def check(model, *options):
    folder = work_folder()
    path = os.path.join(folder, "report.html")
    tirc("report", model, "-q", "-o", path, *options)
    with open(path, encoding="utf-8") as file:
        page = file.read()
    frames = os.path.join(folder, "frames.html")
    with open(frames, "w", encoding="utf-8") as file:
        file.write(FRAMES % (text_of(page), list(WIDTHS)))
    done = subprocess.run(
        [BROWSER, "--headless", "--no-sandbox", "--disable-gpu",
         "--user-data-dir=" + os.path.join(folder, "profile"),
         "--virtual-time-budget=20000", "--dump-dom", "file://" + frames],
        capture_output=True, text=True, timeout=120)
    found = re.findall(r"width (\d+) needs (\d+) of (\d+);", done.stdout)
    if len(found) != len(WIDTHS):
        fail("the browser shows nothing: %s" % done.stderr[-500:])
    for width, wanted, given in found:
        if int(wanted) > int(given):
            fail("%s: at %s pixels the page is %s wide" % (model, width,
                                                           wanted))
    shutil.rmtree(folder, True)
    return len(found)


n = check(DIGITS, "--target", "misra") + check(DIGITS, "--target", "gnu-c")
top = shared()
if top:
    n += check(os.path.join(top, "models", "mlperf_tiny", "resnet8_int8",
                            "model.onnx"), "--target", "cortex-m4")
print("%d widths" % n)
