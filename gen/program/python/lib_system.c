/* SPDX-License-Identifier: Apache-2.0 */
/* Functions of os, sys, time and timeit that use no files: programs do not read
 * or write files, and the environment is empty. */
#include <time.h>

#include "python_parts.h"

/* os.path.join(a, b, …): an absolute part removes the parts before it. */
bool
path_join(struct call *c, struct pval *out)
{
	const struct pv_list *parts = c->args[0].u.list;
	struct strbuf s;

	strbuf_init(&s);
	for (int i = 0; i < parts->n; i++) {
		const struct pval *one = &parts->data[i];

		if (one->kind != PV_STRING) {
			strbuf_release(&s);
			return call_error(c, 0, "a path is a str, not %s",
					  pv_kind_name(one->kind));
		}
		if (one->u.text.n > 0 && one->u.text.data[0] == '/') {
			strbuf_release(&s);
			strbuf_init(&s);
		} else if (s.len > 0 && s.data[s.len - 1] != '/') {
			strbuf_putc(&s, '/');
		}
		strbuf_write(&s, one->u.text.data, one->u.text.n);
	}
	*out = pv_text_n(c->ev, s.data, s.len);
	strbuf_release(&s);
	return eval_tick_bytes(c->ev, c->span, out->u.text.n);
}

/* Implements os.path.basename and os.path.dirname. */
bool
path_part(struct call *c, struct pval *out)
{
	const char *path, *slash;
	size_t n;

	if (!arg_text(c, 0, &path)) {
		return false;
	}
	slash = strrchr(path, '/');
	if (c->row->name[0] == 'b') {
		*out = pv_string(c->ev, slash ? slash + 1 : path);
	} else {
		n = slash ? (size_t)(slash - path) : 0;
		*out = pv_text_n(c->ev, path, slash == path ? 1 : n);
	}
	return eval_tick_bytes(c->ev, c->span, strlen(path));
}

/* os.path.abspath and the like: return the path unchanged, so that a program
 * does not depend on the folder in which tirc runs. */
bool
path_same(struct call *c, struct pval *out)
{
	const char *path;

	*out = c->args[0];
	return arg_text(c, 0, &path);
}

/* os.path.exists and the like: false, because programs have no files. */
bool
path_exists(struct call *c, struct pval *out)
{
	const char *path;

	*out = pv_bool(false);
	return arg_text(c, 0, &path);
}

bool
os_cwd(struct call *c, struct pval *out)
{
	*out = pv_string(c->ev, ".");
	return true;
}

bool
os_environ(struct call *c, struct pval *out)
{
	*out = pv_dict_new(c->ev);
	return true;
}

bool
os_getenv(struct call *c, struct pval *out)
{
	const char *name;

	*out = arg_missing(c, 1) ? pv_none() : c->args[1];
	return arg_text(c, 0, &name);
}

bool
sys_argv(struct call *c, struct pval *out)
{
	struct pval name = pv_string(c->ev, c->ev->src->name);

	*out = pv_list_of(c->ev, PV_LIST, &name, 1);
	return true;
}

/* sys.version_info: the version of Python whose grammar tirc reads. */
bool
sys_version(struct call *c, struct pval *out)
{
	struct pval parts[3] = { pv_int(3), pv_int(11), pv_int(0) };

	*out = pv_list_of(c->ev, PV_TUPLE, parts, 3);
	return true;
}

/* time.time() and the like: the seconds of a clock that never goes back. */
bool
time_now(struct call *c, struct pval *out)
{
	struct timespec now;

	(void)c;
	clock_gettime(CLOCK_MONOTONIC, &now);
	*out = pv_float((double)now.tv_sec + (double)now.tv_nsec * 1e-9);
	return true;
}

/* time.sleep() does nothing, because a program never has to wait. */
bool
time_sleep(struct call *c, struct pval *out)
{
	(void)c;
	(void)out;
	return true;
}

/* timeit.timeit(f, number=n): the seconds of n calls of f. timeit.repeat(f,
 * number=n, repeat=r): a list of r such times. For each time, f is called once
 * and its duration is multiplied by n. */
bool
timeit_run(struct call *c, struct pval *out)
{
	struct eval *ev = c->ev;
	int64_t number = 1000000, repeat = 5;
	bool list = c->row->name[0] == 'r';
	struct pval unused, before, after;

	if ((arg_given(c, 3) && !arg_int(c, 3, 0, INT32_MAX, &number)) ||
	    (list && arg_given(c, 4) && !arg_int(c, 4, 1, 1000, &repeat))) {
		return false;
	}
	if (c->args[0].kind == PV_STRING) {
		return call_error(c, 0,
				  "a text is not run; give a function or a "
				  "lambda");
	}
	*out = pv_list_of(ev, PV_LIST, NULL, 0);
	for (int64_t i = 0; i < (list ? repeat : 1); i++) {
		if (!time_now(c, &before) ||
		    !eval_apply(ev, c->spans[0], &c->args[0], NULL, 0,
				&unused) ||
		    !time_now(c, &after)) {
			return false;
		}
		vec_push(ev->a, out->u.list,
			 pv_float((after.u.fval - before.u.fval) *
				  (double)number));
	}
	if (!list) {
		*out = out->u.list->data[0];
	}
	return true;
}
