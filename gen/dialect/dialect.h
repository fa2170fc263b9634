/* SPDX-License-Identifier: Apache-2.0 */
/* A dialect in memory: what its dialect.json says, checked and complete. */
#ifndef TIRC_DIALECT_H
#define TIRC_DIALECT_H

#include "dialects.h"
#include "line_breaks.h"
#include "names_list.h"
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
	const char *pointer; /* where in dialect.json */
	const char *file;    /* of the dialect that has it */
	int level;           /* how tight the result binds */
	int operands[3];     /* how tight operands must bind (TEXT) */
	struct names needs;  /* headers */
};

enum break_place { BREAK_NONE, BREAK_BEFORE, BREAK_AFTER };

/* A level of precedence; a higher index binds tighter. */
struct level {
	const char *name;
	bool right;       /* associates to the right */
	uint64_t clarify; /* levels that get parentheses inside this one though
			   * they need none: compilers warn */
	enum break_place where;
	bool composite; /* what it gives is cast otherwise */
};

struct spelled_type {
	const char *rejected; /* why, or NULL */
	const char *file;     /* of the dialect that has it */
	const char *spelling, *literal, *wide_literal;
	const char *lowest, *highest, *unsigned_spelling;
	const char *infinity, *nan, *no, *yes, *math;
	/* Values are of another type; helpers that convert. */
	bool is_stored_only;
	struct dtype computed;
	const char *load, *store, *round;
	bool promoted; /* arithmetic gives the dialect's int instead */
	struct names needs, special_needs;
	struct tdata *facts; /* for templates: type, short, bits, one, … */
};

/* Lines around a body. */
struct lines {
	const char *rejected;
	const char *file; /* of the dialect that has them */
	struct names open, otherwise, close;
	const char *line;
};

enum statement_id {
#define STATEMENT(id, key, words, doc) SAY_##id,
#include "dialect.def"
	SAY_COUNT
};

/* A header that not every compiler has, and the condition of the preprocessor
 * under which one does. */
struct rare_header {
	const char *name, *condition;
};

