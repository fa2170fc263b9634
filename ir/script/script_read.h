/* SPDX-License-Identifier: Apache-2.0 */
/* Declarations shared by the parts of the TVMScript reader. Private to
 * ir/script/script_*.c. */
#ifndef TIRC_SCRIPT_READ_H
#define TIRC_SCRIPT_READ_H

#include "py_call.h"
#include "script.h"
#include "text_map.h"
#include "typed.h"

/* The most dimensions of a buffer. */
enum { SCRIPT_MAX_RANK = 32 };

/* Of an expression: its parts, each as often as it is used, and the parts on the
 * longest way into it. */
struct script_size {
	int parts, levels;
};

/* The kinds of values that a name or an expression can have; with each, the
 * members that are set. */
enum script_kind {
	SCRIPT_NONE,   /* Python's None */
	SCRIPT_EXPR,   /* e; weak: it is a number of Python, whose type is not
		        * decided */
	SCRIPT_BUFFER, /* buffer */
	SCRIPT_LIST,   /* items: the elements of a list or a tuple */
	SCRIPT_HANDLE, /* handle: a parameter that match_buffer may declare as a
		        * buffer */
	SCRIPT_MEMORY, /* memory: the result of T.allocate */
	SCRIPT_THREAD, /* text: a thread axis whose extent is not known yet */
	SCRIPT_NEW_VAR, /* type: of a size that T.int32() declares */
	SCRIPT_FUNCTION /* def: a function of steps */
};

/* A part of a buffer under a name of its own: element (i, j) of the part is
 * element (min[0] + i, min[1] + j) of the buffer; in the dimensions of the
 * buffer before its last ndim dimensions, the index is min. */
struct script_view {
	int ndim;
	const struct expr **min;
	/* the dimensions of the part are the buffer's dimensions for which
	 * `min` is NULL, not the last ndim dimensions of the buffer */
	bool picks;
	const struct expr *const *shape;
	/* flat: the view is the buffer's memory with another shape or type.
	 * offset + i * strides[0] + j * strides[1] elements of `type` precede
	 * element (i, j); strides NULL: dense. min is not used. */
	bool flat;
	struct dtype type;
	const struct expr *offset;
	const struct expr *const *strides;
};

struct script_value {
	enum script_kind kind;
	bool weak;
	const struct expr *e;
	const struct buffer *buffer;
	/* of SCRIPT_BUFFER: the view of the buffer that the name stands for;
	 * NULL: the whole buffer */
	const struct script_view *view;
	const struct script_value *items;
	int n_items;
	/* of SCRIPT_LIST: its elements with those of lists in it, and the lists
	 * on the longest way into it */
	struct script_size all;
	struct script_handle *handle;
	struct script_memory *memory;
	const char *text;
	struct dtype type;
	const struct py_node *def;
	bool scalar; /* of SCRIPT_BUFFER: the name stands for its only element */
	/* of SCRIPT_EXPR: the variable that s = T.int32() declares, which gets its
	 * value where a shape, a loop or the facts of a part name it */
	bool open;
};

struct script_name {
	const char *name;
	int id; /* the number of the name's text in script_reader.ids */
	/* the index in r->names of the definition that this one hides, or -1 */
	int outer;
	struct script_value value;
};

/* The part of a name before its number, and the next number that the printer
 * would append to this part. */
struct script_stem {
	const char *name;
	int next;
};

struct script_handle {
	const char *name;
	struct var *var;
	const struct buffer *buffer; /* NULL until it is matched */
	/* the handle was used as a pointer: from then on no buffer can be
	 * matched to it */
	bool used;
};

/* Memory from T.allocate; a buffer declares later how it is indexed. */
struct script_memory {
	const char *name;
	struct buffer_spec spec;
	const struct buffer *buffer;
};

struct script_loop {
	const struct var *var;
	const struct expr *min, *extent;
	const char *thread; /* the tag of the thread index to which the loop is
			  * bound, or NULL */
};

/* The block whose suite is being read. */
struct script_block {
	struct script_block *outer;
	bool is_root, is_init, started;
	VEC(struct iter_var) iters;
	VEC(const struct expr *) bindings;
	const struct expr *predicate;
	VEC(struct region) reads, writes;
	bool has_reads, has_writes;
	int n_lets; /* of the reader, where the block begins */
	VEC(const struct buffer *) allocs;
	struct note *notes;
	struct stmt *init;
};

