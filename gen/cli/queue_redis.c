/* SPDX-License-Identifier: Apache-2.0 */
/* The queue on a Redis server, by the library hiredis. Steps that no other
 * client may interrupt are scripts, which the server runs atomically. */
#include <hiredis/hiredis.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "cli.h"
#include "queue.h"
#include "text.h"

enum {
	RECONNECTS = 30,
	CONNECT_SECONDS = 5,
	WAIT_SECONDS = 60,
	KEPT_SECONDS = 86400
};

#define GROUP "workers"

struct queue {
	redisContext *redis;
	const char *url, *host;
	int port;
	struct arena arena;
};

/* The words of a Redis command. */
struct words {
	struct arena *arena;
	VEC(const char *) text;
	VEC(size_t) bytes;
};

static void
add_bytes(struct words *w, const void *data, size_t bytes)
{
	const char *text = data;

	vec_push(w->arena, &w->text, text);
	vec_push(w->arena, &w->bytes, bytes);
}

static void
add_words(struct words *w, const char *first, ...)
{
	va_list ap;

	va_start(ap, first);
	for (const char *x = first; x != NULL; x = va_arg(ap, const char *)) {
		add_bytes(w, x, strlen(x));
	}
	va_end(ap);
}

static void
add_fields(struct words *w, const struct queue_message *m)
{
	for (int i = 0; i < m->fields.n; i++) {
		const struct queue_field *f = &m->fields.data[i];

		add_bytes(w, f->name, strlen(f->name));
		add_bytes(w, f->data, f->bytes);
	}
}

static bool
connect_to(struct queue *q)
{
	const struct timeval most = { .tv_sec = CONNECT_SECONDS };
	const struct timeval wait = { .tv_sec = WAIT_SECONDS };

	redisFree(q->redis);
	q->redis = redisConnectWithTimeout(q->host, q->port, most);
	return q->redis != NULL && q->redis->err == 0 &&
	       redisSetTimeout(q->redis, wait) == REDIS_OK;
}

/* Runs the command; if the connection is lost, connects and runs it again.
 * Returns NULL after an error message. */
static redisReply *
run(struct queue *q, struct words *w)
{
	const struct timespec second = { .tv_sec = 1 };
	redisReply *r = NULL;

	for (int i = 0; r == NULL && i <= RECONNECTS; i++) {
		if (i > 0) {
			nanosleep(&second, NULL);
		}
		if (i == 0 || connect_to(q)) {
			r = redisCommandArgv(q->redis, w->text.n, w->text.data,
					     w->bytes.data);
		}
	}
	if (r == NULL) {
		cli_error("the queue %s cannot be reached: %s", q->url,
			  q->redis != NULL ? q->redis->errstr
					   : "no memory for a connection");
	} else if (r->type == REDIS_REPLY_ERROR) {
		cli_error("the queue %s refuses a command: %s", q->url, r->str);
		freeReplyObject(r);
		r = NULL;
	}
	return r;
}

/* Runs a command that returns a number, and sets *n to it. */
static bool
run_number(struct queue *q, struct words *w, long long *n)
{
	redisReply *r = run(q, w);

	if (r == NULL) {
		return false;
	}
	*n = r->type == REDIS_REPLY_INTEGER ? r->integer : 0;
	freeReplyObject(r);
	return true;
}

static bool
run_alone(struct queue *q, struct words *w)
{
	long long n;

	return run_number(q, w, &n);
}

struct queue *
queue_open(const char *url)
{
	const char *host = url + strlen("redis://");
	struct queue *q;
	int64_t port;

	if (strncmp(url, "redis://", 8) != 0 || strrchr(host, ':') == NULL ||
	    strrchr(host, ':') == host ||
	    !text_int(strrchr(host, ':') + 1, &port) || port < 1 ||
	    port > 65535) {
		cli_error("--queue %s: give redis://HOST:PORT", url);
		return NULL;
	}
	q = calloc(1, sizeof *q);
	if (q == NULL) {
		return NULL;
	}
	arena_init(&q->arena);
	q->url = arena_strdup(&q->arena, url);
	q->host = arena_strndup(&q->arena, host,
				(size_t)(strrchr(host, ':') - host));
	q->port = (int)port;
	if (!connect_to(q)) {
		cli_error("the queue %s cannot be reached: %s", url,
			  q->redis != NULL ? q->redis->errstr
					   : "no memory for a connection");
		queue_close(q);
		return NULL;
	}
	return q;
}

void
queue_close(struct queue *q)
{
	if (q != NULL) {
		redisFree(q->redis);
		arena_release(&q->arena);
		free(q);
	}
}

bool
queue_offer(struct queue *q, struct arena *a, const char *jobs,
	    struct queue_message *job)
{
	struct words w = { .arena = a };
	redisReply *r;

	add_words(&w, "XADD", jobs, "*", NULL);
	add_fields(&w, job);
	r = run(q, &w);
	if (r == NULL) {
		return false;
	}
	job->entry = r->type == REDIS_REPLY_STRING
			     ? arena_strndup(a, r->str, r->len)
			     : "0-0";
	freeReplyObject(r);
	return true;
}

