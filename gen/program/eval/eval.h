/* SPDX-License-Identifier: Apache-2.0 */
/* The evaluator of programs: values, scopes, calls. Private to gen/program/. */
#ifndef TIRC_EVAL_H
#define TIRC_EVAL_H

#include "primitive.h"
#include "program.h"
#include "py_call.h"
#include "te.h"
#include "typed.h"

enum pv_kind {
#define KIND(id, name) PV_##id,
#include "kinds.def"
#undef KIND
	PV_KIND_COUNT
};

struct axis;
struct closure;
struct method;
struct pv_bound;
struct pv_class;
struct pv_dict;
struct pv_list;
struct pv_iterator;
struct pv_module;
struct pv_object;
struct pv_pass_context;
struct pv_ir_scope;
struct pv_pointer;
struct pv_device;
struct pv_nd;
struct pv_range;
struct pv_super;
struct pv_runtime;
struct pv_timer;
struct pv_times;
struct pv_wrapped;
struct random_stream;
struct array;
struct ir_builder;
struct libraries;
struct topi_scopes;
struct stage;
struct te_schedule;
struct tir_schedule;

struct pval {
	enum pv_kind kind;
	/* The nesting depth of the value's expression; for a tensor, with all
	 * its producers. It is limited, so that recursion over it does not
	 * exhaust the stack. */
	int depth;
	union {
		bool boolean;
		int64_t ival;
		double fval;
		struct {
			/* a zero byte follows the text, which may contain
			 * others */
			const char *data;
			size_t n;
		} text;
		struct pv_list *list; /* TUPLE, LIST, SET */
		struct pv_dict *dict;
		const struct pv_range *range;
		struct pval *slice; /* three values: start, stop, step */
		const struct closure *closure;
		const struct method *method;
		const struct name_row *row; /* BUILTIN */
		uint64_t names;   /* NAMESPACE: a module, as bits of enum
				 * names_module */
		const char *path; /* ABSENT: a module that tirc does not have,
				   * but the program imports */
		const struct expr *expr;
		struct te_tensor *tensor; /* TENSOR; OP: the first output of the
					   * operation */
		const struct buffer *buffer;
		struct pv_part *part; /* TENSOR_PART */
		struct axis *axis;
		const struct reducer_def *reducer;
		struct te_schedule *te_schedule;
		struct stage *stage;
		struct tir_schedule *schedule;
		struct {
			struct tir_schedule *schedule;
			int id, func;
		} handle;                 /* BLOCK, LOOP */
		struct pv_module *module; /* IRMODULE, BUILT */
		struct program_func *func;
		struct pv_target *target;
		const struct tensor_intrin *intrin;
		const struct pv_map *map;
		const struct pv_class *class; /* USER_CLASS */
		struct pv_object *object;
		struct stmt *stmt; /* STMT */
		const struct pv_bound *bound;
		const struct pv_wrapped *wrapped;
		const struct pv_super *super;
		struct pv_iterator *iterator;
		struct array *array;          /* ARRAY */
		struct pv_nd *nd;             /* NDARRAY */
		struct random_stream *random; /* RANDOM */
		const struct pv_device *device;
		struct pv_timer *timer;
		const struct pv_times *times;
		struct pv_runtime *runtime;
		struct ir_builder *ir_builder;
		struct pv_ir_scope *ir_scope;
		struct pv_pointer *pointer;
		const void *any;
	} u;
};

struct pv_list {
	struct pval *data;
	int n, cap;
};

struct pv_dict {
	struct pv_list keys, values;
};

struct pv_range {
	int64_t start, stop, step;
};

/* A function that the program defines. */
struct closure {
	const struct py_node *def; /* PY_LAMBDA or PY_DEF */
	struct scope *scope;       /* the scope in which it was defined */
	/* for each parameter its default value; MISSING if it has none */
	const struct pval *defaults;
	const char *name;
	const struct pv_class *owner; /* the class that has it as a method, or
				       * NULL */
	const struct source *src;     /* the text with the definition */
};

