#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""`tirc run --profile`: a row for each kernel, in their order, with figures
that fit each other; and no word of it in what is emitted otherwise."""
import json
import os
import re

from helper import DIGITS, STRICT, compile_model, fail, need, tirc, work_folder
from proto import (INT64, floats, graph, model, node, tensor,
                   value_info)

need("cc")
for target, flags in (("c99", "-std=c99 -O2"), ("gnu-c", None)):
    out = compile_model(DIGITS, "--target", target)
    with open(os.path.join(out, "digits.c")) as file:
        if "profile" in file.read():
            fail("the source has a profile that nobody asked for")
    with open(os.path.join(out, "digits.json")) as file:
        facts = json.load(file)
    folder = work_folder()
    found = os.path.join(folder, "profile.json")
    words = ["--cflags", " ".join([flags] + STRICT)] if flags else []
    done = tirc("run", DIGITS, "--profile", "--target", target, "--repeat",
                "5", "--json", found, *words)
    if "note:" in done.stderr and "only the program" in done.stderr:
        fail("a function of tirc's own is reported:\n" + done.stderr)
    with open(found) as file:
        result = json.load(file)
    names = [k["name"] for k in facts["kernels"]]
    if [k["name"] for k in result["kernels"]] != names:
        fail("other kernels than in digits.json")
    for kernel, fact in zip(result["kernels"], facts["kernels"]):
        if kernel["flops"] != fact["flops"]:
            fail("%s: other work than in digits.json" % kernel["name"])
        rate = kernel["flops"] / kernel["ms"] * 1e-6
        if abs(rate - kernel["gflops"]) > 1e-6 * rate:
            fail("%s: the rate is not the work by the time" % kernel["name"])
        if kernel["bound"] not in ("compute", "memory"):
            fail("%s: what bounds it?" % kernel["name"])
    # The median of sums is not the sum of medians, but near.
    total = sum(k["ms"] for k in result["kernels"])
    if not 0.2 * total < result["total_ms"] < 5 * total:
        fail("%g ms in all, but %g ms of kernels" % (
            result["total_ms"], total))
    if result["runs"] != 5 or result["peak_gflops"] <= 0 or min(
            result["gbytes_per_s"].values()) <= 0:
        fail("what could the machine do?")
    rows = re.findall(r"^(\w+) +[\d.]+ +(?:\d+%)? +[\d.]+ +[\d.]+ ",
                      done.stdout, re.M)
    if rows != names + ["total"]:
        fail("the table has other rows:\n" + done.stdout)
tirc("run", DIGITS, "--json", "x.json", status=2)

# What a kernel reads of a table is the rows that it takes, not the table; a
# product whose rows are joined from two open sizes has all its operations.
path = os.path.join(work_folder(), "work.onnx")
with open(path, "wb") as file:
    file.write(model(graph(
        [node("Gather", ["table", "at"], ["rows"], axis=0),
         node("MatMul", ["x", "w"], ["product"]),
         node("Add", ["product", "bias"], ["sum"]),
         node("Add", ["sum", "x"], ["y"])],
        [value_info("at", [2], INT64),
         value_info("x", ["batch", "sequence", 32])],
        [value_info("rows", [2, 32]),
         value_info("y", ["batch", "sequence", 32])],
        [tensor("table", [1000, 32], bytes(4 * 32000)),
         tensor("w", [32, 32], floats(*range(1024))),
         tensor("bias", [32], floats(*range(32)))])))
for target in "c99", "gnu-c", "x86-64-v4":
    for sizes in ("8", "16"), ("1..8", "1..16"):
        out = compile_model(path, "--name", "work", "--target", target,
                            "--dim", "batch=" + sizes[0], "--dim",
                            "sequence=" + sizes[1])
        with open(os.path.join(out, "work.json")) as file:
            kernels = json.load(file)["kernels"]
        for kernel in kernels:
            products = 2 * kernel["macs"]
            if not products <= kernel["flops"] <= 1.2 * products + 8192:
                fail("%s, %s: %s has %g FLOP, %g of products" % (
                    target, sizes, kernel["name"], kernel["flops"], products))
            if not kernel["macs"] and kernel["read_bytes"] > 4 * 64 + 16:
                fail("%s reads %d bytes" % (kernel["name"],
                                            kernel["read_bytes"]))

# The transforms of Winograd's tiles: the operations that are left when terms in common
# are computed once, 18 for each of the 6 columns and rows of a tile of pixels, 13 for
# each of the 6 columns and 4 rows of results, and the Relu.
path = os.path.join(work_folder(), "tiles.onnx")
with open(path, "wb") as file:
    file.write(model(graph(
        [node("Conv", ["x", "w"], ["c"], "conv", pads=[1, 1, 1, 1]),
         node("Relu", ["c"], ["y"])],
        [value_info("x", [1, 16, 24, 24])], [value_info("y", [1, 16, 24, 24])],
        [tensor("w", [16, 16, 3, 3], floats(*range(16 * 16 * 9)))])))
for target in "c99", "x86-64-v4":
    out = compile_model(path, "--name", "tiles", "--target", target, "--conv",
                        "winograd")
    with open(os.path.join(out, "tiles.json")) as file:
        flops = {k["title"].split(",")[2].split()[0]: k["flops"]
                 for k in json.load(file)["kernels"]}
    tiles = 6 * 6 * 16
    if flops != {"input": 12 * 18 * tiles, "products": 2 * 36 * 16 * tiles,
                 "output": (10 * 13 + 16) * tiles}:
        fail("%s: Winograd's kernels have %s FLOP" % (target, flops))
