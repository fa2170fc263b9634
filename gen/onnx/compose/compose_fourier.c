/* SPDX-License-Identifier: Apache-2.0 */
/* DFT and STFT as products with constant matrices. A short transform is one
 * product; real and imaginary parts are neighbouring rows and columns:
 *
 *	before	y = DFT(x)                       # x: [m, n, 2]
 *	after	y = MatMul(Reshape(x, [m, 2n]), matrix)   # [2n, 2n]
 *
 * A longer one of length a b takes two (Cooley and Tukey, "An Algorithm for the
 * Machine Calculation of Complex Fourier Series", 1965): with n = b n1 + n2 and
 * k = k1 + a k2,
 *
 *	y[k1, k2] = sum over n2: e(n2 k2 / b) * e(n2 k1 / n) *
 *		    sum over n1: x[n1, n2] * e(n1 k1 / a)
 *
 * where e(t) = exp(-2 pi i t), and the outer sum is a transform again. A length
 * with a large prime factor is a convolution, computed by transforms of a power
 * of two (Bluestein, "A linear filtering approach to the computation of
 * discrete Fourier transform", 1970). */
#include "compose.h"

#include <math.h>

#include "ops.h"

/* The longest transforms that are computed as one product: MOST_DIRECT for any
 * length, MOST_PRIME for a length that no number from 2 to MOST_DIRECT
 * divides. */
enum { MOST_DIRECT = 64, MOST_PRIME = 256 };

struct fourier {
	struct compose *c;
	struct dtype type;
	bool inverse;
};

/* exp(-2 pi i k / n), for an inverse transform its conjugate, as real and
 * imaginary part. */
static void
root_of_one(const struct fourier *f, int64_t k, int64_t n, double *out)
{
	static const double turn = 6.28318530717958647692528676655900577;
	double angle = turn * (double)(k % n) / (double)n;

	out[0] = cos(angle);
	out[1] = f->inverse ? sin(angle) : -sin(angle);
}

/* x, whose last `drop` dimensions are replaced by the dimensions
 * sizes[0..n). */
static struct tensor *
reshape_last(const struct fourier *f, struct tensor *x, int drop,
	     const int64_t *sizes, int n)
{
	struct compose *c = f->c;
	int keep = x->ndim - drop;
	const struct expr **shape;

	if (c->failed) {
		return x; /* the shape of x is not known */
	}
	shape = arena_exprs(&c->imp->tmp, keep + n + 1);
	for (int d = 0; d < keep; d++) {
		shape[d] = x->shape[d];
	}
	for (int i = 0; i < n; i++) {
		shape[keep + i] = expr_index(c->m, sizes[i]);
	}
	return compose_reshape(c, "parts", x, keep + n, shape);
}

/* A transform of length n, computed as one matrix product and multiplied by
 * `scale`. x[…, length, parts] has the first `length` inputs, the remaining n -
 * length are 0; the result has the first `keep` elements. Elements are complex
 * (2 parts) or real (1). */
static struct tensor *
direct(const struct fourier *f, struct tensor *x, int64_t length, int64_t n,
       int parts, int64_t keep, int out, double scale)
{
	struct compose *c = f->c;
	const int64_t shape[] = { length * parts, keep * out };
	double *m = arena_array(&c->imp->tmp, double, shape[0] * shape[1] + 1);

	for (int64_t i = 0; i < length; i++) {
		for (int64_t k = 0; k < keep; k++) {
			double *at = m + i * parts * shape[1] + k * out, w[2];

			root_of_one(f, i * k, n, w);
			at[0] = scale * w[0];
			if (out == 2) {
				at[1] = scale * w[1];
			}
			at += shape[1];
			if (parts == 2) {
				at[0] = -scale * w[1];
			}
			if (parts == 2 && out == 2) {
				at[1] = scale * w[0];
			}
		}
	}
	x = reshape_last(f, x, 2, (const int64_t[]){ shape[0] }, 1);
	x = compose_2(c, "transform", "MatMul", x,
		      compose_floats(c, "matrix", f->type, 2, shape, m));
	return reshape_last(f, x, 1, (const int64_t[]){ keep, out }, 2);
}

