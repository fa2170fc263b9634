/* SPDX-License-Identifier: Apache-2.0 */
/* tirc run --profile: prints the time of each kernel, and the least time that
 * the machine needs for it.
 *
 * A kernel takes at least the time of its operations at the processor's peak
 * rate, and at least the time to transfer its bytes at the bandwidth of the
 * cache or memory that holds them. The longer of these two times is the bound.
 * Constants are assumed to lie in the smallest level of the memory hierarchy
 * that can hold the whole model, other tensors in the smallest level that can
 * hold the kernel's data. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <cjson/cJSON.h>

#include "harness.h"
#include "json_put.h"
#include "output_file.h"

enum level { LEVEL_L1, LEVEL_L2, LEVEL_MEMORY, LEVEL_COUNT };

static const char *const level_names[] = { "l1", "l2", "memory" };

struct profile {
	struct harness *h;
	int runs, n, threads;
	/* peak rate of operations per second, of all threads together */
	double operations;
	/* bytes per second from each level, of all threads together */
	double bytes[LEVEL_COUNT];
	/* for each kernel: the median of its times over the runs */
	double *ns;
	/* the median over the runs of the sum of all kernels' times */
	double total_ns;
};

/* How near a kernel is to its bound. */
struct standing {
	/* the bound is the time to transfer the kernel's bytes, not the time of
	 * its operations */
	bool memory;
	double share; /* bound / measured time */
};

int
cli_compare_doubles(const void *a, const void *b)
{
	const double *x = a, *y = b;

	return *x < *y ? -1 : *x > *y;
}

static double
median(double *list, int n)
{
	qsort(list, (size_t)n, sizeof *list, cli_compare_doubles);
	return n % 2 ? list[n / 2] : (list[n / 2 - 1] + list[n / 2]) / 2;
}

static bool
read_rates(struct profile *p, FILE *f)
{
	if (fscanf(f, "%d %lf", &p->threads, &p->operations) != 2) {
		return false;
	}
	p->operations *= p->threads;
	for (int i = 0; i < LEVEL_COUNT; i++) {
		if (fscanf(f, "%lf", &p->bytes[i]) != 1) {
			return false;
		}
		p->bytes[i] *= p->threads;
	}
	return true;
}

static bool
read_times(struct profile *p, FILE *f)
{
	struct arena *a = &p->h->m->arena;
	double *all = arena_array(a, double, (size_t)p->n *(size_t)p->runs + 1);
	double *totals = arena_array(a, double, p->runs + 1);

	for (int r = 0; r < p->runs; r++) {
		for (int i = 0; i < p->n; i++) {
			double *at = all + (size_t)i * (size_t)p->runs + r;

			if (fscanf(f, "%lf", at) != 1) {
				return false;
			}
			totals[r] += *at;
		}
	}
	for (int i = 0; i < p->n; i++) {
		p->ns[i] = median(all + (size_t)i * (size_t)p->runs, p->runs);
	}
	p->total_ns = median(totals, p->runs);
	return true;
}

static bool
profile_read(struct profile *p)
{
	const char *path = harness_path(p->h, "profile.txt");
	FILE *f = fopen(path, "r");
	bool ok;

	p->n = tirc_kernel_count(p->h->t);
	p->runs = p->h->cli->repeat;
	p->ns = arena_array(&p->h->m->arena, double, p->n + 1);
	ok = f != NULL && read_rates(p, f) && read_times(p, f);
	if (f != NULL) {
		fclose(f);
	}
	if (!ok) {
		cli_error("the program wrote too little to %s", path);
	}
	return ok;
}

/* The smallest level of the memory hierarchy that can hold this many bytes. */
static enum level
level_of(const struct profile *p, int64_t bytes)
{
	struct tirc_summary s = tirc_summary(p->h->t);

	return bytes <= s.l1_bytes   ? LEVEL_L1
	       : bytes <= s.l2_bytes ? LEVEL_L2
				     : LEVEL_MEMORY;
}

static struct standing
standing_of(const struct profile *p, int i)
{
	struct tirc_kernel k = tirc_kernel(p->h->t, i);
	struct tirc_summary s = tirc_summary(p->h->t);
	int64_t bytes = k.read_bytes + k.write_bytes;
	double weights =
		(double)k.weight_bytes /
		p->bytes[level_of(p, s.weights_bytes + s.workspace_bytes)];
	double data = (double)(bytes - k.weight_bytes) /
		      p->bytes[level_of(p, bytes)];
	double compute = k.flops / p->operations;
	struct standing x = { .memory = weights + data > compute };

	x.share = (x.memory ? weights + data : compute) * 1e9 / p->ns[i];
	return x;
}

static double
gbytes_of(const struct profile *p, int i)
{
	struct tirc_kernel k = tirc_kernel(p->h->t, i);

	return (double)(k.read_bytes + k.write_bytes) / p->ns[i];
}

static const char *
number(struct arena *a, const char *form, double v)
{
	return arena_printf(a, form, v);
}

