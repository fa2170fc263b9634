/* SPDX-License-Identifier: Apache-2.0 */
/* Instructions of a device as statements in assembly: families of instructions
 * that have the same operands, whose texts are data of the dialect.
 *
 *	family "ptx.ld." with the operands "R, [a]"
 *	T.ptx.ld.global_.v2.u32(x[0], x[1], p)
 *
 *	asm volatile("ld.global.v2.u32 { %0, %1 }, [%2];" : "=r"(x[0]), "=r"(x[1]) : "l"(p) …) */
#include "assembly.h"

#include <stdarg.h>
#include <string.h>

#include "buffer.h"
#include "template.h"

struct assembly {
	struct module *m;
	const struct dialect *d;
	const char *why; /* the first reason why the text cannot be made */
	const struct assembly_forms *forms;
	const struct expr *e;
	const char *const *texts; /* of the arguments behind the name */
	const char *name;
	int next;      /* the index of the next argument */
	int spare;     /* the arguments that one letter takes beyond its own */
	int n_results; /* the numbers of values begin behind those of results */
	int n_put, n_values; /* the results and values that were put already */
	struct strbuf operands, outputs, inputs;
};

static void
fail(struct assembly *x, const char *fmt, ...)
{
	va_list ap;

	if (x->why == NULL) {
		va_start(ap, fmt);
		x->why = arena_vprintf(&x->m->arena, fmt, ap);
		va_end(ap);
	}
}

static const char *
render(struct assembly *x, const char *text, const struct tdata *data)
{
	struct strbuf s;
	const char *result = "";

	strbuf_init(&s);
	if (!template_render(&x->m->diags, x->d->file, text, text, data, &s)) {
		fail(x, "%s: its text", x->name);
	} else if (s.len > 0) {
		result = arena_strndup(&x->m->arena, s.data, s.len);
	}
	strbuf_release(&s);
	return result;
}

static const struct assembly_family *
family_of(const struct assembly_forms *forms, const char *name)
{
	const struct assembly_family *best = NULL;

	for (int i = 0; i < forms->families.n; i++) {
		const struct assembly_family *f = &forms->families.data[i];

		if (strncmp(name, f->begins, strlen(f->begins)) == 0 &&
		    (best == NULL ||
		     strlen(f->begins) > strlen(best->begins))) {
			best = f;
		}
	}
	return best;
}

/* A name of letters, digits, points and colons, which can end no text. */
static bool
is_plain(const char *name)
{
	for (const char *c = name; *c != '\0'; c++) {
		if ((*c < 'a' || *c > 'z') && (*c < 'A' || *c > 'Z') &&
		    (*c < '0' || *c > '9') && strchr("._:", *c) == NULL) {
			return false;
		}
	}
	return true;
}

bool
assembly_has(const struct dialect *d, const char *name)
{
	const struct assembly_forms *forms = &d->device.assembly;

	return forms->statement != NULL && is_plain(name) &&
	       family_of(forms, name) != NULL;
}

/* The name in the assembly: behind the first point, with the words replaced. */
static const char *
assembly_name(struct assembly *x, const char *name)
{
	const char *at = strchr(name, '.');
	struct strbuf s;
	const char *out;

	strbuf_init(&s);
	at = arena_printf(&x->m->arena, "%s.", at != NULL ? at + 1 : name);
	while (*at != '\0') {
		const struct assembly_word *word = NULL;

		for (int i = 0; i < x->forms->words.n && word == NULL; i++) {
			const struct assembly_word *one =
				&x->forms->words.data[i];

			if (strncmp(at, one->from, strlen(one->from)) == 0) {
				word = one;
			}
		}
		if (word != NULL) {
			strbuf_puts(&s, word->to);
			at += strlen(word->from);
		} else {
			strbuf_putc(&s, *at++);
		}
	}
	out = arena_strndup(&x->m->arena, s.data,
			    s.len - 1); /* without the point */
	strbuf_release(&s);
	return out;
}

static const char *
letter_of(struct assembly *x, struct dtype t)
{
	for (int i = 0; i < x->forms->letters.n; i++) {
		if (dtype_equal(x->forms->letters.data[i].type, t)) {
			return x->forms->letters.data[i].name;
		}
	}
	fail(x, "%s: an operand of type %s", x->name, dtype_name(t));
	return "";
}

/* Is e the address of an element in memory that threads share? */
static bool
is_shared_address(const struct expr *e)
{
	return e->kind == EXPR_CALL && intrin_is_address(e->u.intrin) &&
	       e->args[0]->kind == EXPR_LOAD &&
	       buffer_is_shared(e->args[0]->u.buffer);
}

/* The address e of an element, as an operand: in an instruction of shared memory the
 * address there. Sets *letter. */
static const char *
address(struct assembly *x, const struct expr *e, const char **letter)
{
	struct tdata *data = tdata_new(&x->m->arena);
	const char *value = x->texts[x->next - 1];

	if (strstr(x->name, "shared") == NULL ||
	    dtype_class(e->type) != DTC_HANDLE) {
		*letter = letter_of(x, e->type);
		return value;
	}
	if (!is_shared_address(e)) {
		fail(x,
		     "%s: an address in shared memory that is not that "
		     "of an element",
		     x->name);
	}
	tdata_text(data, "value", value);
	*letter = letter_of(x, dtype_of(DT_U32));
	return render(x, x->forms->shared, data);
}