/* A method with the value to which it belongs: what x.f means without a
 * call. */
struct method {
	const struct name_row *row;
	struct pval self;
};

/* A tensor with fewer indices than it has dimensions, as A[i] of a matrix A,
 * until the program adds the others. */
struct pv_part {
	struct te_tensor *tensor;
	const struct expr **index;
	int n;
};

/* An iteration variable of a te stage, or a thread. */
struct axis {
	struct iter_var iv;
	const char *thread; /* the thread's tag, "threadIdx.x", or NULL */
};

/* te.comm_reducer: its two functions, `combine` and `identity`. Each use makes
 * a reducer from them for the types of its operands. */
struct reducer_def {
	const char *name;
	struct pval combine, identity;
};

struct pv_module {
	VEC(struct program_func *) funcs;
	bool simple;        /* print shows the functions without the module
			     * around them */
	const char *source; /* BUILT: what get_source returns */
	bool of_function;   /* of a schedule of one function, which TVM calls
			     * main there: "main" names it, too */
};

/* tvm.target.Target. said: the program's words, "llvm -mcpu=haswell"; name: the
 * text for target_load_named(), "x86-64-v3". */
struct pv_target {
	const char *said, *name;
};

struct pv_told {
	const char **data;
	int n, cap;
};

struct scope_entry {
	const char *name;
	struct pval value;
};

/* A name that `global` or `nonlocal` gives to another scope. */
struct scope_link {
	const char *name;
	struct scope *to;
};

struct scope {
	struct scope *parent;
	VEC(struct scope_entry) names;
	VEC(struct scope_link) links;
	/* the class whose statements run in the scope: its names are attributes,
	 * which functions inside do not see; else NULL */
	const struct pv_class *of;
	const struct pv_class
		*method_of; /* the class of the method that runs */
};

struct eval {
	struct module *m;
	struct arena *a;
	const struct source *src;
	struct typing typing;
	const struct program_options *o;
	const struct libraries *libraries; /* library.h */
	struct program_result *result;
	struct scope *globals;
	int64_t steps, max_steps;
	int compared; /* the comparisons since the last one that counted as a
		       * step */
	/* the most bytes that the arena may have, with those from before the
	 * start */
	size_t max_bytes;
	int depth;           /* the number of nested calls and expressions */
	bool unpacks_single; /* `x, = v` also takes a value v that is no list */
	/* by id of the buffer: its tensor, or NULL */
	VEC(struct te_tensor *) tensors;
	int n_tensors;
	/* by id of the tensor's buffer: its pval.depth */
	VEC(int) depths;
	VEC(struct axis *) axes; /* by id of the variable: its axis */
	/* by id of the expression: its number of nodes; 0: not counted yet */
	VEC(int) sizes;
	struct tensor_intrins *intrins;
	/* the embedded tensor intrinsics, loaded when a program first names
	 * one; else NULL */
	const struct intrinsic_set *shipped;
	VEC(struct tir_schedule *) schedules;
	int n_events; /* the requests (struct event) and steps of all schedules
		       * so far */
	struct py_span left_at; /* the position of the last return, break or
				  * continue */
	const struct pv_target *with_target;   /* of the enclosing `with`, or
					      * NULL */
	const struct pv_pass_context *context; /* of the enclosing `with`, or
						* NULL */
	struct pv_told told; /* the passes and backends that notes named */
	/* the statements that did not run (absent.c): their number, the first one's
	 * position, and the name in it that tirc does not have */
	int n_absent;
	struct py_span absent_at;
	const char *absent;
	/* while a statement fails because it needs a value that is not known: the
	 * name of that value (eval_leave_out); else NULL */
	const char *left_out;
	struct scope *frame; /* of the function that runs, or NULL */
	struct pv_list
		*yields; /* the values that the running generator has yielded */
	/* The exception that was raised last: an object, or MISSING after an error
	 * of tirc; and the one that a handler is for. */
	struct pval raised, handled;
	int catches_imports; /* the `try` around that handle an ImportError */
	bool fatal; /* a limit of the program is exceeded, which no `try` handles */
	struct pv_class *
		*exceptions; /* by row of exceptions.def; NULL: not made */
	/* holds the statements that the program makes (tir_nodes.c); or NULL */
	struct func *detached;
	/* while expressions of a hybrid script are evaluated: `and`, `or`, `not`,
	 * chains of comparisons and `x if c else y` of expressions are
	 * expressions, too */
	bool symbolic;
	const char *tag; /* of the enclosing `with te.tag_scope(…)`, or NULL */
	struct random_stream *random; /* of numpy.random; NULL: not used yet */
	/* of topi's definitions that are texts; NULL: not used yet */
	struct topi_scopes *topi_scopes;
};

