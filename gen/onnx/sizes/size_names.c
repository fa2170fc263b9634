/* SPDX-License-Identifier: Apache-2.0 */
/* Sizes of inputs that are names. --dim or --input-shape gives a name a number
 * or a range; without them, a name that looks like a batch size is assumed to
 * be 1. A name with a range becomes a size variable of the graph. A name may be
 * a formula of other names, as exporters write them, or --dim may give it a
 * formula:
 *
 *	--dim n=8..64 --dim m=2*n    m is 2 * n
 *	"past + 1"                   past + 1; if --input-shape says 5, past is 4
 *	--dim n=8..64:8              8 * n_8, with n_8 = n / 8 from 1 to 8
 */
#include "size_names.h"
#include "import_inputs.h"
#include "process.h"

#include <ctype.h>

#include "analyse.h"

static bool
names_a_batch(const char *name)
{
	char low[64];
	size_t n = 0;

	for (; name[n] && n < sizeof low - 1; n++) {
		low[n] = (char)tolower((unsigned char)name[n]);
	}
	low[n] = '\0';
	return strstr(low, "batch") || strcmp(low, "n") == 0 ||
	       strcmp(low, "b") == 0 || strcmp(low, "bs") == 0 ||
	       strncmp(low, "unk", 3) == 0 || strcmp(low, "none") == 0;
}

static struct size_name *
find(const struct size_names *s, const char *name, size_t length)
{
	int i = text_map_get_bytes(&s->numbers, name, length, -1);

	return i >= 0 ? &s->list.data[i] : NULL;
}

static void
append(struct size_names *s, struct size_name row)
{
	if (!s->numbers.arena) {
		text_map_init(&s->numbers, &s->imp->tmp);
	}
	text_map_add(&s->numbers, row.name, s->list.n);
	vec_push(&s->imp->tmp, &s->list, row);
}

struct size_name *
size_names_find(const struct size_names *s, const char *name)
{
	return find(s, name, strlen(name));
}

/* -- messages -- */

/* The names of all sizes, for messages: "'a', 'b'", or "none". */
static const char *
list_of(const struct size_names *s)
{
	struct arena *a = &s->imp->tmp;
	const char *list = NULL;

	for (int i = 0; i < s->list.n; i++) {
		const char *one = import_quote(a, s->list.data[i].name);

		if (i == 20) {
			return arena_printf(a, "%s, …", list);
		}
		list = list ? arena_printf(a, "%s, %s", list, one) : one;
	}
	return list ? list : "none";
}

static const char *
quote(const struct size_names *s, const char *name)
{
	return import_quote(&s->imp->tmp, name);
}

static struct diag_place
place(const struct size_names *s)
{
	return (struct diag_place){ .file = s->imp->source.path };
}

/* The range of a size as a text: "8" or "1..8". */
static const char *
range_text(const struct size_names *s, const struct size_name *row)
{
	struct arena *a = &s->imp->tmp;

	return row->min == row->max
		       ? arena_printf(a, "%lld", (long long)row->max)
		       : arena_printf(a, "%lld..%lld", (long long)row->min,
				      (long long)row->max);
}

static bool
contradiction(struct size_names *s, const struct size_name *row,
	      struct bounds b)
{
	struct size_name given = { .min = b.min, .max = b.max };

	return diag_error(&s->imp->m->diags, DIAG_BAD_OPTION, place(s),
			  "the sizes contradict each other: %s is given as %s, "
			  "but %s is %s by the sizes in it; leave one of them "
			  "out, or correct it",
			  quote(s, row->name), range_text(s, row),
			  quote(s, row->formula), range_text(s, &given));
}

/* -- names and formulas -- */

/* The state and the results of collect() while a formula is read. */
struct collecting {
	struct size_names *s;
	bool add;    /* add a row for each new name */
	bool option; /* the formula was given by an option */
	int n_known, n_unbound;
	/* the index of the last name that has no number yet, or -1 */
	int unbound;
};

static const struct expr *
collect(void *ctx, const char *name, size_t length)
{
	struct collecting *c = ctx;
	struct arena *a = &c->s->imp->tmp;
	struct size_name *row = find(c->s, name, length);

	if (!row && c->add) {
		struct size_name fresh = {
			.name = arena_strndup(a, name, length),
			.from_option = c->option,
		};

		append(c->s, fresh);
	}
	if (row) {
		c->n_known++;
		if (!row->bound && !row->formula &&
		    c->unbound != (int)(row - c->s->list.data)) {
			c->unbound = (int)(row - c->s->list.data);
			c->n_unbound++;
		}
	}
	return expr_index(c->s->imp->m, 1);
}

