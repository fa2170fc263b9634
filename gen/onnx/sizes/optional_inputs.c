/* SPDX-License-Identifier: Apache-2.0 */
/* Types within optional and sequence types. */
#include "import_inputs.h"

/* The type inside a serialised optional or sequence type: skips tag and length
 * of field 1. */
const Onnx__TypeProto *
import_inner_type(struct importer *imp, const ProtobufCBinaryData *bytes)
{
	ProtobufCAllocator allocator = import_allocator(&imp->tmp);
	size_t at = 1, length = 0;
	unsigned shift = 0;

	if (bytes->len == 0 || bytes->data[0] != 0x0a) {
		return NULL;
	}
	while (at < bytes->len && shift < 28) {
		uint8_t b = bytes->data[at++];

		length |= (size_t)(b & 0x7f) << shift;
		shift += 7;
		if (b < 0x80) {
			break;
		}
	}
	return length > bytes->len - at
		       ? NULL
		       : onnx__type_proto__unpack(&allocator, length,
						  bytes->data + at);
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
