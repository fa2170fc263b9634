/* SPDX-License-Identifier: Apache-2.0 */
/* The verbs and their options: one table for all verbs; each verb takes the
 * rows that name it. Help, the manual page and the completions of shells are
 * printed from the same table (help.c, man.c, completion.c). */
#include <string.h>

#include "options.h"

static const struct option_row rows[] = {
	{ OPT_OUT, "out", "DIR", "folder for the files (default: .)", COMPILE },
	{ OPT_OUT, "out", "FILE",
	  "file for the output (default: standard output)", LOWER },
	{ OPT_OUT, "out", "FILE.json",
	  "write the partition; constants go beside it, into FILE.weights",
	  PARTITION },
	{ OPT_OUT, "out", "DIR", "folder for the files (default: print them)",
	  CODEGEN },
	{ OPT_OUT, "out", "DIR", "folder for the files of selftest", DIALECT },
	{ OPT_OUT, "out", "FILE",
	  "file for the report (default: standard output)", REPORT },
	{ OPT_MARKDOWN, "markdown", NULL, "write Markdown instead of HTML",
	  REPORT },
	{ OPT_OUT, "out", "FILE",
	  "write a certificate: digests, compiler, results of each kernel",
	  VERIFY },
	{ OPT_CHECK, "check", "FILE",
	  "only compare the digests of this certificate with model and folder",
	  VERIFY },
	{ OPT_DATA, "data", "DIR or FILE.npz",
	  "also compare the whole model with this data set, as test does",
	  VERIFY },
	{ OPT_OUT, "out", "DIR",
	  "write the smallest model that is wrong, with its data, and a program "
	  "that calls the wrong kernel",
	  BISECT },
	{ OPT_DATA, "data", "DIR or FILE.npz",
	  "inputs and expected outputs, as for test (default: those beside the "
	  "model; else random inputs)",
	  BISECT },
	{ OPT_DATA, "data", "DIR or FILE.npz",
	  "the inputs of the runs (default: those in the trace)", COMPARE },
	{ OPT_OUT, "out", "FILE",
	  "file to which records are added (default: records.jsonl)", TUNE },
	{ OPT_OUT, "out", "FILE",
	  "merge, plot: file for the result (default: standard output)",
	  RECORDS },
	{ OPT_TARGET, "target", "NAME", "target whose vectors selftest tests",
	  DIALECT },
	{ OPT_TARGET, "target", "NAME",
	  "target, as \"NAME -KEY=VALUE …\"; `tirc targets` lists the names",
	  GRAPH_VERBS | PROGRAM_VERBS | WORKER },
	{ OPT_NAME, "name", "NAME",
	  "stem of files and symbols (default: the model's name)",
	  MODEL_VERBS & ~(TEST | RUN | TUNE) },
	{ OPT_NAME, "name", "NAME",
	  "stem of files and symbols (default: the model's name, or that of "
	  "FILE.py)",
	  RUNNING_VERBS },
	{ OPT_NAME, "name", "NAME",
	  "name of the file and of unnamed functions (default: FILE's)",
	  CODEGEN },
	{ OPT_PHASE, "phase", "N",
	  "print the functions after phase 0, 1, 2 or 3", LOWER },
	{ OPT_SCHEDULE, "schedule", "FILE",
	  "apply a schedule first: sch.…(…) lines or a trace in JSON",
	  LOWER | CODEGEN },
	{ OPT_SCHEDULE, "schedule", "FILE",
	  "FILE.py: apply a schedule first: sch.…(…) lines or a trace in JSON",
	  TEST_PROGRAM | RUN_PROGRAM },
	{ OPT_FROM_ONNX, "from-onnx", "MODEL",
	  "check: apply each record to the kernels of this model, and check the "
	  "results on this machine",
	  RECORDS },
	{ OPT_FROM_ONNX, "from-onnx", "MODEL",
	  "read a kernel of a model instead of FILE", LOWER },
	{ OPT_KERNEL, "kernel", "NAME", "show: only the records of this kernel",
	  RECORDS },
	{ OPT_KERNEL, "kernel", "NAME",
	  "the kernel of the model (default: list all kernels)", LOWER },
	{ OPT_EXECUTE, "execute", NULL,
	  "give the functions that the program calls on arrays no limit of time",
	  LOWER },
	{ OPT_UNSCHEDULED, "unscheduled", NULL,
	  "print the kernel before its schedule", LOWER },
	{ OPT_SHOW_TRACE, "show-trace", NULL,
	  "print the kernel's schedule, as --schedule-for reads it", LOWER },
	{ OPT_EXPLAIN_SCHEDULE, "explain-schedule", "KERNEL",
	  "print each rule for this kernel of the model: taken, or why not",
	  LOWER },
	{ OPT_SCRIPT_VERSION, "script-version", "current|old",
	  "spelling of TVMScript (default: current)", LOWER },
	{ OPT_INPUT_SHAPE, "input-shape", "NAME:D0,D1,…",
	  "shape of an input: numbers, names of sizes for --dim, and ? for what the "
	  "model says",
	  GRAPH_VERBS | LOWER },
	{ OPT_DIM, "dim", "NAME=SIZE",
	  "a symbolic dimension: N, MIN..MAX, MIN..MAX:MULTIPLE, a formula of "
	  "other sizes such as 2*m+1, or another name (new=old)",
	  (GRAPH_VERBS & ~(TEST | RUN)) | LOWER },
	{ OPT_DIM, "dim", "NAME=SIZE",
	  "a symbolic dimension: N, MIN..MAX, MIN..MAX:MULTIPLE, a formula of "
	  "other sizes such as 2*m+1, or another name (new=old); FILE.py: the "
	  "value of a scalar parameter",
	  RUNNING_VERBS },
	{ OPT_BOUND, "bound", "NAME=MAX or NAME=MIN..MAX",
	  "bounds of a size that is known only when the model runs",
	  GRAPH_VERBS | LOWER },
	{ OPT_SEQUENCE, "sequence", "NAME=N or NAME=none",
	  "number of elements of an input that is a sequence; none: an "
	  "optional input that is empty",
	  GRAPH_VERBS | LOWER },
	{ OPT_SEED, "seed", "N",
	  "use N in place of the input random_run: the same random numbers in "
	  "each run",
	  (GRAPH_VERBS & ~(TEST | RUN | TUNE | VERIFY | BISECT)) | LOWER },
	{ OPT_SEED, "seed", "N",
	  "seed of the random inputs (default: 1); for a model with random "
	  "operators, the same as for compile",
	  VERIFY },
	{ OPT_SEED, "seed", "N",
	  "seed of the search and of the kernels' inputs (default: 1)", TUNE },
	{ OPT_SEED, "seed", "N",
	  "use N in place of the input random_run: the same random numbers in "
	  "each run; test, bisect: also the seed of the random inputs; FILE.py: "
	  "of the random arrays",
	  RUNNING_VERBS | BISECT },
	{ OPT_STRING_LENGTH, "string-length", "NAME=BYTES",
	  "bytes of each string of an input (default: 64)",
	  GRAPH_VERBS | LOWER },
	{ OPT_FUNCTIONS, "functions", "FILE",
	  "ONNX functions, in a model, a FunctionProto or ONNX's text form, "
	  "for operators that tirc does not know",
	  GRAPH_VERBS | LOWER },
	{ OPT_CONST_INPUT, "const-input", "NAME=VALUE,… or NAME=@FILE",
	  "an input that is a constant; test: NAME alone, from the data set",
	  GRAPH_VERBS | LOWER },
	{ OPT_STATE, "state", "OUTPUT=INPUT",
	  "keep this output in the model as that input of the next run",
	  MODEL_VERBS },
	{ OPT_IN_WORKSPACE, "in-workspace", "inputs|outputs|both",
	  "make inputs and outputs parts of the workspace instead of arrays of "
	  "the caller",
	  MODEL_VERBS },
	{ OPT_WEIGHTS, "weights", "c|incbin|file|section",
	  "form of the weights (default: by size)", BUILD_VERBS },
	{ OPT_FORM, "form", "aot|graph",
	  "functions (default), or a table of kernels and their calls as JSON",
	  BUILD_VERBS },
	{ OPT_SECTION, "section", "NAME", "section for --weights section",
	  BUILD_VERBS },
	{ OPT_OPTIMIZE, "optimize", "speed|balanced|size|memory",
	  "what to prefer if goals conflict: size is less code, memory is less "
	  "RAM (default: speed)",
	  GRAPH_VERBS | LOWER },
	{ OPT_REQUANT, "requant", "onnx|tflite",
	  "rounding of quantized results (default: onnx)",
	  GRAPH_VERBS | LOWER },
	{ OPT_PRECISION, "precision", "f32|bf16|f16",
	  "store the weights of matrix products in this type; with bf16, if "
	  "the target multiplies that type, also the other operands; sums are "
	  "float32 (default: f32)",
	  GRAPH_VERBS | LOWER },
	{ OPT_CONV, "conv", "auto|direct|winograd",
	  "algorithm of 3x3 convolutions: the faster (default), direct, or "
	  "Winograd's where possible",
	  MODEL_VERBS | LOWER },
	{ OPT_BYOC, "byoc", "NAME[=DIR][:OPTION=VALUE,…]",
	  "let a backend compute the parts it supports; the first is preferred; "
	  "=DIR: the one in this folder",
	  GRAPH_VERBS },
	{ OPT_BYOC_PATH, "byoc-path", "DIR",
	  "folder in which --byoc finds backends of your own", GRAPH_VERBS },
	{ OPT_PACKAGE, "package", "KIND",
	  "write a firmware package: files for a build system, an example and "
	  "a self-test",
	  COMPILE },
	{ OPT_PACKAGE_PATH, "package-path", "DIR",
	  "folder with kinds of packages of your own", COMPILE },
	{ OPT_EACH_REGION, "each-region", NULL,
	  "compare each region of --byoc with generated code", TEST },
	{ OPT_LAYERS, "layers", "[=FILE.npz]",
	  "name the first node whose result differs from the interpreter's, or "
	  "from an array of the file",
	  TEST | BISECT },
	{ OPT_FP, "fp", "strict|default|fast",
	  "float arithmetic: the same bits from every compiler, or the changes "
	  "that compilers may make",
	  BUILD_VERBS | CODEGEN | TEST_PROGRAM | RUN_PROGRAM },
	{ OPT_EXPLAIN, "explain", NULL,
	  "print each node's backend, or why no backend takes it", PARTITION },
	{ OPT_DIALECT_PATH, "dialect-path", "DIR",
	  "folder with dialects and targets of your own",
	  GRAPH_VERBS | PROGRAM_VERBS | DIALECT | TARGETS | WORKER },
	{ OPT_PRINT_AFTER, "print-after", "PASS",
	  "print the program after a pass, or after all",
	  GRAPH_VERBS | PROGRAM_VERBS },
	{ OPT_PRINT_PHASE, "print-phase", "N",
	  "print every function after lowering phase 0, 1, 2 or 3",
	  MODEL_VERBS | PROGRAM_VERBS },
	{ OPT_DISABLE_PASS, "disable-pass", "PASS",
	  "leave out a pass that is not marked *",
	  GRAPH_VERBS | PROGRAM_VERBS },
	{ OPT_ADD_PASS, "add-pass", "N:WHAT",
	  "run ./object.so, or a command on TVMScript, after phase N",
	  MODEL_VERBS | PROGRAM_VERBS },
	{ OPT_SCHEDULE_FOR, "schedule-for", "KERNEL=FILE",
	  "schedule a kernel with FILE (.py or .json), not by rules",
	  (MODEL_VERBS & ~TUNE) | LOWER },
	{ OPT_RECORDS, "records", "FILE",
	  "schedule each kernel with the best record for it and the target, if "
	  "the file has one",
	  (MODEL_VERBS & ~TUNE) | LOWER },
	{ OPT_QUEUE, "queue", "redis://HOST:PORT",
	  "let the workers of this queue run the measurements", TUNE },
	{ OPT_QUEUE, "queue", "redis://HOST:PORT",
	  "the queue with the jobs; compiles and runs the sources in it",
	  WORKER },
	{ OPT_TIME, "takeover", "TIME",
	  "take over the job of a worker that gives no sign of life for this "
	  "time (default: 30s)",
	  WORKER },
	{ OPT_TRIALS, "trials", "N",
	  "measure at most N schedules of each kernel (default: 60)", TUNE },
	{ OPT_TIME, "time", "TIME",
	  "end the tuning after this time, such as 90s, 10m or 2h (default: "
	  "when no kernel has a trial left)",
	  TUNE },
	{ OPT_LEAST_GAIN, "least-gain", "PERCENT",
	  "a schedule counts as faster if it gains at least this (default: 2)",
	  TUNE },
	{ OPT_SCRIPT, "script", NULL,
	  "show: print the schedule of each record, as --schedule-for reads it",
	  RECORDS },
	{ OPT_TIME_PASSES, "time-passes", NULL, "print the time of each pass",
	  GRAPH_VERBS | PROGRAM_VERBS },
	{ OPT_FORCE, "force", NULL,
	  "also replace files that tirc did not write",
	  BUILD_VERBS | PARTITION | CODEGEN | DIALECT | TEST_PROGRAM |
		  RUN_PROGRAM },
	{ OPT_ALLOW_FILES, "allow-files", NULL,
	  "let FILE.py read models outside of its folder",
	  LOWER | CODEGEN | TEST_PROGRAM | RUN_PROGRAM },
	{ OPT_MAX_OUTPUT, "max-output", "SIZE",
	  "limit of bytes to write, such as 500M or 20G (default: 4 times the "
	  "input and 1G)",
	  GRAPH_VERBS | PROGRAM_VERBS },
	{ OPT_MAX_MEMORY, "max-memory", "SIZE",
	  "limit of tirc's memory (default: 4 times the input and 4G)",
	  GRAPH_VERBS | PROGRAM_VERBS },
	{ OPT_DEPFILE, "depfile", "FILE", "write a make-style dependency file",
	  COMPILE },
	{ OPT_CC, "cc", "COMMAND",
	  "C compiler (default: $CC, else the target's; the target's if it names a "
	  "simulator)",
	  RUNNING_VERBS | TUNE | RECORDS | WORKER | VERIFY | BISECT },
	{ OPT_CFLAGS, "cflags", "FLAGS", "flags instead of the target's",
	  RUNNING_VERBS | TUNE | RECORDS | WORKER | VERIFY | BISECT },
	{ OPT_RUNNER, "runner", "local|cmd:PROGRAM|replay:FILE",
	  "what runs the measurements: this machine (default), or PROGRAM, "
	  "which gets a folder; or FILE, a file of records, in place of "
	  "measurements",
	  TUNE | RECORDS | WORKER },
	{ OPT_RUNNER, "runner", "COMMAND",
	  "command that runs the program, such as qemu-aarch64 (default: the "
	  "target's simulator, if it names one)",
	  RUNNING_VERBS | VERIFY | BISECT },
	{ OPT_CONFINE, "confine", "auto|require|off",
	  "keep the program from other files, networks and processes: if the "
	  "system supports it (default), always (else an error), or not",
	  RUNNING_VERBS | TUNE | RECORDS | VERIFY | BISECT },
	{ OPT_CONFINE, "confine", "auto|require|off",
	  "keep the programs from other files, networks and processes: if the "
	  "system supports it, always (default; else an error), or not",
	  WORKER },
	{ OPT_KEEP, "keep", "DIR", "build in DIR and keep it",
	  RUNNING_VERBS | TUNE },
	{ OPT_INPUT, "input", "[NAME=]FILE",
	  "file with data of inputs: .npz, .npy or .pb (default: ramps of "
	  "small numbers)",
	  RUN },
	{ OPT_INPUT, "input", "[NAME=]FILE",
	  "file with data of inputs, as for run; with --expect", TEST },
	{ OPT_EXPECT, "expect", "[NAME=]FILE",
	  "file with the expected outputs for --input: .npz, .npy or .pb",
	  TEST },
	{ OPT_OUTPUT, "output", "FILE",
	  "file for the outputs: .npz, or .npy for a single output", RUN },
	{ OPT_REPEAT, "repeat", "N",
	  "run N times, 1 to 1000000; print minimum and median (default: 1; of "
	  "FILE.py: 10)",
	  RUN | RUN_PROGRAM },
	{ OPT_TRACE, "trace", NULL,
	  "the source shows each tensor, after the kernel that wrote it, to a "
	  "function of the caller",
	  COMPILE | REPORT | DIFF | VERIFY },
	{ OPT_PROFILE, "profile", NULL,
	  "print the time of each kernel and its lower bound; the instructions, "
	  "where a simulator executes",
	  RUN },
	{ OPT_JSON, "json", "FILE",
	  "write the result of --profile, or what a simulator counted", RUN },
	{ OPT_RTOL, "rtol", "X",
	  "accept |a-b| <= atol + rtol * |b| of each element (default: by type)",
	  TEST | TEST_PROGRAM | BISECT | COMPARE },
	{ OPT_ATOL, "atol", "X", "see --rtol",
	  TEST | TEST_PROGRAM | BISECT | COMPARE },
	{ OPT_JSON, "json", NULL, "print JSON, for programs",
	  COMPILE | INSPECT | LOWER | DIALECT | DIFF },
	{ OPT_MERGED, "merged", NULL,
	  "show all keys as JSON, including inherited ones", DIALECT },
	{ OPT_NAMES, "names", NULL, "print the names alone, one a line",
	  TARGETS | PASSES },
	{ OPT_QUIET, "quiet", NULL, "print only errors",
	  GRAPH_VERBS | PROGRAM_VERBS | DIALECT | WORKER },
	{ OPT_HELP, "help", NULL, "print this text",
	  GRAPH_VERBS | PROGRAM_VERBS | DIALECT | TARGETS | PASSES | HELP |
		  VERSION | WORKER },
};

