#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""added.py a|b|c|d|e|f|g: a dialect and a target in a folder of their own, used by
the program as it is built.

    a  extends c99, renames types, unrolls with a pragma of its own
    b  opaque vectors of 4: every operation is a call, tails have fewer lanes
    c  flat arrays, sums in one variable, an int of 16 bits: run by a simulated
       AVR, as is the dialect's self-test
    d  a char of 16 bits: no int8_t, offsets in its own bytes
    e  the target avr of the program: weights in flash, which an AVR reads by an
       instruction of its own: none is copied to its RAM
    f  a word for each memory, as types that clang keeps apart
    g  vectors that are in memory only for the functions that read and write
       them, products that are added by one operation, comments by line

Each compiles a model, whose results are those of c99."""
import json
import os
import re
import sys

import proto
from helper import (DIGITS, STRICT, compile_model, compilers, execute, fail,
                    need, shared, tirc, work_folder)

top = work_folder()


def put(path, what):
    path = os.path.join(top, path)
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "w", encoding="utf-8") as file:
        file.write(what if isinstance(what, str) else json.dumps(what))
    return path


def target(dialect, **more):
    put("mine.json", dict({"description": "mine", "dialect": dialect,
                           "stack_limit_bytes": 16384, "align_bytes": 16,
                           "cc": "cc", "cflags": "-std=c99 -O2"}, **more))


def compiled(model, *more):
    tirc("dialect", "check", top)
    return compile_model(model, "--dialect-path", top, "--target", "mine",
                         "-q", *more)


def text_of(folder):
    """The C of a model, without comments."""
    text = ""
    for name in sorted(os.listdir(folder)):
        if name.endswith((".c", ".h")) and name != "main_test.c":
            with open(os.path.join(folder, name), encoding="utf-8") as file:
                text += file.read()
    return re.sub(r"/\*.*?\*/", "", text, flags=re.DOTALL)


# -- models on this machine --

MAIN = r"""
#include "%(name)s.h"
#include <stdint.h>
#include <stdio.h>
static struct { %(unit)s space[%(NAME)s_WORKSPACE_BYTES + 1]; } u __attribute__((aligned(64)));
int main(void)
{
	static float x[%(NAME)s_%(X)s_COUNT], y[%(NAME)s_%(Y)s_COUNT];
	struct %(name)s m;
	struct %(name)s_config c = { u.space, %(NAME)s_WORKSPACE_BYTES };
	struct %(name)s_inputs in = { x };
	struct %(name)s_outputs out = { y };
	unsigned i, k;

	for (k = 0; k < 4; k++) {
		for (i = 0; i < %(NAME)s_%(X)s_COUNT; i++) {
			x[i] = (float)((i * 37 + k * 11) %% 23) / 23.0f - 0.25f;
		}
		if (%(name)s_init(&m, &c) || %(name)s_run(&m, &in, &out)) return 1;
		for (i = 0; i < %(NAME)s_%(Y)s_COUNT; i++) printf("%%.9g\n", (double)y[i]);
	}
	return 0;
}
"""


def results(folder, cc, x, y, *flags, unit="unsigned char", main=MAIN):
    name = next(n[:-2] for n in os.listdir(folder) if n.endswith(".h"))
    path = os.path.join(folder, "main_test.c")
    with open(path, "w") as file:
        file.write(main % {"name": name, "NAME": name.upper(), "X": x, "Y": y,
                           "unit": unit})
    sources = [os.path.join(folder, n) for n in os.listdir(folder)
               if n.endswith(".c") and n != "main_test.c"]
    objects = []
    for source in sources:
        execute([cc, *STRICT, "-O2", *flags, "-c", source, "-o",
                 source + ".o"])
        objects.append(source + ".o")
    exe = os.path.join(folder, "a.out")
    execute([cc, "-O0", *flags, path, *objects, "-o", exe, "-lm"])
    return [float(v) for v in execute([exe]).stdout.split()]


def compare(got, want):
    if len(got) != len(want) or not want:
        fail("%d results, not %d" % (len(got), len(want)))
    for i, (a, b) in enumerate(zip(got, want)):
        if not abs(a - b) <= 1e-5 + 1e-4 * abs(b):
            fail("result %d: %g, not %g" % (i, a, b))


def like_c99(model, x, y, *flags, unit="unsigned char"):
    plain = compile_model(model, "--target", "c99", "-q")
    mine = compiled(model)
    for cc in compilers():
        compare(results(mine, cc, x, y, *flags, unit=unit),
                results(plain, cc, x, y, "-std=c99"))
    return text_of(mine)


def small_model():
    """Add, Mul, Relu, MatMul over [3, 10] and [10, 7]: no multiple of 4."""
    b = [v / 4 for v in range(10)]
    w = [(v - 30) / 16 for v in range(70)]
    nodes = [proto.node("Add", ["x", "b"], ["s"]),
             proto.node("Mul", ["s", "x"], ["p"]),
             proto.node("Relu", ["p"], ["r"]),
             proto.node("MatMul", ["r", "w"], ["y"])]
    model = proto.simple(nodes, [
        proto.tensor("b", [10], proto.floats(*b)),
        proto.tensor("w", [10, 7], proto.floats(*w))], (3, 10), (3, 7))
    path = os.path.join(top, "small.onnx")
    with open(path, "wb") as file:
        file.write(model)
    return path


# -- the dialects --

def renames():
    put("mycc/dialect.json", {
        "extends": "c99", "description": "types and a pragma of its own",
        "types": {
            "i32": {"spelling": "my_long", "needs": ["mycc.h"]},
            "f32": {"spelling": "my_float", "needs": ["mycc.h"]},
        },
        "statements": {"unrolled": {
            "open": ["MY_UNROLL({{extent}})",
                     "for ({{type}} {{var}} = {{min}}; {{var}} < {{end}}; "
                     "++{{var}}) {"],
            "close": ["}"]}},
        "reserved": ["my_long", "my_float", "MY_UNROLL"],
    })
    put("include/mycc.h", "#ifndef MYCC_H\n#define MYCC_H\n#include <stdint.h>\n"
        "typedef int32_t my_long;\ntypedef float my_float;\n"
        "#define MY_UNROLL(n) (void)(n);\n#endif\n")
    target("mycc", vector_bytes=16, vector_registers=16)
    flags = ["-std=c99", "-I" + os.path.join(top, "include"), "-Wno-shadow"]
    text = like_c99(DIGITS, "IMAGE", "PROB", *flags)
    for word in ("my_long", "my_float x[restrict", "mycc.h"):
        if word not in text:
            fail("no %s in the text" % word)
    if re.search(r"\bint32_t\b|\bfloat\b", text):
        fail("a type kept its name:\n" + text)
    # A loop of a program that says so is unrolled by the pragma.
    program = put("p.py", """
