/* SPDX-License-Identifier: Apache-2.0 */
/* Makes <model>.json: inputs and outputs, sizes, the memory plan, kernels,
 * files, flags, and the kernel or the constant that each node of the model
 * became. Each tensor, place, weight, kernel, call and node has a line of its
 * own, so that two files can be compared line by line. */
#include <cjson/cJSON.h>
#include <string.h>

#include "json_put.h"
#include "kernel.h"
#include "package.h"
#include "packer.h"
#include "plan.h"
#include "quantization.h"
#include "size_words.h"

void
metadata_text(cJSON *object, const char *key, const char *text)
{
	if (text != NULL) {
		cJSON_AddStringToObject(object, key, (text));
	}
}

static void
put_number(cJSON *object, const char *key, double v)
{
	cJSON_AddNumberToObject(object, key, v);
}

cJSON *
metadata_shape(struct packer *k, int ndim, const struct expr *const *shape)
{
	cJSON *list = cJSON_CreateArray();
	int64_t v;

	for (int i = 0; i < ndim; i++) {
		if (expr_is_int(shape[i], &v)) {
			cJSON_AddItemToArray(list,
					     cJSON_CreateNumber((double)v));
		} else {
			struct strbuf s;

			strbuf_init(&s);
			size_words(graph_given_size(k->g, shape[i]), &s);
			cJSON_AddItemToArray(list, cJSON_CreateString(s.data));
			strbuf_release(&s);
		}
	}
	return list;
}

/* Lists the dimensions of an input whose sizes are assumed, if it has such. */
static void
put_assumed(cJSON *object, const struct tensor *t)
{
	cJSON *list = t->assumed_dims != 0
			      ? cJSON_AddArrayToObject(object, "assumed")
			      : NULL;

	for (int d = 0; list != NULL && d < t->ndim; d++) {
		if ((t->assumed_dims >> d & 1) != 0) {
			cJSON_AddItemToArray(list, cJSON_CreateNumber(d));
		}
	}
}

static cJSON *
tensor_json(struct packer *k, const struct tensor *t, const char *field)
{
	cJSON *object = cJSON_CreateObject();
	int64_t elems;

	metadata_text(object, "name", t->name);
	metadata_text(object, "field", field);
	metadata_text(object, "dtype", dtype_name(t->type));
	cJSON_AddItemToObject(object, "shape",
			      metadata_shape(k, t->ndim, t->shape));
	put_assumed(object, t);
	if (tensor_max_elems(t, &elems)) {
		put_number(object, "max_elements", (double)elems);
	}
	if (t->reals != NULL) {
		put_number(object, "scale", t->reals->scale);
		put_number(object, "zero_point", (double)t->reals->zero_point);
	}
	if (t->in_workspace) {
		put_number(object, "workspace_offset",
			   (double)plan_find(&k->p->plan, t)->offset_bytes);
	}
	return object;
}

static cJSON *
dims_json(struct packer *k)
{
	cJSON *list = cJSON_CreateArray();

	for (int i = 0; i < k->g->dims.n; i++) {
		const struct dim_step s = graph_given_dim(k->g,
							  k->g->dims.data[i]);
		const struct var *v = s.given;
		cJSON *object = cJSON_CreateObject();

		metadata_text(object, "name", v->name);
		metadata_text(object, "field", k->dim_fields[i]);
		put_number(object, "min", (double)v->min);
		put_number(object, "max", (double)v->max);
		if (s.step > 1) {
			put_number(object, "multiple_of", (double)s.step);
		}
		cJSON_AddItemToArray(list, object);
	}
	return list;
}

