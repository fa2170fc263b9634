/* SPDX-License-Identifier: Apache-2.0 */
/* Checks calls between the functions of a program. */
#ifndef TIRC_CALLS_H
#define TIRC_CALLS_H

#include "program.h"
#include "text_map.h"

/* A map from the names of the functions in `list` to their indices in it. */
struct text_map program_positions(struct module *m,
				  const struct program_result *list);
/* Checks the calls in function i of the list: T.call_func may call only
 * functions that are earlier in the list, with fitting arguments, and no
 * function may launch a kernel. positions: the index in the list of each name.
 * Returns false after an error at the call. */
bool program_check_calls(struct module *m, const struct program_result *list,
			 const struct text_map *positions, int i);
/* Replaces the pointer of a local array in a call by the address of the array's
 * first element, so that passes see that the whole array is accessed. */
void program_name_addresses(struct func *f);

#endif
