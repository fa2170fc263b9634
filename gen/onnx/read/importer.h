/* SPDX-License-Identifier: Apache-2.0 */
/* The state of an import, and what reads the parts of an ONNX file. */
#ifndef TIRC_ONNX_IMPORTER_H
#define TIRC_ONNX_IMPORTER_H

#include "onnx.pb-c.h"
#include "onnx_file.h"
#include "onnx_import.h"
#include "onnx_text.h"
#include "pointer_map.h"
#include "text_map.h"

#define ONNX_OLDEST_OPSET 1
#define ONNX_NEWEST_OPSET 28
#define ONNX_MAX_RANK 32
#define ONNX_MAX_BYTES ((int64_t)1 << 48) /* of one tensor */
#define ONNX_MAX_INLINED (1 << 16)        /* nodes of inlined functions */
#define ONNX_MAX_CALL_DEPTH 64

/* -- tensor.c: TensorProto to values -- */

/* The message that TensorProto.at is an offset into, and the place of external
 * data. */
struct tensor_source {
	struct module *module;
	struct onnx_file *file;
	const uint8_t *base;
	size_t length;
	const char *path;   /* of the model: for messages */
	const char *folder; /* NULL: no external data */
};

/* The source's text becomes the message that `read` makes of it. */
bool text_source(struct module *m, struct tensor_source *source,
		 bool (*read)(struct module *m, const struct source *src,
			      struct strbuf *out));

struct tensor_content {
	int ndim;
	int64_t *shape;
	const struct value *value;
	bool is_string; /* as in struct tensor */
};

bool tensor_read(const struct tensor_source *source, const Onnx__TensorProto *p,
		 const char *item, struct tensor_content *out);
/* Product of the dims; DIAG_BAD_SHAPE, DIAG_TOO_LARGE. */
bool tensor_check_dims(struct module *m, struct diag_place place, int ndim,
		       const int64_t *dims, struct dtype type, int64_t *elems);

/* -- external.c: the bytes of tensors with external data -- */

bool external_find(const struct tensor_source *source,
		   const Onnx__TensorProto *p, const char *item,
		   const uint8_t **data, size_t *length);

/* -- import.c -- */

struct scope_slot {
	const char *name;
	struct tensor *tensor; /* NULL: an absent input of the call */
	bool open;             /* the body has not computed it yet */
	bool listed;           /* among the outputs of the graph */
};

/* A map from the names of one graph or function body to tensors. */
struct scope {
	struct arena *arena;
	struct scope_slot *slot;
	uint32_t n, cap;
};

void scope_init(struct scope *s, struct arena *a);
/* NULL if there is no such name. */
struct scope_slot *scope_find(const struct scope *s, const char *name);
/* The name must be new. The slot is valid until the next call. */
struct scope_slot *scope_add(struct scope *s, const char *name,
			     struct tensor *t);

typedef VEC(struct attr) attr_list;

/* A body under import: the main graph, one call of a function, or a nested
 * graph (a branch, or the body of a loop). */
struct body {
	const struct body *caller; /* NULL: the main graph */
	/* A nested graph: the body around it, whose names it may use, too. */
	const struct body *outer;
	const Onnx__FunctionProto *function;
	const struct tensor_source *source; /* the file that has it */
	const char *where; /* " of function 'f'", for messages */
	struct scope scope;
	Onnx__NodeProto **nodes;
	size_t n_nodes;
	Onnx__OperatorSetIdProto **opsets;
	size_t n_opsets;
	const char *prefix; /* of names; "" in the main graph */
	int origin;         /* -1: one per node */
	int depth;
	int flow; /* the branch or loop of the graph that it is computed in */
	/* For ref_attr_name: the attributes of the call, and the function with
	 * their defaults; NULL: the main graph. */
	const attr_list *attrs;
	struct local_function *local;
};

struct importer;
struct sequence;
struct deferred;

