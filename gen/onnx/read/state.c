/* SPDX-License-Identifier: Apache-2.0 */
/* The parts of the import's state that all its files use: values of tensors,
 * sequences, and which nodes are done. */
#include "importer.h"
#include "ops.h"

static void
import_set_shape(struct importer *imp, struct tensor *t, int ndim,
		 const int64_t *dims)
{
	t->ndim = ndim;
	t->shape = arena_exprs(&imp->m->arena, ndim + 1);
	for (int i = 0; i < ndim; i++) {
		t->shape[i] = expr_index(imp->m, dims[i]);
	}
}

void
import_set_value(struct importer *imp, struct tensor *t,
		 const struct tensor_content *c)
{
	t->type = c->value->type;
	t->typed = true;
	t->value = c->value;
	t->is_string = c->is_string;
	import_set_shape(imp, t, c->ndim, c->shape);
}

bool
import_initializers(struct importer *imp, struct body *body,
		    const Onnx__GraphProto *graph)
{
	for (size_t i = 0; i < graph->n_initializer; i++) {
		const Onnx__TensorProto *p = graph->initializer[i];
		const char *name = p->name ? p->name : "";
		const char *item = arena_printf(&imp->tmp, "initializer %s",
						import_quote(&imp->tmp, name));
		struct tensor_content c;

		if (!*name || scope_find(&body->scope, name)) {
			return diag_error(
				&imp->m->diags,
				*name ? DIAG_DUPLICATE_TENSOR : DIAG_BAD_MODEL,
				import_place(imp, item),
				*name ? "two initializers have this name; "
					"rename one"
				      : "it has no name; export the model again");
		}
		if (!tensor_read(&imp->source, p, item, &c)) {
			return false;
		}
		struct tensor *t = graph_tensor(imp->g,
						arena_printf(&imp->tmp, "%s%s",
							     body->prefix,
							     name));

		t->model_name = arena_strdup(&imp->m->arena, name);
		import_set_value(imp, t, &c);
		scope_add(&body->scope, name, t);
	}
	if (graph->n_sparse_initializer > 0) {
		return diag_error(&imp->m->diags, DIAG_UNSUPPORTED,
				  import_place(imp, NULL),
				  "sparse initializers are not "
				  "supported; make them dense");
	}
	return true;
}

static void *
allocate(void *arena, size_t size)
{
	return arena_alloc(arena, size);
}

static void
release(void *arena, void *pointer)
{
	(void)arena;
	(void)pointer;
}

ProtobufCAllocator
import_allocator(struct arena *a)
{
	return (ProtobufCAllocator){ allocate, release, a };
}

void
import_assume(struct importer *imp, const char *text)
{
	graph_assume(imp->g, text);
}

void
import_note_inferred(struct importer *imp, const struct node *n)
{
	while (imp->inferred.n <= n->id) {
		vec_push(&imp->tmp, &imp->inferred, false);
	}
	while (imp->versions.n <= n->id) {
		vec_push(&imp->tmp, &imp->versions, GRAPH_CANONICAL_OPSET);
	}
	imp->inferred.data[n->id] = true;
}

/* The operator of a deferred node until other nodes replace it. */
const struct op deferred_op = {
	.name = "deferred",
	.domain = "tirc",
	.max_inputs = -1,
	.max_outputs = -1,
};

bool
is_deferred(const struct node *n)
{
	return n->op == &deferred_op;
}
