"""The CPU rollout against the models themselves: what it samples, what it says about it, and when it stops."""

from __future__ import annotations

import asyncio
import importlib
from collections import Counter
from pathlib import Path
from typing import Any

import pytest


class Late:
    """A module that is imported on first use: torch takes seconds, and every worker collects this file."""

    def __init__(self, name: str) -> None:
        self._name = name

    def __getattr__(self, name: str) -> Any:
        return getattr(importlib.import_module(self._name), name)


pytestmark = pytest.mark.slow  # models of three families, run token by token
torch: Any = Late("torch")
generate: Any = Late("klinic.trainer.plugin.cpu.generate")
sampling: Any = Late("klinic.trainer.plugin.cpu.sampling")

EOS = 3
PROMPTS = [[5, 6, 7], [8] * 10, [11, 12, 13, 14, 15, 16], [5, 6, 7]]


def build(family: str, seed: int = 0) -> Any:
    from transformers import AutoModelForCausalLM, GPT2Config, LlamaConfig, Qwen2Config

    torch.manual_seed(seed)
    ends = {"vocab_size": 41, "eos_token_id": EOS, "bos_token_id": None, "pad_token_id": 0}
    shape = {
        "hidden_size": 32,
        "intermediate_size": 64,
        "num_hidden_layers": 2,
        "num_attention_heads": 4,
        "num_key_value_heads": 2,
        "max_position_embeddings": 128,
    }
    config = {
        "qwen2": lambda: Qwen2Config(**shape, **ends, tie_word_embeddings=True),
        "llama": lambda: LlamaConfig(**shape, **ends),
        "gpt2": lambda: GPT2Config(n_embd=32, n_layer=2, n_head=4, n_positions=128, **ends),
    }[family]()
    model = AutoModelForCausalLM.from_config(config).eval()
    for parameter in model.parameters():
        parameter.data.mul_(4)  # a random model is nearly uniform: make it choosy
    return model


@pytest.fixture(scope="module", params=["qwen2", "llama", "gpt2"])
def model(request: pytest.FixtureRequest) -> Any:
    return build(request.param)


@pytest.fixture(scope="module")
def qwen() -> Any:
    return build("qwen2")


def decode(
    model: Any, prompts: list[list[int]], seed: int = 1, eos: tuple[int, ...] = (), **how: Any
) -> list[generate.Request]:
    requests = [generate.Request(prompt, sampling.Sampling(**{"max_tokens": 12, **how})) for prompt in prompts]
    generate.Generator(model, eos, 0, seed).run(requests)
    return requests


def logits(model: Any, tokens: list[int]) -> torch.Tensor:
    with torch.no_grad():
        found: torch.Tensor = model(torch.tensor([tokens])).logits[0].float()
    return found


def test_log_probabilities_are_those_of_a_forward_pass_at_that_temperature(model: Any) -> None:
    for request in decode(model, PROMPTS, temperature=0.7, logprobs=True):
        expected = torch.log_softmax(logits(model, request.prompt + request.tokens) / 0.7, -1)
        for at, (token, found) in enumerate(zip(request.tokens, request.logprobs, strict=True)):
            assert found == pytest.approx(float(expected[len(request.prompt) - 1 + at, token]), abs=1e-4)


def test_greedy_takes_the_best_token_each_time(model: Any) -> None:
    for request in decode(model, PROMPTS, temperature=0.0):
        tokens = list(request.prompt)
        for token in request.tokens:
            assert token == int(logits(model, tokens)[-1].argmax())
            tokens.append(token)


@pytest.mark.parametrize("how", [{"top_k": 1}, {"top_p": 1e-6}])
def test_the_narrowest_filters_are_greedy(qwen: Any, how: dict[str, Any]) -> None:
    narrow = decode(qwen, PROMPTS, temperature=1.0, **how)
    assert [each.tokens for each in narrow] == [each.tokens for each in decode(qwen, PROMPTS, temperature=0.0)]
    assert all(logprob == pytest.approx(0.0, abs=1e-6) for each in narrow for logprob in each.logprobs)


@pytest.mark.parametrize("how", [{}, {"temperature": 0.5}, {"top_k": 3}, {"top_p": 0.5}])
def test_first_tokens_come_as_often_as_the_model_says(qwen: Any, how: dict[str, Any]) -> None:
    drawn = Counter(each.tokens[0] for each in decode(qwen, [[5, 6, 7]] * 4000, max_tokens=1, **how))
    scaled = logits(qwen, [5, 6, 7])[-1] / how.get("temperature", 1.0)
    order = scaled.argsort(descending=True)
    share = scaled.softmax(-1)
    kept = order[: how.get("top_k", len(order))]
    before = share[kept].cumsum(0) - share[kept]
    kept = kept[before < how.get("top_p", 1.0)]
    expected = torch.zeros_like(share).index_copy(0, kept, share[kept] / share[kept].sum())
    assert set(drawn) <= {int(token) for token in kept}
    for token in kept.tolist():
        share_of_it = float(expected[token])
        error = (share_of_it * (1 - share_of_it) / 4000) ** 0.5
        assert drawn[token] / 4000 == pytest.approx(share_of_it, abs=5 * error + 1e-3)


def test_a_seed_gives_the_same_responses_in_any_order_and_company(qwen: Any) -> None:
    alone = decode(qwen, [PROMPTS[1]], seed=7)
    together = decode(qwen, PROMPTS, seed=7)
    turned = decode(qwen, PROMPTS[::-1], seed=7)
    assert alone[0].tokens == together[1].tokens
    assert sorted(map(str, (each.tokens for each in together))) == sorted(map(str, (each.tokens for each in turned)))
    assert [each.tokens for each in decode(qwen, PROMPTS, seed=8)] != [each.tokens for each in together]


