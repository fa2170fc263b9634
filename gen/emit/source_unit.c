/* SPDX-License-Identifier: Apache-2.0 */
/* One source file that is being made: collects the headers and helpers that its
 * functions use. */
#include <math.h>

#include "unit.h"

void
unit_init(struct unit *u, struct module *m, const struct dialect *d)
{
	memset(u, 0, sizeof *u);
	u->m = m;
	u->d = d;
	u->a = &m->arena;
	pointer_map_init(&u->callee, u->a);
	name_set_init(&u->globals, u->a);
	u->globals.reserved = d->reserved.data;
	u->globals.n_reserved = d->reserved.n;
	u->globals.max_length = d->identifier_length;
}

void
unit_need(struct unit *u, const char *header)
{
	int i = u->headers.n;

	for (int k = 0; k < u->headers.n; k++) {
		if (strcmp(u->headers.data[k], header) == 0) {
			return;
		}
	}
	vec_push(u->a, &u->headers, header);
	while (i > 0 && strcmp(u->headers.data[i - 1], header) > 0) {
		u->headers.data[i] = u->headers.data[i - 1];
		i--;
	}
	u->headers.data[i] = header;
}

void
unit_add_callee(struct unit *u, const struct func *f)
{
	const struct expr *key = expr_string(u->m, f->name);

	if (pointer_map_get(&u->callee, key, -1) < 0) {
		pointer_map_put(&u->callee, key, u->callees.n);
	}
	vec_push(u->a, &u->callees, f);
}

static void
need_all(struct unit *u, struct names headers)
{
	for (int i = 0; i < headers.n; i++) {
		unit_need(u, headers.data[i]);
	}
}

void
unit_add_includes(const struct unit *u, struct tdata *data)
{
	tdata_list(data, "includes");
	for (int rare = 0; rare < 2; rare++) {
		for (int i = 0; i < u->headers.n; i++) {
			const char *name = u->headers.data[i];
			const char *condition = dialect_header_condition(u->d,
									 name);
			struct tdata *one;

			if ((condition != NULL) == (rare == 1)) {
				one = tdata_item(data, "includes");
				tdata_text(one, "header", name);
				tdata_text(one, "condition", condition);
			}
		}
	}
}

void
unit_need_type(struct unit *u, struct dtype t)
{
	need_all(u, u->d->types[t.kind].needs);
}

/* -- types -- */

static const char *
render(struct unit *u, const char *file, const char *item, const char *text,
       const struct tdata *data)
{
	struct strbuf s;
	const char *result = NULL;

	strbuf_init(&s);
	if (template_render(&u->m->diags, file, item, text, data, &s)) {
		result = arena_strdup(u->a, s.data != NULL ? s.data : "");
	}
	strbuf_release(&s);
	return result;
}

static struct tdata *
vector_data(struct unit *u, struct dtype t, bool loose)
{
	struct tdata *data = tdata_new(u->a);

	tdata_outer(data, u->d->types[t.kind].facts);
	tdata_text(data, "element", u->d->types[t.kind].spelling);
	tdata_int(data, "lanes", t.lanes);
	tdata_int(data, "bytes", dtype_bytes(t) * t.lanes);
	tdata_int(data, "element_bytes", dtype_bytes(t));
	tdata_flag(data, "loose", loose);
	tdata_text(data, "name", "");
	return data;
}

const char *
unit_vector(struct unit *u, struct dtype t, bool loose)
{
	struct vector_use use = { .type = t, .loose = loose };

	for (int i = 0; i < u->vectors.n; i++) {
		const struct vector_use *old = &u->vectors.data[i];

		if (dtype_equal(old->type, t) && old->loose == loose) {
			return old->name;
		}
	}
	if (dialect_type(u->d, t) == NULL) {
		return NULL;
	}
	for (int i = 0; i < u->d->vectors.spelled.n; i++) {
		const struct vector_name *own = &u->d->vectors.spelled.data[i];

		if (dtype_equal(own->type, t) &&
		    !(loose && u->d->vectors.computes)) {
			unit_need_type(u, t);
			return own->spelling;
		}
	}
	use.name = render(u, u->d->file, "/vectors/name", u->d->vectors.name,
			  vector_data(u, t, loose));
	if (use.name == NULL) {
		return NULL;
	}
	use.line = render(u, u->d->file, "/vectors/define",
			  u->d->vectors.define, vector_data(u, t, loose));
	if (use.line == NULL) {
		return NULL;
	}
	/* without a line, the language has the type itself */
	if (use.line[0] != '\0') {
		const char *wanted = use.name;
		struct tdata *data = vector_data(u, t, loose);

		use.name = name_set_add(&u->globals, wanted);
		tdata_text(data, "name", use.name);
		use.line = render(u, u->d->file, "/vectors/define",
				  u->d->vectors.define, data);
	}
	unit_need_type(u, t);
	vec_push(u->a, &u->vectors, use);
	return use.name;
}

