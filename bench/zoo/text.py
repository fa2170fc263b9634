# SPDX-License-Identifier: Apache-2.0
"""Models of transformers, made small by their configurations."""
import torch
import transformers
from torch import nn

from registry import model

SIZES = dict(vocab_size=1000, hidden_size=64, num_hidden_layers=2,
             num_attention_heads=4, intermediate_size=128,
             max_position_embeddings=128, pad_token_id=0, bos_token_id=1,
             eos_token_id=2)
LENGTH = 16


class Plain(nn.Module):
    """A model by positional inputs `names`, whose results are the tensors of
    its output, caches left out."""

    def __init__(self, inner, names, **more):
        super().__init__()
        self.inner, self.names, self.more = inner, names, more

    def forward(self, *inputs):
        out = self.inner(**dict(zip(self.names, inputs)), **self.more,
                         return_dict=True)
        return tuple(v for v in out.values() if isinstance(v, torch.Tensor))


def tokens(length=LENGTH, batch=1):
    return torch.randint(3, 1000, (batch, length))


def config(name, **more):
    """The configuration of class name + "Config", with the sizes it knows."""
    cls = getattr(transformers, name + "Config")
    known = cls()
    sizes = {k: v for k, v in SIZES.items() if hasattr(known, k)}
    sizes.update(more)
    made = cls(**sizes)
    made._attn_implementation = "eager"
    return made


ENCODERS = {
    "Bert": {}, "Roberta": {}, "Electra": {"embedding_size": 64},
    "Albert": {"embedding_size": 32}, "DistilBert": {
        "dim": 64, "n_heads": 4, "n_layers": 2, "hidden_dim": 128},
    "MPNet": {}, "XLMRoberta": {}, "Camembert": {}, "Ernie": {}, "RoFormer": {
        "embedding_size": 64}, "Nystromformer": {"segment_means_seq_len": 16,
                                                 "num_landmarks": 4},
    "FNet": {"tpu_short_seq_length": LENGTH}, "SqueezeBert": {
        "embedding_size": 64, "q_groups": 1, "k_groups": 1, "v_groups": 1,
        "post_attention_groups": 1, "intermediate_groups": 1,
        "output_groups": 1},
    "MobileBert": {"embedding_size": 64, "true_hidden_size": 32,
                   "intra_bottleneck_size": 32, "num_feedforward_networks": 2},
    "DebertaV2": {}, "ConvBert": {"embedding_size": 64, "head_ratio": 2},
    "LayoutLM": {}, "ModernBert": {"global_attn_every_n_layers": 1,
                                   "local_attention": 8},
    "XLNet": {"d_model": 64, "n_layer": 2, "n_head": 4, "d_inner": 128},
    "Funnel": {"d_model": 64, "n_head": 4, "d_head": 16, "d_inner": 128,
               "block_sizes": [1, 1]}, "IBert": {}, "Splinter": {},
    "BigBird": {"attention_type": "original_full"}, "Canine": {
        "hidden_size": 96, "num_hash_buckets": 64, "num_attention_heads": 4},
}
for _name, _more in ENCODERS.items():
    @model("text encoder", "transformers_" + _name.lower())
    def _(name=_name, more=_more):
        cls = getattr(transformers, name + "Model")
        length = 64 if name == "Canine" else LENGTH
        return Plain(cls(config(name, **more)), ["input_ids"]), \
            (tokens(length),)

GPT = {"n_embd": 64, "n_layer": 2, "n_head": 4, "n_positions": 128,
       "n_inner": 128}
