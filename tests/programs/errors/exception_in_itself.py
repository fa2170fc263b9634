# SPDX-License-Identifier: Apache-2.0
import numpy as np

e = ValueError("x")
e.args = (e,)
text = str(e)
list_in_itself = []
list_in_itself.append(list_in_itself)
np.testing.assert_equal(list_in_itself, [1])
