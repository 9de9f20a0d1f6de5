"""The assignment problem: match each element of the smaller side with a different one of the other side, at minimum cost."""

from __future__ import annotations

from collections.abc import Sequence

Costs = Sequence[Sequence[int]]


def assign(costs: Costs) -> list[tuple[int, int]]:
    """Return the pairs (row, column) with the minimum total cost, as many as there are rows or columns, whichever are fewer.

    Runs in O(rows² × columns) (H. W. Kuhn, 1955, in the form with potentials of R. Jonker and
    A. Volgenant, 1987). Costs are integers, so equal inputs give equal pairs.
    """
    if not costs or not costs[0]:
        return []
    if len(costs) > len(costs[0]):
        return sorted((row, column) for column, row in assign([*zip(*costs, strict=True)]))
    row_of = [-1] * len(costs[0])
    of_rows, of_columns = [0] * len(costs), [0] * len(costs[0])
    for row in range(len(costs)):
        _add(row, costs, row_of, of_rows, of_columns)
    return sorted((row, column) for column, row in enumerate(row_of) if row >= 0)


def _add(new: int, costs: Costs, row_of: list[int], of_rows: list[int], of_columns: list[int]) -> None:
    """Assign row `new` a column by the shortest augmenting path; the potentials keep all reduced costs at 0 or more."""
    columns = range(len(row_of))
    distance: list[int | None] = [None] * len(row_of)
    came_from = [-1] * len(row_of)
    done: list[int] = []
    row, column, so_far = new, -1, 0
    while row >= 0:
        for other in columns:
            if other in done:
                continue
            further = so_far + costs[row][other] - of_rows[row] - of_columns[other]
            known = distance[other]
            if known is None or further < known:
                distance[other], came_from[other] = further, column
        so_far, column = min(
            (known, c) for c, known in enumerate(distance) if known is not None and c not in done
        )
        done.append(column)
        row = row_of[column]
    of_rows[new] += so_far
    for each in done[:-1]:
        gain = so_far - (distance[each] or 0)
        of_columns[each] -= gain
        of_rows[row_of[each]] += gain
    while column >= 0:
        before = came_from[column]
        row_of[column] = new if before < 0 else row_of[before]
        column = before