/* Reads one entry of a stream, which has the form [number, [name, value, …]]. */
static void
read_entry(struct arena *a, const redisReply *r, struct queue_message *out)
{
	const redisReply *fields;

	if (r->type != REDIS_REPLY_ARRAY || r->elements != 2 ||
	    r->element[0]->type != REDIS_REPLY_STRING) {
		return;
	}
	out->entry = arena_strndup(a, r->element[0]->str, r->element[0]->len);
	fields = r->element[1];
	for (size_t i = 0;
	     fields->type == REDIS_REPLY_ARRAY && i + 1 < fields->elements;
	     i += 2) {
		const redisReply *name = fields->element[i];
		const redisReply *value = fields->element[i + 1];

		if (name->type == REDIS_REPLY_STRING &&
		    value->type == REDIS_REPLY_STRING) {
			queue_put(a, out,
				  arena_strndup(a, name->str, name->len),
				  arena_copy(a, value->str, value->len + 1),
				  value->len);
		}
	}
}

/* The entries in a reply of XREAD or XREADGROUP about one stream, or NULL. */
static const redisReply *
entries_of(const redisReply *r)
{
	const redisReply *stream = r->type == REDIS_REPLY_ARRAY &&
						   r->elements > 0
					   ? r->element[0]
					   : NULL;

	return stream != NULL && stream->type == REDIS_REPLY_ARRAY &&
			       stream->elements == 2 &&
			       stream->element[1]->type == REDIS_REPLY_ARRAY &&
			       stream->element[1]->elements > 0
		       ? stream->element[1]->element[0]
		       : NULL;
}

static bool
make_group(struct queue *q, struct arena *a, const char *jobs)
{
	static const char script[] =
		"local made = redis.pcall('XGROUP', 'CREATE', KEYS[1], "
		"'" GROUP "', '0', 'MKSTREAM') return 1";
	struct words w = { .arena = a };

	add_words(&w, "EVAL", script, "1", jobs, NULL);
	return run_alone(q, &w);
}

/* Takes over a job whose worker gave no sign of life for `idle` milliseconds. */
static bool
take_over(struct queue *q, struct arena *a, const char *jobs,
	  const char *worker, long idle, struct queue_message *out)
{
	struct words w = { .arena = a };
	redisReply *r;

	add_words(&w, "XAUTOCLAIM", jobs, GROUP, worker,
		  arena_printf(a, "%ld", idle), "0-0", "COUNT", "1", NULL);
	r = run(q, &w);
	if (r == NULL) {
		return false;
	}
	if (r->type == REDIS_REPLY_ARRAY && r->elements > 1 &&
	    r->element[1]->type == REDIS_REPLY_ARRAY &&
	    r->element[1]->elements > 0) {
		read_entry(a, r->element[1]->element[0], out);
	}
	freeReplyObject(r);
	return true;
}

/* Runs a command that reads at most one entry of a stream, and sets *out to the
 * entry. If the stream has no entry, *out does not change. False after an
 * error. */
static bool
run_for_entry(struct queue *q, struct arena *a, struct words *w,
	      struct queue_message *out)
{
	redisReply *r = run(q, w);

	if (r == NULL) {
		return false;
	}
	if (entries_of(r) != NULL) {
		read_entry(a, entries_of(r), out);
	}
	freeReplyObject(r);
	return true;
}

static bool
take_new(struct queue *q, struct arena *a, const char *jobs, const char *worker,
	 struct queue_message *out)
{
	struct words w = { .arena = a };

	add_words(&w, "XREADGROUP", "GROUP", GROUP, worker, "COUNT", "1",
		  "BLOCK", "1000", "STREAMS", jobs, ">", NULL);
	return run_for_entry(q, a, &w, out);
}

static bool
count_deliveries(struct queue *q, struct arena *a, const char *jobs,
		 const char *entry, long *n)
{
	static const char script[] =
		"local p = redis.call('XPENDING', KEYS[1], '" GROUP "', "
		"ARGV[1], ARGV[1], 1) return p[1] and p[1][4] or 0";
	struct words w = { .arena = a };
	long long found;

	add_words(&w, "EVAL", script, "1", jobs, entry, NULL);
	if (!run_number(q, &w, &found)) {
		return false;
	}
	*n = (long)found;
	return true;
}

bool
queue_take(struct queue *q, struct arena *a, const char *jobs,
	   const char *worker, long idle, struct queue_message *out,
	   long *deliveries)
{
	*out = (struct queue_message){ 0 };
	*deliveries = 0;
	return make_group(q, a, jobs) &&
	       take_over(q, a, jobs, worker, idle, out) &&
	       (out->entry != NULL || take_new(q, a, jobs, worker, out)) &&
	       (out->entry == NULL ||
		count_deliveries(q, a, jobs, out->entry, deliveries));
}

