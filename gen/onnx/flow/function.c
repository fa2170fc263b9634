/* SPDX-License-Identifier: Apache-2.0 */
/* Model-local functions, inlined.
 *
 *	before  y = local.Swish<beta=2>(x)        # node 'act'
 *	after   act/s = Mul(x, 2); act/g = Sigmoid(act/s); y = Mul(x, act/g)
 *
 * Names in the body are prefixed with the call's name. A node's reference to an
 * attribute of the function is replaced by the value in the call, or by the
 * function's default if the call has none; without a default, the node does not
 * get the attribute. */
#include "bodies.h"

#include <stdlib.h>

static int
by_signature(const char *name, const char *domain, const char *overload,
	     const Onnx__FunctionProto *f)
{
	int order = strcmp(name ? name : "", f->name ? f->name : "");

	if (order == 0) {
		order = strcmp(import_domain(domain), import_domain(f->domain));
	}
	return order != 0 ? order
			  : strcmp(overload ? overload : "",
				   f->overload ? f->overload : "");
}

/* Orders functions by signature. Of two functions with equal signatures, the
 * one with the lower position among all functions comes first. */
static int
compare_functions(const void *a, const void *b)
{
	const struct local_function *x = a, *y = b;
	int order = by_signature(x->proto->name, x->proto->domain,
				 x->proto->overload, y->proto);

	return order != 0 ? order : (x->at > y->at) - (x->at < y->at);
}

bool
functions_collect(struct importer *imp)
{
	for (size_t i = 0; i < imp->model->n_functions; i++) {
		struct local_function one = {
			.proto = imp->model->functions[i],
			.at = i,
			.source = &imp->source,
		};

		vec_push(&imp->tmp, &imp->functions, one);
	}
	if (!function_files(imp)) {
		return false;
	}
	if (imp->functions.n > 0) {
		qsort(imp->functions.data, (size_t)imp->functions.n,
		      sizeof *imp->functions.data, compare_functions);
	}
	return true;
}

struct local_function *
function_find(const struct importer *imp, const Onnx__NodeProto *call)
{
	int low = 0, high = imp->functions.n;
	struct local_function *f;

	while (low < high) {
		int middle = low + (high - low) / 2;

		if (by_signature(call->op_type, call->domain, call->overload,
				 imp->functions.data[middle].proto) > 0) {
			low = middle + 1;
		} else {
			high = middle;
		}
	}
	f = low < imp->functions.n ? &imp->functions.data[low] : NULL;
	return f && by_signature(call->op_type, call->domain, call->overload,
				 f->proto) == 0
		       ? f
		       : NULL;
}

static bool
bad_call(struct importer *imp, const char *item, const char *problem)
{
	return diag_error(&imp->m->diags, DIAG_BAD_MODEL,
			  import_place(imp, item), "%s; export the model again",
			  problem);
}

static struct tensor *
caller_tensor(const struct body *caller, const char *name)
{
	struct scope_slot *slot = *name ? import_lookup(caller, name) : NULL;

	return slot ? slot->tensor : NULL;
}

static bool
bind_inputs(struct importer *imp, const struct body *caller,
	    const Onnx__FunctionProto *f, const Onnx__NodeProto *call,
	    const char *item, struct body *body)
{
	if (call->n_input > f->n_input || call->n_output > f->n_output) {
		return bad_call(imp, item,
				"the call has more inputs or "
				"outputs than its function");
	}
	for (size_t i = 0; i < f->n_input; i++) {
		if (scope_find(&body->scope, f->input[i])) {
			return bad_call(imp, item,
					"two inputs of its function have the "
					"same name");
		}
		scope_add(&body->scope, f->input[i],
			  i < call->n_input
				  ? caller_tensor(caller, call->input[i])
				  : NULL);
	}
	return true;
}

/* Binds each output of the function to the tensor of the caller that gets it:
 * the node of the body that computes the output then computes this tensor. For
 * an output that is also an input, a node copies the input. False after a
 * diagnostic. */
