# SPDX-License-Identifier: Apache-2.0
sizes = [1, 2]
assert len(sizes) == 3, "three sizes are needed"