struct helper {
	const char *key, *name; /* name: a template over type facts */
	const char *file, *text;
	struct names needs;
	struct names uses; /* helpers that it calls */
	bool contracts; /* adds products of floats: a compiler may fuse them */
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

/* What buffers of a scope are declared as: one of it per tile, which is what
 * their last dimensions hold. */
struct fragment_form {
	const char *scope, *spelling;
	struct dtype type;
	int64_t tile[2];
	struct names needs;
};

/* How kernels and their launches are spelled. */
/* Arrays that boxes may be copied to, by their scope; what the copying unit calls
 * it. row_bytes > 0: rows of so many, in an order that only intrinsics know. */
struct box_layout {
	const char *scope, *name;
	int row_bytes;
};

struct box_type {
	struct dtype type;
	const char *name;
};

/* How many dimensions a box may have; the key of the helper that copies such. */
struct box_rank {
	int rank;
	const char *helper;
};

/* Copies of boxes into shared memory, by a unit of the device. */
struct box_forms {
	const char *
		helper; /* the key of the one they need; NULL: there are none */
	/* A kernel's parameter, from which boxes of one array are copied, and
	 * what a launch gives for it; statements for a copy, for the end of a
	 * group, for waiting. */
	const char *source, *argument, *copy, *commit, *wait;
	struct names begin; /* what a kernel with such copies starts with */
	VEC(struct box_rank) ranks;
	int64_t most_extent;
	int64_t bytes; /* rows, and steps between them, are multiples of these */
	VEC(struct box_layout) layouts;
	VEC(struct box_type) types;
};

struct device_forms {
	const char *rejected;           /* why there are none */
	const char *file;               /* of the dialect that says so */
	struct names kernel;            /* lines before the body */
	const char *array, *scalar;     /* parameters */
	const char *indices[TAG_COUNT]; /* of threads */
	const char *barriers[BARRIER_COUNT];
	const char *shuffle_xor; /* a value of another thread; NULL: none */
	/* Copies into shared memory that arrive later: statements for one, for
	 * the end of a group, for waiting. NULL: plain copies. */
	const char *async_copy, *async_commit, *async_wait;
	int64_t async_bytes; /* sizes of a copy, as bits */
	struct names async_needs;
	struct box_forms boxes;
	/* Shared arrays of kernels that have more bytes than these are places in
	 * one array, which the launch sizes: how the kernel declares it, and an
	 * array within it; a statement of the host's before the launch. 0: there
	 * is no such array. */
	int64_t pool_beyond;
	const char *pool_declare, *pool_array, *pool_before;
	const char *launch, *no_launch; /* one of them: how, or why not */
	/* The helper for extents of launches that 32 bits may not hold; NULL:
	 * they take any. */
	const char *extent;
	/* Whole models: what the host is written in, a dialect of its own, or
	 * NULL: this one; how it launches, NULL: there are no models. Arguments
	 * and tensors in the workspace, where they have a form of their own. */
	const char *host, *model_launch, *pointer, *number, *place;
	/* The self-test's arrays, which host and device have together, and what
	 * waits for kernels; NULL: plain arrays, nothing. */
	const char *memory, *wait;
	VEC(struct fragment_form) fragments;
};

/* A vector type that the language has by a name of its own. */
struct vector_name {
	struct dtype type;
	const char *spelling;
};

/* Vectors of a few numbers. */
struct vector_forms {
	const char *rejected; /* why there are none */
	const char *file;     /* of the dialect that says so */
	VEC(struct vector_name) spelled;
	struct names before; /* lines before the first definition */
	/* Templates: the type's name, its definition, a vector that starts at
	 * some element. `loose`: aligned as its elements are. */
	const char *name, *define, *elements;
	/* Where vectors are not lvalues: how one is stored to an array of
	 * numbers; and loops whose last iteration has fewer lanes. */
	const char *store, *load_part, *store_part;
	/* Where a vector in memory is no value, either: how one is read from an
	 * array of vectors that the function does not declare, and how one is
	 * written there; or NULL. */
	const char *read, *write;
	struct names loop, loop_end;
	VEC(struct dtype) parts;              /* vectors that those are for */
	const struct form *forms[FORM_COUNT]; /* NULL: there is none */
	bool computes;                        /* some form is there */
};

/* Parallel loops as functions that the caller's threads run. */
struct task_forms {
	bool used;
	const char *runtime; /* a file of runtime-c/ with such threads */
	const char *parameter, *argument; /* of functions that share loops */
	const char *array, *scalar;       /* members of what tasks share */
	const char *declare, *call;
};

/* Kernels as functions of one signature, called through a table: how such a
 * function spells its arrays and sizes. */
struct graph_forms {
	const char *rejected; /* why there are none */
	const char *array, *size;
	struct names runtime; /* files of runtime-c that make the calls */
	const char *ldflags;  /* of programs with these */
};

/* Functions whose text is a backend's, and what they are given where it keeps
 * something between runs. */
struct region_forms {
	const char *rejected;  /* why there are none */
	const char *parameter; /* the model's struct */
	const char *argument;  /* what it is in the entry */
	const char *memory;    /* a region's own part of the workspace */
	const char *weights;   /* a parameter: its constants */
};

/* A rule that the output departs from, where a line says so by the mark. */
struct deviation {
	const char *id, *rule, *category, *mark, *reason;
};

/* Comments as texts have them, and what one starts with that ends with its line;
 * line NULL: they stay as they are. */
struct comment_forms {
	const char *open, *next, *close, *line;
};

/* A guideline of the standard: "compliant", "deviation" (of lines that have a
 * mark), "disapplied" or "not applicable", and how that is so. */
struct guideline {
	const char *id, *category, *status, *how;
};

/* What rules the output keeps to; standard NULL: none are claimed. */
struct compliance {
	const char *standard;
	struct names claims; /* one line each */
	VEC(struct guideline) guidelines;
	struct names implementation_defined; /* that is relied on */
	VEC(struct deviation) deviations;
};

struct dialect {
	const char *name, *description;
	const char *file; /* of dialect.json, for messages */
	struct module *module;
	const char *dir;    /* that it was looked for in, or NULL */
	struct names chain; /* its name, then those it extends */
	int identifier_length, external_length, int_bits, char_bits;
	int64_t object_bytes; /* of the largest object; 0: no limit */
	int line_columns, tab_columns;
	int text_columns; /* a line may have beyond its indent, as long as all of
			   * it is within most_columns */
	int most_columns;
	int deep_columns; /* of a level of functions that are too deep for tabs */

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
		const char *unit;   /* what pointers count: one char wide */
		bool flat_locals;   /* local arrays have one dimension */
		const char *refuse; /* a size is out of bounds: a statement */
		bool single_exit;   /* which does not return */
	} access;
	/* What stands in front of a type that lies in a memory; NULL: nothing. */
	const char *spaces[SPACE_COUNT];
	struct lines statements[SAY_COUNT];
	struct {
		struct names kernel, exported, prototype, close;
		const char *no_parameters, *array, *scalar, *pointer;
		/* A symbol from outside, and its pointers. */
		const char *external, *external_pointer;
		const char *helper; /* what helpers start with */
		bool unique; /* no member of a structure is called like one */
		bool flat;   /* arrays that are passed have one dimension */
		/* Lines around functions in which no product may be added
		 * before it is rounded. */
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
		bool copied; /* once, to where the caller wants them */
		const char *declare, *define, *end, *open, *close, *separator;
		struct names section;
		bool header;  /* declarations are in a file of their own */
		bool aligned; /* as `define` says, to what the target wants */
	} weights;
	struct compliance compliance;
	struct comment_forms comments;
	struct dialect_template templates[TEMPLATE_COUNT];
	const char *files[FILE_COUNT];
	struct names entry_names; /* that the entry's template has for itself */
	struct names source_needs, file_weights_needs; /* headers */
	struct names source_before;       /* lines behind a source's headers */
	struct names fp_needs, fp_before; /* headers and lines of the mode of
					   * --fp */
	bool fp_modes[2];                 /* are there strict, fast? */
	const char *comment_line;         /* what continues a comment's row */
	/* What no identifier may be, and no member of a structure: sorted,
	 * without repetition. */
	struct names reserved, reserved_members;
};

