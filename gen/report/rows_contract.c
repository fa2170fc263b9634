/* SPDX-License-Identifier: Apache-2.0 */
/* The promises of the source to its caller: state, memory, functions that it
 * calls, stack, loops; and the statement of compliance with a coding
 * standard. */
#include "rows.h"

static void
add_promise(struct reporting *r, const char *topic, const char *text)
{
	struct tdata *row = tdata_item(r->data, "promises");

	tdata_text(row, "topic", topic);
	tdata_text(row, "text", text);
}

static bool
has_backends(const struct reporting *r)
{
	for (int i = 0; i < r->p->kernels.n; i++) {
		if (r->p->kernels.data[i]->group->region != NULL) {
			return true;
		}
	}
	return false;
}

static void
add_memory_promises(struct reporting *r)
{
	bool device = r->p->target->max_threads > 0;
	bool backends = has_backends(r);

	add_promise(
		r, "re-entrancy",
		package_is_table(r->request->package)
			? "The kernels have no state: the caller of each "
			  "passes all arrays."
			: arena_printf(
				  r->a,
				  "All state is in the caller's struct %s and in "
				  "the workspace that it has; there are no "
				  "variables that outlive a call. Calls with "
				  "different structures and workspaces may run "
				  "at the same time, calls with the same ones "
				  "must not.",
				  package_model(r->request->package)));
	add_promise(
		r, "heap",
		device ? "None in the kernels; the host program allocates the "
			 "device's buffers in the init function, and frees them "
			 "in the fini function."
		: backends ? "None in tirc's code; libraries of backends may "
			     "allocate."
			   : "None: no function allocates memory.");
	add_promise(r, "static data",
		    "Constants only; no variable with static storage is "
		    "written.");
	add_promise(r, "recursion",
		    "None: no function calls itself, directly or "
		    "through others.");
}

static void
add_library_promises(struct reporting *r)
{
	const char *math = package_math_functions(r->request->package);

	add_promise(r, "libm", math);
	add_promise(
		r, "errno",
		strcmp(math, "none") == 0
			? "Neither read nor written."
			: "Not read. The functions of libm above may set it, as "
			  "<math.h> of the compiler's library says.");
	add_promise(r, "floats",
		    arena_printf(r->a, "--fp %s", r->p->target->fp));
}

static void
add_size_promises(struct reporting *r)
{
	for (int i = 0; i < r->g->dims.n; i++) {
		const struct dim_step s = graph_given_dim(r->g,
							  r->g->dims.data[i]);

		add_promise(r, "size",
			    arena_printf(r->a,
					 "%s: from %lld to %lld, a multiple of "
					 "%lld; others are refused",
					 s.given->name, (long long)s.given->min,
					 (long long)s.given->max,
					 (long long)s.step));
	}
	for (int i = 0; i < r->g->assumptions.n; i++) {
		add_promise(r, "assumption", r->g->assumptions.data[i]);
	}
}

/* -- loops -- */

struct loop_sums {
	int n, deepest, without_bound, by_size;
	int64_t longest;
};

static void
count_loops(struct loop_sums *sums, const struct func_facts *f)
{
	for (int i = 0; i < f->loops.list.n; i++) {
		const struct loop_bound *x = &f->loops.list.data[i];

		sums->n++;
		sums->deepest = x->depth > sums->deepest ? x->depth
							 : sums->deepest;
		if (x->most == BOUND_POS_INF) {
			sums->without_bound++;
		} else {
			sums->by_size += !x->is_constant;
			sums->longest = x->most > sums->longest ? x->most
								: sums->longest;
		}
	}
}

