/* SPDX-License-Identifier: Apache-2.0 */
/* intrinsic_texts DIALECT SYMBOL...: prints the texts of symbols of intrinsics, in
 * the dialect, in that order. */
#include <stdio.h>

#include "intrinsics.h"

static bool
add_text(struct module *m, const struct intrinsic_set *set,
	 const struct dialect *d, const char *name, struct strbuf *out)
{
	const struct intrinsic_symbol *s = intrinsic_set_symbol(set, name);
	const struct intrinsic_text *t = s != NULL ? intrinsic_symbol_text(s, d)
						   : NULL;

	if (t == NULL) {
		fprintf(stderr, "there is no text of %s\n", name);
		return false;
	}
	return intrinsic_text_print(m, s, t, NULL, out);
}

int
main(int argc, char **argv)
{
	struct module *m = module_new();
	const struct dialect *d = argc > 1 ? dialect_load(m, argv[1], NULL)
					   : NULL;
	const struct intrinsic_set *set = intrinsic_set_load(m, NULL);
	struct strbuf out;
	bool good = d != NULL && set != NULL;

	strbuf_init(&out);
	for (int i = 2; i < argc && good; i++) {
		good = add_text(m, set, d, argv[i], &out);
		strbuf_putc(&out, '\n');
	}
	fputs(good && out.data != NULL ? out.data : "", stdout);
	strbuf_release(&out);
	module_free(m);
	return !good;
}
