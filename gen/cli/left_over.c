/* SPDX-License-Identifier: Apache-2.0 */
/* Tells the user which files of an earlier compilation are still in the folder
 * that a model is compiled to: a build with a wildcard would take them. */
#include <string.h>

#include "difference.h"
#include "left_over.h"
#include "tuning.h"
#include "verifying.h"

/* The number of files that are named at most. */
enum { MOST_NAMED = 20 };

void
left_over_find(struct tirc *t, const char *folder, struct earlier_files *out)
{
	struct tirc_summary s = tirc_summary(t);
	struct model_files model = {
		.name = s.name,
		.digest = tirc_compiled_program(t)->graph->digest,
	};

	difference_earlier(tirc_module(t), folder, &model, out);
}

static bool
is_written(struct tirc *t, const char *name)
{
	for (int i = 0; i < tirc_file_count(t); i++) {
		if (strcmp(tirc_file(t, i).name, name) == 0) {
			return true;
		}
	}
	return false;
}

void
left_over_note(struct tirc *t, const char *folder,
	       const struct earlier_files *earlier)
{
	struct arena *a = &tirc_module(t)->arena;
	const char *names = "";
	int n = 0;

	for (int i = 0; i < earlier->list.n; i++) {
		const char *name = earlier->list.data[i];

		if (!is_written(t, name) && n++ < MOST_NAMED) {
			names = arena_printf(a, "%s%s%s", names,
					     n > 1 ? ", " : "", name);
		}
	}
	if (n > MOST_NAMED) {
		names = arena_printf(a, "%s and %d more", names,
				     n - MOST_NAMED);
	}
	if (n > 0) {
		cli_note("%s: %s left over from an earlier compilation: %s; "
			 "remove %s, since this one does not write %s",
			 folder, n == 1 ? "a file is" : "files are", names,
			 n == 1 ? "it" : "them", n == 1 ? "it" : "them");
	}
}
