/* SPDX-License-Identifier: Apache-2.0 */
/* Writes the smallest part of the model that is wrong in the same way, with a
 * data set, and, if a kernel is wrong, a program in C that calls it. */
#include <string.h>

#include "bisect_cmd.h"
#include "interpreted.h"
#include "output_file.h"

struct minimal {
	struct bisecting *b;
	struct tirc *model; /* as it was read */
	struct right_values right;
	const char *path; /* of the part */
	/* the folder of the part's data set */
	const char *data;
};

static const char *
in_folder(const struct minimal *s, const char *name)
{
	return arena_printf(s->b->a, "%s/%s", s->b->cli->out, name);
}

/* Writes the right values of the tensors as STEM_0.pb, STEM_1.pb, … of the
 * part's data set. False if the values of a tensor are not known or cannot be
 * written. */
static bool
write_values(struct minimal *s, const char *stem, const char *const *names,
	     int n)
{
	struct module *m = s->b->verify.fresh.m;

	for (int i = 0; i < n; i++) {
		struct array x;

		if (!right_values_array(tirc_graph(s->model), &s->right,
					s->b->a, names[i], &x) ||
		    !onnx_write_tensor(m,
				       arena_printf(s->b->a, "%s/%s_%d.pb",
						    s->data, stem, i),
				       &x)) {
			return false;
		}
	}
	return true;
}

/* Is the part that was written to s->path wrong, too? out: the folder to which
 * the program of its kernel is written, or NULL. */
static bool
is_wrong(struct minimal *s, const char *out)
{
	struct bisecting again = { .in_kernels = s->b->in_kernels };
	struct cli c = *s->b->cli;
	bool wrong;

	arena_init(&c.arena);
	c.model = s->path;
	c.verify_data = NULL;
	c.rest = &s->data;
	c.n_rest = 1;
	c.out = c.keep = NULL;
	c.quiet = true;
	c.tirc.n_dims = c.tirc.n_input_shapes = c.tirc.n_states = 0;
	c.tirc.n_const_inputs = c.tirc.n_schedule_for = 0;
	c.tirc.n_print_after = c.tirc.n_print_phases = 0;
	c.tirc.time_passes = false;
	again.cli = &c;
	again.kernel_folder = out;
	wrong = bisect_part_is_wrong(&again);
	arena_release(&c.arena);
	return wrong;
}

/* Writes the part to s->path. Returns NULL if it is wrong in the way the whole
 * model is, else the reason why it is no example. */
static const char *
try_part(struct minimal *s, const struct model_part *part)
{
	const char *const *inputs;
	int n;
	const char *why = model_part_write(tirc_graph(s->model),
					   s->b->cli->model, part, s->path,
					   &inputs, &n);

	if (why != NULL) {
		return why;
	}
	if (!write_values(s, "input", inputs, n) ||
	    !write_values(s, "output", part->results, part->n_results)) {
		return "a value of it is not known";
	}
	return is_wrong(s, NULL) ? NULL : "no part of it is wrong alone";
}

static void
write_program(struct minimal *s)
{
	const char *folder = in_folder(s, "kernel");

	if (!is_wrong(s, folder)) {
		return;
	}
	bisect_line(s->b, "program",
		    "%s/harness.c calls the kernel on array_*.bin and writes "
		    "result_*.bin; expected_*.bin are right",
		    folder);
}

bool
bisect_minimal(struct bisecting *b)
{
	struct minimal s = { .b = b };
	struct model_part part = b->part;
	const char *why;

	if (part.n_results == 0 || b->data == NULL) {
		bisect_line(b, "minimal", "no part of the model is named");
		return true;
	}
	s.path = in_folder(&s, "minimal.onnx");
	s.data = in_folder(&s, "test_data_set_0");
	if (!folder_make(b->verify.fresh.m, s.data)) {
		harness_messages(&b->verify.fresh);
		return false;
	}
	s.model = bisect_right(b, &s.right);
	if (s.model == NULL) {
		return false;
	}
	why = try_part(&s, &part);
	if (why != NULL && part.n_given > 0) {
		part.n_given = 0;
		why = try_part(&s, &part);
	}
	if (why != NULL) {
		bisect_line(b, "minimal", "the model itself: %s", why);
	} else {
		bisect_line(b, "minimal", "%s, with its data beside it",
			    s.path);
		if (b->in_kernels) {
			write_program(&s);
		}
	}
	tirc_free(s.model);
	return true;
}
