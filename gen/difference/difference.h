/* SPDX-License-Identifier: Apache-2.0 */
/* What differs between two compiled models, as folders that tirc_write() wrote:
 * by their NAME.json, and by the lines of their kernels. */
#ifndef TIRC_DIFFERENCE_H
#define TIRC_DIFFERENCE_H

#include "module.h"

/* What happened to an item. */
enum change {
	CHANGE_NONE,
	CHANGE_NAMES, /* of a kernel: the same code with other names */
	CHANGE_ADDED,
	CHANGE_REMOVED,
	CHANGE_RENAMED,
	CHANGE_RESCHEDULED, /* of a node: its kernels have other schedules */
	CHANGE_OTHER,
	CHANGE_COUNT
};

struct change_row {
	enum change change;
	const char *name;      /* of the item, or that in the old model */
	const char *old, *new; /* the values that differ, or NULL */
	/* of a kernel: the lines of a unified diff */
	VEC(const char *) lines;
};

enum difference_part {
	PART_NODES,
	PART_KERNELS,
	PART_WEIGHTS,
	PART_MEMORY,
	PART_INTERFACE,
	PART_OPTIONS,
	PART_COUNT
};

struct change_rows {
	VEC(struct change_row) list;
	int counts[CHANGE_COUNT];
};

struct difference {
	struct change_rows parts[PART_COUNT];
	bool is_any; /* something differs */
};

/* Compares two folders. False after a diagnostic. */
bool difference_of(struct module *m, const char *old_folder,
		   const char *new_folder, struct difference *out);
/* Append the difference for people, and as JSON. */
void difference_put_text(const struct difference *d, struct strbuf *out);
void difference_put_json(const struct difference *d, struct strbuf *out);

#endif
