/* SPDX-License-Identifier: Apache-2.0 */
/* Private to package/: state shared while the files of one model are made. */
#ifndef TIRC_PACKER_H
#define TIRC_PACKER_H

#include "backend.h"
#include "kernel.h"
#include "package.h"
#include "pointer_map.h"
#include "unit.h"

struct cJSON;

/* The names of the entry's parameters. */
struct bindings {
	VEC(struct binding) list;
};

/* The header of a weights file: a magic word, the number 0x01020304 in the
 * file's byte order, the length of the file, the digest. */
#define BLOB_HEADER_BYTES 64
#define BLOB_ORDER_OFFSET 16
#define BLOB_LENGTH_OFFSET 24
#define BLOB_DIGEST_OFFSET 32

/* The digest of the bytes after the header, as little-endian words of 8 bytes,
 * the last one padded with zeros: for each word, digest = (digest ^ word) *
 * FACTOR, then digest ^= digest >> 32. Each step is a bijection of the word, so
 * every change of a single word is detected. Templates compute the same. */
#define BLOB_DIGEST_START 0x7469726362696eull
#define BLOB_DIGEST_FACTOR 0x9e3779b97f4a7c15ull

/* The anchors of the package's texts. At that of a digest the text has
 * DIGEST_UNKNOWN, which is replaced when the weights are written. */
enum package_anchor {
	ANCHOR_WEIGHTS_DIGEST, /* of all weights */
	ANCHOR_WEIGHT_DIGEST,  /* of the weight with the anchor's index */
	ANCHOR_KERNEL,         /* the start of the index-th kernel's text */
	ANCHOR_MODEL,          /* the model's name in a header */
};
#define DIGEST_UNKNOWN "0000000000000000"

/* The least and the greatest element of a constant. */
struct constant_range {
	struct bounds range;
	bool known; /* false: it has no elements */
};

/* The argument of a kernel for a parameter of its function. */
struct given {
	const struct kernel_arg *arg;
	int next; /* another kernel's of the same parameter; -1: none */
};

/* A line of an emitted file. */
struct source_place {
	const char *file; /* NULL: not written yet */
	int line;
};

struct packer {
	struct program *p;
	const struct node_fate *fates; /* packer_fates; NULL: not computed */
	struct graph *g;
	struct module *m;
	struct arena *a;
	const struct dialect *d;       /* of the host */
	const struct dialect *kernels; /* the same, or the device's language */
	const struct emit_options *o;
	struct package *out;
	const char *model, *upper; /* identifier stems */
	const char *files[FILE_COUNT];
	const char **input_fields, **output_fields, **dim_fields;
	const char **input_macros, **output_macros, **dim_macros;
	const char **size_fields, **size_macros; /* of the given_sizes */
	const char **state_macros;
	const char **weight_symbols;
	struct constant_range **constants; /* by weight; NULL: not read */
	VEC(struct given) given;
	struct pointer_map given_first;     /* by the parameter's buffer */
	const char **kernel_symbols;        /* of the graph form */
	const struct kernel **kernel_of;    /* by group; NULL: none */
	const struct kernel **first_writer; /* by tensor; NULL: none */
	struct source_place *kernel_places; /* by kernel */
	int64_t blob_bytes;
	int64_t local_bytes; /* the largest local arrays of a kernel */
	/* The loops of helpers, and the most iterations of one. */
	int helper_loops, longest_helper_loop;
	/* The alignment in bytes that the caller's arrays need because kernels
	 * access several elements at once; 0: none. */
	int array_align;
	VEC(const struct backend *) backends; /* backends of the regions */
	/* runtime files of the backends */
	VEC(const struct backend_file *) runtime;
	/* of the target and of the backends */
	const char *cflags, *ldflags;
	const char *library_cflags, *library_ldflags; /* of the backends */
	struct tdata *data; /* names for all templates */
};

/* "[1][3][224][224]". */
const char *shape_text(struct packer *k, const struct tensor *t);
/* "231.2 MFLOP, reads 1.01 MB, writes 0.80 MB" */
const char *work_text(struct packer *k, const struct kernel *kernel);
const char *short_name(struct dtype t);
/* source.c: the entry function's name for a place in the workspace; NULL: it
 * has no pointer to it. */
const char *place_name(const struct placement *at);
/* metadata_rows.c: its name in the source; "": it has no array. */
const char *weight_symbol(const struct packer *k, const struct weight *w);
/* The kernel that writes t, or NULL. */
const struct kernel *writer_of(const struct packer *k, const struct tensor *t);

