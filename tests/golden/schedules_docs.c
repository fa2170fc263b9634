/* SPDX-License-Identifier: Apache-2.0 */
/* docs/reference/schedules.md: every primitive with its parameters and, from the
 * cases, what it does and what it refuses. */
#include "schedules.h"

static void
put_initial(const struct sched_param *p, struct strbuf *out)
{
	switch (p->initial.kind) {
	case SV_INT:
		strbuf_printf(out, "=%lld", (long long)p->initial.u.ival);
		break;
	case SV_BOOL:
		strbuf_puts(out, p->initial.u.ival ? "=True" : "=False");
		break;
	case SV_STRING:
		strbuf_printf(out, "=\"%s\"", p->initial.u.text);
		break;
	default:
		strbuf_puts(out, "=None");
	}
}

static void
put_signature(const struct primitive *p, struct strbuf *out)
{
	strbuf_printf(out, "`sch.%s(", p->name);
	for (int i = 0; i < p->n_params; i++) {
		const struct sched_param *param = &p->params[i];

		strbuf_printf(out, "%s%s%s", i ? ", " : "",
			      param->role == PARAM_STAR ? "*" : "",
			      param->name);
		if (param->optional) {
			put_initial(param, out);
		}
	}
	strbuf_printf(out, ")`, in traces `%s`\n\n", p->kind);
}

static void
put_code(const char *text, struct strbuf *out)
{
	strbuf_printf(out, "```python\n%s```\n\n", text);
}

static void
put_cases(const struct primitive *p, const struct schedule_cases *cases,
	  struct strbuf *out)
{
	const char *shown = "";
	bool any = false;

	for (int i = 0; i < cases->list.n; i++) {
		const struct schedule_case *c = &cases->list.data[i];

		if (strcmp(c->primitive, p->name) != 0 || !c->after) {
			continue;
		}
		strbuf_printf(out, "### %c%s\n\n",
			      c->title[0] >= 'a' && c->title[0] <= 'z'
				      ? c->title[0] - 'a' + 'A'
				      : c->title[0],
			      c->title + 1);
		if (c->intrinsic) {
			put_code(c->intrinsic, out);
		}
		if (strcmp(shown, c->before) != 0) {
			put_code(c->before, out);
			shown = c->before;
		}
		put_code(c->steps, out);
		put_code(c->after, out);
	}
	for (int i = 0; i < cases->list.n; i++) {
		const struct schedule_case *c = &cases->list.data[i];

		if (strcmp(c->primitive, p->name) != 0 || !c->refused) {
			continue;
		}
		if (!any) {
			strbuf_puts(out, "Refused:\n\n");
			any = true;
		}
		strbuf_printf(out, "- %s: %.*s\n", c->title,
			      (int)strcspn(c->refused, "\n"), c->refused);
	}
	strbuf_puts(out, any ? "\n" : "");
}

/* Both forms of the trace of one case. */
static void
put_traces(const struct schedule_cases *cases, struct strbuf *out)
{
	const struct schedule_case *c = NULL;

	for (int i = 0; i < cases->list.n && !c; i++) {
		if (strcmp(cases->list.data[i].primitive,
			   "sample_perfect_tile") == 0 &&
		    cases->list.data[i].json) {
			c = &cases->list.data[i];
		}
	}
	if (!c) {
		return;
	}
	strbuf_puts(out,
		    "## Traces\n\n"
		    "Every step is recorded with what it was given and what "
		    "it gave; a trace can be\nprinted, edited and applied "
		    "again, to the same function or to one with the same\n"
		    "blocks and loops. Queries whose results nothing uses are "
		    "not written. After\n\n");
	strbuf_printf(out, "```python\n%s```\n\n", c->steps);
	strbuf_puts(out, "the trace is, as Python,\n\n");
	strbuf_printf(out, "```python\n%s```\n\n", c->python);
	strbuf_puts(out, "and as JSON, in the form of TVM's `Trace.as_json`: "
			 "instructions with inputs,\nattributes and results, "
			 "then what was decided, by instruction:\n\n");
	strbuf_printf(out, "```json\n%s```\n\n", c->json);
	strbuf_puts(out,
		    "Both are read back, also as TVM writes them, with "
		    "`GetBlock` or `GetSBlock`. What\nTVM does not have, "
		    "`RenameLoop` and `RenameBuffer`, only names things: "
		    "without\nthem a trace means the same. `tirc lower "
		    "--from-onnx MODEL --kernel NAME\n--show-trace` prints "
		    "the schedule that a kernel of a model got, and `tirc "
		    "compile\nMODEL --schedule-for NAME=FILE` takes one, "
		    "`.py` or `.json`.\n\n"
		    "## Decisions\n\n"
		    "What the rules of the default schedules leave open is "
		    "in these traces, too: a\n`sample_categorical` with all "
		    "numbers that the same steps allow, and the one that\n"
		    "the rule chose as `decision`. That is the lanes and "
		    "the rows of register tiles, the\nsteps of dot products "
		    "that are unrolled, the lanes of windows and of sums, "
		    "the\ncolumns of scans, and on a device the threads of a "
		    "block or of a row and the\nelements of a thread. With "
		    "another candidate as the decision the trace is a "
		    "legal\nschedule with the same results but for the "
		    "rounding of sums in another order:\nthe test "
		    "`sched_rules` tries each. Which rule and which product "
		    "instruction is\ntaken is no such decision, as the steps "
		    "differ; `--explain-schedule NAME` says why\nit was "
		    "that rule.\n\n");
}

void
schedules_docs(struct arena *a, const struct schedule_cases *cases,
	       struct strbuf *out)
{
	int n;
	const struct primitive *list = sched_primitives(&n);

	(void)a;
	strbuf_puts(out,
		    "# Schedule primitives\n\n"
		    "For writers of schedules: each primitive, with the "
		    "program before and after.\n\n"
		    "Made from the cases in `tests/golden/schedules/` by "
		    "`REGEN=1 meson test schedules`;\nwhat is written here "
		    "is tested, and is edited there.\n\n"
		    "A schedule changes how a function computes, never what. "
		    "Each primitive checks\nthat; one that fails says which "
		    "step, what and why, and changes nothing. The\nsame "
		    "primitives are reached through C (`sched_apply`), through "
		    "Python, which may have\nloops and functions like a "
		    "program, and through a JSON trace, under the names\nthat "
		    "TVM gives them.\n\n"
		    "Two promises of a schedule cannot be checked: that values "
		    "stay the same in another\ntype (`unsafe_set_dtype`), and "
		    "that a layout gives each element a place of its own\n"
		    "(`assume_injective_transform` of `transform_layout`). "
		    "tirc tells of each in a note.\nA wrong promise changes "
		    "results, but no access leaves its array. The program "
		    "makes two more:\nthat the axes that it declares spatial "
		    "store each element in one iteration, and that the\n"
		    "implementation of a tensor intrinsic computes what its "
		    "description says.\n\n");
	for (int i = 0; i < n; i++) {
		strbuf_printf(out, "[%s](#%s)%s\n", list[i].name, list[i].name,
			      i + 1 < n ? "," : "\n");
	}
	put_traces(cases, out);
	for (int i = 0; i < n; i++) {
		strbuf_printf(out, "## %s\n\n%s\n\n", list[i].name,
			      list[i].what);
		put_signature(&list[i], out);
		put_cases(&list[i], cases, out);
	}
	out->data[--out->len] = '\0'; /* one line end at the end */
}
