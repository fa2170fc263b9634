/* SPDX-License-Identifier: Apache-2.0 */
/* The evaluator of programs: values, scopes and calls. Private to
 * gen/program/. */
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
struct library_scopes;
struct stage;
struct te_schedule;
struct tir_schedule;

struct pval {
	enum pv_kind kind;
	/* The nesting depth of the value's expression; for a tensor, the depth
	 * of its expression with those of all its producers. The depth is
	 * limited, so that recursive functions do not exhaust the stack. */
	int depth;
	union {
		bool boolean;
		int64_t ival;
		double fval;
		struct {
			/* the text, which may contain zero bytes; one more zero
			 * byte follows it */
			const char *data;
			size_t n;
		} text;
		struct pv_list *list; /* TUPLE, LIST, SET */
		struct pv_dict *dict;
		const struct pv_range *range;
		/* the three values of the slice: start, stop, step */
		struct pval *slice;
		const struct closure *closure;
		const struct method *method;
		/* BUILTIN: the table's row of the function */
		const struct name_row *row;
		/* NAMESPACE: a module, as bits of enum names_module */
		uint64_t names;
		/* ABSENT: the path of a module or a value that tirc does not
		 * have */
		const char *path;
		const struct expr *expr;
		/* of a TENSOR: the tensor; of an OP: the first output of the
		 * operation */
		struct te_tensor *tensor;
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
	const struct py_node *def; /* a PY_LAMBDA or PY_DEF */
	struct scope *scope;       /* the scope that contains the definition */
	/* for each parameter: its default value, or MISSING */
	const struct pval *defaults;
	const char *name;
	/* the class of which the function is a method, or NULL */
	const struct pv_class *owner;
	/* the text that contains the definition */
	const struct source *src;
};

/* A built-in method with its object: the value of the expression x.f. */
struct method {
	const struct name_row *row;
	struct pval self;
};

/* A tensor with fewer indices than dimensions, such as A[i] of a matrix A. The
 * program adds the other indices later: A[i][j]. */
struct pv_part {
	struct te_tensor *tensor;
	const struct expr **index;
	int n;
};

/* An iteration variable of a stage, or a thread. */
struct axis {
	struct iter_var iv;
	const char *thread; /* the thread's tag, "threadIdx.x", or NULL */
};

/* The value of te.comm_reducer: its two functions. Each use of the reducer
 * calls them for the types of its operands. */
struct reducer_def {
	const char *name;
	struct pval combine, identity;
};

struct pv_module {
	VEC(struct program_func *) funcs;
	/* print shows only the functions, and not the module around them */
	bool simple;
	const char *source; /* BUILT: the result of get_source */
	/* The module was made from a schedule of one function. TVM names that
	 * function "main", so that the function has the name "main", too. */
	bool of_function;
	/* IRMODULE: the module of Relay's functions that it became when the
	 * program put the first one in; else MISSING */
	struct pval relay;
};

/* The value of tvm.target.Target. said: the text in the program, "llvm
 * -mcpu=haswell"; name: the text for target_load_named(), "x86-64-v3". */
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

/* A link by `global` or `nonlocal`: the name belongs to the scope `to`. */
struct scope_link {
	const char *name;
	struct scope *to;
};

struct scope {
	struct scope *parent;
	VEC(struct scope_entry) names;
	VEC(struct scope_link) links;
	/* The class whose statements run in this scope, else NULL. The names of
	 * this scope become attributes, which the functions inside the class do
	 * not see as names. */
	const struct pv_class *of;
	/* the class of the method that runs in this scope, or NULL */
	const struct pv_class *method_of;
};

struct eval {
	struct module *m;
	struct arena *a;
	/* the text that runs: the program's, or one of a library */
	const struct source *src;
	const struct source *program;
	struct typing typing;
	const struct program_options *o;
	const struct libraries *libraries; /* all libraries, see library.h */
	struct program_result *result;
	struct scope *globals;
	int64_t steps, max_steps;
	/* the number of comparisons that are not yet counted as a step */
	int compared;
	/* The limit of the arena's bytes, those from before the start
	 * included. */
	size_t max_bytes;
	/* the number of calls and expressions inside each other that are being
	 * evaluated */
	int depth;
	/* allows `x, = v` for a value v that is not a list */
	bool unpacks_single;
	/* for each buffer's id: its tensor, or NULL */
	VEC(struct te_tensor *) tensors;
	int n_tensors;
	/* for each buffer's id: pval.depth of the tensor whose buffer it is */
	VEC(int) depths;
	VEC(struct axis *) axes; /* for each variable's id: its axis, or NULL */
	/* for each expression's id: its number of nodes; 0 if not counted yet */
	VEC(int) sizes;
	struct tensor_intrins *intrins;
	/* The tensor intrinsics that are embedded in tirc; NULL before a
	 * program first uses one. */
	const struct intrinsic_set *shipped;
	/* what the program has exported as files: a dict from names of files to
	 * values; NULL: it has exported nothing */
	struct pv_dict *exported;
	VEC(struct tir_schedule *) schedules;
	/* the number of requests (struct event) and steps of all schedules so
	 * far */
	int n_events;
	/* the position of the last return, break or continue */
	struct py_span left_at;
	/* the target of the enclosing `with`, or NULL */
	const struct pv_target *with_target;
	/* the passes of the enclosing `with`, or NULL */
	const struct pv_pass_context *context;
	/* the passes and backends that notes have named already */
	struct pv_told told;
	/* The statements that were left out (absent.c): their number, the
	 * position of the first one, and the absent value that it needs. */
	int n_absent;
	/* one of the left out statements is a call that takes too long */
	bool gave_up;
	struct py_span absent_at;
	const char *absent;
	/* While a statement fails because it needs an absent value: the name of
	 * that value (eval_leave_out); else NULL. */
	const char *left_out;
	struct scope *frame; /* the scope of the function that runs, or NULL */
	/* the values that the running generator has yielded so far */
	struct pv_list *yields;
	/* raised: the object of the last exception, or MISSING after an error
	 * that tirc itself reported. handled: the exception whose handler is
	 * running. */
	struct pval raised, handled;
	/* the number of enclosing `try` that handle an ImportError */
	int catches_imports;
	/* a limit of programs is exceeded, which no `try` handles */
	bool fatal;
	/* for each row of exceptions.def: its class, or NULL before its first
	 * use; the list is NULL at the start */
	struct pv_class **exceptions;
	/* The function that owns the statements that the program makes
	 * (tir_nodes.c), or NULL. */
	struct func *detached;
	/* Is set while expressions of a hybrid script are evaluated. Then
	 * `and`, `or`, `not`, chains of comparisons and `x if c else y` give
	 * expressions if their operands are expressions. */
	bool symbolic;
	/* the tag of the enclosing `with te.tag_scope(…)`, or NULL */
	const char *tag;
	/* the generator of numpy.random; NULL before its first use */
	struct random_stream *random;
	/* the scopes of functions of libraries that are written as texts; NULL
	 * before the first use of one */
	struct library_scopes *library_scopes;
	/* where the program called the function of a library's text that runs
	 * now */
	struct py_span library_call;
};

/* Limits of programs. */
enum {
	EVAL_MAX_DEPTH = 1000, /* nested calls and expressions */
	/* depth of an expression together with the producers of its tensors */
	EVAL_MAX_EXPR_DEPTH = 1000,
	/* nodes of an expression; a shared node counts at each use */
	EVAL_MAX_EXPR_SIZE = 1 << 18,
	EVAL_MAX_RANK = 32,
	/* the largest number of elements of a list or a range, and of bytes of
	 * a text */
	EVAL_MAX_ITEMS = 1 << 20,
	EVAL_MAX_TENSORS = 4000,
	/* the largest number of requests and steps of all schedules together */
	EVAL_MAX_EVENTS = 20000
};

/* -- calls of built-in functions -- */

/* The modules that a program may import have one bit each, since a name may
 * belong to several of them. Bit 63 says whether the other bits are those of the
 * first NAMES_PAGE modules or of the modules behind them; so a name of the table
 * belongs to modules of one of the two groups, and names_share() compares. */
enum names_module {
#define NAMES(id, path) NAMES_##id##_BIT,
#define ALIAS(id, path)
#include "modules.def"
#undef NAMES
#undef ALIAS
	NAMES_COUNT
};
enum { NAMES_PAGE = 63 };
_Static_assert(NAMES_COUNT <= 2 * NAMES_PAGE, "modules have bits");
#define NAMES_BIT(i)                                                           \
	(UINT64_C(1) << (i) % NAMES_PAGE | (uint64_t)((i) / NAMES_PAGE) << 63)
/* There are more than 32 modules, so that the enumerators need 64 bits, which
 * C23 allows. */
__extension__ enum {
#define NAMES(id, path) IN_##id = NAMES_BIT(NAMES_##id##_BIT),
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
	struct pval *args; /* for each parameter: its argument, or MISSING */
	struct py_span *spans;
	int n;
};

typedef bool name_fn(struct call *c, struct pval *out);

/* A row of a library's table of names (library.h). params: the parameters, such
 * as "shape, dtype?, *rest, **options"; NULL for an attribute, whose function
 * is called when a program reads it. */
struct name_row {
	/* bit i is set if module i has the name; 0 for methods and
	 * attributes */
	uint64_t in;
	/* the kind of objects that have the method or attribute */
	enum pv_kind of;
	const char *name;
	const char *params;
	name_fn *fn;
};

/* Have two sets of modules, as bits, a module in common? */
static inline bool
names_share(uint64_t a, uint64_t b)
{
	return (a ^ b) >> 63 == 0 && (a & b) << 1 != 0;
}
/* names_in: the row of a name in one of the modules whose bits are in `in`.
 * names_of: the row of a method or attribute of a kind of values. NULL if no
 * row has the name. */
const struct name_row *names_in(struct eval *ev, uint64_t in, const char *name);
const struct name_row *names_of(struct eval *ev, enum pv_kind kind,
				const char *name);
/* Is the name that of a function or a type of Python that tirc does not
 * have? */
bool names_left_out(const char *name);
/* All names in the modules of `in`, or, if `in` is 0, of a kind, for
 * suggestions in messages; allocated in the arena. */
const char *const *names_list(struct eval *ev, uint64_t in, enum pv_kind kind,
			      int *n);

/* -- evaluation -- */

bool eval_error(struct eval *ev, struct py_span at, const char *fmt, ...)
	TIRC_PRINTF(3, 4);
/* Reports an error at argument i of the call, or, if i is -1, at the whole
 * call. Returns false. */
bool call_error(struct call *c, int i, const char *fmt, ...) TIRC_PRINTF(3, 4);
/* The position of argument i of the call, or of the whole call. */
struct diag_place call_place(const struct call *c, int i);
/* Gives a position in the program, `at`, to the errors from index `first` on
 * that have none in the program or in the text that runs, because other layers
 * reported them. Returns false. */
bool eval_locate(struct eval *ev, struct py_span at, int first);
/* Counts n steps of the evaluation. Returns false after an error if the
 * program's limit of steps is reached. */
bool eval_tick(struct eval *ev, struct py_span at, int64_t n);
/* Counts the steps for work on n bytes of text. Returns false after an error if
 * no steps are left. */
bool eval_tick_bytes(struct eval *ev, struct py_span at, size_t n);

bool eval_expr(struct eval *ev, struct scope *s, const struct py_node *e,
	       struct pval *out);
enum flow { FLOW_NEXT, FLOW_BREAK, FLOW_CONTINUE, FLOW_RETURN, FLOW_ERROR };
enum flow eval_suite(struct eval *ev, struct scope *s,
		     const struct py_node *suite, struct pval *result);
/* Assigns the value to the target of an assignment or a loop: a name, an
 * attribute, an element, or a list of targets. Returns false after an error. */
bool eval_assign(struct eval *ev, struct scope *s, const struct py_node *target,
		 const struct pval *value);
/* Evaluates an index in brackets: an expression, a slice, or a tuple of them.
 * If e is NULL, the index is None. */
bool eval_index(struct eval *ev, struct scope *s, const struct py_node *e,
		struct pval *out);

/* The arguments of a call, in the order in which they are given. */
struct call_args {
	VEC(struct pval) values;
	/* For each value of `values`: the name and the position of the
	 * argument; the name is NULL for a positional argument. */
	VEC(struct py_argument) given;
};
/* Appends an argument. name: NULL for a positional argument. */
void eval_give(struct eval *ev, struct call_args *args, const char *name,
	       struct py_span at, const struct pval *v);
/* Binds the arguments to the parameters of s. Sets *values and *spans to a
 * value and a position for each parameter: MISSING if the parameter gets none,
 * a tuple for *rest, a dict for **options. Returns false after an error. */
bool eval_bind(struct eval *ev, struct py_span at, const struct py_signature *s,
	       const struct call_args *args, struct pval **values,
	       struct py_span **spans);
bool eval_call(struct eval *ev, struct py_span at, const struct pval *f,
	       const struct call_args *args, struct pval *out);
/* Calls f, which may be any callable value, with n positional arguments.
 * Returns false after an error. */
bool eval_apply(struct eval *ev, struct py_span at, const struct pval *f,
		const struct pval *args, int n, struct pval *out);
/* Evaluates of[index]. Returns false after an error. */
bool eval_subscript(struct eval *ev, struct py_span at, const struct pval *of,
		    const struct pval *index, struct pval *out);
bool eval_attribute(struct eval *ev, struct py_span at, const struct pval *of,
		    const char *name, struct pval *out);
/* Sets *out to the operator whose text is `text`, such as "+". Returns false
 * after an error at the node e if no operator has this text. */
bool eval_operator(struct eval *ev, const struct py_node *e, const char *text,
		   enum py_operator *out);
bool eval_binary(struct eval *ev, struct py_span at, enum py_operator op,
		 const struct pval *x, const struct pval *y, struct pval *out);
bool eval_unary(struct eval *ev, struct py_span at, enum py_operator op,
		const struct pval *x, struct pval *out);
/* Evaluates x @ y. Returns false after an error. */
bool eval_product(struct eval *ev, struct py_span at, const struct pval *x,
		  const struct pval *y, struct pval *out);
/* Sets *out to the value that `x op= y` assigns to x. The value may be x
 * itself, changed in place. */
bool eval_augmented(struct eval *ev, struct py_span at, enum py_operator op,
		    const struct pval *x, const struct pval *y,
		    struct pval *out);
bool eval_compare(struct eval *ev, struct py_span at, enum py_operator op,
		  const struct pval *x, const struct pval *y, struct pval *out);
/* Comparisons of any two values (compare.c). They count steps and return false
 * after an error. eval_order sets *out to -1, 0 or 1, to 2 if a NaN is
 * compared, or to PV_NO_ORDER if the values have no order. */
enum { PV_NO_ORDER = 3 };
bool eval_equal(struct eval *ev, struct py_span at, const struct pval *x,
		const struct pval *y, bool *out);
bool eval_order(struct eval *ev, struct py_span at, const struct pval *x,
		const struct pval *y, int *out);
/* Sets *out to the index of the first element of `in` that is equal to the
 * item, or to -1 if no element is. Returns false after an error. */
bool eval_find(struct eval *ev, struct py_span at, const struct pv_list *in,
	       const struct pval *item, int *out);
bool eval_contains(struct eval *ev, struct py_span at, const struct pval *item,
		   const struct pval *in, bool *out);
/* Makes the expression `x kind y` of two values, with TVM's conversions of
 * types (typed_kind). Returns false after an error. */
bool eval_expr_binary(struct eval *ev, struct py_span at, enum expr_kind kind,
		      const struct pval *x, const struct pval *y,
		      struct pval *out);
/* Sets *out to the value x, which ir/typed has computed from operands of depth
 * `depth`. Returns false after an error if the expression is too large or too
 * deep. */
bool eval_typed_result(struct eval *ev, struct py_span at,
		       const struct typed *x, int depth, struct pval *out);
/* The number of nodes of e as a tree, in which a shared node counts at each
 * use. Counting stops a little above EVAL_MAX_EXPR_SIZE. */
int eval_expr_size(struct eval *ev, const struct expr *e);
/* Is the expression within the limits of size and depth? Returns false after an
 * error otherwise. */
bool eval_expr_fits(struct eval *ev, struct py_span at, const struct expr *e,
		    int depth);
/* Sets *out to the truth of a value, as in Python. Returns false after an error
 * if the value has no truth. */
bool eval_truth(struct eval *ev, struct py_span at, const struct pval *v,
		bool *out);
/* Converts `index`, an index of a list of n elements, which may be negative to
 * count from the end, to the index *out, which counts from 0. Returns false
 * after an error. */
bool eval_element(struct eval *ev, struct py_span at, const struct pval *index,
		  int64_t n, int64_t *out);
/* Sets *items to the elements of an iterable value, allocated in the arena, and
 * *n to their number. Returns false after an error. */
bool eval_items(struct eval *ev, struct py_span at, const struct pval *v,
		struct pval **items, int *n);
/* Does the same as eval_items(), but if `one` is set, sets *items to v as the
 * only element. */
bool eval_items_or_one(struct eval *ev, struct py_span at, const struct pval *v,
		       bool one, const struct pval **items, int *n);
struct pval *eval_scope_find(struct eval *ev, struct scope *s,
			     const char *name);
void eval_scope_set(struct eval *ev, struct scope *s, const char *name,
		    const struct pval *v);

/* -- absent values (absent.c) -- */

/* May a statement that needs the absent module or attribute `path` be left out?
 * False for TVM's modules, which build the functions that the user wants. */
bool absent_may_be_left_out(const char *path);
/* If the statement e needs an absent value, and is a return or no control flow:
 * leaves the statement out, makes the names that it assigns absent, and returns
 * true. */
bool absent_statement(struct eval *ev, struct scope *s,
		      const struct py_node *e);
/* Marks the running statement as one that needs an absent value, such as the
 * results of a function that takes too long; the statement then fails, and
 * absent_left_out() leaves it out. Returns false. */
bool eval_leave_out(struct eval *ev, const char *what);
/* Called after the statement e has failed. If eval_leave_out() marked it, makes
 * the names that it assigns absent and returns true, so that the program goes
 * on. Returns false, with an error, if the statement is control flow. */
bool absent_left_out(struct eval *ev, struct scope *s, const struct py_node *e);
/* Prints a note about the statements that were left out, if there are any. It
 * comes before the first error among the diagnostics from index `first` on. */
void absent_note(struct eval *ev, const char *file, int first);
bool eval_import(struct eval *ev, struct scope *s, const struct py_node *e);
/* If a decorator of the definition e declares a function or a module in
 * TVMScript, sets *is_script and reads the definition. Returns false after an
 * error. */
bool eval_script(struct eval *ev, struct scope *s, const struct py_node *e,
		 bool *is_script);

/* -- values -- */

const char *pv_kind_name(enum pv_kind kind);
/* Does `x is y` hold in Python? True if both are the same object, or equal
 * numbers of the same kind. */
bool pv_same(const struct pval *x, const struct pval *y);
/* Appends the text of a value as print shows it. repr: as print shows the value
 * inside of a list. To be called through object_text() (objects.h), which
 * reports errors. */
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
/* Is v a number of Python? If so, sets *out to the number; out may be NULL. */
bool pv_number(const struct pval *v, struct py_number *out);
struct pval pv_of_number(const struct py_number *n);
/* Does the same as pv_number(), and also accepts a library's value that stands
 * for a number, such as an array with one element. */
bool eval_number(const struct eval *ev, const struct pval *v,
		 struct py_number *out);
/* Is v an int, or an expression that is an integer constant? If so, sets *out. */
bool eval_int(const struct eval *ev, const struct pval *v, int64_t *out);
/* Is v an array of NumPy or of TVM? */
bool pv_is_array(const struct pval *v);

/* -- checks and conversions of arguments; errors are reported at the argument
 * -- */

bool arg_missing(const struct call *c, int i);
bool arg_given(const struct call *c, int i); /* present, and not None */
bool arg_int(struct call *c, int i, int64_t min, int64_t max, int64_t *out);
bool arg_text(struct call *c, int i, const char **out);
bool arg_bool(struct call *c, int i, bool *out);
bool arg_dtype(struct call *c, int i, struct dtype *out);
/* The name of the type that v stands for, as "float32", `float` and T.float32
 * do; NULL if v is not a type. */
const char *value_type_name(const struct pval *v);
/* Sets *out to the expression for an argument that is a number, axis, size or
 * expression. An integer becomes int32, or int64 if it is too large for int32.
 * Returns false after an error. */
bool arg_expr(struct call *c, int i, const struct expr **out, int *depth);
/* Sets *out to an argument that is a tensor. Returns false after an error. */
bool arg_tensor(struct call *c, int i, struct te_tensor **out);
/* Reads an argument that is a tensor or a list of tensors. Returns false after
 * an error. */
bool arg_tensors(struct call *c, int i, struct te_tensor ***out, int *n);
bool arg_items(struct call *c, int i, struct pval **items, int *n);
/* Reads an argument that is a shape: a list of integers and expressions, or a
 * single integer or expression. Returns false after an error. */
bool arg_shape(struct call *c, int i, const struct expr ***out, int *n);
bool value_expr(struct eval *ev, struct py_span at, const struct pval *v,
		const struct expr **out, int *depth);
/* Does the same as value_expr(), but the result is an operand of ir/typed, in
 * which a number of Python does not have a type yet. */
bool value_typed(struct eval *ev, struct py_span at, const struct pval *v,
		 struct typed *out, int *depth);
bool value_kind_error(struct call *c, int i, const char *wanted);

/* -- tensors (tensors.c) -- */

/* te_remember() registers a tensor with its depth (pval.depth); te_depth()
 * returns this depth; te_tensor_of() returns the tensor that is registered for
 * a buffer, or NULL. */
struct te_tensor *te_tensor_of(struct eval *ev, const struct buffer *b);
void te_remember(struct eval *ev, struct te_tensor *t, int depth);
int te_depth(struct eval *ev, const struct te_tensor *t);

#endif
