/* SPDX-License-Identifier: Apache-2.0 */
/* Tables of the keys that a data file may have, with a row for each key. They
 * serve to check a file, to read its plain values, and to print its JSON Schema
 * and its tables in docs/. json_key_rows.h describes a row. */
#ifndef TIRC_JSON_KEYS_H
#define TIRC_JSON_KEYS_H

#include <stddef.h>

#include "json_put.h"
#include "json_read.h"
#include "names_list.h"

enum key_type {
	KEY_PROSE, /* a text for users, not a template */
	KEY_TEXT,
	KEY_TEXTS,
	KEY_WORD,  /* one of `choices` */
	KEY_WORDS, /* an array of such words */
	KEY_FLAG,
	KEY_NUMBER,
	KEY_NUMBERS,
	KEY_REAL,
	KEY_OBJECT,
	KEY_LIST,
	KEY_SAME,   /* an object with the keys of `same` */
	KEY_CHOICE, /* as KEY_SAME, or an object whose values are KEY_SAME */
	KEY_GONE    /* a key of earlier versions */
};

/* Types that a value may have besides the type of its row. */
enum key_other {
	OR_TEXT = 1,
	OR_REAL = 2,
	OR_INTEGER = 4,
	OR_INTEGERS = 8,
	OR_FLAG = 16,
	OR_NULL = 32
};

struct key {
	const char *pointer, *words, *doc, *example;
	enum key_type type;
	unsigned also;       /* bits of enum key_other */
	const char *choices; /* the words: "left|right" */
	const char *same;    /* of KEY_SAME and KEY_CHOICE: the rows below these
			      * pointers are its keys: "#node #match" */
	/* limits of a number, or of the number of elements of a list (most 0:
	 * no limit) */
	int64_t least, most;
	int64_t absent;        /* of a number or a flag: its default */
	const char *otherwise; /* of a text: its default */
	bool needed;           /* an object without the key is an error */
	const char *with; /* keys that are required if this one is present */
	bool own;         /* not inherited by files that extend this one */
	/* json_keys_is_fact() holds, although it is neither a number nor a
	 * flag */
	bool fact;
	/* names: the keys that * stands for, "f32 f64"; NULL: any. choice: for
	 * KEY_CHOICE, the keys of the second kind of object. */
	const char *names, *choice;
	/* where json_keys_read() stores the value: the field's place in the
	 * structure; size 0: it is not stored */
	size_t offset, size;
	/* called by json_keys_read() with the value, or NULL */
	void (*read)(void *ctx, struct json j);
};

/* Placeholders that several rows share, and their name in tables of docs/. */
struct key_words {
	const char *name, *words;
};

/* The keys of one kind of file. */
struct key_table {
	const char *title, *doc; /* of the JSON Schema */
	bool extends;            /* a file may omit keys that it inherits */
	bool templates;          /* texts are templates */
	const struct key *rows;
	int n;
	const struct key_words *sets; /* longest first */
	int n_sets;
};

/* Reports each key in `tree` that has no row, each value of a wrong type, each
 * placeholder in a text that its row does not allow, each control character,
 * and each required key that is missing. Values of a wrong type are removed
 * from the tree, so that readers need not check types. */
void json_keys_check(const struct key_table *table, struct json root,
		     cJSON *tree);
/* Reads the keys of the object j by the rows below `place`, in their order:
 * plain values are stored in the fields of `to`, for others the functions of
 * their rows are called with ctx. The field of an absent key becomes NULL,
 * false, or the default in the row. */
void json_keys_read(const struct key_table *table, struct json j,
		    const char *place, void *to, void *ctx);
/* The number in the row's field of `from`. */
int64_t json_keys_number(const struct key *row, const void *from);
/* Is the row that of a key at the place, or at one of several places ("#a
 * #b")? */
bool json_keys_is_below(const struct key *row, const char *place);
/* The keys that an object at the place may have, "a b c"; NULL if it may have
 * any. */
const char *json_keys_known(const struct key_table *table, struct arena *a,
			    const char *place);
/* May a text that comes from a stranger set this key of the file? True if its
 * value is a number or a flag, or if its row is marked FACT: such a value
 * cannot name a program or its flags. */
bool json_keys_is_fact(const struct key_table *table, const char *key);
/* The row of the elements of a list; NULL if the elements are objects, with
 * keys below the list's pointer and a star. */
const struct key *json_keys_element(const struct key_table *table,
				    const struct key *list);
/* The elements of j, an array of texts; none if it is absent. */
struct names json_names(struct json j);

/* json_keys_print.c: the JSON Schema of the kind of file. */
const char *json_keys_schema(const struct key_table *table, struct arena *a);
/* The rows below the given places ("/limits /types") as a table in Markdown. */
const char *json_keys_manual(const struct key_table *table, struct arena *a,
			     const char *places);

#endif
