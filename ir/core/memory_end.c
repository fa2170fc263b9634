/* SPDX-License-Identifier: Apache-2.0 */
/* The functions that end the process if no memory is left, or if a limit of
 * memory is exceeded. They are weak symbols in a file of their own, so that a
 * program may define the functions itself. */
#include <stdlib.h>

#include "arena.h"

#if defined(__GNUC__)
__attribute__((weak))
#endif
_Noreturn void
memory_exhausted(void)
{
	abort();
}

#if defined(__GNUC__)
__attribute__((weak))
#endif
_Noreturn void
memory_over_limit(size_t most_bytes)
{
	(void)most_bytes;
	abort();
}
