/* SPDX-License-Identifier: Apache-2.0 */
/* Records of measured schedules, as JSON lines (docs/reference/records.md). A
 * record says of one kernel, for one target: these decisions, as this trace of
 * schedule steps, took so long, and the rules' own schedule so long.
 *
 * Records are data of strangers: reading one runs nothing, and a trace is applied
 * through the checks of the schedule's primitives alone. */
#ifndef TIRC_RECORDS_H
#define TIRC_RECORDS_H

#include "func.h"
#include "target.h"

enum { RECORD_VERSION = 1 };

/* A record is used if its schedule takes at most so much of the time of the
 * rules' schedule: less is within what times vary. */
#define RECORD_MOST 0.99

/* The name of a decision and what was decided: a number, or a word. */
struct record_decision {
	const char *name;
	const char *word; /* NULL: it is a number */
	int64_t number;
};

/* One round of measuring: the candidate's time and that of the rules'
 * schedule, one directly after the other. */
struct record_round {
	double time, rules_time;
};

struct record {
	const char *file; /* where it was read; NULL: it is new */
	int line;
	const char *workload; /* workload_key() */
	/* for people: the kernel's name in the model that was tuned, and what it
	 * computes */
	const char *kernel, *computes;
	const char *target; /* the text that names it */
	const char *facts;  /* target_facts_text() */
	const struct record_decision *decisions;
	int n_decisions;
	const char
		*trace;   /* JSON as of trace_json_write(); NULL: it has none */
	const char *unit; /* "ns" or "instructions"; NULL after an error */
	double time, rules_time; /* medians of the rounds */
	const struct record_round *rounds;
	int n_rounds;
	const char *error; /* why it was not measured, or is wrong; NULL */
	/* the machine and the compiler that measured, the version of tirc, the
	 * date: "2026-01-31T12:00:00Z" */
	const char *machine, *compiler, *tirc, *date;
};

struct records {
	VEC(struct record) list;
	int n_bad; /* lines that are no records */
};

/* -- records_read.c */

/* Appends the records of a file. A line that is no record is a warning with its
 * number, and counted in n_bad; an incomplete last line, as a power cut leaves
 * it, is a note. False after a diagnostic: the file cannot be read, or is too
 * large. */
bool records_read(struct module *m, const char *path, struct records *out);

/* -- records_write.c */

/* Appends the record as a line of JSON. */
void record_print(const struct record *r, struct strbuf *out);
/* Appends the record to the file as one line, in one write under a lock, so
 * that several programs may append to the same file; the line is on the disk
 * when the function returns. An incomplete last line gets an end first. False
 * after a diagnostic. */
bool record_append(struct module *m, const char *path, const struct record *r);
/* "2026-01-31T12:00:00Z", the time now. */
const char *record_date(struct arena *a);

/* -- record_find.c */

/* The time of the record relative to that of the rules' schedule. */
double record_ratio(const struct record *r);
/* The record with the least ratio for the workload and a target with these
 * facts; of equal ones the first. NULL if there is none of at most
 * RECORD_MOST. */
const struct record *records_best(const struct records *list,
				  const char *workload, const char *facts);
/* Marks the records that records_best() gives for a workload and facts of the
 * list: an array by index, in the arena. */
bool *records_mark_best(struct arena *a, const struct records *list);
/* The first record for the workload and another target; NULL if there is
 * none. */
const struct record *records_elsewhere(const struct records *list,
				       const char *workload, const char *facts);
/* The first fact in which two texts of target_facts_text() differ:
 * "vector_bytes 16, not 32"; NULL if they are equal. */
const char *facts_difference(struct module *m, const char *have,
			     const char *want);
/* "rule register_tile, lanes 16, rows 6" */
const char *record_words(struct arena *a, const struct record_decision *list,
			 int n);

/* -- workload.c */

/* The key of the kernel's function before its schedule: a digest of its text,
 * with all its names except its own, and of which parameters are constants.
 * Kernels with equal keys take the same schedules. */
const char *workload_key(const struct func *f, const bool *is_weight);

/* -- target_facts.c */

/* The facts of the target that schedules depend on, as JSON on one line:
 * {"dialect":"c","vector_bytes":32,…}. */
const char *target_facts_text(struct module *m, const struct target *t);

#endif
