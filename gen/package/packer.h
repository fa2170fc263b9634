/* SPDX-License-Identifier: Apache-2.0 */
/* Private to package/: the state during the making of the files of one model. */
#ifndef TIRC_PACKER_H
#define TIRC_PACKER_H

#include "backend.h"
#include "kernel.h"
#include "long_names.h"
#include "package.h"
#include "package_facts.h"
#include "pointer_map.h"
#include "unit.h"

struct cJSON;

/* For the parameters of the entry function: the texts that stand for them in
 * the source (struct binding in unit.h). */
struct bindings {
	VEC(struct binding) list;
};

/* A weights file begins with a header: a magic word, the number 0x01020304 in
 * the byte order of the file, the length of the file, and the digest. */
#define BLOB_HEADER_BYTES 64
#define BLOB_ORDER_OFFSET 16
#define BLOB_LENGTH_OFFSET 24
#define BLOB_DIGEST_OFFSET 32

/* The digest of the bytes after the header, as little-endian words of 8 bytes,
 * the last one padded with zeros: for each word, digest = (digest ^ word) *
 * FACTOR, then digest ^= digest >> 32. Each step is a bijection of the word, so
 * every change of a single word is detected. Templates contain the same
 * computation. */
#define BLOB_DIGEST_START 0x7469726362696eull
#define BLOB_DIGEST_FACTOR 0x9e3779b97f4a7c15ull

/* What an anchor marks; an anchor is a position in a text of the package. At
 * the anchor of a digest the text has DIGEST_UNKNOWN, which is replaced when
 * the weights are written. */
enum package_anchor {
	ANCHOR_WEIGHTS_DIGEST, /* the digest of all weights */
	ANCHOR_WEIGHT_DIGEST,  /* the digest of the weight `index` */
	/* Kernel `index`: the start of its comment, and the start and the last
	 * character of its text. */
	ANCHOR_KERNEL_COMMENT,
	ANCHOR_KERNEL,
	ANCHOR_KERNEL_END,
	ANCHOR_MODEL, /* the name of the model in a header */
};
#define DIGEST_UNKNOWN "0000000000000000"

/* The smallest and the largest element of a constant. */
struct constant_range {
	struct bounds range;
	/* false if the constant has no elements or its elements cannot be
	 * computed */
	bool known;
};

/* An argument that a kernel passes to an array parameter of its function.
 * Several kernels may call one function, so each parameter has a list of
 * arguments. */
struct given {
	const struct kernel_arg *arg;
	/* the index in packer.given of the parameter's next argument, or -1 */
	int next;
};

/* The lines of a kernel in an emitted file. */
struct source_place {
	const char *file; /* NULL before the file is made */
	int line;         /* the line that defines its function */
	/* the first and the last line of the kernel's comment and functions in
	 * the source */
	int first, last;
};

