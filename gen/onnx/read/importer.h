/* SPDX-License-Identifier: Apache-2.0 */
/* The state of an import, and the functions that read the parts of an ONNX
 * file. */
#ifndef TIRC_IMPORTER_H
#define TIRC_IMPORTER_H

#include "onnx.pb-c.h"
#include "onnx_file.h"
#include "onnx_import.h"
#include "onnx_text.h"
#include "pointer_map.h"
#include "text_map.h"

#define ONNX_OLDEST_OPSET 1
#define ONNX_NEWEST_OPSET 28
#define ONNX_MAX_RANK GRAPH_MAX_RANK
#define ONNX_MAX_BYTES ((int64_t)1 << 48) /* the size of the largest tensor */
/* the largest number of nodes that inlining of functions may make: by the bytes of
 * the model, between these two */
#define ONNX_LEAST_INLINED (1 << 12)
#define ONNX_MAX_INLINED (1 << 16)
/* the largest number of nodes that all Gradient nodes of a model may
 * differentiate: by the bytes of the model, between these two */
#define ONNX_LEAST_DERIVED (1 << 12)
#define ONNX_MAX_DERIVED (1 << 18)
#define ONNX_MAX_CALL_DEPTH 64

/* -- tensor.c: TensorProto to values -- */

/* The bytes that contain the tensors (TensorProto.at is an offset into them),
 * and the folder of the files of external data. */
struct tensor_source {
	struct module *module;
	struct onnx_file *file;
	const uint8_t *base;
	size_t length;
	const char *path; /* path of the model, for messages */
	/* `base` is a mapped file, whose pages may be dropped after use */
	bool mapped;
	/* the folder for files of external data; NULL: tensors with external
	 * data are refused */
	const char *folder;
};

struct tensor_content {
	int ndim;
	int64_t *shape;
	const struct value *value;
	bool is_string; /* as in struct tensor */
};

/* Reads the tensor p of the message; `item` names it in messages. False after a
 * diagnostic. */
bool tensor_read(const struct tensor_source *source, const Onnx__TensorProto *p,
		 const char *item, struct tensor_content *out);
/* Sets *elems to the number of elements of a tensor with the dimensions `dims`;
 * false after DIAG_BAD_SHAPE or DIAG_TOO_LARGE. */
bool tensor_check_dims(struct module *m, struct diag_place place, int ndim,
		       const int64_t *dims, struct dtype type, int64_t *elems);

/* -- external.c: the bytes of tensors with external data -- */

/* Finds the bytes of p, whose data is in another file, which stays mapped. Sets
 * *data and *length, and *mapped to whether the pages of these bytes may be
 * dropped after reading. False after a diagnostic. */
bool external_find(const struct tensor_source *source,
		   const Onnx__TensorProto *p, const char *item,
		   const uint8_t **data, size_t *length, bool *mapped);

/* -- import.c -- */

/* If the source is a text, replaces the bytes of the source by the message to
 * which `read` converts the text. False after a diagnostic. */
bool text_source(struct module *m, struct tensor_source *source,
		 bool (*read)(struct module *m, const struct source *src,
			      struct strbuf *out));

/* -- describe.c -- */

/* The messages of a model, in the arena of the source's module. NULL after a
 * diagnostic. */
const struct model_message *model_describe(const struct tensor_source *source,
					   const Onnx__ModelProto *model);

/* -- scope.c -- */

/* A name of a scope and its tensor. */
struct scope_slot {
	const char *name;
	/* NULL: the input of a function that the call omits */
	struct tensor *tensor;
	bool open;   /* no node of the body has computed the tensor yet */
	bool listed; /* the tensor is already an output of the graph */
	/* in the map of the prefixes of calls: the number of calls with this
	 * prefix so far */
	int copies;
};

/* A map from the names of one graph or function body to tensors. */
struct scope {
	struct arena *arena;
	struct scope_slot *slot;
	uint32_t n, cap;
};

