/* SPDX-License-Identifier: Apache-2.0 */
/* The public C interface of tirc. The command line is written on it.
 *
 *	struct tirc_options o = { .weights = "file" };
 *	struct tirc *t = tirc_new(&o);
 *	if (!tirc_load(t, "model.onnx") || !tirc_compile(t) ||
 *	    !tirc_write(t, "out")) {
 *		for (int i = 0; i < tirc_message_count(t); i++) {
 *			fprintf(stderr, "%s\n", tirc_message(t, i).text);
 *		}
 *	}
 *	tirc_free(t);
 *
 * One context compiles one model; contexts are independent of each other and
 * may be used in different threads. Nothing is printed, nothing exits. All
 * strings and structures returned belong to the context. */
#ifndef TIRC_H
#define TIRC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

struct tirc;

/* Everything may be zero. Strings must live as long as the context. */
struct tirc_options {
	/* NULL: the default; see tirc_target() and tirc_target_at_hand() */
	const char *target;
	const char *dialect_path; /* folder of the user's dialects */
	/* stem of every name; NULL: the graph's name */
	const char *name;
	const char *weights;  /* "auto", "c", "incbin", "file", "section" */
	const char *section;  /* for "section"; ".rodata" if NULL */
	bool force;           /* replace files that tirc did not write */
	const char *form;     /* "aot" (default) or "graph" */
	const char *optimize; /* "speed" (default) or "memory" */
	const char *conv;     /* "auto" (default), "direct" or "winograd":
				   * the algorithm of 3x3 convolutions */
	const char *requant;  /* "onnx" (default) or "tflite": how quantized
				   * operators round */
	const char *fp;       /* "strict", "default" or "fast" */
	const char *const *input_shapes; /* "name:1,3,224,224", "x:?,3,width" */
	int n_input_shapes;
	const char *const *dims; /* "batch=1" or "batch=1..4" */
	int n_dims;
	/* Bounds of sizes that are known only when the model runs:
	 * "boxes=100", "boxes=1..100". */
	const char *const *bounds;
	int n_bounds;
	/* Elements of inputs that are sequences: "boxes=3"; "boxes=none": an
	 * optional without an element. */
	const char *const *sequences;
	int n_sequences;
	/* A number, which the numbers of random operators follow from; NULL: the
	 * model gets an input for it. */
	const char *seed;
	/* The bytes of a string of an input: "words=64". */
	const char *const *string_lengths;
	int n_string_lengths;
	/* Files with ONNX functions for operators that tirc does not know. */
	const char *const *functions;
	int n_functions;
	/* Inputs that become constants: "shape=1,3,224", "shape=@FILE". */
	const char *const *const_inputs;
	int n_const_inputs;
	/* Outputs that are inputs of the next run: "present=past". */
	const char *const *states;
	int n_states;
	/* "inputs", "outputs" or "both": the parts of the interface that lie in
	 * the workspace, where runs may overwrite inputs. NULL: none. */
	const char *in_workspace;
	/* Passes whose results to print; "all": every pass. */
	const char *const *print_after;
	int n_print_after;
	/* Phases 0..3 whose results to print. */
	const int *print_phases;
	int n_print_phases;
	void (*print)(void *ctx, const char *pass, const char *text);
	void *print_ctx;
	/* Passes to leave out; a required pass is an error. */
	const char *const *disable_passes;
	int n_disable_passes;
	/* "PHASE:./object.so" or "PHASE:command"; see tirc_pass.h. */
	const char *const *add_passes;
	int n_add_passes;
	bool time_passes; /* for tirc_timing */
	/* The entry function calls NAME_profile(n) when n kernels are done, for
	 * the program of tirc_harness(), which then leaves profile.txt. */
	bool profile;
	/* "KERNEL=FILE": a kernel scheduled by hand, from a schedule in Python
	 * form, a trace as JSON, or its whole program as TVMScript. */
	const char *const *schedule_for;
	int n_schedule_for;
	/* Backends for parts of the model, in order of preference: "NAME",
	 * "NAME=DIR", each perhaps with ":option=value,…"; a folder of the
	 * user's backends, of which only those named here are read. */
	const char *const *byoc;
	int n_byoc;
	const char *byoc_path;
	bool explain; /* for tirc_explain */
	/* Limits for inputs of strangers (docs/reference/limits.md); 0: 4 times
	 * the bytes of the input, and 1 GB or 4 GB. The bytes that are written,
	 * which a computed constant may have, too; the memory of the context.
	 * A step that takes more memory ends with a message; a single
	 * allocation a quarter beyond the limit ends the process, as exhausted
	 * memory does. */
	int64_t max_output_bytes, max_memory_bytes;
	/* The kind of the firmware package that tirc_arrange makes, such as
	 * "cmake"; NULL: none. A folder of the user's kinds. */
	const char *package;
	const char *package_path;
	/* The place of their regions: "within" the model (default); "alone":
	 * the emitted model is only the regions, with inputs of their own;
	 * "generated": it computes the inputs and outputs of regions without
	 * backends. To compare regions (docs/how-to/verify.md). */
	const char *regions;
	/* Outputs of the emitted model besides its own, to compare them: "each":
	 * the results of all nodes, which no pass merges then; "stored": the
	 * tensors between its kernels. NULL: none. */
	const char *results;
	/* More inputs, behind the model's: factors of the floats that follow from
	 * integers, to perturb these. */
	bool factors;
	/* Called during long work with the step's name, and done of total
	 * parts. */
	void (*progress)(void *ctx, const char *step, int done, int total);
	void *progress_ctx;
};

