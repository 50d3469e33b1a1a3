"""Set four."""

from __future__ import annotations

from typing import Any

import torch
from case import Cases

CASES = Cases(
    {
        "asteroid": "0.7.0",
        "asteroid-filterbanks": "0.4.0",
        "deepinv": "0.5.0",
        "gluonts": "0.17.0",
        "lpips": "0.1.4",
        "nnAudio": "0.3.4",
        "openai-whisper": "20250625",
        "perceiver-pytorch": "0.11.0",
        "performer-pytorch": "1.1.4",
        "ptwt": "1.0.1",
        "pykeen": "1.11.1",
        "python-doctr": "1.1.0",
        "pytorch-msssim": "1.0.0",
        "reformer-pytorch": "1.4.4",
        "st-moe-pytorch": "0.1.8",
        "stable-baselines3": "2.9.2",
        "tensordict": "0.15.3",
        "titans-pytorch": "0.5.5",
        "torch-audiomentations": "0.12.0",
        "torchaudio": "2.11.1",
    }
)
case = CASES.of


# openai-whisper


def whisper() -> Any:
    from whisper.model import ModelDimensions, Whisper

    model = Whisper(ModelDimensions(80, 1500, 16, 2, 1, 51865, 24, 16, 2, 1)).eval()
    torch.nn.init.normal_(model.decoder.positional_embedding)  # left uninitialized until weights are loaded
    return model


@case("openai-whisper")
def whisper_decode() -> Any:
    from whisper.decoding import DecodingOptions, decode

    options = DecodingOptions(language="en", sample_len=3, beam_size=2, fp16=False)
    return decode, (whisper(), torch.randn(1, 80, 3000), options)


@case("openai-whisper")
def whisper_greedy() -> Any:
    from whisper.decoding import DecodingOptions, decode

    options = DecodingOptions(language="en", sample_len=3, temperature=0.5, fp16=False)
    return decode, (whisper(), torch.randn(1, 80, 3000), options)


@case("openai-whisper")
def whisper_language() -> Any:
    from whisper.decoding import detect_language

    return detect_language, (whisper(), torch.randn(1, 80, 3000))


@case("openai-whisper")
def whisper_spectrogram() -> Any:
    from whisper.audio import log_mel_spectrogram, pad_or_trim

    def features(audio: torch.Tensor) -> Any:
        return pad_or_trim(log_mel_spectrogram(audio), 100)

    return features, (torch.randn(4000),)


@case("openai-whisper")
def whisper_alignment() -> Any:
    from whisper.timing import dtw_cpu, median_filter

    def align(x: torch.Tensor) -> Any:
        return dtw_cpu(-median_filter(x, 3).double().numpy())

    return align, (torch.rand(6, 8),)


# st-moe-pytorch


@case("st-moe-pytorch")
def mixture_of_experts() -> Any:
    from st_moe_pytorch import MoE

    return (
        MoE(dim=16, num_experts=4, gating_top_n=3, threshold_train=0.2),
        (torch.randn(2, 12, 16),),
        {"noise_gates": True},
    )


@case("st-moe-pytorch")
def mixture_of_experts_eval() -> Any:
    from st_moe_pytorch import MoE, SparseMoEBlock

    return SparseMoEBlock(MoE(dim=16, num_experts=4), add_ff_before=True).eval(), (torch.randn(2, 12, 16),)


# stable-baselines3


def spaces(discrete: bool) -> Any:
    from gymnasium import spaces as gym

    actions = gym.Discrete(3) if discrete else gym.Box(-1, 1, (2,))
    return gym.Box(-1, 1, (4,)), actions, lambda _: 1e-3


@case("stable-baselines3")
def actor_critic_evaluate() -> Any:
    from stable_baselines3.common.policies import ActorCriticPolicy

    policy = ActorCriticPolicy(*spaces(discrete=True))
    return policy.evaluate_actions, (torch.randn(6, 4), torch.randint(0, 3, (6,)))


@case("stable-baselines3")
def actor_critic_state_dependent_noise() -> Any:
    from stable_baselines3.common.policies import ActorCriticPolicy

    return ActorCriticPolicy(*spaces(discrete=False), use_sde=True, squash_output=True), (torch.randn(6, 4),)


