"""Set five."""

from __future__ import annotations

from typing import Any

import torch
from case import Cases

CASES = Cases(
    {
        "chronos-forecasting": "2.3.2",
        "denoising-diffusion-pytorch": "2.3.4",
        "egnn-pytorch": "0.2.8",
        "FrEIA": "0.2",
        "geoopt": "0.5.1",
        "local-attention": "1.11.2",
        "mambapy": "1.2.0",
        "neuraloperator": "2.0.0",
        "normflows": "1.7.3",
        "pytorch-optimizer": "4.1.0",
        "roma": "1.8.0",
        "slot-attention": "1.5.2",
        "spikingjelly": "2.0.0",
        "torch-harmonics": "0.9.3",
        "torchcde": "0.2.5",
        "torchio": "1.2.1",
        "torchxrayvision": "1.5.7",
        "vocos": "0.1.0",
    }
)
case = CASES.of


# denoising-diffusion-pytorch


def unet(**options: Any) -> Any:
    from denoising_diffusion_pytorch import Unet

    return Unet(dim=8, dim_mults=(1, 2), flash_attn=False, **options)


@case("denoising-diffusion-pytorch")
def diffusion_ddim_sample() -> Any:
    from denoising_diffusion_pytorch import GaussianDiffusion

    return GaussianDiffusion(unet(), image_size=8, timesteps=10, sampling_timesteps=2).sample, (1,)


# local-attention


@case("local-attention")
def local_transformer_generate() -> Any:
    from local_attention import LocalTransformer

    model = LocalTransformer(
        num_tokens=20, max_seq_len=32, dim=16, depth=1, local_attn_window_size=8, dim_head=8, heads=2
    )
    return model.generate, (torch.randint(0, 20, (1, 5)), 3)


@case("local-attention")
def local_attention_layer() -> Any:
    from local_attention import LocalAttention

    layer = LocalAttention(window_size=4, causal=True, look_backward=1, autopad=True, dim=8)
    mask = torch.arange(18)[None] < torch.tensor([[18], [11]])
    return layer, tuple(torch.randn(2, 18, 8) for _ in range(3)), {"mask": mask}


# slot-attention


@case("slot-attention")
def slots() -> Any:
    from slot_attention import SlotAttention

    return SlotAttention(num_slots=3, dim=8, iters=2), (torch.randn(2, 10, 8),), {"num_slots": 4}


@case("slot-attention")
def slots_adaptive() -> Any:
    from slot_attention import AdaptiveSlotWrapper, MultiHeadSlotAttention

    return AdaptiveSlotWrapper(MultiHeadSlotAttention(num_slots=3, dim=8, heads=2, dim_head=4)), (
        torch.randn(2, 10, 8),
    )


# egnn-pytorch


@case("egnn-pytorch")
def egnn_neighbors() -> Any:
    from egnn_pytorch import EGNN

    layer = EGNN(dim=8, edge_dim=2, m_dim=8, fourier_features=2, num_nearest_neighbors=3, soft_edges=True)
    mask = torch.arange(7)[None] < torch.tensor([[7], [5]])
    return layer, (torch.randn(2, 7, 8), torch.randn(2, 7, 3), torch.randn(2, 7, 7, 2)), {"mask": mask}


@case("egnn-pytorch")
def egnn_network() -> Any:
    from egnn_pytorch import EGNN_Network

    net = EGNN_Network(
        depth=2,
        dim=8,
        num_tokens=5,
        num_positions=9,
        num_adj_degrees=2,
        adj_dim=2,
        only_sparse_neighbors=True,
        norm_coors=True,
        global_linear_attn_every=2,
        global_linear_attn_heads=2,
        global_linear_attn_dim_head=4,
    )
    places = torch.arange(7)
    adjacency = (places[:, None] - places[None]).abs() <= 1
    return net, (torch.randint(0, 5, (1, 7)), torch.randn(1, 7, 3)), {"adj_mat": adjacency}


# torchcde


