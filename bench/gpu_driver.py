# SPDX-License-Identifier: Apache-2.0
"""tirc's side of bench/gpu.py, and the other one in the same process: a CUDA
program around the emitted functions that times them beside cuBLAS, or beside a
copy of as many bytes."""
import json
import math
import os
import subprocess

import cpu_driver
import helper

# Arguments: the folder of the weights and for the outputs, the rounds, the files
# of the inputs. Prints the medians of both in seconds; 0: there is no other.
DRIVER = r"""
#include "model.h"
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>
#ifdef BLAS_TYPE
#include <cublas_v2.h>
#endif

static const float BATCH_MS = 20.0f; /* about how long one batch takes */

static void
check(cudaError_t e)
{
	if (e != cudaSuccess) {
		fprintf(stderr, "%s\n", cudaGetErrorString(e));
		exit(1);
	}
}

static void *
space(size_t bytes)
{
	void *p;

	check(cudaMalloc(&p, bytes));
	return p;
}

static std::vector<char>
load(const std::string &path, size_t bytes)
{
	std::vector<char> data(bytes);
	FILE *f = fopen(path.c_str(), "rb");

	if (!f || fread(data.data(), 1, bytes, f) != bytes)
		exit(4);
	fclose(f);
	return data;
}

static void *
load_to_device(const std::string &path, size_t bytes)
{
	void *p = space(bytes);

	check(cudaMemcpy(p, load(path, bytes).data(), bytes,
			 cudaMemcpyHostToDevice));
	return p;
}

static void
save(const std::string &path, const void *p, size_t bytes)
{
	std::vector<char> data(bytes);
	FILE *f = fopen(path.c_str(), "wb");

	check(cudaMemcpy(data.data(), p, bytes, cudaMemcpyDeviceToHost));
	if (!f || fwrite(data.data(), 1, bytes, f) != bytes || fclose(f))
		exit(5);
}

template <class F> static float
batch(F run, int runs)
{
	cudaEvent_t from, to;
	float ms;

	check(cudaEventCreate(&from));
	check(cudaEventCreate(&to));
	check(cudaEventRecord(from));
	for (int i = 0; i < runs; i++) {
		run();
	}
	check(cudaEventRecord(to));
	check(cudaEventSynchronize(to));
	check(cudaEventElapsedTime(&ms, from, to));
	check(cudaEventDestroy(from));
	check(cudaEventDestroy(to));
	return ms / (float)runs;
}

template <class F> static int
pick_runs(F run)
{
	batch(run, 1);
	return std::max(1, std::min(10000, (int)(BATCH_MS / batch(run, 3))));
}

static double
median(std::vector<float> ms)
{
	std::sort(ms.begin(), ms.end());
	return ms.empty() ? 0.0 : 1e-3 * ms[ms.size() / 2];
}

int
main(int argc, char **argv)
{
	struct model_config config = {};
	struct model m;
	struct model_inputs in = {};
	struct model_outputs out = {};
	std::vector<float> ours, theirs;

	if (argc != 3 + @INPUTS@)
		return 2;
	const std::string folder = argv[1];
	const int rounds = atoi(argv[2]);
@SETUP@
	if (model_init(&m, &config))
		return 6;
	auto run = [&] {
		if (model_run(&m, &in, &out)) {
			fprintf(stderr, "%s\n", model_error(&m));
			exit(6);
		}
	};
	run();
@SAVE@
#if defined(BLAS_TYPE)
	/* Rows are columns to it: the product of the operands the other way. */
	cublasHandle_t blas;
	const BLAS_FACTOR one = 1, zero = 0;
	void *product = space(@OUT_BYTES@);

	if (cublasCreate(&blas) != CUBLAS_STATUS_SUCCESS)
		return 7;
	auto other = [&] {
		if (cublasGemmEx(blas, CUBLAS_OP_N, CUBLAS_OP_N, BLAS_SIZE,
				 BLAS_SIZE, BLAS_SIZE, &one, in.b, BLAS_TYPE,
				 BLAS_SIZE, in.a, BLAS_TYPE, BLAS_SIZE, &zero,
				 product, BLAS_RESULT, BLAS_SIZE, BLAS_COMPUTE,
				 CUBLAS_GEMM_DEFAULT) != CUBLAS_STATUS_SUCCESS)
			exit(7);
	};
	other();
	save(folder + "/theirs_0", product, @OUT_BYTES@);
#elif defined(COPY_BYTES)
	void *from = space(COPY_BYTES), *to = space(COPY_BYTES);
	auto other = [&] {
		check(cudaMemcpyAsync(to, from, COPY_BYTES,
				      cudaMemcpyDeviceToDevice));
	};
#else
	auto other = [] {};
#endif
	const int runs = pick_runs(run);
#if defined(BLAS_TYPE) || defined(COPY_BYTES)
	const int other_runs = pick_runs(other);
#else
	const int other_runs = 0;
#endif
	for (int i = 0; i < rounds; i++) {
		for (int k = 0; k < 2; k++) {
			if (i % 2 == k) {
				ours.push_back(batch(run, runs));
			} else if (other_runs > 0) {
				theirs.push_back(batch(other, other_runs));
			}
		}
	}
	printf("%.9g %.9g\n", median(ours), median(theirs));
	return 0;
}
"""


