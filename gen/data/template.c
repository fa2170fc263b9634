/* SPDX-License-Identifier: Apache-2.0 */
/* The template engine; template.h describes the language. */
#include "template.h"

#include <stdio.h>

#include "quote.h"
#include "text.h"

struct entry {
	const char *key;
	const char *text; /* NULL and "" mean absent */
	bool is_list;
	/* their positions are relative to the start of the text */
	VEC(struct anchor) anchors;
	VEC(struct tdata *) items;
	struct entry *next;
};

struct tdata {
	struct arena *arena;
	struct entry *entries;
	const struct tdata *outer;
	/* the names that may be absent without an error (tdata_knows); NULL: no
	 * name may be absent */
	const struct tdata *knows;
};

/* -- data -- */

struct tdata *
tdata_new(struct arena *a)
{
	struct tdata *d = arena_new(a, struct tdata);

	d->arena = a;
	return d;
}

void
tdata_outer(struct tdata *d, const struct tdata *outer)
{
	d->outer = outer;
}

static struct entry *
find(const struct tdata *d, const char *key, size_t length)
{
	for (struct entry *e = d->entries; e != NULL; e = e->next) {
		if (strncmp(e->key, key, length) == 0 &&
		    e->key[length] == '\0') {
			return e;
		}
	}
	return NULL;
}

/* The entry for `key` in d, a set of names that may be absent: the entry with
 * the name `key`, or else an entry whose name is a prefix of `key` followed by
 * *. NULL if there is no such entry. */
static const struct entry *
find_known(const struct tdata *d, const char *key, size_t length)
{
	const struct entry *found = find(d, key, length);

	for (const struct entry *e = d->entries; e != NULL && found == NULL;
	     e = e->next) {
		size_t n = strlen(e->key) - 1;

		if (e->key[n] == '*' && length > n &&
		    strncmp(e->key, key, n) == 0) {
			found = e;
		}
	}
	return found;
}

static struct entry *
find_or_add(struct tdata *d, const char *key)
{
	struct entry *e = find(d, key, strlen(key));

	if (e == NULL) {
		e = arena_new(d->arena, struct entry);
		e->key = key;
		e->next = d->entries;
		d->entries = e;
	}
	return e;
}

void
tdata_text(struct tdata *d, const char *key, const char *text)
{
	struct entry *e = find_or_add(d, key);

	e->text = text;
	e->anchors.n = 0;
}

void
tdata_anchored(struct tdata *d, const char *key, const char *text, int kind,
	       int index, size_t offset)
{
	struct entry *e = find_or_add(d, key);

	e->text = text;
	e->anchors.n = 0;
	tdata_anchor(d, key, kind, index, offset);
}

void
tdata_anchor(struct tdata *d, const char *key, int kind, int index,
	     size_t offset)
{
	vec_push(d->arena, &find_or_add(d, key)->anchors,
		 ((struct anchor){ kind, index, offset }));
}

void
tdata_printf(struct tdata *d, const char *key, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	tdata_text(d, key, arena_vprintf(d->arena, fmt, ap));
	va_end(ap);
}

void
tdata_int(struct tdata *d, const char *key, int64_t value)
{
	tdata_printf(d, key, "%lld", (long long)value);
}

void
tdata_flag(struct tdata *d, const char *key, bool value)
{
	tdata_text(d, key, value ? "1" : NULL);
}

void
tdata_list(struct tdata *d, const char *key)
{
	find_or_add(d, key)->is_list = true;
}

struct tdata *
tdata_item(struct tdata *d, const char *key)
{
	struct tdata *item = tdata_new(d->arena);
	const struct entry *known = d->knows == NULL ? NULL
						     : find_known(d->knows, key,
								  strlen(key));

	if (known != NULL && known->items.n > 0) {
		item->knows = known->items.data[0];
	}
	tdata_share(d, key, item);
	return item;
}

