/* SPDX-License-Identifier: Apache-2.0 */
#include "long_names.h"

#include <stdlib.h>
#include <string.h>

#include "comment_text.h"
#include "text.h"
#include "text_map.h"

/* A name with more bytes is long. */
enum { MOST_BYTES = 56 };
/* The most bytes of a short form, and of a short form that several names would
 * share. */
enum { FORM_BYTES = 40, LONGER_FORM_BYTES = 56 };
/* the form of a name is made from the last parts of the name, at most
 * MOST_PARTS */
enum { MOST_PARTS = 16 };

#define GAP "..."

struct long_name {
	const char *name;
	const char *form; /* NULL before settle() */
};

struct long_names {
	struct arena *a;
	const struct dialect *d;
	VEC(struct long_name) list;
	struct text_map index; /* by name: its index in the list */
	bool settled;
};

struct long_names *
long_names_new(struct arena *a, const struct dialect *d)
{
	struct long_names *n = arena_new(a, struct long_names);

	n->a = a;
	n->d = d;
	text_map_init(&n->index, a);
	return n;
}

static bool
is_long(const char *name)
{
	return strlen(name) > MOST_BYTES;
}

void
long_names_tell(struct long_names *n, const char *name)
{
	/* no other name may have a form that looks like this name */
	if (name != NULL &&
	    (is_long(name) || strncmp(name, GAP, strlen(GAP)) == 0) &&
	    text_map_add(&n->index, name, n->list.n)) {
		vec_push(n->a, &n->list, ((struct long_name){ .name = name }));
	}
}

/* -- the parts of a name -- */

/* The last parts of a name, each with the separator behind it. */
struct parts {
	int n;
	const char *at[MOST_PARTS + 1]; /* at[n] is the end of the name */
	bool kept[MOST_PARTS];
	bool all; /* the parts are all parts of the name */
};

/* Does a part end behind this character? Not between a word and its number, as
 * in "layers.11". */
static bool
is_separator(const char *c)
{
	return strchr("/;:| ", *c) != NULL ||
	       (*c == '.' && !(c[1] >= '0' && c[1] <= '9'));
}

static void
split(const char *name, struct parts *p)
{
	const char *end = name + strlen(name), *c = end;

	memset(p, 0, sizeof *p);
	p->at[MOST_PARTS] = end;
	while (c > name && p->n < MOST_PARTS) {
		do {
			c--;
		} while (c > name && (is_separator(c) || !is_separator(c - 1)));
		p->n++;
		p->at[MOST_PARTS - p->n] = c;
	}
	memmove(p->at, p->at + MOST_PARTS - p->n,
		sizeof p->at[0] * (size_t)(p->n + 1));
	p->all = c == name;
}

/* Does part i of the name end with a number, as "layers.11/" and "conv2d_4;"
 * do? */
static bool
is_numbered(const struct parts *p, int i)
{
	const char *begin = p->at[i], *end = p->at[i + 1], *digits;

	while (end > begin && is_separator(end - 1)) {
		end--;
	}
	for (digits = end; digits > begin; digits--) {
		if (digits[-1] < '0' || digits[-1] > '9') {
			break;
		}
	}
	return digits < end &&
	       (digits == begin || digits[-1] == '.' || digits[-1] == '_');
}

static void
put_form(const struct parts *p, struct strbuf *s)
{
	bool gap = !p->all;

	for (int i = 0; i < p->n; i++) {
		if (p->kept[i]) {
			strbuf_puts(s, gap ? GAP : "");
			strbuf_write(s, p->at[i],
				     (size_t)(p->at[i + 1] - p->at[i]));
		}
		gap = !p->kept[i];
	}
}

/* Makes a form a word: replaces each space, quote and control character by
 * "_". */
static const char *
as_word(struct arena *a, const char *text)
{
	char *word = arena_strdup(a, text);

	for (char *c = word; *c != '\0'; c++) {
		if ((unsigned char)*c <= ' ' || *c == '"') {
			*c = '_';
		}
	}
	return word;
}

