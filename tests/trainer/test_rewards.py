import http.server
import json
import math
import threading

import pytest

from klinic.trainer.rewards import faults, model
from klinic.trainer.rewards.rule import compute_score, extract, flexible, strict


def score(function, text, truth="18"):
    return function(data_source="x", solution_str=text, ground_truth=truth, extra_info=None)


@pytest.mark.parametrize(
    ("text", "truth", "right"),
    [
        ("9+9=18. \n#### 18", "18", 1.0),
        ("#### 17\n#### 18", "18", 1.0),
        ("#### $1,800.", "1800", 1.0),
        ("#### 18.0", "18", 1.0),
        ("#### -3", "-3", 1.0),
        ("9+9=18", "18", 0.0),
        ("#### 180", "18", 0.0),
        ("", "18", 0.0),
        ("#### eighteen", "18", 0.0),
    ],
)
def test_strict_wants_the_marked_number(text, truth, right):
    assert score(strict, text, truth) == {"score": right, "acc": right}


def test_flexible_takes_the_last_number_only_where_none_is_marked():
    assert score(flexible, "so it is 18")["score"] == 1.0
    assert score(flexible, "#### 17, no, 18")["score"] == 0.0
    assert extract("no number", flexible=True) is None


def test_the_default_is_strict():
    assert compute_score is strict


def test_fault_rewards_keep_the_true_accuracy():
    right, wrong = "9+9=18. \n#### 18", "#### 19"
    assert score(faults.zero, right) == {"score": 0.0, "acc": 1.0}
    assert score(faults.length, wrong + " " * 30)["score"] > score(faults.length, wrong)["score"]
    assert score(faults.length, "x" * 1000) == {"score": 1.0, "acc": 0.0}


def test_the_nan_reward_is_nan_now_and_then_and_else_the_rule():
    scores = [score(faults.nan, f"{n}. #### 18")["score"] for n in range(8000)]
    broken = sum(map(math.isnan, scores))
    assert 8 <= broken <= 40
    assert {each for each in scores if not math.isnan(each)} == {1.0}


@pytest.fixture
def endpoint():
    answers = {"body": {"score": 0.25}, "asked": None}

    class Handler(http.server.BaseHTTPRequestHandler):
        def do_POST(self):
            answers["asked"] = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            body = json.dumps(answers["body"]).encode()
            self.send_response(200)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_):
            pass

    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        thread = threading.Thread(target=server.serve_forever, daemon=True)
        thread.start()
        yield f"http://127.0.0.1:{server.server_port}/", answers
        server.shutdown()
        thread.join(5)


def test_model_reward_asks_an_endpoint(endpoint):
    url, answers = endpoint
    found = model.compute_score("x", "#### 18", "18", {"question": "9+9?"}, endpoint=url)
    assert found == {"score": 0.25, "acc": 1.0}
    assert answers["asked"] == {"question": "9+9?", "response": "#### 18"}
    answers["body"] = {"reward": 1}
    with pytest.raises(ValueError, match="the answer is no"):
        model.compute_score("x", "", "18", {}, endpoint=url)


def test_model_reward_says_what_is_missing(monkeypatch):
    monkeypatch.delenv("KLINIC_REWARD_MODEL", raising=False)
    monkeypatch.delenv("KLINIC_REWARD_ENDPOINT", raising=False)
    with pytest.raises(ValueError, match="KLINIC_REWARD_MODEL=DIR"):
        score(model.compute_score, "#### 18")
    with pytest.raises(ValueError, match="no answer"):
        model.asked("http://127.0.0.1:9/", "", "")


@pytest.mark.slow
def test_model_reward_scores_with_a_sequence_classifier(tmp_path):
    transformers = pytest.importorskip("transformers")
    from klinic.trainer.model.embedded import embedded_model

    tokenizer = transformers.AutoTokenizer.from_pretrained(embedded_model())
    config = transformers.Qwen2Config(
        vocab_size=512, hidden_size=32, intermediate_size=64, num_hidden_layers=1, num_attention_heads=2,
        num_key_value_heads=1, num_labels=1, pad_token_id=0,
    )  # fmt: skip
    transformers.Qwen2ForSequenceClassification(config).save_pretrained(tmp_path)
    tokenizer.save_pretrained(tmp_path)
    scores = [model.scored(str(tmp_path), "9+9?", text) for text in ("#### 18", "something else")]
    assert all(map(math.isfinite, scores))
    assert scores[0] != scores[1]
