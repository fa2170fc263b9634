# SPDX-License-Identifier: Apache-2.0
"""Empty arrays whose other sizes have a product beyond 64 bits."""
import numpy as np

x = np.zeros((0,)).reshape((2**62, 2**62, 0))
print(x.shape, x.size, x.nbytes)
x = np.zeros((0,)).reshape((2**62, 0))
print(x[5].shape, x[2**61].size, x[:3].shape)
y = x[7]
y[...] = 1
print(y.sum())
x = np.zeros((0,)).reshape((2**62, 2**62, 0, 4))
print(x.ndim, x.T.size, x[5, 6].shape)
