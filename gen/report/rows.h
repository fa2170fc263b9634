/* SPDX-License-Identifier: Apache-2.0 */
/* Private to report/: the rows of a report, as data for its templates. Each
 * section of the report has a function that adds the lists of that section. */
#ifndef TIRC_ROWS_H
#define TIRC_ROWS_H

#include "facts.h"
#include "template.h"

/* The state while the rows are made. */
struct reporting {
	const struct report_request *request;
	struct program *p;
	struct graph *g;
	struct module *m;
	struct arena *a;
	struct finished finished; /* the output files with their contents */
	/* facts[i]: the facts of the n_facts[i] functions of kernel i; NULL if
	 * another kernel owns the functions, or if a backend computes the
	 * kernel */
	struct func_facts ***facts;
	int *n_facts;
	struct func_facts *entry;
	struct tdata *data;
};

/* rows_head.c: model, target, options, digests, files. */
void add_head(struct reporting *r);
/* rows_nodes.c: the model's nodes, each with the kernel or the pass that took
 * it. */
void add_nodes(struct reporting *r);
/* Adds the list of the model's nodes in `list`. */
void add_origins(struct reporting *r, struct tdata *data, const char *key,
		 const int *list, int n);
/* The attributes of a node in words: "kernel_shape 3 3, group 1". */
const char *attributes_text(struct reporting *r, const struct node *n);
/* rows_kernels.c: a row for each function with its kernels. */
bool add_functions(struct reporting *r);
/* rows_source.c: adds the lines first..last of a file, each with its number and
 * text, to the list "lines" of `row`. file: the file's number in the package;
 * negative: nothing is added. */
void add_lines(struct reporting *r, struct tdata *row, int file, int first,
	       int last);
/* The index of the file `name` in the package; -1 if the package has no such
 * file. */
int file_number(const struct reporting *r, const char *name);
/* Adds the source files, each with the lines that belong to no kernel. */
void add_sources(struct reporting *r);
/* rows_memory.c: the workspace and the weights. */
void add_memory(struct reporting *r);
/* rows_contract.c: the promises of the source; the statement of compliance. */
void add_contract(struct reporting *r);
void add_compliance_rows(struct reporting *r);

#endif
