/* SPDX-License-Identifier: Apache-2.0 */
/* Graphs: ONNX's operators over named tensors. One canonical opset; internal
 * operators live in domain "tirc". Dimensions are expressions. */
#ifndef TIRC_GRAPH_H
#define TIRC_GRAPH_H

#include "pointer_map.h"
#include "settings.h"
#include "te.h"

#define GRAPH_CANONICAL_OPSET 21
/* The most symbolic dimensions that readers of graphs accept. */
#define GRAPH_MAX_DIMS 4096

struct node;
struct backend;      /* passes/byoc/backend.h */
struct graph_region; /* graph_region.h */
struct region_match;
struct op; /* a row of passes/ops/core/ops.def */

/* The bytes of a constant: mapped from a file or in the arena; little-endian,
 * dense, one storage unit (dtype_bytes) per element. */
struct value {
	struct dtype type;
	const void *data; /* NULL: all `elems` elements are `fill` */
	union number fill;
	int64_t elems;
	size_t bytes;
	/* the pages of the data may be dropped after use (madvise) */
	bool mapped;
};

struct use {
	struct node *node;
	int input; /* the user reads the tensor as node->inputs[input] */
};

/* The layout of a tensor between kernels: dimension `axis` is split into blocks
 * of `block` elements, the last dimension in memory. Other dimensions may have
 * a halo of elements with the value `fill`: zero, or the zero point of
 * quantized bytes.
 *
 *   [n][c][h][w]  ->  [n][c / 16][1 + h + 1][1 + w + 1][16] */
struct tensor_layout {
	int axis; /* the dimension that is split into blocks; -1: none is */
	int64_t block;
	/* for each dimension: the number of elements of the halo before it and
	 * after it */
	int64_t *before, *after;
	int64_t fill;
	bool filled; /* a kernel reads the halo, so `fill` is set */
	/* the tensor has no halo, although a narrow halo would suffice: a
	 * kernel that reads beyond the edges copies its input first */
	bool copied;
};

/* real = (stored - zero_point) * scale */
struct reals {
	double scale;
	int64_t zero_point;
};

/* The largest rank of a tensor, including the dimension of a string's bytes.
 * Inference refuses nodes with a larger rank. */
#define GRAPH_MAX_RANK 32

struct tensor {
	/* unique in the graph; often the model's name of the tensor */
	const char *name;
	/* The name of the model's tensor that has these values; NULL if a pass
	 * made this tensor and the model has no equal one. */
	const char *model_name;
	int id; /* its index in graph.tensors */
	struct dtype type;
	bool typed;                /* type known */
	int ndim;                  /* -1: shape unknown */
	const struct expr **shape; /* INT literals or expressions of dim vars */
	struct node *producer;     /* NULL for an input or a constant */
	/* the tensor's index among the outputs of the producer */
	int output_index;
	VEC(struct use) uses;
	/* the next number to append to this name for a new name; names with
	 * lower numbers are taken */
	int next_number;
	bool is_input, is_output; /* of the graph */
	/* Of a tensor of strings: the last dimension holds the bytes of one
	 * string, and zeros after them. */
	bool is_string;
	/* Of an input of the graph: bit d is set if the import assumed the size
	 * of dimension d, which neither the model nor an option gives. */
	uint32_t assumed_dims;
	/* Of a quantized input or output: how its integers map to real numbers;
	 * NULL if that is not known. */
	const struct reals *reals;
	/* if a pass changed whether the tensor's bytes are signed, 128 or -128:
	 * the number that is stored minus the model's number; else 0 */
	int stored_offset;
	const struct value *value; /* a constant with its bytes, or NULL */
	/* A constant that is computed from other constants when it is needed:
	 * recipe is the node that computes it, and producer is NULL. value is
	 * NULL, too, unless the recipe is a tirc.Repeat: then value is a
	 * smaller constant, which kernels read instead. */
	struct node *recipe;
	/* of a constant: the name of the model's constant that it was computed
	 * from, if the recipe does not tell */
	const char *from;
	/* Of a computed constant: a node that shows people how the constant is
	 * computed, which is its recipe; the node that computed it before its
	 * value was stored; or a node made by graph_describe(). NULL for a
	 * constant of the model. */
	const struct node *made_by;
	/* For an input of a Concat that copies nothing: the larger tensor of
	 * which this tensor is a part, and its offset in that tensor in bytes
	 * (an upper bound if sizes are symbolic). */
	struct tensor *part_of;
	int64_t part_offset_bytes;
	/* In a loop: this tensor is element_of[element], a slice along the
	 * first dimension that an iteration reads or writes, or one of the two
	 * places of a state. */
	struct tensor *element_of;
	const struct expr *element;
	const struct tensor_layout *layout; /* NULL: dense, in row-major
					     * order */
	/* the tensor is `before`, `after` or `kept` of a state: it is in the
	 * workspace, which keeps the state between runs */
	bool is_state;
	/* an input or output of the graph whose place is in the workspace, at
	 * an offset that the emitted header defines; the caller passes no
	 * pointer to it */
	bool in_workspace;
	/* If the elements are known, as those of a shape often are: n_elems
	 * expressions in row-major order; else NULL. An integer element is an
	 * index expression; a float or bool element, which occurs in the
	 * computation of a shape, has its own type. */
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
	const struct value *tensor; /* its shape: tensor_shape */
	bool is_string;             /* of an ATTR_TENSOR: as in struct tensor */
	int tensor_ndim;
	const int64_t *tensor_shape;
	struct graph *graph;
};

