/* SPDX-License-Identifier: Apache-2.0 */
/* State shared by the files that read a partition. */
#ifndef TIRC_READING_H
#define TIRC_READING_H

#include "importer.h"
#include "json_read.h"
#include "origins.h"
#include "partition.h"

#define PARTITION_VERSION 1

struct reading {
	struct reader r; /* r.failed: there are diagnostics */
	struct module *m;
	struct graph *g;
	const struct partition_facts *facts;
	const char **symbols; /* names of the dimensions */
	/* The graph before an edit. Constants equal to those of this graph are
	 * shared with it; changed constants are copied, because their file will
	 * be removed. NULL: no edit, constants stay mapped. */
	const struct graph *before;
	struct onnx_file *file;
	const struct onnx_map *weights; /* the constants' file; NULL until it is
					 * needed */
	/* The name of the constants' file in the partition, and its folder. */
	const char *weights_name, *folder;
	/* the diagnostic about the constants' file was reported already */
	bool weights_refused;
	const struct origin_name *origins; /* sorted by name */
	/* While matches are read: stands for the match of each node that has no
	 * match yet. */
	struct region_match *open;
};

/* read_values.c. Each function reads a part of the JSON; false after a
 * diagnostic. */
bool read_type(struct reading *in, struct json j, struct dtype *out);
/* Reads an integer: a number or, beyond 2^53, a text. False after a
 * diagnostic. */
bool read_int(struct json j, int64_t *out);
/* The elements of a constant of this type: "splat", "values" or "weights". */
bool read_value(struct reading *in, struct json object, struct dtype type,
		int64_t elems, const struct value **out);
bool read_float(struct json j, double *out);
bool read_tensor(struct reading *in, struct json j, const char *name);
/* read_nodes.c */
bool read_origins(struct reading *in, struct json list);
/* Reads a reference to an origin, a node of the model as it was read: the index of the
 * origin, or the name of its output. */
bool read_origin(struct reading *in, struct json j, int *out);
bool read_nodes(struct reading *in, struct json list);
bool read_outputs(struct reading *in, struct json list);
/* Checks the order of the nodes, and their types and shapes. False after a
 * diagnostic. */
bool check_nodes(struct reading *in, struct json tensors);
/* The tensor whose name is the text j; NULL after a diagnostic. */
struct tensor *read_tensor_name(struct reading *in, struct json j);
/* read_states.c: call it after inputs and outputs were read. */
bool read_states(struct reading *in, struct json root);
/* read_regions.c */
bool read_regions(struct reading *in, struct json root);
void read_close_backends(const struct reading *in);

#endif
