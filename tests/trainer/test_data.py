import itertools
import json
import random

import polars as pl
import pytest
from click.testing import CliRunner
from hypothesis import given
from hypothesis import strategies as st

from klinic.trainer.cli.data import data
from klinic.trainer.data.arithmetic import KINDS, problem, problems
from klinic.trainer.data.check import FIRST, Limits, check
from klinic.trainer.data.generate import validation_questions, write_arithmetic
from klinic.trainer.data.gsm8k import INSTRUCTION, DataError, rows, splits
from klinic.trainer.data.rows import write
from klinic.trainer.data.tokenizer import HUB_S, NoTokenizerError, counter

QUESTION = "Natalia sold 48 clips. How many?"


def row(**changes):
    made = {
        "data_source": "openai/gsm8k",
        "prompt": [{"role": "user", "content": "1+1?"}],
        "ability": "math",
        "reward_model": {"style": "rule", "ground_truth": "2"},
        "extra_info": {"split": "train", "index": 0, "question": "1+1?", "answer": "2"},
    }
    return made | changes


def parquet(folder, rows, name="train.parquet"):
    write(rows, folder / name)
    return folder / name


@given(st.integers(0, 10_000))
def test_a_problem_states_its_numbers_and_comes_out_whole(seed):
    made = problem(random.Random(seed))
    numbers = {str(step.left) for step in made.steps[:1]} | {str(step.right) for step in made.steps[:1]}
    assert all(number in made.question for number in numbers)
    assert made.answer >= 0
    assert made.mistake != made.steps
    for before, after in itertools.pairwise(made.steps):
        assert before.result in (after.left, after.right)
    assert all(step.left % step.right == 0 for step in made.steps if step.sign == "/")


def test_every_kind_comes_and_a_seed_repeats():
    drawn = list(itertools.islice(problems(3), 400))
    assert {each.kind for each in drawn} == {maker.__name__.strip("_") for maker in KINDS}
    assert drawn == list(itertools.islice(problems(3), 400))
    assert len({each.question for each in drawn}) == 400


def test_training_and_validation_share_no_question(tmp_path):
    train, test = write_arithmetic(tmp_path, 3000, 5)
    asked = pl.read_parquet(train)["extra_info"].struct.field("question")
    assert asked.len() == 3000
    assert not set(asked) & validation_questions()
    assert set(pl.read_parquet(test)["extra_info"].struct.field("question")) == validation_questions()
    assert check(train, test) == []


def test_gsm8k_rows_have_the_instruction_and_the_bare_answer(tmp_path):
    file = tmp_path / "train-00000.jsonl"
    file.write_text(json.dumps({"question": QUESTION, "answer": "48/2 = <<48/2=24>>24\n#### 1,024"}) + "\n")
    assert splits(tmp_path) == {"train": file}
    (made,) = rows(file, "train")
    assert made["prompt"] == [{"role": "user", "content": f"{QUESTION} {INSTRUCTION}"}]
    assert made["reward_model"] == {"style": "rule", "ground_truth": "1024"}
    assert made["extra_info"]["answer"].endswith("#### 1,024")


def test_gsm8k_in_verls_schema_already_is_converted_to_the_same(tmp_path):
    made = row(extra_info={"split": "train", "index": 0, "question": QUESTION, "answer": "#### 3"})
    (again,) = rows(parquet(tmp_path, [made]), "train")
    assert again["prompt"][0]["content"] == f"{QUESTION} {INSTRUCTION}"
    assert again["reward_model"]["ground_truth"] == "3"


def test_gsm8k_names_the_row_that_is_not_its(tmp_path):
    file = tmp_path / "train.jsonl"
    good = {"question": QUESTION, "answer": "#### 3"}
    file.write_text("".join(json.dumps(each) + "\n" for each in (good, good | {"answer": "three"})))
    with pytest.raises(DataError, match="row 1 has an answer without"):
        list(rows(file, "train"))


def test_gsm8k_from_a_file_of_another_kind(tmp_path):
    file = tmp_path / "train.txt"
    file.write_text("root:x:0\n")
    with pytest.raises(DataError, match=r"train\.txt: is none of \.parquet, \.jsonl, \.json"):
        list(rows(file, "train"))


def test_gsm8k_from_a_folder_without_it(tmp_path):
    result = CliRunner().invoke(data, ["gsm8k", "--from", str(tmp_path), "--out", str(tmp_path)])
    assert result.exit_code == 2
    assert "holds no train*.parquet" in result.output


@pytest.mark.parametrize(
    ("changes", "column", "words"),
    [
        ({"prompt": []}, "prompt", "no message"),
        ({"prompt": [{"role": "human", "content": "x"}]}, "prompt[0].role", "'human'"),
        ({"prompt": [{"role": "user", "content": "  "}]}, "prompt[0].content", "empty"),
        ({"prompt": [{"role": "assistant", "content": "x"}]}, "prompt", "ends with the assistant"),
        ({"reward_model": {"style": "rule", "ground_truth": None}}, "reward_model.ground_truth", "missing"),
        ({"data_source": ""}, "data_source", "empty"),
    ],
)
def test_check_names_row_column_and_fix(tmp_path, changes, column, words):
    file = parquet(tmp_path, [row(), row(prompt=[{"role": "user", "content": "2+2?"}]) | changes])
    (found,) = check(file)
    assert (found.row, found.column) == (1, column)
    assert words in found.message
    assert found.fix
    assert str(found).startswith(f"row 1, {column}: ")


