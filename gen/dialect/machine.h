/* SPDX-License-Identifier: Apache-2.0 */
/* The machine that tirc runs on: the macros of its compiler, its caches, and
 * the number of its cores. */
#ifndef TIRC_MACHINE_H
#define TIRC_MACHINE_H

#include <stdbool.h>
#include <stdint.h>

#include "arena.h"

/* Is the macro defined in the output of a compiler? macros: one name, or
 * several alternatives separated by spaces. */
bool machine_defines(const char *lines, const char *macros);
/* Runs a compiler. The command is all n texts together, split into words; the
 * first text begins with the compiler's name. Returns the compiler's output;
 * NULL if it failed or cannot be started, with the reason in *problem. */
const char *machine_ask(struct arena *a, const char *const *texts, int n,
			const char **problem);
/* The size in bytes of the first core's data cache of this level; 0 if
 * unknown. */
int64_t machine_cache_bytes(struct arena *a, int level);
/* The number of processors that programs may use. */
int machine_cores(void);

#endif