struct tirc *tirc_new(const struct tirc_options *options);
void tirc_free(struct tirc *t);

/* Reads an ONNX file, checks it and infers all shapes; or reads a partition
 * that tirc_write_partition wrote, perhaps edited since. */
bool tirc_load(struct tirc *t, const char *path);
/* Is the file such a partition, by how it starts? */
bool tirc_is_partition(const char *path);
/* Runs the graph passes before the partition, and partitions the graph;
 * tirc_compile continues from there. tirc_write_partition writes the result:
 * JSON, and the constants in a file beside it ("p.weights" beside "p.json"). */
bool tirc_partition(struct tirc *t);
bool tirc_write_partition(struct tirc *t, const char *path);

/* After tirc_partition or tirc_compile: the regions that backends compute, and
 * their share of the work. */
struct tirc_region {
	const char *name, *backend;
	const char *what; /* "20 conv, 1 pool": its matches */
	int nodes, inputs, outputs;
	int64_t macs;
};

struct tirc_shares {
	int nodes, region_nodes; /* of the graph at the partition */
	int64_t macs, region_macs;
};

int tirc_region_count(const struct tirc *t);
struct tirc_region tirc_region(struct tirc *t, int i);
struct tirc_shares tirc_shares(const struct tirc *t);
/* With the option explain: for each node its backend and role, or the reason
 * why each backend refused it. */
const char *tirc_explain(struct tirc *t);
/* The names of the available backends, sorted. */
int tirc_backend_count(struct tirc *t);
const char *tirc_backend(struct tirc *t, int i);
/* Compiles the model: graph passes, schedules, lowering, memory plan, text of
 * the files. */
bool tirc_compile(struct tirc *t);
/* Writes the files into a folder (made if missing): all or nothing. Without the
 * option force, an existing file that tirc did not write is an error. */
bool tirc_write(struct tirc *t, const char *folder);
/* After tirc_compile with the option package: moves the files into the folders of
 * a firmware package and adds its own, with a self-test of these values: dense
 * arrays, one for each input; and one for each output, then for each tirc_left. An
 * element of output i may differ by allowed[i][element]. */
bool tirc_arrange(struct tirc *t, const void *const *inputs,
		  const void *const *outputs, const double *const *allowed);
/* The names of the kinds of firmware packages, sorted. */
int tirc_package_count(struct tirc *t);
const char *tirc_package(struct tirc *t, int i);
const char *tirc_package_what(struct tirc *t, int i); /* one line */
/* After tirc_compile with the option package: the tensors inside the model whose
 * elements a run leaves in the workspace, from offset_bytes on. */
int tirc_left_count(const struct tirc *t);
struct tirc_tensor tirc_left(struct tirc *t, int i);
/* Runs the model, after tirc_load as it was read or after tirc_compile as it was
 * compiled, in the interpreter on dense arrays, one for each input; states begin
 * at zeros. Writes its outputs, then the elements of each tirc_left. */
