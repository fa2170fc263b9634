/* SPDX-License-Identifier: Apache-2.0 */
/* Types of Relay's text:
 *
 *	Tensor[(1, 3, ?), float32]	float32 (a scalar)
 *	(T, T)				fn (T, T) -> T
 */
#include "relay_read.h"

static bool
read_size(struct relay_reader *r, int64_t *size)
{
	*size = -1;
	if (relay_at(r, "?") || r->next.kind == RELAY_LOCAL ||
	    relay_at_word(r, "Any")) {
		return relay_advance(r);
	}
	if (r->next.kind == RELAY_INT && r->next.i < 0) {
		return relay_fail(r, &r->next, "a size is from 0 on");
	}
	return relay_int(r, "a size, or ? for any", size);
}

static bool
read_element(struct relay_reader *r)
{
	if (r->next.kind != RELAY_WORD ||
	    !dtype_from_name(r->next.text, &r->type.type) ||
	    dtype_onnx_number(r->type.type) == 0) {
		return relay_fail(r, &r->next,
				  "a type of elements is expected here, such "
				  "as float32");
	}
	return relay_advance(r);
}

/* Reads Tensor[(…), T] from the bracket on. */
static bool
read_tensor(struct relay_reader *r)
{
	int64_t size;
	bool more;

	if (!relay_expect(r, "[", "Tensor[(1, 3), float32]") ||
	    !relay_expect(r, "(", "Tensor[(1, 3), float32]")) {
		return false;
	}
	more = !relay_at(r, ")");
	while (more) {
		if (!read_size(r, &size) || !relay_more(r, ")", &more)) {
			return false;
		}
		vec_push(r->tmp, &r->type.dims, size);
	}
	return relay_expect(r, ")", "Tensor[(1, 3), float32]") &&
	       relay_expect(r, ",", "Tensor[(1, 3), float32]") &&
	       read_element(r) &&
	       relay_expect(r, "]", "Tensor[(1, 3), float32]");
}

/* Reads (T, T) from the bracket on; *n: the number of types. */
static bool
read_types(struct relay_reader *r, int *n)
{
	bool more;

	*n = 0;
	if (!relay_expect(r, "(", "(type, type)")) {
		return false;
	}
	more = !relay_at(r, ")");
	while (more) {
		if (!relay_type(r) || !relay_more(r, ")", &more)) {
			return false;
		}
		(*n)++;
	}
	return relay_expect(r, ")", "(type, type)");
}

static bool
read_any(struct relay_reader *r)
{
	bool tuple = relay_at(r, "("), function = relay_at_word(r, "fn");
	int n;

	if (tuple || function) {
		if ((function && !relay_advance(r)) || !read_types(r, &n) ||
		    (function && (!relay_expect(r, "->", "fn (T) -> T") ||
				  !relay_type(r)))) {
			return false;
		}
		r->type.is_tensor = false;
		r->type.is_function = function;
		r->type.n_fields = n;
		return true;
	}
	r->type.is_tensor = true;
	r->type.is_function = false;
	r->type.dims.n = 0;
	if (!relay_at_word(r, "Tensor")) {
		return read_element(r);
	}
	return relay_advance(r) && read_tensor(r);
}

bool
relay_type(struct relay_reader *r)
{
	bool ok = relay_enter(r) && read_any(r);

	r->depth--;
	return ok;
}

void
relay_put_value_info(struct strbuf *out, uint32_t field, const char *name,
		     const struct relay_type *type)
{
	enum { TYPE_TENSOR = 1, TENSOR_ELEM = 1, TENSOR_SHAPE = 2 };
	size_t info = wire_open(out, field), of, tensor, shape;

	wire_put_bytes(out, INFO_NAME, name, strlen(name));
	if (type != NULL) {
		of = wire_open(out, INFO_TYPE);
		tensor = wire_open(out, TYPE_TENSOR);
		wire_put_int(out, TENSOR_ELEM, dtype_onnx_number(type->type));
		shape = wire_open(out, TENSOR_SHAPE);
		for (int d = 0; d < type->dims.n; d++) {
			size_t dim = wire_open(out, 1);

			if (type->dims.data[d] >= 0) {
				wire_put_int(out, 1, type->dims.data[d]);
			}
			wire_close(out, dim);
		}
		wire_close(out, shape);
		wire_close(out, tensor);
		wire_close(out, of);
	}
	wire_close(out, info);
}
