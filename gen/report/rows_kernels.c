/* SPDX-License-Identifier: Apache-2.0 */
/* The functions of the source: formula, lines, accesses, bounds, and the kernels
 * that call each, with their nodes and arguments. */
#include "backend.h"
#include "graph_region.h"
#include "host_device.h"
#include "plan.h"
#include "provenance.h"
#include "rows.h"

static int
kernel_number(const struct reporting *r, const struct kernel *k)
{
	for (int i = 0; i < r->p->kernels.n; i++) {
		if (r->p->kernels.data[i] == k) {
			return i;
		}
	}
	return -1;
}

/* -- the kernels that call a function -- */

static int
place_number(const struct reporting *r, const struct placement *at)
{
	const struct memory_plan *plan = &r->p->plan;

	at = at != NULL && at->of != NULL ? at->of : at;
	for (int i = 0; i < plan->named.n; i++) {
		if (&plan->places.data[plan->named.data[i]] == at) {
			return i;
		}
	}
	return -1;
}

static void
set_place(struct reporting *r, struct tdata *row, const struct placement *at)
{
	int number = at != NULL && at->kind == PLACE_WORKSPACE
			     ? place_number(r, at)
			     : -1;

	if (number >= 0) {
		tdata_int(row, "place", number);
		tdata_text(row, "given", package_pointer(at));
	} else if (at != NULL && at->root != NULL) {
		tdata_printf(row, "given", "%s %s",
			     at->kind == PLACE_INPUT ? "input" : "output",
			     tensor_label(at->root));
	}
}

static void
add_argument(struct reporting *r, struct tdata *call, const struct kernel *k,
	     const struct kernel_arg *arg)
{
	struct tdata *row = tdata_item(call, "arguments");
	const struct memory_plan *plan = &r->p->plan;

	tdata_text(row, "parameter",
		   arg->buffer != NULL ? arg->buffer->name : arg->var->name);
	tdata_text(row, "tensor", "");
	tdata_text(row, "array", "");
	tdata_text(row, "given", "");
	tdata_text(row, "place", NULL);
	tdata_text(row, "weight", NULL);
	switch (arg->kind) {
	case ARG_TENSOR:
		tdata_text(row, "access",
			   !arg->written           ? "reads"
			   : arg->in_place != NULL ? "updates"
						   : "writes");
		tdata_text(row, "tensor", tensor_label(arg->tensor));
		tdata_text(row, "array",
			   package_array(r->request->package, arg));
		set_place(r, row, plan_find(plan, arg->tensor));
		break;
	case ARG_WEIGHT:
		tdata_text(row, "access", "reads");
		tdata_text(row, "given",
			   package_weight_symbol(r->request->package,
						 arg->weight->index));
		tdata_int(row, "weight", arg->weight->index);
		break;
	case ARG_SCRATCH:
		tdata_text(row, "access", "scratch");
		set_place(r, row, plan_find_scratch(plan, k, arg->buffer));
		break;
	case ARG_DIM:
		tdata_text(row, "access", "a size");
		break;
	}
}

static void
add_call(struct reporting *r, struct tdata *row, const struct kernel *k)
{
	struct tdata *call = tdata_item(row, "calls");
	struct origin_list computed = provenance_computed(r->p, k);
	struct origin_list folded = provenance_folded(r->p, k);

	tdata_text(call, "kernel", k->name);
	tdata_int(call, "call", kernel_number(r, k));
	tdata_text(call, "title", k->title != NULL ? k->title : k->name);
	add_origins(r, call, "nodes", computed.list.data, computed.list.n);
	add_origins(r, call, "folded", folded.list.data, folded.list.n);
	tdata_list(call, "arguments");
	for (int i = 0; i < k->args.n; i++) {
		add_argument(r, call, k, &k->args.data[i]);
	}
	tdata_list(call, "operators");
	for (int i = 0; i < k->group->nodes.n; i++) {
		const struct node *n = k->group->nodes.data[i];
		struct tdata *item = tdata_item(call, "operators");

		tdata_text(item, "op", n->op_type);
		tdata_text(item, "domain", n->domain);
		tdata_text(item, "attributes", attributes_text(r, n));
	}
}

/* -- the facts of a function -- */

static const char *const proofs[] = {
	[ACCESS_PROVEN] = "proven",
	[ACCESS_BY_DATA] = "an index is data",
	[ACCESS_ADDRESS] = "first element of an instruction's operand",
	[ACCESS_NOT_PROVEN] = "not proven",
};

static void
add_accesses(struct tdata *part, const struct func_facts *f)
{
	tdata_list(part, "accesses");
	for (int i = 0; i < f->accesses.n; i++) {
		const struct access_row *x = &f->accesses.data[i];
		struct tdata *row = tdata_item(part, "accesses");

		tdata_text(row, "array", x->buffer->name);
		tdata_text(row, "scope", x->buffer->scope);
		tdata_text(row, "access", x->writes ? "write" : "read");
		tdata_text(row, "index",
			   x->index[0] != '\0' ? x->index : "a variable");
		tdata_text(row, "range", x->range);
		tdata_text(row, "extents", x->extents);
		tdata_text(row, "proof", proofs[x->proof]);
		tdata_flag(row, "wrong", x->proof == ACCESS_NOT_PROVEN);
		tdata_int(row, "count", x->count);
	}
}

