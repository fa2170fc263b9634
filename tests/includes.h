/* SPDX-License-Identifier: Apache-2.0 */
/* The headers of a unit, for tests that write a source of their own around its
 * functions. */
#ifndef TESTS_INCLUDES_H
#define TESTS_INCLUDES_H

#include <stdio.h>

#include "unit.h"

static inline void
print_includes(FILE *out, const struct unit *u)
{
	for (int i = 0; i < u->headers.n; i++) {
		const char *name = u->headers.data[i];
		const char *condition = dialect_header_condition(u->d, name);

		if (condition != NULL) {
			fprintf(out, "#if %s\n", condition);
		}
		fprintf(out, "#include <%s>\n%s", name,
			condition != NULL ? "#endif\n" : "");
	}
}

#endif
