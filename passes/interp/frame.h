/* SPDX-License-Identifier: Apache-2.0 */
/* A function as the interpreter runs it: expressions and statements with
 * variables and buffers resolved to cells. Private to passes/interp. */
#ifndef TIRC_FRAME_H
#define TIRC_FRAME_H

#include "func.h"
#include "interp.h"
#include "pointer_map.h"
#include "scalar.h"

struct var_cell {
	const struct var *var;
	union number value;
	/* the lanes of a vector, used in place of `value` */
	union number *lanes;
	bool bound;
	bool is_data; /* as node.is_data */
};

struct buffer_cell {
	const struct buffer *buffer;
	/* the nodes of the extents and strides; strides is NULL if dense */
	struct node **shape, **strides;
	/* the values of shape and strides, in elements */
	int64_t *extent, *stride;
	/* the number of elements from the first to the last one in memory */
	int64_t elems;
	/* the size of an element with all of its lanes */
	int elem_bytes;
	void *data;
	/* the number of bytes from `data` on that belong to the buffer */
	int64_t room_bytes;
	int64_t room; /* the same in elements */
	/* by element: was it written? NULL if that is not tracked */
	unsigned char *written;
	/* the numbers of bytes of `data` and of elements of `written` that the
	 * cell has allocated */
	size_t cap_bytes, cap_elems;
	struct var_cell *pointer;
	bool bound;
	/* The memory is private to one thread, or shared by the threads of a
	 * block only. Of a source: it is allocated in an iteration of a
	 * vectorized loop, or of a parallel one. */
	bool is_private, is_shared;
};

/* An expression; equal expressions share a node. */
struct node {
	const struct expr *expr;
	struct node **args;
	struct var_cell *var;
	struct buffer_cell *buffer;
	/* the result of the last evaluation, a number for each lane */
	union number *value;
	/* frame.epoch at the time when `value` was computed: `value` is used
	 * again as long as frame.epoch is the same */
	uint64_t epoch;
	int lanes;
	bool is_data; /* the value has elements of arrays, which wrap */
	/* the value is set from the start and never changes */
	bool is_constant;
};

/* A statement. */
struct step {
	const struct stmt *stmt;
	struct node **args;
	/* the statement's children; like those, an element may be NULL */
	struct step **children;
	struct var_cell *var;       /* FOR, LET */
	struct buffer_cell *buffer; /* STORE, ALLOC */
	int tag;                    /* FOR: the thread tag, as tag_of */
	bool waits;                 /* the statement contains a barrier */
	/* BLOCK */
	struct var_cell **iters;
	struct node **iter_min, **iter_extent;
	struct buffer_cell **allocs;
};

struct interp;

struct frame {
	struct interp *interp;
	const struct func *func;
	struct arena *arena;
	/* maps an expr, var or buffer to the index of its slot, plus 1 */
	struct pointer_map places;
	VEC(void *) slots; /* their nodes and cells */
	VEC(struct buffer_cell *) buffers;
	VEC(struct buffer_cell *) owned; /* cells whose memory is to be freed */
	struct step *body;
	uint64_t epoch; /* counts the statements that ran: within one, a value
			 * that was computed stays valid */
	bool returned;
	union number result;
	bool running;
	/* by parameter: may the function write the array? NULL until a call in
	 * a source needs to know */
	bool *writes;
};

struct race_table;

struct interp {
	struct module *module;
	struct arena arena;
	/* a frame for each function that is called */
	VEC(struct frame *) frames;
	bool failed;
	/* The position in a kernel: the number of the thread block, of the
	 * thread in the block, and of the interval between two barriers. */
	int64_t block, thread, interval;
	bool in_kernel;
	/* In a source: the number of vectorized loops around the position; and
	 * the number of parallel loops, at most one, because parallel loops
	 * inside of it run in order. */
	int lane_loops, parallel_loops;
	/* during a warp shuffle, the value that comes from another thread; else
	 * NULL */
	const union number *shuffled;
	/* the extents of the kernel's launch, by thread tag */
	const int64_t *launch;
	/* the accesses that were made so far; NULL if races are not detected */
	struct race_table *races;
	/* how the source will run; NULL if the function does not belong to a
	 * source */
	const struct run_source *source;
	const struct stmt *at; /* the statement that runs */
	/* handles are addresses of memory that is large enough */
	bool trusts_handles;
	/* NULL, or where the run notes overflows */
	struct run_overflow *overflow;
	/* the steps that the run may still take: a statement takes one, and the
	 * filling of arrays takes steps, too; NULL: there is no limit */
	struct run_steps *steps;
};

