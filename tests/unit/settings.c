/* SPDX-License-Identifier: Apache-2.0 */
/* Every setting of the table, at every way out of tirc and in again: the text
 * of a graph, the JSON of a partition, a backend's pass that is a command. The
 * states of the model go the same ways. */
#include "backend.h"
#include "check.h"
#include "graph_text.h"
#include "ops.h"
#include "partition.h"

/* No setting has this value by default. */
static int
changed_value(const struct setting_row *row, int i)
{
	return row->most > 100 ? 10 + i : row->most;
}

static struct graph *
make_graph(struct module *m, const struct settings *s)
{
	static const char text[] = "graph g\n"
				   "  input x: float32[4]\n"
				   "  input before: float32[4]\n"
				   "  y: float32[4] = Relu (x)\n"
				   "  after: float32[4] = Add (y, before)\n"
				   "  output y\n"
				   "  output after\n";
	const struct source src = { .name = "g",
				    .text = text,
				    .length = sizeof text - 1 };
	struct graph *g = graph_read(m, &src, true);

	if (!CHECK(g != NULL && ops_resolve(g))) {
		return NULL;
	}
	g->settings = s;
	g->is_partitioned = true;
	vec_push(&m->arena, &g->states,
		 ((struct graph_state){ .input = 1, .output = 1 }));
	return g;
}

static void
check_same(const struct graph *g, const struct settings *want, const char *way)
{
	int n;
	const struct setting_row *rows = settings_rows(&n);

	for (int i = 0; i < n; i++) {
		if (!CHECK_EQ(settings_get(g->settings, i),
			      settings_get(want, i))) {
			fprintf(stderr, "\t%s, %s\n", way, rows[i].name);
		}
	}
}

static void
check_states(const struct graph *g)
{
	if (CHECK_EQ(g->states.n, 1)) {
		CHECK_EQ(g->states.data[0].input, 1);
		CHECK_EQ(g->states.data[0].output, 1);
	}
}

static void
through_text(struct module *m, const struct settings *s)
{
	const struct graph *copy;
	struct source src = { .name = "printed" };
	struct graph *g = make_graph(m, s);
	struct strbuf text;

	strbuf_init(&text);
	graph_print(g, &text);
	src.text = text.data;
	src.length = text.len;
	copy = graph_read(m, &src, true);
	if (CHECK(copy != NULL)) {
		check_same(copy, s, "text");
	}
	strbuf_release(&text);
}

static void
through_json(struct module *m, const struct settings *s)
{
	struct partition_facts facts = { 0 };
	struct graph *copy, *g = make_graph(m, s);
	struct onnx_file *file;
	struct strbuf text;
	FILE *constants = tmpfile();

	strbuf_init(&text);
	if (!CHECK(constants != NULL) ||
	    !CHECK(partition_text(g, &facts, "none", constants, &text))) {
		return;
	}
	fclose(constants);
	copy = partition_read_text(m, "p.json", NULL, text.data, &facts, &file);
	if (CHECK(copy != NULL)) {
		check_same(copy, s, "JSON");
		check_states(copy);
		onnx_file_close(file);
	}
	strbuf_release(&text);
}

static bool
run_command(struct graph *g, const char *command)
{
	const struct backend b = { .name = "b", .folder = ".", .file = "b" };
	const struct region_pass pass = { .name = "p", .command = command };

	return partition_run_command(g, &b, &pass);
}

static void
through_command(struct module *m, const struct settings *s)
{
	/* An editor of graphs that writes only what it knows. */
	static const char *const commands[] = { "cat",
						"grep -v '\"settings\"'" };

	for (int i = 0; i < 2; i++) {
		struct graph *g = make_graph(m, s);

		if (CHECK(run_command(g, commands[i]))) {
			check_same(g, s, commands[i]);
			check_states(g);
		}
	}
}

static void
refused(const char *command, const char *message)
{
	static const struct settings s = { .fixed_point = true };
	struct module *m = module_new();

	CHECK(!run_command(make_graph(m, &s), command));
	if (!CHECK(m->diags.n_errors > 0 &&
		   strstr(m->diags.list.data[0].message, message))) {
		fprintf(stderr, "\t%s\n", command);
	}
	module_free(m);
}

int
main(void)
{
	int n;
	const struct setting_row *rows = settings_rows(&n);
	struct settings all = { 0 };

	for (int i = 0; i <= n; i++) {
		struct module *m = module_new();
		struct settings one = { 0 };

		if (i < n) {
			settings_set(&one, i, changed_value(&rows[i], i));
			settings_set(&all, i, changed_value(&rows[i], i));
			CHECK(settings_get(&one, i) != 0);
			CHECK_EQ(settings_find(rows[i].name), i);
		}
		through_text(m, i < n ? &one : &all);
		through_json(m, i < n ? &one : &all);
		through_command(m, i < n ? &one : &all);
		module_free(m);
	}
	refused("sed 's/\"fixed_point\": true/\"fixed_point\": false/'",
		"cannot change the settings");
	refused("sed 's/\"fixed_point\"/\"fixed\"/'",
		"no setting of this name");
	refused("sed 's/\"input\": \"before\"/\"input\": \"x\"/'",
		"cannot change the states");
	return check_done();
}
