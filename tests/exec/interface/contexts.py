#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Two contexts of a model in two threads at once: each run gives, bit for bit,
what a third context gives alone afterwards; before each run the workspace holds
something else; what `_init` made, `_fini` frees, also where `_init` failed:

    contexts.py CASE [--under CHECKER] [--runs N] [tirc options]

CASE is a name that cases.py knows, or digits; its data sets take turns. N is how
often each of the two runs (100). The checkers:

    none       the results alone
    address    AddressSanitizer with its search for leaks
    thread     ThreadSanitizer
    valgrind   memcheck, for which the workspace and the outputs hold nothing
               before a run: what is kept there from run to run is an error"""
import argparse
import glob
import json
import os
import re

import cases
from helper import (DIGITS, LIBRARIES, compile_model, execute, fail, has_library,
                    need, skip, work_folder)

try:
    import numpy
    import onnx
except ImportError as error:
    skip("the Python package %s is not installed" % error.name)

# What valgrind does not know must not be in the program.
CHECKERS = {
    "none": "-O2 -march=native -DTIRC_ANY_PROCESSOR",
    "address": "-O2 -g -march=native -DTIRC_ANY_PROCESSOR "
               "-fsanitize=address",
    # Without memcpy and memset in line, which would not be instrumented.
    "thread": "-O1 -g -march=native -DTIRC_ANY_PROCESSOR "
              "-fsanitize=thread -fno-builtin",
    "valgrind": "-O1 -g -DTIRC_ANY_PROCESSOR -DUNDER_VALGRIND",
}
VALGRIND = ["valgrind", "-q", "--error-exitcode=99", "--leak-check=full"]
# How a library that is not instrumented guards what it keeps for all, as oneDNN
# keeps its compiled primitives, ThreadSanitizer does not see: it takes one of the
# library's own accesses for a race with another.
SUPPRESSIONS = "race:libdnnl.so\n"

DRIVER = r"""
#include "@model@.h"
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#ifdef UNDER_VALGRIND
#include <valgrind/memcheck.h>
#endif

enum { SETS = @sets@, INPUTS = @inputs@, OUTPUTS = @outputs@ };

static void *given[SETS][INPUTS];
static const size_t given_bytes[SETS][INPUTS] = { @given_bytes@ };
static const size_t result_bytes[SETS][OUTPUTS] = { @result_bytes@ };
static void *weights;
static size_t weights_bytes;

struct user {
	int runs;
	void *results[SETS][OUTPUTS]; /* of the first runs */
	const char *wrong;
};

/* Of just that size, so that a checker sees what is done beside it. */
static void *
allocate(size_t bytes)
{
	void *p;

	if (posix_memalign(&p, 64, bytes > 0 ? bytes : 1) != 0) {
		fprintf(stderr, "no memory\n");
		exit(2);
	}
	return p;
}

static void
spoil(void *p, size_t bytes, int n)
{
	static const int values[] = { 0xff, 0x40, 0 };

	memset(p, values[n % 3], bytes);
#ifdef UNDER_VALGRIND
	VALGRIND_MAKE_MEM_UNDEFINED(p, bytes);
#endif
}

static size_t
read_file(const char *name, void *to, size_t bytes)
{
	FILE *file = fopen(name, "rb");

	if (file == NULL) {
		fprintf(stderr, "cannot open %s\n", name);
		exit(2);
	}
	bytes = fread(to, 1, bytes, file);
	fclose(file);
	return bytes;
}

static const char *
run(struct user *u, struct @model@ *m, const struct @model@_config *config, int n)
{
	const int set = n % SETS;
	struct @model@_inputs in;
	struct @model@_outputs out;
	void *y[OUTPUTS];
	const char *wrong = NULL;

	memset(&in, 0, sizeof in);
	memset(&out, 0, sizeof out);
	for (int i = 0; i < OUTPUTS; i++) {
		y[i] = allocate(result_bytes[set][i]);
		spoil(y[i], result_bytes[set][i], n);
	}
	spoil(config->workspace, config->workspace_bytes, n);
@arguments@
	if (@model@_run(m, &in, &out) != @MODEL@_OK) {
		wrong = "a run fails";
	}
	for (int i = 0; i < OUTPUTS; i++) {
		if (n < SETS) {
			u->results[set][i] = y[i];
			continue;
		}
		if (wrong == NULL && memcmp(u->results[set][i], y[i],
					    result_bytes[set][i]) != 0) {
			wrong = "a run gives something else than one before";
		}
		free(y[i]);
	}
	return wrong;
}

