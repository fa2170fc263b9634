#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The statements of a MISRA compliance summary, each counted or looked for in
the source that it is about.

A statement without a row here fails: a new one comes with its check."""
import re

from helper import fail

STANDARD = {"math.h", "stdbool.h", "stddef.h", "stdint.h", "string.h"}
KEYWORDS = {"if", "for", "while", "switch", "return", "sizeof", "defined"}
MATH = set("""copysign erf exp fabs floor ceil fma fmod ilogb isinf isnan ldexp
    log log1p log2 nearbyint pow round signbit sqrt trunc sin cos tan asin acos
    atan atan2 sinh cosh tanh asinh acosh atanh exp2 fmax fmin""".split())


class Source:
    """Sources and headers of a model: each file's code without comments and
    strings, the comments, and the strings."""

    def __init__(self, files):
        self.code, self.comments, self.strings = {}, [], []
        for name, text in files.items():
            self.code[name] = self.split(text)
        self.all = "\n".join(self.code.values())
        self.text = "\n".join(files.values())
        self.sources = "\n".join(code for name, code in self.code.items()
                                 if name.endswith(".c"))

    def split(self, text):
        def keep(match):
            part = match.group(0)
            if part.startswith("/*"):
                self.comments.append(part)
                return "\n" * part.count("\n") or " "
            if part.startswith('"'):
                line = text[text.rfind("\n", 0, match.start()) + 1:]
                self.strings.append((part, line.split("\n")[0]))
                return '""'
            return part
        return re.sub(r"/\*.*?\*/|\"[^\"\n]*\"|'[^'\n]*'", keep, text,
                      flags=re.S)

    def has(self, pattern):
        return re.search(pattern, self.all, re.M) is not None

    def words(self, *names):
        return any(self.has(r"\b%s\b" % name) for name in names)

    def includes(self):
        return set(re.findall(r"^#include <(.*)>", self.all, re.M))

    def functions(self):
        """(name, parameters, body) of each function, in order."""
        found = []
        for match in re.finditer(r"^(\w+)\(([^;{}]*)\)\s*\n\{\n(.*?)^\}",
                                 self.sources, re.M | re.S):
            found.append(match.groups())
        return found


# -- loops --

def loops_in(source):
    """Their number, and how deep they are nested: the indentation of a loop
    inside another is deeper, and a brace at its own column ends it."""
    count = deepest = longest = 0
    around = []
    for line in source.all.split("\n"):
        column = len(line.expandtabs(8)) - len(line.expandtabs(8).lstrip())
        if re.match(r"\s*\}", line):
            around = [c for c in around if c < column]
        if re.match(r"\s*(?:for|while|do)\b", line):
            around.append(column)
            count += 1
            deepest = max(deepest, len(around))
            bound = re.match(r"\s*for \(\w+ \w+ = 0; \w+ < (\d+);", line)
            if bound:
                longest = max(longest, int(bound[1]))
    return count, deepest, longest


def check_loops(source, data):
    count, deepest, longest = loops_in(source)
    if (data["loops"], data["deepest_loops"]) != (count, deepest):
        fail("the summary states %d loops, nested %d deep; the source has %d, "
             "nested %d deep" % (data["loops"], data["deepest_loops"], count,
                                 deepest))
    if data["longest_loop"] < longest:
        fail("the summary states loops of at most %d iterations; the source "
             "has one of %d" % (data["longest_loop"], longest))
    if data["loops_without_bound"] == 0 and source.words("while", "do"):
        fail("a loop has no bound, and the summary states that all have one")


# -- functions --

def called(body):
    return {name for name in re.findall(r"\b(\w+)\(", body)
            if name not in KEYWORDS and not name.endswith("_C")}


def calls_are_known(source):
    """Each function called is defined in the source, or math.h's, or memset, or
    the caller's for traces, which returns nothing."""
    own = {name for name, _, _ in source.functions()}
    return all(c in own or c in ("memset", "trace") or re.sub("[fl]$", "", c) in MATH
               or c in MATH
               for _, _, body in source.functions() for c in called(body))


