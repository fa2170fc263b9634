/* SPDX-License-Identifier: Apache-2.0 */
/* Reads traces:
 *
 *	tirc-trace 1 digits 22c6eef0eb10d53d little
 *	tensor - image float32 4 1 1 8 8 256 hex
 *	0000803f…
 *	check 5d3c2a19
 *	tensor conv1 relu1 float32 …
 *	end 6
 */
#include <stdio.h>
#include <string.h>

#include "graph.h"
#include "source_load.h"
#include "text.h"
#include "traces.h"

#define BEGINNING "tirc-trace "

/* The largest length of a line, elements left out; more than a name of a model
 * and the largest rank need. */
enum { MOST_LINE_BYTES = 20000 };

struct reader {
	struct module *m;
	struct source src;
	size_t at;  /* of the next line */
	int number; /* of the present line */
	/* The present line, without its end, and what follows the word that
	 * was read last. */
	const char *line, *rest;
	size_t line_at, line_length; /* in the file, of the present line */
	bool swapped; /* the other byte order than this machine's */
};

static struct diag_place
place_of(const struct reader *r)
{
	return (struct diag_place){ .file = r->src.name, .line = r->number };
}

/* -- lines and words -- */

/* Goes to the next line; false at the end of the file. */
static bool
next_line(struct reader *r)
{
	const char *from = r->src.text + r->at, *end;
	size_t left = r->src.length - r->at;

	if (left == 0) {
		return false;
	}
	end = memchr(from, '\n', left);
	r->number++;
	r->line_at = r->at;
	r->line_length = end != NULL ? (size_t)(end - from) : left;
	r->at += r->line_length + (end != NULL);
	if (r->line_length > 0 && from[r->line_length - 1] == '\r') {
		r->line_length--;
	}
	return true;
}

/* Makes words of the present line. False after a diagnostic if it is no line of
 * words. */
static bool
open_line(struct reader *r)
{
	const char *from = r->src.text + r->line_at;

	if (r->line_length > MOST_LINE_BYTES) {
		return diag_error(&r->m->diags, DIAG_BAD_TRACE, place_of(r),
				  "the line has more than %d bytes; record "
				  "the trace again",
				  MOST_LINE_BYTES);
	}
	for (size_t i = 0; i < r->line_length; i++) {
		if (from[i] < ' ' || from[i] > '~') {
			return diag_error(&r->m->diags, DIAG_BAD_TRACE,
					  place_of(r),
					  "byte %zu is not printable; "
					  "record the trace again, with "
					  "nothing else that writes to the "
					  "same port during a run",
					  i + 1);
		}
	}
	r->line = r->rest = arena_strndup(&r->m->arena, from, r->line_length);
	return true;
}

/* Does the present line begin with the word? */
static bool
begins_with(const struct reader *r, const char *word)
{
	size_t n = strlen(word);

	return r->line_length >= n &&
	       memcmp(r->src.text + r->line_at, word, n) == 0;
}

/* The next word of the line; "" at its end. Words are separated by one space. */
static const char *
next_word(struct reader *r)
{
	size_t n = strcspn(r->rest, " ");
	const char *word = arena_strndup(&r->m->arena, r->rest, n);

	r->rest += n + (r->rest[n] == ' ');
	return word;
}

/* The name that the next word spells: "-" is an empty one, %25 a byte. NULL if
 * it spells none. */
static const char *
next_name(struct reader *r)
{
	const char *word = next_word(r);
	char *name = arena_strdup(&r->m->arena, word);
	size_t n = 0;

	if (strcmp(word, "-") == 0 || word[0] == '\0') {
		return word[0] == '\0' ? NULL : "";
	}
	for (const char *c = word; *c != '\0'; c++) {
		int high = -1, low = -1;

		if (*c == '%') {
			high = text_hex_digit(c[1]);
			low = high >= 0 ? text_hex_digit(c[2]) : -1;
			if (low < 0 || high + low == 0) {
				return NULL;
			}
			c += 2;
		}
		name[n++] = low < 0 ? *c : (char)(high * 16 + low);
	}
	name[n] = '\0';
	return name;
}

/* The number from 0 that the next word spells; -1 if it spells none. */
static int64_t
next_number(struct reader *r)
{
	const char *word = next_word(r);
	int64_t v;

	return word[0] >= '0' && word[0] <= '9' && text_int(word, &v) ? v : -1;
}

/* -- elements -- */

static uint32_t
check_more(uint32_t check, const void *data, size_t n)
{
	const unsigned char *bytes = data;

	for (size_t i = 0; i < n; i++) {
		check ^= bytes[i];
		for (int bit = 0; bit < 8; bit++) {
			check = check >> 1 ^ (check & 1 ? 0xedb88320u : 0);
		}
	}
	return check;
}

static bool
lacks_bytes(struct reader *r, const struct trace_record *x)
{
	return diag_error(&r->m->diags, DIAG_BAD_TRACE, place_of(r),
			  "the trace ends within tensor '%s'; the run did "
			  "not end, or output was lost",
			  x->array.name);
}

