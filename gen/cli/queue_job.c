/* SPDX-License-Identifier: Apache-2.0 */
/* Writes jobs to messages of a queue and reads them. A job has only sources and
 * arrays, and neither a program nor a command, because a worker must not
 * execute what a stranger chose: the worker compiles with flags of its own. */
#define _GNU_SOURCE
#include "queue_job.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#include "text.h"

/* The limits of a job, which protect the worker. */
enum {
	MOST_FILES = 200,
	MOST_NAME = 64,
	MOST_TEXT = 300,
	MOST_TRACE = 8 << 20,
	/* the largest number of bytes of all files of a job together */
	MOST_BYTES = 256 << 20,
	MOST_ROUNDS = 10000
};

static const char *const parts[] = { "candidate", "rules" };

/* -- names -- */

const char *
queue_jobs_name(struct arena *a, const char *facts)
{
	uint64_t hash = 14695981039346656037u; /* the hash FNV-1a */

	for (const char *x = facts; *x != '\0'; x++) {
		hash = (hash ^ (unsigned char)*x) * 1099511628211u;
	}
	return arena_printf(a, "tirc:jobs:%016" PRIx64, hash);
}

const char *
queue_answers_name(struct arena *a, const char *id)
{
	return arena_printf(a, "tirc:answers:%.16s", id);
}

const char *
queue_new_id(struct arena *a)
{
	uint64_t id = 0;

	while (getrandom(&id, sizeof id, 0) != (ssize_t)sizeof id) {
	}
	return arena_printf(a, "%016" PRIx64, id);
}

static bool
is_hex(const char *text, size_t n)
{
	return strspn(text, "0123456789abcdef") >= n;
}

/* Is the text the id of a job in the form ID-N: 16 hexadecimal digits, "-" and
 * a number? */
static bool
is_id(const char *text)
{
	size_t n = text != NULL ? strlen(text) : 0;

	return n > 17 && n < 40 && is_hex(text, 16) && text[16] == '-' &&
	       strspn(text + 17, "0123456789") == n - 17;
}

/* Is the name one that tune_job_make() gives to a file? A file of this name is
 * in no other folder, and is none of the files that the worker writes. */
static bool
is_file_name(const char *name)
{
	size_t n = strlen(name),
	       word = strspn(name, "abcdefghijklmnopqrstuvwxyz"
				   "0123456789_");
	const char *end = name + word;

	if (n > MOST_NAME) {
		return false;
	}
	if (strncmp(name, "array_", 6) == 0) {
		return word > 6 && strspn(name + 6, "0123456789") == word - 6 &&
		       strcmp(end, ".bin") == 0;
	}
	return strncmp(name, "kernel", 6) == 0 &&
	       (strcmp(end, ".c") == 0 || strcmp(end, ".h") == 0 ||
		strcmp(end, ".json") == 0);
}

/* -- writing -- */

static const char *
write_part(struct arena *a, const char *part, const struct tune_job *job,
	   size_t *bytes, struct queue_message *out)
{
	queue_put_text(a, out, arena_printf(a, "%s/trace", part), job->trace);
	queue_put_text(a, out, arena_printf(a, "%s/decisions", part),
		       record_words(a, job->decisions, job->n_decisions));
	queue_put_text(a, out, arena_printf(a, "%s/arguments", part),
		       job->arguments);
	queue_put_text(a, out, arena_printf(a, "%s/given", part),
		       arena_printf(a, "%d", job->n_given));
	for (int i = 0; i < job->sources.n; i++) {
		queue_put_text(a, out, arena_printf(a, "%s/source", part),
			       job->sources.data[i]);
	}
	for (int i = 0; i < job->outputs.n; i++) {
		queue_put_text(a, out, arena_printf(a, "%s/output", part),
			       arena_printf(a, "%d %zu",
					    job->outputs.data[i].param,
					    job->outputs.data[i].bytes));
	}
	for (int i = 0; i < job->files.n; i++) {
		const struct tune_file *f = &job->files.data[i];

		*bytes += f->bytes;
		if (!is_file_name(f->name) || *bytes > MOST_BYTES) {
			return arena_printf(a,
					    "its file %s cannot be sent to a "
					    "worker",
					    f->name);
		}
		queue_put(a, out, arena_printf(a, "%s/file/%s", part, f->name),
			  f->data, f->bytes);
	}
	return NULL;
}

