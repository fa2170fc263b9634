/* SPDX-License-Identifier: Apache-2.0 */
/* What a CUDA source needs to run on the CPU, for tests: every thread of a
 * block is a context of its own; they take turns from barrier to barrier.
 * Launches are written emulate(kernel, grid, block)(arguments), or are calls of
 * cudaLaunchKernel. The memory of the device is the host's, and whatever goes
 * to a stream is done at once.
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
/* There is one thread of the host: its variables are those of a block, and may
 * be declared extern. */
#define __shared__ thread_local
#define __managed__
#define __launch_bounds__(n)
#define __forceinline__ inline
#define __align__(n) __attribute__((aligned(n)))

struct dim3 {
	unsigned x, y, z;
	dim3(unsigned x = 1, unsigned y = 1, unsigned z = 1) : x(x), y(y), z(z)
	{
	}
};

/* Several numbers in one access, which has to be aligned to all of them. */
template <class T, int N> struct __align__(sizeof(T) * N) numbers_at_once
{
	T lanes[N];

	numbers_at_once() = default;
	numbers_at_once(const numbers_at_once &from)
	{
		*this = from;
	}
	numbers_at_once &operator=(const numbers_at_once &from)
	{
		check(this);
		check(&from);
		memcpy(lanes, from.lanes, sizeof lanes);
		return *this;
	}
	static void check(const void *p)
	{
		size_t at = reinterpret_cast<size_t>(p);

		/* The compiler believes what the type says. */
		__asm__("" : "+r"(at));
		if (at % (sizeof(T) * N) != 0) {
			printf("%d elements at once, of %d bytes each, start "
			       "between two such places\n",
			       N, (int)sizeof(T));
			exit(1);
		}
	}
};

typedef numbers_at_once<float, 2> float2;
typedef numbers_at_once<float, 4> float4;
typedef numbers_at_once<double, 2> double2;
typedef numbers_at_once<int, 2> int2;
typedef numbers_at_once<int, 4> int4;
typedef numbers_at_once<unsigned, 2> uint2;
typedef numbers_at_once<unsigned, 4> uint4;
typedef numbers_at_once<short, 2> short2;
typedef numbers_at_once<short, 4> short4;
typedef numbers_at_once<unsigned short, 2> ushort2;
typedef numbers_at_once<unsigned short, 4> ushort4;
typedef numbers_at_once<signed char, 4> char4;
typedef numbers_at_once<unsigned char, 4> uchar4;
typedef numbers_at_once<half, 2> half2;

static dim3 gridDim, blockDim, blockIdx, threadIdx;

/* What a launch sizes. More than what any device has is never written. */
namespace emulation
{
enum { POOL = 262144, POOL_DECLARED = 49152 };
}

__attribute__((weak)) thread_local __align__(
	1024) unsigned char shared_pool[emulation::POOL];

#include "ptx_on_cpu.h"

/* Copies that arrive no sooner than they are waited for. */
namespace emulation
{

struct late_copy {
	void *to;
	const void *from;
	size_t bytes;
	unsigned group;
};

struct late_copies {
	enum { MOST = 256 };
	late_copy list[MOST];
	unsigned n, groups;
};

static late_copies pipelines[1024]; /* of the threads of a block */

static inline late_copies &
pipeline()
{
	return pipelines[thread_in_block()];
}

static inline void
check_arrived()
{
	if (pipeline().n > 0) {
		printf("a thread ends before its copies have arrived\n");
		exit(1);
	}
	check_groups_ended();
}

} // namespace emulation

static inline void
__pipeline_memcpy_async(void *to, const void *from, size_t bytes)
{
	emulation::late_copies &p = emulation::pipeline();

	if ((bytes != 4 && bytes != 8 && bytes != 16) ||
	    reinterpret_cast<size_t>(to) % bytes != 0 ||
	    reinterpret_cast<size_t>(from) % bytes != 0 ||
	    p.n == emulation::late_copies::MOST) {
		printf("an asynchronous copy of %u bytes, or between two places "
		       "for such\n",
		       static_cast<unsigned>(bytes));
		exit(1);
	}
	p.list[p.n++] = { to, from, bytes, p.groups };
	memset(to, 0xaa, bytes);
}

static inline void
__pipeline_commit()
{
	emulation::pipeline().groups++;
}

static inline void
__pipeline_wait_prior(unsigned later)
{
	emulation::late_copies &p = emulation::pipeline();
	unsigned kept = 0;

	for (unsigned i = 0; i < p.n; i++) {
		const emulation::late_copy &c = p.list[i];

		if (c.group + later < p.groups) {
			memcpy(c.to, c.from, c.bytes);
		} else {
			p.list[kept++] = c;
		}
	}
	p.n = kept;
}

