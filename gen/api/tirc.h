/* SPDX-License-Identifier: Apache-2.0 */
/* The public C interface of tirc. The command line is a program on top of it.
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

/* All members may be zero. Strings must live as long as the context. */
struct tirc_options {
	/* the name of a target, see tirc_target() and tirc_target_at_hand();
	 * NULL: the default target */
	const char *target;
	/* the folder of dialects that the user names, or NULL */
	const char *dialect_path;
	/* the prefix of all emitted names; NULL: the name of the graph */
	const char *name;
	const char *weights; /* "auto", "c", "incbin", "file", "section" */
	/* for the form "section": the name of the section; NULL: ".rodata" */
	const char *section;
	bool force;       /* replace files that tirc did not write */
	const char *form; /* "aot" (default) or "graph" */
	/* "speed" (default), "balanced", "size" or "memory" */
	const char *optimize;
	const char *conv;    /* "auto" (default), "direct" or "winograd":
				   * the algorithm of 3x3 convolutions */
	const char *requant; /* "onnx" (default) or "tflite": how quantized
				   * operators round */
	/* "f32" (default), "bf16" or "f16": the type in which weights of
	 * products are stored. If the target multiplies this type, the other
	 * operand is converted to it; sums are of float32. */
	const char *precision;
	const char *fp;                  /* "strict", "default" or "fast" */
	const char *const *input_shapes; /* "name:1,3,224,224", "x:?,3,width" */
	int n_input_shapes;
	const char *const *dims; /* "batch=1" or "batch=1..4" */
	int n_dims;
	/* Sizes of inputs that neither the model nor an option gives are ranges
	 * from 1, so that tirc_dim() names them. False: batches are 1, and other
	 * sizes an error. */
	bool open_sizes;
	/* Bounds of sizes that are known only at run time: "boxes=100",
	 * "boxes=1..100". */
	const char *const *bounds;
	int n_bounds;
	/* Inputs that are sequences: the number of elements, "boxes=3"; or
	 * "boxes=none" for an empty optional. */
	const char *const *sequences;
	int n_sequences;
	/* An integer, the seed of random operators, which then give the same
	 * numbers in each run; NULL: the model gets an input for it. */
	const char *seed;
	/* The largest number of bytes of a string in an input: "words=64". */
	const char *const *string_lengths;
	int n_string_lengths;
	/* Files with ONNX functions for operators that tirc does not know. */
	const char *const *functions;
	int n_functions;
	/* Inputs that become constants: "shape=1,3,224", "shape=@FILE". */
	const char *const *const_inputs;
	int n_const_inputs;
	/* Outputs whose values are inputs of the next run: "present=past". */
	const char *const *states;
	int n_states;
	/* "inputs", "outputs" or "both": these tensors of the model are parts
	 * of the workspace, and a run may overwrite the inputs in it. NULL: the
	 * caller allocates all inputs and outputs. */
	const char *in_workspace;
	/* Passes whose results are passed to `print`; "all": every pass. */
	const char *const *print_after;
	int n_print_after;
	/* Phases 0..3 whose results are passed to `print`. */
	const int *print_phases;
	int n_print_phases;
	void (*print)(void *ctx, const char *pass, const char *text);
	void *print_ctx;
	/* Passes that are skipped; a required pass is an error. */
	const char *const *disable_passes;
	int n_disable_passes;
	/* User-defined passes: "PHASE:./object.so" or "PHASE:command"; see
	 * tirc_pass.h. */
	const char *const *add_passes;
	int n_add_passes;
	bool time_passes; /* for tirc_timing */
	/* The entry function shows each tensor, after the kernel that wrote it,
	 * to a function that the caller of the model gives. */
	bool trace;
	/* The entry function calls NAME_profile(n) after each kernel, when n
	 * kernels have finished. The program of tirc_harness() defines it and
	 * writes profile.txt. */
	bool profile;
	/* Kernels scheduled by hand: "KERNEL=FILE", where the file is a
	 * schedule in Python form, a trace as JSON, or the kernel's whole
	 * program as TVMScript. */
	const char *const *schedule_for;
	int n_schedule_for;
	/* Files of records. Each kernel takes the schedule of the best record
	 * for its workload and the target (docs/how-to/tune.md). */
	const char *const *records;
	int n_records;
	/* For callers who run the result: a kernel scheduled by hand is an
	 * error if it calls a function that only the kernel's file names, such
	 * as system(). */
	bool self_contained;
	/* Backends for parts of the model, in order of preference: "NAME" or
	 * "NAME=DIR", with options as ":option=value,…". byoc_path: the user's
	 * folder of backends; only those named here are read. */
	const char *const *byoc;
	int n_byoc;
	const char *byoc_path;
	bool explain; /* for tirc_explain */
	/* Limits for models of strangers (docs/reference/limits.md).
	 * max_output_bytes limits the bytes that are written, and the bytes of
	 * a computed constant; max_memory_bytes limits the memory of the
	 * context. 0 means 4 times the bytes of the input, plus 1 GB for output
	 * or 4 GB for memory. A step that needs more memory ends with a
	 * message; a single allocation that exceeds the limit by a quarter ends
	 * the process, as exhausted memory does. */
	int64_t max_output_bytes, max_memory_bytes;
	/* package: the kind of firmware package that tirc_arrange makes, such
	 * as "cmake", or NULL. package_path: the user's folder of kinds, or
	 * NULL. */
	const char *package;
	const char *package_path;
	/* How regions of backends are emitted: "within" the model (default);
	 * "alone": the emitted model consists only of the regions, whose inputs
	 * become inputs of that model; "generated": the emitted model computes
	 * the inputs and outputs of the regions without backends. The last two
	 * serve to compare regions (docs/how-to/verify.md). */
	const char *regions;
	/* Additional outputs of the model, to compare them: "each": the results
	 * of all nodes (no pass merges nodes then); "left": the results of the
	 * nodes that remain after tirc_partition(), for tirc_interpret();
	 * "stored": the tensors between the emitted kernels. NULL: none. */
	const char *results;
	/* Adds inputs after the inputs of the model, so that more floats can be
	 * perturbed. Each added input is a factor of one tensor of floats:
	 * first of each tensor that the model computes from integers; then,
	 * added by tirc_compile(), of each tensor that is rounded for
	 * `precision`. */
	bool factors;
	/* A tensor program may read models anywhere, not only those in its folder or
	 * below. */
	bool allow_files;
	/* Called during long steps with the name of the step; `done` of `total`
	 * parts are finished. */
	void (*progress)(void *ctx, const char *step, int done, int total);
	void *progress_ctx;
};

