/* SPDX-License-Identifier: Apache-2.0 */
/* Private declarations of the files that build the entry function. */
#ifndef TIRC_ENTRY_H
#define TIRC_ENTRY_H

#include "identifiers.h"
#include "kernels.h"

struct entry {
	struct program *p;
	struct module *m;
	struct func *f;
	struct name_set names;
	struct var *workspace;
	const struct expr **of_weight; /* by number */
	/* workspace arrays by type, if types are separate */
	const struct buffer **parts;
	const struct expr **of_tensor; /* pointers by tensor id */
	VEC(struct var *) pointers;    /* LETs, outermost first */
	VEC(const struct expr *) values;
	int next; /* the next kernel to call */
	/* Of the loops that count their iterations in memory: the counters, by
	 * body. */
	const struct buffer **counters;
};

/* The pointer to t, which kernel k or the entry function uses. */
const struct expr *entry_pointer(struct entry *e, const struct kernel *k,
				 struct tensor *t);
struct stmt *entry_call(struct entry *e, const struct kernel *k);

/* entry_flow.c: the calls of all kernels, within the branches and loops of the
 * graph. */
struct stmt *entry_flow(struct entry *e);
/* The value of a size that a kernel takes: of the model, or of a loop. */
const struct expr *entry_flow_size(struct entry *e, const struct var *v);

#endif
