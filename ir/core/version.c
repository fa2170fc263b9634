/* SPDX-License-Identifier: Apache-2.0 */
/* The version of this tirc, defined by the build. */
#include "version.h"

const char *
version_text(void)
{
	return TIRC_VERSION;
}
