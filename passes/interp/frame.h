/* SPDX-License-Identifier: Apache-2.0 */
/* The interpreter's view of a function: expressions and statements with their
 * variables and buffers resolved to cells. Private to passes/interp. */
#ifndef TIRC_FRAME_H
#define TIRC_FRAME_H

#include "func.h"
#include "scalar.h"

struct var_cell {
	const struct var *var;
	union number value;
	union number *lanes; /* for a vector, instead of value */
	bool bound;
};

struct buffer_cell {
	const struct buffer *buffer;
	struct node **shape, **strides; /* strides NULL: dense */
	int64_t *extent, *stride;       /* evaluated; strides in elements */
	int64_t elems;                  /* number of elements spanned */
	int elem_bytes;                 /* all lanes */
	void *data;
	unsigned char *written;      /* per element; NULL: not tracked */
	size_t cap_bytes, cap_elems; /* of an owned allocation */
	struct var_cell *pointer;
	bool bound;
	bool is_private; /* private to one thread */
	bool is_shared;  /* shared by the threads of a block */
};

/* One expression; equal expressions share a node. */
struct node {
	const struct expr *expr;
	struct node **args;
	struct var_cell *var;
	struct buffer_cell *buffer;
	union number *value; /* one per lane */
	uint64_t epoch;      /* the epoch that value belongs to */
	int lanes;
};

/* One statement. */
struct step {
	const struct stmt *stmt;
	struct node **args;
	struct step **children;     /* may contain NULL, as the statement's
				     * children */
	struct var_cell *var;       /* FOR, LET */
	struct buffer_cell *buffer; /* STORE, ALLOC */
	int tag;                    /* FOR: as tag_of */
	bool waits;                 /* contains a barrier */
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
	uint64_t epoch; /* changes with each statement; loads do not change
			 * within one */
	bool returned;
	union number result;
	bool running;
};

struct race_table;

struct interp {
	struct module *module;
	struct arena arena;
	VEC(struct frame *) frames; /* one per function called */
	bool failed;
	/* The position in a kernel: the numbers of the thread block, of the
	 * thread in it, and of the interval between two barriers. */
	int64_t block, thread, interval;
	bool in_kernel;
	const union number *shuffled; /* the value from another thread, or
				       * NULL */
	const int64_t *launch;        /* the launch's extents, by tag */
	struct race_table *races;     /* NULL: races are not detected */
};

struct node *frame_node(struct frame *f, const struct expr *e);
struct var_cell *frame_var(struct frame *f, const struct var *v);
struct buffer_cell *frame_buffer(struct frame *f, const struct buffer *b);
struct step *frame_step(struct frame *f, const struct stmt *s);

/* Evaluates extents and strides, and sets the cell's data. */
void buffer_bind(struct frame *f, struct buffer_cell *c, void *data);
/* Allocates storage, with every element unwritten. */
void buffer_allocate(struct frame *f, struct buffer_cell *c);

/* Sets n->value. After a fault, which is reported, the interpreter has
 * failed. */
void node_eval(struct frame *f, struct node *n);
int64_t node_int(struct frame *f, struct node *n);
/* The offset of the element in elements; -1 after reporting if an index is out
 * of bounds. */
int64_t buffer_offset(struct frame *f, struct buffer_cell *c,
		      struct node *const *index, int lane);
/* Calls a function of the module by name. */
void frame_call(struct frame *f, struct node *call);

/* interp.c */
void run_step(struct frame *f, const struct step *s);
/* Has the thread loop the extent of the launch? */
bool launch_fits(struct frame *f, const struct step *s, int64_t extent);
/* interp_block.c: runs a statement that contains a barrier for all threads of a
 * block, which take turns from barrier to barrier. */
void run_threads(struct frame *f, const struct step *s);
/* interp_race.c: records that the current thread reads an element, or has
 * written it; RACE_KEEPS: has written the value that was there. */
enum race_touch { RACE_READS, RACE_WRITES, RACE_KEEPS };
void race_note(struct frame *f, const struct buffer_cell *c, int64_t at,
	       enum race_touch touch);
/* Records the end of a kernel, which later accesses wait for. */
void race_end_kernel(struct race_table *t);
void race_table_free(struct race_table *t);
struct race_table *race_table_new(void);

void interp_fail(struct frame *f, const char *fmt, ...) TIRC_PRINTF(2, 3);

#endif
