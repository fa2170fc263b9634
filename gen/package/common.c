/* SPDX-License-Identifier: Apache-2.0 */
/* Adds the data that all templates may use. */
#include "comment_text.h"
#include "packer.h"
#include "plan.h"
#include "quantization.h"

static const char *
file_part(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash != NULL ? slash + 1 : path;
}

static void
add_origin(struct packer *k)
{
	const char *file = k->g->model != NULL  ? k->g->model
			   : k->g->file != NULL ? file_part(k->g->file)
						: "a graph";
	const char *digest = k->g->digest != NULL && k->g->digest[0] != '\0'
				     ? arena_printf(k->a, " (sha256 %.16s...)",
						    k->g->digest)
				     : "";

	tdata_text(k->data, "origin",
		   comment_origin(k->a, k->d,
				  arena_printf(k->a, "%s%s", file, digest),
				  k->o->version, k->p->target->name));
}

/* Adds to the list "refused" the branches of an If that a run must not take,
 * because their shapes are impossible (gen/onnx/flow/impossible.c). */
static void
add_refused(struct packer *k, struct tdata *d)
{
	tdata_list(d, "refused");
	for (int i = 0; i < k->g->nodes.n; i++) {
		const struct node *n = k->g->nodes.data[i];
		const struct attr *a = node_attr(n, "refused");

		if (node_run_sizes(n) >= 0 && a != NULL &&
		    a->kind == ATTR_STRING) {
			tdata_text(tdata_item(d, "refused"), "branch",
				   comment_text(k->a, k->d, a->s));
		}
	}
}

/* The options for the first comment, "--precision bf16 --conv direct"; NULL: all that
 * it shows have their defaults. */
static const char *
options_comment(struct packer *k)
{
	const char *text = NULL;

	for (int i = 0; i < k->o->n_shaping; i++) {
		const struct shaping_option *o = &k->o->shaping[i];

		for (int v = 0;
		     (o->places & SHAPING_IN_COMMENT) != 0 && v < o->n_values;
		     v++) {
			text = arena_printf(k->a, "%s%s%s %s",
					    text != NULL ? text : "",
					    text != NULL ? " " : "", o->name,
					    o->values[v]);
		}
	}
	return text != NULL ? comment_flags(k->a, k->d, text) : NULL;
}