/* Multiplies the complex numbers x[…, sizes[0], …, sizes[rank - 1], 2] by
 * constants: w has a real and an imaginary part for each index of these `rank`
 * dimensions. With w = u + i v and x = (re, im): (re, im) * u + (im, re) * (-v,
 * v). */
static struct tensor *
multiply(const struct fourier *f, struct tensor *x, const double *w, int rank,
	 const int64_t *sizes)
{
	struct compose *c = f->c;
	const int64_t from = 1, to = INT64_MIN, last = x->ndim - 1, step = -1;
	int64_t n = 1, shape[4];
	double *same, *other;
	struct tensor *swapped;

	for (int d = 0; d < rank; d++) {
		n *= shape[d] = sizes[d];
	}
	same = arena_array(&c->imp->tmp, double, n + 1);
	other = arena_array(&c->imp->tmp, double, 2 * n + 1);
	for (int64_t i = 0; i < n; i++) {
		same[i] = w[2 * i];
		other[2 * i] = -w[2 * i + 1];
		other[2 * i + 1] = w[2 * i + 1];
	}
	swapped = compose_node(c, "swapped", "Slice", 5, x,
			       compose_ints(c, "from", 1, &from),
			       compose_ints(c, "to", 1, &to),
			       compose_ints(c, "axis", 1, &last),
			       compose_ints(c, "step", 1, &step));
	shape[rank] = 1;
	x = compose_2(c, "turned", "Mul", x,
		      compose_floats(c, "cosines", f->type, rank + 1, shape,
				     same));
	shape[rank] = 2;
	swapped = compose_2(c, "turned", "Mul", swapped,
			    compose_floats(c, "sines", f->type, rank + 1, shape,
					   other));
	return compose_2(c, "turned", "Add", x, swapped);
}

/* The elements [0, to) of a dimension; if it has fewer, zeros are appended. */
static struct tensor *
first(const struct fourier *f, struct tensor *x, int axis, int64_t to)
{
	struct compose *c = f->c;
	int64_t *pads, size = to;

	if (c->failed) {
		return x; /* the shape of x is not known */
	}
	expr_is_int(x->shape[axis], &size);
	if (size == to) {
		return x;
	}
	if (size > to) {
		return compose_slice(c, "first", x, axis, expr_index(c->m, 0),
				     expr_index(c->m, to));
	}
	pads = arena_array(&c->imp->tmp, int64_t, 2 * x->ndim + 1);
	pads[x->ndim + axis] = to - size;
	return compose_2(c, "filled", "Pad", x,
			 compose_ints(c, "pads", 2 * x->ndim, pads));
}

/* Chooses a factor a of n, the length of the first product, such that there are
 * as few products as possible, all of about the same length, at most
 * MOST_DIRECT. 1 if n has no factor up to MOST_DIRECT. */
static int64_t
factor_of(int64_t n)
{
	int products = 1;
	int64_t a;

	for (int64_t rest = n; rest > MOST_DIRECT; rest /= MOST_DIRECT) {
		products++;
	}
	for (a = (int64_t)ceil(pow((double)n, 1.0 / products) - 1e-9);
	     a <= MOST_DIRECT && n % a != 0; a++) {
	}
	while (a > 1 && (a > MOST_DIRECT || n % a != 0)) {
		a--;
	}
	return a;
}

/* Is n a product of numbers up to MOST_DIRECT and of at most one number up to
 * MOST_PRIME? */
static bool
has_short_factors(int64_t n)
{
	for (int64_t p = 2; p <= MOST_DIRECT; p++) {
		while (n % p == 0) {
			n /= p;
		}
	}
	return n <= MOST_PRIME;
}

