/* SPDX-License-Identifier: Apache-2.0 */
/* The slim copy of a serialised model.
 *
 *	before  ModelProto with every weight inside: 100 MB
 *	after   the same message without doc strings, metadata and contents of
 *	        tensors; each TensorProto has its offset in the file: 40 kB
 *
 * protobuf-c unpacks the slim copy. All lengths and varints are checked here,
 * and the depth of nesting is limited, so that its recursive parser reads only
 * well-formed input. Lengths of nested messages are written as varints of five
 * bytes, because they become known only at the end of the message. */
#include "wire.h"

#define MAX_DEPTH 64
/* Limits the memory that a hostile file takes: an empty message takes two bytes
 * in the file, and a hundred bytes after protobuf-c has unpacked it. */
#define MAX_MESSAGES (1L << 23)

enum action { KEEP, DESCEND, DESCEND_ONCE };

struct rule {
	enum wire_message in;
	uint32_t field;
	enum wire_type type;
	enum action action;
	enum wire_message child;
};

/* For each message, the fields that the slim copy keeps; all other fields are
 * dropped. A field of the table with another wire type is an error; repeated
 * numbers may be packed or not. */
static const struct rule rules[] = {
	{ WIRE_MODEL, 1, WIRE_VARINT, KEEP, 0 },
	{ WIRE_MODEL, 2, WIRE_BYTES, KEEP, 0 },
	{ WIRE_MODEL, 7, WIRE_BYTES, DESCEND_ONCE, WIRE_GRAPH },
	{ WIRE_MODEL, 8, WIRE_BYTES, DESCEND, WIRE_OPSET },
	{ WIRE_MODEL, 14, WIRE_BYTES, DESCEND, WIRE_ENTRY },
	{ WIRE_MODEL, 25, WIRE_BYTES, DESCEND, WIRE_FUNCTION },
	{ WIRE_GRAPH, 1, WIRE_BYTES, DESCEND, WIRE_NODE },
	{ WIRE_GRAPH, 2, WIRE_BYTES, KEEP, 0 },
	{ WIRE_GRAPH, 5, WIRE_BYTES, DESCEND, WIRE_TENSOR },
	{ WIRE_GRAPH, 11, WIRE_BYTES, DESCEND, WIRE_VALUE_INFO },
	{ WIRE_GRAPH, 12, WIRE_BYTES, DESCEND, WIRE_VALUE_INFO },
	{ WIRE_GRAPH, 13, WIRE_BYTES, DESCEND, WIRE_VALUE_INFO },
	{ WIRE_GRAPH, 15, WIRE_BYTES, KEEP, 0 },
	{ WIRE_NODE, 1, WIRE_BYTES, KEEP, 0 },
	{ WIRE_NODE, 2, WIRE_BYTES, KEEP, 0 },
	{ WIRE_NODE, 3, WIRE_BYTES, KEEP, 0 },
	{ WIRE_NODE, 4, WIRE_BYTES, KEEP, 0 },
	{ WIRE_NODE, 5, WIRE_BYTES, DESCEND, WIRE_ATTRIBUTE },
	{ WIRE_NODE, 7, WIRE_BYTES, KEEP, 0 },
	{ WIRE_NODE, 8, WIRE_BYTES, KEEP, 0 },
	{ WIRE_ATTRIBUTE, 1, WIRE_BYTES, KEEP, 0 },
	{ WIRE_ATTRIBUTE, 2, WIRE_I32, KEEP, 0 },
	{ WIRE_ATTRIBUTE, 3, WIRE_VARINT, KEEP, 0 },
	{ WIRE_ATTRIBUTE, 4, WIRE_BYTES, KEEP, 0 },
	{ WIRE_ATTRIBUTE, 5, WIRE_BYTES, DESCEND_ONCE, WIRE_TENSOR },
	{ WIRE_ATTRIBUTE, 6, WIRE_BYTES, DESCEND_ONCE, WIRE_GRAPH },
	{ WIRE_ATTRIBUTE, 7, WIRE_I32, KEEP, 0 },
	{ WIRE_ATTRIBUTE, 8, WIRE_VARINT, KEEP, 0 },
	{ WIRE_ATTRIBUTE, 9, WIRE_BYTES, KEEP, 0 },
	{ WIRE_ATTRIBUTE, 10, WIRE_BYTES, KEEP, 0 },
	{ WIRE_ATTRIBUTE, 11, WIRE_BYTES, KEEP, 0 },
	{ WIRE_ATTRIBUTE, 14, WIRE_BYTES, KEEP, 0 },
	{ WIRE_ATTRIBUTE, 15, WIRE_BYTES, KEEP, 0 },
	{ WIRE_ATTRIBUTE, 20, WIRE_VARINT, KEEP, 0 },
	{ WIRE_ATTRIBUTE, 21, WIRE_BYTES, KEEP, 0 },
	{ WIRE_ATTRIBUTE, 22, WIRE_BYTES, KEEP, 0 },
	{ WIRE_ATTRIBUTE, 23, WIRE_BYTES, KEEP, 0 },
	{ WIRE_TENSOR, 1, WIRE_VARINT, KEEP, 0 },
	{ WIRE_TENSOR, 2, WIRE_VARINT, KEEP, 0 },
	{ WIRE_TENSOR, 3, WIRE_BYTES, KEEP, 0 },
	{ WIRE_TENSOR, 8, WIRE_BYTES, KEEP, 0 },
	{ WIRE_TENSOR, 13, WIRE_BYTES, DESCEND, WIRE_ENTRY },
	{ WIRE_TENSOR, 14, WIRE_VARINT, KEEP, 0 },
	{ WIRE_FUNCTION, 1, WIRE_BYTES, KEEP, 0 },
	{ WIRE_FUNCTION, 4, WIRE_BYTES, KEEP, 0 },
	{ WIRE_FUNCTION, 5, WIRE_BYTES, KEEP, 0 },
	{ WIRE_FUNCTION, 6, WIRE_BYTES, KEEP, 0 },
	{ WIRE_FUNCTION, 7, WIRE_BYTES, DESCEND, WIRE_NODE },
	{ WIRE_FUNCTION, 9, WIRE_BYTES, DESCEND, WIRE_OPSET },
	{ WIRE_FUNCTION, 10, WIRE_BYTES, KEEP, 0 },
	{ WIRE_FUNCTION, 11, WIRE_BYTES, DESCEND, WIRE_ATTRIBUTE },
	{ WIRE_FUNCTION, 13, WIRE_BYTES, KEEP, 0 },
	{ WIRE_VALUE_INFO, 1, WIRE_BYTES, KEEP, 0 },
	{ WIRE_VALUE_INFO, 2, WIRE_BYTES, DESCEND_ONCE, WIRE_TYPE },
	{ WIRE_TYPE, 1, WIRE_BYTES, DESCEND_ONCE, WIRE_TYPE_TENSOR },
	{ WIRE_TYPE, 4, WIRE_BYTES, KEEP, 0 },
	{ WIRE_TYPE, 5, WIRE_BYTES, KEEP, 0 },
	{ WIRE_TYPE, 7, WIRE_BYTES, KEEP, 0 },
	{ WIRE_TYPE, 8, WIRE_BYTES, KEEP, 0 },
	{ WIRE_TYPE, 9, WIRE_BYTES, KEEP, 0 },
	{ WIRE_TYPE_TENSOR, 1, WIRE_VARINT, KEEP, 0 },
	{ WIRE_TYPE_TENSOR, 2, WIRE_BYTES, DESCEND_ONCE, WIRE_SHAPE },
	{ WIRE_SHAPE, 1, WIRE_BYTES, DESCEND, WIRE_DIMENSION },
	{ WIRE_DIMENSION, 1, WIRE_VARINT, KEEP, 0 },
	{ WIRE_DIMENSION, 2, WIRE_BYTES, KEEP, 0 },
	{ WIRE_ENTRY, 1, WIRE_BYTES, KEEP, 0 },
	{ WIRE_ENTRY, 2, WIRE_BYTES, KEEP, 0 },
	{ WIRE_OPSET, 1, WIRE_BYTES, KEEP, 0 },
	{ WIRE_OPSET, 2, WIRE_VARINT, KEEP, 0 },
};

