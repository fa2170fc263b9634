/* product: from product.onnx (sha256 21f31189f2e730ec...), tirc 0.1.0, target cuda-sm80
 * SPDX-License-Identifier: MIT-0
 *
 * meant for   -O3 -arch=sm_80
 */
#include "product.h"

#include <cuda_fp16.h>
#include <cuda_pipeline.h>
#include <cuda_runtime.h>
#include <mma.h>
#include <stdint.h>

static __device__ __forceinline__ void
tirc_wmma_fill_16x16x16_f32(nvcuda::wmma::fragment<nvcuda::wmma::accumulator, 16, 16, 16, float> *y)
{
	nvcuda::wmma::fill_fragment(*y, 0.0f);
}

static __device__ __forceinline__ void
tirc_wmma_load_16x16x16_f16_a_shared(nvcuda::wmma::fragment<nvcuda::wmma::matrix_a, 16, 16, 16, half, nvcuda::wmma::row_major> *y,
	const half *x, int x_stride)
{
	nvcuda::wmma::load_matrix_sync(*y, x, x_stride);
}

static __device__ __forceinline__ void
tirc_wmma_load_16x16x16_f16_b_shared(nvcuda::wmma::fragment<nvcuda::wmma::matrix_b, 16, 16, 16, half, nvcuda::wmma::row_major> *y,
	const half *x, int x_stride)
{
	nvcuda::wmma::load_matrix_sync(*y, x, x_stride);
}

static __device__ __forceinline__ void
tirc_wmma_sync_16x16x16_f16f16f32(nvcuda::wmma::fragment<nvcuda::wmma::accumulator, 16, 16, 16, float> *c,
	const nvcuda::wmma::fragment<nvcuda::wmma::matrix_a, 16, 16, 16, half, nvcuda::wmma::row_major> *a,
	const nvcuda::wmma::fragment<nvcuda::wmma::matrix_b, 16, 16, 16, half, nvcuda::wmma::row_major> *b)
{
	nvcuda::wmma::mma_sync(*c, *a, *b, *c);
}

static __device__ __forceinline__ void
tirc_wmma_store_16x16x16_f32_shared(float *y, int y_stride,
	const nvcuda::wmma::fragment<nvcuda::wmma::accumulator, 16, 16, 16, float> *x)
{
	nvcuda::wmma::store_matrix_sync(y, *x, y_stride,
		nvcuda::wmma::mem_row_major);
}

/* Gemm 1024 -> 1024, + bias, Relu
 *   nodes     Gemm -> "sum"
 *             Relu -> "y"
 *   x         "x": f16 [1024][1024]
 *   w         "w": f16 [1024][1024]
 *   bias      "bias": f16 [1024]
 *   y         "y": f16 [1024][1024]
 *   schedule  tensor tiles of 128 x 64, 32 at a time, 64 x 32 per warp,
 *             wmma_sync_16x16x16_f16f16f32
 *   launch    grid 16, 8; block 32, 2, 2; shared 68608 bytes
 *   work      2149.6 MFLOP, reads 4.20 MB, writes 2.10 MB, locals 11264 bytes
 *             of a thread
 */
