/* SPDX-License-Identifier: Apache-2.0 */
/* The end of a process that has no memory left. It is a weak symbol in a file
 * of its own, so that a program may define the function anew. */
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
