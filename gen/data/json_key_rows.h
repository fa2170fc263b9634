/* SPDX-License-Identifier: Apache-2.0 */
/* Macros for the rows of a table of keys. Only files that contain a table
 * include this header.
 *
 * A row of a table (dialect.def is one) is
 *
 *	KEY(pointer, type, presence, goes, words, doc)
 *	KEY(pointer, type, presence, goes, words, doc, EXAMPLE("[\"f32x4\"]"))
 *
 * pointer   JSON pointer of the value, "/limits/int_bits". A last part of *
 *           stands for every key of an object, or every element of an array.
 *           Rows below "#name" are keys of objects that occur in several
 *           places.
 * type      PROSE, TEXT, TEXTS, TEXT_OR_TEXTS, WORD("a|b"), WORDS("a|b"),
 *           WORD_OR_WORDS("a|b"), FLAG, NUMBER(least, most, absent),
 *           NUMBERS(least, most), REAL, OBJECT,
 *           LIST(least, most): an array of objects; most 0: any number of them.
 *           If there is a row with *, it has the type of the elements
 *           SAME("#name"), SAME("#name #other"): an object with these keys
 *           CHOICE("#name", "a b c"): such an object, or an object with any of
 *           the keys a, b, c, each with such an object as value
 *           TEXT_ELSE("t"), FLAG_ELSE(1): with a default value
 *           TEXTS_OF(least, most), OBJECT_OF(least): with limits of the number
 *           of elements or keys
 *           EITHER(type, OR_TEXT | OR_REAL): of that type or one of the others
 *           GONE: a key of earlier versions; doc says what replaces it
 * presence  NEEDED: required in its object, unless that is rejected
 *           MAY: optional
 *           WITH("a b"): optional; if it is present, a and b are required
 *           OWN(presence): not inherited by a file that extends this one
 *           FACT(presence): json_keys_is_fact() holds for the key
 *           for *: ANY key, or the keys NAMED("a b c")
 * goes      IN(struct, field): the reader stores the value
 *           BY(function): the reader calls the function, after the keys below
 *           IN_BY(struct, field, function): both
 *           NONE: the function of the enclosing object reads it
 * words     the placeholders that a text may use; NULL: those of the enclosing
 *           object
 * doc       the meaning of the value, printed after the key in a table in docs;
 *           NULL: the table omits the key
 * EXAMPLE   the JSON text of a value, for docs/ and the schema
 */
#ifndef TIRC_JSON_KEY_ROWS_H
#define TIRC_JSON_KEY_ROWS_H

#include "json_keys.h"

#define PROSE .type = KEY_PROSE
#define TEXT .type = KEY_TEXT
#define TEXT_ELSE(without) .type = KEY_TEXT, .otherwise = without
#define TEXTS .type = KEY_TEXTS
#define TEXTS_OF(from, to) .type = KEY_TEXTS, .least = from, .most = to
#define TEXT_OR_TEXTS .type = KEY_TEXTS, .also = OR_TEXT
#define WORD(list) .type = KEY_WORD, .choices = list
#define WORDS(list) .type = KEY_WORDS, .choices = list
#define WORD_OR_WORDS(list) .type = KEY_WORDS, .choices = list, .also = OR_TEXT
#define FLAG .type = KEY_FLAG
#define FLAG_ELSE(without) .type = KEY_FLAG, .absent = without
#define NUMBER(from, to, without)                                              \
	.type = KEY_NUMBER, .least = from, .most = to, .absent = without
#define NUMBERS(from, to) .type = KEY_NUMBERS, .least = from, .most = to
#define REAL .type = KEY_REAL
#define OBJECT .type = KEY_OBJECT
#define OBJECT_OF(from) .type = KEY_OBJECT, .least = from
#define LIST(from, to) .type = KEY_LIST, .least = from, .most = to
#define SAME(place) .type = KEY_SAME, .same = place
#define CHOICE(place, names) .type = KEY_CHOICE, .same = place, .choice = names
#define EITHER(one, others) one, .also = others
#define GONE .type = KEY_GONE
#define NEEDED .needed = true
#define MAY .needed = false
#define WITH(keys) .with = keys
#define OWN(presence) presence, .own = true
#define FACT(presence) presence, .fact = true
#define ANY .names = NULL
#define NAMED(list) .names = list
#define IN(holder, field)                                                      \
	.offset = offsetof(struct holder, field),                              \
	.size = sizeof((struct holder *)NULL)->field
#define BY(function) .read = function
#define IN_BY(holder, field, function) IN(holder, field), BY(function)
#define NONE .size = 0
#define EXAMPLE(text) .example = text
#define KEY_ROW(place, type, presence, goes, slots, ...)                       \
	{ .pointer = place,                                                    \
	  .words = slots,                                                      \
	  type,                                                                \
	  presence,                                                            \
	  goes,                                                                \
	  .doc = __VA_ARGS__ },

#endif
