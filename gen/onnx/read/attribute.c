/* SPDX-License-Identifier: Apache-2.0 */
/* Attributes of nodes, and Constant nodes, which have only an attribute. */
#include "importer.h"

/* AttributeProto.AttributeType */
enum {
	TYPE_NONE = 0,
	TYPE_FLOAT = 1,
	TYPE_INT = 2,
	TYPE_STRING = 3,
	TYPE_TENSOR = 4,
	TYPE_GRAPH = 5,
	TYPE_FLOATS = 6,
	TYPE_INTS = 7,
	TYPE_STRINGS = 8
};

/* The type of an attribute. Files of IR version 2 or older do not store it;
 * then the type follows from the field that is set. */
static int
attribute_type(const Onnx__AttributeProto *p)
{
	if (p->has_type && p->type != TYPE_NONE) {
		return p->type;
	}
	return p->has_f           ? TYPE_FLOAT
	       : p->has_i         ? TYPE_INT
	       : p->has_s         ? TYPE_STRING
	       : p->t             ? TYPE_TENSOR
	       : p->g             ? TYPE_GRAPH
	       : p->n_floats > 0  ? TYPE_FLOATS
	       : p->n_ints > 0    ? TYPE_INTS
	       : p->n_strings > 0 ? TYPE_STRINGS
				  : TYPE_NONE;
}

static bool
bad_attribute(struct importer *imp, const char *item, const char *name,
	      const char *problem)
{
	return diag_error(&imp->m->diags, DIAG_BAD_ATTRIBUTE,
			  import_place(imp, item),
			  "its attribute %s %s; export the model again",
			  import_quote(&imp->tmp, name), problem);
}

static void
copy_lists(struct arena *a, const Onnx__AttributeProto *p, struct attr *out)
{
	if (out->kind == ATTR_INTS) {
		out->n = (int)p->n_ints;
		out->ints = arena_copy(a, p->n_ints ? p->ints : &(int64_t){ 0 },
				       (p->n_ints + !p->n_ints) *
					       sizeof *p->ints);
	} else if (out->kind == ATTR_FLOATS) {
		double *floats = arena_array(a, double, p->n_floats + 1);

		out->n = (int)p->n_floats;
		for (size_t i = 0; i < p->n_floats; i++) {
			floats[i] = (double)p->floats[i];
		}
		out->floats = floats;
	} else if (out->kind == ATTR_STRINGS) {
		const char **strings = arena_array(a, const char *,
						   p->n_strings + 1);

		out->n = (int)p->n_strings;
		for (size_t i = 0; i < p->n_strings; i++) {
			strings[i] =
				arena_strndup(a,
					      (const char *)p->strings[i].data,
					      p->strings[i].len);
		}
		out->strings = strings;
	}
}

static bool
read_tensor(struct importer *imp, const struct tensor_source *source,
	    const Onnx__AttributeProto *p, const char *item, struct attr *out)
{
	struct tensor_content c;

	if (!p->t) {
		return bad_attribute(imp, item, p->name, "has no tensor");
	}
	item = arena_printf(&imp->tmp, "%s, attribute %s", item,
			    import_quote(&imp->tmp, p->name));
	if (!tensor_read(source, p->t, item, &c)) {
		return false;
	}
	out->tensor = c.value;
	out->is_string = c.is_string;
	out->tensor_ndim = c.ndim;
	out->tensor_shape = c.shape;
	return true;
}

bool
import_attribute(struct importer *imp, const struct tensor_source *source,
		 const Onnx__AttributeProto *p, const char *item,
		 struct attr *out)
{
	struct arena *a = &imp->m->arena;

