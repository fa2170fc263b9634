# SPDX-License-Identifier: Apache-2.0
"""Running sums and updates in order: a thread takes a column, or the updates
of a slice of the result."""
from ordered_nodes import write  # noqa: F401

# What the schedule of each output says of it.
SCHEDULES = {name: "in order" for name in (
    "down", "across", "middle", "one", "largest", "at_none", "at_add",
    "elements0", "elements1", "sliced")}
# A thread updates elements that no other touches: none waits for another.
ABSENT = ["__syncthreads"]