struct node {
	const char *op_type, *domain; /* domain "" for ONNX */
	const struct op *op;          /* set by ops_resolve */
	/* the node's name in the model; may be "" */
	const char *name;
	int id;                 /* order of creation */
	struct tensor **inputs; /* NULL entries: optional, absent */
	int n_inputs;
	struct tensor **outputs; /* NULL entries: optional, absent */
	int n_outputs;
	struct graph *graph; /* the graph that owns the node */
	VEC(struct attr) attrs;
	/* Indices into graph.origins: the model's nodes that this node
	 * computes, in whole or in part. Several nodes may have the same
	 * origin. */
	VEC(int) origins;
	int group; /* the fusion group of the node; -1 before fusion */
	int body;  /* the body that computes the node: index in graph.bodies,
		    * set by graph_find_bodies */
	struct region_match *match; /* the match of a backend's pattern; NULL if
				     * generated code computes the node */
};

/* A node of the model as it was read, and what became of it (its fate). */
struct origin {
	int index;  /* position in its graph of the file */
	int within; /* the index of the origin whose nested graph (a branch, a
		     * loop's body) has the node; -1: the main graph */
	const char *name, *op_type;
	const char *output; /* name of the first output that has a name */
	/* pass: the last pass that folded, removed or replaced the node; fate:
	 * what all passes did to the node, in words. Both are NULL if no pass
	 * changed it. */
	const char *pass, *fate;
	bool fate_is_cut; /* the text of `fate` was cut to a limit */
	/* A node that is not this origin's now computes its result. Then later
	 * passes do not record that the origin has no uses or is constant. */
	bool settled;
};

/* Numbers of sizes: indices into graph.run_sizes. */
typedef VEC(int) size_numbers;

/* A fusion group: it becomes one kernel, or no kernel (a view, or a Concat
 * without a copy, see tensor.part_of). The kernel stores the results of the
 * group's last node. A prologue node may be in several groups; node.group is
 * the first of them. */
struct group {
	/* the group's index in graph.groups, which is a topological order */
	int id;
	VEC(struct node *) nodes; /* in topological order */
	struct node *anchor;      /* the node that gives the group its name and
				   * its loops */
	/* the node has no code: another tensor has the bytes of its result */
	bool is_view;
	/* the node has no kernel: it is a node of control flow, which becomes
	 * code of the entry function */
	bool is_control;
	/* the region that the group's nodes form, or NULL */
	struct graph_region *region;
	/* Sizes that the entry function must read and check before the group
	 * writes its result, in addition to the sizes on which its nodes rely:
	 * the result is in the memory of an output, which is a view of the
	 * result with these sizes. */
	size_numbers waits;
};