@case("torchcde")
def controlled_equation() -> Any:
    import torchcde

    class Field(torch.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.layer = torch.nn.Linear(4, 8)

        def forward(self, t: torch.Tensor, z: torch.Tensor) -> torch.Tensor:
            return self.layer(z).tanh().view(-1, 4, 2)

    field = Field()

    def solve(path: torch.Tensor, start: torch.Tensor) -> torch.Tensor:
        spline = torchcde.CubicSpline(torchcde.hermite_cubic_coefficients_with_backward_differences(path))
        return torchcde.cdeint(spline, field, start, spline.interval, adjoint=False, method="rk4")

    return solve, (torch.randn(3, 6, 2), torch.randn(3, 4))


@case("torchcde")
def interpolation_coefficients() -> Any:
    import torchcde

    path = torch.randn(3, 6, 2)
    path[0, 2, 1] = float("nan")

    def coefficients(x: torch.Tensor) -> Any:
        return torchcde.natural_cubic_coeffs(x), torchcde.linear_interpolation_coeffs(x, rectilinear=0)

    return coefficients, (path,)


# normflows


@case("normflows")
def normflows_spline() -> Any:
    import normflows as nf

    flows = [nf.flows.AutoregressiveRationalQuadraticSpline(2, 1, 8), nf.flows.LULinearPermute(2)]
    return nf.NormalizingFlow(nf.distributions.DiagGaussian(2), flows).forward_kld, (torch.randn(6, 2),)


@case("normflows")
def normflows_residual() -> Any:
    import normflows as nf

    net = nf.nets.LipschitzMLP([2, 8, 2], init_zeros=True, lipschitz_const=0.9)
    flows = [nf.flows.Residual(net, reduce_memory=False), nf.flows.ActNorm(2)]
    return nf.NormalizingFlow(nf.distributions.DiagGaussian(2), flows).forward_kld, (torch.randn(6, 2),)


@case("normflows")
def normflows_real_nvp_sample() -> Any:
    import normflows as nf

    flows = [
        nf.flows.AffineCouplingBlock(nf.nets.MLP([1, 8, 2], init_zeros=True)),
        nf.flows.Permute(2, mode="swap"),
    ]
    return nf.NormalizingFlow(nf.distributions.DiagGaussian(2), flows).sample, (5,)


# FrEIA


def subnet(inputs: int, outputs: int) -> torch.nn.Module:
    return torch.nn.Sequential(torch.nn.Linear(inputs, 8), torch.nn.ReLU(), torch.nn.Linear(8, outputs))


@case("FrEIA")
def freia_sequence() -> Any:
    from FrEIA.framework import SequenceINN
    from FrEIA.modules import AllInOneBlock

    net = SequenceINN(4)
    for _ in range(2):
        net.append(AllInOneBlock, subnet_constructor=subnet, permute_soft=True, learned_householder_permutation=1)
    return net, (torch.randn(5, 4),)


@case("FrEIA")
def freia_graph() -> Any:
    from FrEIA.framework import ConditionNode, GraphINN, InputNode, Node, OutputNode
    from FrEIA.modules import GLOWCouplingBlock, PermuteRandom

    start, condition = InputNode(4, name="start"), ConditionNode(2, name="condition")
    couple = Node(start, GLOWCouplingBlock, {"subnet_constructor": subnet, "clamp": 1.5}, conditions=condition)
    permute = Node(couple, PermuteRandom, {"seed": 1})
    net = GraphINN([start, condition, couple, permute, OutputNode(permute, name="end")])
    return net, (torch.randn(5, 4),), {"c": torch.randn(5, 2), "rev": True}


@case("FrEIA")
def freia_residual() -> Any:
    from FrEIA.framework import SequenceINN
    from FrEIA.modules import ActNorm, InvAutoAct, IResNetLayer

    net = SequenceINN(4)
    net.append(ActNorm)
    net.append(IResNetLayer, internal_size=8, jacobian_iterations=3, hutchinson_samples=1)
    net.append(InvAutoAct)
    return net, (torch.randn(5, 4),)


# pytorch-optimizer


def optimizer(name: str, **options: Any) -> Any:
    import pytorch_optimizer

    layer = torch.nn.Linear(4, 4)
    layer(torch.randn(2, 4)).sum().backward()
    return getattr(pytorch_optimizer, name)(layer.parameters(), **options).step, ()


@case("pytorch-optimizer")
def optimizer_prodigy() -> Any:
    return optimizer("Prodigy")


@case("pytorch-optimizer")
def optimizer_adabelief() -> Any:
    return optimizer("AdaBelief", rectify=True)


@case("pytorch-optimizer")
def optimizer_ranger() -> Any:
    return optimizer("Ranger21", num_iterations=10)


# roma


@case("roma")
def rotation_conversions() -> Any:
    import roma

    def convert(matrices: torch.Tensor) -> Any:
        vectors = roma.rotmat_to_rotvec(matrices)
        return roma.rotvec_to_rotmat(vectors), roma.unitquat_slerp(
            roma.rotvec_to_unitquat(vectors[:1]), roma.rotmat_to_unitquat(matrices[1:2]), torch.linspace(0, 1, 4)
        )

    import roma.utils

    return convert, (roma.utils.random_rotmat(5),)


@case("roma")
def rotation_procrustes() -> Any:
    import roma

    def fit(x: torch.Tensor, y: torch.Tensor) -> Any:
        return roma.rigid_points_registration(x, y, compute_scaling=True), roma.special_procrustes(x.mT @ y)

    return fit, (torch.randn(2, 8, 3), torch.randn(2, 8, 3))


@case("roma")
def rotation_rigid() -> Any:
    import roma

    def move(linear: torch.Tensor, shift: torch.Tensor) -> Any:
        rigid = roma.RigidUnitQuat(roma.rotmat_to_unitquat(linear), shift)
        return (rigid @ rigid.inverse()).to_homogeneous(), rigid.apply(shift)

    return move, (roma.random_rotmat(3), torch.randn(3, 3))


# spikingjelly


@case("spikingjelly")
def spiking_network() -> Any:
    from spikingjelly.activation_based import functional, layer, neuron

    net = torch.nn.Sequential(layer.Linear(6, 8), neuron.LIFNode(), layer.Linear(8, 3), neuron.ParametricLIFNode())
    functional.set_step_mode(net, "m")

    def run(x: torch.Tensor) -> torch.Tensor:
        functional.reset_net(net)
        return net(x).mean(0)

    return run, (torch.rand(4, 2, 6),)


@case("spikingjelly")
def spiking_single_step() -> Any:
    from spikingjelly.activation_based import encoding, layer, neuron

    encoder = encoding.PoissonEncoder()
    net = torch.nn.Sequential(layer.Conv2d(1, 4, 3), neuron.IFNode(v_reset=None), layer.Flatten(), layer.Dropout(0.2))

    def run(image: torch.Tensor) -> Any:
        return sum(net(encoder(image)) for _ in range(3))

    return run, (torch.rand(2, 1, 8, 8),)


@case("spikingjelly")
def spiking_adaptive() -> Any:
    from spikingjelly.activation_based import neuron

    return neuron.IzhikevichNode(step_mode="m"), (torch.rand(4, 2, 6),)


# geoopt


@case("geoopt")
def poincare_distance() -> Any:
    import geoopt

    ball = geoopt.PoincareBall(c=1.0)

    def distance(x: torch.Tensor, y: torch.Tensor) -> Any:
        x, y = ball.expmap0(x), ball.expmap0(y)
        return ball.dist(x, y), ball.logmap(x, y), ball.weighted_midpoint(torch.stack([x, y]))

    return distance, (torch.randn(4, 3), torch.randn(4, 3))


@case("geoopt")
def riemannian_adam() -> Any:
    import geoopt

    point = geoopt.ManifoldParameter(torch.eye(4)[:, :2].clone(), manifold=geoopt.Stiefel())
    (point * torch.randn(4, 2)).sum().backward()
    return geoopt.optim.RiemannianAdam([point], lr=0.1, stabilize=1).step, ()


@case("geoopt")
def symmetric_positive_definite() -> Any:
    import geoopt

    manifold = geoopt.SymmetricPositiveDefinite()

    def move(x: torch.Tensor, u: torch.Tensor) -> Any:
        x = manifold.projx(x)
        u = manifold.proju(x, u)
        return manifold.retr(x, u), manifold.dist(x, manifold.expmap(x, u))

    return move, (torch.eye(3).repeat(2, 1, 1) + 0.1, torch.randn(2, 3, 3) * 0.1)


# chronos-forecasting


@case("chronos-forecasting")
def chronos_bolt() -> Any:
    from chronos.chronos_bolt import ChronosBoltModelForForecasting
    from transformers import T5Config

    config = T5Config(
        vocab_size=2, d_model=16, d_kv=8, d_ff=32, num_layers=1, num_heads=2, pad_token_id=0, decoder_start_token_id=0
    )
    config.chronos_config = {
        "context_length": 32,
        "prediction_length": 8,
        "input_patch_size": 4,
        "input_patch_stride": 4,
        "quantiles": [0.1, 0.5, 0.9],
        "use_reg_token": True,
    }
    context = torch.randn(2, 30)
    context[0, :5] = float("nan")
    return ChronosBoltModelForForecasting(config), (context,), {"target": torch.randn(2, 8)}


@case("chronos-forecasting")
def chronos_tokenizer() -> Any:
    from chronos.chronos import ChronosConfig, MeanScaleUniformBins

    config = ChronosConfig(
        tokenizer_class="MeanScaleUniformBins",
        tokenizer_kwargs={"low_limit": -15.0, "high_limit": 15.0},
        context_length=16,
        prediction_length=4,
        n_tokens=64,
        n_special_tokens=2,
        pad_token_id=0,
        eos_token_id=1,
        use_eos_token=True,
        model_type="seq2seq",
        num_samples=2,
        temperature=1.0,
        top_k=50,
        top_p=1.0,
    )
    tokenizer = MeanScaleUniformBins(-15.0, 15.0, config)

    def roundtrip(context: torch.Tensor) -> Any:
        ids, mask, scale = tokenizer.context_input_transform(context)
        return tokenizer.output_transform(ids[:, None, :4], scale), mask

    return roundtrip, (torch.randn(2, 20),)


@case("chronos-forecasting")
def chronos_two() -> Any:
    from chronos.chronos2.config import Chronos2CoreConfig
    from chronos.chronos2.model import Chronos2Model

    config = Chronos2CoreConfig(d_model=16, d_kv=8, d_ff=32, num_layers=1, num_heads=2)
    config.chronos_config = {
        "context_length": 32,
        "output_patch_size": 4,
        "input_patch_size": 4,
        "input_patch_stride": 4,
        "quantiles": [0.1, 0.5, 0.9],
        "use_reg_token": True,
        "use_arcsinh": True,
    }
    return (
        Chronos2Model(config),
        (torch.randn(3, 30),),
        {
            "group_ids": torch.tensor([0, 0, 1]),
            "num_output_patches": 2,
            "future_target": torch.randn(3, 8),
        },
    )


# vocos


@case("vocos")
def vocos_vocoder() -> Any:
    from vocos.heads import ISTFTHead
    from vocos.models import VocosBackbone

    net = torch.nn.Sequential(VocosBackbone(8, 16, 32, 2), ISTFTHead(16, n_fft=32, hop_length=8))
    return net, (torch.randn(2, 8, 12),)


@case("vocos")
def vocos_discriminator() -> Any:
    from vocos.discriminators import MultiPeriodDiscriminator

    return MultiPeriodDiscriminator(periods=(2, 3)), (torch.randn(1, 800), torch.randn(1, 800))


# mambapy


@case("mambapy")
def mamba_scan() -> Any:
    from mambapy.mamba import Mamba, MambaConfig

    return Mamba(MambaConfig(d_model=16, n_layers=2, d_state=4)), (torch.randn(2, 12, 16),)


@case("mambapy")
def mamba_step() -> Any:
    from mambapy.mamba import Mamba, MambaConfig

    model = Mamba(MambaConfig(d_model=16, n_layers=1, d_state=4))
    caches = [(None, torch.zeros(2, 32, 3))]
    return model.step, (torch.randn(2, 16), caches)


# neuraloperator


@case("neuraloperator")
def fourier_operator() -> Any:
    from neuralop.models import FNO

    model = FNO(n_modes=(4, 4), in_channels=1, out_channels=1, hidden_channels=8, n_layers=2, norm="group_norm")
    return model, (torch.randn(2, 1, 12, 12),), {"output_shape": (16, 16)}


# torch-harmonics


@case("torch-harmonics")
def spherical_transform() -> Any:
    from torch_harmonics import InverseRealSHT, RealSHT

    return torch.nn.Sequential(RealSHT(12, 24), InverseRealSHT(12, 24)), (torch.randn(2, 12, 24),)


@case("torch-harmonics")
def spherical_convolution() -> Any:
    from torch_harmonics import DiscreteContinuousConvS2

    layer = DiscreteContinuousConvS2(2, 3, (12, 24), (6, 12), kernel_shape=3, theta_cutoff=0.5, optimized_kernel=False)
    return layer, (torch.randn(1, 2, 12, 24),)


@case("torch-harmonics")
def spherical_attention() -> Any:
    from torch_harmonics import AttentionS2

    return AttentionS2(8, 2, (6, 12), (6, 12)), (torch.randn(1, 8, 6, 12),)


# torchio


@case("torchio")
def medical_intensity() -> Any:
    import torchio as tio

    chain = tio.Compose([tio.RandomNoise(), tio.RandomGamma(), tio.RandomBiasField(order=1), tio.ZNormalization()])
    return chain, (torch.rand(1, 8, 8, 8),)


@case("torchio")
def medical_spatial() -> Any:
    import torchio as tio

    return tio.Compose([tio.RandomFlip(axes=(0, 1)), tio.CropOrPad((6, 10, 8))]), (torch.rand(1, 8, 8, 8),)


@case("torchio")
def medical_artifacts() -> Any:
    import torchio as tio

    return tio.Compose([tio.RandomGhosting(), tio.RandomSpike(), tio.RandomSwap(patch_size=2)]), (
        torch.rand(1, 8, 8, 8),
    )


# torchxrayvision


@case("torchxrayvision")
def xray_densenet() -> Any:
    import torchxrayvision as xrv

    model = xrv.models.DenseNet(growth_rate=4, block_config=(1, 1), num_init_features=8, apply_sigmoid=True)
    return model.eval(), (torch.rand(1, 1, 224, 224) * 2048 - 1024,)
