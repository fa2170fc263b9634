/* SPDX-License-Identifier: Apache-2.0 */
/* The interpreter's view of a function: expressions and statements with their
 * variables and buffers resolved to cells. Private to passes/interp. */
#ifndef TIRC_INTERP_FRAME_H
#define TIRC_INTERP_FRAME_H

#include "func.h"
#include "scalar.h"

struct var_cell {
	const struct var *var;
	union number value;
	union number *lanes; /* of a vector, instead of value */
	bool bound;
};

struct buffer_cell {
	const struct buffer *buffer;
	struct node **shape, **strides; /* strides NULL: dense */
	int64_t *extent, *stride;       /* evaluated; strides in elements */
	int64_t elems;                  /* spanned */
	int elem_bytes;                 /* all lanes */
	void *data;
	unsigned char *written;      /* per element; NULL: not tracked */
	size_t cap_bytes, cap_elems; /* of an owned allocation */
	struct var_cell *pointer;
	bool bound;
	bool is_private; /* to one thread */
	bool is_shared;  /* by those of a block */
};

/* One expression; equal expressions share a node. */
struct node {
	const struct expr *expr;
	struct node **args;
	struct var_cell *var;
	struct buffer_cell *buffer;
	union number *value; /* one per lane */
	uint64_t epoch;      /* value is that of this epoch */
	int lanes;
};

/* One statement. */
struct step {
	const struct stmt *stmt;
	struct node **args;
	struct step **children;     /* may hold NULL, as the statement's */
	struct var_cell *var;       /* FOR, LET */
	struct buffer_cell *buffer; /* STORE, ALLOC */
	int tag;                    /* FOR: as tag_of */
	bool waits;                 /* there is a barrier in it */
	/* BLOCK */
	struct var_cell **iters;
	struct node **iter_min, **iter_extent;
	struct buffer_cell **allocs;
};

struct frame_slot {
	const void *key;
	void *value;
};

struct interp;

struct frame {
	struct interp *interp;
	struct func *func;
	struct arena *arena;
	struct frame_slot *slots; /* expr, var, buffer -> node, cell */
	uint32_t n_slots, cap_slots;
	VEC(struct buffer_cell *) owned; /* to free */
	struct step *body;
	uint64_t epoch; /* one per statement: loads cannot change within */
	bool returned;
	union number result;
	bool running;
};

struct race_table;

struct interp {
	struct module *module;
	struct arena arena;
	VEC(struct frame *) frames; /* one per function met */
	bool failed;
	/* Where in a kernel we are: numbers of the block, of the thread in
	 * it, and of the time between two barriers. */
	int64_t block, thread, interval;
	bool in_kernel;
	const union number *shuffled; /* what another thread has, or NULL */
	const int64_t *launch;        /* extents by tag that were launched */
	struct race_table *races;     /* NULL: not looked for */
};

struct node *frame_node(struct frame *f, const struct expr *e);
struct var_cell *frame_var(struct frame *f, const struct var *v);
struct buffer_cell *frame_buffer(struct frame *f, const struct buffer *b);
struct step *frame_step(struct frame *f, const struct stmt *s);

/* Evaluates extents and strides and points the cell at data. */
void buffer_bind(struct frame *f, struct buffer_cell *c, void *data);
/* Fresh storage, every element unwritten. */
void buffer_allocate(struct frame *f, struct buffer_cell *c);

/* Fills n->value. On a fault reports, and the interpreter is failed. */
void node_eval(struct frame *f, struct node *n);
int64_t node_int(struct frame *f, struct node *n);
/* The element's place; -1 (reported) if an index is out of bounds. */
int64_t buffer_offset(struct frame *f, struct buffer_cell *c,
		      struct node *const *index, int lane);
/* A call of a function of the module by name. */
void frame_call(struct frame *f, struct node *call);

/* interp.c */
void run_step(struct frame *f, const struct step *s);
/* Is the thread loop as long as the launch says? */
bool launch_fits(struct frame *f, const struct step *s, int64_t extent);
/* interp_block.c: runs a statement with a barrier in it for all threads of a
 * block, in turns from barrier to barrier. */
void run_threads(struct frame *f, const struct step *s);
/* interp_race.c: the thread at hand reads an element, or has written it; KEEPS:
 * with the value that was there. */
enum race_touch { RACE_READS, RACE_WRITES, RACE_KEEPS };
void race_note(struct frame *f, const struct buffer_cell *c, int64_t at,
	       enum race_touch touch);
/* A kernel has ended: what comes next waits for all of it. */
void race_end_kernel(struct race_table *t);
void race_table_free(struct race_table *t);
struct race_table *race_table_new(void);

void interp_fail(struct frame *f, const char *fmt, ...) TIRC_PRINTF(2, 3);

#endif
