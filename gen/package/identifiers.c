/* SPDX-License-Identifier: Apache-2.0 */
/* The names in emitted files that the user sees: the name of the model, and
 * those of members, macros and symbols. */
#include <ctype.h>
#include <limits.h>
#include <strings.h>

#include "kernel.h"
#include "packer.h"
#include "reserved.h"

/* The largest length of a model's name, which leaves room for the longest
 * suffix. */
#define MODEL_NAME_MAX 31
#define FUNCTION_ENDING "_init"
#define STATEFUL_ENDING "_reset"

/* The suffixes of names that emitted files define with the model's name as
 * prefix. */
static const char *const own[] = {
	"binary", "config", "error",     "fini",
	"init",   "inputs", "kernels",   "outputs",
	"reset",  "run",    "run_host",  "share",
	"status", "task",   "workspace", "workspace_bytes",
};

static const char *
upper(struct arena *a, const char *text)
{
	char *out = arena_strdup(a, text);

	for (char *p = out; *p != '\0'; p++) {
		*p = (char)toupper((unsigned char)*p);
	}
	return out;
}

static void
init_names(struct packer *k, struct name_set *s)
{
	name_set_init(s, k->a);
	s->reserved = k->d->reserved.data;
	s->n_reserved = k->d->reserved.n;
	if (s->max_length > k->d->identifier_length) {
		s->max_length = k->d->identifier_length;
	}
}

/* Begins a set of names that the model's source exports. */
static void
init_public_names(struct packer *k, struct name_set *s)
{
	init_names(k, s);
	s->reserved = k->d->reserved_public.data;
	s->n_reserved = k->d->reserved_public.n;
}

static void
name_files(struct packer *k)
{
	struct tdata *data = tdata_new(k->a);

	tdata_text(data, "model", k->model);
	for (int i = 0; i < FILE_COUNT; i++) {
		k->files[i] = packer_render(k, k->d->files[i], data);
	}
	if (k->o->graph) {
		k->files[FILE_HEADER] = k->files[FILE_GRAPH_HEADER];
		k->files[FILE_SOURCE] = k->files[FILE_GRAPH_SOURCE];
		k->files[FILE_BLOB] = k->files[FILE_GRAPH_PARAMS];
	}
}

/* Begins a set of names of a structure's members. They must avoid only the
 * dialect's reserved_members, which are fewer than the reserved words for
 * functions. */
static void
init_members(struct packer *k, struct name_set *s)
{
	init_names(k, s);
	s->reserved = k->d->reserved_members.data;
	s->n_reserved = k->d->reserved_members.n;
}

/* Makes the names of the members of the structures of inputs and outputs, and
 * of the macros. The members of both structures are in one set, because an
 * example has local arrays with these names. Macros must be unique; they begin
 * with the model's name and so need not avoid reserved words. */
static void
name_interface(struct packer *k)
{
	struct graph *g = k->g;
	struct name_set fields, macros;

	init_members(k, &fields);
	init_names(k, &macros);
	macros.n_reserved = 0;
	/* every header defines these macros */
	name_set_add(&macros, "WORKSPACE");
	name_set_add(&macros, "WEIGHTS");
	name_set_add(&macros, "STACK");
	k->input_fields = arena_array(k->a, const char *, g->inputs.n + 1);
	k->input_macros = arena_array(k->a, const char *, g->inputs.n + 1);
	k->output_fields = arena_array(k->a, const char *, g->outputs.n + 1);
	k->output_macros = arena_array(k->a, const char *, g->outputs.n + 1);
	k->dim_fields = arena_array(k->a, const char *, g->dims.n + 1);
	k->dim_macros = arena_array(k->a, const char *, g->dims.n + 1);
	k->size_fields = arena_array(k->a, const char *,
				     k->p->given_sizes.n + 1);
	k->size_macros = arena_array(k->a, const char *,
				     k->p->given_sizes.n + 1);
	for (int i = 0; i < g->inputs.n; i++) {
		k->input_fields[i] = name_set_add(&fields,
						  g->inputs.data[i]->name);
		k->input_macros[i] = name_set_add(&macros,
						  upper(k->a,
							k->input_fields[i]));
	}
	for (int i = 0; i < g->dims.n; i++) {
		k->dim_fields[i] = name_set_add(&fields,
						graph_given_dim(g,
								g->dims.data[i])
							.given->name);
		k->dim_macros[i] = name_set_add(&macros,
						upper(k->a, k->dim_fields[i]));
	}
	for (int i = 0; i < g->outputs.n; i++) {
		k->output_fields[i] = name_set_add(&fields,
						   g->outputs.data[i]->name);
		k->output_macros[i] = name_set_add(&macros,
						   upper(k->a,
							 k->output_fields[i]));
	}
	k->state_macros = arena_array(k->a, const char *, g->states.n + 1);
	for (int i = 0; i < g->states.n; i++) {
		const char *stem = name_stem(k->a,
					     g->states.data[i].before->name);

		k->state_macros[i] =
			name_set_add(&macros,
				     upper(k->a,
					   stem != NULL ? stem : "state"));
	}
	for (int i = 0; i < k->p->given_sizes.n; i++) {
		k->size_fields[i] =
			name_set_add(&fields,
				     k->p->given_sizes.data[i].size->name);
		k->size_macros[i] = name_set_add(&macros,
						 upper(k->a,
						       k->size_fields[i]));
	}
}

