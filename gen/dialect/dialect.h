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

enum form_id {
#define FORM(id, key, types, n) FORM_##id,
#include "forms.def"
#undef FORM
	FORM_COUNT
};

enum form_kind {
	FORM_IS_REJECTED, /* text: why */
	FORM_IS_INFIX,    /* text: the operator */
	FORM_IS_PREFIX,
	FORM_IS_CALL,  /* text: the function, a template over type facts */
	FORM_IS_TEXT,  /* text: a template over type facts, a, b, c */
	FORM_IS_HELPER /* text: name of the helper */
};

struct form {
	enum form_kind kind;
	const char *text;
	const char *pointer; /* its place in dialect.json */
	const char *file;    /* the dialect.json that defines it */
	int level;           /* precedence of the result */
	int operands[3];     /* least precedence of operands (TEXT) */
	struct names needs;  /* headers */
};

enum break_place { BREAK_NONE, BREAK_BEFORE, BREAK_AFTER };

/* A level of precedence; a higher index binds tighter. */
struct level {
	const char *name;
	bool right;       /* associates to the right */
	uint64_t clarify; /* operands of these levels get parentheses that the
			   * language does not need, against warnings */
	enum break_place where;
	bool composite; /* its results are composite expressions, whose casts
			 * have a form of their own */
};

struct spelled_type {
	const char *rejected; /* the reason, or NULL */
	const char *file;     /* the dialect.json that defines it */
	const char *spelling, *literal, *wide_literal;
	const char *lowest, *highest, *unsigned_spelling;
	const char *infinity, *nan, *no, *yes, *math;
	/* Only memory has the type: expressions have the type `computed`, and
	 * the helpers convert. */
	bool is_stored_only;
	struct dtype computed;
	const char *load, *store, *round;
	bool promoted; /* the results of arithmetic have the dialect's int */
	struct names needs, special_needs;
	struct tdata *facts; /* the type's placeholders: type, short, bits, … */
};

/* Lines around a body. */
struct lines {
	const char *rejected;
	const char *file; /* the dialect.json that defines them */
	struct names open, otherwise, close;
	const char *line;
};

enum statement_id {
#define STATEMENT(id, key, words, doc) SAY_##id,
#include "dialect.def"
	SAY_COUNT
};

/* A header that only some compilers have, and the preprocessor's condition for
 * these compilers. */
struct rare_header {
	const char *name, *condition;
};

