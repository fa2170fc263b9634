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

/* -- lines of one file -- */

/* Lines that differ between two texts: n_old lines of the old one from its line
 * `old` on (counted from 1), in place of which the new one has n_new. */
struct line_change {
	int old, n_old, new, n_new;
	const char *old_line, *new_line; /* the first of each, or NULL */
};

struct line_changes {
	VEC(struct line_change) list;
};

/* Lists the changes from one text to another, in order. */
void difference_of_lines(struct module *m, const char *old, const char *new,
			 struct line_changes *out);

/* -- what a folder says of itself -- */

/* What NAME.json in a folder that tirc wrote says about the options, as options
 * take it; NULL: it says nothing. The file may be anybody's: nothing in it is
 * checked but that the members are texts and numbers. */
struct stated {
	const char *file; /* the path of NAME.json */
	const char *name, *target, *optimize, *fp, *requant, *weights;
	const char *generator;
	VEC(const char *) dims;   /* "batch=1..8" */
	VEC(const char *) shapes; /* of inputs: "data:8,?,5" */
};

/* False after a diagnostic. */
bool difference_stated(struct module *m, const char *folder,
		       struct stated *out);

#endif
