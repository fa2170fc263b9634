#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Firmware packages (--package): those whose tools are here are built, and their
self-tests pass, and fail for a stored result that is wrong; the layouts of the
others against the published rules of their build systems.

    packages.py NAME

NAME is a function here."""
import json
import os
import re
import shutil
import subprocess
import sys
import xml.etree.ElementTree as xml

import helper
from helper import STRICT, execute, fail, tirc, work_folder

try:
    import numpy as np
    import onnx
    from onnx import helper as make
    from answers_model import Model
except ImportError as missing:
    helper.skip(str(missing))

rng = np.random.default_rng(5)


def floats(*shape):
    return rng.uniform(-1, 1, shape).astype(np.float32)


def float_model(name="tiny"):
    """Two outputs: floats, and integers that must be equal."""
    m = Model(name)
    x = m.input("x", floats(1, 3, 8, 8))
    y = m.node("Relu", [m.node("Conv", [x, m.constant(floats(4, 3, 3, 3))],
                               pads=[1] * 4)])
    y = m.output(m.node("GlobalAveragePool", [y]))
    m.output(m.node("ArgMax", [y], axis=1))
    return m


def byte_model():
    m = Model("bytes")
    q = m.input("x", rng.integers(-128, 128, (1, 4, 7, 7), np.int8))
    real = m.node("DequantizeLinear", [q, m.constant(np.float32(0.05)),
                                       m.constant(np.int8(-9))])
    y = m.node("Conv", [real, m.dequantized(
        rng.integers(-127, 128, (8, 4, 3, 3), np.int8), 0.01)])
    m.output(m.quantized(y, np.float32(0.2), np.int8(4))[0])
    return m


def package(path, kind, *options):
    out = os.path.join(work_folder(), "package")
    tirc("compile", path, "-o", out, "--package", kind, *options)
    return out


def files(folder):
    return sorted(os.path.relpath(os.path.join(top, name), folder)
                  for top, _, names in os.walk(folder) for name in names)


def read(*path):
    with open(os.path.join(*path), encoding="utf-8") as file:
        return file.read()


def check_output(text, *words):
    for word in words:
        if word not in text:
            fail("%r is not in:\n%s" % (word, text))


def make_check(folder, status=0, *options):
    return execute(["make", "-C", folder, "check", *options], status).stdout


def break_expected(path):
    """Changes the first expected value of the first output."""
    text, n = re.subn(r"(expected_0\[\w+\] = \{\n\t)[^,]+,", r"\g<1>99,",
                      read(path))
    if n != 1:
        fail("there is no expected value in " + path)
    with open(path, "w", encoding="utf-8") as file:
        file.write(text)


def plain():
    """For several targets and options, with strict warnings; a wrong stored
    value of floats, and one of bytes, makes the self-test fail."""
    helper.need("make")
    flags = "CFLAGS=-std=c99 -O2 " + " ".join(STRICT)
    for m in float_model(), byte_model():
        path = m.write()
        for options in [], ["--in-workspace", "both"]:
            out = package(path, "plain", *options)
            check_output(make_check(out, 0, flags), " are right")
            source = os.path.join(out, m.name + "_self_test.c")
            if re.search(r"malloc|printf|math\.h", read(source)):
                fail("the self-test is no plain C: " + source)
            break_expected(source)
            check_output(make_check(out, 2), "1 of ",
                         "wrong, the first is number 0")
    path = float_model().write()
    for dialect, facts in (("misra", ""), ("gnu-c", ""),
                           ("c-threads", " -vector_bytes=16")):
        if helper.has_dialect(dialect):
            make_check(package(path, "plain", "--target", dialect + facts))


def corrupt(path, symbol):
    """Changes the last element of the array."""
    text = read(path)
    at = re.search(r"\b%s(?:\[\d+\])+(?: __\w+[^=]*)? = \{\n(.*?)\n?\};" % symbol,
                   text, re.S)
    if at is None:
        fail("there is no array %s in %s" % (symbol, path))
    values = list(re.finditer(r"-?[\d.]+[\w+.]*", at[1]))
    last = values[-1]
    start = at.start(1) + last.start()
    other = "1" if last[0] != "1" else "2"
    with open(path, "w", encoding="utf-8") as file:
        file.write(text[:start] + other + text[at.start(1) + last.end():])


def constants():
    """A self-test fails if any array of constants differs in one element, also
    where no output shows it: the digest of each is compared."""
    helper.need("make")
    half = Model("halves")
    x = half.input("x", floats(2, 8))
    w = half.constant(floats(8, 8).astype(np.float16))
    y = half.node("MatMul", [x, half.node("Cast", [w], to=1)])
    table = half.constant(rng.integers(0, 1 << 40, 16, np.int64))
    rows = half.node("Gather", [table, half.input(
        "i", np.array([1, 3], np.int64))])
    half.output(half.node("Clip", [y, half.constant(np.float32(0)),
                                   half.constant(np.float32(1e-30))]))
    half.output(rows)
    for m in float_model(), byte_model(), half:
        path = m.write()
        for target in "c99", "misra":
            out = package(path, "plain", "--target", target)
            check_output(make_check(out), "constant arrays: all ")
            data = json.loads(read(out, m.name + ".json"))
            arrays = [w["symbol"] for w in data["weights"]]
            if not arrays:
                fail("the model has no constants")
            for symbol in arrays:
                folder = os.path.join(work_folder(), "corrupted")
                shutil.copytree(out, folder)
                corrupt(os.path.join(folder, m.name + "_weights.c"), symbol)
                check_output(make_check(folder, 2),
                             "constant arrays: 1 of %d are wrong, the "
                             "first is number %d" % (len(arrays),
                                            arrays.index(symbol)))


def inner():
    """Integers inside a model are compared exactly, where its output, a
    saturated Softmax, shows nothing: a wrong one makes the self-test fail."""
    helper.need("make")
    m = byte_model()
    y = next(iter(m.outputs))
    real = m.node("DequantizeLinear", [y, m.constant(np.float32(40)),
                                       m.constant(np.int8(4))])
    m.outputs.clear()
    m.output(m.node("Softmax", [m.node("Flatten", [real])], axis=1))
    path = m.write()
    for target in "c99", "misra":
        for options in [], ["--in-workspace", "inputs"]:
            out = package(path, "plain", "--target", target, *options)
            said = make_check(out)
            source = os.path.join(out, m.name + "_self_test.c")
            text = read(source)
            numbers = re.findall(r"expected_(\d+)\[\d+ul\] = ", text)
            if not numbers or "return got == expected_%s[i];" % \
                    numbers[0] not in text:
                fail("no integers inside the model are compared exactly")
            check_output(said, ": all 200 are right")
            at = re.search(r"(expected_%s\[\d+ul\] = \{\n\t)(-?\d+)," %
                           numbers[0], text)
            with open(source, "w", encoding="utf-8") as file:
                file.write(text[:at.start(2)] + str(int(at[2]) ^ 1) +
                           text[at.end(2):])
            check_output(make_check(out, 2), "1 of 200", "first is number 0")


def inputs():
    """The input of the data set beside the model is stored; without one, the
    same random one each time. A data set of other sizes is refused."""
    m = float_model()
    m.inputs["x"] = np.full((1, 3, 8, 8), 0.25, np.float32)
    path = m.write()
    stored = read(package(path, "plain"), "tiny_self_test.c")
    if stored.count("0.25f,") != 192:
        fail("the input is not that of the data set")
    data = os.path.join(os.path.dirname(path), "test_data_set_0")
    m = Model("tiny")
    m.output(m.node("Relu", [m.input("x", floats(5))]))
    other = os.path.join(os.path.dirname(m.write()), "test_data_set_0")
    shutil.rmtree(data)
    random = [read(package(path, "plain"), "tiny_self_test.c")
              for _ in range(2)]
    if random[0] != random[1] or random[0] == stored:
        fail("the random input is not of a fixed seed")
    shutil.copytree(other, data)
    done = tirc("compile", path, "-o", work_folder(), "--package", "plain",
                status=1)
    check_output(done.stderr, "does not have the type and the size")


def states():
    """The self-test of a model with a state begins at zeros, each time."""
    helper.need("make")
    m = Model("counter")
    x, before = m.input("x", floats(4)), m.input("before", floats(4))
    after = m.output(m.node("Add", [x, before]))
    m.output(m.node("Mul", [after, x]))
    path = m.write()
    out = package(path, "plain", "--state", after + "=before")
    text = read(out, "main.c")
    with open(os.path.join(out, "main.c"), "w", encoding="utf-8") as file:
        file.write(text.replace(
            "if (counter_self_test(&model) != 0)",
            "if (counter_self_test(&model) != 0 || "
            "counter_self_test(&model) != 0)"))
    if make_check(out).count(": all 4 are right") != 2:
        fail("the second self-test of a state differs")


def metadata():
    """The metadata of each kind list the files that are there, and have a command
    that compiles them; with --json these are printed, and nothing else."""
    path = float_model().write()
    for kind in sorted(os.listdir(os.path.join(helper.ROOT, "templates",
                                               "packages"))):
        if kind.endswith(".tmpl"):
            continue
        out = os.path.join(work_folder(), "package")
        said = json.loads(tirc("compile", path, "-o", out, "--package", kind,
                               "--json").stdout)
        found = files(out)
        stored = json.loads(read(out, *[name for name in found
                                        if name.endswith("tiny.json")]))
        for data in said, stored:
            if sorted(data["files"]) != found:
                fail("%s has %s, its metadata list %s" % (kind, found,
                                                          data["files"]))
            for function in data["functions"]:
                line = read(out, function["file"]).splitlines()[
                    int(function["line"]) - 1]
                if function["name"] not in line:
                    fail("%s is not in the line %s" % (function, line))
        execute(["sh", "-c", stored["cc"]], cwd=out)


def cmake():
    helper.need("cmake")
    out = package(float_model().write(), "cmake")
    build = os.path.join(out, "build")
    execute(["cmake", "-S", out, "-B", build])
    execute(["cmake", "--build", build])
    execute([shutil.which("ctest") or "ctest"], cwd=build)
    # A build type chooses the level of optimisation; other flags stay.
    for kind, level in (("", "-O3"), ("MinSizeRel", "-Os")):
        typed = os.path.join(out, "typed" + kind)
        execute(["cmake", "-S", out, "-B", typed, "-G", "Unix Makefiles",
                 "-DCMAKE_BUILD_TYPE=" + kind,
                 "-DCMAKE_EXPORT_COMPILE_COMMANDS=ON"])
        for one in json.loads(read(typed, "compile_commands.json")):
            words = one["command"].split()
            levels = [word for word in words if word.startswith("-O")]
            if levels != [level] or "-std=c99" not in words:
                fail("%s: not %s alone: %s" % (kind, level, one["command"]))
    break_expected(os.path.join(out, "src", "tiny_self_test.c"))
    execute(["cmake", "--build", build])
    execute(["ctest"], 8, cwd=build)


def names():
    """A model named as a header, a target of CMake or the mathematical library, and
    whose input and output have the same name in C, is a package that works."""
    helper.need("cmake")
    x, y = (make.make_tensor_value_info(name, onnx.TensorProto.FLOAT, [1, 8])
            for name in ("x.", "x:"))
    path = os.path.join(work_folder(), "names.onnx")
    onnx.save(make.make_model(make.make_graph(
        [make.make_node("Exp", ["x."], ["x:"])], "names", [x], [y]),
        opset_imports=[make.make_opsetid("", 20)], ir_version=8), path)
    for name, prefix in (("string", "string_model"), ("Test", "Test_model"),
                         ("xmmintrin", "xmmintrin_model"),
                         ("CON", "CON_model"), ("m", "m")):
        out = package(path, "cmake", "--name", name)
        if "include/%s.h" % prefix not in files(out):
            fail("%s: %s" % (name, files(out)))
        build = os.path.join(out, "build")
        execute(["cmake", "-S", out, "-B", build])
        execute(["cmake", "--build", build])
        execute([shutil.which("ctest") or "ctest"], cwd=build)
        if "in.x = x_values;" not in read(out, "examples", "main.c") or \
                "out.x_2 = x_2_values;" not in read(out, "examples", "main.c"):
            fail(read(out, "examples", "main.c"))


def meson():
    command = helper.need("meson")
    out = package(float_model().write(), "meson")
    build = os.path.join(out, "build")
    execute([command, "setup", build, out])
    execute([command, "test", "-C", build])
    break_expected(os.path.join(out, "src", "tiny_self_test.c"))
    execute([command, "test", "-C", build], 1)


def board():
    """The self-test of 8-bit numbers on a simulated Cortex-M4."""
    cc = helper.need("arm-none-eabi-gcc")
    helper.need("qemu-system-arm")
    path = byte_model().write()
    kept = work_folder()
    tirc("run", path, "--target", "cortex-m4", "--keep", kept)
    out = package(path, "plain", "--target", "cortex-m4")
    targets = [json.loads(read(helper.ROOT, "templates", "targets",
                               name + ".json"))
               for name in ("cortex-m0", "cortex-m4")]
    board_of = targets[0]["simulator"] | targets[1]["simulator"]
    # The board's program ends with the status of main.
    sources = [os.path.join(kept, name) for name in board_of["runtime"]
               if name.endswith(".c")]
    names = [os.path.join(out, name) for name in files(out)
             if name.endswith(".c")]
    # The sources are C99, with other flags, too, and nothing in them is warned of.
    execute([cc, "-mcpu=cortex-m4", "-mthumb", "-std=c99", "-Os", "-Wall",
             "-Wextra", "-Werror", "-fsyntax-only", "-I" + out, *names])

    def run():
        execute([cc, *targets[1]["cflags"].split(), "-I" + out, "-I" + kept,
                 "-o", os.path.join(kept, "program"), *names, *sources,
                 *board_of["ldflags"].split(), "-lm"], cwd=kept)
        return subprocess.run(
            [*board_of["command"].split(), os.path.join(kept, "program")],
            text=True, capture_output=True, timeout=60, cwd=kept,
            stdin=subprocess.DEVNULL, check=False)

    done = run()
    if done.returncode != 0:
        fail("the self-test fails on the board: " + done.stdout + done.stderr)
    check_output(done.stdout, "all 200 are right")
    break_expected(os.path.join(out, "bytes_self_test.c"))
    if run().returncode == 0:
        fail("a wrong result is not found on the board")


def toolchain():
    """The toolchain file that the last line of `tirc compile` names builds the
    package, and ctest runs it; the Makefile names LDFLAGS and RUNNER."""
    for word in ("cmake", "arm-none-eabi-gcc", "qemu-system-arm"):
        helper.need(word)
    path = byte_model().write()
    for name in ("cortex-m3", "cortex-m4", "cortex-m7"):
        out = os.path.join(work_folder(), "package")
        said = tirc("compile", path, "-o", out, "--package", "cmake",
                    "--target", name).stdout
        named = re.search(r"examples/firmware/\S+", said)
        if name == "cortex-m7":
            if named:
                fail("a toolchain file of another board: " + said)
            continue
        if not named:
            fail("no toolchain file for %s: %s" % (name, said))
        build = os.path.join(out, "build")
        execute(["cmake", "-S", out, "-B", build, "-DCMAKE_TOOLCHAIN_FILE=" +
                 os.path.join(helper.ROOT, named.group())])
        execute(["cmake", "--build", build])
        execute([shutil.which("ctest") or "ctest"], cwd=build)
    check_output(read(package(path, "plain", "--target", "cortex-m4"),
                      "Makefile"), "LDFLAGS has its start-up code", "$(RUNNER)")


# -- layouts --

def need_files(out, *names):
    found = files(out)
    for name in names:
        if name not in found:
            fail("%s is not among %s" % (name, found))


def check_sources(out, sources, include, example=None):
    """What the package has as C is C: it compiles, and its examples."""
    names = [os.path.join(out, name) for name in files(out)
             if name.startswith(sources) and name.endswith(".c")]
    names += [os.path.join(out, example)] if example else []
    program = ["-o", os.path.join(work_folder(), "program"), *names, "-lm"] \
        if example else ["-fsyntax-only", *names]
    execute([helper.compilers()[0], "-std=c99", *STRICT,
             "-I" + os.path.join(out, include), *program])
    if example:
        execute([program[1]])


def arduino():
    """The library specification of Arduino, and the rules of arduino-lint for
    library.properties."""
    out = package(float_model().write(), "arduino")
    need_files(out, "library.properties", "src/tiny.h", "src/tiny.c",
               "src/tiny_self_test.h",
               "examples/tiny_example/tiny_example.ino")
    keys = dict(line.split("=", 1)
                for line in read(out, "library.properties").splitlines()
                if line and not line.startswith("#"))
    for key in ("name", "version", "author", "maintainer", "sentence",
                "paragraph", "category", "url", "architectures"):
        if not keys.get(key):
            fail("library.properties has no " + key)
    if keys["category"] not in (
            "Display", "Communication", "Signal Input/Output", "Sensors",
            "Device Control", "Timing", "Data Storage", "Data Processing",
            "Other") or not re.fullmatch(r"\d+\.\d+\.\d+", keys["version"]) \
            or not re.fullmatch(r"[A-Za-z0-9][\w .-]{0,62}", keys["name"]) \
            or keys["includes"] != "tiny.h":
        fail("library.properties has a bad value: %s" % keys)
    check_sources(out, "src", "src")
    # The sketch is C++; the board's functions are declared for the compiler.
    cxx = shutil.which("g++")
    if cxx is None:
        print("g++ is not installed: the sketch is not compiled")
        return
    sketch = os.path.join(work_folder(), "sketch.cpp")
    with open(sketch, "w", encoding="utf-8") as file:
        file.write("struct Port { void begin(long); void print(const char *);"
                   " void print(unsigned long); void println(const char *);"
                   " void println(unsigned long); };\nextern Port Serial;\n" +
                   read(out, "examples/tiny_example/tiny_example.ino"))
    execute([cxx, "-Wall", "-Wextra", "-Werror", "-fsyntax-only",
             "-I" + os.path.join(out, "src"), sketch])


def platformio():
    """The manifest library.json of PlatformIO."""
    out = package(float_model().write(), "platformio")
    manifest = json.loads(read(out, "library.json"))
    if not re.fullmatch(r"[a-zA-Z0-9][\w-]{0,98}", manifest["name"]) or \
            not re.fullmatch(r"\d+\.\d+\.\d+", manifest["version"]) or \
            not 0 < len(manifest["description"]) <= 255 or \
            manifest["license"] != "MIT-0":
        fail("library.json has a bad value: %s" % manifest)
    need_files(out, os.path.join(manifest["build"]["includeDir"],
                                 manifest["headers"]),
               os.path.join(manifest["build"]["srcDir"], "tiny.c"),
               *[os.path.join(one["base"], name)
                 for one in manifest["examples"] for name in one["files"]])
    check_sources(out, "src", "include", "examples/tiny_example/main.c")


def zephyr():
    """A module of Zephyr: zephyr/module.yml names a folder with CMakeLists.txt
    and a Kconfig file, whose options the sample sets."""
    out = package(float_model().write(), "zephyr")
    module = read(out, "zephyr", "module.yml")
    check_output(module, "name: tiny\n", "build:\n")
    folder = re.search(r"^  cmake: (\S+)$", module, re.M)[1]
    kconfig = re.search(r"^  kconfig: (\S+)$", module, re.M)[1]
    need_files(out, folder + "/CMakeLists.txt", kconfig,
               "samples/tiny_example/CMakeLists.txt",
               "samples/tiny_example/prj.conf",
               "samples/tiny_example/src/main.c")
    declared = re.findall(r"^config (\w+)$", read(out, kconfig), re.M)
    used = re.findall(r"^CONFIG_(\w+)=y$",
                      read(out, "samples/tiny_example/prj.conf"), re.M)
    if not declared or declared != used:
        fail("Kconfig has %s, the sample sets %s" % (declared, used))
    text = read(out, folder, "CMakeLists.txt")
    for name in re.findall(r"CONFIG_(\w+)", text):
        if name not in declared:
            fail("CMakeLists.txt asks for CONFIG_" + name)
    need_files(out, *[os.path.normpath(os.path.join(folder, name))
                      for name in re.findall(r"\.\./src/\S+", text)])
    check_sources(out, "src", "include", "samples/tiny_example/src/main.c")


def esp_idf():
    """A component of ESP-IDF, and its manifest."""
    out = package(float_model().write(), "esp-idf")
    manifest = read(out, "idf_component.yml")
    if not re.search(r'^version: "\d+\.\d+\.\d+"$', manifest, re.M) or \
            not re.search(r'^description: ".+"$', manifest, re.M):
        fail("idf_component.yml lacks version or description:\n" + manifest)
    text = read(out, "CMakeLists.txt")
    check_output(text, "idf_component_register(", 'INCLUDE_DIRS "include"')
    need_files(out, "include/tiny.h",
               "examples/tiny_example/CMakeLists.txt",
               "examples/tiny_example/main/CMakeLists.txt",
               "examples/tiny_example/main/main.c",
               *re.findall(r'"(src/\S+)"', text))
    check_sources(out, "src", "include")
    execute([helper.compilers()[0], "-std=c99", *STRICT, "-fsyntax-only",
             "-I" + os.path.join(out, "include"),
             os.path.join(out, "examples/tiny_example/main/main.c")])


def cmsis_pack():
    """The description of a CMSIS-Pack: VENDOR.NAME.pdsc, the elements that its
    schema needs, and files that are there."""
    out = package(float_model().write(), "cmsis-pack")
    top = xml.fromstring(read(out, "tirc.tiny.pdsc"))
    if top.tag != "package" or "schemaVersion" not in top.attrib:
        fail("the description is no package")
    for name in "vendor", "name", "description", "url", "releases":
        if top.find(name) is None:
            fail("the description has no element " + name)
    if top.findtext("vendor") + "." + top.findtext("name") != "tirc.tiny":
        fail("vendor and name are not those of the file")
    if top.find("releases/release").get("version") != "1.0.0":
        fail("the release has no version")
    for component in top.iter("component"):
        for key in "Cclass", "Cgroup", "Cversion":
            if not component.get(key):
                fail("a component has no " + key)
        if not component.findtext("description"):
            fail("a component has no description")
        for file in component.iter("file"):
            if file.get("category") not in ("include", "header", "source"):
                fail("a file has the category %s" % file.get("category"))
            if not os.path.exists(os.path.join(out, file.get("name"))):
                fail("there is no " + file.get("name"))
    check_sources(out, "src", "include", "examples/main.c")


# -- mistakes --

def refused_with(path, words, *options):
    out = os.path.join(work_folder(), "package")
    done = tirc("compile", path, "-o", out, *options, status=1)
    check_output(done.stderr, *words)
    if done.stderr.count("error:") != 1:
        fail("more than one error:\n" + done.stderr)
    if os.path.exists(out):
        fail("a refused package left %s" % files(out))


def refused():
    """One message each, and no file."""
    path = float_model().write()
    refused_with(path, ["no such kind of package", "arduino, cmake", "plain"],
                 "--package", "bazel")
    refused_with(path, ["--weights c or section"], "--package", "plain",
                 "--weights", "file")
    refused_with(path, ["leave --form graph out"], "--package", "plain",
                 "--form", "graph")
    m = Model("half")
    m.output(m.node("Relu", [m.input("x", floats(4).astype(np.float16))]))
    refused_with(m.write(), ["does not compare float16"], "--package", "plain")
    m = Model("turns")
    x, c = m.input("x", floats(4)), m.input("c", np.array(True))
    m.output(m.node("If", [c], **{
        branch: make.make_graph(
            [make.make_node(op, [x], [branch])], branch, [],
            [make.make_tensor_value_info(branch, 1, [4])])
        for branch, op in (("then_branch", "Relu"), ("else_branch", "Neg"))}))
    refused_with(m.write(), ["branches and loops", "leave --package out"],
                 "--package", "plain")
    rows = os.path.join(work_folder(), "rows.onnx")
    onnx.save(make.make_model(make.make_graph(
        [make.make_node("Relu", ["x"], ["y"])], "rows",
        [make.make_tensor_value_info("x", 1, ["n", 4])],
        [make.make_tensor_value_info("y", 1, ["n", 4])])), rows)
    refused_with(rows, ["symbolic sizes", "--dim"], "--package", "plain",
                 "--dim", "n=1..4")
    m = Model("endless")
    m.output(m.node("Log", [m.input("x", np.zeros(4, np.float32))]))
    refused_with(m.write(), ["not a finite number"], "--package", "plain")
    if helper.has_dialect("opencl"):
        refused_with(path, ["is not a device"], "--package", "plain", "--target",
                     "opencl")
    helped = tirc("compile", "--help").stdout
    check_output(helped, "  arduino              an Arduino library\n")
    # A user's file is not replaced, and nothing beside it is written.
    out = work_folder()
    with open(os.path.join(out, "main.c"), "w", encoding="utf-8") as file:
        file.write("int mine;\n")
    tirc("compile", path, "-o", out, "--package", "plain", status=1)
    if files(out) != ["main.c"]:
        fail("a refused package left %s" % files(out))
    # Each kind may be written over itself.
    for kind in sorted(os.listdir(os.path.join(helper.ROOT, "templates",
                                               "packages"))):
        if not kind.endswith(".tmpl"):
            out = package(path, kind)
            before = files(out)
            tirc("compile", path, "-o", out, "--package", kind, "--name",
                 "tiny", "--optimize", "memory")
            if files(out) != before:
                fail("%s left other files: %s" % (kind, files(out)))


def own_kind():
    """A kind in a user's folder: its own template and a shared one; its mistakes
    are told with the file and the key."""
    path = float_model().write()
    folder = work_folder()
    os.mkdir(os.path.join(folder, "flat"))
    kind = {"description": "mine", "emitted": {"sources": "c",
                                               "headers": "c/h"},
            "files": {"list.txt": "list.tmpl",
                      "{{model}}_check.c": "self_test.c.tmpl"}}

    def write():
        with open(os.path.join(folder, "flat", "package.json"), "w",
                  encoding="utf-8") as file:
            json.dump(kind, file)

    with open(os.path.join(folder, "flat", "list.tmpl"), "w",
              encoding="utf-8") as file:
        file.write("# tirc {{tirc_version|name}}\n{{#sources}}\n{{file|name}}\n"
                   "{{/sources}}\n")
    write()
    own = ["--package-path", folder]
    out = package(path, "flat", *own)
    if files(out) != ["c/h/tiny.h", "c/tiny.c", "c/tiny_weights.c", "list.txt",
                      "tiny_check.c"]:
        fail("the user's kind has %s" % files(out))
    check_output(read(out, "list.txt"), "tiny.c\ntiny_weights.c\n")
    refused_with(path, ["flat"], "--package", "other", *own)
    for key, value, words in [
            ("files", {"a": "no.tmpl"}, ["/files/a", "no template no.tmpl"]),
            ("files", {"../a": "list.tmpl"}, ["below the package"]),
            ("emitted", {"sources": "c"}, ["/emitted", "headers"]),
            ("color", "red", ["color"])]:
        before = dict(kind)
        kind[key] = value
        write()
        refused_with(path, ["package.json", *words], "--package", "flat", *own)
        kind.clear()
        kind.update(before)
    # A value that is not quoted for its file's language does not get there.
    write()
    for text, words in (("{{model}}", "a value needs a filter"),
                        ("{{model|shel}}", "unknown filter 'shel'")):
        with open(os.path.join(folder, "flat", "list.tmpl"), "w",
                  encoding="utf-8") as file:
            file.write("# tirc {{tirc_version|name}}\n" + text + "\n")
        refused_with(path, ["list.tmpl:2: " + words], "--package", "flat", *own)


if __name__ == "__main__":
    globals()[sys.argv[1]]()