def no_recursion(source):
    calls = {name: called(body) for name, _, body in source.functions()}
    done = set()

    def visit(name, around):
        if name in around:
            return False
        if name in done or name not in calls:
            return True
        if not all(visit(c, around | {name}) for c in calls[name]):
            return False
        done.add(name)
        return True
    return all(visit(name, frozenset()) for name in calls)


def written(name, body):
    return re.search(r"(?<![>\w])%s\[.*\] (?:[-+*/|&^]|<<|>>)?=(?: |$)" % name,
                     body, re.M) is not None


def passed_on(name, body):
    return re.search(r"[(,]\s*&?%s(?:\[[^\]]*\])?\s*[,)]" % name,
                     body) is not None


def read_arrays_are_const(source):
    for function, parameters, body in source.functions():
        for parameter in parameters.split(","):
            array = re.search(r"(\w+)\[", parameter)
            if array and "const" not in parameter and not written(
                    array[1], body) and not passed_on(array[1], body):
                fail("%s does not write its parameter %s" % (
                    function, parameter.strip()))
    return True


def functions_are_static_or_public(source):
    public = set(re.findall(r"\b(\w+)\([^{}();]*\);",
                            "\n".join(code for name, code
                                      in source.code.items()
                                      if name.endswith(".h"))))
    for match in re.finditer(r"^((?:static )?[\w ]+)\n(\w+)\([^;{}]*\)\s*\n\{",
                             source.sources, re.M):
        if not match[1].startswith("static ") and match[2] not in public:
            fail("%s is neither static nor declared in a header" % match[2])
    return True


# -- lines --

def shifts(source):
    """The amounts of shifts that are neither numbers nor limited before."""
    for _, _, body in source.functions():
        for amount in re.findall(r"(?:<<|>>)=? \(?(\w+)", body):
            if re.fullmatch(r"\d+u?", amount):
                continue
            if not re.search(r"\b%s\b(?: = |.* < )|\b%s & \d" % (
                    amount, amount), body):
                return False
    return True


def pragmas_within_conditions(source):
    depth = 0
    for line in source.all.split("\n"):
        depth += line.startswith("#if")
        depth -= line.startswith("#endif")
        if line.startswith("#pragma") and depth == 0:
            return False
    return True


def conditions_defined(source):
    for line in re.findall(r"^#\s*(?:if|elif) (.*)", source.all, re.M):
        rest = re.sub(r"!?defined ?\(?\w+\)?|&&|\|\||\s", "", line)
        if rest:
            return False
    return True


def guards(source):
    return all(re.search(r"^#ifndef (\w+)\n#define \1\b", code, re.M)
               for name, code in source.code.items() if name.endswith(".h"))


def strings_where_stated(source):
    return all(re.match(r'\s*(?:#include "|extern "C"|#pragma |#define )', line)
               for _, line in source.strings)


def strings_of_trace(source):
    """Elsewhere they are arguments of the function that shows a tensor."""
    return all(re.match(r'\s*(?:#include "|extern "C"|#pragma |#define )', line)
               or re.match(r'\s*(?:(?:\w+_traced\()?m, )?"', line)
               for _, line in source.strings)


def sizeof_of_structures(source):
    return all(operand.startswith("struct ")
               for operand in re.findall(r"\bsizeof\s*\(?\s*([^)]*)",
                                         source.all))


def enumerators(source):
    for body in re.findall(r"\benum\s+\w+\s*\{(.*?)\}", source.all, re.S):
        if any("=" in one for one in body.split(",")[1:]):
            return False
    return True


def no_address_kept(source):
    """No member of a structure is given the address of an object of a
    function; what is read is that nothing but ready_mark has its address
    stored."""
    return all(name == "ready_mark" for name in re.findall(
        r"\w+->\w+ = &(\w+)", source.sources))


def comments_without_code(source):
    return not any(re.search(r"(?: = .*;|\) \{)\s*$", line)
                   for comment in source.comments
                   for line in comment.split("\n"))


