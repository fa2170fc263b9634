/* SPDX-License-Identifier: Apache-2.0 */
/* Statements that are made one after the other, in scopes that are opened and
 * closed: tvm.tir.ir_builder, and the statements of hybrid scripts. */
#ifndef TIRC_IR_BUILDER_H
#define TIRC_IR_BUILDER_H

#include "func.h"
#include "iterate.h"

enum ir_scope_kind {
	IR_SCOPE_ROOT,
	IR_SCOPE_FOR,
	IR_SCOPE_IF,
	IR_SCOPE_ELSE, /* of the IF before it */
	IR_SCOPE_WHILE,
	IR_SCOPE_LET,
	IR_SCOPE_ALLOC,
	IR_SCOPE_PLAIN /* only ends the scopes in it */
};

struct ir_scope {
	enum ir_scope_kind kind;
	/* it ends with the scope around it: LET, ALLOC, and loops of threads that
	 * scope_attr opens */
	bool implicit;
	struct var *var;                   /* FOR, LET */
	const struct expr *first, *extent; /* FOR */
	enum for_kind how;                 /* FOR */
	const char *thread;                /* FOR_THREAD */
	const struct expr *value;          /* IF, WHILE, LET */
	const struct buffer *buffer;       /* ALLOC */
	struct stmt_list body;             /* the statements so far */
};

struct ir_builder {
	struct func *f; /* that the statements belong to */
	VEC(struct ir_scope) scopes;
};

enum { IR_BUILDER_DEPTH = 200 }; /* the most scopes in each other */

void ir_builder_init(struct ir_builder *b, struct module *m);
/* False if too many scopes are open. */
bool ir_builder_open(struct ir_builder *b, const struct ir_scope *scope);
void ir_builder_emit(struct ir_builder *b, struct stmt *s);
/* May an else scope be opened: is the last statement an IF without one? */
bool ir_builder_can_else(const struct ir_builder *b);
/* Closes the innermost explicit scope, with the implicit ones in it. */
void ir_builder_close(struct ir_builder *b);
/* Closes all implicit scopes; all statements, or NULL if an explicit scope is
 * open. */
struct stmt *ir_builder_finish(struct ir_builder *b);

#endif