/* A statement whose scope is the rest of its suite. */
struct script_opener {
	enum stmt_kind kind; /* LET, ALLOC, ATTR, FOR (a thread), ASSERT… */
	/* index, in the suite, of the first statement in the scope of the
	 * opener */
	int at;
	struct src_pos pos;
	struct var *var;
	const struct expr *value, *min;
	const struct buffer *buffer;
	struct script_memory *memory;
	const char *text;
	struct note *notes;
};

struct script_suite {
	VEC(struct stmt *) list;
	VEC(struct script_opener) openers;
};

struct script_let_value {
	struct var *var;
	const struct expr *value;
};

/* The loops of blocks, or of threads, of a function that names them by
 * T.cta_id, T.warp_id and so on. n: the number of loops; 0: not opened. */
struct script_threads {
	int n;
	const struct expr *sizes[3], *index[3];
};

struct script_reader {
	const struct py_node *def;        /* the function that is read */
	struct script_threads threads[2]; /* of blocks, of threads */
	struct module *m;
	const struct source *src;
	struct typing typing;
	struct func *f;
	const struct script_scope *scope;
	VEC(struct script_name) names; /* names in scope, outermost first */
	/* maps the text of each defined name to a number */
	struct text_map ids;
	VEC(int)
	latest;                        /* by the number of a name: the index in
				        * r->names of its definition in effect,
				        * or -1 */
	VEC(struct script_stem) stems; /* see script_hint */
	struct text_map stem_of;       /* maps the part of a name before its
				        * number to an index in stems */
	VEC(struct script_loop) loops;
	VEC(struct param) params;
	VEC(struct script_handle *) handles; /* per parameter, or NULL */
	struct script_block *block;
	/* the text has T.block somewhere: then T.alloc_buffer belongs to the
	 * block around it */
	bool old_blocks;
	bool has_blocks;
	bool has_ret;
	/* the number of names, from the first on, that are sizes which the body
	 * declares */
	int n_sizes;
	int depth;   /* the nesting depth of the statement being read */
	int n_evals; /* the values that wait for the value of a part of theirs */
	/* the suites, and the loops of T.grid, around the statement being read */
	int n_suites;
	/* the number of names, from the first on, that the body of a macro does
	 * not see */
	int n_hidden;
	int macro_depth, n_expanded,
		n_lines; /* see script_stmt.c, script_size.c */
	bool is_steps;   /* the text is read by script_read_steps */
	/* the call of T.comm_reducer that the latest attribute "reduce_scope"
	 * has, or NULL */
	const struct py_node *reducer;
	/* the lets of the text so far, in order */
	VEC(struct script_let_value) lets;
	bool has_allreduce; /* of threads */
	/* how many statements of the function give another value to a name: the name's
	 * index in `stores`; see script_assign.c */
	struct text_map stored;
	VEC(int) stores;
	/* of the expressions from first_id on, by their ids; see
	 * script_size.c */
	VEC(struct script_size) sizes;
	uint32_t first_id;
	bool allocates; /* are the facts of a buffer read that is allocated? */
};

/* ---- limits: script_size.c */

/* Is the value of the node, or e, an expression of not too many parts and levels?
 * False after an error. */
bool script_expr_fits(struct script_reader *r, const struct py_node *node,
		      const struct expr *e);
bool script_fits(struct script_reader *r, const struct py_node *node,
		 const struct script_value *v);
/* Counts the item, which is appended to the list, in list->all. False after an error,
 * if the list has too many elements, with those of lists in it, or lists too deep in
 * others. */
bool script_list_grows(struct script_reader *r, const struct py_node *node,
		       const struct script_value *item,
		       struct script_value *list);
/* Sets *out to the list of the items. False after the same errors. */
bool script_list(struct script_reader *r, const struct py_node *node,
		 const struct script_value *items, int n,
		 struct script_value *out);
/* Counts a line of a macro; false after an error, if there are too many. */
bool script_adds_line(struct script_reader *r, const struct py_node *node);
/* Is r->depth within its limit? False after an error at the node. */
bool script_depth_fits(struct script_reader *r, const struct py_node *node);
/* Is r->n_evals within its limit? False after an error at the node. */
bool script_evals_fit(struct script_reader *r, const struct py_node *node);
/* May n suites more be in those around the node? False after an error. */
bool script_suites_fit(struct script_reader *r, const struct py_node *node,
		       int n);
