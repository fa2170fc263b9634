/* SPDX-License-Identifier: Apache-2.0 */
/* tvm.tir.TensorIntrin: tensor intrinsics that a program registers. */
#include "iterate.h"
#include "tir_parts.h"

/* The statements of a block, without the block:
 *
 *   with T.block("B"):
 *       vi = T.axis.spatial(4, i)       ->       B[i] = A[i]
 *       B[vi] = A[vi] */
static struct stmt *
opened(struct func *f, struct stmt *block)
{
	const struct block *b = block->u.block;
	struct module *m = f->module;
	struct var_map map = { .n = b->n_iters };
	struct stmt *s = stmt_clone(f, block->children[0], false);

	map.from = arena_array(&m->arena, struct var *, b->n_iters + 1);
	map.to = arena_exprs(&m->arena, b->n_iters + 1);
	for (int i = 0; i < b->n_iters; i++) {
		map.from[i] = b->iters[i].var;
		map.to[i] = block->args[i + 1];
	}
	stmt_substitute(f, s, &map);
	for (int i = b->n_allocs - 1; i >= 0; i--) {
		s = stmt_alloc(f, b->allocs[i], s);
	}
	return expr_is_value(block->args[0], 1)
		       ? s
		       : stmt_if(f, block->args[0], s, NULL);
}

/* Replaces the blocks of an implementation f by their statements, inner blocks
 * first. Returns false with the reason in *why. */
static bool
without_blocks(struct func *f, const char **why)
{
	struct stmt_list blocks = stmts_of(&f->module->arena, f->body,
					   STMT_BLOCK);

	for (int i = blocks.list.n - 1; i >= 0; i--) {
		struct stmt *b = blocks.list.data[i];

		if (b->n_children > 1 && b->children[1]) {
			*why = arena_printf(&f->module->arena,
					    "block %s of the implementation "
					    "has an init; store the initial "
					    "values in a statement of their "
					    "own",
					    b->u.block->name);
			return false;
		}
		stmt_replace(f, b, opened(f, b));
	}
	return true;
}

/* tvm.tir.TensorIntrin.register(name, desc, impl): an instruction that
 * tensorize() can use. */
bool
tensor_intrin_register(struct call *c, struct pval *out)
{
	struct eval *ev = c->ev;
	struct tensor_intrin *t = arena_new(ev->a, struct tensor_intrin);
	bool override = false;
	const char *why;

	if (!arg_text(c, 0, &t->name) ||
	    (arg_given(c, 3) && !arg_bool(c, 3, &override))) {
		return false;
	}
	for (int i = 1; i < 3; i++) {
		if (c->args[i].kind != PV_FUNC) {
			return value_kind_error(c, i, "a PrimFunc");
		}
	}
	if (!override && tensor_intrins_find(ev->intrins, t->name)) {
		return call_error(c, 0,
				  "there is an intrinsic %s already; give "
				  "another name, or override=True",
				  t->name);
	}
	t->what = "registered by the program";
	t->desc = func_clone(c->args[1].u.func->func, t->name);
	t->impl = func_clone(c->args[2].u.func->func,
			     arena_printf(ev->a, "%s_impl", t->name));
	if (!tensor_intrin_same_params(ev->m, t->desc, t->desc, &why) ||
	    !tensor_intrin_same_params(ev->m, t->desc, t->impl, &why)) {
		return call_error(c, -1, "%s", why);
	}
	if (!without_blocks(t->impl, &why)) {
		return call_error(c, 2, "%s", why);
	}
	tensor_intrin_open_scopes(t->desc);
	tensor_intrin_open_scopes(t->impl);
	tensor_intrins_add(ev->intrins, t);
	*out = pv_any(PV_INTRIN, t);
	return true;
}

bool
tensor_intrin_get(struct call *c, struct pval *out)
{
	const struct tensor_intrin *t;
	const char *name;

	if (!arg_text(c, 0, &name) || !schedule_instruction(c->ev, name)) {
		return false;
	}
	t = tensor_intrins_find(c->ev->intrins, name);
	if (!t) {
		return call_error(c, 0, "there is no intrinsic %s", name);
	}
	*out = pv_any(PV_INTRIN, t);
	return true;
}

/* @T.macro, @T.macro(hygienic=False) and @T.inline: return the function itself. The reader
 * of TVMScript uses its statements (ir/script/script_macro.c). */
bool
script_macro(struct call *c, struct pval *out)
{
	*out = arg_given(c, 0)
		       ? c->args[0]
		       : (struct pval){ .kind = PV_BUILTIN, .u.row = c->row };
	return !arg_given(c, 0) || c->args[0].kind == PV_CLOSURE ||
	       value_kind_error(c, 0, "a function");
}