@case("stable-baselines3")
def sac_actor() -> Any:
    from stable_baselines3.sac.policies import SACPolicy

    return SACPolicy(*spaces(discrete=False)).actor.action_log_prob, (torch.randn(6, 4),)


@case("stable-baselines3")
def policy_predict() -> Any:
    import numpy as np
    from stable_baselines3.dqn.policies import DQNPolicy

    return DQNPolicy(*spaces(discrete=True)).predict, (np.zeros((2, 4), dtype=np.float32),), {"deterministic": True}


@case("stable-baselines3")
def polyak() -> Any:
    from stable_baselines3.common.utils import polyak_update

    one, two = torch.nn.Linear(3, 3), torch.nn.Linear(3, 3)
    return polyak_update, (list(one.parameters()), list(two.parameters()), 0.1)


# tensordict


@case("tensordict")
def tensordict_module() -> Any:
    from tensordict import TensorDict
    from tensordict.nn import TensorDictModule, TensorDictSequential

    chain = TensorDictSequential(
        TensorDictModule(torch.nn.Linear(4, 8), in_keys=["x"], out_keys=["h"]),
        TensorDictModule(torch.nn.Linear(8, 2), in_keys=["h"], out_keys=[("out", "y")]),
    )
    return chain, (TensorDict({"x": torch.randn(3, 4)}, [3]),)


@case("tensordict")
def tensordict_probabilistic() -> Any:
    from tensordict import TensorDict
    from tensordict.nn import (
        NormalParamExtractor,
        ProbabilisticTensorDictModule,
        TensorDictModule,
        TensorDictSequential,
    )

    net = torch.nn.Sequential(torch.nn.Linear(4, 4), NormalParamExtractor())
    chain = TensorDictSequential(
        TensorDictModule(net, in_keys=["x"], out_keys=["loc", "scale"]),
        ProbabilisticTensorDictModule(
            in_keys=["loc", "scale"],
            out_keys=["action"],
            distribution_class=torch.distributions.Normal,
            return_log_prob=True,
        ),
    )
    return chain, (TensorDict({"x": torch.randn(3, 4)}, [3]),)


@case("tensordict")
def tensordict_operations() -> Any:
    from tensordict import TensorDict

    def operate(data: Any, mask: torch.Tensor) -> Any:
        picked = data[mask]
        stacked = torch.stack([data, data * 2], 0)
        return picked, stacked.mean(), data.flatten_keys().unflatten_keys(), data.to_dict()

    return operate, (
        TensorDict({"a": torch.randn(4, 2), "b": {"c": torch.randn(4)}}, [4]),
        torch.tensor([True, False, True, True]),
    )


# gluonts


@case("gluonts")
def gluonts_deepar() -> Any:
    from gluonts.torch.model.deepar.module import DeepARModel

    model = DeepARModel(
        "D", 8, 3, num_feat_dynamic_real=1, num_layers=1, hidden_size=8, lags_seq=[1, 2], num_parallel_samples=2
    )
    options = {
        "feat_static_cat": torch.zeros(2, 1, dtype=torch.long),
        "feat_static_real": torch.zeros(2, 1),
        "past_time_feat": torch.randn(2, 10, 1),
        "past_target": torch.rand(2, 10),
        "past_observed_values": torch.ones(2, 10),
        "future_time_feat": torch.randn(2, 3, 1),
    }
    return model, (), options


@case("gluonts")
def gluonts_patch_tst() -> Any:
    from gluonts.torch.distributions import StudentTOutput
    from gluonts.torch.model.patch_tst.module import PatchTSTModel

    model = PatchTSTModel(3, 16, 4, 2, "end", 8, 2, 16, 0, 0.1, "relu", False, 1, "std", StudentTOutput())
    return model, (torch.rand(2, 16), torch.ones(2, 16))


@case("gluonts")
def gluonts_quantile_spline() -> Any:
    from gluonts.torch.distributions import ISQFOutput

    output = ISQFOutput(num_pieces=3, qk_x=[0.1, 0.5, 0.9])
    project = output.get_args_proj(8)

    def loss(features: torch.Tensor, target: torch.Tensor) -> torch.Tensor:
        return output.distribution(project(features)).crps(target)

    return loss, (torch.randn(4, 8), torch.randn(4))


@case("gluonts")
def gluonts_scaler() -> Any:
    from gluonts.torch.scaler import MeanScaler

    return MeanScaler(dim=1), (torch.rand(3, 8), (torch.rand(3, 8) > 0.2).float())


