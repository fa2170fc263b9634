/* SPDX-License-Identifier: Apache-2.0 */
/* Assigns the arrays in files to tensors of the model, by name or by order. */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "slots.h"
#include "text.h"

static struct slots
new_slots(struct harness *h, const char *kind, const char *option, int n)
{
	struct arena *a = &h->m->arena;

	return (struct slots){
		.kind = kind,
		.option = option,
		.n = n,
		.tensors = arena_array(a, struct tirc_tensor, n + 1),
		.arrays = arena_array(a, struct array, n + 1),
		.given = arena_array(a, bool, n + 1),
	};
}

struct slots
slots_of_layers(struct harness *h, int n)
{
	return new_slots(h, "result", "--layers", n);
}

struct slots
slots_of_inputs(struct harness *h)
{
	struct slots s = new_slots(h, "input", "--input",
				   tirc_input_count(h->t));

	s.exact = true;
	for (int i = 0; i < s.n; i++) {
		s.tensors[i] = tirc_input(h->t, i);
	}
	return s;
}

struct slots
slots_of_results(struct harness *h)
{
	int n_out = tirc_output_count(h->t);
	struct slots s = new_slots(h, "output", "--expect", harness_results(h));

	for (int i = 0; i < s.n; i++) {
		s.tensors[i] = i < n_out ? tirc_output(h->t, i)
					 : tirc_state(h->t, i - n_out).tensor;
	}
	return s;
}

struct slots
slots_of_constants(struct harness *h)
{
	struct slots s = new_slots(h, "input", "--const-input",
				   tirc_const_input_count(h->t));

	for (int i = 0; i < s.n; i++) {
		struct tirc_const_input c = tirc_const_input(h->t, i);

		s.tensors[i] = (struct tirc_tensor){ .name = c.name,
						     .identifier = c.name,
						     .dtype = c.dtype,
						     .ndim = c.ndim,
						     .dims = c.dims,
						     .elems = 1 };
		for (int d = 0; d < c.ndim; d++) {
			s.tensors[i].elems *= c.dims[d];
		}
	}
	return s;
}

static int
slot_index(const struct slots *s, const char *name)
{
	for (int i = 0; i < s->n; i++) {
		if (strcmp(s->tensors[i].name, name) == 0 ||
		    strcmp(s->tensors[i].identifier, name) == 0) {
			return i;
		}
	}
	return -1;
}

static bool
no_such_tensor(const struct slots *lists, int n_lists, const char *file,
	       const char *name)
{
	const char **names, *near;
	int n = 0;

	for (int i = 0; i < n_lists; i++) {
		n += lists[i].n;
	}
	names = calloc((size_t)n + 1, sizeof *names);
	if (names == NULL) {
		memory_exhausted();
	}
	n = 0;
	for (int i = 0; i < n_lists; i++) {
		for (int k = 0; k < lists[i].n; k++) {
			names[n++] = lists[i].tensors[k].name;
		}
	}
	near = text_nearest(name, names, n);
	cli_error("%s: '%s' is not an %s%s of the model; %s '%s'%s", file, name,
		  lists[0].kind, n_lists > 1 ? " or output" : "",
		  near != NULL ? "did you mean"
		  : n > 1      ? "the first one is"
			       : "there is only",
		  near != NULL ? near
		  : n > 0      ? names[0]
			       : "",
		  n_lists > 1 ? "; for results of layers: --layers=FILE.npz, "
				"for arrays of other names: --input NAME=FILE "
				"--expect NAME=FILE"
			      : "");
	free(names);
	return false;
}

/* A file of arrays that is being read. */
struct data_file {
	struct harness *h;
	const char *path;
	struct slots *lists;
	int n_lists;
	/* the index, in the first list, of the tensor that the option names; -1
	 * if the option names no tensor */
	int at;
	bool some; /* arrays that belong to no tensor are skipped */
	/* Tensors whose arrays are skipped: an archive may have arrays for them
	 * in addition to arrays for the tensors of the lists. NULL: there are
	 * no such tensors. */
	const struct slots *beside;
	/* the number of arrays that were taken so far, at most one for each
	 * tensor */
	int taken;
};

/* Is the array skipped without an error if it belongs to no tensor of the
 * lists? */
static bool
is_left_out(const struct data_file *f, const struct array *a)
{
	return f->some || (f->beside != NULL && a->name != NULL &&
			   slot_index(f->beside, a->name) >= 0);
}

/* A message shows at most this number of bytes of the name of an array. */
enum { WORD_BYTES = 200 };

