/* SPDX-License-Identifier: Apache-2.0 */
/* Macros of the compiler that a source relies on, because it is slow on
 * processors without the instructions that they stand for. */
#ifndef TIRC_REQUIREMENT_H
#define TIRC_REQUIREMENT_H

#include "names_list.h"

struct requirement {
	/* Each text is a macro, or several with spaces between them, of which
	 * one is enough. */
	struct names macros;
	const char *flags;     /* with which compilers define them */
	const char *otherwise; /* the target for other processors */
};

#endif