def test_one_prompt_asked_twice_gives_two_responses_and_a_new_round_others_again(qwen: Any) -> None:
    generator = generate.Generator(qwen, (), 0, 1)
    rounds = []
    for number in (0, 1):
        generator.new_round(number)
        requests = [generate.Request([5, 6, 7], sampling.Sampling(max_tokens=12)) for _ in range(2)]
        generator.run(requests)
        rounds.append([each.tokens for each in requests])
    assert len({str(tokens) for tokens in rounds[0] + rounds[1]}) == 4


def test_a_seed_of_the_request_itself_wins(qwen: Any) -> None:
    assert _own_seed(qwen, 1) == _own_seed(qwen, 2)


def _own_seed(model: Any, seed: int) -> list[int]:
    request = generate.Request(PROMPTS[0], sampling.Sampling(max_tokens=12, seed=99))
    generate.Generator(model, (), 0, seed).run([request])
    return request.tokens


def test_responses_end_with_the_end_token_or_at_their_limit(qwen: Any) -> None:
    every = tuple(range(0, 41, 2))
    for request in decode(qwen, PROMPTS * 8, eos=every):
        assert len(request.tokens) == len(request.logprobs) <= 12
        assert all(token not in every for token in request.tokens[:-1])
        assert request.tokens[-1] in every or len(request.tokens) == 12


def test_limits_hold_row_by_row(qwen: Any) -> None:
    requests = [generate.Request([5, 6], sampling.Sampling(max_tokens=limit)) for limit in (1, 7, 3, 20)]
    generate.Generator(qwen, (), 0, 1).run(requests)
    assert [len(each.tokens) for each in requests] == [1, 7, 3, 20]


def test_min_tokens_and_ignore_eos_keep_a_row_going(qwen: Any) -> None:
    every = tuple(range(0, 41, 2))
    assert all(len(each.tokens) >= 5 for each in decode(qwen, PROMPTS * 4, eos=every, min_tokens=5))
    assert all(len(each.tokens) == 12 for each in decode(qwen, PROMPTS, eos=every, ignore_eos=True))


def test_the_repetition_penalty_makes_seen_tokens_rarer(qwen: Any) -> None:
    def repeats(penalty: float) -> int:
        found = decode(qwen, PROMPTS * 8, temperature=0.0, repetition_penalty=penalty)
        return sum(len(each.tokens) - len(set(each.tokens)) for each in found)

    assert repeats(5.0) < repeats(1.0)


def test_finished_rows_leave_the_batch(qwen: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    sizes: list[int] = []
    forward = qwen.forward

    def spy(*args: Any, **kwargs: Any) -> Any:
        sizes.append(len(kwargs["input_ids"]))
        return forward(*args, **kwargs)

    monkeypatch.setattr(qwen, "forward", spy)
    requests = [generate.Request([5, 6], sampling.Sampling(max_tokens=limit)) for limit in (2, 2, 2, 10)]
    generate.Generator(qwen, (), 0, 1).run(requests)
    assert sizes == [4, 4, *[1] * 8]


def test_an_empty_prompt_is_refused(qwen: Any) -> None:
    with pytest.raises(ValueError, match="prompt without tokens"):
        decode(qwen, [[]])


@pytest.fixture
def server(tmp_path: Path, qwen: Any) -> Any:
    from klinic.trainer.plugin.cpu.server import Limits, TransformersServer

    qwen.save_pretrained(tmp_path)
    before = torch.get_num_threads()
    limits = Limits(prompt_length=16, response_length=8, max_num_seqs=64)
    yield TransformersServer(limits, str(tmp_path), False, 0, 0)
    torch.set_num_threads(before)


def test_concurrent_requests_are_decoded_together(server: Any, awaited: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    batches: list[int] = []
    run = server.generator.run
    monkeypatch.setattr(server.generator, "run", lambda requests: (batches.append(len(requests)), run(requests)))

    async def ask() -> list[Any]:
        calls = [server.generate([5, 6, at % 30 + 4], {"logprobs": True}, str(at)) for at in range(100)]
        return await asyncio.gather(*calls)

    outputs = awaited(ask())
    assert batches == [64, 36]
    assert all(1 <= len(each.token_ids) <= 8 and len(each.log_probs) == len(each.token_ids) for each in outputs)


def test_new_weights_are_served_and_wrong_ones_refused(server: Any, awaited: Any) -> None:
    async def greedy() -> list[int]:
        output = await server.generate([5, 6, 7], {"temperature": 0}, "x")
        assert output.log_probs is None
        return [output.extra_fields["global_steps"], *output.token_ids]

    other = build("qwen2", seed=5)
    weights = {name: value.numpy() for name, value in other.state_dict().items()}

    async def story() -> None:
        before = await greedy()
        await server.update_weights(weights, True, 4)
        after = await greedy()
        assert before[0] is None and after[0] == 4 and before[1:] != after[1:]
        with pytest.raises(ValueError, match="the rollout model lacks: nonsense"):
            await server.update_weights({"nonsense": weights["model.norm.weight"]}, True, 5)
        with pytest.raises(ValueError, match="no weights for"):
            await server.update_weights({"model.norm.weight": weights["model.norm.weight"]}, True, 5)

    awaited(story())


def test_an_error_while_decoding_reaches_every_caller(server: Any, awaited: Any) -> None:
    async def ask() -> list[Any]:
        calls = [server.generate(prompt, {}, "x") for prompt in ([], [5])]
        return await asyncio.gather(*calls, return_exceptions=True)

    assert all(isinstance(each, ValueError) for each in awaited(ask()))
