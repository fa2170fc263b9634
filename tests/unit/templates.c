/* SPDX-License-Identifier: Apache-2.0 */
/* The embedded templates are sorted, found by path, and NUL-terminated. */
#include "templates.h"
#include "check.h"

int
main(void)
{
	int n;
	const struct template_file *files = template_files(&n);

	CHECK(n >= 0);
	for (int i = 0; i < n; ++i) {
		CHECK(template_find(files[i].path) == &files[i]);
		CHECK_EQ(files[i].bytes[files[i].length], 0);
		if (i > 0) {
			CHECK(strcmp(files[i - 1].path, files[i].path) < 0);
		}
	}
	CHECK(template_find("") == NULL);
	CHECK(template_find("no/such/file") == NULL);
	return check_done();
}
