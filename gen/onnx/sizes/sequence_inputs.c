/* SPDX-License-Identifier: Apache-2.0 */
/* Inputs that are sequences become one input for each element; --sequence gives
 * the number of elements. Each element has sizes of its own, whose names end in
 * the element's number.
 *
 *	model			x: a sequence of tensors [n, 4]
 *	--sequence x=2		x_0: [n_0, 4], x_1: [n_1, 4] */
#include "import_inputs.h"
#include "size_names.h"

#define DIM_PARAM ONNX__TENSOR_SHAPE_PROTO__DIMENSION__VALUE_DIM_PARAM

static const struct sequence_length *
find_length(struct importer *imp, const char *name)
{
	for (int i = 0; i < imp->options->n_sequences; i++) {
		if (strcmp(imp->options->sequences[i].name, name) == 0) {
			imp->length_used[i] = true;
			return &imp->options->sequences[i];
		}
	}
	return NULL;
}

bool
import_lengths_used(struct importer *imp)
{
	for (int i = 0; i < imp->options->n_sequences; i++) {
		if (!imp->length_used[i]) {
			return diag_error(
				&imp->m->diags, DIAG_BAD_OPTION,
				(struct diag_place){ .file = imp->source.path },
				"--sequence: the model has no input %s that is "
				"a sequence or an optional",
				import_quote(&imp->tmp,
					     imp->options->sequences[i].name));
		}
	}
	return true;
}

/* The type of element k of an input that is a sequence of the given type. */
static Onnx__TypeProto *
element_type(struct importer *imp, const Onnx__TypeProto *type, int k)
{
	struct arena *a = &imp->tmp;
	Onnx__TypeProto *out = arena_copy(a, type, sizeof *type);
	Onnx__TypeProto__Tensor *tensor;
	Onnx__TensorShapeProto *shape;

	if (!type->tensor_type || !type->tensor_type->shape) {
		return out;
	}
	tensor = arena_copy(a, type->tensor_type, sizeof *tensor);
	shape = arena_copy(a, tensor->shape, sizeof *shape);
	out->tensor_type = tensor;
	tensor->shape = shape;
	shape->dim = arena_array(a, Onnx__TensorShapeProto__Dimension *,
				 (int)shape->n_dim + 1);
	for (size_t d = 0; d < shape->n_dim; d++) {
		Onnx__TensorShapeProto__Dimension *dim =
			arena_copy(a, type->tensor_type->shape->dim[d],
				   sizeof *dim);

		if (dim->value_case == DIM_PARAM &&
		    size_is_name(dim->dim_param)) {
			dim->dim_param = arena_printf(a, "%s_%d",
						      dim->dim_param, k);
		}
		shape->dim[d] = dim;
	}
	return out;
}

bool
import_sequence_input(struct importer *imp, Onnx__ValueInfoProto *p,
		      info_list *list, struct input_sequence *out,
		      bool *is_sequence)
{
	const Onnx__TypeProto *type = p->type;
	const struct sequence_length *length = find_length(imp, p->name);
	bool is_optional = type && type->has_optional_type;
	bool none = length && length->n < 0;

	if (is_optional) {
		type = import_inner_type(imp, &type->optional_type);
	}
	*is_sequence = (type && type->has_sequence_type) ||
		       (is_optional && none);
	out->name = p->name;
	if (!*is_sequence && !length) {
		return true;
	}
	if (!*is_sequence || (none && !is_optional)) {
		return diag_error(&imp->m->diags, DIAG_BAD_OPTION,
				  (struct diag_place){
					  .file = imp->source.path },
				  "--sequence: the input %s is not %s",
				  import_quote(&imp->tmp, p->name),
				  none ? "optional" : "a sequence");
	}
	if (!length) {
		return diag_error(
			&imp->m->diags, DIAG_UNKNOWN_SHAPE,
			import_place(imp, arena_printf(&imp->tmp, "input %s",
						       import_quote(&imp->tmp,
								    p->name))),
			"it is a sequence; give the number of its elements "
			"with --sequence %s=N",
			p->name);
	}
	out->n = length->n;
	type = none ? NULL : import_inner_type(imp, &type->sequence_type);
	if (!none && !type) {
		return diag_error(&imp->m->diags, DIAG_BAD_MODEL,
				  import_place(imp, p->name),
				  "its sequence has no type of elements; "
				  "export the model again");
	}
	for (int k = 0; k < length->n; k++) {
		Onnx__ValueInfoProto *one = arena_copy(&imp->tmp, p, sizeof *p);

		one->name = arena_printf(&imp->tmp, "%s_%d", p->name, k);
		one->type = element_type(imp, type, k);
		vec_push(&imp->tmp, list, one);
	}
	return true;
}
