/* SPDX-License-Identifier: Apache-2.0 */
/* Loads and stores of columns: contiguous, strided or gathered, in all lanes or
 * only in those of a mask (this file is built with -O3). */
#include "exec.h"

bool
column_is_memory(struct dtype t)
{
	switch (t.kind) {
	case DT_F32:
	case DT_F64:
	case DT_I64:
	case DT_U64:
		return t.lanes == 1;
	default:
		return false;
	}
}

/* Runs `body` for the element that each lane accesses, with a separate loop for
 * each kind of access. */
#define LANES(at, body)                                                        \
	do {                                                                   \
		if (mask) {                                                    \
			for (int i = 0; i < n; i++) {                          \
				if (mask[i]) {                                 \
					int64_t at = index ? index[i]          \
							   : i * stride;       \
					body;                                  \
				}                                              \
			}                                                      \
		} else if (index) {                                            \
			for (int i = 0; i < n; i++) {                          \
				int64_t at = index[i];                         \
				body;                                          \
			}                                                      \
		} else if (stride == 1) {                                      \
			for (int i = 0; i < n; i++) {                          \
				int64_t at = i;                                \
				body;                                          \
			}                                                      \
		} else {                                                       \
			for (int i = 0; i < n; i++) {                          \
				int64_t at = i * stride;                       \
				body;                                          \
			}                                                      \
		}                                                              \
	} while (0)

#define LOAD_LANES(D, T)                                                       \
	do {                                                                   \
		D *restrict d = dst;                                           \
		const unsigned char *p = (const unsigned char *)base +         \
					 offset * (int64_t)sizeof(T);          \
		T value; /* elements may be unaligned in memory */             \
		LANES(at, memcpy(&value, p + at * (int64_t)sizeof value,       \
				 sizeof value);                                \
		      d[i] = (D)value);                                        \
	} while (0)

#define STORE_LANES(T, D)                                                      \
	do {                                                                   \
		T *restrict p = (T *)base + offset;                            \
		const D *d = a;                                                \
		LANES(at, p[at] = (T)d[i]);                                    \
	} while (0)

void
column_load(struct dtype t, void *dst, const void *base, int64_t offset,
	    int64_t stride, const int64_t *index, const unsigned char *mask,
	    int n)
{
	switch (t.kind) {
	case DT_F32:
		LOAD_LANES(float, float);
		break;
	case DT_F64:
		LOAD_LANES(double, double);
		break;
	case DT_I64:
	case DT_U64:
		LOAD_LANES(int64_t, int64_t);
		break;
	case DT_I32:
		LOAD_LANES(int64_t, int32_t);
		break;
	case DT_U32:
		LOAD_LANES(int64_t, uint32_t);
		break;
	case DT_I16:
		LOAD_LANES(int64_t, int16_t);
		break;
	case DT_U16:
		LOAD_LANES(int64_t, uint16_t);
		break;
	case DT_I8:
		LOAD_LANES(int64_t, int8_t);
		break;
	case DT_U8:
		LOAD_LANES(int64_t, uint8_t);
		break;
	case DT_BOOL: {
		unsigned char *restrict d = dst;
		const unsigned char *p = (const unsigned char *)base + offset;

		LANES(at, d[i] = p[at] != 0);
		break;
	}
	default:
		if (dtype_is_float(t)) {
			float *restrict d = dst;

			LANES(at,
			      d[i] = (float)number_load(t, base,
							(size_t)(offset + at))
					     .f);
		} else {
			int64_t *restrict d = dst;

			LANES(at,
			      d[i] = number_load(t, base, (size_t)(offset + at))
					     .i);
		}
		break;
	}
}

void
column_store(struct dtype t, void *base, int64_t offset, int64_t stride,
	     const int64_t *index, const void *a, const unsigned char *mask,
	     int n)
{
	switch (t.kind) {
	case DT_F32:
		STORE_LANES(float, float);
		break;
	case DT_F64:
		STORE_LANES(double, double);
		break;
	case DT_I64:
	case DT_U64:
		STORE_LANES(int64_t, int64_t);
		break;
	case DT_I32:
	case DT_U32:
		STORE_LANES(uint32_t, int64_t);
		break;
	case DT_I16:
	case DT_U16:
		STORE_LANES(uint16_t, int64_t);
		break;
	case DT_I8:
	case DT_U8:
		STORE_LANES(uint8_t, int64_t);
		break;
	case DT_BOOL:
		STORE_LANES(unsigned char, unsigned char);
		break;
	default:
		if (dtype_is_float(t)) {
			const float *d = a;

			LANES(at, number_store(t, base, (size_t)(offset + at),
					       (union number){
						       .f = (double)d[i] }));
		} else {
			const int64_t *d = a;

			LANES(at, number_store(t, base, (size_t)(offset + at),
					       (union number){ .i = d[i] }));
		}
		break;
	}
}