struct packer {
	struct program *p;
	/* For each node of the model: the kernels that compute the node, or the
	 * pass that removed it (packer_fates()). NULL before packer_fates() is
	 * called. */
	const struct node_fate *fates;
	struct graph *g;
	struct module *m;
	struct arena *a;
	/* the dialect of the host, in which the entry function is written */
	const struct dialect *d;
	/* the dialect of the kernels; differs from `d` only if a device runs
	 * them */
	const struct dialect *kernels;
	const struct emit_options *o;
	struct package *out;
	/* the beginning of the emitted names: "net", and "NET" for macros */
	const char *model, *upper;
	const char *files[FILE_COUNT]; /* the names of the package's files */
	/* Names in the emitted header, for each input, output or symbolic size:
	 * members of its structures, and stems of its macros. */
	const char **input_fields, **output_fields, **dim_fields;
	const char **input_macros, **output_macros, **dim_macros;
	/* for each of p->given_sizes */
	const char **size_fields, **size_macros;
	const char **state_macros;   /* for each of g->states */
	const char **weight_symbols; /* for each weight */
	/* for each weight: the range of its elements; NULL: not computed yet */
	struct constant_range **constants;
	VEC(struct given) given;
	/* maps the buffer of a parameter to the index in `given` of its first
	 * argument */
	struct pointer_map given_first;
	/* In the graph form, for each kernel: the name of its wrapper in the
	 * table of kernels; NULL for a kernel that shares another kernel's
	 * function. */
	const char **kernel_symbols;
	/* for each group: its kernel, or NULL */
	const struct kernel **kernel_of;
	/* for each tensor: the first kernel that writes it, or NULL */
	const struct kernel **first_writer;
	struct source_place *kernel_places; /* for each kernel */
	int64_t blob_bytes;
	/* the most bytes of local arrays that are live at once in one kernel */
	int64_t local_bytes;
	/* The number of loops in helper functions, and the largest number of
	 * iterations of such a loop. */
	int helper_loops, longest_helper_loop;
	/* The alignment in bytes that the caller's arrays must have because
	 * kernels access them as vectors; 0: no alignment is needed. */
	int array_align;
	/* the backends of the model's regions */
	VEC(const struct backend *) backends;
	/* the runtime files of these backends */
	VEC(const struct backend_file *) runtime;
	/* flags of the target and of the backends */
	const char *cflags, *ldflags;
	/* flags of the backends only */
	const char *library_cflags, *library_ldflags;
	struct tdata *data; /* the data that all templates may use */
	/* the result of math_functions(); NULL before its call */
	const char *math;
	/* how comments in the source show long names of the model */
	struct long_names *names;
};

/* The shape as text: "[1][3][224][224]". */
const char *shape_text(struct packer *k, const struct tensor *t);
/* kernel_source.c: type, shape and layout of the array of a tensor. */
const char *stored_text(struct packer *k, const struct tensor *t);
/* The work of a kernel as text: "231.2 MFLOP, reads 1.01 MB, writes 0.80
 * MB". */
const char *work_text(struct packer *k, const struct kernel *kernel);
/* The short name of a type: "f32". */
const char *short_name(struct dtype t);
/* source.c: the name of the pointer to the place `at` in the workspace, in the
 * entry function; NULL if the entry function has no pointer to this place. */
const char *place_name(const struct placement *at);
/* metadata_rows.c: the name of the weight's array in the source; "" if the
 * source has no such array. */
const char *weight_symbol(const struct packer *k, const struct weight *w);
/* Sets k->names from the names of the model's nodes, tensors and constants. */
void tell_names(struct packer *k);
/* The kernel that writes t; NULL if no kernel writes it. */
const struct kernel *writer_of(const struct packer *k, const struct tensor *t);

/* common.c: add_common() adds the data that all templates may use,
 * add_kept_states() the list "kept" of the states that are kept between runs. */
void add_common(struct packer *k);
void add_kept_states(struct packer *k);

/* source_lines.c: sets k->kernel_places, to the lines of each kernel. text: the
 * text of the file `name`; anchors: the anchors in the text, among them those
 * of kernels. */
void places_find(struct packer *k, const char *name, const char *text,
		 const struct anchors *anchors);

/* kernel_like.c: which constants of the kernel kernel->same_but_literals the kernel
 * has others for, with literals as u spells them. */
const char *kernel_like_text(struct packer *k, struct unit *u,
			     const struct kernel *kernel);

/* kernel_source.c. reserve_kernel_names reserves the names of functions and
 * weights in u; add_kernels adds the list "kernels", with text, title, nodes,
 * tensors, schedules and work; add_helpers adds the "helpers" that u uses. */
void reserve_kernel_names(struct packer *k, struct unit *u);
bool add_kernels(struct packer *k, struct unit *u, struct tdata *data);
bool add_helpers(struct packer *k, struct unit *u, struct tdata *data);

/* math_functions.c: the functions of C's mathematical library that the source
 * calls, "expf sqrtf", or "none". */
