/* SPDX-License-Identifier: Apache-2.0 */
/* What a CUDA source needs to run on the CPU, for tests: every thread of a
 * block is a context of its own; they take turns from barrier to barrier.
 * Launches are written emulate(kernel, grid, block)(arguments).
 *
 * A barrier that not all threads of a block come to ends the program. With
 * EMULATE_BACKWARDS the threads take turns from the last to the first. */
#ifndef CUDA_ON_CPU_H
#define CUDA_ON_CPU_H

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <ucontext.h>

#include "half_on_cpu.h"

#define __global__
#define __device__
#define __host__
#define __shared__ static
#define __launch_bounds__(n)
#define __forceinline__ inline
#define __align__(n) __attribute__((aligned(n)))

struct dim3 {
	unsigned x, y, z;
	dim3(unsigned x = 1, unsigned y = 1, unsigned z = 1) : x(x), y(y), z(z)
	{
	}
};

static dim3 gridDim, blockDim, blockIdx, threadIdx;

static inline float
rsqrtf(float x)
{
	return 1.0f / sqrtf(x);
}

static inline double
rsqrt(double x)
{
	return 1.0 / sqrt(x);
}

namespace emulation {

enum { STACK = 65536 };

struct thread {
	ucontext_t context;
	char *stack;
	dim3 index;
	enum { READY, WAITS, DONE } state;
};

struct work {
	virtual void run() = 0;
	virtual ~work() {}
};

static ucontext_t scheduler;
static thread *current;
static work *job;

static void
enter()
{
	job->run();
	current->state = thread::DONE;
	swapcontext(&current->context, &scheduler);
}

static void
run_block(unsigned n)
{
	thread *threads = new thread[n];
	unsigned left = n;

	for (unsigned i = 0; i < n; i++) {
		thread &t = threads[i];

		t.stack = static_cast<char *>(malloc(STACK));
		t.state = thread::READY;
		t.index = dim3(i % blockDim.x, i / blockDim.x % blockDim.y,
			       i / blockDim.x / blockDim.y);
		getcontext(&t.context);
		t.context.uc_stack.ss_sp = t.stack;
		t.context.uc_stack.ss_size = STACK;
		t.context.uc_link = NULL;
		makecontext(&t.context, enter, 0);
	}
	while (left > 0) {
		unsigned waiting = 0, done = 0;

		for (unsigned k = 0; k < n; k++) {
#ifdef EMULATE_BACKWARDS
			thread &t = threads[n - 1 - k];
#else
			thread &t = threads[k];
#endif
			if (t.state != thread::DONE) {
				current = &t;
				threadIdx = t.index;
				swapcontext(&scheduler, &t.context);
			}
			waiting += t.state == thread::WAITS;
			done += t.state == thread::DONE;
		}
		if (waiting > 0 && done > 0) {
			printf("%u threads of a block wait at a barrier, %u "
			       "never come\n", waiting, done);
			exit(1);
		}
		left = n - done;
	}
	for (unsigned i = 0; i < n; i++) {
		free(threads[i].stack);
	}
	delete[] threads;
}

static void
run_grid(work &w)
{
	job = &w;
	for (unsigned z = 0; z < gridDim.z; z++) {
		for (unsigned y = 0; y < gridDim.y; y++) {
			for (unsigned x = 0; x < gridDim.x; x++) {
				blockIdx = dim3(x, y, z);
				run_block(blockDim.x * blockDim.y *
					  blockDim.z);
			}
		}
	}
}

template <class F> struct call : work {
	F f;
	call(F f) : f(f) {}
	void run() { f(); }
};

template <class... P> struct launch {
	void (*kernel)(P...);
	dim3 grid, block;

	void operator()(P... args) const
	{
		auto f = [&] { kernel(args...); };
		call<decltype(f)> w(f);

		gridDim = grid;
		blockDim = block;
		run_grid(w);
	}
};

}

static inline void
__syncthreads()
{
	emulation::current->state = emulation::thread::WAITS;
	swapcontext(&emulation::current->context, &emulation::scheduler);
	emulation::current->state = emulation::thread::READY;
}

/* Tiles that a warp holds together: here each thread has all of one, so what a
 * thread loads before the others have stored is seen. Only the 32 threads of a
 * warp together may call these functions, with the same arguments. */
namespace nvcuda {
namespace wmma {

struct matrix_a {};
struct matrix_b {};
struct accumulator {};
struct row_major {};
enum layout_t { mem_row_major, mem_col_major };

template <class Use, int M, int N, int K, class T, class Layout = void>
struct fragment {
	T x[(std::is_same<Use, matrix_b>::value ? K : M) *
	    (std::is_same<Use, matrix_a>::value ? K : N)];
};

/* Fewer than all threads of a warp would hang or compute nothing. */
static inline void
whole_warp(const void *pointer, unsigned bytes, unsigned stride_bytes)
{
	unsigned n = blockDim.x * blockDim.y * blockDim.z;

	if (n % 32 != 0 || reinterpret_cast<size_t>(pointer) % bytes != 0 ||
	    stride_bytes % 16 != 0) {
		printf("half a warp, or a tile at a place that is not a "
		       "multiple of %u bytes, rows of 16\n", bytes);
		exit(1);
	}
}

template <class Use, int M, int N, int K, class T, class L> static void
fill_fragment(fragment<Use, M, N, K, T, L> &f, T value)
{
	whole_warp(NULL, 1, 0);
	for (T &x : f.x) {
		x = value;
	}
}

template <class Use, int M, int N, int K, class T, class L> static void
load_matrix_sync(fragment<Use, M, N, K, T, L> &f, const T *from,
		 unsigned stride)
{
	const int columns = std::is_same<Use, matrix_a>::value ? K : N;

	whole_warp(from, 32, stride * sizeof(T));
	for (unsigned i = 0; i < sizeof f.x / sizeof(T); i++) {
		f.x[i] = from[i / columns * stride + i % columns];
	}
}

template <int M, int N, int K, class T> static void
store_matrix_sync(T *to, const fragment<accumulator, M, N, K, T> &f,
		  unsigned stride, layout_t layout)
{
	whole_warp(to, 32, stride * sizeof(T));
	if (layout != mem_row_major) {
		printf("tiles by columns are not emulated\n");
		exit(1);
	}
	for (int i = 0; i < M * N; i++) {
		to[i / N * stride + i % N] = f.x[i];
	}
}

template <int M, int N, int K, class T, class U> static void
mma_sync(fragment<accumulator, M, N, K, T> &d,
	 const fragment<matrix_a, M, N, K, U, row_major> &a,
	 const fragment<matrix_b, M, N, K, U, row_major> &b,
	 const fragment<accumulator, M, N, K, T> &c)
{
	whole_warp(NULL, 1, 0);
	for (int i = 0; i < M; i++) {
		for (int j = 0; j < N; j++) {
			T sum = c.x[i * N + j];

			for (int k = 0; k < K; k++) {
				sum += static_cast<T>(a.x[i * K + k]) *
				       static_cast<T>(b.x[k * N + j]);
			}
			d.x[i * N + j] = sum;
		}
	}
}

}
}

template <class... P> static emulation::launch<P...>
emulate(void (*kernel)(P...), dim3 grid, dim3 block)
{
	return emulation::launch<P...>{ kernel, grid, block };
}

#endif
