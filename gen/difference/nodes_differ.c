/* SPDX-License-Identifier: Apache-2.0 */
/* The nodes of two models: paired by their outputs, then by their names, then by
 * the order of their operators. */
#include "snapshot.h"

struct node_key {
	const char *name, *op, *output;
	const char *schedules; /* of its kernels, one a line */
	int partner;
};

struct node_keys {
	VEC(struct node_key) list;
};

static const char *
schedules_of(struct arena *a, const struct snapshot *s, const cJSON *row)
{
	const cJSON *kernels = member_list(s->json, "kernels"), *name;
	const char *text = "";

	cJSON_ArrayForEach(name, member_list(row, "kernels"))
	{
		const cJSON *kernel = item_named(kernels, "name",
						 cJSON_IsString(name)
							 ? name->valuestring
							 : "");

		text = arena_printf(a, "%s%s%s", text,
				    text[0] != '\0' ? "; " : "",
				    member_text(kernel, "schedule"));
	}
	return text;
}

static void
list_nodes(struct comparing *c, const struct snapshot *s, struct node_keys *out)
{
	const cJSON *row;

	cJSON_ArrayForEach(row, member_list(s->json, "trace"))
	{
		struct node_key key = {
			.name = member_text(row, "node"),
			.op = member_text(row, "op"),
			.output = member_text(row, "output"),
			.schedules = schedules_of(c->a, s, row),
			.partner = -1,
		};

		vec_push(c->a, &out->list, key);
	}
}

static bool
alike(const struct node_key *x, const struct node_key *y, bool by_output)
{
	const char *one = by_output ? x->output : x->name;
	const char *other = by_output ? y->output : y->name;

	return one[0] != '\0' && strcmp(one, other) == 0 &&
	       (by_output || strcmp(x->op, y->op) == 0);
}

static void
pair_alike(struct node_keys *old, struct node_keys *new, bool by_output)
{
	for (int i = 0; i < old->list.n; i++) {
		struct node_key *x = &old->list.data[i];

		for (int j = 0; j < new->list.n && x->partner < 0; j++) {
			struct node_key *y = &new->list.data[j];

			if (y->partner < 0 && alike(x, y, by_output)) {
				x->partner = j;
				y->partner = i;
			}
		}
	}
}

/* The nodes without a partner: their operators, and their indices. */
struct left_over {
	VEC(const char *) ops;
	VEC(int) at;
};

static void
list_left(struct arena *a, const struct node_keys *keys, struct left_over *out)
{
	for (int i = 0; i < keys->list.n; i++) {
		if (keys->list.data[i].partner < 0) {
			vec_push(a, &out->ops, keys->list.data[i].op);
			vec_push(a, &out->at, i);
		}
	}
}

static void
pair_by_order(struct arena *a, struct node_keys *old, struct node_keys *new)
{
	struct left_over x = { 0 }, y = { 0 };
	const int *partner;

	list_left(a, old, &x);
	list_left(a, new, &y);
	partner = pair_texts(a, x.ops.data, x.ops.n, y.ops.data, y.ops.n);
	for (int i = 0; i < x.at.n; i++) {
		if (partner[i] >= 0) {
			int from = x.at.data[i], to = y.at.data[partner[i]];

			old->list.data[from].partner = to;
			new->list.data[to].partner = from;
		}
	}
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

void
compare_nodes(struct comparing *c)
{
	struct node_keys old = { 0 }, new = { 0 };

	list_nodes(c, c->old, &old);
	list_nodes(c, c->new, &new);
	pair_alike(&old, &new, true);
	pair_alike(&old, &new, false);
	pair_by_order(c->a, &old, &new);
	for (int i = 0; i < old.list.n; i++) {
		const struct node_key *x = &old.list.data[i];

		if (x->partner >= 0) {
			compare_pair(c, x, &new.list.data[x->partner]);
		} else {
			add_change(c, PART_NODES, CHANGE_REMOVED,
				   words(c->a, x), NULL, NULL);
		}
	}
	for (int j = 0; j < new.list.n; j++) {
		if (new.list.data[j].partner < 0) {
			add_change(c, PART_NODES, CHANGE_ADDED,
				   words(c->a, &new.list.data[j]), NULL, NULL);
		}
	}
}
