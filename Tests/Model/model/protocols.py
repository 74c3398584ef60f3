"""The client of each protocol."""

from .wire import Pool


def pool(protocol, address):
    if protocol == "h2":
        from .wire2 import Pool2

        return Pool2(address)
    return Pool(address)
