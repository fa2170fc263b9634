/* SPDX-License-Identifier: Apache-2.0 */
/* Writes texts, keys and origins of nodes as JSON. */
#include "writing.h"

void
write_key(struct writing *w, const char *key)
{
	strbuf_printf(w->out, ", \"%s\": ", key);
}

bool
write_text(struct writing *w, const char *text)
{
	if (text == NULL) {
		strbuf_puts(w->out, "null");
		return true;
	}
	if (!json_can_hold(text, strlen(text))) {
		return diag_error(&w->m->diags, DIAG_UNSUPPORTED,
				  (struct diag_place){ .file = w->g->file },
				  "the name '%s' is not UTF-8, which JSON "
				  "needs; rename it in the model",
				  text);
	}
	json_put_text(w->out, text);
	return true;
}

/* Writes an origin as the name of its first output, so that a new node in the
 * model changes no other line; if another origin has an output of this name, as
 * the origin's index. */
void
write_origin_of(struct writing *w, int origin)
{
	const struct origin_name *list = w->origins;
	int n = w->g->origins.n;
	const char *name = w->g->origins.data[origin].output;
	int first = origins_find(list, n, name != NULL ? name : "");

	if (name == NULL || *name == '\0' ||
	    !json_can_hold(name, strlen(name)) ||
	    (first + 1 < n && strcmp(list[first + 1].name, name) == 0)) {
		json_put_int(w->out, origin);
	} else {
		json_put_text(w->out, name);
	}
}

bool
write_origin(struct writing *w, const struct origin *o, int position)
{
	bool ok;

	strbuf_puts(w->out, "{\"op\": ");
	ok = write_text(w, o->op_type);
	if (ok && o->name != NULL && *o->name != '\0') {
		write_key(w, "name");
		ok = write_text(w, o->name);
	}
	if (ok && o->output != NULL) {
		write_key(w, "output");
		ok = write_text(w, o->output);
	}
	if (ok && o->index != position) {
		write_key(w, "index");
		json_put_int(w->out, o->index);
	}
	if (ok && o->within >= 0) {
		write_key(w, "within");
		json_put_int(w->out, o->within);
	}
	if (ok && o->pass != NULL) {
		write_key(w, "pass");
		ok = write_text(w, o->pass);
		write_key(w, "why");
		ok = ok && write_text(w, o->fate);
	}
	strbuf_putc(w->out, '}');
	return ok;
}
