/* SPDX-License-Identifier: Apache-2.0 */
/* Inside package/: what the files of one model share while they are made. */
#ifndef TIRC_PACKER_H
#define TIRC_PACKER_H

#include "backend.h"
#include "kernel.h"
#include "package.h"
#include "pointer_map.h"
#include "walk.h"

struct cJSON;

/* What the entry's parameters are called. */
struct bindings {
	VEC(struct binding) list;
};

/* A weights file starts with this many bytes: a magic word, the byte order
 * as the number 0x01020304 in it, the length of the file and the digest. */
#define BLOB_HEADER_BYTES 64
#define BLOB_ORDER_OFFSET 16
#define BLOB_LENGTH_OFFSET 24
#define BLOB_DIGEST_OFFSET 32

/* The digest of what follows, as little-endian words of 8 bytes, the last one
 * filled up with zeros: of each word digest = (digest ^ word) * FACTOR and
 * digest ^= digest >> 32. One to one in the word, so that no change of a
 * single word goes unnoticed. Templates do the same. */
#define BLOB_DIGEST_START 0x7469726362696eull
#define BLOB_DIGEST_FACTOR 0x9e3779b97f4a7c15ull

/* Stands where the digest of the weights goes when they are written. */
#define WEIGHTS_DIGEST_MARK "@weights-digest@"
/* The same of one of them; behind it its number, of 7 digits, and "@". */
#define WEIGHT_DIGEST_MARK "@digest-"

/* The least and the greatest element of a constant. */
struct constant_range {
	struct value_range range;
	bool known; /* false: it has no elements */
};

/* What a kernel gives a parameter of its function. */
struct given {
	const struct kernel_arg *arg;
	int next; /* another kernel's of the same parameter; -1: none */
};

/* A line of one of the files. */
struct source_place {
	const char *file; /* NULL: not written yet */
	int line;
};

struct packer {
	struct program *p;
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
	const char **weight_symbols;
	struct constant_range **constants; /* by weight; NULL: not read */
	VEC(struct given) given;
	struct pointer_map given_first;     /* by the parameter's buffer */
	const char **kernel_symbols;        /* of the graph form */
	const char *graph_text;             /* its JSON */
	const struct kernel **kernel_of;    /* by group; NULL: none */
	const struct kernel **first_writer; /* by tensor; NULL: none */
	struct source_place *kernel_places; /* by kernel */
	int64_t blob_bytes, stack_bytes;
	VEC(const struct backend *) backends;     /* whose regions there are */
	VEC(const struct backend_file *) runtime; /* that these bring along */
	const char *cflags, *ldflags;             /* the target's and theirs */
	const char *library_cflags, *library_ldflags; /* theirs */
	struct tdata *data; /* what all templates may say */
};

/* "f32 [1][3][224][224]" without the type. */
const char *shape_text(struct packer *k, const struct tensor *t);
/* "231.2 MFLOP, reads 1.01 MB, writes 0.80 MB" */
const char *work_text(struct packer *k, const struct kernel *kernel);
const char *short_name(struct dtype t);
/* source.c: what the entry function calls a place in the workspace; NULL: it
 * has no pointer to it. */
const char *place_name(const struct placement *at);
/* metadata_rows.c: what the source calls it; "": it has no array. */
const char *weight_symbol(const struct packer *k, const struct weight *w);
/* The kernel that writes t, or NULL. */
const struct kernel *writer_of(const struct packer *k, const struct tensor *t);

/* source_lines.c: text with a mark in front, which add_named_file takes away,
 * noting on which line the i-th kernel's function is. */
const char *place_marked(struct packer *k, int i, const char *text);
/* text without marks, which becomes file `name`. */
const char *places_find(struct packer *k, const char *name, const char *text);

/* kernel_source.c: "kernels" with text, title, nodes, tensors, schedules, work;
 * "helpers" that a unit has used. */
void reserve_kernel_names(struct packer *k, struct unit *u);
bool add_kernels(struct packer *k, struct unit *u, struct tdata *data);
bool add_helpers(struct packer *k, struct unit *u, struct tdata *data);

/* math_functions.c: "expf sqrtf", which functions of C's mathematical library
 * the source calls; "none". */
const char *math_functions(struct packer *k, const char *source);

/* constants.c: the unit's functions may ask for the ranges of constants. */
void packer_tell_constants(struct packer *k, struct unit *u);

/* Of the plan's workspace, in bytes; of the whole, with that of libraries. */
int64_t planned_align(const struct packer *k);
int64_t workspace_align(const struct packer *k);
/* The largest value of a size. */
int64_t upper_bound(const struct packer *k, const struct expr *e);

/* source.c: the weight's and the model's names in the entry. */
void bind_weight(struct packer *k, const struct param *param, int i,
		 struct bindings *bound);
void bind_model(struct packer *k, struct bindings *bound);

/* regions.c: finds the backends in use, and the flags of all. */
void regions_prepare(struct packer *k);
/* Their headers; in_header: those that the model's struct needs. */
void regions_need(struct packer *k, struct unit *u, struct tdata *data,
		  bool in_header);
/* For all templates: library_state, "states" (regions that keep something
 * between runs), "opens" (backends that do), planned_bytes. */
void regions_common(struct packer *k, struct tdata *data);
/* "library_members" of the model's struct. */
bool regions_in_header(struct packer *k, struct tdata *data);
/* "libraries": what a backend's regions share; "states" with the constants that
 * each is given, library_weighs. */