void scope_init(struct scope *s, struct arena *a);
/* The slot of a name, or NULL. */
struct scope_slot *scope_find(const struct scope *s, const char *name);
/* Adds a name, which must be new, for the tensor t. The returned slot is valid
 * until the next call. */
struct scope_slot *scope_add(struct scope *s, const char *name,
			     struct tensor *t);

typedef VEC(struct attr) attr_list;

/* A body under import: the main graph, one call of a function, or a nested
 * graph (a branch, or the body of a loop). */
struct body {
	const struct body *caller; /* NULL in the main graph */
	/* For a nested graph: the body around it. Nodes of the nested graph may
	 * use names of this body, too. */
	const struct body *outer;
	const Onnx__FunctionProto *function;
	/* the file that contains the body */
	const struct tensor_source *source;
	const char *where; /* " of function 'f'", for messages */
	struct scope scope;
	Onnx__NodeProto **nodes;
	size_t n_nodes;
	Onnx__OperatorSetIdProto **opsets;
	size_t n_opsets;
	const char *prefix; /* the prefix of names in the body; "" in the main
			     * graph */
	/* index in graph.origins of the origin of all nodes of the body; -1:
	 * each node gets an origin of its own */
	int origin;
	/* Nested graph: the origin of the node that has it; else -1. */
	int within;
	int depth; /* the number of calls and nested graphs around the body */
	int flow;  /* the branch or loop that the body's nodes belong to (an
		    * index in importer.flows); 0: none */
	/* For ref_attr_name: the attributes of the call, and the function,
	 * which has their defaults; NULL in the main graph. */
	const attr_list *attrs;
	struct local_function *local;
};

struct importer;
struct text_body;
struct sequence;
struct deferred;

/* A branch or loop to which imported nodes belong (places.c). */
struct flow_place {
	/* the number of the branch or loop that contains this one; 0: none
	 * does */
	int parent;
	struct deferred *of;
	/* 0: the then branch of an If; 1: its else branch; -1: a loop */
	int branch;
	/* the If was replaced by this branch, whose nodes now belong to
	 * `parent` */
	bool joined;
};

/* A node that is replaced by other nodes during inference, because its
 * translation depends on the values of its inputs: a node with nested graphs,
 * or with sequences or optionals (deferred.c). */
struct deferred {
	struct node *node;
	const Onnx__NodeProto *proto;
	const struct body *body; /* the body that contains the node */
	attr_list attrs;
	/* the number of inputs that the model lists; captured tensors follow
	 * these inputs */
	int n_inputs;
	int origin, version;
	/* unrolling: set by the first visit of a loop that becomes copies of
	 * its body. flow: set by the first visit of a loop or an If that stays
	 * in the graph. */
	struct unrolling *unrolling;
	struct flow *flow;
};

/* A tensor of one element that is read at run time as a size: the tensor
 * (root), and the result of its tirc.RunSize (size). This entry is kept, so
 * that a second node that reads the tensor uses the same size. */
struct read_size {
	const struct tensor *root; /* as size_root() gives it */
	struct tensor *size;
};

/* A function of the model or of a file of --functions; its position among all
 * functions; and the file that contains it. */
struct local_function {
	const Onnx__FunctionProto *proto;
	size_t at;
	const struct tensor_source *source;
	/* The function's attributes by name, and the defaults that have been
	 * read. */
	struct text_map attributes;
	const struct attr **defaults;
	/* the user has already been told that the function replaces an operator
	 * of tirc */
	bool told;
};

/* What is missing, of a size that neither the model nor an option gives
 * (missing.c). */
enum missing_kind {
	MISSING_DIM,   /* a size of an input */
	MISSING_SHAPE, /* the whole shape of an input */
	/* the largest value of a size that is known only when the model runs */
	MISSING_BOUND
};
struct missing_size {
	enum missing_kind kind;
	const char *name;
	/* a text that messages print after the name; NULL: no text */
	const char *what;
	/* the number that the import uses in place of the missing size */
	int size;
};
typedef struct {
	struct missing_size *data;
	int n, cap;
	struct text_map names[MISSING_BOUND + 1]; /* by kind */
	/* the names, for --dim, of missing sizes that are assumed to be 1
	 * because they count a batch; in the module's arena */
	VEC(const char *) batches;
} missing_list;

