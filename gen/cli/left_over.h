/* SPDX-License-Identifier: Apache-2.0 */
/* Files of earlier compilations in the folder of tirc compile. */
#ifndef TIRC_LEFT_OVER_H
#define TIRC_LEFT_OVER_H

#include "cli.h"
#include "difference.h"

/* After tirc_compile, before tirc_write: finds these files. They are in the arena
 * of t. */
void left_over_find(struct tirc *t, const char *folder,
		    struct earlier_files *out);
/* After tirc_write: prints a note with those files that it has not written. */
void left_over_note(struct tirc *t, const char *folder,
		    const struct earlier_files *earlier);

#endif
