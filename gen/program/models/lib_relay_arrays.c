/* SPDX-License-Identifier: Apache-2.0 */
/* The arrays of expressions of Relay as text, in the form in which TVM prints them
 * behind the functions of a module and gen/onnx/relay/relay_constants.c reads
 * them. */
#include "numpy.h"
#include "relay_values.h"

/* Appends the lowest `bytes` bytes of v, the lowest first. */
static void
put_number(struct strbuf *out, uint64_t v, int bytes)
{
	for (int i = 0; i < bytes; i++) {
		strbuf_putc(out, (char)(v >> (8 * i)));
	}
}

static void
put_base64(const struct strbuf *bytes, struct strbuf *out)
{
	static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmno"
				     "pqrstuvwxyz0123456789+/";
	const uint8_t *data = (const uint8_t *)bytes->data;

	for (size_t i = 0; i < bytes->len; i += 3) {
		size_t n = bytes->len - i < 3 ? bytes->len - i : 3;
		uint32_t bits = 0;

		for (size_t k = 0; k < 3; k++) {
			bits = bits << 8 | (k < n ? data[i + k] : 0);
		}
		for (size_t k = 0; k < 4; k++) {
			strbuf_putc(out,
				    k <= n ? digits[bits >> (18 - 6 * k) & 63]
					   : '=');
		}
	}
}

/* Appends the array in TVM's binary form: a magic number, the device, the rank, the
 * type, the sizes, the number of bytes, the elements. */
static void
put_array(const struct array *x, struct strbuf *out)
{
	enum { INT, UINT, FLOAT, BFLOAT = 4 };
	struct dtype t = x->type;
	int64_t elems = array_elems(x);
	size_t bytes = (size_t)elems * (size_t)dtype_bytes(t);
	int code = t.kind == DT_BF16    ? BFLOAT
		   : dtype_is_float(t)  ? FLOAT
		   : dtype_is_signed(t) ? INT
					: UINT;

	put_number(out, UINT64_C(0xdd5e40f096b4a13f), 8);
	put_number(out, 0, 8);
	put_number(out, 1, 4); /* the processor */
	put_number(out, 0, 4);
	put_number(out, (uint64_t)x->ndim, 4);
	put_number(out, (uint64_t)code, 1);
	put_number(out, t.kind == DT_BOOL ? 1 : (uint64_t)dtype_bits(t), 1);
	put_number(out, 1, 2); /* lanes */
	for (int d = 0; d < x->ndim; d++) {
		put_number(out, (uint64_t)x->shape[d], 8);
	}
	put_number(out, bytes, 8);
	strbuf_write(out, array_bytes(x, x->offset, elems), bytes);
}

/* Implements _base64(array): the array as text. */
bool
relay_base64(struct call *c, struct pval *out)
{
	struct array_work w;
	struct strbuf bytes, text;
	struct array *x;

	if (!np_value(c->ev, c->span, &c->args[0], &x)) {
		return false;
	}
	w = np_work(c->ev);
	x = array_is_dense(x) ? x : array_cast(&w, x, x->type);
	if (!np_done(c->ev, c->span, &w)) {
		return false;
	}
	strbuf_init(&bytes);
	strbuf_init(&text);
	put_array(x, &bytes);
	put_base64(&bytes, &text);
	*out = pv_text_n(c->ev, text.data, text.len);
	strbuf_release(&text);
	strbuf_release(&bytes);
	return eval_tick_bytes(c->ev, c->span, out->u.text.n);
}
