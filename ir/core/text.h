/* SPDX-License-Identifier: Apache-2.0 */
/* Functions on strings: tests, numbers, words, UTF-8, spelling. */
#ifndef TIRC_TEXT_H
#define TIRC_TEXT_H

#include <stdbool.h>
#include <stdint.h>

#include "arena.h"

/* Is text an identifier: at least one character, only letters, digits and _,
 * and no digit at the start? After the first character, the characters in
 * `also` are allowed, too. */
bool text_is_identifier(const char *text, const char *also);
/* The next word of *text; blanks separate words. *text is moved past the word.
 * NULL at the end of the text. */
const char *text_next_word(struct arena *a, const char **text);
bool text_ends_in(const char *text, const char *end);
/* Reads a 64-bit decimal integer, with or without '-', to *v. False if the text
 * is not exactly such an integer, or if it is out of range. */
bool text_int(const char *text, int64_t *v);
/* Reads a number to *v as strtod does. False if the text is more than the
 * number. */
bool text_float(const char *text, double *v);
/* The value of a hexadecimal digit; -1 if c is not one. */
int text_hex_digit(char c);
/* The length in bytes of the UTF-8 character at the start of the n bytes of
 * text; *code: its code point. 0 if the bytes are not valid UTF-8. */
size_t text_character(const char *text, size_t n, uint32_t *code);
/* The first ASCII control character of the text other than a tab, a newline or
 * a carriage return; NULL if the text has no such character. */
const char *text_control(const char *text);
/* The number of the line in which `at`, a position in the text, is; the first
 * line is 1. */
int text_line(const char *text, const char *at);
/* Is the character invisible, or does it change how other characters are
 * displayed? */
bool text_is_hidden(uint32_t code);
/* Appends n bytes of text, with each hidden character replaced by what `put`
 * writes for it: `code` is a code point, or, if is_byte, a byte that is not
 * UTF-8. Hidden ASCII characters that are in `kept` stay. */
typedef void text_hidden_fn(struct strbuf *out, uint32_t code, bool is_byte);
void text_put_with(struct strbuf *out, const char *text, size_t n,
		   const char *kept, text_hidden_fn *put);
/* Appends n bytes of text with hidden characters in a visible form: \n, \x1b,
 * \u202E, \U000E0001, and \xff for a byte that is not UTF-8. Hidden ASCII
 * characters that are in `kept` stay. If the function is applied to its own
 * result, it changes nothing. */
void text_put_visible(struct strbuf *out, const char *text, size_t n,
		      const char *kept);
/* The FNV-1a hash of the text, for short digests in output. Tables in memory
 * use secret_hash(). */
uint32_t text_hash(const char *text);
/* Shortens text to at most `bytes` bytes, and each of its words, which blanks
 * separate, to at most word_bytes: "…" replaces the middle. No UTF-8 character
 * is cut in two. */
const char *text_cut(struct arena *a, const char *text, size_t word_bytes,
		     size_t bytes);
/* Compares two texts by their bytes, for qsort and bsearch: a and b point to
 * pointers to the texts. */
int text_compare(const void *a, const void *b);

/* The one of the n names that has the smallest edit distance to `name` (an
 * exchange of adjacent letters is one edit), if the distance is that of a
 * likely misspelling; else NULL. */
const char *text_nearest(const char *name, const char *const *names, int n);

#endif