/* Makes a context, which the caller frees. options: NULL for the defaults; texts in them
 * are not copied. Never NULL: memory_exhausted() is called if there is no memory. */
struct tirc *tirc_new(const struct tirc_options *options);
void tirc_free(struct tirc *t);

/* Reads an ONNX file, checks it and infers all shapes; or reads a partition
 * that tirc_write_partition wrote, which may have been edited since. */
bool tirc_load(struct tirc *t, const char *path);
/* After tirc_compile, the records that scheduled kernels (the option records). */
struct tirc_record {
	const char *kernel;
	const char *file;
	int line;
	/* the time of the record's schedule divided by that of the rules'
	 * schedule */
	double ratio;
	const char *decisions; /* "rule window, lanes 16" */
};
int tirc_record_count(const struct tirc *t);
struct tirc_record tirc_record(const struct tirc *t, int i);
/* Is the file a partition? Decided by its first bytes. */
bool tirc_is_partition(const char *path);
/* Runs the graph passes up to the partition and partitions the graph;
 * tirc_compile continues from there. tirc_write_partition writes the result:
 * JSON, and the constants in a file beside it ("p.weights" beside "p.json"). */
bool tirc_partition(struct tirc *t);
bool tirc_write_partition(struct tirc *t, const char *path);

/* After tirc_partition or tirc_compile: the regions that backends compute, and
 * their share of the work. */
