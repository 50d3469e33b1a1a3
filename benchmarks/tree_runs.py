"""What `fix_trees.py` runs of each package: models, losses, metrics and filters, on small inputs of fixed values.

    python benchmarks/tree_runs.py SITE PACKAGE OTHERS > runs.json

Each line of RUNS is an expression; it is evaluated with seeds set, and where its value has a gradient, `backward` runs.
Printed are the values, and the gradients of the inputs and of the model's parameters. What fails is told by its error.
"""

from __future__ import annotations

import json
import sys
import warnings
from typing import Any

RUNS = {
    "kornia": """
losses.ssim_loss(a, b, 5)
losses.psnr_loss(a, b, 1.0)
losses.total_variation(a)
losses.inverse_depth_smoothness_loss(a[:, :1], b)
losses.focal_loss(scores, labels, 0.5, reduction="mean")
losses.binary_focal_loss_with_logits(a, (b > 0.5).float(), 0.25, reduction="mean")
losses.dice_loss(scores, labels)
losses.tversky_loss(scores, labels, 0.5, 0.5)
losses.lovasz_softmax_loss(scores, labels)
losses.charbonnier_loss(a, b)
losses.cauchy_loss(a, b)
losses.js_div_loss_2d(a.softmax(-1), b.softmax(-1))
losses.HausdorffERLoss()(scores, labels[:, None])
filters.gaussian_blur2d(a, (3, 3), (1.0, 1.0))
filters.sobel(a)
filters.canny(a)
filters.laplacian(a, 3)
filters.median_blur(a, (3, 3))
filters.unsharp_mask(a, (3, 3), (1.0, 1.0))
filters.bilateral_blur(a, (3, 3), 0.1, (1.0, 1.0))
color.rgb_to_hsv(a)
color.rgb_to_lab(a)
color.rgb_to_ycbcr(a)
enhance.equalize(a.detach())
enhance.equalize_clahe(a.detach())
enhance.adjust_contrast(a, 0.5)
enhance.normalize_min_max(a)
enhance.histogram(a[0, 0, :1], torch.linspace(0, 1, 8), torch.tensor(0.1))
geometry.rotate(a, torch.tensor([30.0, 60.0]))
geometry.resize(a, (20, 20))
geometry.transform.warp_affine(a, torch.eye(3)[None, :2].repeat(2, 1, 1), (16, 16))
geometry.conversions.axis_angle_to_rotation_matrix(rows[:, :3])
geometry.conversions.rotation_matrix_to_quaternion(torch.eye(3)[None].repeat(2, 1, 1))
geometry.find_homography_dlt(a[:, 0, :4, :2], b[:, 0, :4, :2])
feature.harris_response(a)
feature.gftt_response(a)
feature.match_nn(rows, rows2)
feature.match_mnn(rows, rows2)
morphology.dilation(a, torch.ones(3, 3))
metrics.accuracy(rows, targets)
metrics.mean_iou(scores.argmax(1), labels, 4)
contrib.extract_tensor_patches(a, 8, stride=8)
augmentation.RandomHorizontalFlip(p=1.0)(a)
augmentation.RandomErasing(p=1.0)(a)
augmentation.ColorJitter(0.1, 0.1, 0.1, 0.1, p=1.0)(a)
augmentation.RandomPerspective(0.2, p=1.0)(a)
""",
    "torchmetrics": """
functional.accuracy(rows, targets, task="multiclass", num_classes=5)
functional.precision(rows, targets, task="multiclass", num_classes=5)
functional.f1_score(rows, targets, task="multiclass", num_classes=5, average="macro")
functional.auroc(rows.softmax(-1), targets, task="multiclass", num_classes=5)
functional.average_precision(rows.softmax(-1), targets, task="multiclass", num_classes=5)
functional.calibration_error(rows.softmax(-1), targets, task="multiclass", num_classes=5)
functional.cohen_kappa(rows, targets, task="multiclass", num_classes=5)
functional.confusion_matrix(rows, targets, task="multiclass", num_classes=5)
functional.hamming_distance(rows, targets, task="multiclass", num_classes=5)
functional.hinge_loss(rows, targets, task="multiclass", num_classes=5)
functional.jaccard_index(rows, targets, task="multiclass", num_classes=5)
functional.matthews_corrcoef(rows, targets, task="multiclass", num_classes=5)
functional.roc(rows[:, 0].sigmoid(), targets > 2, task="binary")
functional.precision_recall_curve(rows[:, 0].sigmoid(), targets > 2, task="binary")
functional.mean_squared_error(rows, rows2)
functional.mean_absolute_percentage_error(rows, rows2)
functional.pearson_corrcoef(rows[:, 0], rows2[:, 0])
functional.spearman_corrcoef(rows[:, 0], rows2[:, 0])
functional.r2_score(rows[:, 0], rows2[:, 0])
functional.explained_variance(rows, rows2)
functional.kendall_rank_corrcoef(rows[:, 0], rows2[:, 0])
functional.cosine_similarity(rows, rows2)
functional.kl_divergence(rows.softmax(-1), rows2.softmax(-1))
functional.tweedie_deviance_score(rows.abs(), rows2.abs())
functional.retrieval_average_precision(rows[:, 0], targets > 2)
functional.retrieval_normalized_dcg(rows[:, 0], targets)
functional.structural_similarity_index_measure(a, b)
functional.peak_signal_noise_ratio(a, b)
functional.universal_image_quality_index(a, b)
functional.total_variation(a)
functional.signal_noise_ratio(rows, rows2)
functional.scale_invariant_signal_distortion_ratio(rows, rows2)
functional.perplexity(rows[None].softmax(-1), targets[None])
functional.pairwise_cosine_similarity(rows, rows2)
functional.cramers_v(targets, targets.flip(0))
MeanMetric()(rows)
Accuracy(task="multiclass", num_classes=5)(rows, targets)
MeanSquaredError()(rows, rows2)
PearsonCorrCoef()(rows[:, 0], rows2[:, 0])
image.SpectralAngleMapper()(a, b)
""",
    "torchvision": """
models.resnet18()(a)
models.mobilenet_v2()(a)
models.shufflenet_v2_x0_5()(a)
models.squeezenet1_1()(a)
models.mnasnet0_5()(a)
models.regnet_y_400mf()(a)
models.segmentation.lraspp_mobilenet_v3_large(weights_backbone=None)(a)
ops.nms(boxes, rows[:8, 0], 0.5)
ops.box_iou(boxes, boxes)
ops.generalized_box_iou_loss(boxes, boxes + 1, reduction="sum")
ops.sigmoid_focal_loss(rows, (rows2 > 0).float(), reduction="mean")
ops.roi_align(a, [boxes[:2], boxes[2:4]], 3)
ops.masks_to_boxes(a[0] > 0.5)
ops.DropBlock2d(0.1, 3)(a)
ops.StochasticDepth(0.5, "row")(a)
transforms.functional.rotate(a, 30)
transforms.functional.adjust_hue(a, 0.1)
transforms.v2.functional.gaussian_blur(a, [3, 3])
""",
    "timm": "\n".join(
        f'create_model("{name}")(big)'
        for name in """test_byobnet test_convnext test_convnext2 test_convnext3 test_efficientnet test_efficientnet_gn
        test_efficientnet_ln test_efficientnet_evos test_mambaout test_nfnet test_resnet test_vit test_vit2 test_vit3
        test_vit4""".split()
    )
    + """
loss.AsymmetricLossSingleLabel()(rows, targets)
loss.BinaryCrossEntropy()(rows, targets)
loss.JsdCrossEntropy()(rows[:6], targets[:6])
loss.LabelSmoothingCrossEntropy()(rows, targets)
layers.DropPath(0.3)(a)
layers.drop_block_2d(a)
""",
    "monai": """
losses.DiceLoss(sigmoid=True)(a, (b > 0.5).float())
losses.DiceCELoss(sigmoid=True)(a, (b > 0.5).float())
losses.GeneralizedDiceLoss(sigmoid=True)(a, (b > 0.5).float())
losses.FocalLoss()(a, (b > 0.5).float())
losses.TverskyLoss(sigmoid=True)(a, (b > 0.5).float())
losses.ContrastiveLoss()(rows, rows2)
losses.SSIMLoss(2)(a, b)
losses.GlobalMutualInformationLoss()(a, b)
losses.LocalNormalizedCrossCorrelationLoss(2)(a, b)
losses.BendingEnergyLoss()(a[:, :2])
losses.HausdorffDTLoss(sigmoid=True)(a[:, :1], (b[:, :1] > 0.5).float())
metrics.DiceMetric()((a > 0.5).float(), (b > 0.5).float())
metrics.HausdorffDistanceMetric()((a > 0.5).float(), (b > 0.5).float())
metrics.compute_roc_auc(rows[:, 0].detach(), (targets > 2).int())
metrics.SSIMMetric(2)(a, b)
networks.nets.UNet(2, 3, 2, (4, 8), (2,))(a)
networks.nets.BasicUNet(2, 3, 2, (4, 4, 8, 8, 8, 4))(a)
networks.nets.DenseNet121(2, 3, 2)(a)
networks.nets.SegResNet(2, 8, 3, 2)(a)
networks.nets.ViT(3, (32, 32), (8, 8), hidden_size=16, mlp_dim=32, num_layers=2, num_heads=4, spatial_dims=2)(a)[0]
networks.nets.AttentionUnet(2, 3, 2, (4, 8), (2,))(a)
networks.blocks.SABlock(16, 4)(a[:, 0, :, :16])
transforms.utils.rescale_array(a.detach())
transforms.Resize((16, 16))(a[0].detach())
transforms.NormalizeIntensity()(a[0].detach())
""",
    "transformers": "\n".join(
        f"{name}Model({name}Config(**small))(ids)[0]"
        for name in """Bert Roberta Electra Albert XLMRoberta Bloom GPT2 GPTNeoX OPT Llama Mistral Mixtral Phi Phi3
        Qwen2 Qwen2Moe Falcon Gemma Longformer BigBird Deberta DebertaV2 Ernie ErnieM Funnel Nystromformer Roformer
        Splinter Yoso Xmod XGLM CTRL ConvBert MPNet Mpt Olmoe Jamba Persimmon StableLm Starcoder2 Granite""".split()
    )
    + "\n"
    + "\n".join(
        f"{name}Model({name}Config(**small))(input_ids=ids, decoder_input_ids=ids)[0]"
        for name in """T5 MT5 UMT5 Bart MBart Pegasus Blenderbot Marian LED M2M100 PLBart BigBirdPegasus
        ProphetNet""".split()
    ),
}
SMALL = {
    "vocab_size": 50, "hidden_size": 16, "d_model": 16, "n_embd": 16, "embedding_size": 16, "num_hidden_layers": 2,
    "num_layers": 2, "n_layer": 2, "encoder_layers": 2, "decoder_layers": 2, "num_attention_heads": 2, "n_head": 2,
    "num_heads": 2, "encoder_attention_heads": 2, "decoder_attention_heads": 2, "intermediate_size": 32, "d_ff": 32,
    "d_kv": 8, "encoder_ffn_dim": 32, "decoder_ffn_dim": 32, "max_position_embeddings": 64, "n_positions": 64,
    "num_key_value_heads": 2, "attention_window": 4, "attention_type": "original_full", "pad_token_id": 1,
    "num_experts": 4, "num_local_experts": 4, "num_experts_per_tok": 2, "moe_intermediate_size": 16,
    "shared_expert_intermediate_size": 16, "block_sizes": [1, 1], "d_inner": 32, "d_head": 8, "dff": 32, "dropout": 0.0,
    "max_encoder_position_embeddings": 64, "max_decoder_position_embeddings": 64, "word_embed_proj_dim": 16,
    "ffn_dim": 32, "num_encoder_layers": 2, "num_decoder_layers": 2, "bos_token_id": 2, "eos_token_id": 3,
    "decoder_start_token_id": 2,
}  # fmt: skip


