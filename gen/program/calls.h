/* SPDX-License-Identifier: Apache-2.0 */
/* Calls between the functions of a program. */
#ifndef TIRC_CALLS_H
#define TIRC_CALLS_H

#include "program.h"

/* Does function i of the list call (T.call_func) earlier functions alone, with
 * arguments that fit, and launch nothing itself? False after an error with the
 * position of the call. */
bool program_check_calls(struct module *m, const struct program_result *list,
			 int i);
/* Does f call the function of that name with T.call_func? */
bool program_calls(const struct func *f, const char *name);
/* Pointers of local arrays, which calls take, become addresses of the first
 * element: passes then know that whole arrays are accessed. */
void program_name_addresses(struct func *f);

#endif