#define N_ROWS (sizeof rows / sizeof *rows)

static const struct verb verbs[] = {
	{ "compile", "MODEL.onnx [-o DIR]", "write the source of a model",
	  "Reads an ONNX model and writes NAME.h, NAME.c, the weights,\n"
	  "NAME.json and build files into DIR, then says how to compile them.\n",
	  cmd_compile },
	{ "run", "MODEL.onnx [--input FILE]… | FILE.py",
	  "compile a model, build it with cc and execute it; time a program",
	  "Inputs come from .npz, .npy or ONNX .pb files, in order or by name.\n"
	  "A target of a microcontroller names a simulator, which executes the\n"
	  "program and counts instructions (docs/how-to/microcontrollers.md).\n"
	  "To measure speed: --repeat 1000 gives the time of a run, --profile\n"
	  "that of each kernel.\n\n"
	  "Of a tensor program FILE.py, calls the source of each function on random\n"
	  "arrays and prints the least and the median time, and the operations per\n"
	  "second where they are known. An open size is 256 without a --dim. The\n"
	  "target is native if the program names none, or \"llvm\". Before, the\n"
	  "interpreter checks the accesses of the source.\n",
	  cmd_run },
	{ "test", "MODEL.onnx [DIR or FILE.npz…] | FILE.py",
	  "compare with test data, or with the interpreter",
	  "Runs the model on input_*.pb of each DIR, or of each test_data_set_* in\n"
	  "it (default: those beside the model) and compares with output_*.pb; or\n"
	  "on the arrays of each FILE.npz that have the names of inputs, and\n"
	  "compares with those that have the names of outputs; or on --input,\n"
	  "with --expect. Sizes that the model leaves open are those of the data.\n"
	  "Without data, compares with tirc's interpreter on random inputs, at\n"
	  "three sizes where they are symbolic. --layers compares the result of\n"
	  "each node with the interpreter's, or with arrays of a file, and names\n"
	  "the first one that is wrong. Exit status 1 on a mismatch.\n\n"
	  "Of a tensor program FILE.py, runs the source of each function on random\n"
	  "arrays, after the interpreter has checked its accesses, and compares with\n"
	  "the interpreter's results for the function before any schedule; at several\n"
	  "sizes if it has scalar parameters without a --dim. Asserts of the program\n"
	  "that could not be checked are counted and do not change the exit status.\n\n"
	  "An element a passes for an expected b if |a-b| <= atol + rtol * |b|.\n"
	  "Without --rtol, rtol is 1e-4 (float32), 1e-7 (float64), 1e-2\n"
	  "(float16), two units in the last place (bfloat16) or one (8 bits).\n"
	  "Without --atol, atol is 2.4e-7 (float64: 1e-14) plus what a change\n"
	  "of the inputs by 1e-5 (float32), 1e-9 (float64), 2e-3 (float16),\n"
	  "1.6e-2 (bfloat16), 1e-2 (8 bits) does to the element, because terms\n"
	  "of sums may cancel; runs on perturbed inputs show it. An element\n"
	  "within rounding of a step (of Floor, a comparison, ArgMax, …) may\n"
	  "take the other side; such elements are counted.\n"
	  "Other integers must be equal. Results of quantizing nodes may differ\n"
	  "by one step, dequantized too, because rounding depends on the order\n"
	  "of a sum (docs/reference/results.md).\n",
	  cmd_test },
	{ "inspect", "MODEL.onnx", "nodes, shapes, work, memory",
	  "Prints the model's nodes with shapes, multiply-accumulates and\n"
	  "parameters, where each is computed, and the memory plan.\n",
	  cmd_inspect },
	{ "partition", "MODEL.onnx [-o FILE.json]",
	  "simplify the graph and choose the parts for backends",
	  "Prints the parts, or writes the graph as JSON, which people and\n"
	  "programs may edit: compile, run, test and inspect read the file\n"
	  "instead of the model and continue from there (docs/reference/backend.md).\n",
	  cmd_partition },
	{ "lower", "FILE.py [--schedule FILE] [--phase N] | --from-onnx MODEL",
	  "run a tensor program; print its output or functions",
	  "Runs a program written for TVM (te, topi, tir.Schedule, TVMScript)\n"
	  "and prints its output. If the program prints nothing, its lowered\n"
	  "functions are printed. Neither TVM nor Python is needed.\n"
	  "docs/reference/programs.md defines the supported language. Statements\n"
	  "that need what tirc does not have (torch) are left out: a note tells\n"
	  "their number, and how many asserts were not checked; the exit status\n"
	  "stays 0.\n"
	  "With --from-onnx, prints a kernel of a model, or its schedule; after\n"
	  "an edit: tirc compile MODEL --schedule-for NAME=FILE.\n",
	  cmd_lower },
	{ "codegen", "FILE.py [--target NAME] [-o DIR]",
	  "write the source of a tensor program",
	  "Writes a program's functions for a target: those it passes to\n"
	  "tvm.build, else those it lowers, else those it creates. With -o, says\n"
	  "how to compile the files.\n",
	  cmd_codegen },
	{ "dialect", "list|show NAME|check DIR|selftest NAME -o DIR",
	  "list, show, check and test dialects",
	  "list      prints the dialects, the dialects that they extend, and\n"
	  "          the targets that use them\n"
	  "show      prints a dialect's operations by type, limits, statements,\n"
	  "          or with --merged its JSON, including inherited keys\n"
	  "check     reports every mistake in a dialect's folder, or in a folder\n"
	  "          of dialects and targets\n"
	  "selftest  writes a program in C that tests every operation of every\n"
	  "          type, for a compiler on another machine\n\n"
	  "NAME may also be the folder of a dialect.\n",
	  cmd_dialect },
	{ "targets", "[--names]", "list the targets",
	  "Prints the targets: processors, devices and compilers that source is\n"
	  "written for. docs/how-to/choose-a-target.md helps to choose.\n",
	  cmd_targets },
	{ "passes", "[--names]", "list the passes, in order",
	  "Prints the passes over graphs and programs. compile --print-after\n"
	  "shows the program after one, --disable-pass leaves one out.\n",
	  cmd_passes },
	{ "help", "[VERB|man|bash|zsh]",
	  "print help, a manual page, completions of a shell",
	  "Prints the options of a verb; or, for files, a manual page or the\n"
	  "completions of bash or zsh:\n"
	  "  tirc help man > tirc.1\n"
	  "  tirc help bash > ~/.local/share/bash-completion/completions/tirc\n"
	  "  tirc help zsh > ~/.zfunc/_tirc\n",
	  cmd_help },
	{ "version", "", "the version of this program", "", cmd_version },
	{ "tvmc", "compile|run|tune|micro FILE",
	  "the command line of TVM, as tvmc",
	  "Reads the options of tvmc: compile writes a model as a package, a .tar\n"
	  "in TVM's Model Library Format or with a shared library; run runs the\n"
	  "model of a package; tune is tirc tune; micro names what tirc has\n"
	  "instead. A link to tirc with the name tvmc is the same. `tirc tvmc compile --help`\n"
	  "lists the options; docs/from-tvm.md tells more.\n",
	  cmd_tvmc },
	{ "tune", "MODEL.onnx [-o FILE]", "find faster schedules by measuring",
	  "Measures other schedules of the kernels that take the time of a model,\n"
	  "beside those of the rules, and adds each measurement as a record to\n"
	  "FILE. tirc compile MODEL --records FILE uses the best ones. Every result\n"
	  "is checked against the interpreter. Ctrl-C keeps all records; a run\n"
	  "with the same FILE goes on.\n"
	  "docs/how-to/tune.md tells how to measure on another machine.\n",
	  cmd_tune },
	{ "records", "best|show|merge|plot|check FILE…",
	  "show, merge, draw and check records of tirc tune",
	  "best   prints the best record of each kernel and target\n"
	  "show   prints all records; with --script the schedules\n"
	  "merge  writes the best records of several files as one\n"
	  "plot   draws the best time of each kernel over the trials, as SVG\n"
	  "check  reads all lines; with --from-onnx MODEL, applies each record\n"
	  "       to the model's kernels, and checks what they compute\n",
	  cmd_records },
	{ "report", "MODEL.onnx [-o FILE.html]",
	  "write what a reviewer of the source needs to know",
	  "Writes one file, as HTML or Markdown, about the source that compile\n"
	  "writes with the same options: each kernel with its nodes, formula,\n"
	  "lines, ranges of indices beside the extents, bounds of sums and loops,\n"
	  "and stack; the memory; what the source promises; the digests of all\n"
	  "files. The page needs no network and no JavaScript.\n"
	  "docs/how-to/review.md tells how to sign a model's source with it.\n",
	  cmd_report },
	{ "diff", "OLD NEW", "what differs between two models' sources",
	  "Compares two models, compiled with the same options, or two folders\n"
	  "that tirc compile wrote: nodes, kernels with the lines that differ,\n"
	  "weights, memory, interface, options. Exit status 0 if nothing differs,\n"
	  "1 if something does, 2 in case of an error.\n",
	  cmd_diff },
	{ "worker", "--queue redis://HOST:PORT [--runner WORD]",
	  "measure the jobs of tirc tune --queue",
	  "Takes jobs for its target from a queue, compiles and runs their sources,\n"
	  "and answers with times and results, until Ctrl-C. Whoever can write to\n"
	  "the queue runs programs here, as confined as those of tirc test: start\n"
	  "it where that is meant. docs/how-to/fleet.md tells more.\n",
	  cmd_worker },
	{ "verify", "MODEL.onnx DIR [-o CERTIFICATE]",
	  "does the source in a folder do what the model says?",
	  "Compares the files that tirc compile wrote into DIR with what it writes\n"
	  "for MODEL, by the options that DIR's NAME.json states and those given\n"
	  "here; then compiles the source as it stands in DIR, and compares each\n"
	  "kernel by itself with the interpreter, on random, largest, least and\n"
	  "special numbers, and the whole model on random inputs. What differs is\n"
	  "named: file, line, kernel, the first element. Options that name files,\n"
	  "such as --schedule-for, must be given as compile had them. Compiler and\n"
	  "flags are those of the target, or of --cc and --cflags. Where no\n"
	  "program can run, only the files are compared, and the output says so.\n"
	  "With --check CERTIFICATE, only compares digests. Exit status 0 if\n"
	  "nothing differs, 1 if something does, 2 in case of an error.\n",
	  cmd_verify },
	{ "bisect", "MODEL.onnx [--data DIR] [-o DIR]",
	  "which pass, node, kernel or flag made an output wrong?",
	  "Runs the model as test does, then looks for what made it wrong: runs the\n"
	  "graph in the interpreter after each pass over it, each kernel as source\n"
	  "by itself and, if that is wrong, in the interpreter after its schedule and\n"
	  "after each pass of lowering; then compiles it with other flags. The last\n"
	  "line is a sentence that names pass and node, kernel and pass, dialect, or\n"
	  "flag, with the first wrong element. docs/how-to/bisect.md tells more.\n"
	  "Exit status 0 if nothing is wrong, 1 if something is, 2 in case of an\n"
	  "error.\n",
	  cmd_bisect },
	{ "compare", "TRACE MODEL.onnx | TRACE TRACE",
	  "where do two runs part, as of a board and of the host?",
	  "Reads the trace that a model of compile --trace wrote, for example on a\n"
	  "board, and compares it tensor by tensor with tirc's interpreter on the\n"
	  "same inputs, or with a second trace, which counts as right. Names the\n"
	  "first tensor that differs by more than test accepts: its largest error,\n"
	  "the place, the kernel that wrote it, and the nodes. Give the options of\n"
	  "compile. The trace has the inputs; --data gives others, a data set for\n"
	  "each run. docs/how-to/compare.md tells how to record a trace. Exit\n"
	  "status 0 if the runs are equal, 1 if they differ, 2 in case of an error.\n",
	  cmd_compare },
};

const struct verb *
cli_verbs(int *n)
{
	*n = (int)(sizeof verbs / sizeof *verbs);
	return verbs;
}

const struct option_row *
cli_option_rows(int *n)
{
	*n = (int)N_ROWS;
	return rows;
}

bool
cli_value_optional(const struct option_row *row)
{
	return row->argument != NULL && strncmp(row->argument, "[=", 2) == 0;
}

int
cli_verb_bit(const struct verb *verb)
{
	return 1 << (verb - verbs);
}

int
cli_program_bit(int verb_bit)
{
	return verb_bit == TEST  ? TEST_PROGRAM
	       : verb_bit == RUN ? RUN_PROGRAM
				 : 0;
}

bool
cli_verb_takes(const struct verb *verb, const struct option_row *row)
{
	int bit = cli_verb_bit(verb);

	return (row->verbs & (bit | cli_program_bit(bit))) != 0;
}
