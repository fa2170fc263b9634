/* SPDX-License-Identifier: Apache-2.0 */
/* The source, line by line. Each line appears in the report once: with its
 * kernel, or else with its file. */
#include "rows.h"
#include "text.h"

int
file_number(const struct reporting *r, const char *name)
{
	const struct package *pkg = r->request->package;

	for (int i = 0; i < pkg->files.n; i++) {
		if (strcmp(pkg->files.data[i].name, name) == 0) {
			return i;
		}
	}
	return -1;
}

static void
add_line(struct reporting *r, struct tdata *row, int file, int number,
	 const char *text)
{
	struct tdata *line = tdata_item(row, "lines");

	tdata_int(line, "number", number);
	tdata_printf(line, "shown", "%6d", number);
	tdata_int(line, "file_id", file);
	tdata_text(line, "text", text);
	tdata_text(line, "kernel", NULL);
	(void)r;
}

/* Sets *at to the first and last line of the function of the kernel, with its
 * comment. Returns whether the file has these lines. */
static bool
lines_in(const struct reporting *r, int kernel, int file,
	 struct package_lines *at)
{
	*at = package_kernel_lines(r->request->package, kernel);
	return at->file != NULL &&
	       r->p->kernels.data[kernel]->owner ==
		       r->p->kernels.data[kernel] &&
	       file_number(r, at->file) == file && at->last >= at->first;
}

void
add_lines(struct reporting *r, struct tdata *row, int file, int first, int last)
{
	const char *at = file >= 0 ? r->finished.files[file].text : NULL;

	tdata_list(row, "lines");
	for (int n = 1; at != NULL && *at != '\0' && n <= last; n++) {
		size_t length = strcspn(at, "\n");

		if (n >= first) {
			add_line(r, row, file, n,
				 arena_strndup(r->a, at, length));
		}
		at += length + (at[length] == '\n');
	}
}

/* Returns owner: owner[line] is the kernel to which the line belongs, or -1;
 * length: the number of lines. */
static int *
owners(struct reporting *r, int file, int length)
{
	int *owner = arena_array(r->a, int, length + 2);

	for (int i = 0; i < length + 2; i++) {
		owner[i] = -1;
	}
	for (int k = 0; k < r->p->kernels.n; k++) {
		struct package_lines at;

		if (!lines_in(r, k, file, &at)) {
			continue;
		}
		for (int i = at.first; i <= at.last && i <= length; i++) {
			owner[i] = k;
		}
	}
	return owner;
}

static int
count_lines(const char *text)
{
	int n = 0;

	for (; *text != '\0'; text++) {
		n += *text == '\n';
	}
	return n + 1;
}

static void
add_source(struct reporting *r, int file)
{
	const char *text = r->finished.files[file].text;
	const int *owner = owners(r, file, count_lines(text));
	struct tdata *row = tdata_item(r->data, "sources");

	tdata_text(row, "name", r->request->package->files.data[file].name);
	tdata_int(row, "file_id", file);
	tdata_list(row, "lines");
	for (int n = 1; *text != '\0'; n++) {
		size_t length = strcspn(text, "\n");

		if (owner[n] < 0) {
			add_line(r, row, file, n,
				 arena_strndup(r->a, text, length));
		} else if (owner[n - 1] != owner[n]) {
			struct tdata *skip = tdata_item(row, "lines");
			struct package_lines at =
				package_kernel_lines(r->request->package,
						     owner[n]);

			tdata_text(skip, "kernel",
				   r->p->kernels.data[owner[n]]->func->name);
			tdata_int(skip, "number", n);
			tdata_printf(skip, "shown", "%6d", n);
			tdata_int(skip, "end", at.last);
		}
		text += length + (text[length] == '\n');
	}
}

void
add_sources(struct reporting *r)
{
	static const char *const endings[] = { ".h",   ".c", ".cu", ".cl",
					       ".cpp", ".S", ".s" };
	const struct package *pkg = r->request->package;

	tdata_list(r->data, "sources");
	for (int i = 0; i < pkg->files.n; i++) {
		bool shown = pkg->files.data[i].is_source;

		for (size_t k = 0; k < sizeof endings / sizeof *endings; k++) {
			shown |= text_ends_in(pkg->files.data[i].name,
					      endings[k]);
		}
		if (shown && r->finished.files[i].text != NULL) {
			add_source(r, i);
		}
	}
}