def inputs() -> dict[str, Any]:
    import torch

    torch.manual_seed(0)
    made = {
        "a": torch.rand(2, 3, 32, 32),
        "b": torch.rand(2, 3, 32, 32),
        "big": torch.rand(2, 3, 160, 160),
        "scores": torch.randn(2, 4, 32, 32),
        "rows": torch.randn(12, 5),
        "rows2": torch.randn(12, 5),
    }
    for tensor in made.values():
        tensor.requires_grad_()
    corners = torch.rand(8, 2) * 10
    return made | {
        "labels": torch.randint(0, 4, (2, 32, 32)),
        "targets": torch.randint(0, 5, (12,)),
        "boxes": torch.cat([corners, corners + 8], 1),
        "ids": torch.randint(4, 50, (2, 8)),
        "small": dict(SMALL),
        "torch": torch,
    }


def numbers(value: Any) -> list[float]:
    """The floats of tensors, in containers and outputs of models too."""
    import torch

    if isinstance(value, torch.Tensor):
        flat = value.detach().to_dense().flatten()
        return [float(v) for v in flat[:200].double()] + [float(flat.double().sum())]
    if isinstance(value, dict):
        return [n for item in value.values() for n in numbers(item)]
    if isinstance(value, list | tuple):
        return [n for item in value for n in numbers(item)]
    return [float(value)] if isinstance(value, int | float) else []


