/* SPDX-License-Identifier: Apache-2.0 */
/* Linear models and support vector machines of ai.onnx.ml as matrix
 * products. */
#include "ml.h"

#include "ops.h"

/* x times the transposed matrix [rows, columns], plus add[r] in column r of the
 * result; add NULL: nothing is added. */
static struct tensor *
product(struct ml *m, const char *what, struct tensor *x, struct dtype type,
	const double *matrix, int64_t rows, int64_t columns, const double *add)
{
	const int64_t shape[] = { rows, columns };
	struct tensor *by = ml_constant(m, "coefficients", type, matrix, 2,
					shape);
	struct node *n;

	if (!add) {
		add = arena_array(&m->imp->tmp, double, rows + 1);
	}
	n = ml_node(m, "Gemm", what, 3, x, by,
		    ml_constant(m, "intercepts", type, add, 1, &rows));
	node_set_attr_int(m->imp->g, n, "transB", 1);
	return n->outputs[0];
}

/* The index of the largest element of each row; if several elements are equal,
 * the first of them. */
static struct tensor *
best_of(struct ml *m, struct tensor *scores)
{
	struct node *n = ml_node(m, "ArgMax", "best", 1, scores);

	node_set_attr_int(m->imp->g, n, "axis", 1);
	node_set_attr_int(m->imp->g, n, "keepdims", 0);
	return n->outputs[0];
}

static bool
features(struct ml *m, int64_t *n)
{
	if (m->x->ndim < 1 || m->x->ndim > 2 ||
	    !expr_is_int(m->x->shape[m->x->ndim - 1], n)) {
		return ml_refuse(m,
				 "the number of its input's features is not "
				 "known, or the input is not a matrix; correct "
				 "the model");
	}
	return true;
}

static bool
wrong_lengths(struct ml *m)
{
	return ml_refuse(m, "the lengths of its attributes and of the input's "
			    "rows contradict each other; correct the model");
}

bool
ml_linear_regressor(struct ml *m)
{
	const double *coefficients, *intercepts = NULL;
	int64_t targets = node_attr_int(m->n, "targets", 1), n;
	struct dtype type;
	struct tensor *x, *y;

	if (!features(m, &n)) {
		return false;
	}
	if (n < 1 || targets < 1 ||
	    ml_floats(m, "coefficients", &coefficients) / n != targets) {
		return wrong_lengths(m);
	}
	if (ml_floats(m, "intercepts", &intercepts) != targets) {
		intercepts = NULL;
	}
	x = ml_rows(m, &type);
	y = ml_post_transform(m, product(m, "sums", x, type, coefficients,
					 targets, n, intercepts));
	if (!y) {
		return false;
	}
	ml_output(m, 0, ml_cast(m, y, type, dtype_of(DT_F32)));
	return true;
}

/* Sets the outputs of a classifier with one score for two classes: the label is
 * that of the second class if the score is positive, else that of the first.
 * The first class gets the opposite score with LOGISTIC, else 1 - score. False
 * after a diagnostic. */
static bool
classify_by_sign(struct ml *m, struct tensor *score, struct dtype type,
		 const int64_t *labels)
{
	const char *how = node_attr_string(m->n, "post_transform", "NONE");
	bool logistic = strcmp(how, "LOGISTIC") == 0;
	struct tensor *best, *other, *both;
	const int64_t column = 1;
	struct node *n;

	if (!logistic && strcmp(how, "NONE") != 0) {
		return ml_refuse(m, "its post_transform of one score is not "
				    "supported; NONE and LOGISTIC are");
	}
	best = ml_op(m, "Greater", "positive", 2, score,
		     ml_number(m, "zero", type, 0));
	best = ml_cast(m, best, dtype_of(DT_BOOL), dtype_of(DT_I64));
	best = ml_op(m, "Squeeze", "best", 2, best,
		     ml_ints(m, "axes", 1, &column));
	other = logistic ? ml_op(m, "Neg", "other", 1, score)
			 : ml_op(m, "Sub", "other", 2,
				 ml_number(m, "one", type, 1), score);
	n = ml_node(m, "Concat", "scores", 2, other, score);
	node_set_attr_int(m->imp->g, n, "axis", 1);
	both = n->outputs[0];
	return ml_classify(m, best, both, labels, 2);
}

