#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""strings.py [PATTERN]: operators on strings, computed from their definitions or
in emitted C, against onnxruntime, or against the answer that a case brings."""
import concurrent.futures
import os
import subprocess
import sys

import numpy as np
import onnx
from onnx import helper as make, numpy_helper

import turns
from helper import HAS_ML, TIRC, WITHOUT_ML, fail, results_alone, skip, \
    work_folder

try:
    import onnxruntime
except ImportError:
    skip("onnxruntime is not installed")

results_alone()

PROGRAM = os.environ["EVALUATE_MODEL"]
FOLDER = work_folder()
cases = []


def s(*values):
    return np.array(values, dtype=object)


def i(*values):
    return np.array(values, dtype=np.int64)


def reference(model, inputs):
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 4
    session = onnxruntime.InferenceSession(
        model.SerializeToString(), options,
        providers=["CPUExecutionProvider"])
    return session.run(None, inputs)


def write(folder, prefix, values):
    os.makedirs(folder, exist_ok=True)
    for k, value in enumerate(values):
        with open(os.path.join(folder, "%s_%d.pb" % (prefix, k)),
                  "wb") as file:
            file.write(numpy_helper.from_array(
                np.asarray(value)).SerializeToString())


def check(op, inputs, attrs=None, known=(), outputs=1, domain="", version=21,
          captured=0, want=None, options=None, refused=None):
    """A model of one node. With options, `tirc test` has them; inputs whose
    numbers are in `known` are then constants of the model. Without, all inputs
    are, and no C is emitted. The last `captured` inputs are read by nested
    graphs."""
    if domain == "ai.onnx.ml" and not HAS_ML:
        print("skipped, %s: %s" % (op, WITHOUT_ML))
        return
    name = "%s %s %s" % (op, attrs or "", [
        x.tolist() if isinstance(x, np.ndarray) else x for x in inputs])
    names = ["" if x is None else "i%d" % k for k, x in enumerate(inputs)]
    node = make.make_node(op, names[:len(names) - captured],
                          ["o%d" % k for k in range(outputs)], domain=domain,
                          **(attrs or {}))
    if options is None and refused is None:
        known = range(len(inputs))
    given = {n: x for k, (n, x) in enumerate(zip(names, inputs))
             if n and k not in known}
    graph = make.make_graph(
        [node], "g",
        [make.make_tensor_value_info(n, make.np_dtype_to_tensor_dtype(x.dtype),
                                     x.shape) for n, x in given.items()],
        [make.make_empty_tensor_value_info(o) for o in node.output],
        [numpy_helper.from_array(inputs[k], names[k]) for k in known])
    model = make.make_model(graph, ir_version=9, opset_imports=[
        make.make_opsetid("", version), make.make_opsetid("ai.onnx.ml", 4)])
    if want is None and refused is None:
        want = reference(model, given)
    folder = os.path.join(FOLDER, "case_%d" % len(cases))
    data = os.path.join(folder, "test_data_set_0")
    write(data, "input", given.values())
    write(data, "output", want or [])
    onnx.save(model, os.path.join(folder, "model.onnx"))
    cases.append((name, folder, options, refused, want))


def read(path):
    """A tensor; of bytes, the strings."""
    tensor = onnx.TensorProto()
    with open(path, "rb") as file:
        tensor.ParseFromString(file.read())
    value = numpy_helper.to_array(tensor)
    if value.dtype != np.uint8:
        return value
    rows = [bytes(row).rstrip(b"\0").decode()
            for row in value.reshape(-1, value.shape[-1])]
    return s(*rows).reshape(value.shape[:-1])


def differences(folder, want):
    """The first output that differs, in words; None: there is none."""
    for k, value in enumerate(want):
        value = np.asarray(value)
        got = read(os.path.join(folder, "output_%d.pb" % k))
        if got.shape != value.shape or got.tolist() != value.tolist():
            return "output %d is\n%s\nnot\n%s" % (k, got, value)
    return None


def run(case):
    name, folder, options, refused, want = case
    model = os.path.join(folder, "model.onnx")
    emit = options is not None or refused is not None
    command = [TIRC, "test", model] + (options or []) if emit \
        else [PROGRAM, model, folder]
    done = subprocess.run(command, text=True, capture_output=True,
                          stdin=subprocess.DEVNULL)
    said = (done.stderr + done.stdout).strip()
    if refused is not None:
        right = done.returncode == 1 and refused in said
    else:
        right = done.returncode == 0
        if right and not emit:
            said = differences(folder, want)
            right = said is None
    return None if right else "%s: %s" % (name, said[-400:])


words = s("a", "", "Zürich", "bc", "x" * 64, "naïve")
table = words.reshape(2, 3)

# -- moved as bytes
check("Identity", [words])
check("Concat", [table, s("long " * 9, "", "q").reshape(1, 3)], {"axis": -2},
      known=(1,), options=[])
check("Concat", [table, table[:, :1]], {"axis": 1})
check("Reshape", [table, i(3, -1)], known=(1,))
check("Reshape", [table, i(0, 3, 1)], known=(1,))
check("Flatten", [table.reshape(2, 3, 1)], {"axis": -1})
check("Squeeze", [table.reshape(2, 1, 3, 1)])
check("Squeeze", [table.reshape(2, 1, 3), i(-2)], known=(1,))
check("Unsqueeze", [table, i(-1, 0)], known=(1,))
check("Expand", [words.reshape(6, 1), i(2, 1, 4)], known=(1,))
check("Tile", [table, i(2, 1)], known=(1,),
      want=[np.tile(table, (2, 1))])
check("Transpose", [table])
check("Transpose", [table.reshape(1, 2, 3)], {"perm": [2, 0, 1]})
check("Slice", [table, i(1), i(9)], known=(1, 2))
check("Slice", [table, i(2, -1), i(-9, -3), i(-1, 0), i(-1, -1)],
      known=(1, 2, 3, 4))
check("Split", [words, i(4, 2)], outputs=2, known=(1,))
check("Split", [table], {"axis": -1, "num_outputs": 3}, outputs=3)
check("Gather", [table, i(2, 0, -1)], {"axis": -1})
check("Gather", [words, np.array(4)], known=(1,))
check("GatherElements", [table, i(1, 0, 1).reshape(1, 3)])
check("GatherND", [table, i(1, 2, 0, 1).reshape(2, 2)])
check("Shape", [table])
check("Shape", [table], {"start": -1})
check("Size", [table])
check("Where", [np.array([[True], [False]]), table, s("else")], known=(2,))
check("Compress", [table, np.array([True, False, True])], {"axis": 1},
      version=11)

# -- compared
check("Equal", [table, s("bc", "", "Zürich")])
check("Equal", [words, s("naïve")], known=(1,))
check("Equal", [np.array("same", dtype=object), np.array("same ",
                                                         dtype=object)])

# -- lengths
check("Identity", [s("y" * 65)], options=["--string-length", "i0=65"],
      want=[s("y" * 65)])
check("Identity", [s("y" * 65)], refused="is longer than its 64 bytes",
      want=[s("y" * 65)])
check("Identity", [words], options=["--string-length", "j=65"],
      refused="has no input of strings 'j'")
check("Identity", [i(1)], options=["--string-length", "i0=65"],
      refused="has no input of strings 'i0'")
check("Identity", [words], options=["--string-length", "i0=0"],
      refused="NAME=BYTES, from 1 up")

# -- refused
check("Unique", [words], refused="Unique of strings is not supported")
check("Equal", [words, np.float32([1])], refused="input 1 is not a tensor of "
      "strings")
check("Slice", [words, i(0), i(1), i(0)], refused="its axes must be constants")
check("Slice", [words, i(*[0] * 40), i(*[1] * 40), i(*[0] * 40)],
      known=(1, 2, 3), refused="more axes than dimensions")

branch = make.make_graph([make.make_node("Identity", ["i1"], ["r"])], "branch",
                         [], [make.make_empty_tensor_value_info("r")])
check("If", [np.array(True), words],
      {"then_branch": branch, "else_branch": branch}, captured=1,
      refused="strings in a branch or a loop")

# -- joined
check("StringConcat", [table, s("!", "", "ü")])
check("StringConcat", [s("a" * 64, ""), s("b" * 64, "c")])
check("StringConcat", [s("x"), table], known=(0,))
check("StringConcat", [np.array("", dtype=object), s("", "long " * 9)])

# -- normalized
days = s("monday", "Tuesday", "wednesday", "MONDAY", "ÄÖÜß Éclair", "×÷")
for case in "LOWER", "UPPER", "NONE":
    for sensitive in 0, 1:
        for stops in ["monday", "wednesday"], ["Monday"], []:
            attrs = {"case_change_action": case, "is_case_sensitive": sensitive}
            if stops:
                attrs["stopwords"] = stops
            changed = [{"LOWER": str.lower, "NONE": str,
                        # ß is a letter without one of the other case
                        "UPPER": lambda w: w.upper().replace("SS", "ß")}[case](
                            word) for word in days
                       if (word not in stops if sensitive else word.lower()
                           not in [stop.lower() for stop in stops])]
            check("StringNormalizer", [days], attrs, want=[s(*changed)])
check("StringNormalizer", [days[:1].reshape(1, 1)],
      {"stopwords": ["monday"]}, want=[s("").reshape(1, 1)])
check("StringNormalizer", [days], {"case_change_action": "UPPER",
                                   "locale": "tr_TR"},
      refused="its locale 'tr_TR' is not supported")
check("StringNormalizer", [table], refused="must have the shape [C] or [1, C]")

# -- split
lines = s("a,b,c", ",,", "", "no comma", "a,", "x" * 63 + ",")
for attrs in ({}, {"maxsplit": 1}, {"maxsplit": 0},
              {"maxsplit": 1 << 32}, {"maxsplit": (1 << 63) - 1}):
    for delimiter in ",", "x", "ab", "xx", "":
        for these in lines, s("abcabab", "ab").reshape(2, 1), \
                s("  lead  and\ttrail \n", "one", "a b c d e"):
            parts = [text.split(delimiter or None, attrs.get("maxsplit", -1))
                     for text in these.ravel()]
            most = max(map(len, parts))
            want = s(*[part + [""] * (most - len(part)) for part in parts])
            check("StringSplit", [these], {"delimiter": delimiter, **attrs},
                  outputs=2, want=[
                      want.reshape(these.shape + (most,)),
                      i(*map(len, parts)).reshape(these.shape)])

# -- patterns
ODD = "".join("\\x%02x" % c for c in range(1, 128, 2))
texts = s("", "a", "ab", "aab", "abab", "b", "ü", "Zürich", "www.x-1.com",
          "foo bar", "foo.bar@gmail.com", " x@yahoo.com ", "a\nb", "a.b", "{2}",
          "-", "]", "123", "a1_", "x" * 64)
for pattern in [
        "", "a*", "a+b", "(ab)*", "a?b?", "[^a]", "[^a]*", ".*", "a.b", r"a\.b",
        "(a|b)+", "a{2}b", "(ab){1,2}", "a{0,}b", "x{64}", "Z(ü|u)rich",
        r"\w+", r"\d{3}", r"\D*", r"\S+", r"[\w.-]+", "[]a-]", "[a-c]*?",
        r"www\.[\w.-]+\.\bcom\b", r"foo\b.*", r"\bfoo\B.*", r"foo\b bar$",
        r"(\W|^)[\w.\-]{0,25}@(yahoo|gmail)\.com(\W|$)", "^a", "(^a)|b$",
        "(?:a)(?P<name>b)", r"\x61", "a{x", "|a"]:
    check("RegexFullMatch", [texts], {"pattern": pattern})
for pattern, why in [("(?i)a", "flags and assertions"), ("(a", "not closed"),
                     ("[a", "not closed"), ("a)", "not opened"),
                     ("*a", "nothing to repeat"), ("[ü]", "beyond ASCII"),
                     (r"\pL", "an escape"), ("a{3,2}", "wrong counts"),
                     ("a{10000}", "wrong counts"),
                     ("(a|b)*a(a|b){12}", "too many states"),
                     ("((y|){900}[%sa]|%s)*a[a-z%s]{7}" % (
                         ODD, "|".join(map("\\x%02x".__mod__, range(2, 128, 2))),
                         ODD), "too many steps")]:
    check("RegexFullMatch", [texts], {"pattern": pattern}, refused=why)
check("RegexFullMatch", [texts], {"pattern": "(){1000}{1000}{1000}{1000}a"},
      want=[texts == "a"])
# Counts that are none: characters, as in RE2.
check("RegexFullMatch", [s("a{2,-1}", "aa", "a{2, 3}")],
      {"pattern": "a{2,-1}|a{2, 3}"},
      want=[np.array([True, False, True])])

# -- numbers
for kind in (np.int8, np.uint16, np.int16, np.int32, np.uint32, np.int64,
             np.uint64):
    limits = np.iinfo(kind)
    numbers = np.array([limits.min, limits.max, 0, 1, 9, 10, 99, 100], kind)
    texts_of = s(*map(str, numbers.tolist()))
    code = make.np_dtype_to_tensor_dtype(numbers.dtype)
    check("Cast", [numbers.reshape(2, 1, 4)], {"to": 8})
    check("Cast", [texts_of], {"to": code})
    check("CastLike", [texts_of, numbers[:1]], want=[numbers])
check("Cast", [np.array([True, False])], {"to": 8})
check("Cast", [np.array(-5)], {"to": 8})
check("Cast", [s("12", "0", "+7", "-3").reshape(2, 2)], {"to": 9})
check("Cast", [s("-" + "0" * 62 + "7", "8" * 3)], {"to": 7})
check("Cast", [words], {"to": 8})
check("CastLike", [i(3, -4), words], want=[s("3", "-4")])
check("Cast", [np.float32([1])], {"to": 8}, refused="how many digits")
check("Cast", [words], {"to": 1}, refused="strings to floats")

# -- counted
def grams(pool, *counts, least=1, skips=0, mode="TF", **more):
    strings = isinstance(pool[0], str)
    number = sum((to - at) // (k + 1) for k, (at, to) in enumerate(
        zip(counts, (*counts[1:], len(pool)))))
    order = np.random.default_rng(number).permutation(number)
    return {"pool_strings" if strings else "pool_int64s": pool,
            "ngram_counts": list(counts), "min_gram_length": least,
            "max_gram_length": len(counts), "max_skip_count": skips,
            "ngram_indexes": [int(k) for k in order], "mode": mode, **more}


bag = s("to", "be", "or", "not", "to", "be", "that", "is", "x" * 64, "tö")
said = ["or", "to", "x" * 64, "x" * 65, "absent", "tö", "", "to", "be", "be",
        "or", "is", "bee", "to", "be", "or", "or", "not", "to"]
tokens = i(7, 2, 2, -5, 1 << 40, 7, 2, 3, 2, 2, 7)
seen = [7, 2, 3, 9, -5, 2, 2, 7, 2, 1 << 40, 7, 2, 2, 3, -5, 1 << 40, 7]
for mode, weighted, skips, least in [
        ("TF", 0, 0, 1), ("TF", 0, 1, 1), ("TF", 0, 5, 2), ("TFIDF", 1, 1, 1),
        ("IDF", 1, 40, 3), ("IDF", 0, 0, 2), ("TFIDF", 0, 2, 3)]:
    words = grams(said, 0, 7, 13, least=least)
    numbers = grams(seen, 0, 5, 11, least=least)
    for attrs in words, numbers:
        if weighted:
            attrs["weights"] = [k + 0.5 for k in attrs["ngram_indexes"]]
    more = {"mode": mode, "max_skip_count": skips}
    check("TfIdfVectorizer", [bag], {**words, **more})
    check("TfIdfVectorizer", [bag.reshape(5, 2)], {**words, **more})
    check("TfIdfVectorizer", [tokens], {**numbers, **more})
    check("TfIdfVectorizer", [tokens[:10].reshape(2, 5).astype(np.int32)],
          {**numbers, **more})
check("TfIdfVectorizer", [i(1, 2, 1)], {
    **grams([1, 1, 2], 0), "ngram_indexes": [0, 3, 1]},
    want=[np.float32([0, 1, 0, 2])])
for attrs, why in [({"mode": "tf"}, "it must be 'TF', 'IDF' or 'TFIDF'"),
                   ({"mode": "IDF", "weights": [1.0]}, "1 weights for 11 n-grams"),
                   ({"ngram_indexes": [0]}, "contradict each other"),
                   ({"ngram_indexes": [-1]}, "its ngram_indexes has -1"),
                   ({"ngram_counts": [0, 99]}, "contradict each other"),
                   ({"ngram_counts": [5, 2]}, "contradict each other")]:
    check("TfIdfVectorizer", [tokens], {**grams(seen, 0, 5), **attrs},
          refused=why)
check("TfIdfVectorizer", [bag], grams(seen, 0, 5),
      refused="no pool of its input's type")
check("TfIdfVectorizer", [tokens.reshape(1, 1, 11)], grams(seen, 0, 5),
      refused="must have the shape [C] or [N, C]")

# -- ai.onnx.ml
names = s("cat", "dog", "", "Zürich")
for attrs in [
        {"keys_strings": ["dog", "cat"], "values_int64s": [4, 5]},
        {"keys_strings": ["dog", "cat"], "values_floats": [4.5, 5],
         "default_float": 0.25},
        {"keys_strings": ["dog", "cat"], "values_strings": ["hound", "c"],
         "default_string": "other"}]:
    check("LabelEncoder", [names], attrs, domain="ai.onnx.ml")
check("LabelEncoder", [i(3, 1, 2)],
      {"keys_int64s": [1, 2], "values_strings": ["one", "two"]},
      domain="ai.onnx.ml")
check("CategoryMapper", [names],
      {"cats_strings": ["dog", "cat"], "cats_int64s": [4, 5],
       "default_int64": -7}, domain="ai.onnx.ml")
check("CategoryMapper", [i(4, 5, 6)],
      {"cats_strings": ["dog", "cat"], "cats_int64s": [4, 5],
       "default_string": "none"}, domain="ai.onnx.ml")
check("OneHotEncoder", [names], {"cats_strings": ["dog", "cat"]},
      domain="ai.onnx.ml")
check("LabelEncoder", [names], {"keys_int64s": [1], "values_int64s": [2]},
      domain="ai.onnx.ml", refused="no keys of its input's type")
for shape in (2,), (2, 1), (1, 2):
    check("LabelEncoder", [names], {
        "keys_tensor": numpy_helper.from_array(s("dog", "cat").reshape(shape)),
        "values_tensor": numpy_helper.from_array(
            s("hound", "c").reshape(shape)),
        "default_tensor": numpy_helper.from_array(s("other"))},
        domain="ai.onnx.ml", want=[s("c", "hound", "other", "other")])
check("LabelEncoder", [i(1 << 53, (1 << 53) + 1, 3)], {
    "keys_tensor": numpy_helper.from_array(i((1 << 53) + 1)),
    "values_tensor": numpy_helper.from_array(i((1 << 62) + 1)),
    "default_tensor": numpy_helper.from_array(i((1 << 61) + 1))},
    domain="ai.onnx.ml",
    want=[i((1 << 61) + 1, (1 << 62) + 1, (1 << 61) + 1)])
check("OneHotEncoder", [i(1, 2)], {"cats_strings": ["dog", "cat"]},
      domain="ai.onnx.ml", refused="its categories are not integers")

# -- classes that are strings
points = np.float32([[1, 2, -1], [-3, 0, 2], [0, 1, 0], [4, -4, 1]])
linear = {"coefficients": [1.0, -2.0, 3.0, -1.0, 2.0, 0.0, 2.0, 2.0, 1.0],
          "intercepts": [0.5, 1.0, -0.5], "multi_class": 1,
          "classlabels_strings": ["cat", "Zürich", ""]}
check("LinearClassifier", [points], linear, domain="ai.onnx.ml", outputs=2)
check("LinearClassifier", [points], {
    "coefficients": [1.0, -2.0, 3.0], "intercepts": [0.5],
    "classlabels_strings": ["no", "yes"]}, domain="ai.onnx.ml", outputs=2)
check("SVMClassifier", [points], {
    "support_vectors": [1.0, 0.0, 2.0, -1.0, 3.0, 1.0],
    "vectors_per_class": [1, 1], "coefficients": [1.0, -2.0], "rho": [0.5],
    "kernel_type": "LINEAR", "kernel_params": [0.0, 0.0, 0.0],
    "classlabels_strings": ["low", "high"]},
    domain="ai.onnx.ml", outputs=2)
# Of two classes, onnxruntime takes the second one if its score is above 0.
for labels, want in [
        (["a", "bc", "d"], None),
        (["left", "right"], [s("left", "right", "right", "left"), np.float32(
            [[1, 0], [0, 1], [0, 1], [1, 0]])])]:
    check("TreeEnsembleClassifier", [points], {
        "nodes_treeids": [0] * 3, "nodes_nodeids": [0, 1, 2],
        "nodes_featureids": [0] * 3, "nodes_values": [0.5, 0.0, 0.0],
        "nodes_modes": ["BRANCH_LEQ", "LEAF", "LEAF"],
        "nodes_truenodeids": [1, 0, 0], "nodes_falsenodeids": [2, 0, 0],
        "class_treeids": [0, 0], "class_nodeids": [1, 2],
        "class_ids": [1, 0], "class_weights": [1.0, 1.0],
        "classlabels_strings": labels}, domain="ai.onnx.ml", outputs=2,
        want=want)
scores = np.float32([[0.25, 0.5, 0.25], [1, 0, 0]])
for key, keys in [("strings", s("a", "bc", "d")), ("int64s", i(5, -1, 3))]:
    check("ZipMap", [scores], {"classlabels_" + key: keys.tolist()},
          domain="ai.onnx.ml", want=[keys, scores])
check("ZipMap", [scores], domain="ai.onnx.ml", refused="it has no keys")
check("DictVectorizer", [scores], {"int64_vocabulary": [1]},
      domain="ai.onnx.ml", refused="its input is a map")
check("Bernoulli", [scores], {"dtype": 8}, refused="choose a type of numbers")

# -- emitted, for several targets by turns
for target in turns.first_and_some("strings", [
        "c99", "gnu-c", "misra", "c-openmp"]):
    options = ["--target", target]
    check("Gather", [table, i(1, 0)], {"axis": 1}, options=options)
    check("Equal", [table, s("bc", "", "Zürich")], options=options)
    check("StringConcat", [table, s("!", "", "ü")], options=options)
    check("StringNormalizer", [days],
          {"case_change_action": "UPPER", "stopwords": ["MONDAY"]},
          want=[s("TUESDAY", "WEDNESDAY", "ÄÖÜß ÉCLAIR", "×÷")],
          options=options)
    check("StringSplit", [lines], {"delimiter": ","}, outputs=2,
          want=[s(*[(text.split(",") + ["", ""])[:3] for text in lines]),
                i(*[len(text.split(",")) for text in lines])],
          options=options)
    check("StringSplit", [table], outputs=2, options=options,
          want=[np.where(table == "", "", table)[..., None],
                np.where(table == "", 0, 1)])
    check("RegexFullMatch", [texts], {"pattern": r"\bfoo\b.*|[^a-z]+"},
          options=options)
    check("Cast", [i(0, -1 << 63, 12345678901)], {"to": 8}, options=options)
    check("Cast", [s("-9223372036854775808", "007", "+1")], {"to": 7},
          options=options)
    check("TfIdfVectorizer", [bag.reshape(5, 2)], grams(said, 0, 7, 13),
          options=options)
    check("TfIdfVectorizer", [tokens], grams(seen, 0, 5, 11, skips=3),
          options=options)
    check("LabelEncoder", [names],
          {"keys_strings": ["dog", "cat"], "values_strings": ["hound", "c"],
           "default_string": "other"}, domain="ai.onnx.ml", options=options)

chosen = [case for case in cases
          if len(sys.argv) < 2 or sys.argv[1] in case[0]]
with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
    failures = [text for text in pool.map(run, chosen) if text]
print("%d of %d agree" % (len(chosen) - len(failures), len(chosen)))
if failures or not chosen:
    fail("\n".join(failures))
