/* SPDX-License-Identifier: Apache-2.0 */
/* Protobuf's wire format, checked byte by byte, and the slim copy of a model:
 * everything but the contents of tensors, which stay in the file. */
#ifndef TIRC_WIRE_H
#define TIRC_WIRE_H

#include "arena.h"

enum wire_type { WIRE_VARINT = 0, WIRE_I64 = 1, WIRE_BYTES = 2, WIRE_I32 = 5 };

/* The kinds of messages whose fields the slim copy reads. */
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
	const uint8_t *at, *end; /* the next byte, and the end of the message */
};

/* Reads a varint; false if the bytes are malformed. */
bool wire_varint(struct wire_reader *r, uint64_t *value);
/* Reads the next field to *f; false at the end (then at == end), and also if
 * the bytes are malformed. */
bool wire_next(struct wire_reader *r, struct wire_field *f);

/* Appends to `out` the slim copy of the message of the given kind in
 * data[0..length): without unknown fields, and with the contents of tensors
 * replaced by their offsets in data. False if the message is malformed or
 * nested too deeply; *bad is then the offset of the first wrong byte, *why the
 * reason. */
bool wire_slim(const uint8_t *data, size_t length, enum wire_message kind,
	       struct strbuf *out, size_t *bad, const char **why);

/* -- wire_put.c: writing messages, field by field */

/* Appends a varint, without a field number. */
void wire_put_varint(struct strbuf *out, uint64_t value);
/* The following functions append a field. */
void wire_put_int(struct strbuf *out, uint32_t field, int64_t value);
void wire_put_float(struct strbuf *out, uint32_t field, float value);
void wire_put_bytes(struct strbuf *out, uint32_t field, const char *data,
		    size_t length);
/* Begins a message or packed list in a field. Everything appended until
 * wire_close(out, result) is its content. */
size_t wire_open(struct strbuf *out, uint32_t field);
/* Ends the message or list that wire_open() began; false if it has more than 2
 * GB. */
bool wire_close(struct strbuf *out, size_t start);

#endif
