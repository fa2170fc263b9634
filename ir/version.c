/* SPDX-License-Identifier: Apache-2.0 */
/* The version of this tirc, handed in by the build. */
#include "version.h"

const char *
version_text(void)
{
	return TIRC_VERSION;
}