const char *
queue_write_job(struct arena *a, const char *id, const char *facts,
		const struct tune_job *candidate, const struct tune_job *rules,
		struct queue_message *out)
{
	const struct kernel *k = candidate->task->kernel;
	size_t bytes = 0;
	const char *why;

	*out = (struct queue_message){ 0 };
	if (!candidate->has_caller) {
		return "a worker cannot launch its kernels";
	}
	queue_put_text(a, out, "tirc_job", "1");
	queue_put_text(a, out, "id", id);
	queue_put_text(a, out, "facts", facts);
	queue_put_text(a, out, "kernel", k->name);
	queue_put_text(a, out, "computes", k->title);
	queue_put_text(a, out, "workload", candidate->task->workload);
	why = write_part(a, parts[0], candidate, &bytes, out);
	return why != NULL || candidate == rules
		       ? why
		       : write_part(a, parts[1], rules, &bytes, out);
}

/* -- reading a job -- */

/* The field `name` of the message if it is one line of at most `most` bytes
 * without control characters; else NULL. */
static const char *
line_of(struct arena *a, const struct queue_message *m, const char *name,
	size_t most)
{
	const char *text = queue_text(a, m, name);

	return text != NULL && strlen(text) <= most &&
			       text_control(text) == NULL &&
			       strpbrk(text, "\r\n") == NULL
		       ? text
		       : NULL;
}

/* Reads decisions in the form "lanes 8, rule window". */
static bool
read_decisions(struct arena *a, const char *text, struct tune_job *out)
{
	enum { MOST_DECISIONS = 1000 };
	struct record_decision *list = arena_array(a, struct record_decision,
						   MOST_DECISIONS);
	char *at = arena_strdup(a, text), *rest = NULL;

	out->decisions = list;
	if (strcmp(text, "no decisions") == 0) {
		return true;
	}
	for (char *one = strtok_r(at, ",", &rest); one != NULL;
	     one = strtok_r(NULL, ",", &rest)) {
		struct record_decision *d = &list[out->n_decisions];
		char *name = one + strspn(one, " ");
		char *value = strchr(name, ' ');

		if (value == NULL || out->n_decisions++ == MOST_DECISIONS - 1) {
			return false;
		}
		*value++ = '\0';
		d->name = name;
		if (!text_int(value, &d->number)) {
			d->word = value;
		}
		if (!text_is_identifier(name, "") ||
		    (d->word != NULL && !text_is_identifier(value, ""))) {
			return false;
		}
	}
	return true;
}

static bool
read_output(struct arena *a, const char *text, struct tune_job *out)
{
	struct tune_output o = { 0 };
	const char *blank = strchr(text, ' ');
	int64_t param, bytes;

	if (blank == NULL ||
	    !text_int(arena_strndup(a, text, (size_t)(blank - text)), &param) ||
	    !text_int(blank + 1, &bytes) || param < 0 || param >= MOST_FILES ||
	    bytes < 0 || bytes > MOST_BYTES) {
		return false;
	}
	o.name = arena_printf(a, "result_%d.bin", (int)param);
	o.param = (int)param;
	o.bytes = (size_t)bytes;
	vec_push(a, &out->outputs, o);
	return true;
}

/* Stores one field of a part (the candidate or the rules' schedule) in *out.
 * Returns false if the field is not allowed in a job, or if the job already has
 * the field: a message may have any number of fields, so repeated fields must
 * not take more and more memory. */