/* A bound of the field numbers in the table above; the rules are indexed by
 * message and field number. */
#define MAX_FIELD 32

struct slimmer {
	const struct rule *table[WIRE_MESSAGE_COUNT][MAX_FIELD];
	const uint8_t *base;
	struct strbuf *out;
	const uint8_t *bad;
	const char *why;
	long n_messages;
};

bool
wire_varint(struct wire_reader *r, uint64_t *value)
{
	uint64_t v = 0;

	for (int shift = 0; shift < 70; shift += 7) {
		if (r->at == r->end) {
			return false;
		}
		uint8_t byte = *r->at++;
		if (shift == 63 && byte > 1) {
			return false;
		}
		v |= (uint64_t)(byte & 0x7f) << shift;
		if (!(byte & 0x80)) {
			*value = v;
			return true;
		}
	}
	return false;
}

static bool
read_fixed(struct wire_reader *r, int bytes, uint64_t *value)
{
	uint64_t v = 0;

	if (r->end - r->at < bytes) {
		return false;
	}
	for (int i = bytes - 1; i >= 0; i--) {
		v = v << 8 | r->at[i];
	}
	r->at += bytes;
	*value = v;
	return true;
}

static bool
read_field(struct wire_reader *r, struct wire_field *f)
{
	uint64_t key;

	if (!wire_varint(r, &key) || key >> 3 == 0 || key >> 32 != 0) {
		return false;
	}
	f->number = (uint32_t)(key >> 3);
	f->value = 0;
	f->data = NULL;
	f->length = 0;
	switch (key & 7) {
	case WIRE_VARINT:
		f->type = WIRE_VARINT;
		return wire_varint(r, &f->value);
	case WIRE_I64:
		f->type = WIRE_I64;
		return read_fixed(r, 8, &f->value);
	case WIRE_I32:
		f->type = WIRE_I32;
		return read_fixed(r, 4, &f->value);
	case WIRE_BYTES:
		f->type = WIRE_BYTES;
		if (!wire_varint(r, &f->value) ||
		    f->value > (uint64_t)(r->end - r->at)) {
			return false;
		}
		f->data = r->at;
		f->length = (size_t)f->value;
		r->at += f->length;
		return true;
	default: /* groups of fields, which ONNX does not use */
		return false;
	}
}

