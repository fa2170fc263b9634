/* SPDX-License-Identifier: Apache-2.0 */
/* Declarations shared by the files of the importer. */
#ifndef TIRC_ONNX_IMPORTER_H
#define TIRC_ONNX_IMPORTER_H

#include "onnx.pb-c.h"
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

/* -- file.c: mapped files -- */

struct onnx_map {
	char *path;
	const uint8_t *base;
	size_t length;
	enum { BYTES_MAPPED, BYTES_OWNED } kind;
};

struct onnx_file {
	struct onnx_map *maps;
	int n, cap;
	char **kept; /* bytes that texts became */
	int n_kept;
};

struct onnx_file *onnx_file_new(void);
/* Maps the file at path, unless it is mapped already; the pointer is valid
 * until the next call. NULL, with *why an arena text, if it cannot be read. */
const struct onnx_map *onnx_file_map(struct onnx_file *file, const char *path,
				     struct arena *a, const char **why);
/* The same for a file that its owner, a model or a partition, names: a plain
 * file without another name, in the owner's folder or below. *why is the end of a
 * sentence about the file: "is a symbolic link; put the file itself there". */
const struct onnx_map *onnx_file_map_beside(struct onnx_file *file,
					    const char *owner,
					    const char *folder,
					    const char *name, struct arena *a,
					    const char **why);
/* Takes the bytes over, which live as long as the file. False: out of memory. */
bool onnx_file_keep(struct onnx_file *file, struct strbuf *bytes);
/* Lets the system drop pages that were read; an access loads them again. */
void onnx_file_forget(const void *at, size_t length);

/* -- beside.c: files that a model or a partition names -- */

/* Opens such a file; -1, with *why as above. */
int beside_open(struct arena *a, const char *owner, const char *folder,
		const char *name, const char **why);

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

