/* SPDX-License-Identifier: Apache-2.0 */
/* State shared by the files that read a partition. */
#ifndef TIRC_PARTITION_READING_H
#define TIRC_PARTITION_READING_H

#include "importer.h"
#include "json_read.h"
#include "origins.h"
#include "partition.h"

#define PARTITION_VERSION 1

struct reading {
	struct reader r; /* r.failed: there are messages */
	struct module *m;
	struct graph *g;
	const struct partition_facts *facts;
	const char **symbols; /* of the dimensions */
	/* Constants equal to those of this graph are shared with it; others are
	 * copied, because the file will be removed. NULL: constants stay
	 * mapped. */
	const struct graph *before;
	struct onnx_file *file;
	const struct onnx_map *weights; /* NULL: not opened yet */
	/* The file of constants that the partition names, and its folder. */
	const char *weights_name, *folder;
	bool weights_refused;              /* a message says why */
	const struct origin_name *origins; /* sorted */
	/* The match of all nodes without a match yet, while matches are
	 * read. */
	struct region_match *open;
};

/* read_values.c. False after a message. */
bool read_type(struct reading *in, struct json j, struct dtype *out);
/* An integer as a number or, beyond 2^53, as a text. */
bool read_int(struct json j, int64_t *out);
bool read_value(struct reading *in, struct json object, struct dtype type,
		int64_t elems, const struct value **out);
bool read_float(struct json j, double *out);
bool read_tensor(struct reading *in, struct json j, const char *name);
/* read_nodes.c */
bool read_origins(struct reading *in, struct json list);
/* A reference to an origin, by its index or its output. */
bool read_origin(struct reading *in, struct json j, int *out);
bool read_nodes(struct reading *in, struct json list);
bool read_outputs(struct reading *in, struct json list);
/* Checks order, types and shapes. */
bool check_nodes(struct reading *in, struct json tensors);
/* The tensor of that name, or NULL after a message. */
struct tensor *read_tensor_name(struct reading *in, struct json j);
/* read_states.c: of the inputs and outputs, which are read before. */
bool read_states(struct reading *in, struct json root);
/* read_regions.c */
bool read_regions(struct reading *in, struct json root);
void read_close_backends(const struct reading *in);

#endif