/* Reads `bytes` bytes as hexadecimal digits, from as many lines as that takes. */
static bool
read_hex(struct reader *r, struct trace_record *x, size_t bytes)
{
	unsigned char *out = x->array.data;
	size_t n = 0;

	while (n < bytes) {
		const char *from;

		if (!next_line(r)) {
			return lacks_bytes(r, x);
		}
		from = r->src.text + r->line_at;
		if (r->line_length == 0 || r->line_length % 2 != 0 ||
		    r->line_length / 2 > bytes - n) {
			return diag_error(&r->m->diags, DIAG_BAD_TRACE,
					  place_of(r),
					  "the line has %zu digits, where %zu "
					  "bytes of tensor '%s' are left; "
					  "characters were lost or added: "
					  "record the trace again",
					  r->line_length, bytes - n,
					  x->array.name);
		}
		for (size_t i = 0; i < r->line_length; i += 2) {
			int high = text_hex_digit(from[i]);
			int low = text_hex_digit(from[i + 1]);

			if (high < 0 || low < 0) {
				return diag_error(
					&r->m->diags, DIAG_BAD_TRACE,
					place_of(r),
					"column %zu has no hexadecimal digit, "
					"in tensor '%s'; record the trace "
					"again, with nothing else that writes "
					"to the same port during a run",
					i + (high < 0 ? 1 : 2), x->array.name);
			}
			out[n++] = (unsigned char)(high * 16 + low);
		}
	}
	return true;
}

static bool
read_raw(struct reader *r, struct trace_record *x, size_t bytes)
{
	if (r->src.length - r->at < bytes) {
		return lacks_bytes(r, x);
	}
	memcpy(x->array.data, r->src.text + r->at, bytes);
	r->at += bytes;
	return (next_line(r) && r->line_length == 0) ||
	       diag_error(&r->m->diags, DIAG_BAD_TRACE, place_of(r),
			  "no line ends after the bytes of tensor '%s'; bytes "
			  "were lost or added: record the trace again, through "
			  "a port that changes no byte, or as text",
			  x->array.name);
}

static void
swap_bytes(struct array *x, size_t bytes)
{
	size_t n = (size_t)dtype_bytes(x->type);
	unsigned char *data = x->data;

	for (size_t i = 0; n > 1 && i + n <= bytes; i += n) {
		for (size_t k = 0; k < n / 2; k++) {
			unsigned char one = data[i + k];

			data[i + k] = data[i + n - 1 - k];
			data[i + n - 1 - k] = one;
		}
	}
}

/* Reads the line with the check of a tensor, and compares it. */
static bool
read_check(struct reader *r, const struct trace_record *x, uint32_t check)
{
	const char *digits;
	uint32_t given = 0;

	if (!next_line(r)) {
		return lacks_bytes(r, x);
	}
	if (!open_line(r)) {
		return false;
	}
	digits = r->rest + 6;
	if (strncmp(r->line, "check ", 6) != 0 || strlen(digits) != 8) {
		return diag_error(&r->m->diags, DIAG_BAD_TRACE, place_of(r),
				  "the line is not the check of tensor '%s', "
				  "as 'check 0123abcd'",
				  x->array.name);
	}
	for (int i = 0; i < 8; i++) {
		given = given << 4 | ((uint32_t)text_hex_digit(digits[i]) & 15);
	}
	return given == check ||
	       diag_error(&r->m->diags, DIAG_BAD_TRACE, place_of(r),
			  "the check of tensor '%s' is %08x, and that of what "
			  "was read %08x; characters were changed on the way: "
			  "record the trace again",
			  x->array.name, (unsigned)given, (unsigned)check);
}

/* -- tensors -- */

static bool
is_bad_line(struct reader *r, const char *what)
{
	return diag_error(&r->m->diags, DIAG_BAD_TRACE, place_of(r),
			  "%s; a tensor is described as 'tensor KERNEL NAME "
			  "TYPE RANK SIZE… BYTES hex'",
			  what);
}

/* Reads rank and sizes. False after a diagnostic. */
static bool
read_sizes(struct reader *r, struct array *x)
{
	int64_t rank = next_number(r);

	if (rank < 0 || rank > GRAPH_MAX_RANK + 1) {
		return is_bad_line(r, "the rank is no number up to 33");
	}
	x->ndim = (int)rank;
	x->shape = arena_array(&r->m->arena, int64_t, x->ndim + 1);
	x->elems = 1;
	for (int d = 0; d < x->ndim; d++) {
		x->shape[d] = next_number(r);
		if (x->shape[d] < 0) {
			return is_bad_line(r, "a size is no number");
		}
		x->elems = quota_times(x->elems, x->shape[d]);
	}
	return true;
}

