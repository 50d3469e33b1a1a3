"""Set one."""

from __future__ import annotations

from typing import Any

import torch
from case import Cases

CASES = Cases(
    {
        "auraloss": "0.4.0",
        "botorch": "0.18.1",
        "captum": "0.9.0",
        "diffusers": "0.42.1",
        "effdet": "0.4.1",
        "fairscale": "0.4.13",
        "gpytorch": "1.15.2",
        "monai": "1.6.1",
        "nflows": "0.14",
        "pytorch-tabnet": "4.1.0",
        "segmentation-models-pytorch": "0.6.0",
        "snntorch": "1.0.0",
        "speechbrain": "1.1.2",
        "timm": "1.0.31",
        "torchdiffeq": "0.2.5",
        "x-transformers": "2.31.10",
    }
)
case = CASES.of


# diffusers: one step of a sampler, as a pipeline calls it


def step(scheduler: Any, at: int = 3, **options: Any) -> Any:
    scheduler.set_timesteps(8)
    return scheduler.step, (torch.randn(1, 4, 8, 8), scheduler.timesteps[at], torch.randn(1, 4, 8, 8)), options


@case("diffusers")
def ddpm_step() -> Any:
    from diffusers import DDPMScheduler

    return step(DDPMScheduler(thresholding=True))


@case("diffusers")
def ddim_step() -> Any:
    from diffusers import DDIMScheduler

    return step(DDIMScheduler(), eta=0.5)


@case("diffusers")
def euler_step() -> Any:
    from diffusers import EulerDiscreteScheduler

    return step(EulerDiscreteScheduler(use_karras_sigmas=True), s_churn=0.5)


@case("diffusers")
def euler_ancestral_step() -> Any:
    from diffusers import EulerAncestralDiscreteScheduler

    return step(EulerAncestralDiscreteScheduler())


@case("diffusers")
def dpm_multistep_step() -> Any:
    from diffusers import DPMSolverMultistepScheduler

    return step(DPMSolverMultistepScheduler(thresholding=True, use_karras_sigmas=True))


@case("diffusers")
def unipc_step() -> Any:
    from diffusers import UniPCMultistepScheduler

    return step(UniPCMultistepScheduler())


@case("diffusers")
def heun_step() -> Any:
    from diffusers import HeunDiscreteScheduler

    return step(HeunDiscreteScheduler())


@case("diffusers")
def lms_step() -> Any:
    from diffusers import LMSDiscreteScheduler

    return step(LMSDiscreteScheduler())


@case("diffusers")
def flow_match_step() -> Any:
    from diffusers import FlowMatchEulerDiscreteScheduler

    return step(FlowMatchEulerDiscreteScheduler(stochastic_sampling=True))


@case("diffusers")
def sa_solver_step() -> Any:
    from diffusers import SASolverScheduler

    return step(SASolverScheduler())


@case("diffusers")
def lcm_step() -> Any:
    from diffusers import LCMScheduler

    return step(LCMScheduler())


@case("diffusers")
def amused_step() -> Any:
    from diffusers import AmusedScheduler

    scheduler = AmusedScheduler(mask_token_id=15)
    scheduler.set_timesteps(4)
    return scheduler.step, (torch.randn(1, 16, 4, 4), scheduler.timesteps[1], torch.full((1, 4, 4), 15))


@case("diffusers")
def unet_2d() -> Any:
    from diffusers import UNet2DConditionModel

    model = UNet2DConditionModel(
        sample_size=8,
        block_out_channels=(8, 16),
        norm_num_groups=4,
        layers_per_block=1,
        cross_attention_dim=8,
        attention_head_dim=4,
        down_block_types=("CrossAttnDownBlock2D", "DownBlock2D"),
        up_block_types=("UpBlock2D", "CrossAttnUpBlock2D"),
    )
    return model, (torch.randn(1, 4, 8, 8), 7, torch.randn(1, 5, 8))


@case("diffusers")
def vq_model() -> Any:
    from diffusers import VQModel

    model = VQModel(block_out_channels=(8,), norm_num_groups=4, num_vq_embeddings=16, latent_channels=3)
    return model, (torch.randn(1, 3, 16, 16),)


@case("diffusers")
def autoencoder_kl_tiled() -> Any:
    from diffusers import AutoencoderKL

    model = AutoencoderKL(
        block_out_channels=(8, 8),
        norm_num_groups=4,
        down_block_types=("DownEncoderBlock2D",) * 2,
        up_block_types=("UpDecoderBlock2D",) * 2,
        sample_size=16,
    )
    model.enable_tiling()
    return model, (torch.randn(1, 3, 24, 24),), {"sample_posterior": True}


@case("diffusers")
def ema_step() -> Any:
    from diffusers.training_utils import EMAModel

    parameters = list(torch.nn.Linear(4, 4).parameters())
    return EMAModel(parameters, use_ema_warmup=True).step, (parameters,)


# timm


@case("timm")
def mixup() -> Any:
    from timm.data import Mixup

    return Mixup(cutmix_alpha=1.0, mode="elem", num_classes=10), (torch.rand(4, 3, 16, 16), torch.randint(0, 10, (4,)))


@case("timm")
def random_erasing() -> Any:
    from timm.data.random_erasing import RandomErasing

    return RandomErasing(probability=1.0, mode="pixel", max_count=3, device="cpu"), (torch.rand(4, 3, 16, 16),)


@case("timm")
def asymmetric_loss() -> Any:
    from timm.loss import AsymmetricLossMultiLabel

    return AsymmetricLossMultiLabel(disable_torch_grad_focal_loss=True), (
        torch.randn(4, 6),
        torch.randint(0, 2, (4, 6)),
    )


@case("timm")
def binary_cross_entropy() -> Any:
    from timm.loss import BinaryCrossEntropy

    return BinaryCrossEntropy(target_threshold=0.2), (torch.randn(4, 6), torch.randint(0, 6, (4,)))