static void
print_table(struct profile *p)
{
	static const char *const header[] = {
		"kernel", "ms",    "time",  "GFLOP/s",
		"GB/s",   "bound", "of it", "what it does",
	};
	static const bool right[] = {
		false, true, true, true, true, false, true, false,
	};
	enum { COLUMNS = 8 };
	struct arena *a = &p->h->m->arena;
	const char **cells = arena_array(a, const char *,
					 (p->n + 1) * COLUMNS + 1);
	double flops = 0, bytes = 0;
	const char **row = cells;

	for (int i = 0; i < p->n; i++, row += COLUMNS) {
		struct tirc_kernel k = tirc_kernel(p->h->t, i);
		struct standing x = standing_of(p, i);

		flops += k.flops;
		bytes += (double)(k.read_bytes + k.write_bytes);
		row[0] = k.name;
		row[1] = arena_printf(a, "%.4f", p->ns[i] / 1e6);
		row[2] = arena_printf(a, "%.0f%%",
				      100 * p->ns[i] / p->total_ns);
		row[3] = number(a, "%.1f", k.flops / p->ns[i]);
		row[4] = number(a, "%.1f", gbytes_of(p, i));
		row[5] = x.memory ? "memory" : "compute";
		row[6] = number(a, "%.0f%%", 100 * x.share);
		row[7] = k.title != NULL ? k.title : "";
	}
	row[0] = "total";
	row[1] = arena_printf(a, "%.4f", p->total_ns / 1e6);
	row[2] = "";
	row[3] = number(a, "%.1f", flops / p->total_ns);
	row[4] = number(a, "%.1f", bytes / p->total_ns);
	row[5] = row[6] = row[7] = "";
	say(stdout, "\n");
	style_table(stdout, COLUMNS, header, right, p->n + 1, cells);
	say(stdout,
	    "\n%d thread%s: %.0f GFLOP/s; %.0f GB/s from the first cache, "
	    "%.0f from the second, %.0f from memory\n",
	    p->threads, p->threads == 1 ? "" : "s", p->operations / 1e9,
	    p->bytes[LEVEL_L1] / 1e9, p->bytes[LEVEL_L2] / 1e9,
	    p->bytes[LEVEL_MEMORY] / 1e9);
}

cJSON *
harness_kernel_json(const struct harness *h, int i)
{
	struct tirc_kernel k = tirc_kernel(h->t, i);
	cJSON *o = cJSON_CreateObject();

	cJSON_AddStringToObject(o, "name", k.name);
	cJSON_AddStringToObject(o, "title", k.title != NULL ? k.title : "");
	cJSON_AddStringToObject(o, "schedule",
				k.schedule != NULL ? k.schedule : "");
	cJSON_AddNumberToObject(o, "macs", (double)k.macs);
	return o;
}

static cJSON *
kernel_json(struct profile *p, int i)
{
	struct tirc_kernel k = tirc_kernel(p->h->t, i);
	struct standing x = standing_of(p, i);
	cJSON *o = harness_kernel_json(p->h, i);

	cJSON_AddNumberToObject(o, "ms", p->ns[i] / 1e6);
	cJSON_AddNumberToObject(o, "flops", k.flops);
	cJSON_AddNumberToObject(o, "read_bytes", (double)k.read_bytes);
	cJSON_AddNumberToObject(o, "weight_bytes", (double)k.weight_bytes);
	cJSON_AddNumberToObject(o, "write_bytes", (double)k.write_bytes);
	cJSON_AddNumberToObject(o, "gflops", k.flops / p->ns[i]);
	cJSON_AddNumberToObject(o, "gbytes", gbytes_of(p, i));
	cJSON_AddStringToObject(o, "bound", x.memory ? "memory" : "compute");
	cJSON_AddNumberToObject(o, "share_of_bound", x.share);
	return o;
}

bool
harness_write_json(struct harness *h, cJSON *top)
{
	const char *path = h->cli->json_path;
	struct strbuf text;
	struct output o;
	bool ok = output_open(&o, &h->m->arena, path);

	strbuf_init(&text);
	json_put(&text, top, true);
	if (ok) {
		say_lines(o.file, text.data);
		say(o.file, "\n");
		ok = output_close(&o, true);
	}
	if (!ok) {
		cli_error("%s: cannot be written: %s", path, strerror(errno));
	}
	strbuf_release(&text);
	cJSON_Delete(top);
	return ok;
}

static bool
write_json(struct profile *p)
{
	cJSON *top = cJSON_CreateObject();
	cJSON *rates = cJSON_AddObjectToObject(top, "gbytes_per_s");
	cJSON *kernels = cJSON_AddArrayToObject(top, "kernels");

	cJSON_AddNumberToObject(top, "threads", p->threads);
	cJSON_AddNumberToObject(top, "runs", p->runs);
	cJSON_AddNumberToObject(top, "total_ms", p->total_ns / 1e6);
	cJSON_AddNumberToObject(top, "peak_gflops", p->operations / 1e9);
	for (int i = 0; i < LEVEL_COUNT; i++) {
		cJSON_AddNumberToObject(rates, level_names[i],
					p->bytes[i] / 1e9);
	}
	for (int i = 0; i < p->n; i++) {
		cJSON_AddItemToArray(kernels, kernel_json(p, i));
	}
	return harness_write_json(p->h, top);
}

bool
harness_profile(struct harness *h)
{
	struct profile p = { .h = h };

	if (!profile_read(&p)) {
		return false;
	}
	/* A kernel that takes less than a tick of the clock counts as 1 ns, so
	 * that no divisor is 0. */
	for (int i = 0; i < p.n; i++) {
		p.ns[i] = p.ns[i] > 0 ? p.ns[i] : 1;
	}
	p.total_ns = p.total_ns > 0 ? p.total_ns : 1;
	if (!h->cli->quiet) {
		print_table(&p);
	}
	return h->cli->json_path == NULL || write_json(&p);
}
