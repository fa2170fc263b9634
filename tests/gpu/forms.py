#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""forms.py EMIT_CASES DIALECT: every operation of every type that the dialect
spells gives what the interpreter gives. The device's words are C++'s here, by
a few lines of definitions; for OpenCL C the text also passes the compiler of
its own language."""
import os
import re
import shutil
import sys

from helper import execute, skip, work_folder

program, dialect = sys.argv[1:]
folder = work_folder()

WORDS = {
    "cuda": """
#include <math.h>
#include <string.h>
#include "half_on_cpu.h"
#define __host__
#define __device__
static float rsqrtf(float x) { return 1.0f / sqrtf(x); }
static double rsqrt(double x) { return 1.0 / sqrt(x); }
""",
    "opencl": """
#include <algorithm>
#include <cmath>
#include <limits.h>
#include <string.h>
using namespace std;
typedef unsigned char uchar;
#define uint unsigned int
#define ushort unsigned short
#define ulong unsigned long
#define restrict __restrict__
#define __global
template <class T> static T rsqrt(T x) { return T(1) / sqrt(x); }
static int mul_hi(int a, int b) { return (int)((long)a * b >> 32); }
template <class T, class F> static T as(F x)
{
	T y;

	memcpy(&y, &x, sizeof y);
	return y;
}
#include "half_on_cpu.h"
static float vload_half(size_t i, const half *p) { return p[i]; }
template <class T> static void
vstore_half_rte(T x, size_t i, half *p) { p[i] = x; }
#define as_char as<char>
#define as_uchar as<uchar>
#define as_short as<short>
#define as_ushort as<unsigned short>
#define as_int as<int>
#define as_uint as<unsigned int>
#define as_long as<long>
#define as_ulong as<unsigned long>
#define as_float as<float>
#define as_double as<double>
#define as_half as<half>
""",
}

done = execute([program, dialect])
text = re.sub(r"#include <(cl_khr\w+|cuda_fp16.h)>\n", "", done.stdout)
cxx = shutil.which("g++") or shutil.which("clang++") or skip(
    "there is no C++ compiler")
path = os.path.join(folder, "forms.cpp")
with open(path, "w", encoding="utf-8") as file:
    file.write(WORDS[dialect] + text)
exe = os.path.join(folder, "forms")
execute([cxx, "-std=c++14", "-O1", "-w", "-fpermissive",
         "-fno-strict-aliasing", "-I",
         os.path.dirname(os.path.abspath(__file__)), path, "-o", exe])
print(execute([exe]).stdout)

clang = shutil.which("clang")
if dialect == "opencl" and clang:
    kernels = text[:text.index("\nstatic int\ndiffer(")]
    kernels = kernels.split("\nstatic double\nhalf_value(")[0]
    kernels = re.sub(r"#include <\w+\.h>\n", "", kernels)
    # Parameters as a kernel has them are the business of the cases.
    path = os.path.join(folder, "forms.cl")
    with open(path, "w", encoding="utf-8") as file:
        file.write("#pragma OPENCL EXTENSION cl_khr_fp64 : enable\n"
                   + kernels)
    execute([clang, "-x", "cl", "-cl-std=CL1.2", "-Xclang",
             "-finclude-default-header", "-Wall", "-Wno-unused-function",
             "-Werror", "-fsyntax-only", path])
