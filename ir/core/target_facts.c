/* SPDX-License-Identifier: Apache-2.0 */
/* Facts of the target as entries of T.func_attr. */
#include "target_facts.h"

#include <stddef.h>
#include <string.h>

#include "func.h"

#define VECTORS "vectors"

static const struct {
	const char *key;
	size_t offset;
} flags[] = {
	{ "vector_params", offsetof(struct target_facts, vector_params) },
	{ "byte_vectors", offsetof(struct target_facts, byte_vectors) },
	{ "fmax_vectors", offsetof(struct target_facts, fmax_vectors) },
	{ "half_vectors", offsetof(struct target_facts, half_vectors) },
};

static const struct {
	const char *key;
	size_t offset;
	/* TVMScript writes the value of the fact as an index, else as an
	 * int32 */
	bool is_index;
} numbers[] = {
	{ "wide_bytes", offsetof(struct target_facts, wide_bytes), false },
	{ "warp_size", offsetof(struct target_facts, warp_size), false },
	{ "object_bytes", offsetof(struct target_facts, object_bytes), true },
	{ "shared_align_bytes",
	  offsetof(struct target_facts, shared_align_bytes), false },
	{ "box_align_bytes", offsetof(struct target_facts, box_align_bytes),
	  false },
};

const struct target_facts target_facts_unknown = {
	.shared_align_bytes = SHARED_ALIGN_BYTES,
	.box_align_bytes = BOX_ALIGN_BYTES,
};

enum {
	N_FLAGS = sizeof flags / sizeof *flags,
	N_NUMBERS = sizeof numbers / sizeof *numbers
};

static bool
flag_of(const struct target_facts *facts, int i)
{
	return *(const bool *)((const char *)facts + flags[i].offset);
}

static int64_t
number_of(const struct target_facts *facts, int i)
{
	return *(const int64_t *)((const char *)facts + numbers[i].offset);
}

/* Reads a list of vector types, "float32x16 float32x8"; other words are
 * skipped. */
static struct dtype_list
dtype_list_read(struct arena *a, const char *text)
{
	struct dtype *data = arena_array(a, struct dtype, strlen(text) + 1);
	struct dtype_list list = { .data = data };

	while (*text != '\0') {
		size_t n = strcspn(text, " ");
		struct dtype t;

		if (dtype_from_name(arena_strndup(a, text, n), &t) &&
		    t.lanes > 1) {
			data[list.n++] = t;
		}
		text += n + strspn(text + n, " ");
	}
	return list;
}

const char *
dtype_list_text(struct arena *a, struct dtype_list list)
{
	const char *text = "";

	for (int i = 0; i < list.n; i++) {
		text = arena_printf(a, "%s%s%sx%d", text, i > 0 ? " " : "",
				    dtype_name(list.data[i]),
				    list.data[i].lanes);
	}
	return text;
}

/* Sets the fact of f whose key is `key` to the value; value NULL: to its
 * default. False if no fact has this key, or if the value is of the wrong
 * kind. */
static bool
set_fact(struct func *f, const char *key, const struct expr *value)
{
	struct target_facts *facts = &f->facts;
	int64_t number = 0;

	if (strcmp(key, VECTORS) == 0 &&
	    (value == NULL || value->kind == EXPR_STRING)) {
		facts->has_vectors = value != NULL;
		facts->vectors = dtype_list_read(&f->module->arena,
						 value != NULL ? value->u.text
							       : "");
		return true;
	}
	for (int i = 0; i < N_FLAGS; i++) {
		if (strcmp(key, flags[i].key) == 0) {
			*(bool *)((char *)facts + flags[i].offset) = value !=
								     NULL;
			return true;
		}
	}
	if (value != NULL && !expr_is_int(value, &number)) {
		return false;
	}
	for (int i = 0; i < N_NUMBERS; i++) {
		if (strcmp(key, numbers[i].key) == 0) {
			number = value != NULL
					 ? number
					 : number_of(&target_facts_unknown, i);
			*(int64_t *)((char *)facts +
				     numbers[i].offset) = number;
			return true;
		}
	}
	return false;
}

void
func_set_attribute(struct func *f, const char *key, const struct expr *value)
{
	if (!set_fact(f, key, value)) {
		func_set_note(f, key, value);
	}
}

static void
add(struct note ***end, struct arena *a, const char *key,
    const struct expr *value)
{
	struct note *n = arena_new(a, struct note);

	n->key = key;
	n->value = value;
	**end = n;
	*end = &n->next;
}

const struct note *
func_attributes(const struct func *f)
{
	struct module *m = f->module;
	struct arena *a = &m->arena;
	const struct target_facts *facts = &f->facts;
	struct note *all = NULL, **end = &all;

	for (const struct note *n = f->notes; n != NULL; n = n->next) {
		add(&end, a, n->key, n->value);
	}
	if (facts->has_vectors) {
		add(&end, a, VECTORS,
		    expr_string(m, dtype_list_text(a, facts->vectors)));
	}
	for (int i = 0; i < N_FLAGS; i++) {
		if (flag_of(facts, i)) {
			add(&end, a, flags[i].key, expr_bool(m, true));
		}
	}
	for (int i = 0; i < N_NUMBERS; i++) {
		const int64_t number = number_of(facts, i);

		if (number != number_of(&target_facts_unknown, i)) {
			add(&end, a, numbers[i].key,
			    numbers[i].is_index ? expr_index(m, number)
						: expr_i32(m, (int)number));
		}
	}
	return all;
}

bool
target_facts_equal(const struct target_facts *a, const struct target_facts *b)
{
	bool same = a->has_vectors == b->has_vectors &&
		    a->vectors.n == b->vectors.n;

	for (int i = 0; i < a->vectors.n && same; i++) {
		same = dtype_equal(a->vectors.data[i], b->vectors.data[i]);
	}
	for (int i = 0; i < N_FLAGS; i++) {
		same = same && flag_of(a, i) == flag_of(b, i);
	}
	for (int i = 0; i < N_NUMBERS; i++) {
		same = same && number_of(a, i) == number_of(b, i);
	}
	return same;
}