# torchaudio


def transducer() -> Any:
    from torchaudio.models import emformer_rnnt_model

    return emformer_rnnt_model(
        input_dim=8,
        encoding_dim=8,
        num_symbols=12,
        segment_length=4,
        right_context_length=0,
        time_reduction_input_dim=8,
        time_reduction_stride=2,
        transformer_num_heads=2,
        transformer_ffn_dim=16,
        transformer_num_layers=1,
        transformer_dropout=0.1,
        transformer_activation="gelu",
        transformer_left_context_length=4,
        transformer_max_memory_size=0,
        transformer_weight_init_scale_strategy="depthwise",
        transformer_tanh_on_mem=True,
        symbol_embedding_dim=8,
        num_lstm_layers=1,
        lstm_layer_norm=True,
        lstm_layer_norm_epsilon=1e-3,
        lstm_dropout=0.1,
    )


@case("torchaudio")
def audio_transducer() -> Any:
    lengths = torch.tensor([12, 8]), torch.tensor([4, 3])
    return transducer(), (torch.randn(2, 12, 8), lengths[0], torch.randint(0, 12, (2, 4)), lengths[1])


@case("torchaudio")
def audio_transducer_beam_search() -> Any:
    from torchaudio.models import RNNTBeamSearch

    return RNNTBeamSearch(transducer().eval(), blank=11, step_max_tokens=2), (torch.randn(6, 8), torch.tensor([6]), 2)


@case("torchaudio")
def audio_transducer_streaming() -> Any:
    return transducer().eval().transcribe_streaming, (torch.randn(1, 4, 8), torch.tensor([4]), None)


@case("torchaudio")
def audio_tacotron_infer() -> Any:
    from torchaudio.models import Tacotron2

    model = Tacotron2(
        n_mels=8,
        n_symbol=10,
        symbol_embedding_dim=8,
        encoder_embedding_dim=8,
        decoder_rnn_dim=8,
        decoder_max_step=4,
        attention_rnn_dim=8,
        attention_hidden_dim=8,
        attention_location_n_filter=4,
        prenet_dim=8,
        postnet_embedding_dim=8,
    )
    return model.eval().infer, (torch.randint(0, 10, (2, 6)), torch.tensor([6, 4]))


@case("torchaudio")
def audio_wav2vec2() -> Any:
    from torchaudio.models import wav2vec2_model

    layers = [(16, 10, 5), (16, 3, 2)]
    model = wav2vec2_model(
        "group_norm", layers, False, 16, 0.1, 8, 2, 2, 2, 0.1, 32, 0.1, 0.1, False, 0.2, aux_num_out=7
    )
    return model, (torch.randn(2, 400), torch.tensor([400, 300]))


@case("torchaudio")
def audio_wav2vec2_features() -> Any:
    from torchaudio.models import wavlm_model

    layers = [(16, 10, 5), (16, 3, 2)]
    model = wavlm_model(
        "layer_norm", layers, True, 16, 0.1, 8, 2, 2, 2, 8, 16, 0.1, 32, 0.1, 0.1, True, 0.0, aux_num_out=None
    )
    return model.eval().extract_features, (torch.randn(2, 400),), {"num_layers": 2}


@case("torchaudio")
def audio_conformer() -> Any:
    from torchaudio.models import Conformer

    return Conformer(8, 2, 16, 1, 3, dropout=0.1), (torch.randn(2, 10, 8), torch.tensor([10, 7]))


@case("torchaudio")
def audio_conv_tasnet() -> Any:
    from torchaudio.models import ConvTasNet

    return ConvTasNet(2, 8, 16, 3, 8, 16, 2, 1), (torch.randn(2, 1, 203),)


@case("torchaudio")
def audio_wave_rnn_infer() -> Any:
    from torchaudio.models import WaveRNN

    model = WaveRNN([2, 2], 16, 4, n_res_block=1, n_rnn=8, n_fc=8, n_freq=8, n_hidden=8, n_output=8)
    return model.eval().infer, (torch.randn(1, 8, 6), torch.tensor([6]))


@case("torchaudio")
def audio_squim() -> Any:
    from torchaudio.models import squim_objective_model

    return squim_objective_model(16, 8, 16, 2, 8, 1, "LSTM", 7), (torch.randn(1, 400),)