/* Counts a call of a macro, or an iteration of a loop in one; false after an
 * error, if there are too many. */
bool script_expands(struct script_reader *r, const struct py_node *node);

/* ---- names */

/* Reports an error at the node. Always false, so that callers can return it. */
#define script_fail(r, node, ...)                                              \
	py_error((r)->m, (r)->src, (node)->span, __VA_ARGS__)

void script_define(struct script_reader *r, const char *name,
		   struct script_value value);
/* Ends the scope of all names except the first n. */
void script_leave(struct script_reader *r, int n);
/* Defines the name as a variable that has no value yet (script_value.open). */
void script_declare(struct script_reader *r, const char *name,
		    struct dtype type);
/* The name, without the number that the printer added, of the variable or
 * buffer that is defined as name. The printer numbers equal names in the order
 * of definition: so j_2, if defined after j and j_1, is a third variable named
 * j. Must be called once for each definition, in order. */
const char *script_hint(struct script_reader *r, const char *name);
const struct script_value *script_find(const struct script_reader *r,
				       const char *name);
/* If node is an attribute of the script's module T: the name after "T.", such
 * as "axis.remap". Else NULL. */
const char *script_path(const struct script_reader *r,
			const struct py_node *node);
/* Is node the call T.NAME(…)? */
bool script_calls(const struct script_reader *r, const struct py_node *node,
		  const char *name);
/* Reports that T.NAME is unknown, with the nearest known name. Returns
 * false. */
bool script_unknown(struct script_reader *r, const struct py_node *node,
		    const char *path);
/* Does def have a decorator named word (with or without a call)? */
bool script_is_marked(const struct py_node *def, const char *word);

/* ---- arguments of calls */

/* Calls py_bind_nodes for the call: found[i] becomes the argument for parameter
 * i of the signature `params`, such as "param, param?"; NULL if this argument
 * is absent. False after an error. */
bool script_args(struct script_reader *r, const struct py_node *call,
		 const char *params, const struct py_node **found);

/* A call's arguments, separated from its type: the type is dtype="…" at the end
 * (old spelling), or a string at the start (current spelling, if the arguments
 * do not determine the type). */
struct script_typed_args {
	const struct py_node *const *list;
	int n;
	const struct py_node *type; /* NULL if not given */
};

bool script_typed_args(struct script_reader *r, const struct py_node *call,
		       struct script_typed_args *out);
bool script_want_count(struct script_reader *r, const struct py_node *call,
		       int got, int want);
/* ---- values and expressions */

struct script_value script_value_of(const struct expr *e, bool weak);
/* Sets *out to a value of the text around the function; false after an error at the
 * node. */
bool script_value_of_outer(struct script_reader *r, const struct py_node *node,
			   const struct script_outer *o,
			   struct script_value *out);
/* A value in words, for messages: "a whole buffer". */
const char *script_describe(const struct script_value *v);
/* Makes *v an expression: converts a pointer; any other value that is not an
 * expression is an error. False after an error. */
bool script_need_expr(struct script_reader *r, const struct py_node *node,
		      struct script_value *v);
bool script_eval(struct script_reader *r, const struct py_node *node,
		 struct script_value *out);
/* Evaluates node to an expression; Python's numbers become int32 (int64 if they
 * do not fit), float32 or bool. False after an error. */
bool script_expr(struct script_reader *r, const struct py_node *node,
		 const struct expr **out);
/* Sets *out to the value of node as an expression of type t; false after an
 * error, also if the conversion to t could change the value. */
bool script_expr_as(struct script_reader *r, const struct py_node *node,
		    struct dtype t, const struct expr **out);
/* Sets *out to the value v as an operand of ir/typed; script_settle and
 * script_convert set *out to the result of typed_settle and typed_convert on
 * the value. */
bool script_operand(struct script_reader *r, const struct py_node *node,
		    const struct script_value *v, struct typed *out);
bool script_settle(struct script_reader *r, const struct py_node *node,
		   const struct script_value *v, const struct expr **out);
bool script_convert(struct script_reader *r, const struct py_node *node,
		    const struct script_value *v, struct dtype t,
		    const struct expr **out);
/* Sets *out to the value of node, which must be an integer of Python. */
bool script_constant(struct script_reader *r, const struct py_node *node,
		     int64_t *out);
bool script_condition(struct script_reader *r, const struct py_node *node,
		      const struct expr **out);