KV = {"num_key_value_heads": 2, "head_dim": 16}
DECODERS = {
    "GPT2LMHead": ("GPT2", GPT), "GPTNeoForCausalLM": (
        "GPTNeo", {"num_layers": 2, "num_heads": 4,
                   "attention_types": [[["global", "local"], 1]]}),
    "GPTJForCausalLM": ("GPTJ", dict(GPT, rotary_dim=8)),
    "GPTNeoXForCausalLM": ("GPTNeoX", {}),
    "CodeGenForCausalLM": ("CodeGen", dict(GPT, rotary_dim=8)),
    "LlamaForCausalLM": ("Llama", KV), "MistralForCausalLM": ("Mistral", KV),
    "Qwen2ForCausalLM": ("Qwen2", {"num_key_value_heads": 2}),
    "Qwen3ForCausalLM": ("Qwen3", KV), "GemmaForCausalLM": ("Gemma", KV),
    "Gemma2ForCausalLM": ("Gemma2", KV), "PhiForCausalLM": ("Phi", {
        "num_key_value_heads": 4}),
    "Phi3ForCausalLM": ("Phi3", {"num_key_value_heads": 2}),
    "StableLmForCausalLM": ("StableLm", {"num_key_value_heads": 2}),
    "OPTForCausalLM": ("OPT", {"ffn_dim": 128, "word_embed_proj_dim": 64}),
    "BloomForCausalLM": ("Bloom", {"n_layer": 2, "n_head": 4}),
    "FalconForCausalLM": ("Falcon", {"new_decoder_architecture": False}),
    "MptForCausalLM": ("Mpt", {"d_model": 64, "n_heads": 4, "n_layers": 2,
                               "max_seq_len": 128}),
    "OlmoForCausalLM": ("Olmo", {"num_key_value_heads": 4}),
    "GraniteForCausalLM": ("Granite", {"num_key_value_heads": 2}),
    "SmolLM3ForCausalLM": ("SmolLM3", {"num_key_value_heads": 2}),
    "CohereForCausalLM": ("Cohere", {"num_key_value_heads": 2}),
    "BioGptForCausalLM": ("BioGpt", {}), "XGLMForCausalLM": (
        "XGLM", {"d_model": 64, "ffn_dim": 128, "num_layers": 2,
                 "attention_heads": 4}),
}
for _name, (_config, _more) in DECODERS.items():
    @model("text decoder", "transformers_" + _config.lower())
    def _(name=_name, short=_config, more=_more):
        cls = getattr(transformers, name + "Model" if name == "GPT2LMHead"
                      else name)
        # Without a mask transformers calls torch.diff, which one of the
        # exporters does not know.
        return Plain(cls(config(short, **more)), [
            "input_ids", "attention_mask"], use_cache=False), (
                tokens(), torch.ones(1, LENGTH, dtype=torch.int64))

for _name, _more in (("Mamba", {"state_size": 8}),
                     ("Mamba2", {"num_heads": 8, "head_dim": 16,
                                 "state_size": 8, "n_groups": 1,
                                 "chunk_size": 8})):
    @model("state space", "transformers_" + _name.lower())
    def _(name=_name, more=_more):
        cls = getattr(transformers, name + "Model")
        return Plain(cls(config(name, **more)), ["input_ids"],
                     use_cache=False), (tokens(),)


class Cached(nn.Module):
    """One step of a decoder with its caches as inputs and outputs."""

    def __init__(self, inner, layers):
        super().__init__()
        self.inner, self.layers = inner, layers

    def forward(self, ids, *past):
        cache = transformers.DynamicCache()
        for i in range(self.layers):
            cache.update(past[2 * i], past[2 * i + 1], i)
        out = self.inner(input_ids=ids, past_key_values=cache, use_cache=True)
        present = out.past_key_values
        flat = []
        for i in range(self.layers):
            flat += [present.layers[i].keys, present.layers[i].values]
        return (out.logits, *flat)


for _name, _more, _heads in (("Llama", KV, 2), ("GPT2", GPT, 4),
                             ("Qwen2", {"num_key_value_heads": 2}, 2)):
    @model("text decoder with caches", "transformers_%s_step" % _name.lower())
    def _(name=_name, more=_more, heads=_heads):
        cls = getattr(transformers, name + (
            "LMHeadModel" if name == "GPT2" else "ForCausalLM"))
        past = [torch.randn(1, heads, LENGTH, 16) for _ in range(4)]
        return Cached(cls(config(name, **more)), 2), (tokens(1), *past)

