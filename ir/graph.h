/* SPDX-License-Identifier: Apache-2.0 */
/* Graphs: ONNX's operators over named tensors. One canonical opset; internal
 * operators live in domain "tirc". Dimensions are expressions. */
#ifndef TIRC_IR_GRAPH_H
#define TIRC_IR_GRAPH_H

#include "te.h"

#define GRAPH_CANONICAL_OPSET 21

struct node;
struct backend;      /* passes/byoc: what takes regions */
struct graph_region; /* graph_region.h */
struct region_match;
struct op; /* passes/ops: the row of ops.def */

/* The bytes of a constant: mapped from a file or in the arena; little-endian,
 * dense, one storage unit (dtype_bytes) per element. */
struct value {
	struct dtype type;
	const void *data; /* NULL: splat of `fill` over `elems` */
	union number fill;
	int64_t elems;
	size_t bytes;
	bool mapped; /* pages may be dropped after use (madvise) */
};

struct use {
	struct node *node;
	int input;
};

/* How a tensor between kernels lies in memory: dimension `axis` in blocks of
 * `block`, which come last, and around others elements of `fill`: zeroes, or
 * what stands for zero where bytes are quantized.
 *
 *   [n][c][h][w]  ->  [n][c / 16][1 + h + 1][1 + w + 1][16] */
struct tensor_layout {
	int axis; /* -1: no dimension is in blocks */
	int64_t block;
	int64_t *before, *after; /* such elements, by dimension */
	int64_t fill;
	bool filled; /* somebody reads them: fill is known */
};

/* real = (stored - zero_point) * scale */
struct reals {
	double scale;
	int64_t zero_point;
};

struct tensor {
	const char *name; /* unique in the graph, often the model's */
	/* The name of the model's tensor that has these values; NULL: a pass
	 * computes what no tensor of the model is. */
	const char *model_name;
	int id;
	struct dtype type;
	bool typed;                /* type known */
	int ndim;                  /* -1: shape unknown */
	const struct expr **shape; /* INT literals or expressions of dim vars */
	struct node *producer;     /* NULL: input or constant */
	int output_index;
	VEC(struct use) uses;
	int next_number; /* behind its name, in names made from it: lower ones
			  * are taken */
	bool is_input, is_output; /* of the graph */
	/* An input or output of integers that stand for real numbers; NULL: not
	 * known to. */
	const struct reals *reals;
	int stored_offset; /* a pass made bytes of the other sign of it: stored is
			    * the model's number plus this, 128 or -128 */
	const struct value *value; /* a constant with its bytes, or NULL */
	struct node *recipe; /* a constant computed from constants when needed
			      * (producer is NULL then); value is NULL */
	const char *from;    /* a constant: the name of the model's that it was
			   * computed from, where the recipe does not tell */
	/* A constant that was computed: how, for people to read. The recipe
	 * that it has or had, or a node of graph_describe. NULL: the model's. */
	const struct node *made_by;
	/* Where a concatenation costs nothing: this tensor is written right
	 * into that larger one, at that place (its maximum, in bytes). */
	struct tensor *part_of;
	int64_t part_offset_bytes;
	const struct tensor_layout *layout; /* NULL: dense, row by row */
	/* Known content (shapes and the like), n_elems expressions in row-major
	 * order; NULL: not known. Integers as index expressions; floats and
	 * bools on the way from one shape to another keep their type. */
	const struct expr **elems;
	int n_elems;
};

enum attr_kind {
	ATTR_INT,
	ATTR_FLOAT,
	ATTR_STRING,
	ATTR_INTS,
	ATTR_FLOATS,
	ATTR_STRINGS,
	ATTR_TENSOR,
	ATTR_GRAPH
};

struct attr {
	const char *name;
	enum attr_kind kind;
	int64_t i;
	double f;
	const char *s;
	size_t s_len;
	int n;
	const int64_t *ints;
	const double *floats;
	const char *const *strings;
	const struct value *tensor; /* shape below */
	int tensor_ndim;
	const int64_t *tensor_shape;
	struct graph *graph;
};

struct node {
	const char *op_type, *domain; /* domain "" for ONNX */
	const struct op *op;          /* set by ops_resolve */
	const char *name;             /* the model's; may be "" */
	int id;                       /* order of creation */
	struct tensor **inputs;       /* NULL entries: optional, absent */
	int n_inputs;
	struct tensor **outputs; /* NULL entries: optional, absent */
	int n_outputs;
	struct graph *graph; /* that it belongs to */
	VEC(struct attr) attrs;
	/* Indices into graph.origins: the model's nodes of which it computes a
	 * part at least. Several nodes may be for one origin. */
	VEC(int) origins;
	int group;                  /* fusion group, -1 before fusion */
	struct region_match *match; /* of a backend; NULL: generated code */
};

