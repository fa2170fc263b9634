/* SPDX-License-Identifier: Apache-2.0 */
/* The words of CUDA C++ that our sources use, for a compiler that knows the
 * language but has no toolkit beside it. */
#ifndef CUDA_SYNTAX_H
#define CUDA_SYNTAX_H

#define __global__ __attribute__((global))
#define __device__ __attribute__((device))
#define __host__ __attribute__((host))
#define __shared__ __attribute__((shared))
#define __launch_bounds__(...) __attribute__((launch_bounds(__VA_ARGS__)))

struct index_word {
	unsigned x, y, z;
};
extern const __device__ index_word threadIdx, blockIdx;

struct dim3 {
	unsigned x, y, z;
	__host__ __device__
	dim3(unsigned x = 1, unsigned y = 1, unsigned z = 1)
	    : x(x), y(y), z(z)
	{
	}
};

typedef struct stream *cudaStream_t;
extern "C" int cudaConfigureCall(dim3 grid, dim3 block,
				 unsigned long shared = 0,
				 cudaStream_t stream = 0);
extern "C" int __cudaPushCallConfiguration(dim3 grid, dim3 block,
					   unsigned long shared = 0,
					   cudaStream_t stream = 0);

extern "C" __device__ void __syncthreads();
extern "C" __device__ float expf(float);

#endif
