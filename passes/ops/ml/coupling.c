/* SPDX-License-Identifier: Apache-2.0 */
/* tirc.PairCoupling: the probabilities p of classes that minimise p^T Q p, by
 * the iteration of T.-F. Wu, C.-J. Lin and R. C. Weng, Probability Estimates
 * for Multi-class Classification by Pairwise Coupling, 2004 (their second
 * method, as in libsvm):
 *
 *	p = 1 / classes
 *	at most 100 times, until all |moved - length| < 0.005 / classes:
 *		moved = Q p, length = p^T moved
 *		for each class t:
 *			d = (length - moved[t]) / Q[t, t]
 *			p[t] += d; p /= 1 + d
 *			update moved and length */
#include "steps.h"

bool
infer_coupling(struct infer *c, struct node *n)
{
	const struct tensor *q = n->inputs[0];
	int64_t classes;

	if (!infer_form(c, n, 0, TYPES_FLOAT, 3, 3)) {
		return false;
	}
	if (!expr_is_int(q->shape[1], &classes)) {
		return infer_error(c, DIAG_BAD_SHAPE,
				   "the number of classes must be constant; "
				   "correct the model");
	}
	if (!infer_size_of(c, n, 0, 2, classes)) {
		return false;
	}
	infer_set(c, n->outputs[0], q->type, 2, q->shape);
	return true;
}

struct coupling {
	struct steps s;
	struct module *m;
	const struct te_tensor *q;
	const struct expr *row, *classes;
	const struct buffer *moved, *length, *error, *left;
	struct dtype t;
};

static const struct expr *
element(const struct coupling *f, const struct expr *i, const struct expr *j)
{
	return te_at(f->m, f->q, (const struct expr *[]){ f->row, i, j }, 3);
}

static const struct expr *
moved_at(const struct coupling *f, const struct expr *i)
{
	return expr_load(f->m, f->moved, &i, 1);
}

static struct stmt *
set_moved(const struct coupling *f, const struct expr *i,
	  const struct expr *value)
{
	return stmt_store(f->s.f, f->moved, value, &i, 1);
}

static const struct expr *
chance(const struct coupling *f, const struct expr *i)
{
	return te_at(f->m, f->s.out[0], (const struct expr *[]){ f->row, i },
		     2);
}

static struct stmt *
set_chance(const struct coupling *f, const struct expr *i,
	   const struct expr *value)
{
	return stmt_store(f->s.f, f->s.out[0]->buffer, value,
			  (const struct expr *[]){ f->row, i }, 2);
}

static struct var *
class_var(struct coupling *f, const char *name)
{
	return var_new(f->m, name, f->classes->type);
}

/* moved = Q p, length = p^T moved */
static struct stmt *
multiply(struct coupling *f)
{
	struct steps *s = &f->s;
	struct var *i = class_var(f, "i"), *j = class_var(f, "j");
	const struct expr *x = i->expr, *y = j->expr;
	struct stmt *sum;

	sum = set_moved(f, x,
			expr_add(f->m, moved_at(f, x),
				 expr_mul(f->m, element(f, x, y),
					  chance(f, y))));
	sum = step_seq(s, 3, set_moved(f, x, expr_float(f->m, f->t, 0)),
		       step_for(s, j, f->classes, sum),
		       step_set(s, f->length,
				expr_add(f->m, step_get(s, f->length),
					 expr_mul(f->m, chance(f, x),
						  moved_at(f, x)))),
		       NULL);
	return step_seq(s, 2, step_set(s, f->length, expr_float(f->m, f->t, 0)),
			step_for(s, i, f->classes, sum), NULL, NULL);
}

/* error = max |moved - length| */
static struct stmt *
find_error(struct coupling *f)
{
	struct steps *s = &f->s;
	struct var *i = class_var(f, "i");
	const struct expr *apart = expr_call1(f->m, INTRIN_ABS,
					      expr_sub(f->m,
						       moved_at(f, i->expr),
						       step_get(s, f->length)));

	return step_seq(s, 2, step_set(s, f->error, expr_float(f->m, f->t, 0)),
			step_for(s, i, f->classes,
				 step_set(s, f->error,
					  expr_max(f->m, step_get(s, f->error),
						   apart))),
			NULL, NULL);
}

