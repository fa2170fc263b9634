/* SPDX-License-Identifier: Apache-2.0 */
/* Looks up the names of the libraries: modules, functions, methods and
 * attributes. */
#include "library.h"
#include "library_text.h"
#include "objects.h"

static bool
is_in(const struct name_row *row, uint64_t in, enum pv_kind kind)
{
	return in ? names_share(row->in, in) : !row->in && row->of == kind;
}

/* The dotted paths of the modules. The own path of a module comes before its
 * aliases. */
static const struct {
	const char *path;
	int bit;
} paths[] = {
#define NAMES(id, path) { path, NAMES_##id##_BIT },
#define ALIAS(id, path)
#include "modules.def"
#undef NAMES
#undef ALIAS
#define NAMES(id, path)
#define ALIAS(id, path) { path, NAMES_##id##_BIT },
#include "modules.def"
#undef NAMES
#undef ALIAS
};

enum { N_PATHS = sizeof paths / sizeof *paths };

/* Is this a name of modules that only the texts of libraries may use? */
static bool
is_hidden(const struct eval *ev, uint64_t in, const char *name)
{
	return in && name[0] == '_' && name[1] != '_' &&
	       !library_is_text(ev->src);
}

/* The row of a name in the libraries' tables: in the modules whose bits are in
 * `in`, or, if `in` is 0, of a kind of values. NULL if no table has the
 * name. */
static const struct name_row *
names_find(struct eval *ev, uint64_t in, enum pv_kind kind, const char *name)
{
	const struct name_row *row = NULL;

	if (is_hidden(ev, in, name)) {
		return NULL;
	}
	for (int i = 0; i < ev->libraries->n; i++) {
		const struct library *l = ev->libraries->list[i];

		for (int k = 0; k < l->n_rows; k++) {
			if (is_in(&l->rows[k], in, kind) &&
			    strcmp(l->rows[k].name, name) == 0) {
				return &l->rows[k];
			}
		}
	}
	for (int i = 0; !row && i < ev->libraries->n; i++) {
		const struct library *l = ev->libraries->list[i];

		row = l->find ? l->find(ev, in, kind, name) : NULL;
	}
	return row;
}

const struct name_row *
names_in(struct eval *ev, uint64_t in, const char *name)
{
	return names_find(ev, in, PV_MISSING, name);
}

const struct name_row *
names_of(struct eval *ev, enum pv_kind kind, const char *name)
{
	return names_find(ev, 0, kind, name);
}

bool
call_namesake(struct call *c, uint64_t in, struct pval *out)
{
	return names_in(c->ev, in, c->row->name)->fn(c, out);
}

bool
name_only(struct call *c, struct pval *out)
{
	(void)out;
	return call_error(c, -1,
			  "%s cannot be called here; it is a name for "
			  "isinstance and annotations",
			  c->row->name);
}

/* The bit of the module with a dotted path such as "tvm.te"; 0 if there is no
 * such module. */
static uint64_t
names_module(const char *path)
{
	for (int i = 0; i < N_PATHS; i++) {
		if (strcmp(paths[i].path, path) == 0) {
			return NAMES_BIT(paths[i].bit);
		}
	}
	return 0;
}

static const char *
names_path(uint64_t in)
{
	for (int i = 0; i < NAMES_COUNT; i++) {
		if (names_share(in, NAMES_BIT(i))) {
			return paths[i].path;
		}
	}
	return "";
}

static const char *const *
names_paths(struct arena *a, int *n)
{
	const char **list = arena_array(a, const char *, NAMES_COUNT);

	*n = 0;
	for (int i = 1; i < NAMES_COUNT; i++) {
		list[(*n)++] = paths[i].path;
	}
	return list;
}

/* The bit of the module `name` within the module `in`, such as "te" in "tvm"; 0
 * if there is no such module. */
static uint64_t
submodule(struct arena *a, uint64_t in, const char *name)
{
	return names_module(arena_printf(a, "%s.%s", names_path(in), name));
}

