"""Which addresses may be called.

A name is resolved once and the connection goes to the very address that was looked at, so a name that leads somewhere
else a moment later (DNS rebinding) gains nothing. Addresses of this machine, of private networks and of the services
that tell a machine its secrets are refused, unless the operator allows them.
"""

from __future__ import annotations

from collections.abc import Iterable
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_address, ip_network
from typing import TypeAlias

Address: TypeAlias = IPv4Address | IPv6Address
Network: TypeAlias = IPv4Network | IPv6Network

# A public address by its number, and yet where a cloud's machines find their own credentials.
_METADATA = frozenset({ip_address("168.63.129.16")})
# Set aside for special uses; older versions of the standard library take them for public.
_SET_ASIDE = tuple(
    map(
        ip_network,
        ("192.0.0.0/24", "192.88.99.0/24", "64:ff9b:1::/48", "2001:20::/28", "3fff::/20", "5f00::/16", "fec0::/10"),
    )
)
_TRANSLATED = (ip_network("64:ff9b::/96"), ip_network("::ffff:0:0:0/96"))
_OWN_CREDENTIALS = (ip_network("169.254.0.0/16"), ip_network("fe80::/10"), ip_network("fd00:ec2::/32"))


class AddressRefused(ConnectionError):
    """An address that may not be called."""

    def __init__(self, host: str) -> None:
        self.host = host
        super().__init__(host)


class Allowed:
    """What the operator allows besides public addresses: names, addresses and networks."""

    def __init__(self, entries: Iterable[str] = ()) -> None:
        names: set[str] = set()
        networks: list[Network] = []
        for entry in entries:
            network = _network(entry)
            if network is None:
                names.add(entry.lower().rstrip("."))
            else:
                networks.append(network)
        self._names = frozenset(names)
        self._networks = tuple(networks)

    def permits(self, host: str, address: str) -> bool:
        """May this address be called, that this name led to?"""
        found = _embedded(ip_address(address.partition("%")[0]))
        if _within(found, self._networks):
            return True
        if is_public(found):
            return True
        named = host.lower().rstrip(".") in self._names
        return named and not _tells_credentials(found)


def is_public(address: Address) -> bool:
    """Is it an address of the internet, where everybody's services are?"""
    found = _embedded(address)
    return found.is_global and not (found.is_multicast or _within(found, _SET_ASIDE) or _tells_credentials(found))


def _tells_credentials(address: Address) -> bool:
    return address in _METADATA or _within(address, _OWN_CREDENTIALS)


def _within(address: Address, networks: Iterable[Network]) -> bool:
    return any(address.version == network.version and address in network for network in networks)


def _embedded(address: Address) -> Address:
    """The IPv4 address inside one of IPv6, where there is one: it is where the packets go."""
    if isinstance(address, IPv4Address):
        return address
    if address.ipv4_mapped is not None:
        return address.ipv4_mapped
    if address.sixtofour is not None:
        return address.sixtofour
    if _within(address, _TRANSLATED):
        return IPv4Address(int(address) & 0xFFFFFFFF)
    if int(address) >> 32 == 0 and int(address) > 1:
        return IPv4Address(int(address) & 0xFFFFFFFF)
    return address


def _network(entry: str) -> Network | None:
    try:
        return ip_network(entry.strip("[]"), strict=False)
    except ValueError:
        return None