import tvm
from tvm import te
A = te.placeholder((8, 4), name="A")
B = te.compute((8, 4), lambda i, j: A[i, j] * 2.0, name="B")
s = te.create_schedule(B.op)
s[B].unroll(B.op.axis[1])
print(tvm.build(s, [A, B], target="mine", name="twice").get_source())
""")
    said = tirc("lower", program, "--dialect-path", top).stdout
    if "MY_UNROLL(4)\n" not in said:
        fail("no pragma in:\n" + said)


LANES_H = r"""
#ifndef LANES4_H
#define LANES4_H
#include <stdint.h>
/* As a vendor's header: what a vector holds is nobody's business. */
struct lanes4 { float hidden[4]; };
#define V4F static inline struct lanes4 __attribute__((unused))
V4F v4f_load_n(const float *p, int32_t n)
{
	struct lanes4 v = { { 0.0f, 0.0f, 0.0f, 0.0f } };
	for (int i = 0; i < 4 && i < n; i++) v.hidden[i] = p[i];
	return v;
}
V4F v4f_load(const float *p) { return v4f_load_n(p, 4); }
static inline void __attribute__((unused))
v4f_store_n(float *p, struct lanes4 v, int32_t n)
{
	for (int i = 0; i < 4 && i < n; i++) p[i] = v.hidden[i];
}
static inline void __attribute__((unused))
v4f_store(float *p, struct lanes4 v) { v4f_store_n(p, v, 4); }
V4F v4f_all(float x) { struct lanes4 v = { { x, x, x, x } }; return v; }
#define OP(name, value) V4F v4f_##name(struct lanes4 a, struct lanes4 b) \
{ \
	for (int i = 0; i < 4; i++) { \
		const float x = a.hidden[i], y = b.hidden[i]; \
		a.hidden[i] = value; \
	} \
	return a; \
}
OP(add, x + y)
OP(sub, x - y)
OP(mul, x * y)
OP(div, x / y)
OP(min, x < y || x != x ? x : y)
OP(max, x > y || x != x ? x : y)
V4F v4f_neg(struct lanes4 a) { return v4f_mul(a, v4f_all(-1.0f)); }
V4F v4f_at_most(struct lanes4 a, float y) { return v4f_min(a, v4f_all(y)); }
V4F v4f_at_least(struct lanes4 a, float y) { return v4f_max(a, v4f_all(y)); }
#endif
"""


def calls():
    operations = {k: {"call": "{{short}}_" + v} for k, v in {
        "add": "add", "sub": "sub", "mul": "mul", "div": "div", "neg": "neg",
        "min_number_any": "at_most", "max_number_any": "at_least",
        "min_any": "min", "max_any": "max", "broadcast": "all"}.items()}
    operations["select"] = {
        "text": "{{a}}{{br}}? {{b}}{{br}}: {{c}}", "at": "conditional",
        "operands": ["or", "or", "conditional"]}
    put("lanes/dialect.json", {
        "extends": "c99", "description": "vectors of 4 floats, all by calls",
        "vectors": {
            "before": ['#include "lanes4.h"'],
            "name": "v4f{{#loose}}_any{{/loose}}",
            "define": "typedef struct lanes4 {{name}};",
            "elements": "v4f_load(&{{first}})",
            "store": "v4f_store(&{{first}}, {{value}});",
            "load_part": "v4f_load_n(&{{first}}, {{count}})",
            "store_part": "v4f_store_n(&{{first}}, {{value}}, {{count}});",
            "part_types": ["f32x4"],
            "loop": ["for ({{type}} {{var}} = {{min}}; {{var}} < {{end}}; "
                     "{{var}} += {{lanes}}) {"],
            "loop_end": ["}"],
            "expressions": operations,
        },
    })
    put("include/lanes4.h", LANES_H)
    target("lanes", vector_bytes=16, vector_registers=16, block_elems=4,
           vectors=["f32x4"])
    flags = ["-std=gnu99", "-I" + os.path.join(top, "include")]
    text = like_c99(DIGITS, "IMAGE", "PROB", *flags)
    if "v4f acc[" not in text or "= v4f_add(acc[" not in text:
        fail("no sums of vectors:\n" + text)
    if re.search(r"\bacc\S* [+-]= ", text):
        fail("an operator on vectors")
    text = like_c99(small_model(), "X", "Y", *flags)
    if not re.search(r"j \+= 4.*v4f_store_n\(&acc\[i\]\[j\], v4f_add\(\s*"
                     r"v4f_load_n\(&acc\[i\]\[j\], 7 - j\)", text,
                     re.DOTALL):
        fail("no part of a vector:\n" + text)
    # Every operation of vectors, and of numbers.
    pack = os.path.join(top, "pack")
    tirc("dialect", "selftest", os.path.join(top, "lanes"), "-o", pack)
    if not os.path.exists(os.path.join(pack, "selftest_f32x4.c")):
        fail("no vectors in the self-test")
    exe = os.path.join(top, "selftest")
    execute([compilers()[0], *flags, *STRICT, "-O1",
             *[os.path.join(pack, n) for n in os.listdir(pack)
               if n.endswith(".c")], "-o", exe, "-lm"])
    execute([exe])


# -- an AVR --

AVR = ["avr-gcc", "-std=c99", "-Os", "-mmcu=atmega1284p"]
UART = r"""
#include <avr/interrupt.h>
#include <avr/io.h>
#include <avr/sleep.h>
static void put(char c) { UDR0 = (uint8_t)c; while (!(UCSR0A & (1 << UDRE0))) { } }
static void say(const char *s) { while (*s) put(*s++); }
static void say_int(long n) { if (n < 0) { put('-'); n = -n; } if (n > 9) say_int(n / 10); put((char)('0' + n % 10)); }
static void line(void) { put('\n'); }
static void start(void) { UCSR0B = 1 << TXEN0; }
static void stop(void) { cli(); sleep_mode(); }
"""
INT8_MAIN = UART + r"""
#include "hello.h"
static struct { unsigned char space[HELLO_WORKSPACE_BYTES]; } u __attribute__((aligned(16)));
int main(void)
{
	int8_t x, y;
	struct hello m;
	struct hello_config c = { u.space, sizeof u.space };
	struct hello_inputs in = { &x };
	struct hello_outputs out = { &y };

	start();
	if (hello_init(&m, &c) != HELLO_OK) say("init");
	for (int i = -128; i < 128; i++) {
		x = (int8_t)i;
		if (hello_run(&m, &in, &out) != HELLO_OK) say("run");
		say_int(y);
		line();
	}
	stop();
}
"""
HOST_UART = r"""
#include <stdint.h>
#include <stdio.h>
static void say(const char *s) { fputs(s, stdout); }
static void say_int(long n) { printf("%ld", n); }
static void line(void) { putchar('\n'); }
static void start(void) { }
static void stop(void) { }
"""
FLOAT_MAIN = UART + r"""
#include "hello.h"
static struct { unsigned char space[HELLO_WORKSPACE_BYTES + 1]; } u __attribute__((aligned(16)));
int main(void)
{
	static float x[HELLO_X_COUNT], y[HELLO_Y_COUNT];
	struct hello m;
	struct hello_config c = { u.space, HELLO_WORKSPACE_BYTES };
	struct hello_inputs in = { x };
	struct hello_outputs out = { y };

	start();
	for (unsigned i = 0; i < HELLO_X_COUNT; i++) x[i] = (float)(i % 7) - 3.0f;
	if (hello_init(&m, &c) || hello_run(&m, &in, &out)) say("run");
	for (unsigned i = 0; i < HELLO_Y_COUNT; i++) {
		say_int((long)(y[i] * 64.0f));
		line();
	}
	stop();
}
"""


def on_avr(folder, main, *more, std="-std=c99"):
    path = os.path.join(folder, "main_avr.c")
    with open(path, "w") as file:
        file.write(main)
    sources = list(more) or [os.path.join(folder, n)
                             for n in sorted(os.listdir(folder))
                             if n.startswith("hello") and n.endswith(".c")]
    exe = os.path.join(folder, "avr.elf")
    execute([*AVR, std, "-Wall", "-Wextra", "-Werror", "-I" + folder, path,
             *sources, "-o", exe, "-lm"])
    said = execute(["simavr", "-m", "atmega1284p", "-f", "8000000", exe],
                   timeout=120)
    said = re.sub(r"\x1b\[[0-9;]*m", "", said.stdout + said.stderr)
    return [line.rstrip(".\r") for line in said.splitlines()
            if line.endswith(".")]


def on_host(folder, main):
    path = os.path.join(folder, "main_host.c")
    with open(path, "w") as file:
        file.write(main.replace(UART, HOST_UART))
    exe = os.path.join(folder, "host")
    execute([compilers()[0], "-std=c99", "-I" + folder, path,
             *[os.path.join(folder, n) for n in os.listdir(folder)
               if n.startswith("hello") and n.endswith(".c")],
             "-o", exe, "-lm"])
    return execute([exe]).stdout.split()


def hello_world():
    """The 8-bit model of the reference models; None: they are not here."""
    path = shared() and os.path.join(
        shared(), "models", "mlperf_tiny", "hello_world_int8", "model.onnx")
    return path if path and os.path.exists(path) else None


def small_int():
    none = {"rejected": "avr-libc has none"}
    put("flat16/dialect.json", {
        "extends": "c99", "description": "an int of 16 bits, flat arrays",
        "limits": {"int_bits": 16, "object_bytes": 32767},
        "types": dict({t: {"unsigned": "uint16_t"}
                       for t in ("i8", "i16", "u8", "u16")},
                      f64={"rejected": "double is a float here"}),
        "expressions": {k: none for k in (
            "exp2", "log2", "log1p", "asinh", "acosh", "atanh", "nearbyint",
            "fma")},
        "access": {"flat_locals": True},
        "functions": {"flat_arrays": True},
        "weights": {"forms": ["c", "section"], "large": "c"},
    })
    target("flat16", stack_limit_bytes=1024, align_bytes=4,
           scalar_accumulators=True, cc="avr-gcc",
           cflags="-std=c99 -Os -mmcu=atmega1284p")
    if hello_world():
        model, main, options = hello_world(), INT8_MAIN, ["--requant",
                                                          "tflite"]
    else:
        model, main, options = small_model(), FLOAT_MAIN, []
    mine = compiled(model, "--name", "hello", *options)
    text = text_of(mine)
    if re.search(r"\]\[", text) or re.search(r"\bacc\w*\[", text):
        fail("an array of arrays, or of sums:\n" + text)
    # What is too large for this compiler is told.
    said = tirc("compile", DIGITS, "--dialect-path", top, "--target", "mine",
                "-o", os.path.join(top, "no"), "-q", status=None)
    if said.returncode == 0:
        put("mine.json", dict(json.load(open(os.path.join(top, "mine.json"))),
                              object_bytes=4000))
        said = tirc("compile", DIGITS, "--dialect-path", top, "--target",
                    "mine", "-o", os.path.join(top, "no"), "-q", status=1)
    if "bytes, but an object of dialect" not in said.stderr:
        fail("too large, and told: " + said.stderr)
    need("avr-gcc")
    need("simavr")
    plain = compile_model(model, "--target", "c99", "-q", "--name", "hello",
                          *options)
    got, want = on_avr(mine, main), on_host(plain, main)
    if got != want or len(set(want)) < 5:
        fail("the AVR says %s, not %s" % (got, want))
    print("an AVR gives the %d results of c99" % len(got))
    selftest_on_avr()


REPORT = UART + r"""
#include "selftest.h"
static int cells, failed;
void report(const char *cell, int ok)
{
	cells++;
	if (!ok) { failed++; say("FAILED "); say(cell); line(); }
}
int main(void)
{
	start();
	selftest_PART();
	say_int(cells); say(" cells"); line();
	stop();
}
"""


def selftest_on_avr():
    """All cells but functions of huge floats, which avr-libc has no bits
    for."""
    pack = os.path.join(top, "pack")
    tirc("dialect", "selftest", os.path.join(top, "flat16"), "-q", "-o", pack)
    total = 0
    for part in ("bool", "i8", "i16", "i32", "i64", "u8", "u16", "u32", "u64",
                 "f32"):
        said = on_avr(pack, REPORT.replace("PART", part),
                      os.path.join(pack, "selftest_%s.c" % part))
        wrong = {l.split()[1] for l in said if l.startswith("FAILED")}
        wrong -= {"sin_f32", "cos_f32", "tan_f32", "pow_f32"}
        if wrong or not said or not said[-1].endswith(" cells"):
            fail("%s on the AVR: %s" % (part, said))
        total += int(said[-1].split()[0])
    print("%d cells of the self-test pass there" % total)
    if total < 400:
        fail("too few cells")


# Types of 8 bits.
BYTES = ["i8", "u8", "byte_float"]


HALVE = """
from tvm.script import tir as T

