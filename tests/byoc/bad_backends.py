#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Backends with a mistake are refused, with the file and the place in it; and
whatever the schema refuses, the loader does, too: a good backend is damaged in
every place, by a key that nobody knows and by values of other types."""
import copy
import json
import os
import re

from helper import DIGITS, ROOT, SANITIZED, TIRC, execute, fail, work_folder
from schema_check import errors

SCHEMA = json.load(open(os.path.join(ROOT, "templates", "schema",
                                     "backend.schema.json")))
FIRST = os.path.join(ROOT, "tests", "byoc", "backends", "first",
                     "backend.json")
FOLDER = work_folder()


def load(backend, *arguments, files=None, name="bad"):
    """What tirc says of it."""
    folder = os.path.join(FOLDER, name)
    os.makedirs(folder, exist_ok=True)
    for path, text in (files or {}).items():
        with open(os.path.join(folder, path), "w") as file:
            file.write(text)
    with open(os.path.join(folder, "backend.json"), "w") as file:
        file.write(backend if isinstance(backend, str)
                   else json.dumps(backend, indent=1))
    return execute([TIRC, "partition", DIGITS, "--byoc",
                    (arguments or (name,))[0], "--byoc-path", FOLDER],
                   status=None)


def node(**keys):
    return dict({"id": "a", "op": "Relu"}, **keys)


def pattern(*nodes, **keys):
    return dict({"name": "p", "nodes": list(nodes)}, **keys)


def backend(*patterns, **keys):
    return dict({"description": "d", "patterns": list(patterns)}, **keys)


def one(**keys):
    """One node with these keys."""
    return backend(pattern(node(**keys)))


def after(*followers, **keys):
    return backend(pattern(node(op="Conv"),
                           then=[dict(keys, one_of=list(followers))]))


GOOD = pattern(node())
NODE = "/patterns/0/nodes/0"
NEXT = "/patterns/0/nodes/1"
THEN = "/patterns/0/then/0"

# name: (backend, place, words of the message)
CASES = {
    "syntax": ('{"description": }', "1:17", "not well-formed JSON"),
    "list": ([], "", "an object is expected here"),
    "key": (backend(GOOD, colour="red"), "/colour", "unknown key"),
    "no_description": ({"patterns": [GOOD]}, "/description", "is missing"),
    "no_patterns": ({"description": "d"}, "/patterns", "is missing"),
    "empty": (backend(), "/patterns", "1 or more objects"),
    "twice": ('{"description": "d", "description": "e"}', "/description",
              "is given twice"),
    "pattern_key": (backend(dict(GOOD, colour="red")), "/patterns/0/colour",
                    "unknown key"),
    "pattern_twice": (backend(GOOD, GOOD), "/patterns/1/name",
                      "there is a pattern 'p' already"),
    "pattern_name": (backend(dict(GOOD, name="P 1")), "/patterns/0/name",
                     "lower case"),
    "no_nodes": (backend(pattern()), "/patterns/0/nodes", "1 or more objects"),
    "node_key": (one(colour="red"), NODE + "/colour", "unknown key"),
    "operator": (one(op="Rellu"), NODE + "/op", "not an operator"),
    "operator_domain": (one(op="tirc.Relu"), NODE + "/op", "not an operator"),
    "no_operator": (one(op=[]), NODE + "/op", "cannot match"),
    "id_twice": (backend(pattern(node(), node(inputs=["a"]))),
                 NEXT + "/id", "a node 'a' exists already"),
    "id_word": (one(id="constant"), NODE + "/id", "cannot be the id"),
    "later": (backend(pattern(node(inputs=["b"]), node(id="b"))),
              NODE + "/inputs/0", "'b' is neither an earlier node"),
    "before": (one(inputs=["before"]), NODE + "/inputs/0",
               "neither an earlier node"),
    "apart": (backend(pattern(node(), node(id="b"))), "/patterns/0/nodes",
              "node 'b' is connected to no other"),
    "inputs": (one(inputs=["any", "any"]), NODE + "/inputs",
               "Relu has 1 or fewer inputs, not 2"),
    "too_few": (one(op="Add", inputs=["any"]), NODE + "/inputs",
                "Add has 2 inputs, not 1"),
    "outputs": (one(outputs=["any", "any"]), NODE + "/outputs",
                "cannot match"),
    "result_number": (backend(pattern(node(), node(
        id="b", inputs=["a.outputs.x"]))), NEXT + "/inputs/0",
        "'a' has no output with this index"),
    "dtype": (one(inputs=[{"dtype": "float33"}]),
              NODE + "/inputs/0/dtype", "not a type"),
    "no_dtype": (one(inputs=[{"dtype": []}]), NODE + "/inputs/0/dtype",
                 "cannot match"),
    "bounds": (one(inputs=[{"rank": {"min": 4, "max": 2}}]),
               NODE + "/inputs/0/rank", "cannot match"),
    "multiple": (one(inputs=[{"elems": {"one_of": [3], "multiple": 2}}]),
                 NODE + "/inputs/0/elems", "cannot match"),
    "shape_and_rank": (one(inputs=[{"shape": [1, 2], "rank": 4}]),
                       NODE + "/inputs/0/shape", "cannot match"),
    "other_dims": (one(inputs=[{"shape": [1, 2], "other_dims": 4}]),
                   NODE + "/inputs/0/other_dims", "no other dimensions"),
    "dots": (one(inputs=[{"shape": ["...", 2]}]),
             NODE + "/inputs/0/shape/0", "at the end"),
    "layout": (one(inputs=[{"layout": "blocks"}]),
               NODE + "/inputs/0/layout", "rows or columns or a list of these"),
    "columns": (one(inputs=[{"layout": "columns"}]),
                NODE + "/inputs/0/layout", "cannot match"),
    "value_of": (one(inputs=[{"is": "variable", "value": 1}]),
                 NODE + "/inputs/0/value", "cannot match"),
    "reference": (one(inputs=[{"same_shape": "c"}]),
                  NODE + "/inputs/0/same_shape", "neither this node"),
    "absent": (one(attributes={"axis": {"absent": True, "min": 1}}),
               NODE + "/attributes/axis", "absent attribute"),
    "attribute": (one(attributes={"axis": {"min": 2, "max": 1}}),
                  NODE + "/attributes/axis", "cannot match"),
    "attribute_type": (one(attributes={"axis": True}),
                       NODE + "/attributes/axis", "a number, a text, a list of integers or an"),
    "fact": (one(facts={"alpha": {}}), NODE + "/facts/alpha",
             "either attribute or input"),
    "fact_input": (one(facts={"alpha": {"input": 3}}),
                   NODE + "/facts/alpha", "has no input 3"),
    "fact_order": (one(facts={"low": 1, "high": {"default": 2, "at_least": "hi"}}),
                   NODE + "/facts/high/at_least", "'hi' is not an earlier fact"),
    "any_order": (one(any_order=True), NODE + "/any_order", "two inputs"),
    "anchor": (backend(dict(GOOD, anchor="b")), "/patterns/0/anchor",
               "no node 'b'"),
    "optional_anchor": (one(optional=True, inputs=["any"]),
                        "/patterns/0/anchor", "cannot be optional"),
    "optional_source": (backend(pattern(node(), node(id="b",
                                                     optional=True))),
                        NEXT + "/optional", "needs inputs"),
    "result": (backend(dict(GOOD, result="b")), "/patterns/0/result",
               "no node 'b'"),
    "inner_result": (backend(pattern(
        node(), node(id="b", inputs=["a"]), result="a",
        then=[{"one_of": [{"name": "n", "op": "Neg"}]}])),
        "/patterns/0/then", "another node of the pattern reads it"),
    "chain_key": (after({"name": "n", "op": "Neg"}, most=3), THEN + "/most",
                  "unknown key"),
    "chain_bounds": (after({"name": "n", "op": "Neg"}, min=3, max=2),
                     THEN + "/min", "more than max"),
    "no_follower": (after(), THEN + "/one_of", "1 or more objects"),
    "follower_twice": (after({"name": "n", "op": "Neg"},
                             {"name": "n", "op": "Abs"}),
                       THEN + "/one_of/1/name", "'n' exists already"),
    "follower_key": (after({"name": "n", "op": "Neg", "optional": True}),
                     THEN + "/one_of/0/optional", "unknown key"),
    "follower_apart": (after({"name": "n", "op": "Neg",
                              "inputs": ["any"]}), THEN + "/one_of/0",
                       "it cannot be found"),
    "chains": (backend(dict(GOOD, then="usual")), "/patterns/0/then",
               "chains has no 'usual'"),
    "chains_in_list": (backend(dict(GOOD, then=["usual"])),
                       "/patterns/0/then/0", "chains has no 'usual'"),
    "template_key": (backend(GOOD, templates={"kernel": "k.tmpl"}),
                     "/templates/kernel", "unknown key"),
    "template_file": (backend(GOOD, templates={"region": "no.tmpl"}),
                      "/templates/region", "there is no file"),
    "template_path": (backend(GOOD, templates={"region": "../x.tmpl"}),
                      "/templates/region", "of the same folder"),
    "option_default": (backend(GOOD, options={"mode": {
        "what": "w", "values": ["a"], "default": "b"}}),
        "/options/mode/default", "none of the values"),
    "pass_stage": (backend(GOOD, passes=[{
        "name": "n", "after": "lunch", "command": "cat"}]),
        "/passes/0/after", "annotated, merged or partitioned"),
    "pass_both": (backend(GOOD, passes=[{
        "name": "n", "after": "merged", "command": "cat",
        "object": "x.so"}]), "/passes/0", "either object or command"),
    "pass_object": (backend(GOOD, passes=[{
        "name": "n", "after": "merged", "object": "missing.so"}]),
        "/passes/0/object", "missing.so"),
    "runtime": (backend(GOOD, runtime=["no.c"]), "/runtime/0",
                "there is no file no.c"),
    "runtime_path": (backend(GOOD, runtime=["../x.c"]), "/runtime/0",
                     "of the same folder or of runtime-c"),
    "counts": (backend(dict(GOOD, counts={"a": [1]})),
               "/patterns/0/counts/a", "a number is expected here"),
    "counts_name": (backend(dict(GOOD, counts={"A": 1})),
                    "/patterns/0/counts/A", "lower case"),
    "counts_negative": (backend(dict(GOOD, counts={"a": -1})),
                        "/patterns/0/counts/a", ""),
    "counts_of": (backend(GOOD, counts={"constant": {}}),
                  "/counts/constant", "unknown key"),
    "control_character": (backend(GOOD, includes=["<x.h>\x01\x16"]),
                          "/includes/0", "control characters (here 0x01)"),
    "raw_control_character": ('{"description": "d\x1b"}', "/description",
                              "control characters (here 0x1b)"),
    "includes": (backend(GOOD, includes="<x.h>"), "/includes",
                 "an array"),
    "state": (backend(GOOD, state="yes"), "/state", "true or false"),
    "region": (backend(GOOD, region={"merge": 1}), "/region/merge",
               "true or false"),
    "cost": (backend(dict(GOOD, cost={"min_macs": -1})),
             "/patterns/0/cost/min_macs", "an integer from 0"),
    "wanted_option": (backend(dict(GOOD, options={"mode": "a"})),
                      "/patterns/0/options/mode", "does not have this option"),
    "wanted_value": (backend(dict(GOOD, options={"mode": "b"}), options={
        "mode": {"what": "w", "values": ["a"], "default": "a"}}),
        "/patterns/0/options/mode", "is not a value of the option"),
}

# What --byoc says: (value, words of the message)
VALUES = {
    "nobody": "there is no backend 'nobody'; ",
    "../bad": "there is no backend",
    "good:speed=1": "no option speed; its options are: mode, level",
    "good:mode=c": "mode is one of a, b",
    "good:mode": "mode is one of a, b",
    "good:level=\x01": "level is a text without control characters",
}


def check_cases():
    for name, (value, place, words) in CASES.items():
        done = load(value)
        where = "bad/backend.json" + ":" + (
            place if place[:1].isdigit() else " " + place)
        if done.returncode != 1 or where not in done.stderr or \
                words not in done.stderr:
            fail("%s: wanted %r and %r, status 1; got %d\n%s" % (
                name, where, words, done.returncode, done.stderr))


def check_values():
    good = backend(GOOD, options={
        "mode": {"what": "w", "values": ["a", "b"], "default": "a"},
        "level": {"what": "w", "default": "1"}})
    for value, words in VALUES.items():
        done = load(good, value, name="good")
        if done.returncode != 1 or words not in done.stderr:
            fail("%s: wanted %r\n%s" % (value, words, done.stderr))
    for value in ["good", "good:mode=b"]:
        done = load(good, value, name="good")
        if done.returncode != 0:
            fail("%s:\n%s" % (value, done.stderr))


def known(path, cwd=None):
    """Backends that it says there are."""
    done = execute([TIRC, "partition", DIGITS, "--byoc", "nobody",
                    "--byoc-path", path], status=1, cwd=cwd)
    listed = re.search("the backends are: (.*)", done.stderr)
    return listed.group(1).split(", ")


def check_folders():
    """What is listed can be loaded: from a folder of folders, from its folder
    byoc, from a backend's own; each name once, the first in this order."""
    top = os.path.join(work_folder(), "top")
    for inner in ["mine", os.path.join("byoc", "yours"), "cblas", ".hidden",
                  "with space", "dialects"]:
        os.makedirs(os.path.join(top, inner))
        if inner != "dialects":
            with open(os.path.join(top, inner, "backend.json"), "w") as file:
                json.dump(backend(GOOD, templates={"region": "r.tmpl"}), file)
            with open(os.path.join(top, inner, "r.tmpl"), "w") as file:
                file.write("")
    shipped = set(known(os.path.join(top, "dialects")))
    mine = os.path.join(top, "mine")
    for path, cwd, own in [(top, None, {"mine", "yours"}),
                           (mine, None, {"mine"}), (".", mine, {"mine"}),
                           (mine + "/", None, {"mine"})]:
        names = known(path, cwd)
        if names != sorted(shipped | own):
            fail("%s: %s is known, %s is there" % (
                path, names, sorted(shipped | own)))
        for name in own:
            execute([TIRC, "partition", DIGITS, "--byoc", name,
                     "--byoc-path", path], cwd=cwd)
    # One of the same name as tirc's own is whole: no file is from that.
    os.remove(os.path.join(top, "cblas", "r.tmpl"))
    with open(os.path.join(top, "cblas", "backend.json"), "w") as file:
        json.dump(backend(GOOD, templates={"region": "region.tmpl"}), file)
    done = execute([TIRC, "partition", DIGITS, "--byoc", "cblas",
                    "--byoc-path", top], status=1)
    if "there are two backends 'cblas'" not in done.stderr:
        fail("the name of two backends:\n" + done.stderr)
    done = execute([TIRC, "partition", DIGITS, "--byoc", "cblas=" + top],
                   status=1)
    if "/templates/region: there is no file" not in done.stderr:
        fail("the file of another backend:\n" + done.stderr)