static cJSON *
memory_json(struct packer *k)
{
	const struct memory_plan *plan = &k->p->plan;
	cJSON *object = cJSON_CreateObject();

	put_number(object, "workspace_bytes", (double)plan->workspace_bytes);
	put_number(object, "workspace_align",
		   (double)(k->p->model != NULL ? workspace_align(k)
						: plan->align_bytes));
	put_number(object, "bound_bytes", (double)plan->bound_bytes);
	put_number(object, "ratio",
		   plan->bound_bytes > 0 ? (double)plan->workspace_bytes /
						   (double)plan->bound_bytes
					 : 1.0);
	metadata_text(object, "strategy", plan->strategy);
	put_number(object, "local_array_bytes", (double)k->local_bytes);
	put_number(object, "weights_bytes", (double)k->out->weights_bytes);
	return object;
}

/* -- lines -- */

static void
put_line(struct strbuf *s, const char *indent, cJSON *value, bool last)
{
	strbuf_puts(s, indent);
	json_put(s, value, false);
	strbuf_puts(s, last ? "\n" : ",\n");
}

void
metadata_digested(struct strbuf *s, cJSON *object, bool last,
		  struct anchors *anchors, enum package_anchor kind, int index)
{
	json_put(s, object, false);
	s->len--; /* removes the closing brace */
	strbuf_puts(s, ",\"digest\":\"");
	anchors_add(anchors, kind, index, s->len);
	strbuf_printf(s, "%s\"}%s\n", DIGEST_UNKNOWN, last ? "" : ",");
	cJSON_Delete(object);
}

void
metadata_row(struct strbuf *s, cJSON *row, bool last)
{
	put_line(s, "\t\t", row, last);
	cJSON_Delete(row);
}

/* Appends "key": value on one line, or with a line for each item. */
void
metadata_member(struct strbuf *s, const char *key, cJSON *value, bool by_item,
		bool last)
{
	strbuf_printf(s, "\t\"%s\": ", key);
	if (!by_item || cJSON_GetArraySize(value) == 0) {
		put_line(s, "", value, last);
	} else {
		cJSON *item;

		strbuf_puts(s, "[\n");
		cJSON_ArrayForEach(item, value)
		{
			put_line(s, "\t\t", item, item->next == NULL);
		}
		strbuf_printf(s, "\t]%s\n", last ? "" : ",");
	}
	cJSON_Delete(value);
}

static void
put_io(struct packer *k, struct strbuf *s)
{
	cJSON *in = cJSON_CreateArray();
	cJSON *out = cJSON_CreateArray();
	cJSON *kept = cJSON_CreateArray();

	for (int i = 0; i < k->g->inputs.n; i++) {
		cJSON_AddItemToArray(in, tensor_json(k, k->g->inputs.data[i],
						     k->input_fields[i]));
	}
	for (int i = 0; i < k->g->outputs.n; i++) {
		cJSON_AddItemToArray(out, tensor_json(k, k->g->outputs.data[i],
						      k->output_fields[i]));
	}
	metadata_member(s, "inputs", in, true, false);
	metadata_member(s, "outputs", out, true, false);
	for (int i = 0; i < k->g->states.n; i++) {
		const struct graph_state *state = &k->g->states.data[i];

		cJSON_AddItemToArray(kept,
				     tensor_json(k, state->before,
						 tensor_label(state->before)));
	}
	if (k->g->states.n > 0) {
		metadata_member(s, "states", kept, true, false);
	} else {
		cJSON_Delete(kept);
	}
}

static cJSON *
files_json(struct packer *k)
{
	cJSON *list = cJSON_CreateArray();

	for (int i = 0; i < k->out->files.n; i++) {
		cJSON_AddItemToArray(list, cJSON_CreateString(
						   k->out->files.data[i].name));
	}
	cJSON_AddItemToArray(list, cJSON_CreateString(k->files[FILE_METADATA]));
	return list;
}

static cJSON *
props_json(const struct packer *k)
{
	cJSON *all = cJSON_CreateObject();

	for (int i = 0; i < k->g->props.n; i++) {
		const struct model_prop *p = &k->g->props.data[i];

		cJSON_AddItemToObject(all, p->key,
				      cJSON_CreateString(p->value));
	}
	return all;
}