/* -- the runtime's functions that hosts call */

enum cudaError_t {
	cudaSuccess = 0,
	cudaErrorInvalidValue = 1,
	cudaErrorMemoryAllocation = 2,
	cudaErrorInvalidConfiguration = 9,
	cudaErrorNoDevice = 100,
	cudaErrorSymbolNotFound = 500,
	cudaErrorNotSupported = 801
};
enum cudaMemcpyKind { cudaMemcpyHostToDevice, cudaMemcpyDeviceToHost };
typedef struct stream_on_cpu *cudaStream_t;

static inline const char *
cudaGetErrorString(cudaError_t error)
{
	return error == cudaSuccess ? "no error"
	       : error == cudaErrorInvalidConfiguration
		       ? "invalid configuration argument"
		       : "an error";
}

static inline cudaError_t
cudaMalloc(void **p, size_t bytes)
{
	*p = aligned_alloc(256, (bytes / 256 + 1) * 256);
	return *p != NULL ? cudaSuccess : cudaErrorMemoryAllocation;
}

static inline cudaError_t
cudaFree(void *p)
{
	free(p);
	return cudaSuccess;
}

static inline cudaError_t
cudaMemset(void *p, int byte, size_t bytes)
{
	memset(p, byte, bytes);
	return cudaSuccess;
}

static inline cudaError_t
cudaMemsetAsync(void *p, int byte, size_t bytes, cudaStream_t stream)
{
	(void)stream;
	memset(p, byte, bytes);
	return cudaSuccess;
}

static inline cudaError_t
cudaMemcpyAsync(void *to, const void *from, size_t bytes, cudaMemcpyKind kind,
		cudaStream_t stream)
{
	(void)kind, (void)stream;
	if (bytes > 0 && (to == NULL || from == NULL)) {
		return cudaErrorInvalidValue;
	}
	memcpy(to, from, bytes);
	return cudaSuccess;
}

static inline cudaError_t
cudaMemcpy(void *to, const void *from, size_t bytes, cudaMemcpyKind kind)
{
	return cudaMemcpyAsync(to, from, bytes, kind, NULL);
}

static inline cudaError_t
cudaStreamSynchronize(cudaStream_t)
{
	return cudaSuccess;
}

static inline cudaError_t
cudaDeviceSynchronize()
{
	return cudaSuccess;
}

/* The driver's functions: the one that there is. */
enum cudaDriverEntryPointQueryResult {
	cudaDriverEntryPointSuccess,
	cudaDriverEntryPointSymbolNotFound,
	cudaDriverEntryPointVersionNotSufficent
};
enum { cudaEnableDefault };

static inline cudaError_t
cudaGetDriverEntryPointByVersion(const char *symbol, void **function,
				 unsigned version, unsigned long long flags,
				 cudaDriverEntryPointQueryResult *status = NULL)
{
	cudaDriverEntryPointQueryResult found =
		strcmp(symbol, "cuTensorMapEncodeTiled") != 0
			? cudaDriverEntryPointSymbolNotFound
		: version < 12000 ? cudaDriverEntryPointVersionNotSufficent
				  : cudaDriverEntryPointSuccess;

	if (flags != cudaEnableDefault) {
		return cudaErrorInvalidValue;
	}
	*function = found == cudaDriverEntryPointSuccess
			    ? reinterpret_cast<void *>(cuTensorMapEncodeTiled)
			    : NULL;
	if (status != NULL) {
		*status = found;
	}
	return cudaSuccess;
}

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

/* Rounded, whatever the compiler may do with products elsewhere. */
static inline __attribute__((noinline)) float
__fmul_rn(float a, float b)
{
	return a * b;
}

static inline __attribute__((noinline)) double
__dmul_rn(double a, double b)
{
	return a * b;
}

