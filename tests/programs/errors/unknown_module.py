# SPDX-License-Identifier: Apache-2.0
import numpy as np
