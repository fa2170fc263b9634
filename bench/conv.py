#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The convolutions of resnet50, each of its shapes, beside oneDNN on one core.

tirc's are timed where they stand, by `tirc run --profile` of the whole model:
their weights come from memory, their inputs from whichever cache the kernel
before left them in. oneDNN's (Debian's libdnnl-dev) run by themselves, in the
layouts that it prefers, again and again on the same data, which can only be
to its advantage. Each counts with the best of its times. A share is of the
peak of a core, measured in the same run; the last lines are geometric means
over the shapes."""
import argparse
import json
import math
import os
import re
import shutil
import subprocess
import sys
import tempfile

import cpu
import cpu_driver
import helper

TITLE = re.compile(r"Conv (\d+)x\d+(?:, stride (\d+))?(?:, pad (\d+))?, "
                   r"(\d+) -> (\d+) channels")

# Arguments, for each shape: the side of the kernel, stride, padding, channels
# in and out, the side of the result. Answers with GFLOP/s, a line each.
ONEDNN = r"""
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <unordered_map>
#include <vector>
#include <oneapi/dnnl/dnnl.hpp>

using namespace dnnl;

static double
now()
{
	return std::chrono::duration<double>(
		std::chrono::steady_clock::now().time_since_epoch()).count();
}

static memory
filled(const memory::desc &desc, const engine &eng)
{
	memory m(desc, eng);
	float *p = static_cast<float *>(m.get_data_handle());

	for (size_t i = 0; i < desc.get_size() / sizeof(float); i++) {
		p[i] = static_cast<float>(i % 17) / 16 - 0.5f;
	}
	return m;
}

int
main(int argc, char **argv)
{
	engine eng(engine::kind::cpu, 0);
	stream str(eng);

	for (int at = 1; at + 5 < argc; at += 6) {
		const memory::dim k = atoi(argv[at]);
		const memory::dim stride = atoi(argv[at + 1]);
		const memory::dim pad = atoi(argv[at + 2]);
		const memory::dim ic = atoi(argv[at + 3]);
		const memory::dim oc = atoi(argv[at + 4]);
		const memory::dim out = atoi(argv[at + 5]);
		const memory::dim in = (out - 1) * stride + k - 2 * pad;
		const auto type = memory::data_type::f32;
		const auto any = memory::format_tag::any;
		convolution_forward::primitive_desc pd(
			{ prop_kind::forward_inference,
			  algorithm::convolution_direct,
			  { { 1, ic, in, in }, type, any },
			  { { oc, ic, k, k }, type, any },
			  { { oc }, type, memory::format_tag::a },
			  { { 1, oc, out, out }, type, any },
			  { stride, stride }, { pad, pad }, { pad, pad } },
			eng);
		convolution_forward conv(pd);
		std::unordered_map<int, memory> args = {
			{ DNNL_ARG_SRC, filled(pd.src_desc(), eng) },
			{ DNNL_ARG_WEIGHTS, filled(pd.weights_desc(), eng) },
			{ DNNL_ARG_BIAS, filled(pd.bias_desc(), eng) },
			{ DNNL_ARG_DST, filled(pd.dst_desc(), eng) },
		};
		double best = 1e9, end = now() + 0.3;

		while (now() < end) {
			double start = now();

			conv.execute(str, args);
			str.wait();
			best = std::min(best, now() - start);
		}
		printf("%.6g\n", 2e-9 * k * k * ic * oc * out * out / best);
	}
	return 0;
}
"""


def profile(model, cc, best, folder):
    """Adds the GFLOP/s of each shape of a whole run, if they are the best."""
    found = os.path.join(folder, "profile.json")
    subprocess.run([helper.TIRC, "run", model, "-q", "--target", "native",
                    "--conv", "direct",
                    "--cc", cc, "--profile", "--json", found], check=True)
    with open(found) as file:
        kernels = json.load(file)["kernels"]
    for kernel in kernels:
        match = TITLE.match(kernel["title"])
        if not match:
            continue
        k, stride, pad, ic, oc = (int(x or d) for x, d in zip(
            match.groups(), (0, 1, 0, 0, 0)))
        side = math.isqrt(kernel["macs"] // (k * k * ic * oc))
        shape = (k, stride, pad, ic, oc, side)
        best[shape] = max(best.get(shape, 0),
                          2e-6 * kernel["macs"] / kernel["ms"])


def onednn(shapes, folder):
    """GFLOP/s of each shape; None, with a notice, where there is no oneDNN."""
    source = os.path.join(folder, "onednn.cpp")
    program = os.path.join(folder, "onednn")
    with open(source, "w") as file:
        file.write(ONEDNN.lstrip())
    done = subprocess.run(["c++", "-std=c++17", "-O2", source, "-o", program,
                           "-ldnnl"], stderr=subprocess.PIPE, text=True)
    if done.returncode:
        print("without oneDNN: %s" % (done.stderr.splitlines() or ["c++"])[0],
              file=sys.stderr)
        return None
    words = [str(x) for shape in shapes for x in shape]
    out = subprocess.run([program, *words], check=True, text=True,
                         stdout=subprocess.PIPE,
                         env=dict(os.environ, OMP_NUM_THREADS="1")).stdout
    return dict(zip(shapes, map(float, out.split())))


def geomean(values):
    return math.exp(sum(math.log(v) for v in values) / len(values))


def main():
    parser = argparse.ArgumentParser(
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=3,
                        help="runs of the whole model with each compiler")
    parser.add_argument("--json", metavar="FILE")
    args = parser.parse_args()
    compilers = [cc for cc in ("gcc", "clang") if shutil.which(cc)]
    model = cpu.find_model(cpu.shared_models(), "light_resnet50", True)
    best = {cc: {} for cc in compilers}
    with tempfile.TemporaryDirectory() as folder:
        peak = cpu_driver.Peak(folder, compilers)
        for _ in range(args.rounds):
            for cc in compilers:
                profile(model, cc, best[cc], folder)
        shapes = sorted(best[compilers[0]])
        other = onednn(shapes, folder)
        peak.again()
    columns = {**best, **({"oneDNN": other} if other else {})}
    print("peak of a core: %.1f GFLOP/s" % peak.gflops)
    print("%-36s" % "convolution" + "".join(
        "%10s %5s" % (name, "peak") for name in columns))
    rows = []
    for shape in shapes:
        k, stride, _, ic, oc, side = shape
        text = "%dx%d%s, %d -> %d, to %dx%d" % (
            k, k, ", stride %d" % stride if stride > 1 else "", ic, oc, side,
            side)
        print("%-36s" % text + "".join(
            "%10.1f %4.0f%%" % (column[shape], 100 * column[shape] /
                                peak.gflops)
            for column in columns.values()))
        rows.append({"convolution": text, **{
            name: round(column[shape], 2)
            for name, column in columns.items()}})
    means = {}
    for k in sorted({shape[0] for shape in shapes}):
        means["%dx%d" % (k, k)] = {
            name: round(geomean([column[s] / peak.gflops
                                 for s in shapes if s[0] == k]), 4)
            for name, column in columns.items()}
        print("%-36s" % ("all %dx%d" % (k, k)) + "".join(
            "%15.0f%%" % (100 * share)
            for share in means["%dx%d" % (k, k)].values()))
    if args.json:
        with open(args.json, "w") as file:
            json.dump({"peak_gflops": round(peak.gflops, 2), "shapes": rows,
                       "peak_share": means}, file, indent="\t")
            file.write("\n")


if __name__ == "__main__":
    main()