/* The index of the node in the group; -1 if it is not in the group. */
int group_index(const struct group *group, const struct node *n);

/* A branch of an If, or the body of a loop. */
struct graph_body {
	/* the number of the body around this body; 0: none is around it */
	int parent;
	/* the EndIf or EndLoop that ends the body; NULL if it was removed */
	struct node *end;
	bool is_loop, is_else;
	/* Variables of a loop: the number of the current iteration, from 0;
	 * that number modulo 2; and, after the loop, the number of iterations
	 * modulo 2. */
	struct var *iteration, *turn, *last;
};

/* Tensors by name: a hash table with open addressing; the text of the name is
 * hashed. */
struct name_table {
	struct tensor **slot;
	uint32_t n, cap;
};

/* A size that is known only when the model runs: an element of a tensor that a
 * kernel writes, or of an input. The operator tirc.RunSize lists these
 * elements. The entry function reads it before the first kernel that has it as
 * an argument. */
struct run_size {
	struct var *var; /* the variable of the size, with bounds min..max; min
			  * may be 0 */
	/* the bounds hold for every input of the model; if not set, the entry
	 * function checks them */
	bool proven;
	/* the tirc.RunSize that reads the size at run time; set by
	 * graph_find_bodies */
	struct node *read_by;
};

/* A text that the model's author or exporter stored, such as the names of
 * classes. */
struct model_prop {
	const char *key, *value;
};

/* A symbolic size that the caller gives, a multiple of `step`: the dimension of
 * the graph is given / step. */
struct dim_step {
	struct var *var;   /* of graph.dims */
	struct var *given; /* has the model's name */
	int64_t step;
};

/* A state of the model: an output (`after`) whose value is an input (`before`)
 * of the next run. Until kernels are built, `after` and `before` are an output
 * and an input of the graph. From then on the state has one place in the
 * workspace, which keeps it between runs. `before` is in this place; so is
 * `kept`, a copy of `after` made at the end of a run, unless the kernel that
 * computes `after` stores it there itself. */
struct graph_state {
	/* Positions in the inputs and outputs of the model as it was read;
	 * states_detach removes both tensors from graph.inputs and
	 * graph.outputs. */
	int input, output;
	struct tensor *before, *after, *kept; /* the pass `states` sets them */
};

/* A condition on sizes that operators rely on and that cannot be proven: the
 * entry function checks it. */
struct size_check {
	const struct expr *condition;
	/* A condition: if `unless` holds, the run does not take the branch that
	 * relies on the checked condition, which then is not checked. NULL: it
	 * is always checked. */
	const struct expr *unless;
};

struct graph {
	struct module *module;
	const struct settings *settings; /* of the compilation */
	const char *name;
	const char *file; /* the path as the user gave it, for messages */
	/* the path of the model if `file` is another file, such as one of
	 * external data; else NULL */
	const char *model;
	const char
		*digest; /* sha256 of the file; older partitions: 16 digits */
	const char *producer; /* the program that made the model, or NULL */
	VEC(struct tensor *) tensors;
	/* in a topological order after graph_sort or graph_order */
	VEC(struct node *) nodes;
	VEC(struct tensor *) inputs, outputs;
	VEC(struct graph_state) states;
	VEC(struct origin) origins;
	VEC(struct group *) groups;
	VEC(struct graph_body)
	bodies;                                /* index is the body's number;
					        * element 0 is not used */
	VEC(struct graph_region *) regions;    /* in topological order */
	const struct backend *const *backends; /* the first is preferred */
	int n_backends;
	bool is_partitioned; /* the regions are final: no later pass changes
			      * them */
	/* why backends refused nodes; may be NULL */
	struct byoc_notes *byoc_notes;
	VEC(struct var *) dims; /* symbolic dimensions, with their bounds */
	VEC(struct dim_step) steps;
	/* sizes that are known only at run time; node_run_sizes gives the
	 * indices */
	VEC(struct run_size) run_sizes;
	VEC(struct size_check)
	checks;                        /* conditions that the entry function
				        * checks */
	VEC(const char *) assumptions; /* messages that `compile` shows */
	/* the options with which the model was imported, as on the command
	 * line: "--dim n=1..4" */
	VEC(const char *) import_options;
	VEC(struct model_prop) props; /* the model's metadata_props */
	struct name_table names;
	/* by id of a tensor, of the last run in the interpreter: were its
	 * elements known before the run? */
	const bool *known_before_run;
	int next_node_id;
	/* counts changes of the graph; passes are repeated until the count
	 * stays the same */
	int edits;
	int edited_at; /* the index that the node removed last had in `nodes` */
	/* every state of a loop has two places in memory, which take turns: no
	 * state is updated in place */
	bool states_take_turns;
	int64_t folded_work; /* the number of elements that constant folding has
			      * computed */
};

