/* SPDX-License-Identifier: Apache-2.0 */
/* Calls between the functions of a program. */
#ifndef TIRC_CALLS_H
#define TIRC_CALLS_H

#include "program.h"

/* Checks the calls of function i of the list: T.call_func calls only earlier
 * functions, with arguments that match, and nothing launches a kernel. False
 * after an error at the call. */
bool program_check_calls(struct module *m, const struct program_result *list,
			 int i);
/* Replaces pointers of local arrays in calls by the address of the first
 * element, so that passes see that whole arrays are accessed. */
void program_name_addresses(struct func *f);

#endif