/* A branch or loop of the graph, as nodes are imported into it (places.c). */
struct flow_place {
	int parent; /* the branch or loop around it; 0: none */
	struct deferred *of;
	int branch;  /* 0: what the If does then; 1: else; -1: it is a loop */
	bool joined; /* its nodes are those of `parent`: the If has no other
		      * branch */
};

/* A node whose meaning depends on known values, which is replaced by other
 * nodes when the types and shapes of its inputs are known: a node with nested
 * graphs, or one with sequences or optionals. */
struct deferred {
	struct node *node;
	const Onnx__NodeProto *proto;
	const struct body *body; /* the node is in it */
	attr_list attrs;
	int n_inputs; /* that the model lists; captured tensors follow */
	int origin, version;
	/* Begun: of a loop that becomes copies of its body, of one that stays
	 * a loop, or of an If. */
	struct unrolling *unrolling;
	struct flow *flow;
};

/* A tensor of one element, and the result of the tirc.RunSize of it. */
struct read_size {
	const struct tensor *root;
	struct tensor *size;
};

/* A function, its number among all, and the file that has it. */
struct local_function {
	const Onnx__FunctionProto *proto;
	size_t at;
	const struct tensor_source *source;
	/* Its attributes by name, and the defaults that calls have used. */
	struct text_map attributes;
	const struct attr **defaults;
};

/* A size that neither the model nor an option gives (missing.c). */
enum missing_kind {
	MISSING_DIM,   /* of an input */
	MISSING_SHAPE, /* all sizes of an input */
	MISSING_BOUND  /* the largest value of one that is known at run time */
};
struct missing_size {
	enum missing_kind kind;
	const char *name;
	const char *what; /* for messages; NULL: nothing more than the name */
	int size;         /* that the import goes on with */
};
typedef VEC(struct missing_size) missing_list;

/* How the nodes of an operator are replaced by others. min, max: of inputs; -1:
 * any number. Inputs from the first that must be present up to `min`, or of any
 * number all, are present. own_output: output 0 is present. */
struct expander {
	const char *op; /* "DeformConv", "ai.onnx.preview.FlexAttention" */
	bool (*expand)(struct importer *imp, struct deferred *d);
	int min, max, first;
	bool own_output;
};

struct importer {
	struct module *m;
	struct graph *g;
	/* The row of an operator whose nodes are replaced; NULL: its nodes
	 * stay. Domain "" is ONNX's. */
	const struct expander *(*expander)(const char *domain,
					   const char *op_type);
	const struct import_options *options;
	struct tensor_source source;
	struct arena tmp; /* dies with the import */
	const Onnx__ModelProto *model;
	const Onnx__GraphProto *graph;
	VEC(struct local_function) functions; /* sorted */
	VEC(int) versions;                    /* opset version by node id */
	/* flows: the branches and loops of the graph, by number, from 1 on.
	 * flow_of: by a node's id, the number of the one that the node is in.
	 * check_of: the same for each row of g->checks. */
	VEC(struct flow_place) flows;
	VEC(int) flow_of, check_of;
	VEC(bool) inferred; /* types and shapes are done, by node id */
	VEC(struct deferred *) deferred;
	VEC(struct read_size) read_sizes;
	/* The sequences and optionals, and their number by the tensor that
	 * stands for each. */
	VEC(const struct sequence *) sequences;
	struct pointer_map sequence_of;
	struct scope call_names;   /* prefixes in use */
	int n_work;                /* nodes met in functions */
	int n_missing;             /* inputs that nothing produces */
	struct tensor *random_run; /* NULL: no node has random numbers */
	int n_streams;             /* of random numbers */
	bool reshaped;             /* --input-shape changed a constant */
	/* by number of the option */
	bool *bound_used, *length_used;
	missing_list *missing; /* of all attempts, in the module's arena */
};

/* The number of dimensions in the model: those of strings, without that of
 * their bytes. */