bool regions_in_source(struct packer *k, struct unit *u, struct tdata *data);
/* Files of the backends' own, as they are. */
bool regions_add_runtime(struct packer *k);
/* The functions of a kernel that is a region. */
bool region_print(struct packer *k, struct unit *u, const struct kernel *kernel,
		  const char **out);

/* device.c */
bool package_on_device(const struct packer *k);
/* What the arrays of the caller must start at a multiple of, if kernels load
 * and store several elements of some at once; else 0. */
int package_array_align(const struct packer *k);
/* "launches": the kernels in order, "name" of each; "pooled": "name" and "bytes"
 * of those of which shared arrays are places in one. */
void add_launch_names(struct packer *k, struct tdata *data);
/* A file of the kernels alone, in the device's language, and the text of it for
 * the host: "program", with "line" of each as a string literal has it. */
bool add_kernels_file(struct packer *k);
bool add_program(struct packer *k, const char *name, const char *text);
/* For all templates: n_launches, n_weights, n_buffers, n_io (each at least 1,
 * as extents of arrays are), staging_bytes. */
void add_device_counts(struct packer *k);
/* "buffers": places in the workspace that are buffers of their own, with name,
 * offset and bytes; they are bound, and taken from the body. None where the
 * dialect computes addresses. */
void add_device_places(struct packer *k, struct tdata *data,
		       struct bindings *bound, struct func *body);
/* "inputs" and "outputs", with name, type, count (an expression), and offset
 * and bytes in the memory for staging. */
void add_staging(struct packer *k, struct tdata *data, struct unit *u,
		 const struct bindings *bound);
/* "uploads": weights with name, symbol, offset, bytes. */
void add_uploads(struct packer *k, struct tdata *data);

/* Sets model, files, fields, macros and symbols. */
void name_everything(struct packer *k);
/* Decides the form and lays the weights out. */
/* limits.c: does everything fit the compiler's largest object and its char? */
bool limits_check(struct packer *k);
bool weights_layout(struct packer *k);
/* Where the i-th comes from: how it is computed from the model's constants, on
 * behalf of which nodes, where its elements are; with what stands for its digest,
 * in files that are written behind the weights. As text of a comment that starts
 * `indent` in. */
const char *weight_note(struct packer *k, int i, bool with_digest,
			const char *indent);
/* "extern const float digits_conv_w[4][3][3];" and the like. */
const char *weight_line(struct packer *k, int i, const char *text,
			struct unit *u);
bool add_interface(struct packer *k, const char *version_hash,
		   struct strbuf *out);
bool add_source(struct packer *k);
bool add_weights(struct packer *k);
bool weights_have_header(const struct packer *k);
bool add_weights_header(struct packer *k);
/* What the dialect claims of the files, and where they depart from it. */
bool add_compliance(struct packer *k);
/* The entry function tells of each kernel that is done. */
void add_profile_calls(struct packer *k);
void add_metadata(struct packer *k);
void add_file(struct packer *k, enum file_id id, enum out_kind kind,
	      const char *text);
/* One of a dialect's files, filled in; NULL after reporting. And one of the
 * host's as a file of the package. */
const char *template_text(struct packer *k, const struct dialect *d,
			  enum template_id id, const struct tdata *data);
bool add_template_file(struct packer *k, enum template_id id,
		       const struct tdata *data, enum file_id file,
		       enum out_kind kind);
/* Under a name of its own; gives the text as it will be. */
const char *add_named_file(struct packer *k, const char *name,
			   enum out_kind kind, const char *text);
/* graph_form.c: may it be had? Its JSON, and what identifies that. */
bool graph_form_allowed(struct packer *k);
bool graph_form_describe(struct packer *k);
/* graph_kernels.c: "entries": symbol, name, body, arguments, of each kernel. */
bool add_graph_entries(struct packer *k, struct unit *u, struct tdata *data);
bool add_graph_header(struct packer *k);
/* The bytes that a kernel may touch of an argument, and their alignment. */
/* Is it one of the arrays that nodes hand over? Sizes are not, nor what the
 * kernel keeps of the weights. */
bool graph_arg_listed(const struct kernel *kernel,
		      const struct kernel_arg *arg);
int64_t graph_arg_bytes(const struct kernel_arg *arg);
int64_t graph_arg_align(const struct kernel_arg *arg);
/* metadata_rows.c: rows of the metadata. */
struct cJSON *metadata_places(struct packer *k);
struct cJSON *metadata_weights(struct packer *k);
struct cJSON *metadata_functions(struct packer *k);
struct cJSON *metadata_kernels(struct packer *k);
struct cJSON *metadata_calls(struct packer *k);
struct cJSON *metadata_trace(struct packer *k);
/* metadata.c: text that JSON may hold; a text as a member, unless NULL;
 * "key": value on a line, or a line for each item, in a text of such. */
const char *metadata_utf8(struct arena *a, const char *text);
/* Numbers, and expressions of symbolic sizes as text. */
struct cJSON *metadata_shape(struct packer *k, int ndim,
			     const struct expr *const *shape);
void metadata_text(struct packer *k, struct cJSON *object, const char *key,
		   const char *text);
void metadata_member(struct strbuf *s, const char *key, struct cJSON *value,
		     bool by_item, bool last);
/* Fills one of the dialect's short texts in. */
const char *packer_render(struct packer *k, const char *text,
			  const struct tdata *data);

#endif
