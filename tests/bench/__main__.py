"""`make bench`: turns beside a minimal app's, the core beside plain NumPy, and files."""

import argparse
import statistics
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from tests.bench import core, files
from tests.bench.turns import STEPS, Bench, Cost
from tests.browser.serve import chromium, serving

MAX_BYTES = 40_000
WARM_UP = 2
CLICKS = "tests/bench/minimal_clicks.py"


@dataclass(frozen=True)
class Turn:
    """What is done again and again.

    Args:
        title: in words.
        act: does it once.
        minimal: the app to compare with.
        limit: how many times as long it may take as there.
        told: whether until its arithmetic is shown, or until the last repaint.
        query: the part of the address that shows where it is done.
    """

    title: str
    act: Callable[[Bench, int], Cost]
    minimal: str
    limit: float
    query: str = ""
    told: bool = False

    def spent(self, costs: Sequence[Cost]) -> list[float]:
        return [cost.told if self.told else cost.milliseconds for cost in costs]


TURNS = (
    Turn("One cell edited", Bench.edit, "tests/bench/minimal_app.py", 1.5),
    Turn("A cell clicked for its arithmetic", Bench.click, CLICKS, 1.5, told=True),
    Turn("One step forward or back", Bench.step, CLICKS, 1.2, STEPS),
)


def measure(rounds: int, turn: Turn) -> dict[str, list[Cost]]:
    """A turn in one app and then in the other, so that both meet the same state of the machine."""
    costs: dict[str, list[Cost]] = {"minimal app": [], "attnviz": []}
    with serving(turn.minimal) as one, serving() as two, chromium() as browser:
        benches = [Bench(browser, f"{server.address}/{turn.query}") for server in (one, two)]
        for count in range(WARM_UP + rounds):
            for bench, of_app in zip(benches, costs.values(), strict=True):
                cost = turn.act(bench, count)
                if count >= WARM_UP:
                    of_app.append(cost)
        for bench in benches:
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


def report(turn: Turn, costs: dict[str, list[Cost]]) -> None:
    """The table of the turns, and whether the targets hold."""
    rows = []
    for name, of_app in costs.items():
        low, middle, high = statistics.quantiles(turn.spent(of_app), n=4)
        whole = statistics.median(cost.milliseconds for cost in of_app)
        size = statistics.median(cost.received for cost in of_app) / 1000
        count = statistics.median(cost.messages for cost in of_app)
        times = f"{middle:.0f}", f"{low:.0f} to {high:.0f}", f"{whole:.0f}"
        rows.append((name, *times, f"{size:.1f}", f"{count:g}"))
    print(f"{turn.title}, {len(next(iter(costs.values())))} times in turn\n")
    until = "to the arithmetic, ms" if turn.told else "to the last repaint, ms"
    table(("", until, "middle half", "all painted, ms", "kB received", "messages"), rows)
    base, ours = costs.values()
    ratio = statistics.median(turn.spent(ours)) / statistics.median(turn.spent(base))
    size = statistics.median(c.received for c in ours)
    table(
        ("", "measured", "target", ""),
        [
            (
                "time, ratio to the minimal app",
                f"{ratio:.2f}",
                f"{turn.limit}",
                verdict(ratio, turn.limit),
            ),
            (
                "kB received",
                f"{size / 1000:.1f}",
                f"{MAX_BYTES / 1000:g}",
                verdict(size, MAX_BYTES),
            ),
        ],
    )


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m tests.bench", description=__doc__)
    parser.add_argument("--rounds", type=int, default=20, help="of each turn in each app (20)")
    rounds = parser.parse_args().rounds
    for turn in TURNS:
        report(turn, measure(rounds, turn))
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