static struct collecting
look_into(struct size_names *s, const char *formula, bool add, bool option)
{
	struct collecting c = {
		.s = s, .add = add, .option = option, .unbound = -1
	};

	formula_read(s->imp->m, formula, collect, &c);
	return c;
}

/* Is the text a formula: does it have an operator, which a name does not have?
 * A hyphen without blanks and a single slash may be parts of a name. Only looks
 * for operator characters; the reader of formulas reports other mistakes. */
static bool
is_formula(const char *text)
{
	return strpbrk(text, "+*(%") != NULL || strstr(text, " - ") != NULL ||
	       strstr(text, "//") != NULL;
}

bool
size_is_name(const char *text)
{
	static const char *const unknown[] = { "none", "null", "unknown" };
	char low[16];
	size_t n = 0;
	bool word = false;

	for (const char *p = text; *p; p++) {
		unsigned char c = (unsigned char)*p;

		word |= isalpha(c) || c == '_' || c >= 0x80;
		if (n < sizeof low - 1) {
			low[n++] = (char)tolower(c);
		}
	}
	low[n] = '\0';
	for (size_t i = 0; i < sizeof unknown / sizeof *unknown; i++) {
		word &= strcmp(low, unknown[i]) != 0;
	}
	return word;
}

void
size_names_add(struct size_names *s, const char *name, bool leading)
{
	struct size_name row = {
		.name = name,
		.needed = true,
		.leading = leading,
		.batch = leading && names_a_batch(name),
	};
	struct size_name *old = size_names_find(s, name);

	if (old) {
		old->needed = true;
		return;
	}
	append(s, row);
}

const char *
size_names_new(struct size_names *s, const char *input, int d, bool unknown)
{
	struct arena *a = &s->imp->tmp;
	const char *name = arena_printf(a, "%s_%d", input, d);
	struct size_name row = {
		.what = arena_printf(a, "dimension %d of input %s", d,
				     import_quote(a, input)),
		.needed = true,
		.leading = d == 0,
		.batch = d == 0 && unknown,
	};

	while (size_names_find(s, name)) {
		name = arena_printf(a, "%s_", name);
	}
	row.name = name;
	append(s, row);
	return name;
}

/* Finds the formulas among the names of the model. Appends to s->list the names
 * that occur only in formulas. */
static void
find_formulas(struct size_names *s)
{
	int n = s->list.n;

	for (int i = 0; i < n; i++) {
		const char *name = s->list.data[i].name;
		struct collecting c = { .s = s, .unbound = -1 };

		if (is_formula(name) &&
		    formula_read(s->imp->m, name, collect, &c)) {
			s->list.data[i].formula = name;
			s->list.data[i].batch = false;
			look_into(s, name, true, false);
		}
	}
}

/* -- options -- */

bool
size_names_bind(struct size_names *s, const char *name, int64_t min,
		int64_t max, int64_t step, const char *option)
{
	struct module *m = s->imp->m;
	struct size_name *row = size_names_find(s, name);
	const struct size_name given = { .min = min, .max = max };

	step = step > 1 ? step : 1;
	if (!row) {
		return diag_error(&m->diags, DIAG_BAD_OPTION, place(s),
				  "%s: the model's inputs have no size named "
				  "%s; their names are: %s",
				  option, quote(s, name), list_of(s));
	}
	if (max < 1 || min < 0 || max < min || max > INT32_MAX) {
		return diag_error(
			&m->diags, DIAG_BAD_OPTION, place(s),
			"%s: the size %s cannot be %lld..%lld; give a number "
			"from 1, or a range from a smaller to a larger one",
			option, quote(s, name), (long long)min, (long long)max);
	}
	if (min % step != 0 || max % step != 0) {
		return diag_error(
			&m->diags, DIAG_BAD_OPTION, place(s),
			"%s: the bounds of %s, %lld and %lld, are not "
			"multiples of %lld; give bounds that are",
			option, quote(s, name), (long long)min, (long long)max,
			(long long)step);
	}
	if (row->bound &&
	    (row->min != min || row->max != max || row->step != step)) {
		return diag_error(&m->diags, DIAG_BAD_OPTION, place(s),
				  "%s: the size %s is %s here and %s "
				  "elsewhere; give it once",
				  option, quote(s, name), range_text(s, &given),
				  range_text(s, row));
	}
	row->bound = true;
	row->min = min;
	row->max = max;
	row->step = step;
	return true;
}