/* The model's name with the suffix `part`, changed if it is a reserved word:
 * the name "int8" and the suffix "t" would give int8_t. */
static const char *
own_name(struct packer *k, const char *part)
{
	struct name_set s;

	init_public_names(k, &s);
	s.max_length = INT_MAX;
	return name_set_add(&s, arena_printf(k->a, "%s_%s", k->model, part));
}

/* For each weight, a name for the kernel that reads it, which becomes a part of
 * the weight's name. Each name has at most `room` characters and is unique, so
 * that the linker can distinguish the symbols. */
static const char **
name_readers(struct packer *k, int room)
{
	const char **stems = arena_array(k->a, const char *,
					 k->p->weights.n + 1);
	struct pointer_map first;
	struct name_set s;

	init_names(k, &s);
	/* no reserved words, because the model's name comes before these names */
	s.n_reserved = 0;
	s.max_length = room;
	pointer_map_init(&first, k->a);
	for (int i = 0; i < k->p->weights.n; i++) {
		const struct kernel *reader = k->p->weights.data[i]->reader;
		int at = pointer_map_get(&first, reader, i);

		if (at == i) {
			pointer_map_put(&first, reader, i);
			stems[i] = name_set_add(&s, reader->name);
		}
		stems[i] = stems[at];
	}
	return stems;
}

/* Names the symbols of weights. They start with the model's name, or with a
 * part of it if the dialect's limit of external names leaves too little room. */
static void
name_weights(struct packer *k)
{
	enum { LEAST_STEM = 8 };
	const char *before = k->model, **stems;
	int role = 0, most;
	struct name_set s;

	for (int i = 0; i < k->p->weights.n; i++) {
		int n = (int)strlen(k->p->weights.data[i]->role);

		role = n > role ? n : role;
	}
	most = k->d->external_length - role - 2;
	if ((int)strlen(before) > most - LEAST_STEM) {
		init_names(k, &s);
		s.max_length = most - LEAST_STEM > LEAST_STEM
				       ? most - LEAST_STEM
				       : LEAST_STEM;
		before = name_set_add(&s, before);
	}
	most -= (int)strlen(before);
	stems = name_readers(k, most > LEAST_STEM ? most : LEAST_STEM);
	k->weight_symbols = arena_array(k->a, const char *,
					k->p->weights.n + 1);
	for (int i = 0; i < k->p->weights.n; i++) {
		const char *name = arena_printf(k->a, "%s_%s", stems[i],
						k->p->weights.data[i]->role);

		k->weight_symbols[i] = before == k->model
					       ? own_name(k, name)
					       : arena_printf(k->a, "%s_%s",
							      before, name);
	}
}

/* -- kernels -- */