@case("timm")
def jsd_loss() -> Any:
    from timm.loss import JsdCrossEntropy

    return JsdCrossEntropy(), (torch.randn(6, 5), torch.randint(0, 5, (6,)))


@case("timm")
def two_way_loss() -> Any:
    from timm.loss.two_way_loss import TwoWayLoss

    return TwoWayLoss(), (torch.randn(4, 6), torch.randint(0, 2, (4, 6)))


@case("timm")
def naflexvit() -> Any:
    import timm

    model = timm.create_model("naflexvit_base_patch16_gap", embed_dim=32, depth=2, num_heads=2, num_classes=5)
    coords = torch.stack(torch.meshgrid(torch.arange(4), torch.arange(4), indexing="ij"), -1).reshape(1, 16, 2)
    valid = torch.arange(16)[None] < torch.tensor([[16], [12]])
    return model, ({"patches": torch.rand(2, 16, 768), "patch_coord": coords.repeat(2, 1, 1), "patch_valid": valid},)


@case("timm")
def swin_v2_dynamic() -> Any:
    import timm

    model = timm.create_model(
        "swinv2_cr_tiny_224", img_size=64, embed_dim=16, depths=(1, 1, 2, 1), num_heads=(1, 1, 2, 2), window_size=2
    )
    return model, (torch.rand(1, 3, 64, 64),)


@case("timm")
def vit_patch_dropout() -> Any:
    import timm

    model = timm.create_model("vit_tiny_patch16_224", depth=2, img_size=64, patch_drop_rate=0.25, drop_path_rate=0.5)
    return model.train(), (torch.rand(2, 3, 64, 64),)


@case("timm")
def efficientnet_drop_block() -> Any:
    from timm.layers.drop import DropBlock2d

    return DropBlock2d(0.3, block_size=3, with_noise=True), (torch.rand(2, 4, 12, 12),)


@case("timm")
def adaptive_gradient_clip() -> Any:
    from timm.utils import adaptive_clip_grad

    layer = torch.nn.Linear(4, 4)
    layer(torch.randn(2, 4)).sum().backward()
    return adaptive_clip_grad, (list(layer.parameters()),)


@case("timm")
def topk_accuracy() -> Any:
    from timm.utils import accuracy

    return accuracy, (torch.randn(8, 10), torch.randint(0, 10, (8,))), {"topk": (1, 5)}


@case("timm")
def lamb_step() -> Any:
    from timm.optim import Lamb

    layer = torch.nn.Linear(4, 4)
    layer(torch.randn(2, 4)).sum().backward()
    return Lamb(layer.parameters(), max_grad_norm=1.0).step, ()


# segmentation-models-pytorch


def masks(classes: int = 3) -> tuple[torch.Tensor, torch.Tensor]:
    return torch.randn(2, classes, 16, 16), torch.randint(0, classes, (2, 16, 16))


@case("segmentation-models-pytorch")
def smp_lovasz() -> Any:
    from segmentation_models_pytorch.losses import LovaszLoss

    return LovaszLoss("multiclass", per_image=True, ignore_index=2), masks()


@case("segmentation-models-pytorch")
def smp_lovasz_binary() -> Any:
    from segmentation_models_pytorch.losses import LovaszLoss

    return LovaszLoss("binary", ignore_index=255), (torch.randn(2, 1, 16, 16), torch.randint(0, 2, (2, 1, 16, 16)))


@case("segmentation-models-pytorch")
def smp_dice() -> Any:
    from segmentation_models_pytorch.losses import DiceLoss

    return DiceLoss("multiclass", ignore_index=0, classes=[1, 2]), masks()


@case("segmentation-models-pytorch")
def smp_focal() -> Any:
    from segmentation_models_pytorch.losses import FocalLoss

    return FocalLoss("multiclass", ignore_index=0, normalized=True, reduced_threshold=0.5), masks()


@case("segmentation-models-pytorch")
def smp_mcc() -> Any:
    from segmentation_models_pytorch.losses import MCCLoss

    return MCCLoss(), (torch.rand(2, 1, 16, 16), torch.randint(0, 2, (2, 1, 16, 16)))


@case("segmentation-models-pytorch")
def smp_stats() -> Any:
    from segmentation_models_pytorch import metrics

    def iou(output: torch.Tensor, target: torch.Tensor) -> Any:
        counts = metrics.get_stats(output, target, mode="multiclass", num_classes=3, ignore_index=-1)
        return metrics.iou_score(*counts, reduction="micro-imagewise"), metrics.f1_score(*counts, reduction="macro")

    return iou, (torch.randint(0, 3, (2, 16, 16)), torch.randint(0, 3, (2, 16, 16)))


@case("segmentation-models-pytorch")
def smp_unet() -> Any:
    from segmentation_models_pytorch import Unet

    model = Unet("resnet18", encoder_weights=None, decoder_channels=(64, 32, 32, 16, 16), decoder_attention_type="scse")
    return model, (torch.rand(1, 3, 64, 64),)


@case("segmentation-models-pytorch")
def smp_segformer() -> Any:
    from segmentation_models_pytorch import Segformer

    return Segformer("mit_b0", encoder_weights=None), (torch.rand(1, 3, 64, 64),)


# effdet


@case("effdet")
def effdet_predict() -> Any:
    from effdet import DetBenchPredict, EfficientDet, get_efficientdet_config

    config = get_efficientdet_config("tf_efficientdet_d0")
    config.image_size, config.max_detection_points = (64, 64), 50
    return DetBenchPredict(EfficientDet(config, pretrained_backbone=False)).eval(), (torch.rand(1, 3, 64, 64),)


@case("effdet")
def effdet_predict_soft_nms() -> Any:
    from effdet import DetBenchPredict, EfficientDet, get_efficientdet_config

    config = get_efficientdet_config("tf_efficientdet_d0")
    config.image_size, config.max_detection_points, config.max_det_per_image = (64, 64), 20, 5
    config.soft_nms = True
    return DetBenchPredict(EfficientDet(config, pretrained_backbone=False)).eval(), (torch.rand(1, 3, 64, 64),)


