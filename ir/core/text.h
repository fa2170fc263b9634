/* SPDX-License-Identifier: Apache-2.0 */
/* Small questions about texts. */
#ifndef TIRC_TEXT_H
#define TIRC_TEXT_H

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
/* A decimal integer of 64 bits that is all of the text, with or without '-'. */
bool text_int(const char *text, int64_t *v);
/* A number as strtod reads it that is all of the text. */
bool text_float(const char *text, double *v);
/* The value of a hexadecimal digit; -1: it is none. */
int text_hex_digit(char c);
/* The bytes of the character of UTF-8 at the start of the n bytes, and its code
 * point; 0: they are no UTF-8. */
size_t text_character(const char *text, size_t n, uint32_t *code);
/* Does no reader see the character, or does it change how others are read? */
bool text_is_hidden(uint32_t code);
/* Appends n bytes of text, with each hidden character as `put` writes it: a code
 * point, or with is_byte a byte that is no UTF-8. Hidden characters of ASCII that
 * are in `kept` stay. */
typedef void text_hidden_fn(struct strbuf *out, uint32_t code, bool is_byte);
void text_put_with(struct strbuf *out, const char *text, size_t n,
		   const char *kept, text_hidden_fn *put);
/* Appends n bytes of text with hidden characters in a visible form: \n, \x1b,
 * \u202E, \U000E0001, and \xff for a byte that is no UTF-8. Those of ASCII that
 * are in `kept` stay. A second call leaves the result as it is. */
void text_put_visible(struct strbuf *out, const char *text, size_t n,
		      const char *kept);
/* FNV-1a. */
uint32_t text_hash(const char *text);
uint32_t text_hash_bytes(const char *text, size_t n);
/* The text with words of at most word_bytes, and as a whole of at most bytes:
 * "…" stands for the middle of a longer one. Words are what blanks
 * separate; no character of UTF-8 is cut. */
const char *text_cut(struct arena *a, const char *text, size_t word_bytes,
		     size_t bytes);
/* Pointers to texts, for qsort and bsearch: by the bytes' order. */
int text_compare(const void *a, const void *b);

/* The nearest of the n names to name by edit distance (a transposition is one
 * edit), if it is near enough to be a likely misspelling; else NULL. */
const char *text_nearest(const char *name, const char *const *names, int n);

#endif
