/* SPDX-License-Identifier: Apache-2.0 */
/* Names in printed scripts: every variable and buffer of a function gets an
 * identifier of its own, in the order of definition, so that equal programs
 * print equally and a reader cannot take one variable for another. */
#include <ctype.h>
#include <stdlib.h>

#include "print.h"
#include "python.h"
#include "secret_hash.h"

static uint32_t
hash_pointer(const void *key)
{
	uint64_t x = (uint64_t)(uintptr_t)key >> 4;

	return (uint32_t)((x * 0x9E3779B97F4A7C15u) >> 32);
}

static void
take(struct printer *p, const char *name)
{
	if (p->n_taken * 2 >= p->cap_taken) {
		const char **old = p->taken;
		int old_cap = p->cap_taken;

		p->cap_taken = old_cap ? old_cap * 2 : 64;
		p->taken = arena_array(&p->arena, const char *, p->cap_taken);
		p->n_taken = 0;
		for (int i = 0; i < old_cap; i++) {
			if (old[i]) {
				take(p, old[i]);
			}
		}
	}
	uint32_t at = secret_hash(name, strlen(name)) &
		      (uint32_t)(p->cap_taken - 1);

	while (p->taken[at]) {
		at = (at + 1) & (uint32_t)(p->cap_taken - 1);
	}
	p->taken[at] = name;
	p->n_taken++;
}

static bool
is_taken(const struct printer *p, const char *name)
{
	if (p->cap_taken == 0) {
		return false;
	}
	uint32_t at = secret_hash(name, strlen(name)) &
		      (uint32_t)(p->cap_taken - 1);

	for (; p->taken[at]; at = (at + 1) & (uint32_t)(p->cap_taken - 1)) {
		if (strcmp(p->taken[at], name) == 0) {
			return true;
		}
	}
	return false;
}

const char *const *
print_reserved(int *n)
{
	/* Names that every script uses follow. */
	static const char *const reserved[] = {
		PY_KEYWORDS, "I", "Module", "R", "T", "range", "tvm",
	};

	*n = (int)(sizeof reserved / sizeof *reserved);
	return reserved;
}

void
printer_init(struct printer *p, enum script_version version, struct strbuf *out)
{
	memset(p, 0, sizeof *p);
	arena_init(&p->arena);
	p->version = version;
	p->out = out;
}

void
printer_release(struct printer *p)
{
	arena_release(&p->arena);
}

const char *
print_identifier(struct printer *p, const char *hint)
{
	size_t length = hint ? strlen(hint) : 0;
	char *text = arena_alloc(&p->arena, length + 2);
	char *end = text;

	if (length == 0 || isdigit((unsigned char)hint[0])) {
		*end++ = '_';
	}
	for (size_t i = 0; i < length; i++) {
		unsigned char c = (unsigned char)hint[i];

		*end++ = isalnum(c) && c < 128 ? (char)c : '_';
	}
	*end = '\0';
	return text;
}

/* Marks the reserved words as taken. Called only when the first name is given,
 * because many printed expressions need no name, and then this work is
 * saved. */
static void
take_reserved(struct printer *p)
{
	int n;
	const char *const *reserved = print_reserved(&n);

	for (int i = 0; i < n; i++) {
		take(p, reserved[i]);
	}
}

/* The number that print_unique() appended last to a stem, at first 0: names
 * with it and with smaller numbers are taken. */
static int *
last_number(struct printer *p, const char *stem)
{
	int at;

	if (!p->stems.arena) {
		text_map_init(&p->stems, &p->arena);
	}
	at = text_map_get(&p->stems, stem, p->numbers.n);
	if (at == p->numbers.n) {
		text_map_add(&p->stems, stem, at);
		vec_push(&p->arena, &p->numbers, 0);
	}
	return &p->numbers.data[at];
}

const char *
print_unique(struct printer *p, const char *hint)
{
	if (p->cap_taken == 0) {
		take_reserved(p);
	}
	const char *stem = print_identifier(p, hint);
	const char *name = stem;
	int *number = last_number(p, stem);

	while (is_taken(p, name)) {
		name = arena_printf(&p->arena, "%s_%d", stem, ++*number);
	}
	take(p, name);
	return name;
}

static struct print_name *
find_slot(const struct printer *p, const void *key)
{
	uint32_t at = hash_pointer(key) & (uint32_t)(p->cap_names - 1);

	while (p->names[at].key && p->names[at].key != key) {
		at = (at + 1) & (uint32_t)(p->cap_names - 1);
	}
	return &p->names[at];
}

static void
bind_name(struct printer *p, const void *key, const char *name,
	  const char *suffix)
{
	if (p->n_names * 2 >= p->cap_names) {
		struct print_name *old = p->names;
		int old_cap = p->cap_names;

		p->cap_names = old_cap ? old_cap * 2 : 64;
		p->names = arena_array(&p->arena, struct print_name,
				       p->cap_names);
		for (int i = 0; i < old_cap; i++) {
			if (old[i].key) {
				*find_slot(p, old[i].key) = old[i];
			}
		}
	}
	struct print_name *slot = find_slot(p, key);

	p->n_names += slot->key == NULL;
	*slot = (struct print_name){ key, name, suffix };
}

const char *
print_define(struct printer *p, const void *key, const char *hint)
{
	const char *name = print_unique(p, hint);

	bind_name(p, key, name, "");
	return name;
}

const char *
print_define_buffer(struct printer *p, const struct buffer *b)
{
	const char *name = print_define(p, b, b->name);

	if (b->data &&
	    (p->cap_names == 0 || find_slot(p, b->data)->key == NULL)) {
		bind_name(p, b->data, name, ".data");
	}
	return name;
}

const char *
print_buffer_name(struct printer *p, const struct buffer *b)
{
	if (p->cap_names > 0) {
		const struct print_name *slot = find_slot(p, b);

		if (slot->key) {
			return slot->name;
		}
	}
	return print_define_buffer(p, b);
}

void
print_var(struct printer *p, const struct var *v)
{
	if (p->cap_names > 0) {
		const struct print_name *slot = find_slot(p, v);

		if (slot->key) {
			strbuf_puts(p->out, slot->name);
			strbuf_puts(p->out, slot->suffix);
			return;
		}
	}
	strbuf_puts(p->out, print_define(p, v, v->name));
}
