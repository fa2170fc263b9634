/* SPDX-License-Identifier: Apache-2.0 */
/* Rows of <model>.json: places in the workspace, weights, functions, kernels
 * with the functions that they call, their arguments and nodes, and the nodes
 * of the model. */
#include <cjson/cJSON.h>

#include "packer.h"
#include "plan.h"
#include "provenance.h"

static void
put_number(cJSON *object, const char *key, double v)
{
	cJSON_AddNumberToObject(object, key, v);
}

static void
add_text(cJSON *list, const char *text)
{
	cJSON_AddItemToArray(list, cJSON_CreateString(text));
}

static void
add_unless_empty(cJSON *object, const char *key, cJSON *list)
{
	if (cJSON_GetArraySize(list) > 0) {
		cJSON_AddItemToObject(object, key, list);
	} else {
		cJSON_Delete(list);
	}
}

/* -- the workspace -- */

static cJSON *
place_row(struct packer *k, const struct placement *at)
{
	cJSON *object = cJSON_CreateObject();

	metadata_text(object, "name", place_name(at));
	if (at->tensor != NULL) {
		const struct kernel *from = writer_of(k, at->tensor);

		metadata_text(object, "tensor", at->tensor->model_name);
		metadata_text(object, "kernel",
			      from != NULL ? from->name : NULL);
	} else {
		metadata_text(object, "scratch_of", at->scratch_of->name);
	}
	put_number(object, "offset", (double)at->offset_bytes);
	put_number(object, "bytes", (double)at->bytes);
	put_number(object, "first_call", at->first < 0 ? 0 : at->first);
	put_number(object, "last_call", at->last);
	return object;
}

cJSON *
metadata_places(struct packer *k)
{
	const struct memory_plan *plan = &k->p->plan;
	cJSON *list = cJSON_CreateArray();

	for (int i = 0; i < plan->named.n; i++) {
		cJSON_AddItemToArray(list,
				     place_row(k,
					       &plan->places.data
							[plan->named.data[i]]));
	}
	return list;
}

/* -- weights -- */

/* A list of nodes as their keys. */
static cJSON *
nodes_json(struct packer *k, const struct origin_list *l)
{
	cJSON *list = cJSON_CreateArray();

	for (int i = 0; i < l->list.n; i++) {
		add_text(list, origin_key(k->g, l->list.data[i]));
	}
	return list;
}

/* Adds to a constant's object how the constant was made: the model's constants
 * and the formula from which it is computed, and the nodes that were folded
 * into it. */
static void
put_maker(struct packer *k, cJSON *object, const struct weight *w)
{
	struct constant_sources sources = provenance_sources(k->a, w->tensor);
	struct origin_list nodes = provenance_of_constant(k->a, w->tensor);
	cJSON *from = cJSON_CreateArray();

	for (int i = 0; i < sources.names.n; i++) {
		add_text(from, sources.names.data[i]);
	}
	cJSON_AddItemToObject(object, "from", from);
	metadata_text(object, "recipe", provenance_recipe(k->a, w->tensor));
	metadata_text(object, "element", provenance_index(k->p, w));
	add_unless_empty(object, "nodes", nodes_json(k, &nodes));
}

void
metadata_weights(struct packer *k, struct strbuf *s, struct anchors *anchors)
{
	int64_t end = 0;

	if (k->p->weights.n == 0) {
		metadata_member(s, "weights", cJSON_CreateArray(), true, false);
		return;
	}
	strbuf_puts(s, "\t\"weights\": [\n");
	for (int i = 0; i < k->p->weights.n; i++) {
		const struct weight *w = k->p->weights.data[i];
		cJSON *object = cJSON_CreateObject();

		metadata_text(object, "symbol", k->weight_symbols[i]);
		metadata_text(object, "dtype", dtype_name(w->buffer->type));
		cJSON_AddItemToObject(object, "shape",
				      metadata_shape(k, w->buffer->ndim,
						     w->buffer->shape));
		/* "skip" counts from the end of the previous weight, so that a
		 * changed size changes only one line. */
		put_number(object, "skip", (double)(w->offset_bytes - end));
		put_number(object, "bytes", (double)w->bytes);
		end = w->offset_bytes + w->bytes;
		put_maker(k, object, w);
		/* The digest is put in later, because this text is made before
		 * the weights are written; an anchor marks its place. */
		strbuf_puts(s, "\t\t");
		metadata_digested(s, object, i + 1 == k->p->weights.n, anchors,
				  ANCHOR_WEIGHT_DIGEST, i);
	}
	strbuf_puts(s, "\t],\n");
}

