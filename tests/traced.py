# SPDX-License-Identifier: Apache-2.0
"""Programs that run a model of `tirc compile --trace` and write its trace by
runtime-c/tirc_trace.c."""
import json
import os
import subprocess

from helper import ROOT, execute, fail

RUNTIME = os.path.join(ROOT, "runtime-c")
EXAMPLE = os.path.join(ROOT, "examples", "trace", "main.c")

MAIN = """
#include <stdio.h>
#include "NAME.h"
#include "tirc_trace.h"

static void
put(void *out, const char *bytes, size_t n)
{
	fwrite(bytes, 1, n, out);
}

#ifdef UPPER_ALIGNED
static union NAME_workspace workspace;
#else
static struct NAME_workspace workspace;
#endif
static struct NAME_config config;
ARRAYS

int
main(void)
{
	struct tirc_trace trace = { .put = put, .out = stdout, .raw = RAW };
	const struct NAME_inputs in = { INPUTS };
	const struct NAME_outputs out = { OUTPUTS };
	struct NAME model;

	config.workspace = &workspace;
	config.workspace_bytes = sizeof workspace;
	config.trace = tirc_trace_tensor;
	config.trace_context = &trace;
	if (NAME_init(&model, &config) != UPPER_OK) {
		return 1;
	}
	for (int run = 0; run < RUNS; ++run) {
		FILL
		tirc_trace_begin(&trace, "NAME", UPPER_MODEL_DIGEST);
		if (NAME_run(&model, &in, &out) != UPPER_OK) {
			return 1;
		}
		tirc_trace_end(&trace);
	}
	NAME_fini(&model);
	return 0;
}
"""
TYPES = {"float32": "float", "int64": "int64_t", "bool": "uint8_t"}


def metadata(out):
    name, = [name for name in os.listdir(out)
             if name.endswith(".json") and "_misra" not in name]
    with open(os.path.join(out, name), encoding="utf-8") as file:
        return json.load(file)


def write_main(out, sizes=None, runs=1, raw=False):
    """A program that runs the model in the folder `out`, with these sizes and
    other inputs in each run; its path."""
    facts = metadata(out)
    arrays, inputs, outputs, fill = "", [], [], ""
    for kind, list_ in (("in", facts["inputs"]), ("out", facts["outputs"])):
        for x in list_:
            array = "%s_%s" % (kind, x["field"])
            arrays += "static %s %s[%d];\n" % (
                TYPES[x["dtype"]], array, max(x["max_elements"], 1))
            (inputs if kind == "in" else outputs).append(
                ".%s = %s" % (x["field"], array))
            if kind == "in":
                fill += ("for (int i = 0; i < %d; ++i) {\n\t\t\t%s[i] = "
                         "(%s)((i * 7 + run * 5) %% 17 - 8)%s;\n\t\t}\n\t\t"
                         % (x["max_elements"], array, TYPES[x["dtype"]],
                            " / 8" if x["dtype"] == "float32" else " & 1"))
    for dim in facts["dims"]:
        inputs.append(".%s = %d" % (dim["field"], sizes[dim["name"]]))
    name = facts["model"]
    text = MAIN
    for key, value in (("ARRAYS", arrays), ("INPUTS", ", ".join(inputs)),
                       ("OUTPUTS", ", ".join(outputs)), ("FILL", fill),
                       ("RUNS", str(runs)), ("RAW", str(int(raw))),
                       ("UPPER", name.upper()), ("NAME", name)):
        text = text.replace(key, value)
    path = os.path.join(out, "main_trace.c")
    with open(path, "w", encoding="utf-8") as file:
        file.write(text)
    return path


def sources(out):
    return [os.path.join(out, name) for name in sorted(os.listdir(out))
            if name.endswith(".c") and name != "main_trace.c"]


def trace_of(cc, out, main, *flags):
    """Builds the model in the folder `out` with main, runs it, and gives the path
    of the trace."""
    program = os.path.join(out, "program")
    execute([*cc, "-I", out, "-I", RUNTIME, *flags, main, *sources(out),
             os.path.join(RUNTIME, "tirc_trace.c"), "-lm", "-o", program])
    return record(os.path.join(out, "run.trace"), [program])


def record(path, command):
    """What the command prints, in a file; its path."""
    with open(path, "wb") as file:
        done = subprocess.run(command, stdout=file, stderr=subprocess.PIPE,
                              check=False, stdin=subprocess.DEVNULL,
                              timeout=120)
    if done.returncode != 0:
        fail("%s: exit status %d\n%s" % (" ".join(command), done.returncode,
                                         done.stderr.decode()))
    return path
