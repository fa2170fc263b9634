/* SPDX-License-Identifier: Apache-2.0 */
#include "snapshot.h"

struct change_row *
add_change(struct comparing *c, enum difference_part part, enum change change,
	   const char *name, const char *old, const char *new)
{
	struct change_rows *rows = &c->out->parts[part];
	struct change_row row = { .change = change,
				  .name = arena_strdup(c->a, name) };

	/* copied, because the texts may be in a JSON tree that is freed */
	row.old = old != NULL ? arena_strdup(c->a, old) : NULL;
	row.new = new != NULL ? arena_strdup(c->a, new) : NULL;
	rows->counts[change]++;
	c->out->is_any |= change != CHANGE_NONE;
	vec_push(c->a, &rows->list, row);
	return &rows->list.data[rows->list.n - 1];
}