bool
ml_linear_classifier(struct ml *m)
{
	const double *coefficients, *intercepts = NULL;
	const int64_t *labels;
	int64_t n, classes;
	struct tensor *x, *scores;
	struct dtype type;
	int n_labels, n_all;

	if (!features(m, &n)) {
		return false;
	}
	ml_labels(m, "classlabels_ints", "classlabels_strings", &labels,
		  &n_labels);
	n_all = ml_floats(m, "coefficients", &coefficients);
	classes = n > 0 ? n_all / n : 0;
	if (classes < 1 || classes * n != n_all ||
	    (n_labels != classes && !(classes == 1 && n_labels == 2))) {
		return wrong_lengths(m);
	}
	if (ml_floats(m, "intercepts", &intercepts) != classes) {
		intercepts = NULL;
	}
	x = ml_rows(m, &type);
	scores = product(m, "scores", x, type, coefficients, classes, n,
			 intercepts);
	if (classes == 1 && n_labels == 2) {
		return classify_by_sign(m, scores, type, labels);
	}
	return ml_classify(m, best_of(m, scores), scores, labels, n_labels);
}

/* -- support vector machines -- */

struct svm {
	struct tensor *x;
	struct dtype type;
	int64_t n_vectors, n_features;
	double gamma, coef0, degree;
};

/* The squared distance of each row of x and each support vector. */
static struct tensor *
distances(struct ml *m, struct svm *s, struct tensor *vectors)
{
	const int64_t axis = 1, last = -1;
	struct tensor *x = ml_op(m, "Unsqueeze", "rows", 2, s->x,
				 ml_ints(m, "axis", 1, &axis)),
		      *apart;
	struct node *n;

	apart = ml_op(m, "Sub", "apart", 2, x, vectors);
	n = ml_node(m, "ReduceSumSquare", "distances", 2, apart,
		    ml_ints(m, "last", 1, &last));
	node_set_attr_int(m->imp->g, n, "keepdims", 0);
	return n->outputs[0];
}

/* The kernel function of each row and each support vector: [rows, vectors]. */
static struct tensor *
kernels(struct ml *m, struct svm *s, const double *vectors)
{
	const char *type = node_attr_string(m->n, "kernel_type", "LINEAR");
	const int64_t shape[] = { s->n_vectors, s->n_features };
	struct tensor *k;

	if (strcmp(type, "RBF") == 0) {
		k = distances(m, s,
			      ml_constant(m, "vectors", s->type, vectors, 2,
					  shape));
		k = ml_op(m, "Mul", "exponents", 2, k,
			  ml_number(m, "gamma", s->type, -s->gamma));
		return ml_op(m, "Exp", "kernels", 1, k);
	}
	k = product(m, "products", s->x, s->type, vectors, s->n_vectors,
		    s->n_features, NULL);
	if (strcmp(type, "LINEAR") == 0) {
		return k;
	}
	k = ml_op(m, "Mul", "scaled", 2, k,
		  ml_number(m, "gamma", s->type, s->gamma));
	k = ml_op(m, "Add", "moved", 2, k,
		  ml_number(m, "coef0", s->type, s->coef0));
	return strcmp(type, "POLY") == 0
		       ? ml_op(m, "Pow", "kernels", 2, k,
			       ml_number(m, "degree", s->type, s->degree))
		       : ml_op(m, "Tanh", "kernels", 1, k);
}

static bool
svm_begin(struct ml *m, struct svm *s, int64_t n_vectors,
	  const double **vectors)
{
	const double *params;
	int n = ml_floats(m, "kernel_params", &params);
	int64_t numbers;

	if (!features(m, &s->n_features)) {
		return false;
	}
	s->n_vectors = n_vectors;
	if (__builtin_mul_overflow(s->n_vectors, s->n_features, &numbers) ||
	    ml_floats(m, "support_vectors", vectors) != numbers) {
		return wrong_lengths(m);
	}
	s->gamma = n > 0 ? params[0] : 0;
	s->coef0 = n > 1 ? params[1] : 0;
	s->degree = n > 2 ? params[2] : 0;
	s->x = ml_rows(m, &s->type);
	return true;
}

bool
ml_svm_regressor(struct ml *m)
{
	int64_t supports = node_attr_int(m->n, "n_supports", 0);
	const double *vectors, *coefficients, *rho;
	struct dtype type;
	struct svm s = { 0 };
	struct tensor *y;
	int64_t n;

	if (!features(m, &n)) {
		return false;
	}
	if (ml_floats(m, "coefficients", &coefficients) !=
		    (supports > 0 ? supports : n) ||
	    ml_floats(m, "rho", &rho) < 1) {
		return wrong_lengths(m);
	}
	if (supports > 0) {
		if (!svm_begin(m, &s, supports, &vectors)) {
			return false;
		}
		type = s.type;
		y = product(m, "sums", kernels(m, &s, vectors), type,
			    coefficients, 1, supports, rho);
	} else {
		y = ml_rows(m, &type);
		y = product(m, "sums", y, type, coefficients, 1, n, rho);
	}
	if (node_attr_int(m->n, "one_class", 0)) {
		y = ml_op(m, "Greater", "inside", 2, y,
			  ml_number(m, "zero", type, 0));
		y = ml_op(m, "Where", "side", 3, y,
			  ml_number(m, "one", type, 1),
			  ml_number(m, "minus_one", type, -1));
	}
	y = ml_post_transform(m, y);
	if (!y) {
		return false;
	}
	ml_output(m, 0, ml_cast(m, y, type, dtype_of(DT_F32)));
	return true;
}

