/* SPDX-License-Identifier: Apache-2.0 */
/* Kernels: the same, the same but for names, or different, with the lines that
 * differ. */
#include "snapshot.h"

/* The kernels of a folder: each with its function, and with the outputs of its
 * nodes, by which it is recognized under another name. */
struct kernel_key {
	const char *name, *function, *schedule, *outputs;
	const char *computes; /* its title */
	int partner;          /* index of the other folder's kernel, or -1 */
};

struct kernel_keys {
	VEC(struct kernel_key) list;
};

/* The outputs of the nodes that the call computes, as one text. */
static const char *
outputs_of(struct arena *a, const struct snapshot *s, const char *kernel)
{
	const cJSON *call = item_named(member_list(s->json, "calls"), "kernel",
				       kernel);
	const cJSON *trace = member_list(s->json, "trace");
	const cJSON *node;
	const char *text = "";

	cJSON_ArrayForEach(node, member_list(call, "nodes"))
	{
		const cJSON *row = cJSON_IsNumber(node)
					   ? cJSON_GetArrayItem(trace,
								node->valueint)
					   : NULL;

		text = arena_printf(a, "%s%s\n", text,
				    member_text(row, "output"));
	}
	return text;
}

static void
list_kernels(struct comparing *c, const struct snapshot *s,
	     struct kernel_keys *out)
{
	const cJSON *row;

	cJSON_ArrayForEach(row, member_list(s->json, "kernels"))
	{
		struct kernel_key key = {
			.name = member_text(row, "name"),
			.function = member_text(row, "function"),
			.schedule = member_text(row, "schedule"),
			.computes = member_text(row, "title"),
			.partner = -1,
		};

		key.outputs = outputs_of(c->a, s, key.name);
		vec_push(c->a, &out->list, key);
	}
}

static void
pair_kernels(struct kernel_keys *old, struct kernel_keys *new, bool by_name)
{
	for (int i = 0; i < old->list.n; i++) {
		struct kernel_key *x = &old->list.data[i];

		for (int j = 0; j < new->list.n && x->partner < 0; j++) {
			struct kernel_key *y = &new->list.data[j];
			bool same = by_name ? strcmp(x->name, y->name) == 0
					    : x->outputs[0] != '\0' &&
						      strcmp(x->outputs,
							     y->outputs) == 0;

			if (y->partner < 0 && same) {
				x->partner = j;
				y->partner = i;
			}
		}
	}
}

/* The kernels without a partner: what they compute, and their indices. */
struct left_over {
	VEC(const char *) titles;
	VEC(int) at;
};

static void
list_left(struct arena *a, const struct kernel_keys *keys,
	  struct left_over *out)
{
	for (int i = 0; i < keys->list.n; i++) {
		if (keys->list.data[i].partner < 0) {
			vec_push(a, &out->titles, keys->list.data[i].computes);
			vec_push(a, &out->at, i);
		}
	}
}

/* Pairs kernels that compute the same in the same order. */
static void
pair_by_order(struct arena *a, struct kernel_keys *old, struct kernel_keys *new)
{
	struct left_over x = { 0 }, y = { 0 };
	const int *partner;

	list_left(a, old, &x);
	list_left(a, new, &y);
	partner = pair_texts(a, x.titles.data, x.titles.n, y.titles.data,
			     y.titles.n);
	for (int i = 0; i < x.at.n; i++) {
		if (partner[i] >= 0) {
			int from = x.at.data[i], to = y.at.data[partner[i]];

			old->list.data[from].partner = to;
			new->list.data[to].partner = from;
		}
	}
}

static bool
same_lines(const struct text_lines *x, const struct text_lines *y)
{
	bool same = x->list.n == y->list.n;

	for (int i = 0; same && i < x->list.n; i++) {
		same = strcmp(x->list.data[i], y->list.data[i]) == 0;
	}
	return same;
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
	    !snapshot_function(c->new, y->function, &new.lines)) {
		return false;
	}
	if (same_lines(&old.lines, &new.lines)) {
		add_change(c, PART_KERNELS,
			   renamed != NULL ? CHANGE_NAMES : CHANGE_NONE,
			   x->name, NULL, renamed);
	} else if (same_but_names(c->m, &old, &new)) {
		add_change(c, PART_KERNELS, CHANGE_NAMES, x->name, NULL,
			   renamed);
	} else {
		bool other = strcmp(x->schedule, y->schedule) != 0;

		row = add_change(c, PART_KERNELS, CHANGE_OTHER, x->name,
				 other ? x->schedule : NULL,
				 other ? y->schedule : renamed);
		put_unified(c->a, &old.lines, &new.lines, row);
	}
	return true;
}

bool
compare_kernels(struct comparing *c)
{
	struct kernel_keys old = { 0 }, new = { 0 };

	list_kernels(c, c->old, &old);
	list_kernels(c, c->new, &new);
	pair_kernels(&old, &new, true);
	pair_kernels(&old, &new, false);
	pair_by_order(c->a, &old, &new);
	for (int i = 0; i < old.list.n; i++) {
		const struct kernel_key *x = &old.list.data[i];

		if (x->partner < 0) {
			add_change(c, PART_KERNELS, CHANGE_REMOVED, x->name,
				   NULL, NULL);
		} else if (!compare_pair(c, x, &new.list.data[x->partner])) {
			return false;
		}
	}
	for (int j = 0; j < new.list.n; j++) {
		if (new.list.data[j].partner < 0) {
			add_change(c, PART_KERNELS, CHANGE_ADDED,
				   new.list.data[j].name, NULL, NULL);
		}
	}
	return true;
}
