"""Values that forks share: each sees what was added to it, and nothing of the others."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from klinic.diagnostics.engine.sharedvalues import Track


@given(st.data())
def test_forks_go_their_own_way(data: st.DataObject) -> None:
    tracks, wanted = [Track()], [list[float]()]
    for number in range(data.draw(st.integers(1, 40))):
        at = data.draw(st.integers(0, len(tracks) - 1))
        if data.draw(st.booleans()) and len(tracks) < 6:
            tracks.append(tracks[at].fork())
            wanted.append(wanted[at].copy())
            continue
        new = [float(number)] * data.draw(st.integers(0, 30))
        tracks[at].add(np.array(new))
        wanted[at] += new
        assert [track.values.tolist() for track in tracks] == wanted