const char *const *
names_list(struct eval *ev, uint64_t in, enum pv_kind kind, int *n)
{
	struct pv_names list = { 0 };

	for (int i = 0; i < ev->libraries->n; i++) {
		const struct library *l = ev->libraries->list[i];

		for (int k = 0; k < l->n_rows; k++) {
			if (is_in(&l->rows[k], in, kind) &&
			    !is_hidden(ev, in, l->rows[k].name)) {
				vec_push(ev->a, &list, l->rows[k].name);
			}
		}
	}
	for (int i = 0; in && i < N_PATHS; i++) {
		const char *path = names_path(in);
		size_t length = strlen(path);

		const char *one = paths[i].path;

		if (strncmp(one, path, length) == 0 && one[length] == '.' &&
		    strchr(one + length + 1, '.') == NULL) {
			vec_push(ev->a, &list, one + length + 1);
		}
	}
	for (int i = 0; i < ev->libraries->n; i++) {
		const struct library *l = ev->libraries->list[i];

		if (l->list) {
			l->list(ev, in, kind, &list);
		}
	}
	*n = list.n;
	return list.data;
}

bool
module_attribute(struct eval *ev, struct py_span at, uint64_t in,
		 const char *name, struct pval *out)
{
	const struct name_row *row = names_in(ev, in, name);
	uint64_t inner = submodule(ev->a, in, name);

	if (!row && !inner && names_share(in, IN_SCRIPT_TIR)) {
		/* TVMScript's T has the functions of tir, too */
		row = names_in(ev, IN_TIR, name);
	}
	const char *const *known;
	const char *elsewhere;
	int n;

	if (row && !row->params) {
		struct call c = { .ev = ev, .row = row, .span = at };

		return row->fn(&c, out);
	}
	if (row) {
		*out = (struct pval){ .kind = PV_BUILTIN, .u.row = row };
		return true;
	}
	if (inner) {
		*out = (struct pval){ .kind = PV_NAMESPACE, .u.names = inner };
		return true;
	}
	known = names_list(ev, in, PV_MISSING, &n);
	elsewhere = py_suggest(ev->a, name, known, n);
	if (elsewhere[0] == '\0') {
		row = names_in(ev,
			       IN_TVM | IN_TE | IN_TIR | IN_TARGET | IN_SCRIPT,
			       name);
		if (row) {
			elsewhere = arena_printf(ev->a, "; there is %s.%s",
						 names_path(row->in), name);
		}
	}
	return eval_error(ev, at, "%s has no %s%s", names_path(in), name,
			  elsewhere);
}

bool
names_left_out(const char *name)
{
	static const char *const builtins[] = {
		"bytearray",  "bytes",      "callable", "compile", "delattr",
		"dir",        "eval",       "exec",     "filter",  "frozenset",
		"globals",    "hash",       "help",     "id",      "input",
		"isinstance", "issubclass", "locals",   "map",     "memoryview",
		"open",       "repr",       "slice",    "set",     "vars",
	};

	for (size_t i = 0; i < sizeof builtins / sizeof *builtins; i++) {
		if (strcmp(name, builtins[i]) == 0) {
			return true;
		}
	}
	return false;
}

bool
find_function(struct eval *ev, struct py_span at, const struct pval *name,
	      const char *const *names, int n, int *out)
{
	if (name->kind != PV_STRING) {
		return eval_error(ev, at,
				  "functions of a module have names, "
				  "not %s",
				  pv_kind_name(name->kind));
	}
	for (int i = 0; i < n; i++) {
		if (strcmp(names[i], name->u.text.data) == 0) {
			*out = i;
			return true;
		}
	}
	return eval_error(ev, at, "the module has no function %s%s",
			  name->u.text.data,
			  py_suggest(ev->a, name->u.text.data, names, n));
}

/* -- imports -- */

