"""Print a free port on localhost: the wanted one, or one of the next twenty."""

import socket
import sys


def is_free(port: int) -> bool:
    with socket.socket(socket.AF_INET, socket.SOCK_STREAM) as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind(("127.0.0.1", port))
        except OSError:
            return False
    return True


if __name__ == "__main__":
    wanted = sys.argv[1] if len(sys.argv) > 1 else "8501"
    if not wanted.isdigit() or not 1 <= int(wanted) <= 65515:
        sys.exit(f"PORT: a number from 1 to 65515 is needed, got {wanted!r}.")
    free = next((port for port in range(int(wanted), int(wanted) + 20) if is_free(port)), None)
    if free is None:
        last = int(wanted) + 19
        sys.exit(f"Ports {wanted} to {last} are all taken. Choose another: make run PORT=9000")
    print(free)
