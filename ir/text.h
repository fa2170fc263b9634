/* SPDX-License-Identifier: Apache-2.0 */
/* Small questions about texts. */
#ifndef TIRC_IR_TEXT_H
#define TIRC_IR_TEXT_H

#include <stdbool.h>

/* Letters, digits and _, at least one, and no digit in front? Behind the first
 * those of `also` may be there, too. */
bool text_is_identifier(const char *text, const char *also);
/* Pointers to texts, for qsort and bsearch: by the bytes' order. */
int text_compare(const void *a, const void *b);

#endif
