#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The models of MLPerf Tiny on simulated microcontrollers: instructions of a
run, code and RAM, beside those of TensorFlow Lite Micro with CMSIS-NN, whose
numbers (TFLM) are constants here: they were counted in the same simulator, with
gcc 12 too. Instructions are no cycles. Float models stand beside the
instructions of another generator of C.

Needs arm-none-eabi-gcc, qemu-system-arm and the reference models."""
import argparse
import json
import os
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(HERE)
sys.path.insert(0, os.path.join(ROOT, "tests"))
import helper  # noqa: E402

MODELS = ("ad01", "kws", "resnet8", "vww")
# Millions of instructions; code in KiB and RAM in bytes are of the Cortex-M4.
TFLM = {
    "cortex-m4": dict(zip(MODELS, (0.583, 7.70, 29.9, 24.1))),
    "cortex-m55": dict(zip(MODELS, (0.286, 1.81, 4.91, 6.56))),
}
TFLM_CODE = dict(zip(MODELS, (28.4, 52.4, 50.2, 52.4)))
TFLM_RAM = dict(zip(MODELS, (2592, 22936, 55112, 100824)))
OTHER_FP32 = {"cortex-m4": dict(zip(MODELS, (1.34, 19.9, 116, 54.1)))}
COLUMNS = ("%-8s %-5s %-11s %-8s %9s %9s %6s %9s %6s %8s %7s %6s")


def measure(model, kind, target, goal, requant):
    path = os.path.join(helper.shared_model("mlperf_tiny"),
                        "%s_%s" % (model, kind), "model.onnx")
    with tempfile.TemporaryDirectory() as folder:
        found = os.path.join(folder, "board.json")
        done = subprocess.run(
            [helper.TIRC, "run", path, "--quiet", "--requant", requant,
             "--target", target, "--optimize", goal,
             "--in-workspace", "both", "--json", found], text=True, capture_output=True)
        if done.returncode != 0:
            sys.exit(done.stderr)
        with open(found, encoding="utf-8") as file:
            row = json.load(file)
    row.update(model=model, kind=kind, target=target, goal=goal,
               requant=requant)
    if kind == "int8":
        row["tflm_instructions"] = TFLM[target][model] * 1e6
        if target == "cortex-m4":
            row["tflm_code_bytes"] = TFLM_CODE[model] * 1024
            row["tflm_ram_bytes"] = TFLM_RAM[model]
    elif target in OTHER_FP32:
        row["other_instructions"] = OTHER_FP32[target][model] * 1e6
    return row


def ratio(row, name, other):
    return "%.2f" % (row[name] / row[other]) if other in row else ""


def line(row):
    known = row.get("tflm_instructions", row.get("other_instructions"))
    return COLUMNS % (
        row["model"], row["kind"], row["target"], row["goal"],
        "%.3f" % (row["instructions"] / 1e6),
        "%.3f" % (known / 1e6) if known else "",
        "%.2f" % (row["instructions"] / known) if known else "",
        "%.1f" % (row["code_bytes"] / 1024),
        ratio(row, "code_bytes", "tflm_code_bytes"),
        row["ram_bytes"], ratio(row, "ram_bytes", "tflm_ram_bytes"),
        row["stack_bytes"])


def main():
    parser = argparse.ArgumentParser(
        prog="run bench mcu", description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", metavar="MODEL", choices=MODELS,
                        action="append", help="ad01, kws, resnet8 or vww")
    parser.add_argument("--kind", choices=("int8", "fp32"), action="append",
                        help="default: both")
    parser.add_argument("--requant", default="tflite",
                        choices=("tflite", "onnx"), help="default: tflite")
    parser.add_argument("--json", metavar="FILE", help="write all numbers")
    args = parser.parse_args()
    rows = []

    helper.shared_model("mlperf_tiny")
    print(COLUMNS % ("model", "kind", "target", "goal", "million", "others'",
                     "ratio", "code KiB", "/ TFLM", "RAM", "/ TFLM", "stack"))
    for kind in args.kind or ("int8", "fp32"):
        for target, goal in (("cortex-m4", "speed"), ("cortex-m4", "balanced"),
                             ("cortex-m4", "size"), ("cortex-m55", "speed")):
            for model in args.only or MODELS:
                rows.append(measure(model, kind, target, goal, args.requant))
                print(line(rows[-1]), flush=True)
    if args.json:
        with open(args.json, "w", encoding="utf-8") as file:
            json.dump(rows, file, indent=1)
            file.write("\n")


main()
