/* SPDX-License-Identifier: Apache-2.0 */
/* The tirc program. */
#include <stdio.h>
#include <string.h>

#include "version.h"

int
main(int argc, char **argv)
{
	if (argc == 2 && strcmp(argv[1], "version") == 0) {
		printf("tirc %s\n", tirc_version());
		return 0;
	}
	fprintf(stderr, "usage: tirc version\n");
	return 2;
}