@case("torchaudio")
def audio_spec_augment() -> Any:
    from torchaudio.transforms import SpecAugment

    return SpecAugment(2, 4, 2, 3, iid_masks=True, p=0.5), (torch.rand(2, 1, 16, 20),)


@case("torchaudio")
def audio_vad() -> Any:
    from torchaudio.transforms import Vad

    return Vad(8000, trigger_level=0.1), (torch.randn(1, 8000),)


@case("torchaudio")
def audio_inverse_mel() -> Any:
    from torchaudio.transforms import GriffinLim, InverseMelScale

    return torch.nn.Sequential(InverseMelScale(33, 8, 8000), GriffinLim(64, n_iter=2, rand_init=False)), (
        torch.rand(1, 8, 12),
    )


@case("torchaudio")
def audio_pitch_shift() -> Any:
    from torchaudio.transforms import PitchShift

    return PitchShift(8000, 4, n_fft=128), (torch.randn(1, 2000),)


@case("torchaudio")
def audio_resample() -> Any:
    from torchaudio.transforms import Resample, SpeedPerturbation

    speed, resample = SpeedPerturbation(8000, [0.9, 1.1]), Resample(8000, 6000)

    def change(x: torch.Tensor, lengths: torch.Tensor) -> Any:
        changed, kept = speed(x, lengths)
        return resample(changed), kept

    return change, (torch.randn(2, 800), torch.tensor([800, 600]))


@case("torchaudio")
def audio_cmvn_deltas() -> Any:
    from torchaudio.transforms import ComputeDeltas, SlidingWindowCmn

    return torch.nn.Sequential(ComputeDeltas(), SlidingWindowCmn(cmn_window=6, norm_vars=True)), (
        torch.randn(1, 12, 8),
    )


@case("torchaudio")
def audio_kaldi_features() -> Any:
    from torchaudio.compliance import kaldi

    return kaldi.mfcc, (torch.randn(1, 4000),), {"sample_frequency": 8000.0, "dither": 1.0, "num_mel_bins": 23}


@case("torchaudio")
def audio_mvdr() -> Any:
    from torchaudio.transforms import MVDR

    spectrum = torch.randn(1, 3, 17, 10, dtype=torch.cdouble)
    return MVDR(solution="stv_power", multi_mask=True), (spectrum, torch.rand(1, 3, 17, 10), torch.rand(1, 3, 17, 10))


@case("torchaudio")
def audio_pitch_frequency() -> Any:
    from torchaudio.functional import detect_pitch_frequency

    return detect_pitch_frequency, (torch.randn(1, 4000), 8000)


@case("torchaudio")
def audio_edit_distance() -> Any:
    from torchaudio.functional import edit_distance

    return edit_distance, (torch.tensor([1, 2, 3, 4]), torch.tensor([1, 3, 4]))


# pytorch-msssim, lpips


@case("pytorch-msssim")
def multi_scale_ssim() -> Any:
    from pytorch_msssim import MS_SSIM

    return MS_SSIM(data_range=1.0, channel=3, win_size=3), (torch.rand(2, 3, 64, 64), torch.rand(2, 3, 64, 64))


@case("pytorch-msssim")
def ssim_volume() -> Any:
    from pytorch_msssim import SSIM

    loss = SSIM(data_range=1.0, channel=1, spatial_dims=3, nonnegative_ssim=True)
    return loss, (torch.rand(1, 1, 16, 16, 16), torch.rand(1, 1, 16, 16, 16))


@case("lpips")
def lpips_alex() -> Any:
    import lpips

    loss = lpips.LPIPS(net="alex", pretrained=False, pnet_rand=True, spatial=True, verbose=False)
    return loss, (torch.rand(1, 3, 64, 64), torch.rand(1, 3, 64, 64)), {"retPerLayer": True, "normalize": True}


# asteroid


def sources(count: int = 2) -> tuple[torch.Tensor, torch.Tensor]:
    return torch.randn(2, count, 400), torch.randn(2, count, 400)


@case("asteroid")
def asteroid_pit_loss() -> Any:
    from asteroid.losses import PITLossWrapper, pairwise_neg_sisdr

    return PITLossWrapper(pairwise_neg_sisdr, pit_from="pw_mtx"), sources(), {"return_est": True}


