/* SPDX-License-Identifier: Apache-2.0 */
#include "difference.h"

#include "json_put.h"
#include "snapshot.h"
#include "text.h"

static const char *const part_names[PART_COUNT] = {
	[PART_NODES] = "nodes",         [PART_KERNELS] = "kernels",
	[PART_WEIGHTS] = "weights",     [PART_MEMORY] = "memory",
	[PART_INTERFACE] = "interface", [PART_OPTIONS] = "options",
};

static const struct {
	const char *word, *sign;
} changes[CHANGE_COUNT] = {
	[CHANGE_NONE] = { "same", "=" },
	[CHANGE_NAMES] = { "same but for names", "~" },
	[CHANGE_ADDED] = { "added", "+" },
	[CHANGE_REMOVED] = { "removed", "-" },
	[CHANGE_RENAMED] = { "renamed", "~" },
	[CHANGE_RESCHEDULED] = { "rescheduled", "!" },
	[CHANGE_OTHER] = { "different", "!" },
};

/* Compares two folders: only NAME.json if `lists`, else the code of functions,
 * too. False after a diagnostic. */
static bool
compare_folders(struct module *m, const char *old_folder,
		const char *new_folder, bool lists, struct difference *out)
{
	struct snapshot old, new = { .json = NULL };
	struct comparing c = {
		.m = m, .a = &m->arena, .old = &old, .new = &new, .out = out
	};
	bool ok;

	*out = (struct difference){ .is_any = false };
	quota_of_input(m, 0);
	texts_init(&c.texts, &m->arena);
	ok = snapshot_open(&old, m, &c.texts, old_folder) &&
	     snapshot_open(&new, m, &c.texts, new_folder);
	if (ok && lists) {
		compare_kernel_names(&c);
		out->same_calls = same_calls(&c);
	} else {
		ok = ok && compare_nodes(&c) && compare_kernels(&c);
	}
	if (ok) {
		compare_lists(&c);
	}
	snapshot_close(&old);
	snapshot_close(&new);
	return ok;
}

bool
difference_of(struct module *m, const char *old_folder, const char *new_folder,
	      struct difference *out)
{
	return compare_folders(m, old_folder, new_folder, false, out);
}

bool
difference_of_lists(struct module *m, const char *old_folder,
		    const char *new_folder, struct difference *out)
{
	return compare_folders(m, old_folder, new_folder, true, out);
}

/* -- text -- */

/* The numbers of changes: "3 same, 1 added"; "nothing" without items. */
static void
put_counts(const struct change_rows *rows, struct strbuf *out)
{
	const char *between = "";

	for (int i = 0; i < CHANGE_COUNT; i++) {
		if (rows->counts[i] > 0) {
			strbuf_printf(out, "%s%d %s", between, rows->counts[i],
				      changes[i].word);
			between = ", ";
		}
	}
	strbuf_puts(out, rows->list.n == 0 ? "nothing differs" : "");
}

/* Appends `before` and then `text`, a text from a file, with line ends and
 * other hidden characters in a visible form. If text is NULL, appends
 * nothing. */
static void
put_words(struct strbuf *out, const char *before, const char *text)
{
	if (text != NULL) {
		strbuf_puts(out, before);
		text_put_visible(out, text, strlen(text), "\t");
	}
}

static void
put_change(const struct change_row *row, struct strbuf *out)
{
	strbuf_puts(out, changes[row->change].sign);
	put_words(out, " ", row->name);
	put_words(out, ": ", row->old);
	put_words(out, " -> ", row->new);
	strbuf_printf(out, " (%s)\n", changes[row->change].word);
}

static void
put_row(const struct change_row *row, struct strbuf *out)
{
	strbuf_puts(out, "  ");
	put_change(row, out);
	for (int i = 0; i < row->lines.n; i++) {
		put_words(out, "    ", row->lines.data[i]);
		strbuf_putc(out, '\n');
	}
}

void
difference_put_text(const struct difference *d, struct strbuf *out)
{
	for (int p = 0; p < PART_COUNT; p++) {
		const struct change_rows *rows = &d->parts[p];

		strbuf_printf(out, "%-9s  ", part_names[p]);
		put_counts(rows, out);
		strbuf_putc(out, '\n');
		for (int i = 0; i < rows->list.n; i++) {
			if (rows->list.data[i].change != CHANGE_NONE) {
				put_row(&rows->list.data[i], out);
			}
		}
	}
}

void
difference_put_first(const struct difference *d, int most, struct strbuf *out)
{
	static const enum difference_part order[] = {
		PART_OPTIONS, PART_INTERFACE, PART_KERNELS,
		PART_WEIGHTS, PART_MEMORY,
	};
	int n = 0;

	for (size_t p = 0; p < sizeof order / sizeof *order; p++) {
		const struct change_rows *rows = &d->parts[order[p]];

		for (int i = 0; i < rows->list.n; i++) {
			if (rows->list.data[i].change != CHANGE_NONE &&
			    n++ < most) {
				strbuf_printf(out, "    %-9s  ",
					      part_names[order[p]]);
				put_change(&rows->list.data[i], out);
			}
		}
	}
	if (n > most) {
		strbuf_printf(out, "    and %d more\n", n - most);
	}
}

/* -- JSON -- */

static void
put_member(struct strbuf *out, const char *key, const char *text)
{
	if (text != NULL) {
		strbuf_printf(out, ",\"%s\":", key);
		json_put_text(out, text);
	}
}

static void
put_json_row(const struct change_row *row, struct strbuf *out)
{
	strbuf_printf(out, "{\"change\":\"%s\"", changes[row->change].word);
	put_member(out, "name", row->name);
	put_member(out, "old", row->old);
	put_member(out, "new", row->new);
	strbuf_puts(out, row->lines.n > 0 ? ",\"diff\":[" : "");
	for (int i = 0; i < row->lines.n; i++) {
		strbuf_puts(out, i > 0 ? "," : "");
		json_put_text(out, row->lines.data[i]);
	}
	strbuf_puts(out, row->lines.n > 0 ? "]}" : "}");
}

void
difference_put_json(const struct difference *d, struct strbuf *out)
{
	strbuf_putc(out, '{');
	strbuf_printf(out, "\n\t\"same\": %s", d->is_any ? "false" : "true");
	for (int p = 0; p < PART_COUNT; p++) {
		const struct change_rows *rows = &d->parts[p];

		strbuf_printf(out, ",\n\t\"%s\": [", part_names[p]);
		for (int i = 0; i < rows->list.n; i++) {
			strbuf_puts(out, i > 0 ? ",\n\t\t" : "\n\t\t");
			put_json_row(&rows->list.data[i], out);
		}
		strbuf_puts(out, rows->list.n > 0 ? "\n\t]" : "]");
	}
	strbuf_puts(out, "\n}\n");
}