# Templates are looked over when they are loaded, whatever a model would fill
# in. Of what a backend declares the names are known, where they stand.
TAKES = backend(
    pattern({"id": "conv", "op": "Conv",
             "inputs": ["any", "constant", {"optional": True}],
             "attributes": {"auto_pad": {"one_of": ["NOTSET", "VALID"],
                                         "or_absent": True}},
             "facts": {"pad": {"attribute": "auto_pad", "default": "NOTSET"},
                       "unit": 3}},
            name="p", counts={"places": 3, "uses": [1, 2]},
            then=[{"one_of": [{"name": "act", "op": ["Relu", "Abs"],
                               "counts": {"more": 1},
                               "facts": {"slope": 0.5}}]}]),
    pattern(node(id="pool", op="MaxPool"), name="q"),
    counts={"input": {"ends": 1}, "output": {"ends": 2}},
    options={"mode": {"what": "w", "values": ["a", "b"], "default": "a"},
             "level": {"what": "w", "default": "1"}})
FILES = ("region", "members", "shared", "shared_members")
INSIDE = "{{#matches}}%s{{/matches}}"
STEPS = INSIDE % "{{#steps}}%s{{/steps}}"

# file: (text, its line with the mistake, words of the message)
BAD_TEMPLATES = [
    ("region", "int {{region}} {{colour}};\n", 1, "'colour'"),
    ("region", "int x;\n\n{{#matches}}\nint y;\n", 3, "'matches'"),
    ("region", "{{#matches}}\n{{#steps}}\n{{/matches}}\n", 2, "'steps'"),
    ("region", "x {{/matches}}\n", 1, "'matches'"),
    ("region", "int {{region};\n", 1, "the end of this tag is missing"),
    ("region", "int x;\n/* \x01\x16 */\n", 2, r"a control character: '\x01'"),
    ("region", "\n{{matches}}\n", 2, "this name is a list, not a text: 'matches'"),
    # In sections that this model does not fill.
    ("region", INSIDE % "\n{{#is_q}}\n{{colour}}{{/is_q}}\n", 3, "'colour'"),
    ("region", INSIDE % "{{#is_r}}{{/is_r}}", 1, "'is_r'"),
    ("region", "{{^inputs}}{{colour}}{{/inputs}}", 1, "'colour'"),
    ("region", "{{#attrs}}{{name}}{{/attrs}}", 1, "'name'"),
    ("region", STEPS % "{{#is_q}}{{/is_q}}{{#is_relu}}{{/is_relu}}", 1,
     "'is_relu'"),
    ("region", STEPS % "{{act_is_neg}}", 1, "'act_is_neg'"),
    ("region", INSIDE % "{{conv_is_relu}}", 1, "'conv_is_relu'"),
    ("region", INSIDE % "{{#conv_7}}{{/conv_7}}", 1, "'conv_7'"),
    ("region", INSIDE % "{{pad_is_SAME}}", 1, "'pad_is_SAME'"),
    ("region", "{{option_speed}}", 1, "'option_speed'"),
    ("region", "{{option_mode_is_c}}", 1, "'option_mode_is_c'"),
    ("region", "{{option_level_is_1}}", 1, "'option_level_is_1'"),
    # Where they do not stand.
    ("region", "{{pattern}}", 1, "'pattern'"),
    ("region", "{{has_conv}}", 1, "'has_conv'"),
    ("region", INSIDE % "{{slope}}", 1, "'slope'"),
    ("region", "{{count_nothing}}", 1, "'count_nothing'"),
    ("region", "{{first}}", 1, "'first'"),
    ("region", "{{#state}}{{last}}{{/state}}", 1, "'last'"),
    ("region", "{{#inputs}}{{#dims}}{{stride}}{{/dims}}{{/inputs}}", 1,
     "'stride'"),
    ("members", "\n{{colour}}\n", 2, "'colour'"),
    ("shared", "{{region}}", 1, "'region'"),
    ("shared", "{{count_places}}", 1, "'count_places'"),
    ("shared_members", "{{matches}}", 1, "'matches'"),
    # Of packages, not of regions.
    ("region", "{{workspace_bytes}}", 1, "'workspace_bytes'"),
    # Fragments are looked over where they are used.
    ("region", "{{<f}}\n{{pattern}}{{/f}}\n{{>f}}\n", 2, "'pattern'"),
    ("region", "{{>f}}", 1, "no such fragment: 'f'"),
]

