/* SPDX-License-Identifier: Apache-2.0 */
/* A function as the interpreter runs it: expressions and statements with
 * variables and buffers resolved to cells. Private to passes/interp. */
#ifndef TIRC_FRAME_H
#define TIRC_FRAME_H

#include "func.h"
#include "scalar.h"

struct var_cell {
	const struct var *var;
	union number value;
	union number *lanes; /* the values of a vector, used instead of value */
	bool bound;
};

struct buffer_cell {
	const struct buffer *buffer;
	struct node **shape, **strides; /* strides is NULL if dense */
	int64_t *extent, *stride;       /* their values; strides in elements */
	int64_t elems;                  /* the number of elements from the first
					 * to the last */
	int elem_bytes;                 /* of all lanes */
	void *data;
	unsigned char *written;      /* for each element: was it written? NULL
				      * if not tracked */
	size_t cap_bytes, cap_elems; /* the room of memory that the cell owns */
	struct var_cell *pointer;
	bool bound;
	bool is_private; /* private to one thread */
	bool is_shared;  /* shared by the threads of a block */
};

/* An expression; equal expressions share a node. */
struct node {
	const struct expr *expr;
	struct node **args;
	struct var_cell *var;
	struct buffer_cell *buffer;
	union number *value; /* the last result, a number for each lane */
	uint64_t epoch;      /* frame.epoch when value was computed: value is
			      * used again while frame.epoch is the same */
	int lanes;
};

/* A statement. */
struct step {
	const struct stmt *stmt;
	struct node **args;
	struct step **children;     /* may contain NULL, like the statement's
				     * children */
	struct var_cell *var;       /* FOR, LET */
	struct buffer_cell *buffer; /* STORE, ALLOC */
	int tag;                    /* FOR: the thread tag, as tag_of */
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
	struct frame_slot *slots; /* a hash table from expr, var and buffer to
				   * node or cell */
	uint32_t n_slots, cap_slots;
	VEC(struct buffer_cell *) owned; /* to be freed */
	struct step *body;
	uint64_t epoch; /* counts the statements that ran: within one, a value
			 * that was computed stays valid */
	bool returned;
	union number result;
	bool running;
};

struct race_table;

struct interp {
	struct module *module;
	struct arena arena;
	/* a frame for each function that is called */
	VEC(struct frame *) frames;
	bool failed;
	/* The position in a kernel: the numbers of the thread block, of the
	 * thread in it, and of the interval between two barriers. */
	int64_t block, thread, interval;
	bool in_kernel;
	const union number *shuffled; /* the value from another thread, or
				       * NULL */
	const int64_t *launch;        /* the launch's extents, by tag */
	struct race_table *races;     /* NULL if races are not detected */
};

struct node *frame_node(struct frame *f, const struct expr *e);
struct var_cell *frame_var(struct frame *f, const struct var *v);
struct buffer_cell *frame_buffer(struct frame *f, const struct buffer *b);
struct step *frame_step(struct frame *f, const struct stmt *s);

/* Evaluates the extents and strides, and sets the cell's data. */
void buffer_bind(struct frame *f, struct buffer_cell *c, void *data);
/* Allocates storage in which every element counts as unwritten. */
void buffer_allocate(struct frame *f, struct buffer_cell *c);

/* Sets n->value. A fault is reported, and the interpreter is marked as
 * failed. */
void node_eval(struct frame *f, struct node *n);
int64_t node_int(struct frame *f, struct node *n);
/* The offset of the element, in elements; -1 after a diagnostic if an index is
 * out of bounds. */
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
 * written it. RACE_KEEPS: it has written the value that the element already
 * had. */
enum race_touch { RACE_READS, RACE_WRITES, RACE_KEEPS };
void race_note(struct frame *f, const struct buffer_cell *c, int64_t at,
	       enum race_touch touch);
/* Records the end of a kernel: later accesses do not race with earlier ones. */
void race_end_kernel(struct race_table *t);
void race_table_free(struct race_table *t);
struct race_table *race_table_new(void);

void interp_fail(struct frame *f, const char *fmt, ...) TIRC_PRINTF(2, 3);

#endif