/* Finds the tensor for array a, one of n arrays in the file. Returns the list
 * that has the tensor and sets *at to its index there. If no list has such a
 * tensor, returns NULL: silently if the array is skipped, else after an error
 * message. */
static struct slots *
place_of(const struct data_file *f, const struct array *a, int n, int *at)
{
	struct slots *s = f->lists;

	*at = f->at;
	if (*at < 0 && a->name != NULL &&
	    (n > 1 || f->n_lists > 1 || f->some)) {
		for (int i = 0; *at < 0 && i < f->n_lists; i++) {
			s = &f->lists[i];
			*at = slot_index(s, a->name);
		}
		if (*at < 0) {
			if (!is_left_out(f, a)) {
				no_such_tensor(f->lists, f->n_lists, f->path,
					       text_cut(&f->h->m->arena,
							a->name, WORD_BYTES,
							WORD_BYTES));
			}
			return NULL;
		}
	}
	*at = *at < 0 ? s->next : *at;
	if (*at >= s->n) {
		cli_error("%s: the model has only %d %s(s)", f->path, s->n,
			  s->kind);
		return NULL;
	}
	return s;
}

/* Decides, before array a of an archive is unpacked, whether it is read,
 * skipped, or refused with an error message; the archive has n arrays. ctx: the
 * struct data_file. */
static enum array_use
accepts(void *ctx, const struct array *a, int n)
{
	struct data_file *f = ctx;
	int at, tensors = 0;
	struct slots *s = place_of(f, a, n, &at);

	if (s == NULL) {
		return is_left_out(f, a) ? ARRAY_LEFT_OUT : ARRAY_REFUSED;
	}
	if (s->exact && !harness_check_input(&f->h->m->arena, f->h->t, at, a)) {
		return ARRAY_REFUSED;
	}
	for (int i = 0; i < f->n_lists; i++) {
		tensors += f->lists[i].n;
	}
	if (++f->taken > tensors) {
		cli_error("%s: it has more than one array for a tensor, such "
			  "as '%s'; keep only one of them",
			  f->path, s->tensors[at].name);
		return ARRAY_REFUSED;
	}
	if (a->elems <= s->tensors[at].elems) {
		return ARRAY_TAKEN;
	}
	cli_error("%s: %s '%s' has at most %lld elements, and the "
		  "file has %lld",
		  f->path, s->kind, s->tensors[at].name,
		  (long long)s->tensors[at].elems, (long long)a->elems);
	return ARRAY_REFUSED;
}

/* Sets the type of an array whose file gives only the width of its elements,
 * because NumPy has no name for a type such as bfloat16: takes the type of
 * tensor x if x has elements of that width. */
static void
name_type(struct array *a, const struct tirc_tensor *x)
{
	struct dtype type;

	if (a->is_bits && dtype_from_name(x->dtype, &type) &&
	    array_is(a, type)) {
		a->type = type;
		a->is_bits = false;
	}
}

static bool
read_file(struct data_file *f)
{
	struct array_filter filter = { accepts, f };
	struct array *list;
	int n;

	if (!arrays_read(f->h->m, f->path, &filter, &list, &n)) {
		return false;
	}
	for (int i = 0; i < n; i++) {
		int at;
		struct slots *s = place_of(f, &list[i], n, &at);

		if (s == NULL && is_left_out(f, &list[i])) {
			continue;
		}
		if (s == NULL) {
			return false;
		}
		if (f->at < 0 && (list[i].name == NULL || n == 1)) {
			s->next++;
		}
		name_type(&list[i], &s->tensors[at]);
		s->arrays[at] = list[i];
		s->given[at] = true;
	}
	return true;
}

bool
slots_take(struct harness *h, struct slots *s, const char *text)
{
	struct data_file f = { .h = h, .lists = s, .n_lists = 1, .at = -1 };
	const char *equals = strchr(text, '=');
	struct slots beside = s->exact ? slots_of_results(h)
				       : slots_of_inputs(h);

	f.beside = &beside;
	if (equals != NULL) {
		const char *name = arena_strndup(&h->m->arena, text,
						 (size_t)(equals - text));

		f.at = slot_index(s, name);
		if (f.at >= 0) {
			text = equals + 1;
		} else if (access(text, F_OK) != 0) {
			return no_such_tensor(s, 1, s->option, name);
		}
	}
	f.path = text;
	return read_file(&f);
}

bool
slots_take_archive(struct harness *h, struct slots *lists, int n, bool some,
		   const char *path)
{
	struct data_file f = { .h = h,
			       .path = path,
			       .lists = lists,
			       .n_lists = n,
			       .at = -1,
			       .some = some };

	return read_file(&f);
}
