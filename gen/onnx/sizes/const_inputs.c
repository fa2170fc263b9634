/* SPDX-License-Identifier: Apache-2.0 */
/* Inputs whose value the user gives with --const-input become constants of the
 * graph.
 *
 *	--const-input shape=1,3,-1      elements in row-major order
 *	--const-input shape=@s.npy      an array from a file
 *
 * The same holds for the values that a program gives to the parameters of a
 * model. */
#include <errno.h>
#include <stdlib.h>

#include "import_inputs.h"

static bool
bad_value(struct importer *imp, const char *name, const char *text)
{
	return diag_error(&imp->m->diags, DIAG_BAD_OPTION,
			  (struct diag_place){ .file = imp->source.path },
			  "--const-input %s: %s", import_quote(&imp->tmp, name),
			  text);
}

/* Finds the model's input `name`; *position: the index of this input among the
 * inputs without an initializer. NULL if the model has no such input. */
static const Onnx__ValueInfoProto *
find_input(const struct importer *imp, const struct scope *scope,
	   const char *name, int *position)
{
	*position = 0;
	for (size_t i = 0; i < imp->graph->n_input; i++) {
		const Onnx__ValueInfoProto *p = imp->graph->input[i];

		if (!p->name || scope_find(scope, p->name)) {
			continue;
		}
		if (strcmp(p->name, name) == 0) {
			return p;
		}
		++*position;
	}
	return NULL;
}

/* Reads a number of type t at *at, and moves *at behind it. False if there is
 * no number at *at. */
static bool
read_number(const char **at, struct dtype t, union number *v)
{
	char *end;

	errno = 0;
	if (dtype_is_float(t)) {
		v->f = strtod(*at, &end);
		*v = number_round(t, *v);
	} else if (dtype_class(t) == DTC_UINT) {
		v->u = strtoull(*at, &end, 10);
	} else {
		v->i = strtoll(*at, &end, 10);
	}
	if (end == *at || errno != 0) {
		return false;
	}
	*at = end;
	return true;
}

/* Sets the shape of *out, whose elements are given as a list: the shape that
 * the model declares, with its one unknown size computed from the number of
 * elements; or [elements] if the model declares no shape. False after a
 * diagnostic. */
static bool
list_shape(struct importer *imp, const Onnx__ValueInfoProto *p,
	   struct array *out)
{
	const Onnx__TensorShapeProto *s = p->type->tensor_type->shape;
	int64_t known = 1;
	int open = -1;

	out->ndim = s ? (int)s->n_dim : 1;
	out->shape = arena_array(&imp->m->arena, int64_t, out->ndim + 1);
	if (!s) {
		out->shape[0] = out->elems;
		return true;
	}
	for (int d = 0; d < out->ndim; d++) {
		const Onnx__TensorShapeProto__Dimension *dim = s->dim[d];
		bool fixed =
			dim->value_case ==
			ONNX__TENSOR_SHAPE_PROTO__DIMENSION__VALUE_DIM_VALUE;

		if (fixed && dim->dim_value >= 0) {
			out->shape[d] = dim->dim_value;
			if (__builtin_mul_overflow(known, dim->dim_value,
						   &known)) {
				return false;
			}
		} else if (open >= 0) {
			return false;
		} else {
			open = d;
		}
	}
	if (open >= 0) {
		if (known == 0 || out->elems % known != 0) {
			return false;
		}
		out->shape[open] = out->elems / known;
		known = out->elems;
	}
	return known == out->elems;
}

static bool
read_list(struct importer *imp, const Onnx__ValueInfoProto *p,
	  const struct const_input *given, struct array *out)
{
	VEC(union number) list = { 0 };
	const char *at = given->text;

	if (!dtype_from_onnx(p->type->tensor_type->elem_type, &out->type) ||
	    dtype_class(out->type) == DTC_STRING) {
		return bad_value(imp, p->name,
				 "its type has no numbers; choose another "
				 "input");
	}
	for (bool more = *at != '\0'; more; at += more) {
		union number v;

		if (!read_number(&at, out->type, &v) ||
		    (*at != ',' && *at != '\0')) {
			return bad_value(imp, p->name,
					 "give numbers with commas between "
					 "them, or @FILE");
		}
		vec_push(&imp->tmp, &list, v);
		more = *at == ',';
	}
	out->elems = list.n;
	out->data = arena_alloc(&imp->m->arena,
				(size_t)list.n *
						(size_t)dtype_bytes(out->type) +
					1);
	for (int i = 0; i < list.n; i++) {
		number_store(out->type, out->data, (size_t)i, list.data[i]);
	}
	return list_shape(imp, p, out) ||
	       bad_value(imp, p->name,
			 "the number of values does not fit its shape; give "
			 "all elements, in row-major order");
}