static __global__ void __launch_bounds__(128)
sum(const half (*__restrict__ x)[1024], const half (*__restrict__ w)[1024],
    const half *__restrict__ bias, half (*__restrict__ y)[1024])
{
    extern __shared__ __align__(1024) unsigned char shared_pool[];
    const int m_0 = blockIdx.y;
    const int n_0 = blockIdx.x;
    float (&sums)[2][2][16][36] = *(float (*)[2][2][16][36])(shared_pool + 0);
    half (&rows)[4][128][40] = *(half (*)[4][128][40])(shared_pool + 9216);
    half (&columns)[4][32][72] = *(half (*)[4][32][72])(shared_pool + 50176);
    const int tz = threadIdx.z;
    const int ty = threadIdx.y;
    const int tx = threadIdx.x;
    const int tx_div8 = tx / 8;
    const int tx_div4 = tx / 4;
    const int tx0_2 = tx % 4 * 8;
    const int tx0 = tx % 8 * 8;
    const int in2 = n_0 * 64 + ty * 32 + tx;
    const int in = n_0 * 64 + tx0;
    nvcuda::wmma::fragment<nvcuda::wmma::accumulator, 16, 16, 16, float> acc[4][2];

    #pragma unroll
    for (int m_2 = 0; m_2 < 4; ++m_2) {
        #pragma unroll
        for (int n_2 = 0; n_2 < 2; ++n_2) {
            tirc_wmma_fill_16x16x16_f32(&acc[m_2][n_2]);
        }
    }
    #pragma unroll
    for (int part = 0; part < 4; ++part) {
        __pipeline_memcpy_async(
            &rows[0][part * 32 + tz * 16 + ty * 8 + tx_div4][tx0_2],
            &x[m_0 * 128 + part * 32 + tz * 16 + ty * 8 + tx_div4][tx0_2], 16);
    }
    #pragma unroll
    for (int part = 0; part < 2; ++part) {
        const int itz = part * 16 + tz * 8 + ty * 4 + tx_div8;

        __pipeline_memcpy_async(&columns[0][itz][tx0], &w[itz][in], 16);
    }
    __pipeline_commit();
    #pragma unroll
    for (int part = 0; part < 4; ++part) {
        __pipeline_memcpy_async(
            &rows[1][part * 32 + tz * 16 + ty * 8 + tx_div4][tx0_2],
            &x[m_0 * 128 + part * 32 + tz * 16 + ty * 8 + tx_div4][tx0_2 + 32],
            16);
    }
    #pragma unroll
    for (int part = 0; part < 2; ++part) {
        const int itz = part * 16 + tz * 8 + ty * 4 + tx_div8;

        __pipeline_memcpy_async(&columns[1][itz][tx0], &w[itz + 32][in], 16);
    }
    __pipeline_commit();
    #pragma unroll
    for (int part = 0; part < 4; ++part) {
        __pipeline_memcpy_async(
            &rows[2][part * 32 + tz * 16 + ty * 8 + tx_div4][tx0_2],
            &x[m_0 * 128 + part * 32 + tz * 16 + ty * 8 + tx_div4][tx0_2 + 64],
            16);
    }
    #pragma unroll
    for (int part = 0; part < 2; ++part) {
        const int itz = part * 16 + tz * 8 + ty * 4 + tx_div8;

        __pipeline_memcpy_async(&columns[2][itz][tx0], &w[itz + 64][in], 16);
    }
    __pipeline_commit();
    __pipeline_wait_prior(2);
    __syncthreads();
    for (int k_0 = 0; k_0 < 29; ++k_0) {
        const int k_mod4 = k_0 % 4;
        const int k3_mod4 = (k_0 + 3) % 4;

        #pragma unroll
        for (int part = 0; part < 4; ++part) {
            __pipeline_memcpy_async(
                &rows[k3_mod4][part * 32 + tz * 16 + ty * 8 + tx_div4][tx0_2],
                &x[m_0 * 128 + part * 32 + tz * 16 + ty * 8 + tx_div4][k_0 * 32 + tx0_2 + 96],
                16);
        }
        #pragma unroll
        for (int part = 0; part < 2; ++part) {
            __pipeline_memcpy_async(
                &columns[k3_mod4][part * 16 + tz * 8 + ty * 4 + tx_div8][tx0],
                &w[k_0 * 32 + part * 16 + tz * 8 + ty * 4 + tx_div8 + 96][in],
                16);
        }
        __pipeline_commit();
        #pragma unroll
        for (int k_1 = 0; k_1 < 2; ++k_1) {
            nvcuda::wmma::fragment<nvcuda::wmma::matrix_a, 16, 16, 16, half, nvcuda::wmma::row_major> a[4];
            nvcuda::wmma::fragment<nvcuda::wmma::matrix_b, 16, 16, 16, half, nvcuda::wmma::row_major> b[2];

            #pragma unroll
            for (int i_i_o = 0; i_i_o < 4; ++i_i_o) {
                tirc_wmma_load_16x16x16_f16_a_shared(
                    &a[i_i_o], &rows[k_mod4][tz * 64 + i_i_o * 16][k_1 * 16],
                    40);
            }
            #pragma unroll
            for (int j_i_o = 0; j_i_o < 2; ++j_i_o) {
                tirc_wmma_load_16x16x16_f16_b_shared(
                    &b[j_i_o], &columns[k_mod4][k_1 * 16][ty * 32 + j_i_o * 16],
                    72);
            }
            #pragma unroll
            for (int m_2 = 0; m_2 < 4; ++m_2) {
                #pragma unroll
                for (int n_2 = 0; n_2 < 2; ++n_2) {
                    tirc_wmma_sync_16x16x16_f16f16f32(&acc[m_2][n_2], &a[m_2],
                                                      &b[n_2]);
                }
            }
        }
        __pipeline_wait_prior(2);
        __syncthreads();
    }
    #pragma unroll
    for (int k_1 = 0; k_1 < 2; ++k_1) {
        nvcuda::wmma::fragment<nvcuda::wmma::matrix_a, 16, 16, 16, half, nvcuda::wmma::row_major> a[4];
        nvcuda::wmma::fragment<nvcuda::wmma::matrix_b, 16, 16, 16, half, nvcuda::wmma::row_major> b[2];

        #pragma unroll
        for (int i_i_o = 0; i_i_o < 4; ++i_i_o) {
            tirc_wmma_load_16x16x16_f16_a_shared(
                &a[i_i_o], &rows[1][tz * 64 + i_i_o * 16][k_1 * 16], 40);
        }
        #pragma unroll
        for (int j_i_o = 0; j_i_o < 2; ++j_i_o) {
            tirc_wmma_load_16x16x16_f16_b_shared(
                &b[j_i_o], &columns[1][k_1 * 16][ty * 32 + j_i_o * 16], 72);
        }
        #pragma unroll
        for (int m_2 = 0; m_2 < 4; ++m_2) {
            #pragma unroll
            for (int n_2 = 0; n_2 < 2; ++n_2) {
                tirc_wmma_sync_16x16x16_f16f16f32(&acc[m_2][n_2], &a[m_2],
                                                  &b[n_2]);
            }
        }
    }
    __pipeline_wait_prior(1);
    __syncthreads();
    #pragma unroll
    for (int k_1 = 0; k_1 < 2; ++k_1) {
        nvcuda::wmma::fragment<nvcuda::wmma::matrix_a, 16, 16, 16, half, nvcuda::wmma::row_major> a[4];
        nvcuda::wmma::fragment<nvcuda::wmma::matrix_b, 16, 16, 16, half, nvcuda::wmma::row_major> b[2];

        #pragma unroll
        for (int i_i_o = 0; i_i_o < 4; ++i_i_o) {
            tirc_wmma_load_16x16x16_f16_a_shared(
                &a[i_i_o], &rows[2][tz * 64 + i_i_o * 16][k_1 * 16], 40);
        }
        #pragma unroll
        for (int j_i_o = 0; j_i_o < 2; ++j_i_o) {
            tirc_wmma_load_16x16x16_f16_b_shared(
                &b[j_i_o], &columns[2][k_1 * 16][ty * 32 + j_i_o * 16], 72);
        }
        #pragma unroll
        for (int m_2 = 0; m_2 < 4; ++m_2) {
            #pragma unroll
            for (int n_2 = 0; n_2 < 2; ++n_2) {
                tirc_wmma_sync_16x16x16_f16f16f32(&acc[m_2][n_2], &a[m_2],
                                                  &b[n_2]);
            }
        }
    }
    __pipeline_wait_prior(0);
    __syncthreads();
    #pragma unroll
    for (int k_1 = 0; k_1 < 2; ++k_1) {
        nvcuda::wmma::fragment<nvcuda::wmma::matrix_a, 16, 16, 16, half, nvcuda::wmma::row_major> a[4];
        nvcuda::wmma::fragment<nvcuda::wmma::matrix_b, 16, 16, 16, half, nvcuda::wmma::row_major> b[2];

        #pragma unroll
        for (int i_i_o = 0; i_i_o < 4; ++i_i_o) {
            tirc_wmma_load_16x16x16_f16_a_shared(
                &a[i_i_o], &rows[3][tz * 64 + i_i_o * 16][k_1 * 16], 40);
        }
        #pragma unroll
        for (int j_i_o = 0; j_i_o < 2; ++j_i_o) {
            tirc_wmma_load_16x16x16_f16_b_shared(
                &b[j_i_o], &columns[3][k_1 * 16][ty * 32 + j_i_o * 16], 72);
        }
        #pragma unroll
        for (int m_2 = 0; m_2 < 4; ++m_2) {
            #pragma unroll
            for (int n_2 = 0; n_2 < 2; ++n_2) {
                tirc_wmma_sync_16x16x16_f16f16f32(&acc[m_2][n_2], &a[m_2],
                                                  &b[n_2]);
            }
        }
    }
    #pragma unroll
    for (int i_i_o = 0; i_i_o < 4; ++i_i_o) {
        #pragma unroll
        for (int j_i_o = 0; j_i_o < 2; ++j_i_o) {
            tirc_wmma_store_16x16x16_f32_shared(&sums[tz][ty][0][j_i_o * 16],
                                                36, &acc[i_i_o][j_i_o]);
            __syncthreads();
        }
        #pragma unroll
        for (int part = 0; part < 16; ++part) {
            const float v = (float)half(sums[tz][ty][part][tx]
                                      + (float)bias[in2]);
            const float clipped = v < 0.0f ? 0.0f : v;

            y[m_0 * 128 + tz * 64 + i_i_o * 16 + part][in2] = half(clipped);
        }
        __syncthreads();
    }
}

