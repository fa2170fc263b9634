# SPDX-License-Identifier: Apache-2.0
from tvm import te

x = te.thread_axis("treadIdx.x")
