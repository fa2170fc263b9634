/* SPDX-License-Identifier: Apache-2.0 */
/* Imports the nodes of a body. First every output gets a tensor, then nodes are
 * made and calls are inlined: the order of the nodes in the file does not
 * matter. */
#include "bodies.h"

#define MAX_MISSING 10

const char *
import_domain(const char *domain)
{
	return !domain || strcmp(domain, "ai.onnx") == 0 ? "" : domain;
}

/* The description of a node in messages: "node 12 Conv 'conv1'". */
static const char *
import_node_item(struct importer *imp, const struct body *body, int index,
		 const Onnx__NodeProto *p)
{
	struct arena *a = &imp->tmp;
	const char *name = p->name && *p->name
				   ? arena_printf(a, " %s",
						  import_quote(a, p->name))
				   : "";

	return arena_printf(a, "node %d %.100s%s%s", index,
			    p->op_type ? p->op_type : "", name, body->where);
}

/* The opset version of a domain in a body; false if it does not import the
 * domain. */
static bool
import_opset(const struct body *body, const char *domain, int64_t *version)
{
	for (size_t i = 0; i < body->n_opsets; i++) {
		if (strcmp(import_domain(body->opsets[i]->domain), domain) ==
		    0) {
			*version = body->opsets[i]->version;
			return true;
		}
	}
	return body->caller && import_opset(body->caller, domain, version);
}

struct node *
import_add_node(struct importer *imp, const char *domain, const char *op_type,
		const char *name, struct tensor **in, int n_in,
		struct tensor **out, int n_out, int origin, int version)
{
	struct node *n = graph_node(imp->g, domain, op_type, name, in, n_in,
				    out, n_out);

	if (origin >= 0) {
		vec_push(&imp->m->arena, &n->origins, origin);
	}
	while (imp->versions.n <= n->id) {
		vec_push(&imp->tmp, &imp->versions, GRAPH_CANONICAL_OPSET);
	}
	imp->versions.data[n->id] = version;
	return n;
}

static bool
is_constant(const Onnx__NodeProto *p)
{
	return strcmp(p->op_type, "Constant") == 0 &&
	       *import_domain(p->domain) == '\0';
}

static bool
declare_outputs(struct importer *imp, struct body *body,
		const Onnx__NodeProto *p, const char *item)
{
	for (size_t i = 0; i < p->n_output; i++) {
		const char *name = p->output[i];
		struct scope_slot *slot;
		struct tensor *t;

		if (!*name) {
			continue;
		}
		slot = scope_find(&body->scope, name);
		if (slot && slot->open) {
			slot->open = false;
			continue;
		}
		if (slot) {
			return diag_error(
				&imp->m->diags, DIAG_DUPLICATE_TENSOR,
				import_place(imp, item),
				"its output %s already is the name of an "
				"input, a constant or another node's output; "
				"rename one",
				import_quote(&imp->tmp, name));
		}
		t = graph_tensor(imp->g,
				 body->caller ? arena_printf(&imp->tmp, "%s%s",
							     body->prefix, name)
					      : name);
		if (!body->caller) {
			t->model_name = arena_strdup(&imp->m->arena, name);
		}
		scope_add(&body->scope, name, t);
	}
	return true;
}

struct scope_slot *
import_lookup(const struct body *body, const char *name)
{
	struct scope_slot *slot = NULL;

	for (; body != NULL && slot == NULL; body = body->outer) {
		slot = scope_find(&body->scope, name);
	}
	return slot;
}

/* The tensor of a node's input; NULL if the input is omitted. A name that no
 * node produces is counted, and the first MAX_MISSING of such names are
 * reported; the import fails after all of them are found. */
static struct tensor *
find_input(struct importer *imp, const struct body *body, const char *name,
	   const char *item)
{
	const struct scope_slot *slot;

	if (!*name) {
		return NULL;
	}
	slot = import_lookup(body, name);
	if (slot) {
		return slot->tensor;
	}
	if (++imp->n_missing <= MAX_MISSING) {
		diag_error(&imp->m->diags, DIAG_MISSING_TENSOR,
			   import_place(imp, item),
			   "its input %s is not a graph input, a constant or "
			   "a node's output; correct the name or add it",
			   import_quote(&imp->tmp, name));
	}
	return NULL;
}

static bool
node_version(struct importer *imp, const struct body *body,
	     const Onnx__NodeProto *p, const char *item, int *version)
{
	const char *domain = import_domain(p->domain);
	int64_t v = GRAPH_CANONICAL_OPSET;

	*version = GRAPH_CANONICAL_OPSET;
	if (*domain) {
		return true;
	}
	if (!import_opset(body, "", &v)) {
		return diag_error(
			&imp->m->diags, DIAG_UNSUPPORTED_OPSET,
			import_place(imp, item),
			"the model does not give the version of its operator "
			"set; export it again");
	}
	if (v < ONNX_OLDEST_OPSET || v > ONNX_NEWEST_OPSET) {
		return diag_error(
			&imp->m->diags, DIAG_UNSUPPORTED_OPSET,
			import_place(imp, item),
			"the model uses version %lld of ONNX's operator set; "
			"tirc reads versions %d to %d: convert it with "
			"onnx.version_converter",
			(long long)v, ONNX_OLDEST_OPSET, ONNX_NEWEST_OPSET);
	}
	*version = (int)v;
	return true;
}