TENSOR = """{{name}}{{tensor}}{{index}}{{made_by}}{{type}}{{short}}{{zero}}
{{ndim}}{{elems}}{{bytes}}{{element_bytes}}{{is_input}}{{is_constant}}
{{is_output}}{{is_value}}{{is_computed}}{{is_static}}{{is_scalar}}
{{is_f32}}{{is_bf16}}{{is_i8}}{{per_element}}{{per_column}}{{per_row}}
{{per_channel}}{{per_tensor}}{{#dims}}{{dim}}{{at}}{{^last}},{{/last}}{{/dims}}
{{#strides}}{{stride}}{{at}}{{#first}};{{/first}}{{/strides}}
"""
OPERATORS = """{{spatial}}{{group}}{{is_grouped}}{{axis}}{{axis_is_last}}
{{a}}{{b}}{{row}}{{column}}{{rows}}{{columns}}{{inner}}{{a_trans}}{{b_trans}}
{{a_stride}}{{b_stride}}{{one_row}}{{one_column}}{{inside}}{{a_offset}}
{{b_offset}}{{y_offset}}{{all_rows}}{{all_one_row}}{{y_elems}}
{{#loops}}{{var}}{{extent}}{{indent}}{{outdent}}{{/loops}}
""" + "".join("{{#%s}}{{value}}{{index}}{{/%s}}\n" % (name, name) for name in (
    "kernel", "strides", "dilations", "dilation_gaps", "pads_begin",
    "pads_end", "output_padding", "weights_dims", "weights_stored"))