const char *
unit_type(struct unit *u, struct dtype t)
{
	if (t.lanes > 1) {
		return unit_vector(u, t, false);
	}
	if (dialect_type(u->d, t) == NULL) {
		return NULL;
	}
	unit_need_type(u, t);
	return u->d->types[t.kind].spelling;
}

const char *
unit_element_type(struct unit *u, const struct buffer *b)
{
	int bytes = dtype_bytes(b->type) * b->type.lanes;

	return b->type.lanes > 1 && b->align_bytes < bytes
		       ? unit_vector(u, b->type, true)
		       : unit_type(u, b->type);
}

/* The signed integer type with lanes of the same width as t: the type of the
 * comparison of two vectors of type t. */
static struct dtype
mask_type(struct dtype t)
{
	for (int k = 0; k < DT_COUNT; k++) {
		struct dtype mask = { (uint16_t)k, t.lanes };

		if (dtype_class(mask) == DTC_INT &&
		    dtype_bits(mask) == dtype_bits(t)) {
			return mask;
		}
	}
	return t;
}

const struct tdata *
unit_facts(struct unit *u, struct dtype t)
{
	struct tdata *data;

	if (t.lanes == 1) {
		return u->d->types[t.kind].facts;
	}
	data = vector_data(u, t, false);
	tdata_text(data, "type", unit_vector(u, t, false));
	tdata_text(data, "short", unit_vector(u, t, false));
	return data;
}

static void
print_vectors(struct unit *u, struct strbuf *out)
{
	bool any = false;

	for (int i = 0; i < u->vectors.n; i++) {
		if (u->vectors.data[i].line[0] == '\0') {
			continue;
		}
		for (int k = 0; k < u->d->vectors.before.n && !any; k++) {
			strbuf_printf(out, "%s\n",
				      u->d->vectors.before.data[k]);
		}
		strbuf_printf(out, "%s\n", u->vectors.data[i].line);
		any = true;
	}
	if (any) {
		strbuf_putc(out, '\n');
	}
}

const char *
unit_literal(struct unit *u, struct dtype t, union number v)
{
	bool special;
	const char *text = dialect_literal(u->d, u->a, t, v, &special);

	if (special) {
		need_all(u, u->d->types[t.kind].special_needs);
	}
	return text;
}

/* -- helpers -- */

static union number
as_number(struct dtype t, double v)
{
	union number n;

	if (dtype_class(t) == DTC_FLOAT) {
		n.f = v;
	} else if (dtype_class(t) == DTC_UINT) {
		n.u = (uint64_t)v;
	} else {
		n.i = (int64_t)v;
	}
	return n;
}

/* For conversions of floats of type t to the integer type `to`, adds literals
 * of t: to_below and to_above (powers of two, negative ones, or 0): a float
 * fits if it is strictly between them; to_most: the largest integer of type
 * `to`, exact only if t can represent it. Adds to_zero, 0 as a literal of
 * `to`. */
static void
add_limits(struct unit *u, struct tdata *data, struct dtype t, struct dtype to)
{
	double half = 1.0;
	double below = 0.0;

	for (int i = 1; i < dtype_bits(to); i++) {
		half *= 2.0;
	}
	if (dtype_class(to) == DTC_INT) {
		below = -half;
	} else {
		half *= 2.0;
	}
	tdata_text(data, "to_below", unit_literal(u, t, as_number(t, below)));
	tdata_text(data, "to_above", unit_literal(u, t, as_number(t, half)));
	tdata_text(data, "to_most", unit_literal(u, t, as_number(t, half - 1)));
	tdata_text(data, "to_zero", unit_literal(u, to, as_number(to, 0.0)));
}

/* Adds the vector types that a helper's text names: {{mask}}, {{unsigned}},
 * {{doubles}} and {{shorts}} with as many lanes as t, {{pairs}} with half as many
 * lanes of 16 bits. */
static void
add_vectors(struct unit *u, struct tdata *data, const struct helper *h,
	    struct dtype t, struct dtype to)
{
	const struct {
		const char *word;
		struct dtype type;
		/* is the type larger than a register? Larger vectors are passed
		 * in memory, and loosely aligned */
		bool loose;
	} others[] = {
		{ "mask", mask_type(t), false },
		{ "unsigned", { DT_U32, t.lanes }, false },
		{ "doubles", { DT_F64, t.lanes }, true },
		{ "shorts", { DT_I16, t.lanes }, false },
		{ "pairs", { DT_U16, (uint16_t)(t.lanes / 2) }, false },
	};

	for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
		const char *slot = arena_printf(u->a, "{{%s}}", others[i].word);