bool
size_names_relate(struct size_names *s, const char *name, const char *formula,
		  const char *option)
{
	struct module *m = s->imp->m;
	struct size_name *row = size_names_find(s, name);
	struct collecting c = {
		.s = s, .add = true, .option = true, .unbound = -1
	};

	if (!row) {
		return size_names_bind(s, name, 1, 1, 1, option);
	}
	if (row->related) {
		return diag_error(&m->diags, DIAG_BAD_OPTION, place(s),
				  "%s: the size %s is given twice; give it "
				  "once",
				  option, quote(s, name));
	}
	if (!formula_read(m, formula, collect, &c)) {
		return diag_error(&m->diags, DIAG_BAD_OPTION, place(s),
				  "%s: %s is not a formula of sizes; write "
				  "NAME=FORMULA such as m=2*n+1",
				  option, quote(s, formula));
	}
	/* collecting names may have moved the list */
	row = size_names_find(s, name);
	row->formula = formula;
	row->related = true;
	return true;
}

/* --dim new=old gives a size `old` of the model another name: handled as
 * old=new. */
static struct dim_binding
renaming(struct size_names *s, const struct dim_binding *d)
{
	const struct size_name *from = size_names_find(s, d->name);
	struct dim_binding out = *d;

	if (d->formula && (!from || from->from_option)) {
		const struct size_name *old = size_names_find(s, d->formula);

		if (old && !old->from_option && !old->formula) {
			out.name = d->formula;
			out.formula = d->name;
		}
	}
	return out;
}

static bool
apply_options(struct size_names *s)
{
	const struct import_options *o = s->imp->options;
	struct dim_binding *dims = arena_array(&s->imp->tmp, struct dim_binding,
					       o->n_dims + 1);

	for (int i = 0; i < o->n_dims; i++) {
		dims[i] = renaming(s, &o->dims[i]);
		if (dims[i].formula) {
			look_into(s, dims[i].formula, true, true);
		}
	}
	for (int i = 0; i < o->n_dims; i++) {
		const struct dim_binding *d = &dims[i];

		if (d->formula ? !size_names_relate(s, d->name, d->formula,
						    "--dim")
			       : !size_names_bind(s, d->name, d->min, d->max,
						  d->step, "--dim")) {
			return false;
		}
	}
	return true;
}

/* -- values -- */

struct trying {
	struct size_names *s;
	const struct size_name *open;
	/* the value that is tried for `open`, the name that has no number
	 * yet */
	int64_t value;
};

static const struct expr *
try_name(void *ctx, const char *name, size_t length)
{
	const struct trying *t = ctx;
	const struct size_name *row = find(t->s, name, length);

	if (row == t->open) {
		return expr_index(t->s->imp->m, t->value);
	}
	return row && row->bound && row->min == row->max
		       ? expr_index(t->s->imp->m, row->min)
		       : NULL;
}

/* Sets *out to the value of the formula when `open`, the only name in it
 * without a number, has the value `value`. False if the formula then has no
 * value. */
static bool
value_at(struct size_names *s, const char *formula,
	 const struct size_name *open, int64_t value, int64_t *out)
{
	struct trying t = { s, open, value };
	const struct expr *e = formula_read(s->imp->m, formula, try_name, &t);

	return e && expr_is_int(e, out);
}

/* Sets the number of `open`, the only name in the formula of `row` that has no
 * number yet. The formula is linear, and its value is known: if "past + 1" is
 * 5, past is 4. */
static void
solve(struct size_names *s, const struct size_name *row, struct size_name *open)
{
	int64_t at_0, at_1, at_x, slope, x;

	if (!value_at(s, row->formula, open, 0, &at_0) ||
	    !value_at(s, row->formula, open, 1, &at_1)) {
		return;
	}
	slope = at_1 - at_0;
	if (slope == 0 || (row->min - at_0) % slope != 0) {
		return;
	}
	x = (row->min - at_0) / slope;
	if (x < 1 || x > INT32_MAX ||
	    !value_at(s, row->formula, open, x, &at_x) || at_x != row->min) {
		return;
	}
	open->bound = true;
	open->min = open->max = x;
	open->step = 1;
}

/* If the value of a formula is known as a number, computes the number of the
 * one name in it that is still open. A formula with several open names is
 * treated like a name. */
