/* SPDX-License-Identifier: Apache-2.0 */
#include "tolerance.h"

struct type_tolerance
tolerance_of_type(struct dtype t)
{
	switch (t.kind) {
#define TOLERANCE(type, rtol, atol, inputs)                                    \
	case DT_##type:                                                        \
		return (struct type_tolerance){ rtol, atol, inputs };
#define TOLERANCE_OF_BYTES(atol, inputs)                                       \
	default:                                                               \
		if (dtype_is_float(t)) {                                       \
			return (struct type_tolerance){ dtype_epsilon(t),      \
							atol, inputs };        \
		}                                                              \
		break;
#include "tolerance.def"
#undef TOLERANCE
#undef TOLERANCE_OF_BYTES
	}
	return (struct type_tolerance){ 0 };
}
