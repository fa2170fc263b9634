/* SPDX-License-Identifier: Apache-2.0 */
/* graph CASES: the cases of graph passes in a folder; REGEN=1 rewrites them. See
 * graph/README.md. */
#include "case.h"

#include <math.h>

#include "backend_load.h"
#include "graph_text.h"
#include "ops.h"
#include "passes.h"

struct graph_case {
	const char *path;
	const char *pass, *title;    /* from the first line */
	const char *backends;        /* their names, or NULL */
	const char *first;           /* passes that run before, or NULL */
	const char *before, *given;  /* given: what those make of it, or NULL */
	const char *after, *refused; /* NULL: no such section */
	bool unchanged;
	const char *not_run; /* the reason; NULL: it is run */
};

/* -- files */

static bool
read_case(struct arena *a, const char *path, struct graph_case *c)
{
	const char *text = case_read_file(a, path);

	c->path = path;
	if (!case_title(a, text, &c->pass, &c->title)) {
		return false;
	}
	c->not_run = case_section(a, text, "not run");
	c->backends = case_section(a, text, "backends");
	c->first = case_section(a, text, "first");
	c->before = case_section(a, text, "before");
	c->given = case_section(a, text, "given");
	c->after = case_section(a, text, "after");
	c->unchanged = case_section(a, text, "unchanged") != NULL;
	c->refused = case_section(a, text, "refused");
	return c->before != NULL;
}

static void
write_case(const struct graph_case *c)
{
	struct strbuf out;

	strbuf_init(&out);
	strbuf_printf(&out, "# %s: %s\n", c->pass, c->title);
	case_put_section(&out, "not run", c->not_run);
	case_put_section(&out, "backends", c->backends);
	case_put_section(&out, "first", c->first);
	case_put_section(&out, "before", c->before);
	case_put_section(&out, "given", c->given);
	case_put_section(&out, "after", c->after);
	case_put_section(&out, "unchanged", c->unchanged ? "" : NULL);
	case_put_section(&out, "refused", c->refused);
	case_write_file(c->path, out.data);
	strbuf_release(&out);
}

/* -- graphs */

static const char *
text_of(struct arena *a, const struct graph *g)
{
	struct strbuf out;
	const char *text;

	strbuf_init(&out);
	graph_print(g, &out);
	text = arena_strdup(a, out.data);
	strbuf_release(&out);
	return text;
}

/* Each node counts as one of a model: passes note there what they do. */
static void
add_origins(struct graph *g)
{
	struct arena *a = &g->module->arena;

	for (int i = 0; i < g->nodes.n; i++) {
		struct node *n = g->nodes.data[i];
		struct origin o = {
			.within = -1,
			.index = i,
			.name = n->name,
			.op_type = n->op_type,
			.output = node_key(n),
		};

		vec_push(a, &n->origins, i);
		vec_push(a, &g->origins, o);
	}
}

/* The words of a text, one after the other. */
static const char *
next_word(struct arena *a, const char **at)
{
	const char *from = *at + strspn(*at, " \n");
	size_t n = strcspn(from, " \n");

	*at = from + n;
	return n > 0 ? arena_strndup(a, from, n) : NULL;
}

static bool
load_backends(struct graph *g, const char *names)
{
	enum { MOST = 4 };
	struct arena *a = &g->module->arena;
	const struct backend **list = arena_array(a, const struct backend *,
						  MOST);
	const char *name;

	g->backends = list;
	while ((name = next_word(a, &names)) && g->n_backends < MOST) {
		list[g->n_backends] = backend_load(g->module, name, NULL, NULL);
		if (!list[g->n_backends++]) {
			return false;
		}
	}
	return true;
}

static struct graph *
read_before(struct module *m, const struct graph_case *c)
{
	struct source src = { c->path, c->before, strlen(c->before) };
	struct graph *g = graph_read(m, &src, true);

	if (!g) {
		return NULL;
	}
	add_origins(g);
	return ops_resolve(g) && ops_infer(g) && graph_verify(g) &&
			       load_backends(g, c->backends ? c->backends : "")
		       ? g
		       : NULL;
}

/* -- running */

