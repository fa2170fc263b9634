/* SPDX-License-Identifier: Apache-2.0 */
/* Identifiers from the model's names. A name that an exporter made with a
 * number ("Conv_12", "node_5", "123") tells nothing about the model and changes
 * with every edit of the model, so it is never used in an identifier. */
#include "identifiers.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>

#include "secret_hash.h"
#include "text.h"

#define FALLBACK "x"

/* Words that programs, not people, use as names, with a number appended. */
static const char *const counting_words[] = {
	"name", "node", "op", "output", "tensor", "tmp", "val", "value", "var",
};

/* Suffixes that passes append to the names of tensors. They tell nothing after
 * a name that is only a number ("26.sum"). */
static const char *const pass_words[] = {
	".before", ".reshaped", ".scale", ".scaled", ".shifted", ".sum",
};

/* -- sets -- */

void
name_set_init(struct name_set *s, struct arena *a)
{
	memset(s, 0, sizeof *s);
	s->arena = a;
	s->max_length = NAME_EXTERNAL;
}

/* The slot of text, or the empty slot where text would be inserted. */
static struct name_slot *
find_slot(const struct name_slots *s, const char *text)
{
	uint32_t mask = (uint32_t)s->cap - 1;
	uint32_t i = secret_hash(text, strlen(text)) & mask;

	while (s->slot[i].name != NULL && strcmp(s->slot[i].name, text) != 0) {
		i = (i + 1) & mask;
	}
	return &s->slot[i];
}

/* The slots of a new table. Each kernel of a model has a table, for the names of
 * its few parameters. */
enum { FEW_SLOTS = 8 };

/* The slot of text, which is added if it is not there. */
static struct name_slot *
add_slot(struct arena *a, struct name_slots *s, const char *text)
{
	struct name_slot *at;

	if (s->n * 2 >= s->cap) {
		struct name_slots old = *s;

		s->cap = old.cap > 0 ? old.cap * 2 : FEW_SLOTS;
		s->slot = arena_array(a, struct name_slot, s->cap);
		for (int i = 0; i < old.cap; i++) {
			if (old.slot[i].name != NULL) {
				*find_slot(s, old.slot[i].name) = old.slot[i];
			}
		}
	}
	at = find_slot(s, text);
	if (at->name == NULL) {
		*at = (struct name_slot){ text, 2 };
		s->n++;
	}
	return at;
}

static const char *
insert(struct name_set *s, const char *text)
{
	return add_slot(s->arena, &s->used, text)->name;
}

static bool
is_reserved(const struct name_set *s, const char *text)
{
	return s->n_reserved > 0 &&
	       bsearch(&text, s->reserved, (size_t)s->n_reserved,
		       sizeof *s->reserved, text_compare) != NULL;
}

bool
name_set_has(const struct name_set *s, const char *name)
{
	return s->used.cap > 0 && find_slot(&s->used, name)->name != NULL;
}

static bool
is_free(const struct name_set *s, const char *text)
{
	return !is_reserved(s, text) && !name_set_has(s, text);
}

/* Makes an identifier of letters, digits and single underscores, which begins
 * with a letter and does not end with an underscore. */
static char *
sanitise(struct arena *a, const char *text)
{
	char *out = arena_alloc(a, strlen(text) + 3);
	size_t n = 0;

	for (const char *p = text; *p != '\0'; p++) {
		unsigned char c = (unsigned char)*p;
		bool word = c < 128 && isalnum(c);

		if (word) {
			if (n == 0 && isdigit(c)) {
				out[n++] = 'n';
			}
			out[n++] = (char)c;
		} else if (n > 0 && out[n - 1] != '_') {
			out[n++] = '_';
		}
	}
	while (n > 0 && out[n - 1] == '_') {
		n--;
	}
	out[n] = '\0';
	return n > 0 ? out : arena_strdup(a, FALLBACK);
}

/* Shortens text to at most `limit` bytes: its first word and as many of its
 * last words as fit, or only the last words; if a single word is too long, the
 * text's start and end. */
