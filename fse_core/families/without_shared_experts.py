"""Architectures of the registry in which no layer has shared experts beside routed ones: there is nothing to fuse.

An entry is the architecture's name, followed by its class where that has another name. Multimodal classes stand here
only if they always build the same kind of language model; those that build any are in `wrappers`.
Source: vllm/model_executor/models/registry.py:66-651 at 0.33.0 and, for each of the MoE models, its class.
"""

from collections.abc import Mapping

from fse_core.errors import Undecided
from fse_core.families.base import Family, Part
from fse_core.read.model import Model
from fse_core.releases.release import Release
from fse_core.target import Target


def _classes(entries: str) -> Mapping[str, str]:
    pairs = (entry.partition("=") for entry in entries.split())
    return {name: model_class or name for name, _, model_class in pairs}


MOE = _classes(
    """
    BeamForCausalLM ClefOmniForJointSchema DbrxForCausalLM
    DiffusionGemmaForBlockDiffusion=DiffusionGemmaForConditionalGeneration EmbeddingGemma2Model
    FlexOlmoForCausalLM=TransformersMoEForCausalLM Gemma4ForCausalLM Gemma4ForConditionalGeneration
    Gemma4UnifiedForConditionalGeneration GptOssForCausalLM GraniteMoeForCausalLM HfMoondream=Moondream3ForCausalLM
    InternS1ProForConditionalGeneration JambaForCausalLM JambaForSequenceClassification Lfm2MoeForCausalLM
    LongcatFlashForCausalLM LongcatFlashNgramForCausalLM MellumForCausalLM=TransformersMoEForCausalLM
    MiMoV2FlashForCausalLM MiMoV2ForCausalLM MiMoV2OmniForCausalLM MiniMaxM2ForCausalLM MixtralForCausalLM
    Moondream3ForCausalLM MuseSparkForConditionalGeneration NomicBertModel OlmoeForCausalLM
    OpenAIPrivacyFilterForTokenClassification PhiMoEForCausalLM
    """
)
"""Routed experts only; LongCat-Flash's zero experts and Gemma 4's parallel dense MLP are no shared experts."""

QWEN3_5_DENSE = _classes(
    """
    ClefFlashForJointSchema ColQwen3_5=ColQwen3_5Model D3ForSequenceClassification Qwen3_5ForCausalLM
    Qwen3_5ForConditionalGeneration
    """
)
"""Classes that build Qwen3.5's MoE decoder layers if the text config says so, which none of their checkpoints does."""

