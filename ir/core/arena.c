/* SPDX-License-Identifier: Apache-2.0 */
/* Bump allocation in chunks, and a growing text on the heap. */
#include "arena.h"

#include <stdio.h>
#include <stdlib.h>

#ifdef __has_feature
#if __has_feature(address_sanitizer)
#define ARENA_GUARDED
#endif
#endif
#ifdef __SANITIZE_ADDRESS__
#define ARENA_GUARDED
#endif

/* In a build with AddressSanitizer, there are gaps between allocations, and an
 * access to a gap is reported. */
#ifdef ARENA_GUARDED
#include <sanitizer/asan_interface.h>
enum { ARENA_GAP_BYTES = 16 };
#else
enum { ARENA_GAP_BYTES = 0 };
#define ASAN_POISON_MEMORY_REGION(at, bytes) ((void)(at), (void)(bytes))
#define ASAN_UNPOISON_MEMORY_REGION(at, bytes) ((void)(at), (void)(bytes))
#endif

enum { ARENA_ALIGN = 16, ARENA_CHUNK_BYTES = 64 * 1024 };

struct arena_chunk {
	struct arena_chunk *next;
	size_t size, used; /* in bytes, of data */
	_Alignas(16) unsigned char data[];
};

void
arena_init(struct arena *a)
{
	*a = (struct arena){ 0 };
}

void
arena_init_within(struct arena *a, struct arena *outer)
{
	*a = (struct arena){ .within = outer };
}

void
arena_release(struct arena *a)
{
	struct arena_chunk *c = a->top;

	for (struct arena *o = a->within; o != NULL; o = o->within) {
		o->used_bytes -= a->used_bytes;
	}
	while (c) {
		struct arena_chunk *next = c->next;

		ASAN_UNPOISON_MEMORY_REGION(c->data, c->size);
		free(c);
		c = next;
	}
	arena_init(a);
}

static struct arena_chunk *
chunk_new(size_t size)
{
	struct arena_chunk *c;

	if (size > SIZE_MAX - sizeof *c) {
		memory_exhausted();
	}
	c = calloc(1, sizeof *c + size);
	if (!c) {
		memory_exhausted();
	}
	c->size = size;
	ASAN_POISON_MEMORY_REGION(c->data, size);
	return c;
}

/* Takes `bytes` bytes of the chunk, which has room for `rounded` bytes and the
 * gap. */
static void *
chunk_take(struct arena_chunk *c, size_t bytes, size_t rounded)
{
	void *p = c->data + c->used;

	c->used += rounded + ARENA_GAP_BYTES;
	ASAN_UNPOISON_MEMORY_REGION(p, bytes);
	return p;
}

void *
arena_alloc(struct arena *a, size_t bytes)
{
	struct arena_chunk *c = a->top;
	size_t rounded;

	if (bytes > SIZE_MAX - ARENA_ALIGN - ARENA_GAP_BYTES) {
		memory_exhausted();
	}
	rounded = (bytes + ARENA_ALIGN - 1) / ARENA_ALIGN * ARENA_ALIGN;
	for (struct arena *o = a; o != NULL; o = o->within) {
		o->used_bytes += rounded;
		if (o->most_bytes > 0 && o->used_bytes > o->most_bytes) {
			memory_over_limit(o->most_bytes);
		}
	}
	if (rounded > ARENA_CHUNK_BYTES / 4) {
		/* A large allocation gets a chunk of its own, put below the
		 * chunk that is being filled. */
		struct arena_chunk *big = chunk_new(rounded + ARENA_GAP_BYTES);

		if (c) {
			big->next = c->next;
			c->next = big;
		} else {
			a->top = big;
		}
		return chunk_take(big, bytes, rounded);
	}
	if (!c || c->size - c->used < rounded + ARENA_GAP_BYTES) {
		c = chunk_new(ARENA_CHUNK_BYTES);
		c->next = a->top;
		a->top = c;
	}
	return chunk_take(c, bytes, rounded);
}

void *
arena_elems(struct arena *a, size_t n, size_t elem_bytes)
{
	size_t bytes;

	if (__builtin_mul_overflow(n, elem_bytes, &bytes)) {
		memory_exhausted();
	}
	return arena_alloc(a, bytes);
}

