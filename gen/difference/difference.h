/* SPDX-License-Identifier: Apache-2.0 */
/* What differs between two compiled models. Each is a folder that tirc_write()
 * wrote: compared are their files NAME.json, and the lines of their kernels. */
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
	/* the name of the item; of a renamed item, its name in the old model */
	const char *name;
	const char *old, *new; /* the values that differ, or NULL */
	/* of a kernel whose code differs: the lines of a unified diff */
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
	/* after difference_of_lists(): each kernel is called with the same
	 * arguments, and the constants have the same types and shapes */
	bool same_calls;
};

/* Compares two folders. False after a diagnostic. */
bool difference_of(struct module *m, const char *old_folder,
		   const char *new_folder, struct difference *out);
/* Does the same, but reads no other file than NAME.json. */
bool difference_of_lists(struct module *m, const char *old_folder,
			 const char *new_folder, struct difference *out);
/* Appends the first `most` changes, a line for each: those of options first, then
 * of the interface, kernels, weights and memory; and how many more there are. */
void difference_put_first(const struct difference *d, int most,
			  struct strbuf *out);
/* Append the difference for people, and as JSON. */
void difference_put_text(const struct difference *d, struct strbuf *out);
void difference_put_json(const struct difference *d, struct strbuf *out);

/* -- lines of one file -- */

/* A difference between two texts, old and new: n_old lines of the old text,
 * from its line `old` on (counted from 1), are replaced by n_new lines of the
 * new text, from its line `new` on. */
struct line_change {
	int old, n_old, new, n_new;
	/* the first lines that differ in the old and in the new file, or
	 * NULL */
	const char *old_line, *new_line;
};

struct line_changes {
	VEC(struct line_change) list;
};

/* Lists the changes from one text to another, in order. */
void difference_of_lines(struct module *m, const char *old, const char *new,
			 struct line_changes *out);

/* -- what a folder says of itself -- */

/* The options that NAME.json in a folder that tirc wrote states, in the form in
 * which tirc takes them; a member is NULL if NAME.json does not state the
 * option. The file may come from anybody: only the types of the members, texts
 * and numbers, are checked. */
struct stated_option {
	const char *name; /* without "--" */
	VEC(const char *) values;
};

struct stated {
	const char *file; /* the path of NAME.json */
	const char *name, *target, *optimize, *fp, *requant, *weights;
	const char *generator;
	bool traced;                       /* compile --trace */
	VEC(struct stated_option) options; /* the other ones */
};

/* False after a diagnostic. */
bool difference_stated(struct module *m, const char *folder,
		       struct stated *out);

/* -- what was in a folder -- */

/* A compiled model that is to be written to a folder. */
struct model_files {
	const char *name;
	const char *digest; /* of the ONNX file, in hex digits; or NULL */
};

/* The paths of files within a folder. */
struct earlier_files {
	VEC(const char *) list;
};

/* Finds the files that earlier compilations of the model, or of another one with
 * its name, wrote to the folder, which may be absent. Files that belong to other
 * models there are left out. */
void difference_earlier(struct module *m, const char *folder,
			const struct model_files *model,
			struct earlier_files *out);

#endif
