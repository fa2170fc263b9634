/* SPDX-License-Identifier: Apache-2.0 */
/* Statements that need a value which tirc does not have: of modules such as torch, or
 * the results of functions that the interpreter cannot run in the time of a program.
 * They do not run, the names that they assign are absent as well, and a note tells
 * which was the first. Where control flow needs an absent value, that is an error. */
#include "eval.h"

bool
absent_may_be_left_out(const char *path)
{
	size_t n = strcspn(path, ".");

	return (n != 3 || strncmp(path, "tvm", n) != 0) &&
	       (n != 4 || strncmp(path, "nnvm", n) != 0);
}

/* The name of the absent value that the expression e is, if statements with it may be
 * left out; else NULL. */
static const char *
absent_name(struct eval *ev, struct scope *s, const struct py_node *e)
{
	const struct pval *found = e->kind == PY_NAME
					   ? eval_scope_find(ev, s, e->text)
					   : NULL;

	return found && found->kind == PV_ABSENT &&
			       absent_may_be_left_out(found->u.path)
		       ? found->u.path
		       : NULL;
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

	if (e == NULL) {
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

/* Does the statement e compute and assign, and decide nothing? */
static bool
may_be_left_out(const struct py_node *e)
{
	switch (e->kind) {
	case PY_EXPRESSION:
	case PY_ASSIGN:
	case PY_AUGMENTED:
	case PY_ASSERT:
	case PY_RETURN:
		return true;
	default:
		return false;
	}
}

/* Counts the statement as not run. False if it assigns to elements or attributes,
 * which later statements would read as they were. */
static bool
leave_out(struct eval *ev, struct scope *s, const struct py_node *e,
	  const char *name)
{
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

bool
absent_statement(struct eval *ev, struct scope *s, const struct py_node *e)
{
	bool needed = false;
	const char *name = may_be_left_out(e) ? absent_in(ev, s, e, &needed)
					      : NULL;

	return name != NULL && leave_out(ev, s, e, name);
}

bool
eval_leave_out(struct eval *ev, const char *what)
{
	ev->left_out = what;
	return false;
}

bool
absent_left_out(struct eval *ev, struct scope *s, const struct py_node *e)
{
	const char *what = ev->left_out;

	if (what == NULL) {
		return false;
	}
	ev->left_out = NULL;
	return (may_be_left_out(e) && leave_out(ev, s, e, what)) ||
	       eval_error(ev, e->span,
			  "this needs %s, which is not known; put it into a "
			  "function that the program does not call",
			  what);
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
		  "%s: from here on, %d statement%s did not run; tirc test "
		  "compares the results of functions, tirc run times them",
		  ev->absent, ev->n_absent, ev->n_absent == 1 ? "" : "s");
}
