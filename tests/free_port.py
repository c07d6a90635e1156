"""Print a free port on localhost: the wanted one, or one of the next twenty."""

import errno
import socket
import sys

TRIES = 20


def is_free(port: int) -> bool:
    """Whether a server may listen there, on every address that localhost has."""
    for family, kind, _, _, address in socket.getaddrinfo(
        "localhost", port, type=socket.SOCK_STREAM
    ):
        try:
            with socket.socket(family, kind) as probe:
                probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
                probe.bind(address)
        except OSError as error:
            if error.errno not in (errno.EADDRNOTAVAIL, errno.EAFNOSUPPORT):
                return False
    return True


def main(wanted: str) -> None:
    highest = 65536 - TRIES
    if not wanted.isdecimal() or not 1 <= int(wanted) <= highest:
        sys.exit(f"PORT: a number from 1 to {highest} is needed, got {wanted!r}.")
    ports = range(int(wanted), int(wanted) + TRIES)
    free = next(filter(is_free, ports), None)
    if free is None:
        sys.exit(f"Ports {ports[0]} to {ports[-1]} are all taken. Choose another: PORT=9000")
    print(free)


if __name__ == "__main__":
    main(sys.argv[1] if len(sys.argv) > 1 else "8501")
