"""The MCP server as an agent meets it: over stdin and stdout, by the SDK's own client."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Coroutine
from pathlib import Path
from typing import Any

import pytest
from mcp import Client, StdioServerParameters
from mcp.client.stdio import stdio_client

from klinic.diagnostics.mcp.roots import OutsideError, Roots

ROOT = Path(__file__).parents[3]
LOGS = ROOT / "sample_logs"
SICK = "h200/ppo_lr_too_high"
Awaited = Callable[[Coroutine[Any, Any, Any]], Any]
SERVE = "import sys; from klinic.diagnostics.cli import main; sys.exit(main())"


def served(awaited: Awaited, ask: Callable[[Client], Coroutine[Any, Any, Any]], root: Path = LOGS) -> Any:
    """What an agent got, that asked a server of its own."""

    async def met() -> Any:
        command = StdioServerParameters(
            command=sys.executable, args=["-c", SERVE, "mcp", "--root", str(root)], cwd=root
        )
        async with Client(stdio_client(command), read_timeout_seconds=200) as client:
            return await ask(client)

    return awaited(met())


async def answer(client: Client, tool: str, **arguments: Any) -> Any:
    result = await client.call_tool(tool, arguments)
    assert not result.is_error, result.content
    return result.structured_content or json.loads(result.content[0].text)


async def refusal(client: Client, tool: str, **arguments: Any) -> str:
    result = await client.call_tool(tool, arguments)
    assert result.is_error
    return str(result.content[0].text)


@pytest.mark.slow
def test_an_agent_sees_what_there_is_and_diagnoses_and_prescribes(awaited: Awaited) -> None:
    async def ask(client: Client) -> None:
        tools = {tool.name: tool for tool in (await client.list_tools()).tools}
        assert set(tools) == {"diagnose", "prescribe", "list_runs", "compare", "preflight", "explain"}
        assert all(tool.annotations and tool.annotations.read_only_hint for tool in tools.values())
        assert all(tool.description for tool in tools.values())
        (run,) = (await answer(client, "diagnose", path=SICK))["runs"]
        assert (run["verdict"], run["root_cause"]) == ("sick", "POL01")
        assert "values" not in run["run"]["config"]
        (cure,) = (await answer(client, "prescribe", path=str(LOGS / SICK)))["runs"]
        assert "actor_rollout_ref.actor.optim.lr=5e-05" in cure["overrides"]

    served(awaited, ask)


@pytest.mark.slow
def test_an_agent_compares_checks_a_launch_and_has_names_explained(awaited: Awaited, tmp_path: Path) -> None:
    (tmp_path / "launch.sh").write_text(
        "python -m verl.trainer.main_ppo data.train_batch_size=64 actor_rollout_ref.actor.ppo_mini_batch_size=128\n"
    )
    for name in ("good", "sick"):
        (tmp_path / name).mkdir()
    for name, log in (("good", "healthy/ppo-cpu-s1"), ("sick", "faults/actor-lr-too-high-s1")):
        for file in (LOGS / log).iterdir():
            (tmp_path / name / file.name).write_bytes(file.read_bytes())

    async def ask(client: Client) -> None:
        listed = (await answer(client, "list_runs"))["runs"]
        assert [(run["name"], run["verdict"]) for run in listed] == [("sick", "sick"), ("good", "healthy")]
        assert (await answer(client, "compare", path="sick", baselines=["good"]))["code"] == 1
        found = await answer(
            client, "preflight", arguments=["launch.sh", "data.train_batch_size=96"], gpu="h200", gpus=1
        )
        assert "mini-batch-within-batch" in json.dumps(found)
        given = [f"data.train_files={tmp_path}/gone.parquet", f"data.val_files={tmp_path.parent}/gone.parquet"]
        found = await answer(client, "preflight", arguments=["launch.sh", *given])
        assert [one["message"] for one in found["findings"] if one["id"] == "FILE"] == [
            f"data.train_files: {tmp_path}/gone.parquet is not there"
        ]
        said = await answer(client, "explain", name="ppo_kl", language="zh")
        assert "actor/ppo_kl" in json.dumps(said)

    served(awaited, ask, tmp_path)


@pytest.mark.slow
def test_an_agent_is_kept_to_its_roots_and_reads_why(awaited: Awaited, tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to(LOGS / SICK)

    async def ask(client: Client) -> None:
        for path in ("link", "../x", "/etc/passwd", str(LOGS / SICK), "s3://bucket/run"):
            assert path in await refusal(client, "diagnose", path=path)
        assert "outside of what this server may read" in await refusal(client, "compare", path=".", baselines=["/etc"])
        assert "--config-path" in await refusal(client, "preflight", arguments=["--config-path=/etc"])
        assert "no profile" in await refusal(client, "diagnose", path=".", profile="/etc/passwd")
        assert "klinic:" in await refusal(client, "explain", name="no such thing at all")

    served(awaited, ask, tmp_path)


def test_roots_hold_whatever_leads_there(tmp_path: Path) -> None:
    inner, outer = tmp_path / "in", tmp_path / "out"
    for folder in (inner, outer):
        folder.mkdir()
    (inner / "run.log").write_text("x")
    (inner / "way").symlink_to(outer)
    roots = Roots([inner])
    assert roots.inside("run.log") == str(inner / "run.log") == roots.inside(str(inner / "." / "run.log"))
    assert roots.inside("not-there-yet") == str(inner / "not-there-yet")
    for path in ("way", "way/x", "../out", str(outer), "", "a\0b", "file:///etc", str(inner) + "-beside"):
        with pytest.raises(OutsideError):
            roots.inside(path)


def test_a_run_is_not_read_through_a_link_that_leads_out(tmp_path: Path) -> None:
    inner, secret = tmp_path / "in", tmp_path / "secret.log"
    secret.write_text("password of the house\n")
    for run, name in (("a", "console.log"), ("b", "command.txt"), ("c", "run.json")):
        (inner / run).mkdir(parents=True)
        (inner / run / "metrics.jsonl").write_text('{"step": 1, "data": {"actor/pg_loss": 0.1}}\n')
        if name == "console.log":
            (inner / run / "run.json").write_text('{"schema": "klinic.run/1"}')
        (inner / run / name).symlink_to(secret)
    roots = Roots([inner])
    for asked in ("a", "b/metrics.jsonl", "c", "."):
        with pytest.raises(OutsideError, match="leads out"):
            roots.inside(asked)
    (inner / "d").mkdir()
    (inner / "d" / "metrics.jsonl").write_text('{"step": 1, "data": {"actor/pg_loss": 0.1}}\n')
    assert roots.inside("d") == str(inner / "d")