/* Sets *letter to that of the value e. */
static const char *
value(struct assembly *x, const struct expr *e, char kind, const char **letter)
{
	if (kind == 'i' && e->kind != EXPR_INT) {
		fail(x, "%s: a number that is known only when it runs",
		     x->name);
	}
	*letter = e->kind == EXPR_INT ? x->forms->literal
				      : letter_of(x, e->type);
	return x->texts[x->next - 1];
}

/* Appends the operand behind the text of the assembly. */
static void
put_behind(struct assembly *x, const struct expr *e, char kind)
{
	bool result = kind == 'r';
	struct strbuf *out = result ? &x->outputs : &x->inputs;
	struct tdata *data = tdata_new(&x->m->arena);
	const char *letter = "", *text;

	if (result && e->kind != EXPR_LOAD) {
		fail(x, "%s: a result that is no element of an array", x->name);
	}
	text = kind == 'a' ? address(x, e, &letter)
			   : value(x, e, kind, &letter);
	tdata_text(data, "letter", letter);
	tdata_text(data, "value", text);
	strbuf_puts(out, out->len > 0 ? ", " : "");
	strbuf_puts(out, render(x, result ? x->forms->output : x->forms->input,
				data));
}

/* The next argument as an operand in the text of the assembly; kind is one of the
 * letters r, s, a and i of a family. */
static const char *
operand(struct assembly *x, char kind)
{
	bool result = kind == 'r';
	struct tdata *data = tdata_new(&x->m->arena);

	if (x->next >= x->e->n_args) {
		fail(x, "%s without some of its operands", x->name);
		return "";
	}
	put_behind(x, x->e->args[x->next], kind);
	x->next++;
	tdata_int(data, "n",
		  result ? x->n_put++ : x->n_results + x->n_values++);
	return render(x, x->forms->operand, data);
}

/* Appends n operands; grouped: as one of the instruction. */
static void
put_operands(struct assembly *x, int n, char kind, bool grouped)
{
	const char *list = "";
	struct tdata *data = tdata_new(&x->m->arena);

	for (int i = 0; i < n && x->why == NULL; i++) {
		list = arena_printf(&x->m->arena, "%s%s%s", list,
				    i > 0 ? ", " : "", operand(x, kind));
	}
	if (grouped && n > 1) {
		tdata_text(data, "operands", list);
		list = render(x, x->forms->several, data);
	}
	strbuf_puts(&x->operands, list);
}

/* Counts the operands that the letters of the family take, and the results. */
static void
count_operands(struct assembly *x, const char *shape)
{
	int letters = 0;

	for (int i = 1; i < x->e->n_args; i++) {
		if (x->e->args[i]->kind == EXPR_STRING) {
			fail(x, "%s: no operand '%s' in assembly", x->name,
			     x->e->args[i]->u.text);
		}
	}
	for (const char *c = shape; *c != '\0'; c++) {
		letters += strchr("rRsSai", *c) != NULL;
		x->n_results += *c == 'r' || *c == 'R';
	}
	x->spare = x->e->n_args - 1 - letters;
	if (strchr(shape, 'R') != NULL && x->spare > 0) {
		x->n_results += x->spare;
	}
	if (x->spare < 0 || (x->spare > 0 && strpbrk(shape, "RS*") == NULL)) {
		fail(x, "%s with %d operands", x->name, x->e->n_args - 1);
	}
}

/* Drops ", " behind which no operand stands. */
static void
drop_comma(struct strbuf *s)
{
	if (s->len >= 2 && s->data[s->len - 2] == ',') {
		s->len -= 2;
		s->data[s->len] = '\0';
	}
}

static void
put_shape(struct assembly *x, const char *shape)
{
	for (const char *c = shape; *c != '\0' && x->why == NULL; c++) {
		switch (*c) {
		case 'r':
		case 's':
		case 'a':
		case 'i':
			put_operands(x, 1, *c, false);
			break;
		case 'R':
		case 'S':
			put_operands(x, 1 + x->spare, *c == 'R' ? 'r' : 's',
				     true);
			break;
		case '*':
			if (x->spare == 0) {
				drop_comma(&x->operands);
			}
			put_operands(x, x->spare, 's', false);
			break;
		default:
			strbuf_putc(&x->operands, *c);
			break;
		}
	}
}

static const char *
text_of(struct assembly *x, const struct strbuf *s)
{
	return s->len > 0 ? arena_strndup(&x->m->arena, s->data, s->len) : "";
}

const char *
assembly_text(struct module *m, const struct dialect *d, const struct expr *e,
	      const char *const *texts, const char **why)
{
	struct assembly x = { .m = m,
			      .d = d,
			      .forms = &d->device.assembly,
			      .e = e,
			      .texts = texts,
			      .name = e->args[0]->u.text,
			      .next = 1 };
	const char *shape = family_of(x.forms, x.name)->operands, *out = "";
	struct tdata *data = tdata_new(&m->arena);

	strbuf_init(&x.operands);
	strbuf_init(&x.outputs);
	strbuf_init(&x.inputs);
	count_operands(&x, shape);
	put_shape(&x, shape);
	tdata_text(data, "name", assembly_name(&x, x.name));
	tdata_text(data, "operands", text_of(&x, &x.operands));
	tdata_text(data, "outputs", text_of(&x, &x.outputs));
	tdata_text(data, "inputs", text_of(&x, &x.inputs));
	if (x.why == NULL) {
		out = render(&x, x.forms->statement, data);
	}
	strbuf_release(&x.operands);
	strbuf_release(&x.outputs);
	strbuf_release(&x.inputs);
	*why = x.why;
	return out;
}