/* Sets *out to the expression node, which must be a scalar integer. False after
 * an error. */
bool script_index(struct script_reader *r, const struct py_node *node,
		  const struct expr **out);
/* Sets *out to the value of node, which must be a string. */
bool script_text(struct script_reader *r, const struct py_node *node,
		 const char **out);
bool script_type(struct script_reader *r, const struct py_node *node,
		 struct dtype *out);
bool script_type_named(struct script_reader *r, const struct py_node *node,
		       const char *name, struct dtype *out);
/* The n elements of *node if it is a list or a tuple; else *node itself, as the
 * only element. */
const struct py_node *const *script_items(const struct py_node *const *node,
					  int *n);
bool script_call(struct script_reader *r, const struct py_node *node,
		 const char *path, struct script_value *out);
/* v.access_ptr(mask, offset=n): the address of the element of v, a buffer or a part or
 * view of one, that is n elements after its first one in memory. */
bool script_access_ptr(struct script_reader *r, const struct py_node *call,
		       const struct script_value *v, struct script_value *out);
/* Sets *out to e as a number of type t; false after an error at the node, if one
 * of both is no number. */
bool script_cast(struct script_reader *r, const struct py_node *node,
		 const struct expr *e, struct dtype t, const struct expr **out);
/* x.astype("int32") */
bool script_astype(struct script_reader *r, const struct py_node *call,
		   struct script_value *out);
/* script_tile.c: is the call an operator on parts of buffers, such as Tx.copy(B[0:8],
 * A[0:8])? script_tile reads it as the loops over their elements. */
bool script_is_tile(const struct script_reader *r, const struct py_node *call);
bool script_tile(struct script_reader *r, const struct py_node *call,
		 struct script_suite *suite);
/* script_vector.c: A.vload([i], "float32x4"); B.vstore([i], x), a statement. */
bool script_vload(struct script_reader *r, const struct py_node *call,
		  struct script_value *out);
/* A.ptr_to([i, j]): the address of the element. */
bool script_ptr_to(struct script_reader *r, const struct py_node *call,
		   struct script_value *out);
bool script_is_vstore(const struct script_reader *r,
		      const struct py_node *call);
bool script_vstore(struct script_reader *r, const struct py_node *call,
		   struct script_suite *suite);
/* Reads a call of the intrinsic function op. False after an error. */
bool script_intrin(struct script_reader *r, const struct py_node *call,
		   enum intrin op, struct script_value *out);
/* The same for arguments whose type t the caller has read. */
bool script_intrin_of(struct script_reader *r, const struct py_node *call,
		      enum intrin op, struct dtype t,
		      const struct py_node *const *args, int n,
		      struct script_value *out);
/* script_device.c: is T.path an instruction of a device, or a call of TVM's
 * runtime (instruction.def)? Is it a call of a packed function? Each is read by
 * the function behind it. */
bool script_is_instruction(const char *path);
bool script_instruction(struct script_reader *r, const struct py_node *call,
			const char *path, struct script_value *out);
/* The call of the instruction `name` with n arguments that are read. */
bool script_instruction_of(struct script_reader *r, const struct py_node *call,
			   const char *name, struct dtype t,
			   const struct expr *const *list, int n,
			   struct script_value *out);
/* script_nki.c: in the attribute around the loops of an instruction of NKI, replaces
 * the call by what it computes. */
void script_nki(struct script_reader *r, struct stmt *attr);
bool script_is_packed(const char *path);
bool script_packed(struct script_reader *r, const struct py_node *call,
		   const char *path, struct script_value *out);
/* T.Call("int32", "tir.call_extern", ["f", x]): a call as TVM's text of a node. */
bool script_call_node(struct script_reader *r, const struct py_node *call,
		      struct script_value *out);
bool script_call_intrin(struct script_reader *r, const struct py_node *call,
			struct script_value *out);
/* Sets *out to the call of another PrimFunc, which gives a value of type t. */
bool script_call_of(struct script_reader *r, const struct py_node *call,
		    const char *name, struct dtype t, const struct expr **out);
const char *const *script_call_names(struct script_reader *r, int *n);
/* Sets *out to the operator that `text`, the text of node, stands for; false
 * after an error if it is none. */
bool script_operator(struct script_reader *r, const struct py_node *node,
		     const char *text, enum py_operator *out);