def tensors(*names):
    return "".join("{{#%s}}%s{{/%s}}\n" % (name, TENSOR, name)
                   for name in names)


def role(name, op):
    return "{{has_%s}}{{%s_is_%s}}{{%s_n_inputs}}" % (
        name, name, op, name) + tensors(
        *[name + "_" + tail for tail in (
            "0", "1", "2", "3", "inputs", "operand", "result")])


ALWAYS = """{{model}}{{MODEL}}{{backend}}{{state}}{{open}}{{br}}{{close}}
{{option_mode}}{{option_mode_is_a}}{{option_mode_is_b}}{{option_level}}
"""
STEP = """{{step}}{{follower}}{{read_last}}{{is_act}}{{slope}}{{slope_float}}
{{slope_set}}{{slope_is_one}}
""" + tensors("operand", "step_result") + role("act", "abs")
MATCH = """{{match}}{{pattern}}{{is_p}}{{is_q}}{{op}}{{nodes}}{{y}}
{{pad}}{{pad_float}}{{pad_set}}{{pad_is_one}}{{pad_is_NOTSET}}{{pad_is_VALID}}
{{unit}}
""" + tensors("bias", "result", "results") + OPERATORS + role("conv", "conv") \
    + role("pool", "maxpool") + "{{#steps}}%s{{/steps}}" % STEP
