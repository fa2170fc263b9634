/* SPDX-License-Identifier: Apache-2.0 */
/* How a dialect hands the iterations of a parallel loop to threads that the
 * caller has, if it does. */
#include "dialect_load.h"

void
dialect_read_tasks(struct loader *l, struct json j)
{
	struct dialect *d = l->d;

	if (!json_is_object(j, true)) {
		return;
	}
	json_check_keys(j, "used runtime parameter argument array scalar "
			"declare call");
	d->tasks.used = json_bool(json_get(j, "used"));
	d->tasks.runtime = json_text(json_get(j, "runtime"), true);
	d->tasks.parameter = json_text(json_get(j, "parameter"), true);
	d->tasks.argument = json_text(json_get(j, "argument"), true);
	d->tasks.array = json_text(json_get(j, "array"), true);
	d->tasks.scalar = json_text(json_get(j, "scalar"), true);
	d->tasks.declare = json_text(json_get(j, "declare"), true);
	d->tasks.call = json_text(json_get(j, "call"), true);
}