@case("asteroid")
def asteroid_pit_hungarian() -> Any:
    from asteroid.losses import PITLossWrapper, singlesrc_neg_sisdr

    return PITLossWrapper(singlesrc_neg_sisdr, pit_from="pw_pt"), sources(4)


@case("asteroid")
def asteroid_sink_pit() -> Any:
    from asteroid.losses import SinkPITLossWrapper, pairwise_neg_sisdr

    return SinkPITLossWrapper(pairwise_neg_sisdr, n_iter=3), sources()


@case("asteroid")
def asteroid_mixit() -> Any:
    from asteroid.losses import MixITLossWrapper, multisrc_neg_sisdr

    return MixITLossWrapper(multisrc_neg_sisdr), (torch.randn(2, 4, 400), torch.randn(2, 2, 400)), {"return_est": True}


@case("asteroid")
def asteroid_multi_scale_loss() -> Any:
    from asteroid.losses import SingleSrcMultiScaleSpectral

    loss = SingleSrcMultiScaleSpectral(n_filters=[64, 32], windows_size=[64, 32], hops_size=[32, 16])
    return loss, (torch.randn(2, 400), torch.randn(2, 400))


@case("asteroid")
def asteroid_dprnn() -> Any:
    from asteroid.models import DPRNNTasNet

    model = DPRNNTasNet(2, bn_chan=8, hid_size=8, chunk_size=10, n_repeats=1, n_filters=8, use_mulcat=True)
    return model, (torch.randn(1, 401),)


@case("asteroid")
def asteroid_fasnet() -> Any:
    from asteroid.models import FasNetTAC

    model = FasNetTAC(
        2, enc_dim=8, feature_dim=8, hidden_dim=8, n_layers=1, tac_hidden_dim=8, chunk_size=10, hop_size=5
    )
    return model, (torch.randn(2, 3, 1600),), {"valid_mics": torch.tensor([3, 2])}


@case("asteroid")
def asteroid_overlap_add() -> Any:
    from asteroid.dsp.overlap_add import LambdaOverlapAdd
    from asteroid.models import ConvTasNet

    model = ConvTasNet(2, n_filters=8, bn_chan=8, hid_chan=8, skip_chan=8, n_blocks=2, n_repeats=1)
    return LambdaOverlapAdd(model, n_src=2, window_size=200), (torch.randn(1, 1, 500),)


@case("asteroid")
def asteroid_beamformer() -> Any:
    from asteroid.dsp.beamforming import SCM, SoudenMVDRBeamformer

    scm, beamformer = SCM(), SoudenMVDRBeamformer()

    def enhance(mix: torch.Tensor, mask: torch.Tensor) -> torch.Tensor:
        return beamformer(mix, scm(mix, mask), scm(mix, 1 - mask))

    return enhance, (torch.randn(1, 3, 9, 12, dtype=torch.cfloat), torch.rand(1, 9, 12))


@case("asteroid-filterbanks")
def filterbank_roundtrip() -> Any:
    from asteroid_filterbanks import Decoder, Encoder, make_enc_dec

    encoder, decoder = make_enc_dec("param_sinc", n_filters=16, kernel_size=17, stride=8)
    assert isinstance(encoder, Encoder) and isinstance(decoder, Decoder)

    def roundtrip(x: torch.Tensor) -> torch.Tensor:
        return decoder(encoder(x), length=x.shape[-1])

    return roundtrip, (torch.randn(2, 1, 400),)


@case("asteroid-filterbanks")
def filterbank_griffin_lim() -> Any:
    from asteroid_filterbanks import STFTFB, Encoder
    from asteroid_filterbanks.griffin_lim import griffin_lim

    return griffin_lim, (torch.rand(1, 33, 12), Encoder(STFTFB(64, 64, 32))), {"n_iter": 2}


@case("asteroid-filterbanks")
def filterbank_pcen() -> Any:
    from asteroid_filterbanks.pcen import StatefulPCEN

    return StatefulPCEN(trainable=True, n_channels=2), (torch.rand(2, 2, 8, 6),)


# nnAudio


@case("nnAudio")
def nnaudio_cqt() -> Any:
    from nnAudio.features import CQT2010v2

    return CQT2010v2(sr=8000, hop_length=64, fmin=220, n_bins=24, verbose=False), (torch.randn(1, 4000),)