/* The attributes xs, zs and y of Gradient name tensors: appends these tensors
 * to its inputs, NULL for a name without a tensor. */
static void
add_named(struct importer *imp, const struct body *body,
	  const Onnx__NodeProto *p, const attr_list *attrs, tensor_list *in)
{
	static const char *const names[] = { "xs", "zs", "y" };

	if (strcmp(import_domain(p->domain), "ai.onnx.preview.training") != 0 ||
	    strcmp(p->op_type, "Gradient") != 0) {
		return;
	}
	for (int k = 0; k < 3; k++) {
		for (int i = 0; i < attrs->n; i++) {
			const struct attr *a = &attrs->data[i];
			bool is_list = a->kind == ATTR_STRINGS;

			if (strcmp(a->name, names[k]) != 0 ||
			    (!is_list && a->kind != ATTR_STRING)) {
				continue;
			}
			for (int j = 0; j < (is_list ? a->n : 1); j++) {
				const char *name = is_list ? a->strings[j]
							   : a->s;
				const struct scope_slot *slot =
					import_lookup(body, name);

				vec_push(&imp->tmp, in,
					 slot ? slot->tensor : NULL);
			}
		}
	}
}

static bool
make_node(struct importer *imp, const struct body *body,
	  const Onnx__NodeProto *p, const char *item, int origin)
{
	struct arena *a = &imp->m->arena;
	tensor_list in = { 0 };
	struct tensor **out = arena_array(&imp->tmp, struct tensor *,
					  p->n_output + 1);
	int n_in = (int)p->n_input, n_out = (int)p->n_output, version;
	attr_list attrs = { 0 };
	const char *name = p->name ? p->name : "";

	/* Only the importer and passes may make nodes of the domain tirc: the
	 * kernels of such nodes rely on properties that the importer or a pass
	 * has proven. */
	if (strcmp(import_domain(p->domain), "tirc") == 0) {
		return diag_error(&imp->m->diags, DIAG_UNSUPPORTED_OPERATOR,
				  import_place(imp, item),
				  "operator tirc.%s is not for models; express "
				  "it by other operators",
				  p->op_type);
	}
	if (!node_version(imp, body, p, item, &version) ||
	    !import_attributes(imp, body, p, item, &attrs)) {
		return false;
	}
	for (int i = 0; i < n_in; i++) {
		vec_push(&imp->tmp, &in,
			 find_input(imp, body, p->input[i], item));
	}
	for (int i = 0; i < n_out; i++) {
		const struct scope_slot *slot =
			*p->output[i] ? scope_find(&body->scope, p->output[i])
				      : NULL;

		out[i] = slot ? slot->tensor : NULL;
	}
	/* Omitted inputs at the end are removed. */
	while (n_in > 0 && !*p->input[n_in - 1]) {
		n_in--;
	}
	in.n = n_in;
	deferred_captures(imp, body, p, &in);
	add_named(imp, body, p, &attrs, &in);
	if (*body->prefix && *name) {
		name = arena_printf(&imp->tmp, "%s%s", body->prefix, name);
	}
	struct node *n = import_add_node(imp, import_domain(p->domain),
					 p->op_type, name, in.data, in.n, out,
					 n_out, origin, version);

	for (int i = 0; i < attrs.n; i++) {
		vec_push(a, &n->attrs, attrs.data[i]);
	}
	place_node(imp, n, place_of_body(imp, body));
	if (is_deferred_operator(imp, p)) {
		deferred_add(imp, n, p, body, &attrs, n_in, origin);
	}
	return true;
}

/* The origin of node p of the body, whose position is index. A nested graph may
 * be imported several times, as the iterations of a loop: its node has the same
 * origin each time. */
static int
origin_of(struct importer *imp, const struct body *body,
	  const Onnx__NodeProto *p, int index)
{
	struct arena *a = &imp->m->arena;
	int known = pointer_map_get(&imp->origin_of, p, -1);
	struct origin o = {
		.index = index,
		.within = body->within,
		.name = arena_strdup(a, p->name ? p->name : ""),
		.op_type = arena_strdup(a, p->op_type),
		.output = "",
	};

	if (known >= 0) {
		return known;
	}
	for (size_t i = p->n_output; i-- > 0;) {
		if (*p->output[i]) {
			o.output = arena_strdup(a, p->output[i]);
		}
	}
	vec_push(a, &imp->g->origins, o);
	pointer_map_put(&imp->origin_of, p, imp->g->origins.n - 1);
	return imp->g->origins.n - 1;
}