/* Reads a tensor; the present line describes it. */
static bool
read_tensor(struct reader *r, struct trace_record *x)
{
	const char *type, *form;
	uint32_t check;
	int64_t bytes;
	bool is_raw;

	x->line = r->number;
	next_word(r);
	x->kernel = next_name(r);
	x->array.name = next_name(r);
	type = next_name(r);
	if (x->kernel == NULL || x->array.name == NULL || type == NULL) {
		return is_bad_line(r, "a name is missing or badly spelled");
	}
	if (!dtype_from_name(type, &x->array.type) ||
	    x->array.type.lanes != 1) {
		return is_bad_line(r, "the type is none of ONNX's");
	}
	x->array.type = dtype_stored(x->array.type);
	if (!read_sizes(r, &x->array)) {
		return false;
	}
	bytes = next_number(r);
	form = next_word(r);
	is_raw = strcmp(form, "raw") == 0;
	if ((!is_raw && strcmp(form, "hex") != 0) || r->rest[0] != '\0') {
		return is_bad_line(r, "the line does not end in hex or raw");
	}
	if (bytes < 0 || bytes == INT64_MAX ||
	    bytes != quota_times(x->array.elems, dtype_bytes(x->array.type))) {
		return is_bad_line(r, "the bytes are not those of the sizes");
	}
	if ((uint64_t)bytes > r->src.length - r->at) {
		return lacks_bytes(r, x);
	}
	x->array.data = arena_alloc(&r->m->arena, (size_t)bytes + 1);
	check = check_more(0xffffffffu, r->line, strlen(r->line));
	check = check_more(check, "\n", 1);
	if (!(is_raw ? read_raw(r, x, (size_t)bytes)
		     : read_hex(r, x, (size_t)bytes))) {
		return false;
	}
	check = ~check_more(check, x->array.data, (size_t)bytes);
	if (r->swapped) {
		swap_bytes(&x->array, (size_t)bytes);
	}
	return read_check(r, x, check);
}

/* -- runs -- */

static bool
is_little(void)
{
	const uint16_t one = 1;
	unsigned char first;

	memcpy(&first, &one, 1);
	return first == 1;
}

/* Reads the line with which a run begins. */
static bool
read_beginning(struct reader *r, struct trace_run *out)
{
	const char *order;
	int64_t version;

	next_word(r);
	version = next_number(r);
	if (version != 1) {
		return diag_error(&r->m->diags, DIAG_BAD_TRACE, place_of(r),
				  "the version of the trace is not 1, the "
				  "only one that this tirc reads");
	}
	out->line = r->number;
	out->model = next_name(r);
	out->digest = next_name(r);
	order = next_word(r);
	r->swapped = strcmp(order, is_little() ? "big" : "little") == 0;
	return (out->model != NULL && out->digest != NULL &&
		r->rest[0] == '\0' &&
		(r->swapped ||
		 strcmp(order, is_little() ? "little" : "big") == 0)) ||
	       diag_error(
		       &r->m->diags, DIAG_BAD_TRACE, place_of(r),
		       "a run begins with 'tirc-trace 1 MODEL DIGEST little' "
		       "or big, and this line is another");
}

static bool
read_end(struct reader *r, const struct trace_run *run)
{
	next_word(r);
	return (next_number(r) == run->records.n && r->rest[0] == '\0') ||
	       diag_error(&r->m->diags, DIAG_BAD_TRACE, place_of(r),
			  "the run has %d tensors, and its last line tells "
			  "another number; record the trace again",
			  run->records.n);
}

static bool
read_run(struct reader *r, struct trace_run *out)
{
	if (!open_line(r) || !read_beginning(r, out)) {
		return false;
	}
	while (next_line(r)) {
		struct trace_record x = { .line = 0 };

		if (!open_line(r)) {
			return false;
		}
		if (begins_with(r, "end ")) {
			return read_end(r, out);
		}
		if (!begins_with(r, "tensor ")) {
			return is_bad_line(r, "the line is neither a tensor "
					      "nor the end of the run");
		}
		if (!read_tensor(r, &x)) {
			return false;
		}
		vec_push(&r->m->arena, &out->records, x);
	}
	return diag_error(&r->m->diags, DIAG_BAD_TRACE, place_of(r),
			  "the trace ends after %d tensors, without the end "
			  "of the run; the run did not end, or output was "
			  "lost",
			  out->records.n);
}

bool
trace_read(struct module *m, const char *path, struct trace *out)
{
	struct reader r = { .m = m };

	*out = (struct trace){ .file = NULL };
	if (!source_load(m, path, &r.src)) {
		return false;
	}
	out->file = r.src.name;
	while (next_line(&r)) {
		struct trace_run run = { .line = 0 };

		if (!begins_with(&r, BEGINNING)) {
			continue;
		}
		if (!read_run(&r, &run)) {
			return false;
		}
		vec_push(&m->arena, &out->runs, run);
	}
	return out->runs.n > 0 ||
	       diag_error(&m->diags, DIAG_BAD_TRACE,
			  (struct diag_place){ .file = out->file },
			  "no line begins with '%s', so there is no trace",
			  BEGINNING);
}

bool
trace_is(const char *path)
{
	FILE *f = fopen(path, "rb");
	size_t n = 0; /* how much of BEGINNING the line begins with */
	bool begins = true;
	int c;

	while (f != NULL && n < strlen(BEGINNING) && (c = getc(f)) != EOF) {
		begins = c == '\n' || (begins && c == BEGINNING[n]);
		n = begins && c != '\n' ? n + 1 : 0;
	}
	if (f != NULL) {
		fclose(f);
	}
	return n == strlen(BEGINNING);
}
