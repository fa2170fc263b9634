/* SPDX-License-Identifier: Apache-2.0 */
/* A dialect in memory: the checked contents of its dialect.json, with all
 * inherited keys and defaults. */
#ifndef TIRC_DIALECT_H
#define TIRC_DIALECT_H

#include "dialects.h"
#include "line_breaks.h"
#include "names_list.h"
#include "requirement.h"
#include "template.h"
#include "thread_loops.h"

/* The comments here describe the purpose of each field. The rows of dialect.def
 * describe the keys of dialect.json that the fields hold, with their
 * placeholders. */

enum form_id {
#define FORM(id, key, types, n) FORM_##id,
#include "forms.def"
#undef FORM
	FORM_COUNT
};

enum form_kind {
	FORM_IS_REJECTED, /* text: the reason */
	FORM_IS_INFIX,    /* text: the operator */
	FORM_IS_PREFIX,   /* text: the operator */
	/* text: a template of the function's name, with the placeholders of the
	 * type (spelled_type.facts) */
	FORM_IS_CALL,
	/* text: a template of the whole expression, with the placeholders of
	 * the type, and the operands as a, b, c */
	FORM_IS_TEXT,
	FORM_IS_HELPER /* text: the key of the helper */
};

/* How the dialect spells an operation on a type. */
struct form {
	enum form_kind kind;
	const char *text;
	const char *pointer; /* JSON pointer, for messages */
	const char *file;    /* path of the dialect.json that has the form */
	/* the precedence of the expression that this form makes: an index in
	 * dialect.levels */
	int level;
	/* FORM_IS_TEXT: for each operand a, b, c, the lowest precedence (index
	 * in levels) at which its text gets no parentheses */
	int operands[3];
	struct names needs; /* headers that it needs */
};

/* Where a long line is broken at an operator. */
enum break_place { BREAK_NONE, BREAK_BEFORE, BREAK_AFTER };

/* A level of precedence of the language's operators; in dialect.levels, a
 * higher index binds tighter. */
struct level {
	const char *name;
	bool right; /* operators of this level associate to the right */
	/* bit i: an operand of level i gets parentheses although it needs none,
	 * since compilers would warn otherwise */
	uint64_t clarify;
	enum break_place where;
	/* The results of these operators are composite expressions, whose casts
	 * have a separate form. */
	bool composite;
};

struct spelled_type {
	const char *rejected; /* why the dialect lacks the type, or NULL */
	const char *file;     /* the dialect.json that has the type */
	const char *spelling, *literal, *wide_literal;
	const char *lowest, *highest, *unsigned_spelling;
	const char *infinity, *nan, *no, *yes, *math;
	/* Storage-only: values of this type exist only in memory; expressions
	 * have the type `computed`, and helpers convert. */
	bool is_stored_only;
	struct dtype computed;
	const char *load, *store, *round; /* keys of these helpers */
	bool promoted; /* arithmetic on the type has results of type int */
	/* headers that the type needs, and headers that its infinity and nan
	 * need */
	struct names needs, special_needs;
	/* the data about the type for templates: type, short, bits and
	 * others */
	struct tdata *facts;
};

/* How a statement is written. A statement with a body: the lines before the
 * body (open), between two bodies (otherwise: the else of a condition), and
 * after the last body (close). A statement without a body: its line (open). */
struct lines {
	const char *rejected; /* why the dialect lacks the statement, or NULL */
	const char *file;     /* the dialect.json that has the lines */
	struct names open, otherwise, close;
	struct names needs; /* headers */
	const char *line;
};

enum statement_id {
#define STATEMENT(id, key, words, doc) SAY_##id,
#include "dialect.def"
	SAY_COUNT
};

/* A header that only some compilers have. condition: the preprocessor condition
 * that is true for these compilers. */
struct rare_header {
	const char *name, *condition;
};

/* A function that emitted sources may need, printed once for each type. */
struct helper {
	/* the helper's key in dialect.json, and the name of its function: a
	 * template with the placeholders of the type */
	const char *key, *name;
	const char *file, *text; /* the template of the function's definition */
	struct names needs;      /* headers */
	struct names uses;       /* keys of the helpers that it calls */
	/* The operation adds a product of floats, so a compiler may contract it
	 * to a fused multiply-add. */
	bool contracts;
	bool loop;  /* the emitted text has a loop over the bits of its type */
	bool small; /* the helper takes about as few instructions as a call */
};

