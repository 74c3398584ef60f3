"""One congestion control for every socket of a comparison. pawl asks for `reno` on connections within one machine; the
others take what the system prefers, so that has to be the same."""

import contextlib
import fcntl
import pathlib
import socket
import struct

import running

CONGESTION = "reno"
CLONE_NEWNET = 0x40000000
SYSCTL = pathlib.Path("/proc/sys/net/ipv4")
is_own = False  # whether this program is in a network of its own


def preferred():
    """What a socket gets that does not ask."""
    return (SYSCTL / "tcp_congestion_control").read_text().strip()


def alone():
    """Moves this program, and with it what it starts from now on, into a network of its own: a loopback interface where
    `CONGESTION` is preferred and all ports are free. The machine's own settings stay as they are, so nothing has to be
    set back, whatever ends the comparison. Raises Failure where that is not allowed and the machine prefers another
    one."""
    global is_own
    if running.LIBC.unshare(CLONE_NEWNET) == 0:
        is_own = True
        try:
            up()
            (SYSCTL / "tcp_congestion_control").write_text(CONGESTION)
            (SYSCTL / "ip_local_port_range").write_text("10000 65000")
        except OSError as why:
            raise running.Failure(f"a network of its own could not be set up: {why}") from None
    if preferred() != CONGESTION:
        raise running.Failure(
            f"every server is to have the same congestion control, and this machine prefers {preferred()}: run this "
            "as root, "
            f"or first: sysctl net.ipv4.tcp_congestion_control={CONGESTION}"
        )


@contextlib.contextmanager
def send_buffers(most):
    """No socket holds more than so many bytes that are to be sent: thousands of them would come up against what the
    kernel has for all of TCP. Only in a network of this program's own."""
    setting, kept = SYSCTL / "tcp_wmem", (SYSCTL / "tcp_wmem").read_text()
    if is_own:
        setting.write_text(" ".join([*kept.split()[:2], str(most)]))
    try:
        yield
    finally:
        if is_own:
            setting.write_text(kept)


def up():
    """The loopback interface of a new network is down at first."""
    SIOCGIFFLAGS, SIOCSIFFLAGS, IFF_UP = 0x8913, 0x8914, 1
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as any_socket:
        flags = struct.unpack("16sH14x", fcntl.ioctl(any_socket, SIOCGIFFLAGS, struct.pack("16sH14x", b"lo", 0)))[1]
        fcntl.ioctl(any_socket, SIOCSIFFLAGS, struct.pack("16sH14x", b"lo", flags | IFF_UP))
