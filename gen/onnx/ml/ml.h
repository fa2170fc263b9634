/* SPDX-License-Identifier: Apache-2.0 */
/* Operators of the domain ai.onnx.ml as nodes of other operators: shared
 * helpers. */
#ifndef TIRC_ML_H
#define TIRC_ML_H

#include "bodies.h"

/* A node of ai.onnx.ml that is replaced by other nodes. */
struct ml {
	struct importer *imp;
	struct deferred *d;
	struct node *n;   /* the node: d->node */
	struct tensor *x; /* input 0; its type and shape are known */
	/* the labels that ml_labels() found, if they are strings; NULL: the
	 * labels are integers */
	const char *const *strings;
};

/* Makes a node of operator `op` with one output and n_in inputs, which are the
 * further arguments. Returns the output, whose name is that of the first output
 * of the replaced node followed by `what`. */
struct node *ml_node(struct ml *m, const char *op, const char *what, int n_in,
		     ...);
/* Makes a node as ml_node does, and returns its output. */
struct tensor *ml_op(struct ml *m, const char *op, const char *what, int n_in,
		     ...);
/* Makes a tirc.TreeEnsemble. */
struct node *ml_trees(struct ml *m, struct tensor **in, int n_in);
/* Makes a tirc.PairCoupling; returns its output. */
struct tensor *ml_coupling(struct ml *m, struct tensor *q);
/* A constant of the given type and shape; its name ends in `what`. */
struct tensor *ml_constant(struct ml *m, const char *what, struct dtype type,
			   const double *values, int n_dims,
			   const int64_t *shape);
/* A constant scalar; a constant int64 list. Their names end in `what`. */
struct tensor *ml_number(struct ml *m, const char *what, struct dtype type,
			 double value);
struct tensor *ml_ints(struct ml *m, const char *what, int n,
		       const int64_t *values);
/* Returns t converted from type `from` to type `to`; t itself if the types are
 * equal. */
struct tensor *ml_cast(struct ml *m, struct tensor *t, struct dtype from,
		       struct dtype to);
/* Input 0 as a matrix of float32, or of float64 if the input is of float64; a
 * vector becomes a matrix with one row. *type: the type of the matrix. */
struct tensor *ml_rows(struct ml *m, struct dtype *type);
/* Sets *values to the numbers of the attribute `name`, or of the tensor
 * attribute NAME_as_tensor; returns how many there are, 0 if both are
 * absent. */
int ml_floats(struct ml *m, const char *name, const double **values);
/* Sets *values to the integers of the attribute `name`, a list or a tensor;
 * returns how many there are, 0 if it is absent. */
int ml_attr_ints(struct ml *m, const char *name, const int64_t **values);
/* Applies the function that the attribute post_transform names to each row of
 * scores. Returns the result; NULL after a diagnostic. */
struct tensor *ml_post_transform(struct ml *m, struct tensor *scores);
/* Sets output 0 to labels, and output 1 to the scores after post_transform.
 * best: for each row, the index of the class whose label the row gets; labels:
 * the labels of all classes, from ml_labels(). False after a diagnostic. */
bool ml_classify(struct ml *m, struct tensor *best, struct tensor *scores,
		 const int64_t *labels, int n_labels);
/* Reads the labels of the classes from the integer attribute `ints`. If the
 * attribute `strings` has the labels instead, sets m->strings to them, and
 * `labels` to the indices in m->strings. */
void ml_labels(struct ml *m, const char *ints, const char *strings,
	       const int64_t **labels, int *n);
/* Makes t output k of the replaced node. */
void ml_output(struct ml *m, int k, struct tensor *t);
/* Reports why tirc does not support the node; returns false. */
bool ml_refuse(struct ml *m, const char *why);

/* Makes a constant list of strings. */
struct tensor *ml_strings(struct ml *m, const char *what, int n,
			  const char *const *strings);
/* Sets *values to the elements of a constant as doubles; returns their
 * number. */
int ml_doubles(struct ml *m, const struct value *v, const double **values);
/* The name of a new tensor: the name of the first output of the model's node
 * that is present, followed by `what`. */
const char *ml_name(struct ml *m, const char *what);
/* Does the node have this attribute, and is it not an empty list? */
bool ml_has(const struct ml *m, const char *name);
/* The labels that ml_labels() has read, as a constant. */
struct tensor *ml_label_names(struct ml *m, const char *what,
			      const int64_t *labels, int n);
/* Returns input 0 converted to float32, or input 0 itself if it is float64.
 * Sets *type to the type of the returned tensor. */
struct tensor *ml_real(struct ml *m, struct dtype *type);

typedef bool ml_fn(struct ml *m);

/* ml_linear.c, ml_trees.c */
ml_fn ml_linear_classifier, ml_linear_regressor, ml_svm_classifier,
	ml_svm_regressor, ml_tree_classifier, ml_tree_regressor,
	ml_tree_ensemble;

/* -- ml.c: the operators of ai.onnx.ml -- */

bool is_ml_operator(const char *domain, const char *op_type);
bool expand_ml(struct importer *imp, struct deferred *d);

#endif