static bool
read_part_field(struct arena *a, const struct queue_field *f, const char *name,
		size_t *bytes, struct tune_job *out)
{
	const char *text;

	if (strncmp(name, "file/", 5) == 0) {
		struct tune_file file = { arena_strdup(a, name + 5), f->data,
					  f->bytes };

		*bytes += f->bytes;
		vec_push(a, &out->files, file);
		return is_file_name(file.name) && *bytes <= MOST_BYTES &&
		       out->files.n <= MOST_FILES;
	}
	if (memchr(f->data, 0, f->bytes) != NULL) {
		return false;
	}
	text = arena_strndup(a, f->data, f->bytes);
	if (strcmp(name, "source") == 0) {
		vec_push(a, &out->sources, text);
		return is_file_name(text) && text_ends_in(text, ".c") &&
		       out->sources.n <= MOST_FILES;
	}
	if (strcmp(name, "output") == 0) {
		return read_output(a, text, out) &&
		       out->outputs.n <= MOST_FILES;
	}
	if (strcmp(name, "given") == 0) {
		int64_t n;
		bool ok = out->n_given == 0 && text_int(text, &n) && n >= 0 &&
			  n <= MOST_FILES;

		out->n_given = ok ? (int)n : 0;
		return ok;
	}
	if (strcmp(name, "arguments") == 0) {
		if (out->arguments != NULL) {
			return false;
		}
		out->arguments = text;
		return strspn(text, "0123456789 ") == strlen(text);
	}
	if (strcmp(name, "decisions") == 0) {
		return out->decisions == NULL && read_decisions(a, text, out);
	}
	if (strcmp(name, "trace") != 0 || out->trace != NULL) {
		return false;
	}
	out->trace = text;
	return strlen(text) <= MOST_TRACE;
}

static bool
has_file(const struct tune_job *job, const char *name)
{
	for (int i = 0; i < job->files.n; i++) {
		if (strcmp(job->files.data[i].name, name) == 0) {
			return true;
		}
	}
	return false;
}

/* Reads the candidate or the rules' schedule of a job. *any: has the message
 * fields of this part? Returns NULL, or the reason why the part is invalid. */
static const char *
read_part(struct arena *a, const struct queue_message *m, const char *part,
	  struct tune_job *out, bool *any)
{
	size_t bytes = 0, n = strlen(part);

	*any = false;
	out->has_caller = true;
	for (int i = 0; i < m->fields.n; i++) {
		const struct queue_field *f = &m->fields.data[i];

		if (strncmp(f->name, part, n) != 0 || f->name[n] != '/') {
			continue;
		}
		*any = true;
		if (!read_part_field(a, f, f->name + n + 1, &bytes, out)) {
			return "a field of it is not one of a job";
		}
	}
	for (int i = 0; i < out->sources.n; i++) {
		if (!has_file(out, out->sources.data[i])) {
			return "a source is missing";
		}
	}
	for (int i = 0; i < out->outputs.n; i++) {
		if (out->outputs.data[i].param >= out->n_given) {
			return "a result is of no array";
		}
	}
	return *any && (out->trace == NULL || out->arguments == NULL ||
			out->decisions == NULL || out->sources.n == 0)
		       ? "a field is missing"
		       : NULL;
}

const char *
queue_read_job(struct arena *a, const struct queue_message *m,
	       const char *facts, struct queue_job *out)
{
	const char *version = queue_text(a, m, "tirc_job");
	const char *of = queue_text(a, m, "facts"), *why;
	bool any;

	*out = (struct queue_job){ .id = queue_text(a, m, "id") };
	if (!is_id(out->id)) {
		out->id = NULL;
		return "it has no id";
	}
	if (version == NULL || strcmp(version, "1") != 0) {
		return "its version is not 1";
	}
	if (of == NULL || strcmp(of, facts) != 0) {
		return "it is for another target";
	}
	out->kernel.name = line_of(a, m, "kernel", MOST_TEXT);
	out->kernel.title = line_of(a, m, "computes", 10 * MOST_TEXT);
	out->task.workload = line_of(a, m, "workload", 16);
	out->task.kernel = &out->kernel;
	if (out->kernel.name == NULL || out->kernel.title == NULL ||
	    out->task.workload == NULL || !is_hex(out->task.workload, 16)) {
		return "it names no kernel";
	}
	out->candidate.task = out->rules.task = &out->task;
	why = read_part(a, m, parts[0], &out->candidate, &any);
	if (why == NULL && !any) {
		why = "it has no candidate";
	}
	if (why == NULL) {
		why = read_part(a, m, parts[1], &out->rules, &any);
		out->is_rules = !any;
	}
	return why;
}

