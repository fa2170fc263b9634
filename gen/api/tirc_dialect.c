/* SPDX-License-Identifier: Apache-2.0 */
/* The public interface: dialects. */
#include "dialect.h"
#include "selftest.h"
#include "tirc_context.h"

const char *
tirc_dialect_list(struct tirc *t, bool json)
{
	return dialect_list_text(t->m, t->options.dialect_path, json);
}

const char *
tirc_dialect_show(struct tirc *t, const char *dialect, bool json)
{
	return dialect_show_text(t->m, dialect, t->options.dialect_path, json);
}

const char *
tirc_dialect_merged(struct tirc *t, const char *dialect)
{
	return dialect_merged_text(t->m, dialect, t->options.dialect_path);
}

const char *
tirc_dialect_check(struct tirc *t, const char *folder)
{
	const char *checked;

	return dialect_check(t->m, folder, &checked) ? checked : NULL;
}

bool
tirc_dialect_selftest(struct tirc *t, const char *dialect)
{
	const char *dir = t->options.dialect_path, *name, *target_name;
	const struct target *target = NULL;
	const struct dialect *d;
	struct selftest pack = { 0 };

	dialect_of_argument(t->m, dialect, &name, &dir);
	d = dialect_load(t->m, name, dir);
	target_name = t->options.target != NULL
			      ? t->options.target
			      : target_of_dialect(t->m, name, dir);
	if (target_name != NULL) {
		target = target_load(t->m, target_name, dir);
	}
	if (d == NULL || (target_name != NULL && target == NULL) ||
	    !selftest_build(t->m, d, target, &pack)) {
		return false;
	}
	for (int i = 0; i < pack.files.n; i++) {
		struct tirc_source source = { .name = pack.files.data[i].name,
					      .text = pack.files.data[i].text };

		vec_push(&t->m->arena, &t->sources, source);
	}
	return true;
}