/* Limits on what a program may use. */
enum {
	EVAL_MAX_DEPTH = 1000, /* nested calls and expressions */
	/* depth of an expression together with the producers of its tensors */
	EVAL_MAX_EXPR_DEPTH = 1000,
	EVAL_MAX_EXPR_SIZE = 1 << 18, /* nodes of an expression, shared ones
				       * counted at each use */
	EVAL_MAX_RANK = 32,
	EVAL_MAX_ITEMS = 1 << 20, /* elements of a list, a range, a text */
	EVAL_MAX_TENSORS = 4000,
	EVAL_MAX_EVENTS = 20000 /* steps of a schedule */
};

/* -- calls of built-in functions -- */

/* The modules of a program, one bit for each: a name may exist in several of
 * them. */
enum names_module {
#define NAMES(id, path) NAMES_##id##_BIT,
#define ALIAS(id, path)
#include "modules.def"
#undef NAMES
#undef ALIAS
	NAMES_COUNT
};
/* The bits need 64; C23 allows such enumerators. */
__extension__ enum {
#define NAMES(id, path) IN_##id = UINT64_C(1) << NAMES_##id##_BIT,
#define ALIAS(id, path)
#include "modules.def"
#undef NAMES
#undef ALIAS
	IN_NOTHING = 0
};

/* A call of a built-in function or method. */
struct call {
	struct eval *ev;
	const struct name_row *row;
	struct pval self; /* the object whose method is called */
	struct py_span span;
	const struct py_slot *params;
	struct pval *args; /* by parameter: its argument; MISSING if absent */
	struct py_span *spans;
	int n;
};

typedef bool name_fn(struct call *c, struct pval *out);

/* A row of a library's table of names (library.h). params: "shape, dtype?, *rest, **options"; NULL for an
 * attribute, whose function is called when the program reads it. */
struct name_row {
	uint64_t in;     /* bits of modules; 0 for methods and attributes */
	enum pv_kind of; /* methods and attributes: the kind of the object that
			  * has them */
	const char *name;
	const char *params;
	name_fn *fn;
};

/* The row of a name in one of the modules whose bits are in `in`, or (in 0) of
 * an attribute of a kind of value; NULL if there is none. */
const struct name_row *names_in(struct eval *ev, uint64_t in, const char *name);
const struct name_row *names_of(struct eval *ev, enum pv_kind kind,
				const char *name);
/* Is the name a function or a type of Python that programs cannot use? */
bool names_left_out(const char *name);
/* All names in the modules or of the kind, for suggestions; allocated in the
 * arena. */
const char *const *names_list(struct eval *ev, uint64_t in, enum pv_kind kind,
			      int *n);

/* -- evaluation -- */

bool eval_error(struct eval *ev, struct py_span at, const char *fmt, ...)
	TIRC_PRINTF(3, 4);
/* Reports an error at argument i of the call; i -1: at the whole call. Returns
 * false. */