bool tirc_interpret(struct tirc *t, const void *const *inputs,
		    void *const *outputs);
/* The files that the result depends on: the model, its external data, the
 * schedules and passes named in options. */
int tirc_dependency_count(const struct tirc *t);
const char *tirc_dependency(const struct tirc *t, int i);

/* -- tensor programs -- */

/* Everything may be zero. */
struct tirc_program_options {
	bool old_script; /* prints T.block, not T.sblock */
	/* Prints the program's functions instead of its output, after a
	 * schedule (a Python script of sch.…(…) lines, or a trace as JSON) and
	 * all phases up to `phase`. */
	bool functions;
	int phase;            /* 0 to 3 */
	const char *schedule; /* a file, or NULL */
	bool header;          /* sources get a header and include it */
	void (*print)(void *ctx, const char *text, size_t length);
	void *print_ctx;
};

/* Reads a program in TE, topi and TVMScript and runs it, without Python; its
 * output goes to print. If it prints nothing, its functions are printed, after
 * `phase` (0 means 3 here unless `functions` is set). */
bool tirc_run_program(struct tirc *t, const char *path,
		      const struct tirc_program_options *o);

/* The source of a program's functions: those it passes to tvm.build, else those
 * it lowers, else those it creates; for the context's target, or the
 * program's. */
struct tirc_source {
	const char *name; /* of the file: "matmul.c" */
	const char *text;
};

bool tirc_program_sources(struct tirc *t, const char *path,
			  const struct tirc_program_options *o);
int tirc_source_count(const struct tirc *t);
struct tirc_source tirc_source(const struct tirc *t, int i);
/* Writes the sources into a folder (made if missing), as tirc_write does. */
bool tirc_write_sources(struct tirc *t, const char *folder);

/* -- dialects: of the context's dialect_path, and embedded ones -- */
/* The names and descriptions of dialects, the dialects that they extend, and
 * the targets that use them; then the forms of one dialect, given by name or
 * folder. As text or JSON. NULL: there are messages. */
const char *tirc_dialect_list(struct tirc *t, bool json);
const char *tirc_dialect_show(struct tirc *t, const char *dialect, bool json);
/* The dialect's JSON with all keys, including inherited ones. NULL: there are
 * messages. */
const char *tirc_dialect_merged(struct tirc *t, const char *dialect);
/* Checks a dialect's folder, or a folder of dialects and targets; every mistake
 * becomes a message. Returns the names of the dialects and targets that were
 * checked, or NULL if there are mistakes. */
const char *tirc_dialect_check(struct tirc *t, const char *folder);
/* Makes a C program that tests the dialect, with the vectors of the context's
 * target, or of a target that uses the dialect; tirc_source() gives its
 * files. */
bool tirc_dialect_selftest(struct tirc *t, const char *dialect);

/* -- messages -- */
enum tirc_severity { TIRC_NOTE, TIRC_WARNING, TIRC_ERROR };

struct tirc_message {
	enum tirc_severity severity;
	const char *id;   /* "bad-shape": stable, for programs */
	const char *text; /* one line: place: problem; what to do */
	const char
		*excerpt; /* the source line, marked; NULL if there is none */
};

int tirc_message_count(const struct tirc *t);
struct tirc_message tirc_message(const struct tirc *t, int i);

/* -- time per pass, with time_passes: in order of first run -- */
struct tirc_timing {
	const char *pass;
	int runs;
	double seconds; /* sum over all runs */
};

int tirc_timing_count(const struct tirc *t);
struct tirc_timing tirc_timing(const struct tirc *t, int i);

/* -- the model -- */
struct tirc_tensor {
	const char *name;       /* the model's */
	const char *identifier; /* the member of the inputs/outputs struct */
	const char *dtype;      /* "float32" */
	int ndim;
	const int64_t *dims;      /* at their maximum, if symbolic */
	const char *const *words; /* "1", "batch" */
	int64_t elems;            /* at their maximum */
	/* What one step of a quantized result is: 1 for the integers of a
	 * quantizing node, the scale where a DequantizeLinear follows; 0: the
	 * result is not quantized. */
	double step;
	/* After tirc_compile: an input or output in the workspace, and where. */
	bool in_workspace;
	int64_t offset_bytes;
};

