/* SPDX-License-Identifier: Apache-2.0 */
/* Reads ONNX files: models as graphs, tensors (.pb) as arrays. */
#ifndef TIRC_ONNX_IMPORT_H
#define TIRC_ONNX_IMPORT_H

#include "graph.h"
#include "model_message.h"

#define INPUT_SHAPE_OPEN INT64_MIN

/* --input-shape name:1,3,224,224 or name:1,3,?,width */
struct input_shape {
	const char *name;
	int ndim;
	const int64_t *dims; /* INPUT_SHAPE_OPEN: left to the model and --dim */
	/* For each dimension the name of its size, or a formula of names; an
	 * element is NULL if the dimension is a number. In `dims`, a named
	 * dimension is INPUT_SHAPE_OPEN. `names` is NULL if no dimension has a
	 * name. */
	const char *const *names;
};

/* --dim batch=1 (min == max), batch=1..4, batch=8..64:8 or batch=2*n */
struct dim_binding {
	const char *name;
	int64_t min, max, step; /* step 0 means 1 */
	const char *formula;    /* the size as a formula of other sizes, or
				 * NULL */
};

/* --bound boxes=100 or shape=1..4,3: the range of each element of the tensor
 * `name`, or one range for all (n == 1) */
struct size_bound {
	const char *name;
	int n;
	const int64_t *min, *max;
};

/* --sequence boxes=3: the number of elements of an input that is a sequence;
 * boxes=none: an empty optional */
struct sequence_length {
	const char *name;
	int n; /* -1: empty optional */
};

/* A serialised TensorProto (test data); all pointers are to the arena. */
struct array {
	const char *name;
	struct dtype type;
	int ndim;
	int64_t *shape;
	int64_t elems;
	/* dense: `elems` elements of dtype_bytes(type) bytes each */
	void *data;
	/* The file gives only the width of the elements, so `type` is the
	 * unsigned integer of that width. */
	bool is_bits;
	/* The elements are strings: then `type` is the type of bytes, and the
	 * last dimension is the number of bytes of the longest string. */
	bool is_string;
};

/* --string-length NAME=64: the largest number of bytes of a string of an
 * input */
struct string_length {
	const char *name;
	int64_t bytes;
};

/* --const-input shape=1,3,224 or shape=@FILE */
struct const_input {
	const char *name;
	const char *text; /* numbers, or @ and the name of a file */
	/* Set by the import: the input's index among the model's inputs without
	 * an initializer, and its value. */
	int *position;
	struct array *array;
};

struct import_options {
	const struct input_shape *shapes;
	int n_shapes;
	const struct dim_binding *dims;
	int n_dims;
	/* Sizes of inputs that neither the model nor an option gives are ranges,
	 * instead of an error or an assumption. */
	bool open_sizes;
	const struct size_bound *bounds;
	int n_bounds;
	const struct sequence_length *sequences;
	int n_sequences;
	/* --seed is given: random numbers are drawn with this seed */
	bool seeded;
	int64_t seed;
	const struct string_length *string_lengths;
	int n_string_lengths;
	const char *const *functions; /* files of --functions */
	int n_functions;
	const struct const_input *const_inputs;
	int n_const_inputs;
	/* Values of inputs, by their names: these inputs become constants, as those
	 * of const_inputs do. The arrays live as long as the graph. */
	const struct array *values;
	int n_values;
	/* Files that are already open, such as those of the models that a
	 * program names: the import does not open them again. May be NULL. */
	const struct onnx_file *opened;
	/* Reads an array from a file; position: see struct const_input. False
	 * after a diagnostic. */
	bool (*read_array)(struct module *m, const char *path, int position,
			   struct array *out);
};

/* A model file and its files of external data, mapped until onnx_file_close():
 * values of the graph point into the maps. */
struct onnx_file;

/* Reads a model: parses and checks it, inlines functions, upgrades it to
 * GRAPH_CANONICAL_OPSET, resolves operators, infers shapes. NULL after
 * diagnostics on m (one diagnostic lists all unknown operators). *file must
 * outlive the graph; close it with onnx_file_close(). */
struct graph *onnx_import(struct module *m, const char *path,
			  const struct import_options *options,
			  struct onnx_file **file);
/* The messages of a model's file, which is not imported. `opened` is as in struct
 * import_options. NULL after a diagnostic; *file is as for onnx_import(). */
const struct model_message *onnx_describe(struct module *m, const char *path,
					  const struct onnx_file *opened,
					  struct onnx_file **file);
void onnx_file_close(struct onnx_file *file);
/* Is the file at this path mapped? file may be NULL. */
bool onnx_file_has(const struct onnx_file *file, const char *path);
/* About the model's file and its files of external data, as they are mapped:
 * the sum of their bytes; their number; and the path of file i. */
int64_t onnx_file_bytes(const struct onnx_file *file);
int onnx_file_count(const struct onnx_file *file);
const char *onnx_file_path(const struct onnx_file *file, int i);
/* The 64 hex digits of the SHA-256 of the bytes of file i. */
const char *onnx_file_sha256(const struct onnx_file *file, int i,
			     struct arena *a);
/* Imports a model in memory, which must outlive the graph, as onnx_import does
 * a file. Messages use `name` in place of a path. External data is refused. */
struct graph *onnx_import_bytes(struct module *m, const char *name,
				const void *data, size_t length,
				const struct import_options *options,
				struct onnx_file **file);

/* Reads a file with a serialised TensorProto (.pb). False after a
 * diagnostic. */
bool onnx_read_tensor(struct module *m, const char *path, struct array *out);
/* Reads a TensorProto like onnx_read_tensor, from a file of a data set. The
 * file must be a regular file in `folder` or below it. */
bool onnx_read_tensor_beside(struct module *m, const char *folder,
			     const char *name, struct array *out);
/* Writes the array as a serialised TensorProto. False after a diagnostic. */
bool onnx_write_tensor(struct module *m, const char *path,
		       const struct array *a);

#endif
