"""Set two."""

from __future__ import annotations

from typing import Any

import torch
from case import Cases

CASES = Cases(
    {
        "demucs": "4.1.0",
        "e3nn": "0.6.0",
        "encodec": "0.1.1",
        "entmax": "1.3",
        "facenet-pytorch": "2.6.0",
        "geomloss": "0.3.1",
        "lightly": "1.6.0",
        "peft": "0.21.2",
        "piq": "0.8.0",
        "pyro-ppl": "1.9.2",
        "pytorch-crf": "0.7.2",
        "sentence-transformers": "6.2.0",
        "torchattacks": "3.5.1",
        "torchsde": "0.2.6",
        "vector-quantize-pytorch": "1.32.0",
        "zuko": "1.6.0",
    }
)
case = CASES.of


# peft: adapters over a plain network


class Mlp(torch.nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.up = torch.nn.Linear(16, 32)
        self.down = torch.nn.Linear(32, 16)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.down(torch.relu(self.up(x)))


def adapted(config: Any) -> Any:
    from peft import get_peft_model

    return get_peft_model(Mlp(), config), (torch.randn(4, 16),)


@case("peft")
def lora() -> Any:
    from peft import LoraConfig

    return adapted(LoraConfig(target_modules=["up", "down"], r=4, lora_dropout=0.1))


@case("peft")
def dora() -> Any:
    from peft import LoraConfig

    return adapted(LoraConfig(target_modules=["up", "down"], r=4, use_dora=True))


@case("peft")
def lora_mixed_batch() -> Any:
    from peft import LoraConfig, get_peft_model

    model = get_peft_model(Mlp(), LoraConfig(target_modules=["up", "down"], r=4))
    model.add_adapter("other", LoraConfig(target_modules=["up"], r=2))
    return model.eval(), (torch.randn(4, 16),), {"adapter_names": ["default", "other", "__base__", "default"]}


@case("peft")
def adalora() -> Any:
    from peft import AdaLoraConfig

    return adapted(AdaLoraConfig(target_modules=["up", "down"], init_r=4, target_r=2, total_step=10))


@case("peft")
def adalora_rank_allocator() -> Any:
    from peft import AdaLoraConfig, get_peft_model

    config = AdaLoraConfig(
        target_modules=["up", "down"], init_r=4, target_r=2, tinit=0, tfinal=2, deltaT=1, total_step=10
    )
    model = get_peft_model(Mlp(), config)
    model(torch.randn(4, 16)).sum().backward()
    return model.base_model.update_and_allocate, (3,)


@case("peft")
def ia3() -> Any:
    from peft import IA3Config

    return adapted(IA3Config(target_modules=["up", "down"], feedforward_modules=["down"]))


@case("peft")
def vera() -> Any:
    from peft import VeraConfig

    return adapted(VeraConfig(target_modules=["up", "down"], r=4))


@case("peft")
def boft() -> Any:
    from peft import BOFTConfig

    return adapted(BOFTConfig(target_modules=["up", "down"], boft_block_size=4))


@case("peft")
def oft() -> Any:
    from peft import OFTConfig

    return adapted(OFTConfig(target_modules=["up", "down"], oft_block_size=4))


@case("peft")
def lokr() -> Any:
    from peft import LoKrConfig

    return adapted(LoKrConfig(target_modules=["up", "down"], r=4))


@case("peft")
def vblora() -> Any:
    from peft import VBLoRAConfig

    return adapted(VBLoRAConfig(target_modules=["up", "down"], r=2, num_vectors=8, vector_length=8, topk=2))


# sentence-transformers: losses on embeddings, and modules


def pairs(loss: Any, labels: torch.Tensor, columns: int = 2) -> Any:
    embeddings = [torch.randn(8, 16, requires_grad=True) for _ in range(columns)]
    return loss.compute_loss_from_embeddings, (embeddings, labels)


@case("sentence-transformers")
def batch_hard_triplet() -> Any:
    from sentence_transformers.sentence_transformer.losses import BatchHardTripletLoss

    return pairs(BatchHardTripletLoss(torch.nn.Identity()), torch.randint(0, 3, (8,)), columns=1)


@case("sentence-transformers")
def batch_hard_soft_margin_triplet() -> Any:
    from sentence_transformers.sentence_transformer.losses import BatchHardSoftMarginTripletLoss

    return pairs(BatchHardSoftMarginTripletLoss(torch.nn.Identity()), torch.randint(0, 3, (8,)), columns=1)


@case("sentence-transformers")
def batch_all_triplet() -> Any:
    from sentence_transformers.sentence_transformer.losses import BatchAllTripletLoss

    return pairs(BatchAllTripletLoss(torch.nn.Identity()), torch.randint(0, 3, (8,)), columns=1)


@case("sentence-transformers")
def batch_semi_hard_triplet() -> Any:
    from sentence_transformers.sentence_transformer.losses import BatchSemiHardTripletLoss

    return pairs(BatchSemiHardTripletLoss(torch.nn.Identity()), torch.randint(0, 3, (8,)), columns=1)


@case("sentence-transformers")
def cosent() -> Any:
    from sentence_transformers.sentence_transformer.losses import CoSENTLoss

    return pairs(CoSENTLoss(torch.nn.Identity()), torch.rand(8))


@case("sentence-transformers")
def online_contrastive() -> Any:
    from sentence_transformers.sentence_transformer.losses import OnlineContrastiveLoss

    return pairs(OnlineContrastiveLoss(torch.nn.Identity()), torch.randint(0, 2, (8,)))


@case("sentence-transformers")
def multiple_negatives_ranking() -> Any:
    from sentence_transformers.sentence_transformer.losses import MultipleNegativesRankingLoss

    return pairs(MultipleNegativesRankingLoss(torch.nn.Identity()), torch.zeros(8), columns=3)


@case("sentence-transformers")
def mega_batch_margin() -> Any:
    from sentence_transformers.sentence_transformer.losses import MegaBatchMarginLoss

    loss = MegaBatchMarginLoss(torch.nn.Identity(), use_mini_batched_version=False)
    return loss.calculate_loss, ([[torch.randn(8, 16)], [torch.randn(8, 16)]],)


@case("sentence-transformers")
def pooling() -> Any:
    from sentence_transformers.sentence_transformer.modules import Pooling

    pool = Pooling(16, ("cls", "max", "mean", "mean_sqrt_len_tokens", "weightedmean", "lasttoken"))
    mask = (torch.arange(10) < torch.tensor([10, 7, 4, 2])[:, None]).long()
    return pool, ({"token_embeddings": torch.randn(4, 10, 16), "attention_mask": mask},)


@case("sentence-transformers")
def quantized_embeddings() -> Any:
    from sentence_transformers.util import quantize_embeddings

    return quantize_embeddings, (torch.randn(8, 16), "int8")


@case("sentence-transformers")
def semantic_search() -> Any:
    from sentence_transformers.util import semantic_search

    return semantic_search, (torch.randn(3, 16), torch.randn(12, 16)), {"top_k": 4}


@case("sentence-transformers")
def community_detection() -> Any:
    from sentence_transformers.util import community_detection

    return community_detection, (torch.randn(4, 16).repeat(6, 1),), {"min_community_size": 2}


# vector-quantize-pytorch


@case("vector-quantize-pytorch")
def vector_quantize_kmeans() -> Any:
    from vector_quantize_pytorch import VectorQuantize

    quantizer = VectorQuantize(16, 32, kmeans_init=True, kmeans_iters=2, threshold_ema_dead_code=2, rotation_trick=True)
    return quantizer, (torch.randn(2, 48, 16),)


@case("vector-quantize-pytorch")
def vector_quantize_cosine_heads() -> Any:
    from vector_quantize_pytorch import VectorQuantize

    quantizer = VectorQuantize(
        16,
        32,
        codebook_dim=8,
        heads=2,
        separate_codebook_per_head=True,
        use_cosine_sim=True,
        orthogonal_reg_weight=10.0,
        orthogonal_reg_active_codes_only=True,
        orthogonal_reg_max_codes=8,
        codebook_diversity_loss_weight=0.1,
    )
    return quantizer, (torch.randn(2, 48, 16),)


@case("vector-quantize-pytorch")
def residual_vq_dropout() -> Any:
    from vector_quantize_pytorch import ResidualVQ

    quantizer = ResidualVQ(
        dim=16, codebook_size=32, num_quantizers=4, quantize_dropout=True, stochastic_sample_codes=True
    )
    return quantizer, (torch.randn(2, 24, 16),), {"return_all_codes": True}


@case("vector-quantize-pytorch")
def residual_vq_beam() -> Any:
    from vector_quantize_pytorch import ResidualVQ

    return ResidualVQ(dim=16, codebook_size=32, num_quantizers=3, beam_size=2), (torch.randn(2, 24, 16),)


@case("vector-quantize-pytorch")
def grouped_residual_vq() -> Any:
    from vector_quantize_pytorch import GroupedResidualVQ

    return GroupedResidualVQ(dim=16, codebook_size=32, num_quantizers=2, groups=2), (torch.randn(2, 24, 16),)


@case("vector-quantize-pytorch")
def finite_scalar() -> Any:
    from vector_quantize_pytorch import FSQ

    return FSQ([8, 5, 5], dim=16, noise_dropout=0.5), (torch.randn(2, 24, 16),)


@case("vector-quantize-pytorch")
def lookup_free() -> Any:
    from vector_quantize_pytorch import LFQ

    lens = torch.arange(24) < torch.tensor([24, 9])[:, None]
    return (
        LFQ(dim=16, codebook_size=64, diversity_gamma=1.0, frac_per_sample_entropy=0.5),
        (torch.randn(2, 24, 16),),
        {"mask": lens},
    )


@case("vector-quantize-pytorch")
def latent_quantize() -> Any:
    from vector_quantize_pytorch import LatentQuantize

    return LatentQuantize(levels=[5, 5, 8], dim=9), (torch.randn(2, 9, 4, 4),)


@case("vector-quantize-pytorch")
def random_projection() -> Any:
    from vector_quantize_pytorch import RandomProjectionQuantizer

    return RandomProjectionQuantizer(dim=16, num_codebooks=4, codebook_dim=8, codebook_size=32), (
        torch.randn(2, 24, 16),
    )


@case("vector-quantize-pytorch")
def residual_sim_vq() -> Any:
    from vector_quantize_pytorch import ResidualSimVQ

    return ResidualSimVQ(dim=16, num_quantizers=3, codebook_size=32, rotation_trick=True), (torch.randn(2, 24, 16),)


# torchsde


class Sde(torch.nn.Module):
    sde_type = "ito"
    noise_type = "diagonal"

    def __init__(self) -> None:
        super().__init__()
        self.drift, self.diffusion = torch.nn.Linear(3, 3), torch.nn.Linear(3, 3)

    def f(self, t: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
        return self.drift(y)

    def g(self, t: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
        return torch.sigmoid(self.diffusion(y))

    def h(self, t: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
        return -y


class Stratonovich(Sde):
    sde_type = "stratonovich"


@case("torchsde")
def sdeint_srk() -> Any:
    from torchsde import sdeint

    return sdeint, (Sde(), torch.randn(4, 3), torch.linspace(0, 1, 3)), {"dt": 0.25, "method": "srk"}


@case("torchsde")
def sdeint_adaptive() -> Any:
    from torchsde import sdeint

    options = {"dt": 0.25, "adaptive": True, "rtol": 0.1, "atol": 0.1, "method": "milstein", "logqp": True}
    return sdeint, (Sde(), torch.randn(4, 3), torch.linspace(0, 1, 3)), options


@case("torchsde")
def sdeint_adjoint() -> Any:
    from torchsde import sdeint_adjoint

    options = {"dt": 0.25, "method": "reversible_heun", "adjoint_method": "adjoint_reversible_heun"}
    return sdeint_adjoint, (Stratonovich(), torch.randn(4, 3), torch.linspace(0, 1, 3)), options


@case("torchsde")
def brownian_interval() -> Any:
    from torchsde import BrownianInterval

    return BrownianInterval(0.0, 1.0, size=(4, 3), levy_area_approximation="space-time"), (0.2, 0.7)


# e3nn


@case("e3nn")
def spherical_harmonics() -> Any:
    from e3nn import o3

    return o3.spherical_harmonics, ([0, 1, 2], torch.randn(8, 3), True)


@case("e3nn")
def gate() -> Any:
    from e3nn.nn import Gate

    module = Gate("16x0o", [torch.tanh], "8x0o", [torch.tanh], "8x1e")
    return module, (module.irreps_in.randn(4, -1),)


@case("e3nn")
def irreps_batchnorm() -> Any:
    from e3nn import o3
    from e3nn.nn import BatchNorm

    irreps = o3.Irreps("4x0e + 3x1o")
    return BatchNorm(irreps), (irreps.randn(8, -1),)


@case("e3nn")
def message_passing_network() -> Any:
    from e3nn.nn.models.v2106.gate_points_networks import SimpleNetwork

    network = SimpleNetwork(
        "3x0e", "4x0e + 1x1o", max_radius=2.0, num_neighbors=3.0, num_nodes=5.0, mul=4, layers=1, lmax=1
    )
    return network, ({"pos": torch.randn(5, 3), "x": torch.randn(5, 3), "batch": torch.zeros(5, dtype=torch.long)},)


@case("e3nn")
def wigner_and_angles() -> Any:
    from e3nn import o3

    def rotate(axis: torch.Tensor, angle: torch.Tensor) -> Any:
        matrix = o3.axis_angle_to_matrix(axis, angle)
        return o3.Irreps("2x0e + 1x1o + 1x2e").D_from_matrix(matrix), o3.matrix_to_angles(matrix)

    return rotate, (torch.nn.functional.normalize(torch.randn(4, 3), dim=-1), torch.rand(4))


@case("e3nn")
def spherical_signal() -> Any:
    from e3nn.io import SphericalTensor

    signal = SphericalTensor(3, 1, 1)
    return signal.sum_of_diracs, (torch.randn(4, 3), torch.rand(4, 1))


# piq


def images(size: int = 64) -> tuple[torch.Tensor, torch.Tensor]:
    return torch.rand(2, 3, size, size), torch.rand(2, 3, size, size)


@case("piq")
def piq_ssim() -> Any:
    import piq

    return piq.SSIMLoss(), images()


@case("piq")
def piq_ms_ssim() -> Any:
    import piq

    return piq.MultiScaleSSIMLoss(kernel_size=3), images()


@case("piq")
def piq_brisque() -> Any:
    from piq.brisque import _aggd_parameters, _ggd_parameters

    def features(x: torch.Tensor) -> Any:
        return _ggd_parameters(x), _aggd_parameters(x)

    return features, (torch.randn(2, 1, 32, 32),)


@case("piq")
def piq_fsim() -> Any:
    import piq

    return piq.FSIMLoss(), images()


@case("piq")
def piq_haarpsi() -> Any:
    import piq

    return piq.HaarPSILoss(), images()


@case("piq")
def piq_iw_ssim() -> Any:
    import piq

    return piq.InformationWeightedSSIMLoss(), images(192)


@case("piq")
def piq_dss() -> Any:
    import piq

    return piq.DSSLoss(), images()


@case("piq")
def piq_mdsi() -> Any:
    import piq

    return piq.MDSILoss(), images()


@case("piq")
def piq_msid() -> Any:
    import piq

    return piq.MSID(k=3, m=4, niters=4), (torch.rand(16, 8), torch.rand(16, 8))


@case("piq")
def piq_inception_score() -> Any:
    import piq

    return piq.IS(num_splits=2), (torch.rand(16, 8), torch.rand(16, 8))


@case("piq")
def piq_precision_recall() -> Any:
    import piq

    return piq.PR(nearest_k=3), (torch.rand(16, 8), torch.rand(16, 8))


@case("piq")
def piq_fid() -> Any:
    import piq

    return piq.FID(), (torch.rand(16, 8), torch.rand(16, 8))


@case("piq")
def piq_kid() -> Any:
    import piq

    return piq.KID(), (torch.rand(16, 8), torch.rand(16, 8))


# encodec


@case("encodec")
def encodec_training() -> Any:
    from encodec.modules import SEANetDecoder, SEANetEncoder

    encoder = SEANetEncoder(dimension=16, n_filters=4, ratios=[4, 2], norm="weight_norm")
    decoder = SEANetDecoder(dimension=16, n_filters=4, ratios=[4, 2], norm="weight_norm")

    def reconstruct(x: torch.Tensor) -> torch.Tensor:
        return decoder(encoder(x))

    return reconstruct, (torch.randn(1, 1, 320),)


def codec(**options: Any) -> Any:
    from encodec import EncodecModel
    from encodec.modules import SEANetDecoder, SEANetEncoder
    from encodec.quantization import ResidualVectorQuantizer

    encoder = SEANetEncoder(dimension=16, n_filters=4, ratios=[4, 2], norm="weight_norm")
    decoder = SEANetDecoder(dimension=16, n_filters=4, ratios=[4, 2], norm="weight_norm")
    quantizer = ResidualVectorQuantizer(16, n_q=4, bins=8, kmeans_iters=2)
    return EncodecModel(encoder, decoder, quantizer, [1.5, 3.0], 1000, 1, **options)


@case("encodec")
def encodec_roundtrip() -> Any:
    model = codec(normalize=True, segment=0.2).eval()
    model.set_target_bandwidth(1.5)
    return model, (torch.randn(1, 1, 320),)


@case("encodec")
def encodec_quantizer_training() -> Any:
    from encodec.quantization import ResidualVectorQuantizer

    return ResidualVectorQuantizer(16, n_q=3, bins=8, kmeans_iters=2).train(), (torch.randn(2, 16, 20), 100)


@case("encodec")
def encodec_language_model() -> Any:
    from encodec.model import LMModel

    return LMModel(n_q=2, card=16, dim=16, num_layers=1, num_heads=2), (torch.randint(0, 16, (1, 2, 6)),)


@case("encodec")
def encodec_stft_discriminator() -> Any:
    from encodec.msstftd import MultiScaleSTFTDiscriminator

    return MultiScaleSTFTDiscriminator(4, n_ffts=[64], hop_lengths=[16], win_lengths=[64]), (torch.randn(1, 1, 400),)


# demucs


@case("demucs")
def demucs_hybrid() -> Any:
    from demucs.hdemucs import HDemucs

    model = HDemucs(
        ["drums", "vocals"], audio_channels=1, channels=4, depth=6, nfft=1024, hybrid_old=False, dconv_lstm=4
    )
    return model, (torch.randn(1, 1, 20000),)


@case("demucs")
def demucs_hybrid_transformer() -> Any:
    from demucs.htdemucs import HTDemucs

    model = HTDemucs(
        ["drums", "vocals"], audio_channels=1, channels=16, depth=4, t_layers=2, t_heads=2, segment=1, samplerate=8000
    )
    return model, (torch.randn(1, 1, 8000),)


@case("demucs")
def demucs_time() -> Any:
    from demucs.demucs import Demucs

    model = Demucs(
        ["drums", "vocals"], audio_channels=1, channels=4, depth=3, lstm_layers=1, segment=1, samplerate=4000
    )
    return model, (torch.randn(1, 1, 4000),)


@case("demucs")
def demucs_apply() -> Any:
    from demucs.apply import apply_model
    from demucs.demucs import Demucs

    model = Demucs(["drums", "vocals"], audio_channels=1, channels=4, depth=3, segment=1, samplerate=2000)
    return apply_model, (model.eval(), torch.randn(1, 1, 5000)), {"shifts": 1, "overlap": 0.25, "device": "cpu"}


@case("demucs")
def demucs_augment() -> Any:
    from demucs.augment import FlipChannels, FlipSign, Remix, Scale, Shift

    chain = torch.nn.Sequential(
        Shift(100, same=False), FlipChannels(), FlipSign(), Remix(proba=1, group_size=2), Scale(proba=1)
    )
    return chain.train(), (torch.randn(4, 2, 2, 400),)


@case("demucs")
def demucs_svd_penalty() -> Any:
    from demucs.svd import svd_penalty

    return svd_penalty, (torch.nn.Conv1d(64, 64, 8),), {"min_size": 0.01}


@case("demucs")
def demucs_wiener() -> Any:
    from demucs.wiener import wiener

    return wiener, (torch.rand(6, 9, 2, 2), torch.randn(6, 9, 2, 2)), {"iterations": 1}


# zuko


def log_prob(flow: Any, features: int = 3) -> Any:
    def loss(x: torch.Tensor, context: torch.Tensor) -> torch.Tensor:
        return -flow(context).log_prob(x).mean()

    return loss, (torch.randn(8, features), torch.randn(8, 2))


@case("zuko")
def zuko_spline_flow() -> Any:
    from zuko.flows import NSF

    return log_prob(NSF(3, 2, transforms=2, hidden_features=(8, 8)))


@case("zuko")
def zuko_unconstrained() -> Any:
    from zuko.flows import UNAF

    return log_prob(UNAF(3, 2, transforms=1, hidden_features=(8,)))


@case("zuko")
def zuko_mixture() -> Any:
    from zuko.flows import GMM

    return log_prob(GMM(3, 2, components=4, hidden_features=(8,)))


@case("zuko")
def zuko_continuous() -> Any:
    from zuko.flows import CNF

    return log_prob(CNF(3, 2, hidden_features=(8,)))


@case("zuko")
def zuko_sample_inverse() -> Any:
    from zuko.flows import SOSPF

    flow = SOSPF(3, 2, transforms=1, hidden_features=(8,))

    def sample(context: torch.Tensor) -> torch.Tensor:
        return flow(context).rsample((4,))

    return sample, (torch.randn(2, 2),)


@case("zuko")
def zuko_bernstein() -> Any:
    from zuko.flows import BPF

    return log_prob(BPF(3, 2, transforms=1, hidden_features=(8,)))


# pytorch-crf


def tags() -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    mask = torch.arange(6)[None] < torch.tensor([[6], [4], [2]])
    return torch.randn(3, 6, 5), torch.randint(0, 5, (3, 6)), mask


@case("pytorch-crf")
def crf_loss() -> Any:
    from torchcrf import CRF

    return CRF(5, batch_first=True), tags(), {"reduction": "token_mean"}


@case("pytorch-crf")
def crf_decode() -> Any:
    from torchcrf import CRF

    emissions, _, mask = tags()
    return CRF(5, batch_first=True).decode, (emissions, mask)


# entmax


@case("entmax")
def entmax_loss() -> Any:
    from entmax import Entmax15Loss

    return Entmax15Loss(k=4), (torch.randn(6, 12, requires_grad=True), torch.randint(0, 12, (6,)))


@case("entmax")
def sparsemax_topk() -> Any:
    from entmax import sparsemax

    return sparsemax, (torch.randn(6, 12), -1, 2)


@case("entmax")
def entmax_bisection() -> Any:
    from entmax import entmax_bisect

    return entmax_bisect, (torch.randn(6, 12), torch.full((6, 1), 1.3, requires_grad=True))


@case("entmax")
def normmax_and_budget() -> Any:
    from entmax import budget_bisect, normmax_bisect

    def both(x: torch.Tensor) -> Any:
        return normmax_bisect(x), budget_bisect(x, budget=3)

    return both, (torch.randn(6, 12),)


# torchattacks


def attack(name: str, **options: Any) -> Any:
    import torchattacks

    model = torch.nn.Sequential(
        torch.nn.Conv2d(3, 4, 3, padding=1), torch.nn.ReLU(), torch.nn.Flatten(), torch.nn.Linear(256, 4)
    )
    return getattr(torchattacks, name)(model.eval(), **options), (torch.rand(3, 3, 8, 8), torch.randint(0, 4, (3,)))


@case("torchattacks")
def attack_pgd() -> Any:
    return attack("PGD", steps=2)


@case("torchattacks")
def attack_cw() -> Any:
    return attack("CW", steps=2)


@case("torchattacks")
def attack_deepfool() -> Any:
    return attack("DeepFool", steps=2)


@case("torchattacks")
def attack_apgd() -> Any:
    return attack("APGD", steps=3)


@case("torchattacks")
def attack_fab() -> Any:
    return attack("FAB", steps=2, n_classes=4)


@case("torchattacks")
def attack_square() -> Any:
    return attack("Square", n_queries=3)


@case("torchattacks")
def attack_jsma() -> Any:
    return attack("JSMA", gamma=0.02)


@case("torchattacks")
def attack_spsa() -> Any:
    return attack("SPSA", nb_sample=4, max_batch_size=2)


@case("torchattacks")
def attack_eadl1() -> Any:
    return attack("EADL1", max_iterations=10, binary_search_steps=2)


# pyro-ppl


def gaussian_model(x: torch.Tensor) -> None:
    import pyro
    import pyro.distributions as dist

    loc = pyro.sample("loc", dist.Normal(0.0, 1.0))
    with pyro.plate("data", len(x)):
        pyro.sample("obs", dist.Normal(loc, 1.0), obs=x)


@case("pyro-ppl")
def pyro_elbo() -> Any:
    import pyro
    from pyro.infer import Trace_ELBO
    from pyro.infer.autoguide import AutoNormal

    pyro.settings.set(validate_distributions_pyro=False)
    guide = AutoNormal(gaussian_model)
    guide(torch.randn(5))
    return Trace_ELBO().differentiable_loss, (gaussian_model, guide, torch.randn(5))


@case("pyro-ppl")
def pyro_hidden_markov() -> Any:
    import pyro.distributions as dist

    def score(x: torch.Tensor) -> torch.Tensor:
        hmm = dist.DiscreteHMM(torch.zeros(3), torch.randn(3, 3), dist.Normal(torch.randn(3), 1.0))
        return hmm.log_prob(x)

    return score, (torch.randn(8),)


@case("pyro-ppl")
def pyro_gaussian_process() -> Any:
    import pyro.contrib.gp as gp

    model = gp.models.GPRegression(torch.linspace(0, 1, 6), torch.randn(6), gp.kernels.RBF(1))
    return model, (torch.linspace(0, 1, 3),), {"full_cov": True}


@case("pyro-ppl")
def pyro_stable_sample() -> Any:
    import pyro.distributions as dist

    def sample(alpha: torch.Tensor) -> Any:
        return dist.Stable(alpha, torch.tensor(0.5)).rsample((4,)), dist.ZeroInflatedPoisson(
            torch.tensor(2.0), gate=torch.tensor(0.3)
        ).sample()

    return sample, (torch.tensor([0.5, 1.0, 1.5]),)


@case("pyro-ppl")
def pyro_projected_normal() -> Any:
    import pyro.distributions as dist

    def sample(x: torch.Tensor) -> Any:
        law = dist.ProjectedNormal(x)
        return law.log_prob(law.rsample())

    return sample, (torch.randn(4, 3),)


@case("pyro-ppl")
def pyro_statistics() -> Any:
    from pyro.ops import stats

    def summary(x: torch.Tensor) -> Any:
        return (
            stats.split_gelman_rubin(x),
            stats.effective_sample_size(x),
            stats.hpdi(x, 0.9),
            stats.crps_empirical(x, x[0]),
        )

    return summary, (torch.randn(4, 32),)


@case("pyro-ppl")
def pyro_hmc_trajectory() -> Any:
    from pyro.ops.integrator import velocity_verlet

    def potential(z: Any) -> torch.Tensor:
        return (z["x"] ** 2).sum()

    def gradient(r: Any) -> Any:
        return r

    start = {"x": torch.randn(3)}, {"x": torch.randn(3)}
    return velocity_verlet, (*start, potential, gradient, 0.1, 3)


# facenet-pytorch


@case("facenet-pytorch")
def face_boxes() -> Any:
    from facenet_pytorch.models.utils.detect_face import bbreg, generateBoundingBox, pad, rerec

    def boxes(regression: torch.Tensor, scores: torch.Tensor) -> Any:
        found, image = generateBoundingBox(regression, scores, 0.6, 0.5)
        square = rerec(bbreg(found[:, :5], found[:, 5:9]))
        return pad(square, 64, 64), image

    return boxes, (torch.rand(2, 4, 8, 8), torch.rand(2, 8, 8))


@case("facenet-pytorch")
def face_detection() -> Any:
    from facenet_pytorch.models.mtcnn import ONet, PNet, RNet
    from facenet_pytorch.models.utils.detect_face import detect_face

    nets = PNet(pretrained=False).eval(), RNet(pretrained=False).eval(), ONet(pretrained=False).eval()
    images = torch.rand(1, 48, 48, 3) * 255
    return detect_face, (images, 20, *nets, [0.3, 0.3, 0.3], 0.6, images.device)


@case("facenet-pytorch")
def face_embedding() -> Any:
    from facenet_pytorch import InceptionResnetV1

    return InceptionResnetV1(pretrained=None).eval(), (torch.rand(1, 3, 96, 96),)


# geomloss


def clouds() -> tuple[torch.Tensor, torch.Tensor]:
    return torch.randn(12, 3), torch.randn(10, 3)


@case("geomloss")
def geomloss_sinkhorn() -> Any:
    from geomloss import SamplesLoss

    return SamplesLoss("sinkhorn", p=2, blur=0.5, scaling=0.5, backend="tensorized"), clouds()


@case("geomloss")
def geomloss_unbalanced_potentials() -> Any:
    from geomloss import SamplesLoss

    loss = SamplesLoss(
        "sinkhorn", p=1, blur=0.5, reach=1.0, scaling=0.5, debias=False, potentials=True, backend="tensorized"
    )
    return loss, clouds()


@case("geomloss")
def geomloss_energy() -> Any:
    from geomloss import SamplesLoss

    return SamplesLoss("energy", backend="tensorized"), clouds()


@case("geomloss")
def geomloss_barycenter() -> Any:
    from geomloss import ImagesBarycenter

    images = torch.rand(1, 2, 8, 8)
    return ImagesBarycenter, (images / images.sum((2, 3), keepdim=True), torch.tensor([[0.5, 0.5]])), {"scaling_N": 2}


# lightly


def views(columns: int = 2) -> tuple[torch.Tensor, ...]:
    return tuple(torch.randn(6, 8) for _ in range(columns))


@case("lightly")
def lightly_ntxent_memory() -> Any:
    from lightly.loss import NTXentLoss

    return NTXentLoss(memory_bank_size=(16, 8)), views()


@case("lightly")
def lightly_dino() -> Any:
    from lightly.loss import DINOLoss

    return DINOLoss(output_dim=8, warmup_teacher_temp_epochs=3), (list(views()), list(views(4))), {"epoch": 1}


@case("lightly")
def lightly_ibot() -> Any:
    from lightly.loss import IBOTPatchLoss

    mask = torch.rand(2, 4, 4) > 0.5
    masked = int(mask.sum())
    return IBOTPatchLoss(output_dim=8), (torch.randn(masked, 8), torch.randn(masked, 8), mask)


@case("lightly")
def lightly_swav() -> Any:
    from lightly.loss import SwaVLoss

    return SwaVLoss(), (list(views()), list(views()), list(views()))


@case("lightly")
def lightly_msn() -> Any:
    from lightly.loss import MSNLoss

    return MSNLoss(), (torch.randn(12, 8), torch.randn(6, 8), torch.randn(5, 8))


@case("lightly")
def lightly_vicregl() -> Any:
    from lightly.loss import VICRegLLoss

    features = [(torch.randn(4, 8), torch.randn(4, 3, 3, 8)) for _ in range(2)]
    grids = [torch.rand(4, 3, 3, 2) for _ in range(2)]
    return VICRegLLoss(num_matches=(4, 2)), (features, grids)


@case("lightly")
def lightly_wmse() -> Any:
    from lightly.loss.wmse_loss import WMSELoss

    return WMSELoss(embedding_dim=4, w_size=8), (torch.randn(16, 4),)


@case("lightly")
def lightly_detcon() -> Any:
    from lightly.loss.detcon_loss import DetConSLoss

    features = torch.randn(2, 3, 8), torch.randn(2, 3, 8)
    masks = torch.randint(0, 3, (2, 3)), torch.randint(0, 3, (2, 3))
    return DetConSLoss(gather_distributed=False), (*features, *masks)


@case("lightly")
def lightly_random_mask() -> Any:
    from lightly.models.utils import mask_at_index, patchify, random_token_mask

    def masked(images: torch.Tensor, token: torch.Tensor) -> Any:
        tokens = patchify(images, 4)
        kept, dropped = random_token_mask((2, 16), mask_ratio=0.5, device=images.device)
        return mask_at_index(tokens, dropped, token), kept

    return masked, (torch.rand(2, 3, 16, 16), torch.zeros(1, 1, 48))
