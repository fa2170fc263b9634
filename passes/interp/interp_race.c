/* SPDX-License-Identifier: Apache-2.0 */
/* Detects races: for every element that a kernel accesses, the table has its
 * last write and the reads since. Two accesses race if at least one of them is
 * a write, and they are by different blocks, or by different threads of a block
 * with no barrier in between. Writing the value that the element has already is
 * not a race: several threads may copy the same element. In the run of a
 * source, the iterations of a parallel loop count as blocks, and those of a
 * vectorized loop as threads. Only accesses of integers count, because these
 * may be indices; but every write counts, because the order of the iterations
 * decides which value the element has between two writes. */
#include <stdlib.h>

#include "frame.h"

/* When an element was accessed: the block, thread and interval between
 * barriers; SEVERAL in place of a number if there were several. */
struct moment {
	int64_t block, thread, interval;
};

enum { NOBODY = -1, SEVERAL = -2 };

struct race_entry {
	/* the address of the element; 0 if the entry of the table is free */
	uintptr_t address;
	struct moment write, read;
};

struct race_table {
	struct race_entry *entries;
	size_t n, cap;
	bool no_memory;
};

struct race_table *
race_table_new(void)
{
	return calloc(1, sizeof(struct race_table));
}

void
race_table_free(struct race_table *t)
{
	if (t) {
		free(t->entries);
		free(t);
	}
}

void
race_end_kernel(struct race_table *t)
{
	if (t && t->entries) {
		memset(t->entries, 0, t->cap * sizeof *t->entries);
		t->n = 0;
	}
}

static struct race_entry *
find(struct race_entry *entries, size_t cap, uintptr_t address)
{
	size_t at = (size_t)((address * UINT64_C(0x9E3779B97F4A7C15)) >> 20) &
		    (cap - 1);

	while (entries[at].address && entries[at].address != address) {
		at = (at + 1) & (cap - 1);
	}
	return &entries[at];
}

static bool
grow(struct race_table *t)
{
	size_t cap = t->cap ? t->cap * 2 : 1024;
	struct race_entry *entries = calloc(cap, sizeof *entries);

	if (!entries) {
		return false;
	}
	for (size_t i = 0; i < t->cap; i++) {
		if (t->entries[i].address) {
			*find(entries, cap,
			      t->entries[i].address) = t->entries[i];
		}
	}
	free(t->entries);
	t->entries = entries;
	t->cap = cap;
	return true;
}

static struct race_entry *
entry_of(struct race_table *t, uintptr_t address)
{
	struct race_entry *e;

	if (t->n * 2 >= t->cap && !grow(t)) {
		return NULL;
	}
	e = find(t->entries, t->cap, address);
	if (!e->address) {
		e->address = address;
		e->write.block = e->read.block = NOBODY;
		t->n++;
	}
	return e;
}

static bool
conflicts_with(const struct moment *old, const struct interp *x, bool is_shared)
{
	if (old->block == NOBODY) {
		return false;
	}
	if (old->block != x->block) {
		/* the threads are in different blocks, which have shared memory
		 * of their own */
		return !is_shared;
	}
	return old->interval == x->interval && old->thread != x->thread;
}

static void
note_read(struct race_entry *e, const struct interp *x)
{
	struct moment now = { x->block, x->thread, x->interval };

	if (e->read.block == NOBODY) {
		e->read = now;
	} else if (e->read.block != x->block) {
		e->read.block = SEVERAL;
	} else if (e->read.interval != x->interval) {
		e->read = now;
	} else if (e->read.thread != x->thread) {
		e->read.thread = SEVERAL;
	}
}

void
race_note(struct frame *f, const struct buffer_cell *c, int64_t at,
	  enum race_touch touch)
{
	bool writes = touch != RACE_READS;
	struct interp *x = f->interp;
	struct race_entry *e;
	const char *what;

	e = entry_of(x->races,
		     (uintptr_t)c->data + (uintptr_t)(at * c->elem_bytes));
	if (!e) {
		interp_fail(f, "no memory to detect races");
		return;
	}
	what = touch == RACE_KEEPS && !x->source                     ? NULL
	       : conflicts_with(&e->write, x, c->is_shared)          ? "writes"
	       : writes && conflicts_with(&e->read, x, c->is_shared) ? "reads"
								     : NULL;
	if (what && x->source) {
		interp_fail(f,
			    "element %lld of '%s' is written in an iteration "
			    "of a parallel or vectorized loop, and accessed in "
			    "another one",
			    (long long)at, c->buffer->name);
		return;
	}
	if (what) {
		interp_fail(f,
			    "thread %lld of block %lld %s element %lld of "
			    "'%s', which another thread %s: there is no "
			    "barrier between",
			    (long long)x->thread, (long long)x->block,
			    writes ? "writes" : "reads", (long long)at,
			    c->buffer->name, what);
		return;
	}
	if (writes) {
		e->write = (struct moment){ x->block, x->thread, x->interval };
		e->read.block = NOBODY;
	} else {
		note_read(e, x);
	}
}
