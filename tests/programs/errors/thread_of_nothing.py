# SPDX-License-Identifier: Apache-2.0
from tvm import te

te.thread_axis((), "threadIdx.x")