def driver_text(facts):
    setup, save = [], []
    sizes = {"workspace": facts["memory"]["workspace_bytes"],
             "device_weights": "MODEL_WEIGHTS_BYTES"}
    for member, size in sizes.items():
        setup += ["if (%s > 0) {" % size,
                  "\tconfig.%s = space(%s);" % (member, size),
                  "\tconfig.%s_bytes = %s;" % (member, size), "}"]
    if facts["weights_form"] == "file" and facts["weights"]:
        setup += ["const std::vector<char> weights = load(folder + "
                  '"/model_weights.bin", MODEL_WEIGHTS_BYTES);',
                  "config.weights = weights.data();",
                  "config.weights_bytes = MODEL_WEIGHTS_BYTES;"]
    for group in "inputs", "outputs":
        for index, tensor in enumerate(facts[group]):
            size = cpu_driver.tensor_bytes(tensor)
            name = "%s.%s" % (group[:-4] if group == "inputs" else "out",
                              tensor["field"])
            made = ("load_to_device(argv[%d], %d)" % (index + 3, size)
                    if group == "inputs" else "space(%d)" % size)
            setup.append("%s = (decltype(%s))%s;" % (name, name, made))
            if group == "outputs":
                save.append('save(folder + "/output_%d", %s, %d);' % (
                    index, name, size))
    text = DRIVER.lstrip()
    for key, value in (
            ("@INPUTS@", len(facts["inputs"])),
            ("@OUT_BYTES@", cpu_driver.tensor_bytes(facts["outputs"][0])),
            ("@SETUP@", "\n".join("\t" + s for s in setup)),
            ("@SAVE@", "\n".join("\t" + s for s in save))):
        text = text.replace(key, str(value))
    return text


class Refused(Exception):
    """tirc does not write such a model for this target: why."""


def build(path, folder, target, nvcc, options, macros):
    """The program and tirc's facts of the model."""
    os.makedirs(folder)
    done = subprocess.run(
        [helper.TIRC, "compile", path, "-o", folder, "-q", "--name", "model",
         "--weights", "file", "--target", target, *options],
        stderr=subprocess.PIPE, text=True)
    if done.returncode != 0:
        raise Refused(done.stderr.split("\n")[0])
    with open(os.path.join(folder, "model.json")) as file:
        facts = json.load(file)
    with open(os.path.join(folder, "driver.cu"), "w") as file:
        file.write(driver_text(facts))
    subprocess.run(
        [*nvcc, "-std=c++14", "-O3", "-o", "program", "driver.cu", "model.cu",
         *("-D%s=%s" % item for item in macros.items()),
         *(["-lcublas"] if "BLAS_TYPE" in macros else [])],
        cwd=folder, check=True)
    return os.path.join(folder, "program"), facts


def bytes_moved(facts):
    """What the caller gives and gets: read once and written once."""
    return sum(math.prod(t["shape"]) * cpu_driver.C_BYTES[t["dtype"]]
               for t in facts["inputs"] + facts["outputs"])