DENSE = _classes(
    """
    Alpamayo2Super=Alpamayo2SuperForConditionalGeneration ApertusForCausalLM
    ArceeForCausalLM=TransformersForCausalLM AudioFlamingo3ForConditionalGeneration BagelForConditionalGeneration
    BertForMaskedLM BertForSequenceClassification BertForTokenClassification BertModel=BertEmbeddingModel
    BertSpladeSparseEmbeddingModel BgeM3EmbeddingModel BloomForCausalLM
    ChatGLMForConditionalGeneration=ChatGLMForCausalLM ChatGLMModel=ChatGLMForCausalLM CLIPModel=CLIPEmbeddingModel
    Cohere2ForCausalLM=CohereForCausalLM CohereAsrForConditionalGeneration CohereCompassForConditionalGeneration
    CohereForCausalLM ColBERTJinaRobertaModel ColBERTLfm2Model ColBERTModernBertModel ColModernVBertForRetrieval
    ColQwen3=ColQwen3Model ColUltraVBertForRetrieval Cosmos3EdgeForConditionalGeneration
    Cosmos3ForConditionalGeneration CwmForCausalLM=TransformersForCausalLM DeciLMForCausalLM DomynEdgeForCausalLM
    DoryForCausalLM DotsOCRForCausalLM Emu3ForConditionalGeneration=TransformersMultiModalForCausalLM
    Ernie4_5ForCausalLM Exaone4_5_ForConditionalGeneration Exaone4ForCausalLM ExaoneForCausalLM FalconForCausalLM
    FalconH1ForCausalLM FalconMambaForCausalLM=MambaForCausalLM FireRedASR2ForConditionalGeneration
    FunASRForConditionalGeneration FunAudioChatForConditionalGeneration Gemma2ForCausalLM
    Gemma2Model=Gemma2ForCausalLM Gemma3ForCausalLM Gemma3ForConditionalGeneration Gemma3nForCausalLM
    Gemma3nForConditionalGeneration Gemma3TextModel=Gemma3Model GemmaForCausalLM Glm4ForCausalLM GLM4VForCausalLM
    Glm4vForConditionalGeneration GlmAsrForConditionalGeneration GlmForCausalLM=TransformersForCausalLM
    GlmOcrForConditionalGeneration GPT2ForSequenceClassification GPT2LMHeadModel
    GPTBigCodeForCausalLM=TransformersForCausalLM GPTJForCausalLM GPTNeoXForCausalLM=TransformersForCausalLM
    Granite4VisionForConditionalGeneration GraniteForCausalLM GraniteSWAForCausalLM=GraniteForCausalLM
    GteModel=SnowflakeGteNewModel GteNewForSequenceClassification GteNewModel HF_ColBERT=ColBERTModel
    HrmTextForCausalLM HunYuanDenseV1ForCausalLM=TransformersForCausalLM
    HunYuanVLForConditionalGeneration=TransformersMultiModalForCausalLM HyperCLOVAXForCausalLM
    Idefics3ForConditionalGeneration InternLM2ForCausalLM InternLM2ForRewardModel
    InternLM3ForCausalLM=LlamaForCausalLM IQuestCoderForCausalLM=LlamaForCausalLM IQuestLoopCoderForCausalLM
    IsaacForConditionalGeneration Jais2ForCausalLM=TransformersForCausalLM JinaEmbeddingsV5Model JinaForRanking
    JinaVLForRanking=JinaVLForSequenceClassification KananaVForConditionalGeneration KeyeForConditionalGeneration
    KeyeVL1_5ForConditionalGeneration Lfm2BidirectionalModel Lfm2ForCausalLM
    LlamaBidirectionalForSequenceClassification LlamaBidirectionalModel LlamaForCausalLM
    LLaMAForCausalLM=LlamaForCausalLM LlamaModel=LlamaForCausalLM LlavaOnevision2ForConditionalGeneration
    Mamba2ForCausalLM MambaForCausalLM MiDashengLMModel MiMoForCausalLM MiniCPM3ForCausalLM MiniCPMForCausalLM
    MiniCPMO MiniCPMOcrForConditionalGeneration MiniCPMV MiniCPMV4_6ForConditionalGeneration
    MiniCPMV4_7ForConditionalGeneration Ministral3ForCausalLM=MistralForCausalLM MistralForCausalLM
    MistralModel=LlamaForCausalLM ModernBertForSequenceClassification ModernBertForTokenClassification
    ModernBertModel ModernVBertModel=ColModernVBertForRetrieval Molmo2ForConditionalGeneration MolmoForCausalLM
    MoonshotKimiaForCausalLM=KimiAudioForConditionalGeneration MossAudioModel
    MossTranscribeDiarizeForConditionalGeneration MuseGlimmerForCausalLM
    MuseGlimmerForConditionalGeneration=MuseGlimmerForCausalLM NanbeigeForCausalLM=TransformersForCausalLM
    NemotronForCausalLM NemotronParseForConditionalGeneration Olmo2ForCausalLM=TransformersForCausalLM
    Olmo3ForCausalLM=TransformersForCausalLM OlmoForCausalLM=TransformersForCausalLM OlmoHybridForCausalLM
    OpenCUAForConditionalGeneration OpenPanguVLForConditionalGeneration OpsColQwen3Model=ColQwen3Model
    OPTForCausalLM OrionForCausalLM PaddleOCRVLForConditionalGeneration Phi3ForCausalLM Phi3VForCausalLM
    Phi4ForCausalLMV Phi4MMForCausalLM PhiForCausalLM=TransformersForCausalLM Plamo3ForCausalLM
    Qwen2_5_VLForConditionalGeneration
    Qwen2_5OmniForConditionalGeneration=Qwen2_5OmniThinkerForConditionalGeneration
    Qwen2_5OmniModel=Qwen2_5OmniThinkerForConditionalGeneration Qwen2AudioForConditionalGeneration Qwen2ForCausalLM
    Qwen2ForProcessRewardModel Qwen2ForRewardModel Qwen2Model=Qwen2ForCausalLM Qwen2VLForConditionalGeneration
    Qwen3ASRForcedAlignerForTokenClassification Qwen3ASRForConditionalGeneration Qwen3ASRRealtimeGeneration
    Qwen3ForCausalLM Qwen3VLForConditionalGeneration Qwen3VLNemotronEmbedModel=ColQwen3Model
    RadioMBartPrefixForCausalLM Rnj1ForCausalLM RobertaForMaskedLM=RobertaEmbeddingModel
    RobertaForSequenceClassification RobertaForTokenClassification RobertaModel=RobertaEmbeddingModel
    SeedOssForCausalLM=TransformersForCausalLM SiglipModel=SiglipEmbeddingModel
    SmolLM3ForCausalLM=TransformersForCausalLM SmolVLMForConditionalGeneration SolarForCausalLM
    StableLmForCausalLM=StablelmForCausalLM Starcoder2ForCausalLM=TransformersForCausalLM Step1ForCausalLM
    TeleChat2ForCausalLM TeleChat3ForCausalLM=LlamaForCausalLM TeleFLMForCausalLM
    VaultGemmaForCausalLM=TransformersForCausalLM
    VibeVoiceAsrForConditionalGeneration=TransformersMultiModalForCausalLM VoyageQwen3BidirectionalEmbedModel
    WhisperForConditionalGeneration XLMRobertaForSequenceClassification=RobertaForSequenceClassification
    XLMRobertaForTokenClassification=RobertaForTokenClassification XLMRobertaModel=RobertaEmbeddingModel
    Zamba2ForCausalLM
    """
)


def _parts(model: Model, target: Target, release: Release) -> tuple[Part, ...]:
    architecture = model.require_architecture()
    if architecture in QWEN3_5_DENSE and model.text.get("model_type") == "qwen3_5_moe_text":
        raise Undecided(f"{architecture} with a MoE language model is not known")
    return (Part(model_class=MOE[architecture], layers=(), routed=True),) if architecture in MOE else ()


FAMILY = Family(name="without_shared_experts", architectures={**MOE, **QWEN3_5_DENSE, **DENSE}, parts=_parts)