/* -- functions, kernels, calls -- */

cJSON *
metadata_functions(struct packer *k)
{
	cJSON *list = cJSON_CreateArray();

	for (int i = 0; i < k->p->kernels.n; i++) {
		const struct kernel *kernel = k->p->kernels.data[i];
		cJSON *object, *callers;

		if (kernel->owner != kernel) {
			continue;
		}
		object = cJSON_CreateObject();
		callers = cJSON_CreateArray();
		metadata_text(object, "name", kernel->func->name);
		metadata_text(object, "file", k->kernel_places[i].file);
		put_number(object, "line", k->kernel_places[i].line);
		put_number(object, "last", k->kernel_places[i].last);
		for (int c = 0; c < kernel->callers.n; c++) {
			add_text(callers, kernel->callers.data[c]->name);
		}
		cJSON_AddItemToObject(object, "kernels", callers);
		cJSON_AddItemToArray(list, object);
	}
	return list;
}

cJSON *
metadata_kernels(struct packer *k)
{
	cJSON *list = cJSON_CreateArray();

	for (int i = 0; i < k->p->kernels.n; i++) {
		const struct kernel *kernel = k->p->kernels.data[i];
		cJSON *object = cJSON_CreateObject();
		cJSON *ops = cJSON_CreateArray();

		metadata_text(object, "name", kernel->name);
		metadata_text(object, "function", kernel->func->name);
		metadata_text(object, "title", kernel->title);
		metadata_text(object, "schedule", kernel->schedule);
		if (kernel->group->region != NULL) {
			metadata_text(object, "backend",
				      kernel->group->region->backend->name);
		}
		for (int n = 0; n < kernel->group->nodes.n; n++) {
			add_text(ops, kernel->group->nodes.data[n]->op_type);
		}
		cJSON_AddItemToObject(object, "operators", ops);
		put_number(object, "flops", kernel->flops);
		put_number(object, "operations",
			   kernel->flops + kernel->int_ops);
		if (kernel->counts_vary) {
			cJSON_AddTrueToObject(object, "operations_vary");
		}
		put_number(object, "macs", (double)kernel->macs);
		put_number(object, "read_bytes", (double)kernel->read_bytes);
		put_number(object, "write_bytes", (double)kernel->write_bytes);
		put_number(object, "local_array_bytes",
			   (double)kernel->local_bytes);
		put_number(object, "scratch_bytes",
			   (double)kernel_scratch_bytes(kernel));
		cJSON_AddItemToArray(list, object);
	}
	return list;
}

const char *
weight_symbol(const struct packer *k, const struct weight *w)
{
	return w->index < k->p->weights.n && k->p->weights.data[w->index] == w
		       ? k->weight_symbols[w->index]
		       : "";
}

static void
put_tensor(struct packer *k, cJSON *object, const struct tensor *t)
{
	const struct placement *at = plan_find(&k->p->plan, t);

	metadata_text(object, "tensor", t->model_name);
	if (at != NULL && at->root != NULL &&
	    (at->kind == PLACE_INPUT || at->kind == PLACE_OUTPUT)) {
		metadata_text(object,
			      at->kind == PLACE_INPUT ? "input" : "output",
			      tensor_label(at->root));
	} else if (at != NULL && at->kind == PLACE_WORKSPACE) {
		metadata_text(object, "workspace", place_name(at));
	}
}