/* An operator whose nodes are replaced by other nodes. min, max: the number of
 * inputs (-1: no maximum). The inputs from `first` up to the minimum, or all
 * from `first` on if there is no maximum, must be present. own_output: output 0
 * must be present. */
struct expander {
	const char *domain, *op_type;
	bool (*expand)(struct importer *imp, struct deferred *d);
	int min, max, first;
	bool own_output;
};

struct importer {
	struct module *m;
	struct graph *g;
	/* Finds the row that says by which function nodes of an operator are
	 * replaced; NULL if its nodes stay in the graph. The domain of ONNX's
	 * own operators is "". */
	const struct expander *(*expander)(const char *domain,
					   const char *op_type);
	/* Does tirc have the operator, or does it replace the operator by
	 * others? */
	bool (*knows_operator)(const char *domain, const char *op_type);
	const struct import_options *options;
	struct tensor_source source;
	struct arena tmp; /* memory that is freed at the end of the import */
	const Onnx__ModelProto *model;
	const Onnx__GraphProto *graph;
	VEC(struct local_function) functions; /* sorted by signature */
	VEC(int) versions; /* by node id: the opset version of the node */
	/* flows: the branches and loops of the graph, numbered from 1. flow_of:
	 * by node id, the number of the branch or loop that contains the node
	 * (0: none does). check_of: by index in g->checks, the number of the
	 * branch or loop that the check is from. */
	VEC(struct flow_place) flows;
	VEC(int) flow_of, check_of;
	/* by node id: are the types and shapes of the node's outputs known? */
	VEC(bool) inferred;
	VEC(struct deferred *) deferred; /* in the order of their nodes' ids */
	VEC(struct read_size) read_sizes;
	/* The sequences and optionals; sequence_of maps the tensor that
	 * represents one to its index. */
	VEC(const struct sequence *) sequences;
	struct pointer_map sequence_of;
	/* from a node of the file (Onnx__NodeProto) to its index in
	 * graph.origins, for those that have an origin of their own */
	struct pointer_map origin_of;
	struct scope call_names; /* the prefixes that calls of functions use */
	/* the number of nodes that are made from functions so far */
	int n_work;
	int64_t n_derived; /* nodes that Gradient nodes differentiated so far */
	int n_missing;     /* node inputs that nothing produces */
	/* the input that random numbers depend on (compose_random.c); NULL
	 * while no node needs random numbers */
	struct tensor *random_run;
	/* the number of streams of random numbers so far: a node that draws
	 * numbers and has no seed gets a stream of its own */
	int n_streams;
	/* the texts of compositions that were read, by row (text_body.h) */
	const struct text_body **texts;
	bool reshaped; /* --input-shape changed a constant */
	/* by index of the --bound, and of the --sequence: was the option
	 * used? */
	bool *bound_used, *length_used;
	/* The missing sizes that all attempts at the import have found: the
	 * import is repeated until it finds no more. In the module's arena. */
	missing_list *missing;
};

/* The rank that tensor t has in the model. In tirc, a tensor of strings has one
 * more dimension, for the bytes. */
static inline int
tensor_rank(const struct tensor *t)
{
	return t->ndim - t->is_string;
}

/* The place of a diagnostic: the model's file, and `item`, a part of the
 * model. */
struct diag_place import_place(const struct importer *imp, const char *item);
/* A name for messages: quoted, shortened, with control characters escaped. */
const char *import_quote(struct arena *a, const char *name);
/* Makes t a constant with this content. */
void import_set_value(struct importer *imp, struct tensor *t,
		      const struct tensor_content *c);
/* An allocator for protobuf-c that allocates in the arena; free does
 * nothing. */
ProtobufCAllocator import_allocator(struct arena *a);
/* Adds the initializers of a graph to the scope of the body. False after a
 * diagnostic. */
bool import_initializers(struct importer *imp, struct body *body,
			 const Onnx__GraphProto *graph);