/* A new, empty graph; all its settings are 0 until the caller sets
 * g->settings. */
struct graph *graph_new(struct module *m, const char *name);
/* Makes a new tensor. If name is NULL or already taken, the tensor gets an
 * unused name made from it. */
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
/* Makes a node before position pos of g->nodes; if pos is -1, at the end of
 * g->nodes. */
struct node *graph_node_at(struct graph *g, int pos, const char *domain,
			   const char *op_type, const char *name,
			   struct tensor *const *inputs, int n_inputs,
			   struct tensor *const *outputs, int n_outputs);
/* Adds an assumption that the compilation relies on, unless the graph has it
 * already. `compile` shows all assumptions to the user. */
void graph_assume(struct graph *g, const char *text);
/* Appends an output. */
void node_add_output(struct node *n, struct tensor *t);
void node_set_input(struct node *n, int i, struct tensor *t);
/* Input i of n; NULL if it is absent, or n has fewer inputs. */
struct tensor *node_input(const struct node *n, int i);
/* Sets the number of n's inputs to `count`: inputs that are added are absent
 * (NULL); if n had more inputs, the last ones are dropped. */
void node_resize_inputs(struct node *n, int count);
/* Makes all readers of `from` read `to`, which has the same values. If `from`
 * is an output of the graph, `to` becomes that output and takes its name,
 * unless `to` is itself an input or output. */
void graph_replace_uses(struct graph *g, struct tensor *from,
			struct tensor *to);
/* Removes a node whose outputs have no uses, and records in its origins which
 * pass removed it and why, e.g. "identity", "an Identity passes its input
 * on". */
void graph_remove_node(struct graph *g, struct node *n, const char *pass,
		       const char *why);
/* Removes the node from g->nodes and makes it the recipe of its outputs. The
 * outputs become constants that are computed when they are needed. The node no
 * longer counts as a use of its inputs, so that an unused recipe costs
 * nothing. */
void graph_make_recipe(struct graph *g, struct node *n, const char *pass,
		       const char *why);
/* Gives t the name `name`; if this name is taken, an unused name made from
 * it. */
void graph_rename(struct graph *g, struct tensor *t, const char *name);
/* Removes tensors that nothing refers to, and numbers the remaining tensors
 * anew, in order. */
void graph_drop_unused_tensors(struct graph *g);
/* The node `into` now also computes the results of `from`: moves the origins of
 * `from` to `into`. */
void graph_absorb(struct node *into, struct node *from);
/* The node n computes a part of the results of `of`: adds the origins of `of`
 * to n. */
void graph_share_origins(struct node *n, const struct node *of);
/* Records in n's origins that `pass` changed the node n, and why. */
void graph_note(struct graph *g, const struct node *n, const char *pass,
		const char *why);
/* Like graph_note, for a node n whose result the node `into` now computes as
 * well, or, if `into` is NULL, was folded to a constant. n itself becomes dead,
 * or stays for readers of its result. */
void graph_take_up(struct graph *g, const struct node *n, struct node *into,
		   const char *pass, const char *why);
/* The model's node that n comes from, in words for people: its name "Conv_3", or,
 * if it has no name, its operator and its first output, "Conv of y". */
const char *node_label(const struct graph *g, const struct node *n);
const char *origin_label(const struct graph *g, int origin);
/* A text that no other node of the model has, and that stays the same when others
 * come or go: the name of its first output; in a nested graph after the key of the
 * node that has the graph, "states/row". */