/* Adds part i to the form if the form then still has at most `bytes` bytes. Was
 * it added? */
static bool
keep(struct parts *p, int i, size_t bytes)
{
	struct strbuf s;
	bool fits;

	p->kept[i] = true;
	strbuf_init(&s);
	put_form(p, &s);
	fits = s.len <= bytes;
	p->kept[i] = fits;
	strbuf_release(&s);
	return fits;
}

/* The end of a name whose last part is too long. */
static const char *
last_bytes(struct arena *a, const char *name, size_t bytes)
{
	const char *c = name + strlen(name) - (bytes - strlen(GAP));

	while (((unsigned char)*c & 0xc0) == 0x80) {
		/* the byte is within a character of UTF-8, which is not cut */
		c++;
	}
	return as_word(a, arena_printf(a, "%s%s", GAP, c));
}

/* The short form of a name: its last part; then those of the other parts that
 * still fit in `bytes` bytes: first parts with a number, then the rest, both
 * from the last to the first. */
static const char *
form_of(struct arena *a, const char *name, size_t bytes)
{
	struct parts p;
	struct strbuf s;
	const char *form;
	bool fits;

	split(name, &p);
	fits = keep(&p, p.n - 1, bytes);
	if (!fits) {
		return last_bytes(a, name, bytes);
	}
	for (int i = p.n - 2; fits && i >= 0; i--) {
		fits = !is_numbered(&p, i) || keep(&p, i, bytes);
	}
	fits = true;
	for (int i = p.n - 2; fits && i >= 0; i--) {
		fits = p.kept[i] || keep(&p, i, bytes);
	}
	strbuf_init(&s);
	put_form(&p, &s);
	form = as_word(a, s.data);
	strbuf_release(&s);
	return form;
}

/* -- forms that no two names have -- */

static const char *
with_hash(struct arena *a, const char *name)
{
	return arena_printf(a, "%s#%08x", form_of(a, name, FORM_BYTES),
			    text_hash(name));
}

/* The step in which the form of a name is the whole name. Two names that differ
 * only in characters that comments cannot contain keep equal forms. */
enum { LAST_STEP = 3 };

/* The short form of a name in the given step. A name goes to the next step,
 * which gives it a longer form, if another name has the same form. */
static const char *
next_form(struct arena *a, const char *name, int step)
{
	return !is_long(name) || step == LAST_STEP ? name
	       : step == 0 ? form_of(a, name, FORM_BYTES)
	       : step == 1 ? form_of(a, name, LONGER_FORM_BYTES)
			   : with_hash(a, name);
}

/* Marks in `again` the names whose printed short form is also that of another
 * name. Returns whether there are such names. */
static bool
find_equal(const struct long_names *n, bool *again)
{
	struct text_map first;
	bool any = false;

	text_map_init(&first, n->a);
	for (int i = 0; i < n->list.n; i++) {
		const char *form = comment_text(n->a, n->d,
						n->list.data[i].form);

		if (!text_map_add(&first, form, i)) {
			again[text_map_get(&first, form, i)] = true;
			again[i] = any = true;
		}
	}
	return any;
}

static void
settle(struct long_names *n)
{
	bool *again = arena_array(n->a, bool, n->list.n + 1);

	memset(again, true, sizeof *again * (size_t)n->list.n);
	for (int step = 0; step <= LAST_STEP; step++) {
		if (step > 0 && !find_equal(n, again)) {
			break;
		}
		for (int i = 0; i < n->list.n; i++) {
			struct long_name *l = &n->list.data[i];

			if (again[i]) {
				l->form = next_form(n->a, l->name, step);
			}
			again[i] = false;
		}
	}
	n->settled = true;
}

/* -- what comments show -- */

