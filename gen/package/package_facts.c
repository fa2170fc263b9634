/* SPDX-License-Identifier: Apache-2.0 */
#include "package_facts.h"

#include "packer.h"

struct package_lines
package_kernel_lines(const struct package *pkg, int kernel)
{
	const struct source_place *at = &pkg->packer->kernel_places[kernel];

	return (struct package_lines){ at->file, at->first, at->last,
				       at->line };
}

const char *
package_weight_symbol(const struct package *pkg, int i)
{
	return pkg->packer->weight_symbols[i];
}

const char *
package_pointer(const struct placement *at)
{
	return place_name(at);
}

const char *
package_math_functions(const struct package *pkg)
{
	return pkg->packer->math;
}

bool
package_is_table(const struct package *pkg)
{
	return pkg->packer->o->graph;
}

bool
package_range_of_parameter(const struct package *pkg, const struct buffer *b,
			   struct bounds *out)
{
	return range_of_parameter(pkg->packer, b, out);
}

const char *
package_work(const struct package *pkg, const struct kernel *kernel)
{
	return work_text(pkg->packer, kernel);
}

const char *
package_array(const struct package *pkg, const struct kernel_arg *arg)
{
	return stored_text(pkg->packer, arg->tensor);
}

int
package_helper_loops(const struct package *pkg, int *longest)
{
	*longest = pkg->packer->longest_helper_loop;
	return pkg->packer->helper_loops;
}

const struct kernel *
package_writer(const struct package *pkg, const struct tensor *t)
{
	return writer_of(pkg->packer, t);
}

int64_t
package_workspace_align(const struct package *pkg)
{
	return workspace_align(pkg->packer);
}

struct deviation_places
package_deviation(const struct package *pkg, const struct deviation *d)
{
	return places_of(pkg->packer, d);
}