static bool
bind_outputs(struct importer *imp, const struct body *caller,
	     const Onnx__FunctionProto *f, const Onnx__NodeProto *call,
	     const char *item, struct body *body, int version)
{
	for (size_t i = 0; i < f->n_output; i++) {
		struct tensor *to = i < call->n_output
					    ? caller_tensor(caller,
							    call->output[i])
					    : NULL;
		struct scope_slot *slot = scope_find(&body->scope,
						     f->output[i]);

		if (slot && to && slot->tensor) {
			/* An input that is also an output, or an output that is
			 * listed twice. */
			import_add_node(imp, "", "Identity", call->name,
					&slot->tensor, 1, &to, 1, body->origin,
					version);
		} else if (slot && to) {
			return bad_call(imp, item,
					"an output of its function is an "
					"input that the call omits");
		} else if (!slot && to) {
			scope_add(&body->scope, f->output[i], to)->open = true;
		}
	}
	return true;
}

const char *
import_prefix(struct importer *imp, const struct body *caller,
	      const Onnx__NodeProto *call)
{
	const char *name = call->name && *call->name ? call->name
			   : call->n_output > 0      ? call->output[0]
						     : call->op_type;
	const char *base = strlen(caller->prefix) > 200 ? "" : caller->prefix;
	const char *prefix = arena_printf(&imp->tmp, "%s%.200s/", base, name);
	struct scope_slot *first = scope_find(&imp->call_names, prefix);
	int copies = first ? first->copies : 0;

	/* The second call of the function has the number 2, and so on. */
	for (int n = copies + 1; first && scope_find(&imp->call_names, prefix);
	     n++) {
		prefix = arena_printf(&imp->tmp, "%s%.200s_%d/", base, name, n);
		copies = n;
	}
	if (first) {
		first->copies = copies;
	}
	scope_add(&imp->call_names, prefix, NULL)->copies = 1;
	return prefix;
}

static bool
is_inside_of(const struct body *body, const Onnx__FunctionProto *f)
{
	for (; body; body = body->caller) {
		if (body->function == f) {
			return true;
		}
	}
	return false;
}

bool
function_inline(struct importer *imp, const struct body *caller,
		struct local_function *local, const Onnx__NodeProto *call,
		const char *item, int origin)
{
	const Onnx__FunctionProto *f = local->proto;
	attr_list *attrs = arena_new(&imp->tmp, attr_list);
	struct body *body = arena_new(&imp->tmp, struct body);

	*body = (struct body){
		.caller = caller,
		.function = f,
		.source = local->source,
		.where = arena_printf(&imp->tmp, " of function %s",
				      import_quote(&imp->tmp, f->name)),
		.nodes = f->node,
		.n_nodes = f->n_node,
		.opsets = f->opset_import,
		.n_opsets = f->n_opset_import,
		.prefix = import_prefix(imp, caller, call),
		.origin = origin,
		.within = -1,
		.depth = caller->depth + 1,
		.flow = place_of_body(imp, caller),
		.attrs = attrs,
		.local = local,
	};
	if (is_inside_of(caller, f)) {
		return bad_call(imp, item,
				"its function calls itself, directly or "
				"through others");
	}
	if (body->depth > ONNX_MAX_CALL_DEPTH) {
		return diag_error(
			&imp->m->diags, DIAG_TOO_LARGE, import_place(imp, item),
			"calls of functions are nested more than %d deep; "
			"inline some of them (onnx.inliner)",
			ONNX_MAX_CALL_DEPTH);
	}
	scope_init(&body->scope, &imp->tmp);
	return import_attributes(imp, caller, call, item, attrs) &&
	       bind_inputs(imp, caller, f, call, item, body) &&
	       bind_outputs(imp, caller, f, call, item, body,
			    GRAPH_CANONICAL_OPSET) &&
	       import_body(imp, body);
}
