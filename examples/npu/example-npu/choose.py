#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A region pass over the partition's JSON: chooses the unit that computes each
product, by time or by energy, as the backend's option `prefer` says. The
numbers are those of the accelerator (../model/npu.c)."""
import json
import math
import sys

# products in a cycle, cycles to start; picojoules for a product and a start
UNITS = {"NPU_ARRAY": (64, 40, 2, 100000), "NPU_VECTOR": (4, 8, 5, 10000)}


def cycles(unit, products):
    return UNITS[unit][1] + products / UNITS[unit][0]


def energy(unit, products):
    return UNITS[unit][3] + products * UNITS[unit][2]


p = json.load(sys.stdin)
option = [b for b in p["backends"] if b["name"] == "example-npu"][0]
prefer = option["options"]["prefer"]
cost = energy if prefer == "energy" else cycles
producer = {name: node for node in p["nodes"] for name in node["outputs"]}
for region in p["regions"]:
    if region["backend"] != "example-npu":
        continue
    region["attrs"]["prefer"] = prefer
    for match in region["matches"]:
        role = {"conv": "conv", "conv_pool": "conv",
                "product": "gemm"}.get(match["pattern"])
        if role is None:
            continue
        node = producer[match["nodes"][role]]
        results = math.prod(p["tensors"][match["nodes"][role]]["shape"])
        per_result = math.prod(p["tensors"][node["inputs"][1]]["shape"][1:])
        match.setdefault("facts", {})["unit"] = min(
            UNITS, key=lambda unit: cost(unit, results * per_result))
json.dump(p, sys.stdout)