struct tirc_dim {
	const char *name;
	int64_t min, max;
};

/* An input that became a constant by the options' const_inputs: its number among
 * all inputs of the model that are no initializers, and its dense value. */
struct tirc_const_input {
	const char *name;
	int position;
	const char *dtype;
	int ndim;
	const int64_t *dims;
	const void *data;
	int64_t bytes;
};
int tirc_const_input_count(const struct tirc *t);
struct tirc_const_input tirc_const_input(const struct tirc *t, int i);

int tirc_input_count(const struct tirc *t);
int tirc_output_count(const struct tirc *t);
struct tirc_tensor tirc_input(struct tirc *t, int i);
struct tirc_tensor tirc_output(struct tirc *t, int i);
int tirc_dim_count(const struct tirc *t);
struct tirc_dim tirc_dim(const struct tirc *t, int i);

struct tirc_node {
	const char *name, *op_type;
	const char *output; /* name of the first one */
	const char *shape;  /* of the first output: "1x64x56x56" */
	const char *dtype;
	int64_t macs, parameters;
	/* After tirc_compile: the kernels that compute it, or "(pass) reason". */
	const char *fate;
};

/* After tirc_compile: the sizes of outputs that are known only when the model
 * runs, with their bounds, in the order of the members of its outputs. */
int tirc_size_count(const struct tirc *t);
struct tirc_dim tirc_size(const struct tirc *t, int i);

/* The states of the model. After tirc_compile, a state is no longer an input or
 * an output: `input` and `output` are the positions that it had among the inputs
 * and outputs after tirc_load. */
struct tirc_state {
	int input, output;
	struct tirc_tensor tensor;
};

int tirc_state_count(const struct tirc *t);
struct tirc_state tirc_state(struct tirc *t, int i);

/* Shape of an output, or of a state, when the symbolic dimensions have the given
 * values (one per tirc_dim, then one per tirc_size, in order). dims: room for its
 * ndim. */
void tirc_output_dims(const struct tirc *t, int i, const int64_t *values,
		      int64_t *dims);
/* The value of a symbolic dimension for which the input has this size there, where
 * the others have known values (-1: not known); -1: the size does not tell. */
int64_t tirc_dim_value(const struct tirc *t, int dim, const int64_t *known,
		       int input, int axis, int64_t size);
void tirc_state_dims(const struct tirc *t, int i, const int64_t *values,
		     int64_t *dims);

/* Of an output (the option `results` makes tensors inside of the model outputs,
 * too): the name of its tensor in the model, and the number (tirc_node) of the node
 * that makes it, -1 if no node does. After tirc_load, the number is exact; the
 * result of a kernel of several nodes has the number of the first one. */
const char *tirc_output_model_name(const struct tirc *t, int i);
int tirc_output_node(const struct tirc *t, int i);

/* The model's nodes in the file's order. */
int tirc_node_count(const struct tirc *t);
struct tirc_node tirc_node(const struct tirc *t, int i);

/* -- the result (after tirc_compile) -- */
struct tirc_summary {
	const char *name;
	int64_t workspace_bytes; /* planned */
	int64_t bound_bytes;     /* the lower bound of any plan in this order */
	int64_t local_bytes;     /* the largest of the kernels' */
	int64_t weights_bytes;
	const char *weights; /* the form chosen */
	/* Convolutions by Winograd's algorithm; the bytes of their weights, and
	 * of direct convolutions'; the most workspace that the tiles of one of
	 * them take. */
	int winograd_convolutions;
	int64_t winograd_weights_bytes, winograd_direct_bytes;
	int64_t winograd_tiles_bytes;
	double flops, operations; /* on floats, on all numbers */
	int64_t macs;
	const char *compile_line;
	/* After tirc_arrange: the command that builds or checks the package in
	 * its folder; NULL: its kind names none. */
	const char *next;
	/* What executes the harness if not this machine, NULL: this machine
	 * does: the command before its name, the option before its arguments;
	 * packages of Debian with that command and with the compiler, or
	 * NULL. */
	const char *simulator, *simulator_argument, *simulator_package;
	const char *cc_package;
	/* the target's suggestion, with the flags of libraries (byoc) */
	const char *cc, *cflags, *ldflags;
	/* the part of cflags for libraries */
	const char *library_cflags;
	int64_t l1_bytes, l2_bytes; /* the target's caches; 0: not known */
	bool tf32; /* products of float32 may round their operands to tf32 */
};

