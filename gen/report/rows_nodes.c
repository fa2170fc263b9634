/* SPDX-License-Identifier: Apache-2.0 */
/* The nodes of the model with their fates, and the attributes of the nodes that
 * kernels compute. */
#include "provenance.h"
#include "rows.h"

/* The most elements of a list in an attribute's text. If there are more, the
 * text ends with their number. */
enum { SHOWN_ELEMENTS = 32 };

static const char *
name_or_empty(const char *name)
{
	return name != NULL ? name : "";
}

void
add_origins(struct reporting *r, struct tdata *data, const char *key,
	    const int *list, int n)
{
	tdata_list(data, key);
	for (int i = 0; i < n; i++) {
		const struct origin *o = &r->g->origins.data[list[i]];
		struct tdata *row = tdata_item(data, key);

		tdata_int(row, "index", list[i]);
		tdata_text(row, "node", origin_label(r->g, list[i]));
		tdata_text(row, "op", o->op_type);
		tdata_text(row, "output", name_or_empty(o->output));
	}
}

static void
put_elements(struct strbuf *s, const struct attr *x)
{
	int n = x->n < SHOWN_ELEMENTS ? x->n : SHOWN_ELEMENTS;

	for (int i = 0; i < n; i++) {
		if (x->kind == ATTR_INTS) {
			strbuf_printf(s, " %lld", (long long)x->ints[i]);
		} else if (x->kind == ATTR_FLOATS) {
			strbuf_printf(s, " %.9g", x->floats[i]);
		} else {
			strbuf_printf(s, " \"%s\"", x->strings[i]);
		}
	}
	if (n < x->n) {
		strbuf_printf(s, " … (%d in all)", x->n);
	}
}

static void
put_attribute(struct strbuf *s, const struct attr *x)
{
	strbuf_puts(s, x->name);
	switch (x->kind) {
	case ATTR_INT:
		strbuf_printf(s, " %lld", (long long)x->i);
		break;
	case ATTR_FLOAT:
		strbuf_printf(s, " %.9g", x->f);
		break;
	case ATTR_STRING:
		strbuf_printf(s, " \"%.*s\"", (int)x->s_len, x->s);
		break;
	case ATTR_INTS:
	case ATTR_FLOATS:
	case ATTR_STRINGS:
		put_elements(s, x);
		break;
	case ATTR_TENSOR:
		strbuf_printf(s, " a tensor of %lld %s elements",
			      x->tensor != NULL ? (long long)x->tensor->elems
						: 0ll,
			      x->tensor != NULL ? dtype_name(x->tensor->type)
						: "");
		break;
	case ATTR_GRAPH:
		strbuf_puts(s, " a graph");
		break;
	}
}

const char *
attributes_text(struct reporting *r, const struct node *n)
{
	struct strbuf s;
	const char *text;

	strbuf_init(&s);
	for (int i = 0; i < n->attrs.n; i++) {
		strbuf_puts(&s, i > 0 ? ", " : "");
		put_attribute(&s, &n->attrs.data[i]);
	}
	text = arena_strdup(r->a, s.data != NULL ? s.data : "");
	strbuf_release(&s);
	return text;
}

static void
add_kernels_of(struct reporting *r, struct tdata *row, const char *key,
	       const struct kernel *const *list, int n)
{
	tdata_list(row, key);
	for (int i = 0; i < n; i++) {
		tdata_text(tdata_item(row, key), "kernel", list[i]->name);
	}
	(void)r;
}

void
add_nodes(struct reporting *r)
{
	const struct node_fate *fates = package_fates(r->request->package);

	tdata_list(r->data, "nodes");
	for (int i = 0; i < r->g->origins.n; i++) {
		const struct origin *o = &r->g->origins.data[i];
		const struct node_fate *f = &fates[i];
		struct tdata *row = tdata_item(r->data, "nodes");

		tdata_int(row, "index", i);
		tdata_text(row, "node", name_or_empty(o->name));
		tdata_text(row, "op", o->op_type);
		tdata_text(row, "output", name_or_empty(o->output));
		add_kernels_of(r, row, "computed", f->kernels.data,
			       f->kernels.n);
		add_kernels_of(r, row, "folded", f->folded.data, f->folded.n);
		tdata_text(row, "pass", f->pass);
		tdata_text(row, "why", f->why);
	}
}
