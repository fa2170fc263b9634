/* SPDX-License-Identifier: Apache-2.0 */
/* Shared by the primitives: handles, failure with rollback, the trace, and
 * moving blocks. */
#ifndef TIRC_EDIT_H
#define TIRC_EDIT_H

#include "primitive.h"
#include "schedule.h"
#include "scope.h"

/* The state of applying one primitive. */
struct edit {
	struct sched *s;
	struct func *f;
	struct module *m;
	const char *primitive;
	int checkpoint;
	/* the module's count of wrapped constants before the primitive */
	uint64_t n_wrapped;
	/* the decision that a sampling primitive gets or makes */
	struct sched_value decision;
};

#define PRIMITIVE(name, kind, flags, what, ...) primitive_fn prim_##name;
#define PRIMITIVE_PLAIN(name, kind, flags, what) primitive_fn prim_##name;
#include "primitives.def"
#undef PRIMITIVE
#undef PRIMITIVE_PLAIN

/* Results of sample_compute_location that are not loops: given to compute_at,
 * LOOP_ROOT leaves the block where it is, and LOOP_INLINE inlines it. */
enum { LOOP_ROOT = -1, LOOP_INLINE = -2 };

struct edit edit_begin(struct sched *s, const char *primitive);
/* Undoes all edits since edit_begin and reports "reason; remedy". Returns
 * false. */
bool edit_fail(struct edit *e, const char *fmt, ...) TIRC_PRINTF(2, 3);
/* Reports a note to the user, with the function and the step: a condition that
 * is not checked. */
void edit_note(struct edit *e, const char *fmt, ...) TIRC_PRINTF(2, 3);
/* The statements of the loops in `list`, an argument, in the given order, as an
 * array in the arena. NULL after a diagnostic. */
struct stmt **edit_loops(struct edit *e, const struct sched_value *list);

/* edit_loop: the statement of the loop with this id; edit_block: that of the
 * block. NULL after a diagnostic if it does not exist. */
struct stmt *edit_loop(struct edit *e, int id);
struct stmt *edit_block(struct edit *e, int id);

/* The check after a primitive: false after a diagnostic if a constant that the
 * primitive computed does not fit in its type, so that a size, an index or a
 * proof may be wrong, or if a loop or a buffer has an impossible size. */
bool edit_check_sizes(struct edit *e);

/* Checks that no call of an instruction (from tensorize) gets an address in b,
 * since the call depends on b's strides. False after a diagnostic. */
bool edit_check_no_address(struct edit *e, const struct buffer *b);

#endif
