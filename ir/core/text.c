/* SPDX-License-Identifier: Apache-2.0 */
/* Small questions about texts. */
#include "text.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

bool
text_is_identifier(const char *text, const char *also)
{
	static const char letters[] = "abcdefghijklmnopqrstuvwxyz"
				      "ABCDEFGHIJKLMNOPQRSTUVWXYZ_"
				      "0123456789";
	const char *p = text + strspn(text, letters);

	if (p == text || (*text >= '0' && *text <= '9')) {
		return false;
	}
	while (*p != '\0' && strchr(also, *p) != NULL) {
		p++;
		p += strspn(p, letters);
	}
	return *p == '\0';
}

const char *
text_next_word(struct arena *a, const char **text)
{
	size_t n;

	*text += strspn(*text, " \t");
	n = strcspn(*text, " \t");
	*text += n;
	return n > 0 ? arena_strndup(a, *text - n, n) : NULL;
}

bool
text_ends_in(const char *text, const char *end)
{
	size_t n = strlen(text), k = strlen(end);

	return n >= k && strcmp(text + n - k, end) == 0;
}

bool
text_int(const char *text, int64_t *v)
{
	const char *digits = text + (*text == '-');
	char *end;

	if (*digits < '0' || *digits > '9') {
		return false;
	}
	errno = 0;
	*v = strtoll(text, &end, 10);
	return *end == '\0' && errno == 0;
}

bool
text_float(const char *text, double *v)
{
	char *end;

	*v = strtod(text, &end);
	return end != text && *end == '\0';
}

int
text_hex_digit(char c)
{
	return c >= '0' && c <= '9'   ? c - '0'
	       : c >= 'a' && c <= 'f' ? c - 'a' + 10
	       : c >= 'A' && c <= 'F' ? c - 'A' + 10
				      : -1;
}

uint32_t
text_hash(const char *text)
{
	uint32_t h = 2166136261u;

	for (const char *c = text; *c != '\0'; c++) {
		h = (h ^ (unsigned char)*c) * 16777619u;
	}
	return h;
}

static bool
is_within_character(char c)
{
	return ((unsigned char)c & 0xc0) == 0x80;
}

/* Appends the n bytes of text to `out`. If n exceeds `most`, leaves out bytes
 * in the middle, and keeps more bytes of the start than of the end. */
static void
put_cut(struct strbuf *out, const char *text, size_t n, size_t most)
{
	static const char left_out[] = "…";
	size_t head = n, tail = n;

	if (n > most) {
		head = most / 4 * 3;
		tail = n - (most - head - (sizeof left_out - 1));
		while (head > 0 && is_within_character(text[head])) {
			head--;
		}
		while (tail < n && is_within_character(text[tail])) {
			tail++;
		}
	}
	strbuf_write(out, text, head);
	if (n > most) {
		strbuf_puts(out, left_out);
		strbuf_write(out, text + tail, n - tail);
	}
}

const char *
text_cut(struct arena *a, const char *text, size_t word_bytes, size_t bytes)
{
	struct strbuf words, whole;
	const char *result;

	strbuf_init(&words);
	strbuf_init(&whole);
	while (*text != '\0') {
		size_t word = strcspn(text, " \n"), blanks;

		blanks = strspn(text + word, " \n");
		put_cut(&words, text, word, word_bytes);
		strbuf_write(&words, text + word, blanks);
		text += word + blanks;
	}
	put_cut(&whole, words.data != NULL ? words.data : "", words.len, bytes);
	result = arena_strdup(a, whole.data != NULL ? whole.data : "");
	strbuf_release(&words);
	strbuf_release(&whole);
	return result;
}

int
text_compare(const void *a, const void *b)
{
	return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/* The edit distance; an exchange of two adjacent letters counts as one edit. */
static int
distance(const char *a, const char *b, int limit)
{
	enum { LONGEST = 64 };
	int rows[3][LONGEST + 1];
	int na = (int)strlen(a), nb = (int)strlen(b);

	if (na > LONGEST || nb > LONGEST || abs(na - nb) > limit) {
		return limit + 1;
	}
	for (int j = 0; j <= nb; j++) {
		rows[0][j] = j;
	}
	for (int i = 1; i <= na; i++) {
		int *row = rows[i % 3], *above = rows[(i + 2) % 3];
		const int *third = rows[(i + 1) % 3];

		row[0] = i;
		for (int j = 1; j <= nb; j++) {
			int cost = a[i - 1] != b[j - 1];
			int best = above[j - 1] + cost;

			best = above[j] + 1 < best ? above[j] + 1 : best;
			best = row[j - 1] + 1 < best ? row[j - 1] + 1 : best;
			if (i > 1 && j > 1 && a[i - 1] == b[j - 2] &&
			    a[i - 2] == b[j - 1] && third[j - 2] + 1 < best) {
				best = third[j - 2] + 1;
			}
			row[j] = best;
		}
	}
	return rows[na % 3][nb];
}

const char *
text_nearest(const char *name, const char *const *names, int n)
{
	int length = (int)strlen(name);
	int limit = length < 8 ? 1 : length < 12 ? 2 : 3;
	const char *best = NULL;

	for (int i = 0; i < n; i++) {
		int d = distance(name, names[i], limit);

		/* With as many edits as letters, any text would match. */
		if (d <= limit && d < length) {
			best = names[i];
			limit = d - 1;
		}
	}
	return best;
}