namespace emulation
{

enum { STACK = 65536 };

/* One context per thread of a block, used again by the next block. It begins as
 * a ucontext; from then on jumps, which leave the signals alone, are many times
 * faster. */
struct thread {
	void *at[5]; /* where it goes on; for __builtin_longjmp */
	bool begun;
	dim3 index;
	enum { READY, WAITS, ASKS, DONE } state; /* at a barrier; again */
};

struct work {
	virtual void run() = 0;
	virtual ~work()
	{
	}
};

enum { THREADS = 1024 };

static void *scheduler[5];
static thread pool[THREADS];
static thread *current; /* NULL: this one cannot wait */
static work *job;

/* Callers shall not count on registers that a function seems to leave alone:
 * others run before it comes back. */
#ifdef __clang__
#define APART __attribute__((noinline, optnone))
#else
#define APART __attribute__((noipa))
#endif

static APART void
jump(void **to)
{
	__builtin_longjmp(to, 1);
}

/* Until the scheduler comes back to this thread. */
static APART void
give_way()
{
	if (__builtin_setjmp(current->at) == 0) {
		jump(scheduler);
	}
}

static void
enter()
{
	for (;;) {
		job->run();
		check_arrived();
		current->state = thread::DONE;
		give_way();
	}
}

static APART void
begin(thread *t)
{
	ucontext_t context;

	t->begun = true;
	getcontext(&context);
	context.uc_stack.ss_sp = malloc(STACK);
	context.uc_stack.ss_size = STACK;
	context.uc_link = NULL;
	makecontext(&context, enter, 0);
	setcontext(&context);
}

static APART void
go_on(thread *t)
{
	current = t;
	threadIdx = t->index;
	if (__builtin_setjmp(scheduler) == 0) {
		if (t->begun) {
			jump(t->at);
		}
		begin(t);
	}
}

static dim3
index_of(unsigned i)
{
	return dim3(i % blockDim.x, i / blockDim.x % blockDim.y,
		    i / blockDim.x / blockDim.y);
}

static unsigned
in_order(unsigned k, unsigned n)
{
#ifdef EMULATE_BACKWARDS
	return n - 1 - k;
#else
	return n * 0 + k;
#endif
}

/* A kernel that the first thread goes through without waiting: so do the
 * others, and need no contexts. */
static void
run_plain(unsigned n)
{
	current = NULL;
	for (unsigned k = 0; k < n; k++) {
		threadIdx = index_of(in_order(k, n));
		job->run();
		check_arrived();
	}
}

static void
run_block(unsigned n)
{
	unsigned left = n;

	if (n > THREADS) {
		printf("%u threads in a block\n", n);
		exit(1);
	}
	for (unsigned i = 0; i < n; i++) {
		pool[i].state = thread::READY;
		pool[i].index = index_of(i);
	}
	while (left > 0) {
		unsigned waiting = 0, asking = 0, done = 0;
		unsigned long events = bulk_events;

		for (unsigned k = 0; k < n; k++) {
			thread *t = &pool[in_order(k, n)];

			if (t->state == thread::READY ||
			    t->state == thread::ASKS) {
				t->state = thread::READY;
				go_on(t);
			}
			waiting += t->state == thread::WAITS;
			asking += t->state == thread::ASKS;
			done += t->state == thread::DONE;
		}
		if (waiting > 0 && done > 0) {
			printf("%u threads of a block wait at a barrier, %u "
			       "never come\n",
			       waiting, done);
			exit(1);
		}
		if (asking > 0 && bulk_events == events) {
			barriers_hang();
		}
		if (waiting == n) {
			barriers_meet();
			for (unsigned i = 0; i < n; i++) {
				pool[i].state = thread::READY;
			}
		}
		left = n - done;
	}
}

static bool waited;       /* any thread of this launch */
static size_t pool_bytes; /* of this launch */

static void
fill_pool()
{
	memset(shared_pool, 0xaa, POOL);
}

static void
check_pool()
{
	for (size_t i = pool_bytes; i < POOL; i++) {
		if (shared_pool[i] != 0xaa) {
			printf("byte %u of a shared array of %u bytes\n",
			       (unsigned)i, (unsigned)pool_bytes);
			exit(1);
		}
	}
}

static void
run_grid(work &w)
{
	bool first = true;

	job = &w;
	if (pool_bytes > 0) {
		fill_pool();
	}
	waited = false;
	for (unsigned z = 0; z < gridDim.z; z++) {
		for (unsigned y = 0; y < gridDim.y; y++) {
			for (unsigned x = 0; x < gridDim.x; x++) {
				blockIdx = dim3(x, y, z);
				unsigned n = blockDim.x * blockDim.y *
					     blockDim.z;

				groups_begin();
				if (first || waited) {
					run_block(n);
				} else {
					run_plain(n);
				}
				barriers_end();
				first = false;
			}
		}
	}
	if (pool_bytes > 0) {
		check_pool();
	}
	pool_bytes = 0;
}

/* What kernels may be launched with, beyond what all may. */
struct allowed_pool {
	const void *kernel;
	size_t bytes;
};

static allowed_pool allowed[64];

static size_t
allowed_bytes(const void *kernel)
{
	for (const allowed_pool &a : allowed) {
		if (a.kernel == kernel) {
			return a.bytes;
		}
	}
	return POOL_DECLARED;
}

/* Each file has its own threads: what starts them is not to be another's. */
namespace
{

template <class F> struct call : work {
	F f;
	call(F f) : f(f)
	{
	}
	void
	run()
	{
		f();
	}
};

template <class... P> struct launch {
	void (*kernel)(P...);
	dim3 grid, block;
	size_t shared;

	void
	operator()(P... args) const
	{
		if (shared > allowed_bytes((const void *)kernel)) {
			printf("%u bytes of shared memory, not allowed\n",
			       (unsigned)shared);
			exit(1);
		}
		pool_bytes = shared;
		auto f = [&] { kernel(args...); };
		call<decltype(f)> w(f);

		gridDim = grid;
		blockDim = block;
		run_grid(w);
	}
};

} // namespace
} // namespace emulation

