/* SPDX-License-Identifier: Apache-2.0 */
/* Reads ONNX files: models as graphs, tensors (.pb) as arrays. */
#ifndef TIRC_ONNX_IMPORT_H
#define TIRC_ONNX_IMPORT_H

#include "graph.h"

#define INPUT_SHAPE_OPEN INT64_MIN

/* --input-shape name:1,3,224,224 or name:1,3,?,width */
struct input_shape {
	const char *name;
	int ndim;
	const int64_t *dims; /* INPUT_SHAPE_OPEN: as the model and --dim say */
	/* The size's name, or a formula of names; NULL, or a list of NULL: a
	 * number, or as the model says. Those with a name are open. */
	const char *const *names;
};

/* --dim batch=1 (min == max), batch=1..4, batch=8..64:8 or batch=2*n */
struct dim_binding {
	const char *name;
	int64_t min, max, step; /* step 0: 1 */
	const char *formula;    /* of other sizes; NULL: none */
};

/* --bound boxes=100 or shape=1..4,3: one range for each element, or for all */
struct size_bound {
	const char *name;
	int n;
	const int64_t *min, *max;
};

/* --sequence boxes=3: the elements of an input that is a sequence; boxes=none: an
 * optional without an element */
struct sequence_length {
	const char *name;
	int n; /* -1: none */
};

/* A serialised TensorProto (test data). Everything in the arena. */
struct array {
	const char *name;
	struct dtype type;
	int ndim;
	int64_t *shape;
	int64_t elems;
	void *data; /* dense, dtype_bytes per element */
	/* the file gives only the width of its elements: type is an unsigned
	 * integer of that width */
	bool is_bits;
	/* strings: bytes, with a last dimension that fits the longest one */
	bool is_string;
};

/* --string-length NAME=64: the bytes of a string of an input */
struct string_length {
	const char *name;
	int64_t bytes;
};

/* --const-input shape=1,3,224 or shape=@FILE */
struct const_input {
	const char *name;
	const char *text; /* numbers, or the file's name after an @ */
	/* Set by the import: its number among the inputs that are not
	 * initializers of the model, and its value. */
	int *position;
	struct array *array;
};

struct import_options {
	const struct input_shape *shapes;
	int n_shapes;
	const struct dim_binding *dims;
	int n_dims;
	const struct size_bound *bounds;
	int n_bounds;
	const struct sequence_length *sequences;
	int n_sequences;
	bool seeded; /* random numbers are those of the seed */
	int64_t seed;
	const struct string_length *string_lengths;
	int n_string_lengths;
	const char *const *functions; /* files of --functions */
	int n_functions;
	const struct const_input *const_inputs;
	int n_const_inputs;
	/* Reads the array of a file; position: as in struct const_input. */
	bool (*read_array)(struct module *m, const char *path, int position,
			   struct array *out);
};

/* Keeps the file (and its external data files) mapped until released: values
 * point into the maps. */
struct onnx_file;

/* Parses and checks a model, inlines functions, upgrades it to
 * GRAPH_CANONICAL_OPSET, resolves operators, infers shapes. NULL with
 * diagnostics on m (all unknown operators at once). *file must outlive the
 * graph; release with onnx_file_close. */
struct graph *onnx_import(struct module *m, const char *path,
			  const struct import_options *options,
			  struct onnx_file **file);
void onnx_file_close(struct onnx_file *file);
/* The paths of the mapped files: of the model and of external data. */
int64_t onnx_file_bytes(const struct onnx_file *file); /* of all */
int onnx_file_count(const struct onnx_file *file);
const char *onnx_file_path(const struct onnx_file *file, int i);
/* The same for a model in memory, which must outlive the graph; name stands
 * for the path in messages. Tensors in external files are refused. */
struct graph *onnx_import_bytes(struct module *m, const char *name,
				const void *data, size_t length,
				const struct import_options *options,
				struct onnx_file **file);

bool onnx_read_tensor(struct module *m, const char *path, struct array *out);
/* The same of a file of a data set, a plain one in the folder or below. */
bool onnx_read_tensor_beside(struct module *m, const char *folder,
			     const char *name, struct array *out);
bool onnx_write_tensor(struct module *m, const char *path,
		       const struct array *a);

#endif