OF_REGIONS = ALWAYS + """{{region}}{{has_weights}}
{{#parameters}}{{text}}{{/parameters}}{{#init_parameters}}{{text}}
{{/init_parameters}}{{#plan_parameters}}{{text}}{{/plan_parameters}}
{{count_places}}{{count_uses}}{{count_more}}{{count_ends}}{{#attrs}}{{attr}}{{value}}{{/attrs}}
{{attr_speed}}{{#attr_speed}}fast{{/attr_speed}}
""" + tensors("inputs", "constants", "outputs", "tensors") + INSIDE % MATCH
OF_ALL = ALWAYS


def try_template(key, text, name):
    texts = dict.fromkeys(FILES, "int x;\n")
    texts[key] = text
    return load(dict(TAKES, templates={k: k + ".tmpl" for k in FILES}),
                files={k + ".tmpl": texts[k] for k in FILES}, name=name)


def check_templates():
    for key, text, line, words in BAD_TEMPLATES:
        done = try_template(key, text, "text")
        place = os.path.join("text", "%s.tmpl:%d" % (key, line))
        if done.returncode != 1 or place not in done.stderr or \
                words not in done.stderr:
            fail("%s, %r: wanted %r and %r\n%s" % (key, text, place, words,
                                                   done.stderr))
    # All that docs/reference/backend.md lists is known, and given or empty.
    for key in FILES:
        text = OF_ALL if key.startswith("shared") else OF_REGIONS
        done = try_template(key, "/*\n" + text + "*/\n", "good")
        if done.returncode != 0:
            fail("%s: what is documented is refused:\n%s" % (key,
                                                             done.stderr))
        execute([TIRC, "compile", DIGITS, "-o", os.path.join(FOLDER, "out"),
                 "--byoc", "good", "--byoc-path", FOLDER])


