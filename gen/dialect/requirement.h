/* SPDX-License-Identifier: Apache-2.0 */
/* Compiler macros that a source requires: they stand for instructions without
 * which the source would be slow. */
#ifndef TIRC_REQUIREMENT_H
#define TIRC_REQUIREMENT_H

#include "names_list.h"

struct requirement {
	/* Each text is a macro, or several alternatives separated by spaces. */
	struct names macros;
	const char *flags;     /* flags with which compilers define these
			        * macros */
	const char *otherwise; /* the name of the target for other processors */
};

#endif
