/* SPDX-License-Identifier: Apache-2.0 */
/* Statements: a mutable tree with parent links, owned by a function. Every
 * change goes through stmt_write (journaled), so that func_checkpoint /
 * func_rollback undo any edit. Handles to loops and blocks are ids. */
#ifndef TIRC_STMT_H
#define TIRC_STMT_H

#include "buffer.h"

enum stmt_kind {
#define STMT(id) STMT_##id,
#include "stmt.def"
#undef STMT
	STMT_KIND_COUNT
};

enum for_kind {
	FOR_SERIAL,
	FOR_PARALLEL,
	FOR_VECTORIZED,
	FOR_UNROLLED,
	FOR_THREAD
};

struct range {
	const struct expr *min, *extent;
};

/* The part of a buffer that a block reads or writes: one range per
 * dimension. */
struct region {
	const struct buffer *buffer;
	struct range *ranges;
};

/* Named facts on loops, blocks and functions, in order of insertion. */
struct note {
	const char *key;
	const struct expr *value;
	struct note *next;
};

/* The fields of a BLOCK other than args and children. Never edit a struct block
 * in place: replace it, so that the journal keeps the old one. */
struct block {
	const char *name;
	struct iter_var *iters;
	int n_iters;
	struct region *reads, *writes;
	int n_reads, n_writes;
	const struct buffer **allocs; /* the buffers that this block
				       * allocates */
	int n_allocs;
};

struct src_pos {
	int line, col; /* 0 if not known */
};

struct stmt {
	enum stmt_kind kind;
	/* above 0 and unique in the function; edits of the statement keep its
	 * id */
	int id;
	struct stmt *parent;
	/* the index among parent's children at which s was seen last; read the
	 * index with stmt_slot, which corrects it */
	int slot;
	struct stmt **children;
	int n_children;
	const struct expr **args;
	int n_args;
	struct note *notes;
	struct src_pos pos;
	union {
		struct {
			struct var *var;
			enum for_kind kind;
			const char *thread; /* "blockIdx.x" for FOR_THREAD */
		} loop;
		const struct block *block;
		const struct buffer *buffer; /* STORE, ALLOC */
		struct var *var;             /* LET */
		const char *key;             /* ATTR */
	} u;
};

struct func;

/* Constructors: each makes a new node of f that has no parent, and attaches the
 * children to it. The new node is not recorded in the journal. */
struct stmt *stmt_for(struct func *f, struct var *v, const struct expr *min,
		      const struct expr *extent, enum for_kind kind,
		      struct stmt *body);
struct stmt *stmt_block(struct func *f, const struct block *b,
			const struct expr *predicate,
			const struct expr *const *bindings, struct stmt *init,
			struct stmt *body);
struct stmt *stmt_store(struct func *f, const struct buffer *b,
			const struct expr *value,
			const struct expr *const *index, int n);
struct stmt *stmt_if(struct func *f, const struct expr *cond, struct stmt *then,
		     struct stmt *otherwise);
struct stmt *stmt_let(struct func *f, struct var *v, const struct expr *value,
		      struct stmt *body);
struct stmt *stmt_alloc(struct func *f, const struct buffer *b,
			struct stmt *body);
struct stmt *stmt_attr(struct func *f, const char *key,
		       const struct expr *value, struct stmt *body);
struct stmt *stmt_evaluate(struct func *f, const struct expr *value);
struct stmt *stmt_while(struct func *f, const struct expr *cond,
			struct stmt *body);
struct stmt *stmt_assert(struct func *f, const struct expr *cond,
			 const char *message);
struct stmt *stmt_return(struct func *f, const struct expr *value);
/* A SEQ of the n statements. SEQs among them are flattened, and NULLs dropped.
 * If only one statement is left, returns that statement; if none is left, an
 * empty SEQ. */
struct stmt *stmt_seq(struct func *f, struct stmt *const *list, int n);