static struct tensor *transform(const struct fourier *f, struct tensor *x,
				int64_t length, int64_t n, int parts,
				int64_t keep, int out, double scale);

static struct tensor *
two_products(const struct fourier *f, struct tensor *x, int64_t n, int64_t a,
	     int parts, int64_t keep, int out, double scale)
{
	struct compose *c = f->c;
	int64_t b = n / a, rows = (keep + a - 1) / a;
	double *w = arena_array(&c->imp->tmp, double, 2 * n + 1);

	for (int64_t i = 0; i < n; i++) {
		root_of_one(f, (i / a) * (i % a), n, w + 2 * i);
	}
	x = reshape_last(f, x, 2, (const int64_t[]){ a, b, parts }, 3);
	x = compose_swap(c, "columns", x, -3, -2);
	x = direct(f, x, a, a, parts, a, 2, 1);
	x = multiply(f, x, w, 2, (const int64_t[]){ b, a });
	x = compose_swap(c, "rows", x, -3, -2);
	x = transform(f, x, b, b, 2, rows, out, scale);
	x = compose_swap(c, "columns", x, -3, -2);
	x = reshape_last(f, x, 3, (const int64_t[]){ rows * a, out }, 2);
	return first(f, x, x->ndim - 2, keep);
}

/* The transform of x[2n] by a radix-2 FFT; n is a power of two. */
static void
spectrum_of(const double *x, int64_t n, int64_t step, double *y)
{
	static const double turn = 6.28318530717958647692528676655900577;

	if (n == 1) {
		y[0] = x[0];
		y[1] = x[1];
		return;
	}
	spectrum_of(x, n / 2, 2 * step, y);
	spectrum_of(x + 2 * step, n / 2, 2 * step, y + n);
	for (int64_t k = 0; k < n / 2; k++) {
		double u = cos(turn * (double)k / (double)n);
		double v = -sin(turn * (double)k / (double)n);
		double *a = y + 2 * k, *b = y + n + 2 * k;
		double re = u * b[0] - v * b[1], im = u * b[1] + v * b[0];

		b[0] = a[0] - re;
		b[1] = a[1] - im;
		a[0] += re;
		a[1] += im;
	}
}

/* Bluestein's algorithm, for a transform of length N: n k = (n^2 + k^2 - (k -
 * n)^2) / 2, so the inputs are multiplied by e(n^2 / 2N), convolved with e(-i^2
 * / 2N), and the results multiplied by e(k^2 / 2N). */
static struct tensor *
convolution(const struct fourier *f, struct tensor *x, int64_t length,
	    int64_t n, int64_t keep, int out, double scale)
{
	struct compose *c = f->c;
	struct fourier there = *f, back = *f;
	int64_t most = length > keep ? length : keep, m = 1;
	double *chirp, *filter, *spectrum;

	while (m < length + keep - 1) {
		m *= 2;
	}
	chirp = arena_array(&c->imp->tmp, double, 2 * most + 2);
	filter = arena_array(&c->imp->tmp, double, 2 * m + 2);
	spectrum = arena_array(&c->imp->tmp, double, 2 * m + 2);
	for (int64_t i = 0; i < most; i++) {
		root_of_one(f, i * i % (2 * n), 2 * n, chirp + 2 * i);
		for (int s = 0; s < 2; s++) {
			if (i < (s == 0 ? keep : length)) {
				double *at = filter +
					     2 * (s == 0 ? i : (m - i) % m);

				at[0] = chirp[2 * i];
				at[1] = -chirp[2 * i + 1];
			}
		}
	}
	spectrum_of(filter, m, 1, spectrum);
	there.inverse = false;
	back.inverse = true;
	x = first(f, x, x->ndim - 1, 2);
	x = multiply(f, x, chirp, 1, &length);
	x = first(f, x, x->ndim - 2, m);
	x = transform(&there, x, m, m, 2, m, 2, 1);
	x = multiply(f, x, spectrum, 1, &m);
	x = transform(&back, x, m, m, 2, keep, 2, scale / (double)m);
	x = multiply(f, x, chirp, 1, &keep);
	return first(f, x, x->ndim - 1, out);
}