static inline void
__syncthreads()
{
	if (emulation::current == NULL) {
		printf("a barrier in some blocks of a launch only\n");
		exit(1);
	}
	emulation::waited = true;
	emulation::groups_meet_barrier();
	emulation::current->state = emulation::thread::WAITS;
	emulation::give_way();
}

/* Others go on; what this one waits for is looked at again then. */
static inline void
emulation::wait_for_turn()
{
	if (current == NULL) {
		ptx_fails("a wait in some blocks of a launch only");
	}
	waited = true;
	current->state = thread::ASKS;
	give_way();
}

/* The value of the thread whose number differs in these bits. All threads of a
 * block come to it together, and to the next one only after all have had this
 * one's: a place for each of two is enough. */
template <class T>
static T
__shfl_xor_sync(unsigned mask, T value, int bits)
{
	static T all[2][emulation::THREADS];
	static unsigned char turn[emulation::THREADS];
	const unsigned n = blockDim.x * blockDim.y * blockDim.z;
	const unsigned i = threadIdx.x +
			   blockDim.x *
				   (threadIdx.y + blockDim.y * threadIdx.z);
	const unsigned other = i ^ (unsigned)bits;
	const unsigned now = turn[i];

	if (mask != 0xffffffffu || bits < 1 || bits > 31 || other >= n) {
		printf("a value of a thread that is not in the warp\n");
		exit(1);
	}
	all[now][i] = value;
	turn[i] = !now;
	__syncthreads();
	return all[now][other];
}

/* Tiles that a warp holds together: here each thread has all of one, so what a
 * thread loads before the others have stored is seen. Only the 32 threads of a
 * warp together may call these functions, with the same arguments. */