/* The only function that changes statements: copies `bytes` bytes from src to
 * dst, and records the old bytes in the journal. */
void stmt_write(struct func *f, void *dst, const void *src, size_t bytes);

/* Edits of statements; all of them go through stmt_write, so that the journal
 * records the old content. */
void stmt_set_child(struct func *f, struct stmt *s, int slot,
		    struct stmt *child); /* also sets child's parent */
void stmt_set_arg(struct func *f, struct stmt *s, int i, const struct expr *e);
void stmt_set_block(struct func *f, struct stmt *s, const struct block *b);
void stmt_set_children(struct func *f, struct stmt *s, struct stmt *const *list,
		       int n);
void stmt_set_args(struct func *f, struct stmt *s,
		   const struct expr *const *list, int n);
void stmt_set_loop_kind(struct func *f, struct stmt *s, enum for_kind kind,
			const char *thread);
/* The index of s among its parent's children. */
int stmt_slot(const struct stmt *s);
/* The position of s in its tree. To wrap s: place = stmt_place_of(s), make the
 * wrapper with s as its child, stmt_put(f, place, wrapper). A SEQ put into a
 * SEQ is spliced. The function's body has parent NULL. */
struct stmt_place {
	struct stmt *parent;
	int slot;
};
struct stmt_place stmt_place_of(const struct stmt *s);
void stmt_put(struct func *f, struct stmt_place place, struct stmt *s);
/* Replaces s, which may be the function's body. replacement must not contain
 * s. */
void stmt_replace(struct func *f, struct stmt *s, struct stmt *replacement);
/* Removes s from its tree. A SEQ with one remaining child is replaced by this
 * child, and a parent without children is removed, too. */
void stmt_remove(struct func *f, struct stmt *s);
void stmt_set_note(struct func *f, struct stmt *s, const char *key,
		   const struct expr *value); /* a NULL value removes the
					       * note */
const struct expr *stmt_note(const struct stmt *s, const char *key);
/* The string in a note's value; NULL if value is NULL or not a string. Since
 * notes may come from files, the type of a value must be checked. */
const char *note_text(const struct expr *value);
/* A deep copy with new ids. If fresh_vars, it has new loop, let and iter
 * variables with the same names. Buffers are shared. */
struct stmt *stmt_clone(struct func *f, const struct stmt *s, bool fresh_vars);

bool regions_have(const struct region *list, int n, const struct buffer *b);
/* Copies the regions with the variables in their bounds replaced; unknown
 * regions stay unknown. NULL if n is 0. */
struct region *regions_substitute(struct module *m, const struct region *list,
				  int n, const struct var_map *map);

/* A pre-order walk; if visit returns false, the children of s are skipped. */
void stmt_visit(struct stmt *s, bool (*visit)(void *ctx, struct stmt *s),
		void *ctx);
/* Each of the following changes every expression at or below s (args, regions,
 * iter domains), through the journal: as expr_rewrite, expr_replace of one node
 * and expr_substitute do. */
void stmt_rewrite(struct func *f, struct stmt *s,
		  const struct expr *(*pre)(void *ctx, const struct expr *e),
		  void *ctx);
void stmt_replace_expr(struct func *f, struct stmt *s, const struct expr *from,
		       const struct expr *to);
void stmt_substitute(struct func *f, struct stmt *s, const struct var_map *map);
/* Replaces the buffer `from` by `to`, which has the same rank, in s and the
 * statements below: in loads, stores, allocs and regions. */
void stmt_replace_buffer(struct func *f, struct stmt *s,
			 const struct buffer *from, const struct buffer *to);
/* Replaces all calls of the function `from` in f (of the kind CALL_FUNC or
 * LAUNCH) by calls of `to`. */
void func_rename_calls(struct func *f, enum intrin call, const char *from,
		       const char *to);
const char *stmt_kind_name(enum stmt_kind kind);
const char *for_kind_name(enum for_kind kind);

#endif