static char *
shorten(struct arena *a, const char *text, size_t limit)
{
	size_t length = strlen(text);
	size_t head = strcspn(text, "_"), tail = 0, words = 0;

	if (length <= limit) {
		return arena_strdup(a, text);
	}
	if (limit < 4) {
		return arena_strndup(a, text, limit);
	}
	for (size_t i = length; i-- > head + 1;) {
		if (text[i - 1] != '_' || length - i > limit) {
			continue;
		}
		tail = head + 1 + length - i <= limit ? length - i : tail;
		words = isdigit((unsigned char)text[i]) ? words : length - i;
	}
	if (head * 2 <= limit && tail * 3 >= limit) {
		return arena_printf(a, "%.*s_%s", (int)head, text,
				    text + length - tail);
	}
	if (words * 2 >= limit) {
		return arena_strdup(a, text + length - words);
	}
	head = (limit - 1) / 2;
	tail = limit - 1 - head;
	while (head > 1 && text[head - 1] == '_') {
		head--;
	}
	while (tail > 1 && text[length - tail] == '_') {
		tail--;
	}
	return arena_printf(a, "%.*s_%s", (int)head, text,
			    text + length - tail);
}

/* Adds `clean` with the first unused number appended. The search starts at the
 * number after the last number that was tried for this text: all lower numbers
 * are taken. */
static const char *
insert_numbered(struct name_set *s, const char *clean)
{
	char suffix[16];
	size_t limit = (size_t)s->max_length;
	struct name_slot *tried = add_slot(s->arena, &s->numbered, clean);
	const char *numbered;

	do {
		size_t n = (size_t)snprintf(suffix, sizeof suffix, "_%d",
					    tried->next++);

		numbered = arena_printf(s->arena, "%s%s",
					shorten(s->arena, clean, limit - n),
					suffix);
	} while (!is_free(s, numbered));
	return insert(s, numbered);
}

const char *
name_set_add(struct name_set *s, const char *text)
{
	const char *clean = sanitise(s->arena, text);
	size_t limit = (size_t)s->max_length;
	const char *name = shorten(s->arena, clean, limit);

	if (is_reserved(s, name)) {
		name = arena_printf(s->arena, "%s_",
				    shorten(s->arena, clean, limit - 1));
	}
	return is_free(s, name) ? insert(s, name) : insert_numbered(s, clean);
}

bool
name_set_takes(const struct name_set *s, const char *text)
{
	const char *clean = sanitise(s->arena, text);

	return is_free(s, shorten(s->arena, clean, (size_t)s->max_length));
}

/* -- stems -- */

struct part {
	const char *text;
	size_t length;
};

static bool
all_digits(struct part p)
{
	for (size_t i = 0; i < p.length; i++) {
		if (!isdigit((unsigned char)p.text[i])) {
			return false;
		}
	}
	return true;
}

/* Removes "_output_0", ":0" and similar endings. */
static struct part
without_suffix(struct part p, const char *suffix)
{
	size_t n = p.length, m = strlen(suffix);

	while (n > 0 && isdigit((unsigned char)p.text[n - 1])) {
		n--;
	}
	if (n < p.length && n > m) {
		for (size_t i = 0; i < m; i++) {
			if (tolower((unsigned char)p.text[n - m + i]) !=
			    suffix[i]) {
				return p;
			}
		}
		p.length = n - m;
	}
	return p;
}

static bool
is_word(struct part p, const char *word)
{
	return strlen(word) == p.length && strncmp(p.text, word, p.length) == 0;
}

/* Removes a leading counting word and its '_'. */
static struct part
without_counting_word(struct part p)
{
	for (size_t i = 0; i < sizeof counting_words / sizeof counting_words[0];
	     i++) {
		size_t n = strlen(counting_words[i]);

		if (p.length > n + 1 && p.text[n] == '_' &&
		    strncmp(p.text, counting_words[i], n) == 0) {
			return (struct part){ p.text + n + 1,
					      p.length - n - 1 };
		}
	}
	return p;
}

/* Is the part of a name only a number, or an operator with a number, such as
 * "123", "Conv", "Conv_12", "ReLU32", "node_5", "val_7", "r12", "30_1" or
 * "node_Conv_12"? */