namespace nvcuda
{
namespace wmma
{

struct matrix_a {
};
struct matrix_b {
};
struct accumulator {
};
struct row_major {
};
enum layout_t { mem_row_major, mem_col_major };

/* Floats that the caller has rounded to 10 bits behind the point. */
namespace precision
{
struct tf32 {
};
} // namespace precision

template <class T> struct storage {
	typedef T type;
	static bool
	is_sound(T)
	{
		return true;
	}
};
template <> struct storage<precision::tf32> {
	typedef float type;
	static bool
	is_sound(float x)
	{
		unsigned bits;

		memcpy(&bits, &x, sizeof bits);
		return x != x || bits % 8192 == 0;
	}
};

/* To nearest, halves away from zero. */
static inline float
__float_to_tf32(float x)
{
	unsigned bits;

	memcpy(&bits, &x, sizeof bits);
	bits = x != x ? bits : (bits + 4096) / 8192 * 8192;
	memcpy(&x, &bits, sizeof x);
	return x;
}

template <class Use, int M, int N, int K, class T, class Layout = void>
struct fragment {
	enum {
		num_elements = (std::is_same<Use, matrix_b>::value ? K : M) *
			       (std::is_same<Use, matrix_a>::value ? K : N)
	};
	static_assert(M == 16 && N == 16 &&
			      (std::is_same<T, precision::tf32>::value
				       ? K == 8
				       : K == 16 ||
						 std::is_same<T, float>::value),
		      "no such tile");
	typename storage<T>::type x[num_elements];
};

/* Fewer than all threads of a warp would hang or compute nothing. */
static inline void
whole_warp(const void *pointer, unsigned bytes, unsigned stride_bytes)
{
	unsigned n = blockDim.x * blockDim.y * blockDim.z;

	if (n % 32 != 0 || reinterpret_cast<size_t>(pointer) % bytes != 0 ||
	    stride_bytes % 16 != 0) {
		printf("half a warp, or a tile at a place that is not a "
		       "multiple of %u bytes, rows of 16\n",
		       bytes);
		exit(1);
	}
}

template <class Use, int M, int N, int K, class T, class L>
static void
fill_fragment(fragment<Use, M, N, K, T, L> &f, T value)
{
	whole_warp(NULL, 1, 0);
	for (T &x : f.x) {
		x = value;
	}
}

template <class Use, int M, int N, int K, class T, class L>
static void
load_matrix_sync(fragment<Use, M, N, K, T, L> &f,
		 const typename storage<T>::type *from, unsigned stride)
{
	const int columns = std::is_same<Use, matrix_a>::value ? K : N;

	whole_warp(from, 32, stride * sizeof *from);
	for (unsigned i = 0; i < f.num_elements; i++) {
		f.x[i] = from[i / columns * stride + i % columns];
	}
}

template <int M, int N, int K, class T>
static void
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

template <class T, class U>
static T
operand(typename storage<U>::type x)
{
	if (!storage<U>::is_sound(x)) {
		printf("an operand that is not rounded to tf32\n");
		exit(1);
	}
	return static_cast<T>(x);
}

template <int M, int N, int K, class T, class U>
static void
mma_sync(fragment<accumulator, M, N, K, T> &d,
	 const fragment<matrix_a, M, N, K, U, row_major> &a,
	 const fragment<matrix_b, M, N, K, U, row_major> &b,
	 const fragment<accumulator, M, N, K, T> &c)
{
	T rows[M * K], columns[K * N];

	whole_warp(NULL, 1, 0);
	for (int i = 0; i < M * K; i++) {
		rows[i] = operand<T, U>(a.x[i]);
	}
	for (int i = 0; i < K * N; i++) {
		columns[i] = operand<T, U>(b.x[i]);
	}
	for (int i = 0; i < M; i++) {
		T sums[N];

		memcpy(sums, c.x + i * N, sizeof sums);
		for (int k = 0; k < K; k++) {
			for (int j = 0; j < N; j++) {
				sums[j] += rows[i * K + k] * columns[k * N + j];
			}
		}
		memcpy(d.x + i * N, sums, sizeof sums);
	}
}

} // namespace wmma
} // namespace nvcuda

namespace emulation
{

template <class... P> struct arguments_of;
template <> struct arguments_of<> {
	template <class F, class... Done>
	static void
	call(F kernel, void **, Done... done)
	{
		kernel(done...);
	}
};
template <class First, class... Rest> struct arguments_of<First, Rest...> {
	template <class F, class... Done>
	static void
	call(F kernel, void **from, Done... done)
	{
		arguments_of<Rest...>::call(kernel, from + 1, done...,
					    *static_cast<First *>(*from));
	}
};

} // namespace emulation

template <class... P>
static cudaError_t
cudaLaunchKernel(void (*kernel)(P...), dim3 grid, dim3 block, void **arguments,
		 size_t shared, cudaStream_t)
{
	auto f = [&] {
		emulation::arguments_of<P...>::call(kernel, arguments);
	};
	emulation::call<decltype(f)> w(f);
	unsigned n = block.x * block.y * block.z;

	if (shared > emulation::allowed_bytes((const void *)kernel)) {
		return cudaErrorInvalidValue;
	}
	if (n == 0 || n > 1024 || grid.x == 0 || grid.y == 0 || grid.z == 0 ||
	    grid.y > 65535 || grid.z > 65535) {
		return cudaErrorInvalidConfiguration;
	}
	gridDim = grid;
	blockDim = block;
	emulation::pool_bytes = shared;
	emulation::run_grid(w);
	return cudaSuccess;
}

enum cudaFuncAttribute { cudaFuncAttributeMaxDynamicSharedMemorySize = 8 };

template <class... P>
static cudaError_t
cudaFuncSetAttribute(void (*kernel)(P...), cudaFuncAttribute, int bytes)
{
	for (emulation::allowed_pool &a : emulation::allowed) {
		if (a.kernel == NULL || a.kernel == (const void *)kernel) {
			a.kernel = (const void *)kernel;
			a.bytes = bytes;
			return bytes <= 232448 ? cudaSuccess
					       : cudaErrorInvalidValue;
		}
	}
	return cudaErrorMemoryAllocation;
}

template <class... P>
static emulation::launch<P...>
emulate(void (*kernel)(P...), dim3 grid, dim3 block, size_t shared = 0)
{
	return emulation::launch<P...>{ kernel, grid, block, shared };
}

#endif