/* common.c: the names that all templates may use; the states among them. */
void add_common(struct packer *k);
void add_kept_states(struct packer *k);

/* source_lines.c: records the lines of the kernels' functions in the text of file
 * `name`, by the anchors of their texts. */
void places_find(struct packer *k, const char *name, const char *text,
		 const struct anchors *anchors);

/* kernel_source.c: "kernels" with text, title, nodes, tensors, schedules, work;
 * "helpers" that a unit has used. */
void reserve_kernel_names(struct packer *k, struct unit *u);
bool add_kernels(struct packer *k, struct unit *u, struct tdata *data);
bool add_helpers(struct packer *k, struct unit *u, struct tdata *data);

/* math_functions.c: "expf sqrtf", the functions of C's mathematical library
 * that the source calls, or "none". */
const char *math_functions(struct packer *k, const char *source);

/* constants.c: gives the unit's functions access to the ranges of constants. */
void packer_tell_constants(struct packer *k, struct unit *u);

/* Alignment of the planned workspace, in bytes; of the whole workspace,
 * including the libraries' part. */
int64_t planned_align(const struct packer *k);
int64_t workspace_align(const struct packer *k);
/* The largest value of a size of a tensor, and its largest number of elements:
 * limits_check has refused tensors without one. */
int64_t largest_size(const struct expr *size);
int64_t largest_count(const struct tensor *t);

/* source.c: the names of a weight and of the model in the entry. */
void bind_weight(struct packer *k, const struct param *param, int i,
		 struct bindings *bound);
void bind_model(struct packer *k, struct bindings *bound);

/* regions.c: finds the backends in use, and their flags. */
void regions_prepare(struct packer *k);
/* Adds the headers of the backends; in_header: only those for the model's
 * struct. */
void regions_need(struct packer *k, struct unit *u, struct tdata *data,
		  bool in_header);
/* Names for all templates: library_state, "states" (regions with state between
 * runs), "opens" (backends with state), planned_bytes. */
void regions_common(struct packer *k, struct tdata *data);
/* Sets "library_members", of the model's struct. */
bool regions_in_header(struct packer *k, struct tdata *data);
/* Sets "libraries" (state shared by a backend's regions), "states" with the
 * constants of each, and library_weighs. */
bool regions_in_source(struct packer *k, struct unit *u, struct tdata *data);
/* Adds the backends' runtime files, unchanged. */
bool regions_add_runtime(struct packer *k);
/* The functions of a kernel that is a region. */
bool region_print(struct packer *k, struct unit *u, const struct kernel *kernel,
		  const char **out);

/* device.c */
bool package_on_device(const struct packer *k);
/* Sets k->array_align. */
void package_find_array_align(struct packer *k);
/* Sets "launches": the "name" of each kernel, in order; and "pooled": "name"
 * and "bytes" of each kernel whose shared arrays are places in one array. */
void add_launch_names(struct packer *k, struct tdata *data);
/* Adds a file of the kernels, in the device's language, and its text for the
 * host: "program", each "line" escaped for a string literal. */
bool add_kernels_file(struct packer *k);
bool add_program(struct packer *k, const char *name, const char *text);
/* For all templates: n_launches, n_weights, n_buffers, n_io (each at least 1,
 * because they are extents of arrays), staging_bytes. */
void add_device_counts(struct packer *k);
/* Sets "buffers": places in the workspace that are separate buffers, with name,
 * offset and bytes; binds them and removes them from the body. None if the
 * dialect computes addresses. */
void add_device_places(struct packer *k, struct tdata *data,
		       struct bindings *bound, struct func *body);
/* Sets "inputs" and "outputs", with name, type, count (an expression), and
 * offset and bytes in the staging memory. */
void add_staging(struct packer *k, struct tdata *data, struct unit *u,
		 const struct bindings *bound);
/* Sets "uploads": weights with name, symbol, offset, bytes. */
void add_uploads(struct packer *k, struct tdata *data);

/* Sets model, files, fields, macros and symbols. */
void name_everything(struct packer *k);
/* Chooses the form of the weights, and their layout. */
/* limits.c: does everything fit the compiler's largest object and its char? */
bool limits_check(struct packer *k);
bool weights_layout(struct packer *k);
/* Sets "note", a comment on the i-th weight, indented by `indent`: its formula
 * over the model's constants, its nodes, the place of its elements. with_digest:
 * also the digest, for files that are written after the weights. */