void
tdata_share(struct tdata *d, const char *key, struct tdata *item)
{
	struct entry *e = find_or_add(d, key);

	e->is_list = true;
	vec_push(d->arena, &e->items, item);
}

void
tdata_knows(struct tdata *d, const struct tdata *names)
{
	d->knows = names;
}

/* -- rendering -- */

struct scope {
	const struct tdata *data;
	const struct scope *outer;
	bool in_list, first, last;
};

struct tag {
	char kind; /* the kind of the tag: one of "#^/!<>"; 0 for a value */
	const char *name;
	size_t length;
	const char *filters; /* "a|b", after the name */
	size_t n_filters;    /* length of filters */
	const char *start;   /* start of the tag */
	/* end of the tag; if the tag is alone on its line, end of the line */
	const char *end;
	const char *before; /* end of the text before the tag; if the tag is
			     * alone on its line, start of the line */
};

struct renderer {
	struct diags *diags;
	const char *file, *item, *text;
	struct strbuf *out;
	struct anchors *anchors; /* NULL: anchors are not recorded */
	int depth;               /* nesting of fragments */
	bool failed;             /* a diagnostic was reported */
};

enum { DEPTH_MAX = 16 };

static bool
fail(struct renderer *r, const char *at, const char *problem, size_t length,
     const char *name)
{
	struct diag_place place = { .file = r->file, .item = r->item };

	place.line = r->item != NULL ? 0 : text_line(r->text, at);
	r->failed = true;
	return diag_error(r->diags, DIAG_BAD_TEMPLATE, place, "%s '%.*s'",
			  problem, (int)length, name);
}

/* Splits a tag of a value, "name" or "name|filter": the name's length and the
 * filters. */
static void
split_filters(const char *name, size_t all, size_t *length,
	      const char **filters, size_t *n_filters)
{
	const char *bar = memchr(name, '|', all);

	*length = bar != NULL ? (size_t)(bar - name) : all;
	*filters = bar != NULL ? bar + 1 : name + all;
	*n_filters = (size_t)(name + all - *filters);
}

/* The first filter in "a|b", *length: the length of its name. NULL if there is
 * no filter with this name. */
static const struct quote *
next_filter(const char *filters, size_t n_filters, size_t *length)
{
	const char *bar = memchr(filters, '|', n_filters);

	*length = bar != NULL ? (size_t)(bar - filters) : n_filters;
	return quote_find(filters, *length);
}

/* The first name in "a|b" that is not a filter, and its length; NULL if all are
 * filters. */
static const char *
unknown_filter(const char *filters, size_t left, size_t *length)
{
	while (left > 0) {
		if (next_filter(filters, left, length) == NULL) {
			return filters;
		}
		filters += *length + (*length < left);
		left -= *length + (*length < left);
	}
	return NULL;
}

/* Finds the next tag at or after p. False after a diagnostic; true with
 * tag->start NULL if no tag is left. */
static bool
next_tag(struct renderer *r, const char *p, struct tag *tag)
{
	const char *open = strstr(p, "{{");
	const char *close, *line, *rest;

	memset(tag, 0, sizeof *tag);
	if (open == NULL) {
		return true;
	}
	close = strstr(open, "}}");
	if (close == NULL) {
		return fail(r, open, "the end of this tag is missing:", 10,
			    open);
	}
	tag->start = open;
	tag->before = open;
	tag->end = close + 2;
	tag->name = open + 2;
	if (strchr("#^/!<>", *tag->name) != NULL) {
		tag->kind = *tag->name++;
	}
	tag->length = (size_t)(close - tag->name);
	if (tag->kind == 0) {
		split_filters(tag->name, tag->length, &tag->length,
			      &tag->filters, &tag->n_filters);
	}
	if (tag->kind == 0 || tag->kind == '>') {
		return true;
	}
	line = open;
	while (line > r->text && (line[-1] == ' ' || line[-1] == '\t')) {
		line--;
	}
	rest = tag->end;
	while (*rest == ' ' || *rest == '\t') {
		rest++;
	}
	if ((line == r->text || line[-1] == '\n') && *rest == '\n') {
		tag->before = line < p ? p : line;
		tag->end = rest + 1;
	}
	return true;
}

