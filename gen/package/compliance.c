/* SPDX-License-Identifier: Apache-2.0 */
/* The compliance statement of the dialect, as text and as JSON: bounds of loops
 * and of local arrays, and the lines that deviate from a rule of the standard.
 * Marks in the source show these lines. */
#include <cjson/cJSON.h>

#include "json_put.h"
#include "kernel.h"
#include "loop_bounds.h"
#include "package.h"
#include "packer.h"
#include "version.h"

/* -- loops -- */

struct loops {
	int n, deepest;
	/* the number of WHILE loops, and of FOR loops whose extent has no
	 * bound */
	int without_bound;
	int64_t longest;
};

static void
count_loops(struct loops *l, const struct func *f)
{
	const struct loop_bounds all = loop_bounds_of(f);

	l->n += all.list.n;
	for (int i = 0; i < all.list.n; i++) {
		const struct loop_bound *one = &all.list.data[i];

		if (one->most == BOUND_POS_INF) {
			l->without_bound++;
		} else if (one->most > l->longest) {
			l->longest = one->most;
		}
		l->deepest = one->depth > l->deepest ? one->depth : l->deepest;
	}
}

/* Counts the loops in the source: in each kernel's function (once, if several
 * kernels call it), in the entry function, and in helpers. */
static struct loops
all_loops(struct packer *k)
{
	struct loops l = { 0 };

	for (int i = 0; i < k->p->kernels.n; i++) {
		const struct kernel *kernel = k->p->kernels.data[i];

		if (kernel->owner == kernel) {
			count_loops(&l, kernel->func);
		}
	}
	count_loops(&l, k->p->entry);
	l.n += k->helper_loops;
	l.deepest = l.deepest == 0 && k->helper_loops > 0 ? 1 : l.deepest;
	l.longest = l.longest > k->longest_helper_loop ? l.longest
						       : k->longest_helper_loop;
	return l;
}

/* -- deviations -- */

static void
find_marks(struct packer *k, const struct out_file *f, const char *mark,
	   struct deviation_places *found)
{
	const char *line = f->text;

	for (int number = 1; line != NULL; number++) {
		const char *end = strchr(line, '\n');
		const char *at = strstr(line, mark);

		if (at == NULL) {
			return;
		}
		if (end == NULL || at < end) {
			vec_push(k->a, &found->list,
				 ((struct deviation_place){ f->name, number }));
		}
		line = end != NULL ? end + 1 : NULL;
	}
}

struct deviation_places
places_of(struct packer *k, const struct deviation *d)
{
	struct deviation_places found = { 0 };

	for (int i = 0; i < k->out->files.n; i++) {
		find_marks(k, &k->out->files.data[i], d->mark, &found);
	}
	return found;
}

/* The lines at which a deviation occurs, as text: "net.h: 26, 27; net.c: 9". */
static const char *
places_text(struct packer *k, const struct deviation_places *p)
{
	struct strbuf s;
	const char *text;

	strbuf_init(&s);
	for (int i = 0; i < p->list.n; i++) {
		bool same = i > 0 && strcmp(p->list.data[i].file,
					    p->list.data[i - 1].file) == 0;

		if (same) {
			strbuf_printf(&s, ", %d", p->list.data[i].line);
		} else {
			strbuf_printf(&s, "%s%s: %d", i > 0 ? "; " : "",
				      p->list.data[i].file,
				      p->list.data[i].line);
		}
	}
	text = arena_strdup(k->a, s.data != NULL ? s.data : "");
	strbuf_release(&s);
	return text;
}

static cJSON *
deviation_json(const struct deviation *d, const struct deviation_places *p)
{
	cJSON *object = cJSON_CreateObject();
	cJSON *list = cJSON_AddArrayToObject(object, "places");

	cJSON_AddStringToObject(object, "id", d->id);
	cJSON_AddStringToObject(object, "rule", d->rule);
	cJSON_AddStringToObject(object, "category", d->category);
	cJSON_AddStringToObject(object, "reason", d->reason);
	for (int i = 0; i < p->list.n; i++) {
		cJSON *place = cJSON_CreateObject();

		cJSON_AddStringToObject(place, "file", p->list.data[i].file);
		cJSON_AddNumberToObject(place, "line", p->list.data[i].line);
		cJSON_AddItemToArray(list, place);
	}
	return object;
}

static void
add_texts_json(struct packer *k, cJSON *object, const char *key,
	       struct names texts)
{
	cJSON *list = cJSON_AddArrayToObject(object, key);

	for (int i = 0; i < texts.n; i++) {
		cJSON_AddItemToArray(list,
				     cJSON_CreateString(
					     packer_render(k, texts.data[i],
							   k->data)));
	}
}

