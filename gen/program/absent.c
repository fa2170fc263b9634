/* SPDX-License-Identifier: Apache-2.0 */
/* Statements that need modules beside TVM, such as numpy, or TVM's arrays and
 * devices. Programs call the functions that they have built on arrays; tirc computes
 * no arrays here. So these statements do not run, the names that they assign are
 * absent as well, and a note tells which was the first. Where control flow needs an
 * absent value, that is an error (names_absent). */
#include "eval.h"
#include "program_parts.h"

/* The attributes of tvm whose values are arrays and devices. */
static const char *const array_names[] = {
#define ARRAYS(name) #name,
#include "array_names.def"
#undef ARRAYS
};

/* Is the attribute one of tvm's arrays and devices? */
static bool
is_array_name(const char *attribute)
{
	for (size_t i = 0; i < sizeof array_names / sizeof *array_names; i++) {
		if (strcmp(array_names[i], attribute) == 0) {
			return true;
		}
	}
	return false;
}

bool
absent_may_be_left_out(const char *path)
{
	size_t n = strcspn(path, ".");

	if (n == 4 && strncmp(path, "nnvm", n) == 0) {
		return false;
	}
	return n != 3 || strncmp(path, "tvm", n) != 0 ||
	       (path[n] == '.' && is_array_name(path + n + 1));
}

/* The dotted name of what e names, if that is absent and may be left out: a module
 * or, of tvm, an attribute. Else NULL. */
static const char *
absent_name(struct eval *ev, struct scope *s, const struct py_node *e)
{
	const struct pval *found;

	if (e->kind == PY_NAME) {
		found = eval_scope_find(ev, s, e->text);
		return found && found->kind == PV_ABSENT &&
				       absent_may_be_left_out(found->u.path)
			       ? found->u.path
			       : NULL;
	}
	if (e->kind != PY_ATTRIBUTE || e->kids[0]->kind != PY_NAME) {
		return NULL;
	}
	found = eval_scope_find(ev, s, e->kids[0]->text);
	return found && found->kind == PV_NAMESPACE &&
			       (found->u.names & IN_TVM) &&
			       is_array_name(e->text)
		       ? arena_printf(ev->a, "tvm.%s", e->text)
		       : NULL;
}

/* Is e the name of a type in numpy, such as np.float32? */
static bool
is_numpy_type(struct eval *ev, struct scope *s, const struct py_node *e)
{
	struct dtype type;
	const char *module;

	if (e->kind != PY_ATTRIBUTE || e->kids[0]->kind != PY_NAME) {
		return false;
	}
	module = absent_name(ev, s, e->kids[0]);
	return module != NULL && strcmp(module, "numpy") == 0 &&
	       dtype_from_name(e->text, &type);
}

const char *
absent_type(struct eval *ev, struct scope *s, const struct py_node *e)
{
	return is_numpy_type(ev, s, e) ? e->text : NULL;
}

/* Does e read a module of TVM that tirc does not have? */
static bool
is_needed(struct eval *ev, struct scope *s, const struct py_node *e)
{
	const struct pval *found = e->kind == PY_NAME
					   ? eval_scope_find(ev, s, e->text)
					   : NULL;

	return found && found->kind == PV_ABSENT &&
	       !absent_may_be_left_out(found->u.path);
}

/* The dotted name of the first absent thing at or below e, for which the statement
 * may be left out; NULL if there is none, or if e also reads a module of TVM that
 * tirc does not have: then *needed is set. */
static const char *
absent_in(struct eval *ev, struct scope *s, const struct py_node *e,
	  bool *needed)
{
	const char *name;

	if (e == NULL || is_numpy_type(ev, s, e)) {
		return NULL;
	}
	*needed |= is_needed(ev, s, e);
	name = absent_name(ev, s, e);
	for (int i = 0; i < e->n_kids; i++) {
		const char *below = absent_in(ev, s, e->kids[i], needed);

		name = name != NULL ? name : below;
	}
	return *needed ? NULL : name;
}

/* Makes the names that the statement assigns absent. False for other targets,
 * whose elements or attributes later statements would read as they were. */
static bool
make_absent(struct eval *ev, struct scope *s, const struct py_node *target,
	    const char *name)
{
	struct pval v = { .kind = PV_ABSENT, .u.path = name };

	if (target->kind == PY_NAME) {
		eval_scope_set(ev, s, target->text, &v);
		return true;
	}
	if (target->kind == PY_STAR) {
		return make_absent(ev, s, target->kids[0], name);
	}
	if (target->kind != PY_TUPLE && target->kind != PY_LIST) {
		return false;
	}
	for (int i = 0; i < target->n_kids; i++) {
		if (!make_absent(ev, s, target->kids[i], name)) {
			return false;
		}
	}
	return true;
}

bool
absent_statement(struct eval *ev, struct scope *s, const struct py_node *e)
{
	const char *name = NULL;
	bool needed = false;

	switch (e->kind) {
	case PY_EXPRESSION:
	case PY_ASSIGN:
	case PY_AUGMENTED:
	case PY_ASSERT:
	case PY_RETURN:
		name = absent_in(ev, s, e, &needed);
		break;
	default:
		break;
	}
	if (name == NULL) {
		return false;
	}
	if (e->kind == PY_ASSIGN || e->kind == PY_AUGMENTED) {
		for (int i = 0; i < e->n_kids - 1; i++) {
			if (!make_absent(ev, s, e->kids[i], name)) {
				return false;
			}
		}
	}
	if (ev->n_absent++ == 0) {
		ev->absent_at = e->span;
		ev->absent = name;
	}
	return true;
}

void
absent_note(struct eval *ev, const char *file)
{
	struct diag_place place = { .file = file,
				    .line = ev->absent_at.line,
				    .col = ev->absent_at.col };

	if (ev->n_absent == 0) {
		return;
	}
	diag_note(&ev->m->diags, DIAG_ASSUMPTION, place,
		  "%s: from here on, %d statement%s did not run; tirc builds "
		  "functions and computes no arrays: tirc test compares their "
		  "results, tirc run times them",
		  ev->absent, ev->n_absent, ev->n_absent == 1 ? "" : "s");
}
