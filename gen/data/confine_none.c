/* SPDX-License-Identifier: Apache-2.0 */
/* Systems on which programs are not confined. */
#include "confine.h"

#include <errno.h>

#include "program_file.h"

int
confine_available(void)
{
	return 0;
}

const char *
confine_enter(const struct confinement *c, const struct confined_start *start)
{
	(void)start;
	errno = ENOSYS;
	return c->required ? "this system" : NULL;
}

bool
program_file_read(struct arena *a, const char *path, struct program_file *out)
{
	(void)a;
	(void)path;
	*out = (struct program_file){ 0 };
	return false;
}