/* -- attribute.c -- */

/* Reads an attribute of a node; `item` names the node in messages. False after
 * a diagnostic. An attribute of a type that only unsupported operators have is
 * skipped: true, with out->name NULL. */
bool import_attribute(struct importer *imp, const struct tensor_source *source,
		      const Onnx__AttributeProto *p, const char *item,
		      struct attr *out);
/* Reads all attributes of the node p; if p is in a function, also those that
 * refer to attributes of the call. False after a diagnostic. */
bool import_attributes(struct importer *imp, const struct body *body,
		       const Onnx__NodeProto *p, const char *item,
		       attr_list *out);
/* Sets *out to a list of strings as a tensor of bytes: [n, bytes of the longest
 * string]. */
void strings_content(struct arena *a, const char *const *strings, int n,
		     struct tensor_content *out);
/* Makes t a constant with the value of the Constant node p. False after a
 * diagnostic. */
bool import_constant(struct importer *imp, const struct body *body,
		     const Onnx__NodeProto *p, const char *item,
		     struct tensor *t);

/* -- state.c -- */

/* Tells the user about an assumption of the import. */
void import_assume(struct importer *imp, const char *text);
/* Records that the outputs of n have types and shapes. */
void import_note_inferred(struct importer *imp, const struct node *n);
/* Is n a deferred node, which other nodes replace during inference? */
bool is_deferred(const struct node *n);
/* The operator that a deferred node has until other nodes replace it. */
extern const struct op deferred_op;

/* -- places.c: the branch or loop that each node belongs to, 0 for none -- */

/* The branch or loop of the nodes of a body; and of the node n. */
int place_of_body(const struct importer *imp, const struct body *body);
int place_of_node(const struct importer *imp, const struct node *n);
/* Adds a branch or loop of the node of d and returns its number; branch: see
 * struct flow_place. */
int place_begin(struct importer *imp, struct deferred *d, int branch);
/* Makes the node n belong to the branch or loop `flow`. */
void place_node(struct importer *imp, const struct node *n, int flow);
/* Makes the nodes with ids from `first` on, and the new checks of the graph,
 * belong to `flow`, unless they belong to another branch or loop already. */
void place_new(struct importer *imp, int first, int flow);
/* The innermost branch of an If that contains `flow` or is `flow`; 0 if there
 * is none. */
int place_branch(const struct importer *imp, int flow);
/* Makes the nodes of the branch `flow` belong to the place that contains its
 * If. */
void place_join(struct importer *imp, int flow);
/* Is the branch or loop `flow` the branch or loop `around`, or inside of it? */
bool place_within(const struct importer *imp, int flow, int around);

/* -- sequence.c -- */

/* A sequence of n tensors, or an optional. A sequence never changes: an
 * operation makes a new sequence, which shares most nodes with the old one and
 * takes time and memory for log(n) elements. */
struct sequence {
	bool is_none; /* an empty optional */
	bool is_map;  /* the map of a ZipMap: element 0 has its keys, element 1
		       * its values */
	int n;
	const struct sequence_node *root;
};
struct sequence *sequence_new(struct importer *imp, struct tensor *const *elems,
			      int n);
/* A sequence like s with t inserted before element `at`, or at the end if `at`
 * is s->n. */
const struct sequence *sequence_insert(struct importer *imp,
				       const struct sequence *s, int at,
				       struct tensor *t);
/* A sequence like s without element `at`. */
const struct sequence *sequence_erase(struct importer *imp,
				      const struct sequence *s, int at);
struct tensor *sequence_at(const struct sequence *s, int at);
/* The elements of s as a new array. */
struct tensor **sequence_elems(struct importer *imp, const struct sequence *s);
/* The sequence or optional that t represents; NULL if t is a tensor. */
const struct sequence *sequence_find(const struct importer *imp,
				     const struct tensor *t);
/* Makes t represent the sequence s. */
void sequence_set(struct importer *imp, const struct tensor *t,
		  const struct sequence *s);

#endif