	*out = (struct attr){ 0 };
	switch (attribute_type(p)) {
	case TYPE_FLOAT:
		out->kind = ATTR_FLOAT;
		out->f = (double)p->f;
		break;
	case TYPE_INT:
		out->kind = ATTR_INT;
		out->i = p->i;
		break;
	case TYPE_STRING:
		out->kind = ATTR_STRING;
		out->s = arena_strndup(a, p->s.data ? (char *)p->s.data : "",
				       p->s.len);
		out->s_len = p->s.len;
		break;
	case TYPE_TENSOR:
		out->kind = ATTR_TENSOR;
		if (!read_tensor(imp, source, p, item, out)) {
			return false;
		}
		break;
	case TYPE_FLOATS:
		out->kind = ATTR_FLOATS;
		break;
	case TYPE_INTS:
		out->kind = ATTR_INTS;
		break;
	case TYPE_STRINGS:
		out->kind = ATTR_STRINGS;
		break;
	default:
		return true;
	}
	if (p->n_ints > 1 << 24 || p->n_floats > 1 << 24 ||
	    p->n_strings > 1 << 24) {
		return bad_attribute(imp, item, p->name, "is far too long");
	}
	copy_lists(a, p, out);
	out->name = arena_strdup(a, p->name);
	return true;
}

/* Sets *out to the function's default of an attribute, for a call without the
 * attribute; to NULL if there is no default. False after a diagnostic. */
static bool
default_of_function(struct importer *imp, struct local_function *f,
		    const char *name, const char *item, const struct attr **out)
{
	Onnx__AttributeProto **list = f->proto->attribute_proto;
	int n = (int)f->proto->n_attribute_proto, i;
	struct attr one;

	*out = NULL;
	if (!f->defaults) {
		f->defaults = arena_array(&imp->tmp, const struct attr *,
					  n + 1);
		text_map_init(&f->attributes, &imp->tmp);
		for (i = 0; i < n; i++) {
			if (list[i]->name) {
				text_map_add(&f->attributes, list[i]->name, i);
			}
		}
	}
	i = text_map_get(&f->attributes, name, -1);
	if (i < 0) {
		return true;
	}
	if (!f->defaults[i]) {
		if (!import_attribute(imp, f->source, list[i], item, &one)) {
			return false;
		}
		f->defaults[i] = arena_copy(&imp->tmp, &one, sizeof one);
	}
	*out = f->defaults[i]->name ? f->defaults[i] : NULL;
	return true;
}

/* Sets *out to the attribute `name` to which an attribute in a function's body
 * refers: the value in the call, else the function's default; NULL if there is
 * no value and no default. False after a diagnostic. */
static bool
find_reference(struct importer *imp, const struct body *body, const char *name,
	       const char *item, const struct attr **out)
{
	for (int i = 0; body->attrs && i < body->attrs->n; i++) {
		if (strcmp(body->attrs->data[i].name, name) == 0) {
			*out = &body->attrs->data[i];
			return true;
		}
	}
	*out = NULL;
	return !body->local ||
	       default_of_function(imp, body->local, name, item, out);
}

/* Is `name` the name of an attribute in which a pass stores a property that it
 * has proven, for a node of any operator? ONNX has no attributes of these
 * names; if a model has one, it is dropped. */
static bool
is_note(const char *name)
{
	static const char *const notes[] = {
		"a_zero",  "b_zero", "constant_channels", "model_channels",
		"outside", "stem",   "shifted_most",      "sum_most",
		"title",   "x_zero",
	};

	for (size_t i = 0; i < sizeof notes / sizeof *notes; i++) {
		if (strcmp(name, notes[i]) == 0) {
			return true;
		}
	}
	return false;
}

bool
import_attributes(struct importer *imp, const struct body *body,
		  const Onnx__NodeProto *p, const char *item, attr_list *out)
{
	struct arena *a = &imp->m->arena;
	struct text_map names;

	text_map_init(&names, &imp->tmp);
	for (size_t i = 0; i < p->n_attribute; i++) {
		const Onnx__AttributeProto *ap = p->attribute[i];
		struct attr attr = { 0 };

		if (!ap->name || !*ap->name) {
			return bad_attribute(imp, item, "", "has no name");
		}
		if (ap->ref_attr_name && *ap->ref_attr_name) {
			const struct attr *from;

			if (!find_reference(imp, body, ap->ref_attr_name, item,
					    &from)) {
				return false;
			}
			if (!from) {
				continue;
			}
			attr = *from;
			attr.name = arena_strdup(a, ap->name);
		} else if (!import_attribute(imp, body->source, ap, item,
					     &attr)) {
			return false;
		}
		if (!attr.name || is_note(attr.name)) {
			continue;
		}
		if (!text_map_add(&names, attr.name, 0)) {
			return bad_attribute(imp, item, attr.name,
					     "is given twice");
		}
		vec_push(a, out, attr);
	}
	return true;
}

