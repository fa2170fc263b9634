/* SPDX-License-Identifier: Apache-2.0 */
/* The inputs of the model; their shapes and sizes follow from the model and the
 * options. */
#ifndef TIRC_IMPORT_INPUTS_H
#define TIRC_IMPORT_INPUTS_H

#include "importer.h"

/* missing.c: the number that the import uses for a missing size. */
enum { MISSING_SIZE = 256 };
/* Adds a missing size to the list of the import; false if the list already has
 * this size. */
bool missing_add(struct importer *imp, enum missing_kind kind, const char *name,
		 const char *what, int size);
/* Records that the size `name`, which is missing because it counts a batch, is
 * assumed to be 1; the message about missing sizes then says so. */
void missing_note_batch(struct importer *imp, const char *name);
/* Copies the options `given` and adds --bound for each missing bound of the
 * list. */
void missing_options(struct arena *a, const missing_list *list,
		     const struct import_options *given,
		     struct import_options *out);
/* Reports all missing sizes in one message. The errors from index `first` on
 * are removed, since the sizes that the import used instead may have caused
 * them; only unknown operators are kept. Returns false. */
bool missing_report(struct module *m, const char *path,
		    const missing_list *list, int first);

/* const_inputs.c: adds the inputs of --const-input to the scope, as constants.
 * False after a diagnostic. */
bool import_const_inputs(struct importer *imp, struct body *body);
/* Does a --const-input name the input? */
bool import_is_const_input(const struct importer *imp, const char *name);

/* -- optional_inputs.c -- */

/* If the type of p is an optional tensor, replaces it by the type of the
 * tensor. Returns whether the type was an optional. */
bool import_unwrap_optional(struct importer *imp, Onnx__ValueInfoProto *p);
/* The type of the elements in the bytes of an optional or sequence type; NULL
 * if they are malformed. */
const Onnx__TypeProto *import_inner_type(struct importer *imp,
					 const ProtobufCBinaryData *bytes);
/* -- inputs.c: graph inputs, --input-shape, --dim -- */

/* Makes the inputs of the graph and adds their tensors to the scope. False
 * after a diagnostic. */
bool import_inputs(struct importer *imp, struct body *body);

/* -- sequence_inputs.c: graph inputs that are sequences or empty optionals -- */

/* A sequence that is an input of the model. Its n elements are inputs of the
 * graph, from index `first` on in the list of inputs. */
struct input_sequence {
	const char *name;
	/* first: the index in g->inputs of the first element; n: the number of
	 * elements; n < 0: an empty optional */
	int first, n;
};

typedef VEC(Onnx__ValueInfoProto *) info_list;
/* Is p a sequence, or an optional that --sequence declares as empty?
 * *is_sequence says whether. If so, appends an input for each element to the
 * list and sets *out. False after a diagnostic. */
bool import_sequence_input(struct importer *imp, Onnx__ValueInfoProto *p,
			   info_list *list, struct input_sequence *out,
			   bool *is_sequence);
/* Checks that each --sequence was used; reports each one that was not. */
bool import_lengths_used(struct importer *imp);

/* -- formula.c: sizes as formulas of other sizes -- */

/* Returns the value of a name in a formula; NULL: the name has no value, so the
 * text is not a formula. */
typedef const struct expr *formula_name(void *ctx, const char *name,
					size_t length);
/* The value of the formula `text`; NULL if `text` is not a formula. */
const struct expr *formula_read(struct module *m, const char *text,
				formula_name *name, void *ctx);

#endif