/* The pairs of classes (i, j) with i < j, in lexical order; n: their number. */
struct pairs {
	const int64_t *sizes; /* the number of support vectors of each class */
	int64_t classes, n, n_vectors;
	double *matrix; /* [n, n_vectors]: scores of pairs = matrix * kernels */
	double *votes;  /* [classes, n]: change of votes if i wins the pair */
	double *base;   /* [classes]: the votes if j wins every pair */
};

static int64_t
first_vector(const struct pairs *p, int64_t class)
{
	int64_t first = 0;

	for (int64_t i = 0; i < class; i++) {
		first += p->sizes[i];
	}
	return first;
}

/* Fills row `row` of the matrix, which is for the pair of classes (i, j): the
 * support vectors of class i get their coefficients from row j - 1 of
 * `coefficients`, those of class j from row i. */
static void
fill_pair(struct pairs *p, const double *coefficients, int64_t row, int64_t i,
	  int64_t j)
{
	for (int side = 0; side < 2; side++) {
		int64_t class = side == 0 ? i : j, from = side == 0 ? j - 1 : i;
		int64_t first = first_vector(p, class);

		for (int64_t v = first; v < first + p->sizes[class]; v++) {
			p->matrix[row * p->n_vectors + v] =
				coefficients[from * p->n_vectors + v];
		}
	}
	p->votes[i * p->n + row] = 1;
	p->votes[j * p->n + row] = -1;
	p->base[j] += 1;
}

/* Sets p->n_vectors to the number of support vectors of all classes; false if
 * the number of a class is negative or does not match n_coefficients. */
static bool
count_vectors(struct pairs *p, int64_t n_coefficients)
{
	for (int64_t i = 0; i < p->classes; i++) {
		if (p->sizes[i] < 0 ||
		    p->sizes[i] > n_coefficients - p->n_vectors) {
			return false;
		}
		p->n_vectors += p->sizes[i];
	}
	return n_coefficients == (p->classes - 1) * p->n_vectors;
}

static bool
make_pairs(struct ml *m, struct pairs *p)
{
	struct arena *a = &m->imp->tmp;
	const double *coefficients, *rho;
	int64_t row = 0;

	p->n = p->classes * (p->classes - 1) / 2;
	if (!count_vectors(p, ml_floats(m, "coefficients", &coefficients)) ||
	    ml_floats(m, "rho", &rho) != p->n) {
		return wrong_lengths(m);
	}
	p->matrix = arena_array(a, double, p->n * p->n_vectors + 1);
	p->votes = arena_array(a, double, p->classes * p->n + 1);
	p->base = arena_array(a, double, p->classes + 1);
	for (int64_t i = 0; i < p->classes; i++) {
		for (int64_t j = i + 1; j < p->classes; j++) {
			fill_pair(p, coefficients, row++, i, j);
		}
	}
	return true;
}

/* The class with the most votes; if several classes have equally many, the
 * first of them. */
static struct tensor *
count_votes(struct ml *m, struct svm *s, const struct pairs *p,
	    struct tensor *scores)
{
	struct tensor *won = ml_op(m, "Greater", "won", 2, scores,
				   ml_number(m, "zero", s->type, 0));

	won = ml_cast(m, won, dtype_of(DT_BOOL), s->type);
	return best_of(m, product(m, "votes", won, s->type, p->votes,
				  p->classes, p->n, p->base));
}

/* For each pair of classes (i, j), the probability that i wins, computed from
 * the scores of the pairs: 1 - 1 / (1 + exp(-(a * score + b))), limited to
 * values away from 0 and 1. */
static struct tensor *
pair_probabilities(struct ml *m, struct svm *s, const struct pairs *p,
		   struct tensor *scores, const double *a, const double *b)
{
	const double low = 1e-7, high = 1 - 1e-7;
	struct tensor *r;

	r = ml_op(m, "Mul", "steep", 2, scores,
		  ml_constant(m, "prob_a", s->type, a, 1, &p->n));
	r = ml_op(m, "Add", "shifted", 2, r,
		  ml_constant(m, "prob_b", s->type, b, 1, &p->n));
	r = ml_op(m, "Sigmoid", "losing", 1, ml_op(m, "Neg", "turned", 1, r));
	return ml_op(m, "Clip", "winning", 3, r,
		     ml_number(m, "low", s->type, low),
		     ml_number(m, "high", s->type, high));
}

/* The probabilities as [rows, classes, classes]: element (i, j) is the
 * probability that i wins against j; 0 on the diagonal. */