enum template_id {
#define TEMPLATE(id, key, doc) TEMPLATE_##id,
#include "dialect.def"
	TEMPLATE_COUNT
};

enum file_id {
#define OUTPUT(id, key, doc) FILE_##id,
#include "dialect.def"
	FILE_COUNT
};

struct dialect_template {
	const char *name, *file, *text;
};

enum device_barrier { BARRIER_SHARED, BARRIER_BLOCK, BARRIER_COUNT };

/* The type of the elements of a buffer in this memory scope. Each element is a
 * fragment, which a warp holds in its registers: a tile of the matrix in the
 * last two dimensions of the buffer. */
struct fragment_form {
	const char *scope, *spelling;
	struct dtype type;
	int64_t tile[2];
	struct names needs;
};

/* An instruction of a device by TVM's name, as an expression of its arguments. */
struct instruction_form {
	/* one of text and helper is NULL; helper is the key of a function */
	const char *name, *text, *helper;
	struct names needs;
};

/* The name by which the unit that copies boxes (TMA) calls the layout of arrays
 * in a memory scope. row_bytes > 0: rows have this many bytes in a swizzled
 * order, which only intrinsics can access. */
struct box_layout {
	const char *scope, *name;
	int row_bytes;
};

struct box_type {
	struct dtype type;
	const char *name;
};

/* key of the helper that copies boxes of `rank` dimensions */
struct box_rank {
	int rank;
	const char *helper;
};

/* How kernels copy boxes of a tensor into shared memory, by a unit of the
 * device (TMA). */
struct box_forms {
	/* The key of the helper that the statements of this struct need; NULL:
	 * the device has no unit that copies boxes. */
	const char *helper;
	/* Texts: the parameter of a kernel that describes an array (source),
	 * and its argument in a launch; statements that copy a box, end a group
	 * of copies, and wait for groups. */
	const char *source, *argument, *copy, *commit, *wait;
	struct names begin; /* first lines of a kernel with box copies */
	VEC(struct box_rank) ranks;
	int64_t most_extent; /* the largest extent of a box in any dimension */
	/* the size of a row in bytes, and the stride, must be multiples of this
	 * number */
	int64_t bytes;
	VEC(struct box_layout) layouts;
	VEC(struct box_type) types;
};

/* A family of instructions: those whose name begins so have these operands
 * (gen/emit/assembly.c). */
struct assembly_family {
	const char *begins, *operands;
};

/* What stands for `from` in the names of instructions. */
struct assembly_word {
	const char *from, *to;
};

/* Statements in assembly for families of instructions; statement NULL: there
 * are none. */
struct assembly_forms {
	const char *statement, *operand, *several, *output, *input;
	const char *literal; /* what stands for the letter of a number */
	const char *shared;  /* the address of an element in shared memory */
	VEC(struct box_type) letters;
	VEC(struct assembly_word) words;
	VEC(struct assembly_family) families;
};

struct device_forms {
	const char *rejected; /* why the dialect has no kernels, or NULL */
	/* path of the dialect.json that rejects kernels */
	const char *file;
	struct names kernel; /* lines between a kernel's signature and its
			       * body */
	const char *array, *scalar; /* texts of a kernel's parameters: an
					 * array, a scalar */
	/* by tag, as threadIdx.x: the expression for the number of the thread
	 * or of the block */
	const char *indices[TAG_COUNT];
	const char *barriers[BARRIER_COUNT];
	const char *shuffle_xor; /* the expression that reads another thread's
				  * value, or NULL */
	/* Statements that copy into shared memory asynchronously, end a group
	 * of copies, and wait for groups; NULL: all copies are synchronous. */
	const char *async_copy, *async_commit, *async_wait;
	/* the sizes that one copy may have, in bytes: powers of two, added up
	 * to one number */
	int64_t async_bytes;
	struct names async_needs;
	struct box_forms boxes;
	/* If the shared arrays of a kernel have more than pool_beyond bytes,
	 * the shared arrays are parts of one dynamic array, whose size is an
	 * argument of the launch. 0: there is no dynamic array. The texts: the
	 * declaration of the dynamic array in the kernel, the declaration of a
	 * part, and a statement of the host before the launch. */
	int64_t pool_beyond;
	const char *pool_declare, *pool_array, *pool_before;
	/* One of these two is set: the statement that launches a kernel, or the
	 * reason why the dialect has no such statement. */
	const char *launch, *no_launch;
	/* The key of the helper for extents of a launch that may exceed 32
	 * bits; NULL if launches take 64-bit extents. */
	const char *extent;
	/* For whole models. host: the dialect of the host's code (NULL: this
	 * one); model_launch: a launch in the entry function (NULL: models are
	 * not supported); pointer, number: arguments of a launch; place: the
	 * address of a tensor in the workspace. pointer, number and place are
	 * NULL if they are written as in C. */
	const char *host, *model_launch, *pointer, *number, *place;
	/* How the host reads an element in the device's memory: the key of the
	 * helper (reader), and its call. NULL: the host cannot read such
	 * elements. */
	const char *reader, *read;
	/* For the self-test: the declaration of arrays that host and device
	 * share, and a statement that waits for kernels. memory NULL: plain
	 * arrays; wait NULL: no statement is needed. */
	const char *memory, *wait;
	VEC(struct fragment_form) fragments;
	VEC(struct instruction_form) instructions;
	struct assembly_forms assembly;
};