static void
settle_formulas(struct size_names *s)
{
	for (int i = 0; i < s->list.n; i++) {
		struct size_name *row = &s->list.data[i];
		struct collecting c;

		if (!row->formula || !row->bound) {
			continue;
		}
		c = look_into(s, row->formula, false, false);
		if (c.n_unbound == 1 && row->min == row->max) {
			solve(s, row, &s->list.data[c.unbound]);
			c = look_into(s, row->formula, false, false);
		}
		if (c.n_unbound > 0) {
			row->formula = NULL;
		}
	}
}

static const struct expr *
need(void *ctx, const char *name, size_t length)
{
	const struct size_names *s = ctx;

	find(s, name, length)->needed = true;
	return expr_index(s->imp->m, 1);
}

static void
assume_batches(struct size_names *s)
{
	struct arena *a = &s->imp->tmp;

	for (int i = 0; i < s->list.n; i++) {
		struct size_name *row = &s->list.data[i];
		const char *one, *range;

		if (row->formula) {
			formula_read(s->imp->m, row->formula, need, s);
		}
		if (row->bound || row->formula || !row->batch) {
			continue;
		}
		one = command_quoted(a, arena_printf(a, "%s=N", row->name));
		range = command_quoted(a,
				       arena_printf(a, "%s=1..N", row->name));
		row->bound = row->assumed = true;
		row->min = row->max = row->step = 1;
		missing_note_batch(s->imp, row->name);
		import_assume(
			s->imp,
			row->what ? arena_printf(a,
						 "%s is 1 (--dim %s or "
						 "--input-shape says "
						 "otherwise)",
						 row->what, one)
				  : arena_printf(a,
						 "%s is 1 (--dim %s or --dim "
						 "%s says otherwise)",
						 quote(s, row->name), one,
						 range));
	}
}

static const struct expr *resolve(struct size_names *s, struct size_name *row);

/* A formula whose names are resolved. */
struct resolving {
	struct size_names *s;
	bool assumed; /* one of its names is assumed */
};

static const struct expr *
resolve_name(void *ctx, const char *name, size_t length)
{
	struct resolving *of = ctx;
	struct size_name *row = find(of->s, name, length);
	const struct expr *e = resolve(of->s, row);

	of->assumed |= row->assumed;
	return e;
}

/* For a size that is given by a formula, and that an option declares to be a
 * multiple of a step: reports an error if the size never is a multiple, and
 * adds a check to the entry function if it is not proven to be one. False after
 * the error. */
static bool
check_step(struct size_names *s, struct size_name *row, struct analyser *a)
{
	struct module *m = s->imp->m;
	const struct expr *e = row->expr, *zero = expr_int(m, e->type, 0), *c;
	struct dtype type = e->type;

	if (!row->bound || row->step == 1) {
		return true;
	}
	c = expr_eq(m, expr_floormod(m, e, expr_int(m, type, row->step)), zero);
	c = simplify(a, c);
	if (expr_is_value(c, 0)) {
		return diag_error(&m->diags, DIAG_BAD_OPTION, place(s),
				  "the size %s is given as a multiple of %lld, "
				  "but %s never is one; leave the step out, or "
				  "correct it",
				  quote(s, row->name), (long long)row->step,
				  quote(s, row->formula));
	}
	if (!expr_is_value(c, 1)) {
		graph_check(s->imp->g, c);
	}
	return true;
}

/* Compares the bounds of the formula with the range that an option gives for
 * it, or with [0, INT32_MAX]. False after a diagnostic if no value is in both.
 * Adds a check to the entry function if the formula may have a value outside of
 * the range. */
static bool
check_formula(struct size_names *s, struct size_name *row)
{
	struct module *m = s->imp->m;
	const struct expr *e = row->expr;
	int64_t least = row->bound ? row->min : 0;
	int64_t most = row->bound ? row->max : INT32_MAX;
	struct analyser a;
	struct bounds b;

	analyser_init(&a, m);
	e = row->expr = simplify(&a, e);
	b = analyse_bounds(&a, e);
	if (!row->bound && b.max < 0) {
		return diag_error(&m->diags, DIAG_BAD_OPTION, place(s),
				  "the size %s is %s, which is negative; give "
				  "other sizes with --dim",
				  quote(s, row->name), quote(s, row->formula));
	}
	if (!row->bound && (b.max == BOUND_POS_INF || b.max > INT32_MAX)) {
		return diag_error(&m->diags, DIAG_BAD_OPTION, place(s),
				  "the size %s is %s, which may be as large as "
				  "%lld; give smaller bounds with --dim",
				  quote(s, row->name), quote(s, row->formula),
				  (long long)b.max);
	}
	if (b.max < least || b.min > most) {
		return contradiction(s, row, b);
	}
	if (!check_step(s, row, &a)) {
		return false;
	}
	if (b.min < least) {
		graph_check(s->imp->g,
			    expr_le(m, expr_int(m, e->type, least), e));
	}
	if (b.max > most) {
		graph_check(s->imp->g,
			    expr_le(m, e, expr_int(m, e->type, most)));
	}
	if (!row->bound) {
		row->min = b.min > 0 ? b.min : 0;
		row->max = b.max;
	}
	return true;
}

