/* SPDX-License-Identifier: Apache-2.0 */
/* Texts for the comments of emitted files: escaped names of the model, sizes,
 * and shapes. */
#include <stdio.h>

#include "comment_text.h"
#include "kernel.h"
#include "packer.h"
#include "provenance.h"
#include "size_words.h"

static void
print_extent(const struct expr *e, struct strbuf *s)
{
	int64_t v;
	size_t start;

	if (expr_is_int(e, &v)) {
		strbuf_printf(s, "%lld", (long long)v);
		return;
	}
	start = s->len;
	size_words(e, s);
	/* "//" would begin a comment; sizes are not negative, so that "/" means
	 * the same */
	for (size_t i = start; i + 1 < s->len; i++) {
		if (s->data[i] == '/' && s->data[i + 1] == '/') {
			memmove(s->data + i, s->data + i + 1, s->len - i);
			s->len--;
		}
	}
}

const char *
shape_text(struct packer *k, const struct tensor *t)
{
	struct strbuf s;
	const char *text;

	strbuf_init(&s);
	for (int i = 0; i < t->ndim; i++) {
		strbuf_putc(&s, '[');
		print_extent(graph_given_size(k->g, t->shape[i]), &s);
		strbuf_putc(&s, ']');
	}
	text = comment_text(k->a, k->d, s.data != NULL ? s.data : "");
	strbuf_release(&s);
	return text;
}

const char *
short_name(struct dtype t)
{
	return dtype_short(t);
}

static const char *
bytes_text(struct arena *a, int64_t bytes)
{
	if (bytes < 100000) {
		return arena_printf(a, "%lld bytes", (long long)bytes);
	}
	return arena_printf(a, "%.2f MB", (double)bytes / 1e6);
}

const char *
work_text(struct packer *k, const struct kernel *kernel)
{
	struct strbuf s;
	const char *text;

	strbuf_init(&s);
	if (kernel->counts_vary) {
		strbuf_puts(&s, "as many operations as the values require, ");
	} else if (kernel->flops >= 1e5 && !kernel->int_macs) {
		strbuf_printf(&s, "%.1f MFLOP, ", kernel->flops / 1e6);
	} else if (kernel->flops > 0 && !kernel->int_macs) {
		strbuf_printf(&s, "%.0f FLOP, ", kernel->flops);
	} else if (kernel->macs >= 100000) {
		strbuf_printf(&s, "%.1f MMAC, ", (double)kernel->macs / 1e6);
	} else if (kernel->macs > 0) {
		strbuf_printf(&s, "%lld MAC, ", (long long)kernel->macs);
	} else if (kernel->int_ops >= 1e5) {
		strbuf_printf(&s, "%.1f MOP, ", kernel->int_ops / 1e6);
	} else if (kernel->int_ops > 0) {
		strbuf_printf(&s, "%.0f OP, ", kernel->int_ops);
	}
	strbuf_printf(&s, "reads %s, ", bytes_text(k->a, kernel->read_bytes));
	strbuf_printf(&s, "writes %s", bytes_text(k->a, kernel->write_bytes));
	if (kernel->local_bytes > 0) {
		strbuf_printf(&s, ", locals %lld bytes%s",
			      (long long)kernel->local_bytes,
			      kernel->device != NULL ? " of a thread" : "");
	}
	if (kernel_scratch_bytes(kernel) > 0) {
		strbuf_printf(&s, ", scratch %s of the workspace",
			      bytes_text(k->a, kernel_scratch_bytes(kernel)));
	}
	text = arena_strdup(k->a, s.data);
	strbuf_release(&s);
	return text;
}

void
tell_names(struct packer *k)
{
	k->names = long_names_new(k->a, k->d);
	for (int i = 0; i < k->g->origins.n; i++) {
		long_names_tell(k->names, k->g->origins.data[i].name);
		long_names_tell(k->names, k->g->origins.data[i].output);
	}
	for (int i = 0; i < k->g->tensors.n; i++) {
		long_names_tell(k->names, k->g->tensors.data[i]->model_name);
	}
	for (int i = 0; i < k->p->weights.n; i++) {
		struct constant_sources s =
			provenance_sources(k->a, k->p->weights.data[i]->tensor);

		for (int j = 0; j < s.names.n; j++) {
			long_names_tell(k->names, s.names.data[j]);
		}
	}
}

static bool
writes(const struct kernel *kernel, const struct tensor *t)
{
	for (int i = 0; i < kernel->args.n; i++) {
		if (kernel->args.data[i].tensor == t &&
		    kernel->args.data[i].written) {
			return true;
		}
	}
	return false;
}

const struct kernel *
writer_of(const struct packer *k, const struct tensor *t)
{
	const struct kernel *kernel;

	if (t->producer == NULL) {
		return NULL;
	}
	kernel = t->producer->group >= 0 ? k->kernel_of[t->producer->group]
					 : NULL;
	if (kernel != NULL && writes(kernel, t)) {
		return kernel;
	}
	return k->first_writer[t->id];
}
