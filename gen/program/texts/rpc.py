# SPDX-License-Identifier: Apache-2.0
"""tvm.rpc: a server that is the program itself. What a program uploads is a module that
it built and saved; the session runs it on this machine, and opens no connection.
rpc.connect() and rpc.connect_tracker() give the values of LocalSession() and Tracker()
(lib_build.c)."""
import os

import tvm


class _Session:
    """A session: the modules that were uploaded, by the names of their files."""

    def __init__(self):
        self._uploaded = {}

    def upload(self, data, target=None):
        name = os.path.basename(data if target is None else target)
        self._uploaded[name] = tvm.runtime.load_module(data)

    def load_module(self, path):
        name = os.path.basename(path)
        if name not in self._uploaded:
            raise ValueError("no module %s was uploaded in this session" % name)
        return self._uploaded[name]

    def remove(self, path):
        name = os.path.basename(path)
        if name in self._uploaded:
            del self._uploaded[name]

    def context(self, dev_type, dev_id=0):
        return tvm.device(dev_type, dev_id)

    def device(self, dev_type, dev_id=0):
        return tvm.device(dev_type, dev_id)

    def cpu(self, dev_id=0):
        return tvm.cpu(dev_id)

    def cuda(self, dev_id=0):
        return tvm.cuda(dev_id)

    def gpu(self, dev_id=0):
        return tvm.cuda(dev_id)

    def cl(self, dev_id=0):
        return tvm.opencl(dev_id)

    def opencl(self, dev_id=0):
        return tvm.opencl(dev_id)

    def vulkan(self, dev_id=0):
        return tvm.vulkan(dev_id)

    def metal(self, dev_id=0):
        return tvm.metal(dev_id)


class _Tracker:
    """A tracker, each request of which gives a session."""

    def request(self, key, priority=1, session_timeout=0, max_retry=5,
                session_constructor_args=None):
        return _Session()


class _Server:
    """A server: the program is its own."""

    def __init__(self, host, port):
        self.host = host
        self.port = port

    def terminate(self):
        pass


def LocalSession():
    return _Session()


def Tracker(host="0.0.0.0", port=9190):
    return _Tracker()


def Server(host="0.0.0.0", port=9091, port_end=9199, is_proxy=False,
           tracker_addr=None, key="", load_library=None, custom_addr=None,
           silent=False, no_fork=True, server_init_callback=None, reuse_addr=True,
           timeout=None):
    return _Server(host, port)