/* -- answers -- */

void
queue_write_answer(struct arena *a, const struct queue_job *job,
		   const char *why, const struct measurement *of,
		   struct queue_message *out)
{
	const char *rounds = "";

	*out = (struct queue_message){ 0 };
	queue_put_text(a, out, "tirc_answer", "1");
	queue_put_text(a, out, "id", job->id);
	queue_put_text(a, out, "machine",
		       of->machine != NULL ? of->machine : "unknown");
	queue_put_text(a, out, "compiler",
		       of->compiler != NULL ? of->compiler : "unknown");
	if (why != NULL) {
		queue_put_text(a, out, "error", why);
		return;
	}
	for (int i = 0; i < of->n_rounds; i++) {
		rounds = arena_printf(a, "%s%s%.17g %.17g", rounds,
				      i > 0 ? " " : "", of->rounds[i].time,
				      of->rounds[i].rules_time);
	}
	queue_put_text(a, out, "unit", of->unit);
	queue_put_text(a, out, "rounds", rounds);
	for (int i = 0; of->outputs != NULL && i < job->candidate.outputs.n;
	     i++) {
		const struct tune_output *o = &job->candidate.outputs.data[i];

		queue_put(a, out, o->name, of->outputs[i], o->bytes);
	}
}

const char *
queue_answered(struct arena *a, const struct queue_message *m)
{
	const char *id = queue_text(a, m, "id");
	const char *version = queue_text(a, m, "tirc_answer");

	return is_id(id) && version != NULL && strcmp(version, "1") == 0 ? id
									 : NULL;
}

static bool
read_rounds(struct arena *a, const char *text, struct measurement *out)
{
	struct record_round *list = arena_array(a, struct record_round,
						MOST_ROUNDS);
	const char *at = text;
	int n = 0;

	while (*at != '\0') {
		char *end;
		double value = strtod(at, &end);

		if (end == at || !isfinite(value) || value <= 0 ||
		    n == 2 * MOST_ROUNDS || (*end != '\0' && *end != ' ')) {
			return false;
		}
		if (n % 2 == 0) {
			list[n / 2].time = value;
		} else {
			list[n / 2].rules_time = value;
		}
		n++;
		at = end + (*end == ' ');
	}
	out->rounds = list;
	out->n_rounds = n / 2;
	return n > 0 && n % 2 == 0;
}

static const void *
result_of(const struct queue_message *m, const struct tune_output *o)
{
	for (int i = 0; i < m->fields.n; i++) {
		const struct queue_field *f = &m->fields.data[i];

		if (strcmp(f->name, o->name) == 0 && f->bytes == o->bytes) {
			return f->data;
		}
	}
	return NULL;
}

const char *
queue_read_answer(struct arena *a, const struct queue_message *m,
		  const struct tune_job *job, bool has_results,
		  struct measurement *out)
{
	const char *error = line_of(a, m, "error", 10 * MOST_TEXT);
	const char *unit = queue_text(a, m, "unit");
	const char *rounds = queue_text(a, m, "rounds");
	const void **list = arena_array(a, const void *, job->outputs.n + 1);

	out->machine = line_of(a, m, "machine", MOST_TEXT);
	out->compiler = line_of(a, m, "compiler", 10 * MOST_TEXT);
	if (error != NULL) {
		return error;
	}
	if (unit == NULL || rounds == NULL ||
	    (strcmp(unit, "ns") != 0 && strcmp(unit, "instructions") != 0) ||
	    !read_rounds(a, rounds, out)) {
		return "the worker's answer is not a measurement";
	}
	out->unit = strcmp(unit, "ns") == 0 ? "ns" : "instructions";
	if (!has_results) {
		return NULL;
	}
	for (int i = 0; i < job->outputs.n; i++) {
		list[i] = result_of(m, &job->outputs.data[i]);
		if (list[i] == NULL) {
			return "the worker's answer lacks a result";
		}
	}
	out->outputs = list;
	return NULL;
}
