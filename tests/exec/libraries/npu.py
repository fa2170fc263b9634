#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The made-up accelerator of examples/npu, from its folder and nothing else:
its passes run, what is emitted computes the right thing on the model of it, by
energy or by throughput; its partition can be written, edited by a program and
compiled; what cannot be is refused."""
import copy
import json
import os
import re
import resource
import shutil
import subprocess

from helper import DIGITS, ROOT, STRICT, TIRC, contents, execute, fail, \
    need, tirc, work_folder

need("make")
need("python3")
HERE = os.path.join(work_folder(), "npu")
shutil.copytree(os.path.join(ROOT, "examples", "npu"), HERE)
execute(["make", "-C", HERE, "clean"])
execute(["make", "-C", HERE, "TIRC_SOURCE=" + ROOT])
MODEL = os.path.join(HERE, "model")
BUILD = ["--cflags", "-O1 -I%s -L%s" % (MODEL, HERE)]
PATH = ["--byoc-path", HERE]
DATA = [os.path.join(os.path.dirname(DIGITS), "test_data_set_%d" % i)
        for i in range(2)]

MAIN = """
#include <stdint.h>
#include <stdio.h>
#include "digits.h"
#include "npu.h"
int main(void)
{
	static struct digits m;
	static float image[64], prob[10];
	static unsigned char workspace[65536];
	struct digits_config config = {
		.workspace = workspace + (64 - (uintptr_t)workspace % 64),
		.workspace_bytes = sizeof workspace - 64 };
	const struct digits_inputs in = { .image = image };
	const struct digits_outputs out = { .prob = prob };
	struct npu_report r;

	if (digits_init(&m, &config) != DIGITS_OK) {
		return 1;
	}
	if (digits_run(&m, &in, &out) != DIGITS_OK) {
		return 10 + m.library_status;
	}
	digits_fini(&m);
	r = npu_report();
	printf("%d %d %d\\n", (int)r.commands, (int)r.cycles,
	       (int)r.nanojoules);
	return 0;
}
"""


def report(out):
    """Commands, cycles, energy of one run."""
    with open(os.path.join(out, "main.c"), "w") as f:
        f.write(MAIN)
    program = os.path.join(out, "main")
    execute(["cc", "-std=c99", "-O1", *STRICT, "-I" + out, "-I" + MODEL,
             os.path.join(out, "main.c"), os.path.join(out, "digits.c"),
             os.path.join(out, "digits_weights.c"), "-L" + HERE, "-lnpu",
             "-lm", "-o", program])
    return [int(word) for word in execute([program]).stdout.split()]


reports = {}
for prefer in ("throughput", "energy"):
    byoc = ["--byoc", "example-npu:prefer=" + prefer, *PATH]
    out, again = work_folder(), work_folder()
    p = os.path.join(work_folder(), "p.json")
    tirc("compile", DIGITS, *byoc, "-o", out)
    tirc("partition", DIGITS, *byoc, "-o", p)
    tirc("compile", p, *byoc, "-o", again)
    if contents(out) != contents(again):
        fail("by way of the partition other files come out")
    tirc("test", DIGITS, *byoc, *BUILD, *DATA)
    reports[prefer] = report(out)
    with open(os.path.join(out, "digits.c")) as f:
        text = f.read()
    for name in ("for (",):
        if name in text[text.index("npu_command commands"):
                        text.index("npu_run(")]:
            fail("loops among commands")
fast, frugal = reports["throughput"], reports["energy"]
# Convolution and pool are one command, Gemm is a product and a sum.
if fast[0] != 4 or frugal[0] != 4:
    fail("commands: %s" % reports)
if not (fast[1] < frugal[1] and fast[2] > frugal[2]):
    fail("neither faster nor more frugal: %s" % reports)

# -- each region beside generated C, and an accelerator that errs --

tirc("test", DIGITS, *byoc, *BUILD, DATA[0], "--each-region")
wrong = os.path.join(work_folder(), "wrong")
shutil.copytree(HERE, wrong)
name = os.path.join(wrong, "model", "npu.c")
with open(name, encoding="utf-8") as f:
    text = f.read()
with open(name, "w", encoding="utf-8") as f:
    f.write(text.replace("float sum = 0.0f;", "float sum = 0.1f;"))
execute(["make", "-C", wrong, "-B", "libnpu.a"])
tirc("test", DIGITS, *byoc, DATA[0], "--each-region", "--cflags",
     "-O1 -I%s -L%s" % (MODEL, wrong), status=1)

# -- edits --

with open(p, encoding="utf-8") as f:
    good = json.load(f)
weights = p[:-5] + ".weights"


def put(q):
    folder = work_folder()
    shutil.copy(weights, os.path.join(folder, "p.weights"))
    path = os.path.join(folder, "p.json")
    with open(path, "w", encoding="utf-8") as f:
        json.dump(q, f)
    return path


def units(path):
    out = work_folder()
    tirc("compile", path, *byoc, "-o", out)
    with open(os.path.join(out, "digits.c")) as f:
        return re.findall(r"unit = (\w+)", f.read())


# The bias leaves the region: loops compute it.
moved = copy.deepcopy(good)
moved["regions"][0]["matches"].pop()
path = put(moved)
tirc("test", path, *byoc, *BUILD, *DATA)
if len(units(path)) != 3:
    fail("the node that was moved is still in the region")
# A convolution leaves: what comes before and behind are regions of their own.
split = copy.deepcopy(good)
region = split["regions"][0]
late = dict(region, name="late", matches=region["matches"][2:])
split["regions"] = [dict(region, matches=region["matches"][:1]), late]
path = put(split)
tirc("test", path, *byoc, *BUILD, *DATA)
out = work_folder()
tirc("compile", path, *byoc, "-o", out)
text = contents(out)["digits.c"].decode()
if "\nlate(" not in text or text.count("npu_run(") != 2:
    fail("two regions are wanted")
# An attribute is set, and the unit of a command.
named = copy.deepcopy(good)
named["regions"][0]["attrs"]["prefer"] = "neither"
named["regions"][0]["matches"][0]["facts"]["unit"] = "NPU_ARRAY"
path = put(named)
tirc("test", path, *byoc, *BUILD, *DATA[:1])
if units(path)[0] == units(put(good))[0]:
    fail("the unit that was set does not count")
out = work_folder()
tirc("compile", path, *byoc, "-o", out)
if "neither" not in contents(out)["digits.c"].decode():
    fail("the attribute that was set is not seen")


# -- what is refused --

def refused(message, change):
    q = copy.deepcopy(good)
    change(q, q["regions"][0]["matches"])
    out = os.path.join(work_folder(), "out")
    done = tirc("compile", put(q), *byoc, "-o", out, status=1)
    if message not in done.stderr or "p.json" not in done.stderr:
        fail("the message lacks %r:\n%s" % (message, done.stderr))


refused("/regions/0: the region needs a value that",
        lambda q, m: m.pop(1))
refused("/regions/0/matches/0/pattern: example-npu has no pattern",
        lambda q, m: m[0].update(pattern="convolve"))
refused("/regions/0/matches/0: the pattern 'conv_pool' of example-npu does "
        "not match", lambda q, m: m[0]["nodes"].pop("pool"))
refused("/regions/0/matches/1/nodes/relu: the node is in another match",
        lambda q, m: m[1]["nodes"].update(relu="relu1"))
refused("/regions/0/matches/1/nodes/relu: no tensor 'nowhere'",
        lambda q, m: m[1]["nodes"].update(relu="nowhere"))
refused("/regions/0/matches/1/nodes/relu: no node computes",
        lambda q, m: m[1]["nodes"].update(relu="image"))
refused("/regions/0/backend: 'other' is none of the backends",
        lambda q, m: q["regions"][0].update(backend="other"))
refused("/regions/0/matches: a region without matches",
        lambda q, m: m.clear())
refused("/regions/1/name: another region has this name",
        lambda q, m: q["regions"].append(dict(q["regions"][0],
                                              matches=[m.pop()])))
refused("/backends/0", lambda q, m: q["backends"][0]["options"].update(
    prefer="comfort"))
refused("/stage", lambda q, m: q.update(stage="merged"))


# -- passes that fail --

def broken(message, text):
    there = os.path.join(work_folder(), "npu")
    shutil.copytree(HERE, there)
    with open(os.path.join(there, "example-npu", "choose.py"), "w") as f:
        f.write(text)
    out = os.path.join(work_folder(), "out")
    done = tirc("compile", DIGITS, "--byoc", "example-npu", "--byoc-path",
                there, "-o", out, status=1)
    names_pass = re.search(r"pass choose\b|: choose: ", done.stderr)
    if message not in done.stderr or names_pass is None:
        fail("the message lacks %r:\n%s" % (message, done.stderr))


EDIT = """import json, sys
p = json.load(sys.stdin)
m = p["regions"][0]["matches"]
%s
json.dump(p, sys.stdout)
"""
broken("ended with status 3", "import sys\nsys.exit(3)\n")
broken("not well-formed JSON", "print('done')\n")
broken("/regions/0: the region needs a value", EDIT % "del m[1]")
broken("another stage", EDIT % "p['stage'] = 'annotated'")
broken("/nodes/0/op: there is no operator", EDIT %
       "p['nodes'][0]['op'] = 'Magic'")
# Backends and what was asked of them are not a pass's to change.
broken("/backends: a pass cannot change the backends", EDIT %
       "p['backends'].append({'name': 'cblas', 'options': {}})")
broken("/backends/0/name: example-npu is expected here", EDIT %
       "p['backends'][0]['name'] = 'cblas'")
broken("/backends/0/options/prefer: 'throughput' is expected here", EDIT %
       "p['backends'][0]['options']['prefer'] = 'energy'")
broken("/backends/0/options: a pass cannot change the backends' options", EDIT %
       "p['backends'][0]['options'] = {}")


# -- a shared object that leaves a cycle of regions --

CYCLE = """#include <tirc_region_pass.h>

