/* SPDX-License-Identifier: Apache-2.0 */
/* Small questions about texts. */
#include "text.h"

#include <string.h>

bool
text_is_identifier(const char *text, const char *also)
{
	static const char letters[] = "abcdefghijklmnopqrstuvwxyz"
				      "ABCDEFGHIJKLMNOPQRSTUVWXYZ_"
				      "0123456789";
	const char *p = text + strspn(text, letters);

	if (p == text || (*text >= '0' && *text <= '9')) {
		return false;
	}
	while (*p != '\0' && strchr(also, *p) != NULL) {
		p++;
		p += strspn(p, letters);
	}
	return *p == '\0';
}

int
text_compare(const void *a, const void *b)
{
	return strcmp(*(const char *const *)a, *(const char *const *)b);
}
