"""Which mount a path lies on, from what the kernel tells; nothing is mounted here."""

from __future__ import annotations

from pathlib import Path

import pytest

from holdfast.storage.beside import beside_is_elsewhere, mount_of, mount_points

LINE = "{number} 29 8:1 /some/root {point} rw,relatime shared:1 - ext4 /dev/sda1 rw"


def mountinfo(*points: str) -> str:
    """Spell mountinfo: every mount has the same device, as bind mounts do."""
    lines = (LINE.format(number=30 + i, point=point) for i, point in enumerate(("/", *points)))
    return "\n".join(lines) + "\n"


@pytest.mark.parametrize(
    ("points", "elsewhere"),
    [
        ((), False),
        (("/data",), False),
        (("/data", "/data/checkpoints"), False),
        (("/data/checkpoints/orders",), True),
        (("/data", "/data/checkpoints/orders"), True),
        (("/data/checkpoints", "/data/checkpoints/orders"), True),
        (("/data/checkpoints/orders", "/data/checkpoints/.holdfast"), False),
        (("/data/checkpoints/orders", "/data/checkpoints/.holdfast/orders"), False),
        (("/data/checkpoints/orders", "/data/checkpoints/.holdfast/invoices"), True),
        (("/data/checkpoints/orders/offsets",), False),
        (("/data/checkpoints/orders2", "/data/check"), False),
    ],
)
def test_a_checkpoint_that_is_mounted_alone_is_found(
    points: tuple[str, ...], elsewhere: bool
) -> None:
    folder = "/data/checkpoints/orders"
    beside = "/data/checkpoints/.holdfast/orders"
    assert beside_is_elsewhere(mountinfo(*points), folder, beside) is elsewhere


def test_a_mount_in_the_root_folder() -> None:
    assert beside_is_elsewhere(mountinfo("/orders"), "/orders", "/.holdfast/orders")
    assert not beside_is_elsewhere(mountinfo(), "/orders", "/.holdfast/orders")


@pytest.mark.parametrize(
    ("around", "elsewhere"),
    [
        ("/ / rw - overlay overlay rw", True),
        ("/ / rw - tmpfs tmpfs rw", True),
        ("/pods/1/volumes/scratch / rw shared:1 - ext4 /dev/sda1 rw", True),
        ("/ / rw - zfs tank rw", False),
        ("/ / rw shared:1 master:2 - nfs4 server:/lake rw", False),
        ("/@data / rw - btrfs /dev/sda1 rw", False),
    ],
)
def test_a_disk_of_its_own_below_a_shared_one_is_fine(around: str, elsewhere: bool) -> None:
    """Everybody who sees the data set sees what is around it; of a container that is not so."""
    text = f"30 29 8:1 {around}\n31 30 8:2 / /orders rw - zfs tank/orders rw\n"
    assert beside_is_elsewhere(text, "/orders", "/.holdfast/orders") is elsewhere


def test_blanks_and_other_odd_names_are_read() -> None:
    points = mount_points(mountinfo("/my\\040data/a\\134b", "/tab\\011", "/ü"))
    assert points.keys() == {"/", "/my data/a\\b", "/tab\t", "/ü"}
    assert mount_of(points, "/my data/a\\b/orders") == "/my data/a\\b"


@pytest.mark.parametrize("text", ["", "\n", "garbage\n", "1 2 3\n\n4"])
def test_a_text_that_tells_nothing_finds_nothing(text: str) -> None:
    assert mount_points(text) == {}
    assert not beside_is_elsewhere(text, "/data/orders", "/data/.holdfast/orders")


def test_this_very_machine_can_be_read() -> None:
    assert "/" in mount_points(Path("/proc/self/mountinfo").read_text(encoding="utf-8"))
