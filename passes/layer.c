/* SPDX-License-Identifier: Apache-2.0 */
/* The layer's first translation unit; goes when the passes arrive. */
#include "version.h"

const char *
passes_version(void);

const char *
passes_version(void)
{
	return tirc_version();
}