struct tirc_region {
	const char *name, *backend;
	/* how results of the backend differ from those of the operators, as its
	 * backend.json declares; NULL if it declares no difference */
	const char *differs;
	/* the patterns that matched in the region, each with its number of
	 * matches: "20 conv, 1 pool" */
	const char *what;
	int nodes, inputs, outputs; /* how many it has */
	int64_t macs;               /* its multiply-accumulates */
};

struct tirc_shares {
	/* nodes: of the graph when it was partitioned */
	int nodes, region_nodes;
	int64_t macs, region_macs;
};

int tirc_region_count(const struct tirc *t);
struct tirc_region tirc_region(struct tirc *t, int i);
struct tirc_shares tirc_shares(const struct tirc *t);
/* Needs the option explain. Returns a text with, for each node, the backend
 * that took it and its role, or the reason of each backend why it did not take
 * the node. */
const char *tirc_explain(struct tirc *t);
/* The names of the available backends, sorted. */
int tirc_backend_count(struct tirc *t);
const char *tirc_backend(struct tirc *t, int i);
/* After tirc_load: the model as the text of a module of Relay, TVM's language
 * of graphs. After tirc_partition the module also has a function for each
 * region. */
const char *tirc_relay(struct tirc *t);
/* Compiles the model: graph passes, schedules, lowering, memory plan, text of
 * the files. */
bool tirc_compile(struct tirc *t);
/* Writes the files into a folder (made if missing): all or nothing. Without the
 * option force, an existing file that tirc did not write is an error. */
bool tirc_write(struct tirc *t, const char *folder);
/* After tirc_compile with the option package: moves the files into the folders
 * of a firmware package and adds the package's own files, with a self-test of
 * the given values. inputs: a dense array for each input; outputs: one for each
 * output, then for each tirc_left. In the self-test, element e of output i may
 * differ by allowed[i][e]. */
bool tirc_arrange(struct tirc *t, const void *const *inputs,
		  const void *const *outputs, const double *const *allowed);
/* After tirc_compile: a report for whoever reviews the source, as HTML or as
 * Markdown. HTML has a picture of the graph if Graphviz' dot is installed, which
 * is run. NULL after a message. tirc_write_report() writes it to a file, as
 * tirc_write does. */
const char *tirc_report(struct tirc *t, bool markdown);
bool tirc_write_report(struct tirc *t, const char *path, bool markdown);
/* What differs between two folders that tirc_write wrote, as text or as JSON:
 * nodes, kernels, weights, memory, interface, options. *differ: does anything?
 * The context needs no model. NULL after a message. */
const char *tirc_difference(struct tirc *t, const char *old_folder,
			    const char *new_folder, bool json, bool *differ);
/* The names of the kinds of firmware packages, sorted. */
int tirc_package_count(struct tirc *t);
const char *tirc_package(struct tirc *t, int i);
const char *tirc_package_what(struct tirc *t, int i); /* one line */
/* After tirc_compile with the option package: the inner tensors of the model
 * whose elements are still in the workspace after a run, at offset_bytes. */
int tirc_left_count(const struct tirc *t);
struct tirc_tensor tirc_left(struct tirc *t, int i);
/* Runs the model in the interpreter: after tirc_load the model as it was read;
 * after tirc_partition the model after the passes before the partition; after
 * tirc_compile the model as it was compiled. inputs: a dense array for each
 * input; states begin as zeros. Writes the outputs, then each tirc_left. */
bool tirc_interpret(struct tirc *t, const void *const *inputs,
		    void *const *outputs);
/* The files on which the result depends: the model, its external data, and the
 * schedules and passes named in options. */
