#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""tune.py: tirc tune, tirc records, and --records. The machine is a file of
records, tune_records.jsonl, which this release wrote; REGEN=1 writes it anew. Or it
is a program of the user, here this file with a folder, which invents the times, but
builds and runs the jobs, whose results are checked."""
import json
import os
import shlex
import shutil
import signal
import subprocess
import sys
import time
from xml.etree import ElementTree

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)),
                                "..", ".."))
from helper import *
from proto import floats, node, simple, tensor

HERE = os.path.dirname(os.path.abspath(__file__))
GOLDEN = os.path.join(HERE, "tune_records.jsonl")
TARGET = ["--target", "c99", "--name", "net"]


# -- the runner -----------------------------------------------------------------
def invented(job):
    """A time from the decisions: 8 lanes and 5 rows are the best ones."""
    time = 1000.0
    for words in job["decisions"].split(", "):
        name, value = words.split(" ")
        if value.isdigit():
            time += 25 * abs(int(value) - {"lanes": 8, "rows": 5}.get(name, 4))
        elif value != "register_tile":
            time += 300
    return time


def runner(folder):
    with open(os.path.join(folder, "job.json"), encoding="utf-8") as file:
        job = json.load(file)
    how = os.environ.get("TUNE_TEST", "")
    subprocess.run(shlex.split(job["compile"]), cwd=folder, check=True)
    subprocess.run("./harness", cwd=folder, check=True)
    if how == "slow" and os.path.exists(os.path.join(os.environ["TUNE_WORK"],
                                                     "hang")):
        time.sleep(600)
    if how == "wrong":
        for result in job["results"]:
            with open(os.path.join(folder, result["file"]), "r+b") as file:
                byte = file.read(1)[0]
                file.seek(0)
                file.write(bytes([byte ^ 64]))
    if how == "words":
        print("no JSON")
    elif how == "error":
        print(json.dumps({"error": "the board is off"}))
    else:
        print(json.dumps({"time": invented(job), "unit": "instructions"}))


if len(sys.argv) == 2 and os.path.isdir(sys.argv[1]):
    runner(sys.argv[1])
    sys.exit(0)

def product(name, rows):
    """A product of a matrix with constants, and Relu."""
    weights = [(k * 7 % 11 - 5) / 8 for k in range(32 * 96)]
    with open(name, "wb") as file:
        file.write(simple([node("MatMul", ["x", "w"], ["m"], "product"),
                           node("Relu", ["m"], ["y"], "relu")],
                          [tensor("w", (32, 96), floats(*weights))],
                          (rows, 32), (rows, 96)))


work = work_folder()
os.chdir(work)
product("net.onnx", 24)
product("open.onnx", "rows")
MODEL = os.path.join(work, "net.onnx")
COMMAND = "cmd:%s %s" % (shlex.quote(sys.executable),
                         shlex.quote(os.path.abspath(__file__)))


def read(name):
    with open(name, encoding="utf-8") as file:
        return [json.loads(line) for line in file]


def undated(name):
    return [{k: v for k, v in r.items() if k != "date"} for r in read(name)]


def tune(out, how, *arguments, status=0, **options):
    return tirc("tune", MODEL, *TARGET[:2], "-o", out, "--runner", how,
                *arguments, status=status, **options)


def expect(what, condition, *shown):
    if not condition:
        fail(what + "".join("\n" + str(x) for x in shown))


# -- the records of this release --------------------------------------------------
if os.environ.get("REGEN"):
    for_golden = os.path.join(work, "golden.jsonl")
    tune(for_golden, COMMAND, "--trials", "12")
    with open(GOLDEN, "w", encoding="utf-8") as file:
        for record in read(for_golden):
            record.update(machine="invented", compiler="any", tirc="1",
                          date="2026-01-01T00:00:00Z")
            file.write(json.dumps(record, separators=(",", ":")) + "\n")

first = tune("a.jsonl", "replay:" + GOLDEN, "--trials", "12")
tune("b.jsonl", "replay:" + GOLDEN, "--trials", "12")
expect("equal measurements give other records",
       undated("a.jsonl") == undated("b.jsonl"))
expect("a replay does not measure what was recorded: run REGEN=1 and read the "
       "difference", not any(r["error"] for r in read("a.jsonl")),
       *[r["error"] for r in read("a.jsonl")])
expect("no next step", "next     tirc compile" in first.stdout and
       "--records a.jsonl" in first.stdout, first.stdout)
best = min(read("a.jsonl"), key=lambda r: r["time"] / r["rules_time"])
expect("the search finds nothing", best["time"] < best["rules_time"])
tune("c.jsonl", "replay:" + GOLDEN, "--trials", "3", "--seed", "7")
expect("--trials", all(
    sum(r["workload"] == w for r in read("c.jsonl")) <= 3
    for w in {r["workload"] for r in read("c.jsonl")}))

# -- compile ------------------------------------------------------------------------
def source(out, *arguments):
    done = tirc("compile", MODEL, *TARGET, "-o", out, *arguments)
    with open(os.path.join(out, "net.c"), encoding="utf-8") as file:
        return file.read(), done.stdout + done.stderr


plain, _ = source("plain")
tuned, said = source("tuned", "--records", "a.jsonl")
again, _ = source("again", "--records", "b.jsonl", "--records", "a.jsonl")
expect("equal records give other sources", tuned == again)
expect("records change nothing", tuned != plain)
expect("the summary does not name the kernel",
       best["kernel"] in said and "better schedule" in said, said)
expect("the comment does not name the decisions",
       "by a record: " in tuned and "rows" in tuned)
if shutil.which("cc"):
    tirc("test", MODEL, *TARGET[:2], "--records", "a.jsonl")
other = tirc("compile", MODEL, "--target", "x86-64-v3", "-o", "other",
             "--records", "a.jsonl").stderr
expect("nothing is said of records for another target",
       "is for another target, with" in other, other)

turned = dict(best, facts=dict(reversed(best["facts"].items())))
text_file(work, "turned.jsonl", json.dumps(turned) + "\n")
text, said = source("turned", "--records", "turned.jsonl")
expect("facts in another order", text == plain and "another order" in said,
       said)

# A schedule from a record is a script, which compiles to the same kernel.
tirc("records", "merge", "a.jsonl", "c.jsonl", "-o", "best.jsonl")
for record in read("best.jsonl"):
    text_file(work, "one.jsonl", json.dumps(record) + "\n")
    script = tirc("records", "show", "--script", "one.jsonl").stdout
    text_file(work, "one.py", script)
    by_hand, _ = source("by_hand", "--schedule-for",
                        record["kernel"] + "=one.py")
    by_record, _ = source("by_record", "--records", "one.jsonl")

    def code(text):
        return [line for line in text.split("\n")
                if line[:2] not in (" *", "/*")]
    expect("the script of a record gives another kernel",
           code(by_hand) == code(by_record), script)
shown = tirc("records", "best", "a.jsonl").stdout
expect("records best", best["kernel"] in shown, shown)
tirc("records", "check", GOLDEN)

# -- a picture of the search ----------------------------------------------------------
tirc("records", "plot", "a.jsonl", "-o", "a.svg")
drawn = ElementTree.parse("a.svg").getroot()
SVG = "{http://www.w3.org/2000/svg}"
expect("a panel for each kernel",
       len(drawn.findall(SVG + "g")) ==
       len({r["workload"] for r in read("a.jsonl")}))
expect("a point for each measurement",
       len(drawn.findall(".//%scircle" % SVG)) +
       len(drawn.findall(".//%spath[@class='failed']" % SVG)) ==
       len(read("a.jsonl")))
odd = dict(best, kernel="</text><script>", error="it hangs")
text_file(work, "odd.jsonl", json.dumps(odd) + "\n")
text = tirc("records", "plot", "odd.jsonl").stdout
expect("names are markup", "<script" not in text and "</text><script>" in
       "".join(ElementTree.fromstring(text).itertext()))
tirc("records", "plot", os.devnull, status=1)

# -- files of strangers ---------------------------------------------------------------
GOOD = json.dumps(best)


def changed(**keys):
    return json.dumps(dict(best, **keys))


def steps(*instructions):
    return changed(trace=[list(instructions) + best["trace"][0],
                          [[at + len(instructions), value]
                           for at, value in best["trace"][1]]])


BAD = [
    ("{", "it is not JSON"),
    ("[]", "it is no JSON object"),
    ("{}", "this is not a record"),
    (changed(tirc_record=2), "its version is 2"),
    (changed(workload="../x"), '"workload"'),
    (changed(kernel="a\nb"), '"kernel"'),
    (changed(time=-1), '"time"'),
    (changed(rounds=[]), '"rounds"'),
    (changed(rounds=[[1]]), "a round is"),
    (changed(time=5e-324), 'at least 0.001'),
    (changed(unit="years"), '"unit"'),
    (changed(decisions=[["rows"]]), "a decision is"),
    (changed(decisions=[["rows", 1e300]]), "a decision is"),
    (changed(facts=[]), '"facts"'),
    (changed(trace=None), '"trace"'),
    (GOOD + " x", "it is not JSON"),
]
for line, message in BAD:
    text_file(work, "bad.jsonl", GOOD + "\n" + line + "\n" + GOOD + "\n")
    done = tirc("records", "check", "bad.jsonl", status=1)
    expect("no message about a bad line: " + line[:60],
           "bad.jsonl:2: " in done.stderr and message in done.stderr and
           done.stderr.count("\n") == 1, done.stderr)
    text, _ = source("bad", "--records", "bad.jsonl")
    expect("a bad line spoils the others", "by a record" in text)

# Traces that do not apply, or promise what nobody checks.
for line, message in [
        (changed(trace=[[["GetSBlock", [], ["none", "main"], ["b0"]]], []]),
         "does not apply"),
        (changed(trace=[1, 2, 3]), "does not apply"),
        (changed(decisions=[["rule", "window"]]), "not those of its trace"),
        (steps(["GetSBlock", [], [best["trace"][0][0][2][0], "main"], ["u0"]],
               ["UnsafeSetDType", ["u0"], [0, "float32"], []]),
         "cannot be checked"),
        (steps(["GetSBlock", [], [best["trace"][0][0][2][0], "main"], ["u0"]],
               ["GetLoops", ["u0"], [], ["u1"]]), "does not apply"),
        (steps(["GetSBlock", [], [best["trace"][0][0][2][0], "main"], ["u0"]],
               ["TransformLayout", ["u0", "lambda i, j: (j, i)"],
                [0, 0, None, False], []]), "other kernels access it"),
        (steps(["Import", [], ["os"], []]), "does not apply"),
        (steps(["GetSBlock", [], ["\"); import os #", "main"], ["b0"]]),
         "does not apply")]:
    text_file(work, "bad.jsonl", line + "\n")
    text, said = source("bad", "--records", "bad.jsonl")
    expect("a trace that is refused changes the source", text == plain)
    expect("no message about a trace: " + line[:200],
           message in said and "bad.jsonl:1: " in said, said)

# A power cut within a line, then another record.
text_file(work, "torn.jsonl", GOOD + "\n" + GOOD[:100])
done = tirc("records", "check", "torn.jsonl")
expect("a torn last line", "incomplete" in done.stderr, done.stderr)
tune("torn.jsonl", "replay:" + GOLDEN, "--trials", "1")
with open("torn.jsonl", encoding="utf-8") as file:
    lines = file.read().split("\n")
expect("a record is appended to a torn line",
       lines[1] == GOOD[:100] and json.loads(lines[2])["tirc_record"] == 1)

# What is no file of records is left as it is.
text_file(work, "notes.txt", "a line\nanother\n")
os.symlink("notes.txt", "link.jsonl")
os.symlink("absent.jsonl", "dangling.jsonl")
for name, says in (("notes.txt", "has other text than records"),
                   ("link.jsonl", "is a link"), ("dangling.jsonl", "is a link")):
    done = tune(name, "replay:" + GOLDEN, "--trials", "1", status=1)
    expect(name + " is taken", says in done.stderr, done.stderr)
with open("notes.txt", encoding="utf-8") as file:
    expect("notes.txt is changed", file.read() == "a line\nanother\n")
expect("a link is followed", not os.path.exists("absent.jsonl"))

# Several programs append to one file.
running = [subprocess.Popen([TIRC, "tune", MODEL, *TARGET[:2], "-q", "-o",
                             "shared.jsonl", "--runner", "replay:" + GOLDEN,
                             "--trials", "4"]) for _ in range(3)]
expect("tuning at once fails", [p.wait() for p in running] == [0, 0, 0])
tune("alone.jsonl", "replay:" + GOLDEN, "--trials", "4")
expect("lines are lost or torn",
       {(r["workload"], str(r["trace"])) for r in read("shared.jsonl")} ==
       {(r["workload"], str(r["trace"])) for r in read("alone.jsonl")})

# -- a run goes on where one before it ended ---------------------------------------
with open("a.jsonl", encoding="utf-8") as file:
    whole = file.readlines()
for kept in 1, 2, len(whole) // 2, len(whole) - 1, len(whole):
    text_file(work, "part.jsonl", "".join(whole[:kept]))
    done = tune("part.jsonl", "replay:" + GOLDEN, "--trials", "12")
    expect("a run that goes on gives other records",
           undated("part.jsonl") == undated("a.jsonl"))
    expect("what is known is not said", "%d written to part.jsonl, %d were" %
           (len(whole) - kept, kept) in done.stdout, done.stdout)
# Not relative to the rules' schedule of now, or of another target.
slow = [json.dumps(dict(r, time=1.5 * r["time"])) for r in read("a.jsonl")]
other = [json.dumps(dict(r, facts=dict(r["facts"], cores=3)))
         for r in read("a.jsonl")]
for lines in slow, other:
    text_file(work, "part.jsonl", "\n".join(lines) + "\n")
    tune("part.jsonl", "replay:" + GOLDEN, "--trials", "12")
    expect("records that do not fit are taken",
           undated("part.jsonl")[len(lines):] == undated("a.jsonl"))

# -- runners -----------------------------------------------------------------------------
tune("none.jsonl", "replay:nowhere.jsonl", status=1)
tune("none.jsonl", "board", status=1)
text_file(work, "empty.jsonl", "")
tune("none.jsonl", "replay:empty.jsonl")
expect("what is not replayed counts",
       all(r["error"] for r in read("none.jsonl")))
expect("why nothing is measured is not said",
       "is not measured: no record" in
       tune("none.jsonl", "replay:empty.jsonl").stdout)
if shutil.which("cc"):
    tune("cmd.jsonl", COMMAND, "--trials", "3")
    expect("a runner's times are not recorded",
           {r["error"] for r in read("cmd.jsonl")} == {None} and
           read("cmd.jsonl")[0]["unit"] == "instructions")
    for how, message in [("wrong", "wrong: "), ("error", "the board is off"),
                         ("words", "the runner's answer is not")]:
        tune("cmd_%s.jsonl" % how, COMMAND, "--trials", "2",
             env=dict(os.environ, TUNE_TEST=how))
        expect("a runner with a mistake: " + how,
               all(message in r["error"] for r in read("cmd_%s.jsonl" % how)))
    tune("local.jsonl", "local", "--trials", "2")
    expect("this machine measures nothing",
           all(r["unit"] == "ns" and r["time"] > 0
               for r in read("local.jsonl") if not r["error"]) and
           not read("local.jsonl")[0]["error"])
    done = tirc("records", "check", "a.jsonl", "--from-onnx", MODEL,
                *TARGET[:2])
    expect("records check", "0 for other kernels" in done.stdout, done.stdout)

# Ctrl-C keeps what was measured, and says what was found.
if shutil.which("cc"):
    text_file(work, "hang", "")
    os.remove("hang")
    running = subprocess.Popen(
        [TIRC, "tune", MODEL, *TARGET[:2], "-o", "stopped.jsonl", "--runner",
         COMMAND, "--trials", "12"], stdout=subprocess.PIPE, text=True,
        env=dict(os.environ, TUNE_TEST="slow", TUNE_WORK=work))
    while not os.path.exists("stopped.jsonl") or not any(
            r["time"] < 0.9 * r["rules_time"] for r in read("stopped.jsonl")):
        expect("the tuner ends early", running.poll() is None)
        time.sleep(0.05)
    text_file(work, "hang", "")
    time.sleep(1)
    running.send_signal(signal.SIGINT)
    said = running.communicate()[0]
    os.remove("hang")
    kept = len(read("stopped.jsonl"))
    expect("Ctrl-C does not end it by the signal",
           running.returncode == -signal.SIGINT, running.returncode)
    expect("Ctrl-C prints no summary", "records  %d written" % kept in said and
           "next     tirc compile" in said, said)
    expect("an interrupted measurement is recorded",
           not any(r["error"] for r in read("stopped.jsonl")))
    tune("stopped.jsonl", COMMAND, "--trials", "12")
    tune("at_once.jsonl", COMMAND, "--trials", "12")
    expect("after Ctrl-C the search goes another way",
           undated("stopped.jsonl") == undated("at_once.jsonl"))

# Sizes that are open are asked for.
done = tirc("tune", "open.onnx", "--runner", "replay:" + GOLDEN, status=1)
expect("open sizes", "--dim rows=" in done.stderr, done.stderr)
