/* SPDX-License-Identifier: Apache-2.0 */
/* Checks for the small test programs. A failed check prints its place and
 * what it saw, and the program goes on; main ends with
 *
 *	return check_done();
 *
 * which is 0 when every check held and at least one was made. */
#ifndef CHECK_H
#define CHECK_H

#include <stdio.h>
#include <string.h>

static int check_made;
static int check_failed;

static inline int
check_one(int holds, const char *file, int line, const char *what)
{
	check_made++;
	if (!holds) {
		check_failed++;
		fprintf(stderr, "%s:%d: not so: %s\n", file, line, what);
	}
	return holds;
}

static inline int
check_integers(long long got, long long want, const char *file, int line,
	       const char *what)
{
	int holds = check_one(got == want, file, line, what);

	if (!holds) {
		fprintf(stderr, "\tgot %lld, want %lld\n", got, want);
	}
	return holds;
}

static inline int
check_strings(const char *got, const char *want, const char *file, int line,
	      const char *what)
{
	int holds = got && want ? strcmp(got, want) == 0 : got == want;

	check_one(holds, file, line, what);
	if (!holds) {
		fprintf(stderr, "--- got\n%s\n--- want\n%s\n---\n",
			got ? got : "(null)", want ? want : "(null)");
	}
	return holds;
}

static inline int
check_doubles(double got, double want, double tolerance, const char *file,
	      int line, const char *what)
{
	double error = got > want ? got - want : want - got;
	int same_nan = got != got && want != want;
	int holds = got == want || error <= tolerance || same_nan;

	check_one(holds, file, line, what);
	if (!holds) {
		fprintf(stderr, "\tgot %.17g, want %.17g\n", got, want);
	}
	return holds;
}

static inline int
check_done(void)
{
	fprintf(stderr, "%d checks, %d failed\n", check_made, check_failed);
	return check_failed != 0 || check_made == 0;
}

/* Each yields whether it held, so a test may stop: if (!CHECK(p)) return. */
#define CHECK(condition)                                                       \
	check_one(!!(condition), __FILE__, __LINE__, #condition)
#define CHECK_EQ(got, want)                                                    \
	check_integers((long long)(got), (long long)(want), __FILE__,          \
		       __LINE__, #got " == " #want)
#define CHECK_STR_EQ(got, want)                                                \
	check_strings(got, want, __FILE__, __LINE__, #got " is " #want)
#define CHECK_NEAR(got, want, tolerance)                                       \
	check_doubles(got, want, tolerance, __FILE__, __LINE__,                \
		      #got " near " #want)

#endif