/* A transform of length n of x[…, length, parts], scaled; inputs from `length`
 * on are 0. The result is [… , keep, out]: its first `keep` elements as complex
 * (out = 2) or real numbers (out = 1). */
static struct tensor *
transform(const struct fourier *f, struct tensor *x, int64_t length, int64_t n,
	  int parts, int64_t keep, int out, double scale)
{
	int64_t a = factor_of(n);

	if (f->c->failed) {
		return x;
	}
	if (n <= MOST_DIRECT || (a == 1 && n <= MOST_PRIME)) {
		return direct(f, x, length, n, parts, keep, out, scale);
	}
	if (!has_short_factors(n)) {
		return convolution(f, x, length, n, keep, out, scale);
	}
	return two_products(f, first(f, x, x->ndim - 2, n), n, a, parts, keep,
			    out, scale);
}

/* -- the operators -- */

/* The real signal of length n. x[…, half, parts] is the first half of its
 * spectrum; the second half is the mirrored conjugate of the first. */
static struct tensor *
real_signal(const struct fourier *f, struct tensor *x, int64_t n)
{
	struct compose *c = f->c;
	int64_t from = (n - 1) / 2, to = 0, step = -1, axis = x->ndim - 2;
	const double signs[] = { 1, -1 };
	const int64_t two = 2;
	struct tensor *mirror;

	/* The imaginary parts of the first and the middle element are left out:
	 * they would change only the imaginary parts of the results, which are
	 * not computed. */
	x = first(f, first(f, x, (int)axis, n / 2 + 1), x->ndim - 1, 2);
	if (from > 0) {
		mirror = compose_node(c, "mirror", "Slice", 5, x,
				      compose_ints(c, "from", 1, &from),
				      compose_ints(c, "to", 1, &to),
				      compose_ints(c, "axis", 1, &axis),
				      compose_ints(c, "step", 1, &step));
		mirror = compose_2(c, "conjugate", "Mul", mirror,
				   compose_floats(c, "signs", f->type, 1, &two,
						  signs));
		x = compose_concat(c, "spectrum", (int)axis, x, mirror);
	}
	return transform(f, x, n, n, 2, n, 1, 1.0 / (double)n);
}

static int64_t
least(int64_t a, int64_t b)
{
	return a < b ? a : b;
}

static bool
check_parts(struct compose *c, const struct tensor *x, int *parts)
{
	int64_t n;

	if (x->ndim < 2 || !expr_is_int(x->shape[x->ndim - 1], &n) || n < 1 ||
	    n > 2) {
		return compose_error(c, DIAG_BAD_SHAPE,
				     "the last dimension of '%s' is not 1 "
				     "(real) or 2 (complex); correct the model",
				     x->name);
	}
	*parts = (int)n;
	return true;
}

/* Sets *out to the integer in input i, a constant of one element; to `value` if
 * the input is absent. False after a diagnostic. */
static bool
int_input(struct compose *c, int i, int64_t value, int64_t *out)
{
	const int64_t *v;
	int n;

	*out = value;
	if (!compose_input(c, i)) {
		return true;
	}
	if (!input_ints(c->m, c->node, i, &v, &n) || n != 1) {
		return compose_refuse(c,
				      "its input %d must be one constant "
				      "integer",
				      i);
	}
	*out = v[0];
	return true;
}

/* Bluestein's algorithm makes a constant of up to 4 n complex numbers of x's
 * type. False after a diagnostic, if they are too many. */
static bool
check_length(struct compose *c, const struct tensor *x, int64_t n)
{
	if (n > INT64_MAX / 64) {
		return compose_error(c, DIAG_BAD_ATTRIBUTE,
				     "a transform of length %lld is too long; "
				     "correct the model",
				     (long long)n);
	}
	if (!quota_check_output(c->m, node_place(c->g, c->node),
				"the constants of its transform",
				4 * n * 2 * dtype_bytes(x->type))) {
		c->failed = true;
		return false;
	}
	return true;
}