bool call_error(struct call *c, int i, const char *fmt, ...) TIRC_PRINTF(3, 4);
/* The place of argument i, or of the whole call. */
struct diag_place call_place(const struct call *c, int i);
/* Gives those errors from index `first` on that have no position in the
 * program, since other layers reported them, the position `at`. Returns
 * false. */
bool eval_locate(struct eval *ev, struct py_span at, int first);
/* Counts n steps of evaluation; false after an error if the budget is used
 * up. */
bool eval_tick(struct eval *ev, struct py_span at, int64_t n);
/* Counts the steps of work on n bytes of a text; false after an error if none
 * are left. */
bool eval_tick_bytes(struct eval *ev, struct py_span at, size_t n);

bool eval_expr(struct eval *ev, struct scope *s, const struct py_node *e,
	       struct pval *out);
enum flow { FLOW_NEXT, FLOW_BREAK, FLOW_CONTINUE, FLOW_RETURN, FLOW_ERROR };
enum flow eval_suite(struct eval *ev, struct scope *s,
		     const struct py_node *suite, struct pval *result);
/* Assigns the value to the target of an assignment or a loop: a name, an
 * element, or a list of targets. False after an error. */
bool eval_assign(struct eval *ev, struct scope *s, const struct py_node *target,
		 const struct pval *value);
/* Evaluates an index in brackets behind a value: an expression, a slice, or a tuple
 * of them. e NULL: None. */
bool eval_index(struct eval *ev, struct scope *s, const struct py_node *e,
		struct pval *out);

/* The arguments of a call, in the order in which they are given. */
struct call_args {
	VEC(struct pval) values;
	/* for each value the argument's name, if it is a keyword argument, and
	 * its position */
	VEC(struct py_argument) given;
};
/* Appends an argument; name: of a keyword argument, else NULL. */
void eval_give(struct eval *ev, struct call_args *args, const char *name,
	       struct py_span at, const struct pval *v);
/* Binds the arguments to the parameters of s. Sets *values and *spans to a
 * value and a position for each parameter: MISSING if it is not given, a tuple
 * for *rest, a dict for **options. False after an error. */
bool eval_bind(struct eval *ev, struct py_span at, const struct py_signature *s,
	       const struct call_args *args, struct pval **values,
	       struct py_span **spans);
bool eval_call(struct eval *ev, struct py_span at, const struct pval *f,
	       const struct call_args *args, struct pval *out);
/* Calls f, a function or another callable value, with n positional arguments.
 * False after an error. */
bool eval_apply(struct eval *ev, struct py_span at, const struct pval *f,
		const struct pval *args, int n, struct pval *out);
/* of[index] */
bool eval_subscript(struct eval *ev, struct py_span at, const struct pval *of,
		    const struct pval *index, struct pval *out);
bool eval_attribute(struct eval *ev, struct py_span at, const struct pval *of,
		    const char *name, struct pval *out);
/* Sets *out to the operator with this text, "+", in the node e. False after an
 * error if there is none. */
bool eval_operator(struct eval *ev, const struct py_node *e, const char *text,
		   enum py_operator *out);
bool eval_binary(struct eval *ev, struct py_span at, enum py_operator op,
		 const struct pval *x, const struct pval *y, struct pval *out);
bool eval_unary(struct eval *ev, struct py_span at, enum py_operator op,
		const struct pval *x, struct pval *out);
/* x @ y */
bool eval_product(struct eval *ev, struct py_span at, const struct pval *x,
		  const struct pval *y, struct pval *out);
/* Sets *out to what `x op= y` assigns to x, which may be x itself, changed. */
bool eval_augmented(struct eval *ev, struct py_span at, enum py_operator op,
		    const struct pval *x, const struct pval *y,
		    struct pval *out);
bool eval_compare(struct eval *ev, struct py_span at, enum py_operator op,
		  const struct pval *x, const struct pval *y, struct pval *out);