static void
add_loop_promise(struct reporting *r)
{
	struct loop_sums sums = { 0 };
	int longest = 0, helpers;

	for (int i = 0; i < r->p->kernels.n; i++) {
		for (int k = 0; k < r->n_facts[i]; k++) {
			count_loops(&sums, r->facts[i][k]);
		}
	}
	count_loops(&sums, r->entry);
	helpers = package_helper_loops(r->request->package, &longest);
	add_promise(r, "loops",
		    arena_printf(
			    r->a,
			    "%d in kernels and in the function that calls "
			    "them, nested at most %d deep, with at most %lld "
			    "iterations each; %d have an extent that is a size "
			    "or an expression, with that bound; %d have no "
			    "bound",
			    sums.n, sums.deepest, (long long)sums.longest,
			    sums.by_size, sums.without_bound));
	if (helpers > 0) {
		add_promise(r, "loops of helpers",
			    arena_printf(r->a,
					 "%d, with at most %d iterations each",
					 helpers, longest));
	}
}

/* -- the call graph -- */

static void
add_stack_row(struct reporting *r, const char *caller, const char *name,
	      int64_t own, int64_t total)
{
	struct tdata *row = tdata_item(r->data, "stack");

	tdata_text(row, "caller", caller);
	tdata_text(row, "name", name);
	tdata_int(row, "own", own);
	tdata_int(row, "total", total);
}

static void
add_stack(struct reporting *r)
{
	const char *run = package_is_table(r->request->package)
				  ? "the executor"
				  : arena_printf(r->a, "%s_run",
						 package_model(
							 r->request->package));
	int64_t base = r->entry->stack_bytes, most = base;

	tdata_list(r->data, "stack");
	add_stack_row(r, NULL, run, base, base);
	for (int i = 0; i < r->p->kernels.n; i++) {
		const struct kernel *k = r->p->kernels.data[i];

		if (k->owner != k) {
			continue;
		}
		add_stack_row(r, run, k->func->name, k->local_bytes,
			      base + k->local_bytes);
		most = base + k->local_bytes > most ? base + k->local_bytes
						    : most;
	}
	tdata_int(r->data, "stack_bytes", most);
	tdata_text(r->data, "run", run);
}

void
add_contract(struct reporting *r)
{
	tdata_list(r->data, "promises");
	add_memory_promises(r);
	add_library_promises(r);
	add_size_promises(r);
	add_loop_promise(r);
	add_stack(r);
}

/* -- compliance -- */

static void
add_texts(struct tdata *data, const char *key, const struct names *texts)
{
	tdata_list(data, key);
	for (int i = 0; i < texts->n; i++) {
		tdata_text(tdata_item(data, key), "text", texts->data[i]);
	}
}

static void
add_deviation(struct reporting *r, const struct deviation *d)
{
	struct deviation_places at = package_deviation(r->request->package, d);
	struct tdata *row;

	if (at.list.n == 0) {
		return;
	}
	row = tdata_item(r->data, "deviations");
	tdata_text(row, "id", d->id);
	tdata_text(row, "rule", d->rule);
	tdata_text(row, "category", d->category);
	tdata_text(row, "reason", d->reason);
	tdata_list(row, "at");
	for (int i = 0; i < at.list.n; i++) {
		struct tdata *item = tdata_item(row, "at");

		tdata_text(item, "file", at.list.data[i].file);
		tdata_int(item, "line", at.list.data[i].line);
		tdata_int(item, "file_id",
			  file_number(r, at.list.data[i].file));
		tdata_flag(item, "shown",
			   r->finished.files[file_number(r,
							 at.list.data[i].file)]
					   .text != NULL);
	}
}

void
add_compliance_rows(struct reporting *r)
{
	const struct compliance *c = &r->request->package->dialect->compliance;

	tdata_text(r->data, "standard", c->standard);
	add_texts(r->data, "claims", &c->claims);
	add_texts(r->data, "implementation_defined",
		  &c->implementation_defined);
	tdata_list(r->data, "deviations");
	for (int i = 0; c->standard != NULL && i < c->deviations.n; i++) {
		add_deviation(r, &c->deviations.data[i]);
	}
	tdata_list(r->data, "guidelines");
	for (int i = 0; c->standard != NULL && i < c->guidelines.n; i++) {
		const struct guideline *g = &c->guidelines.data[i];
		struct tdata *row = tdata_item(r->data, "guidelines");

		tdata_text(row, "id", g->id);
		tdata_text(row, "category", g->category);
		tdata_text(row, "status", g->status);
		tdata_text(row, "how", g->how);
	}
}
