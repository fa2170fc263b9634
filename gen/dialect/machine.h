/* SPDX-License-Identifier: Apache-2.0 */
/* The machine at hand: the macros of its compiler, its caches and cores. */
#ifndef TIRC_MACHINE_H
#define TIRC_MACHINE_H

#include <stdbool.h>
#include <stdint.h>

#include "arena.h"

/* Is the macro, or one of several words with spaces between them, defined in the
 * lines that a compiler printed? */
bool machine_defines(const char *lines, const char *macros);
/* Runs a compiler: the words of all texts, of which the first has its name.
 * Returns what it printed. NULL: it failed, or cannot be started; *problem says
 * how. */
const char *machine_ask(struct arena *a, const char *const *texts, int n,
			const char **problem);
/* Bytes of the cache of that level, of data, of the first core; 0: not known. */
int64_t machine_cache_bytes(struct arena *a, int level);
/* The processors that programs may run on. */
int machine_cores(void);

#endif
