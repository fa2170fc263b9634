/* SPDX-License-Identifier: Apache-2.0 */
/* Checks that a function reads back from its text unchanged. */
#include "script.h"

static bool
fail(const struct func *f, const char *what, const char *why)
{
	struct diag_place place = { .item = f->name };

	return diag_error(&f->module->diags, DIAG_VERIFY, place,
			  "%s%s%s; "
			  "this is a bug",
			  what, why ? ": " : "", why ? why : "");
}

/* Does func_print() write `printed` for a function named `name`? It does if
 * `name` is a keyword of Python and `printed` is `name` with "_" appended. */
static bool
is_printed_name(const char *printed, const char *name)
{
	size_t n = strlen(name);

	return py_is_keyword(name, n) && strncmp(printed, name, n) == 0 &&
	       strcmp(printed + n, "_") == 0;
}

static bool
check(const struct func *f, enum script_version version, struct module *m,
      struct strbuf *text, struct strbuf *again, struct strbuf *why)
{
	func_print(f, version, text);

	struct source src = { "printed", text->data, text->len };

	if (!script_read(m, &src) || m->funcs.n != 1) {
		for (int i = 0; i < m->diags.list.n; i++) {
			diag_format(&m->diags.list.data[i], why);
			strbuf_puts(why, m->diags.list.data[i].place.excerpt
						 ? m->diags.list.data[i]
							   .place.excerpt
						 : "");
		}
		return fail(f, "what is printed cannot be read", why->data);
	}
	func_print(m->funcs.data[0], version, again);
	if (is_printed_name(m->funcs.data[0]->name, f->name)) {
		m->funcs.data[0]->name = f->name;
	}
	if (!func_equal(f, m->funcs.data[0], why)) {
		return fail(f,
			    "what is printed reads back as another "
			    "function",
			    why->data);
	}
	return strcmp(text->data, again->data) == 0 ||
	       fail(f,
		    "what is printed reads back and prints as another "
		    "text",
		    NULL);
}

bool
func_verify_text(const struct func *f)
{
	bool good = true;

	for (int i = 0; i < 2 && good; i++) {
		struct module *m = module_new();
		struct strbuf text, again, why;

		strbuf_init(&text);
		strbuf_init(&again);
		strbuf_init(&why);
		good = check(f, i == 0 ? SCRIPT_CURRENT : SCRIPT_OLD, m, &text,
			     &again, &why);
		strbuf_release(&text);
		strbuf_release(&again);
		strbuf_release(&why);
		module_free(m);
	}
	return good;
}

/* Are the text and the hash of f those in `seen`? In either case, stores those
 * of f in `seen`. */
static bool
was_seen(const struct func *f, struct strbuf *seen)
{
	struct strbuf now;
	bool same;

	strbuf_init(&now);
	func_print(f, SCRIPT_CURRENT, &now);
	strbuf_printf(&now, "%llx", (unsigned long long)func_hash(f, false));
	same = seen->len == now.len && strcmp(seen->data, now.data) == 0;
	strbuf_release(seen);
	*seen = now;
	return same;
}

bool
func_verify_new_text(const struct func *f, struct strbuf *seen)
{
	return was_seen(f, seen) || func_verify_text(f);
}