/* Starts a kernel, unless something has failed before. */
template <class T> struct as_declared {
	typedef T type;
};

template <class... P> static void
launch(struct product *m, void (*kernel)(P...), dim3 grid, dim3 block,
       typename as_declared<P>::type... arguments)
{
	void *pointers[] = { (void *)&arguments... };

	if (m->error == cudaSuccess) {
		m->error = cudaLaunchKernel(kernel, grid, block, pointers, 0, m->stream);
	}
}

/* The same for one whose shared arrays are more than it may declare. */
template <class... P> static void
launch_pooled(struct product *m, void (*kernel)(P...), size_t shared_bytes,
	      dim3 grid, dim3 block, typename as_declared<P>::type... arguments)
{
	void *pointers[] = { (void *)&arguments... };

	if (m->error == cudaSuccess) {
		m->error = cudaLaunchKernel(kernel, grid, block, pointers, shared_bytes, m->stream);
	}
}

/* A model that holds its address was given to init, and not to fini since. */
static const char ready_mark = 'r';

enum product_status
product_init(struct product *m, const struct product_config *config)
{
	if (m != NULL) {
		m->ready = NULL;
	}
	if (m == NULL || config == NULL) {
		return PRODUCT_NULL;
	}
	m->stream = config->stream;
	m->error = cudaSuccess;
	m->workspace = config->workspace;
	m->weights = config->device_weights;
	m->staging = config->staging;
	if (m->error == cudaSuccess) {
		m->error = cudaFuncSetAttribute(
			sum, cudaFuncAttributeMaxDynamicSharedMemorySize,
			68608);
	}
	if (m->error != cudaSuccess) {
		return PRODUCT_DEVICE;
	}
	m->ready = &ready_mark;
	return PRODUCT_OK;
}