static void *
use(void *user)
{
	struct user *const u = user;
	struct @model@ m;
	struct @model@_config config;
	size_t bytes;

	memset(&config, 0, sizeof config);
	memset(&m, 0xff, sizeof m);
	bytes = @workspace_bytes@;
	config.workspace = allocate(bytes);
	config.workspace_bytes = bytes;
#ifdef @MODEL@_WEIGHTS_BYTES
	config.weights = weights;
	config.weights_bytes = weights_bytes;
#endif
	spoil(config.workspace, bytes, 0);
	if (bytes > 0) {
		config.workspace_bytes--;
		if (@model@_init(&m, &config) != @MODEL@_SMALL_WORKSPACE) {
			u->wrong = "a workspace that is too small will do";
		}
		config.workspace_bytes++;
	}
	if (@model@_init(&m, &config) != @MODEL@_OK) {
		u->wrong = "init fails";
	}
	for (int n = 0; n < u->runs && u->wrong == NULL; n++) {
		u->wrong = run(u, &m, &config, n);
	}
	@model@_fini(&m);
	free(config.workspace);
	return NULL;
}

int
main(int argc, char **argv)
{
	static struct user users[3];
	pthread_t threads[2];
	int status = 0;

	for (int set = 0; set < SETS; set++) {
		for (int i = 0; i < INPUTS; i++) {
			const size_t bytes = given_bytes[set][i];
			char name[64];

			snprintf(name, sizeof name, "given_%d_%d", set, i);
			given[set][i] = allocate(bytes);
			if (read_file(name, given[set][i], bytes) != bytes) {
				return 2;
			}
		}
	}
#ifdef @MODEL@_WEIGHTS_BYTES
	weights_bytes = @MODEL@_WEIGHTS_BYTES;
	weights = allocate(weights_bytes);
	if (read_file("@weights@", weights, weights_bytes) !=
	    weights_bytes) {
		return 2;
	}
#endif
	for (int i = 0; i < 2; i++) {
		users[i].runs = argc > 1 ? atoi(argv[1]) : 1;
		if (pthread_create(&threads[i], NULL, use, &users[i]) != 0) {
			return 2;
		}
	}
	for (int i = 0; i < 2; i++) {
		pthread_join(threads[i], NULL);
	}
	users[2].runs = SETS;
	use(&users[2]);
	for (int i = 0; i < 3; i++) {
		if (users[i].wrong != NULL) {
			printf("context %d: %s\n", i, users[i].wrong);
			status = 1;
		}
	}
	for (int set = 0; set < SETS; set++) {
		for (int i = 0; i < OUTPUTS; i++) {
			for (int k = 0; k < 3; k++) {
				if (status == 0 &&
				    memcmp(users[k].results[set][i],
					   users[2].results[set][i],
					   result_bytes[set][i]) != 0) {
					printf("context %d: not what it gives "
					       "alone\n", k);
					status = 1;
				}
			}
			for (int k = 0; k < 3; k++) {
				free(users[k].results[set][i]);
			}
		}
		for (int i = 0; i < INPUTS; i++) {
			free(given[set][i]);
		}
	}
	free(weights);
	return status;
}
"""


def read_tensors(folder, kind):
    """What input_*.pb or output_*.pb of a data set hold, in their order."""
    found = []
    while os.path.exists(path := os.path.join(
            folder, "%s_%d.pb" % (kind, len(found)))):
        found.append(onnx.numpy_helper.to_array(onnx.load_tensor(path)))
    return found


def data_sets(case):
    """Of each its inputs and outputs."""
    folders = case.data or sorted(glob.glob(os.path.join(
        os.path.dirname(case.model), "test_data_set_*")))
    return [(read_tensors(f, "input"), read_tensors(f, "output"))
            for f in folders] or fail("no data for " + case.name)


def dims(facts, inputs):
    """The values of the symbolic sizes, by field."""
    values = {}
    for fact, array in zip(facts["inputs"], inputs):
        for word, size in zip(fact["shape"], array.shape):
            for dim in facts["dims"]:
                if dim["name"] == word:
                    values[dim["field"]] = size
    return values


def table(rows):
    return ", ".join("{ %s }" % ", ".join(str(v) for v in r) for r in rows)


def write_driver(folder, sets):
    """driver.c and the inputs, beside what tirc left there."""
    # Beside it MISRA C has MODEL_misra.json.
    path = min(glob.glob(os.path.join(folder, "*.json")), key=len)
    with open(path) as file:
        facts = json.load(file)
    model = facts["model"]
    with open(os.path.join(folder, model + ".h")) as file:
        asks = model + "_workspace_bytes(" in file.read()
    arguments = []
    for kind, struct, source in (("inputs", "in", "given[set]"),
                                 ("outputs", "out", "y")):
        arguments += ["%s.%s = %s[%d];" % (struct, f["field"], source, i)
                      for i, f in enumerate(facts[kind])]
    values = [dims(facts, x) for x, _ in sets]
    for field in values[0]:
        arguments.append("in.%s = (const int32_t[]){ %s }[set];" % (
            field, ", ".join(str(v[field]) for v in values)))
    words = {
        "model": model, "MODEL": model.upper(), "sets": len(sets),
        "inputs": len(facts["inputs"]), "outputs": len(facts["outputs"]),
        "given_bytes": table([a.nbytes for a in x] for x, _ in sets),
        "result_bytes": table([a.nbytes for a in y] for _, y in sets),
        "arguments": "\n".join("\t" + line for line in arguments),
        "weights": "".join(f for f in facts["files"] if f.endswith(".bin")),
        "workspace_bytes": model + "_workspace_bytes(&m)" if asks
        else model.upper() + "_WORKSPACE_BYTES",
    }
    with open(os.path.join(folder, "driver.c"), "w") as file:
        file.write(re.sub(r"@(\w+)@", lambda m: str(words[m.group(1)]),
                          DRIVER.lstrip()))
    for number, (inputs, _) in enumerate(sets):
        for i, array in enumerate(inputs):
            numpy.ascontiguousarray(array).tofile(os.path.join(
                folder, "given_%d_%d" % (number, i)))
    return facts


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("case")
    parser.add_argument("--under", choices=CHECKERS, default="none")
    parser.add_argument("--runs", type=int, default=100)
    args, options = parser.parse_known_args()
    need("gcc")
    runner = VALGRIND if args.under == "valgrind" else []
    for program in runner[:1]:
        need(program)
    for backend, (header, library) in LIBRARIES.items():
        if backend in options and not has_library(header, library):
            skip("no library for %s is installed" % backend)
    folder = work_folder()
    case = cases.Case(args.case, DIGITS) if args.case == "digits" \
        else cases.make(args.case, folder)
    sets = data_sets(case)
    out = compile_model(case.model, *case.options, "-q", *options)
    facts = write_driver(out, sets)
    case.close()
    execute(["gcc", "-std=gnu11", *CHECKERS[args.under].split(), "driver.c",
             *[f for f in facts["files"] if f.endswith((".c", ".S"))],
             "-o", "driver", *facts.get("libraries", "").split(), "-lm",
             "-lpthread"], cwd=out)
    runs = max(args.runs, len(sets))
    suppressions = os.path.join(folder, "suppressions")
    with open(suppressions, "w") as file:
        file.write(SUPPRESSIONS)
    # A library's own threads are its business.
    execute([*runner, "./driver", str(runs)], cwd=out, env=dict(
        os.environ, OMP_NUM_THREADS="1",
        TSAN_OPTIONS="suppressions=" + suppressions))
    print("%s: two contexts, %d runs of each, %s" % (
        args.case, runs, args.under))


main()