/* Finds the tag that ends the section `open`. False after a diagnostic. */
static bool
find_end(struct renderer *r, const struct tag *open, struct tag *end)
{
	const char *p = open->end;
	int depth = 1;

	while (depth > 0) {
		if (!next_tag(r, p, end)) {
			return false;
		}
		if (end->start == NULL) {
			return fail(r, open->start,
				    "the end of this section is "
				    "missing:",
				    open->length, open->name);
		}
		if (end->length == open->length &&
		    strncmp(end->name, open->name, open->length) == 0) {
			depth += end->kind == '#' || end->kind == '^' ||
				 end->kind == '<';
			depth -= end->kind == '/';
		}
		p = end->end;
	}
	return true;
}

static bool
is_name(const struct tag *tag, const char *word)
{
	return strlen(word) == tag->length &&
	       strncmp(tag->name, word, tag->length) == 0;
}

/* The entry of a name that may be absent, and is. */
static const struct entry absent;

static const struct entry *
find_at(const struct tdata *d, const struct tag *tag)
{
	const struct entry *e = find(d, tag->name, tag->length);

	return e == NULL && d->knows != NULL &&
			       find_known(d->knows, tag->name, tag->length) !=
				       NULL
		       ? &absent
		       : e;
}

/* Looks up a name. *value: its entry; NULL for `first` and `last`, which set
 * *present instead. False after a diagnostic. */
static bool
look_up(struct renderer *r, const struct scope *s, const struct tag *tag,
	const struct entry **value, bool *present)
{
	*value = NULL;
	for (; s != NULL; s = s->outer) {
		const struct entry *e = NULL;

		for (const struct tdata *d = s->data; d != NULL && e == NULL;
		     d = d->outer) {
			e = find_at(d, tag);
		}
		if (e != NULL) {
			*value = e;
			*present = e->is_list ? e->items.n > 0
					      : e->text != NULL &&
							e->text[0] != '\0';
			return true;
		}
		if (s->in_list && is_name(tag, "first")) {
			*present = s->first;
			return true;
		}
		if (s->in_list && is_name(tag, "last")) {
			*present = s->last;
			return true;
		}
	}
	return fail(r, tag->start, "unknown placeholder", tag->length,
		    tag->name);
}

static bool render(struct renderer *r, const char *p, const char *end,
		   const struct scope *scope);

static bool
render_section(struct renderer *r, const struct tag *open,
	       const struct tag *close, const struct scope *scope)
{
	const struct entry *e;
	bool present;

	if (!look_up(r, scope, open, &e, &present)) {
		return false;
	}
	if (open->kind == '^' || e == NULL || !e->is_list) {
		return present == (open->kind == '#')
			       ? render(r, open->end, close->before, scope)
			       : true;
	}
	for (int i = 0; i < e->items.n; i++) {
		struct scope inner = {
			.data = e->items.data[i],
			.outer = scope,
			.in_list = true,
			.first = i == 0,
			.last = i + 1 == e->items.n,
		};

		if (!render(r, open->end, close->before, &inner)) {
			return false;
		}
	}
	return true;
}

/* Finds the definition of a fragment, from {{<name}} to {{/name}}. False after
 * a diagnostic. */
static bool
find_fragment(struct renderer *r, const struct tag *use, struct tag *open,
	      struct tag *end)
{
	const char *p = r->text;

	if (r->depth == DEPTH_MAX) {
		return fail(r, use->start,
			    "a fragment contains itself:", use->length,
			    use->name);
	}
	do {
		if (!next_tag(r, p, open)) {
			return false;
		}
		if (open->start == NULL) {
			return fail(r, use->start,
				    "no such fragment:", use->length,
				    use->name);
		}
		p = open->end;
	} while (open->kind != '<' || open->length != use->length ||
		 strncmp(open->name, use->name, open->length) != 0);
	return find_end(r, open, end);
}