const char *origin_key(const struct graph *g, int origin);
/* The name of t for people: its model_name, or, if that is NULL, its own
 * name. */
const char *tensor_label(const struct tensor *t);
/* Returns a tensor outside the graph that describes a constant as a formula of
 * the constants `inputs`: in `form`, $0, $1, ... stand for the inputs ("$0 *
 * $1"). It has the origins of `of`, if that is not NULL. */
struct tensor *graph_describe(struct graph *g, const char *form,
			      const struct node *of,
			      struct tensor *const *inputs, int n_inputs);
/* Records that the new constant t was computed by `form`, as in graph_describe.
 * Returns t. */
struct tensor *graph_made_of(struct graph *g, struct tensor *t,
			     const char *form, const struct node *of,
			     struct tensor *const *inputs, int n_inputs);
/* Sorts nodes, tensors and uses into an order that depends only on the edges of
 * the graph; tensors get new ids. The graph must have no cycle. */
void graph_order(struct graph *g);
/* graph_body.c: must the operator of n name its body in the attribute `body`? */
bool node_needs_body(const struct node *n);
/* Is n a node of control flow: a node that must name its body and does, or a
 * Copy in a body? */
bool node_is_control(const struct node *n);
/* Is n a node of control flow with this operator? */
bool node_is_control_op(const struct node *n, const char *op_type);
/* Is the result of n a state of a loop that each iteration takes from the
 * iteration before? */
bool node_is_carry(const struct node *n);
bool graph_has_control(const struct graph *g);
bool node_ends_if(const struct node *n);
bool node_ends_loop(const struct node *n);
/* The inputs and attributes of an EndLoop. The order of its inputs: the number
 * of iterations if it is an input; the first states (values before the loop);
 * the next states (after an iteration); the slices. */
struct loop_end {
	bool counted; /* input 0 of the EndLoop is a number of iterations */
	/* the loop ends when state 0, the condition, is false */
	bool condition;
	/* the number of iterations that the attribute gives; -1: the attribute
	 * is absent. If `counted` is false, too, only the condition ends the
	 * loop. */
	int64_t trips;
	int states, slices;
	/* the indices, among the inputs of the EndLoop, of the first state, of
	 * the first next state, and of the first slice */
	int first, next, slice;
};
struct loop_end node_loop_end(const struct node *end);
/* Checks branches and loops that another program may have written: attributes,
 * bodies that are properly nested, that tensors are read only in the body that
 * computes them or inside of it, and the memory that control flow shares. Types
 * and shapes are left to inference. Returns NULL, or what is wrong with the
 * node *at, for a message. */
const char *graph_wrong_control(const struct graph *g, const struct node **at);
/* Finds graph.bodies and each node's body, and orders the nodes so that the
 * nodes of a body, with those of the bodies inside of it, are one range before
 * the node that ends the body. */
void graph_find_bodies(struct graph *g);
/* Puts the nodes of each body, with those of the bodies inside of it, into one
 * range before the node that ends the body; the nodes of one body keep their
 * order. */
void graph_order_by_body(struct graph *g);
/* The innermost body that contains both bodies a and b, or is one of them. */
int graph_common_body(const struct graph *g, int a, int b);
/* The body with the number id; NULL for 0, which stands for all nodes outside
 * of branches and loops. */
struct graph_body *graph_body(struct graph *g, int id);
/* Is the body the same as `around`, or inside of it? */
bool graph_body_within(struct graph *g, int body, int around);
bool graph_sort(struct graph *g); /* a stable topological sort; false after
				   * DIAG_CYCLE */
/* Sorts only the nodes from position `first` on, then moves them to position
 * `to`. */
bool graph_sort_to(struct graph *g, int first, int to);
/* The node that reads t, if only one input in the graph is t and t is not an
 * output of the graph; else NULL. */
