/* SPDX-License-Identifier: Apache-2.0 */
/* Statements that need an absent value: a value that tirc does not have,
 * because it comes from a module such as torch, or because the interpreter
 * cannot compute it in the time that a program gets. Such a statement does not
 * run; the names that it assigns become absent, too, and a note tells the user
 * which statement was the first. If control flow depends on an absent value,
 * that is an error. */
#include "eval.h"

bool
absent_may_be_left_out(const char *path)
{
	size_t n = strcspn(path, ".");

	return (n != 3 || strncmp(path, "tvm", n) != 0) &&
	       (n != 4 || strncmp(path, "nnvm", n) != 0);
}

/* If the expression e is a name with an absent value, and statements that need
 * this value may be left out: the path of that value; else NULL. */
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

/* Is e the name of a module of TVM that tirc does not have? A statement that
 * reads this module is an error, because TVM's modules build the functions that
 * the user wants. */
static bool
is_needed(struct eval *ev, struct scope *s, const struct py_node *e)
{
	const struct pval *found = e->kind == PY_NAME
					   ? eval_scope_find(ev, s, e->text)
					   : NULL;

	return found && found->kind == PV_ABSENT &&
	       !absent_may_be_left_out(found->u.path);
}

/* The path of the first absent value that e or an expression below it reads, if
 * the statement may be left out; else NULL. If a module of TVM that tirc does
 * not have is read, sets *needed and returns NULL. */
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

/* Marks each name in `target`, to which a left-out statement assigns, as
 * absent. Returns false for any other target, an element or an attribute,
 * because later statements would read its old value. */
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

/* May a statement of this kind be left out? Only a statement that computes,
 * assigns or returns a value may be left out; control flow may not. */
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

/* Is the statement an assert, or a call of a function that is named so? */
static bool
is_assert(const struct py_node *e)
{
	const struct py_node *f = e->kind == PY_EXPRESSION ? e->kids[0] : NULL;

	f = f != NULL && f->kind == PY_CALL ? f->kids[0] : NULL;
	return e->kind == PY_ASSERT ||
	       (f != NULL && (f->kind == PY_NAME || f->kind == PY_ATTRIBUTE) &&
		strncmp(f->text, "assert", strlen("assert")) == 0);
}

/* Leaves the statement out: counts it, and makes the names that it assigns
 * absent. Returns false if it assigns to elements or attributes, because later
 * statements would read their old values. */
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
	ev->result->unchecked += is_assert(e);
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

/* Moves the last diagnostic to the place before the first error among the
 * diagnostics from index `first` on. */
static void
move_before_errors(struct diags *d, int first)
{
	struct diag last = d->list.data[d->list.n - 1];
	int at = first;

	while (d->list.data[at].severity != DIAG_ERROR && at < d->list.n - 1) {
		at++;
	}
	memmove(&d->list.data[at + 1], &d->list.data[at],
		sizeof last * (size_t)(d->list.n - 1 - at));
	d->list.data[at] = last;
}

void
absent_note(struct eval *ev, const char *file, int first)
{
	struct diag_place place = { .file = file,
				    .line = ev->absent_at.line,
				    .col = ev->absent_at.col };
	int asserts = ev->result->unchecked;

	if (ev->n_absent == 0) {
		return;
	}
	/* without functions tirc test and run have nothing to call */
	diag_note(&ev->m->diags, DIAG_ASSUMPTION, place,
		  "%s: from here on, %d statement%s did not run%s%s%s",
		  ev->absent, ev->n_absent, ev->n_absent == 1 ? "" : "s",
		  asserts > 0 ? arena_printf(ev->a,
					     ", so that %d assert%s of the "
					     "program %s not checked",
					     asserts, asserts == 1 ? "" : "s",
					     asserts == 1 ? "is" : "are")
			      : "",
		  ev->result->funcs.n > 0
			  ? "; tirc test compares the results of functions, "
			    "tirc run times them"
			  : "",
		  ev->gave_up ? "; smaller arrays take less, and tirc lower "
				"--execute runs each call to its end"
			      : "");
	move_before_errors(&ev->m->diags, first);
}
