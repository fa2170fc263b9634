/* SPDX-License-Identifier: Apache-2.0 */
/* Arguments and results of primitives. */
#include "schedule.h"

struct sched_value
sv_none(void)
{
	return (struct sched_value){ .kind = SV_NONE };
}

struct sched_value
sv_block(int id)
{
	return (struct sched_value){ .kind = SV_BLOCK, .u.id = id };
}

struct sched_value
sv_loop(int id)
{
	return (struct sched_value){ .kind = SV_LOOP, .u.id = id };
}

struct sched_value
sv_int(int64_t v)
{
	return (struct sched_value){ .kind = SV_INT, .u.ival = v };
}

struct sched_value
sv_float(double v)
{
	return (struct sched_value){ .kind = SV_FLOAT, .u.fval = v };
}

struct sched_value
sv_bool(bool v)
{
	return (struct sched_value){ .kind = SV_BOOL, .u.ival = v };
}

struct sched_value
sv_string(const char *text)
{
	return (struct sched_value){ .kind = SV_STRING, .u.text = text };
}

struct sched_value
sv_expr(const struct expr *e)
{
	return (struct sched_value){ .kind = SV_EXPR, .u.expr = e };
}

struct sched_value
sv_map(const struct index_map *map)
{
	return (struct sched_value){ .kind = SV_MAP, .u.map = map };
}

struct sched_value
sv_list(struct module *m, const struct sched_value *items, int n)
{
	struct sched_value v = { .kind = SV_LIST, .n = n };

	v.items = n > 0 ? arena_copy(&m->arena, items,
				     sizeof *items * (size_t)n)
			: NULL;
	return v;
}