/* The statements for class t. */
static struct stmt *
improve(struct coupling *f, const struct expr *t)
{
	struct steps *s = &f->s;
	struct module *m = f->m;
	struct step_names names = { .s = s };
	struct var *j = class_var(f, "j");
	const struct expr *d, *scale, *self = element(f, t, t), *length, *x;
	const struct expr *two = expr_float(m, f->t, 2);
	struct stmt *all;

	d = step_name(&names, "d",
		      expr_div(m,
			       expr_sub(m, step_get(s, f->length),
					moved_at(f, t)),
			       self));
	scale = step_name(&names, "scale",
			  expr_add(m, expr_float(m, f->t, 1), d));
	length = expr_add(m, expr_mul(m, d, self),
			  expr_mul(m, two, moved_at(f, t)));
	length = expr_add(m, step_get(s, f->length), expr_mul(m, d, length));
	length = expr_div(m, expr_div(m, length, scale), scale);
	x = j->expr;
	all = step_seq(s, 2,
		       set_moved(f, x,
				 expr_div(m,
					  expr_add(m, moved_at(f, x),
						   expr_mul(m, d,
							    element(f, t, x))),
					  scale)),
		       set_chance(f, x, expr_div(m, chance(f, x), scale)), NULL,
		       NULL);
	all = step_seq(s, 3, set_chance(f, t, expr_add(m, chance(f, t), d)),
		       step_set(s, f->length, length),
		       step_for(s, j, f->classes, all), NULL);
	return step_named(&names, all);
}

static struct stmt *
iterate(struct coupling *f, double limit)
{
	struct steps *s = &f->s;
	struct module *m = f->m;
	struct var *t = class_var(f, "t");
	const struct expr *left = step_get(s, f->left);
	const struct expr *zero = expr_const(m, left->type, 0);
	struct stmt *more;

	more = step_seq(s, 2,
			step_set(s, f->left,
				 expr_sub(m, left,
					  expr_const(m, left->type, 1))),
			step_for(s, t, f->classes, improve(f, t->expr)), NULL,
			NULL);
	more = stmt_if(s->f,
		       expr_lt(m, step_get(s, f->error),
			       expr_float(m, f->t, limit)),
		       step_set(s, f->left, zero), more);
	more = step_seq(s, 3, multiply(f), find_error(f), more, NULL);
	return step_seq(s, 2,
			step_set(s, f->left, expr_const(m, left->type, 100)),
			stmt_while(s->f, expr_lt(m, zero, left), more), NULL,
			NULL);
}

bool
define_coupling(struct define *c, const struct node *n,
		struct te_tensor *const *in, struct te_tensor **out)
{
	static const char *const name[] = { "coupling" };
	struct module *m = c->module;
	const struct tensor *y = n->outputs[0];
	struct iter_var *axes = define_axes(c, y);
	struct coupling f = { .m = m, .q = in[0], .t = y->type };
	struct buffer_spec spec = { .name = "moved",
				    .type = y->type,
				    .ndim = 1,
				    .shape = &y->shape[1],
				    .scope = "local" };
	struct var *i;
	struct stmt *body;
	int64_t classes;

	if (!expr_is_int(y->shape[1], &classes)) {
		return false;
	}
	f.s = steps_begin(c, name[0], "coupling", name, &y->type, &y->ndim,
			  (const struct expr *const *[]){ y->shape }, 1, in, 1,
			  out);
	f.row = axes[0].var->expr;
	f.classes = y->shape[1];
	f.moved = buffer_new(m, &spec);
	f.length = step_local(&f.s, "length", y->type);
	f.error = step_local(&f.s, "error", y->type);
	f.left = step_local(&f.s, "left", dtype_of(DT_U32));
	i = class_var(&f, "i");
	body = set_chance(&f, i->expr,
			  expr_float(m, y->type, 1 / (double)classes));
	body = step_seq(&f.s, 2, step_for(&f.s, i, f.classes, body),
			iterate(&f, 0.005 / (double)classes), NULL, NULL);
	body = step_alloc(&f.s, f.left, step_alloc(&f.s, f.error, body));
	body = step_alloc(&f.s, f.moved, step_alloc(&f.s, f.length, body));
	steps_end(&f.s, axes, 1, body);
	return true;
}
