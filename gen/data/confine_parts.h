/* SPDX-License-Identifier: Apache-2.0 */
/* The parts of confine.c. */
#ifndef TIRC_CONFINE_PARTS_H
#define TIRC_CONFINE_PARTS_H

#include "confine.h"

/* The first function of each pair: does this kernel support this part of the
 * confinement? The second function applies it to this process, permanently;
 * false with errno. The process must have set no_new_privs. */
bool confine_files_available(void);
bool confine_files(const struct confinement *c);
bool confine_calls_available(void);
bool confine_calls(const struct confinement *c,
		   const struct confined_start *start);

#endif