int tirc_dependency_count(const struct tirc *t);
const char *tirc_dependency(const struct tirc *t, int i);

/* -- tensor programs -- */

/* All members may be zero. */
struct tirc_program_options {
	bool old_script; /* print T.block instead of T.sblock */
	/* Print the program's functions instead of its output, after a schedule
	 * (a Python script of sch.…(…) lines, or a trace as JSON) and all
	 * phases up to `phase`. */
	bool functions;
	int phase;            /* 0 to 3 */
	const char *schedule; /* a file, or NULL */
	/* the interpreter runs the functions that the program calls on arrays to
	 * their end; else a run that takes too long is left out with a note */
	bool execute;
	bool header; /* sources include a header with prototypes */
	/* add notes about loops for threads or vectors that the target lacks */
	bool notes;
	/* of tirc_program_tests: each function has only one run, to be timed;
	 * integers that the option dims does not give are 256, within the
	 * bounds of the variable, and 1 if they have at most 8 bits */
	bool timed;
	/* The target of a program if the context's options have no target, and
	 * the program names no target or TVM's "llvm" (the machine at hand)
	 * with any processor except those for which a simulator is used. NULL:
	 * the default target. */
	const char *machine;
	void (*print)(void *ctx, const char *text, size_t length);
	void *print_ctx;
};

/* Runs a program of TE, topi and TVMScript, without Python; its output goes to
 * `print`. If the program prints nothing, tirc prints its functions as they are
 * after the lowering phase `phase` (0 means 3 here unless `functions` is
 * set). */
bool tirc_run_program(struct tirc *t, const char *path,
		      const struct tirc_program_options *o);

/* The source of the functions that a program passes to tvm.build. If the program
 * builds no function, it is the source of the functions that the program lowers;
 * if it lowers no function either, of the functions that it creates. The source
 * is for the context's target, or, if the context has no target, for the target
 * that the program names. */
struct tirc_source {
	const char *name; /* of the file: "matmul.c" */
	const char *text;
	/* to compile with the command of tirc_summary(); false for headers,
	 * tables, and code that is compiled when it runs */
	bool is_compiled;
};

/* tirc_function() and tirc_parameter() describe the functions afterwards, and
 * tirc_summary() has the target and its flags. */
bool tirc_program_sources(struct tirc *t, const char *path,
			  const struct tirc_program_options *o);
int tirc_source_count(const struct tirc *t);
struct tirc_source tirc_source(const struct tirc *t, int i);
/* Writes the sources into a folder (made if missing), as tirc_write does. */
bool tirc_write_sources(struct tirc *t, const char *folder);

/* -- tests of a program's functions -- */

/* Prepares a test of the functions of tirc_program_sources. tirc_source() gives
 * their source and header, and defines the external functions whose meaning the
 * program declares; tirc_harness() gives a program in C that calls the
 * functions. A function that cannot be tested is not in the source; a message
 * says why. Of the context's options, dims gives scalar parameters their values
 * ("n=128"), and seed selects the random elements of arrays. */
bool tirc_program_tests(struct tirc *t, const char *path,
			const struct tirc_program_options *o);

struct tirc_function {
	const char *name; /* in the source; if not tested, in the program */
	/* it is tested or, if tests are not asked for, written */
	bool tested;
	bool launches; /* the function launches kernels of a GPU */
	/* n_parameters: the number of parameters of the function in the source.
	 * The first n_given of these parameters are also those in the program;
	 * the others are scratch memory that tirc added. */
	int n_parameters, n_given;
	int n_runs; /* each run has other values of the scalar parameters */
};

struct tirc_parameter {
	const char *name;
	const char *dtype; /* "float32" */
	bool is_array, written;
	/* of an array: its bytes, a number or an expression of scalar
	 * parameters, "n * 256" */
	const char *bytes;
	/* of a float array that is written: the float type of the least
	 * precision in which the function computes; NULL: the array's type */
	const char *arithmetic;
};

