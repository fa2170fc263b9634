/* SPDX-License-Identifier: Apache-2.0 */
/* What a kernel's comment says of an earlier kernel that differs in constants
 * alone. */
#include "host_device.h"
#include "packer.h"
#include "script.h"

/* So many constants are listed; the number of the others is stated. */
enum { LISTED = 6 };

static const char *
literal_text(struct unit *u, const struct expr *e)
{
	union number v;

	if (e->kind == EXPR_FLOAT) {
		v.f = e->u.fval;
	} else {
		v.i = e->u.ival;
	}
	return unit_literal(u, e->type, v);
}

/* The name of the function that computes the kernel. */
static const char *
function_name(const struct kernel *k)
{
	const struct host_device *d = k->device;

	return d != NULL && d->n_launches > 0 ? d->launches[0].kernel->name
					      : k->func->name;
}

const char *
kernel_like_text(struct packer *k, struct unit *u, const struct kernel *kernel)
{
	const struct literal_pairs *pairs = kernel->other_literals;
	struct strbuf s;
	const char *text;

	strbuf_init(&s);
	strbuf_printf(&s, "%s, with", function_name(kernel->same_but_literals));
	for (int i = 0; i < pairs->list.n && i < LISTED; i++) {
		const struct literal_pair *pair = &pairs->list.data[i];

		strbuf_printf(&s, "%s %s for %s", i > 0 ? "," : "",
			      literal_text(u, pair->b),
			      literal_text(u, pair->a));
	}
	if (pairs->list.n > LISTED) {
		strbuf_printf(&s, ", and %d other constants",
			      pairs->list.n - LISTED);
	}
	strbuf_puts(&s, ": apart, so that the compiler folds them");
	text = arena_strndup(k->a, s.data, s.len);
	strbuf_release(&s);
	return text;
}
