"""Odd keys and values give an answer, never an exception."""

from types import NoneType

from hypothesis import given, settings
from hypothesis import strategies as st

from klinic.diagnostics.run import Config, Run, Source
from klinic.diagnostics.verlconfig import Settings, all_keys, check_override, facts, for_version, nearest, violations
from klinic.diagnostics.verlconfig.compose import compose
from klinic.diagnostics.verlconfig.constraints import all_constraints
from klinic.diagnostics.verlconfig.dialects import OPENRLHF, TRL, VERL
from klinic.diagnostics.verlconfig.values import parsed

VALUES = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-3, 10_000),
    st.floats(),
    st.text(max_size=12),
    st.sampled_from(["${a.b}", "${oc.select:x,1}", "1e-6", "[a,b]", "???", "gae", "grpo"]),
    st.lists(st.integers(), max_size=3),
)
CONSTRAINED = sorted({key for rule in all_constraints() for key in rule.keys})
KEYS = st.one_of(st.sampled_from(CONSTRAINED), st.sampled_from(all_keys()), st.text("abc._+~", max_size=20))


@settings(max_examples=60, deadline=None)
@given(KEYS, VALUES, st.dictionaries(st.sampled_from(CONSTRAINED), VALUES, max_size=6))
def test_check_override(key: str, value: object, config: dict[str, object]) -> None:
    checked = check_override(key, value, Config(config))
    assert checked.ok or checked.message
    assert all(found.message for found in violations(Settings(config)))


@settings(max_examples=60, deadline=None)
@given(
    st.sampled_from(["verl", "trl", "openrlhf", "", "slime"]),
    st.sampled_from(["", "0.1", "0.5 or later", "0.9.1", "dev"]),
    st.dictionaries(
        st.sampled_from(sorted({key for names in (VERL, TRL, OPENRLHF) for keys in names.values() for key in keys})),
        VALUES,
        max_size=8,
    ),
)
def test_facts(framework: str, version: str, config: dict[str, object]) -> None:
    about = facts(Run(source=Source(framework=framework, version=version), config=Config(config)))
    assert about.U is None or about.U > 0
    assert all(getattr(about, name) is not None for name in about.inferred)


@settings(max_examples=60, deadline=None)
@given(st.text(max_size=30), st.text("0123456789.v", max_size=8))
def test_names(key: str, version: str) -> None:
    assert isinstance(nearest(key), list)
    assert for_version(key, version) is None or isinstance(for_version(key, version), str)


@settings(max_examples=50, deadline=None)
@given(st.lists(st.text("abc=+~.[]{}'\",1:", max_size=16), max_size=3))
def test_composition(texts: list[str]) -> None:
    done = compose(texts, "table")
    assert {one.text for one in done.refused} <= set(texts)


@settings(max_examples=60, deadline=None)
@given(st.text("[]{},:'\" ab1e-.", max_size=20))
def test_values(text: str) -> None:
    assert isinstance(parsed(text), (str, bool, int, float, list, dict, NoneType))
