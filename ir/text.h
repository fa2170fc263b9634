/* SPDX-License-Identifier: Apache-2.0 */
/* Small questions about texts. */
#ifndef TIRC_IR_TEXT_H
#define TIRC_IR_TEXT_H

#include <stdbool.h>
#include <stdint.h>

#include "arena.h"

/* Is text letters, digits and _, at least one, with no leading digit? After the
 * first, characters of `also` are allowed, too. */
bool text_is_identifier(const char *text, const char *also);
/* The next of the words of *text, which blanks separate; *text moves behind it.
 * NULL at the end. */
const char *text_next_word(struct arena *a, const char **text);
bool text_ends_in(const char *text, const char *end);
/* The value of a hexadecimal digit; -1: it is none. */
int text_hex_digit(char c);
/* FNV-1a. */
uint32_t text_hash(const char *text);
/* Pointers to texts, for qsort and bsearch: by the bytes' order. */
int text_compare(const void *a, const void *b);

/* The nearest of the n names to name by edit distance (a transposition is one
 * edit), if it is near enough to be a likely misspelling; else NULL. */
const char *text_nearest(const char *name, const char *const *names, int n);

#endif