/* Comparisons of any values (compare.c). They count steps; the result is false
 * after an error. eval_order sets *out to -1, 0 or 1, to 2 if a NaN is
 * compared, or to PV_NO_ORDER for values that have no order. */
enum { PV_NO_ORDER = 3 };
bool eval_equal(struct eval *ev, struct py_span at, const struct pval *x,
		const struct pval *y, bool *out);
bool eval_order(struct eval *ev, struct py_span at, const struct pval *x,
		const struct pval *y, int *out);
/* Sets *out to the index of the first element that is equal to the item, or to
 * -1. False after an error. */
bool eval_find(struct eval *ev, struct py_span at, const struct pv_list *in,
	       const struct pval *item, int *out);
bool eval_contains(struct eval *ev, struct py_span at, const struct pval *item,
		   const struct pval *in, bool *out);
/* Makes the expression `x kind y` of two values, whose types it converts as TVM
 * does (typed_kind). False after an error. */
bool eval_expr_binary(struct eval *ev, struct py_span at, enum expr_kind kind,
		      const struct pval *x, const struct pval *y,
		      struct pval *out);
/* Sets *out to the value x, which ir/typed computed from operands of this
 * depth. False after an error if it is too large or too deep. */
bool eval_typed_result(struct eval *ev, struct py_span at,
		       const struct typed *x, int depth, struct pval *out);
/* The number of nodes of e as a tree: shared nodes are counted at each use. The
 * count stops a little above EVAL_MAX_EXPR_SIZE. */
int eval_expr_size(struct eval *ev, const struct expr *e);
/* Is the expression not too large and not too deep? False after an error. */
bool eval_expr_fits(struct eval *ev, struct py_span at, const struct expr *e,
		    int depth);
/* The truth value of a value, as in Python. False after an error if it has
 * none. */
bool eval_truth(struct eval *ev, struct py_span at, const struct pval *v,
		bool *out);
/* Sets *out to the index from 0 of the element that a value, which may count
 * from the end, selects of n elements. False after an error. */
bool eval_element(struct eval *ev, struct py_span at, const struct pval *index,
		  int64_t n, int64_t *out);
/* Sets *items to the elements of an iterable value, allocated in the arena, and
 * *n to their number. False after an error. */
bool eval_items(struct eval *ev, struct py_span at, const struct pval *v,
		struct pval **items, int *n);
/* As eval_items(); but if `one`, the only element is v itself. */
bool eval_items_or_one(struct eval *ev, struct py_span at, const struct pval *v,
		       bool one, const struct pval **items, int *n);
struct pval *eval_scope_find(struct eval *ev, struct scope *s,
			     const char *name);
void eval_scope_set(struct eval *ev, struct scope *s, const char *name,
		    const struct pval *v);

/* -- what tirc does not have (absent.c) */

/* May statements that need the absent module or attribute be left out? Of TVM's
 * modules, only arrays and devices: others build the functions that the user
 * wants. */
bool absent_may_be_left_out(const char *path);
/* Does the statement, no control flow but a return, need an absent value? Then it
 * does not run, and the names that it assigns are absent. */
bool absent_statement(struct eval *ev, struct scope *s,
		      const struct py_node *e);
/* The statement that runs needs what is not known, such as the results of a function
 * that takes too long: it counts as not run (absent_left_out). Returns false. */
bool eval_leave_out(struct eval *ev, const char *what);
/* After the statement e has failed: was it left out? Then the names that it assigns
 * are absent, and the program goes on. False, with an error, in control flow. */
bool absent_left_out(struct eval *ev, struct scope *s, const struct py_node *e);
/* Tells the user of the statements that did not run, if there are any. */
void absent_note(struct eval *ev, const char *file);
bool eval_import(struct eval *ev, struct scope *s, const struct py_node *e);
/* If the decorator of the definition e says that it is a function or a module
 * in TVMScript (*is_script), reads it. False after an error. */
bool eval_script(struct eval *ev, struct scope *s, const struct py_node *e,
		 bool *is_script);

/* -- values -- */