def test_check_of_columns_that_are_missing(tmp_path):
    file = tmp_path / "x.parquet"
    pl.DataFrame({"question": ["a"]}).write_parquet(file)
    assert [each.column for each in check(file)] == ["prompt", "data_source", "reward_model"]


def test_check_counts_what_repeats_and_notes_duplicates(tmp_path):
    bad = [row(prompt=[{"role": "user", "content": f"{n}"}], data_source="") for n in range(9)]
    found = check(parquet(tmp_path, [*bad, row(), row()]))
    sources = [each for each in found if each.kind == "source"]
    assert len(sources) == FIRST + 1
    assert sources[-1].count == 9 - FIRST
    (twice,) = [each for each in found if each.kind == "duplicate"]
    assert (twice.row, twice.fatal) == (10, False)
    assert "row 9" in twice.message


def test_check_finds_overlap_and_long_prompts(tmp_path):
    val = parquet(tmp_path, [row()], "val.parquet")
    train = parquet(tmp_path, [row(prompt=[{"role": "user", "content": "a b c d"}]), row()])
    limits = Limits(3, lambda messages: len(messages[0]["content"].split()))
    found = {each.kind: each for each in check(train, val, limits)}
    assert set(found) == {"overlap", "too-long"}
    assert found["overlap"].row == 1
    assert found["too-long"].row == 0
    assert "max_prompt_length to 4" in found["too-long"].fix


def test_check_of_what_is_no_data_file(tmp_path):
    broken = tmp_path / "x.parquet"
    broken.write_bytes(b"PAR1 and then nothing")
    (found,) = check(broken)
    assert found.kind == "unreadable"
    assert "\n" not in str(found)


def test_command_check_exits_by_what_it_found(tmp_path):
    good, bad = parquet(tmp_path, [row()]), parquet(tmp_path, [row(data_source="")], "bad.parquet")
    assert CliRunner().invoke(data, ["check", str(good)]).exit_code == 0
    result = CliRunner().invoke(data, ["check", str(bad)])
    assert result.exit_code == 1
    assert "row 0, data_source: is empty" in result.output


@pytest.mark.parametrize(
    ("model", "said"),
    [
        ("file", "it is no folder"),
        ("empty", "the folder holds none of tokenizer.json"),
        ("no/such/place", "no model of a hub has such a name"),
    ],
)
def test_what_is_no_tokenizer_is_told_before_anything_large_is_imported(tmp_path, python, model, said):
    (tmp_path / "file").write_text("no model")
    (tmp_path / "empty").mkdir()
    parquet(tmp_path, [row()])
    code = f"""
    import sys
    from klinic.trainer.cli.data import data
    try:
        data(["check", "train.parquet", "--model", "{model}"])
    except SystemExit as left:
        print(left.code, "transformers" in sys.modules)
    """
    assert python(code, tmp_path).split() == ["2", "False"]
    with pytest.raises(NoTokenizerError, match=said):
        counter(str(tmp_path / model) if model != "no/such/place" else model)


class Hub:
    """Answers in the hub's place; keeps how long it was given."""

    def __init__(self, error):
        self.error, self.waited = error, []

    def model_info(self, name, timeout):
        self.waited.append(timeout)
        raise self.error


@pytest.mark.parametrize("cached", [False, True])
def test_a_silent_hub_is_asked_once_and_what_was_fetched_before_is_used(monkeypatch, cached):
    hub = Hub(ConnectionError("nobody there\nat all"))
    monkeypatch.setattr("huggingface_hub.HfApi", lambda: hub)
    monkeypatch.setattr("huggingface_hub.try_to_load_from_cache", lambda *_: "a file" if cached else None)
    if cached:
        assert callable(counter("some/model"))
    else:
        with pytest.raises(NoTokenizerError, match=r"the hub cannot be asked \(nobody there\)"):
            counter("some/model")
    assert hub.waited == [HUB_S]


def test_a_broken_tokenizer_is_a_reason_of_one_line(tmp_path):
    (tmp_path / "tokenizer.json").write_text("{")
    count = counter(str(tmp_path))
    with pytest.raises(NoTokenizerError) as caught:
        count([{"role": "user", "content": "1+1?"}])
    assert len(str(caught.value).splitlines()) == 1


def test_the_command_counts_by_the_embedded_tokenizer(model_with_tokenizer, tmp_path):
    tokens = counter(str(model_with_tokenizer))([{"role": "user", "content": "1+1?"}])
    command = ["check", str(parquet(tmp_path, [row()])), "--model", "embedded", "--max-prompt-length"]
    assert CliRunner().invoke(data, [*command, str(tokens)]).exit_code == 0
    assert f"max_prompt_length to {tokens}" in CliRunner().invoke(data, [*command, str(tokens - 1)]).output
