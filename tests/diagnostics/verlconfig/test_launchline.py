"""Overrides put into a launch command as a person wrote it."""

import shlex

import pytest
from hypothesis import given
from hypothesis import strategies as st

from klinic.diagnostics.verlconfig.launchline import overrides_in, with_overrides, words

LR = "actor_rollout_ref.actor.optim.lr"
COMMAND = f"""# tried on Monday: {LR}=1
export OUT=/data/runs
python3 -m verl.trainer.main_ppo \\
  {LR}=0.005 \\
  'trainer.logger=["console","file"]' \\
  +ray_kwargs.ray_init.num_gpus=1 2>&1 | tee $OUT/log.txt
"""


def test_a_key_that_stands_there_is_replaced_and_nothing_else_changes():
    assert with_overrides(COMMAND, [f"{LR}=5e-05"]) == COMMAND.replace("lr=0.005", "lr=5e-05")


def test_a_new_key_stands_behind_the_last_override_and_before_the_pipe():
    changed = with_overrides(COMMAND, ["critic.optim.lr=0.001"])
    assert changed == COMMAND.replace("num_gpus=1 2>", "num_gpus=1 \\\n  critic.optim.lr=0.001 2>")


def test_a_plus_stays_and_a_plus_that_is_needed_comes_along():
    assert "+ray_kwargs.ray_init.num_gpus=2 2>&1" in with_overrides(COMMAND, ["ray_kwargs.ray_init.num_gpus=2"])
    assert with_overrides("python -m x a.b=1", ["+c.d=2"]) == "python -m x a.b=1 +c.d=2"


def test_of_a_key_written_twice_the_last_one_counts():
    assert with_overrides("python -m x a.b=1 a.c=3 a.b=2", ["a.b=9"]) == "python -m x a.b=1 a.c=3 a.b=9"


def test_a_dropped_key_goes_where_it_was_written():
    assert with_overrides("python -m x a.b=1 \\\n  +a.c=3 \\\n  d.e=4", ["~a.c"]) == "python -m x a.b=1 \\\n  d.e=4"
    assert with_overrides("python -m x a.b=1", ["~c.d"]) == "python -m x a.b=1 '~c.d'"


def test_without_an_override_it_stands_at_the_end_of_the_command():
    assert with_overrides("python -m verl.trainer.main_ppo > log 2>&1", ["a.b=[x,y]"]) == (
        "python -m verl.trainer.main_ppo 'a.b=[x,y]' > log 2>&1"
    )


@pytest.mark.parametrize("value", ["null", "[console,file]", "'a b'", "${x.y}", "3e-07", '"q"'])
def test_the_shell_gives_back_the_override(value):
    changed = with_overrides("python -m x 'a.b=1' c.d=2", [f"a.b={value}"])
    assert shlex.split(changed) == ["python", "-m", "x", f"a.b={value}", "c.d=2"]


@given(st.lists(st.text(st.characters(blacklist_categories=("Cs",), blacklist_characters="\0\r"), min_size=1)))
def test_words_are_what_the_shell_splits(texts):
    line = shlex.join(texts)
    assert [word.value for word in words(line)] == texts == shlex.split(line)


@given(st.text(max_size=80))
def test_any_text_is_read_without_an_error(text):
    for word, _ in overrides_in(text):
        assert 0 <= word.start < word.end <= len(text)
    with_overrides(text, ["a.b=1"])
