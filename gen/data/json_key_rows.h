/* SPDX-License-Identifier: Apache-2.0 */
/* Macros for the rows of a table of keys. Only files that hold a table include
 * this header.
 *
 * A row of a table (dialect.def is one) is
 *
 *	KEY(pointer, type, presence, goes, words, doc)
 *
 * pointer   of the value, "/limits/int_bits". A last part of * stands for
 *           every key of an object, or for every element of an array. Rows
 *           below "#name" are keys of objects that stand in several places.
 * type      PROSE, TEXT, TEXTS, TEXT_OR_TEXTS, WORD("a|b"), WORDS("a|b"), FLAG,
 *           NUMBER(least, most, absent), NUMBERS(least, most), OBJECT,
 *           LIST(least, most) of objects, most 0: any number, SAME("#name"), CHOICE("#name",
 *           "a b c"): that object, or one that has it as its keys a, b, c
 * presence  NEEDED: it must be there where its object is and is not rejected;
 *           MAY: it may be absent; for *, ANY key or those NAMED("a b c")
 * goes      IN(struct, field): the reader stores it; BY(function): the reader
 *           calls the function after the keys below were read; IN_BY(struct,
 *           field, function): both; NONE: the function of the object around
 *           it reads it
 * words     the placeholders that a text may use; NULL: the placeholders of
 *           the object around it
 * doc       the meaning of the value, as a table in docs/ prints it behind the
 *           key; NULL: the table omits the key
 */
#ifndef TIRC_JSON_KEY_ROWS_H
#define TIRC_JSON_KEY_ROWS_H

#include "json_keys.h"

#define PROSE .type = KEY_PROSE
#define TEXT .type = KEY_TEXT
#define TEXTS .type = KEY_TEXTS
#define TEXT_OR_TEXTS .type = KEY_TEXT_OR_TEXTS
#define WORD(list) .type = KEY_WORD, .choices = list
#define WORDS(list) .type = KEY_WORDS, .choices = list
#define FLAG .type = KEY_FLAG
#define NUMBER(from, to, without)                                              \
	.type = KEY_NUMBER, .least = from, .most = to, .absent = without
#define NUMBERS(from, to) .type = KEY_NUMBERS, .least = from, .most = to
#define OBJECT .type = KEY_OBJECT
#define LIST(from, to) .type = KEY_LIST, .least = from, .most = to
#define SAME(place) .type = KEY_SAME, .same = place
#define CHOICE(place, names) .type = KEY_CHOICE, .same = place, .choice = names
#define NEEDED .needed = true
#define MAY .needed = false
#define ANY .names = NULL
#define NAMED(list) .names = list
#define IN(holder, field)                                                      \
	.offset = offsetof(struct holder, field),                              \
	.size = sizeof((struct holder *)NULL)->field
#define BY(function) .read = function
#define IN_BY(holder, field, function) IN(holder, field), BY(function)
#define NONE .size = 0
#define KEY_ROW(place, type, presence, goes, slots, sentence)                  \
	{ .pointer = place,                                                    \
	  .words = slots,                                                      \
	  .doc = sentence,                                                     \
	  type,                                                                \
	  presence,                                                            \
	  goes },

#endif
