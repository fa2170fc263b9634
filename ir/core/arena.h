/* SPDX-License-Identifier: Apache-2.0 */
/* Arena: an allocator that frees all objects of a module at once. */
#ifndef TIRC_ARENA_H
#define TIRC_ARENA_H

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#if defined(__GNUC__)
#define TIRC_PRINTF(fmt, args) __attribute__((format(printf, fmt, args)))
#else
#define TIRC_PRINTF(fmt, args)
#endif

struct arena_chunk;

struct arena {
	struct arena_chunk *top;
	size_t used_bytes; /* the sum of the sizes of all allocations */
	/* the largest value of used_bytes: if it is exceeded,
	 * memory_over_limit() is called; 0: no limit */
	size_t most_bytes;
	/* the outer arena, whose used_bytes counts the allocations of this one,
	 * too; NULL: none */
	struct arena *within;
};

/* Called when no memory is left; does not return. The library's definition
 * calls abort(), which the library does nowhere else. A program may define this
 * function itself, to print a message and to clean up first. */
_Noreturn void memory_exhausted(void);
/* Like memory_exhausted, called if an arena would exceed its most_bytes. */
_Noreturn void memory_over_limit(size_t most_bytes);

void arena_init(struct arena *a);
/* Initialises an arena inside of `outer`: until it is released, its allocations
 * count in used_bytes of `outer`, too, and the limit of `outer` applies to
 * them. */
void arena_init_within(struct arena *a, struct arena *outer);
void arena_release(struct arena *a);

/* Memory of zeros, aligned to 16 bytes, valid until arena_release. Never NULL:
 * on failure, memory_exhausted() or memory_over_limit() is called. */
void *arena_alloc(struct arena *a, size_t bytes);
/* Memory of zeros for an array of n elements. */
void *arena_elems(struct arena *a, size_t n, size_t elem_bytes);
void *arena_copy(struct arena *a, const void *data, size_t bytes);
char *arena_strdup(struct arena *a, const char *text);
char *arena_strndup(struct arena *a, const char *text, size_t length);
char *arena_printf(struct arena *a, const char *fmt, ...) TIRC_PRINTF(2, 3);
char *arena_vprintf(struct arena *a, const char *fmt, va_list ap);
/* Grows an array: returns a copy of old, which has old_n elements, with room
 * for at least want_n elements, and sets *cap to the room. Used by vec_push. */
void *arena_grow(struct arena *a, void *old, int old_n, int *cap, int want_n,
		 size_t elem_bytes);

#define arena_new(a, type) ((type *)arena_alloc((a), sizeof(type)))
#define arena_array(a, type, n)                                                \
	((type *)arena_elems((a), (size_t)(n), sizeof(type)))

/* A growing array owned by an arena. */
#define VEC(type)                                                              \
	struct {                                                               \
		type *data;                                                    \
		int n, cap;                                                    \
	}
#define vec_push(a, v, x)                                                      \
	((v)->n < (v)->cap                                                     \
		 ? (void)0                                                     \
		 : (void)((v)->data = arena_grow((a), (v)->data, (v)->n,       \
						 &(v)->cap, (v)->n + 1,        \
						 sizeof *(v)->data)),          \
	 (void)((v)->data[(v)->n++] = (x)))

/* The index of the pointer x in a list of n pointers; -1 if it is not there. */
int list_find(const void *list, int n, const void *x);
/* vec_find: the index of x in a VEC of pointers, or -1 if x is not in it;
 * vec_has: is x in the VEC? */
#define vec_find(v, x)                                                         \
	((void)sizeof((v)->data[0] == (x)), list_find((v)->data, (v)->n, (x)))
#define vec_has(v, x) (vec_find((v), (x)) >= 0)
/* vec_push of x unless the VEC of pointers has it. */
#define vec_add(a, v, x) (vec_has((v), (x)) ? (void)0 : vec_push((a), (v), (x)))

/* A growing text on the heap; call strbuf_release when done. */
struct strbuf {
	char *data; /* NUL-terminated; NULL until something is added */
	size_t len, cap;
};

void strbuf_init(struct strbuf *s);
void strbuf_release(struct strbuf *s);
void strbuf_putc(struct strbuf *s, char c);
void strbuf_puts(struct strbuf *s, const char *text);
void strbuf_write(struct strbuf *s, const char *data, size_t len);
void strbuf_printf(struct strbuf *s, const char *fmt, ...) TIRC_PRINTF(2, 3);
void strbuf_vprintf(struct strbuf *s, const char *fmt, va_list ap);

#endif