static inline int
tensor_rank(const struct tensor *t)
{
	return t->ndim - t->is_string;
}

struct diag_place import_place(const struct importer *imp, const char *item);
/* A name for messages: quoted, with control characters escaped, shortened. */
const char *import_quote(struct arena *a, const char *name);
void import_set_value(struct importer *imp, struct tensor *t,
		      const struct tensor_content *c);
/* Messages are unpacked into the arena and released with it. */
ProtobufCAllocator import_allocator(struct arena *a);
/* The initializers of a graph as tensors of the body's scope. */
bool import_initializers(struct importer *imp, struct body *body,
			 const Onnx__GraphProto *graph);
/* -- attribute.c -- */

bool import_attributes(struct importer *imp, const struct body *body,
		       const Onnx__NodeProto *p, const char *item,
		       attr_list *out);
/* Strings as a list: the bytes, and their shape. */
void strings_content(struct arena *a, const char *const *strings, int n,
		     struct tensor_content *out);
/* A Constant node's value. */
bool import_constant(struct importer *imp, const struct body *body,
		     const Onnx__NodeProto *p, const char *item,
		     struct tensor *t);

/* -- state.c -- */

/* Tells the user what the import assumes. */
void import_assume(struct importer *imp, const char *text);
/* Notes that the outputs of a node have types and shapes. */
void import_note_inferred(struct importer *imp, const struct node *n);
/* Is the node one that other nodes will replace? */
bool is_deferred(const struct node *n);
/* The operator of such a node until then. */
extern const struct op deferred_op;

/* -- places.c: which branch or loop nodes are in -- */

/* The branch or loop that the body's nodes are in; 0: none. */
int place_of_body(const struct importer *imp, const struct body *body);
int place_of_node(const struct importer *imp, const struct node *n);
/* A new branch or loop within d's body; branch: see struct flow_place. */
int place_begin(struct importer *imp, struct deferred *d, int branch);
void place_node(struct importer *imp, const struct node *n, int flow);
/* Nodes with ids from `first` on, and new checks of the graph, that have no
 * place yet get that one. */
void place_new(struct importer *imp, int first, int flow);
/* The innermost branch of an If around it; 0: none. */
int place_branch(const struct importer *imp, int flow);
/* The nodes of the branch become nodes of what is around its If. */
void place_join(struct importer *imp, int flow);
/* Is place `flow` within the other, or the same? */
bool place_within(const struct importer *imp, int flow, int around);

/* A sequence of n tensors. */
struct sequence {
	bool is_none; /* an optional without an element */
	bool is_map;  /* its keys and its values, of ZipMap */
	int n;
	struct tensor **elems;
	/* The list has room for `cap` elements and may be shared: a sequence
	 * with one more has put it behind these n if *used > n. */
	int cap, *used;
};
struct sequence *sequence_new(struct importer *imp, int n);
/* The sequence or optional that t stands for; NULL: t is a tensor. */
const struct sequence *sequence_find(const struct importer *imp,
				     const struct tensor *t);
void sequence_set(struct importer *imp, const struct tensor *t,
		  const struct sequence *s);

/* -- sha256.c -- */

struct sha256 {
	uint32_t state[8];
	uint64_t length;
	uint8_t block[64];
};

/* sha256_x86.c; false: not on this processor, nothing done. */
bool sha256_fast(uint32_t state[8], const uint8_t *data, size_t blocks,
		 const uint32_t constants[64]);
void sha256_init(struct sha256 *s);
void sha256_update(struct sha256 *s, const void *data, size_t length);
void sha256_final(struct sha256 *s, uint8_t digest[32]);
/* The first 16 hex digits; sha256_final is done. */
const char *sha256_text(struct sha256 *s, struct arena *a);
/* The digits for a range of bytes; mapped: pages may be dropped after
 * reading. */
const char *sha256_text_of(struct arena *a, const uint8_t *data, size_t length,
			   bool mapped);

#endif
