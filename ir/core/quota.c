/* SPDX-License-Identifier: Apache-2.0 */
#include "quota.h"

#include "module.h"

int64_t
quota_plus(int64_t a, int64_t b)
{
	return a > INT64_MAX - b ? INT64_MAX : a + b;
}

int64_t
quota_times(int64_t a, int64_t b)
{
	return a > 0 && b > INT64_MAX / a ? INT64_MAX : a * b;
}

static int64_t
limit_of(const struct module *m, int64_t given, int64_t base)
{
	return given > 0 ? given
			 : quota_plus(quota_times(m->quota.input_bytes,
						  QUOTA_INPUT_TIMES),
				      base);
}

int64_t
quota_output(const struct module *m)
{
	return limit_of(m, m->quota.output_bytes, QUOTA_OUTPUT_BYTES);
}

static int64_t
quota_memory(const struct module *m)
{
	return limit_of(m, m->quota.memory_bytes, QUOTA_MEMORY_BYTES);
}

void
quota_of_input(struct module *m, int64_t bytes)
{
	uint64_t most;

	m->quota.input_bytes = bytes;
	most = (uint64_t)quota_memory(m);
	m->arena.most_bytes = (size_t)(most + most / 4);
}

static const char *
limit_text(struct module *m, int64_t limit, int64_t given, int64_t base)
{
	if (given > 0) {
		return arena_printf(&m->arena, "%lld bytes", (long long)limit);
	}
	return arena_printf(&m->arena,
			    "%lld bytes (%d times the input and %lld GB)",
			    (long long)limit, QUOTA_INPUT_TIMES,
			    (long long)(base / 1000000000));
}

const char *
quota_output_text(struct module *m)
{
	return limit_text(m, quota_output(m), m->quota.output_bytes,
			  QUOTA_OUTPUT_BYTES);
}

bool
quota_check_output(struct module *m, struct diag_place place, const char *what,
		   int64_t bytes)
{
	return bytes <= quota_output(m) ||
	       diag_error(&m->diags, DIAG_TOO_LARGE, place,
			  "%s would take %lld bytes, more than the limit of "
			  "%s; if they are wanted, raise it with --max-output",
			  what, (long long)bytes, quota_output_text(m));
}

bool
quota_output_exceeded(struct module *m, struct diag_place place,
		      const char *what)
{
	return diag_error(&m->diags, DIAG_TOO_LARGE, place,
			  "%s would take more than the limit of %s; if they "
			  "are wanted, raise it with --max-output",
			  what, quota_output_text(m));
}

bool
quota_check_memory(struct module *m, struct diag_place place, int64_t more)
{
	const int64_t most = quota_memory(m);

	if (m->arena.used_bytes <= (uint64_t)most &&
	    more <= most - (int64_t)m->arena.used_bytes) {
		return true;
	}
	if (!m->quota.memory_told) {
		m->quota.memory_told = true;
		diag_error(&m->diags, DIAG_TOO_LARGE, place,
			   "tirc would take more than the limit of %s of "
			   "memory; raise it with --max-memory, or take a "
			   "smaller input",
			   limit_text(m, most, m->quota.memory_bytes,
				      QUOTA_MEMORY_BYTES));
	}
	return false;
}

bool
quota_check_steps(struct module *m, struct diag_place place)
{
	const int64_t most = quota_plus(QUOTA_STEPS,
					quota_times(m->quota.input_bytes,
						    QUOTA_STEPS_PER_BYTE));

	return m->quota.steps <= most ||
	       diag_error(&m->diags, DIAG_TOO_LARGE, place,
			  "the formulas of the model's sizes and its regular "
			  "expressions take too much work, more than %lld "
			  "steps; fix sizes with --dim, or with --const-input "
			  "what they are computed from",
			  (long long)most);
}