struct importer {
	struct module *m;
	struct graph *g;
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
bool import_body(struct importer *imp, struct body *body);
/* An optional tensor is declared as its tensor then. True if it was one. */
bool import_unwrap_optional(struct importer *imp, Onnx__ValueInfoProto *p);
/* The type within a serialised optional or sequence type; NULL: none. */
const Onnx__TypeProto *import_inner_type(struct importer *imp,
					 const ProtobufCBinaryData *bytes);
/* The initializers of a graph as tensors of the body's scope. */
bool import_initializers(struct importer *imp, struct body *body,
			 const Onnx__GraphProto *graph);
/* The slot of a name in a body or, for a nested graph, around it. */
struct scope_slot *import_lookup(const struct body *body, const char *name);
const char *import_domain(const char *domain); /* "ai.onnx" is "" */
/* Appends a node to the graph, with its version and origin (-1: none). */
struct node *import_add_node(struct importer *imp, const char *domain,
			     const char *op_type, const char *name,
			     struct tensor **in, int n_in, struct tensor **out,
			     int n_out, int origin, int version);

/* missing.c: the number that an import goes on with in place of a missing size. */
enum { MISSING_SIZE = 256 };
/* Notes a missing size; false: it was noted before. */
bool missing_add(struct importer *imp, enum missing_kind kind, const char *name,
		 const char *what, int size);
/* The options, with bounds that are missing. */
void missing_options(struct arena *a, const missing_list *list,
		     const struct import_options *given,
		     struct import_options *out);
/* Reports all of them in one message. It replaces the errors from number `first` on,
 * except unknown operators: they may come from the sizes that the import went on
 * with. Returns false. */
bool missing_report(struct module *m, const char *path,
		    const missing_list *list, int first);

/* const_inputs.c: adds the inputs of --const-input to the scope. */
bool import_const_inputs(struct importer *imp, struct body *body);
bool import_is_const_input(const struct importer *imp, const char *name);

/* sizes.c: where the shape of n's result depends on data, inserts nodes before
 * pos that compute the sizes, for the entry function to read. */
bool import_sizes(struct importer *imp, struct node *n, int pos);
/* Inserts tirc.RunSize of x, one integer from 0 to `most`, at pos; name: of the
 * size. Its result. */
struct tensor *import_run_size(struct importer *imp, struct node *n, int pos,
			       struct tensor *x, const char *name,
			       int64_t most);
/* element_range.c: the least and the largest value of t's elements, as far as
 * its operators limit them; false: unknown. NaN is not considered. */
bool import_element_range(struct importer *imp, const struct tensor *t,
			  double *min, double *max);
/* Were all bounds of the options used? Reports each bound that was not. */
bool import_bounds_used(struct importer *imp);

/* -- attribute.c -- */

bool import_attributes(struct importer *imp, const struct body *body,
		       const Onnx__NodeProto *p, const char *item,
		       attr_list *out);
bool import_attribute(struct importer *imp, const struct tensor_source *source,
		      const Onnx__AttributeProto *p, const char *item,
		      struct attr *out);
/* Strings as a list: the bytes, and their shape. */
void strings_content(struct arena *a, const char *const *strings, int n,
		     struct tensor_content *out);
/* A Constant node's value. */
bool import_constant(struct importer *imp, const struct body *body,
		     const Onnx__NodeProto *p, const char *item,
		     struct tensor *t);

/* -- function.c -- */

/* Collects the functions of the model and of --functions, before the first is
 * looked for. */
bool functions_collect(struct importer *imp);
/* function_files.c: appends those of --functions. */
bool function_files(struct importer *imp);
/* NULL: the node calls none. */
struct local_function *function_find(const struct importer *imp,
				     const Onnx__NodeProto *call);
/* The value of an attribute that the call of the function leaves out: *out; NULL: it
 * has none. False: reported. */
bool function_default(struct importer *imp, struct local_function *f,
		      const char *name, const char *item,
		      const struct attr **out);
/* "outer/call/", a prefix that no other call has. */
const char *import_prefix(struct importer *imp, const struct body *caller,
			  const Onnx__NodeProto *call);
bool function_inline(struct importer *imp, const struct body *caller,
		     struct local_function *f, const Onnx__NodeProto *call,
		     const char *item, int origin);

/* -- inputs.c: graph inputs, --input-shape, --dim -- */

/* Tells the user what the import assumes. */
void import_assume(struct importer *imp, const char *text);

bool import_inputs(struct importer *imp, struct body *body);

/* -- sequence_inputs.c: graph inputs that are sequences or empty optionals -- */

/* An input whose elements are inputs of the graph, from `first` of the list of
 * inputs on. */
struct input_sequence {
	const char *name;
	int first, n; /* n < 0: an optional without an element */
};

typedef VEC(Onnx__ValueInfoProto *) info_list;
/* Is p a sequence, or an optional that --sequence says to be empty? Then its
 * elements are appended to list, and *out is set. */
bool import_sequence_input(struct importer *imp, Onnx__ValueInfoProto *p,
			   info_list *list, struct input_sequence *out,
			   bool *is_sequence);
/* Were all options --sequence used? Reports those that were not. */
bool import_lengths_used(struct importer *imp);

/* -- formula.c: sizes as formulas of other sizes -- */

/* The value of a name; NULL: it has none, so that there is no formula. */
typedef const struct expr *formula_name(void *ctx, const char *name,
					size_t length);
/* The value of the text; NULL: it is no formula. */
const struct expr *formula_read(struct module *m, const char *text,
				formula_name *name, void *ctx);

/* -- finish.c: upgrade, sort, resolve, infer, compare -- */

bool import_finish(struct importer *imp);

/* Notes that the outputs of a node have types and shapes. */
void import_note_inferred(struct importer *imp, const struct node *n);

/* -- deferred.c: nodes that other nodes replace -- */

/* Does it have an operator whose nodes are deferred? */
bool is_deferred_operator(const Onnx__NodeProto *p);
bool is_deferred(const struct node *n);
/* Notes a new node. */
void deferred_add(struct importer *imp, struct node *n,
		  const Onnx__NodeProto *p, const struct body *body,
		  const attr_list *attrs, int n_inputs, int origin);
/* The tensors around a node that its nested graphs use: appended to list, each
 * once. */
typedef VEC(struct tensor *) tensor_list;
void deferred_captures(struct importer *imp, const struct body *body,
		       const Onnx__NodeProto *p, tensor_list *list);
/* Replaces the node, or makes nodes for one more iteration of a loop before
 * it. All inputs of the node have known types and shapes. */
bool deferred_expand(struct importer *imp, struct node *n);
/* The node's attribute that is a graph, or NULL. */
const Onnx__GraphProto *deferred_graph(const struct deferred *d,
				       const char *name);
bool deferred_refuse(struct importer *imp, const struct deferred *d,
		     const char *fmt, ...) TIRC_PRINTF(3, 4);
/* Makes the nodes of a nested graph over given inputs; out[] are its outputs'
 * tensors. Nodes are appended to the graph, which is not sorted yet. */
bool deferred_inline(struct importer *imp, const struct deferred *d,
		     const Onnx__GraphProto *graph, int flow,
		     struct tensor *const *in, int n_in, struct tensor **out);
/* A new node with the origin of d, at the end of the graph; its tensor. */
struct tensor *deferred_node(struct importer *imp, const struct deferred *d,
			     const char *op_type, struct tensor *const *in,
			     int n_in, const char *name);
/* The result of an Unsqueeze or Squeeze of x at an axis. */
struct tensor *deferred_change_rank(struct importer *imp,
				    const struct deferred *d,
				    const char *op_type, struct tensor *x,
				    int64_t axis);
/* A new node like that of deferred_node, with a given output. */
struct node *deferred_make(struct importer *imp, const struct deferred *d,
			   const char *op_type, struct tensor *const *in,
			   int n_in, struct tensor *out);
/* Output k of the node has the value of t, which may be a sequence. */
void deferred_output(struct importer *imp, const struct deferred *d, int k,
		     struct tensor *t);
/* Removes the node, whose outputs are set. */
bool deferred_finish(struct importer *imp, struct deferred *d, const char *why);
/* The integer or truth value of input i, if it is known and has one element. */
bool deferred_known(struct importer *imp, const struct deferred *d, int i,
		    int64_t *v);

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

/* -- impossible.c: branches whose shapes contradict each other -- */

/* Inference of a node in `flow` has failed, with the diagnostics from number
 * `first` on. If they are contradictions within a branch of an If, removes them
 * and the branch: a run that takes it is refused. */
bool impossible_branch(struct importer *imp, int flow, int first);
/* Adds to the last error, of a node in `flow`, which If decides whether the node
 * runs, and the option that makes its condition known. */
void impossible_hint(struct importer *imp, int flow);
/* Replaces an If of which one branch is impossible by the other one. */
bool impossible_if(struct importer *imp, struct deferred *d);
/* The checks of the graph from `first` on come from nodes in `flow`: each becomes
 * "the branch around them is not taken, or the check holds". Appends nodes that read
 * the condition of the branch's If. */
void impossible_checks(struct importer *imp, int flow, int first);
/* The condition of an If, which the entry function reads before the branches
 * if a check needs it. */
struct tensor *impossible_condition(struct importer *imp, struct deferred *d);

/* -- flow.c: branches and loops that stay in the graph -- */

bool flow_if(struct importer *imp, struct deferred *d);
/* The inputs of the node are the limit or NULL, the condition or NULL, and the
 * states; sliced: what iterations read slices of. */
struct loop_form {
	const Onnx__GraphProto *body;
	bool is_loop; /* not a Scan */
	int n_states, n_sliced, n_stacked;
	int64_t trips;                    /* -1: not known */
	struct tensor *count, *condition; /* NULL: none */
	struct tensor **states, **sliced;
	const int64_t *in_axes, *in_back, *out_axes, *out_back;
};
bool flow_loop(struct importer *imp, struct deferred *d,
	       const struct loop_form *form);
bool flow_loop_end(struct importer *imp, struct deferred *d);

/* -- deform.c -- */

bool expand_deform_conv(struct importer *imp, struct deferred *d);

/* -- ml.c: the operators of ai.onnx.ml -- */

bool is_ml_operator(const char *domain, const char *op_type);
bool expand_ml(struct importer *imp, struct deferred *d);

/* -- loops.c, sequences.c: each replaces nodes of some operators -- */

bool expand_loop(struct importer *imp, struct deferred *d);
bool expand_scan(struct importer *imp, struct deferred *d);
bool expand_sequence(struct importer *imp, struct deferred *d);
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
/* Outputs of the model that are sequences become an output for each
 * element. */
bool sequence_outputs(struct importer *imp);
void sequence_set(struct importer *imp, const struct tensor *t,
		  const struct sequence *s);

/* -- upgrade.c -- */

/* Applies adapters that need no shapes to the nodes from position `first` on:
 * renames, attributes that became inputs. */
bool upgrade_early(struct importer *imp, int first);
/* Applies adapters that need the shapes of n's inputs; they may insert nodes
 * before and after n. */
bool upgrade_late(struct importer *imp, struct node *n, int pos);

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