struct node *sole_user(const struct tensor *t);
/* Are the dimensions of a and b equal? False if a shape is not known. */
bool tensor_same_shape(const struct tensor *a, const struct tensor *b);
/* Are types and dimensions equal? */
bool tensor_same_type(const struct tensor *a, const struct tensor *b);
/* The index of t among the n tensors of `list`, or -1. */
int tensor_index(const struct tensor *t, struct tensor *const *list, int n);
/* true if t has a value or a recipe */
bool tensor_is_constant(const struct tensor *t);
/* Three functions. tensor_const_elems: the number of elements, if no dimension
 * is symbolic. The other two: the smallest and the largest number that a
 * symbolic shape can have. Each sets *elems; false if the number is not known
 * or does not fit in int64. */
bool tensor_const_elems(const struct tensor *t, int64_t *elems);
bool tensor_min_elems(const struct tensor *t, int64_t *elems);
bool tensor_max_elems(const struct tensor *t, int64_t *elems);

const struct attr *node_attr(const struct node *n, const char *name);
int64_t node_attr_int(const struct node *n, const char *name, int64_t def);
/* The value of a float attribute, or `def` if the node does not have it.
 * Attributes of ONNX are float32, so `def` is rounded to float32. */
double node_attr_float(const struct node *n, const char *name, double def);
const char *node_attr_string(const struct node *n, const char *name,
			     const char *def);
/* Sets *values to the attribute's integers; returns how many there are, 0 if it
 * is absent. */
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
/* Sets an attribute to a copy of *attr, which shares its arrays. */
void node_set_attr(struct graph *g, struct node *n, const struct attr *attr);
bool attr_equal(const struct attr *a, const struct attr *b);
void node_remove_attr(struct node *n, const char *name);
/* If n is a tirc.RunSize: the index in g->run_sizes of the size that its first
 * element gives; the sizes of the next elements follow there. Its output has
 * the bytes of its input. -1 if n has another operator. */
int node_run_sizes(const struct node *n);
/* The tensor whose bytes t has, through groups that are views. A concatenation
 * of parts owns its bytes. */
struct tensor *graph_view_root(const struct graph *g, struct tensor *t);
/* The tirc.RunSize node that reads the size v; *index: the element of its input
 * that holds v. NULL if no node reads v. */
struct node *graph_run_size(const struct graph *g, const struct var *v,
			    int *index);
/* graph_sizes.c: makes a map from the variables of graph.run_sizes to their
 * numbers, in the module's arena. */
void graph_number_sizes(const struct graph *g, struct pointer_map *numbers);
/* Adds to `out`, each once, the sizes that the expressions contain. numbers: as
 * from graph_number_sizes; list may be NULL. */
void graph_add_sizes(const struct pointer_map *numbers,
		     const struct expr *const *list, int n, size_numbers *out);
/* Adds to `out` the sizes that n relies on: those in the shapes, and in the
 * known elements, of the inputs and outputs of n. */
void graph_add_node_sizes(const struct pointer_map *numbers,
			  const struct node *n, size_numbers *out);
/* The size that the caller gives for the dimension dim, and the number by which
 * it is divided to get dim: a row of graph.steps, or dim itself and 1. */
struct dim_step graph_given_dim(const struct graph *g, struct var *dim);
/* The size e in terms of the sizes that the caller gives: n for 8 * n_8. */
const struct expr *graph_given_size(const struct graph *g,
				    const struct expr *e);
/* Adds a condition that must hold in all runs to the checks of the entry
 * function. */
void graph_check(struct graph *g, const struct expr *condition);
/* Does the condition or the exception of the check contain v? */
bool size_check_uses(const struct size_check *c, const struct var *v);
/* A key for a node: the name of its first output that is present; NULL if it
 * has no outputs. */
const char *node_key(const struct node *n);
/* The place of a diagnostic about n: the file, and "node 12 Conv 'conv1'". */
struct diag_place node_place(const struct graph *g, const struct node *n);

/* Appends the graph as a text for people, the same to the byte in each run. */
void graph_print(const struct graph *g, struct strbuf *out);
/* Checks the graph: links agree in both directions, names are unique, nodes are
 * in topological order, types are present. False after an error, which is a bug
 * in tirc. */
bool graph_verify(struct graph *g);
/* Appends the type and shape: "float32[1, 3, 8, 8]", or "int64[?]" if the shape
 * is not known. */
void tensor_print_type(const struct tensor *t, struct strbuf *out);

#endif