struct helper {
	const char *key, *name; /* name: a template over type facts */
	const char *file, *text;
	struct names needs;
	struct names uses; /* helpers that it calls */
	bool contracts; /* adds a product of floats: a compiler may make that a
			 * fused multiply-add */
	bool loop; /* has one loop: an iteration for each bit of its type */
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

/* The type of buffers of a scope: one fragment for each tile of the buffer's
 * last two dimensions. */
struct fragment_form {
	const char *scope, *spelling;
	struct dtype type;
	int64_t tile[2];
	struct names needs;
};

/* The copying unit's name for the layout of arrays of a scope. row_bytes > 0:
 * rows have that many bytes, in a swizzled order that only intrinsics know. */
struct box_layout {
	const char *scope, *name;
	int row_bytes;
};

struct box_type {
	struct dtype type;
	const char *name;
};

/* A number of dimensions that a box may have; the key of the helper that copies
 * boxes of that rank. */
struct box_rank {
	int rank;
	const char *helper;
};

/* Copies of boxes into shared memory, by a unit of the device. */
struct box_forms {
	const char *helper; /* the key of the helper that they need; NULL: the
			     * device has no boxes */
	/* The kernel's parameter that describes an array, and its argument at
	 * the launch; statements for a copy of a box, for the end of a group of
	 * copies, for waiting. */
	const char *source, *argument, *copy, *commit, *wait;
	struct names begin; /* first lines of a kernel with box copies */
	VEC(struct box_rank) ranks;
	int64_t most_extent;
	int64_t bytes; /* the size and the stride of rows are multiples */
	VEC(struct box_layout) layouts;
	VEC(struct box_type) types;
};

struct device_forms {
	const char *rejected; /* why the dialect has no kernels, or NULL */
	const char *file;     /* the dialect.json that rejects them */
	struct names kernel;  /* lines before the body */
	const char *array, *scalar;     /* parameters */
	const char *indices[TAG_COUNT]; /* of threads */
	const char *barriers[BARRIER_COUNT];
	const char *shuffle_xor; /* another thread's value; NULL: no form */
	/* Asynchronous copies into shared memory: statements for a copy, for
	 * the end of a group, for waiting. NULL: copies are synchronous. */
	const char *async_copy, *async_commit, *async_wait;
	int64_t async_bytes; /* sizes of a copy, as bits */
	struct names async_needs;
	struct box_forms boxes;
	/* In a kernel with more than pool_beyond bytes of shared arrays, they
	 * are parts of one dynamic array, whose size is an argument of the
	 * launch: its declaration in the kernel, the declaration of a part, a
	 * statement of the host before the launch. 0: no dynamic array. */
	int64_t pool_beyond;
	const char *pool_declare, *pool_array, *pool_before;
	const char *launch, *no_launch; /* one is set: the form, or why not */
	/* The helper for the extents of a launch that may exceed 32 bits; NULL:
	 * launches take 64-bit extents. */
	const char *extent;
	/* Whole models: the dialect of the host's code (NULL: this dialect); a
	 * launch by the entry function (NULL: the dialect has no models). A
	 * launch's arguments and the tensors in the workspace; NULL: they have
	 * the forms of C. */
	const char *host, *model_launch, *pointer, *number, *place;
	/* An element of the device's memory, read by the host: the helper, and
	 * its call; NULL: the host cannot read. */
	const char *reader, *read;
	/* The self-test's arrays, which host and device share, and a statement
	 * that waits for kernels; NULL: plain arrays, no statement. */
	const char *memory, *wait;
	VEC(struct fragment_form) fragments;
};

/* A vector type that the language itself has, and its name. */
struct vector_name {
	struct dtype type;
	const char *spelling;
};

/* Vectors of a few numbers. */
struct vector_forms {
	const char *rejected; /* why the dialect has no vectors, or NULL */
	const char *file;     /* the dialect.json that rejects them */
	VEC(struct vector_name) spelled;
	struct names before; /* lines before the first definition */
	/* Templates: the type's name, its definition, the vector whose first
	 * element is a given one. `loose`: with the alignment of an element. */
	const char *name, *define, *elements;
	/* Statements that store a vector to an array of numbers where vectors
	 * are not lvalues; loads and stores of the first lanes only, for the
	 * last iteration of a loop. */
	const char *store, *load_part, *store_part;
	/* Loads and stores of an element of an array of vectors that is not the
	 * function's own, where such an element is no vector of the language;
	 * or NULL. */
	const char *read, *write;
	struct names loop, loop_end;
	VEC(struct dtype) parts; /* the types of vectors in such loops */
	const struct form *forms[FORM_COUNT]; /* NULL: no form */
	bool computes;                        /* forms[] has a form */
};

/* Parallel loops as functions (tasks) that the caller's threads run. */
struct task_forms {
	bool used;
	const char *runtime; /* the file of runtime-c/ with the threads */
	const char *parameter, *argument; /* of functions with parallel loops */
	const char *array, *scalar; /* members of the struct that tasks share */
	const char *declare, *call;
};

/* Kernels as functions of one signature, called through a table: the function's
 * declarations of its arrays and sizes. */
struct graph_forms {
	const char *rejected; /* why the dialect has no graph form, or NULL */
	const char *array, *size;
	struct names runtime; /* files of runtime-c that make the calls */
	const char *ldflags;  /* of programs with these files */
};

/* Functions whose text comes from a backend, and the arguments of a backend that
 * keeps state between runs. */
struct region_forms {
	const char *rejected;  /* why the dialect has no regions, or NULL */
	const char *parameter; /* the model's struct */
	const char *argument;  /* the argument in the entry function */
	const char *memory;    /* a region's own part of the workspace */
	const char *weights;   /* a parameter: its constants */
};

/* A rule that lines of the output break; such a line ends with the mark. */
struct deviation {
	const char *id, *rule, *category, *mark, *reason;
};

/* The delimiters of comments in the dialect's texts, and the start of a comment
 * that ends with its line; line NULL: comments are printed as they are. */
struct comment_forms {
	const char *open, *next, *close, *line;
};

/* A guideline of the standard: "compliant", "deviation" (of lines that have a
 * mark), "disapplied" or "not applicable", and how that is so. */
struct guideline {
	const char *id, *category, *status, *how;
};

/* The coding rules that the output complies with; standard NULL: the dialect
 * claims no compliance. */
struct compliance {
	const char *standard;
	struct names claims; /* one line each */
	VEC(struct guideline) guidelines;
	struct names implementation_defined; /* behaviour relied on */
	VEC(struct deviation) deviations;
};

struct dialect {
	const char *name, *description;
	const char *file; /* of dialect.json, for messages */
	struct module *module;
	const char *dir;    /* the user's folder of dialects, or NULL */
	struct names chain; /* its name, then the dialects that it extends */
	int identifier_length, external_length, int_bits, char_bits;
	int64_t object_bytes; /* of the largest object; 0: no limit */
	int line_columns, tab_columns;
	int text_columns; /* limit of a line's text after the indent */
	int most_columns; /* limit of a line */
	int deep_columns; /* of an indent in functions too deep for tabs */