@case("nnAudio")
def nnaudio_vqt() -> Any:
    from nnAudio.features import VQT

    return VQT(sr=8000, hop_length=64, fmin=220, n_bins=24, gamma=5, verbose=False), (torch.randn(1, 4000),)


@case("nnAudio")
def nnaudio_stft_roundtrip() -> Any:
    from nnAudio.features import STFT

    stft = STFT(n_fft=64, hop_length=16, iSTFT=True, verbose=False)

    def roundtrip(x: torch.Tensor) -> torch.Tensor:
        return stft.inverse(stft(x), onesided=True, length=400)

    return roundtrip, (torch.randn(1, 400),)


@case("nnAudio")
def nnaudio_mfcc() -> Any:
    from nnAudio.features import MFCC

    return MFCC(sr=8000, n_mfcc=5, n_fft=128, n_mels=16, hop_length=32, verbose=False), (torch.randn(2, 800),)


# torch-audiomentations


def waves() -> tuple[torch.Tensor]:
    return (torch.rand(3, 2, 8000) - 0.5,)


@case("torch-audiomentations")
def audiomentations_compose() -> Any:
    from torch_audiomentations import Compose, Gain, PolarityInversion, Shift

    chain = Compose([Gain(p=1.0), PolarityInversion(p=0.5), Shift(p=1.0)], output_type="tensor")
    return chain.train(), waves(), {"sample_rate": 8000}


@case("torch-audiomentations")
def audiomentations_colored_noise() -> Any:
    from torch_audiomentations import AddColoredNoise

    return AddColoredNoise(p=1.0, mode="per_channel", output_type="tensor").train(), waves(), {"sample_rate": 8000}


@case("torch-audiomentations")
def audiomentations_mix_normalize() -> Any:
    from torch_audiomentations import PeakNormalization, ShuffleChannels

    chain = torch.nn.Sequential(
        ShuffleChannels(p=1.0, sample_rate=8000, output_type="tensor"), PeakNormalization(p=0.5, output_type="tensor")
    )
    return chain.train(), waves()


@case("torch-audiomentations")
def audiomentations_time() -> Any:
    from torch_audiomentations import SpliceOut, TimeInversion

    splice = SpliceOut(max_width=100, p=1.0, output_type="tensor").train()
    invert = TimeInversion(p=0.5, output_type="tensor").train()

    def change(x: torch.Tensor) -> torch.Tensor:
        return invert(splice(x, sample_rate=8000), sample_rate=8000)

    return change, waves()


# ptwt


@case("ptwt")
def wavelet_transform() -> Any:
    import ptwt

    def roundtrip(x: torch.Tensor) -> torch.Tensor:
        return ptwt.waverec(ptwt.wavedec(x, "db4", level=3, mode="reflect"), "db4")

    return roundtrip, (torch.randn(2, 65),)


@case("ptwt")
def wavelet_transform_2d() -> Any:
    import ptwt

    def roundtrip(x: torch.Tensor) -> torch.Tensor:
        return ptwt.waverec2(ptwt.wavedec2(x, "haar", level=2), "haar")

    return roundtrip, (torch.randn(2, 16, 18),)


@case("ptwt")
def wavelet_packets() -> Any:
    import ptwt

    def packets(x: torch.Tensor) -> Any:
        tree = ptwt.WaveletPacket2D(x, "db2", mode="zero", maxlevel=2)
        return torch.stack([tree[node] for node in ptwt.WaveletPacket2D.get_natural_order(2)])

    return packets, (torch.randn(1, 16, 16),)


@case("ptwt")
def wavelet_continuous() -> Any:
    import ptwt

    return ptwt.cwt, (torch.randn(2, 128), torch.tensor([1.0, 2.0, 4.0]), "mexh")


@case("ptwt")
def wavelet_matrix() -> Any:
    from ptwt import MatrixWavedec, MatrixWaverec

    decompose, reconstruct = MatrixWavedec("db2", level=2), MatrixWaverec("db2")

    def roundtrip(x: torch.Tensor) -> torch.Tensor:
        return reconstruct(decompose(x))

    return roundtrip, (torch.randn(2, 32),)


# efficient transformers


@case("perceiver-pytorch")
def perceiver_image() -> Any:
    from perceiver_pytorch import Perceiver

    model = Perceiver(
        num_freq_bands=2,
        depth=2,
        max_freq=4.0,
        num_latents=4,
        latent_dim=8,
        latent_heads=2,
        num_classes=3,
        weight_tie_layers=True,
    )
    return model, (torch.rand(1, 8, 8, 3),)