void
add_common(struct packer *k)
{
	struct tdata *d = k->data;
	bool file = k->out->weights == WEIGHTS_FILE;
	int octets = k->d->char_bits / 8; /* the number of octets, bytes of 8
					   * bits, in a char */

	for (int i = 0; i < k->p->kernels.n; i++) {
		int64_t bytes = k->p->kernels.data[i]->local_bytes;

		k->local_bytes = bytes > k->local_bytes ? bytes
							: k->local_bytes;
	}
	package_find_array_align(k);
	tdata_int(d, "local_bytes", k->local_bytes / octets);
	tdata_flag(d, "octets", octets == 1);
	tdata_int(d, "int_bits", k->d->int_bits);
	tdata_text(d, "float_type", k->d->types[DT_F32].spelling);
	tdata_text(d, "model", k->model);
	tdata_flag(d, "traced", k->p->traced);
	tdata_text(d, "rounding", graph_rounding(k->g));
	tdata_text(d, "flags", comment_flags(k->a, k->d, k->cflags));
	tdata_text(d, "options", options_comment(k));
	tdata_text(d, "link_libraries",
		   comment_text(k->a, k->d, k->library_ldflags));
	tdata_text(d, "MODEL", k->upper);
	add_origin(k);
	tdata_text(d, "unit", k->d->access.unit);
	tdata_text(d, "workspace_space", k->d->spaces[SPACE_WORKSPACE]);
	tdata_text(d, "interface_space", k->d->spaces[SPACE_INTERFACE]);
	tdata_int(d, "workspace_bytes", k->p->plan.workspace_bytes / octets);
	tdata_int(d, "bound_bytes", k->p->plan.bound_bytes / octets);
	tdata_int(d, "weights_bytes", k->out->weights_bytes / octets);
	tdata_int(d, "blob_bytes", k->blob_bytes);
	tdata_int(d, "align", workspace_align(k) / octets);
	tdata_int(d, "weights_align", k->p->target->align_bytes);
	tdata_text(d, "header", k->files[FILE_HEADER]);
	tdata_text(d, "blob", k->files[FILE_BLOB]);
	tdata_text(d, "graph_file", k->files[FILE_GRAPH]);
	tdata_text(d, "compliance", k->files[FILE_COMPLIANCE]);
	tdata_flag(d, "file", file);
	tdata_flag(d, "graph", k->o->graph);
	tdata_flag(d, "tasks", k->d->tasks.used);
	if (package_on_device(k)) {
		add_device_counts(k);
	}
	tdata_flag(d, "weighs", k->p->weights.n > 0);
	tdata_flag(d, "workspace", k->p->plan.workspace_bytes > 0);
	tdata_flag(d, "has_dims", k->g->dims.n > 0 || k->p->bad_size != NULL);
	regions_common(k, d);
	tdata_int(d, "order_offset", BLOB_ORDER_OFFSET);
	tdata_int(d, "digest_offset", BLOB_DIGEST_OFFSET);
	tdata_int(d, "values_offset", BLOB_HEADER_BYTES);
	tdata_printf(d, "digest_start", "%016llx", BLOB_DIGEST_START);
	tdata_printf(d, "digest_factor", "%016llx", BLOB_DIGEST_FACTOR);
	tdata_anchored(d, "digest", DIGEST_UNKNOWN, ANCHOR_WEIGHTS_DIGEST, 0,
		       0);
	tdata_text(d, "open", TEXT_OPEN);
	tdata_text(d, "close", TEXT_CLOSE);
	tdata_text(d, "br", TEXT_SPACE);
	tdata_text(d, "weights_header",
		   weights_have_header(k) ? k->files[FILE_WEIGHTS_HEADER]
					  : NULL);
	tdata_list(d, "parts");
	for (int i = 0; i < k->p->plan.parts.n; i++) {
		const struct workspace_part *part = &k->p->plan.parts.data[i];
		struct tdata *row = tdata_item(d, "parts");

		tdata_text(row, "type", k->d->types[part->type.kind].spelling);
		tdata_text(row, "name", dialect_arena_name(k->d, part->type));
		tdata_int(row, "elements", part->elems);
	}
	tdata_list(d, "dims");
	for (int i = 0; i < k->g->dims.n; i++) {
		struct dim_step given = graph_given_dim(k->g,
							k->g->dims.data[i]);
		const struct var *v = given.given;
		struct tdata *row = tdata_item(d, "dims");

		tdata_text(row, "name", k->dim_fields[i]);
		tdata_text(row, "DIM", k->dim_macros[i]);
		tdata_text(row, "multiple",
			   given.step > 1 ? arena_printf(k->a, "%lld",
							 (long long)given.step)
					  : NULL);
		tdata_text(row, "type", k->d->types[v->type.kind].spelling);
		tdata_int(row, "min", v->min);
		tdata_int(row, "max", v->max);
	}
	add_refused(k, d);
	tdata_list(d, "given_sizes");
	for (int i = 0; i < k->p->given_sizes.n; i++) {
		const struct var *v = k->p->given_sizes.data[i].size;
		struct tdata *row = tdata_item(d, "given_sizes");

		tdata_text(row, "name", k->size_fields[i]);
		tdata_text(row, "SIZE", k->size_macros[i]);
		tdata_text(row, "type", k->d->types[v->type.kind].spelling);
		tdata_int(row, "index", i);
		tdata_int(row, "min", v->min);
		tdata_int(row, "max", v->max);
	}
}

/* Adds to the template's data the list "kept" of the states that the workspace
 * keeps between runs: the macro, the place and the type of each state. */
void
add_kept_states(struct packer *k)
{
	int octets = k->d->char_bits / 8;

	tdata_list(k->data, "kept");
	for (int i = 0; i < k->g->states.n; i++) {
		const struct tensor *t = k->g->states.data[i].before;
		const struct placement *at = plan_find(&k->p->plan, t);
		struct tdata *row;

		if (at == NULL) {
			/* a state without elements or without readers has no
			 * place in the workspace */
			continue;
		}
		row = tdata_item(k->data, "kept");
		tdata_text(row, "name",
			   comment_text(k->a, k->d, tensor_label(t)));
		tdata_text(row, "NAME", k->state_macros[i]);
		tdata_text(row, "short", short_name(t->type));
		tdata_text(row, "shape", shape_text(k, t));
		tdata_int(row, "index", i);
		add_workspace_place(k, row, at);
		tdata_int(row, "bytes", at->bytes / octets);
	}
	tdata_flag(k->data, "stateful", k->g->states.n > 0);
}
