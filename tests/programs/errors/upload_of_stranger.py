# SPDX-License-Identifier: Apache-2.0
# A file that the program did not save is not read, wherever it is.
from tvm import rpc

remote = rpc.connect("127.0.0.1", 9090)
remote.upload("../../../../etc/passwd")
