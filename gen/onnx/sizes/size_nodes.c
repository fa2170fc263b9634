/* SPDX-License-Identifier: Apache-2.0 */
/* Bounds of sizes, and the nodes that compute a size. */
#include "identifiers.h"
#include "ops.h"
#include "sizes.h"

/* Does the name `said` in an option mean the tensor `name`? An option may use
 * the tensor's name in the model or its name in the generated header. */
static bool
means(struct importer *imp, const char *said, const char *name)
{
	const char *clean = name_stem(&imp->tmp, name);

	return strcmp(said, name) == 0 ||
	       (clean != NULL && strcmp(said, clean) == 0);
}

/* The --bound that the user gave for one of the n names, or NULL. */
const struct size_bound *
size_bound(struct importer *imp, const char *const *names, int n)
{
	const struct import_options *o = imp->options;

	for (int i = 0; i < o->n_bounds; i++) {
		for (int k = 0; k < n; k++) {
			if (means(imp, o->bounds[i].name, names[k])) {
				imp->bound_used[i] = true;
				return &o->bounds[i];
			}
		}
	}
	return NULL;
}

bool
import_bounds_used(struct importer *imp)
{
	const struct import_options *o = imp->options;

	for (int i = 0; i < o->n_bounds; i++) {
		if (!imp->bound_used[i]) {
			return diag_error(
				&imp->m->diags, DIAG_BAD_OPTION,
				(struct diag_place){ .file = imp->source.path },
				"--bound: no tensor %s gives a size that is "
				"known only when the model runs",
				import_quote(&imp->tmp, o->bounds[i].name));
		}
	}
	return true;
}

struct tensor *
size_insert(struct sizing *s, const char *op_type, const char *what,
	    struct tensor *a, struct tensor *b)
{
	struct tensor *in[2] = { a, b };
	struct tensor *out = upgrade_tensor(&s->u, what);

	upgrade_insert(&s->u, s->at++, op_type, in, b ? 2 : 1, out);
	return out;
}

struct tensor *
size_cast(struct sizing *s, const char *what, struct tensor *x,
	  struct dtype type)
{
	struct tensor *y = size_insert(s, "Cast", what, x, NULL);

	node_set_attr_int(s->u.g, y->producer, "to", dtype_onnx_number(type));
	return y;
}

struct tensor *
size_constant(struct sizing *s, const char *what, int64_t v)
{
	return graph_constant_ints(s->u.g,
				   arena_printf(&s->u.imp->tmp, "%s_%s",
						s->u.node->outputs[0]->name,
						what),
				   1, &v);
}

static bool
is_size(const struct graph *g, const char *name)
{
	for (int i = 0; i < g->run_sizes.n; i++) {
		if (strcmp(g->run_sizes.data[i].var->name, name) == 0) {
			return true;
		}
	}
	for (int i = 0; i < g->dims.n; i++) {
		if (strcmp(g->dims.data[i]->name, name) == 0) {
			return true;
		}
	}
	return false;
}

/* The name of the variable for size i of n sizes: if n is 1, the stem, else the
 * stem with "_0", "_1", …; a number is added if this name is already taken. */
static const char *
size_name(struct sizing *s, const char *stem, int i, int n)
{
	struct arena *a = &s->u.imp->m->arena;
	const char *clean = name_stem(a, stem);
	const char *wanted, *name;

	stem = clean != NULL ? clean : stem;
	wanted = n == 1 ? arena_strdup(a, stem)
			: arena_printf(a, "%s_%d", stem, i);
	name = wanted;
	for (int k = 2; is_size(s->u.g, name); k++) {
		name = arena_printf(a, "%s_%d", wanted, k);
	}
	return name;
}

struct tensor *
size_variables(struct sizing *s, struct tensor *x, const char *stem, int n,
	       const int64_t *min, const int64_t *max, bool proven,
	       const struct size_bound *bound)
{
	struct graph *g = s->u.g;
	struct tensor *y = upgrade_tensor(&s->u, "size");
	struct node *node = upgrade_insert(&s->u, s->at++, "RunSize", &x, 1, y);

	node->domain = "tirc";
	node->op = op_find("tirc", "RunSize");
	node_set_attr_int(g, node, "first", g->run_sizes.n);
	for (int i = 0; i < n; i++) {
		int64_t low = min[i], high = max[i];
		struct run_size size = { .proven = proven };

		if (bound) {
			int k = bound->n == 1 ? 0 : i;

			size.proven &= bound->min[k] <= low &&
				       bound->max[k] >= high;
			low = bound->min[k] > low ? bound->min[k] : low;
			high = bound->max[k] < high ? bound->max[k] : high;
			if (low > high) {
				diag_error(&g->module->diags, DIAG_BAD_OPTION,
					   node_place(g, s->u.node),
					   "--bound %s: the size is between "
					   "%lld and %lld",
					   bound->name, (long long)min[i],
					   (long long)max[i]);
				high = low;
			}
		}
		size.var = var_new_dim(g->module, size_name(s, stem, i, n), low,
				       high);
		vec_push(&g->module->arena, &g->run_sizes, size);
	}
	return y;
}

struct tensor *
import_run_size(struct importer *imp, struct node *n, int pos, struct tensor *x,
		const char *name, int64_t most)
{
	struct sizing s = {
		.u = { .imp = imp, .g = imp->g, .node = n, .pos = pos },
		.at = pos,
	};
	const char *names[] = { tensor_label(n->outputs[0]), name };
	int64_t least = 0;

	return size_variables(&s, x, name, 1, &least, &most, true,
			      size_bound(imp, names, 2));
}

bool
import_no_bound(struct importer *imp, const struct node *n, const char *name)
{
	struct diag_place at = node_place(imp->g, n);

	missing_add(imp, MISSING_BOUND, name, at.item, MISSING_SIZE);
	return diag_error(&imp->m->diags, DIAG_UNKNOWN_SHAPE, at,
			  "it needs a bound"); /* missing.c lists the bounds */
}

bool
size_no_bound(struct sizing *s, const char *name)
{
	return import_no_bound(s->u.imp, s->u.node, name);
}

/* -- the driver -- */
