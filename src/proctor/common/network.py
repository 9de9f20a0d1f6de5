"""Which addresses are this machine's own."""

from __future__ import annotations

import ipaddress


def is_loopback_ip(host: str) -> bool:
    """Tell whether `host` is a loopback address of IP, 4 or 6; a name is none."""
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False