/* The asserts of the program that did not run: they need what tirc does not
 * have. A message tells the first of the statements that did not run. */
int tirc_unchecked_asserts(const struct tirc *t);
int tirc_function_count(const struct tirc *t);
struct tirc_function tirc_function(const struct tirc *t, int i);
struct tirc_parameter tirc_parameter(struct tirc *t, int function, int i);
/* The value of a scalar parameter in a run. */
int64_t tirc_parameter_value(const struct tirc *t, int function, int run,
			     int i);
/* The shape of an array, of a tested function, in a run. */
const int64_t *tirc_parameter_dims(struct tirc *t, int function, int run, int i,
				   int *ndim);
/* Runs the function, as it is before any schedule, in the interpreter on random
 * arrays. in and want have for each parameter a dense array, or NULL for a
 * scalar: in gets the random elements, want the elements after the run. If
 * `want` is NULL, only `in` is filled in; then the function is usually not run.
 * False after a message. */
bool tirc_function_make(struct tirc *t, int function, int run, void *const *in,
			void *const *want);
/* Runs the function's source, as it is printed after schedule and lowering, in
 * the interpreter on the arrays `in` of tirc_function_make. False after a
 * message, if an access is outside of its array: then the source of the program
 * must not be run. */
bool tirc_function_check(struct tirc *t, int function, int run,
			 void *const *in);
/* The statements that the interpreter runs in both functions above, about. */
double tirc_function_statements(struct tirc *t, int function, int run);
/* The text for the file arguments.txt, from which the program of tirc_harness()
 * reads the number of the function, the number of calls, and the arguments of
 * the run. The program reads the array of parameter i, unless that is scratch
 * memory, from array_i.bin, and writes it to result_i.bin after the last call;
 * the time of each call goes to times.txt. */
const char *tirc_function_arguments(struct tirc *t, int function, int run,
				    int calls);
/* The numbers of operations on floats and on integers, except indices, of a
 * call, as the function is before any schedule. False if they are not known. */
bool tirc_function_operations(struct tirc *t, int function, int run,
			      double *floats, double *ints);

/* -- dialects: of the context's dialect_path, and embedded ones -- */
/* tirc_dialect_list: the dialects, each with its description, the dialects that
 * it extends, and the targets that use it. tirc_dialect_show: the forms of the
 * dialect with this name or in this folder. Both return text or JSON; NULL
 * after an error, see tirc_message. */
const char *tirc_dialect_list(struct tirc *t, bool json);
const char *tirc_dialect_show(struct tirc *t, const char *dialect, bool json);
/* The dialect's JSON with all keys, also those that it inherits. NULL after an
 * error. */
const char *tirc_dialect_merged(struct tirc *t, const char *dialect);
/* Checks the folder of a dialect, or a folder of dialects and targets; each
 * mistake becomes a message. Returns the names of the dialects and targets that
 * were checked; NULL if there are mistakes. */
const char *tirc_dialect_check(struct tirc *t, const char *folder);
/* Makes a C program that tests the dialect. Vectors have the lanes of the
 * context's target; if the options name no target, of a target that uses the
 * dialect. tirc_source() gives the files. */
bool tirc_dialect_selftest(struct tirc *t, const char *dialect);

/* -- messages -- */
enum tirc_severity { TIRC_NOTE, TIRC_WARNING, TIRC_ERROR };

struct tirc_message {
	enum tirc_severity severity;
	const char *id;      /* "bad-shape": does not change, for programs */
	const char *text;    /* one line: place: problem; remedy */
	const char *excerpt; /* the source line with the mistake marked; NULL if
			   * there is no source line */
};

int tirc_message_count(const struct tirc *t);
struct tirc_message tirc_message(const struct tirc *t, int i);

/* -- time per pass, with the option time_passes, by the order of first runs
 * -- */
