/* SPDX-License-Identifier: Apache-2.0 */
/* Writes protobuf's wire format. Lengths of messages take five bytes, because
 * they become known only at the end of the message. */
#include "wire.h"

#define LENGTH_BYTES 5

void
wire_put_varint(struct strbuf *out, uint64_t value)
{
	while (value >= 0x80) {
		strbuf_putc(out, (char)(value | 0x80));
		value >>= 7;
	}
	strbuf_putc(out, (char)value);
}

static void
put_key(struct strbuf *out, uint32_t field, enum wire_type type)
{
	wire_put_varint(out, (uint64_t)field << 3 | type);
}

void
wire_put_int(struct strbuf *out, uint32_t field, int64_t value)
{
	put_key(out, field, WIRE_VARINT);
	wire_put_varint(out, (uint64_t)value);
}

void
wire_put_float(struct strbuf *out, uint32_t field, float value)
{
	put_key(out, field, WIRE_I32);
	strbuf_write(out, (const char *)&value, sizeof value);
}

void
wire_put_bytes(struct strbuf *out, uint32_t field, const char *data,
	       size_t length)
{
	put_key(out, field, WIRE_BYTES);
	wire_put_varint(out, length);
	strbuf_write(out, data, length);
}

size_t
wire_open(struct strbuf *out, uint32_t field)
{
	put_key(out, field, WIRE_BYTES);
	strbuf_write(out, "\x80\x80\x80\x80\x00", LENGTH_BYTES);
	return out->len;
}

bool
wire_close(struct strbuf *out, size_t start)
{
	size_t n = out->len - start;

	for (int i = 0; i < LENGTH_BYTES; i++) {
		unsigned more = i < LENGTH_BYTES - 1 ? 0x80 : 0;

		out->data[start - LENGTH_BYTES + (size_t)i] =
			(char)((n >> (7 * i) & 0x7f) | more);
	}
	return n <= INT32_MAX;
}
