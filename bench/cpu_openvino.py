# SPDX-License-Identifier: Apache-2.0
"""OpenVINO's side of bench/cpu.py: MODEL THREADS PRECISION FOLDER INPUTS.

PRECISION is f32, or default: the one that OpenVINO chooses for the processor,
bf16 where that has instructions for it. Writes the outputs of one run into the
folder as output_0, …, then answers each number of runs on standard input by
their median in seconds."""
import json
import os
import statistics
import sys
import time

import numpy as np
import openvino


def main():
    path, threads, precision, folder, inputs = sys.argv[1:]
    core = openvino.Core()
    settings = {"INFERENCE_NUM_THREADS": int(threads), "NUM_STREAMS": 1,
                "PERFORMANCE_HINT": "LATENCY"}
    if precision != "default":
        settings["INFERENCE_PRECISION_HINT"] = precision
    given = {name: np.fromfile(file, dtype).reshape(shape)
             for name, (file, dtype, shape) in json.loads(inputs).items()}
    model = core.read_model(path)
    model.reshape({name: list(array.shape) for name, array in given.items()})
    request = core.compile_model(model, "CPU", settings).create_infer_request()
    for name, array in given.items():
        request.set_tensor(name, openvino.Tensor(array, shared_memory=True))
    request.infer()
    for index in range(len(model.outputs)):
        request.get_output_tensor(index).data.tofile(
            os.path.join(folder, "output_%d" % index))
    clock = getattr(time, os.environ["BENCH_CLOCK"])
    print(0, flush=True)
    for line in sys.stdin:
        times = []
        for _ in range(int(line)):
            start = clock()
            request.infer()
            times.append(clock() - start)
        print(statistics.median(times), flush=True)


main()
