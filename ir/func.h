/* SPDX-License-Identifier: Apache-2.0 */
/* Functions: a kernel, or the entry that calls kernels. */
#ifndef TIRC_IR_FUNC_H
#define TIRC_IR_FUNC_H

#include "stmt.h"

/* In which memory an array lies that a function is given, where a machine has
 * several: that of the model's caller, the scratch memory between kernels, the
 * constants, or what the function itself declares. */
enum memory_space {
	SPACE_INTERFACE,
	SPACE_WORKSPACE,
	SPACE_WEIGHTS,
	SPACE_LOCAL,
	SPACE_COUNT
};

/* A buffer (var is its data pointer) or a scalar (buffer NULL). */
struct param {
	struct var *var;
	const struct buffer *buffer;
	enum memory_space space;
};

/* An axis that a schedule made of several: its value is a number of which they
 * are the digits, each from 0, the first one the highest. It is for names in
 * emitted text alone and no part of the program: printing leaves it out, and
 * equal functions may differ in it. */
struct fused_axis {
	const struct var *loop; /* of the whole, when it was made */
	const char *name;       /* what the whole is called now */
	int n;                  /* at least 2 */
	const char *const *digits;
	const struct expr *const *extents; /* of the digits, none of them 1 */
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
	struct dtype ret; /* DT_VOID, or the status */
	/* Phase 0: a root BLOCK named "root" without iters, whose allocs are
	 * the intermediate buffers. Lowered: any statement without blocks. */
	struct stmt *body;
	struct note *notes;           /* "global_symbol", "tir.noalias", … */
	VEC(struct fused_axis) fused; /* in the order in which they were made */
	int next_id;
	VEC(struct journal_entry) journal;
	bool journaling; /* false: writes are not recorded (plain lowering) */
};

struct func *func_new(struct module *m, const char *name); /* not yet in m */
void func_add_param(struct func *f, struct var *var,
		    const struct buffer *buffer);
void func_set_note(struct func *f, const char *key, const struct expr *value);
const struct expr *func_note(const struct func *f, const char *key);
/* Remembers that loop has the digits of n axes; those of extent 1 are left out,
 * and nothing is remembered of fewer than two. The arrays are copied. */
void func_note_fused(struct func *f, const struct var *loop, int n,
		     const char *const *digits,
		     const struct expr *const *extents);
/* Deep copy under another name (params and buffers shared). */
struct func *func_clone(const struct func *f, const char *name);

/* Gives f the program of g (same module), which must have the same signature up
 * to names: parameters of equal types and shapes in the same order. g is used
 * up. False, with f as it was, after DIAG_BAD_PROGRAM. */
bool func_adopt(struct func *f, struct func *g);
/* What is not the same about g's signature; NULL if f may take its program. */
const char *func_mismatch(struct func *f, struct func *g);

/* Undo: everything written since the checkpoint is as it was. */
int func_checkpoint(struct func *f);
void func_rollback(struct func *f, int checkpoint);
void func_commit(struct func *f); /* forget the journal */

struct stmt *func_find(const struct func *f, int id); /* NULL: gone */
struct stmt *func_find_block(const struct func *f, const char *name);

/* Is b the buffer of a parameter of f? */
bool func_has_param(const struct func *f, const struct buffer *b);
/* Does f call the intrinsic anywhere? */
bool func_calls(const struct func *f, enum intrin op);
/* Is b read / written anywhere in f? */
bool func_reads(const struct func *f, const struct buffer *b);
bool func_writes(const struct func *f, const struct buffer *b);

enum script_version {
	SCRIPT_CURRENT, /* T.sblock, T.Buffer((8,), "float32") */
	SCRIPT_OLD      /* T.block, T.Buffer[8, "float32"] */
};

/* TVMScript of a function or of all functions of a module. */
void func_print(const struct func *f, enum script_version version,
		struct strbuf *out);
void module_print(const struct module *m, enum script_version version,
		  struct strbuf *out);
void expr_print(const struct expr *e, struct strbuf *out); /* debugging too */

/* Do passes check what they made? -Dverify=false builds without. */
#ifndef TIRC_VERIFY
#define TIRC_VERIFY 0
#endif
/* Checks every invariant of DESIGN's IR: parent links, scopes of variables,
 * types, ranks, iter bindings, regions cover accesses (constant case).
 * Reports as DIAG_VERIFY on the module's diags. */
bool func_verify(struct func *f);

#endif
