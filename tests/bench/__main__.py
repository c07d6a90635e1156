"""`make bench`: an edit beside a minimal app, the core beside plain NumPy, and files."""

import argparse
import statistics
from collections.abc import Sequence

from tests.bench import core, files
from tests.bench.edit import Bench, Cost
from tests.browser.serve import chromium, serving

APPS = {"minimal app": "tests/bench/minimal_app.py", "attnviz": "app.py"}
MAX_RATIO = 1.5
MAX_BYTES = 40_000
WARM_UP = 2


def measure(rounds: int, apps: dict[str, str]) -> dict[str, list[Cost]]:
    """Edits in turn, one in each app, so that both meet the same state of the machine."""
    costs: dict[str, list[Cost]] = {}
    (first, first_script), (second, second_script) = apps.items()
    with serving(first_script) as one, serving(second_script) as two, chromium() as browser:
        benches = {first: Bench(browser, one.address), second: Bench(browser, two.address)}
        for turn in range(WARM_UP + rounds):
            for name, bench in benches.items():
                cost = bench.edit(f"0.{turn + 11}")
                if turn >= WARM_UP:
                    costs.setdefault(name, []).append(cost)
        for bench in benches.values():
            bench.close()
    return costs


def table(header: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    """Print rows in columns: words to the left, numbers to the right."""
    lines = [header, *rows]
    widths = [max(len(line[place]) for line in lines) for place in range(len(header))]
    for line in lines:
        first, *rest = (
            cell.rjust(width) if place else cell.ljust(width)
            for place, (cell, width) in enumerate(zip(line, widths, strict=True))
        )
        print("  ".join([first, *rest]))
    print()


def verdict(value: float, limit: float) -> str:
    return "ok" if value <= limit else "MISSED"


def edits(costs: dict[str, list[Cost]]) -> None:
    """The table of the edits, and whether the targets hold."""
    rows = []
    for name, of_app in costs.items():
        low, middle, high = statistics.quantiles((c.milliseconds for c in of_app), n=4)
        size = statistics.median(c.received for c in of_app)
        count = statistics.median(c.messages for c in of_app)
        rows.append(
            (name, f"{middle:.0f}", f"{low:.0f} to {high:.0f}", f"{size / 1000:.1f}", f"{count:g}")
        )
    print(f"One cell edited, {len(next(iter(costs.values())))} times in turn\n")
    table(("", "Enter to last repaint, ms", "middle half", "kB received", "messages"), rows)
    base, ours = costs.values()
    ratio = statistics.median(c.milliseconds for c in ours) / statistics.median(
        c.milliseconds for c in base
    )
    size = statistics.median(c.received for c in ours)
    table(
        ("", "measured", "target", ""),
        [
            (
                "time, ratio to the minimal app",
                f"{ratio:.2f}",
                f"{MAX_RATIO}",
                verdict(ratio, MAX_RATIO),
            ),
            (
                "kB received per edit",
                f"{size / 1000:.1f}",
                f"{MAX_BYTES / 1000:g}",
                verdict(size, MAX_BYTES),
            ),
        ],
    )


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m tests.bench", description=__doc__)
    parser.add_argument("--rounds", type=int, default=20, help="edits in each app (20)")
    rounds = parser.parse_args().rounds
    edits(measure(rounds, APPS))
    print("The core, every stage kept, beside a NumPy loop over heads\n")
    table(
        ("", "core, ms", "loop, ms", "ratio"),
        [
            (name, f"{ours:.3f}", f"{loop:.3f}", f"{ours / loop:.2f}")
            for name, ours, loop in core.compare()
        ],
    )
    print("Files and links\n")
    table(("", "format", "kB", "ms"), list(files.compare()))


if __name__ == "__main__":
    main()
