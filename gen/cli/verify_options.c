/* SPDX-License-Identifier: Apache-2.0 */
/* Finds out whether a folder was compiled with other options than tirc verify has,
 * from what differs between its NAME.json and the one that tirc verify makes: the
 * options themselves, and the kernels that follow from them. */
#include <string.h>

#include "text.h"
#include "tuning.h"
#include "verify_cmd.h"

/* The number of changes that are printed at most. */
enum { MOST_ROWS = 6 };

/* The NAME.json of the folder, or NULL if it has none that differs from the one
 * that tirc writes. */
static const struct verified_file *
other_metadata(const struct verifying *v)
{
	for (int i = 0; i < v->files.n; i++) {
		const struct verified_file *f = &v->files.data[i];

		if (tirc_file(v->fresh.t, i).is_metadata) {
			return f->data != NULL && !f->same ? f : NULL;
		}
	}
	return NULL;
}

/* A file of the source, not of its build, that the folder lacks; NULL if it has
 * all. */
static const char *
lacking_file(const struct verifying *v)
{
	for (int i = 0; i < v->files.n; i++) {
		const struct verified_file *f = &v->files.data[i];

		if (f->data == NULL &&
		    (tirc_file(v->fresh.t, i).is_source || !f->is_text ||
		     text_ends_in(f->name, ".h"))) {
			return f->name;
		}
	}
	return NULL;
}

static void
compare_metadata(struct verifying *v)
{
	struct module *m = tirc_module(v->fresh.t);
	const int n_diags = m->diags.list.n;
	struct difference d;
	struct strbuf text;

	if (other_metadata(v) == NULL) {
		return;
	}
	if (!difference_of_lists(m, v->fresh.folder, v->folder, &d)) {
		/* the lines that differ are printed */
		diags_drop_errors(&m->diags, n_diags, DIAG_COUNT);
		return;
	}
	strbuf_init(&text);
	difference_put_first(&d, MOST_ROWS, &text);
	if (text.len > 0) {
		v->other_options = arena_strndup(v->a, text.data, text.len);
	}
	strbuf_release(&text);
	if (!d.same_calls) {
		v->not_run = "its kernels have other parameters or constants "
			     "than those that tirc writes with these options";
	}
}

void
verify_find_options(struct verifying *v)
{
	const char *lacking = lacking_file(v);

	compare_metadata(v);
	if (lacking != NULL) {
		v->not_run = arena_printf(v->a, "the folder lacks %s", lacking);
	}
}