const char *pv_kind_name(enum pv_kind kind);
/* Are x and y one object, or equal numbers of the same kind? (Python's `is`) */
bool pv_same(const struct pval *x, const struct pval *y);
/* Appends the text of a value as print writes it; repr: as an element of a
 * list. Called by object_text (objects.h), which has the errors. */
void pv_text(struct eval *ev, const struct pval *v, bool repr, int depth,
	     struct strbuf *out);
struct pval pv_none(void);
struct pval pv_bool(bool v);
struct pval pv_int(int64_t v);
struct pval pv_float(double v);
struct pval pv_string(struct eval *ev, const char *text);
struct pval pv_text_n(struct eval *ev, const char *text, size_t n);
struct pval pv_expr(const struct expr *e, int depth);
struct pval pv_list_of(struct eval *ev, enum pv_kind kind,
		       const struct pval *items, int n);
struct pval pv_dict_new(struct eval *ev);
struct pval pv_tensor(struct eval *ev, struct te_tensor *t);
struct pval pv_axis(struct eval *ev, const struct iter_var *iv);
struct pval pv_any(enum pv_kind kind, const void *p);
/* Is v a number of Python? If so, sets *out, unless out is NULL. */
bool pv_number(const struct pval *v, struct py_number *out);
struct pval pv_of_number(const struct py_number *n);
/* The same; or a value of a library that is a number, as an array with one
 * element. */
bool eval_number(const struct eval *ev, const struct pval *v,
		 struct py_number *out);
/* Is it an int, or an expression that is a constant? */
bool eval_int(const struct eval *ev, const struct pval *v, int64_t *out);
/* Is v an array, or one of TVM's? */
bool pv_is_array(const struct pval *v);

/* -- checks and conversions of arguments; errors are reported at the argument
 * -- */

bool arg_missing(const struct call *c, int i);
bool arg_given(const struct call *c, int i); /* present, and not None */
bool arg_int(struct call *c, int i, int64_t min, int64_t max, int64_t *out);
bool arg_text(struct call *c, int i, const char **out);
bool arg_bool(struct call *c, int i, bool *out);
bool arg_dtype(struct call *c, int i, struct dtype *out);
/* The name of the type that v may be: "float32", `float`, T.float32; NULL if it
 * is none. */
const char *value_type_name(const struct pval *v);
/* Sets *out to an argument that is a number, axis, size or expression, as an
 * expression; an integer becomes int32, or int64 if it needs that. False after
 * an error. */
bool arg_expr(struct call *c, int i, const struct expr **out, int *depth);
/* A tensor. */
bool arg_tensor(struct call *c, int i, struct te_tensor **out);
/* Reads an argument that is a tensor, or a list of tensors. False after an
 * error. */
bool arg_tensors(struct call *c, int i, struct te_tensor ***out, int *n);
bool arg_items(struct call *c, int i, struct pval **items, int *n);
/* Reads an argument that is a shape: a list of integers and expressions, or one
 * of these. False after an error. */
bool arg_shape(struct call *c, int i, const struct expr ***out, int *n);
bool value_expr(struct eval *ev, struct py_span at, const struct pval *v,
		const struct expr **out, int *depth);
/* As value_expr(), but as an operand of ir/typed, in which a number of Python
 * has no type yet. */
bool value_typed(struct eval *ev, struct py_span at, const struct pval *v,
		 struct typed *out, int *depth);
bool value_kind_error(struct call *c, int i, const char *wanted);

/* -- tensors (tensors.c) -- */

/* te_remember registers a tensor with its depth (see pval.depth), te_depth
 * gives this depth, te_tensor_of the tensor that was registered for a buffer,
 * or NULL. */
struct te_tensor *te_tensor_of(struct eval *ev, const struct buffer *b);
void te_remember(struct eval *ev, struct te_tensor *t, int depth);
int te_depth(struct eval *ev, const struct te_tensor *t);

#endif
