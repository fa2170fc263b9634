/* SPDX-License-Identifier: Apache-2.0 */
/* Tables of the keys that a data file may have, one row per key. The check of
 * a file, the reader of its plain values, its JSON Schema and its tables in
 * docs/ derive from the rows.
 * json_key_rows.h says what a row is. */
#ifndef TIRC_JSON_KEYS_H
#define TIRC_JSON_KEYS_H

#include <stddef.h>

#include "json_put.h"
#include "json_read.h"
#include "names_list.h"

enum key_type {
	KEY_PROSE, /* a text for people: without placeholders */
	KEY_TEXT,
	KEY_TEXTS,
	KEY_WORD,  /* one of `choices` */
	KEY_WORDS, /* an array of them */
	KEY_FLAG,
	KEY_NUMBER,
	KEY_NUMBERS,
	KEY_REAL,
	KEY_OBJECT,
	KEY_LIST,
	KEY_SAME,   /* an object with the keys below `same` */
	KEY_CHOICE, /* as KEY_SAME, or an object with values of KEY_SAME */
	KEY_GONE    /* there is no such key any more */
};

/* Types that a value may have beside its row's. */
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
	unsigned also;       /* values of enum key_other */
	const char *choices; /* "left|right" */
	const char *same;    /* places, "#node #match" */
	int64_t least, most; /* of numbers, else of elements; most 0: any */
	int64_t absent;
	const char *otherwise; /* an absent text */
	bool needed;
	const char *with; /* keys that are needed where this one is */
	bool own;         /* not for files that extend this one */
	bool fact; /* json_keys_is_fact() holds though it is neither a number
		    * nor a flag */
	/* The keys that * stands for, "f32 f64"; NULL: any. For KEY_CHOICE the
	 * keys of the second kind of object. */
	const char *names, *choice;
	size_t offset, size; /* of the field; size 0: there is none */
	void (*read)(void *ctx, struct json j);
};

/* Placeholders that several rows name, and how tables in docs/ call them. */
struct key_words {
	const char *name, *words;
};

/* The keys of one kind of file. */
struct key_table {
	const char *title, *doc; /* of its JSON Schema */
	bool extends;            /* inherited keys may be absent */
	bool templates;          /* texts are templates */
	const struct key *rows;
	int n;
	const struct key_words *sets; /* the longest first */
	int n_sets;
};

/* Reports every key below `tree` that no row has, every value of another type,
 * every text that asks for a placeholder which its row does not name, and every
 * key that is needed and missing. Values of another type are taken out of the
 * tree, so that no reader meets them. */
void json_keys_check(const struct key_table *table, struct json root,
		     cJSON *tree);
/* Reads the keys of the object j by the rows below `place`, in their order: plain
 * values into the fields of `to`, the others by the functions of their rows. The
 * field of an absent key becomes NULL, false, or the row's default. */
void json_keys_read(const struct key_table *table, struct json j,
		    const char *place, void *to, void *ctx);
/* The number that the row's field has in `from`. */
int64_t json_keys_number(const struct key *row, const void *from);
/* Is the row one of the keys of the place, or of one of several ("#a #b")? */
bool json_keys_is_below(const struct key *row, const char *place);
/* The keys that an object at that place may have, "a b c"; NULL: any. */
const char *json_keys_known(const struct key_table *table, struct arena *a,
			    const char *place);
/* Is it a key of the file whose value is a number, a flag, or of a list of words
 * that the reader knows? */
bool json_keys_is_fact(const struct key_table *table, const char *key);
/* The row of the elements of a list; NULL: they are objects with the keys below
 * the list's pointer and a star. */
const struct key *json_keys_element(const struct key_table *table,
				    const struct key *list);
/* json_texts() as a list. */
struct names json_names(struct json j);

/* json_keys_print.c: the file's JSON Schema. */
const char *json_keys_schema(const struct key_table *table, struct arena *a);
/* The rows below the places ("/limits /types") as a table in Markdown. */
const char *json_keys_manual(const struct key_table *table, struct arena *a,
			     const char *places);

#endif
