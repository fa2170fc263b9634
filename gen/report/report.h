/* SPDX-License-Identifier: Apache-2.0 */
/* A report about a compiled model, for the people who review and sign its
 * source: the kernels with their formulas, lines, ranges of indices and bounds,
 * the memory, and the promises of the source to its caller. */
#ifndef TIRC_REPORT_H
#define TIRC_REPORT_H

#include "kernels.h"
#include "package.h"

enum report_form { REPORT_HTML, REPORT_MARKDOWN };

/* An option of the compilation and its value; options with their default value
 * are listed, too. */
struct report_option {
	const char *name, *value, *what;
};

/* A file that was read. */
struct report_file {
	const char *path, *sha256;
};

struct report_request {
	struct program *program;
	const struct package *package;
	const char *version; /* of tirc */
	enum report_form form;
	const struct report_option *options;
	int n_options;
	const struct report_file *files;
	int n_files;
};

/* The text of the report, in the module's arena. NULL after a diagnostic. */
const char *report_text(const struct report_request *request);

#endif