	int n_levels;
	struct level *levels;
	int primary, assignment, unary, relational; /* levels of these names */
	struct spelled_type types[DT_COUNT];
	const struct form *forms[FORM_COUNT][DT_COUNT]; /* NULL: not asked */
	struct {
		const char *element, *call, *array_cast, *pointer_cast;
		const char *input, *output, *workspace, *weight;
		bool always_cast;   /* a pointer to void is no other pointer */
		const char *arena;  /* of one type, in the workspace */
		int entry_tabs;     /* before statements of the entry */
		const char *unit;   /* the type of a byte, for offsets */
		bool flat_locals;   /* local arrays have one dimension */
		const char *refuse; /* a size is out of bounds: a statement */
		bool single_exit;   /* which does not return */
	} access;
	/* Each memory's qualifier, before the type; NULL: no qualifier. */
	const char *spaces[SPACE_COUNT];
	struct lines statements[SAY_COUNT];
	struct {
		struct names kernel, exported, prototype, close;
		const char *no_parameters, *array, *scalar, *pointer;
		/* A symbol from outside, and its pointers. */
		const char *external, *external_pointer;
		const char *helper; /* the specifiers of helpers */
		bool unique; /* no member of a structure has a function's name */
		bool flat;   /* arguments that are arrays have one dimension */
		/* Lines around functions in which the compiler may not make
		 * fused multiply-adds. */
		struct names apart_begin, apart_end;
	} functions;
	struct device_forms device;
	struct vector_forms vectors;
	struct task_forms tasks;
	struct graph_forms graph;
	struct region_forms regions;
	VEC(struct helper) helpers;
	VEC(struct rare_header) rare_headers;
	struct {
		bool forms[WEIGHTS_SECTION + 1];
		int64_t in_source_bytes;
		enum weights_form large;
		bool copied; /* once, to the caller's memory */
		const char *declare, *define, *end, *open, *close, *separator;
		struct names section;
		bool header;  /* declarations are in a file of their own */
		bool aligned; /* `define` has the target's alignment */
	} weights;
	struct compliance compliance;
	struct comment_forms comments;
	struct dialect_template templates[TEMPLATE_COUNT];
	const char *files[FILE_COUNT];
	struct names entry_names; /* used by the template of the entry */
	struct names source_needs, file_weights_needs; /* headers */
	struct names source_before; /* lines behind a source's headers */
	/* Lines that refuse a compiler, and lines before all of these. */
	struct {
		struct names before, refuse;
	} relies_on;
	/* What sources for the target rely on, or NULL. */
	const struct requirement *requirement;
	struct names fp_needs, fp_before; /* headers and lines of the mode of
					   * --fp */
	bool fp_modes[2];                 /* has it strict, fast? */
	const char *comment_line; /* the start of a comment's next line */
	/* Words that identifiers, and members of structures, may not be: sorted,
	 * without repetition. */
	struct names reserved, reserved_members;
};

/* "interface" */
const char *memory_space_name(enum memory_space s);
const char *form_key(enum form_id id);
const char *statement_key(enum statement_id id);
/* Do dialects have a form for the type? They have none for integers of fewer than
 * 8 bits: the pass nibbles makes these bytes, and their arrays are arrays of
 * bytes. */
bool dialect_computes(struct dtype t);
/* The layout of its lines; deep: in a function that is too deep for tabs. */
struct layout dialect_layout(const struct dialect *d, struct strbuf *out,
			     bool align_with_tabs, bool deep);
/* The form for operands of type t; NULL with DIAG_BAD_DIALECT where the
 * dialect rejects it. */
const struct form *dialect_form(const struct dialect *d, enum form_id id,
				struct dtype t);
/* The name of the workspace's array of type t: the type's short name, unless a
 * language reserves it. */
const char *dialect_arena_name(const struct dialect *d, struct dtype t);
const struct spelled_type *dialect_type(const struct dialect *d,
					struct dtype t);
/* The preprocessor's condition for the header; NULL: all compilers have it. */
const char *dialect_header_condition(const struct dialect *d,
				     const char *header);
const struct helper *dialect_helper(const struct dialect *d, const char *key);

/* comments_line.c: the text, its comments in the dialect's form; moves the text's
 * anchors (NULL: none). */
const char *dialect_comments(const struct dialect *d, struct arena *a,
			     const char *text, struct anchors *anchors);
/* literal.c: the dialect's literal for v: the shortest text that reads back as
 * v. *special: it needs the type's special_needs. */
const char *dialect_literal(const struct dialect *d, struct arena *a,
			    struct dtype t, union number v, bool *special);
/* The shortest decimal text that reads back as v: "1.0", "1e-05". */
void format_float(char *out, size_t size, double v, bool single);

#endif