def kernels_name_nodes(source):
    """A kernel has the line of its work, and nodes above it."""
    kernels = [c for c in source.comments
               if re.search(r"^ \*   work +", c, re.M)]
    return all(re.search(r"^ \*   (?:nodes|calls) +\S", c, re.M)
               for c in kernels)


def octal(source):
    return re.search(r"(?<![\w.])0[0-7]+(?![\w.])", source.all) is None


def side_effects(source):
    """An assignment or ++ stands in the head of a loop or is a statement."""
    code = re.sub(r"\bfor \([^{};]*;[^{};]*;[^{};]*\{", "{", source.sources)
    for line in code.split("\n"):
        line = line.strip()
        if "++" in line or "--" in line:
            return False
        if re.search(r"(?:if|while|return)\b.*[^=!<>]=[^=]", line):
            return False
    return True


def without(*names):
    return lambda source: not source.words(*names)


def without_headers(*names):
    return lambda source: not source.includes() & set(names)


def only_standard(source):
    """string.h is there for memset alone, where states become zeros."""
    uses = {name for name, _, body in source.functions() if "memset" in body}
    return source.includes() <= STANDARD and (
        "string.h" in source.includes()) == bool(uses) and all(
            name == "clear_states" for name in uses) and not source.words(
                "memcpy", "memmove", "memcmp", "strlen", "strcpy")


def reset_by_size(source):
    return all(re.match(r"&workspace->\w+\[\d+\], 0, \w+_BYTES$", arguments)
               for arguments in re.findall(r"\bmemset\((.*?)\);", source.all))


def no_memory(source):
    return without("malloc", "calloc", "realloc", "free", "alloca")(source)


def macros_without_parameters(source):
    return not source.has(r"^#\s*define \w+\(")


def constant_extents(source):
    """No array has an extent that is a variable, and none is without one."""
    for extent in re.findall(r"^\s*(?:static |const |extern )*\w+ \w+"
                             r"((?:\[[^\]]*\])+)(?: =|;)", source.all, re.M):
        for one in re.findall(r"\[([^\]]*)\]", extent):
            if not re.fullmatch(r"\d+u?|[A-Z_0-9]+", one):
                return False
    return True


def no_pointer_arithmetic(source):
    """The address of an element, or a pointer as it is: no sum with one. The
    caller's function for traces is a pointer, too."""
    return not source.has(r"&\w+(?:\[[^\]]*\])+ [-+] ") and not source.has(
        r"\*\*|\* ?const \*|\(\*(?!trace\)\()\w")


ASM = without("asm", "__asm__", "__asm")
STATIC_INLINE = (lambda source: not source.has(
    r"^(?!static ).*\binline\b|inline(?! \w+$)"))
PARAMETERS = macros_without_parameters
CONDITIONS = conditions_defined
HASH = (lambda source: not source.has(r"^\s*#\s*define.*#"))
CPPCHECK = "cppcheck's addon, by misra.py"
EXTENTS = constant_extents
POINTERS = no_pointer_arithmetic