const char *math_functions(struct packer *k, const char *source);

/* constants.c: gives the printer of u access to the value ranges of the model's
 * constants (unit.constants). */
void packer_tell_constants(struct packer *k, struct unit *u);
/* Sets *out to the union of the ranges of all arguments that kernels pass for
 * parameter b. Returns false if one of these arguments is not a constant, or if
 * its range is unknown. */
bool range_of_parameter(struct packer *k, const struct buffer *b,
			struct bounds *out);

/* planned_align() is the alignment in bytes of the part of the workspace that
 * the memory plan gives to kernels; workspace_align() is the alignment of the
 * whole workspace, in which the libraries' part follows that of the kernels. */
int64_t planned_align(const struct packer *k);
int64_t workspace_align(const struct packer *k);
/* The largest value of a size, and the largest number of elements of a tensor.
 * Both exist, because limits_check() rejects other models. */
int64_t largest_size(const struct expr *size);
int64_t largest_count(const struct tensor *t);

/* source.c: bind_weight() binds weight i, and bind_model() the model, to their
 * names in the entry function. */
void bind_weight(struct packer *k, const struct param *param, int i,
		 struct bindings *bound);
void bind_model(struct packer *k, struct bindings *bound);

/* regions.c: finds the backends of the model's regions, and their flags. */
void regions_prepare(struct packer *k);
/* Adds the headers that the backends need. in_header: only the headers that the
 * model's structure needs. */
void regions_need(struct packer *k, struct unit *u, struct tdata *data,
		  bool in_header);
/* Adds data for all templates: library_state, "states" (regions with a state
 * between runs), "opens" (backends with a state), planned_bytes. */
void regions_common(struct packer *k, struct tdata *data);
/* Adds "library_members", the members of the model's struct that hold state of
 * libraries. Returns false after a diagnostic. */
bool regions_in_header(struct packer *k, struct tdata *data);
/* Adds "libraries" (state that the regions of a backend share), "states" with
 * the constants of each, and library_weighs. */
bool regions_in_source(struct packer *k, struct unit *u, struct tdata *data);
/* Adds the runtime files of the backends, unchanged, to the package. Returns
 * false after a diagnostic. */
bool regions_add_runtime(struct packer *k);
/* Sets *out to the text of a kernel that is a region: its functions, rendered
 * from the backend's templates; NULL if the rendered text is empty. Returns
 * false after a diagnostic. */
bool region_print(struct packer *k, struct unit *u, const struct kernel *kernel,
		  const char **out);

/* device.c: do the kernels run on a device, where a host program launches
 * them? */
bool package_on_device(const struct packer *k);
/* Sets k->array_align. */
void package_find_array_align(struct packer *k);
/* Adds the list "launches" with the name of each kernel in order, and the list
 * "pooled" with name and bytes of each kernel whose shared arrays are parts of
 * one array. */
void add_launch_names(struct packer *k, struct tdata *data);
/* add_kernels_file() adds the file with the kernels in the device's language.
 * add_program() adds its text for the host: the list "program", whose lines are
 * escaped for string literals. */
bool add_kernels_file(struct packer *k);
bool add_program(struct packer *k, const char *name, const char *text);
/* Adds data for all templates: n_launches, n_weights, n_buffers, n_io and
 * staging_bytes. The numbers are at least 1, because they are extents of
 * arrays. */
void add_device_counts(struct packer *k);
/* Adds the list "buffers" of the places in the workspace that are separate
 * buffers, with name, offset and bytes. Binds their pointers and removes the
 * pointers from the body. Adds nothing if the dialect computes addresses within
 * one buffer. */
void add_device_places(struct packer *k, struct tdata *data,
		       struct bindings *bound, struct func *body);
/* Adds the lists "inputs" and "outputs" with the name, the type and the count
 * (an expression) of each, and its offset and bytes in the staging memory. */