@case("effdet")
def effdet_train() -> Any:
    from effdet import DetBenchTrain, EfficientDet, get_efficientdet_config

    config = get_efficientdet_config("tf_efficientdet_d0")
    config.image_size = (64, 64)
    boxes = torch.tensor([[[4.0, 4.0, 30.0, 30.0], [20.0, 8.0, 60.0, 50.0]]])
    bench = DetBenchTrain(EfficientDet(config, pretrained_backbone=False), create_labeler=True)
    return bench, (torch.rand(1, 3, 64, 64), {"bbox": boxes, "cls": torch.tensor([[1.0, 5.0]])})


# x-transformers


def decoder(**options: Any) -> Any:
    from x_transformers import Decoder, TransformerWrapper

    return TransformerWrapper(
        num_tokens=32, max_seq_len=16, attn_layers=Decoder(dim=16, depth=2, heads=2, attn_dim_head=8, **options)
    )


@case("x-transformers")
def xt_autoregressive_loss() -> Any:
    from x_transformers import AutoregressiveWrapper

    net = AutoregressiveWrapper(decoder(rotary_pos_emb=True, layer_dropout=0.1), mask_prob=0.15)
    return net, (torch.randint(0, 32, (2, 12)),), {"lens": torch.tensor([12, 7])}


@case("x-transformers")
def xt_generate() -> Any:
    from x_transformers import AutoregressiveWrapper

    net = AutoregressiveWrapper(decoder(alibi_pos_bias=True))
    options = {"seq_len": 3, "eos_token": 1, "prompt_lens": torch.tensor([4, 2]), "temperature": 0.8}
    return net.generate, (torch.randint(2, 32, (2, 4)),), options


@case("x-transformers")
def xt_contrastive_generate() -> Any:
    from x_transformers import AutoregressiveWrapper

    net = AutoregressiveWrapper(decoder())
    options = {"seq_len": 2, "amateur_model": AutoregressiveWrapper(decoder()), "filter_logits_fn": "top_p"}
    return net.generate, (torch.randint(0, 32, (2, 4)),), options


@case("x-transformers")
def xt_beam_search() -> Any:
    from x_transformers import AutoregressiveWrapper

    return AutoregressiveWrapper(decoder()).beam_search, (torch.randint(0, 32, (2, 4)), 2), {"beams": 2}


@case("x-transformers")
def xt_non_autoregressive() -> Any:
    from x_transformers import Encoder, NonAutoregressiveWrapper, TransformerWrapper

    encoder = Encoder(dim=16, depth=1, heads=2, attn_dim_head=8)
    net = TransformerWrapper(num_tokens=33, max_seq_len=8, attn_layers=encoder)
    return NonAutoregressiveWrapper(net, mask_id=32, self_token_critic=True), (torch.randint(0, 32, (2, 8)),)


@case("x-transformers")
def xt_dpo() -> Any:
    from x_transformers import DPO

    mask = torch.arange(8)[None] < torch.tensor([[3], [4]])
    sequences = torch.randint(1, 32, (2, 8)), torch.randint(1, 32, (2, 8))
    return DPO(decoder(), pad_id=0), sequences, {"prompt_mask": mask}


@case("x-transformers")
def xt_entropy_tokenizer() -> Any:
    from x_transformers.entropy_based_tokenizer import EntropyBasedTokenizer

    tokenizer = EntropyBasedTokenizer(decoder(), entropy_threshold=3.3, max_token_size=4)
    return tokenizer, (torch.randint(0, 32, (2, 12)),), {"return_segmented_seq": True}


@case("x-transformers")
def xt_belief_state() -> Any:
    from x_transformers.belief_state_wrapper import BeliefStateWrapper

    return BeliefStateWrapper(decoder(), decoder(), train_frac_forward_backward_pairs=0.5), (
        torch.randint(0, 32, (2, 8)),
    )


@case("x-transformers")
def xt_free_transformer() -> Any:
    from x_transformers.free_transformer import FreeTransformer

    net = FreeTransformer(
        num_tokens=32,
        dim=16,
        dec_head_depth=1,
        dec_tail_depth=1,
        max_seq_len=12,
        attn_dim_head=8,
        heads=2,
        latent_bits=4,
    )
    return net, (torch.randint(0, 32, (2, 8)),)


@case("x-transformers")
def xt_xval() -> Any:
    from x_transformers import Decoder
    from x_transformers.xval import XValAutoregressiveWrapper, XValTransformerWrapper

    net = XValTransformerWrapper(
        num_tokens=8,
        numerical_token_id=3,
        max_seq_len=12,
        attn_layers=Decoder(dim=16, depth=1, heads=2, attn_dim_head=8),
    )
    ids = torch.randint(0, 8, (2, 10))
    return XValAutoregressiveWrapper(net), (ids, torch.where(ids == 3, torch.randn(2, 10), float("nan")))


# monai


def volumes(classes: int = 3) -> tuple[torch.Tensor, torch.Tensor]:
    labels = torch.randint(0, classes, (2, 16, 16))
    return torch.randn(2, classes, 16, 16), torch.nn.functional.one_hot(labels, classes).permute(0, 3, 1, 2).float()


@case("monai")
def monai_hausdorff_loss() -> Any:
    from monai.losses import HausdorffDTLoss

    return HausdorffDTLoss(softmax=True, include_background=True), volumes()


@case("monai")
def monai_generalized_dice() -> Any:
    from monai.losses import GeneralizedDiceFocalLoss

    return GeneralizedDiceFocalLoss(softmax=True, include_background=False), volumes()


@case("monai")
def monai_wasserstein_dice() -> Any:
    from monai.losses import GeneralizedWassersteinDiceLoss

    distances = torch.tensor([[0.0, 1.0, 1.0], [1.0, 0.0, 0.5], [1.0, 0.5, 0.0]])
    return GeneralizedWassersteinDiceLoss(distances), (torch.randn(2, 3, 16, 16), torch.randint(0, 3, (2, 1, 16, 16)))


