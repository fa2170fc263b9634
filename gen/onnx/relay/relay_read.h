/* SPDX-License-Identifier: Apache-2.0 */
/* Declarations that the files of gen/onnx/relay/ share: a reader with one token
 * of lookahead, which appends ONNX's messages as it reads. Functions that return
 * bool return false after one diagnostic with the position. */
#ifndef TIRC_RELAY_READ_H
#define TIRC_RELAY_READ_H

#include "relay_text.h"
#include "text_map.h"
#include "wire.h"

/* The largest number of levels of expressions in one another, and of items of
 * items in a name, %x.0.1. */
enum { RELAY_DEPTH = 64 };

enum relay_token_kind {
	RELAY_END,
	RELAY_LOCAL,  /* %x: text is "x" */
	RELAY_GLOBAL, /* @f: text is "f" */
	RELAY_WORD,   /* nn.conv2d, True */
	RELAY_INT,    /* 3, 3i64; type of the suffix */
	RELAY_FLOAT,  /* 0.5f, inf; type of the suffix */
	RELAY_STRING, /* text without its quotes and escapes */
	RELAY_MARK    /* ( ) [ ] { } , ; : = . ? < > -> #[ */
};

struct relay_token {
	enum relay_token_kind kind;
	const char *text; /* ends in a zero byte */
	size_t from, to;  /* the token's bytes in the source */
	int64_t i;
	double f;
	struct dtype type; /* of a number; of a number without a suffix int32 */
};

/* A tensor: the name of a tensor of ONNX's graph. A tuple: n items. */
struct relay_value {
	enum { RELAY_TENSOR, RELAY_TUPLE, RELAY_FUNCTION } kind;
	const char *name; /* of a tensor, or of a function of the model */
	const struct relay_value *items;
	int n;
	/* of a tuple: the tensors in it and in its tuples, and the levels of
	 * tuples in tuples */
	int tensors, levels;
	/* the values in the result of a function; 0: it is one tensor */
	int n_results;
};

/* The names of a block: those of a function, or of a branch inside of it. */
struct relay_scope {
	struct text_map names;
	VEC(struct relay_value) values;
	const struct relay_scope *around; /* of the branch; NULL: none */
};

/* A type that was read last. */
struct relay_type {
	bool is_tensor, is_function;
	struct dtype type;
	/* sizes; -1: any */
	VEC(int64_t) dims;
	int n_fields; /* of a tuple */
};

struct relay_reader {
	struct module *m;
	struct arena *tmp;
	const struct source *src;
	struct relay_token next; /* the token that is read next */
	int depth;               /* of nested expressions */
	struct relay_scope *scope;
	struct relay_type type;
	/* nodes are appended here, in this field of the message */
	struct strbuf *nodes;
	uint32_t node_field;
	struct strbuf functions; /* functions of the model that are complete */
	struct text_map taken;   /* names of tensors */
	/* the number that relay_new_name() gave last to names made from a base:
	 * numbers[i], where i is bases[base] */
	struct text_map bases;
	VEC(int) numbers;
	struct text_map
		globals; /* functions: the values in their results, or 0 */
	/* the largest k for which the text has the item %3.k: last[i], where i
	 * is items["3"] */
	struct text_map items;
	VEC(int) last;
	int n_functions; /* without a name */
	/* the text of the number before the call that is read, "3" of %3, or
	 * NULL */
	const char *number;
	const char *hint; /* the name that a let gives, or NULL */
	struct relay_constants *constants;
	size_t constant_bytes; /* of all nodes of constants */
	/* the number of the function or branch that is read, and of the last
	 * one */
	int body, n_bodies;
};

/* -- relay_lex.c */

/* Reports an error at the token. Returns false. */
bool relay_fail(struct relay_reader *r, const struct relay_token *at,
		const char *fmt, ...) TIRC_PRINTF(3, 4);
/* Reads the next token into r->next. */
bool relay_advance(struct relay_reader *r);
/* Is the next token this mark? */
bool relay_at(const struct relay_reader *r, const char *mark);
/* Is the next token this word? */
bool relay_at_word(const struct relay_reader *r, const char *word);
/* If the next token is the mark, consumes it and sets *yes. */
bool relay_accept(struct relay_reader *r, const char *mark, bool *yes);
/* Behind an item of a list: consumes a comma; *more: does another item follow,
 * not the mark `end`? */
bool relay_more(struct relay_reader *r, const char *end, bool *more);
/* Consumes the mark, or reports that it is expected: `what` says where. */
bool relay_expect(struct relay_reader *r, const char *mark, const char *what);
/* Consumes an integer. */
bool relay_int(struct relay_reader *r, const char *what, int64_t *out);
/* Is the first byte behind the next token, and behind blanks, c? For '=': not
 * that of "==". */
bool relay_followed_by(const struct relay_reader *r, char c);
/* Enters a nested expression or type; r->depth-- leaves it. */
bool relay_enter(struct relay_reader *r);

/* -- relay_type.c */

