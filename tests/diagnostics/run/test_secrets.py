"""Secrets never leave the reading."""

from __future__ import annotations

import json
import time
from pathlib import Path

import pytest

from klinic.diagnostics.cli import main
from klinic.diagnostics.readers import open_run
from klinic.diagnostics.run.secrets import MASK, masked, masked_tree

pytestmark = pytest.mark.slow

SECRETS = {
    "hugging face": ("HF_TOKEN=%s", "hf_" + "QqWwEeRrTtYyUuIiOoPp"),
    "openai": ("using key %s here", "sk-proj-" + "abcdef0123456789abcdef"),
    "github": ("https://github.com token %s", "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2"),
    "wandb": ("WANDB_API_KEY=%s", "0123456789abcdef" * 2 + "01234567"),
    "aws": ("AWS_SECRET_ACCESS_KEY: %s", "wJalrXUtnFEMI/K7MDENG/bPxRfiCY"),
    "password": ("--password '%s'", "correct-horse"),
    "address": ("cloning https://me:%s@example.org/x.git", "hunter2hunter2"),
    "slack": ("posting to https://hooks.slack.com/%s", "services/T000/B000/XXXXXXXX"),
    "feishu": ("POST https://open.feishu.cn/open-apis/bot/v2/hook/%s", "11112222-aaaa-bbbb"),
    "dingtalk": ("https://oapi.dingtalk.com/robot/send?access_token=%s", "deadbeefdeadbeef"),
    "bearer": ("Authorization: Bearer %s", "abcdefghijklmnop"),
    "json": ('{"api_key": "%s"}', "not-a-shape-9"),
}


@pytest.mark.parametrize("name", SECRETS)
def test_a_secret_is_masked_and_its_line_stays_readable(name: str) -> None:
    text, secret = SECRETS[name]
    found = masked(f"ERROR before {text % secret} after")
    assert secret not in found
    assert MASK in found
    assert found.startswith("ERROR before")


@pytest.mark.parametrize(
    "text",
    [
        "perf/total_num_tokens: 123456",
        "eos_token: <|im_end|>",
        "pad_token='<|endoftext|>'",
        "actor/ppo_kl: 0.001 - response_length/mean: 512.5",
        "max_token_len_per_gpu=16384",
        "Token indices sequence length is longer than 512",
        "KeyError: 'reward_model'",
        "key: value pairs",
        "the tokenizer: Qwen2TokenizerFast",
        "token_level_scores: tensor",
        "http://127.0.0.1:8265/dashboard",
        "api_key=${oc.env:OPENAI_API_KEY}",
        "data.reward_fn_key=data_source",
    ],
)
def test_what_is_no_secret_stays(text: str) -> None:
    assert masked(text) == text


def test_trees_are_masked_by_name() -> None:
    tree = {"a": {"wandb_api_key": "x9x9x9x9", "n": 3}, "hooks": ["https://hooks.slack.com/services/T/B/C"], "lr": 1e-6}
    found = masked_tree(tree)
    assert found["a"] == {"wandb_api_key": MASK, "n": 3}
    assert "T/B/C" not in str(found)
    assert tree["a"]["wandb_api_key"] == "x9x9x9x9"  # type: ignore[index]
    assert masked_tree({"prompt_key": "prompt", "eos_token_id": 151645}) == {
        "prompt_key": "prompt",
        "eos_token_id": 151645,
    }


def planted(folder: Path) -> list[str]:
    """A run directory with secrets in its console, config, events, samples and launch command."""
    lines = [f"ERROR {text % secret}" for text, secret in SECRETS.values()]
    hidden = [secret for _, secret in SECRETS.values()]
    folder.mkdir()
    config = {"trainer": {"wandb_api_key": hidden[3], "note": lines[0]}, "data": {"train_batch_size": 8}}
    command = ["klinic", "train", f"+trainer.hf_token={hidden[0]}"]
    (folder / "run.json").write_text(
        json.dumps({"schema": 1, "id": "x", "status": "failed", "config": config, "command": command})
    )
    steps = ({"step": step, "data": {"actor/ppo_kl": 0.001, "critic/score/mean": 0.5}} for step in range(1, 9))
    (folder / "metrics.jsonl").write_text("".join(json.dumps(step) + "\n" for step in steps))
    (folder / "console.log").write_text("\n".join([*lines, "Traceback (most recent call last):", *lines]))
    (folder / "events.jsonl").write_text(json.dumps({"kind": "failed", "step": 8, "error": lines[1]}) + "\n")
    sample = {"step": 8, "prompt": lines[2], "response": lines[3], "score": 1.0}
    (folder / "samples.jsonl").write_text(json.dumps(sample) + "\n")
    return hidden


def test_no_report_shows_a_planted_secret(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    hidden = planted(tmp_path / "run")
    run = open_run(tmp_path / "run")
    assert run.lines and run.samples and run.config and run.events
    assert not [secret for secret in hidden if secret in repr(run)]
    for form in ("text", "json", "markdown", "html"):
        with pytest.raises(SystemExit):
            main(["diagnose", str(tmp_path / "run"), "--format", form])
        said = "".join(capsys.readouterr())
        assert len(said) > 100
        assert not [secret for secret in hidden if secret in said], form


@pytest.mark.parametrize("piece", ["a_", "a.", "http", "://a:", "key=", "-----BEGIN ", "eyJa", "token "])
def test_masking_takes_no_time_on_long_odd_text(piece: str) -> None:
    started = time.perf_counter()
    masked(piece * (400_000 // len(piece)) + "key")
    assert time.perf_counter() - started < 5


def test_text_without_a_secret_is_given_back_as_it_is() -> None:
    first, again = (f"worker {number} timed out, token count 3" for number in (7, 7))
    assert first is not again
    assert masked(first) is first
    assert masked(again) is again
