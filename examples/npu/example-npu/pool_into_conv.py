#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A region pass over the partition's JSON: a convolution whose result only a
pool reads becomes, with the pool, one command of the accelerator, and what
lies between is never stored.

    conv (conv1, relu1), pool (pool1)  ->  conv_pool (conv1, relu1, pool1)"""
import json
import sys

p = json.load(sys.stdin)
producer = {name: node for node in p["nodes"] for name in node["outputs"]}
readers = {}
for node in p["nodes"]:
    for name in node["inputs"]:
        readers.setdefault(name, []).append(node)

mine = [m for m in p["matches"] if m["backend"] == "example-npu"]
pools = {m["match"]["nodes"]["pool"]: m for m in mine
         if m["match"]["pattern"] == "pool"}
for conv in mine:
    if conv["match"]["pattern"] != "conv":
        continue
    roles = conv["match"]["nodes"]
    result = roles.get("relu", roles["conv"])
    after = readers.get(result, [])
    if len(after) != 1 or result in p["outputs"]:
        continue
    pool = after[0]["outputs"][0]
    if pool in pools:
        conv["match"] = {"pattern": "conv_pool",
                         "nodes": dict(roles, pool=pool)}
        p["matches"].remove(pools.pop(pool))
json.dump(p, sys.stdout)