def places(value, path=()):
    yield path
    if isinstance(value, dict):
        for key in value:
            yield from places(value[key], path + (key,))
    elif isinstance(value, list):
        for i, item in enumerate(value):
            yield from places(item, path + (i,))


def at(value, path):
    for key in path:
        value = value[key]
    return value


def damaged(good):
    """Every place, one after the other: another type, a key too many."""
    for path in places(good):
        for other in (7.5, [[]], {"no such key": 1}, None):
            bad = copy.deepcopy(good)
            if path:
                at(bad, path[:-1])[path[-1]] = other
                yield path, bad
        if isinstance(at(good, path), dict):
            bad = copy.deepcopy(good)
            at(bad, path)["no such key"] = 1
            yield path, bad


def check_schema():
    good = json.load(open(FIRST))
    good["templates"] = {"region": "r.tmpl"}
    # Several that say the same teach nothing.
    good["patterns"] = good["patterns"][:2]
    good["options"] = {"mode": {"what": "w", "values": ["a"],
                                "default": "a"}}
    good["patterns"][0]["options"] = {"mode": "a"}
    good["region"] = {"merge": True, "max_matches": 2, "min_macs": 1}
    files = {"r.tmpl": "int x;\n"}
    for value, name in [(good, "whole")]:
        found = errors(value, SCHEMA, SCHEMA)
        done = load(value, files=files, name=name)
        if found or done.returncode != 0:
            fail("a good one is refused: %r\n%s" % (found, done.stderr))
    tried = refused = 0
    step = 9 if SANITIZED else 3
    for path, bad in list(damaged(good))[::step]:
        tried += 1
        if not errors(bad, SCHEMA, SCHEMA):
            continue
        refused += 1
        done = load(bad, files=files, name="whole")
        if done.returncode != 1 or "backend.json" not in done.stderr:
            fail("the schema refuses it, tirc does not: /%s\n%s" % (
                "/".join(map(str, path)), json.dumps(at(bad, path))))
    if refused < 360 // step:
        fail("only %d of %d are refused" % (refused, tried))
    print("%d of %d damaged backends are refused by both" % (refused, tried))


def check_shipped():
    for folder in [os.path.join(ROOT, "templates", "byoc"),
                   os.path.join(ROOT, "examples", "npu"),
                   os.path.join(ROOT, "tests", "byoc", "backends")]:
        for name in sorted(os.listdir(folder)):
            path = os.path.join(folder, name, "backend.json")
            if os.path.exists(path):
                found = errors(json.load(open(path)), SCHEMA, SCHEMA)
                if found:
                    fail("%s: the schema refuses %s" % (path,
                                                        " ".join(found)))


check_cases()
check_values()
check_folders()
check_templates()
check_shipped()
check_schema()
