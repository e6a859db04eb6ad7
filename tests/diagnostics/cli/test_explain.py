"""`klinic explain`: metrics, rules and near spellings."""

import pytest


@pytest.mark.parametrize(
    ("word", "words"),
    [
        ("actor/ppo_kl", ["nats/token", "update-too-large (POL01)"]),
        ("ppo_kl", ["actor/ppo_kl"]),
        ("POL01", ["update-too-large (POL01)", "To try", "actor_rollout_ref.actor.optim.lr", "Wrong when"]),
        ("pol01", ["update-too-large (POL01)"]),
        ("update_too_large", ["update-too-large (POL01)"]),
        ("reward_std", ["reward"]),
        ("val-core/openai/gsm8k/acc/mean@1", ["val-core"]),
        ("hydra-unknown-key", ["Fix:"]),
    ],
)
def test_explain(klinic, word, words):
    code, out, err = klinic("explain", word)
    assert (code, err) == (0, "")
    for part in words:
        assert part in out


def test_explain_in_chinese(klinic):
    english, chinese = (klinic("explain", "entropy-collapse", "--lang", lang)[1] for lang in ("en", "zh"))
    assert "策略" in chinese
    assert "策略" not in english
    assert chinese.splitlines()[1].startswith("exploration 类指标规则，稳定，置信度")


@pytest.mark.parametrize(
    ("word", "hint"), [("updat-too-large", "update-too-large"), ("actor/ppo_kll", "actor/ppo_kl"), ("POL011", "POL01")]
)
def test_explain_suggests_the_nearest_word(klinic, word, hint, one_line):
    code, out, err = klinic("explain", word)
    assert (code, out) == (2, "")
    assert f"did you mean {hint}" in one_line(err)


@pytest.mark.slow
def test_every_rule_can_be_explained(klinic):
    from klinic.diagnostics.engine.library import all_cards

    for card in all_cards():
        code, out, _ = klinic("explain", card.id)
        assert code == 0
        assert out.startswith(f"{card.name} ({card.id})")