@case("monai")
def monai_cldice() -> Any:
    from monai.losses import SoftDiceclDiceLoss

    return SoftDiceclDiceLoss(), volumes()


@case("monai")
def monai_contrastive() -> Any:
    from monai.losses import ContrastiveLoss

    return ContrastiveLoss(), (torch.randn(4, 8), torch.randn(4, 8))


@case("monai")
def monai_mutual_information() -> Any:
    from monai.losses import GlobalMutualInformationLoss

    return GlobalMutualInformationLoss(num_bins=8), (torch.rand(2, 1, 16, 16), torch.rand(2, 1, 16, 16))


@case("monai")
def monai_unified_focal() -> Any:
    from monai.losses import AsymmetricUnifiedFocalLoss

    return AsymmetricUnifiedFocalLoss(), volumes(2)


@case("monai")
def monai_aucm() -> Any:
    from monai.losses import AUCMLoss

    return AUCMLoss(), (torch.randn(8, 1), torch.randint(0, 2, (8, 1)).float())


@case("monai")
def monai_sure() -> Any:
    from monai.losses import SURELoss

    return SURELoss(), (torch.nn.Conv2d(1, 1, 3, padding=1), torch.rand(1, 1, 8, 8), torch.rand(1, 1, 8, 8))


@case("monai")
def monai_hausdorff_distance() -> Any:
    from monai.metrics import compute_hausdorff_distance

    truth = volumes()[1]
    return compute_hausdorff_distance, (truth.flip(-1), truth), {"percentile": 95}


@case("monai")
def monai_surface_dice() -> Any:
    from monai.metrics import compute_surface_dice

    truth = volumes()[1]
    return compute_surface_dice, (truth.flip(-1), truth, [1.0, 1.0])


@case("monai")
def monai_panoptic_quality() -> Any:
    from monai.metrics.panoptic_quality import compute_panoptic_quality

    return compute_panoptic_quality, (torch.randint(0, 4, (16, 16)), torch.randint(0, 4, (16, 16)))


@case("monai")
def monai_roc_auc() -> Any:
    from monai.metrics import compute_roc_auc

    return compute_roc_auc, (torch.rand(12, 3), torch.randint(0, 2, (12, 3)))


@case("monai")
def monai_mean_iou() -> Any:
    from monai.metrics import MeanIoU

    truth = volumes()[1]
    return MeanIoU(include_background=False), (truth.flip(-1), truth)


@case("monai")
def monai_sliding_window() -> Any:
    from monai.inferers import sliding_window_inference

    options = {
        "roi_size": (12, 12),
        "sw_batch_size": 2,
        "predictor": torch.nn.Conv2d(1, 2, 3, padding=1),
        "mode": "gaussian",
    }
    return sliding_window_inference, (torch.rand(1, 1, 20, 20),), options


@case("monai")
def monai_vqvae() -> Any:
    from monai.networks.nets import VQVAE

    net = VQVAE(
        2, 1, 1, (8, 8), 1, (8, 8), ((2, 4, 1, 1),) * 2, ((2, 4, 1, 1, 0),) * 2, num_embeddings=16, embedding_dim=8
    )
    return net, (torch.rand(1, 1, 16, 16),)


@case("monai")
def monai_masked_autoencoder() -> Any:
    from monai.networks.nets import MaskedAutoEncoderViT

    net = MaskedAutoEncoderViT(
        1,
        16,
        4,
        hidden_size=24,
        mlp_dim=32,
        num_layers=1,
        num_heads=2,
        decoder_hidden_size=24,
        decoder_num_layers=1,
        decoder_num_heads=2,
        spatial_dims=2,
    )
    return net, (torch.rand(2, 1, 16, 16),)


@case("monai")
def monai_swin_unetr() -> Any:
    from monai.networks.nets import SwinUNETR

    return SwinUNETR(1, 2, feature_size=12, spatial_dims=2), (torch.rand(1, 1, 64, 64),)


def retinanet() -> Any:
    from monai.apps.detection.networks.retinanet_detector import RetinaNetDetector
    from monai.apps.detection.networks.retinanet_network import RetinaNet, resnet_fpn_feature_extractor
    from monai.apps.detection.utils.anchor_utils import AnchorGenerator
    from monai.networks.nets import resnet10

    backbone = resnet10(spatial_dims=2, n_input_channels=1, feed_forward=False)
    features = resnet_fpn_feature_extractor(
        backbone, 2, pretrained_backbone=False, returned_layers=(1,), trainable_backbone_layers=None
    )
    anchors = AnchorGenerator(sizes=((8, 16),) * 3, aspect_ratios=((0.5, 1.0),) * 3)
    network = RetinaNet(2, 2, anchors.num_anchors_per_location()[0], features, size_divisible=16)
    return RetinaNetDetector(network, anchors, spatial_dims=2, num_classes=2)


@case("monai")
def monai_retinanet_train() -> Any:
    detector = retinanet()
    detector.set_atss_matcher(num_candidates=2, center_in_gt=False)
    detector.set_hard_negative_sampler(batch_size_per_image=16, positive_fraction=0.5)
    targets = [{"box": torch.tensor([[4.0, 4.0, 20.0, 20.0]]), "label": torch.tensor([1])}]
    return detector.train(), ([torch.rand(1, 32, 32)], targets)


@case("monai")
def monai_retinanet_predict() -> Any:
    detector = retinanet()
    detector.set_box_selector_parameters(
        score_thresh=0.0, topk_candidates_per_level=20, nms_thresh=0.5, detections_per_img=10
    )
    return detector.eval(), ([torch.rand(1, 32, 32)],)