/* The same small numbers for inputs of the same type and size. */
static const struct value *
input_value(struct arena *a, const struct tensor *t)
{
	struct value *v = arena_new(a, struct value);
	unsigned state = 7;
	char *data;

	v->type = t->type;
	CHECK(tensor_const_elems(t, &v->elems));
	v->bytes = (size_t)v->elems * (size_t)dtype_bytes(v->type);
	v->data = data = arena_alloc(a, v->bytes + 1);
	for (int64_t i = 0; i < v->elems; i++) {
		union number n;

		state = state * 1103515245u + 12345u;
		n.i = (int64_t)(state >> 16) %
		      (t->type.kind == DT_BOOL ? 2 : 9);
		if (dtype_is_float(t->type)) {
			n.f = (double)(n.i - 4);
		}
		number_store(t->type, data, (size_t)i, n);
	}
	return v;
}

/* Node by node; outputs have values then. */
static bool
evaluate(struct graph *g)
{
	struct arena *a = &g->module->arena;

	for (int i = 0; i < g->inputs.n; i++) {
		g->inputs.data[i]->value = input_value(a, g->inputs.data[i]);
	}
	for (int i = 0; i < g->nodes.n; i++) {
		struct node *n = g->nodes.data[i];
		const struct value **out = arena_array(a, const struct value *,
						       n->n_outputs + 1);

		for (int k = 0; k < n->n_inputs; k++) {
			if (n->inputs[k] && !tensor_value(g, n->inputs[k])) {
				return false;
			}
		}
		if (!ops_evaluate(g, n, out)) {
			return false;
		}
		for (int k = 0; k < n->n_outputs; k++) {
			if (n->outputs[k]) {
				n->outputs[k]->value = out[k];
			}
		}
	}
	return true;
}

/* Integers to the bit; floats as nearly as other orders of sums compute them. */
static void
check_same_values(const struct value *v, const struct value *w)
{
	double largest = 1, worst = 0;

	if (!CHECK(v && w) || !CHECK_EQ(w->elems, v->elems) ||
	    !CHECK(dtype_equal(v->type, w->type))) {
		return;
	}
	for (int64_t i = 0; i < v->elems; i++) {
		union number x = number_load(v->type, v->data, (size_t)i);
		union number y = number_load(w->type, w->data, (size_t)i);

		if (!dtype_is_float(v->type)) {
			CHECK_EQ(y.i, x.i);
			continue;
		}
		largest = fabs(x.f) > largest ? fabs(x.f) : largest;
		worst = fabs(x.f - y.f) > worst ? fabs(x.f - y.f) : worst;
	}
	CHECK(worst <= 1e-5 * largest);
}

/* Branches and loops have a meaning in the entry function only: tests/exec runs
 * them. */
static void
check_meaning(struct module *m, const struct graph_case *c, struct graph *g)
{
	struct graph *first = read_before(m, c);

	if (graph_has_control(g)) {
		return;
	}
	if (!CHECK(first != NULL) || !CHECK(evaluate(first)) ||
	    !CHECK(evaluate(g)) || !CHECK_EQ(g->outputs.n, first->outputs.n)) {
		case_show_errors(&m->diags);
		return;
	}
	for (int i = 0; i < g->outputs.n; i++) {
		const struct tensor *x = first->outputs.data[i];
		const struct tensor *y = g->outputs.data[i];

		CHECK_STR_EQ(y->name, x->name);
		check_same_values(x->value, y->value);
	}
}

static const struct graph_pass *
find_pass(const char *name)
{
	int n;
	const struct graph_pass *passes = graph_passes(&n);

	for (int i = 0; i < n; i++) {
		if (strcmp(passes[i].name, name) == 0) {
			return &passes[i];
		}
	}
	return NULL;
}

static bool
run_first(struct graph *g, const char *names)
{
	const char *name;

	while ((name = next_word(&g->module->arena, &names))) {
		const struct graph_pass *pass = find_pass(name);

		if (!CHECK(pass != NULL) || !CHECK(pass->run(g))) {
			return false;
		}
	}
	return true;
}

/* What the pass makes of g, as sections of the case. */
static bool
run_pass(struct arena *a, struct graph *g, struct graph_case *now)
{
	struct diags *diags = &g->module->diags;
	const char *given = now->given ? now->given : now->before;

	now->after = now->refused = NULL;
	now->unchanged = false;
	if (!find_pass(now->pass)->run(g)) {
		CHECK(diags->n_errors == 1);
		now->refused = arena_printf(a, "%s\n",
					    diags->list.data[diags->list.n - 1]
						    .message);
		return false;
	}
	if (!CHECK(graph_verify(g)) || !CHECK(graph_verify_text(g))) {
		case_show_errors(diags);
		return false;
	}
	now->after = text_of(a, g);
	if (strcmp(now->after, given) == 0) {
		now->after = NULL;
		now->unchanged = true;
	}
	return true;
}

