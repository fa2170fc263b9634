/* SPDX-License-Identifier: Apache-2.0 */
/* One trial of schedules.c: a random program, random steps on it, and what
 * has to hold after each. All of it comes from the seed, in a module of its
 * own. */
#ifndef SCHEDULE_TRIAL_H
#define SCHEDULE_TRIAL_H

#include <stdio.h>

#include "random_steps.h"
#include "target.h"

/* What went wrong; the words are in schedule_trial.c. */
enum trouble {
	TROUBLE_NONE,
	TROUBLE_AS_MADE, /* the program itself does not run */
	TROUBLE_RULES,   /* the default rules fail */
	TROUBLE_VERIFY,
	TROUBLE_RUN,
	TROUBLE_RESULT,
	TROUBLE_ROLLBACK,
	TROUBLE_SILENT, /* of a refused step */
	TROUBLE_TEXT,   /* does not read back */
	TROUBLE_LOWER,
	TROUBLE_LOWER_VERIFY,
	TROUBLE_LOWER_RUN,
	TROUBLE_LOWER_RESULT,
	TROUBLE_PYTHON,
	TROUBLE_JSON, /* the trace, done again */
	TROUBLE_RACE, /* of the threads of a kernel */
	TROUBLE_EMIT,
	TROUBLE_COMPILE,
	TROUBLE_SOURCE_RESULT,
	TROUBLE_CRASH,
	TROUBLE_HANG,
	TROUBLE_COUNT
};

/* MAX_BINDS: of trials for devices, behind the others; see trial_steps. */
enum { MAX_STEPS = 24, MAX_BINDS = 60 };

/* What trials are for. */
struct trial_kind {
	const char *target; /* its rules, now and then, with or without facts */
	const char *facts;
	bool device;  /* threads are to run everything */
	bool vectors; /* lowering may use them */
};

struct trial {
	uint64_t seed;
	struct trial_kind kind;
	struct module *m;
	struct random_options options;
	struct random_program program;
	struct run_arg args[RANDOM_MAX_ARGS]; /* and what is expected */
	double tolerance;
	struct func *made; /* the program before any step */
	struct sched sched;
	struct target *target; /* whose rules schedule it; NULL: random
				      * steps do */
	struct tensor_intrins intrins;
	struct rng steps, checks;
	int n_steps;
	bool is_refused; /* by rules: threads run no scans */
	bool for_device; /* threads, or memory that they share */
	enum trouble trouble;
	uint64_t attempt; /* programs before it were too large */
};

/* How far a trial has got, for whoever watches it from outside. */
struct trial_place {
	int step;
	enum { AT_CHOICE, AT_STEP, AT_CHECK, AT_END } at;
};

enum { MAX_REACHED = 64 };

/* How often each primitive (by its row) was applied and refused; the symbols of
 * instructions that rules have taken. */
struct trial_counts {
	int applied[128], refused[128];
	int64_t steps, lowered;
	int by_rules, n_reached;
	struct {
		char symbol[48];
		int times;
	} reached[MAX_REACHED];
};

bool schedule_trial_make(struct trial *t, uint64_t seed,
			 struct trial_kind kind);
/* Only the first stages of the same program, in the same module. */
bool trial_remake(struct trial *t, int first_stages);
void trial_release(struct trial *t);
/* A schedule of the program as it was made; m keeps what was there. */
void trial_begin(struct trial *t);
/* By the rules of the target: t->sched gets the trace. counts may be NULL. */
bool trial_schedule(struct trial *t, struct trial_counts *counts);
/* How many are chosen: those at random and, for a device, what binds the loops
 * that are left. None where rules schedule it. */
int trial_steps(const struct trial *t);
/* Chooses the i-th; false: there is none to choose. */
bool trial_choose(struct trial *t, int i, struct random_step *step);
/* Applies it and checks what has to hold then. counts may be NULL, place
 * is kept up to date. False if something does not (t->trouble). */
bool trial_step(struct trial *t, const struct random_step *step,
		struct trial_counts *counts, struct trial_place *place);
/* Is what it has become only run as source? So is what the interpreter takes long
 * for: large products, and instructions that threads execute together, of which
 * it has each do all. */
bool trial_only_source(const struct trial *t);
/* What holds after any number of steps; all: also lowered. */
bool trial_check(struct trial *t, bool all);
/* The trace as Python and as JSON does the same to the program again. */
bool trial_check_traces(struct trial *t);
/* The function lowered, in a copy; NULL after TROUBLE_LOWER, or if it has
 * threads that do not go together. */
struct func *trial_lowered(struct trial *t);
/* Sets for_device from the trace. */
void trial_note_device(struct trial *t);

/* Storage of the arguments in the layouts that the schedule has given them;
 * malloc'd. */
void trial_pack(const struct trial *t, struct run_arg *packed, size_t *bytes);
void trial_unpack_free(const struct trial *t, struct run_arg *packed);
/* Is the packed output the expected one? */
bool trial_agrees(const struct trial *t, const void *packed_output);

const char *trouble_text(enum trouble trouble);
/* The program as it was made, the trace in Python, what it has become, and
 * the diagnostics. */
void trial_print(struct trial *t, FILE *out);

#endif
