# SPDX-License-Identifier: Apache-2.0
import numpy as np

print(np.cumsum(np.zeros((2**40, 0)), axis=1))