static bool
is_counted(struct part p)
{
	struct part word = p;
	bool number = false;

	if (all_digits(p)) {
		return true;
	}
	while (word.length > 0 &&
	       (isdigit((unsigned char)word.text[word.length - 1]) ||
		word.text[word.length - 1] == '_')) {
		number |= word.text[--word.length] != '_';
	}
	if (word.length == 0) {
		return true;
	}
	if (number && word.length == 1) {
		return true;
	}
	if (number) {
		for (size_t i = 0;
		     i < sizeof counting_words / sizeof counting_words[0];
		     i++) {
			if (is_word(word, counting_words[i])) {
				return true;
			}
		}
	}
	word = number ? without_counting_word(word) : word;
	if (!isupper((unsigned char)word.text[0])) {
		return false;
	}
	for (size_t i = 0; i < word.length; i++) {
		if (!isalpha((unsigned char)word.text[i])) {
			return false;
		}
	}
	return true;
}

/* Is the part of a name empty, the name of a device such as "gpu_0", or a
 * namespace that the exporter adds? */
static bool
is_noise(struct part p)
{
	struct part word = p;

	if (p.length == 0 || is_word(p, "onnx")) {
		return true;
	}
	while (word.length > 0 &&
	       isdigit((unsigned char)word.text[word.length - 1])) {
		word.length--;
	}
	return word.length < p.length &&
	       (is_word(word, "gpu_") || is_word(word, "cpu_"));
}

/* Appends the text of a part of a name, without an "_output_0" inside of it, as
 * in "Conv_output_0_size". */
static void
write_without_outputs(struct strbuf *out, struct part p)
{
	static const char word[] = "_output_";
	size_t n = sizeof word - 1, at = 0;

	while (at < p.length) {
		size_t end = at + n;

		if (end < p.length && strncmp(p.text + at, word, n) == 0) {
			while (end < p.length &&
			       isdigit((unsigned char)p.text[end])) {
				end++;
			}
			if (end > at + n && end < p.length &&
			    p.text[end] == '_') {
				at = end;
				continue;
			}
		}
		strbuf_putc(out, p.text[at++]);
	}
}

static bool
is_separator(char c)
{
	return c == '/' || c == '.' || c == ':' || c == '\\' || c == '|';
}

/* The stem of a name of `length` bytes; a suffix that a pass appended has been
 * removed. */
static const char *
model_stem(struct arena *a, const char *model_name, size_t length)
{
	struct part whole = { model_name, length };
	struct strbuf out;
	const char *stem = NULL;
	bool said = false; /* a part of the name was more than a number */
	size_t at = 0;

	/* Converters join the names of fused operators by ';': only the first
	 * name is kept. */
	if (memchr(whole.text, ';', length) != NULL) {
		whole.length = strcspn(whole.text, ";");
	}
	whole = without_suffix(whole, ":");
	whole = without_suffix(whole, "_output_");
	strbuf_init(&out);
	while (at < whole.length) {
		struct part p = { whole.text + at, 0 };
		bool last;

		while (at + p.length < whole.length &&
		       !is_separator(p.text[p.length])) {
			p.length++;
		}
		at += p.length + 1;
		last = at >= whole.length;
		if (is_noise(p) || (last && is_counted(p))) {
			continue;
		}
		said |= !all_digits(p);
		if (out.len > 0) {
			strbuf_putc(&out, '_');
		}
		write_without_outputs(&out, p);
	}
	if (said) {
		stem = sanitise(a, out.data);
	}
	strbuf_release(&out);
	return stem;
}

const char *
name_stem(struct arena *a, const char *model_name)
{
	const char *dot = strrchr(model_name, '.');
	struct part word = { dot, dot != NULL ? strlen(dot) : 0 };

	for (size_t i = 0; i < sizeof pass_words / sizeof *pass_words; i++) {
		if (is_word(word, pass_words[i]) &&
		    model_stem(a, model_name, (size_t)(dot - model_name)) ==
			    NULL) {
			return NULL;
		}
	}
	return model_stem(a, model_name, strlen(model_name));
}