struct node *frame_node(struct frame *f, const struct expr *e);
struct var_cell *frame_var(struct frame *f, const struct var *v);
struct buffer_cell *frame_buffer(struct frame *f, const struct buffer *b);
struct step *frame_step(struct frame *f, const struct stmt *s);

/* Evaluates the extents and strides of a buffer, and sets the cell's data. */
void buffer_bind(struct frame *f, struct buffer_cell *c, void *data);
/* Sets room_bytes and room. */
void buffer_set_room(struct buffer_cell *c, int64_t bytes);
/* Allocates memory for a buffer, in which every element counts as unwritten. */
void buffer_allocate(struct frame *f, struct buffer_cell *c);
/* Called after steps were taken: reports the progress; if the steps did not
 * suffice, returns false after a diagnostic. */
bool frame_count_steps(struct frame *f);

/* Takes n from the steps that may still run. False after a diagnostic if they do
 * not suffice. */
static inline bool
frame_take_steps(struct frame *f, int64_t n)
{
	struct run_steps *steps = f->interp->steps;

	return steps == NULL || (steps->left -= n) >= steps->next ||
	       frame_count_steps(f);
}

/* Takes the steps for which the filling of an array counts. */
bool frame_fill_steps(struct frame *f, size_t bytes);

/* Computes n->value for this epoch. */
void node_compute(struct frame *f, struct node *n);

/* Sets n->value. A fault is reported, and the interpreter is marked as
 * failed. */
static inline void
node_eval(struct frame *f, struct node *n)
{
	if (n->epoch != f->epoch && !n->is_constant) {
		node_compute(f, n);
	}
}

static inline int64_t
node_int(struct frame *f, struct node *n)
{
	node_eval(f, n);
	return n->value[0].i;
}
/* The offset of the element, in elements; -1 after a diagnostic if an index is
 * out of bounds. */
int64_t buffer_offset(struct frame *f, struct buffer_cell *c,
		      struct node *const *index, int lane);
/* Runs a call of a function of the module by name. */
void frame_call(struct frame *f, struct node *call);

/* interp.c */
void run_step(struct frame *f, const struct step *s);
/* Is the extent of the thread loop that of the launch? False after a
 * diagnostic. */
bool launch_fits(struct frame *f, const struct step *s, int64_t extent);
/* interp_block.c: runs a statement that contains a barrier for all threads of a
 * block, which take turns from barrier to barrier. */
void run_threads(struct frame *f, const struct step *s);
/* Must the race check record the accesses of c that the current step makes? */
static inline bool
race_is_noted(const struct frame *f, const struct buffer_cell *c)
{
	const struct interp *x = f->interp;

	return x->races && x->in_kernel && !c->is_private &&
	       !(x->source && dtype_is_float(c->buffer->type));
}

/* interp_race.c: records that the current thread reads an element, or has
 * written it. RACE_KEEPS: the thread has written the value that the element
 * already had. Call it only if race_is_noted() is true. */
enum race_touch { RACE_READS, RACE_WRITES, RACE_KEEPS };
void race_note(struct frame *f, const struct buffer_cell *c, int64_t at,
	       enum race_touch touch);
/* Records the end of a kernel: accesses after it do not race with accesses
 * before it. */
void race_end_kernel(struct race_table *t);
void race_table_free(struct race_table *t);
struct race_table *race_table_new(void);

void interp_fail(struct frame *f, const char *fmt, ...) TIRC_PRINTF(2, 3);

#endif
