/* SPDX-License-Identifier: MIT-0 */
/* Writes traces: see tirc_trace.h. The format is that of
 * docs/reference/traces.md. */
#include <string.h>

#include "tirc_trace.h"

/* the bytes of a tensor on a line of hexadecimal digits */
#define LINE_BYTES 32u

static const char digits[] = "0123456789abcdef";

/* Continues a CRC-32 of IEEE 802.3, which starts with all bits set and ends
 * with an inversion. */
static uint32_t
check_more(uint32_t check, const unsigned char *bytes, size_t n)
{
	for (size_t i = 0; i < n; ++i) {
		check ^= bytes[i];
		for (int bit = 0; bit < 8; ++bit) {
			check = (check >> 1) ^
				((check & 1u) != 0u ? 0xedb88320u : 0u);
		}
	}
	return check;
}

/* Writes characters of a line that the check covers. */
static void
put(struct tirc_trace *t, const char *text, size_t n)
{
	t->check = check_more(t->check, (const unsigned char *)text, n);
	t->put(t->out, text, n);
}

static void
put_text(struct tirc_trace *t, const char *text)
{
	put(t, text, strlen(text));
}

/* Writes a space and the number, which is not negative. */
static void
put_number(struct tirc_trace *t, uint64_t number)
{
	char text[21];
	size_t at = sizeof text;

	do {
		text[--at] = digits[number % 10u];
		number /= 10u;
	} while (number > 0u);
	text[--at] = ' ';
	put(t, text + at, sizeof text - at);
}

/* Writes a space and the name, which is a word of printable ASCII; "-" if it is
 * empty. */
static void
put_name(struct tirc_trace *t, const char *name)
{
	put_text(t, " ");
	put_text(t, name[0] != '\0' ? name : "-");
}

static void
put_check(struct tirc_trace *t)
{
	const uint32_t check = ~t->check;
	char text[] = "check 00000000\n";

	for (unsigned i = 0; i < 8u; ++i) {
		text[6u + i] = digits[(check >> (28u - 4u * i)) & 15u];
	}
	t->put(t->out, text, sizeof text - 1u);
}

static void
put_lines(struct tirc_trace *t, const unsigned char *bytes, size_t n)
{
	char text[2u * LINE_BYTES + 1u];
	size_t at = 0;

	for (size_t i = 0; i < n; ++i) {
		text[at++] = digits[bytes[i] >> 4];
		text[at++] = digits[bytes[i] & 15u];
		if (at == 2u * LINE_BYTES || i + 1u == n) {
			text[at++] = '\n';
			t->put(t->out, text, at);
			at = 0;
		}
	}
}

void
tirc_trace_begin(struct tirc_trace *t, const char *model, const char *digest)
{
	const uint16_t one = 1u;
	unsigned char first;

	memcpy(&first, &one, 1u);
	t->tensors = 0u;
	t->check = 0u;
	put_text(t, "tirc-trace 1");
	put_name(t, model);
	put_name(t, digest);
	put_text(t, first == 1u ? " little\n" : " big\n");
}

void
tirc_trace_tensor(void *trace_context, const char *kernel, const char *tensor,
		  const char *type, int32_t rank, const int64_t *sizes,
		  const void *data, size_t bytes)
{
	struct tirc_trace *const t = trace_context;

	t->check = 0xffffffffu;
	put_text(t, "tensor");
	put_name(t, kernel);
	put_name(t, tensor);
	put_name(t, type);
	put_number(t, (uint64_t)rank);
	for (int i = 0; i < rank; ++i) {
		put_number(t, (uint64_t)sizes[i]);
	}
	put_number(t, bytes);
	put_text(t, t->raw ? " raw\n" : " hex\n");
	t->check = check_more(t->check, data, bytes);
	if (t->raw) {
		t->put(t->out, data, bytes);
		t->put(t->out, "\n", 1u);
	} else {
		put_lines(t, data, bytes);
	}
	put_check(t);
	++t->tensors;
}

void
tirc_trace_end(struct tirc_trace *t)
{
	put_text(t, "end");
	put_number(t, t->tensors);
	put_text(t, "\n");
}