/* The options that differ from their defaults and that no other member states: a
 * member for each, by its name without "--". */
static cJSON *
options_json(const struct packer *k)
{
	cJSON *all = cJSON_CreateObject();

	for (int i = 0; i < k->o->n_shaping; i++) {
		const struct shaping_option *o = &k->o->shaping[i];

		if ((o->places & SHAPING_IN_METADATA) == 0 ||
		    o->n_values == 0) {
			continue;
		}
		cJSON_AddItemToObject(
			all, o->name + strlen("--"),
			o->is_list ? cJSON_CreateStringArray(o->values,
							     o->n_values)
				   : cJSON_CreateString(o->values[0]));
	}
	return all;
}

void
add_metadata(struct packer *k)
{
	static const char *const forms[] = {
		"none", "c", "incbin", "file", "section",
	};
	cJSON *assumptions = cJSON_CreateArray();
	struct anchors anchors = { .arena = k->a };
	struct strbuf s;

	for (int i = 0; i < k->g->assumptions.n; i++) {
		cJSON_AddItemToArray(assumptions,
				     cJSON_CreateString(
					     k->g->assumptions.data[i]));
	}
	strbuf_init(&s);
	strbuf_putc(&s, '{');
	strbuf_putc(&s, '\n');
	metadata_member(&s, "license", cJSON_CreateString("MIT-0"), false,
			false);
	metadata_member(&s, "model", cJSON_CreateString(k->model), false,
			false);
	metadata_member(&s, "generator",
			cJSON_CreateString(
				arena_printf(k->a, "tirc %s", k->o->version)),
			false, false);
	metadata_member(&s, "digest",
			cJSON_CreateString(k->g->digest != NULL ? k->g->digest
								: ""),
			false, false);
	metadata_member(&s, "target", cJSON_CreateString(k->p->target->name),
			false, false);
	metadata_member(&s, "dialect", cJSON_CreateString(k->d->name), false,
			false);
	metadata_member(&s, "optimize", cJSON_CreateString(k->p->target->goal),
			false, false);
	metadata_member(&s, "fp", cJSON_CreateString(k->p->target->fp), false,
			false);
	if (graph_rounding(k->g) != NULL) {
		metadata_member(&s, "requant",
				cJSON_CreateString(graph_rounding(k->g)), false,
				false);
	}
	metadata_member(&s, "options", options_json(k), false, false);
	if (k->p->traced) {
		metadata_member(&s, "traced", cJSON_CreateTrue(), false, false);
	}
	metadata_member(&s, "cc", cJSON_CreateString(k->out->cc_line), false,
			false);
	if (k->backends.n > 0) {
		metadata_member(&s, "libraries",
				cJSON_CreateString(k->library_ldflags), false,
				false);
	}
	metadata_member(&s, "files", files_json(k), false, false);
	metadata_member(&s, "assumptions", assumptions, true, false);
	if (k->g->props.n > 0) {
		metadata_member(&s, "metadata_props", props_json(k), false,
				false);
	}
	put_io(k, &s);
	metadata_member(&s, "dims", dims_json(k), true, false);
	metadata_member(&s, "memory", memory_json(k), false, false);
	metadata_member(&s, "workspace", metadata_places(k), true, false);
	metadata_member(&s, "weights_form",
			cJSON_CreateString(forms[k->out->weights]), false,
			false);
	metadata_weights(k, &s, &anchors);
	metadata_member(&s, "functions", metadata_functions(k), true, false);
	metadata_member(&s, "kernels", metadata_kernels(k), true, false);
	metadata_member(&s, "calls", metadata_calls(k), true, false);
	metadata_trace(k, &s);
	strbuf_puts(&s, "}\n");
	add_file(k, FILE_METADATA, OUT_TEXT, s.data, &anchors);
	strbuf_release(&s);
}
