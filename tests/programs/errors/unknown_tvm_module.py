# SPDX-License-Identifier: Apache-2.0
import numpy as np
from tvm.contrib import graph_executor

module = graph_executor.create(np.zeros(4))