/* One node of the model as it was read, and what became of it. */
struct origin {
	int index; /* position in the file */
	const char *name, *op_type;
	const char *output; /* name of its first output that has one */
	/* The last pass that folded, removed or replaced it, and what was done,
	 * in words, by it and those before; NULL: it is as it was. */
	const char *pass, *fate;
	/* A pass has taken up what it computes: that nothing reads the node
	 * itself, or that it depends on constants, is no news any more. */
	bool settled;
};

/* A fusion group: one kernel, or no kernel at all (a view, or a Concat whose
 * inputs are written right into it: tensor.part_of). Its last node's results
 * are what it stores. A node that is read through (a prologue) may be in
 * several groups; node.group is the first. */
struct group {
	int id;                      /* its index; the order is topological */
	VEC(struct node *) nodes;    /* in topological order */
	struct node *anchor;         /* the node that names and shapes it */
	bool is_view;                /* the bytes exist already: no code */
	struct graph_region *region; /* its nodes are a backend's, or NULL */
};

/* Tensors by name: open addressing, hashed by the text. */
struct name_table {
	struct tensor **slot;
	uint32_t n, cap;
};

/* How convolutions are computed, and what that costs a core: operations and
 * bytes from far per nanosecond. */
struct conv_costs {
	enum { CONV_DIRECT, CONV_AUTO, CONV_WINOGRAD } which;
	int gflops, gbytes;
};

struct graph {
	struct module *module;
	const char *name;
	const char *file;   /* as the user gave it; for messages */
	const char *model;  /* the model's file, where file is none; or
				    * NULL */
	const char *digest; /* first 16 hex digits of sha256 of the file */
	VEC(struct tensor *) tensors;
	VEC(struct node *) nodes; /* in a topological order once sorted */
	VEC(struct tensor *) inputs, outputs;
	VEC(struct origin) origins;
	VEC(struct group *) groups;
	VEC(struct graph_region *) regions; /* in topological order */
	/* As they are, or apart, to be compared (passes/byoc/isolate.c). */
	enum { REGIONS_WITHIN, REGIONS_ALONE, REGIONS_GENERATED } regions_as;
	const struct backend *const *backends; /* the first is preferred */
	int n_backends;
	bool is_partitioned; /* regions are settled: no pass changes them */
	struct byoc_notes *byoc_notes; /* why nodes were not taken, if wanted */
	VEC(struct var *) dims; /* symbolic dimensions, declared bounds */
	VEC(const char *) assumptions; /* told to the user by compile */
	struct name_table names;
	int next_node_id;
	int edits;     /* counts changes: passes repeat until it stands still */
	int edited_at; /* where in nodes the last one was taken out */
	/* Quantized operators round as TFLite's kernels, by fixed-point numbers,
	 * not as ONNX says. */
	bool fixed_point;
	/* Of tensors of 8 bits: the type that the target multiplies best, and
	 * how many elements its instruction sums together; 0: as they are. */
	struct dtype byte_type;
	int byte_depth;
	int part_align_bytes; /* of the inputs of a concatenation within it;
			       * 0: any */
	int64_t folded_work;  /* elements that folding has computed */
	bool by_threads;      /* many threads of a device share a kernel */
	struct conv_costs conv;
	bool open_sizes; /* sizes need no bounds: nothing is planned for them */
};

struct graph *graph_new(struct module *m, const char *name);
/* A new tensor. name NULL or taken: a fresh one is made from it. */
struct tensor *graph_tensor(struct graph *g, const char *name);
struct tensor *graph_find_tensor(const struct graph *g, const char *name);
const char *graph_fresh_name(struct graph *g, const char *base);
/* A constant tensor over given bytes (not copied). */
struct tensor *graph_constant(struct graph *g, const char *base,
			      struct dtype type, int ndim, const int64_t *shape,
			      const void *data);
struct tensor *graph_constant_ints(struct graph *g, const char *base, int n,
				   const int64_t *values); /* i64 [n] */
struct node *graph_node(struct graph *g, const char *domain,
			const char *op_type, const char *name,
			struct tensor *const *inputs, int n_inputs,
			struct tensor *const *outputs, int n_outputs);
/* Inserts before position pos of g->nodes (or -1: appended). */
struct node *graph_node_at(struct graph *g, int pos, const char *domain,
			   const char *op_type, const char *name,
			   struct tensor *const *inputs, int n_inputs,
			   struct tensor *const *outputs, int n_outputs);
void node_set_input(struct node *n, int i, struct tensor *t);
/* n's input i; NULL where it is absent, or beyond n's inputs. */
struct tensor *node_input(const struct node *n, int i);
/* More inputs are absent at first; fewer drop the last. */
void node_resize_inputs(struct node *n, int count);
/* Everything that read `from` reads `to`, which has the same values; graph
 * outputs too when it was one (then `to` takes over from's name if `to` is not
 * itself an input/output). */
