/* SPDX-License-Identifier: Apache-2.0 */
/* The results of a program: its functions, and the text that it prints. */
#include "objects.h"

void
remember_func(struct eval *ev, const struct program_func *f)
{
	for (int i = 0; i < ev->result->funcs.n; i++) {
		if (ev->result->funcs.data[i].func == f->func) {
			/* The function is already in the list: tvm.lower added
			 * it, and now its name is added. */
			return;
		}
	}
	vec_push(ev->a, &ev->result->funcs, *f);
}

bool
print_bytes(struct eval *ev, struct py_span at, const char *text, size_t n)
{
	const struct diag_place place = { .file = ev->src->name,
					  .line = at.line,
					  .col = at.col };

	ev->result->printed = true;
	ev->result->printed_bytes += (int64_t)n;
	if (!quota_check_output(ev->m, place, "the program's output",
				ev->result->printed_bytes)) {
		return false;
	}
	if (ev->o->print && n > 0) {
		ev->o->print(ev->o->ctx, text, n);
	}
	return eval_tick(ev, at, (int64_t)n / 8 + 1);
}

bool
print_text(struct eval *ev, struct py_span at, const char *text)
{
	return print_bytes(ev, at, text, strlen(text));
}

bool
value_script(struct call *c, struct pval *out)
{
	const char *name = c->row->name;
	bool prints = strcmp(name, "show") == 0 || strcmp(name, "summary") == 0;
	struct strbuf s;
	bool ok;

	strbuf_init(&s);
	ok = object_text(c->ev, c->span, &c->self, false, &s);
	if (ok && prints) {
		strbuf_putc(&s, '\n');
		ok = print_text(c->ev, c->span, s.data);
	} else if (ok) {
		*out = pv_text_n(c->ev, s.data, s.len);
		ok = eval_tick_bytes(c->ev, c->span, s.len);
	}
	strbuf_release(&s);
	return ok;
}