/* Does the array have the type, and the sizes that are numbers, that the model
 * declares? */
static bool
fits(const Onnx__ValueInfoProto *p, const struct array *a)
{
	const Onnx__TypeProto__Tensor *type = p->type->tensor_type;
	int rank = a->ndim - a->is_string;
	struct dtype t;

	if (!dtype_from_onnx(type->elem_type, &t) ||
	    (a->is_string ? dtype_class(t) != DTC_STRING
			  : !dtype_equal(t, a->type))) {
		return false;
	}
	for (size_t d = 0; type->shape && d < type->shape->n_dim; d++) {
		const Onnx__TensorShapeProto__Dimension *dim =
			type->shape->dim[d];

		if (type->shape->n_dim != (size_t)rank ||
		    (dim->value_case ==
			     ONNX__TENSOR_SHAPE_PROTO__DIMENSION__VALUE_DIM_VALUE &&
		     dim->dim_value != a->shape[d])) {
			return false;
		}
	}
	return !type->shape || type->shape->n_dim == (size_t)rank;
}

static bool
add_constant(struct importer *imp, struct body *body,
	     const struct const_input *given, struct array *a)
{
	const Onnx__ValueInfoProto *p = find_input(imp, &body->scope,
						   given->name,
						   given->position);
	struct value *v = arena_new(&imp->m->arena, struct value);
	struct tensor_content c = { .value = v };
	struct tensor *t;

	if (!p) {
		return bad_value(imp, given->name,
				 "the model has no input of this name that is "
				 "not a constant already");
	}
	if (!p->type || !p->type->tensor_type) {
		return bad_value(imp, given->name,
				 "it is not a dense tensor; other kinds are "
				 "not supported");
	}
	if (given->text == NULL ? false
	    : given->text[0] != '@'
		    ? !read_list(imp, p, given, a)
		    : !imp->options->read_array(imp->m, given->text + 1,
						*given->position, a)) {
		return false;
	}
	if (!fits(p, a)) {
		return bad_value(imp, given->name,
				 "the array has another type or shape than "
				 "the model declares for it");
	}
	*v = (struct value){ .type = a->type,
			     .data = a->data,
			     .elems = a->elems,
			     .bytes = (size_t)a->elems *
				      (size_t)dtype_bytes(a->type) };
	c.ndim = a->ndim;
	c.shape = a->shape;
	c.is_string = a->is_string;
	t = graph_tensor(imp->g, p->name);
	t->model_name = arena_strdup(&imp->m->arena, p->name);
	import_set_value(imp, t, &c);
	given->array->name = t->model_name;
	return true;
}

bool
import_const_inputs(struct importer *imp, struct body *body)
{
	const struct import_options *o = imp->options;

	/* find_input() numbers the inputs without a name in the scope: the new
	 * names are added only after all inputs were found. */
	for (int i = 0; i < o->n_const_inputs; i++) {
		if (!add_constant(imp, body, &o->const_inputs[i],
				  o->const_inputs[i].array)) {
			return false;
		}
	}
	for (int i = 0; i < o->n_values; i++) {
		struct array *a = arena_copy(&imp->m->arena, &o->values[i],
					     sizeof *a);
		int position;
		const struct const_input given = { .name = a->name,
						   .position = &position,
						   .array = a };

		if (!add_constant(imp, body, &given, a)) {
			return false;
		}
	}
	for (int i = 0; i < o->n_const_inputs + o->n_values; i++) {
		int k = i - o->n_const_inputs;
		const char *name = k < 0 ? o->const_inputs[i].name
					 : o->values[k].name;

		if (scope_find(&body->scope, name)) {
			return bad_value(imp, name,
					 "it is given twice; give it once");
		}
		scope_add(&body->scope, name, graph_find_tensor(imp->g, name));
	}
	return true;
}

bool
import_is_const_input(const struct importer *imp, const char *name)
{
	for (int i = 0; i < imp->options->n_const_inputs; i++) {
		if (strcmp(imp->options->const_inputs[i].name, name) == 0) {
			return true;
		}
	}
	for (int i = 0; i < imp->options->n_values; i++) {
		if (strcmp(imp->options->values[i].name, name) == 0) {
			return true;
		}
	}
	return false;
}