		if (strstr(h->text, slot) != NULL) {
			tdata_text(data, others[i].word,
				   unit_vector(u, others[i].type,
					       others[i].loose));
		}
	}
	tdata_flag(data, "to_float", dtype_is_float(to));
	tdata_flag(data, "widens", dtype_bits(to) > dtype_bits(t));
	tdata_flag(data, "is_bf16", t.kind == DT_BF16);
	tdata_text(data, "from_short", dtype_short(dtype_of(t.kind)));
	tdata_flag(data, "four", t.lanes == 4);
	tdata_flag(data, "eight", t.lanes == 8);
	tdata_flag(data, "sixteen", t.lanes == 16);
	tdata_flag(data, "native",
		   t.lanes == 4 || t.lanes == 8 || t.lanes == 16);
}

static void
add_hex(struct tdata *data, const char *name, uint32_t bits, int n)
{
	tdata_printf(data, name, "0x%0*x", n / 4, (unsigned)bits);
}

/* Adds facts about a float type that is only stored: its binary format, its
 * smallest number, and the limit in the wide type from which on it overflows,
 * which is the first 2^e above its range. */
static void
add_float_form(struct unit *u, struct tdata *data, const struct helper *h,
	       struct dtype narrow, struct dtype wide)
{
	struct float_form f = dtype_float_form(narrow);
	uint32_t highest = float_form_highest(f);
	int bits = dtype_bits(narrow);
	const struct spelled_type *s = &u->d->types[narrow.kind];
	union number least, limit;

	tdata_text(data, "computed", u->d->types[s->computed.kind].spelling);
	if (strstr(h->text, "{{store}}") != NULL) {
		tdata_text(data, "store",
			   unit_helper(u, dialect_helper(u->d, s->store), wide,
				       narrow));
	}
	if (strstr(h->text, "{{load}}") != NULL) {
		tdata_text(data, "load",
			   unit_helper(u, dialect_helper(u->d, s->load), narrow,
				       s->computed));
	}
	tdata_int(data, "exponent_bits", f.exp_bits);
	tdata_int(data, "fraction_bits", f.frac_bits);
	tdata_int(data, "lost_bits", 23 - f.frac_bits);
	tdata_int(data, "places", f.bias + f.frac_bits - 1);
	tdata_int(data, "sign_shift", 32 - bits);
	tdata_int(data, "bias", f.bias);
	tdata_int(data, "rebias", 127 - f.bias);
	tdata_int(data, "least_exponent", 128 - f.bias);
	tdata_flag(data, "has_infinity", f.specials == SPECIALS_IEEE);
	tdata_flag(data, "has_nan", f.specials != SPECIALS_FINITE);
	tdata_flag(data, "nan_apart",
		   float_form_nan(f) != float_form_beyond(f));
	tdata_flag(data, "one_zero", f.specials == SPECIALS_ONE_ZERO);
	add_hex(data, "sign_bits", float_form_sign(f), bits);
	add_hex(data, "magnitude_bits", float_form_sign(f) - 1, bits);
	add_hex(data, "largest_bits", highest, bits);
	add_hex(data, "beyond_bits", float_form_beyond(f), bits);
	add_hex(data, "nan_bits", float_form_nan(f), bits);
	least.f = ldexp(1, 1 - f.bias - f.frac_bits);
	limit.f = ldexp(1, (int)(highest >> f.frac_bits) + 1 - f.bias);
	tdata_text(data, "least", unit_literal(u, wide, least));
	if (strstr(h->text, "{{limit}}") !=
	    NULL) { /* made only if the form uses it, because the literal of an
		     * infinity needs a header */
		tdata_text(data, "limit",
			   unit_literal(u, wide, number_round(wide, limit)));
	}
}

static struct tdata *
helper_data(struct unit *u, const struct helper *h, struct dtype t,
	    struct dtype to)
{
	const struct spelled_type *s = &u->d->types[to.kind];
	struct tdata *data = tdata_new(u->a);

	tdata_outer(data, unit_facts(u, t));
	if (t.lanes > 1) {
		add_vectors(u, data, h, t, to);
	}
	tdata_text(data, "function",
		   u->d->inlines && h->small ? u->d->functions.inlined_helper
					     : u->d->functions.helper);
	tdata_text(data, "model", u->model);
	tdata_text(data, "to_type",
		   to.lanes > 1 ? unit_type(u, to) : s->spelling);
	tdata_text(data, "to_short",
		   to.lanes > 1 ? unit_type(u, to) : dtype_short(to));
	tdata_int(data, "to_bits", dtype_bits(to));
	tdata_flag(data, "is_wide", dtype_is_float(t) && dtype_bits(t) > 32);
	tdata_flag(data, "to_signed", dtype_is_signed(to));
	tdata_text(data, "to_lowest", s->lowest);
	tdata_text(data, "to_highest", s->highest);
	if (dtype_is_float(t) && dtype_is_int(to)) {
		add_limits(u, data, dtype_of(t.kind), dtype_of(to.kind));
	}
	if (u->d->types[t.kind].is_stored_only) {
		add_float_form(u, data, h, t, to);
	} else if (s->is_stored_only) {
		add_float_form(u, data, h, to, t);
	}
	for (int i = 0; i < h->uses.n; i++) {
		tdata_text(data, h->uses.data[i],
			   unit_helper(u, dialect_helper(u->d, h->uses.data[i]),
				       t, to));
	}
	return data;
}