enum product_status
product_run(struct product *m, const struct product_inputs *in,
	    const struct product_outputs *out)
{
	if (m == NULL || in == NULL || out == NULL || in->x == NULL ||
	    in->w == NULL || in->bias == NULL || out->y == NULL) {
		return PRODUCT_NULL;
	}
	if (m->ready != &ready_mark) {
		return PRODUCT_NOT_READY;
	}
	if ((uintptr_t)in->x % 16u != 0u || (uintptr_t)in->w % 16u != 0u ||
	    (uintptr_t)in->bias % 16u != 0u || (uintptr_t)out->y % 16u != 0u) {
		return PRODUCT_MISALIGNED;
	}
	launch_pooled(m, sum, 68608, dim3(16, 8), dim3(32, 2, 2),
	              (const half (*)[1024])in->x, (const half (*)[1024])in->w,
	              in->bias, (half (*)[1024])out->y);
	return m->error == cudaSuccess ? PRODUCT_OK : PRODUCT_DEVICE;
}

enum product_status
product_run_host(struct product *m, const struct product_inputs *in,
		 const struct product_outputs *out)
{
	struct product_inputs on_device;
	struct product_outputs from_device;
	enum product_status status;
	unsigned char *staging;

	if (m != NULL && m->ready != &ready_mark) {
		return PRODUCT_NOT_READY;
	}
	if (m == NULL || in == NULL || out == NULL || m->staging == NULL ||
	    in->x == NULL || in->w == NULL || in->bias == NULL ||
	    out->y == NULL) {
		return PRODUCT_NULL;
	}
	staging = (unsigned char *)m->staging;
	on_device = *in;
	on_device.x = (const half *)(staging + 0);
	if (m->error == cudaSuccess) {
		m->error = cudaMemcpyAsync(
			staging + 0, in->x,
			sizeof *in->x * (size_t)(1048576),
			cudaMemcpyHostToDevice, m->stream);
	}
	on_device.w = (const half *)(staging + 2097152);
	if (m->error == cudaSuccess) {
		m->error = cudaMemcpyAsync(
			staging + 2097152, in->w,
			sizeof *in->w * (size_t)(1048576),
			cudaMemcpyHostToDevice, m->stream);
	}
	on_device.bias = (const half *)(staging + 4194304);
	if (m->error == cudaSuccess) {
		m->error = cudaMemcpyAsync(
			staging + 4194304, in->bias,
			sizeof *in->bias * (size_t)(1024),
			cudaMemcpyHostToDevice, m->stream);
	}
	from_device.y = (half *)(staging + 4196352);
	status = product_run(m, &on_device, &from_device);
	if (status != PRODUCT_OK) {
		return status;
	}
	if (m->error == cudaSuccess) {
		m->error = cudaMemcpyAsync(
			out->y, staging + 4196352,
			sizeof *out->y * (size_t)(1048576),
			cudaMemcpyDeviceToHost, m->stream);
	}
	if (m->error == cudaSuccess) {
		m->error = cudaStreamSynchronize(m->stream);
	}
	return m->error == cudaSuccess ? PRODUCT_OK : PRODUCT_DEVICE;
}

const char *
product_error(const struct product *m)
{
	return m != NULL ? cudaGetErrorString(m->error) : "no model";
}

void
product_fini(struct product *m)
{
	if (m != NULL) {
		m->ready = NULL;
		m->workspace = NULL;
		m->weights = NULL;
		m->staging = NULL;
	}
}
