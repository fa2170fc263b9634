/* SPDX-License-Identifier: Apache-2.0 */
/* Reads records, line by line. */
#include <math.h>

#include "json_put.h"
#include "json_read.h"
#include "records.h"
#include "source_load.h"
#include "text.h"

/* The limits of one record. */
enum { MOST_LINE_BYTES = 1 << 22, MOST_DECISIONS = 1000, MOST_ROUNDS = 10000 };
/* This many bad lines of a file are reported; further bad lines are only
 * counted. */
enum { MOST_REPORTED = 20 };

struct line {
	struct module *m;
	const cJSON *value;
	const char *problem; /* the first problem, or NULL */
};

static void
problem(struct line *l, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	if (l->problem == NULL) {
		l->problem = arena_vprintf(&l->m->arena, fmt, ap);
	}
	va_end(ap);
}

/* The text of a key, without control characters; NULL if it is absent. */
static const char *
text_of(struct line *l, const char *key, bool required)
{
	const cJSON *v = cJSON_GetObjectItemCaseSensitive(l->value, key);

	if (v == NULL || cJSON_IsNull(v)) {
		if (required) {
			problem(l, "\"%s\" is missing", key);
		}
		return NULL;
	}
	if (!cJSON_IsString(v) || text_control(v->valuestring) != NULL ||
	    strpbrk(v->valuestring, "\r\n") != NULL) {
		problem(l, "\"%s\" is not a text of one line", key);
		return NULL;
	}
	return arena_strdup(&l->m->arena, v->valuestring);
}

/* The least valid time, in the unit of the record; each kernel takes longer. */
#define LEAST_TIME 0.001

static bool
is_time(double v)
{
	return isfinite(v) && v >= LEAST_TIME;
}

static double
time_of(struct line *l, const char *key)
{
	const cJSON *v = cJSON_GetObjectItemCaseSensitive(l->value, key);

	if (!cJSON_IsNumber(v) || !is_time(v->valuedouble)) {
		problem(l, "\"%s\" is not a number of at least 0.001", key);
		return 1;
	}
	return v->valuedouble;
}

/* The value of a key as JSON on one line; NULL if it is absent or does not have
 * the form. form: a name of the form for the message. */
static const char *
json_of(struct line *l, const char *key, cJSON_bool (*is_form)(const cJSON *v),
	const char *form, bool required)
{
	const cJSON *v = cJSON_GetObjectItemCaseSensitive(l->value, key);
	struct strbuf text;
	const char *copy;

	if (v == NULL || cJSON_IsNull(v)) {
		if (required) {
			problem(l, "\"%s\" is missing", key);
		}
		return NULL;
	}
	if (!is_form(v)) {
		problem(l, "\"%s\" is not %s", key, form);
		return NULL;
	}
	strbuf_init(&text);
	json_put(&text, v, false);
	copy = arena_strndup(&l->m->arena, text.data, text.len);
	strbuf_release(&text);
	return copy;
}

static void
read_decisions(struct line *l, struct record *r)
{
	const cJSON *list = cJSON_GetObjectItemCaseSensitive(l->value,
							     "decisions");
	struct record_decision *d;
	const cJSON *v;
	int n = cJSON_GetArraySize(list);

	if (!cJSON_IsArray(list) || n > MOST_DECISIONS) {
		problem(l,
			"\"decisions\" is not a list of at most %d decisions",
			MOST_DECISIONS);
		return;
	}
	d = arena_array(&l->m->arena, struct record_decision, n + 1);
	cJSON_ArrayForEach(v, list)
	{
		const cJSON *name = cJSON_GetArrayItem(v, 0);
		const cJSON *of = cJSON_GetArrayItem(v, 1);

		if (cJSON_GetArraySize(v) != 2 || !cJSON_IsString(name) ||
		    !text_is_identifier(name->valuestring, "") ||
		    !((cJSON_IsNumber(of) &&
		       fabs(of->valuedouble) < (double)JSON_EXACT &&
		       floor(of->valuedouble) == of->valuedouble) ||
		      (cJSON_IsString(of) &&
		       text_is_identifier(of->valuestring, "")))) {
			problem(l, "a decision is [name, number] or [name, "
				   "word]");
			return;
		}
		d[r->n_decisions].name = arena_strdup(&l->m->arena,
						      name->valuestring);
		if (cJSON_IsString(of)) {
			d[r->n_decisions].word = arena_strdup(&l->m->arena,
							      of->valuestring);
		} else {
			d[r->n_decisions].number = (int64_t)of->valuedouble;
		}
		r->n_decisions++;
	}
	r->decisions = d;
}

