/* SPDX-License-Identifier: Apache-2.0 */
/* Private to difference/: one of the two folders, and what compares them. */
#ifndef TIRC_SNAPSHOT_H
#define TIRC_SNAPSHOT_H

#include <cjson/cJSON.h>

#include "difference.h"

/* The text of a function, line by line. */
struct text_lines {
	VEC(const char *) list;
};

struct snapshot {
	struct module *m;
	const char *folder;
	const char *file; /* the path of NAME.json */
	cJSON *json;
};

/* Reads the folder's NAME.json. False after a diagnostic. */
bool snapshot_open(struct snapshot *s, struct module *m, const char *folder);
void snapshot_close(struct snapshot *s);
/* The members of an object; "" and an empty array if they are absent, since the
 * files may be anybody's. */
const char *member_text(const cJSON *object, const char *key);
const cJSON *member_list(const cJSON *object, const char *key);
/* The item of a list whose member `key` is the text; NULL if there is none. */
const cJSON *item_named(const cJSON *list, const char *key, const char *text);
/* Reads the lines of a function that the JSON names. False after a
 * diagnostic. */
bool snapshot_function(struct snapshot *s, const char *name,
		       struct text_lines *out);

struct comparing {
	struct module *m;
	struct arena *a;
	struct snapshot *old, *new;
	struct difference *out;
};

/* Adds a row to a part; old and new may be NULL. */
struct change_row *add_change(struct comparing *c, enum difference_part part,
			      enum change change, const char *name,
			      const char *old, const char *new);
/* Each item of the old texts gets the index of its partner among the new ones, or
 * -1: the longest common subsequence. */
int *pair_texts(struct arena *a, const char *const *old, int n_old,
		const char *const *new, int n_new);
/* Adds the lines of a unified diff of the texts to the row. */
void put_unified(struct arena *a, const struct text_lines *old,
		 const struct text_lines *new, struct change_row *row);
/* A function's text and its name. */
struct function_text {
	const char *name;
	struct text_lines lines;
};

/* Are the functions the same, apart from blanks, if each name of the one that
 * means nothing elsewhere stands for one name of the other? */
bool same_but_names(struct module *m, const struct function_text *old,
		    const struct function_text *new);

void compare_nodes(struct comparing *c);
bool compare_kernels(struct comparing *c);
/* The parts that are lists of named objects. */
void compare_lists(struct comparing *c);

#endif