/* Renames kernels that have the name of a function or a weight of the model. */
static void
name_kernels(struct packer *k)
{
	struct name_set taken;

	init_names(k, &taken);
	taken.max_length = 1000;
	for (size_t i = 0; i < sizeof own / sizeof own[0]; i++) {
		name_set_add(&taken,
			     arena_printf(k->a, "%s_%s", k->model, own[i]));
	}
	if (k->p->traced) {
		name_set_add(&taken, arena_printf(k->a, "%s_traced", k->model));
	}
	name_set_add(&taken, k->model);
	for (int i = 0; i < k->p->weights.n; i++) {
		name_set_add(&taken, k->weight_symbols[i]);
	}
	for (int i = 0; k->d->functions.unique && i < k->g->inputs.n; i++) {
		name_set_add(&taken, k->input_fields[i]);
	}
	for (int i = 0; k->d->functions.unique && i < k->g->outputs.n; i++) {
		name_set_add(&taken, k->output_fields[i]);
	}
	for (int i = 0; k->d->functions.unique && i < k->g->dims.n; i++) {
		name_set_add(&taken, k->dim_fields[i]);
	}
	for (int i = 0; i < k->p->kernels.n; i++) {
		struct kernel *kernel = k->p->kernels.data[i];
		const char *from = kernel->func->name, *to;

		if (kernel->owner != kernel || !name_set_has(&taken, from)) {
			continue;
		}
		to = arena_printf(k->a, "%s_kernel", from);
		if (kernel->callers.n == 1) {
			trace_rename(k, kernel->name, to);
			kernel->name = to;
		}
		kernel->func->name = to;
		func_rename_calls(k->p->entry, INTRIN_CALL_FUNC, from, to);
		if (kernel->init != NULL) {
			kernel->init->name = arena_printf(k->a, "%s_init",
							  kernel->name);
		}
	}
}

/* Names the functions in the kernel table; they start with the model's name. */
static void
name_entries(struct packer *k)
{
	struct name_set taken;
	int least = (int)strlen(k->model) + 13;

	init_public_names(k, &taken);
	taken.max_length = k->d->external_length > least ? k->d->external_length
							 : least;
	for (int i = 0; i < k->p->kernels.n; i++) {
		name_set_add(&taken, k->p->kernels.data[i]->func->name);
	}
	name_set_add(&taken, arena_printf(k->a, "%s_kernels", k->model));
	k->kernel_symbols = arena_array(k->a, const char *,
					k->p->kernels.n + 1);
	for (int i = 0; i < k->p->kernels.n; i++) {
		const struct kernel *kernel = k->p->kernels.data[i];

		if (kernel->owner == kernel) {
			k->kernel_symbols[i] =
				name_set_add(&taken,
					     arena_printf(k->a, "%s_%s",
							  k->model,
							  kernel->func->name));
		}
	}
}

/* Do files of C or of build systems give the name another meaning, as `string`
 * means string.h? The case of letters is ignored, because some systems ignore
 * it in file names. */
static bool
means_a_file(struct packer *k, const char *name)
{
	struct word_list words = { 0 };

	reserved_add(k->g->module, &words, "files");
	for (int i = 0; i < words.list.n; i++) {
		if (strcasecmp(words.list.data[i], name) == 0) {
			return true;
		}
	}
	return false;
}

/* Names the model. Neither the name nor a name that starts with it may be
 * reserved: for a model named "atomic", atomic_init would be a macro of C. */
static void
name_model(struct packer *k)
{
	struct name_set models;

	init_names(k, &models);
	models.max_length = k->d->external_length + 1 -
			    (int)(k->g->states.n > 0 ? sizeof STATEFUL_ENDING
						     : sizeof FUNCTION_ENDING);
	if (models.max_length > MODEL_NAME_MAX) {
		models.max_length = MODEL_NAME_MAX;
	}
	k->model = name_set_add(&models, k->o->name);
	if (means_a_file(k, k->model)) {
		k->model = arena_printf(k->a, "%s_model", k->model);
	}
	for (size_t i = 0; i < sizeof own / sizeof own[0]; i++) {
		const char *name = arena_printf(k->a, "%s_%s", k->model,
						own[i]);

		if (strcmp(own_name(k, own[i]), name) != 0) {
			k->model = arena_printf(k->a, "%s_model", k->model);
			return;
		}
	}
}

void
name_everything(struct packer *k)
{
	name_model(k);
	k->upper = upper(k->a, k->model);
	name_files(k);
	name_interface(k);
	name_weights(k);
	name_kernels(k);
	if (k->o->graph) {
		name_entries(k);
	}
}