static const char *
show(struct long_names *n, const char *name, size_t length)
{
	int i = text_map_get_bytes(&n->index, name, length, -1);

	if (i < 0) {
		return NULL;
	}
	if (!n->settled) {
		settle(n);
	}
	return n->list.data[i].form;
}

const char *
long_names_show(struct long_names *n, const char *name)
{
	const char *form = n != NULL && is_long(name)
				   ? show(n, name, strlen(name))
				   : NULL;

	return form != NULL ? form : name;
}

const char *
long_names_show_quoted(struct long_names *n, const char *text)
{
	struct strbuf s;
	const char *result;

	strbuf_init(&s);
	while (*text != '\0') {
		size_t length = strcspn(text, "\"");
		const char *form = NULL;

		strbuf_write(&s, text, length);
		text += length;
		if (*text == '\0') {
			break;
		}
		strbuf_putc(&s, *text++);
		length = strcspn(text, "\"");
		if (text[length] == '"') {
			form = show(n, text, length);
		}
		if (form != NULL) {
			strbuf_puts(&s, form);
		} else {
			strbuf_write(&s, text, length);
		}
		text += length;
		if (*text != '\0') {
			strbuf_putc(&s, *text++);
		}
	}
	result = arena_strdup(n->a, s.data != NULL ? s.data : "");
	strbuf_release(&s);
	return result;
}

static int
compare_forms(const void *a, const void *b)
{
	return strcmp((*(const struct long_name *const *)a)->form,
		      (*(const struct long_name *const *)b)->form);
}

/* The long name whose short form is at the start of the text; NULL if none is.
 * A form has no spaces and no quotes, but a comma or a colon may follow it. */
static struct long_name *
name_at(struct long_names *n, const struct text_map *printed, const char *text)
{
	size_t length = strcspn(text, " \"\n");
	int i = text_map_get_bytes(printed, text, length, -1);

	if (i < 0 && length > 0 && strchr(",;:", text[length - 1]) != NULL) {
		i = text_map_get_bytes(printed, text, length - 1, -1);
	}
	return i < 0 ? NULL : &n->list.data[i];
}

/* Fills `list` with the long names whose short forms (form, as printed in
 * comments) occur in the text, sorted by these forms. Returns their number. */
static int
find_shown(struct long_names *n, const char *text, struct long_name **list)
{
	bool *found = arena_array(n->a, bool, n->list.n + 1);
	struct text_map printed;
	int count = 0;

	text_map_init(&printed, n->a);
	for (int i = 0; i < n->list.n; i++) {
		const struct long_name *l = &n->list.data[i];

		if (l->form != l->name) {
			text_map_add(&printed,
				     comment_text(n->a, n->d, l->form), i);
		}
	}
	while ((text = strstr(text, GAP)) != NULL) {
		struct long_name *l = name_at(n, &printed, text);

		if (l != NULL && !found[l - n->list.data]) {
			found[l - n->list.data] = true;
			list[count++] = l;
		}
		text += strlen(GAP);
	}
	qsort(list, (size_t)count, sizeof *list, compare_forms);
	return count;
}

const char *
long_names_table(struct long_names *n, const char *text)
{
	struct long_name **list = arena_array(n->a, struct long_name *,
					      n->list.n + 1);
	int count = n->settled ? find_shown(n, text, list) : 0;
	struct strbuf s;

	if (count == 0) {
		return "";
	}
	strbuf_init(&s);
	strbuf_puts(&s, "\n/* Names of the model that the comments above "
			"shorten:\n");
	for (int i = 0; i < count; i++) {
		strbuf_printf(&s, " *   %s\n",
			      comment_text(n->a, n->d, list[i]->form));
		strbuf_printf(&s, " *       \"%s\"\n",
			      comment_text(n->a, n->d, list[i]->name));
	}
	strbuf_puts(&s, " */\n");
	text = arena_strdup(n->a, s.data);
	strbuf_release(&s);
	return text;
}