/* "interface" */
const char *memory_space_name(enum memory_space s);
const char *form_key(enum form_id id);
const char *statement_key(enum statement_id id);
/* Is the type one that dialects spell? Integers of fewer than 8 bits are
 * not: they are
 * bytes before (the pass nibbles), and what memory holds of them is spelled as
 * bytes are. */
bool dialect_computes(struct dtype t);
/* How its lines are laid out; deep: of a function that is too deep for tabs. */
struct layout dialect_layout(const struct dialect *d, struct strbuf *out,
			     bool align_with_tabs, bool deep);
/* The form for operands of type t; NULL with DIAG_BAD_DIALECT where the
 * dialect rejects it. */
const struct form *dialect_form(const struct dialect *d, enum form_id id,
				struct dtype t);
/* What the workspace's array of type t is called: the type's short name, if no
 * language has it for itself. */
const char *dialect_arena_name(const struct dialect *d, struct dtype t);
const struct spelled_type *dialect_type(const struct dialect *d,
					struct dtype t);
/* The condition under which there is such a header; NULL: always. */
const char *dialect_header_condition(const struct dialect *d,
				     const char *header);
const struct helper *dialect_helper(const struct dialect *d, const char *key);

/* comments_line.c: the text with the comments that the dialect wants. */
const char *dialect_comments(const struct dialect *d, struct arena *a,
			     const char *text);
/* literal.c: v as t's dialect writes it: exactly, and as short as exact
 * allows. *special: it needs the type's special_needs. */
const char *dialect_literal(const struct dialect *d, struct arena *a,
			    struct dtype t, union number v, bool *special);
/* The shortest decimal text that reads back as v: "1.0", "1e-05". */
void format_float(char *out, size_t size, double v, bool single);

#endif