void add_weight_note(struct packer *k, struct tdata *row, int i,
		     bool with_digest, const char *indent);
/* A declaration such as "extern const float digits_conv_w[4][3][3];". */
const char *weight_line(struct packer *k, int i, const char *text,
			struct unit *u);
/* The header, and the anchors of the model's name in it. */
bool add_interface(struct packer *k, const char *version_hash,
		   struct strbuf *out, struct anchors *anchors);
bool add_source(struct packer *k);
bool add_weights(struct packer *k);
bool weights_have_header(const struct packer *k);
bool add_weights_header(struct packer *k);
/* Adds the compliance statement: the dialect's claims, and deviations. */
bool add_compliance(struct packer *k);
/* Can each kernel be measured? False: diagnosed. */
bool profile_allowed(const struct packer *k);
/* Adds calls to the entry function that report the end of each kernel. */
void add_profile_calls(struct packer *k);
void add_metadata(struct packer *k);
/* anchors: of the text, or NULL. */
void add_file(struct packer *k, enum file_id id, enum out_kind kind,
	      const char *text, const struct anchors *anchors);
/* Sets "offset" in the workspace; where that has an array for each type, also
 * the "array" and the number of the "first_element". */
void add_workspace_place(struct packer *k, struct tdata *row,
			 const struct placement *at);
/* Sets a list of the words of a command's text, each an item with `word`, for the
 * filters of templates. False: a quote of the text is not closed; reported. */
bool add_words(struct packer *k, struct tdata *data, const char *list,
	       const char *text);
/* A rendered template of a dialect, with its anchors unless that is NULL; NULL:
 * reported. Then a template of the host's dialect as a file of the package. */
const char *template_text(struct packer *k, const struct dialect *d,
			  enum template_id id, const struct tdata *data,
			  struct anchors *anchors);
bool add_template_file(struct packer *k, enum template_id id,
		       const struct tdata *data, enum file_id file,
		       enum out_kind kind);
/* Adds a file under the given name; returns its final text. */
const char *add_named_file(struct packer *k, const char *name,
			   enum out_kind kind, const char *text,
			   const struct anchors *anchors);
/* graph_form.c: is the graph form possible for the model? Makes its JSON, and a
 * hash of its calls. */
bool graph_form_allowed(struct packer *k);
bool graph_form_describe(struct packer *k);
/* graph_kernels.c: "entries": symbol, name, body and arguments of each
 * kernel. */
bool add_graph_entries(struct packer *k, struct unit *u, struct tdata *data);
bool add_graph_header(struct packer *k);
/* The bytes that a kernel may touch of an argument, and their alignment. */
/* Is the argument an array of a node of the graph? Sizes and the kernel's
 * packed weights are not. */
bool graph_arg_listed(const struct kernel *kernel,
		      const struct kernel_arg *arg);
int64_t graph_arg_bytes(const struct kernel_arg *arg);
int64_t graph_arg_align(const struct kernel_arg *arg);
/* metadata_rows.c: rows of the metadata. */
struct cJSON *metadata_places(struct packer *k);
/* Appends the member "weights", and adds the anchors of their digests. */
void metadata_weights(struct packer *k, struct strbuf *s,
		      struct anchors *anchors);
struct cJSON *metadata_functions(struct packer *k);
struct cJSON *metadata_kernels(struct packer *k);
struct cJSON *metadata_calls(struct packer *k);
/* The fates of the model's nodes, computed once. */
const struct node_fate *packer_fates(struct packer *k);
/* Appends the member "trace", the last one. */
void metadata_trace(struct packer *k, struct strbuf *s);
/* metadata.c: appends an item of a list as a line, and deletes it. */
void metadata_row(struct strbuf *s, struct cJSON *row, bool last);
/* metadata.c: adds a text member, unless NULL; appends "key": value as a line, or
 * with a line for each item. */
/* A shape: numbers, and symbolic sizes as text. */
struct cJSON *metadata_shape(struct packer *k, int ndim,
			     const struct expr *const *shape);
void metadata_text(struct cJSON *object, const char *key, const char *text);
void metadata_member(struct strbuf *s, const char *key, struct cJSON *value,
		     bool by_item, bool last);
/* Appends an object as a line, with a last member "digest" and its anchor. */
void metadata_digested(struct strbuf *s, struct cJSON *object, bool last,
		       struct anchors *anchors, enum package_anchor kind,
		       int index);
/* Renders a short template of the dialect. */
const char *packer_render(struct packer *k, const char *text,
			  const struct tdata *data);

#endif