void *
arena_copy(struct arena *a, const void *data, size_t bytes)
{
	void *p = arena_alloc(a, bytes);

	if (bytes) {
		memcpy(p, data, bytes);
	}
	return p;
}

char *
arena_strdup(struct arena *a, const char *text)
{
	return arena_copy(a, text, strlen(text) + 1);
}

char *
arena_strndup(struct arena *a, const char *text, size_t length)
{
	char *p = arena_alloc(a, length + 1);

	if (length > 0) { /* an empty text may be NULL */
		memcpy(p, text, length);
	}
	return p;
}

char *
arena_vprintf(struct arena *a, const char *fmt, va_list ap)
{
	va_list again;
	int n;
	char *p;

	va_copy(again, ap);
	n = vsnprintf(NULL, 0, fmt, ap);
	if (n < 0) {
		n = 0;
	}
	p = arena_alloc(a, (size_t)n + 1);
	vsnprintf(p, (size_t)n + 1, fmt, again);
	va_end(again);
	return p;
}

char *
arena_printf(struct arena *a, const char *fmt, ...)
{
	va_list ap;
	char *p;

	va_start(ap, fmt);
	p = arena_vprintf(a, fmt, ap);
	va_end(ap);
	return p;
}

void *
arena_grow(struct arena *a, void *old, int old_n, int *cap, int want_n,
	   size_t elem_bytes)
{
	/* Starts small: most lists stay short. */
	size_t least = elem_bytes < ARENA_ALIGN / 2 ? 4 : 2;
	size_t room = *cap > 0 ? (size_t)*cap * 2 : least;
	void *p;

	while (room < (size_t)want_n) {
		room *= 2;
	}
	if (room > (size_t)INT32_MAX) {
		memory_exhausted();
	}
	p = arena_elems(a, room, elem_bytes);
	if (old_n > 0) {
		memcpy(p, old, (size_t)old_n * elem_bytes);
	}
	*cap = (int)room;
	return p;
}

int
list_find(const void *list, int n, const void *x)
{
	const char *at = list;

	for (int i = 0; i < n; i++, at += sizeof x) {
		if (memcmp(at, &x, sizeof x) == 0) {
			return i;
		}
	}
	return -1;
}

void
strbuf_init(struct strbuf *s)
{
	s->data = NULL;
	s->len = s->cap = 0;
}

void
strbuf_release(struct strbuf *s)
{
	free(s->data);
	strbuf_init(s);
}

static void
strbuf_reserve(struct strbuf *s, size_t more)
{
	size_t cap = s->cap ? s->cap : 64;
	char *data;

	if (more > SIZE_MAX / 2 - s->len - 1) {
		memory_exhausted();
	}
	if (s->len + more + 1 <= s->cap) {
		return;
	}
	while (cap < s->len + more + 1) {
		cap *= 2;
	}
	data = realloc(s->data, cap);
	if (!data) {
		memory_exhausted();
	}
	s->data = data;
	s->cap = cap;
}

void
strbuf_write(struct strbuf *s, const char *data, size_t len)
{
	strbuf_reserve(s, len);
	if (len) {
		memcpy(s->data + s->len, data, len);
	}
	s->len += len;
	s->data[s->len] = '\0';
}

void
strbuf_putc(struct strbuf *s, char c)
{
	strbuf_write(s, &c, 1);
}

void
strbuf_puts(struct strbuf *s, const char *text)
{
	strbuf_write(s, text, strlen(text));
}

void
strbuf_vprintf(struct strbuf *s, const char *fmt, va_list ap)
{
	va_list again;
	int n;

	va_copy(again, ap);
	n = vsnprintf(NULL, 0, fmt, ap);
	if (n < 0) {
		n = 0;
	}
	strbuf_reserve(s, (size_t)n);
	vsnprintf(s->data + s->len, (size_t)n + 1, fmt, again);
	va_end(again);
	s->len += (size_t)n;
}

void
strbuf_printf(struct strbuf *s, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	strbuf_vprintf(s, fmt, ap);
	va_end(ap);
}
