/* SPDX-License-Identifier: Apache-2.0 */
/* Private to difference/: one of the two folders, and what compares them. */
#ifndef TIRC_SNAPSHOT_H
#define TIRC_SNAPSHOT_H

#include <cjson/cJSON.h>

#include "difference.h"
#include "reserved.h"
#include "text_map.h"

/* Texts without duplicates: equal texts have the same address. */
struct texts {
	struct arena *arena;
	struct text_map map;
	VEC(const char *) list;
};

void texts_init(struct texts *t, struct arena *a);
/* The text with the first n bytes of `text`. */
const char *texts_add(struct texts *t, const char *text, size_t n);

/* The text of a function: its lines, each from struct texts. */
struct text_lines {
	const char *const *line;
	int n;
};

/* An index of a list in the JSON: for each text that member `key` has, the
 * first item with this text. */
struct item_index {
	const char *list, *key;
	struct text_map map;
	VEC(const cJSON *) items;
};

/* A file in the folder that was read. */
struct source_text {
	const char *name, *text;
	/* the offset of each line in the text, and the offset of the text's
	 * end */
	VEC(size_t) starts;
	/* the lines of the file, if they were asked for; else NULL */
	const char **lines;
};

struct snapshot {
	struct module *m;
	struct texts *texts;
	const char *folder;
	const char *file; /* the path of NAME.json */
	cJSON *json;
	int64_t bytes; /* the bytes of the files that are read so far */
	/* the bytes of the texts that snapshot_joined() made */
	int64_t joined_bytes;
	VEC(struct item_index) indices;
	VEC(struct source_text) sources;
	/* the indices of the sources by their names */
	struct text_map source_names;
};

/* The content of the file `name` in a folder if it is the NAME.json of a model;
 * else NULL. The caller deletes it. */
cJSON *snapshot_metadata(struct arena *a, const char *folder, const char *name);
/* Reads the folder's NAME.json. False after a diagnostic. */
bool snapshot_open(struct snapshot *s, struct module *m, struct texts *texts,
		   const char *folder);
void snapshot_close(struct snapshot *s);
/* The members of an object; "" and an empty array if they are absent, since the
 * files may be anybody's. */
const char *member_text(const cJSON *object, const char *key);
const cJSON *member_list(const cJSON *object, const char *key);
/* The object "options" of the JSON; NULL if it has none. */
const cJSON *snapshot_options(const struct snapshot *s);
/* The first item of a list of the JSON whose member `key` is the text; NULL if
 * no item is. list and key are literals. */
const cJSON *snapshot_item(struct snapshot *s, const char *list,
			   const char *key, const char *text);
/* A copy of `text`, as one of struct texts. `text` was joined from texts of the
 * JSON, and a text of the JSON may be in many joined texts: NULL after a
 * diagnostic if all joined texts together are too long. */
const char *snapshot_joined(struct snapshot *s, const struct strbuf *text);
/* Reads the lines of the function `name`, whose file and lines the JSON states.
 * False after a diagnostic. */
bool snapshot_function(struct snapshot *s, const char *name,
		       struct text_lines *out);

/* Limits of the work for all functions together, because the files may come
 * from anybody. */
enum {
	MOST_LINES = 20000000,
	MOST_CELLS = 1 << 26,
	MOST_COMPARED_BYTES = 1 << 26
};

struct comparing {
	struct module *m;
	struct arena *a;
	struct snapshot *old, *new;
	struct difference *out;
	struct texts texts;
	struct word_list reserved; /* the names that mean something */
	/* the number of lines of functions that are compared so far */
	int64_t lines;
	int64_t bytes; /* of these lines */
	/* the number of pairs of lines that are compared so far */
	int64_t cells;
};

/* Adds a row to a part; old and new may be NULL. */
struct change_row *add_change(struct comparing *c, enum difference_part part,
			      enum change change, const char *name,
			      const char *old, const char *new);
/* The items of two lists, in the order of each list: the texts by which they
 * are paired, and for each item the index of its partner in the other list, or
 * -1. */
struct pairing {
	const char **old, **new;
	int *of_old, *of_new;
	int n_old, n_new;
};

/* An item has PAIR_TEXTS texts, by which it may be paired; they are tried in
 * the order of their index, `by`. */
enum { PAIR_TEXTS = 3 };
typedef const char *pair_text_fn(struct arena *a, const void *list, int i,
				 int by);
/* Pairs items that have equal texts (empty ones do not count). `text` gives
 * several texts for an item, which are tried one after the other; by the last
 * text, the remaining items are paired along the longest common subsequence. */
struct pairing pair_items(struct comparing *c, const void *old, int n_old,
			  const void *new, int n_new, pair_text_fn *text);
/* Returns for each text in `old` the index of its partner in `new`, or -1; the
 * partners form the longest common subsequence. The texts are of struct
 * texts. */
int *pair_texts(struct comparing *c, const char *const *old, int n_old,
		const char *const *new, int n_new);
/* Adds the lines of a unified diff of `old` and `new` to the row. */
void put_unified(struct comparing *c, const struct text_lines *old,
		 const struct text_lines *new, struct change_row *row);
/* A function's text and its name. */
struct function_text {
	const char *name;
	struct text_lines lines;
};

/* Are the functions equal, apart from blanks, if each name of the old one that
 * has no meaning outside of it stands for one name of the new one? */
bool same_but_names(struct comparing *c, const struct function_text *old,
		    const struct function_text *new);

/* Return false after a diagnostic. */
bool compare_nodes(struct comparing *c);
bool compare_kernels(struct comparing *c);
/* The parts that are lists of named objects. */
void compare_lists(struct comparing *c);
/* The kernels by their names, titles and schedules. */
void compare_kernel_names(struct comparing *c);
/* See struct difference. */
bool same_calls(const struct comparing *c);

#endif