@case("perceiver-pytorch")
def perceiver_language_model() -> Any:
    from perceiver_pytorch import PerceiverLM

    model = PerceiverLM(
        dim=8,
        num_tokens=20,
        max_seq_len=16,
        depth=1,
        num_latents=4,
        latent_dim=8,
        latent_heads=2,
        cross_dim_head=4,
        latent_dim_head=4,
    )
    return model, (torch.randint(0, 20, (1, 10)),), {"mask": torch.ones(1, 10).bool()}


@case("reformer-pytorch")
def reformer_language_model() -> Any:
    from reformer_pytorch import ReformerLM

    model = ReformerLM(20, 16, 2, 32, heads=2, dim_head=8, bucket_size=4, n_hashes=2, ff_chunks=2, causal=True)
    return model, (torch.randint(0, 20, (1, 32)),)


@case("reformer-pytorch")
def reformer_training() -> Any:
    from reformer_pytorch import ReformerLM
    from reformer_pytorch.generative_tools import TrainingWrapper

    model = ReformerLM(20, 16, 1, 32, heads=2, dim_head=8, bucket_size=4, n_hashes=2, ff_chunks=2, causal=True)
    return TrainingWrapper(model), (torch.randint(0, 20, (1, 33)),), {"return_loss": True}


@case("reformer-pytorch")
def reformer_generate() -> Any:
    from reformer_pytorch import ReformerLM
    from reformer_pytorch.generative_tools import TrainingWrapper

    model = ReformerLM(20, 16, 1, 32, heads=2, dim_head=8, bucket_size=4, n_hashes=2, ff_chunks=2, causal=True)
    return TrainingWrapper(model).generate, (torch.randint(0, 20, (1, 5)), 3), {"eos_token": 1}


@case("performer-pytorch")
def performer_language_model() -> Any:
    from performer_pytorch import PerformerLM

    model = PerformerLM(
        num_tokens=20,
        max_seq_len=32,
        dim=16,
        depth=2,
        heads=2,
        dim_head=8,
        local_attn_heads=1,
        local_window_size=8,
        feature_redraw_interval=1,
        nb_features=8,
    )
    return model.train(), (torch.randint(0, 20, (1, 32)),), {"mask": torch.ones(1, 32).bool()}


@case("performer-pytorch")
def performer_generate() -> Any:
    from performer_pytorch import PerformerLM
    from performer_pytorch.autoregressive_wrapper import AutoregressiveWrapper

    model = PerformerLM(num_tokens=20, max_seq_len=32, dim=16, depth=1, heads=2, dim_head=8, generalized_attention=True)
    return AutoregressiveWrapper(model).generate, (torch.randint(0, 20, (1, 5)), 3), {"repetition_penalty": 1.2}


@case("titans-pytorch")
def titans_memory() -> Any:
    from titans_pytorch import NeuralMemory

    memory = NeuralMemory(dim=16, chunk_size=4, heads=2, dim_head=8, qk_rmsnorm=True)
    return memory, (torch.randn(1, 17, 16),), {"return_surprises": True}


# python-doctr


@case("python-doctr")
def doctr_sar_decoder() -> Any:
    from doctr.models.recognition.sar.pytorch import SARDecoder

    return SARDecoder(16, 4, 12, 16, 16, feat_chans=16).eval(), (torch.randn(2, 16, 2, 6), torch.randn(2, 16))


@case("python-doctr")
def doctr_ctc_decode() -> Any:
    from doctr.models.recognition.crnn.pytorch import CTCPostProcessor

    return CTCPostProcessor("abcdef"), (torch.randn(2, 10, 7),)


@case("python-doctr")
def doctr_crnn_loss() -> Any:
    from doctr.models import crnn_mobilenet_v3_small

    model = crnn_mobilenet_v3_small(pretrained=False, pretrained_backbone=False, vocab="abcdef")
    return model, (torch.rand(2, 3, 32, 128),), {"target": ["abc", "fed"]}


@case("python-doctr")
def doctr_detection() -> Any:
    from doctr.models import db_mobilenet_v3_large

    model = db_mobilenet_v3_large(pretrained=False, pretrained_backbone=False).eval()
    return model, (torch.rand(1, 3, 64, 64),), {"return_preds": True}


