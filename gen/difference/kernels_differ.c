/* SPDX-License-Identifier: Apache-2.0 */
/* Compares kernels: each is equal, equal except for names, or different, with
 * the lines that differ. */
#include "snapshot.h"

/* The kernels of a folder: each with its function, and with the outputs of its
 * nodes, by which a kernel with another name is recognized. */
struct kernel_key {
	const char *name, *function, *schedule, *outputs;
	const char *computes; /* its title */
};

struct kernel_keys {
	VEC(struct kernel_key) list;
};

/* This many bytes of the text of a kernel's outputs are enough to recognize the
 * kernel. */
enum { OUTPUTS_BYTES = 4096 };

/* The keys of the nodes that the call computes, as one text. NULL after a
 * diagnostic. */
static const char *
outputs_of(struct snapshot *s, const char *kernel)
{
	const cJSON *call = snapshot_item(s, "calls", "kernel", kernel), *node;
	struct strbuf text;
	const char *joined;

	strbuf_init(&text);
	strbuf_puts(&text, "");
	cJSON_ArrayForEach(node, member_list(call, "nodes"))
	{
		if (text.len > OUTPUTS_BYTES) {
			break;
		}
		strbuf_printf(&text, "%.*s\n", OUTPUTS_BYTES,
			      cJSON_IsString(node) ? node->valuestring : "");
	}
	joined = snapshot_joined(s, &text);
	strbuf_release(&text);
	return joined;
}

/* Lists the kernels. Of rows with the same name, lists only the first one.
 * Returns false after a diagnostic. */
static bool
list_kernels(struct comparing *c, struct snapshot *s, struct kernel_keys *out)
{
	const cJSON *row;

	cJSON_ArrayForEach(row, member_list(s->json, "kernels"))
	{
		struct kernel_key key = {
			.name = member_text(row, "name"),
			.function = member_text(row, "function"),
			.schedule = member_text(row, "schedule"),
			.computes = member_text(row, "title"),
		};

		if (snapshot_item(s, "kernels", "name", key.name) != row) {
			continue;
		}
		key.outputs = outputs_of(s, key.name);
		if (key.outputs == NULL) {
			return false;
		}
		vec_push(c->a, &out->list, key);
	}
	return true;
}

/* The text by which kernel i is paired. by 0: its name; by 1: the outputs of
 * its nodes; by 2: what it computes. */
static const char *
text_of(struct arena *a, const void *list, int i, int by)
{
	const struct kernel_key *k = (const struct kernel_key *)list + i;

	(void)a;
	return by == 0 ? k->name : by == 1 ? k->outputs : k->computes;
}

static bool
same_lines(const struct text_lines *x, const struct text_lines *y)
{
	bool same = x->n == y->n;

	for (int i = 0; same && i < x->n; i++) {
		same = x->line[i] == y->line[i];
	}
	return same;
}

static int64_t
bytes_of(const struct text_lines *x)
{
	int64_t bytes = 0;

	for (int i = 0; i < x->n; i++) {
		bytes += (int64_t)strlen(x->line[i]) + 1;
	}
	return bytes;
}

/* Counts the text of two functions that are compared. False after a diagnostic:
 * many kernels may name one long function, so the sizes of the files do not bound
 * the work. */
static bool
count_text(struct comparing *c, const struct text_lines *old,
	   const struct text_lines *new)
{
	c->lines += old->n + new->n;
	c->bytes += bytes_of(old) + bytes_of(new);
	if (c->lines > MOST_LINES || c->bytes > MOST_COMPARED_BYTES) {
		return diag_error(&c->m->diags, DIAG_TOO_LARGE,
				  (struct diag_place){ .file = c->old->file },
				  "the functions of the kernels have more than "
				  "%d lines or %d bytes together; compare "
				  "smaller models",
				  MOST_LINES, MOST_COMPARED_BYTES);
	}
	return true;
}

/* Compares the functions of two kernels. False after a diagnostic. */
static bool
compare_pair(struct comparing *c, const struct kernel_key *x,
	     const struct kernel_key *y)
{
	struct function_text old = { .name = x->function };
	struct function_text new = { .name = y->function };
	const char *renamed = strcmp(x->name, y->name) != 0 ? y->name : NULL;
	struct change_row *row;

	if (!snapshot_function(c->old, x->function, &old.lines) ||
	    !snapshot_function(c->new, y->function, &new.lines) ||
	    !count_text(c, &old.lines, &new.lines)) {
		return false;
	}
	if (same_lines(&old.lines, &new.lines)) {
		add_change(c, PART_KERNELS,
			   renamed != NULL ? CHANGE_NAMES : CHANGE_NONE,
			   x->name, NULL, renamed);
	} else if (same_but_names(c, &old, &new)) {
		add_change(c, PART_KERNELS, CHANGE_NAMES, x->name, NULL,
			   renamed);
	} else {
		bool other = strcmp(x->schedule, y->schedule) != 0;

		row = add_change(c, PART_KERNELS, CHANGE_OTHER, x->name,
				 other ? x->schedule : NULL,
				 other ? y->schedule : renamed);
		put_unified(c, &old.lines, &new.lines, row);
	}
	return true;
}

bool
compare_kernels(struct comparing *c)
{
	struct kernel_keys old = { 0 }, new = { 0 };
	struct pairing p;

	if (!list_kernels(c, c->old, &old) || !list_kernels(c, c->new, &new)) {
		return false;
	}
	p = pair_items(c, old.list.data, old.list.n, new.list.data, new.list.n,
		       text_of);
	for (int i = 0; i < old.list.n; i++) {
		const struct kernel_key *x = &old.list.data[i];

		if (p.of_old[i] < 0) {
			add_change(c, PART_KERNELS, CHANGE_REMOVED, x->name,
				   NULL, NULL);
		} else if (!compare_pair(c, x, &new.list.data[p.of_old[i]])) {
			return false;
		}
	}
	for (int j = 0; j < new.list.n; j++) {
		if (p.of_new[j] < 0) {
			add_change(c, PART_KERNELS, CHANGE_ADDED,
				   new.list.data[j].name, NULL, NULL);
		}
	}
	return true;
}