/* Reads a type into r->type. */
bool relay_type(struct relay_reader *r);
/* Appends a ValueInfoProto with the name and the type r->type, a tensor. */
void relay_put_value_info(struct strbuf *out, uint32_t field, const char *name,
			  const struct relay_type *type);

/* -- relay_node.c */

/* Field numbers of ONNX's messages. */
enum {
	NODE_INPUT = 1,
	NODE_OUTPUT = 2,
	NODE_NAME = 3,
	NODE_OP_TYPE = 4,
	NODE_ATTRIBUTE = 5,
	NODE_DOMAIN = 7,
	GRAPH_NODE = 1,
	GRAPH_NAME = 2,
	GRAPH_INPUT = 11,
	GRAPH_OUTPUT = 12,
	MODEL_IR_VERSION = 1,
	MODEL_GRAPH = 7,
	MODEL_OPSET = 8,
	MODEL_FUNCTION = 25,
	FUNCTION_NAME = 1,
	FUNCTION_INPUT = 4,
	FUNCTION_OUTPUT = 5,
	FUNCTION_NODE = 7,
	FUNCTION_OPSET = 9,
	FUNCTION_DOMAIN = 10,
	INFO_NAME = 1,
	INFO_TYPE = 2
};

#define RELAY_DOMAIN "tvm.relay"
#define RELAY_LOCAL_DOMAIN "tvm.relay.function"

/* An attribute of a call: numbers, a text or texts. */
struct relay_attr {
	const char *name;
	enum {
		RELAY_ATTR_NONE,
		RELAY_ATTR_INT,
		RELAY_ATTR_FLOAT,
		RELAY_ATTR_STRING
	} kind;
	bool is_list;
	int n;
	const int64_t *ints;
	const double *floats;
	const char *const *texts;
};

/* A call of an operator or a function. */
struct relay_call {
	struct relay_token at; /* the name */
	const char *domain, *op;
	const struct relay_value *args;
	int n_args;
	const struct relay_attr *attrs;
	int n_attrs;
};

/* Appends the names of the tensors in a value, depth first, to list. */
typedef VEC(const char *) relay_names;
void relay_tensors(struct relay_reader *r, const struct relay_value *v,
		   relay_names *list);
/* Makes *out the tuple of n values; false after a diagnostic if it has too many
 * tensors or levels. */
bool relay_tuple(struct relay_reader *r, const struct relay_value *items, int n,
		 struct relay_value *out);
/* A name for a new tensor that no other one has, made from `base`. */
const char *relay_new_name(struct relay_reader *r, const char *base);
/* Appends a node with tensors as inputs (name NULL: absent) and n_out new
 * outputs; sets out[i] to them. */
bool relay_put_node(struct relay_reader *r, const char *domain, const char *op,
		    const char *const *inputs, int n_in,
		    const struct relay_attr *attrs, int n_attrs,
		    const char *const *outputs, int n_out);
/* Appends a GraphProto as an attribute of the node `out`. */
void relay_put_graph(struct strbuf *out, const char *name,
		     const struct strbuf *graph);
/* Appends a node Constant with these elements; sets *out to its tensor. */
bool relay_put_constant(struct relay_reader *r, const char *base,
			struct dtype type, const int64_t *dims, int ndim,
			const void *data, size_t bytes, const char **out);
/* Appends a node Constant for the number. */
bool relay_put_number(struct relay_reader *r, const struct relay_token *number,
		      struct relay_value *out);

/* -- relay_call.c */

/* Appends the nodes of the call; sets *out to its result. */
bool relay_call(struct relay_reader *r, const struct relay_call *call,
		struct relay_value *out);

/* -- relay_expr.c */

/* Reads { … } and appends its nodes; sets *out to its result. */
bool relay_block(struct relay_reader *r, struct relay_value *out);
/* Reads (%x: T, …, key=value) -> T { … } and appends a function of this name;
 * sets *out to the function. */
bool relay_function(struct relay_reader *r, const char *name,
		    struct relay_value *out);
/* Reads the parameters (%x: T, …, key=value) up to the closing bracket. For each
 * one calls put(ctx, …). */
bool relay_read_params(struct relay_reader *r,
		       bool (*put)(struct relay_reader *r, void *ctx,
				   const struct relay_token *name,
				   bool has_type),
		       void *ctx);
/* Appends the operator sets of the nodes, in this field of the message. */
void relay_put_opsets(struct strbuf *out, uint32_t field);
/* Gives a value to a name in the scope; an earlier one is hidden. */
void relay_bind(struct relay_reader *r, const char *name,
		struct relay_value value);

/* -- relay_constants.c: the constants behind the functions */

struct relay_constant {
	struct dtype type;
	int ndim;
	int64_t *dims;
	const void *data;
	size_t bytes;
	/* the function or branch, relay_reader.body, in which `name` is its
	 * tensor; 0: none */
	int body;
	const char *name;
};

struct relay_constants {
	VEC(struct relay_constant) list;
};

/* Reads the section #[metadata] of the source, if there is one. */
bool relay_read_constants(struct relay_reader *r, struct relay_constants *out);

#endif
