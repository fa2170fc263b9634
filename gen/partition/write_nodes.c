/* SPDX-License-Identifier: Apache-2.0 */
/* Writes nodes with all attributes and their origins. */
#include <stdlib.h>
#include <string.h>

#include "writing.h"

static bool
is_single(double v)
{
	return number_round(dtype_of(DT_F32), (union number){ .f = v }).f ==
		       v ||
	       v != v;
}

/* Writes n floats: as {"float": 0.1}, or a list {"floats": [0.1]}, if each is
 * the float32 nearest to its text; else as "double" or "doubles". */
static void
write_floats(struct writing *w, const double *v, int n, bool list)
{
	bool single = true;

	for (int i = 0; i < n; i++) {
		single = single && is_single(v[i]);
	}
	strbuf_printf(w->out, "{\"%s%s\": %s", single ? "float" : "double",
		      list ? "s" : "", list ? "[" : "");
	for (int i = 0; i < n; i++) {
		strbuf_puts(w->out, i > 0 ? ", " : "");
		json_put_float(w->out, dtype_of(single ? DT_F32 : DT_F64),
			       v[i]);
	}
	strbuf_puts(w->out, list ? "]}" : "}");
}

static void
write_string(struct writing *w, const char *s, size_t length)
{
	if (json_can_hold(s, length)) {
		json_put_text(w->out, s);
		return;
	}
	strbuf_puts(w->out, "{\"bytes\": \"");
	for (size_t i = 0; i < length; i++) {
		strbuf_printf(w->out, "%02x", (unsigned char)s[i]);
	}
	strbuf_puts(w->out, "\"}");
}

static bool
write_tensor_attr(struct writing *w, const struct attr *a)
{
	bool ok;

	strbuf_puts(w->out, "{\"tensor\": {\"type\": ");
	json_put_text(w->out, dtype_name(a->tensor->type));
	write_key(w, "shape");
	strbuf_putc(w->out, '[');
	for (int i = 0; i < a->tensor_ndim; i++) {
		strbuf_puts(w->out, i > 0 ? ", " : "");
		json_put_int(w->out, a->tensor_shape[i]);
	}
	strbuf_putc(w->out, ']');
	ok = write_value(w, a->tensor);
	strbuf_puts(w->out, "}}");
	return ok;
}

static bool
write_attr(struct writing *w, const struct node *n, const struct attr *a)
{
	bool text_form;

	switch (a->kind) {
	case ATTR_INT:
		/* an integer beyond 2^53 is a text in an object: a text alone
		 * would be a string attribute */
		text_form = a->i > JSON_EXACT || a->i < -JSON_EXACT;
		strbuf_puts(w->out, text_form ? "{\"int\": " : "");
		json_put_int(w->out, a->i);
		strbuf_puts(w->out, text_form ? "}" : "");
		return true;
	case ATTR_FLOAT:
		write_floats(w, &a->f, 1, false);
		return true;
	case ATTR_STRING:
		write_string(w, a->s, a->s_len);
		return true;
	case ATTR_INTS:
		strbuf_putc(w->out, '[');
		for (int i = 0; i < a->n; i++) {
			strbuf_puts(w->out, i > 0 ? ", " : "");
			json_put_int(w->out, a->ints[i]);
		}
		strbuf_putc(w->out, ']');
		return true;
	case ATTR_FLOATS:
		write_floats(w, a->floats, a->n, true);
		return true;
	case ATTR_STRINGS:
		strbuf_puts(w->out, "{\"strings\": [");
		for (int i = 0; i < a->n; i++) {
			strbuf_puts(w->out, i > 0 ? ", " : "");
			write_string(w, a->strings[i], strlen(a->strings[i]));
		}
		strbuf_puts(w->out, "]}");
		return true;
	case ATTR_TENSOR:
		return write_tensor_attr(w, a);
	case ATTR_GRAPH:
		break;
	}
	return diag_error(&w->m->diags, DIAG_UNSUPPORTED, node_place(w->g, n),
			  "its attribute '%s' is a graph, which a partition "
			  "cannot hold",
			  a->name);
}

/* -- origins -- */

/* -- nodes -- */

static bool
write_tensors(struct writing *w, const char *key, struct tensor *const *list,
	      int n)
{
	write_key(w, key);
	strbuf_putc(w->out, '[');
	for (int i = 0; i < n; i++) {
		strbuf_puts(w->out, i > 0 ? ", " : "");
		if (!write_text(w, list[i] ? list[i]->name : NULL)) {
			return false;
		}
	}
	strbuf_putc(w->out, ']');
	return true;
}

static bool
write_attrs(struct writing *w, const struct node *n)
{
	if (n->attrs.n == 0) {
		return true;
	}
	write_key(w, "attrs");
	strbuf_putc(w->out, '{');
	for (int i = 0; i < n->attrs.n; i++) {
		const struct attr *a = &n->attrs.data[i];

		strbuf_puts(w->out, i > 0 ? ", " : "");
		if (!write_text(w, a->name)) {
			return false;
		}
		strbuf_puts(w->out, ": ");
		if (!write_attr(w, n, a)) {
			return false;
		}
	}
	strbuf_putc(w->out, '}');
	return true;
}

bool
write_node(struct writing *w, const struct node *n)
{
	bool ok;

	strbuf_puts(w->out, "{\"op\": ");
	ok = write_text(w, n->op_type);
	if (ok && *n->domain != '\0') {
		write_key(w, "domain");
		ok = write_text(w, n->domain);
	}
	if (ok && *n->name != '\0') {
		write_key(w, "name");
		ok = write_text(w, n->name);
	}
	ok = ok && write_tensors(w, "inputs", n->inputs, n->n_inputs) &&
	     write_tensors(w, "outputs", n->outputs, n->n_outputs) &&
	     write_attrs(w, n);
	if (ok && n->origins.n > 0) {
		write_key(w, "origins");
		strbuf_putc(w->out, '[');
		for (int i = 0; i < n->origins.n; i++) {
			strbuf_puts(w->out, i > 0 ? ", " : "");
			write_origin_of(w, n->origins.data[i]);
		}
		strbuf_putc(w->out, ']');
	}
	strbuf_putc(w->out, '}');
	return ok;
}