/* A function that renders or checks the text of a template from p to `end`. */
typedef bool (*part_fn)(struct renderer *r, const char *p, const char *end,
			const struct scope *scope);

static bool
in_fragment(struct renderer *r, const struct tag *use,
	    const struct scope *scope, part_fn part)
{
	struct tag tag, end;
	bool ok;

	if (!find_fragment(r, use, &tag, &end)) {
		return false;
	}
	r->depth++;
	ok = part(r, tag.end, end.before, scope);
	r->depth--;
	return ok;
}

/* The position after the definition of a fragment. If the tag that opens the
 * definition starts its line, the newline after the definition is skipped,
 * too. */
static const char *
skip_fragment(const struct renderer *r, const struct tag *open,
	      const struct tag *close)
{
	bool alone = open->start == r->text || open->start[-1] == '\n';

	return close->end +
	       (alone && *close->end == '\n' && close->end[-1] != '\n');
}

/* Appends a text after applying the filters of the tag. False after a
 * diagnostic. */
static bool
put_text(struct renderer *r, const struct tag *tag, const char *text)
{
	const char *filters = tag->filters;
	size_t left = tag->n_filters, n;
	struct strbuf now, next;
	bool ok = true;

	strbuf_init(&now);
	strbuf_puts(&now, text);
	while (ok && left > 0) {
		const struct quote *q = next_filter(filters, left, &n);

		strbuf_init(&next);
		if (q == NULL) {
			ok = fail(r, tag->start, "unknown filter", n, filters);
		} else if (!q->put(now.data, &next)) {
			ok = fail(r, tag->start,
				  arena_printf(r->diags->arena,
					       "the filter %s does not take "
					       "'%s' for",
					       q->filter, now.data),
				  tag->length, tag->name);
		}
		strbuf_release(&now);
		now = next;
		filters += n + (n < left);
		left -= n + (n < left);
	}
	if (ok) {
		strbuf_puts(r->out, now.data != NULL ? now.data : "");
	}
	strbuf_release(&now);
	return ok;
}

/* Records the anchors of a text, which is about to be written to r->out. */
static bool
record(struct renderer *r, const struct tag *tag, const struct entry *e)
{
	if (r->anchors == NULL || tag->n_filters > 0) {
		return fail(r, tag->start,
			    "only templates of whole files have this "
			    "placeholder, without a filter:",
			    tag->length, tag->name);
	}
	for (int i = 0; i < e->anchors.n; i++) {
		const struct anchor *x = &e->anchors.data[i];

		anchors_add(r->anchors, x->kind, x->index, r->out->len + x->at);
	}
	return true;
}

static bool
render(struct renderer *r, const char *p, const char *end,
       const struct scope *scope)
{
	while (p < end) {
		struct tag tag, close;
		const struct entry *e;
		bool present;

		if (!next_tag(r, p, &tag)) {
			return false;
		}
		if (tag.start == NULL || tag.start >= end) {
			strbuf_write(r->out, p, (size_t)(end - p));
			return true;
		}
		strbuf_write(r->out, p, (size_t)(tag.before - p));
		p = tag.end;
		switch (tag.kind) {
		case '!':
			break;
		case '/':
			return fail(r, tag.start,
				    "no section is open for this "
				    "end:",
				    tag.length, tag.name);
		case '#':
		case '^':
			if (!find_end(r, &tag, &close) ||
			    !render_section(r, &tag, &close, scope)) {
				return false;
			}
			p = close.end;
			break;
		case '<':
			if (!find_end(r, &tag, &close)) {
				return false;
			}
			p = skip_fragment(r, &tag, &close);
			break;
		case '>':
			if (!in_fragment(r, &tag, scope, render)) {
				return false;
			}
			break;
		default:
			if (!look_up(r, scope, &tag, &e, &present)) {
				return false;
			}
			if (e == NULL || e->is_list) {
				return fail(r, tag.start,
					    "this name is a list, not a text:",
					    tag.length, tag.name);
			}
			if (present &&
			    ((e->anchors.n > 0 && !record(r, &tag, e)) ||
			     !put_text(r, &tag, e->text))) {
				return false;
			}
			break;
		}
	}
	return true;
}