bool
wire_next(struct wire_reader *r, struct wire_field *f)
{
	const uint8_t *start = r->at;

	if (r->at == r->end) {
		return false;
	}
	if (!read_field(r, f)) {
		r->at = start;
		return false;
	}
	return true;
}

static bool
refuse(struct slimmer *s, const uint8_t *at, const char *why)
{
	s->bad = at;
	s->why = why;
	return false;
}

static bool
acceptable(const struct rule *rule, enum wire_type type)
{
	bool packed = rule->action == KEEP && type == WIRE_BYTES &&
		      ((rule->in == WIRE_TENSOR && rule->field == 1) ||
		       (rule->in == WIRE_ATTRIBUTE &&
			(rule->field == 7 || rule->field == 8)));

	return rule->type == type || packed;
}

/* Checks that a packed list consists of complete numbers. */
static bool
check_packed(struct slimmer *s, const struct rule *rule,
	     const struct wire_field *f)
{
	struct wire_reader r = { f->data, f->data + f->length };
	uint64_t value;

	if (rule->type == WIRE_I32) {
		return f->length % 4 == 0 ||
		       refuse(s, f->data, "a list of floats ends early");
	}
	while (r.at < r.end) {
		if (!wire_varint(&r, &value)) {
			return refuse(s, r.at, "a list of integers ends early");
		}
	}
	return true;
}