static void
read_rounds(struct line *l, struct record *r)
{
	const cJSON *list = cJSON_GetObjectItemCaseSensitive(l->value,
							     "rounds");
	struct record_round *rounds;
	const cJSON *v;
	int n = cJSON_GetArraySize(list);

	if (!cJSON_IsArray(list) || n < 1 || n > MOST_ROUNDS) {
		problem(l, "\"rounds\" is not a list of 1 to %d rounds",
			MOST_ROUNDS);
		return;
	}
	rounds = arena_array(&l->m->arena, struct record_round, n);
	cJSON_ArrayForEach(v, list)
	{
		const cJSON *time = cJSON_GetArrayItem(v, 0);
		const cJSON *rules = cJSON_GetArrayItem(v, 1);

		if (cJSON_GetArraySize(v) != 2 || !cJSON_IsNumber(time) ||
		    !cJSON_IsNumber(rules) || !is_time(time->valuedouble) ||
		    !is_time(rules->valuedouble)) {
			problem(l, "a round is [time, time of the rules' "
				   "schedule]");
			return;
		}
		rounds[r->n_rounds++] = (struct record_round){
			time->valuedouble, rules->valuedouble
		};
	}
	r->rounds = rounds;
}

static bool
is_key(const char *text)
{
	return strlen(text) == 16 && strspn(text, "0123456789abcdef") == 16;
}

static void
read_record(struct line *l, struct record *r)
{
	const cJSON *version = cJSON_GetObjectItemCaseSensitive(l->value,
								"tirc_record");

	if (!cJSON_IsNumber(version)) {
		problem(l, "\"tirc_record\" is missing: this is not a record");
		return;
	}
	if (version->valuedouble != RECORD_VERSION) {
		problem(l,
			"its version is %g, and this release of tirc reads "
			"version %d",
			version->valuedouble, RECORD_VERSION);
		return;
	}
	r->workload = text_of(l, "workload", true);
	if (r->workload != NULL && !is_key(r->workload)) {
		problem(l, "\"workload\" is not 16 digits of a hexadecimal "
			   "number");
	}
	r->kernel = text_of(l, "kernel", true);
	r->computes = text_of(l, "computes", true);
	r->target = text_of(l, "target", true);
	r->facts = json_of(l, "facts", cJSON_IsObject, "an object", true);
	read_decisions(l, r);
	r->error = text_of(l, "error", false);
	r->trace = json_of(l, "trace", cJSON_IsArray, "a list",
			   r->error == NULL);
	r->machine = text_of(l, "machine", true);
	r->compiler = text_of(l, "compiler", true);
	r->tirc = text_of(l, "tirc", true);
	r->date = text_of(l, "date", true);
	if (r->error != NULL) {
		return;
	}
	r->unit = text_of(l, "unit", true);
	if (r->unit != NULL && strcmp(r->unit, "ns") != 0 &&
	    strcmp(r->unit, "instructions") != 0) {
		problem(l, "\"unit\" is neither \"ns\" nor \"instructions\"");
	}
	r->time = time_of(l, "time");
	r->rules_time = time_of(l, "rules_time");
	read_rounds(l, r);
}

/* Reads one line into *r. Returns NULL, or a text that says what is wrong with
 * the line. */
static const char *
read_line(struct module *m, const char *text, struct record *r)
{
	struct line l = { .m = m };
	const char *end;
	cJSON *value;

	if (strlen(text) > MOST_LINE_BYTES) {
		return "it is longer than any record";
	}
	value = json_parse_quietly(text, &end);
	l.value = value;
	if (value == NULL || end[strspn(end, " \t\r")] != '\0') {
		l.problem = "it is not JSON";
	} else if (!cJSON_IsObject(value)) {
		l.problem = "it is no JSON object";
	} else {
		read_record(&l, r);
	}
	cJSON_Delete(value);
	return l.problem;
}

static void
note_bad(struct module *m, struct diag_place place, struct records *out,
	 const char *why)
{
	out->n_bad++;
	if (out->n_bad <= MOST_REPORTED) {
		diag_warning(&m->diags, DIAG_BAD_RECORD, place,
			     "%s; the line is skipped", why);
	}
	if (out->n_bad == MOST_REPORTED) {
		diag_note(&m->diags, DIAG_BAD_RECORD, place,
			  "no more bad lines of this file are reported");
	}
}

bool
records_read(struct module *m, const char *path, struct records *out)
{
	struct source src;
	const char *at, *end;
	int number = 0;

	if (!source_load(m, path, &src)) {
		return false;
	}
	for (at = src.text; at < src.text + src.length; at = end + 1) {
		struct record r = { .file = src.name, .line = ++number };
		struct diag_place place = { .file = src.name, .line = number };
		const char *line, *why;

		end = memchr(at, '\n', src.length - (size_t)(at - src.text));
		if (end == NULL) {
			end = src.text + src.length;
		}
		line = arena_strndup(&m->arena, at, (size_t)(end - at));
		if (line[strspn(line, " \t\r")] == '\0') {
			continue;
		}
		why = strlen(line) == (size_t)(end - at)
			      ? read_line(m, line, &r)
			      : "it has a zero byte";
		if (why == NULL) {
			vec_push(&m->arena, &out->list, r);
		} else if (*end != '\n') {
			diag_note(&m->diags, DIAG_BAD_RECORD, place,
				  "the last line is incomplete, as after a "
				  "power cut; it is skipped");
		} else {
			note_bad(m, place, out, why);
		}
	}
	return true;
}
