/* SPDX-License-Identifier: Apache-2.0 */
/* The memory of a model: places in the workspace, and weights. */
#include "provenance.h"
#include "rows.h"
#include "size_words.h"

static void
add_place(struct reporting *r, const struct placement *at, int number)
{
	struct tdata *row = tdata_item(r->data, "places");
	const struct kernel *from =
		at->tensor != NULL
			? package_writer(r->request->package, at->tensor)
			: at->scratch_of;

	tdata_int(row, "place", number);
	tdata_text(row, "name", package_pointer(at));
	tdata_text(row, "tensor",
		   at->tensor == NULL ? "scratch" : tensor_label(at->tensor));
	tdata_text(row, "kernel", from != NULL ? from->name : NULL);
	tdata_int(row, "offset", at->offset_bytes);
	tdata_int(row, "end", at->offset_bytes + at->bytes - 1);
	tdata_int(row, "bytes", at->bytes);
	tdata_int(row, "from_call", at->first < 0 ? 0 : at->first);
	tdata_int(row, "to_call", at->last);
}

static const char *
shape_of(struct reporting *r, const struct buffer *b)
{
	struct strbuf s;
	const char *text;

	strbuf_init(&s);
	for (int d = 0; d < b->ndim; d++) {
		strbuf_putc(&s, '[');
		size_words(b->shape[d], &s);
		strbuf_putc(&s, ']');
	}
	text = arena_strdup(r->a, s.data != NULL ? s.data : "");
	strbuf_release(&s);
	return text;
}

static void
add_weight(struct reporting *r, int i)
{
	const struct weight *w = r->p->weights.data[i];
	struct tdata *row = tdata_item(r->data, "weights");
	struct origin_list nodes = provenance_of_constant(r->a, w->tensor);

	tdata_int(row, "weight", i);
	tdata_text(row, "symbol",
		   package_weight_symbol(r->request->package, i));
	tdata_text(row, "type", dtype_name(w->buffer->type));
	tdata_text(row, "shape", shape_of(r, w->buffer));
	tdata_int(row, "offset", w->offset_bytes);
	tdata_int(row, "bytes", w->bytes);
	tdata_text(row, "recipe", provenance_recipe(r->a, w->tensor));
	tdata_text(row, "layout", provenance_index(r->p, w));
	tdata_text(row, "kernel", w->reader != NULL ? w->reader->name : NULL);
	tdata_printf(row, "digest", "%016llx",
		     (unsigned long long)r->finished.weight_digests[i]);
	add_origins(r, row, "folded", nodes.list.data, nodes.list.n);
}

void
add_memory(struct reporting *r)
{
	const struct memory_plan *plan = &r->p->plan;

	tdata_int(r->data, "workspace_bytes", plan->workspace_bytes);
	tdata_int(r->data, "bound_bytes", plan->bound_bytes);
	tdata_text(r->data, "strategy", plan->strategy);
	tdata_int(r->data, "workspace_align",
		  package_workspace_align(r->request->package));
	tdata_list(r->data, "places");
	for (int i = 0; i < plan->named.n; i++) {
		add_place(r, &plan->places.data[plan->named.data[i]], i);
	}
	tdata_int(r->data, "weights_bytes", r->request->package->weights_bytes);
	tdata_list(r->data, "weights");
	for (int i = 0; i < r->p->weights.n; i++) {
		add_weight(r, i);
	}
}
