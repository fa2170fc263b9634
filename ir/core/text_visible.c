/* SPDX-License-Identifier: Apache-2.0 */
/* Replaces characters that a reader cannot see, or that change how other text
 * is displayed, by a visible form: control characters, marks of bidirectional
 * text, characters without width, line separators, and bytes that are not
 * UTF-8. */
#include "text.h"

struct range {
	uint32_t first, last;
};

/* The hidden characters: Unicode's controls, format characters, fillers and
 * non-characters. */
static const struct range hidden[] = {
	{ 0x0000, 0x001f },   /* controls */
	{ 0x007f, 0x009f },   /* delete, more controls */
	{ 0x00ad, 0x00ad },   /* soft hyphen */
	{ 0x034f, 0x034f },   /* combining grapheme joiner */
	{ 0x061c, 0x061c },   /* Arabic letter mark */
	{ 0x115f, 0x1160 },   /* Hangul fillers */
	{ 0x17b4, 0x17b5 },   /* Khmer inherent vowels */
	{ 0x180b, 0x180f },   /* Mongolian variation selectors */
	{ 0x200b, 0x200f },   /* zero width, left-to-right mark, … */
	{ 0x2028, 0x202e },   /* separators, bidirectional embeddings */
	{ 0x2060, 0x206f },   /* word joiner, isolates, … */
	{ 0x3164, 0x3164 },   /* Hangul filler */
	{ 0xfe00, 0xfe0f },   /* variation selectors */
	{ 0xfeff, 0xfeff },   /* byte order mark */
	{ 0xffa0, 0xffa0 },   /* half-width Hangul filler */
	{ 0xfff0, 0xfffb },   /* interlinear annotation */
	{ 0xfffe, 0xffff },   /* non-characters */
	{ 0x13430, 0x1343f }, /* Egyptian format controls */
	{ 0x1bca0, 0x1bca3 }, /* shorthand format controls */
	{ 0x1d173, 0x1d17a }, /* musical beams */
	{ 0xe0000, 0xe0fff }, /* tags, more variation selectors */
};

size_t
text_character(const char *text, size_t n, uint32_t *code)
{
	static const uint32_t least[] = { 0, 0, 0x80, 0x800, 0x10000 };
	const unsigned char *p = (const unsigned char *)text;
	size_t bytes = *p < 0x80             ? 1
		       : (*p & 0xe0) == 0xc0 ? 2
		       : (*p & 0xf0) == 0xe0 ? 3
		       : (*p & 0xf8) == 0xf0 ? 4
					     : 0;
	uint32_t c = bytes == 1 ? *p : *p & (0x7fu >> bytes);

	if (bytes == 0 || bytes > n) {
		return 0;
	}
	for (size_t i = 1; i < bytes; i++) {
		if ((p[i] & 0xc0) != 0x80) {
			return 0;
		}
		c = c << 6 | (p[i] & 0x3f);
	}
	if (c < least[bytes] || c > 0x10ffff || (c >= 0xd800 && c < 0xe000)) {
		return 0;
	}
	*code = c;
	return bytes;
}

/* The number of bytes before the first byte that is not a printable ASCII
 * character. */
static size_t
printable(const char *text, size_t n)
{
	size_t i = 0;

	while (i < n && text[i] >= ' ' && text[i] < 0x7f) {
		i++;
	}
	return i;
}

const char *
text_control(const char *text)
{
	for (const char *p = text; *p != '\0'; p++) {
		if ((unsigned char)*p < ' ' && *p != '\t' && *p != '\n' &&
		    *p != '\r') {
			return p;
		}
	}
	return NULL;
}

int
text_line(const char *text, const char *at)
{
	int line = 1;

	for (const char *p = text; p < at; p++) {
		line += *p == '\n';
	}
	return line;
}

bool
text_is_hidden(uint32_t code)
{
	size_t low = 0, high = sizeof hidden / sizeof *hidden;

	while (low < high) {
		size_t middle = (low + high) / 2;

		if (code > hidden[middle].last) {
			low = middle + 1;
		} else {
			high = middle;
		}
	}
	return low < sizeof hidden / sizeof *hidden &&
	       code >= hidden[low].first;
}

void
text_put_with(struct strbuf *out, const char *text, size_t n, const char *kept,
	      text_hidden_fn *put)
{
	for (size_t i = 0; i < n;) {
		size_t plain = printable(text + i, n - i), bytes;
		uint32_t code;

		strbuf_write(out, text + i, plain);
		i += plain;
		if (i == n) {
			break;
		}
		bytes = text_character(text + i, n - i, &code);
		if (bytes == 0) {
			put(out, (unsigned char)text[i], true);
			bytes = 1;
		} else if (!text_is_hidden(code) ||
			   (code != 0 && code < 0x80 &&
			    strchr(kept, (int)code) != NULL)) {
			strbuf_write(out, text + i, bytes);
		} else {
			put(out, code, false);
		}
		i += bytes;
	}
}

static void
put_escaped(struct strbuf *out, uint32_t code, bool is_byte)
{
	if (code == '\n') {
		strbuf_puts(out, "\\n");
	} else if (is_byte || code < 0x80) {
		strbuf_printf(out, "\\x%02x", code);
	} else {
		strbuf_printf(out, code > 0xffff ? "\\U%08X" : "\\u%04X", code);
	}
}

void
text_put_visible(struct strbuf *out, const char *text, size_t n,
		 const char *kept)
{
	text_put_with(out, text, n, kept, put_escaped);
}