static cJSON *
arg_json(struct packer *k, const struct kernel *kernel,
	 const struct kernel_arg *arg)
{
	cJSON *object = cJSON_CreateObject();

	metadata_text(object, "parameter",
		      arg->buffer != NULL ? arg->buffer->name : arg->var->name);
	switch (arg->kind) {
	case ARG_TENSOR:
		metadata_text(object, "access",
			      !arg->written           ? "read"
			      : arg->in_place != NULL ? "update"
						      : "write");
		put_tensor(k, object, arg->tensor);
		break;
	case ARG_WEIGHT:
		metadata_text(object, "weight", weight_symbol(k, arg->weight));
		break;
	case ARG_SCRATCH:
		metadata_text(object, "workspace",
			      place_name(plan_find_scratch(&k->p->plan, kernel,
							   arg->buffer)));
		break;
	case ARG_DIM:
		metadata_text(object, "size", arg->var->name);
		break;
	}
	return object;
}

cJSON *
metadata_calls(struct packer *k)
{
	cJSON *list = cJSON_CreateArray();

	for (int i = 0; i < k->p->kernels.n; i++) {
		const struct kernel *kernel = k->p->kernels.data[i];
		struct origin_list computed = provenance_computed(k->p, kernel);
		struct origin_list folded = provenance_folded(k->p, kernel);
		cJSON *object = cJSON_CreateObject();
		cJSON *args = cJSON_CreateArray();

		put_number(object, "call", i);
		metadata_text(object, "kernel", kernel->name);
		cJSON_AddItemToObject(object, "nodes",
				      nodes_json(k, &computed));
		add_unless_empty(object, "folded", nodes_json(k, &folded));
		for (int a = 0; a < kernel->args.n; a++) {
			cJSON_AddItemToArray(args,
					     arg_json(k, kernel,
						      &kernel->args.data[a]));
		}
		cJSON_AddItemToObject(object, "arguments", args);
		cJSON_AddItemToArray(list, object);
	}
	return list;
}

/* -- the model's nodes -- */

static cJSON *
node_row(struct packer *k, int origin, const struct node_fate *fate)
{
	const struct origin *from = &k->g->origins.data[origin];
	cJSON *object = cJSON_CreateObject();
	cJSON *kernels = cJSON_CreateArray(), *weights = cJSON_CreateArray();
	cJSON *folded = cJSON_CreateArray();

	metadata_text(object, "id", origin_key(k->g, origin));
	if (from->within >= 0) {
		metadata_text(object, "in", origin_key(k->g, from->within));
	}
	metadata_text(object, "node", from->name);
	metadata_text(object, "op", from->op_type);
	metadata_text(object, "output", from->output);
	for (int i = 0; i < fate->kernels.n; i++) {
		add_text(kernels, fate->kernels.data[i]->name);
	}
	cJSON_AddItemToObject(object, "kernels", kernels);
	for (int i = 0; i < fate->folded.n; i++) {
		add_text(folded, fate->folded.data[i]->name);
	}
	add_unless_empty(object, "folded_into", folded);
	for (int i = 0; i < fate->weights.n; i++) {
		add_text(weights, weight_symbol(k, fate->weights.data[i]));
	}
	add_unless_empty(object, "weights", weights);
	metadata_text(object, "pass", fate->pass);
	metadata_text(object, "why", fate->why);
	return object;
}

const struct node_fate *
packer_fates(struct packer *k)
{
	if (k->fates == NULL) {
		k->fates = provenance_fates(k->p);
	}
	return k->fates;
}

/* Appends one row after the other to s, because a JSON tree of all rows would
 * need more memory than their text. */
void
metadata_trace(struct packer *k, struct strbuf *s)
{
	const struct node_fate *fates = packer_fates(k);
	int n = k->g->origins.n;

	if (n == 0) {
		metadata_member(s, "trace", cJSON_CreateArray(), true, true);
		return;
	}
	strbuf_puts(s, "\t\"trace\": [\n");
	for (int i = 0; i < n; i++) {
		metadata_row(s, node_row(k, i, &fates[i]), i + 1 == n);
	}
	strbuf_puts(s, "\t]\n");
}