/* Makes a variable for a size with a range. */
static const struct expr *
new_variable(struct size_names *s, const struct size_name *row)
{
	struct module *m = s->imp->m;
	struct graph *g = s->imp->g;
	const char *name = arena_strdup(&m->arena, row->name);
	struct var *v = var_new_dim(m, name, row->min, row->max);
	struct dim_step step = { .given = v, .step = row->step };

	if (g->dims.n == GRAPH_MAX_DIMS) {
		diag_error(&m->diags, DIAG_TOO_LARGE,
			   import_place(s->imp, NULL),
			   "there are more than %d symbolic dimensions; give "
			   "some a number with --dim",
			   GRAPH_MAX_DIMS);
		return NULL;
	}
	if (row->step == 1) {
		vec_push(&m->arena, &g->dims, v);
		return v->expr;
	}
	step.var = var_new_dim(m,
			       arena_printf(&m->arena, "%s_%lld", name,
					    (long long)row->step),
			       row->min / row->step, row->max / row->step);
	vec_push(&m->arena, &g->dims, step.var);
	vec_push(&m->arena, &g->steps, step);
	return expr_mul(m, step.var->expr, expr_index(m, row->step));
}

/* The size as an expression; NULL after a diagnostic. */
static const struct expr *
resolve(struct size_names *s, struct size_name *row)
{
	struct module *m = s->imp->m;

	if (row->expr) {
		return row->expr;
	}
	if (row->busy) {
		diag_error(&m->diags, DIAG_BAD_OPTION, place(s),
			   "--dim: the size %s depends on itself; give one of "
			   "these sizes a number or a range",
			   quote(s, row->name));
		return NULL;
	}
	row->busy = true;
	if (row->formula) {
		struct resolving of = { .s = s };
		int errors = m->diags.n_errors;

		row->expr = formula_read(m, row->formula, resolve_name, &of);
		row->assumed = of.assumed;
		if (row->expr && !check_formula(s, row)) {
			row->expr = NULL;
		}
		if (!row->expr && m->diags.n_errors == errors) {
			diag_error(&m->diags, DIAG_BAD_OPTION, place(s),
				   "the size %s cannot be computed from the "
				   "given sizes; divisors must be numbers from "
				   "1 to 2^20, and results below 2^31: give "
				   "other sizes with --dim",
				   quote(s, row->formula));
		}
	} else if (row->min == row->max) {
		row->expr = expr_index(m, row->min);
	} else {
		row->expr = new_variable(s, row);
	}
	return row->expr;
}

/* Gives each size without a value a range. */
static void
open_all(struct size_names *s)
{
	for (int i = 0; i < s->list.n; i++) {
		struct size_name *row = &s->list.data[i];

		if (row->formula) {
			formula_read(s->imp->m, row->formula, need, s);
		} else if (!row->bound) {
			row->bound = true;
			row->min = row->step = 1;
			row->max = MISSING_SIZE;
		}
	}
}

bool
size_names_settle(struct size_names *s)
{
	find_formulas(s);
	if (!apply_options(s)) {
		return false;
	}
	settle_formulas(s);
	if (s->imp->options->open_sizes) {
		open_all(s);
	}
	assume_batches(s);
	for (int i = 0; i < s->list.n; i++) {
		struct size_name *row = &s->list.data[i];

		if (!row->bound && !row->formula && row->needed) {
			row->bound = true;
			row->min = row->max = row->leading ? 1 : MISSING_SIZE;
			missing_add(s->imp, MISSING_DIM, row->name, row->what,
				    (int)row->max);
			row->step = 1;
		}
	}
	for (int i = 0; i < s->list.n; i++) {
		struct size_name *row = &s->list.data[i];

		if (row->needed && !resolve(s, row)) {
			return false;
		}
	}
	return true;
}