void add_staging(struct packer *k, struct tdata *data, struct unit *u,
		 const struct bindings *bound);
/* Adds the list "uploads" of the weights that the host copies to the device,
 * with the name, symbol, offset and bytes of each weight. */
void add_uploads(struct packer *k, struct tdata *data);

/* Names the model, its files, members, macros and symbols. */
void name_everything(struct packer *k);
/* limits.c: are all objects and element types within the limits of the
 * compiler? Returns false after a diagnostic otherwise. */
bool limits_check(struct packer *k);
/* Sets the offset of each weight in the weights file, and chooses the form of
 * the weights (enum weights_form). Returns false after a diagnostic. */
bool weights_layout(struct packer *k);
/* Adds "note", a comment about weight i, indented by `indent`: its formula from
 * constants of the model, its nodes, and the order of its elements.
 * with_digest: also the weight's digest, for a file that is written after the
 * weights. names: how comments show long names of the model; NULL: in full. */
void add_weight_note(struct packer *k, struct tdata *row, int i,
		     bool with_digest, const char *indent,
		     struct long_names *names);
/* The declaration of weight i from a template: "extern const float
 * digits_conv_w[4][3][3];". */
const char *weight_line(struct packer *k, int i, const char *text,
			struct unit *u);
/* Appends the text of the header, and the anchors of the model's name in it. */
bool add_interface(struct packer *k, const char *version_hash,
		   struct strbuf *out, struct anchors *anchors);
/* add_source() adds the source with the entry function; add_weights() adds the
 * file of weights, if the form of the weights has one. Both return false after
 * a diagnostic. */
bool add_source(struct packer *k);
bool add_weights(struct packer *k);
/* Are the weights declared in a header of their own, not in the source? */
bool weights_have_header(const struct packer *k);
bool add_weights_header(struct packer *k);
/* compliance.c: the lines of the source that have the mark of the deviation. */
struct deviation_places places_of(struct packer *k, const struct deviation *d);
/* Adds the compliance statement: the standard that the dialect claims, and the
 * deviations. */
bool add_compliance(struct packer *k);
/* Can the program measure the time of each kernel? Returns false after a
 * diagnostic otherwise. */
bool profile_allowed(const struct packer *k);
/* Adds to the entry function, after each kernel, a call that reports the end of
 * this kernel. */
void add_profile_calls(struct packer *k);

/* trace.c: can the source show its tensors? False after a diagnostic. */
bool trace_allowed(const struct packer *k);
/* A kernel has a new name, which the entry function shows, too. */
void trace_rename(struct packer *k, const char *from, const char *to);
/* Adds the file with the metadata, <model>.json. */
void add_metadata(struct packer *k);
/* package.c: packer_below() is the path of a file in a folder of the output; ""
 * is the output folder itself. packer_cc_line() is the command that compiles
 * the model's sources, with the folders of sources and headers. */
const char *packer_below(struct packer *k, const char *folder,
			 const char *name);
const char *packer_cc_line(struct packer *k, const char *sources,
			   const char *headers);
/* Adds a file. anchors: the anchors in its text, or NULL. */
void add_file(struct packer *k, enum file_id id, enum out_kind kind,
	      const char *text, const struct anchors *anchors);
/* Adds "offset", the bytes before a place in the workspace. If the workspace
 * has an array for each type, also adds the name of the "array" and the index
 * "first_element". */
void add_workspace_place(struct packer *k, struct tdata *row,
			 const struct placement *at);
/* Adds a list of the words of a command. Each item has a `word`, so that
 * templates can apply filters. Returns false after a diagnostic about an
 * unclosed quote. */
bool add_words(struct packer *k, struct tdata *data, const char *list,
	       const char *text);
/* template_text() renders a template of a dialect and sets its anchors, if
 * `anchors` is not NULL; it returns NULL after a diagnostic.
 * add_template_file() adds a rendered template of the host's dialect as a file
 * of the package. */