bool script_binary(struct script_reader *r, const struct py_node *node,
		   enum py_operator op, const struct script_value *a,
		   const struct script_value *b, struct script_value *out);
/* typed_follow() on two values. */
bool script_unify(struct script_reader *r, const struct py_node *node,
		  const struct script_value *a, const struct script_value *b,
		  const struct expr **x, const struct expr **y);
/* Sets *buffer and *index to the element of the buffer v that the subscript
 * node selects; a slice of constant length selects a vector. */
bool script_element(struct script_reader *r, const struct py_node *node,
		    const struct script_value *v, const struct buffer **buffer,
		    const struct expr ***index);
/* The same, but *index gets the indices in v, which may be a part or a view of the
 * buffer: script_whole_index() gives those in the buffer. */
bool script_indices(struct script_reader *r, const struct py_node *node,
		    const struct script_value *v, const struct buffer **buffer,
		    const struct expr ***index);
/* Is v a buffer without dimensions in a text of steps? There, the name of such
 * a buffer stands for its only element. */
bool script_is_scalar(const struct script_reader *r,
		      const struct script_value *v);
/* Is the node the name of a buffer for which script_is_scalar holds? */
bool script_is_variable(const struct script_reader *r,
			const struct py_node *node);
/* Like script_element, for the only element of v. */
bool script_scalar(struct script_reader *r, const struct py_node *node,
		   const struct script_value *v, const struct buffer **buffer,
		   const struct expr ***index);
/* Sets *v to the buffer, or the part or view of one, that the node names, with or
 * without indices, and *out to a range for each dimension of v. False after an
 * error. */
bool script_ranges(struct script_reader *r, const struct py_node *node,
		   struct script_value *v, struct range **out);
/* Sets *index to the indices, in the buffer of v, of the first element of v. False
 * after an error. */
bool script_first_index(struct script_reader *r, const struct py_node *node,
			const struct script_value *v,
			const struct expr ***index);
/* Replaces *index, the indices of an element of v, by those of the same element in
 * the buffer of v. False after an error. */
bool script_whole_index(struct script_reader *r, const struct py_node *node,
			const struct script_value *v,
			const struct expr ***index);
/* Sets *out to the region that node names: A[i, 0:16], with a single index as a
 * range of 1, or the whole buffer A. False after an error. */
bool script_region(struct script_reader *r, const struct py_node *node,
		   struct region *out);
/* Sets *out to a + b, with the types of expressions. False after an error. */
bool script_plus(struct script_reader *r, const struct py_node *node,
		 const struct expr *a, const struct expr *b,
		 const struct expr **out);
/* Sets the ranges of a region of the view to those of its buffer. False after an
 * error. */
bool script_view_region(struct script_reader *r, const struct py_node *node,
			const struct script_view *view, struct region *out);
/* Makes *out, whose ndim and shape are set, a view of the ranges, one for each
 * dimension of the flat view `of`: the first `lead` dimensions have one index each,
 * the others are those of *out. False after an error. */
bool script_view_part(struct script_reader *r, const struct py_node *node,
		      const struct script_view *of, const struct range *ranges,
		      int lead, struct script_view *out);
/* Sets *out to the indices of the element at position `place` in the memory of
 * b. */
bool script_view_place(struct script_reader *r, const struct py_node *node,
		       const struct buffer *b, const struct expr *place,
		       const struct expr ***out);
/* script_view_loaded: converts e, an element of the buffer under the view v, to
 * the value of the view's element. script_view_stored: converts a value of the
 * view's element to the element of the buffer. */
const struct expr *script_view_loaded(struct script_reader *r,
				      const struct script_value *v,
				      const struct expr *e);
const struct expr *script_view_stored(struct script_reader *r,
				      const struct script_value *v,
				      const struct expr *e);
/* Defines `name` as a buffer over the memory of the pointer `data`, from the
 * element `offset` on (NULL: from the first). False after an error. */
bool script_view_memory(struct script_reader *r, const struct py_node *data,
			const struct py_node *offset, const char *name,
			struct buffer_spec *spec);
/* Sets *out to the position, in elements of v, of the first element of v, a part or
 * a view of a buffer. False after an error. */
bool script_part_offset(struct script_reader *r, const struct py_node *node,
			const struct script_value *v, const struct expr **out);
/* Sets *strides to those of the flat view's dimensions. False after an error. */
bool script_view_strides(struct script_reader *r, const struct py_node *node,
			 const struct script_view *view,
			 const struct expr ***strides);
