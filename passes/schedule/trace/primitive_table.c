/* SPDX-License-Identifier: Apache-2.0 */
/* The table of primitives.def. */
#include "edit.h"

enum { QUERY = 1, GIVES_LIST = 2 };

#define NONE (1u << SV_NONE)
#define BLOCK (1u << SV_BLOCK)
#define LOOP (1u << SV_LOOP)
#define INT (1u << SV_INT)
#define FLOAT (1u << SV_FLOAT)
#define BOOL (1u << SV_BOOL)
#define STRING (1u << SV_STRING)
#define EXPR (1u << SV_EXPR)
#define MAP (1u << SV_MAP)
#define LIST (1u << SV_LIST)

#define INITIAL(k, v)                                                          \
	{                                                                      \
		.kind = SV_##k, .u.ival = (v)                                  \
	}
#define TEXT(v)                                                                \
	{                                                                      \
		.kind = SV_STRING, .u.text = (v)                               \
	}

#define IN(n, a)                                                               \
	{                                                                      \
		.name = n, .accepts = (a), .is_input = true                    \
	}
#define IN_PLACE(n)                                                            \
	{                                                                      \
		.name = n, .accepts = LOOP, .is_input = true,                  \
		.role = PARAM_PLACE                                            \
	}
#define IN_LIST(n, a)                                                          \
	{                                                                      \
		.name = n, .accepts = (a), .is_input = true, .is_list = true   \
	}
#define IN_STAR(n, a)                                                          \
	{                                                                      \
		.name = n, .accepts = (a), .is_input = true, .is_list = true,  \
		.role = PARAM_STAR                                             \
	}
#define IN_FACTORS(n, a)                                                       \
	{                                                                      \
		.name = n, .accepts = (a), .is_input = true, .is_list = true,  \
		.role = PARAM_FACTORS                                          \
	}
#define OPT_IN(n, a, ...)                                                      \
	{                                                                      \
		.name = n, .accepts = (a), .is_input = true, .optional = true, \
		.initial = __VA_ARGS__                                         \
	}
#define OPT_IN_LIST(n, a)                                                      \
	{                                                                      \
		.name = n, .accepts = (a), .is_input = true, .is_list = true,  \
		.optional = true                                               \
	}
#define ATTR(n, a)                                                             \
	{                                                                      \
		.name = n, .accepts = (a)                                      \
	}
#define ATTR_LIST(n, a)                                                        \
	{                                                                      \
		.name = n, .accepts = (a), .is_list = true                     \
	}
#define OPT_ATTR(n, a, ...)                                                    \
	{                                                                      \
		.name = n, .accepts = (a), .optional = true,                   \
		.initial = __VA_ARGS__                                         \
	}
#define OPT_ATTR_LIST(n, a)                                                    \
	{                                                                      \
		.name = n, .accepts = (a), .is_list = true, .optional = true   \
	}
#define READ_INDEX(n)                                                          \
	{                                                                      \
		.name = n, .accepts = INT, .role = PARAM_READ_INDEX            \
	}
#define WRITE_INDEX(n)                                                         \
	{                                                                      \
		.name = n, .accepts = INT, .role = PARAM_WRITE_INDEX           \
	}
#define BUFFER(n)                                                              \
	{                                                                      \
		.name = n, .accepts = STRING | INT, .is_list = true,           \
		.role = PARAM_BUFFER                                           \
	}
#define DECISION(a)                                                            \
	{                                                                      \
		.name = "decision", .accepts = (a), .role = PARAM_DECISION,    \
		.optional = true                                               \
	}
#define DECISION_LIST(a)                                                       \
	{                                                                      \
		.name = "decision", .accepts = (a), .role = PARAM_DECISION,    \
		.is_list = true, .optional = true                              \
	}

#define PRIMITIVE(id, kind, flags, what, ...)                                  \
	static const struct sched_param params_of_##id[] = { __VA_ARGS__ };
#define PRIMITIVE_PLAIN(id, kind, flags, what)
#include "primitives.def"
#undef PRIMITIVE
#undef PRIMITIVE_PLAIN

static const struct primitive primitives[] = {
#define PRIMITIVE(id, kind, flags, what, ...)                                  \
	{ #id,                                                                 \
	  kind,                                                                \
	  what,                                                                \
	  params_of_##id,                                                      \
	  (int)(sizeof params_of_##id / sizeof *params_of_##id),               \
	  ((flags)&QUERY) != 0,                                                \
	  ((flags)&GIVES_LIST) != 0,                                           \
	  prim_##id },
#define PRIMITIVE_PLAIN(id, kind, flags, what)                                 \
	{ #id,                                                                 \
	  kind,                                                                \
	  what,                                                                \
	  NULL,                                                                \
	  0,                                                                   \
	  ((flags)&QUERY) != 0,                                                \
	  ((flags)&GIVES_LIST) != 0,                                           \
	  prim_##id },
#include "primitives.def"
#undef PRIMITIVE
#undef PRIMITIVE_PLAIN
};

const struct primitive *
sched_primitives(int *n)
{
	*n = (int)(sizeof primitives / sizeof *primitives);
	return primitives;
}

const struct primitive *
sched_primitive_find(const char *name)
{
	int n;
	const struct primitive *list = sched_primitives(&n);

	/* Newer releases of TVM call get_block get_sblock. */
	if (strcmp(name, "get_sblock") == 0) {
		name = "get_block";
	}
	for (int i = 0; i < n; i++) {
		if (strcmp(list[i].name, name) == 0) {
			return &list[i];
		}
	}
	return NULL;
}
