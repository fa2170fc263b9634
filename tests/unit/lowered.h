/* SPDX-License-Identifier: Apache-2.0 */
/* For tests of lowering passes: a program as text, with what a pass answers to
 * and without, lowered both times; then what it became, word by word, and that
 * both compute the same. */
#ifndef TESTS_UNIT_LOWERED_H
#define TESTS_UNIT_LOWERED_H

#include "check.h"

#include "interp.h"
#include "lower.h"
#include "script.h"

/* What two programs have to agree on. */
struct lowered_case {
	const char *what;         /* for messages */
	const char *plain, *text; /* the program without, and with */
	const char *want;         /* the body it becomes; NULL: as plain does */
	struct run_arg *args;     /* the last one is written */
	int n;
	float *result;   /* the last one's data */
	size_t elements; /* of it, at most 96 */
};

/* The only function of a program, lowered; NULL after printing why not. */
static inline struct func *
lowered(struct module *m, const char *text)
{
	struct source src = {
		.name = "program",
		.text = text,
		.length = strlen(text),
	};

	if (!script_read(m, &src) || m->funcs.n != 1 ||
	    !lower_func(m->funcs.data[0], NULL) ||
	    !func_verify_text(m->funcs.data[0])) {
		for (int i = 0; i < m->diags.list.n; i++) {
			fprintf(stderr, "%s\n", m->diags.list.data[i].message);
		}
		return NULL;
	}
	return m->funcs.data[0];
}

/* The body's text: what stands behind the signature. */
static inline const char *
body_of(struct module *m, const struct func *f)
{
	struct strbuf out;
	const char *text;

	strbuf_init(&out);
	func_print(f, SCRIPT_CURRENT, &out);
	text = arena_strdup(&m->arena, out.data);
	strbuf_release(&out);
	text = strstr(text, "):\n");
	return text != NULL ? text + 3 : "";
}

static inline bool
lowered_run(struct func *f, const struct lowered_case *c)
{
	memset(c->result, 0, c->elements * sizeof *c->result);
	return func_verify(f) && interp_run(f, c->args, c->n);
}

static inline void
check_lowered(const struct lowered_case *c)
{
	struct module *plain = module_new(), *m = module_new();
	struct func *before = lowered(plain, c->plain);
	struct func *after = lowered(m, c->text);
	float expected[96];
	const char *want;

	if (CHECK(before != NULL && after != NULL)) {
		CHECK(lowered_run(before, c));
		memcpy(expected, c->result, c->elements * sizeof *expected);
		CHECK(lowered_run(after, c));
		CHECK(memcmp(expected, c->result,
			     c->elements * sizeof *expected) == 0);
		want = c->want != NULL ? c->want : body_of(plain, before);
		if (!CHECK(strcmp(body_of(m, after), want) == 0)) {
			fprintf(stderr, "%s:\n%s", c->what, body_of(m, after));
		}
	}
	module_free(plain);
	module_free(m);
}

#endif
