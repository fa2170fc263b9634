/* SPDX-License-Identifier: Apache-2.0 */
/* Looks over every text of a dialect before it is used: placeholders that
 * nobody fills in, tags and sections without an end. What each text may ask
 * for is in slots.def. */
#include "dialect_load.h"

static const struct {
	const char *pointer, *words;
} slots[] = {
#define SLOT(pointer, words) { pointer, words },
#include "slots.def"
#undef SLOT
};

/* What package/ and program_text.c fill in, whichever template asks. */
static const char template_words[] =
	"DIM GUARD MODEL NAME align aligned all_bytes "
	"any_aligned arguments array_align arrays assembles backend before blob "
	"blob_bytes body bound_bytes boxed buffers bytes callee category cells "
	"calls cflags claim claims comment compares compiler compliance condition copied "
	"count declaration declared deepest_loops description deviations "
	"device_flags dialect digest digest_factor digest_offset "
	"digest_start dims dynamic elements end entries exact_ends "
	"exact_starts extent extents facts file file_or_library files flags float "
	"float_type octets int_bits model_digest reals scale tirc_version "
	"zero_point function functions given graph graph_file guidelines "
	"has_dims has_runtime has_weights header how implementation_defined status "
	"header_name helpers highest id includes index inputs "
	"interface_space keeps kernels kernels_file l1_bytes l2_bytes label "
	"launches ldflags libm local_bytes "
	"libraries library_includes library_members library_state "
	"library_weighs line "
	"link_libraries link_options long longest_loop loops "
	"loops_without_bound macro magnitude max member members memory min "
	"model "
	"more n n_arguments n_buffers n_io n_kernels n_launches n_sizes "
	"n_weights name nan_high nan_low near need needs no_inputs nodes note offset "
	"opens order_offset origin outputs overlap part parts path place "
	"placed places plan planned_bytes pointers pooled profile "
	"program program_lines prototype reason region rejected rule runtime "
	"runtime_headers "
	"schedules section self shape shared shares short size sized "
	"sizes sources special stack_bytes staging_bytes standard state_weighs "
	"states stem step stored symbol task tasks tensors text threads tiny "
	"title tolerance type unit uploads value values values_offset "
	"version_hash wait weighs weights weights_align weights_bytes "
	"weights_file weights_header weights_used wide work workspace "
	"workspace_bytes workspace_space workspace_used zero";

static bool
fits(const char *pattern, const char *pointer)
{
	while (*pattern != '\0') {
		if (*pattern == '*') {
			if (pattern[1] == '\0') {
				return true;
			}
			pattern++;
			pointer += strcspn(pointer, "/");
		} else if (*pattern++ != *pointer++) {
			return false;
		}
	}
	return *pointer == '\0';
}

struct place_in_json {
	struct json at;
	const char *words;
};

static void
say_in_json(void *ctx, int line, const char *problem, const char *name,
	    size_t length)
{
	struct place_in_json *p = ctx;

	(void)line;
	json_error(p->at, "%s '%.*s'; %s%s", problem, (int)length, name,
		   p->words[0] != '\0' ? "known here are: "
				       : "this text has none",
		   p->words);
}

static void
check_text(struct json j)
{
	struct place_in_json place = { j, "" };

	for (size_t i = 0; i < sizeof slots / sizeof *slots; i++) {
		if (fits(slots[i].pointer, j.pointer)) {
			place.words = slots[i].words;
			break;
		}
	}
	template_check(j.value->valuestring, place.words, say_in_json, &place);
}

/* Reasons are prose. */
static void
check_texts(struct json j)
{
	const cJSON *item;
	int i = 0;

	if (cJSON_IsString(j.value)) {
		check_text(j);
	}
	cJSON_ArrayForEach(item, j.value)
	{
		if (item->string == NULL) {
			check_texts(json_at(j, i++));
		} else if (strcmp(item->string, "rejected") != 0 &&
			   strcmp(item->string, "description") != 0) {
			check_texts(json_get(j, item->string));
		}
	}
}

struct place_in_file {
	struct loader *l;
	const char *file;
};

static void
say_in_file(void *ctx, int line, const char *problem, const char *name,
	    size_t length)
{
	struct place_in_file *p = ctx;
	struct diag_place place = { .file = p->file, .line = line };

	diag_error(&p->l->m->diags, DIAG_BAD_TEMPLATE, place, "%s '%.*s'",
		   problem, (int)length, name);
	p->l->reader.failed = true;
}

static void
check_file(struct loader *l, const char *file, const char *text,
	   const char *words)
{
	struct place_in_file place = { l, file };

	if (text != NULL) {
		template_check(text, words, say_in_file, &place);
	}
}

void
dialect_check_texts(struct loader *l, struct json j)
{
	const struct dialect *d = l->d;

	check_texts(j);
	for (int i = 0; i < TEMPLATE_COUNT; i++) {
		check_file(l, d->templates[i].file, d->templates[i].text,
			   template_words);
	}
	for (int i = 0; i < d->helpers.n; i++) {
		const struct helper *h = &d->helpers.data[i];

		check_file(l, h->file, h->text,
			   arena_printf(&l->m->arena, HELPER_FACTS " name %s",
					dialect_joined(l, h->uses.data,
						       h->uses.n)));
	}
}