SEQ2SEQ = {
    "T5ForConditionalGeneration": ("T5", {
        "d_model": 64, "d_kv": 16, "d_ff": 128, "num_layers": 2,
        "num_heads": 4, "decoder_start_token_id": 0}),
    "MT5ForConditionalGeneration": ("MT5", {
        "d_model": 64, "d_kv": 16, "d_ff": 128, "num_layers": 2,
        "num_heads": 4, "decoder_start_token_id": 0}),
}
BART = {"d_model": 64, "encoder_layers": 2, "decoder_layers": 2,
        "encoder_attention_heads": 4, "decoder_attention_heads": 4,
        "encoder_ffn_dim": 128, "decoder_ffn_dim": 128,
        "decoder_start_token_id": 2}
for _name in ("Bart", "MBart", "Pegasus", "Marian", "Blenderbot", "M2M100",
              "PLBart"):
    SEQ2SEQ[_name + ("MTModel" if _name == "Marian"
                     else "ForConditionalGeneration")] = (_name, BART)
for _name, (_config, _more) in SEQ2SEQ.items():
    @model("text encoder-decoder", "transformers_" + _config.lower())
    def _(name=_name, short=_config, more=_more):
        inner = getattr(transformers, name)(config(short, **more))
        return Plain(inner, ["input_ids", "decoder_input_ids"],
                     use_cache=False), (tokens(), tokens(5))

WIDE = dict(hidden_size=64, num_hidden_layers=2, num_attention_heads=4,
            intermediate_size=128, image_size=64, patch_size=8)
for _name, _more in (
        ("ViT", WIDE), ("DeiT", WIDE), ("Beit", WIDE), ("ViTMAE", WIDE),
        ("Dinov2", WIDE), ("SiglipVision", WIDE), ("CLIPVision", WIDE),
        ("ConvNext", {}), ("ConvNextV2", {}), ("Segformer", {}),
        ("PoolFormer", {}), ("RegNet", {}), ("MobileNetV1", {}),
        ("MobileNetV2", {}), ("MobileViT", {}), ("VideoMAE", None)):
    if _more is None:
        continue
    @model("vision transformer", "transformers_" + _name.lower())
    def _(name=_name, more=_more):
        made = getattr(transformers, name + "Config")(**more)
        made._attn_implementation = "eager"
        inner = getattr(transformers, name + "Model")(made)
        return Plain(inner, ["pixel_values"]), (torch.randn(1, 3, 64, 64),)

for _name in ("Wav2Vec2", "Hubert", "SEW", "WavLM", "UniSpeech"):
    @model("speech", "transformers_" + _name.lower())
    def _(name=_name):
        more = {} if name == "SEW" else {"conv_dim": (32,) * 7}
        made = config(name, num_conv_pos_embeddings=16,
                      num_conv_pos_embedding_groups=4, **more)
        inner = getattr(transformers, name + "Model")(made)
        return Plain(inner, ["input_values"]), (torch.randn(1, 4000),)


@model("speech", "transformers_whisper")
def _():
    made = transformers.WhisperConfig(
        vocab_size=1000, d_model=64, encoder_layers=2, decoder_layers=2,
        encoder_attention_heads=4, decoder_attention_heads=4,
        encoder_ffn_dim=128, decoder_ffn_dim=128, max_source_positions=50,
        max_target_positions=32, num_mel_bins=40, pad_token_id=0,
        bos_token_id=1, eos_token_id=2, decoder_start_token_id=1)
    made._attn_implementation = "eager"
    inner = transformers.WhisperModel(made)
    return Plain(inner, ["input_features", "decoder_input_ids"],
                 use_cache=False), (torch.randn(1, 40, 100), tokens(4))


@model("detection", "transformers_yolos")
def _():
    made = transformers.YolosConfig(**dict(WIDE, image_size=[64, 64],
                                           num_detection_tokens=10))
    made._attn_implementation = "eager"
    return Plain(transformers.YolosForObjectDetection(made),
                 ["pixel_values"]), (torch.randn(1, 3, 64, 64),)
