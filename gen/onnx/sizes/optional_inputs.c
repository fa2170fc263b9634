/* SPDX-License-Identifier: Apache-2.0 */
/* Types within optional and sequence types. */
#include "import_inputs.h"
#include "wire.h"

const Onnx__TypeProto *
import_inner_type(struct importer *imp, const ProtobufCBinaryData *bytes)
{
	ProtobufCAllocator allocator = import_allocator(&imp->tmp);
	struct wire_reader r;
	struct wire_field f;

	if (bytes->len == 0) {
		return NULL;
	}
	r = (struct wire_reader){ bytes->data, bytes->data + bytes->len };
	/* Both types, optional and sequence, have one field: the type of their
	 * elements. */
	return wire_next(&r, &f) && f.number == 1 && f.type == WIRE_BYTES
		       ? onnx__type_proto__unpack(&allocator, f.length, f.data)
		       : NULL;
}

bool
import_unwrap_optional(struct importer *imp, Onnx__ValueInfoProto *p)
{
	const Onnx__TypeProto *inner;

	if (!p->type || p->type->tensor_type || !p->type->has_optional_type) {
		return false;
	}
	inner = import_inner_type(imp, &p->type->optional_type);
	if (!inner || !inner->tensor_type) {
		return false;
	}
	p->type->tensor_type = inner->tensor_type;
	return true;
}
