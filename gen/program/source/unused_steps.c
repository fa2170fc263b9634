/* SPDX-License-Identifier: Apache-2.0 */
#include "unused_steps.h"

#include "iterate.h"

/* -- loops -- */

static void
add_name(struct arena *a, struct shared_loops *list, const char *name)
{
	for (int i = 0; i < list->names.n; i++) {
		if (strcmp(list->names.data[i], name) == 0) {
			return;
		}
	}
	vec_push(a, &list->names, name);
}

static bool
is_inside(const struct stmt *s, enum for_kind kind)
{
	for (s = s->parent; s != NULL; s = s->parent) {
		if (s->kind == STMT_FOR && s->u.loop.kind == kind) {
			return true;
		}
	}
	return false;
}

static void
find_loops(const struct func *f, enum for_kind kind, struct shared_loops *out)
{
	const struct stmt *s;

	for (struct stmt_iter it = stmt_each_of(f->body, STMT_FOR);
	     (s = stmt_next(&it));) {
		if (s->u.loop.kind == kind && !is_inside(s, kind)) {
			add_name(&f->module->arena, out, s->u.loop.var->name);
		}
	}
}

void
shared_loops_find(const struct func *f, struct shared_loops *out)
{
	find_loops(f, FOR_PARALLEL, out);
}

/* The names in `all` that are not in `left`. */
static struct shared_loops
without(struct arena *a, const struct shared_loops *all,
	const struct shared_loops *left)
{
	struct shared_loops out = { 0 };

	for (int i = 0; i < all->names.n; i++) {
		bool known = false;

		for (int k = 0; k < left->names.n; k++) {
			known |= strcmp(all->names.data[i],
					left->names.data[k]) == 0;
		}
		if (!known) {
			vec_push(a, &out.names, all->names.data[i]);
		}
	}
	return out;
}

/* The words "loop m is" or "loops m, n are" for a message. */
static const char *
loops_are(struct arena *a, const struct shared_loops *list)
{
	const char *text = list->names.n > 1 ? "loops" : "loop";

	for (int i = 0; i < list->names.n; i++) {
		text = arena_printf(a, "%s%s %s", text, i > 0 ? "," : "",
				    list->names.data[i]);
	}
	return arena_printf(a, "%s %s", text, list->names.n > 1 ? "are" : "is");
}

/* -- notes -- */

void
note_unused_loops(const struct program_func *from, const char *file,
		  const struct target *t, const struct dialect *d,
		  const struct shared_loops *before, const struct func *f)
{
	struct arena *a = &f->module->arena;
	struct diags *diags = &f->module->diags;
	const struct diag_place place = { .file = file,
					  .line = from->line,
					  .col = from->col,
					  .item = f->name };
	struct shared_loops now = { 0 }, vectors = { 0 }, lost;

	find_loops(f, FOR_PARALLEL, &now);
	find_loops(f, FOR_VECTORIZED, &vectors);
	lost = without(a, before, &now);
	if (before->names.n > 0 && !dialect_has_loop(d, SAY_PARALLEL)) {
		diag_note(diags, DIAG_ASSUMPTION, place,
			  "%s not shared between threads: target %s has none; "
			  "docs/how-to/threads.md names the targets that have",
			  loops_are(a, before), t->name);
	} else if (lost.names.n > 0) {
		diag_note(diags, DIAG_ASSUMPTION, place,
			  "%s not shared between threads: an array inside is "
			  "too large for the stack, so that there is one for "
			  "all iterations; compute it inside of more loops "
			  "(compute_at)",
			  loops_are(a, &lost));
	}
	if (vectors.names.n > 0 && t->vector_bytes == 0) {
		diag_note(diags, DIAG_ASSUMPTION, place,
			  "%s not vectorized: target %s has no vectors",
			  loops_are(a, &vectors), t->name);
	}
}

/* -- comments -- */

/* The reason why the target does not use the step of a schedule, or NULL. */
static const char *
why_unused(const struct target *t, const struct dialect *d, const char *step)
{
	if (strncmp(step, "parallel(", 9) == 0) {
		return dialect_has_loop(d, SAY_PARALLEL)
			       ? NULL
			       : "unused: the target has no threads";
	}
	if (strncmp(step, "vectorize(", 10) == 0) {
		return t->vector_bytes == 0
			       ? "unused: the target has no vectors"
		       : t->vectors.n == 0 &&
				       !dialect_has_loop(d, SAY_VECTORIZED)
			       ? "left to the compiler"
			       : NULL;
	}
	return NULL;
}

/* The length of the first step in the text. A step ends at a newline or at a
 * semicolon with a space after it. */
static size_t
step_length(const char *text)
{
	size_t n = strcspn(text, "\n;");

	while (text[n] == ';' && text[n + 1] != ' ') {
		n += 1 + strcspn(text + n + 1, "\n;");
	}
	return n;
}

const char *
schedule_in_a_row(struct arena *a, const struct target *t,
		  const struct dialect *d, const char *steps)
{
	struct strbuf s;
	const char *row;

	strbuf_init(&s);
	for (const char *at = steps; *at != '\0';) {
		size_t n = step_length(at);
		const char *why = why_unused(t, d, at);

		strbuf_puts(&s, s.len > 0 && n > 0 ? "; " : "");
		strbuf_write(&s, at, n);
		if (why != NULL) {
			strbuf_printf(&s, " (%s)", why);
		}
		at += n;
		at += *at == ';' ? 2 : *at == '\n' ? 1 : 0;
	}
	row = arena_strdup(a, s.data ? s.data : "");
	strbuf_release(&s);
	return row;
}
