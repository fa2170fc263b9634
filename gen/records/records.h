/* SPDX-License-Identifier: Apache-2.0 */
/* Records of measured schedules, as JSON lines (docs/reference/records.md). A
 * record is about one kernel and one target. It has a candidate schedule, as
 * the decisions of the rules and as a trace of its steps, the time of this
 * schedule, and the time of the rules' own schedule.
 *
 * Records may come from strangers. Reading a record executes nothing, and its
 * trace is applied only through the checks of the schedule primitives. */
#ifndef TIRC_RECORDS_H
#define TIRC_RECORDS_H

#include "func.h"
#include "target.h"

enum { RECORD_VERSION = 1 };

/* A record is used if its schedule takes at most this share of the time of the
 * rules' schedule. A smaller gain is within the variation of times. */
#define RECORD_MOST 0.99

/* A decision of the rules: its name and its value, which is a number or a
 * word. */
struct record_decision {
	const char *name;
	const char *word; /* NULL: the value is `number` */
	int64_t number;
};

/* One round of a measurement: the time of the candidate and the time of the
 * rules' schedule, measured one directly after the other. */
struct record_round {
	double time, rules_time;
};

struct record {
	/* the file and the line from which the record was read; NULL: it is a
	 * new record */
	const char *file;
	int line;
	const char *workload; /* workload_key() */
	/* For people who read the file or the lists of `tirc records`: the
	 * kernel's name in the tuned model, and what the kernel computes. */
	const char *kernel, *computes;
	const char *target; /* the text that the user gave for the target */
	const char *facts;  /* target_facts_text() */
	const struct record_decision *decisions;
	int n_decisions;
	/* the trace as trace_json_write() writes it, or NULL */
	const char *trace;
	/* "ns" or "instructions"; NULL if the measurement failed */
	const char *unit;
	double time, rules_time; /* medians of the rounds */
	const struct record_round *rounds;
	int n_rounds;
	/* why the measurement failed or the result of the candidate is wrong;
	 * NULL: it succeeded */
	const char *error;
	/* the machine and the compiler of the measurement, the version of tirc,
	 * and the date, "2026-01-31T12:00:00Z" */
	const char *machine, *compiler, *tirc, *date;
};

struct records {
	VEC(struct record) list;
	int n_bad; /* the number of lines that are not valid records */
};

/* -- records_read.c */

/* Appends the records of a file. A line that is not a valid record is reported
 * as a warning and counted in n_bad. An incomplete last line, as a power cut
 * leaves it, is reported as a note. Returns false after a diagnostic if the
 * file cannot be read or is too large. */
bool records_read(struct module *m, const char *path, struct records *out);

/* -- records_write.c */

/* Appends the record as a line of JSON. */
void record_print(const struct record *r, struct strbuf *out);
/* Appends the record as one line to the file, with one write under a lock, so
 * that several programs may append to the same file. The line is on the disk
 * when the function returns. If the file's last line is incomplete, ends that
 * line first. Does not follow a link in place of the file. Returns false after
 * a diagnostic. */
bool record_append(struct module *m, const char *path, const struct record *r);
/* The present time, "2026-01-31T12:00:00Z". */
const char *record_date(struct arena *a);

/* -- record_find.c */

/* The time of the record's schedule divided by that of the rules' schedule. */
double record_ratio(const struct record *r);
/* The record with the least ratio among those for this workload and for targets
 * with these facts; of records with equal ratios the first. NULL if no such
 * record has a ratio of at most RECORD_MOST. */
const struct record *records_best(const struct records *list,
				  const char *workload, const char *facts);
/* For each record of the list: is it the result of records_best() for its
 * workload and its facts? The array is in the arena. */
bool *records_mark_best(struct arena *a, const struct records *list);
/* The first record for the workload and a target with other facts, or NULL. */
const struct record *records_elsewhere(const struct records *list,
				       const char *workload, const char *facts);
/* The first fact in which `have` and `want`, two texts of target_facts_text(),
 * differ, such as "vector_bytes 16, not 32"; NULL if they are equal. */
const char *facts_difference(struct module *m, const char *have,
			     const char *want);
/* The decisions as a text such as "rule register_tile, lanes 16, rows 6". */
const char *record_words(struct arena *a, const struct record_decision *list,
			 int n);

/* -- workload.c */

/* The key of the kernel's function before its schedule: a digest of the
 * function's text without the function's name, and of the list of parameters
 * that are constants. Kernels with equal keys accept the same schedules. */
const char *workload_key(const struct func *f, const bool *is_weight);

/* -- target_facts.c */

/* The facts of the target on which schedules depend, as one line of JSON:
 * {"dialect":"c","vector_bytes":32,…}. */
const char *target_facts_text(struct module *m, const struct target *t);

#endif