@case("monai")
def monai_transforms() -> Any:
    from monai.transforms import Compose, RandFlip, RandGaussianNoise, RandRotate, ScaleIntensity

    chain = Compose([ScaleIntensity(), RandFlip(1.0, 0), RandRotate(0.3, prob=1.0), RandGaussianNoise(1.0)])
    return chain, (torch.rand(1, 16, 16),)


@case("monai")
def monai_postprocess() -> Any:
    from monai.transforms import AsDiscrete, CropForeground, FillHoles

    def clean(x: torch.Tensor) -> Any:
        x = AsDiscrete(argmax=True)(x)
        return FillHoles()(x), CropForeground()(x)

    return clean, (torch.randn(2, 16, 16),)


# gpytorch and botorch


class Gp:
    """Built in functions: importing this file must not import gpytorch."""

    @staticmethod
    def exact(points: int = 6) -> Any:
        import gpytorch

        class Model(gpytorch.models.ExactGP):  # type: ignore[misc]
            def __init__(self, x: torch.Tensor, y: torch.Tensor, likelihood: Any) -> None:
                super().__init__(x, y, likelihood)
                self.mean_module = gpytorch.means.ConstantMean()
                self.covar_module = gpytorch.kernels.ScaleKernel(gpytorch.kernels.MaternKernel(nu=2.5))

            def forward(self, x: torch.Tensor) -> Any:
                return gpytorch.distributions.MultivariateNormal(self.mean_module(x), self.covar_module(x))

        x = torch.linspace(0, 1, points)
        likelihood = gpytorch.likelihoods.GaussianLikelihood()
        return Model(x, torch.sin(6 * x), likelihood), likelihood


