/* SPDX-License-Identifier: Apache-2.0 */
/* Positions and names in diagnostics. */
#include <stdio.h>

#include "importer.h"

struct diag_place
import_place(const struct importer *imp, const char *item)
{
	return (struct diag_place){ .file = imp->source.path, .item = item };
}

const char *
import_quote(struct arena *a, const char *name)
{
	char text[200];
	size_t n = 0;

	text[n++] = '\'';
	for (const char *p = name; *p; p++) {
		unsigned char c = (unsigned char)*p;

		if (n > 120) {
			/* p moves back to the first byte of a UTF-8
			 * character */
			while (n > 100 && (*p & 0xc0) == 0x80) {
				p--;
				n--;
			}
			memcpy(text + n, "…", 3);
			n += 3;
			break;
		}
		if (c < 0x20 || c == 0x7f || c == '\\') {
			n += (size_t)snprintf(text + n, 5,
					      c == '\n'   ? "\\n"
					      : c == '\\' ? "\\\\"
							  : "\\x%02x",
					      c);
		} else {
			text[n++] = (char)c;
		}
	}
	text[n++] = '\'';
	return arena_strndup(a, text, n);
}
