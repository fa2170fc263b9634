#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""fleet.py: tirc tune --queue and tirc worker, with a Redis server of this test.
Workers are killed and paused while they measure; still each job has one answer, and
the records are those of a run alone. What the jobs compute is compared. Then messages
that are no jobs are put into the queue."""
import os
import signal

from fleet_support import *

try:
    port = free_port()
    _, redis = server(port, "--appendonly", "no")
    URL = url_or_skip(port)
    for url in "redis://", "redis://x", "redis://x:99999", "http://x:1":
        tirc("worker", *TARGET, "--queue", url, status=1)

    # -- alone, then by workers that die ---------------------------------------------
    expect("worker --help", "--takeover" in tirc("worker", "--help").stdout)
    tirc("tune", MODEL, *TARGET, *TRIALS, "-o", "alone.jsonl", "--runner",
         COMMAND)
    expect("the run alone fails",
           not any(r["error"] for r in read("alone.jsonl")) and
           len(by_kernel("alone.jsonl")) == len(weights))

    slow = [start_worker(URL, COMMAND, FLEET_TEST_SLEEP="0.2")
            for _ in range(4)]
    tuner = start(TIRC, "tune", MODEL, *TARGET, *TRIALS, "-o", "fleet.jsonl",
                  "--queue", URL)
    ids = {p.pid for p in slow}
    for number in range(2):
        wait("a worker has a job", lambda: any(
            process_of(w) in ids for w in owners(redis)))
        victim = next(process_of(w) for w in owners(redis)
                      if process_of(w) in ids)
        ids.remove(victim)
        os.kill(victim, signal.SIGKILL)
    wait("another worker has a job", lambda: any(
        process_of(w) in ids for w in owners(redis)))
    paused = next(process_of(w) for w in owners(redis) if process_of(w) in ids)
    os.kill(paused, signal.SIGSTOP)
    wait("the tuner ends", lambda: tuner.poll() is not None)
    os.kill(paused, signal.SIGCONT)
    expect("the tuner fails", tuner.returncode == 0, tuner.stderr.read())
    expect("the records are not those of a run alone",
           by_kernel("fleet.jsonl") == by_kernel("alone.jsonl"))
    expect("the best schedules are not those of a run alone", sorted(
        tirc("records", "best", "fleet.jsonl").stdout.split("\n")) == sorted(
            tirc("records", "best", "alone.jsonl").stdout.split("\n")))
    wait("the paused worker answers", lambda: not owners(redis))
    done = redis("KEYS", "tirc:done:*")
    expect("jobs and answers are not as many",
           len(done) == len(read("fleet.jsonl")), len(done))
    jobs = redis("KEYS", "tirc:jobs:*")[0]
    expect("jobs are left", redis("XLEN", jobs) == 0)
    expect("answers are left", redis("KEYS", "tirc:answers:*") == [])
    for process in slow:
        if process.poll() is None:
            process.send_signal(signal.SIGINT)
    wait("workers end", lambda: all(p.poll() is not None for p in slow))
    expect("workers that ended are still announced",
           len(redis("KEYS", "tirc:worker:*")) == 2)
    redis("DEL", *redis("KEYS", "tirc:worker:*")) # those that were killed

    # -- recorded times; a tuner that comes before its workers -----------------------
    tuner = start(TIRC, "tune", MODEL, *TARGET, *TRIALS, "-o", "again.jsonl",
                  "--queue", URL, "--runner", "replay")
    wait("jobs are there", lambda: redis("XLEN", jobs) == len(weights))
    sample = redis("XRANGE", jobs, "-", "+", "COUNT", "1")[0][1]
    replaying = [start_worker(URL, "replay:alone.jsonl") for _ in range(3)]
    wait("the tuner ends", lambda: tuner.poll() is not None)
    expect("there is no note that workers are missing",
           "no worker for this target" in tuner.stderr.read())
    expect("replayed records are others",
           by_kernel("again.jsonl") == by_kernel("alone.jsonl"))

    # -- this machine ------------------------------------------------------------------
    for process in replaying:
        process.send_signal(signal.SIGINT)
    wait("workers end", lambda: all(p.poll() is not None for p in replaying))
    here = start(TIRC, "worker", *TARGET, "--queue", URL, "--confine", "auto")
    tirc("tune", MODEL, *TARGET, "--trials", "1", "-o", "here.jsonl",
         "--queue", URL)
    expect("this machine measures nothing", all(
        r["unit"] == "ns" and r["time"] > 0 for r in read("here.jsonl")))
    here.send_signal(signal.SIGINT)
    wait("the worker ends", lambda: here.poll() is not None)
    replaying = [start_worker(URL, "replay:alone.jsonl") for _ in range(3)]

    # -- messages of strangers ---------------------------------------------------------
    fields = list(zip(sample[::2], sample[1::2]))

    def message(**changes):
        """The sample with other values; of None, without the field."""
        known = {k.replace("__", "/"): v for k, v in changes.items()}
        out = []
        for name, value in fields:
            key = name.decode()
            if key in known:
                value = known.pop(key)
            if value is not None:
                out += [name, value]
        for name, value in known.items():
            out += [name, value]
        return out

    STRANGE = [
        (message(tirc_job="2"), "its version"),
        (message(facts="{}"), "for another target"),
        (message(kernel="a\nb"), "it names no kernel"),
        (message(workload="../../x"), "it names no kernel"),
        (message(candidate__trace=None), "a field is missing"),
        (message(candidate__arguments="1; rm"), "not one of a job"),
        (message(candidate__given="999999"), "not one of a job"),
        (message(candidate__output="0 99999999999999"), "not one of a job"),
        (message(candidate__output="150 4"), "a result is of no array"),
        (message(candidate__source="kernel_x.c"), "a source is missing"),
        (message(candidate__source="-o"), "not one of a job"),
        (message(candidate__decisions="rows 1 2"), "not one of a job"),
        (message(candidate__compile="rm -rf /"), "not one of a job"),
    ] + [(message() + ["candidate/" + name, text], "not one of a job")
         for name, text in (("decisions", "no decisions"), ("trace", "x"),
                            ("arguments", "1"), ("given", "2"))
    ] + [(message() + ["candidate/file/" + name, "x"], "not one of a job")
         for name in ("../x.c", "/tmp/x.c", "harness", "harness.c",
                      "arguments.txt", ".x.c", "kernel/x.c", "array_1.bin.c",
                      "kernel" + "x" * 100 + ".c", "tirc_board.c")]
    for number, (words, _) in enumerate(STRANGE):
        at = words.index(b"id") + 1
        words[at] = "%016x-%d" % (7, number)
        redis("XADD", jobs, "*", *words)
    for nothing in (["x", "y"], ["id", "../../etc/passwd"], ["id", "0" * 500],
                    ["id", b"\0" * 18]):
        redis("XADD", jobs, "*", *nothing)
    wait("all is answered", lambda: redis("XLEN", jobs) == 0)
    answers = redis("XRANGE", "tirc:answers:%016x" % 7, "-", "+")
    said = {}
    for _, row in answers:
        row = dict(zip(row[::2], row[1::2]))
        said[row[b"id"].decode()] = row.get(b"error", b"").decode()
    for number, (words, reason) in enumerate(STRANGE):
        found = said.get("%016x-%d" % (7, number), "no answer")
        expect("a message is taken for a job: %s" % reason,
               "refuses the job" in found and reason in found, found,
               [w[:60] if isinstance(w, bytes) else w for w in words][-6:])
    expect("a worker ends by a message",
           all(p.poll() is None for p in replaying))

    # Answers of strangers are no records.
    tuner = start(TIRC, "tune", MODEL, *TARGET, "--trials", "1", "-o",
                  "lies.jsonl", "--queue", URL)
    wait("the tuner ends", lambda: tuner.poll() is not None)
    expect("an answer without results is taken",
           {r["error"] for r in read("lies.jsonl")} ==
           {"the worker's answer lacks a result"}, read("lies.jsonl"))
    for process in replaying:
        process.send_signal(signal.SIGTERM)
    wait("workers end by the signal",
         lambda: all(p.poll() == -signal.SIGTERM for p in replaying))
finally:
    end_all()