struct tirc_timing {
	const char *pass;
	int runs;
	double seconds; /* sum over all runs */
};

int tirc_timing_count(const struct tirc *t);
struct tirc_timing tirc_timing(const struct tirc *t, int i);

/* -- the model -- */
struct tirc_tensor {
	const char *name;       /* the name in the model */
	const char *identifier; /* the member of the emitted struct */
	const char *dtype;      /* "float32" */
	int ndim;
	const int64_t *dims;      /* the largest values of symbolic sizes */
	const char *const *words; /* the sizes as text: "1", "batch" */
	int64_t elems;            /* at the largest sizes */
	/* For a quantized result, the difference of two neighbouring values: 1
	 * for the integers of a quantizing node, the scale if a
	 * DequantizeLinear follows. 0: the result is not quantized. */
	double step;
	/* After tirc_compile, of a float result: the float type of the least
	 * precision in which the result, or a float from which it is computed,
	 * is computed or stored, such as "float32" for a float64 that is a Cast
	 * of a float32 sum. NULL: that type is the result's type. */
	const char *arithmetic;
	/* After tirc_compile: is the input or output a part of the workspace,
	 * and at which offset? */
	bool in_workspace;
	int64_t offset_bytes;
};

struct tirc_dim {
	const char *name;
	/* the values that the size may have: from min to max, multiples of
	 * step */
	int64_t min, max, step;
};

/* An input that the option const_inputs made a constant: its position among the
 * model's inputs (inputs with initializers are not counted), and its value as a
 * dense array. */
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
	const char *output; /* name of the first output */
	const char *shape;  /* of the first output: "1x64x56x56" */
	const char *dtype;
	int64_t macs, parameters; /* multiply-accumulates; elements of constant
				   * inputs */
	/* After tirc_compile: the names of the kernels that compute the node;
	 * if no kernel does, "(PASS) REASON": the pass that removed the node,
	 * and why. */
	const char *fate;
};

/* After tirc_compile: the sizes of outputs that are known only at run time,
 * with their bounds, in the order of the members of the emitted struct of
 * outputs. */
int tirc_size_count(const struct tirc *t);
struct tirc_dim tirc_size(const struct tirc *t, int i);

/* The states of the model. After tirc_compile a state is no longer an input or
 * an output; `input` and `output` are its positions among the inputs and
 * outputs after tirc_load. */
struct tirc_state {
	int input, output;
	struct tirc_tensor tensor;
};

int tirc_state_count(const struct tirc *t);
struct tirc_state tirc_state(struct tirc *t, int i);

/* The shape of an input, an output or a state, for given values of the symbolic
 * sizes: one value for each tirc_dim, then for each tirc_size. dims: an array
 * of ndim elements. */
void tirc_input_dims(const struct tirc *t, int i, const int64_t *values,
		     int64_t *dims);
void tirc_output_dims(const struct tirc *t, int i, const int64_t *values,
		      int64_t *dims);
/* The value that symbolic size `dim` must have if dimension `axis` of input
 * `input` has the size `size`. known: the values of the other symbolic sizes,
 * -1 for unknown ones. Returns -1 if the value does not follow from these. */
int64_t tirc_dim_value(const struct tirc *t, int dim, const int64_t *known,
		       int input, int axis, int64_t size);
void tirc_state_dims(const struct tirc *t, int i, const int64_t *values,
		     int64_t *dims);

/* Three functions about output i; with the option results, inner tensors of the
 * model are outputs, too. tirc_output_model_name: the name of the output's
 * tensor in the model. tirc_output_node: the index of the node that computes
 * it, -1 if no node does. After tirc_load the index is exact; later, the result
 * of a kernel that computes several nodes has the index of the first of these
 * nodes. */
const char *tirc_output_model_name(const struct tirc *t, int i);
int tirc_output_node(const struct tirc *t, int i);