# pykeen


def triples() -> Any:
    from pykeen.triples import CoreTriplesFactory

    mapped = torch.stack([torch.randint(0, 8, (20,)), torch.randint(0, 3, (20,)), torch.randint(0, 8, (20,))], 1)
    return CoreTriplesFactory(mapped, num_entities=8, num_relations=3)


@case("pykeen")
def knowledge_rotate() -> Any:
    from pykeen.models import RotatE

    return RotatE(triples_factory=triples(), embedding_dim=4).score_hrt, (torch.tensor([[0, 1, 2], [3, 0, 4]]),)


@case("pykeen")
def knowledge_tails() -> Any:
    from pykeen.models import ComplEx

    return ComplEx(triples_factory=triples(), embedding_dim=4).score_t, (torch.tensor([[0, 1], [3, 0]]),)


@case("pykeen")
def knowledge_negative_sampling() -> Any:
    from pykeen.losses import NSSALoss
    from pykeen.models import TransE
    from pykeen.sampling import BasicNegativeSampler

    factory = triples()
    model, loss = TransE(triples_factory=factory, embedding_dim=4), NSSALoss()
    sampler = BasicNegativeSampler(mapped_triples=factory.mapped_triples, num_negs_per_pos=3)

    def train(positive: torch.Tensor) -> Any:
        negative, mask = sampler.sample(positive)
        scores = model.score_hrt(negative.view(-1, 3)).view(len(positive), -1)
        return loss.process_slcwa_scores(model.score_hrt(positive), scores, batch_filter=mask)

    return train, (factory.mapped_triples[:4],)


@case("pykeen")
def knowledge_graph_convolution() -> Any:
    from pykeen.models import RGCN

    return RGCN(triples_factory=triples(), embedding_dim=4, num_layers=1).score_hrt, (torch.tensor([[0, 1, 2]]),)


@case("pykeen")
def knowledge_label_smoothing_loss() -> Any:
    from pykeen.losses import CrossEntropyLoss

    labels = torch.zeros(3, 8)
    labels[:, 2] = 1
    return CrossEntropyLoss().process_lcwa_scores, (torch.randn(3, 8), labels), {"label_smoothing": 0.1}


# deepinv


@case("deepinv")
def inverse_total_variation() -> Any:
    from deepinv.models import TVDenoiser

    return TVDenoiser(n_it_max=5), (torch.rand(1, 1, 12, 12),), {"ths": 0.1}


@case("deepinv")
def inverse_sure_loss() -> Any:
    import deepinv as dinv

    physics = dinv.physics.Denoising(dinv.physics.GaussianNoise(0.1))
    model = dinv.models.UNet(in_channels=1, out_channels=1, scales=2, batch_norm=False)
    loss = dinv.loss.SureGaussianLoss(sigma=0.1)

    def train(x: torch.Tensor) -> torch.Tensor:
        y = physics(x)
        return loss(y=y, x_net=model(y, physics), physics=physics, model=model)

    return train, (torch.rand(2, 1, 16, 16),)


@case("deepinv")
def inverse_plug_and_play() -> Any:
    import deepinv as dinv

    physics = dinv.physics.Inpainting((1, 16, 16), mask=0.5)
    prior = dinv.optim.prior.PnP(dinv.models.MedianFilter(kernel_size=3))
    model = dinv.optim.PGD(dinv.optim.L2(), prior, stepsize=1.0, sigma_denoiser=0.1, max_iter=3)
    return model, (physics(torch.rand(1, 1, 16, 16)), physics)


@case("deepinv")
def inverse_tomography() -> Any:
    import deepinv as dinv

    physics = dinv.physics.Tomography(angles=6, img_width=16, normalize=False)

    def reconstruct(x: torch.Tensor) -> torch.Tensor:
        return physics.A_dagger(physics(x))

    return reconstruct, (torch.rand(1, 1, 16, 16),)


@case("deepinv")
def inverse_diffusion_restoration() -> Any:
    import deepinv as dinv

    physics = dinv.physics.Inpainting((1, 16, 16), mask=0.5, noise_model=dinv.physics.GaussianNoise(0.1))
    model = dinv.sampling.DDRM(dinv.models.MedianFilter(kernel_size=3), sigmas=[1.0, 0.5, 0.1])
    return model, (physics(torch.rand(1, 1, 16, 16)), physics)