/* A vector type that the language has, and its name there. */
struct vector_name {
	struct dtype type;
	const char *spelling;
};

/* How the dialect spells short vectors. */
struct vector_forms {
	const char *rejected; /* why the dialect has no vectors, or NULL */
	/* path of the dialect.json that rejects vectors */
	const char *file;
	VEC(struct vector_name) spelled;
	/* lines of the source before the definition of the first vector type */
	struct names before;
	/* Templates: the name of a vector type, its definition, and the vector
	 * whose first element is a given element of an array. The templates
	 * read the flag `loose`: the type has only the alignment of its
	 * elements. */
	const char *name, *define, *elements;
	/* store: a statement that stores a vector in an array of scalars, if
	 * vectors are not lvalues. load_part, store_part: loads and stores of
	 * the first lanes only, for predicated loops. */
	const char *store, *load_part, *store_part;
	/* read: the expression that loads an element of an array of vectors;
	 * write: the statement that stores one. They are for an array that is a
	 * parameter of the function, in a language where an element of such an
	 * array is not a value. NULL: as for other elements. */
	const char *read, *write;
	struct names loop, loop_end;
	VEC(struct dtype) parts; /* the vector types of predicated loops */
	/* for each operation, its form for vectors; NULL: the dialect has no
	 * such operation on vectors */
	const struct form *forms[FORM_COUNT];
	bool computes; /* some operation has a form: one
					       * of forms[] is set */
};

/* Parallel loops as functions ("tasks") that threads of the caller run. */
struct task_forms {
	bool used; /* the dialect has this form of parallel loops */
	/* name of the file of runtime-c/ that provides the threads */
	const char *runtime;
	/* for functions with parallel loops: the parameter that takes the
	 * threads, and the argument for this parameter in calls */
	const char *parameter, *argument;
	/* texts: members of the struct of variables that a task captures */
	const char *array, *scalar;
	/* texts: the definition of this struct, and the call that hands a task
	 * to the threads */
	const char *declare, *call;
};

/* For --form graph: kernels are functions of the same type, called through a
 * table. array, size: declarations of an array and of a size in such a
 * function. */
struct graph_forms {
	const char *rejected; /* why the dialect has no graph form, or NULL */
	const char *array, *size;
	struct names runtime; /* files of runtime-c/ that call the kernels */
	const char *ldflags;  /* linker flags for programs with these files */
};

/* How regions of backends, functions whose text a backend provides, are
 * called. */
struct region_forms {
	const char *rejected; /* why the dialect has no regions, or NULL */
	/* text: the parameter of a kernel's function for the model's struct */
	const char *parameter;
	const char *argument; /* text: its argument in the entry function */
	const char *memory;   /* text: the region's part of the workspace */
	const char *weights;  /* text: the parameter for the region's
			        * constants */
};

/* A deviation from a coding rule: each line of the output that violates the
 * rule ends with the text `mark`. */
struct deviation {
	const char *id, *rule, *category, *mark, *reason;
};