bool
names_absent(struct eval *ev, struct py_span at, const char *path)
{
	int n;
	const char *const *known = names_paths(ev->a, &n);
	const char *near = text_nearest(path, known, n);
	const char *dot = strrchr(path, '.');
	uint64_t in = dot ? names_module(arena_strndup(ev->a, path,
						       (size_t)(dot - path)))
			  : 0;
	struct pval unused;

	if (in) {
		/* the parent module exists, but does not have this name; the
		 * error lists the names that it has */
		return module_attribute(ev, at, in, dot + 1, &unused);
	}
	if (near != NULL) {
		return eval_error(ev, at,
				  "there is no module %s; did you mean %s?",
				  path, near);
	}
	if (absent_may_be_left_out(path)) {
		return eval_error(
			ev, at,
			"this needs %s, which tirc does not have; put it "
			"into a function that the program does not call",
			path);
	}
	return eval_error(ev, at,
			  "there is no module %s: tirc reads programs itself, "
			  "without Python; docs/from-tvm.md tells what it has",
			  path);
}

/* Binds the name to an absent value, because the imported module is one that
 * tirc does not have. It is no error to import a module that the program does
 * not use. */
static bool
import_absent(struct eval *ev, struct scope *s, struct py_span at,
	      const char *name, const char *path)
{
	struct pval v = { .kind = PV_ABSENT, .u.path = path };

	if (ev->catches_imports > 0) {
		return eval_raise(ev, at, "ModuleNotFoundError",
				  "No module named '%s'", path);
	}
	eval_scope_set(ev, s, name, &v);
	return true;
}

static bool
import_whole(struct eval *ev, struct scope *s, const struct py_import *one)
{
	const char *dot = strchr(one->path, '.');
	struct pval v = { .kind = PV_NAMESPACE };
	const char *name = one->name;

	v.u.names = names_module(one->path);
	if (!name) {
		name = dot ? arena_strndup(ev->a, one->path,
					   (size_t)(dot - one->path))
			   : one->path;
		v.u.names = names_module(name);
	}
	if (!v.u.names) {
		return import_absent(ev, s, one->span, name, one->path);
	}
	eval_scope_set(ev, s, name, &v);
	return true;
}

/* Executes `from path import one`. If the module has no such name, the name
 * becomes absent, which is an error only where the program uses it. */
static bool
import_one(struct eval *ev, struct scope *s, uint64_t in, const char *path,
	   const struct py_import *one)
{
	int errors = ev->m->diags.list.n;
	struct pval v;

	if (!module_attribute(ev, one->span, in, one->path, &v)) {
		if (ev->fatal) {
			return false;
		}
		diags_drop_errors(&ev->m->diags, errors, DIAG_COUNT);
		return import_absent(ev, s, one->span, one->name,
				     arena_printf(ev->a, "%s.%s", path,
						  one->path));
	}
	eval_scope_set(ev, s, one->name, &v);
	return true;
}

bool
eval_import(struct eval *ev, struct scope *s, const struct py_node *e)
{
	uint64_t in;

	if (!e->text) {
		for (int i = 0; i < e->n_names; i++) {
			if (!import_whole(ev, s, &e->names[i])) {
				return false;
			}
		}
		return true;
	}
	in = names_module(e->text);
	if (!in) {
		for (int i = 0; i < e->n_names; i++) {
			if (!e->names[i].name) {
				return names_absent(ev, e->span, e->text);
			}
			if (!import_absent(ev, s, e->span, e->names[i].name,
					   e->text)) {
				return false;
			}
		}
		return true;
	}
	if (names_share(in, IN_ANNOTATIONS | IN_TYPING)) {
		struct pval none = pv_none();

		for (int i = 0; i < e->n_names; i++) {
			if (e->names[i].name) {
				eval_scope_set(ev, s, e->names[i].name, &none);
			}
		}
		return true;
	}
	for (int i = 0; i < e->n_names; i++) {
		const struct py_import *one = &e->names[i];

		if (!one->name) {
			return eval_error(ev, one->span,
					  "import * is not "
					  "read; name what is used");
		}
		if (!import_one(ev, s, in, e->text, one)) {
			return false;
		}
	}
	return true;
}