static void
add_guidelines_json(struct packer *k, cJSON *object, const struct compliance *c)
{
	cJSON *list = cJSON_AddArrayToObject(object, "guidelines");

	for (int i = 0; i < c->guidelines.n; i++) {
		const struct guideline *g = &c->guidelines.data[i];
		cJSON *row = cJSON_CreateObject();

		cJSON_AddStringToObject(row, "id", g->id);
		cJSON_AddStringToObject(row, "category", g->category);
		cJSON_AddStringToObject(row, "status", g->status);
		cJSON_AddStringToObject(row, "how",
					packer_render(k, g->how, k->data));
		cJSON_AddItemToArray(list, row);
	}
}

static void
add_guidelines(struct packer *k, struct tdata *data, const struct compliance *c)
{
	tdata_list(data, "guidelines");
	for (int i = 0; i < c->guidelines.n; i++) {
		const struct guideline *g = &c->guidelines.data[i];
		struct tdata *row = tdata_item(data, "guidelines");

		tdata_printf(row, "id", "%-10s", g->id);
		tdata_printf(row, "category", "%-9s", g->category);
		tdata_printf(row, "status", "%-14s", g->status);
		tdata_text(row, "how", packer_render(k, g->how, k->data));
	}
	tdata_list(data, "implementation_defined");
	for (int i = 0; i < c->implementation_defined.n; i++) {
		tdata_text(tdata_item(data, "implementation_defined"), "line",
			   c->implementation_defined.data[i]);
	}
}

static void
add_json(struct packer *k, const struct loops *l, cJSON *deviations)
{
	const struct compliance *c = &k->d->compliance;
	cJSON *object = cJSON_CreateObject();
	struct strbuf text;

	cJSON_AddStringToObject(object, "license", "MIT-0");
	cJSON_AddStringToObject(object, "model", k->model);
	cJSON_AddStringToObject(object, "standard", c->standard);
	cJSON_AddStringToObject(object, "generator",
				arena_printf(k->a, "tirc %s", version_text()));
	add_texts_json(k, object, "claims", c->claims);
	cJSON_AddNumberToObject(object, "loops", l->n);
	cJSON_AddNumberToObject(object, "loops_without_bound",
				l->without_bound);
	cJSON_AddNumberToObject(object, "deepest_loops", l->deepest);
	cJSON_AddNumberToObject(object, "longest_loop", (double)l->longest);
	cJSON_AddNumberToObject(object, "local_array_bytes",
				(double)k->local_bytes);
	cJSON_AddItemToObject(object, "deviations", deviations);
	add_guidelines_json(k, object, c);
	add_texts_json(k, object, "implementation_defined",
		       c->implementation_defined);
	strbuf_init(&text);
	json_put(&text, object, true);
	strbuf_putc(&text, '\n');
	add_file(k, FILE_COMPLIANCE_DATA, OUT_TEXT, text.data, NULL);
	strbuf_release(&text);
	cJSON_Delete(object);
}

bool
add_compliance(struct packer *k)
{
	const struct compliance *c = &k->d->compliance;
	struct tdata *data = tdata_new(k->a);
	struct loops loops;
	cJSON *deviations;

	if (c->standard == NULL) {
		return true;
	}
	loops = all_loops(k);
	deviations = cJSON_CreateArray();
	tdata_outer(data, k->data);
	tdata_text(data, "standard", c->standard);
	tdata_int(data, "loops", loops.n);
	tdata_int(data, "loops_without_bound", loops.without_bound);
	tdata_int(data, "deepest_loops", loops.deepest);
	tdata_int(data, "longest_loop", loops.longest);
	tdata_list(data, "claims");
	for (int i = 0; i < c->claims.n; i++) {
		tdata_text(tdata_item(data, "claims"), "claim",
			   packer_render(k, c->claims.data[i], k->data));
	}
	add_guidelines(k, data, c);
	tdata_list(data, "deviations");
	for (int i = 0; i < c->deviations.n; i++) {
		const struct deviation *d = &c->deviations.data[i];
		struct deviation_places found = places_of(k, d);
		struct tdata *row;

		if (found.list.n == 0) {
			continue;
		}
		row = tdata_item(data, "deviations");
		tdata_text(row, "id", d->id);
		tdata_text(row, "rule", d->rule);
		tdata_text(row, "category", d->category);
		tdata_text(row, "reason", d->reason);
		tdata_text(row, "places", places_text(k, &found));
		cJSON_AddItemToArray(deviations, deviation_json(d, &found));
	}
	add_json(k, &loops, deviations);
	return add_template_file(k, TEMPLATE_COMPLIANCE, data, FILE_COMPLIANCE,
				 OUT_TEXT);
}
