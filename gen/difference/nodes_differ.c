/* SPDX-License-Identifier: Apache-2.0 */
/* Pairs the nodes of two models: by their outputs, then by their names and
 * operators, then, in order, by their operators alone. */
#include "snapshot.h"

struct node_key {
	const char *name, *op, *output;
	const char *schedules; /* of its kernels */
};

struct node_keys {
	VEC(struct node_key) list;
};

/* At most this many bytes of the text of the schedules of a node's kernels are
 * shown. */
enum { SCHEDULES_BYTES = 4096 };

/* The schedules of the kernels of a row of the trace, as one text. NULL after a
 * diagnostic. */
static const char *
schedules_of(struct snapshot *s, const cJSON *row)
{
	const cJSON *name;
	struct strbuf text;
	const char *joined;

	strbuf_init(&text);
	strbuf_puts(&text, "");
	cJSON_ArrayForEach(name, member_list(row, "kernels"))
	{
		const char *kernel = cJSON_IsString(name) ? name->valuestring
							  : "";

		if (text.len > SCHEDULES_BYTES) {
			break;
		}
		strbuf_printf(&text, "%s%.*s", text.len > 0 ? "; " : "",
			      SCHEDULES_BYTES,
			      member_text(snapshot_item(s, "kernels", "name",
							kernel),
					  "schedule"));
	}
	joined = snapshot_joined(s, &text);
	strbuf_release(&text);
	return joined;
}

/* Returns false after a diagnostic. */
static bool
list_nodes(struct comparing *c, struct snapshot *s, struct node_keys *out)
{
	const cJSON *row;

	cJSON_ArrayForEach(row, member_list(s->json, "trace"))
	{
		struct node_key key = {
			.name = member_text(row, "node"),
			.op = member_text(row, "op"),
			.output = member_text(row, "output"),
			.schedules = schedules_of(s, row),
		};

		if (key.schedules == NULL) {
			return false;
		}
		vec_push(c->a, &out->list, key);
	}
	return true;
}

/* The text by which node i is paired. by 0: its output; by 1: its name and
 * operator ("" without a name); by 2: its operator. */
static const char *
text_of(struct arena *a, const void *list, int i, int by)
{
	const struct node_key *k = (const struct node_key *)list + i;

	return by == 0              ? k->output
	       : by == 2            ? k->op
	       : k->name[0] != '\0' ? arena_printf(a, "%s\n%s", k->name, k->op)
				    : "";
}

/* The node in words: "Conv conv1 -> "y"". */
static const char *
words(struct arena *a, const struct node_key *x)
{
	return arena_printf(a, "%s %s%s-> \"%s\"", x->op, x->name,
			    x->name[0] != '\0' ? " " : "", x->output);
}

static void
compare_pair(struct comparing *c, const struct node_key *x,
	     const struct node_key *y)
{
	bool renamed = strcmp(x->name, y->name) != 0 ||
		       strcmp(x->output, y->output) != 0;
	bool scheduled = strcmp(x->schedules, y->schedules) != 0;
	const char *name = words(c->a, x);

	if (strcmp(x->op, y->op) != 0) {
		add_change(c, PART_NODES, CHANGE_OTHER, name, NULL,
			   words(c->a, y));
	} else if (renamed) {
		add_change(c, PART_NODES, CHANGE_RENAMED, name, NULL,
			   words(c->a, y));
	}
	if (scheduled) {
		add_change(c, PART_NODES, CHANGE_RESCHEDULED, name,
			   x->schedules, y->schedules);
	}
	if (!renamed && !scheduled && strcmp(x->op, y->op) == 0) {
		add_change(c, PART_NODES, CHANGE_NONE, name, NULL, NULL);
	}
}

bool
compare_nodes(struct comparing *c)
{
	struct node_keys old = { 0 }, new = { 0 };
	struct pairing p;

	if (!list_nodes(c, c->old, &old) || !list_nodes(c, c->new, &new)) {
		return false;
	}
	p = pair_items(c, old.list.data, old.list.n, new.list.data, new.list.n,
		       text_of);
	for (int i = 0; i < old.list.n; i++) {
		const struct node_key *x = &old.list.data[i];

		if (p.of_old[i] >= 0) {
			compare_pair(c, x, &new.list.data[p.of_old[i]]);
		} else {
			add_change(c, PART_NODES, CHANGE_REMOVED,
				   words(c->a, x), NULL, NULL);
		}
	}
	for (int j = 0; j < new.list.n; j++) {
		if (p.of_new[j] < 0) {
			add_change(c, PART_NODES, CHANGE_ADDED,
				   words(c->a, &new.list.data[j]), NULL, NULL);
		}
	}
	return true;
}
