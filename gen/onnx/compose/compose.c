/* SPDX-License-Identifier: Apache-2.0 */
/* How the function of a composition reads its node and reports mistakes.
 * compose_nodes.c makes the new nodes. */
#include "compose.h"

#include <stdarg.h>

struct tensor *
compose_input(const struct compose *c, int i)
{
	return node_input(c->node, i);
}

bool
compose_needs(struct compose *c, int n, ...)
{
	int missing = -1;
	va_list ap;

	va_start(ap, n);
	for (int k = 0; k < n; k++) {
		int i = va_arg(ap, int);

		missing = missing < 0 && !compose_input(c, i) ? i : missing;
	}
	va_end(ap);
	return missing < 0 ||
	       compose_error(c, DIAG_BAD_MODEL,
			     "input %d is missing; correct the model", missing);
}

bool
compose_wants(const struct compose *c, int i)
{
	const struct tensor *t = i < c->node->n_outputs ? c->node->outputs[i]
							: NULL;

	return t && (t->uses.n > 0 || t->is_output);
}

bool
compose_error(struct compose *c, enum diag_id id, const char *fmt, ...)
{
	va_list ap;

	if (c->failed) {
		return false; /* only the first mistake is reported */
	}
	va_start(ap, fmt);
	c->failed = true;
	diag_error(&c->m->diags, id, node_place(c->g, c->node), "%s",
		   arena_vprintf(&c->m->arena, fmt, ap));
	va_end(ap);
	return false;
}

bool
compose_refuse(struct compose *c, const char *fmt, ...)
{
	const char *text;
	va_list ap;

	va_start(ap, fmt);
	text = arena_vprintf(&c->m->arena, fmt, ap);
	va_end(ap);
	return compose_error(c, DIAG_UNSUPPORTED, "%s", text);
}

const struct expr *
compose_dim(struct compose *c, const struct tensor *t, int d)
{
	int at = d < 0 ? d + t->ndim : d;

	if (!c->failed && (at < 0 || at >= t->ndim)) {
		compose_error(c, DIAG_BAD_SHAPE,
			      "'%s' has %d dimensions, and the operator needs "
			      "%d; correct the model",
			      t->name, t->ndim, d < 0 ? -d : d + 1);
	}
	return c->failed ? expr_index(c->m, 1) : t->shape[at];
}

bool
compose_known_dim(struct compose *c, const struct tensor *t, int d,
		  int64_t *size)
{
	const struct expr *dim = compose_dim(c, t, d);

	*size = 1;
	if (c->failed) {
		return false;
	}
	return expr_is_int(dim, size) ||
	       compose_error(c, DIAG_UNKNOWN_SHAPE,
			     "dimension %d of '%s' must be known when the "
			     "code is generated; give it with --dim",
			     d, t->name);
}