bool
template_render(struct diags *diags, const char *file, const char *item,
		const char *text, const struct tdata *data, struct strbuf *out)
{
	return template_render_anchored(diags, file, item, text, data, out,
					NULL);
}

bool
template_render_anchored(struct diags *diags, const char *file,
			 const char *item, const char *text,
			 const struct tdata *data, struct strbuf *out,
			 struct anchors *anchors)
{
	struct renderer r = {
		.diags = diags,
		.file = file,
		.item = item,
		.text = text,
		.out = out,
		.anchors = anchors,
	};
	struct scope scope = { .data = data };

	return render(&r, text, text + strlen(text), &scope);
}

/* -- checks without data -- */

static bool
is_word(const char *words, const char *name, size_t length)
{
	for (const char *p = words; *p != '\0';) {
		size_t n = strcspn(p, " ");

		if (n == length && strncmp(p, name, n) == 0) {
			return true;
		}
		p += n + (p[n] == ' ');
	}
	return false;
}

void
template_check(const char *text, const char *words, bool filtered,
	       void (*wrong)(void *ctx, int line, const char *problem,
			     const char *name, size_t length),
	       void *ctx)
{
	struct {
		const char *name;
		size_t length;
		int line;
	} open[32];
	const char *p = text, *tag, *end, *name, *filters;
	int line = 1, depth = 0;
	size_t length, n_filters, unknown;

	while ((tag = strstr(p, "{{")) != NULL) {
		for (; p < tag; p++) {
			line += *p == '\n';
		}
		end = strstr(tag, "}}");
		if (end == NULL) {
			wrong(ctx, line, "the end of this tag is missing:", tag,
			      10);
			return;
		}
		p = tag + 2;
		name = strchr("#^/!<>", *p) != NULL ? p + 1 : p;
		length = (size_t)(end - name);
		if (*p == '/') {
			if (depth == 0) {
				wrong(ctx, line,
				      "no section is open for this "
				      "end:",
				      name, length);
			} else if (open[--depth].length != length ||
				   strncmp(open[depth].name, name, length) !=
					   0) {
				wrong(ctx, open[depth].line,
				      "the end of this section is missing:",
				      open[depth].name, open[depth].length);
			}
			continue;
		}
		if (name == p) {
			split_filters(name, length, &length, &filters,
				      &n_filters);
			filters = unknown_filter(filters, n_filters, &unknown);
			if (filters != NULL) {
				wrong(ctx, line, "unknown filter", filters,
				      unknown);
			}
			if (filtered && n_filters == 0) {
				wrong(ctx, line,
				      "a value needs a filter here "
				      "({{name|make}}):",
				      name, length);
			}
		}
		if (strchr("!<>", *p) == NULL && words != NULL &&
		    !is_word("first last br open close", name, length) &&
		    !is_word(words, name, length)) {
			wrong(ctx, line, "unknown placeholder", name, length);
		}
		if (strchr("#^<", *p) != NULL && depth < 32) {
			open[depth].name = name;
			open[depth].length = length;
			open[depth++].line = line;
		}
	}
	while (depth-- > 0) {
		wrong(ctx, open[depth].line,
		      "the end of this section is "
		      "missing:",
		      open[depth].name, open[depth].length);
	}
}

/* Control characters mark the places for line breaks in printed code; texts of
 * templates have none. False after a diagnostic. */
