"""CSV: verl's flat names, W&B exports with several runs, odd cells, and public tables."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path

import pytest

from klinic.diagnostics.readers import ReadError, open_run, open_runs
from klinic.diagnostics.run import Run


def read(tmp_path: Path, text: str) -> Run:
    path = tmp_path / "log"
    path.write_text(text)
    return open_run(path)


@pytest.mark.parametrize(
    ("name", "rows", "metric", "first", "last"),
    [
        ("014_verl_csv_reward_all_zero_gradnorm_zero_49steps.csv", 49, "actor/entropy", 0.0431, 0.043),
        ("015_verl_csv_reward_exactly_zero_19steps.csv", 19, "critic/score/mean", 0.0, 0.0),
        ("017_verl_csv_entropy_collapse_every20_excerpt.csv", 11, "actor/entropy", 0.21899, 0.0036),
        ("017_verl_csv_entropy_collapse_every20_excerpt.csv", 11, "critic/score/mean", 0.36, 0.93),
        ("019_verl_csv_gradnorm_spike48_every20_excerpt.csv", 12, "actor/entropy", 0.2744, 0.003),
        ("019_verl_csv_gradnorm_spike48_every20_excerpt.csv", 12, "actor/grad_norm", 4.15234375, None),
    ],
)
def test_public_verl_tables(data: Path, name: str, rows: int, metric: str, first: float, last: float | None) -> None:
    run = open_run(data / "logs" / name)
    values = run.frame[metric].to_list()
    assert (run.source.format, run.source.framework, run.frame.height) == ("csv", "verl", rows)
    assert values[0] == pytest.approx(first, abs=0.006)
    assert last is None or values[-1] == pytest.approx(last, abs=0.006)


def test_the_gradient_of_a_table_without_reward_is_nearly_always_zero(data: Path) -> None:
    run = open_run(data / "logs/014_verl_csv_reward_all_zero_gradnorm_zero_49steps.csv")
    assert (run.frame["actor/grad_norm"] == 0).sum() >= 45
    assert run.steps == (1, 49)


def test_huge_finite_values_and_booleans_are_values(data: Path) -> None:
    run = open_run(data / "logs/021_verl_csv_huge_ratio_values_first60_excerpt.csv")
    assert max(run.frame["actor/prefix_ratio_mean"].drop_nulls()) == 9196126.46875
    assert run.frame["actor/use_cached_prefix_old_logprob"].to_list()[0] == 1.0
    assert run.nonfinite.width == 0


def test_a_wandb_export_of_pretraining_is_not_rl(data: Path) -> None:
    run = open_run(data / "logs/033_wandb_ui_csv_export_quoted_min_max.csv")
    assert run.frame["lm_loss"].to_list()[0] == 12.171820640563965
    assert run.frame["step"].to_list()[:3] == [4, 52, 72]
    assert "supervised" in run.source.not_rl
    assert not any("MIN" in name or "MAX" in name for name in run.metrics)


def test_a_table_of_its_own_kind_is_read(data: Path) -> None:
    run = open_run(data / "logs/039_custom_csv_reward_mean_3rows.csv")
    assert run.frame.height == 3
    assert run.source.not_rl == ""
    assert 0.3507 in run.frame.row(2)


def test_several_runs_in_one_export_are_several_runs(tmp_path: Path) -> None:
    path = tmp_path / "export"
    header = '"Step","a - x - critic/score/mean","a - x - critic/score/mean__MIN","b - critic/score/mean"'
    path.write_text(f'{header}\n"1","0.5","0.5",""\n"2","0.6","0.6","0.1"\n')
    first, second = open_runs(path)
    assert (first.source.path, second.source.path) == (f"{path}#a - x", f"{path}#b")
    assert first.frame["critic/score/mean"].to_list() == [0.5, 0.6]
    assert second.frame["step"].to_list() == [2]
    with pytest.raises(ReadError, match="holds 2 runs"):
        open_run(path)


def test_empty_cells_are_not_logged_and_words_are_left_out_with_a_note(tmp_path: Path) -> None:
    run = read(tmp_path, "step;reward;phase;val/acc\n1;0,5;train;\n2;0.25;train;nan\n")
    assert run.frame["step"].to_list() == [1, 2]
    assert run.nonfinite["val/acc"].to_list() == [0, 1]
    assert any("cells that hold no number" in note for note in run.notes)


def test_a_quoted_cell_may_hold_line_ends_and_delimiters(tmp_path: Path) -> None:
    run = read(tmp_path, 'step,reward,answer\n1,0.5,"a, b\nc ""d"""\n2,0.75,e\n')
    assert run.frame["step"].to_list() == [1, 2]
    assert 0.75 in run.frame.row(1)


def test_blank_lines_before_the_header_and_between_rows_change_nothing(tmp_path: Path) -> None:
    run = read(tmp_path, "\n\nstep,reward\n1,0.5\n\n2,0.25\n")
    assert run.frame["step"].to_list() == [1, 2]


def test_a_bare_carriage_return_or_a_giant_cell_raises_nothing(tmp_path: Path) -> None:
    run = read(tmp_path, f"step,reward\n1,0.5\n2,\r0.25\n3,0.{'1' * 200_000}\n4,0.75\n")
    assert {1, 4} <= set(run.frame["step"].to_list())


def test_a_mark_of_byte_order_and_windows_line_ends_change_nothing(tmp_path: Path) -> None:
    plain = read(tmp_path, "step,reward\n1,0.5\n2,0.25\n").frame
    (tmp_path / "odd").write_bytes(b"\xef\xbb\xbfstep,reward\r\n1,0.5\r\n2,0.25\r\n")
    assert open_run(tmp_path / "odd").frame.equals(plain)


def test_a_cut_at_any_byte_costs_at_most_the_last_row(tmp_path: Path) -> None:
    whole = b"step,reward,actor_entropy\n1,0.51,1.25\n2,0.52,1.26\n3,0.53,1.27\n"
    full = read(tmp_path, whole.decode()).frame
    for cut in range(whole.index(b"1,"), len(whole)):
        (tmp_path / "cut").write_bytes(whole[:cut])
        try:
            frame = open_run(tmp_path / "cut").frame
        except ReadError:
            frame = full.clear()
        complete = whole[:cut].count(b"\n") - 1
        assert frame.height in (complete, complete + 1)
        assert frame.head(complete).equals(full.head(complete)) or complete == 0


@pytest.mark.parametrize(
    "text",
    [
        "a,b\nc,d\ne,f\n",
        "Engine core proc EngineCore_DP1 of this node died unexpectedly, shutting down\n",
        "Dear all, this is fine\nand so, is this\n",
        "x = f(a, b)\ny = g(c, d)\n",
    ],
)
def test_text_with_commas_is_no_table(tmp_path: Path, text: str) -> None:
    (tmp_path / "log").write_text(text)
    with suppress(ReadError):
        assert open_run(tmp_path / "log").source.format != "csv"