/* Fills in what the case gives now. */
static bool
run_case(struct arena *a, const struct graph_case *c, struct graph_case *now)
{
	struct module *m = module_new();
	struct graph *g = read_before(m, c);
	bool ok = CHECK(g != NULL);

	*now = *c;
	if (ok) {
		now->before = text_of(a, g);
		ok = run_first(g, c->first ? c->first : "");
	}
	if (ok) {
		now->given = c->first ? text_of(a, g) : NULL;
		if (run_pass(a, g, now) && !c->not_run && g->dims.n == 0) {
			check_meaning(m, c, g);
		}
	} else {
		case_show_errors(&m->diags);
	}
	for (int i = 0; g && i < g->n_backends; i++) {
		backend_close(g->backends[i]);
	}
	module_free(m);
	return ok;
}

static bool
same_case(const struct graph_case *x, const struct graph_case *y)
{
	return case_same_text(x->before, y->before) &&
	       case_same_text(x->given, y->given) &&
	       case_same_text(x->after, y->after) &&
	       case_same_text(x->refused, y->refused) &&
	       x->unchanged == y->unchanged;
}

static void
check_case(struct arena *a, struct graph_case *c, bool regen)
{
	struct graph_case now;
	int failed = check_failed;

	if (!find_pass(c->pass)) {
		CHECK(!"the title begins with a pass");
	} else if (run_case(a, c, &now)) {
		if (!regen) {
			CHECK_STR_EQ(now.before, c->before);
			CHECK_STR_EQ(now.given, c->given);
			CHECK_STR_EQ(now.after, c->after);
			CHECK_STR_EQ(now.refused, c->refused);
			CHECK_EQ(now.unchanged, c->unchanged);
		} else if (!same_case(&now, c)) {
			write_case(&now);
		}
		*c = now;
	}
	if (check_failed > failed) {
		fprintf(stderr, "^ %s\n", c->path);
	}
}

/* -- all of them */

struct graph_cases {
	VEC(struct graph_case) list;
};

static void
read_cases(struct arena *a, const char *folder, struct graph_cases *out)
{
	struct case_paths paths = case_paths(a, folder);

	for (int i = 0; i < paths.list.n; i++) {
		struct graph_case c = { 0 };
		const char *name = strrchr(paths.list.data[i], '/') + 1;

		if (CHECK(read_case(a, paths.list.data[i], &c)) &&
		    CHECK(strncmp(name, c.pass, strlen(c.pass)) == 0)) {
			vec_push(a, &out->list, c);
		} else {
			fprintf(stderr, "^ %s\n", paths.list.data[i]);
		}
	}
}

/* Each pass: a graph that it changes, and one that it leaves or refuses. */
static void
check_complete(const struct graph_cases *cases)
{
	int n;
	const struct graph_pass *passes = graph_passes(&n);

	for (int i = 0; i < n; i++) {
		bool changes = false, leaves = false;

		for (int k = 0; k < cases->list.n; k++) {
			const struct graph_case *c = &cases->list.data[k];

			if (strcmp(c->pass, passes[i].name) == 0) {
				changes |= c->after != NULL;
				leaves |= c->unchanged || c->refused;
			}
		}
		if (!CHECK(changes) || !CHECK(leaves)) {
			fprintf(stderr, "%s lacks a case\n", passes[i].name);
		}
	}
}

int
main(int argc, char **argv)
{
	struct arena a;
	struct graph_cases cases = { 0 };
	const char *only = getenv("CASE"); /* part of a file's name */

	if (argc != 2) {
		fprintf(stderr, "usage: %s cases\n", argv[0]);
		return 2;
	}
	arena_init(&a);
	read_cases(&a, argv[1], &cases);
	CHECK(cases.list.n > 0);
	for (int i = 0; i < cases.list.n; i++) {
		if (!only || strstr(cases.list.data[i].path, only)) {
			check_case(&a, &cases.list.data[i],
				   getenv("REGEN") != NULL);
		}
	}
	if (!only) {
		check_complete(&cases);
	}
	arena_release(&a);
	return check_done();
}
