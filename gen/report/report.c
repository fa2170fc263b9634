/* SPDX-License-Identifier: Apache-2.0 */
/* A report: facts of the passes, rows, and a template that prints them. */
#include "report.h"

#include "host_device.h"
#include "picture.h"
#include "templates.h"

static const char *const templates[] = {
	[REPORT_HTML] = "report/report.html",
	[REPORT_MARKDOWN] = "report/report.md",
};

/* Collects the facts of the functions of kernel i; on a device, of the
 * functions that the kernel launches. */
static void
collect_kernel(struct reporting *r, int i)
{
	const struct kernel *k = r->p->kernels.data[i];
	int n = k->device != NULL ? k->device->n_launches : 1;

	if (k->owner != k || k->group->region != NULL) {
		return;
	}
	r->n_facts[i] = n;
	r->facts[i] = arena_array(r->a, struct func_facts *, n + 1);
	for (int f = 0; f < n; f++) {
		r->facts[i][f] =
			func_facts_of(r->request,
				      k->device != NULL
					      ? k->device->launches[f].kernel
					      : k->func);
	}
}

static void
collect(struct reporting *r)
{
	int n = r->p->kernels.n;

	r->facts = arena_array(r->a, struct func_facts **, n + 1);
	r->n_facts = arena_array(r->a, int, n + 1);
	for (int i = 0; i < n; i++) {
		collect_kernel(r, i);
	}
	r->entry = func_facts_of(r->request, r->p->entry);
}

static const char *
render(struct reporting *r)
{
	const char *path = templates[r->request->form];
	const struct template_file *file = template_find(path);
	const char *text = NULL;
	struct strbuf s;

	strbuf_init(&s);
	if (template_render(&r->m->diags, path, NULL, (const char *)file->bytes,
			    r->data, &s)) {
		text = arena_strndup(r->a, s.data, s.len);
	}
	strbuf_release(&s);
	return text;
}

const char *
report_text(const struct report_request *request)
{
	struct reporting r = {
		.request = request,
		.p = request->program,
		.g = request->program->graph,
		.m = request->program->graph->module,
	};

	r.a = &r.m->arena;
	r.data = tdata_new(r.a);
	if (!package_finish(request->program, request->package, &r.finished)) {
		return NULL;
	}
	collect(&r);
	add_head(&r);
	add_nodes(&r);
	add_graph_picture(&r);
	if (!add_functions(&r)) {
		return NULL;
	}
	add_memory(&r);
	add_memory_picture(&r);
	add_contract(&r);
	add_compliance_rows(&r);
	add_sources(&r);
	return render(&r);
}
