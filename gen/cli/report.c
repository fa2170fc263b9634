/* SPDX-License-Identifier: Apache-2.0 */
/* Prints how a result compares with the expected one. */
#define _GNU_SOURCE
#include <string.h>

#include "compare.h"

static void
print_shape(const struct array *a)
{
	/* The last dimension of strings counts their bytes; it is not printed
	 * as a dimension. */
	int ndim = a->is_string ? a->ndim - 1 : a->ndim;

	say(stdout, "%s [", a->is_string ? "string" : dtype_name(a->type));
	for (int d = 0; d < ndim; d++) {
		say(stdout, "%s%lld", d > 0 ? "," : "", (long long)a->shape[d]);
	}
	say(stdout, "]");
	if (a->is_string) {
		say(stdout, " of up to %lld bytes", (long long)a->shape[ndim]);
	}
}

void
array_print(const struct array *a, int64_t i, int64_t bytes)
{
	union number v;

	if (bytes > 0) {
		const char *row = (const char *)a->data + i * bytes;

		say(stdout, "\"%.*s\"", (int)strnlen(row, (size_t)bytes), row);
		return;
	}
	v = number_load(a->type, a->data, (size_t)i);
	if (dtype_is_float(a->type)) {
		say(stdout, "%.*g", a->type.kind == DT_F64 ? 17 : 9, v.f);
	} else if (dtype_is_signed(a->type)) {
		say(stdout, "%lld", (long long)v.i);
	} else {
		say(stdout, "%llu", (unsigned long long)v.u);
	}
}

/* Prints the indices of element i in its dimensions: "[1,3]". */
static void
print_index(const struct array *a, int64_t i, int ndim)
{
	for (int d = 0; d < ndim; d++) {
		int64_t below = 1;

		for (int k = d + 1; k < ndim; k++) {
			below *= a->shape[k];
		}
		say(stdout, "%s%lld", d > 0 ? "," : "[",
		    (long long)(i / below % a->shape[d]));
	}
	say(stdout, ndim > 0 ? "]" : "[]");
}

static void
print_worst(const struct pair *x, const struct comparison *f)
{
	const struct array *want = x->want;
	int ndim = want->is_string ? want->ndim - 1 : want->ndim;
	int64_t bytes = want->is_string ? want->shape[ndim] : 0;

	say(stdout, ", worst at ");
	print_index(want, f->worst, ndim);
	say(stdout, ": ");
	array_print(x->got, f->worst, bytes);
	say(stdout, ", expected ");
	array_print(want, f->worst, bytes);
}

/* Prints a count of elements such as "; 3 elements are one step off". `one`:
 * the words after "1 element"; `more`: the words after a larger number, such as
 * "3 elements". */
static void
print_count(int64_t n, const char *one, const char *more)
{
	say(stdout, "; %lld element%s %s", (long long)n, n == 1 ? "" : "s",
	    n == 1 ? one : more);
}

/* Prints the allowed difference: "0.0001 * |expected| + 2.38e-07", without
 * terms that are zero; then what runs on perturbed inputs add; then, for a
 * quantized result, the one step by which it may be off. */
static void
print_tolerance(const struct pair *x, const struct tolerance *t,
		const struct comparison *f)
{
	say(stdout, "; allowed difference: ");
	if (t->rtol > 0) {
		say(stdout, "%.3g * |expected|", t->rtol);
	}
	if (t->atol > 0 || (t->rtol == 0 && t->step == 0)) {
		say(stdout, "%s%.3g", t->rtol > 0 ? " + " : "", t->atol);
	}
	if (x->observed != NULL && x->observed->n > 0 &&
	    dtype_is_float(x->got->type)) {
		say(stdout, " + rounding, by %d runs (at most %.3g)",
		    x->observed->n, f->most_width);
	}
	if (t->step > 0) {
		say(stdout, "%sone step of %.3g",
		    t->rtol > 0 || t->atol > 0 ? ", or " : "", t->step);
	}
}

static void
print_differences(const struct pair *x, const struct tolerance *t,
		  const struct comparison *f)
{
	say(stdout, "max abs %.3g, rel %.3g", f->max_abs, f->max_rel);
	if (dtype_is_float(x->got->type)) {
		say(stdout, ", %.3g ulp", f->max_ulp);
	}
	print_tolerance(x, t, f);
	if (f->stepped > 0) {
		print_count(f->stepped, "is one step off", "are one step off");
	}
	if (f->other_side > 0) {
		print_count(f->other_side,
			    "within rounding of a step took the other side",
			    "within rounding of a step took the other side");
	}
}

const char *
other_rounding_owner(const char *rounding)
{
	return strcmp(rounding, "tflite") == 0 ? "TensorFlow Lite's" : "ONNX's";
}

enum pair_verdict
pair_report(const struct cli *c, const struct pair *x)
{
	const struct array *got = x->got, *want = x->want;
	struct tolerance t = pair_tolerance(c, x);
	int64_t elems = want->elems;
	struct comparison f;
	bool ok, undecided;

	pair_compare(c, x, &f);
	ok = f.same_shape && f.bad == 0 && !f.too_many;
	undecided = f.same_shape && f.max_abs > 0 && x->equal_with != NULL;
	if (c->quiet && (ok || undecided)) {
		return undecided ? PAIR_UNDECIDED : PAIR_OK;
	}
	if (undecided) {
		style_word(stdout, STYLE_BOLD, "?   ");
	} else {
		style_word(stdout, ok ? STYLE_GREEN : STYLE_RED,
			   ok ? "ok  " : "FAIL");
	}
	say(stdout, "  %s  %s  ", x->where, got->name);
	if (!f.same_shape) {
		say(stdout, "type or shape differs: ");
		print_shape(got);
		say(stdout, ", expected ");
		print_shape(want);
		say(stdout, "\n");
		return PAIR_FAILED;
	}
	if (want->is_string) {
		int64_t bytes = want->shape[want->ndim - 1];

		elems = bytes > 0 ? elems / bytes : 0;
		say(stdout, f.bad == 0 ? "all strings equal" : "");
	} else if (f.max_abs == 0) {
		say(stdout, "%lld element%s equal", (long long)elems,
		    elems == 1 ? "" : "s");
	} else if (undecided) {
		say(stdout,
		    "max abs %.3g; not decided: equal with --requant %s, since "
		    "this data set was recorded with %s rounding",
		    f.max_abs, x->equal_with,
		    other_rounding_owner(x->equal_with));
	} else {
		print_differences(x, &t, &f);
	}
	if (f.too_many && !undecided) {
		say(stdout, ", more than rounding errors explain");
	}
	if (f.bad > 0 && !undecided) {
		say(stdout, "%s%lld of %lld %s", want->is_string ? "" : "; ",
		    (long long)f.bad, (long long)elems,
		    want->is_string ? "strings differ" : "beyond");
	}
	if (!ok && !undecided) {
		print_worst(x, &f);
	}
	say(stdout, "\n");
	/* prints the line now, because the next result may take long */
	fflush(stdout);
	return undecided ? PAIR_UNDECIDED : ok ? PAIR_OK : PAIR_FAILED;
}