# A statement: its check, or the test that has the check.
STATEMENTS = {
    "the implementation-defined behaviour that the source relies on is listed "
    "below": "misra.py: the list is not empty",
    "checked: gcc and clang compile it without a warning": "misra.py",
    "each kernel names the nodes of the model that it computes":
        kernels_name_nodes,
    "results are defined for all inputs: indices are within arrays, divisors "
    "are not 0, conversions saturate; NAME_run checks pointers and sizes":
        "out_of_range.py, contract.py",
    "there is no assembly language": ASM,
    "comments hold no code": comments_without_code,
    "names come from the model; those that differ in few characters get a "
    "number": "wild_names.py",
    "float and double are used by these names; integers have types of "
    "stdint.h, but for truth values and enumerations":
        without("short", "long", "unsigned", "signed"),
    "the source calls no function that returns error information, but for "
    "those of math.h, whose results are defined without errno":
        calls_are_known,
    "the structures are the caller's to declare, and so are complete in the "
    "header": lambda source: not source.has(r"^struct \w+;"),
    "macros are constants and one name that carries the version; none has "
    "parameters": PARAMETERS,
    "each header has an include guard": guards,
    "arguments of math.h are within what its functions are defined for, or "
    "the result is defined by IEC 60559": "not_numbers.py",
    "nothing is allocated: memory is the caller's": no_memory,
    "NAME_run before NAME_init, or after NAME_fini, returns a status":
        "ready.py",
    "pointers and sizes from the caller are checked; the lengths of its "
    "arrays cannot be, and are for the caller to keep": "contract.py",
    "ISO C99; sizes of arrays and of files grow with the model, and a "
    "compiler tells whether they are beyond its limits": "misra.py",
    "no extension; pragmas of one compiler stand within a condition that "
    "selects it": pragmas_within_conditions,
    "indices are proven to be within arrays, integer arithmetic to fit or to "
    "be done as unsigned": "out_of_range.py",
    "D1: macros of the header for whoever calls the model": "misra.py",
    "there are no labels": lambda source: not source.has(r"^\s*\w+:\s*$"),
    "there are no escapes in strings":
        lambda source: not any("\\" in text for text, _ in source.strings),
    "no trigraph can arise: question marks of names are cleaned":
        lambda source: "??" not in source.text,
    "there are no bit-fields":
        lambda source: not source.has(r"^\s*\w+ \w+ : \d+;"),
    "there are no octal constants": octal,
    "string literals stand in #include, #define, #pragma and the headers' "
    "extern \"C\" alone": strings_where_stated,
    "string literals stand in #include, #define, #pragma and the headers' "
    "extern \"C\" alone, and as arguments for the trace, whose parameters point "
    "to const char": strings_of_trace,
    "functions of one file are static": functions_are_static_or_public,
    "inline functions, NAME_X_USED of the header, are static": STATIC_INLINE,
    "declarations of weights have their extents": EXTENTS,
    "enumerators have no value but the first": enumerators,
    "arrays that a kernel reads are const": read_arrays_are_const,
    "restrict is not used": without("restrict"),
    "local arrays are stored to before they are read, as tests in an "
    "interpreter find": "unit/interp.c",
    "there are no designated initialisers":
        lambda source: not source.has(r"[{,]\s*(?:\.\w+|\[\w+\]) = "),
    "amounts of shifts are limited by the width of the type": shifts,
    "the comma operator is not used": CPPCHECK,
    "constants are folded by tirc": CPPCHECK,
    "sizeof is used of structures alone": sizeof_of_structures,
    "expressions have no side effect but calls of functions without any":
        side_effects,
    "right operands of && and || only read": side_effects,
    "operands of sizeof are types": sizeof_of_structures,
    "counters of loops are integers":
        lambda source: not source.has(r"\bfor \((?!u?int\d+_t \w+ = )"),
    "there is no goto": without("goto"),
    "there is no break": without("break", "continue"),
    "there is no switch": without("switch"),
    "stdarg.h is not used": without_headers("stdarg.h"),
    "kernels call helpers alone, and these call earlier ones": no_recursion,
    "NAME_run passes arrays of the sizes that the kernel states": "models.py",
    "no extent of a parameter has static in it":
        lambda source: not source.has(r"\[[^\]]*\bstatic\b"),
    "indices are proven to be within arrays, as tests in an interpreter find":
        "unit/interp.c",
    "there is no arithmetic of pointers": POINTERS,
    "there is no arithmetic of pointers, and none to pointers": POINTERS,
    "no address of a local object is kept": no_address_kept,
    "there are no flexible arrays, and none of variable length": EXTENTS,
    "no structure is assigned, nothing overlaps":
        lambda source: not source.has(r"^\s*\*\w+ = "),
    "there is no union": without("union"),
    "there is no #undef": lambda source: not source.has(r"^\s*#\s*undef"),
    "no macro has parameters": PARAMETERS,
    "conditions name macros that a compiler defines, by `defined`": CONDITIONS,
    "# and ## are not used": HASH,
    "nothing is allocated": no_memory,
    "of the standard library only math.h, stdbool.h, stddef.h, stdint.h and, "
    "for the memset of states, string.h are included": only_standard,
    "fenv.h is not included": without_headers("fenv.h"),
    "ctype.h is not included": without_headers("ctype.h"),
    "memcmp is not called": without("memcmp"),
    "memcpy, memmove and memcmp are not called":
        without("memcpy", "memmove", "memcmp"),
    "memset is given the size of the state; no other function of string.h is "
    "called": reset_by_size,
    "locale.h, time.h and the like are not included": only_standard,
    "no resource is obtained": without("fopen", "open", "malloc"),
    "stdio.h is not included": without_headers("stdio.h"),
    "errno is not used": without("errno"),
    # claims
    "no dynamic memory, recursion, union, variable-length array, restrict or "
    "pointer arithmetic": lambda source: no_memory(source)
        and no_recursion(source) and POINTERS(source)
        and EXTENTS(source) and without("union", "restrict")(source),
    "no conversion between pointers: the workspace is a structure with an "
    "array for each type":
        lambda source: not source.has(r"\([^()]*\*\s*(?:const)?\)\s*[\w&(]"),
    "no conversion between pointers, but of those of data to const void * for "
    "the trace: the workspace is a structure with an array for each type":
        lambda source: not source.has(r"\([^()]*\*\s*(?:const)?\)\s*[\w&(]"),
    "essential types: no mixing of signed and unsigned, conversions only of "
    "what is no operator's result to another class or a wider type": CPPCHECK,
    "one return at the end of a function, braces everywhere, loops with a "
    "counter and a bound, parentheses around every inner operator": CPPCHECK,
    "checked: cppcheck --addon=misra finds the deviations below and nothing "
    "else; the rules that it has no check for are kept by the way the source "
    "is made, and no tool has proven them": CPPCHECK,
    "directive 4.6 (advisory) is not kept for float and double, which are "
    "used by these names": CPPCHECK,
    # implementation-defined behaviour
    "int has at least 32 bits, char 8, and the types int8_t to int64_t are "
    "there: two's complement without padding": "emit_cases.py",
    "float and double are binary32 and binary64 of IEC 60559, rounded to "
    "nearest even, with infinities and NaN": "emit_cases.py",
    "a conversion of an integer to a signed type that does not hold it keeps "
    "the low bits: modulo 2^N, in two's complement": "emit_cases.py",
    "the functions of math.h that are called, and how near their results are, "
    "are the library's (exp, log, tanh, erf and sigmoid of float are the "
    "source's own)":
        without("expf", "logf", "tanhf", "erff"),
    "identifiers are significant in 31 characters, those that other files "
    "see, too": CPPCHECK,
    "a compiler ignores a pragma that it does not know: STDC FP_CONTRACT is "
    "ISO C99's, `GCC optimize` stands where __GNUC__ is defined":
        pragmas_within_conditions,
    "the compiler chooses how much stack a call takes": "stack.py",
}
# A statement of these ends with one of the texts above, or has no check.
ENDINGS = ("checked: cppcheck's addon finds nothing", "no tool checks it",
           "no tool checks it, the source is made so")


def check_statement(source, statement):
    for ending in ENDINGS:
        if statement.endswith(ending):
            return
    if statement not in STATEMENTS:
        fail("tests/exec/text/misra_statements.py has no check of the statement "
             "\"%s\"" % statement)
    how = STATEMENTS[statement]
    if not isinstance(how, str) and not how(source):
        fail("the summary states \"%s\", and the source does otherwise" %
             statement)


def check_statements(files, data):
    """files: the text of each source and header by name, without constants'
    arrays; data: the summary's JSON."""
    source = Source(files)
    check_loops(source, data)
    for row in data["guidelines"]:
        check_statement(source, row["how"])
    for statement in data["claims"] + data["implementation_defined"]:
        check_statement(source, statement)