/* The delimiters of comments in the dialect's texts: open and close. next: the
 * start of the second and further lines of a comment. line: the start of a
 * comment that ends with its line; NULL: emitted comments keep the
 * delimiters. */
struct comment_forms {
	const char *open, *next, *close, *line;
};

/* A guideline of the coding standard. status: "compliant", "deviation" (in
 * marked lines), "disapplied" or "not applicable"; how: an explanation. */
struct guideline {
	const char *id, *category, *status, *how;
};

/* The coding standard with which the emitted source complies; standard NULL:
 * the dialect claims no compliance. */
struct compliance {
	const char *standard;
	struct names claims; /* one line for each */
	VEC(struct guideline) guidelines;
	/* the implementation-defined behaviour on which the output relies */
	struct names implementation_defined;
	VEC(struct deviation) deviations;
};

struct dialect {
	const char *name, *description;
	const char *file; /* the path of dialect.json, for messages */
	struct module *module;
	const char *dir; /* the user's folder of dialects, or NULL */
	/* the dialect's name, then the names of the dialects that it extends */
	struct names chain;
	/* Limits of the compiler: the number of characters by which it
	 * distinguishes identifiers, and identifiers with external linkage; the
	 * widths of its types int and char in bits. */
	int identifier_length, external_length, int_bits, char_bits;
	int64_t object_bytes; /* largest size of an object in bytes; 0: no
			       * limit */
	int line_columns, tab_columns;
	/* A line is broken at line_columns. A deeply indented line may be
	 * longer, up to text_columns without its indent and most_columns in
	 * total. */
	int text_columns, most_columns;
	/* spaces for each level of indent in functions that are nested too
	 * deeply for tabs */
	int deep_columns;

	int n_levels;
	struct level *levels;
	int primary, assignment, unary, relational; /* indices in levels */
	struct spelled_type types[DT_COUNT];
	/* for each operation and type of the operands, its form; NULL: programs
	 * never need the operation on this type */
	const struct form *forms[FORM_COUNT][DT_COUNT];
	struct {
		/* Texts: an element of an array, a call, and the casts of a
		 * pointer to an array and to an element; */
		const char *element, *call, *array_cast, *pointer_cast, *null;
		/* texts: an input, an output, a place in the workspace and a
		 * weight in the entry function. */
		const char *input, *output, *workspace, *weight;
		bool always_cast; /* a cast is needed even from void * */
		/* text: the declaration of the workspace as an array of
		 * elements of a given type; NULL: the workspace is one array of
		 * bytes */
		const char *arena;
		/* number of tabs before the statements of the entry function */
		int entry_tabs;
		const char *unit;   /* the type of a byte, in which offsets
				     * count */
		bool flat_locals;   /* local arrays have one dimension */
		const char *refuse; /* text: the statement that ends a run
				     * because a size is out of bounds */
		bool single_exit;   /* `refuse` does not return */
		/* text: the call that shows a tensor to the caller of the
		 * model; NULL: it cannot be shown */
		const char *traced;
	} access;
	/* By memory (enum memory_space): the qualifier before the type in a
	 * declaration; NULL if it has none. */
	const char *spaces[SPACE_COUNT];
	struct lines statements[SAY_COUNT];
	struct {
		/* kernel: the lines before the body of a kernel's function;
		 * exported: those before the body of a function that other
		 * sources call; prototype: the declaration of an exported
		 * function; close: the lines after a body. */
		struct names kernel, exported, prototype, close;
		/* Texts of a function's parameters; no_parameters: the text of
		 * an empty list. */
		const char *no_parameters, *array, *scalar, *pointer;
		/* Texts: the declaration of an external function, and a pointer
		 * among its parameters. */
		const char *external, *external_pointer;
		const char *helper; /* specifiers of helper functions */
		bool unique; /* members of the interface's structures must not
			      * have the names of kernels */
		bool flat;   /* an array passed to a function has one
			      * dimension */
		/* Lines around functions in which contraction (fused
		 * multiply-add) is forbidden. */
		struct names apart_begin, apart_end;
		/* For functions that the compiler inlines at each call: the
		 * lines before the first of them, the specifiers of a helper,
		 * and the text after the specifiers of a tensor intrinsic's
		 * function. NULL: the language has no such functions. */
		struct names inlined_before;
		const char *inlined_helper, *inlined_symbol;
	} functions;
	/* short helpers, and functions of tensor intrinsics, are inlined
	 * functions */
	bool inlines;
	struct device_forms device;
	struct vector_forms vectors;
	struct task_forms tasks;
	struct graph_forms graph;
	struct region_forms regions;
	VEC(struct helper) helpers;
	VEC(struct rare_header) rare_headers;
	struct {
		/* by form: does the dialect support it? */
		bool forms[WEIGHTS_SECTION + 1];
		/* For --weights auto: weights of at most in_source_bytes in
		 * total are written as C text, larger weights in the form
		 * `large`. */
		int64_t in_source_bytes;
		enum weights_form large;
		bool copied; /* the weights are copied once to memory of the
			      * caller */
		const char *declare, *define, *end, *open, *close, *separator;
		struct names section;
		/* the declarations of weights are in a separate header */
		bool header;
		bool aligned; /* definitions of weights have the target's
			       * alignment */
	} weights;
	struct compliance compliance;
	struct comment_forms comments;
	struct dialect_template templates[TEMPLATE_COUNT];
	const char *files[FILE_COUNT];
	/* names in the template of the entry function, which variables of the
	 * function must not have */
	struct names entry_names;
	/* headers of every source, and further headers of a source whose
	 * weights are in a file */
	struct names source_needs, file_weights_needs;
	struct names source_before; /* lines after the headers of a source */
	/* refuse: lines in a source that stop a compiler that cannot compile
	 * it; before: the lines that precede the first lines of this kind. */
	struct {
		struct names before, refuse;
	} relies_on;
	/* The instructions on which sources for the target rely, as macros of
	 * the compiler; NULL: the sources rely on no instructions. */
	const struct requirement *requirement;
	/* Headers and lines that the mode of --fp adds. */
	struct names fp_needs, fp_before;
	/* does the dialect support the mode strict, and does it support the
	 * mode fast? */
	bool fp_modes[2];
	const char *comment_line; /* the text at the start of the second and
				   * further lines of a comment */
	/* Words that must not be identifiers, sorted, without duplicates: in a
	 * source, as members of structures, and for definitions that other
	 * sources see. */
	struct names reserved, reserved_members, reserved_public;
};