static const struct value *
make_value(struct arena *a, enum dtype_kind kind, int64_t n, const void *data)
{
	struct value *v = arena_new(a, struct value);

	v->type = dtype_of(kind);
	v->elems = n;
	v->bytes = (size_t)n * (size_t)dtype_bytes(v->type);
	v->data = data;
	return v;
}

static const struct value *
float_value(struct arena *a, const double *from, int n)
{
	float *to = arena_array(a, float, n + 1);

	for (int i = 0; i < n; i++) {
		to[i] = (float)from[i];
	}
	return make_value(a, DT_F32, n, to);
}

void
strings_content(struct arena *a, const char *const *strings, int n,
		struct tensor_content *out)
{
	size_t width = 1;
	uint8_t *data;

	for (int i = 0; i < n; i++) {
		size_t length = strlen(strings[i]);

		width = length >= width ? length + 1 : width;
	}
	data = arena_alloc(a, (size_t)n * width + 1);
	for (int i = 0; i < n; i++) {
		memcpy(data + (size_t)i * width, strings[i],
		       strlen(strings[i]));
	}
	*out = (struct tensor_content){
		.ndim = 2,
		.shape = arena_array(a, int64_t, 3),
		.value = make_value(a, DT_U8, n * (int64_t)width, data),
		.is_string = true,
	};
	out->shape[0] = n;
	out->shape[1] = (int64_t)width;
}

bool
import_constant(struct importer *imp, const struct body *body,
		const Onnx__NodeProto *p, const char *item, struct tensor *t)
{
	struct arena *a = &imp->m->arena;
	struct tensor_content c = { 0 };
	attr_list attrs = { 0 };
	int64_t n;

	if (!import_attributes(imp, body, p, item, &attrs)) {
		return false;
	}
	if (attrs.n != 1) {
		return diag_error(
			&imp->m->diags, DIAG_BAD_ATTRIBUTE,
			import_place(imp, item),
			"it must have exactly one attribute that is a dense "
			"value; it has %d",
			attrs.n);
	}
	const struct attr *v = &attrs.data[0];

	n = v->n;
	if (strcmp(v->name, "value") == 0 && v->kind == ATTR_TENSOR) {
		c.value = v->tensor;
		c.is_string = v->is_string;
		c.ndim = v->tensor_ndim;
		c.shape = arena_copy(a, v->tensor_shape,
				     sizeof(int64_t) * (size_t)(c.ndim + 1));
	} else if (strcmp(v->name, "value_int") == 0 && v->kind == ATTR_INT) {
		c.value = make_value(a, DT_I64, 1,
				     arena_copy(a, &v->i, sizeof v->i));
	} else if (strcmp(v->name, "value_ints") == 0 && v->kind == ATTR_INTS) {
		c.value = make_value(a, DT_I64, n, v->ints);
		c.ndim = 1;
		c.shape = &n;
	} else if (strcmp(v->name, "value_float") == 0 &&
		   v->kind == ATTR_FLOAT) {
		c.value = float_value(a, &v->f, 1);
	} else if (strcmp(v->name, "value_floats") == 0 &&
		   v->kind == ATTR_FLOATS) {
		c.value = float_value(a, v->floats, v->n);
		c.ndim = 1;
		c.shape = &n;
	} else if (strcmp(v->name, "value_string") == 0 &&
		   v->kind == ATTR_STRING) {
		strings_content(a, &v->s, 1, &c);
		c.ndim = 1;
		c.shape += 1;
	} else if (strcmp(v->name, "value_strings") == 0 &&
		   v->kind == ATTR_STRINGS) {
		strings_content(a, v->strings, v->n, &c);
	} else {
		return diag_error(
			&imp->m->diags, DIAG_UNSUPPORTED,
			import_place(imp, item),
			"its attribute %s is not a dense tensor; other kinds "
			"are not supported",
			import_quote(&imp->tmp, v->name));
	}
	import_set_value(imp, t, &c);
	return true;
}
