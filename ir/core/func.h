/* SPDX-License-Identifier: Apache-2.0 */
/* Functions: kernels, and the entry function that calls them. */
#ifndef TIRC_FUNC_H
#define TIRC_FUNC_H

#include "stmt.h"
#include "target_facts.h"

/* The memory of an array of a function, for machines with several memories: the
 * memory in which the caller passes inputs and outputs, the workspace, the
 * weights, or the function's local arrays. */
enum memory_space {
	SPACE_INTERFACE,
	SPACE_WORKSPACE,
	SPACE_WEIGHTS,
	SPACE_LOCAL,
	SPACE_COUNT
};

/* A parameter: a buffer (var is its data pointer), or a scalar (buffer is
 * NULL). */
struct param {
	struct var *var;
	const struct buffer *buffer;
	enum memory_space space;
	/* Is the parameter a size that TVMScript declares in the function's
	 * body? In scripts such a size is not a parameter; in emitted functions
	 * it is. */
	bool implied;
};

/* An axis that a schedule made by fusing several axes. The original axes are
 * the digits of the loop variable's value, each from 0, the most significant
 * first. This record is only used to choose names in emitted text and is not
 * part of the program: it is not printed, and func_equal does not compare
 * it. */
struct fused_axis {
	const struct var *loop;    /* the loop variable that the fused axis had
				 * when it was made */
	const char *name;          /* the name that the fused axis has now */
	int n;                     /* at least 2 */
	const char *const *digits; /* the names of the original axes */
	const struct expr *const *extents; /* the extents of these axes; none is
					    * 1 */
};

struct journal_entry {
	void *dst;
	void *old;
	size_t bytes;
};

struct func {
	struct module *module;
	const char *name;
	VEC(struct param) params;
	struct dtype ret; /* DT_VOID, or the type of the status */
	/* Phase 0: a root BLOCK named "root" without iters, whose allocs are
	 * the intermediate buffers. Lowered: any statement without blocks. */
	struct stmt *body;
	struct note *notes;        /* "global_symbol", "tir.noalias", … */
	struct target_facts facts; /* facts about the target that passes
				       * read */
	/* fused axes, in the order in which they were made */
	VEC(struct fused_axis) fused;
	int next_id;
	VEC(struct journal_entry) journal;
	bool journaling; /* false while writes are not recorded, as in
			  * lowering */
};

struct func *func_new(struct module *m, const char *name); /* not added to m */
void func_add_param(struct func *f, struct var *var,
		    const struct buffer *buffer);
void func_set_note(struct func *f, const char *key, const struct expr *value);
/* Replaces the buffer `from` by `to`, of the same rank, in the parameters and
 * in the body. */
void func_replace_param(struct func *f, const struct buffer *from,
			struct buffer *to);
const struct expr *func_note(const struct func *f, const char *key);
/* Records that loop is the fusion of n axes. Axes of extent 1 are left out;
 * fewer than two axes are not recorded. The arrays are copied. */
void func_note_fused(struct func *f, const struct var *loop, int n,
		     const char *const *digits,
		     const struct expr *const *extents);
/* A deep copy under another name; parameters and buffers are shared. */
struct func *func_clone(const struct func *f, const char *name);

/* Gives f the program of g, a function of the same module. Their signatures
 * must be the same apart from names: parameters of equal types and shapes in
 * the same order. g must not be used afterwards. False, with f unchanged, after
 * DIAG_BAD_PROGRAM. */
bool func_adopt(struct func *f, struct func *g);
/* The difference between the signatures of f and g, in words; NULL if there is
 * none. */
const char *func_mismatch(struct func *f, struct func *g);

/* Begins to record writes; func_rollback with the returned number undoes all
 * writes since then. */
int func_checkpoint(struct func *f);
void func_rollback(struct func *f, int checkpoint);
void func_commit(struct func *f); /* clears the journal: no rollback past this
				   * point */

/* func_find: the statement with this id; NULL if it was removed */
struct stmt *func_find(const struct func *f, int id);
struct stmt *func_find_block(const struct func *f, const char *name);

/* Is b the buffer of a parameter of f? */
bool func_has_param(const struct func *f, const struct buffer *b);
/* Is v the variable of a parameter of f? */
bool func_has_var(const struct func *f, const struct var *v);
/* Is v a parameter that scripts do not have? */
bool func_implies(const struct func *f, const struct var *v);
/* Does f call the intrinsic anywhere? */
bool func_calls(const struct func *f, enum intrin op);
/* Is an element of b read anywhere in f? The second function, func_writes: is
 * one written? */
bool func_reads(const struct func *f, const struct buffer *b);
bool func_writes(const struct func *f, const struct buffer *b);

enum script_version {
	SCRIPT_CURRENT, /* T.sblock, T.Buffer((8,), "float32") */
	SCRIPT_OLD      /* T.block, T.Buffer[8, "float32"] */
};

/* These append the TVMScript of a function, or of all functions of a module. */
void func_print(const struct func *f, enum script_version version,
		struct strbuf *out);
void module_print(const struct module *m, enum script_version version,
		  struct strbuf *out);
/* also for debugging */
void expr_print(const struct expr *e, struct strbuf *out);

/* Do passes verify their results? -Dverify=false turns that off. */
#ifndef TIRC_VERIFY
#define TIRC_VERIFY 0
#endif
/* Checks every invariant of the IR: parent links, scopes of variables, types,
 * ranks, bindings of iter vars, and, if ranges and indices are constants, that
 * regions cover the accesses. Violations are reported as DIAG_VERIFY in the
 * module's diagnostics. */
bool func_verify(const struct func *f);

/* Reports an error about the function as a whole; always false. */
#define func_error(f, id, ...)                                                 \
	diag_error(&(f)->module->diags, id,                                    \
		   (struct diag_place){ .item = (f)->name }, __VA_ARGS__)

#endif
