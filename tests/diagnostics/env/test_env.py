"""`klinic env`: machines that are sick in one way each, and a Python without torch and verl."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from types import SimpleNamespace

import pytest

from klinic.diagnostics.env import Line, Machine, packages, ready, survey
from klinic.diagnostics.env import nvidia as smi
from klinic.diagnostics.env.model import Card
from klinic.diagnostics.env.survey import probes
from klinic.diagnostics.knowledge.checks import checks
from klinic.diagnostics.readers.fast import extension

H200 = Card("NVIDIA H200", 140.4, 0.0, 9.0)
P40 = Card("Tesla P40", 22.4, 0.0, 6.1)
V100 = Card("Tesla V100-SXM2-32GB", 31.7, 0.0, 7.0)
# What nvidia-smi of a machine with one H200 says (driver 580), both ways of asking.
SMI = """#!/bin/sh
case "$*" in *query*) echo "NVIDIA H200, 143771, 512, 9.0, 580.159.04"; echo "NVIDIA H200, 143771, 0, 9.0, 580.159.04";;
*) echo "| NVIDIA-SMI 580.159.04             Driver Version: 580.159.04     CUDA Version: 13.0     |";; esac
"""


def lines(check: str, machine: Machine | None = None) -> dict[str, Line]:
    module = import_module(f"klinic.diagnostics.env.checks.{check}")
    return {one.name: one for one in module.lines(machine or Machine({}))}


@pytest.fixture
def versions(monkeypatch: pytest.MonkeyPatch) -> Callable[..., None]:
    def put(**named: str) -> None:
        has = {name.replace("_", "-"): version for name, version in named.items()}
        for module in ("packages", "checks.a_python", "checks.b_flash", "checks.c_native"):
            monkeypatch.setattr(
                f"klinic.diagnostics.env.{module}.installed", lambda package: has.get(package, ""), raising=True
            )

    return put


def test_this_machine_can_train() -> None:
    found = list(survey(Machine({"WANDB_MODE": "offline"})))
    assert ready(found)
    assert {one.topic for one in found} == {"Software", "GPUs", "Machine", "Variables", "Network"}
    assert all(one.fix for one in found if one.status != "ready")


def test_every_line_stands_in_the_fact_base() -> None:
    variables = dict.fromkeys(import_module("klinic.diagnostics.env.checks.h_variables").KNOWN, "1")
    some = [*survey(Machine(variables)), *lines("d_gpu", Machine({}, cards=(P40,), driver="470", cuda="11.4")).values()]
    names = {one.name for one in some if not one.name.startswith("variable-")} | {one.name for one in probes()}
    assert names - {*checks()} == set()


def test_nvidia_smi_is_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "nvidia-smi").write_text(SMI)
    (tmp_path / "nvidia-smi").chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
    machine = smi.with_gpus(Machine({}))
    assert (len(machine.cards), machine.driver, machine.cuda) == (2, "580.159.04", "13.0")
    assert machine.cards[0].capability == 9.0
    assert machine.cards[0].memory_gib == pytest.approx(140.4, abs=0.1)
    assert len(smi.with_gpus(Machine({"CUDA_VISIBLE_DEVICES": "1"})).cards) == 1
    assert smi.with_gpus(Machine({"CUDA_VISIBLE_DEVICES": ""})).cards == ()


def test_a_driver_that_does_not_answer_is_a_finding(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "nvidia-smi").write_text("#!/bin/sh\necho 'Failed to initialize NVML: Driver mismatch'; exit 18\n")
    (tmp_path / "nvidia-smi").chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
    line = lines("d_gpu", smi.with_gpus(Machine({})))["gpus"]
    assert (line.status, line.found) == ("missing", "Failed to initialize NVML: Driver mismatch")


@pytest.mark.parametrize(
    ("card", "status", "words"),
    [(P40, "missing", "no setting helps"), (V100, "note", "rollout.dtype=float16"), (H200, "ready", "")],
)
def test_what_a_card_can_do(card: Card, status: str, words: str) -> None:
    line = lines("d_gpu", Machine({}, cards=(card,)))["gpu-capability"]
    assert line.status == status
    assert words in line.fix


def test_a_torch_for_the_cpu_on_gpus_and_an_old_driver(monkeypatch: pytest.MonkeyPatch) -> None:
    assert lines("d_gpu", Machine({}, cards=(H200,), driver="580", cuda="13.0"))["torch-build"].status == "missing"
    monkeypatch.setattr("klinic.diagnostics.env.checks.d_gpu.torch_cuda", lambda: "13.0")
    old = lines("d_gpu", Machine({}, cards=(H200,), driver="470.1", cuda="11.4"))
    assert (old["cuda-driver"].status, old["torch-build"].status) == ("missing", "ready")
    assert lines("d_gpu", Machine({}, cards=(H200,), driver="580", cuda="13.1"))["cuda-driver"].status == "ready"


def test_a_gpu_that_somebody_uses() -> None:
    busy = Card("NVIDIA H200", 140.4, 60.0, 9.0)
    assert lines("d_gpu", Machine({}, cards=(busy,)))["gpu-memory-free"].status == "note"


@pytest.mark.parametrize(
    ("package", "version", "gpu", "status"),
    [
        ("tensordict", "0.9.0", False, "missing"),
        ("transformers", "5.6.0", False, "missing"),
        ("transformers", "5.10.4", False, "ready"),
        ("transformers", "5.10.4", True, "note"),  # within verl's range, not the pin of its vllm extra
        ("vllm", "", False, "ready"),
        ("vllm", "", True, "missing"),
        ("vllm", "0.6.3.post1", True, "missing"),
        ("torch", "2.11.0+cu130", True, "ready"),
        ("torch", "2.13.0+cpu", True, "note"),
    ],
)
def test_versions(versions: Callable[..., None], package: str, version: str, gpu: bool, status: str) -> None:
    versions(**{package: version})
    machine = Machine({}, cards=(H200,) if gpu else ())
    assert lines("a_python", machine)[f"package-{package}"].status == status


@pytest.mark.parametrize(
    ("variables", "compiled", "version", "status", "words"),
    [
        ({}, {"INTERFACE": extension.INTERFACE}, "0.1.0", "ready", "in use"),
        ({}, None, "", "ready", "not installed"),
        ({"KLINIC_NATIVE": "0"}, {"INTERFACE": extension.INTERFACE}, "0.1.0", "ready", "KLINIC_NATIVE is 0"),
        ({}, {"INTERFACE": 0}, "0.1.0", "note", "another release"),
    ],
)
def test_the_compiled_reader(
    monkeypatch: pytest.MonkeyPatch,
    versions: Callable[..., None],
    variables: dict[str, str],
    compiled: dict[str, int] | None,
    version: str,
    status: str,
    words: str,
) -> None:
    versions(klinic_native=version)
    monkeypatch.setenv("KLINIC_NATIVE", variables.get("KLINIC_NATIVE", "1"))
    # None: not to be found.
    monkeypatch.setitem(sys.modules, extension.MODULE, compiled and SimpleNamespace(**compiled))
    monkeypatch.setattr(extension, "_looked_up", extension._looked_up.__wrapped__)
    line = lines("c_native", Machine(variables))["klinic-native"]
    assert line.status == status
    assert words in line.found
    assert line.found.startswith("in use") == (words == "in use")
    assert bool(line.fix) == (status == "note")


def test_known_bad_pairs(versions: Callable[..., None]) -> None:
    versions(verl="0.9.1", vllm="0.6.3.post1", torch="2.6.0", flash_attn="2.7.2.post1", tensordict="0.10.0")
    found = {pair.of for pair in packages.bad_pairs()}
    assert found == {"vllm<0.24", "torch<2.7"}
    versions(verl="0.9.1", torch="2.11.0", flash_attn="2.7.2.post1")
    assert [pair.who for pair in packages.bad_pairs()] == ["flash-attn<2.8"]


def test_pairs_are_about_packages_that_are_looked_at() -> None:
    from packaging.requirements import Requirement

    named = {Requirement(text).name for pair in packages.pairs() for text in (pair.who, pair.of)}
    assert named <= {*packages.RELATED}


def test_flash_attn(versions: Callable[..., None]) -> None:
    versions()
    assert lines("b_flash")["flash-attn"].status == "ready"
    line = lines("b_flash", Machine({}, cards=(H200,)))["flash-attn"]
    assert "attn_implementation=sdpa" in line.fix
    versions(flash_attn="2.3.0")
    assert lines("b_flash", Machine({}, cards=(H200,)))["flash-attn"].status == "missing"


@pytest.mark.parametrize(
    ("files", "found"),
    [
        ({"sys/fs/cgroup/memory.max": "8589934592", "proc/self/cgroup": "0::/"}, "this container may use 8.0"),
        (
            {
                "sys/fs/cgroup/memory/docker/abc/memory.limit_in_bytes": "4294967296",
                "proc/self/cgroup": "4:memory:/docker/abc",
            },
            "may use 4.0",
        ),
        ({"sys/fs/cgroup/memory/memory.limit_in_bytes": "9223372036854771712", "proc/self/cgroup": "4:memory:/x"}, ""),
    ],
)
def test_a_containers_memory(tmp_path: Path, files: dict[str, str], found: str) -> None:
    write(tmp_path, {"proc/meminfo": "MemTotal:       67108864 kB\n", **files})
    line = lines("e_memory", Machine({}, root=tmp_path))["memory"]
    assert line.found == "64.0 GiB" if not found else found in line.found


def test_no_shared_memory(tmp_path: Path) -> None:
    assert lines("e_memory", Machine({}, root=tmp_path))["shared-memory"].status == "missing"


def test_a_quota_of_cpus(tmp_path: Path) -> None:
    write(tmp_path, {"sys/fs/cgroup/job/cpu.max": "50000 100000", "proc/self/cgroup": "0::/job"})
    line = lines("f_cpu", Machine({}, root=tmp_path))["cpus"]
    assert "a quota of 0.5" in line.found
    assert "num_cpus=1" in line.fix


def write(root: Path, files: dict[str, str]) -> None:
    for name, text in files.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text)


@pytest.mark.parametrize(
    ("variables", "name", "status"),
    [
        ({"VLLM_DTYPE": "float32"}, "variable-VLLM_DTYPE", "note"),
        ({"PYTORCH_CUDA_ALLOC_CONF": "expandable_segments:True"}, "variable-PYTORCH_CUDA_ALLOC_CONF", "missing"),
        ({"PYTORCH_CUDA_ALLOC_CONF": "max_split_size_mb:128"}, "variable-PYTORCH_CUDA_ALLOC_CONF", "ready"),
        ({"CUDA_VISIBLE_DEVICES": "0", "ROCR_VISIBLE_DEVICES": "0"}, "visible-devices", "missing"),
        ({"http_proxy": "http://p:3128"}, "proxy", "note"),
        ({"http_proxy": "http://p:3128", "no_proxy": "localhost,127.0.0.1"}, "proxy", "ready"),
        ({}, "wandb-login", "note"),
        ({"WANDB_API_KEY": "x"}, "wandb-login", "ready"),
    ],
)
def test_variables(variables: dict[str, str], name: str, status: str) -> None:
    assert lines("h_variables", Machine(variables))[name].status == status


def test_a_secret_is_not_shown() -> None:
    assert "hf_abc" not in str(lines("h_variables", Machine({"HF_TOKEN": "hf_abc"})))


def test_a_taken_port_and_a_nameless_host(monkeypatch: pytest.MonkeyPatch) -> None:
    import socket

    with socket.create_server(("127.0.0.1", 0)) as server:
        module = import_module("klinic.diagnostics.env.checks.i_network")
        monkeypatch.setattr(module, "PORTS", {server.getsockname()[1]: "Ray's head"})
        assert lines("i_network")["ray-ports"].status == "note"
    monkeypatch.setattr(socket, "gethostname", lambda: "no-such-host.invalid")
    assert lines("i_network")["host-name"].status == "missing"


def test_a_full_disk(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("shutil.disk_usage", lambda _: SimpleNamespace(free=2**30, used=99 * 2**30, total=100 * 2**30))
    assert lines("g_limits")["disk-runs"].status == "missing"
