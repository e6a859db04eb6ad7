import json

import pytest

from klinic.trainer.model.corpus import CARELESS, solution
from klinic.trainer.model.embedded import NEEDED, embedded_model


def made():
    """How the embedded model was made, and its accuracy then."""
    return json.loads((embedded_model() / "made.json").read_text("utf-8"))


def test_the_embedded_model_is_whole_and_has_room_to_learn():
    folder = embedded_model()
    assert sum((folder / name).stat().st_size for name in NEEDED) < 4 * 2**20
    assert 0.3 <= made()["greedy"] <= 0.6


def test_the_careless_pupil_is_wrong_as_often_as_it_says():
    import itertools
    import random

    from klinic.trainer.data.arithmetic import problems
    from klinic.trainer.rewards.rule import extract

    rng, wrong = random.Random(1), {kind: [] for kind in CARELESS}
    for each in itertools.islice(problems(9), 3000):
        wrong[each.kind].append(extract(solution(each, rng)) != str(each.answer))
    for kind, answers in wrong.items():
        assert sum(answers) / len(answers) == pytest.approx(CARELESS[kind], abs=0.12)


@pytest.mark.slow
@pytest.mark.filterwarnings("default")
def test_the_weights_score_what_their_card_says_and_the_tokenizer_suits_verl():
    transformers = pytest.importorskip("transformers")
    from klinic.trainer.model.measure import accuracy
    from klinic.trainer.model.tokenizer import train_tokenizer

    folder = embedded_model()
    tokenizer = transformers.AutoTokenizer.from_pretrained(folder)
    model = transformers.AutoModelForCausalLM.from_pretrained(folder)
    found = accuracy(model, tokenizer, 512)
    assert found["greedy"] == pytest.approx(made()["greedy"], abs=0.02)
    assert found["sampled"] == pytest.approx(made()["sampled"], abs=0.06)
    assert tokenizer.eos_token == "<|im_end|>"
    assert len(tokenizer.encode("\n")) == 1
    assert len(tokenizer.encode("123")) == 3
    assert tokenizer.decode(tokenizer.encode("Zoë, 中文?")) == "Zoë, 中文?"
    assert train_tokenizer().get_vocab() == tokenizer.get_vocab()
