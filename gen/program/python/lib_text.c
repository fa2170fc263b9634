/* SPDX-License-Identifier: Apache-2.0 */
/* The methods of str, list, tuple and dict. */
#include <ctype.h>

#include "format.h"
#include "objects.h"
#include "python_parts.h"

/* -- str -- */

/* Makes the text in s the result of a call, and releases s. Returns false after
 * an error if the text is too long. */
static bool
finish_text(struct call *c, struct strbuf *s, struct pval *out)
{
	bool fits = s->len <= EVAL_MAX_ITEMS;

	if (fits) {
		*out = pv_text_n(c->ev, s->data, s->len);
	}
	strbuf_release(s);
	return fits ? eval_tick_bytes(c->ev, c->span, out->u.text.n)
		    : call_error(c, -1, "a text of more than %d bytes",
				 EVAL_MAX_ITEMS);
}

bool
str_join(struct call *c, struct pval *out)
{
	struct pval *items;
	struct strbuf s;
	int n;

	if (!eval_items(c->ev, c->spans[0], &c->args[0], &items, &n)) {
		return false;
	}
	strbuf_init(&s);
	for (int i = 0; i < n; i++) {
		if (items[i].kind != PV_STRING) {
			strbuf_release(&s);
			return call_error(c, 0, "element %d is %s, not str", i,
					  pv_kind_name(items[i].kind));
		}
		if (s.len > EVAL_MAX_ITEMS) {
			break;
		}
		if (i) {
			strbuf_write(&s, c->self.u.text.data, c->self.u.text.n);
		}
		strbuf_write(&s, items[i].u.text.data, items[i].u.text.n);
	}
	return finish_text(c, &s, out);
}

bool
str_case(struct call *c, struct pval *out)
{
	bool up = c->row->name[0] == 'u';

	size_t n = c->self.u.text.n;
	char *text = arena_copy(c->ev->a, c->self.u.text.data, n + 1);

	for (size_t i = 0; i < n; i++) {
		text[i] = (char)(up ? toupper((unsigned char)text[i])
				    : tolower((unsigned char)text[i]));
	}
	*out = pv_text_n(c->ev, text, n);
	return eval_tick_bytes(c->ev, c->span, n);
}

bool
str_starts(struct call *c, struct pval *out)
{
	const char *part;
	size_t n, have = c->self.u.text.n;

	if (!arg_text(c, 0, &part)) {
		return false;
	}
	n = c->args[0].u.text.n;
	*out = pv_bool(n <= have &&
		       memcmp(c->self.u.text.data +
				      (c->row->name[0] == 's' ? 0 : have - n),
			      part, n) == 0);
	return eval_tick_bytes(c->ev, c->span, n);
}

/* The offset of the first occurrence of `part` in the text at or after offset
 * `from`; -1 if there is none. */
static int64_t
find_part(const struct pval *text, const struct pval *part, size_t from)
{
	size_t n = part->u.text.n;

	for (size_t i = from; i + n <= text->u.text.n; i++) {
		if (memcmp(text->u.text.data + i, part->u.text.data, n) == 0) {
			return (int64_t)i;
		}
	}
	return -1;
}

/* Counts the steps for searching the method's text for argument 0. Returns
 * false after an error. */
static bool
search_steps(struct call *c)
{
	const char *unused;

	return arg_text(c, 0, &unused) &&
	       eval_tick(c->ev, c->span,
			 (int64_t)(c->self.u.text.n / 8 *
				   (c->args[0].u.text.n / 8 + 1)));
}

bool
str_find(struct call *c, struct pval *out)
{
	int64_t at;

	if (!search_steps(c)) {
		return false;
	}
	at = find_part(&c->self, &c->args[0], 0);
	*out = pv_int(at);
	return at >= 0 || c->row->name[0] == 'f' ||
	       eval_raise(c->ev, c->span, "ValueError", "substring not found");
}

bool
str_count(struct call *c, struct pval *out)
{
	size_t n = c->args[0].kind == PV_STRING ? c->args[0].u.text.n : 0;
	int64_t count = 0, at;

	if (!search_steps(c)) {
		return false;
	}
	if (n == 0) {
		return call_error(c, 0, "count() of an empty text");
	}
	for (size_t from = 0;
	     (at = find_part(&c->self, &c->args[0], from)) >= 0;
	     from = (size_t)at + n) {
		count++;
	}
	*out = pv_int(count);
	return true;
}

/* isdigit(), isalpha() and so on, for ASCII: true if the text is not empty and
 * all its characters are of this kind. isupper() and islower() ignore
 * characters that are not letters. */