static bool
check_characters(struct renderer *r)
{
	const char *bad = text_control(r->text);

	return bad == NULL || fail(r, bad, "a control character:", 1, bad);
}

struct checked_file {
	struct diags *diags;
	const char *file;
	bool is_good;
};

static void
say_in_file(void *ctx, int line, const char *problem, const char *name,
	    size_t length)
{
	struct checked_file *f = ctx;

	f->is_good = diag_error(f->diags, DIAG_BAD_TEMPLATE,
				(struct diag_place){ .file = f->file,
						     .line = line },
				"%s '%.*s'", problem, (int)length, name);
}

bool
template_check_file(struct diags *diags, const char *file, const char *text,
		    const char *words, bool filtered)
{
	struct renderer r = { .diags = diags, .file = file, .text = text };
	struct checked_file f = { diags, file, check_characters(&r) };

	template_check(text, words, filtered, say_in_file, &f);
	return f.is_good;
}

/* -- checking a template against the known names -- */

/* Finds the entry of a name among the known names; NULL for `first` and `last`.
 * False after a diagnostic. */
static bool
known_entry(struct renderer *r, const struct scope *scope,
	    const struct tag *tag, const struct entry **e)
{
	*e = NULL;
	for (const struct scope *s = scope; s != NULL; s = s->outer) {
		*e = find_known(s->data, tag->name, tag->length);
		if (*e != NULL || (s->in_list && (is_name(tag, "first") ||
						  is_name(tag, "last")))) {
			return true;
		}
	}
	return fail(r, tag->start, "unknown placeholder", tag->length,
		    tag->name);
}

static bool
filters_are_known(struct renderer *r, const struct tag *tag)
{
	size_t n;
	const char *unknown = unknown_filter(tag->filters, tag->n_filters, &n);

	return unknown == NULL ||
	       fail(r, tag->start, "unknown filter", n, unknown);
}

static bool check(struct renderer *r, const char *p, const char *end,
		  const struct scope *scope);

/* Checks the content of a section, even if no data would render it. */
static bool
check_section(struct renderer *r, const struct tag *open,
	      const struct tag *close, const struct scope *scope)
{
	const struct entry *e;

	if (!known_entry(r, scope, open, &e)) {
		return false;
	}
	if (open->kind == '#' && e != NULL && e->items.n > 0) {
		struct scope inner = {
			.data = e->items.data[0],
			.outer = scope,
			.in_list = true,
		};

		return check(r, open->end, close->before, &inner);
	}
	return check(r, open->end, close->before, scope);
}

static bool
check(struct renderer *r, const char *p, const char *end,
      const struct scope *scope)
{
	struct tag tag, close;
	const struct entry *e;
	bool ok = true;

	while (ok && next_tag(r, p, &tag) && tag.start != NULL &&
	       tag.start < end) {
		p = tag.end;
		switch (tag.kind) {
		case '!':
			break;
		case '/':
			return fail(r, tag.start,
				    "no section is open for this "
				    "end:",
				    tag.length, tag.name);
		case '#':
		case '^':
		case '<':
			ok = find_end(r, &tag, &close) &&
			     (tag.kind == '<' ||
			      check_section(r, &tag, &close, scope));
			p = close.end;
			break;
		case '>':
			ok = in_fragment(r, &tag, scope, check);
			break;
		default:
			ok = known_entry(r, scope, &tag, &e) &&
			     filters_are_known(r, &tag);
			if (ok &&
			    (e == NULL || (e->is_list && e->text == NULL))) {
				return fail(r, tag.start,
					    "this name is a list, not a text:",
					    tag.length, tag.name);
			}
			break;
		}
	}
	return ok && !r->failed;
}

bool
template_check_known(struct diags *diags, const char *file, const char *text,
		     const struct tdata *names)
{
	struct renderer r = { .diags = diags, .file = file, .text = text };
	struct scope scope = { .data = names };

	return check_characters(&r) &&
	       check(&r, text, text + strlen(text), &scope);
}