static bool
constant_node(struct importer *imp, const struct body *body,
	      const Onnx__NodeProto *p, const char *item, int origin)
{
	struct scope_slot *slot = p->n_output == 1 && *p->output[0]
					  ? scope_find(&body->scope,
						       p->output[0])
					  : NULL;
	struct node of = { .graph = imp->g };

	if (p->n_output == 1 && !slot) {
		return true; /* an output without a name cannot be read */
	}
	if (!slot) {
		return diag_error(
			&imp->m->diags, DIAG_BAD_MODEL, import_place(imp, item),
			"a Constant has one output; export the model again");
	}
	if (body->origin < 0) {
		imp->g->origins.data[origin].pass = "import";
		imp->g->origins.data[origin].fate = "a Constant is its value";
	}
	vec_push(&imp->m->arena, &of.origins, origin);
	graph_made_of(imp->g, slot->tensor, "", &of, NULL, 0);
	return import_constant(imp, body, p, item, slot->tensor);
}

/* Tells the user, once for each function of --functions, that it replaces an
 * operator that tirc knows. */
static void
tell_replaced(struct importer *imp, struct local_function *f,
	      const Onnx__NodeProto *call)
{
	const char *domain = import_domain(call->domain);

	if (f->source == &imp->source || f->told ||
	    !imp->knows_operator(domain, call->op_type)) {
		return;
	}
	f->told = true;
	import_assume(imp,
		      arena_printf(&imp->m->arena,
				   "the operator %s%s%s, which tirc knows, is "
				   "the function of %s (--functions)",
				   domain, *domain ? "." : "", call->op_type,
				   f->source->path));
}

/* The largest number of nodes that inlining may make. For nodes of functions:
 * one for each byte of the model, whose file has tens of bytes for each
 * node. */
static int64_t
most_inlined(const struct importer *imp, const struct body *body)
{
	const int64_t bytes = body->function != NULL ? imp->m->quota.input_bytes
						     : ONNX_MAX_INLINED;

	return bytes < ONNX_LEAST_INLINED ? ONNX_LEAST_INLINED
	       : bytes > ONNX_MAX_INLINED ? ONNX_MAX_INLINED
					  : bytes;
}

static bool
import_node(struct importer *imp, struct body *body, const Onnx__NodeProto *p,
	    int index, const char *item)
{
	struct local_function *f = function_find(imp, p);
	int origin = body->origin < 0 ? origin_of(imp, body, p, index)
				      : body->origin;

	if (!quota_check_memory(imp->m, import_place(imp, item), 0)) {
		return false;
	}
	if (body->caller && ++imp->n_work > most_inlined(imp, body)) {
		return diag_error(
			&imp->m->diags, DIAG_TOO_LARGE, import_place(imp, item),
			"the inlined functions have more than %lld nodes, the "
			"most for a model of %lld bytes; use fewer calls",
			(long long)most_inlined(imp, body),
			(long long)imp->m->quota.input_bytes);
	}
	if (f) {
		tell_replaced(imp, f, p);
		for (size_t i = 0; i < p->n_input; i++) {
			find_input(imp, body, p->input[i], item);
		}
		return function_inline(imp, body, f, p, item, origin);
	}
	return is_constant(p) ? constant_node(imp, body, p, item, origin)
			      : make_node(imp, body, p, item, origin);
}

static bool
check_closed(struct importer *imp, const struct body *body)
{
	for (uint32_t i = 0; i < body->scope.cap; i++) {
		if (body->scope.slot[i].open) {
			return diag_error(
				&imp->m->diags, DIAG_MISSING_TENSOR,
				import_place(
					imp,
					arena_printf(
						&imp->tmp, "function %s",
						import_quote(&imp->tmp,
							     body->function
								     ->name))),
				"no node computes its output %s; export the "
				"model again",
				import_quote(&imp->tmp,
					     body->scope.slot[i].name));
		}
	}
	return true;
}

bool
import_body(struct importer *imp, struct body *body)
{
	const char **items = arena_array(&imp->tmp, const char *,
					 body->n_nodes + 1);

	for (size_t i = 0; i < body->n_nodes; i++) {
		const Onnx__NodeProto *p = body->nodes[i];

		items[i] = import_node_item(imp, body, (int)i, p);
		if (!p->op_type || !*p->op_type) {
			return diag_error(
				&imp->m->diags, DIAG_BAD_MODEL,
				import_place(imp, items[i]),
				"it has no operator type; export the model "
				"again");
		}
		if (!declare_outputs(imp, body, p, items[i])) {
			return false;
		}
	}
	if (!check_closed(imp, body)) {
		return false;
	}
	for (size_t i = 0; i < body->n_nodes; i++) {
		if (!import_node(imp, body, body->nodes[i], (int)i, items[i])) {
			return false;
		}
	}
	return imp->n_missing == 0;
}
