# SPDX-License-Identifier: Apache-2.0
"""onnxruntime's side of bench/cpu.py: MODEL THREADS REFERENCE.npz INPUTS.

Writes the outputs of one run without optimizations (tests/exact.py: those of
8 bits may saturate) and what rounding errors do to them (tests/alike.py), then answers
each number of runs on standard input by their median in seconds. Inputs and outputs are bound beforehand, so
that Python's part of a run is small."""
import json
import os
import statistics
import sys
import time

import numpy as np
import onnxruntime

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)),
                                os.pardir, "tests"))
import alike  # noqa: E402
import exact  # noqa: E402


def main():
    path, threads, reference, inputs = sys.argv[1:]
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = int(threads)
    options.inter_op_num_threads = 1
    options.log_severity_level = 3
    session = onnxruntime.InferenceSession(
        path, options, providers=["CPUExecutionProvider"])
    arrays = {name: np.fromfile(file, dtype).reshape(shape)
              for name, (file, dtype, shape) in json.loads(inputs).items()}
    names = [o.name for o in session.get_outputs()]
    model = exact.Model(path)
    outputs = dict(zip(names, model.run(arrays)))
    sizes = alike.rounding_of(
        lambda given: model.run(dict(zip(arrays, given))),
        list(arrays.values()))
    del model
    np.savez(reference, **outputs, **{
        "rounding of " + name: size for name, size in zip(names, sizes)})
    binding = session.io_binding()
    for name, array in arrays.items():
        binding.bind_ortvalue_input(
            name, onnxruntime.OrtValue.ortvalue_from_numpy(array))
    for name, array in outputs.items():
        binding.bind_ortvalue_output(
            name, onnxruntime.OrtValue.ortvalue_from_numpy(array))
    run = session.run_with_iobinding
    clock = getattr(time, os.environ["BENCH_CLOCK"])
    print(0, flush=True)
    for line in sys.stdin:
        times = []
        for _ in range(int(line)):
            start = clock()
            run(binding)
            times.append(clock() - start)
        print(statistics.median(times), flush=True)


main()