struct tirc_kernel {
	const char *name, *title, *schedule;
	/* Operations on floats, and on all numbers except indices; for the
	 * largest values of symbolic sizes, as all members here. */
	double flops, operations;
	int64_t macs, read_bytes, write_bytes;
	int64_t local_bytes;  /* simultaneously live local arrays */
	int64_t weight_bytes; /* of read_bytes: constants */
};

struct tirc_summary tirc_summary(const struct tirc *t);
int tirc_kernel_count(const struct tirc *t);
/* The kernel that writes an output; -1: none, it is a constant or an input. */
int tirc_output_kernel(const struct tirc *t, int output);
struct tirc_kernel tirc_kernel(const struct tirc *t, int i);
int tirc_assumption_count(const struct tirc *t);
const char *tirc_assumption(const struct tirc *t, int i);

/* A kernel's program as TVMScript, which schedule_for accepts: unscheduled
 * (phase -1), or scheduled and lowered to phase 0..3. NULL after a message,
 * also if there is no such kernel. */
const char *tirc_kernel_script(struct tirc *t, const char *kernel, int phase,
			       bool old_script);
/* The kernel's schedule, from rules or schedule_for, as Python or JSON. */
const char *tirc_kernel_trace(struct tirc *t, const char *kernel, bool json);
/* A line for each rule of the default schedules, in the order in which they are
 * tried for the kernel: whether it was taken, or why not. */
const char *tirc_kernel_explanation(struct tirc *t, const char *kernel);

struct tirc_file {
	const char *name; /* relative to the folder */
	int64_t bytes;
	/* NULL for a blob. A digest of weights is 0 in it, because the weights
	 * are computed when tirc_write() writes them. */
	const char *text;
	bool is_source; /* a source file to compile and link */
};

/* Flags for instructions that the files rely on and the compiler does not have
 * with these flags; NULL: it has all. Without them the files are slow, and
 * compile only where TIRC_ANY_PROCESSOR is defined. Runs the compiler. */
const char *tirc_flags_lacking(struct tirc *t, const char *cc,
			       const char *cflags);

int tirc_file_count(const struct tirc *t);
struct tirc_file tirc_file(const struct tirc *t, int i);

/* A C program that runs the compiled model on raw files: input_0.bin, …, in
 * and output_0.bin, …, out; arguments: repetitions, then the symbolic sizes. */
const char *tirc_harness(struct tirc *t);
/* The harness's other files and libraries; text is NULL for libraries. For a
 * simulator the sources are compiled to objects of their names first, and the
 * program writes board.txt: bytes of code, constants, initialized and other
 * variables of the model, and of the stack that it used. */
int tirc_harness_file_count(const struct tirc *t);
struct tirc_file tirc_harness_file(struct tirc *t, int i);
const char *tirc_harness_ldflags(const struct tirc *t);

/* -- the program itself -- */
const char *tirc_version(void);
/* Names of the built-in targets, sorted. */
int tirc_target_count(struct tirc *t);
const char *tirc_target(struct tirc *t, int i);
const char *tirc_target_what(struct tirc *t, int i); /* one line */
/* The name of the target that is used if none is named. */
const char *tirc_target_default(struct tirc *t);
/* The name of the target that stands for the machine at hand, such as "native";
 * NULL: there is none. */
const char *tirc_target_of_machine(struct tirc *t);
/* The option target with that name replaced by the target that fits the compiler
 * and the facts of this machine, such as "x86-64-v3 -l1_bytes=32768": the same
 * result gives the same files anywhere. Another target as it is. Runs the compiler:
 * cc is its command, words with spaces between them, NULL: the target's; cflags
 * are all flags that it will get, NULL: those of the target that fits. NULL: there
 * are messages. */
const char *tirc_target_at_hand(struct tirc *t, const char *target,
				const char *cc, const char *cflags);
/* Names and one-line descriptions of the passes, in order. */
int tirc_pass_count(void);
const char *tirc_pass_name(int i);
const char *tirc_pass_what(int i);
bool tirc_pass_needed(int i); /* or may disable_passes name it? */

#ifdef __cplusplus
}
#endif

#endif