TIRC_REGION_PASS(graph, backend)
{
	struct graph_region *r = graph->regions.data[0];
	struct region_match *inner = r->matches.data[1];

	(void)backend;
	for (int i = 2; i < r->matches.n; i++) {
		r->matches.data[i - 1] = r->matches.data[i];
	}
	r->matches.n--;
	inner->region = NULL;
	for (int i = 0; i < inner->nodes.n; i++) {
		inner->nodes.data[i].node->match = NULL;
	}
	return true;
}
"""


def cycle():
    there = os.path.join(work_folder(), "npu")
    shutil.copytree(HERE, there)
    folder = os.path.join(there, "example-npu")
    with open(os.path.join(folder, "cycle.c"), "w") as f:
        f.write(CYCLE)
    execute(["make", "-C", there, "example-npu/cycle.so",
             "TIRC_SOURCE=" + ROOT])
    with open(os.path.join(folder, "backend.json")) as f:
        text = f.read()
    with open(os.path.join(folder, "backend.json"), "w") as f:
        f.write(text.replace('{"name": "choose", "after": "partitioned", '
                             '"command": "python3 choose.py"}',
                             '{"name": "cycle", "after": "merged", '
                             '"object": "cycle.so"}'))
    done = tirc("compile", DIGITS, "--byoc", "example-npu", "--byoc-path",
                there, "-o", os.path.join(work_folder(), "out"), status=1)
    if not re.search("cycle: after the pass, region .* needs a value that",
                     done.stderr):
        fail("the message does not name the pass:\n" + done.stderr)


cycle()


# -- no folder for the constants that a pass reads --

def no_room(message, setup=None, **environment):
    out = os.path.join(work_folder(), "out")
    done = subprocess.run(
        [TIRC, "compile", DIGITS, "--byoc", "example-npu", *PATH, "-o", out],
        capture_output=True, text=True, preexec_fn=setup,
        restore_signals=False, env=dict(os.environ, **environment))
    errors = re.findall("^error.*", done.stderr, re.M)
    if done.returncode != 1 or len(errors) != 1 or message not in errors[0]:
        fail("wanted one error, of %r; got status %d\n%s" % (
            message, done.returncode, done.stderr))


def small_files():
    """Writing beyond that fails, as on a disk that is full."""
    resource.setrlimit(resource.RLIMIT_FSIZE, (1024, 1024))


no_room("its constants cannot be written", small_files)
no_room("the file for its constants cannot be made in /nowhere", TMPDIR="/nowhere")
