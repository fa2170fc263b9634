/* SPDX-License-Identifier: Apache-2.0 */
/* type(value), and the names of classes: Python's own, and TVM's as TVM
 * documents them. */
#include "objects.h"
#include "python_parts.h"

struct python_class {
	enum pv_kind kind;
	const char *name; /* "tvm.te.tensor.Tensor" */
};

static const struct python_class classes[] = {
	{ PV_NONE, "NoneType" },
	{ PV_BOOL, "bool" },
	{ PV_INT, "int" },
	{ PV_FLOAT, "float" },
	{ PV_STRING, "str" },
	{ PV_ELLIPSIS, "ellipsis" },
	{ PV_TUPLE, "tuple" },
	{ PV_LIST, "list" },
	{ PV_SET, "set" },
	{ PV_DICT, "dict" },
	{ PV_RANGE, "range" },
	{ PV_SLICE, "slice" },
	{ PV_CLOSURE, "function" },
	{ PV_BUILTIN, "builtin_function_or_method" },
	{ PV_METHOD, "method" },
	{ PV_BOUND, "method" },
	{ PV_USER_CLASS, "type" },
	{ PV_ITERATOR, "generator" },
	{ PV_NAMESPACE, "module" },
	{ PV_CLASS, "type" },
	{ PV_TENSOR, "tvm.te.tensor.Tensor" },
	{ PV_TENSOR_PART, "tvm.te.tensor.TensorSlice" },
	{ PV_AXIS, "tvm.tir.expr.IterVar" },
	{ PV_THREAD, "tvm.tir.expr.IterVar" },
	{ PV_BUFFER, "tvm.tir.buffer.Buffer" },
	{ PV_REDUCER, "function" },
	{ PV_TE_SCHEDULE, "tvm.te.schedule.Schedule" },
	{ PV_STAGE, "tvm.te.schedule.Stage" },
	{ PV_SCHEDULE, "tvm.tir.schedule.schedule.Schedule" },
	{ PV_BLOCK, "tvm.tir.schedule.schedule.BlockRV" },
	{ PV_LOOP, "tvm.tir.schedule.schedule.LoopRV" },
	{ PV_TRACE, "tvm.tir.schedule.trace.Trace" },
	{ PV_IRMODULE, "tvm.ir.module.IRModule" },
	{ PV_FUNC, "tvm.tir.function.PrimFunc" },
	{ PV_BUILT, "tvm.driver.build_module.OperatorModule" },
	{ PV_TARGET, "tvm.target.target.Target" },
	{ PV_INTRIN, "tvm.te.tensor_intrin.TensorIntrin" },
	{ PV_MAP, "tvm.tir.function.IndexMap" },
	{ PV_ONNX, "onnx.onnx_ml_pb2.ModelProto" },
	{ PV_GRAPH, "tvm.ir.module.IRModule" },
	{ PV_GRAPH_FUNC, "tvm.relay.function.Function" },
	{ PV_PARAM, "tvm.runtime.ndarray.NDArray" },
	{ PV_PASS, "tvm.ir.transform.Pass" },
	{ PV_PASS_CONTEXT, "tvm.ir.transform.PassContext" },
	{ PV_RUNTIME, "tvm.contrib.graph_executor.GraphModule" },
	{ PV_TVMC_RESULT, "tvm.driver.tvmc.result_utils.TVMCResult" },
	{ PV_LIBRARY,
	  "tvm.relay.backend.executor_factory.GraphExecutorFactoryModule" },
	{ PV_ARRAY, "numpy.ndarray" },
	{ PV_NDARRAY, "tvm.runtime.ndarray.NDArray" },
	{ PV_RANDOM, "numpy.random.Generator" },
	{ PV_DEVICE, "tvm.runtime.device.Device" },
};

/* The names of the kinds of expressions in tvm.tir.expr. */
static const struct {
	enum expr_kind kind;
	const char *name;
} expr_classes[] = {
	{ EXPR_INT, "IntImm" },
	{ EXPR_FLOAT, "FloatImm" },
	{ EXPR_STRING, "StringImm" },
	{ EXPR_VAR, "Var" },
	{ EXPR_ADD, "Add" },
	{ EXPR_SUB, "Sub" },
	{ EXPR_MUL, "Mul" },
	{ EXPR_DIV, "Div" },
	{ EXPR_TRUNCMOD, "Mod" },
	{ EXPR_FLOORDIV, "FloorDiv" },
	{ EXPR_FLOORMOD, "FloorMod" },
	{ EXPR_MIN, "Min" },
	{ EXPR_MAX, "Max" },
	{ EXPR_EQ, "EQ" },
	{ EXPR_NE, "NE" },
	{ EXPR_LT, "LT" },
	{ EXPR_LE, "LE" },
	{ EXPR_GT, "GT" },
	{ EXPR_GE, "GE" },
	{ EXPR_AND, "And" },
	{ EXPR_OR, "Or" },
	{ EXPR_NOT, "Not" },
	{ EXPR_SELECT, "Select" },
	{ EXPR_IF, "Call" },
	{ EXPR_CAST, "Cast" },
	{ EXPR_LOAD, "ProducerLoad" },
	{ EXPR_CALL, "Call" },
	{ EXPR_RAMP, "Ramp" },
	{ EXPR_BROADCAST, "Broadcast" },
	{ EXPR_REDUCE, "Reduce" },
};

static const char *
expr_class(struct eval *ev, const struct expr *e)
{
	const size_t n = sizeof expr_classes / sizeof *expr_classes;

	for (size_t i = 0; i < n; i++) {
		if (expr_classes[i].kind == e->kind) {
			return arena_printf(ev->a, "tvm.tir.expr.%s",
					    expr_classes[i].name);
		}
	}
	return "tvm.tir.expr.PrimExpr";
}

/* Is `function` the name of a class, such as int, which makes the values of the
 * class when it is called? */
static bool
makes_class(const char *function)
{
	for (size_t i = 0; i < sizeof classes / sizeof *classes; i++) {
		const char *dot = strrchr(classes[i].name, '.');

		if (strcmp(function, dot ? dot + 1 : classes[i].name) == 0) {
			return true;
		}
	}
	return false;
}

/* The name of the class of v. */
static const char *
class_of(struct eval *ev, const struct pval *v)
{
	if (v->kind == PV_EXPR) {
		return expr_class(ev, v->u.expr);
	}
	if (v->kind == PV_BUILTIN && makes_class(v->u.row->name)) {
		return "type";
	}
	if (ops_of(ev, v->kind)->class_name) {
		return ops_of(ev, v->kind)->class_name(ev, v);
	}
	if (v->kind == PV_OP) {
		return v->u.tensor->stage ? "tvm.te.tensor.ComputeOp"
					  : "tvm.te.tensor.PlaceholderOp";
	}
	for (size_t i = 0; i < sizeof classes / sizeof *classes; i++) {
		if (classes[i].kind == v->kind) {
			return classes[i].name;
		}
	}
	return "object";
}

bool
python_type(struct call *c, struct pval *out)
{
	if (c->args[0].kind == PV_OBJECT) {
		*out = (struct pval){ .kind = PV_USER_CLASS,
				      .u.class = c->args[0].u.object->of };
		return true;
	}
	*out = pv_any(PV_CLASS, class_of(c->ev, &c->args[0]));
	return true;
}

/* The attribute __name__ of a class: its name without modules. */
bool
class_name(struct call *c, struct pval *out)
{
	const char *name = c->self.u.any, *dot = strrchr(name, '.');

	*out = pv_string(c->ev, dot ? dot + 1 : name);
	return true;
}
