/* SPDX-License-Identifier: Apache-2.0 */
/* Operators of the domain ai.onnx.ml as nodes of ONNX's own operators: helpers
 * that their files share. */
#ifndef TIRC_ONNX_ML_H
#define TIRC_ONNX_ML_H

#include "bodies.h"

struct ml {
	struct importer *imp;
	struct deferred *d;
	struct node *n;
	struct tensor *x; /* input 0, whose type and shape are known */
	const char *const *strings; /* of ml_labels; NULL: integers */
};

/* A new node; its only output is named after the replaced node's first one. */
struct node *ml_node(struct ml *m, const char *op, const char *what, int n_in,
		     ...);
/* The output of such a node. */
struct tensor *ml_op(struct ml *m, const char *op, const char *what, int n_in,
		     ...);
/* A node tirc.TreeEnsemble. */
struct node *ml_trees(struct ml *m, struct tensor **in, int n_in);
/* The output of a node tirc.PairCoupling. */
struct tensor *ml_coupling(struct ml *m, struct tensor *q);
/* A constant of the given type. */
struct tensor *ml_constant(struct ml *m, const char *what, struct dtype type,
			   const double *values, int n_dims,
			   const int64_t *shape);
struct tensor *ml_number(struct ml *m, const char *what, struct dtype type,
			 double value);
struct tensor *ml_ints(struct ml *m, const char *what, int n,
		       const int64_t *values);
/* t, whose type is `from`, as a tensor of type `to`. */
struct tensor *ml_cast(struct ml *m, struct tensor *t, struct dtype from,
		       struct dtype to);
/* Input 0 as a matrix of float32, or of float64 if it is; a vector is one
 * row. */
struct tensor *ml_rows(struct ml *m, struct dtype *type);
/* The floats of an attribute, or of the tensor NAME_as_tensor; 0: absent. */
int ml_floats(struct ml *m, const char *name, const double **values);
int ml_attr_ints(struct ml *m, const char *name, const int64_t **values);
/* The attribute post_transform applied to rows of scores; NULL after a
 * refusal. */
struct tensor *ml_post_transform(struct ml *m, struct tensor *scores);
/* Output 0 is the class of the best score of each row, output 1 the transformed
 * scores. labels: of the classes. */
bool ml_classify(struct ml *m, struct tensor *best, struct tensor *scores,
		 const int64_t *labels, int n_labels);
/* The classes of the attribute `ints`; of `strings`, their places in it. */
void ml_labels(struct ml *m, const char *ints, const char *strings,
	       const int64_t **labels, int *n);
/* Output k is t. */
void ml_output(struct ml *m, int k, struct tensor *t);
bool ml_refuse(struct ml *m, const char *why);

/* A list of strings. */
struct tensor *ml_strings(struct ml *m, const char *what, int n,
			  const char *const *strings);
/* The elements of a tensor as doubles. */
int ml_doubles(struct ml *m, const struct value *v, const double **values);
/* The name of a new tensor: that of the first output in use, and `what`. */
const char *ml_name(struct ml *m, const char *what);
/* Has the node an attribute of that name that is not an empty list? */
bool ml_has(const struct ml *m, const char *name);
/* The labels of ml_labels as a constant. */
struct tensor *ml_label_names(struct ml *m, const char *what,
			      const int64_t *labels, int n);
/* Input 0 as float32, or as itself if it is float64. */
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
