/* SPDX-License-Identifier: Apache-2.0 */
/* Ends the process if no memory is left: a weak symbol in a file of its own, so
 * that a program may define the function itself. */
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