static void
add_sums(struct tdata *part, const struct func_facts *f)
{
	tdata_list(part, "sums");
	for (int i = 0; i < f->sums.n; i++) {
		const struct sum_row *x = &f->sums.data[i];
		struct tdata *row = tdata_item(part, "sums");

		tdata_text(row, "array", x->buffer->name);
		tdata_text(row, "type", dtype_name(x->buffer->type));
		tdata_printf(row, "range", "%lld..%lld",
			     (long long)x->range.min, (long long)x->range.max);
		tdata_text(row, "proof",
			   x->is_proven ? "proven, for any order of summation"
					: "the range of its type");
	}
}

static void
add_loops(struct reporting *r, struct tdata *part, const struct func_facts *f)
{
	tdata_list(part, "loops");
	for (int i = 0; i < f->loops.list.n; i++) {
		const struct loop_bound *x = &f->loops.list.data[i];
		struct tdata *row = tdata_item(part, "loops");
		struct strbuf s;

		strbuf_init(&s);
		tdata_int(row, "depth", x->depth);
		if (x->loop->kind == STMT_WHILE) {
			tdata_text(row, "loop", "while");
			tdata_text(row, "kind", "while");
			formula_put(x->loop->args[0], &s);
		} else {
			tdata_text(row, "loop", x->loop->u.loop.var->name);
			tdata_text(row, "kind",
				   for_kind_name(x->loop->u.loop.kind));
			formula_put(x->loop->args[1], &s);
		}
		if (x->is_constant) {
			tdata_int(row, "iterations", x->most);
		} else if (x->most == BOUND_POS_INF) {
			tdata_printf(row, "iterations", "%s, without a bound",
				     s.data);
		} else {
			tdata_printf(row, "iterations", "%s, at most %lld",
				     s.data, (long long)x->most);
		}
		strbuf_release(&s);
	}
	(void)r;
}

static void
add_part(struct reporting *r, struct tdata *row, const struct func_facts *f,
	 bool named)
{
	struct tdata *part = tdata_item(row, "parts");

	tdata_text(part, "part", named ? f->func->name : NULL);
	tdata_int(part, "stack", f->stack_bytes);
	add_accesses(part, f);
	add_sums(part, f);
	add_loops(r, part, f);
}

/* Adds the formulas of a function; false after a diagnostic. */
static bool
add_formulas(struct reporting *r, struct tdata *row, const struct kernel *k)
{
	struct formulas all = { 0 };
	struct func *f;

	tdata_list(row, "formulas");
	if (k->group->region == NULL) {
		f = kernel_unscheduled(r->p, k);
		if (f == NULL) {
			return false;
		}
		all = formulas_of(f);
	}
	tdata_flag(row, "script", all.is_script);
	for (int i = 0; i < all.list.n; i++) {
		tdata_text(tdata_item(row, "formulas"), "formula",
			   all.list.data[i]);
	}
	return true;
}

static bool
add_function(struct reporting *r, int number)
{
	const struct kernel *k = r->p->kernels.data[number];
	const struct package *pkg = r->request->package;
	struct package_lines at = package_kernel_lines(pkg, number);
	struct tdata *row = tdata_item(r->data, "functions");

	tdata_text(row, "name", k->func->name);
	tdata_text(row, "title", k->title != NULL ? k->title : k->name);
	tdata_text(row, "schedule", k->schedule);
	tdata_text(row, "copies", k->copies);
	tdata_text(row, "like",
		   k->same_but_literals != NULL
			   ? k->same_but_literals->func->name
			   : NULL);
	tdata_text(row, "backend",
		   k->group->region != NULL ? k->group->region->backend->name
					    : NULL);
	tdata_text(row, "work", package_work(pkg, k));
	tdata_int(row, "stack", k->local_bytes);
	tdata_text(row, "file", at.file);
	tdata_int(row, "begin", at.first);
	tdata_int(row, "end", at.last);
	tdata_int(row, "function", at.function);
	tdata_list(row, "calls");
	for (int i = 0; i < k->callers.n; i++) {
		add_call(r, row, k->callers.data[i]);
	}
	tdata_list(row, "parts");
	for (int i = 0; i < r->n_facts[number]; i++) {
		add_part(r, row, r->facts[number][i], r->n_facts[number] > 1);
	}
	add_lines(r, row, at.file != NULL ? file_number(r, at.file) : -1,
		  at.first, at.last);
	return add_formulas(r, row, k);
}

bool
add_functions(struct reporting *r)
{
	tdata_list(r->data, "functions");
	for (int i = 0; i < r->p->kernels.n; i++) {
		const struct kernel *k = r->p->kernels.data[i];

		if (k->owner == k && !add_function(r, i)) {
			return false;
		}
	}
	tdata_list(r->data, "kernels");
	for (int i = 0; i < r->p->kernels.n; i++) {
		const struct kernel *k = r->p->kernels.data[i];
		struct tdata *row = tdata_item(r->data, "kernels");

		tdata_int(row, "call", i);
		tdata_text(row, "kernel", k->name);
		tdata_text(row, "function", k->func->name);
		tdata_text(row, "title", k->title != NULL ? k->title : k->name);
		tdata_text(row, "work", package_work(r->request->package, k));
	}
	return true;
}
