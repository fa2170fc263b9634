/* SPDX-License-Identifier: Apache-2.0 */
/* The inputs of the model: their shapes and sizes, as the model and the options
 * give them. */
#ifndef TIRC_ONNX_IMPORT_INPUTS_H
#define TIRC_ONNX_IMPORT_INPUTS_H

#include "importer.h"

/* missing.c: the number that an import goes on with in place of a missing size. */
enum { MISSING_SIZE = 256 };
/* Notes a missing size; false: it was noted before. */
bool missing_add(struct importer *imp, enum missing_kind kind, const char *name,
		 const char *what, int size);
/* The options, with bounds that are missing. */
void missing_options(struct arena *a, const missing_list *list,
		     const struct import_options *given,
		     struct import_options *out);
/* Reports all of them in one message. It replaces the errors from number `first` on,
 * except unknown operators: they may come from the sizes that the import went on
 * with. Returns false. */
bool missing_report(struct module *m, const char *path,
		    const missing_list *list, int first);

/* const_inputs.c: adds the inputs of --const-input to the scope. */
bool import_const_inputs(struct importer *imp, struct body *body);
bool import_is_const_input(const struct importer *imp, const char *name);

/* -- optional_inputs.c -- */

/* An optional tensor is declared as its tensor then. True if it was one. */
bool import_unwrap_optional(struct importer *imp, Onnx__ValueInfoProto *p);
/* The type within a serialised optional or sequence type; NULL: none. */
const Onnx__TypeProto *import_inner_type(struct importer *imp,
					 const ProtobufCBinaryData *bytes);
/* -- inputs.c: graph inputs, --input-shape, --dim -- */

bool import_inputs(struct importer *imp, struct body *body);

/* -- sequence_inputs.c: graph inputs that are sequences or empty optionals -- */

/* An input whose elements are inputs of the graph, from `first` of the list of
 * inputs on. */
struct input_sequence {
	const char *name;
	int first, n; /* n < 0: an optional without an element */
};

typedef VEC(Onnx__ValueInfoProto *) info_list;
/* Is p a sequence, or an optional that --sequence says to be empty? Then its
 * elements are appended to list, and *out is set. */
bool import_sequence_input(struct importer *imp, Onnx__ValueInfoProto *p,
			   info_list *list, struct input_sequence *out,
			   bool *is_sequence);
/* Were all options --sequence used? Reports those that were not. */
bool import_lengths_used(struct importer *imp);

/* -- formula.c: sizes as formulas of other sizes -- */

/* The value of a name; NULL: it has none, so that there is no formula. */
typedef const struct expr *formula_name(void *ctx, const char *name,
					size_t length);
/* The value of the text; NULL: it is no formula. */
const struct expr *formula_read(struct module *m, const char *text,
				formula_name *name, void *ctx);

#endif