@case("gpytorch")
def gp_marginal_likelihood() -> Any:
    import gpytorch

    model, likelihood = Gp.exact()
    objective = gpytorch.mlls.ExactMarginalLogLikelihood(likelihood, model)

    def loss(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
        return -objective(model(x), y)

    return loss, (model.train_inputs[0], model.train_targets)


@case("gpytorch")
def gp_predict() -> Any:
    model, likelihood = Gp.exact()
    model.eval(), likelihood.eval()

    def predict(x: torch.Tensor) -> Any:
        posterior = likelihood(model(x))
        return posterior.mean, posterior.variance, posterior.confidence_region()

    return predict, (torch.rand(3),)


@case("gpytorch")
def gp_kernels() -> Any:
    from gpytorch import kernels

    kernel = (
        kernels.RBFKernel(ard_num_dims=2) * kernels.PeriodicKernel()
        + kernels.RQKernel()
        + kernels.SpectralMixtureKernel(2, ard_num_dims=2)
    )

    def gram(x: torch.Tensor) -> torch.Tensor:
        return kernel(x).to_dense()

    return gram, (torch.rand(5, 2),)


@case("gpytorch")
def gp_variational() -> Any:
    import gpytorch
    from gpytorch.variational import CholeskyVariationalDistribution, VariationalStrategy

    class Model(gpytorch.models.ApproximateGP):  # type: ignore[misc]
        def __init__(self, points: torch.Tensor) -> None:
            strategy = VariationalStrategy(self, points, CholeskyVariationalDistribution(len(points)))
            super().__init__(strategy)
            self.mean_module, self.covar_module = gpytorch.means.ZeroMean(), gpytorch.kernels.RBFKernel()

        def forward(self, x: torch.Tensor) -> Any:
            return gpytorch.distributions.MultivariateNormal(self.mean_module(x), self.covar_module(x))

    model, likelihood = Model(torch.linspace(0, 1, 4)[:, None]), gpytorch.likelihoods.BernoulliLikelihood()
    objective = gpytorch.mlls.VariationalELBO(likelihood, model, 6)

    def loss(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
        return -objective(model(x), y)

    return loss, (torch.rand(6, 1), torch.randint(0, 2, (6,)).float())


def surrogate() -> Any:
    from botorch.models import SingleTaskGP

    x = torch.rand(6, 2, dtype=torch.float64)
    return SingleTaskGP(x, x.sum(-1, keepdim=True).sin()).eval()


@case("botorch")
def log_expected_improvement() -> Any:
    from botorch.acquisition import LogExpectedImprovement

    return LogExpectedImprovement(surrogate(), best_f=0.5), (torch.rand(3, 1, 2, dtype=torch.float64),)


@case("botorch")
def monte_carlo_noisy_improvement() -> Any:
    from botorch.acquisition.logei import qLogNoisyExpectedImprovement
    from botorch.sampling import SobolQMCNormalSampler

    sampler = SobolQMCNormalSampler(torch.Size([4]), seed=0)
    function = qLogNoisyExpectedImprovement(surrogate(), torch.rand(4, 2, dtype=torch.float64), sampler=sampler)
    return function, (torch.rand(2, 2, 2, dtype=torch.float64),)


@case("botorch")
def non_dominated() -> Any:
    from botorch.utils.multi_objective.pareto import is_non_dominated

    return is_non_dominated, (torch.rand(12, 3),)


@case("botorch")
def hypervolume() -> Any:
    from botorch.utils.multi_objective.box_decompositions.dominated import DominatedPartitioning

    def volume(reference: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
        return DominatedPartitioning(reference, y).compute_hypervolume()

    return volume, (torch.zeros(2), torch.rand(6, 2))


@case("botorch")
def sample_polytope() -> Any:
    from botorch.utils.sampling import draw_sobol_samples, sample_simplex

    def draw(bounds: torch.Tensor) -> Any:
        return draw_sobol_samples(bounds, n=4, q=1), sample_simplex(3, n=4)

    return draw, (torch.stack([torch.zeros(2), torch.ones(2)]),)


@case("botorch")
def truncated_normal_probability() -> Any:
    from botorch.utils.probability.mvnxpb import MVNXPB

    def solve(covariance: torch.Tensor, bounds: torch.Tensor) -> torch.Tensor:
        return MVNXPB(covariance, bounds).solve()

    bounds = torch.stack([-torch.ones(3), torch.ones(3)], -1).double()
    return solve, (torch.eye(3).double() + 0.2, bounds)


# torchdiffeq


class Dynamics(torch.nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.layer = torch.nn.Linear(3, 3)

    def forward(self, t: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
        return torch.tanh(self.layer(y))


@case("torchdiffeq")
def ode_dopri5() -> Any:
    from torchdiffeq import odeint

    return odeint, (Dynamics(), torch.randn(4, 3), torch.linspace(0, 1, 3)), {"rtol": 1e-2, "atol": 1e-2}


@case("torchdiffeq")
def ode_fixed_adams() -> Any:
    from torchdiffeq import odeint

    options = {"method": "implicit_adams", "options": {"step_size": 0.25}}
    return odeint, (Dynamics(), torch.randn(4, 3), torch.linspace(0, 1, 3)), options


@case("torchdiffeq")
def ode_adjoint_tuple() -> Any:
    from torchdiffeq import odeint_adjoint

    def pair(t: torch.Tensor, y: Any) -> Any:
        return y[1], -y[0]

    options = {"method": "rk4", "adjoint_params": ()}
    return odeint_adjoint, (pair, (torch.ones(2), torch.zeros(2)), torch.linspace(0, 1, 3)), options


@case("torchdiffeq")
def ode_event() -> Any:
    from torchdiffeq import odeint_event

    def fall(t: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
        return -torch.ones_like(y)

    def ground(t: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
        return y[0]

    return odeint_event, (fall, torch.ones(1), torch.tensor(0.0)), {"event_fn": ground, "atol": 1e-3, "rtol": 1e-3}


# pytorch-tabnet


@case("pytorch-tabnet")
def tabnet() -> Any:
    from pytorch_tabnet.tab_network import TabNet

    net = TabNet(
        6,
        2,
        cat_idxs=[0],
        cat_dims=[4],
        cat_emb_dim=[1],
        virtual_batch_size=4,
        group_attention_matrix=torch.eye(6),
        mask_type="entmax",
    )
    return net, (torch.rand(8, 6).round(),)


@case("pytorch-tabnet")
def tabnet_pretraining() -> Any:
    from pytorch_tabnet.tab_network import TabNetPretraining

    return TabNetPretraining(6, virtual_batch_size=4, group_attention_matrix=torch.eye(6)), (torch.rand(8, 6),)


@case("pytorch-tabnet")
def tabnet_explain() -> Any:
    from pytorch_tabnet.tab_network import TabNet

    return TabNet(6, 2, group_attention_matrix=torch.eye(6)).eval().forward_masks, (torch.rand(8, 6),)


@case("pytorch-tabnet")
def tabnet_smote() -> Any:
    from pytorch_tabnet.augmentations import ClassificationSMOTE

    return ClassificationSMOTE(device_name="cpu"), (torch.rand(8, 6), torch.randint(0, 2, (8,)))


@case("pytorch-tabnet")
def tabnet_unsupervised_loss() -> Any:
    from pytorch_tabnet.metrics import UnsupervisedLoss

    return UnsupervisedLoss, (torch.rand(8, 6), torch.rand(8, 6), torch.randint(0, 2, (8, 6)))


# auraloss


@case("auraloss")
def multi_resolution_stft() -> Any:
    from auraloss.freq import MultiResolutionSTFTLoss

    loss = MultiResolutionSTFTLoss(
        [64, 128], [16, 32], [64, 128], w_phs=0.1, perceptual_weighting=True, sample_rate=8000
    )
    return loss, (torch.randn(2, 1, 400), torch.randn(2, 1, 400))


@case("auraloss")
def random_resolution_stft() -> Any:
    from auraloss.freq import RandomResolutionSTFTLoss

    loss = RandomResolutionSTFTLoss(max_fft_size=128, windows=["hann_window", "hamming_window"])
    return loss, (torch.randn(2, 1, 400), torch.randn(2, 1, 400))


@case("auraloss")
def sum_and_difference_stft() -> Any:
    from auraloss.freq import SumAndDifferenceSTFTLoss

    loss = SumAndDifferenceSTFTLoss([64], [16], [64], output="full")
    return loss, (torch.randn(2, 2, 400), torch.randn(2, 2, 400))


# nflows


@case("nflows")
def nflows_autoregressive() -> Any:
    from nflows.flows import MaskedAutoregressiveFlow

    return MaskedAutoregressiveFlow(4, 8, 2, 1, batch_norm_between_layers=True).log_prob, (torch.randn(6, 4),)


@case("nflows")
def nflows_coupling_spline() -> Any:
    from nflows.distributions import StandardNormal
    from nflows.flows import Flow
    from nflows.nn.nets import ResidualNet
    from nflows.transforms import CompositeTransform, PiecewiseRationalQuadraticCouplingTransform, RandomPermutation

    spline = PiecewiseRationalQuadraticCouplingTransform(
        [1, 0, 1, 0], lambda i, o: ResidualNet(i, o, 8), tails="linear", tail_bound=2.0
    )
    return Flow(CompositeTransform([RandomPermutation(4), spline]), StandardNormal([4])).log_prob, (torch.randn(6, 4),)


@case("nflows")
def nflows_sample() -> Any:
    from nflows.flows import SimpleRealNVP

    return SimpleRealNVP(4, 8, 2, 1).sample_and_log_prob, (3,)


@case("nflows")
def nflows_linear() -> Any:
    from nflows.transforms import ActNorm, CompositeTransform, LULinear, QRLinear, SVDLinear

    chain = CompositeTransform([ActNorm(4), LULinear(4, using_cache=True), QRLinear(4, 2), SVDLinear(4, 2)])
    return chain, (torch.randn(6, 4),)


# captum


def classifier() -> Any:
    return torch.nn.Sequential(torch.nn.Linear(6, 8), torch.nn.ReLU(), torch.nn.Linear(8, 3)).eval()


@case("captum")
def integrated_gradients() -> Any:
    from captum.attr import IntegratedGradients

    options = {"target": 1, "n_steps": 4, "return_convergence_delta": True}
    return IntegratedGradients(classifier()).attribute, (torch.randn(2, 6),), options


@case("captum")
def deep_lift() -> Any:
    from captum.attr import DeepLift

    return DeepLift(classifier()).attribute, (torch.randn(2, 6), torch.zeros(2, 6)), {"target": 1}


@case("captum")
def feature_ablation() -> Any:
    from captum.attr import FeatureAblation

    return FeatureAblation(classifier()).attribute, (torch.randn(2, 6),), {"target": 1, "perturbations_per_eval": 2}


@case("captum")
def shapley_values() -> Any:
    from captum.attr import ShapleyValueSampling

    return ShapleyValueSampling(classifier()).attribute, (torch.randn(1, 6),), {"target": 1, "n_samples": 2}


@case("captum")
def noise_tunnel() -> Any:
    from captum.attr import NoiseTunnel, Saliency

    options = {"target": 1, "nt_samples": 2, "nt_type": "smoothgrad_sq"}
    return NoiseTunnel(Saliency(classifier())).attribute, (torch.randn(2, 6),), options


@case("captum")
def infidelity() -> Any:
    from captum.metrics import infidelity

    def perturb(x: torch.Tensor) -> Any:
        noise = torch.randn_like(x) * 0.1
        return noise, x - noise

    return (
        infidelity,
        (classifier(), perturb, torch.randn(2, 6), torch.randn(2, 6)),
        {"target": 1, "n_perturb_samples": 2},
    )


# fairscale


@case("fairscale")
def top2_gating() -> Any:
    from fairscale.nn.moe.top2gate import Top2Gate

    return Top2Gate(8, 4), (torch.randn(12, 8),)


@case("fairscale")
def checkpointed() -> Any:
    from fairscale.nn import checkpoint_wrapper

    return checkpoint_wrapper(torch.nn.Linear(8, 8)), (torch.randn(4, 8, requires_grad=True),)


@case("fairscale")
def scaled_optimizer() -> Any:
    from fairscale.optim import AdaScale

    layer = torch.nn.Linear(4, 4)
    layer(torch.randn(2, 4)).sum().backward()
    return AdaScale(torch.optim.SGD(layer.parameters(), lr=0.1), world_size=1, num_gradients_to_accumulate=2).step, ()


# snntorch


@case("snntorch")
def leaky_neurons() -> Any:
    import snntorch as snn

    layer, neuron = torch.nn.Linear(6, 4), snn.Leaky(beta=0.9, learn_beta=True, reset_mechanism="subtract")

    def run(x: torch.Tensor) -> torch.Tensor:
        potential, spikes = neuron.init_leaky(), []
        for step in range(len(x)):
            spike, potential = neuron(layer(x[step]), potential)
            spikes.append(spike)
        return torch.stack(spikes)

    return run, (torch.rand(3, 2, 6),)


@case("snntorch")
def recurrent_synaptic() -> Any:
    import snntorch as snn

    neuron = snn.RSynaptic(alpha=0.9, beta=0.8, linear_features=4, init_hidden=False)
    return neuron, (torch.rand(2, 4), *neuron.init_rsynaptic())


@case("snntorch")
def latency_encoding() -> Any:
    from snntorch import spikegen

    return spikegen.latency, (torch.rand(2, 6),), {"num_steps": 5, "normalize": True, "linear": True}


@case("snntorch")
def rate_encoding_with_targets() -> Any:
    from snntorch import spikegen

    def encode(x: torch.Tensor, y: torch.Tensor) -> Any:
        return (
            spikegen.rate(x, num_steps=4),
            spikegen.delta(x, threshold=0.1),
            spikegen.targets_rate(y, num_classes=3, num_steps=4),
        )

    return encode, (torch.rand(2, 6), torch.randint(0, 3, (2,)))


@case("snntorch")
def spike_count_loss() -> Any:
    from snntorch import functional as SF  # noqa: N812

    return SF.mse_count_loss(correct_rate=0.8, incorrect_rate=0.2), (
        (torch.rand(5, 3, 4) > 0.5).float(),
        torch.randint(0, 4, (3,)),
    )


@case("snntorch")
def spike_temporal_loss() -> Any:
    from snntorch import functional as SF  # noqa: N812

    return SF.ce_temporal_loss(), ((torch.rand(5, 3, 4) > 0.5).float(), torch.randint(0, 4, (3,)))


# speechbrain


@case("speechbrain")
def masked_losses() -> Any:
    from speechbrain.nnet.losses import bce_loss, kldiv_loss, nll_loss

    def loss(scores: torch.Tensor, targets: torch.Tensor, length: torch.Tensor) -> Any:
        logs = scores.log_softmax(-1)
        binary = bce_loss(scores[..., 0], (targets > 2).float(), length)
        smooth = nll_loss(logs, targets, length, label_smoothing=0.1)
        return binary, smooth, kldiv_loss(logs, targets, length, label_smoothing=0.1)

    return loss, (torch.randn(3, 8, 5), torch.randint(0, 5, (3, 8)), torch.tensor([1.0, 0.75, 0.5]))


@case("speechbrain")
def permutation_invariant() -> Any:
    from speechbrain.nnet.losses import get_si_snr_with_pitwrapper

    return get_si_snr_with_pitwrapper, (torch.randn(40, 2, 2), torch.randn(40, 2, 2))


@case("speechbrain")
def stoi() -> Any:
    from speechbrain.nnet.loss.stoi_loss import stoi_loss

    return stoi_loss, (torch.randn(2, 8000), torch.randn(2, 8000), torch.ones(2))


@case("speechbrain")
def ctc_greedy() -> Any:
    from speechbrain.decoders.ctc import ctc_greedy_decode

    return ctc_greedy_decode, (torch.rand(2, 10, 5).softmax(-1), torch.tensor([1.0, 0.5])), {"blank_id": 0}


@case("speechbrain")
def ctc_prefix_beam() -> Any:
    from speechbrain.decoders.ctc import CTCPrefixBeamSearcher

    searcher = CTCPrefixBeamSearcher(blank_index=0, vocab_list=["-", "a", "b", " "], beam_size=4)
    return searcher, (torch.rand(1, 8, 4).log_softmax(-1), torch.ones(1))


def speech_decoder() -> dict[str, Any]:
    from speechbrain.nnet.linear import Linear
    from speechbrain.nnet.RNN import AttentionalRNNDecoder

    decoder = AttentionalRNNDecoder("gru", "location", 3, 3, 1, enc_dim=7, input_size=3, channels=2, kernel_size=3)
    return {"embedding": torch.nn.Embedding(5, 3), "decoder": decoder, "linear": Linear(n_neurons=5, input_size=3)}


@case("speechbrain")
def attention_greedy_search() -> Any:
    from speechbrain.decoders import S2SRNNGreedySearcher

    options = {"bos_index": 0, "eos_index": 1, "min_decode_ratio": 0, "max_decode_ratio": 1}
    return S2SRNNGreedySearcher(**speech_decoder(), **options), (torch.rand(2, 5, 7), torch.ones(2))


@case("speechbrain")
def attention_beam_search() -> Any:
    from speechbrain.decoders import S2SRNNBeamSearcher
    from speechbrain.decoders.scorer import CoverageScorer, ScorerBuilder

    scorer = ScorerBuilder(full_scorers=[CoverageScorer(5)], weights={"coverage": 1.5})
    options = {"bos_index": 4, "eos_index": 4, "min_decode_ratio": 0, "max_decode_ratio": 1, "beam_size": 2}
    return S2SRNNBeamSearcher(**speech_decoder(), **options, scorer=scorer), (torch.rand(2, 5, 7), torch.ones(2))


@case("speechbrain")
def transducer_beam_search() -> Any:
    from speechbrain.decoders.transducer import TransducerBeamSearcher
    from speechbrain.nnet.embedding import Embedding
    from speechbrain.nnet.linear import Linear
    from speechbrain.nnet.RNN import GRU
    from speechbrain.nnet.transducer.transducer_joint import Transducer_joint

    embedding = Embedding(num_embeddings=6, consider_as_one_hot=True, blank_id=0)
    network = [embedding, GRU(hidden_size=5, input_shape=(1, 8, 5), bidirectional=False)]
    joint = Transducer_joint(Linear(input_shape=(1, 1, 8, 5), n_neurons=5), joint="sum")
    last = [Linear(input_shape=(1, 8, 5), n_neurons=6)]
    return TransducerBeamSearcher(network, joint, last, 0, beam_size=2, nbest=1), (torch.rand(1, 4, 5),)


@case("speechbrain")
def waveform_augmentations() -> Any:
    from speechbrain.augment import time_domain

    drop, clip = time_domain.DropChunk(drop_length_low=4, drop_length_high=10), time_domain.DoClip()
    gain, frequencies, noise = (
        time_domain.RandAmp(),
        time_domain.DropFreq(),
        time_domain.AddNoise(snr_high=5, normalize=True),
    )

    def augment(x: torch.Tensor, length: torch.Tensor) -> torch.Tensor:
        return noise(frequencies(gain(clip(drop(x, length)))), length)

    return augment, (torch.randn(2, 400), torch.tensor([1.0, 0.6]))


@case("speechbrain")
def spectrogram_augmentations() -> Any:
    from speechbrain.augment.freq_domain import RandomShift, SpectrogramDrop, Warping

    chain = torch.nn.Sequential(SpectrogramDrop(2, 4, replace="mean"), Warping(), SpectrogramDrop(1, 3, dim=2))
    shift = RandomShift(1, 4)

    def augment(x: torch.Tensor, length: torch.Tensor) -> Any:
        return shift(chain(x), length)

    return augment, (torch.rand(2, 30, 12), torch.ones(2))


@case("speechbrain")
def feature_normalization() -> Any:
    from speechbrain.processing.features import InputNormalization

    return InputNormalization(norm_type="global"), (torch.randn(3, 20, 6), torch.tensor([1.0, 0.7, 0.4]))


@case("speechbrain")
def gumbel_quantizer() -> Any:
    from speechbrain.nnet.quantisers import GumbelVectorQuantizer

    return GumbelVectorQuantizer(8, 4, (2.0, 0.5, 0.99), 2, 8), (torch.randn(2, 6, 8),)


@case("speechbrain")
def statistics_pooling() -> Any:
    from speechbrain.nnet.pooling import StatisticsPooling

    return StatisticsPooling(), (torch.randn(3, 20, 6), torch.tensor([1.0, 0.7, 0.4]))


@case("speechbrain")
def speaker_embedding() -> Any:
    from speechbrain.lobes.models.ECAPA_TDNN import ECAPA_TDNN

    net = ECAPA_TDNN(
        10,
        channels=[8] * 4 + [24],
        kernel_sizes=[5, 3, 3, 3, 1],
        attention_channels=4,
        res2net_scale=2,
        se_channels=4,
        lin_neurons=6,
    )
    return net, (torch.randn(2, 20, 10), torch.tensor([1.0, 0.6]))


@case("speechbrain")
def conformer() -> Any:
    from speechbrain.lobes.models.transformer.TransformerASR import TransformerASR

    net = TransformerASR(8, 10, 16, 2, 1, 1, 32, encoder_module="conformer", attention_type="RelPosMHAXL", causal=False)
    return net, (torch.randn(2, 12, 10), torch.randint(1, 8, (2, 5)), torch.tensor([1.0, 0.6]))


@case("speechbrain")
def accuracy() -> Any:
    from speechbrain.utils.Accuracy import Accuracy as Count

    scores = torch.randn(2, 6, 4).log_softmax(-1)
    return Count, (scores, torch.randint(0, 4, (2, 6)), torch.tensor([1.0, 0.5]))