/* If the job `entry` belongs to `worker`, assigns it to the worker `to` and
 * sets the time since the last sign of life to `idle`. A script does both steps
 * atomically. Returns false if it could not. */
static bool
claim(struct queue *q, const char *jobs, const char *worker, const char *entry,
      const char *to, const char *idle)
{
	static const char script[] =
		"local p = redis.call('XPENDING', KEYS[1], '" GROUP "', "
		"ARGV[2], ARGV[2], 1) "
		"if p[1] and p[1][2] == ARGV[1] then "
		"redis.call('XCLAIM', KEYS[1], '" GROUP "', ARGV[3], 0, "
		"ARGV[2], 'IDLE', ARGV[4], 'JUSTID') return 1 end return 0";
	struct arena a;
	struct words w = { .arena = &a };
	bool ok;

	arena_init(&a);
	add_words(&w, "EVAL", script, "1", jobs, worker, entry, to, idle, NULL);
	ok = run_alone(q, &w);
	arena_release(&a);
	return ok;
}

bool
queue_keep(struct queue *q, const char *jobs, const char *worker,
	   const char *entry)
{
	return claim(q, jobs, worker, entry, worker, "0");
}

bool
queue_release(struct queue *q, const char *jobs, const char *worker,
	      const char *entry)
{
	return claim(q, jobs, worker, entry, "nobody", "1000000000");
}

bool
queue_answer(struct queue *q, const char *jobs, const char *entry,
	     const char *id, const char *answers,
	     const struct queue_message *answer)
{
	static const char script[] =
		"if redis.call('SET', KEYS[3], '1', 'NX', 'EX', ARGV[2]) then "
		"redis.call('XADD', KEYS[2], '*', unpack(ARGV, 3)) "
		"redis.call('EXPIRE', KEYS[2], ARGV[2]) end "
		"redis.call('XACK', KEYS[1], '" GROUP "', ARGV[1]) "
		"redis.call('XDEL', KEYS[1], ARGV[1]) return 1";
	struct arena a;
	struct words w = { .arena = &a };
	bool ok;

	arena_init(&a);
	add_words(&w, "EVAL", script, "3", jobs, answers,
		  arena_printf(&a, "tirc:done:%s", id), entry,
		  arena_printf(&a, "%d", KEPT_SECONDS), NULL);
	add_fields(&w, answer);
	ok = run_alone(q, &w);
	arena_release(&a);
	return ok;
}

bool
queue_next(struct queue *q, struct arena *a, const char *answers,
	   const char *after, struct queue_message *out)
{
	struct words w = { .arena = a };

	*out = (struct queue_message){ 0 };
	add_words(&w, "XREAD", "COUNT", "1", "BLOCK", "1000", "STREAMS",
		  answers, after, NULL);
	return run_for_entry(q, a, &w, out);
}

bool
queue_has(struct queue *q, const char *jobs, const char *entry, bool *there)
{
	static const char script[] =
		"return #redis.call('XRANGE', KEYS[1], ARGV[1], ARGV[1])";
	struct arena a;
	struct words w = { .arena = &a };
	long long n = 0;
	bool ok;

	arena_init(&a);
	add_words(&w, "EVAL", script, "1", jobs, entry, NULL);
	ok = run_number(q, &w, &n);
	*there = n > 0;
	arena_release(&a);
	return ok;
}

bool
queue_remove(struct queue *q, const char *jobs, const char *entry)
{
	struct arena a;
	struct words w = { .arena = &a };
	bool ok;

	arena_init(&a);
	add_words(&w, "XDEL", jobs, entry, NULL);
	ok = run_alone(q, &w);
	arena_release(&a);
	return ok;
}

bool
queue_forget(struct queue *q, const char *answers)
{
	struct arena a;
	struct words w = { .arena = &a };
	bool ok;

	arena_init(&a);
	add_words(&w, "DEL", answers, NULL);
	ok = run_alone(q, &w);
	arena_release(&a);
	return ok;
}

bool
queue_announce(struct queue *q, const char *jobs, const char *worker,
	       const char *what)
{
	struct arena a;
	struct words w = { .arena = &a };
	bool ok;

	arena_init(&a);
	add_words(&w, what != NULL ? "SET" : "DEL",
		  arena_printf(&a, "tirc:worker:%s:%s", jobs, worker), what,
		  "EX", "60", NULL);
	ok = run_alone(q, &w);
	arena_release(&a);
	return ok;
}

bool
queue_count_workers(struct queue *q, const char *jobs, int *n)
{
	struct arena a;
	struct words w = { .arena = &a };
	redisReply *r;

	arena_init(&a);
	add_words(&w, "KEYS", arena_printf(&a, "tirc:worker:%s:*", jobs), NULL);
	r = run(q, &w);
	*n = r != NULL && r->type == REDIS_REPLY_ARRAY ? (int)r->elements : 0;
	freeReplyObject(r);
	arena_release(&a);
	return r != NULL;
}