/* The word in dialect.json for a memory: "interface". */
const char *memory_space_name(enum memory_space s);
const char *form_key(enum form_id id);
const char *statement_key(enum statement_id id);
/* Do dialects have forms for the type? Not for integers of fewer than 8 bits: the
 * pass `nibbles` has made bytes of them. */
bool dialect_computes(struct dtype t);
/* How lines of functions are written to `out`: indents, and where they are
 * broken. deep: the function is nested too deeply for tabs. */
struct layout dialect_layout(const struct dialect *d, struct strbuf *out,
			     bool align_with_tabs, bool deep);
/* The form for operands of type t; NULL after DIAG_BAD_DIALECT if the dialect
 * rejects it. */
const struct form *dialect_form(const struct dialect *d, enum form_id id,
				struct dtype t);
/* The name of the workspace's array for elements of type t: the short name of
 * the type, changed if the language reserves it. */
const char *dialect_arena_name(const struct dialect *d, struct dtype t);
const struct spelled_type *dialect_type(const struct dialect *d,
					struct dtype t);
/* The preprocessor condition under which compilers have the header; NULL if all
 * have it. */
const char *dialect_header_condition(const struct dialect *d,
				     const char *header);
const struct helper *dialect_helper(const struct dialect *d, const char *key);

/* comments_line.c: the text with its comments in the form that the dialect
 * prefers. Moves the text's anchors to the same places in the new text; anchors
 * may be NULL. */
const char *dialect_comments(const struct dialect *d, struct arena *a,
			     const char *text, struct anchors *anchors);
/* literal.c: the literal for v, the shortest text that reads back as v. Sets
 * *special if the literal needs the headers special_needs of type t. */
const char *dialect_literal(const struct dialect *d, struct arena *a,
			    struct dtype t, union number v, bool *special);
/* Writes to `out` the shortest decimal text that reads back as v, "1.0",
 * "1e-05"; single: as a float32. */
void format_float(char *out, size_t size, double v, bool single);

/* Does the dialect print this kind of loop in a different way than a serial
 * loop? */
bool dialect_has_loop(const struct dialect *d, enum statement_id id);

#endif