void graph_replace_uses(struct graph *g, struct tensor *from,
			struct tensor *to);
/* Removes a node whose outputs have no uses; records the fate of its origins
 * (pass and why, e.g. "identity", "an Identity passes its input on"). */
void graph_remove_node(struct graph *g, struct node *n, const char *pass,
		       const char *why);
/* The node's outputs (constants all) are computed from its inputs when they
 * are needed: it leaves the order and becomes their recipe. Uses of its
 * inputs are forgotten, so that an unused recipe costs nothing. */
void graph_make_recipe(struct graph *g, struct node *n, const char *pass,
		       const char *why);
/* Gives t another name (a fresh one made from it if taken). */
void graph_rename(struct graph *g, struct tensor *t, const char *name);
/* Forgets tensors that nothing refers to; ids are renewed in order. */
void graph_drop_unused_tensors(struct graph *g);
/* `into` now also computes what `from` did (its origins move). */
void graph_absorb(struct graph *g, struct node *into, struct node *from);
/* `n` computes a part of what `of` does: it has its origins, too. */
void graph_share_origins(struct node *n, const struct node *of);
/* Notes with n's origins what a pass does to them. */
void graph_note(struct graph *g, const struct node *n, const char *pass,
		const char *why);
/* The same of a node that stays for its other readers or falls dead: `into`
 * (NULL: constants alone) computes it, too. */
void graph_take_up(struct graph *g, const struct node *n, struct node *into,
		   const char *pass, const char *why);
/* "Conv_3", "#12 Conv": the model's node that n comes from, for people. */
const char *node_label(const struct graph *g, const struct node *n);
const char *origin_label(const struct graph *g, int origin);
/* The name of the model's tensor that t is, else its own. */
const char *tensor_label(const struct tensor *t);
/* What stands for a constant that is computed from others at once: `form` with
 * $0, $1, ... for the inputs ("$0 * $1"), on behalf of `of`'s origins (NULL: of
 * none). It is no tensor of the graph. */
struct tensor *graph_describe(struct graph *g, const char *form,
			      const struct node *of,
			      struct tensor *const *inputs, int n_inputs);
/* t, a new constant, was computed so. Returns t. */
struct tensor *graph_made_of(struct graph *g, struct tensor *t,
			     const char *form, const struct node *of,
			     struct tensor *const *inputs, int n_inputs);
/* Puts nodes, tensors (their ids are renewed) and uses into an order that follows
 * from how they are connected alone. The graph has no cycle. */
void graph_order(struct graph *g);
bool graph_sort(struct graph *g); /* topological, stable; false: DIAG_CYCLE */
/* Its place in a list; -1: it is not there. */
int tensor_index(const struct tensor *t, struct tensor *const *list, int n);
bool tensor_is_constant(const struct tensor *t); /* value or recipe */
bool tensor_const_elems(const struct tensor *t, int64_t *elems);
bool tensor_max_elems(const struct tensor *t, int64_t *elems);

const struct attr *node_attr(const struct node *n, const char *name);
int64_t node_attr_int(const struct node *n, const char *name, int64_t def);
/* ONNX's are float32, so that the default is rounded to it. */
double node_attr_float(const struct node *n, const char *name, double def);
const char *node_attr_string(const struct node *n, const char *name,
			     const char *def);
/* Number of values, 0 if absent. */
int node_attr_ints(const struct node *n, const char *name,
		   const int64_t **values);
void node_set_attr_int(struct graph *g, struct node *n, const char *name,
		       int64_t v);
void node_set_attr_float(struct graph *g, struct node *n, const char *name,
			 double v);
void node_set_attr_string(struct graph *g, struct node *n, const char *name,
			  const char *v);
void node_set_attr_ints(struct graph *g, struct node *n, const char *name,
			const int64_t *v, int count);
/* attr is copied (its arrays are not). */
void node_set_attr(struct graph *g, struct node *n, const struct attr *attr);
bool attr_equal(const struct attr *a, const struct attr *b);
void node_remove_attr(struct node *n, const char *name);
/* What a node goes by among others: the name of its first output that is there;
 * NULL where it has none. */
const char *node_key(const struct node *n);
/* "node 12 Conv 'conv1'", with the file: for diagnostics. */
struct diag_place node_place(const struct graph *g, const struct node *n);

/* The readable text form, reproducible to the byte. */
void graph_print(const struct graph *g, struct strbuf *out);
/* Links both ways, names unique, topological order, types present. */
bool graph_verify(struct graph *g);
/* "float32[1, 3, 8, 8]", "int64[?]" where the shape is unknown. */
void tensor_print_type(const struct tensor *t, struct strbuf *out);
/* One line: "y: float32[8] = Relu \"name\" (x) {…}". */
void node_print(const struct node *n, struct strbuf *out);

#endif
