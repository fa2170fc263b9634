/* SPDX-License-Identifier: Apache-2.0 */
/* Finds records of a kernel's workload: the best one for a target, and one that
 * was measured for another target, to tell the user about. Marks the best
 * records of a list. */
#include <cjson/cJSON.h>

#include "json_put.h"
#include "json_read.h"
#include "records.h"
#include "text_map.h"

double
record_ratio(const struct record *r)
{
	return r->time / r->rules_time;
}

/* Did the measurement succeed, and is the schedule enough faster than the
 * rules' to be used? */
static bool
may_be_used(const struct record *r)
{
	return r->error == NULL && record_ratio(r) <= RECORD_MOST;
}

const struct record *
records_best(const struct records *list, const char *workload,
	     const char *facts)
{
	const struct record *best = NULL;

	for (int i = 0; i < list->list.n; i++) {
		const struct record *r = &list->list.data[i];

		if (may_be_used(r) && strcmp(r->workload, workload) == 0 &&
		    strcmp(r->facts, facts) == 0 &&
		    (best == NULL || record_ratio(r) < record_ratio(best))) {
			best = r;
		}
	}
	return best;
}

bool *
records_mark_best(struct arena *a, const struct records *list)
{
	bool *is_best = arena_array(a, bool, list->list.n + 1);
	int *best = arena_array(a, int, list->list.n + 1), n = 0;
	struct text_map keys;

	text_map_init(&keys, a);
	for (int i = 0; i < list->list.n; i++) {
		const struct record *r = &list->list.data[i];
		const char *key;
		int at;

		if (!may_be_used(r)) {
			continue;
		}
		key = arena_printf(a, "%s %s", r->workload, r->facts);
		at = text_map_get(&keys, key, n);
		if (at == n) {
			text_map_add(&keys, key, n);
			best[n++] = i;
		} else if (record_ratio(r) <
			   record_ratio(&list->list.data[best[at]])) {
			best[at] = i;
		}
	}
	for (int k = 0; k < n; k++) {
		is_best[best[k]] = true;
	}
	return is_best;
}

const struct record *
records_elsewhere(const struct records *list, const char *workload,
		  const char *facts)
{
	for (int i = 0; i < list->list.n; i++) {
		const struct record *r = &list->list.data[i];

		if (r->error == NULL && strcmp(r->workload, workload) == 0 &&
		    strcmp(r->facts, facts) != 0) {
			return r;
		}
	}
	return NULL;
}

static const char *
value_text(struct module *m, const cJSON *v)
{
	struct strbuf text;
	const char *copy;

	if (v == NULL) {
		return "0";
	}
	strbuf_init(&text);
	json_put(&text, v, false);
	copy = arena_strndup(&m->arena, text.data, text.len);
	strbuf_release(&text);
	return copy;
}

/* The first fact of `of` that is missing or different in `other`, as a text;
 * NULL if all facts of `of` are in `other`. swapped: the text names the value
 * in `other` first. */
static const char *
first_difference(struct module *m, const cJSON *of, const cJSON *other,
		 bool swapped)
{
	const cJSON *v;

	cJSON_ArrayForEach(v, of)
	{
		const cJSON *w = cJSON_GetObjectItemCaseSensitive(other,
								  v->string);

		if (w == NULL || !cJSON_Compare(v, w, true)) {
			return arena_printf(&m->arena, "%s %s, not %s",
					    v->string,
					    value_text(m, swapped ? w : v),
					    value_text(m, swapped ? v : w));
		}
	}
	return NULL;
}

const char *
facts_difference(struct module *m, const char *have, const char *want)
{
	cJSON *a = json_parse_quietly(have, NULL);
	cJSON *b = json_parse_quietly(want, NULL);
	const char *found = first_difference(m, a, b, false);

	if (found == NULL) {
		found = first_difference(m, b, a, true);
	}
	cJSON_Delete(a);
	cJSON_Delete(b);
	return found;
}

const char *
record_words(struct arena *a, const struct record_decision *list, int n)
{
	struct strbuf text = { 0 };
	const char *words;

	for (int i = 0; i < n; i++) {
		const struct record_decision *d = &list[i];

		strbuf_printf(&text, "%s%s ", i > 0 ? ", " : "", d->name);
		if (d->word != NULL) {
			strbuf_puts(&text, d->word);
		} else {
			strbuf_printf(&text, "%lld", (long long)d->number);
		}
	}
	words = n > 0 ? arena_strndup(a, text.data, text.len) : "no decisions";
	strbuf_release(&text);
	return words;
}
