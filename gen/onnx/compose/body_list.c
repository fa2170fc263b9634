/* SPDX-License-Identifier: Apache-2.0 */
/* Functions on lists for expressions in the texts of compositions. */
#include "body_value.h"

struct body_value
body_listed(struct body_frame *f, const struct body_value *in)
{
	struct body_value *one;

	if (in->kind == BODY_LIST) {
		return *in;
	}
	one = body_items(f, 1);
	one[0] = *in;
	return list(one, 1);
}

struct body_value
body_filled(struct body_frame *f, const struct body_value *in)
{
	struct body_value of = body_listed(f, in);
	int64_t n;

	if (!body_int(f, &in[1], &n)) {
		return none();
	}
	if (of.n == n) {
		return of;
	}
	return of.n == 1 ? body_binary(f, PY_OP_MUL, &of, &in[1])
			 : body_no_value(f);
}

struct body_value
body_both_ends(struct body_frame *f, const struct body_value *in)
{
	struct body_value of = body_listed(f, in), args[2] = { of };
	int64_t n;

	if (!body_int(f, &in[1], &n)) {
		return none();
	}
	if (of.n == n && n > 1) {
		return body_binary(f, PY_OP_ADD, &of, &of);
	}
	args[1] = integer(f, 2 * n);
	return body_filled(f, args);
}

/* -- reshaped -- */

/* The special sizes of Relay's reshape. */
enum {
	KEEP = 0,    /* the size of x here */
	INFER = -1,  /* the size that the number of elements leaves */
	REST = -2,   /* all further sizes of x */
	JOINED = -3, /* the product of the next two sizes of x */
	APART = -4   /* the next size of x as the next two of the list */
};

struct reshaping {
	struct body_frame *f;
	const struct tensor *x;
	const struct body_value *sizes;
	int at;   /* the next size of the list */
	int from; /* the next dimension of x */
	VEC(struct body_value) out;
};

static void
put(struct reshaping *r, struct body_value v)
{
	vec_push(&r->f->c->imp->tmp, &r->out, v);
}

/* The next size of x; None after a diagnostic if there is no further one. */
static struct body_value
take(struct reshaping *r)
{
	return r->from < r->x->ndim ? size(r->x->shape[r->from++])
				    : body_no_value(r->f);
}

/* Puts the two sizes after APART, of which one may be INFER. */
static void
put_apart(struct reshaping *r)
{
	struct body_value whole = take(r), part[2];
	int64_t v;

	for (int i = 0; i < 2; i++) {
		if (r->f->c->failed || r->at >= r->sizes->n) {
			body_no_value(r->f);
			return;
		}
		part[i] = r->sizes->items[r->at++];
	}
	for (int i = 0; i < 2; i++) {
		if (!body_int(r->f, &part[i], &v)) {
			return;
		}
		if (v == INFER) {
			part[i] = body_binary(r->f, PY_OP_FLOORDIV, &whole,
					      &part[1 - i]);
		}
	}
	put(r, part[0]);
	put(r, part[1]);
}

static void
put_next(struct reshaping *r)
{
	struct body_value v = r->sizes->items[r->at++], first, second;
	int64_t code = 1;

	if (v.kind == BODY_INT && expr_is_int(v.size, &code) && code < INFER) {
		if (code == REST) {
			while (r->from < r->x->ndim) {
				put(r, take(r));
			}
		} else if (code == JOINED) {
			first = take(r);
			second = take(r);
			put(r, r->f->c->failed ? none()
					       : body_binary(r->f, PY_OP_MUL,
							     &first, &second));
		} else if (code == APART) {
			put_apart(r);
		} else {
			body_no_value(r->f);
		}
		return;
	}
	put(r, code == KEEP ? take(r) : v);
	r->from += code != KEEP;
}

struct body_value
body_reshaped(struct body_frame *f, const struct body_value *in)
{
	struct body_value sizes = body_listed(f, &in[1]);
	struct reshaping r = { .f = f, .sizes = &sizes };

	r.x = body_needed_tensor(f, &in[0]);
	while (r.x && !f->c->failed && r.at < sizes.n) {
		put_next(&r);
	}
	return f->c->failed || !r.x ? none() : list(r.out.data, r.out.n);
}