static bool slim_message(struct slimmer *s, const uint8_t *data, size_t length,
			 enum wire_message kind, int depth);

static bool
slim_child(struct slimmer *s, const struct wire_field *f,
	   enum wire_message child, int depth)
{
	size_t start = wire_open(s->out, f->number);

	if (!slim_message(s, f->data, f->length, child, depth + 1)) {
		return false;
	}
	return wire_close(s->out, start) ||
	       refuse(s, f->data, "a message of more than 2 GB");
}

static bool
slim_message(struct slimmer *s, const uint8_t *data, size_t length,
	     enum wire_message kind, int depth)
{
	struct wire_reader r = { data, data + length };
	struct wire_field f;
	uint32_t seen = 0;

	if (depth > MAX_DEPTH) {
		return refuse(s, data, "messages are nested too deeply");
	}
	for (;;) {
		const uint8_t *start = r.at;

		if (!wire_next(&r, &f)) {
			break;
		}
		const struct rule *rule = f.number < MAX_FIELD
						  ? s->table[kind][f.number]
						  : NULL;
		if (!rule) {
			continue;
		}
		if (!acceptable(rule, f.type)) {
			return refuse(s, start, "a field of the wrong kind");
		}
		/* Protobuf allows a submessage that is not repeated to occur
		 * twice; parsers then merge the two. Here the second one is
		 * refused, because the slim copy does not merge messages and no
		 * exporter writes them so. */
		if (rule->action == DESCEND_ONCE && (seen >> f.number & 1)) {
			return refuse(s, start,
				      "a message that may occur "
				      "once occurs twice");
		}
		seen |= (uint32_t)1 << f.number;
		if (rule->action != KEEP) {
			if (++s->n_messages > MAX_MESSAGES) {
				return refuse(s, start, "too many messages");
			}
			if (!slim_child(s, &f, rule->child, depth)) {
				return false;
			}
			continue;
		}
		if (rule->type != WIRE_BYTES && f.type == WIRE_BYTES &&
		    !check_packed(s, rule, &f)) {
			return false;
		}
		/* The length is encoded again: the file may use more bytes for
		 * a length than protobuf-c accepts. */
		wire_put_varint(s->out, (uint64_t)f.number << 3 | f.type);
		if (f.type == WIRE_BYTES) {
			if (f.length > INT32_MAX) {
				return refuse(s, start,
					      "a string of more than 2 GB");
			}
			wire_put_varint(s->out, f.length);
			strbuf_write(s->out, (const char *)f.data, f.length);
		} else if (f.type == WIRE_VARINT) {
			wire_put_varint(s->out, f.value);
		} else {
			strbuf_write(s->out, (const char *)r.at - 4, 4);
		}
	}
	if (r.at != r.end) {
		return refuse(s, r.at, "a field is truncated or unknown");
	}
	if (kind == WIRE_TENSOR) {
		wire_put_varint(s->out, (uint64_t)100000 << 3 | WIRE_VARINT);
		wire_put_varint(s->out, (uint64_t)(data - s->base));
		wire_put_varint(s->out, (uint64_t)100001 << 3 | WIRE_VARINT);
		wire_put_varint(s->out, length);
	}
	return true;
}

bool
wire_slim(const uint8_t *data, size_t length, enum wire_message kind,
	  struct strbuf *out, size_t *bad, const char **why)
{
	struct slimmer s = { .base = data, .out = out };

	for (size_t i = 0; i < sizeof rules / sizeof rules[0]; i++) {
		s.table[rules[i].in][rules[i].field] = &rules[i];
	}
	if (!slim_message(&s, data, length, kind, 0)) {
		*bad = (size_t)(s.bad - data);
		*why = s.why;
		return false;
	}
	return true;
}
