/* SPDX-License-Identifier: Apache-2.0 */
/* Builds statements one after the other, in scopes that are opened and closed,
 * for tvm.tir.ir_builder and for hybrid scripts. */
#ifndef TIRC_IR_BUILDER_H
#define TIRC_IR_BUILDER_H

#include "func.h"
#include "iterate.h"

enum ir_scope_kind {
	IR_SCOPE_ROOT,
	IR_SCOPE_FOR,
	IR_SCOPE_IF,
	IR_SCOPE_ELSE, /* the scope of the else branch of the IF before it */
	IR_SCOPE_WHILE,
	IR_SCOPE_LET,
	IR_SCOPE_ALLOC,
	/* a scope without a statement, which only ends the implicit scopes in
	 * it */
	IR_SCOPE_PLAIN
};

struct ir_scope {
	enum ir_scope_kind kind;
	/* The scope ends with the scope around it. So do LET, ALLOC, and loops
	 * of threads that scope_attr opens. */
	bool implicit;
	struct var *var;                   /* FOR, LET */
	const struct expr *first, *extent; /* FOR */
	enum for_kind how;                 /* FOR */
	const char *thread;                /* FOR_THREAD */
	const struct expr *value;          /* IF, WHILE, LET */
	const struct buffer *buffer;       /* ALLOC */
	/* the statements in the scope so far */
	struct stmt_list body;
};

struct ir_builder {
	struct func *f; /* the owner of the statements */
	VEC(struct ir_scope) scopes;
	bool finished; /* ir_builder_finish() has returned the statements */
};

enum { IR_BUILDER_DEPTH = 200 }; /* the largest number of nested scopes */

void ir_builder_init(struct ir_builder *b, struct module *m);
/* Opens a scope. Returns false if too many scopes are open. */
bool ir_builder_open(struct ir_builder *b, const struct ir_scope *scope);
void ir_builder_emit(struct ir_builder *b, struct stmt *s);
/* May an ELSE scope be opened now? Only if the last statement is an IF that has
 * no ELSE yet. */
bool ir_builder_can_else(const struct ir_builder *b);
/* Closes the innermost explicit scope, and the implicit scopes inside of it. */
void ir_builder_close(struct ir_builder *b);
/* Closes all implicit scopes and returns all statements; NULL if an explicit
 * scope is open. */
struct stmt *ir_builder_finish(struct ir_builder *b);

#endif
