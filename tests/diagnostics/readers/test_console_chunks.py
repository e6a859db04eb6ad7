"""Feeding in pieces, and bytes that nobody meant: the same events, never an error. For every text reader."""

from __future__ import annotations

import time
from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from klinic.diagnostics.readers import artbar, console, dictrows, plaintext, prettydict, stepblocks, summary, table
from klinic.diagnostics.readers.base import Head

pytestmark = pytest.mark.slow

MODULES = (console, dictrows, plaintext, prettydict, stepblocks, summary, artbar, table)
READERS = [module.READER for module in MODULES]
PIECES = [
    b"step:1 - actor/x:0.5 - actor/y:np.float64(nan)",
    b"(TaskRunner pid=1) step:2 - actor/x:0.25 - actor/y:1.000",
    b"\x1b[36m(W pid=2)\x1b[0m \rTraining Progress:  50%|#| 1/2 [00:01<00:01, 1.0s/it, loss=0.5, entropy=0.1]",
    b"{'loss': 0.0, 'grad_norm': nan, 'reward': '0.5', 'kl': 1e-3}",
    b"{'loss': 0.0, 'grad_norm': 1.0,",
    b"{'actor_rollout_ref': {'actor': {'lr': 1e-6,",
    b"   'x': [1, 2]}}, 'algorithm': {'gamma': 1.0}}",
    b"(\"Initial validation metrics: {'val/a': \"",
    b' "0.5}")',
    b"python3 -m verl.trainer.main_ppo a.b=1 \\",
    b"  data.x=1 trainer.y='[console]'",
    b"Error executing job with overrides: ['a.b=1', 'data.c=x']",
    b"=== [g] - METRICS STEP 1 ===",
    b"  a/b: 1.5",
    b"a/b: 1.5",
    b"| Step | Training Loss | kl |",
    b"| 1 | 0.5 | No Log |",
    b"{",
    b"    'train/loss': 0.5,",
    b"}",
    b"Traceback (most recent call last):",
    b" - actor/z:1",
    b"\xff\xfe\x00\x80",
    b"\xef\xbb\xbf",
    b"",
    b"0.5",
    b"x" * 50,
]
ENDS = [b"\n", b"\r\n", b"\r", b"", b"\n\n"]
texts = st.lists(st.tuples(st.sampled_from(PIECES), st.sampled_from(ENDS)), max_size=25).map(
    lambda parts: b"".join(piece + end for piece, end in parts)
)


def events_of(reader, pieces):
    session = reader.open(Head(b"".join(pieces)))
    found = [event for piece in pieces for event in session.feed(piece)]
    return [repr(event) for event in [*found, *session.close()]]


def cut(data, places):
    edges = [0, *sorted(place % (len(data) + 1) for place in places), len(data)]
    return [data[start:end] for start, end in pairwise(edges)]


@pytest.mark.parametrize("reader", READERS, ids=lambda reader: reader.name)
@settings(max_examples=50, deadline=None)
@given(data=texts, places=st.lists(st.integers(0, 10_000), max_size=12))
def test_any_chunking_gives_the_same_events(reader, data, places):
    assert events_of(reader, cut(data, places)) == events_of(reader, [data])


@pytest.mark.parametrize("reader", READERS, ids=lambda reader: reader.name)
@settings(max_examples=30, deadline=None)
@given(
    data=st.one_of(texts, st.binary(max_size=400)), noise=st.lists(st.tuples(st.integers(0, 4000), st.integers(0, 255)))
)
def test_mangled_bytes_never_raise(reader, data, noise):
    mangled = bytearray(data)
    for place, byte in noise:
        if mangled:
            mangled[place % len(mangled)] = byte
    assert 0 <= reader.sniff(Head(bytes(mangled))) <= 1
    events_of(reader, [bytes(mangled)])


@pytest.mark.parametrize("log", ["001", "010", "025", "027", "041", "085", "070", "073", "run_grpo_nan_reward.log"])
@pytest.mark.parametrize("size", [1, 7, 4096])
def test_excerpts_in_pieces(log_path, log, size):
    data = log_path(log).read_bytes()
    if size == 1:
        data = data[:6000]
    for reader in READERS:
        pieces = [data[start : start + size] for start in range(0, len(data), size)]
        assert events_of(reader, pieces) == events_of(reader, [data]), reader.name


@pytest.mark.parametrize("reader", READERS, ids=lambda reader: reader.name)
@pytest.mark.parametrize(
    "data",
    [b"step:1 - a/b:1 - " + b":" * 200_000, b" " * 200_000 + b"%|", b"(a pid=1) " * 20_000, b"{'loss': " * 20_000],
    ids=["colons", "blanks", "prefixes", "braces"],
)
def test_one_odd_line_costs_no_more_than_its_length(reader, data):
    before = time.process_time()
    reader.sniff(Head(data))
    events_of(reader, [data])
    assert time.process_time() - before < 2
