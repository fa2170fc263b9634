/* SPDX-License-Identifier: Apache-2.0 */
/* Protobuf's wire format, checked byte by byte, and the slim copy of a model:
 * everything but the contents of tensors, which stay in the file. */
#ifndef TIRC_ONNX_WIRE_H
#define TIRC_ONNX_WIRE_H

#include "arena.h"

enum wire_type { WIRE_VARINT = 0, WIRE_I64 = 1, WIRE_BYTES = 2, WIRE_I32 = 5 };

/* Messages that the slim copy descends into. */
enum wire_message {
	WIRE_MODEL,
	WIRE_GRAPH,
	WIRE_NODE,
	WIRE_ATTRIBUTE,
	WIRE_TENSOR,
	WIRE_FUNCTION,
	WIRE_VALUE_INFO,
	WIRE_TYPE,
	WIRE_TYPE_TENSOR,
	WIRE_SHAPE,
	WIRE_DIMENSION,
	WIRE_ENTRY,
	WIRE_OPSET,
	WIRE_MESSAGE_COUNT
};

struct wire_field {
	uint32_t number;
	enum wire_type type;
	uint64_t value;      /* VARINT, I64, I32 */
	const uint8_t *data; /* BYTES */
	size_t length;       /* BYTES */
};

struct wire_reader {
	const uint8_t *at, *end;
};

bool wire_varint(struct wire_reader *r, uint64_t *value);
/* The next field; false at the end and on malformed bytes (then at != end). */
bool wire_next(struct wire_reader *r, struct wire_field *f);

/* Appends to out the message of the given kind at data[0..length), without
 * unknown fields and with the contents of tensors replaced by their offset in
 * data. False if it is malformed or nested too deeply: *bad is the offset of
 * the first wrong byte, *why the reason. */
bool wire_slim(const uint8_t *data, size_t length, enum wire_message kind,
	       struct strbuf *out, size_t *bad, const char **why);

/* -- wire_put.c: messages under construction, field by field */

void wire_put_varint(struct strbuf *out, uint64_t value); /* without a key */
void wire_put_int(struct strbuf *out, uint32_t field, int64_t value);
void wire_put_float(struct strbuf *out, uint32_t field, float value);
void wire_put_bytes(struct strbuf *out, uint32_t field, const char *data,
		    size_t length);
/* Begins a message, or a packed list, of a field; what is appended up to wire_close
 * of the result is in it. */
size_t wire_open(struct strbuf *out, uint32_t field);
/* False: it has more than 2 GB. */
bool wire_close(struct strbuf *out, size_t start);

#endif