bool
str_all_are(struct call *c, struct pval *out)
{
	const char *kind = c->row->name + 2;
	bool cased = kind[0] == 'u' || kind[0] == 'l', found = false;

	*out = pv_bool(false);
	for (size_t i = 0; i < c->self.u.text.n; i++) {
		unsigned char x = (unsigned char)c->self.u.text.data[i];
		bool is = kind[0] == 'd'   ? isdigit(x)
			  : kind[0] == 'a' ? isalpha(x)
			  : kind[0] == 'u' ? isupper(x)
					   : islower(x);

		if (!is && (!cased || isalpha(x))) {
			return true;
		}
		found |= is;
	}
	*out = pv_bool(found);
	return eval_tick_bytes(c->ev, c->span, c->self.u.text.n);
}

bool
str_replace(struct call *c, struct pval *out)
{
	const char *from, *to, *at = c->self.u.text.data, *next;
	struct strbuf s;
	int64_t found = 0;

	if (!arg_text(c, 0, &from) || !arg_text(c, 1, &to)) {
		return false;
	}
	if (*from == '\0') {
		return call_error(c, 0, "replace() of an empty text");
	}
	strbuf_init(&s);
	while (s.len <= EVAL_MAX_ITEMS && (next = strstr(at, from))) {
		strbuf_write(&s, at, (size_t)(next - at));
		strbuf_puts(&s, to);
		at = next + strlen(from);
		found++;
	}
	strbuf_puts(&s, at);
	return finish_text(c, &s, out) &&
	       eval_tick_bytes(c->ev, c->span, c->self.u.text.n) &&
	       eval_tick(c->ev, c->span, found);
}

bool
str_strip(struct call *c, struct pval *out)
{
	const char *text = c->self.u.text.data;
	size_t from = 0, to = c->self.u.text.n;

	while (from < to && isspace((unsigned char)text[from])) {
		from++;
	}
	while (to > from && isspace((unsigned char)text[to - 1])) {
		to--;
	}
	*out = pv_text_n(c->ev, text + from, to - from);
	return eval_tick_bytes(c->ev, c->span, c->self.u.text.n);
}

/* The character that fills a text, " " if the call gives none; NULL after an
 * error. */
static const char *
fill_character(struct call *c)
{
	const char *fill = " ";
	int64_t length = 1;

	if (arg_given(c, 1)) {
		if (!arg_text(c, 1, &fill)) {
			return NULL;
		}
		pv_length(&c->args[1], &length);
	}
	if (length != 1) {
		call_error(c, 1, "the fill character is one character");
		return NULL;
	}
	return fill;
}

static void
put_times(struct strbuf *s, const char *text, int64_t n)
{
	for (int64_t i = 0; i < n; i++) {
		strbuf_puts(s, text);
	}
}

/* Implements ljust, rjust and center. */
bool
str_pad(struct call *c, struct pval *out)
{
	enum { WIDEST = 10000 };
	const char *name = c->row->name, *fill = fill_character(c);
	int64_t width, length = 0, before;
	struct strbuf s;

	if (fill == NULL || !arg_int(c, 0, 0, WIDEST, &width)) {
		return false;
	}
	pv_length(&c->self, &length);
	before = width; /* Python puts the odd one of center() there */
	width = width > length ? width - length : 0;
	before = name[0] == 'l'   ? 0
		 : name[0] == 'r' ? width
				  : width / 2 + (width & before & 1);
	strbuf_init(&s);
	put_times(&s, fill, before);
	strbuf_write(&s, c->self.u.text.data, c->self.u.text.n);
	put_times(&s, fill, width - before);
	*out = pv_text_n(c->ev, s.data, s.len);
	strbuf_release(&s);
	return eval_tick_bytes(c->ev, c->span, c->self.u.text.n + WIDEST);
}

bool
str_split(struct call *c, struct pval *out)
{
	const char *between = NULL, *at = c->self.u.text.data, *next;

	if (arg_given(c, 0) && !arg_text(c, 0, &between)) {
		return false;
	}
	if (between && *between == '\0') {
		return call_error(c, 0, "split() at an empty text");
	}
	*out = pv_list_of(c->ev, PV_LIST, NULL, 0);
	if (!eval_tick(c->ev, c->span, (int64_t)c->self.u.text.n)) {
		return false;
	}
	if (!between) {
		for (;;) {
			size_t n;

			at += strspn(at, " \t\r\n");
			n = strcspn(at, " \t\r\n");
			if (n == 0) {
				return true;
			}
			vec_push(c->ev->a, out->u.list,
				 pv_text_n(c->ev, at, n));
			at += n;
		}
	}
	while ((next = strstr(at, between))) {
		vec_push(c->ev->a, out->u.list,
			 pv_text_n(c->ev, at, (size_t)(next - at)));
		at = next + strlen(between);
	}
	vec_push(c->ev->a, out->u.list, pv_string(c->ev, at));
	return true;
}