const char *template_text(struct packer *k, const struct dialect *d,
			  enum template_id id, const struct tdata *data,
			  struct anchors *anchors);
/* source_text() is the source of a model in the dialect, with a table of the
 * long names that its comments shorten. */
const char *source_text(struct packer *k, const struct dialect *d,
			struct tdata *data, struct anchors *anchors);
bool add_template_file(struct packer *k, enum template_id id,
		       const struct tdata *data, enum file_id file,
		       enum out_kind kind);
/* Adds a file with this name, and returns its text with lines broken. */
const char *add_named_file(struct packer *k, const char *name,
			   enum out_kind kind, const char *text,
			   const struct anchors *anchors);
/* graph_form.c: graph_form_allowed() tells whether the model can be written in
 * the graph form; it returns false after a diagnostic. graph_form_describe()
 * makes the JSON of the graph form and a hash of the calls in it. */
bool graph_form_allowed(struct packer *k);
bool graph_form_describe(struct packer *k);
/* graph_kernels.c: adds the list "entries" with symbol, name, body and
 * arguments of each kernel. */
bool add_graph_entries(struct packer *k, struct unit *u, struct tdata *data);
/* Adds to the package the header of the graph form, with the table of
 * kernels. */
bool add_graph_header(struct packer *k);
/* Does the graph's JSON list this argument of the kernel? The JSON lists
 * tensors, weights and scratch memory. It does not list symbolic sizes, which
 * every kernel gets, nor the weights of a library's region, which only its init
 * function gets. */
bool graph_arg_listed(const struct kernel *kernel,
		      const struct kernel_arg *arg);
/* The number of bytes that a kernel may access through the argument, and the
 * alignment in bytes that the kernel needs. */
int64_t graph_arg_bytes(const struct kernel_arg *arg);
int64_t graph_arg_align(const struct kernel_arg *arg);
/* metadata_rows.c: lists for <model>.json as JSON: the tensors in the
 * workspace, functions, kernels, and calls. */
struct cJSON *metadata_places(struct packer *k);
/* Appends the member "weights" of the JSON, and the anchors of its digests. */
void metadata_weights(struct packer *k, struct strbuf *s,
		      struct anchors *anchors);
struct cJSON *metadata_functions(struct packer *k);
struct cJSON *metadata_kernels(struct packer *k);
struct cJSON *metadata_calls(struct packer *k);
/* The fate of each node of the model (struct node_fate in provenance.h): the
 * kernels that compute it, or the pass that removed it. Returns an array with
 * an element for each element of graph.origins; the first call computes it. */
const struct node_fate *packer_fates(struct packer *k);
/* Appends the last member, "trace", which has the fate of each node of the
 * model. */
void metadata_trace(struct packer *k, struct strbuf *s);
/* metadata.c: appends an item of a list on a line of its own, and frees it. */
void metadata_row(struct strbuf *s, struct cJSON *row, bool last);
/* A shape as a list in JSON: numbers, and symbolic sizes as text. */
struct cJSON *metadata_shape(struct packer *k, int ndim,
			     const struct expr *const *shape);
/* metadata_text() adds a member to the object, unless text is NULL.
 * metadata_member() appends "key": value to s, on one line or (by_item) with a
 * line for each item, and frees the value. */
void metadata_text(struct cJSON *object, const char *key, const char *text);
void metadata_member(struct strbuf *s, const char *key, struct cJSON *value,
		     bool by_item, bool last);
/* Appends an object on a line of its own. Its last member "digest" has a value
 * with an anchor of this kind and index. */
void metadata_digested(struct strbuf *s, struct cJSON *object, bool last,
		       struct anchors *anchors, enum package_anchor kind,
		       int index);
/* Renders a short template of the dialect. Returns "" after a diagnostic. */
const char *packer_render(struct packer *k, const char *text,
			  const struct tdata *data);

#endif
