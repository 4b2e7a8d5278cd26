"""Rows of a mapped matrix are asked for together, and are what is in the file."""

import mmap
from pathlib import Path

import numpy as np
import pytest

from store.vectors.read_ahead import ReadAhead

ROW = 3_072  # bytes of a row of 768 numbers

pytestmark = pytest.mark.skipif(not hasattr(mmap, "MADV_WILLNEED"), reason="nothing can be asked for here")


class RecordingMap:
    """Stands in for the map, and notes what is asked of it."""

    def __init__(self) -> None:
        self.ranges: list[tuple[int, int]] = []

    def madvise(self, option: int, start: int, length: int) -> None:
        assert option == mmap.MADV_WILLNEED
        self.ranges.append((start, start + length))


@pytest.fixture
def matrix(tmp_path: Path) -> np.ndarray:
    path = tmp_path / "matrix.npy"
    np.save(path, np.arange(64 * 768, dtype=np.float32).reshape(64, 768))
    return np.asarray(np.load(path, mmap_mode="r"))


def test_rows_side_by_side_are_asked_for_together(matrix: np.ndarray) -> None:
    ahead, asked = ReadAhead(matrix[16:]), RecordingMap()
    ahead._map = asked
    ahead.ask(np.array([3, 4, 5, 20]))
    begin = 128 + 16 * ROW  # after the file's header
    expected = [(begin + 3 * ROW, begin + 6 * ROW), (begin + 20 * ROW, begin + 21 * ROW)]
    assert [end for _, end in asked.ranges] == [end for _, end in expected]
    for (start, _), (first, _) in zip(asked.ranges, expected, strict=True):
        assert start % mmap.PAGESIZE == 0
        assert 0 <= first - start < mmap.PAGESIZE
    ahead.ask(np.array([], np.intp))
    assert len(asked.ranges) == 2


def test_a_row_is_asked_for_each_time_since_the_system_may_have_dropped_it(matrix: np.ndarray) -> None:
    ahead, asked = ReadAhead(matrix[16:]), RecordingMap()
    ahead._map = asked
    ahead.ask(np.array([3]))
    ahead.ask(np.array([3]))
    assert asked.ranges[0] == asked.ranges[1]


def test_the_system_takes_what_it_is_asked(matrix: np.ndarray) -> None:
    ahead = ReadAhead(matrix[16:])
    ahead.ask(np.arange(48))
    assert matrix[16:][47, 767] == 64 * 768 - 1