@T.prim_func
def halve(A: T.Buffer((8,), "float8_e5m2"), B: T.Buffer((8,), "float32")):
    for i in range(8):
        with T.block("B"):
            v = T.axis.spatial(8, i)
            B[v] = T.Cast("float32", A[v]) * T.float32(0.5)
"""


def wide_char():
    none = {"rejected": "a char has 16 bits"}
    put("words/dialect.json", {
        "extends": "c99", "description": "a DSP that counts words of 16 bits",
        "limits": {"int_bits": 16, "char_bits": 16},
        "types": dict.fromkeys(BYTES + ["f64"], none),
        "access": {"unit": "uint16_t"},
        "weights": {"forms": ["c", "section"], "large": "c"},
    })
    target("words", vector_bytes=16, vector_registers=16)
    text = like_c99(DIGITS, "IMAGE", "PROB", "-std=c99", unit="uint16_t")
    found = re.search(r"\bu?int8_t\b|\bchar\b|0xff\b|\bmemcpy\b.*byte", text)
    if found:
        fail("'%s' in the text" % found.group(0))
    if "uint16_t *const workspace" not in text:
        fail("no words in the text:\n" + text)
    plain = text_of(compile_model(DIGITS, "--target", "c99-scalar", "-q"))
    size = re.compile(r"DIGITS_WORKSPACE_BYTES (\d+)u")
    if int(size.search(text)[1]) * 2 != int(size.search(plain)[1]):
        fail("the workspace is not half as many bytes")
    # What is of bytes has no place there, and one is told so.
    program = os.path.join(top, "halve.py")
    with open(program, "w") as file:
        file.write(HALVE)
    said = tirc("codegen", program, "--target", "mine", "--dialect-path", top,
                "-o", os.path.join(top, "halve"), status=1).stderr
    if "cannot hold float8_e5m2: a char has 16 bits" not in said:
        fail("not told: " + said)
    dialect = json.load(open(os.path.join(top, "words", "dialect.json")))
    dialect["types"].pop("i8")
    put("words/dialect.json", dialect)
    said = tirc("dialect", "check", top, status=1).stderr
    if "/types/i8: is narrower than a char of 16 bits" not in said:
        fail("not told: " + said)


# -- memories that are apart --

def alike():
    """Four products by matrices of their own: the caller's array is read by the
    first and written by the last."""
    names = ["x", "a", "b", "c", "y"]
    weights = [proto.tensor("w%d" % i, [8, 8], proto.floats(
        *[((v * 7 + i) % 19 - 9) / 16 for v in range(64)])) for i in range(4)]
    nodes = [proto.node("MatMul", [names[i], "w%d" % i], [names[i + 1]])
             for i in range(4)]
    path = os.path.join(top, "alike.onnx")
    with open(path, "wb") as file:
        file.write(proto.simple(nodes, weights, (2, 8), (2, 8)))
    return path


def bytes_softmax():
    """Softmax of bytes, whose result is rounded to a byte: avr-libc has no
    function for that."""
    consts = [proto.tensor("scale", [], proto.floats(0.25)),
              proto.tensor("part", [], proto.floats(1 / 256)),
              proto.tensor("zero", [], b"\x03", kind=3),
              proto.tensor("least", [], b"\x80", kind=3)]
    nodes = [proto.node("QuantizeLinear", ["x", "scale", "zero"], ["q"]),
             proto.node("DequantizeLinear", ["q", "scale", "zero"], ["r"]),
             proto.node("Softmax", ["r"], ["s"]),
             proto.node("QuantizeLinear", ["s", "part", "least"], ["p"]),
             proto.node("DequantizeLinear", ["p", "part", "least"], ["y"])]
    path = os.path.join(top, "softmax.onnx")
    with open(path, "wb") as file:
        file.write(proto.simple(nodes, consts, (2, 8), (2, 8)))
    return path


def flash():
    """The target avr, which comes with the program: weights in flash."""
    model = small_model()
    mine = compile_model(model, "--target", "avr", "-q", "--name", "hello")
    text = text_of(mine)
    for word in ("const __flash float hello_", "const __flash float (*restrict w)[7]"):
        if word not in text:
            fail("no '%s' in:\n%s" % (word, text))
    for form in ("file", "incbin"):
        said = tirc("compile", model, "--target", "avr", "-q", "--weights",
                    form, "-o", os.path.join(top, "no"), status=1).stderr
        if "does not support weights as '%s'" % form not in said:
            fail("weights as a %s: %s" % (form, said))
    said = tirc("compile", model, "--target", "avr", "-q", "--form", "graph",
                "-o", os.path.join(top, "no"), status=1).stderr
    if "pointers to one memory" not in said:
        fail("as a graph: " + said)
    need("avr-gcc")
    need("simavr")
    plain = compile_model(model, "--target", "c99", "-q", "--name", "hello")
    got = on_avr(mine, FLOAT_MAIN, std="-std=gnu99")
    want = on_host(plain, FLOAT_MAIN)
    if got != want or len(set(want)) < 5:
        fail("the AVR says %s, not %s" % (got, want))
    # Data of the RAM is at 0x800000 and above; flash is below.
    exe = os.path.join(mine, "avr.elf")
    symbols = re.findall(r"^([0-9a-f]+) \w (hello_\w+)$",
                         execute(["avr-nm", exe]).stdout, re.M)
    weights = {name: int(at, 16) for at, name in symbols
               if "const __flash float %s[" % name in text}
    if len(weights) < 2 or max(weights.values()) >= 0x800000:
        fail("weights in RAM: %s of %s" % (weights, symbols))
    data = re.search(r"^\.data\s+(\d+)", execute(
        ["avr-size", "-A", exe]).stdout, re.M)
    if data is not None and int(data[1]) >= 280:
        fail("%s bytes are copied to RAM when it starts" % data[1])
    code = execute(["avr-objdump", "-d", exe]).stdout
    kernel = re.search(r"<matmul\w*>:\n(.*?)\n\n", code, re.DOTALL) or \
        re.search(r"<hello_run\w*>:\n(.*?)\n\n", code, re.DOTALL)
    if not re.search(r"\b(lpm|elpm)\b", kernel[1]):
        fail("no lpm in\n" + kernel[0])
    print("%d arrays lie in flash and are read there" % len(weights))
    model = bytes_softmax()
    mine = compile_model(model, "--target", "avr", "-q", "--name", "hello")
    plain = compile_model(model, "--target", "c99", "-q", "--name", "hello")
    main = FLOAT_MAIN.replace("64.0f", "256.0f")
    got = on_avr(mine, main, std="-std=gnu99")
    if got != on_host(plain, main) or len(set(got)) < 5:
        fail("Softmax: the AVR says %s" % got)
    # 8-bit models, by integers alone; another processor with an int of 16 bits.
    model = hello_world()
    if model:
        plain = compile_model(model, "--target", "c99", "-q", "--name",
                              "hello")
        want = on_host(plain, INT8_MAIN)
        for name in ("avr", "msp430"):
            mine = compile_model(model, "--target", name, "-q", "--name",
                                 "hello")
            if on_avr(mine, INT8_MAIN, std="-std=gnu99") != want:
                fail("%s: not the results of c99" % name)


SPACES_H = r"""
#ifndef SPACES_H
#define SPACES_H
/* Pointers to different numbers do not convert to each other. */
#define IN_WEIGHTS __attribute__((address_space(1)))
#define IN_SCRATCH __attribute__((address_space(2)))
#define IN_CALLERS __attribute__((address_space(3)))
#endif
"""


PACKED_H = r"""
#ifndef PACKED4_H
#define PACKED4_H
typedef float packed4 __attribute__((vector_size(16), may_alias));
#define V4F static inline packed4 __attribute__((unused))
V4F v4f_get(const float *p) { return (packed4){ p[0], p[1], p[2], p[3] }; }
V4F v4f_read(const packed4 *p) { return *p; }
static inline void __attribute__((unused))
v4f_put(float *p, packed4 v) { for (int i = 0; i < 4; i++) p[i] = v[i]; }
static inline void __attribute__((unused))
v4f_write(packed4 *p, packed4 v) { *p = v; }
V4F v4f_madd(packed4 a, packed4 b, packed4 c) { return a * b + c; }
V4F v4f_all(float x) { return (packed4){ x, x, x, x }; }
V4F v4f_neg(packed4 a) { return -a; }
#define LANES(name, condition) V4F v4f_##name(packed4 a, packed4 b) \
{ for (int i = 0; i < 4; i++) { a[i] = (condition) || a[i] != a[i] ? a[i] : b[i]; } return a; }
LANES(min, a[i] < b[i])
LANES(max, a[i] > b[i])
V4F v4f_at_most(packed4 a, float y) { return v4f_min(a, v4f_all(y)); }
V4F v4f_at_least(packed4 a, float y) { return v4f_max(a, v4f_all(y)); }
#endif
"""


AXPY = """
from tvm.script import tir as T