/* The strides of the part v of a buffer, as a list. */
bool script_part_strides(struct script_reader *r, const struct py_node *node,
			 const struct script_value *v,
			 struct script_value *out);
/* The argument e of an external function or of a function of the program. The pointer
 * of a buffer becomes the address of the buffer's first element, which blocks and
 * schedules see as an access of the buffer. */
const struct expr *script_argument(const struct script_reader *r,
				   const struct expr *e);
/* The buffer of the text whose pointer is var, or NULL. */
const struct buffer *script_owner(const struct script_reader *r,
				  const struct var *var);
/* Defines the name as a buffer of the parameter that begins `offset` elements behind
 * its pointer: the parameter becomes an array of one dimension. */
bool script_view_offset(struct script_reader *r, const struct py_node *offset,
			struct script_handle *handle, const char *name,
			const struct buffer_spec *spec);
/* The number of dimensions of v, a buffer or a part of one. */
int script_rank(const struct script_value *v);
/* Sets *out to the range of the slice a:b of a dimension whose size is `size`.
 * If a is absent, the range starts at 0; if b is absent, it ends at `size`.
 * False after an error. */
bool script_slice(struct script_reader *r, const struct py_node *slice,
		  const struct expr *size, struct range *out);
/* Sets *out to the range from min to end (exclusive). False after an error. */
bool script_range(struct script_reader *r, const struct py_node *min,
		  const struct py_node *end, struct range *out);

/* ---- buffers, blocks, statements */

/* Reads the shape, type and other arguments of a type annotation: T.Buffer(…),
 * or the old T.Buffer[…]. False after an error. */
bool script_buffer_type(struct script_reader *r, const struct py_node *node,
			struct buffer_spec *spec);
/* Does the call declare a buffer: T.match_buffer(…), T.alloc_buffer(…), …? */
bool script_declares_buffer(const struct script_reader *r,
			    const struct py_node *call);
/* Defines the name as an array in the scope "local". */
bool script_local_array(struct script_reader *r, const struct py_node *node,
			const char *name, const struct py_node *shape,
			struct dtype type, struct script_suite *suite);
/* Defines the name as a variable: a buffer without dimensions. False after an
 * error. */
bool script_cell(struct script_reader *r, const struct py_node *node,
		 const char *name, struct dtype type, const char *scope,
		 struct script_suite *suite);
bool script_declare_buffer(struct script_reader *r, const struct py_node *call,
			   const char *name, struct script_suite *suite);

bool script_is_block(const struct script_reader *r, const struct py_node *node);
bool script_block(struct script_reader *r, const struct py_node *call,
		  const struct py_node *suite, struct stmt **out);
/* Does the call belong to a block's head: T.axis.…, T.where, T.reads, …? */
bool script_is_axis(const struct script_reader *r, const struct py_node *node);
bool script_axis(struct script_reader *r, const struct py_node *target,
		 const struct py_node *call);
bool script_block_line(struct script_reader *r, const struct py_node *call,
		       const char *path);
/* Sets *out to the value of an annotation: a number, a string, or a list of
 * numbers and strings. False after an error. */
bool script_note_value(struct script_reader *r, const struct py_node *node,
		       const struct expr **out);
bool script_notes(struct script_reader *r, const struct py_node *dict,
		  struct note **out);
bool script_func_attr(struct script_reader *r, const struct py_node *call);

/* The parameters of a macro as a signature for script_args: "A, i, scale?". NULL
 * after an error. */
const char *script_macro_params(struct script_reader *r,
				const struct py_node *call,
				const struct py_node *def);
/* Begins to read the suite of a macro in the place of a call: evaluates the
 * arguments, hides the names of the caller if `hides`, and defines the
 * parameters. False after an error. script_leave_macro restores the names. */
struct script_macro {
	int names, hidden;
};
bool script_enter_macro(struct script_reader *r, const struct py_node *call,
			const struct py_node *def, bool hides,
			struct script_macro *out);
void script_leave_macro(struct script_reader *r, const struct script_macro *m);
/* Does the decorator, @T.macro(hygienic=False), say that the macro sees the
 * names of its caller? */
bool script_macro_sees_caller(const struct py_node *def);
/* Can Python evaluate v, the condition of an `if`? If so, only one branch is
 * read: sets *taken to the chosen branch, or to NULL if that is the missing
 * `else`. */
