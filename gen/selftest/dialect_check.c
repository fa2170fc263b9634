/* SPDX-License-Identifier: Apache-2.0 */
/* Checks a folder of dialects and targets without emitting code: loads every
 * dialect in every mode of --fp and every target, and renders the text of every
 * operation. */
#define _DEFAULT_SOURCE
#include <stdio.h>
#include <stdlib.h>

#include "dialect.h"
#include "json_read.h"
#include "selftest.h"

/* Makes the files of the dialect's self-test, which renders the text of every
 * operation once, and discards them. If kernels of the dialect are launched
 * only from a language that the dialect does not name, makes no files and
 * returns true. False after a diagnostic. */
static bool
try_out(struct module *m, const struct dialect *d, const char *dir)
{
	const char *target = target_of_dialect(m, d->name, dir);
	struct selftest none = { 0 };

	return (d->device.rejected == NULL && d->device.no_launch != NULL &&
		d->device.host == NULL) ||
	       selftest_build(m, d,
			      target != NULL ? target_load(m, target, dir)
					     : NULL,
			      &none);
}

enum asked { ASKED_NEVER, ASKED_ALWAYS, ASKED_OF_BYTES, ASKED_IF_SPELLED };

static bool
any_byte_vectors(struct module *m, const struct dialect *d, const char *dir)
{
	const char *name = target_of_dialect(m, d->name, dir);
	const struct target *t = name != NULL ? target_load(m, name, dir)
					      : NULL;

	return t != NULL && t->byte_vectors;
}

/* Checks that the dialect has all vector forms that loops need, and no form
 * that no loop uses. A dialect without any vector form only loads and stores
 * vectors. False after a diagnostic. */
static bool
check_vectors(struct module *m, const struct dialect *d, const char *dir)
{
	static const enum asked asked[FORM_COUNT] = {
#define VECTOR_FORM(id, by) [FORM_##id] = by,
#include "vector_forms.def"
#undef VECTOR_FORM
	};
	const struct vector_forms *v = &d->vectors;
	bool ok = true, any = false, bytes;

	for (int i = 0; i < FORM_COUNT; i++) {
		any |= v->rejected == NULL && v->forms[i] != NULL;
	}
	bytes = any && any_byte_vectors(m, d, dir);
	for (int i = 0; any && i < FORM_COUNT; i++) {
		struct diag_place place = {
			.file = v->forms[i] != NULL ? v->forms[i]->file
						    : d->file,
			.item = arena_printf(&m->arena,
					     "/vectors/expressions/%s",
					     form_key((enum form_id)i)),
		};

		if (v->forms[i] == NULL &&
		    (asked[i] == ASKED_ALWAYS ||
		     (asked[i] == ASKED_OF_BYTES && bytes))) {
			ok = diag_error(
				&m->diags, DIAG_BAD_DIALECT, place,
				"this form is missing, but loops over "
				"vectors need it; define it, or reject it "
				"with a reason");
		} else if (v->forms[i] != NULL && asked[i] == ASKED_NEVER) {
			ok = diag_error(
				&m->diags, DIAG_BAD_DIALECT, place,
				"this form is unused: no loop over vectors "
				"needs it; remove it");
		}
	}
	return ok;
}

static bool
check_dialect(struct module *m, const char *name, const char *dir)
{
	static const char *const modes[] = { "strict", "fast" };
	const struct dialect *d = dialect_load(m, name, dir);
	bool ok = d != NULL && check_vectors(m, d, dir) && try_out(m, d, dir);

	for (int i = 0; ok && i < 2; i++) {
		ok = !d->fp_modes[i] ||
		     dialect_load_fp(m, name, dir, modes[i]) != NULL;
	}
	return ok;
}

static bool
check_targets(struct module *m, const char *dir, const char *dialect,
	      const char **checked)
{
	int n;
	const char *const *names = target_names_in(m, dir, &n);
	bool ok = true;

	for (int i = 0; i < n; i++) {
		const struct target *t;

		if (dialect != NULL &&
		    !target_is_of(m, names[i], dialect, dir)) {
			continue;
		}
		t = target_check(m, names[i], dir);
		ok = t != NULL && ok;
		if (t != NULL && dialect == NULL) {
			ok = dialect_load(m, t->dialect, dir) != NULL && ok;
		}
		*checked = arena_printf(&m->arena, "%s%starget %s", *checked,
					**checked != '\0' ? ", " : "",
					names[i]);
	}
	return ok;
}

bool
dialect_check(struct module *m, const char *path, const char **checked)
{
	const char *name = NULL, *dir = NULL;
	struct diag_place place = { .file = path };
	const char *const *names;
	bool ok = true;
	int n = 1;

	*checked = "";
	dialect_of_argument(m, path, &name, &dir);
	names = &name;
	if (dir == NULL) {
		dir = data_real_path(m, path);
		names = dialect_names_in(m, dir, &n);
		name = NULL;
	}
	for (int i = 0; i < n; i++) {
		ok = check_dialect(m, names[i], dir) && ok;
		*checked = arena_printf(&m->arena, "%s%sdialect %s", *checked,
					**checked != '\0' ? ", " : "",
					names[i]);
	}
	ok = check_targets(m, dir, name, checked) && ok;
	return **checked != '\0'
		       ? ok
		       : diag_error(&m->diags, DIAG_FILE_UNREADABLE, place,
				    "the folder has no dialect and no target; "
				    "give a folder with dialect.json, or a "
				    "folder that contains dialects");
}