@T.prim_func
def axpy(x: T.Buffer((8,), "float32x4"), y: T.Buffer((8,), "float32x4")):
    for i in range(8):
        with T.block("y"):
            v = T.axis.spatial(8, i)
            y[v] = x[v] * T.Broadcast(T.float32(2), 4) + y[v]
"""
AXPY_MAIN = r"""
#include "packed4.h"
void axpy(const packed4 *x, packed4 *y);
int main(void)
{
	packed4 x[8], y[8];
	for (int i = 0; i < 8; i++) { x[i] = v4f_all((float)i); y[i] = v4f_all(0.5f); }
	axpy(x, y);
	for (int i = 0; i < 8; i++) if (y[i][3] < 2.0f * (float)i + 0.49f || y[i][3] > 2.0f * (float)i + 0.51f) return 1;
	return 0;
}
"""


def opaque_memory():
    infix = {k: {"infix": v, "at": at} for k, v, at in (
        ("add", "+", "additive"), ("sub", "-", "additive"),
        ("mul", "*", "multiplicative"), ("div", "/", "multiplicative"))}
    calls = {k: {"call": "v4f_" + v} for k, v in {
        "neg": "neg", "min_number_any": "at_most",
        "max_number_any": "at_least", "min_any": "min", "max_any": "max",
        "broadcast": "all", "fma": "madd"}.items()}
    vectors = {
        "before": ['#include "packed4.h"'],
        "name": "v4f{{#loose}}_any{{/loose}}",
        "define": "typedef packed4 {{name}};",
        "elements": "v4f_get(&{{first}})",
        "store": "v4f_put(&{{first}}, {{value}});",
        "read": "v4f_read(&{{first}})",
        "write": "v4f_write(&{{first}}, {{value}});",
        "expressions": dict(infix, **calls, select={
            "text": "{{a}}{{br}}? {{b}}{{br}}: {{c}}", "at": "conditional",
            "operands": ["or", "or", "conditional"]}),
    }
    put("packed/dialect.json", {
        "extends": "c99", "description": "vectors that memory hides",
        "comments": {"line": "//"}, "vectors": vectors})
    put("include/packed4.h", PACKED_H)
    target("packed", vector_bytes=16, vector_registers=16, block_elems=4,
           vectors=["f32x4"], fp_cflags={"strict": "-O1"})
    flags = ["-std=gnu99", "-I" + os.path.join(top, "include")]
    plain = compile_model(DIGITS, "--target", "c99", "-q")
    mine = compiled(DIGITS)
    for cc in compilers():
        compare(results(mine, cc, "IMAGE", "PROB", *flags),
                results(plain, cc, "IMAGE", "PROB", "-std=c99"))
    text = ""
    for name in os.listdir(mine):
        if name.startswith("digits") and name.endswith((".c", ".h")):
            with open(os.path.join(mine, name), encoding="utf-8") as file:
                text += file.read()
    for word in ("= v4f_madd(", "v4f_read(&", "\n// meant for "):
        if word not in text:
            fail("no '%s' in:\n%s" % (word, text))
    if "/*" in text or re.search(r"v4f acc\S* [+-]=", text):
        fail("a comment that is closed, or a sum by an operator:\n" + text)
    # Nothing else reads or writes a vector that the function does not declare.
    for body in re.findall(r"^(?:static )?void\n\w+\((.*?)^\}", text,
                           re.DOTALL | re.M):
        arrays = re.findall(r"\bv4f(?:_any)? (\w+)\[restrict", body)
        for name in arrays:
            bare = re.search(r"(?<![&\w])%s\[(?!restrict)" % name,
                             body.split(")\n{")[1])
            if bare:
                fail("%s is touched by itself in\n%s" % (name, body))
    # A program that writes vectors, and reads what it writes.
    program = put("axpy.py", AXPY)
    out = os.path.join(top, "axpy")
    os.makedirs(out)
    text = tirc("codegen", program, "--dialect-path", top, "--target",
                "mine").stdout
    with open(os.path.join(out, "axpy.c"), "w") as file:
        file.write(text)
    if "v4f_write(&y[i], v4f_madd(v4f_read(&x[i]), v4f_all(2.0f), " \
            "v4f_read(&y[i])));" not in re.sub(r"\s+", " ", text).replace(
                "( ", "("):
        fail("no vector is written:\n" + text)
    with open(os.path.join(out, "main.c"), "w") as file:
        file.write(AXPY_MAIN)
    execute([compilers()[0], *flags, *STRICT, "-o",
             os.path.join(out, "a.out"), os.path.join(out, "main.c"),
             os.path.join(out, "axpy.c")])
    execute([os.path.join(out, "a.out")])
    # What is strict adds no product unrounded.
    strict = text_of(compiled(DIGITS, "--fp", "strict"))
    if "v4f_madd(" in strict:
        fail("a product is added unrounded:\n" + strict)
    # Forms that loops ask for, and one that none does.
    del vectors["expressions"]["neg"]
    vectors["expressions"]["sqrt"] = {"call": "v4f_sqrt"}
    put("packed/dialect.json", {
        "extends": "c99", "description": "vectors that memory hides",
        "vectors": vectors})
    said = tirc("dialect", "check", os.path.join(top, "packed"),
                status=1).stderr
    for word in ("/vectors/expressions/neg: this form is missing",
                 "/vectors/expressions/sqrt: this form is unused"):
        if word not in said:
            fail("'%s' is not told: %s" % (word, said))


def words():
    need("clang")
    put("include/spaces.h", SPACES_H)
    memory = {"weights": "IN_WEIGHTS", "workspace": "IN_SCRATCH",
              "interface": "IN_CALLERS"}
    plain = results(compile_model(DIGITS, "--target", "c99", "-q"), "clang",
                    "IMAGE", "PROB", "-std=c99")
    flags = ["-std=gnu11", "-I" + os.path.join(top, "include"), "-include",
             "spaces.h", "-Wno-psabi", "-Wno-cast-align"]
    main = MAIN.replace("{ u.space,", "{ (IN_SCRATCH void *)u.space,") \
        .replace("= { x }", "= { (const IN_CALLERS float *)x }") \
        .replace("= { y }", "= { (IN_CALLERS float *)y }")
    for base, facts in (
            ("c99", {}),
            ("gnu-c", {"vectors": ["f32x4"], "vector_bytes": 16,
                       "vector_registers": 16, "block_elems": 4}),
            ("c-threads", {"cores": 4, "core_gflops": 1, "core_gbytes": 1,
                           "cache_gbytes": 1, "fork_ns": 1})):
        put("apart/dialect.json", {
            "extends": base, "description": "a word for each memory",
            "spaces": memory})
        target("apart", **facts)
        mine = compiled(DIGITS, "--weights", "c")
        compare(results(mine, "clang", "IMAGE", "PROB", *flags, main=main),
                plain)
        text = text_of(mine)
        for word in ("const IN_CALLERS float *image;",
                     "IN_SCRATCH void *workspace;",
                     "IN_SCRATCH void *const ", "const IN_WEIGHTS "):
            if word not in text:
                fail("%s: no '%s' in:\n%s" % (base, word, text))
        if base == "c-threads" and not re.search(
                r"struct \w+_shared \{\s*const IN_\w+ void \*", text):
            fail("no shared loop with the words in:\n" + text)
    # One function for layers that are alike, in each memory where they lie.
    put("apart/dialect.json", {
        "extends": "c99", "description": "a word for each memory",
        "spaces": memory})
    target("apart")
    model = alike()
    like_c99 = results(compile_model(model, "--target", "c99", "-q"), "clang",
                       "X", "Y", "-std=c99")
    mine = compiled(model)
    compare(results(mine, "clang", "X", "Y", *flags, main=main), like_c99)
    kernels = re.findall(r"^(\w+)\(const (IN_\w+).*?(IN_\w+) float \(?\*\w* ?y",
                         text_of(mine), re.M | re.DOTALL)
    if sorted(k[1:] for k in kernels) != [
            ("IN_CALLERS", "IN_SCRATCH"), ("IN_SCRATCH", "IN_CALLERS"),
            ("IN_WEIGHTS", "IN_SCRATCH")]:  # two of them, in place
        fail("kernels by memory: %s" % kernels)
    # What would lose the word is told.
    put("apart/dialect.json", {
        "extends": "c99", "description": "casts that forget the memory",
        "access": {"pointer_cast": "({{#const}}const {{/const}}{{type}} *)"
                                   "{{value}}"}, "spaces": memory})
    said = tirc("dialect", "check", top, status=1).stderr
    if "/access/pointer_cast: it has no {{space}}" not in said:
        fail("not told: " + said)
    put("apart/dialect.json", {
        "extends": "c99", "description": "a memory that nobody has",
        "spaces": {"heap": "IN_HEAP"}})
    said = tirc("dialect", "check", top, status=1).stderr
    if "interface workspace weights" not in said:
        fail("not told: " + said)


{"a": renames, "b": calls, "c": small_int, "d": wide_char, "e": flash,
 "f": words, "g": opaque_memory}[sys.argv[1]]()
