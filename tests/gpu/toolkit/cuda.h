/* SPDX-License-Identifier: Apache-2.0 */
/* Stands for the header of that name where CUDA runs on the CPU. */
#include "cuda_on_cpu.h"
