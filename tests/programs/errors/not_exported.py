# SPDX-License-Identifier: Apache-2.0
import tvm

tvm.runtime.load_module("lib.so")
