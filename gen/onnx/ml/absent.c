/* SPDX-License-Identifier: Apache-2.0 */
/* This file takes the place of all other files of this folder if tirc is built
 * with -Dml=false: then the operators of ai.onnx.ml are refused. */
#include "ml.h"

bool
is_ml_operator(const char *domain, const char *op_type)
{
	(void)op_type;
	return strcmp(domain, "ai.onnx.ml") == 0;
}

bool
expand_ml(struct importer *imp, struct deferred *d)
{
	return deferred_refuse(imp, d,
			       "this tirc was built without the operators of "
			       "ai.onnx.ml; build it with -Dml=true");
}
