/* SPDX-License-Identifier: Apache-2.0 */
/* Writes records. */
#define _GNU_SOURCE
#include <cjson/cJSON.h>
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <sys/file.h>
#include <time.h>
#include <unistd.h>

#include "json_put.h"
#include "json_read.h"
#include "records.h"

static void
put_text(cJSON *o, const char *key, const char *text)
{
	cJSON_AddItemToObject(o, key,
			      text != NULL ? cJSON_CreateString(text)
					   : cJSON_CreateNull());
}

/* Adds to o a member with this key, whose value is read from `text`, a text in
 * JSON; null if the text is NULL or not JSON. */
static void
put_json(cJSON *o, const char *key, const char *text)
{
	cJSON *v = text != NULL ? json_parse_quietly(text, NULL) : NULL;

	cJSON_AddItemToObject(o, key, v != NULL ? v : cJSON_CreateNull());
}

static void
put_decisions(cJSON *o, const struct record *r)
{
	cJSON *list = cJSON_AddArrayToObject(o, "decisions");

	for (int i = 0; i < r->n_decisions; i++) {
		const struct record_decision *d = &r->decisions[i];
		cJSON *one = cJSON_CreateArray();

		cJSON_AddItemToArray(one, cJSON_CreateString(d->name));
		cJSON_AddItemToArray(one, d->word != NULL
						  ? cJSON_CreateString(d->word)
						  : cJSON_CreateNumber(
							    (double)d->number));
		cJSON_AddItemToArray(list, one);
	}
}

/* A time as a number with six digits, which is more than the precision of any
 * measurement. */
static cJSON *
time_json(double time)
{
	double scale = pow(10, 5 - floor(log10(time)));

	return cJSON_CreateNumber(time < 1e6 ? round(time * scale) / scale
					     : round(time));
}

static void
put_times(cJSON *o, const struct record *r)
{
	cJSON *list;

	put_text(o, "unit", r->unit);
	cJSON_AddItemToObject(o, "time", time_json(r->time));
	cJSON_AddItemToObject(o, "rules_time", time_json(r->rules_time));
	list = cJSON_AddArrayToObject(o, "rounds");
	for (int i = 0; i < r->n_rounds; i++) {
		cJSON *one = cJSON_CreateArray();

		cJSON_AddItemToArray(one, time_json(r->rounds[i].time));
		cJSON_AddItemToArray(one, time_json(r->rounds[i].rules_time));
		cJSON_AddItemToArray(list, one);
	}
}

void
record_print(const struct record *r, struct strbuf *out)
{
	cJSON *o = cJSON_CreateObject();

	cJSON_AddNumberToObject(o, "tirc_record", RECORD_VERSION);
	put_text(o, "workload", r->workload);
	put_text(o, "kernel", r->kernel);
	put_text(o, "computes", r->computes);
	put_text(o, "target", r->target);
	put_json(o, "facts", r->facts);
	put_decisions(o, r);
	if (r->error == NULL) {
		put_times(o, r);
	}
	put_text(o, "error", r->error);
	put_text(o, "machine", r->machine);
	put_text(o, "compiler", r->compiler);
	put_text(o, "tirc", r->tirc);
	put_text(o, "date", r->date);
	put_json(o, "trace", r->trace);
	json_put(out, o, false);
	strbuf_putc(out, '\n');
	cJSON_Delete(o);
}

static bool
fail(struct module *m, const char *path)
{
	return diag_error(&m->diags, DIAG_FILE_UNREADABLE,
			  (struct diag_place){ .file = path },
			  "the record cannot be written: %s", strerror(errno));
}

/* Is the last line of the file incomplete? */
static bool
is_torn(int fd)
{
	off_t end = lseek(fd, 0, SEEK_END);
	char last;

	return end > 0 && pread(fd, &last, 1, end - 1) == 1 && last != '\n';
}

/* Appends the text to the file and waits until it is on the disk. If that fails,
 * for instance because the disk is full, removes what was written of it. */
static bool
append(int fd, const struct strbuf *text)
{
	const off_t end = lseek(fd, 0, SEEK_END);
	int error;

	if (end >= 0 &&
	    write(fd, text->data, text->len) == (ssize_t)text->len &&
	    (fsync(fd) == 0 || errno == EINVAL)) {
		return true;
	}
	/* A short write leaves errno as it was. */
	error = errno != 0 ? errno : ENOSPC;
	if (end >= 0 && ftruncate(fd, end) != 0) {
		error = errno;
	}
	errno = error;
	return false;
}

bool
record_append(struct module *m, const char *path, const struct record *r)
{
	int fd = open(path,
		      O_RDWR | O_APPEND | O_CREAT | O_NOFOLLOW | O_NONBLOCK |
			      O_CLOEXEC,
		      0666);
	struct strbuf text;
	bool ok;

	if (fd < 0) {
		return fail(m, path);
	}
	strbuf_init(&text);
	ok = flock(fd, LOCK_EX) == 0;
	if (is_torn(fd)) {
		strbuf_putc(&text, '\n');
	}
	record_print(r, &text);
	errno = 0;
	ok = ok && append(fd, &text);
	strbuf_release(&text);
	return (close(fd) == 0 && ok) || fail(m, path);
}

const char *
record_date(struct arena *a)
{
	time_t now = time(NULL);
	struct tm tm;
	char text[32];

	gmtime_r(&now, &tm);
	strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%SZ", &tm);
	return arena_strdup(a, text);
}