/* Marks the helpers that h calls as used in functions in which contraction is
 * forbidden, because h itself is used in such a function. */
static void
set_used_apart(struct unit *u, const struct helper *h, struct dtype t,
	       struct dtype to)
{
	for (int i = 0; i < h->uses.n; i++) {
		unit_helper(u, dialect_helper(u->d, h->uses.data[i]), t, to);
	}
}

const char *
unit_helper(struct unit *u, const struct helper *h, struct dtype t,
	    struct dtype to)
{
	struct helper_use use = {
		.helper = h, .type = t, .to = to, .apart = u->apart
	};

	for (int i = 0; i < u->helpers.n; i++) {
		struct helper_use *old = &u->helpers.data[i];

		if (old->helper == h && dtype_equal(old->type, t) &&
		    dtype_equal(old->to, to)) {
			if (u->apart && !old->apart) {
				old->apart = true;
				set_used_apart(u, h, t, to);
			}
			return old->name;
		}
	}
	use.name = render(u, u->d->file,
			  arena_printf(u->a, "/helpers/%s/name", h->key),
			  h->name, helper_data(u, h, t, to));
	if (use.name == NULL) {
		return NULL;
	}
	use.name = name_set_add(&u->globals, use.name);
	need_all(u, h->needs);
	unit_need_type(u, t);
	unit_need_type(u, to);
	vec_push(u->a, &u->helpers, use);
	return use.name;
}

/* Must helper i be printed between the dialect's lines that forbid
 * contraction? */
static bool
is_apart(const struct unit *u, int i)
{
	return i >= 0 && i < u->helpers.n && u->helpers.data[i].apart &&
	       u->helpers.data[i].helper->contracts;
}

static void
print_lines(struct names lines, struct strbuf *out)
{
	for (int i = 0; i < lines.n; i++) {
		strbuf_printf(out, "%s\n", lines.data[i]);
	}
	if (lines.n > 0) {
		strbuf_putc(out, '\n');
	}
}

bool
unit_print_helpers(struct unit *u, struct strbuf *out)
{
	need_all(u, u->d->fp_needs);
	if (!unit_print_relied_on(u, out)) {
		return false;
	}
	print_lines(u->d->source_before, out);
	if (u->d->inlines) {
		print_lines(u->d->functions.inlined_before, out);
	}
	print_lines(u->d->fp_before, out);
	print_vectors(u, out);
	for (int i = 0; i < u->helpers.n; i++) {
		const struct helper_use *use = &u->helpers.data[i];
		struct tdata *data = helper_data(u, use->helper, use->type,
						 use->to);

		tdata_text(data, "name", use->name);
		if (is_apart(u, i) && !is_apart(u, i - 1)) {
			print_lines(u->d->functions.apart_begin, out);
		}
		if (!template_render(&u->m->diags, use->helper->file, NULL,
				     use->helper->text, data, out)) {
			return false;
		}
		strbuf_putc(out, '\n');
		if (is_apart(u, i) && !is_apart(u, i + 1)) {
			print_lines(u->d->functions.apart_end, out);
		}
	}
	return unit_print_externals(u, out);
}

void
unit_add_guard(struct unit *u, struct tdata *data, bool starts, bool ends)
{
	struct names none = { NULL, 0 };
	const struct {
		const char *key;
		struct names lines;
	} sides[] = {
		{ "exact_starts", starts ? u->d->functions.apart_begin : none },
		{ "exact_ends", ends ? u->d->functions.apart_end : none },
	};

	for (int s = 0; s < 2; s++) {
		tdata_list(data, sides[s].key);
		for (int i = 0; i < sides[s].lines.n; i++) {
			tdata_text(tdata_item(data, sides[s].key), "line",
				   sides[s].lines.data[i]);
		}
	}
}

bool
emit_func(struct module *m, const struct dialect *d, const struct func *f,
	  struct strbuf *out)
{
	struct unit u;
	struct strbuf text;
	bool ok;

	unit_init(&u, m, d);
	strbuf_init(&text);
	ok = unit_func(&u, f, &text) && unit_print_helpers(&u, out);
	if (ok) {
		strbuf_puts(out, text.data);
	}
	strbuf_release(&text);
	return ok;
}
