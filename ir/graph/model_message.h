/* SPDX-License-Identifier: Apache-2.0 */
/* The messages of a model's file under the names that the format gives them,
 * for programs that look into a model before they import it. */
#ifndef TIRC_MODEL_MESSAGE_H
#define TIRC_MODEL_MESSAGE_H

#include "graph.h"

struct model_message;

/* A field of a message of the model format, with its value, whose type depends
 * on the field's kind. */
struct model_field {
	const char *name;
	enum {
		FIELD_NUMBER,
		FIELD_TEXT,
		FIELD_MESSAGE,
		FIELD_MESSAGES, /* a list */
		FIELD_NUMBERS,
		FIELD_TEXTS
	} kind;
	int64_t number;
	const char *text;
	const struct model_message *const
		*messages;        /* n; one of FIELD_MESSAGE */
	const int64_t *numbers;   /* n */
	const char *const *texts; /* n */
	int n;
};

struct model_message {
	const char *type; /* "NodeProto" */
	const struct model_field *fields;
	int n_fields;
	/* of a TensorProto: its elements, NULL if they are strings */
	const struct tensor *tensor;
};

#endif