bool
compose_dft(struct compose *c)
{
	struct tensor *x = compose_input(c, 0);
	bool inverse = node_attr_int(c->node, "inverse", 0) != 0;
	bool onesided = node_attr_int(c->node, "onesided", 0) != 0;
	struct fourier f = { .c = c, .type = x->type, .inverse = inverse };
	int64_t given, size, n, keep;
	int axis, parts, at = x->ndim - 2;

	if (!check_parts(c, x, &parts) || !int_input(c, 2, -2, &given)) {
		return false;
	}
	if (given < -x->ndim || given >= x->ndim) {
		return compose_error(c, DIAG_BAD_ATTRIBUTE,
				     "axis %lld is outside of [%d, %d); "
				     "correct the model",
				     (long long)given, -x->ndim, x->ndim);
	}
	axis = (int)(given < 0 ? given + x->ndim : given);
	if (!compose_known_dim(c, x, axis, &size) ||
	    !int_input(c, 1, inverse && onesided ? 2 * (size - 1) : size, &n)) {
		return false;
	}
	if (axis == x->ndim - 1 || n < 1 || size < 1) {
		return compose_error(c, DIAG_BAD_ATTRIBUTE,
				     "a transform of length %lld along axis "
				     "%lld is not defined; correct the model",
				     (long long)n, (long long)given);
	}
	if (!check_length(c, x, n)) {
		return false;
	}
	if (axis != at) {
		x = compose_swap(c, "along_last", x, axis, at);
	}
	keep = onesided ? n / 2 + 1 : n;
	if (inverse && onesided) {
		x = real_signal(&f, x, n);
	} else {
		x = first(&f, x, at, least(size, n));
		x = transform(&f, x, least(size, n), n, parts, keep, 2,
			      inverse ? 1.0 / (double)n : 1);
	}
	compose_result(c, 0,
		       axis == at ? x : compose_swap(c, "back", x, axis, at));
	return true;
}

/* STFT: cuts the signal into frames, multiplies each by the window, and
 * transforms it. */
bool
compose_stft(struct compose *c)
{
	struct tensor *x = compose_input(c, 0), *window = compose_input(c, 2);
	struct tensor *frames;
	const char *name = "frames";
	struct fourier f = { .c = c, .type = x->type };
	int64_t step, n, size = 0;
	int parts;

	if (!check_parts(c, x, &parts) || !int_input(c, 1, 0, &step)) {
		return false;
	}
	if (window && window->ndim == 1) {
		expr_is_int(window->shape[0], &size);
	} else if (x->ndim == 3) {
		expr_is_int(x->shape[1], &size);
	}
	if (!int_input(c, 3, size, &n)) {
		return false;
	}
	if (x->ndim != 3 || step < 1 || n < 1 || (window && size != n)) {
		return compose_error(c, DIAG_BAD_SHAPE,
				     "a signal of rank %d, a step of %lld and "
				     "frames of %lld elements do not fit; "
				     "correct the model",
				     x->ndim, (long long)step, (long long)n);
	}
	if (!check_length(c, x, n)) {
		return false;
	}
	compose_set_int(c, "step", step);
	compose_set_int(c, "length", n);
	compose_nodes(c, "tirc", "Frames", &x, 1, &name, 1, &frames);
	x = frames;
	if (window) {
		window = compose_reshape(c, "window", window, 2,
					 (const struct expr *const[]){
						 expr_index(c->m, n),
						 expr_index(c->m, 1) });
		x = compose_2(c, "weighted", "Mul", x, window);
	}
	x = transform(&f, x, n, n, parts,
		      node_attr_int(c->node, "onesided", 1) != 0 ? n / 2 + 1
								 : n,
		      2, 1);
	compose_result(c, 0, x);
	return true;
}
