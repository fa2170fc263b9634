/* SPDX-License-Identifier: Apache-2.0 */
/* Checks the files of a dialect before they are used: unknown placeholders, and
 * tags or sections without an end. The table of keys checks the texts in
 * dialect.json. */
#include "dialect_keys.h"
#include "dialect_load.h"

/* The names of all placeholders in a dialect's templates. */
static const char template_words[] =
	"DIM GUARD MODEL NAME align aligned all_bytes any_aligned arguments "
	"array_align arrays assembles backend before blob blob_bytes body "
	"board bound_bytes boxed buffers bytes callee category cells checks calls "
	"cflags claim claims comment compares compiler compliance condition "
	"constant kernel most_params number source "
	"copied count declaration declared deepest_loops description "
	"deviations device_flags dialect digest digest_factor digest_offset "
	"digest_start dims dynamic elements end entries exact_ends "
	"exact_starts extent extents facts file file_or_library flags float "
	"float_type octets int_bits model_digest named reals rounding scale "
	"tirc_version zero_point function functions given graph graph_file "
	"guidelines SIZE given_sizes refused branch multiple used used_sizes "
	"used_value kept stateful held held_inputs held_outputs array "
	"first_element no_outputs has_dims has_link_options has_runtime "
	"has_weights header how implementation_defined status header_name "
	"helpers id includes index inputs interface_space keeps kernels "
	"kernels_file l1_bytes l2_bytes label launches ldflags libm "
	"local_bytes libraries library_includes library_members level "
	"library_state library_weighs line link_libraries link_options long "
	"longest_loop loops loops_without_bound macro magnitude max member "
	"members memory min model more n n_arguments n_buffers n_io "
	"n_kernels n_launches n_sizes n_weights name nan_high nan_low near "
	"need needs no_inputs no_overlap nodes note offset opens "
	"options order_offset origin outputs overlap part parts path place "
	"placed places plan planned_bytes pointers pooled profile program "
	"program_lines prototype reads_back reason region rejected rule "
	"runtime runtime_headers schedules section self shape shared shares "
	"shortens "
	"short size sized sizes sources special staging_bytes standard "
	"state_weighs states stem step stored symbol task tasks tensors text "
	"threads tiny title tolerance traced type unit uploads value values "
	"values_offset version_hash wait weighs weights weights_align "
	"weights_bytes weights_file weights_header weights_used wide word "
	"work workspace workspace_bytes workspace_space workspace_used zero";

static void
check_file(struct loader *l, const char *file, const char *text,
	   const char *words, bool filtered)
{
	l->reader.failed |= text != NULL &&
			    !template_check_file(&l->m->diags, file, text,
						 words, filtered);
}

void
dialect_check_files(struct loader *l)
{
	const struct dialect *d = l->d;

	for (int i = 0; i < TEMPLATE_COUNT; i++) {
		check_file(l, d->templates[i].file, d->templates[i].text,
			   template_words,
			   i == TEMPLATE_MAKEFILE || i == TEMPLATE_CMAKE);
	}
	for (int i = 0; i < d->helpers.n; i++) {
		const struct helper *h = &d->helpers.data[i];
		const char *words = HELPER_FACTS " name";

		for (int k = 0; k < h->uses.n; k++) {
			words = arena_printf(&l->m->arena, "%s %s", words,
					     h->uses.data[k]);
		}
		check_file(l, h->file, h->text, words, false);
	}
}
