"""POSIX ACLs as the kernel keeps them in extended attributes. Pure.

The format is that of Linux's `include/uapi/linux/posix_acl_xattr.h`: a version, then tag, rights and id of each entry,
little endian. Reading it here saves a process for each file.
"""

from __future__ import annotations

import errno
import struct
from typing import NamedTuple

DEFAULT = "system.posix_acl_default"
ACCESS = "system.posix_acl_access"
VERSION = 2
NOBODY = 0xFFFFFFFF
USER_OBJ, USER, GROUP_OBJ, GROUP, MASK, OTHER = 0x01, 0x02, 0x04, 0x08, 0x10, 0x20

UNSUPPORTED = (errno.ENOTSUP, errno.EOPNOTSUPP, errno.ENOSYS)
"""What a file system without ACLs answers."""

SHARED_MODE = 0o775
"""What a default ACL of a shared folder gives: owner and group all, others may read."""


class AclEntry(NamedTuple):
    """One entry: a tag, its rights (4 read, 2 write, 1 execute), and the id of a named user or group."""

    tag: int
    rights: int
    id: int = NOBODY


def parse_acl(raw: bytes) -> list[AclEntry]:
    """Read an ACL; empty where it is none that is understood."""
    if len(raw) < 4 or struct.unpack_from("<I", raw)[0] != VERSION:
        return []
    count = (len(raw) - 4) // 8
    return [AclEntry(*struct.unpack_from("<HHI", raw, 4 + 8 * index)) for index in range(count)]


def build_acl(entries: list[AclEntry]) -> bytes:
    """Write an ACL."""
    return struct.pack("<I", VERSION) + b"".join(struct.pack("<HHI", *entry) for entry in entries)


def acl_of_mode(mode: int) -> list[AclEntry]:
    """Make the ACL that says what a mode's nine bits say."""
    return [
        AclEntry(USER_OBJ, mode >> 6 & 7),
        AclEntry(GROUP_OBJ, mode >> 3 & 7),
        AclEntry(OTHER, mode & 7),
    ]


def group_rights(entries: list[AclEntry]) -> int:
    """Rights that the owning group has in effect: its entry under the mask."""
    return _one(entries, GROUP_OBJ) & _mask(entries)


def other_rights(entries: list[AclEntry]) -> int:
    """Rights of everybody else."""
    return _one(entries, OTHER)


def named_rights(entries: list[AclEntry]) -> int:
    """Rights in effect that any named user or group has."""
    rights = 0
    for entry in entries:
        if entry.tag in (USER, GROUP):
            rights |= entry.rights
    return rights & _mask(entries)


def _one(entries: list[AclEntry], tag: int) -> int:
    for entry in entries:
        if entry.tag == tag:
            return entry.rights
    return 0


def _mask(entries: list[AclEntry]) -> int:
    for entry in entries:
        if entry.tag == MASK:
            return entry.rights
    return 7