def tensors(value: Any) -> list[Any]:
    import torch

    if isinstance(value, torch.Tensor):
        return [value]
    items = value.values() if isinstance(value, dict) else value if isinstance(value, list | tuple) else ()
    return [t for item in items for t in tensors(item)]


def run(expression: str, names: dict[str, Any]) -> list[float]:
    import torch

    given = inputs()
    torch.manual_seed(1)
    value = eval(expression, {**names, **given})
    found = numbers(value)
    differentiable = [t for t in tensors(value) if t.requires_grad and t.is_floating_point()]
    if differentiable:
        sum(t.square().mean() for t in differentiable).backward()
        leaves = [t for t in given.values() if isinstance(t, torch.Tensor) and t.grad is not None]
        found += [n for leaf in leaves for n in numbers(leaf.grad)]
    return found


def main() -> None:
    site, package, others = sys.argv[1:]
    sys.path.insert(0, site)
    sys.path.append(others)
    warnings.simplefilter("ignore")
    import importlib

    import torch

    torch.set_num_threads(1)
    module = importlib.import_module(package)
    assert (module.__file__ or "").startswith(site), module.__file__
    names: dict[str, Any] = {"torch": torch}
    for part in ("models", "ops", "transforms", "losses", "metrics", "networks", "functional", "loss", "layers"):
        try:
            names[part] = importlib.import_module(f"{package}.{part}")
        except ImportError:
            continue
    found: dict[str, Any] = {}
    for expression in filter(None, RUNS[package].splitlines()):
        for name in {part.split("(")[0].split(".")[0] for part in (expression, expression.partition("(")[2])}:
            if name not in names and hasattr(module, name):
                names[name] = getattr(module, name)
        try:
            found[expression] = run(expression, names)
        except Exception as error:  # noqa: BLE001 a run that fails is told of
            found[expression] = f"{type(error).__name__}: {error}"[:200]
    print(json.dumps(found))


if __name__ == "__main__":
    main()
