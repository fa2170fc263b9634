/* SPDX-License-Identifier: Apache-2.0 */
/* The version is three numbers. */
#include "version.h"
#include "check.h"

int
main(void)
{
	int major, minor, patch;
	char end;

	CHECK_EQ(sscanf(version_text(), "%d.%d.%d%c", &major, &minor, &patch,
			&end),
		 3);
	return check_done();
}
