/* SPDX-License-Identifier: Apache-2.0 */
/* Identifiers from the model's names. */
#include "check.h"
#include "identifiers.h"

static struct arena arena;

static void
check_stem(const char *model_name, const char *want)
{
	const char *stem = name_stem(&arena, model_name);

	if (!CHECK((stem == NULL) == (want == NULL) &&
		   (stem == NULL || strcmp(stem, want) == 0))) {
		fprintf(stderr, "  '%s' gave '%s'\n", model_name,
			stem != NULL ? stem : "(none)");
	}
}

static void
check_add(struct name_set *s, const char *text, const char *want)
{
	const char *name = name_set_add(s, text);

	if (!CHECK(strcmp(name, want) == 0)) {
		fprintf(stderr, "  '%s' gave '%s'\n", text, name);
	}
	CHECK((int)strlen(name) <= s->max_length);
}

static void
stems(void)
{
	check_stem("/layer/0/Conv_output_0", "layer_0");
	check_stem("/layer/0/Conv_3_output_0", "layer_0");
	check_stem("gpu_0/res2_0_relu", "res2_0_relu");
	check_stem("layer1.0.conv1.weight", "layer1_0_conv1_weight");
	check_stem("conv1", "conv1");
	check_stem("relu1_out", "relu1_out");
	check_stem("resnet_v1/conv1/Relu:0", "resnet_v1_conv1");
	check_stem("Conv_12", NULL);
	check_stem("Conv_12_output_0", NULL);
	check_stem("/NonMaxSuppression_output_0_count",
		   "NonMaxSuppression_count");
	check_stem("/layer/Conv_output_12_w", "layer_Conv_w");
	check_stem("the_output_of_2", "the_output_of_2");
	check_stem("node_5", NULL);
	check_stem("123", NULL);
	check_stem("onnx::Conv_921", NULL);
	check_stem("val_7", NULL);
	check_stem("ReLU32", NULL);
	check_stem("Plus214_Output_0", NULL);
	check_stem("", NULL);
	check_stem("///", NULL);
	check_stem("\xc3\xa9t\xc3\xa9", "t");
}

static void
sets(void)
{
	static const char *const reserved[] = { "exp", "int", "j1" };
	struct name_set s;
	char text[400];

	name_set_init(&s, &arena);
	s.reserved = reserved;
	s.n_reserved = 3;
	/* Whole words, where they are half of what there is room for. */
	check_add(&s, "main_graph_layer_4_self_attention_query",
		  "main_4_self_attention_query");
	check_add(&s, "classification_normalization_2_bias",
		  "normalization_2_bias");
	check_add(&s, "classification_stage_1_quantized_activation",
		  "stage_1_quantized_activation");
	/* A name cannot begin with a number: the next word. */
	check_add(&s, "differentiable_1_quantized_activation",
		  "quantized_activation");
	check_add(&s, "conv1", "conv1");
	check_add(&s, "conv1", "conv1_2");
	check_add(&s, "conv1", "conv1_3");
	check_add(&s, "conv-1", "conv_1");
	check_add(&s, "gap_3", "gap_3");
	check_add(&s, "gap", "gap");
	check_add(&s, "gap", "gap_2");
	check_add(&s, "gap", "gap_4");
	check_add(&s, "gap_3", "gap_3_2");
	check_add(&s, "int", "int_");
	check_add(&s, "int", "int_2");
	check_add(&s, "7up", "n7up");
	check_add(&s, "", "x");
	check_add(&s, "\"; system(\n", "system");
	check_add(&s, "a//b", "a_b");
	memset(text, 'a', sizeof text);
	text[300] = '\0';
	check_add(&s, text, "aaaaaaaaaaaaaaa_aaaaaaaaaaaaaaa");
	check_add(&s, text, "aaaaaaaaaaaaaa_aaaaaaaaaaaaaa_2");
	text[40] = 'b';
	text[41] = '\0';
	check_add(&s, text, "aaaaaaaaaaaaaaa_aaaaaaaaaaaaaab");
	for (int i = 0; i < 1000; i++) {
		CHECK(strlen(name_set_add(&s, text)) <= 31);
	}
}

int
main(void)
{
	arena_init(&arena);
	stems();
	sets();
	arena_release(&arena);
	return check_done();
}