/* The nodes of the model, in the order of the file. */
int tirc_node_count(const struct tirc *t);
struct tirc_node tirc_node(const struct tirc *t, int i);

/* -- the result (after tirc_compile) -- */
struct tirc_summary {
	const char *name;
	int64_t workspace_bytes; /* as planned */
	/* lower bound for any plan with this order of kernels */
	int64_t bound_bytes;
	int64_t local_bytes; /* largest local arrays of a kernel */
	int64_t weights_bytes;
	const char *weights; /* the form in which the weights are written */
	/* Convolutions that are computed by Winograd's algorithm: their number;
	 * the bytes of their weights, and the bytes that the weights would have
	 * in direct convolutions; the largest workspace that one of them needs
	 * for its tiles. */
	int winograd_convolutions;
	int64_t winograd_weights_bytes, winograd_direct_bytes;
	int64_t winograd_tiles_bytes;
	/* operations on floats; operations on all numbers */
	double flops, operations;
	int64_t macs;
	/* How quantized results are rounded: "onnx" or "tflite"; NULL if the
	 * model has no quantized results. */
	const char *rounding;
	/* Of a quantized model that was converted from TensorFlow Lite, the
	 * name of the converter. NULL for any other model, or if the option
	 * requant is given. */
	const char *from_tflite;
	const char *compile_line;
	/* After tirc_arrange: the command that builds or checks the package, to
	 * run in its folder; NULL if its kind has none. */
	const char *next;
	/* For a target whose programs run on a simulator: the command before
	 * the name of the program, and the option before its arguments; the
	 * Debian packages with this command and with the compiler, or NULL. All
	 * are NULL if this machine runs the program. */
	const char *simulator, *simulator_argument, *simulator_package;
	const char *cc_package;
	/* target: the name of the target with its facts. named_target: for a
	 * program, the name by which the program calls its target ("llvm"), if
	 * no option gives another target; else NULL. */
	const char *target, *named_target;
	/* from the target, with the flags of backends' libraries */
	const char *cc, *cflags, *ldflags;
	/* the part of cflags that the libraries need */
	const char *library_cflags;
	int64_t l1_bytes, l2_bytes; /* caches of the target; 0: not known */
	bool tf32; /* float32 products may round operands to tf32 */
	/* For a target that shares loops between threads: the number of cores
	 * for which its schedules are made, and whether the caller provides the
	 * threads. Cores 0: one thread, or a device. */
	int cores;
	/* The number of cores of a target whose source has one thread all the
	 * same. */
	int unused_cores;
	bool takes_threads;
	/* the target is a device, whose source has a driver: the C for the
	 * host */
	bool is_device;
};

struct tirc_kernel {
	const char *name, *title, *schedule;
	/* flops: operations on floats; operations: on all numbers except
	 * indices. All numbers here are for the largest values of symbolic
	 * sizes. */
	double flops, operations;
	int64_t macs, read_bytes, write_bytes;
	/* largest total of local arrays that are live at once */
	int64_t local_bytes;
	int64_t weight_bytes; /* the part of read_bytes that are constants */
};

/* After tirc_program_tests, only the members about the compiler and the
 * simulator are set. */
struct tirc_summary tirc_summary(const struct tirc *t);
int tirc_kernel_count(const struct tirc *t);
/* The kernel that writes an output; -1 if no kernel does: it is a constant or
 * an input. */
int tirc_output_kernel(const struct tirc *t, int output);
struct tirc_kernel tirc_kernel(const struct tirc *t, int i);
int tirc_assumption_count(const struct tirc *t);
const char *tirc_assumption(const struct tirc *t, int i);

/* The program of a kernel as TVMScript, in a form that the option schedule_for
 * accepts: before its schedule (phase -1), or scheduled and lowered to phase
 * 0..3. NULL after a message, also if there is no such kernel. */
const char *tirc_kernel_script(struct tirc *t, const char *kernel, int phase,
			       bool old_script);