bool script_is_decided(const struct py_node *node, const struct script_value *v,
		       const struct py_node **taken);
void script_define_function(struct script_reader *r, const struct py_node *def);
/* The function of steps that the node calls, or NULL. */
const struct py_node *script_function(const struct script_reader *r,
				      const struct py_node *call);
/* Sets *out to the value that the called function returns. The values to which
 * it gives names become lets of `suite` or, if `suite` is NULL, only names.
 * False after an error. */
bool script_function_value(struct script_reader *r, const struct py_node *call,
			   const struct py_node *def,
			   struct script_suite *suite,
			   struct script_value *out);
bool script_read_suite(struct script_reader *r, const struct py_node *suite,
		       struct stmt **out);
void script_open(struct script_reader *r, struct script_suite *suite,
		 const struct py_node *node, struct script_opener opener);
void script_push(struct script_reader *r, struct script_suite *suite,
		 const struct py_node *node, struct stmt *s);
struct stmt *script_close_suite(struct script_reader *r,
				struct script_suite *suite);

/* The flags of a loop. `left`, which has one element, is True after a break; it is
 * NULL if the suite of the loop has no break. */
struct script_loop_flags {
	const struct buffer *left;
};

/* script_jump.c: reads the suite of a loop, which may have break and continue.
 * Defines the flags of the loop as names; the caller ends their scope. Returns
 * false after an error. */
bool script_loop_suite(struct script_reader *r, const struct py_node *suite,
		       struct script_loop_flags *flags, struct stmt **out);
/* The condition "`condition`, and no break has left the loop". */
const struct expr *script_loop_goes_on(struct script_reader *r,
				       const struct script_loop_flags *flags,
				       const struct expr *condition);
/* Returns the loop, wrapped in the allocation of its flags. */
struct stmt *script_loop_left(struct script_reader *r,
			      const struct script_loop_flags *flags,
			      struct stmt *loop);
bool script_for(struct script_reader *r, const struct py_node *node,
		struct stmt **out);
/* Reads the items of a `with` from the index `item` on, and its suite. False
 * after an error. */
bool script_with(struct script_reader *r, const struct py_node *node, int item,
		 struct stmt **out);
bool script_init(struct script_reader *r, const struct py_node *with,
		 const struct py_node *call);
bool script_assert(struct script_reader *r, const struct py_node *condition,
		   const struct py_node *message, struct stmt **out);
/* script_is_thread_ids: is the call T.cta_id(…), T.thread_id(…), T.warp_id(…), …?
 * script_thread_ids reads the call. */
bool script_is_thread_ids(const struct script_reader *r,
			  const struct py_node *call);
bool script_thread_ids(struct script_reader *r, const struct py_node *call,
		       const struct py_node *target,
		       struct script_suite *suite);
/* Reads a call of T.let, T.attr or T.launch_thread; any other call is an error.
 * target: the name of the thread's variable, or NULL. */
bool script_read_opener(struct script_reader *r, const struct py_node *call,
			const char *path, const struct py_node *target,
			struct script_opener *out);
/* Is the call T.attr(T.comm_reducer(…), "reduce_scope", …)? If so, keeps the reducer
 * for script_allreduce. */
bool script_reduce_scope(struct script_reader *r, const struct py_node *call);
/* Reads T.tvm_thread_allreduce(…) as statements of the suite. False after an error. */
bool script_allreduce(struct script_reader *r, const struct py_node *call,
		      struct script_suite *suite);
/* In a function with an all-reduce, reductions across threads are written out:
 * makes the reduction axes of a block opaque if the block has no init and
 * updates memory of a single thread. */
void script_private_reductions(struct script_reader *r);
/* Sets *out to a let that gives the name this value, and defines the name for
 * the statements that follow. */
void script_let(struct script_reader *r, const char *name,
		const struct expr *value, struct script_opener *out);
bool script_assign(struct script_reader *r, const struct py_node *node,
		   struct script_suite *suite);
/* Reads "x: T.int32 = value", a let whose scope is the rest of the suite. False
 * after an error. */
bool script_annotated(struct script_reader *r, const struct py_node *node,
		      struct script_suite *suite);
/* Reads a store to an element: target = value (op NULL), or target op= value.
 * False after an error. */
bool script_store(struct script_reader *r, const struct py_node *node,
		  const struct py_node *target, const struct py_node *value,
		  const char *op, struct script_suite *suite);

#endif