/* Implements format(value, spec). */
bool
python_format(struct call *c, struct pval *out)
{
	const char *spec = NULL;
	struct strbuf s;
	bool ok;

	if (arg_given(c, 1) && !arg_text(c, 1, &spec)) {
		return false;
	}
	strbuf_init(&s);
	ok = format_value(c->ev, c->span, &c->args[0], 0, spec, &s);
	*out = pv_text_n(c->ev, s.data, s.len);
	strbuf_release(&s);
	return ok;
}

/* -- list and tuple -- */

bool
list_append(struct call *c, struct pval *out)
{
	(void)out;
	return list_add(c->ev, c->span, c->self.u.list, &c->args[0], 1);
}

bool
list_extend(struct call *c, struct pval *out)
{
	struct pval *items;
	int n;

	(void)out;
	return eval_items(c->ev, c->spans[0], &c->args[0], &items, &n) &&
	       list_add(c->ev, c->span, c->self.u.list, items, n);
}

bool
list_insert(struct call *c, struct pval *out)
{
	struct pv_list *l = c->self.u.list;
	int64_t at;

	(void)out;
	if (!arg_int(c, 0, -EVAL_MAX_ITEMS, EVAL_MAX_ITEMS, &at) ||
	    !list_add(c->ev, c->span, l, &c->args[1], 1)) {
		return false;
	}
	at += at < 0 ? l->n - 1 : 0;
	at = at < 0 ? 0 : at >= l->n ? l->n - 1 : at;
	for (int i = l->n - 1; i > at; i--) {
		l->data[i] = l->data[i - 1];
	}
	l->data[at] = c->args[1];
	return eval_tick(c->ev, c->span, l->n / 8);
}

bool
list_pop(struct call *c, struct pval *out)
{
	struct pv_list *l = c->self.u.list;
	int64_t at = l->n - 1;

	if (l->n == 0) {
		return call_error(c, -1, "pop() from an empty list");
	}
	if (!arg_missing(c, 0) && !arg_int(c, 0, -l->n, l->n - 1, &at)) {
		return false;
	}
	at += at < 0 ? l->n : 0;
	*out = l->data[at];
	for (int i = (int)at; i + 1 < l->n; i++) {
		l->data[i] = l->data[i + 1];
	}
	l->n--;
	return eval_tick(c->ev, c->span, l->n / 8);
}

bool
list_reverse(struct call *c, struct pval *out)
{
	struct pv_list *l = c->self.u.list;

	(void)out;
	pv_reverse(l->data, l->n);
	return eval_tick(c->ev, c->span, l->n / 8);
}

bool
list_index(struct call *c, struct pval *out)
{
	const struct pv_list *l = c->self.u.list;
	int at;

	if (!eval_find(c->ev, c->span, l, &c->args[0], &at)) {
		return false;
	}
	*out = pv_int(at);
	return at >= 0 || call_error(c, 0, "not in the list");
}

bool
list_count(struct call *c, struct pval *out)
{
	const struct pv_list *l = c->self.u.list;
	int64_t count = 0;

	for (int i = 0; i < l->n; i++) {
		bool same;

		if (!eval_equal(c->ev, c->span, &l->data[i], &c->args[0],
				&same)) {
			return false;
		}
		count += same;
	}
	*out = pv_int(count);
	return true;
}

/* -- dict -- */

bool
dict_items(struct call *c, struct pval *out)
{
	const struct pv_dict *d = c->self.u.dict;

	*out = pv_list_of(c->ev, PV_LIST, NULL, 0);
	for (int i = 0; i < d->keys.n; i++) {
		struct pval pair[2] = { d->keys.data[i], d->values.data[i] };

		vec_push(c->ev->a, out->u.list,
			 c->row->name[0] == 'i'
				 ? pv_list_of(c->ev, PV_TUPLE, pair, 2)
				 : pair[c->row->name[0] == 'v']);
	}
	return eval_tick(c->ev, c->span, d->keys.n);
}

bool
dict_get_method(struct call *c, struct pval *out)
{
	const struct pval *v;

	if (!dict_get(c->ev, c->span, c->self.u.dict, &c->args[0], &v)) {
		return false;
	}
	*out = v ? *v : arg_missing(c, 1) ? pv_none() : c->args[1];
	return true;
}

bool
dict_update(struct call *c, struct pval *out)
{
	(void)out;
	return c->args[0].kind == PV_DICT
		       ? dict_add(c->ev, c->span, c->self.u.dict,
				  c->args[0].u.dict)
		       : value_kind_error(c, 0, "a dict");
}