/* The schedule of a kernel, made by rules or given by schedule_for, as Python
 * or JSON. NULL after a message. */
const char *tirc_kernel_trace(struct tirc *t, const char *kernel, bool json);
/* A line for each rule of the default schedules: whether the kernel was
 * scheduled by it, or why not. The lines are in the order in which the rules
 * are tried. */
const char *tirc_kernel_explanation(struct tirc *t, const char *kernel);

struct tirc_file {
	const char *name; /* relative to the folder */
	int64_t bytes;
	/* the text of the file; NULL for a binary file. A digest of weights in
	 * the text is 0: only tirc_write() computes the weights and puts in
	 * their digests. */
	const char *text;
	bool is_source;   /* a source file to compile and link */
	bool is_metadata; /* NAME.json, which describes the other files */
};

/* The flags for instructions that the files use and that the compiler does not
 * have with these flags; NULL if it has all. Without the flags the files are
 * slow, and compile only if TIRC_ANY_PROCESSOR is defined. Runs the
 * compiler. */
const char *tirc_flags_lacking(struct tirc *t, const char *cc,
			       const char *cflags);

/* Runs the compiler to find the instruction sets that it uses with these flags.
 * Returns those of them that the processor of this machine lacks, such as
 * "AVX512F"; NULL if it lacks none, or if the compiler does not name the sets
 * that it uses. */
const char *tirc_processor_lacks(struct tirc *t, const char *cc,
				 const char *cflags);

int tirc_file_count(const struct tirc *t);
struct tirc_file tirc_file(const struct tirc *t, int i);

/* A C program that runs the compiled model on raw files. It reads input_0.bin,
 * … and writes output_0.bin, …; its arguments are the number of repetitions,
 * then the symbolic sizes. After tirc_program_tests: a C program that calls a
 * function of the tested program (see tirc_function_arguments). */
const char *tirc_harness(struct tirc *t);
const char *tirc_harness_name(const struct tirc *t); /* "harness.c" */
/* The other files and the libraries that the program of tirc_harness() needs; a
 * library has the text NULL. For a simulator, each source is first compiled to
 * an object file of the same name. The program then also writes board.txt: the
 * bytes of the model's code, constants, initialized variables and other
 * variables, and of the stack that it used. */
int tirc_harness_file_count(const struct tirc *t);
struct tirc_file tirc_harness_file(struct tirc *t, int i);
const char *tirc_harness_ldflags(const struct tirc *t);

/* -- the program itself -- */
const char *tirc_version(void);
/* Names of the built-in targets, sorted. */
int tirc_target_count(struct tirc *t);
const char *tirc_target(struct tirc *t, int i);
const char *tirc_target_what(struct tirc *t, int i); /* one line */
/* The target that is used if the user names none. */
const char *tirc_target_default(struct tirc *t);
/* The name of the target that stands for this machine, such as "native", or
 * NULL. */
const char *tirc_target_of_machine(struct tirc *t);
/* If `target` is tirc_target_of_machine(): returns the target for the
 * instruction sets that the compiler uses, with facts of this machine, such as
 * "x86-64-v3 -l1_bytes=32768". With this text as target, tirc emits the same
 * files on any machine. Any other target is returned unchanged. Runs the
 * compiler: cc is its command, words separated by spaces, or NULL for the
 * command of the target; cflags are all flags of the compiler, or NULL for the
 * flags of the returned target. NULL after an error. */
const char *tirc_target_at_hand(struct tirc *t, const char *target,
				const char *cc, const char *cflags);
/* The names of the passes, in order, and a line about each. */
int tirc_pass_count(void);
const char *tirc_pass_name(int i);
const char *tirc_pass_what(int i);
/* otherwise the user may name the pass in disable_passes */
bool tirc_pass_needed(int i);

#ifdef __cplusplus
}
#endif

#endif
