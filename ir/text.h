/* SPDX-License-Identifier: Apache-2.0 */
/* Small questions about texts. */
#ifndef TIRC_IR_TEXT_H
#define TIRC_IR_TEXT_H

#include <stdbool.h>
#include <stdint.h>

/* Letters, digits and _, at least one, and no digit in front? Behind the first
 * those of `also` may be there, too. */
bool text_is_identifier(const char *text, const char *also);
/* FNV-1a. */
uint32_t text_hash(const char *text);
/* Pointers to texts, for qsort and bsearch: by the bytes' order. */
int text_compare(const void *a, const void *b);

/* Of the n names the one nearest to name by edit distance (two neighbours
 * exchanged are one edit), if near enough to be what was meant; else NULL. */
const char *text_nearest(const char *name, const char *const *names, int n);

#endif
