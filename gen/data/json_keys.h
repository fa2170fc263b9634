/* SPDX-License-Identifier: Apache-2.0 */
/* Tables of the keys that a data file may have, with a row for each key. The
 * tables are used to check a data file, to read its plain values, and to print
 * its JSON Schema and its tables in docs/. json_key_rows.h describes a row. */
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
	KEY_SAME, /* an object with the keys below the places in `same` */
	/* an object as for KEY_SAME, or an object whose values are such
	 * objects */
	KEY_CHOICE,
	KEY_GONE /* a key of earlier versions: an error */
};

/* Types that a value may have instead of the type of its row. */
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
	const char *same;    /* KEY_SAME, KEY_CHOICE: the keys of the object are
			      * the rows below these pointers: "#node #match" */
	/* least and most: the range of a number, or of the number of elements
	 * of a list (most 0: no limit) */
	int64_t least, most;
	int64_t absent;        /* default of a number or a flag */
	const char *otherwise; /* default of a text */
	bool needed;           /* the key is required in its object */
	/* the keys that an object must also have if it has this one, "a b" */
	const char *with;
	/* a file that extends the file with this key does not inherit the
	 * key */
	bool own;
	/* json_keys_is_fact() is true for this key, though its value is neither
	 * a number nor a flag */
	bool fact;
	/* names: the keys that the * in the pointer stands for, "f32 f64";
	 * NULL: any key. choice: for KEY_CHOICE, the allowed keys of an object
	 * whose values are objects. */
	const char *names, *choice;
	/* where json_keys_read() stores the value: the offset and size of a
	 * field of the structure; size 0: the value is not stored */
	size_t offset, size;
	/* the function that json_keys_read() calls with the value, or NULL */
	void (*read)(void *ctx, struct json j);
};

/* A set of placeholders that several rows share, and the name that tables of
 * docs/ print for this set. */
struct key_words {
	const char *name, *words;
};

/* The keys of one kind of file. */
struct key_table {
	const char *title, *doc; /* of the JSON Schema */
	bool extends;            /* a file may extend another one, and omit keys
				  * that it inherits */
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
/* Reads the keys of the object j by the rows below `place`, in their order: a
 * plain value is stored in the field of `to` that its row names; for any other
 * value the function in its row is called with ctx. The field of an absent key
 * becomes NULL, false, or the default in the row. */
void json_keys_read(const struct key_table *table, struct json j,
		    const char *place, void *to, void *ctx);
/* The number that json_keys_read() stored in the row's field of the structure
 * `from`. */
int64_t json_keys_number(const struct key *row, const void *from);
/* Does the row belong to an object at `place`, or at one of several places ("#a
 * #b")? */
bool json_keys_is_below(const struct key *row, const char *place);
/* The keys that an object at the place may have, "a b c"; NULL if the object
 * may have any key. */
const char *json_keys_known(const struct key_table *table, struct arena *a,
			    const char *place);
/* May a text that comes from a stranger set this key of the file? True if its
 * value is a number or a flag, or if its row is marked FACT: such a value
 * cannot name a program or its flags. */
bool json_keys_is_fact(const struct key_table *table, const char *key);
/* The row for the elements of `list`, a list. NULL if the elements are objects:
 * then the keys of these objects have rows, with the list's pointer and a
 * star. */
const struct key *json_keys_element(const struct key_table *table,
				    const struct key *list);
/* The elements of j, an array of texts; none if it is absent. */
struct names json_names(struct json j);

/* json_keys_print.c: the JSON Schema of the files that the table describes. */
const char *json_keys_schema(const struct key_table *table, struct arena *a);
/* The rows below the given places ("/limits /types") as a table in Markdown. */
const char *json_keys_manual(const struct key_table *table, struct arena *a,
			     const char *places);

#endif