static struct tensor *
square_of_pairs(struct ml *m, struct svm *s, const struct pairs *p,
		struct tensor *r)
{
	int64_t k = p->classes, row = 0;
	const int64_t shape[] = { -1, k, k };
	double *matrix = arena_array(&m->imp->tmp, double, k *k * p->n + 1);
	double *add = arena_array(&m->imp->tmp, double, k *k + 1);

	for (int64_t i = 0; i < k; i++) {
		for (int64_t j = i + 1; j < k; j++, row++) {
			matrix[(i * k + j) * p->n + row] = 1;
			matrix[(j * k + i) * p->n + row] = -1;
			add[j * k + i] = 1;
		}
	}
	r = product(m, "wins", r, s->type, matrix, k * k, p->n, add);
	return ml_op(m, "Reshape", "square", 2, r,
		     ml_ints(m, "square_shape", 3, shape));
}

/* The probabilities of the classes minimise p^T Q p, where Q[t, t] is the sum
 * of the squares of column t of r, and Q[t, j] = -r[j, t] * r[t, j]. */
static struct tensor *
class_probabilities(struct ml *m, struct svm *s, const struct pairs *p,
		    struct tensor *r)
{
	int64_t k = p->classes;
	const int64_t shape[] = { k, k }, rows = 1;
	double *one = arena_array(&m->imp->tmp, double, k *k + 1);
	const int64_t turned[] = { 0, 2, 1 };
	struct tensor *other, *squares, *q;
	struct node *n;

	for (int64_t t = 0; t < k; t++) {
		one[t * k + t] = 1;
	}
	n = ml_node(m, "Transpose", "losses", 1, r);
	node_set_attr_ints(m->imp->g, n, "perm", turned, 3);
	other = n->outputs[0];
	squares = ml_op(m, "ReduceSumSquare", "squares", 2, r,
			ml_ints(m, "rows", 1, &rows));
	squares = ml_op(m, "Mul", "diagonal", 2, squares,
			ml_constant(m, "identity", s->type, one, 2, shape));
	q = ml_op(m, "Sub", "q", 2, squares,
		  ml_op(m, "Mul", "products", 2, r, other));
	return ml_coupling(m, q);
}

/* Sets the outputs of a classifier whose pairs of classes have these scores. */
static bool
finish_svm(struct ml *m, struct svm *s, const struct pairs *p,
	   struct tensor *scores, const int64_t *labels)
{
	const double *all, *b;
	struct tensor *best = count_votes(m, s, p, scores), *other;
	bool positive = true;
	int64_t second[2];
	struct node *n;

	if (ml_floats(m, "prob_a", &all) > 0) {
		if (ml_floats(m, "prob_a", &all) != p->n ||
		    ml_floats(m, "prob_b", &b) != p->n) {
			return wrong_lengths(m);
		}
		scores = pair_probabilities(m, s, p, scores, all, b);
		scores = square_of_pairs(m, s, p, scores);
		scores = class_probabilities(m, s, p, scores);
		return ml_classify(m, best, scores, labels, (int)p->classes);
	}
	if (p->classes == 2) {
		for (int i = ml_floats(m, "coefficients", &all); i-- > 0;) {
			positive = positive && all[i] >= 0;
		}
		if (positive) {
			/* without a negative coefficient, the first class is
			 * never chosen */
			second[0] = second[1] = labels[1];
			labels = second;
		}
		other = ml_op(m, "Neg", "other", 1, scores);
		n = ml_node(m, "Concat", "both", 2, other, scores);
		node_set_attr_int(m->imp->g, n, "axis", 1);
		scores = n->outputs[0];
	}
	return ml_classify(m, best, scores, labels, (int)p->classes);
}

bool
ml_svm_classifier(struct ml *m)
{
	struct pairs p = { 0 };
	const double *vectors, *rho;
	const int64_t *labels;
	struct svm s = { 0 };
	struct tensor *scores;
	int n_labels;

	ml_labels(m, "classlabels_ints", "classlabels_strings", &labels,
		  &n_labels);
	p.classes = ml_attr_ints(m, "vectors_per_class", &p.sizes);
	if (p.classes < 2) {
		return ml_refuse(m, "it has no support vectors, which is not "
				    "supported; use a LinearClassifier");
	}
	if (n_labels != p.classes) {
		return wrong_lengths(m);
	}
	if (!make_pairs(m, &p)) {
		return false;
	}
	ml_floats(m, "rho", &rho);
	if (!svm_begin(m, &s, p.n_vectors, &vectors)) {
		return false;
	}
	scores = product(m, "scores", kernels(m, &s, vectors), s.type, p.matrix,
			 p.n, p.n_vectors, rho);
	return finish_svm(m, &s, &p, scores, labels);
}
