"""The robust solver of one island: sparse LU factors by 6x6 blocks, one for each pair of nodes that meet.

Newton matrices of a pile are very sparse: ``I + G^T S G`` joins two bodies only where they touch. Nodes are eliminated
in an order of minimum degree; the pattern stays for all matrices of the island. Rows are not exchanged, which suits
matrices near ``I + G^T S G`` with monotone S: whoever needs more refines the solution.
"""

from __future__ import annotations

from signorini._arrays import Array, IntArray
from signorini._jit import inner_kernel, perform, real_blocks, succeeds, whole_rows, wholes
from signorini.solvers.island_table import (
    BITS,
    COLUMN,
    DEGREE,
    FACTOR,
    FIRST,
    FRONT,
    KNOWN,
    NODE,
    PAIR,
    PAIR_START,
    PLACE,
    POOL,
    START,
    SUBSTITUTE,
    TARGET,
    B,
    G,
    claim,
    fits,
)

Row = tuple[float, float, float, float, float, float, float, float]
Block = tuple[Row, Row, Row, Row, Row, Row]
Column = tuple[float, float, float, float, float, float]

_WORD = 62  # bits used of a word
_WIDE = 8  # numbers in a row of a block, of which two are zeros: vector instructions take eight as quickly as six


@inner_kernel
def _bits_of(x: int) -> int:
    """Return how many bits are set."""
    x = x - ((x >> 1) & 0x5555555555555555)
    x = (x & 0x3333333333333333) + ((x >> 2) & 0x3333333333333333)
    x = (x + (x >> 4)) & 0x0F0F0F0F0F0F0F0F
    x = x + (x >> 8)
    x = x + (x >> 16)
    x = x + (x >> 32)
    return x & 0x7F


@inner_kernel
def _list_front(bits: IntArray, b: int, front: IntArray) -> int:
    """List the nodes that meet node `b`, ascending; return how many."""
    m = 0
    for l in range(bits.shape[1]):
        word, at = bits[b, l], l * _WORD
        while word != 0:
            low = word & -word
            front[m] = at + _bits_of(low - 1)
            m += 1
            word ^= low
    return m


@inner_kernel
def order_nodes(w: IntArray, most: int) -> int:
    """Find order and pattern of the factors; return the operations of a factorisation in updates of a block.

    -1 where there is no room in the pool, 0 where it takes more than `most`. Nodes of contacts are renumbered.
    """
    n, first, node = wholes(w, START).shape[0] - 1, wholes(w, FIRST), wholes(w, NODE)
    if w[KNOWN, 0] > 0:  # from the last time
        place = wholes(w, PLACE)
        for k in range(node.shape[0]):
            node[k] = place[node[k]]
        w[POOL, 2] = w[KNOWN, 1]
        return int(w[KNOWN, 0]) if w[KNOWN, 0] <= most else 0
    words = (n + _WORD - 1) // _WORD
    claim(w, BITS, n, words, 0)
    claim(w, DEGREE, n, 0, 0)
    claim(w, PLACE, n, 0, 0)
    claim(w, FRONT, n, 0, 0)
    if not fits(w):
        return -1
    bits, degree, place, front = whole_rows(w, BITS), wholes(w, DEGREE), wholes(w, PLACE), wholes(w, FRONT)
    start = wholes(w, START)
    for i in range(n):
        degree[i] = 0
        place[i] = -1
        for l in range(words):
            bits[i, l] = 0
    one = n - n + 1  # no constant to the compiler
    for c in range(first.shape[0] - 1):
        for k in range(first[c], first[c + 1]):
            for l in range(first[c], first[c + 1]):
                if node[k] != node[l]:
                    bits[node[k], node[l] // _WORD] |= one << (node[l] % _WORD)
    for i in range(n):
        for l in range(words):
            degree[i] += _bits_of(bits[i, l])
    # The columns go to the end of the pool, whose length is found as they are listed.
    claim(w, COLUMN, 0, 0, 0)
    begin, capacity = w[POOL, 2], w[POOL, 1]
    updates, size = one - 1, one - 1
    start[0] = 0
    for k in range(n):
        b = -1
        for i in range(n):
            if place[i] < 0 and (b < 0 or degree[i] < degree[b]):
                b = i
        m = _list_front(bits, b, front)
        place[b] = k
        updates += m * (m + 1)
        if begin + size + m > capacity:
            return -1
        if updates + n > most:
            return 0
        w[COLUMN, 1] = size + m
        column = wholes(w, COLUMN)
        for i in range(m):
            x = front[i]
            column[size + i] = x
            bits[x, b // _WORD] &= ~(one << (b % _WORD))
            for l in range(words):
                bits[x, l] |= bits[b, l]
            bits[x, x // _WORD] &= ~(one << (x % _WORD))
            degree[x] = 0
            for l in range(words):
                degree[x] += _bits_of(bits[x, l])
        size += m
        start[k + 1] = size
    w[POOL, 2] += size
    return _complete(w, n, size, updates)


@inner_kernel
def _sort(column: IntArray, first: int, last: int) -> None:
    """Sort some numbers, of which there are few."""
    for i in range(first + 1, last):
        x, j = column[i], i
        while j > first and column[j - 1] > x:
            column[j] = column[j - 1]
            j -= 1
        column[j] = x


@inner_kernel
def _find(start: IntArray, column: IntArray, k: int, x: int) -> int:
    """Return where node `x` > k is listed behind k."""
    low, high = int(start[k]), int(start[k + 1])
    while low < high:
        middle = (low + high) // 2
        if column[middle] < x:
            low = middle + 1
        else:
            high = middle
    return low


@inner_kernel
def _where(n: int, start: IntArray, column: IntArray, i: int, j: int) -> int:
    """Return where block (i, j) is stored."""
    if i == j:
        return i
    if i < j:
        return n + 2 * _find(start, column, i, j)
    return n + 2 * _find(start, column, j, i) + 1


@inner_kernel
def _complete(w: IntArray, n: int, size: int, updates: int) -> int:
    """Renumber nodes and list which blocks contacts add to and eliminations update; return the operations."""
    first, node, place, pair_start = wholes(w, FIRST), wholes(w, NODE), wholes(w, PLACE), wholes(w, PAIR_START)
    start, column = wholes(w, START), wholes(w, COLUMN)
    claim(w, PAIR, pair_start[pair_start.shape[0] - 1], 0, 0)
    claim(w, TARGET, updates, 0, 0)
    claim(w, B, n + 2 * size, 6, _WIDE)
    if not fits(w):
        return -1
    pair, target = wholes(w, PAIR), wholes(w, TARGET)
    for i in range(size):
        column[i] = place[column[i]]
    for k in range(n):
        _sort(column, start[k], start[k + 1])
    at = 0
    for k in range(n):
        for i in range(start[k], start[k + 1]):
            for j in range(start[k], start[k + 1]):
                target[at] = _where(n, start, column, column[i], column[j])
                at += 1
    for k in range(node.shape[0]):
        node[k] = place[node[k]]
    for c in range(first.shape[0] - 1):
        at = pair_start[c]
        for k in range(first[c], first[c + 1]):
            for l in range(first[c], first[c + 1]):
                pair[at] = _where(n, start, column, node[k], node[l])
                at += 1
    w[KNOWN, 0], w[KNOWN, 1] = updates + n, w[POOL, 2]
    return updates + n


@inner_kernel
def _row(b: Array, k: int, i: int) -> Row:
    """Return row `i` of block `k`."""
    return (b[k, i, 0], b[k, i, 1], b[k, i, 2], b[k, i, 3], b[k, i, 4], b[k, i, 5], b[k, i, 6], b[k, i, 7])


@inner_kernel
def _row_of(g: Array, k: int, i: int) -> Row:
    """Return row `i` of block `k` of G, which has six columns."""
    return (g[k, i, 0], g[k, i, 1], g[k, i, 2], g[k, i, 3], g[k, i, 4], g[k, i, 5], 0.0, 0.0)


@inner_kernel
def _write(b: Array, k: int, i: int, a: Row) -> None:
    """Set row `i` of block `k`."""
    b[k, i, 0], b[k, i, 1], b[k, i, 2], b[k, i, 3], b[k, i, 4], b[k, i, 5], b[k, i, 6], b[k, i, 7] = a


@inner_kernel
def _combined(x: float, y: float, z: float, a: Row, b: Row, c: Row) -> Row:
    """Return ``x a + y b + z c``."""
    return (
        x * a[0] + y * b[0] + z * c[0],
        x * a[1] + y * b[1] + z * c[1],
        x * a[2] + y * b[2] + z * c[2],
        x * a[3] + y * b[3] + z * c[3],
        x * a[4] + y * b[4] + z * c[4],
        x * a[5] + y * b[5] + z * c[5],
        x * a[6] + y * b[6] + z * c[6],
        x * a[7] + y * b[7] + z * c[7],
    )


@inner_kernel
def _sum(a: Row, b: Row) -> Row:
    return (
        a[0] + b[0],
        a[1] + b[1],
        a[2] + b[2],
        a[3] + b[3],
        a[4] + b[4],
        a[5] + b[5],
        a[6] + b[6],
        a[7] + b[7],
    )


@inner_kernel
def _assemble(w: IntArray, S: Array, weight: float) -> None:
    """Set the matrix ``weight I + G^T S G``."""
    first, g, pair_start, pair = wholes(w, FIRST), real_blocks(w, G), wholes(w, PAIR_START), wholes(w, PAIR)
    b, n = real_blocks(w, B), wholes(w, START).shape[0] - 1
    for k in range(b.shape[0]):
        for i in range(6):
            for j in range(_WIDE):
                b[k, i, j] = weight if k < n and i == j else 0.0
    for c in range(S.shape[0]):
        if S[c, 0, 0] == 0.0 and S[c, 1, 1] == 0.0 and S[c, 2, 2] == 0.0:
            continue
        m = first[c + 1] - first[c]
        for l in range(m):
            g0, g1, g2 = _row_of(g, first[c] + l, 0), _row_of(g, first[c] + l, 1), _row_of(g, first[c] + l, 2)
            t0 = _combined(S[c, 0, 0], S[c, 0, 1], S[c, 0, 2], g0, g1, g2)
            t1 = _combined(S[c, 1, 0], S[c, 1, 1], S[c, 1, 2], g0, g1, g2)
            t2 = _combined(S[c, 2, 0], S[c, 2, 1], S[c, 2, 2], g0, g1, g2)
            for k in range(m):
                x, f = pair[pair_start[c] + m * k + l], first[c] + k
                for i in range(6):
                    _write(b, x, i, _sum(_row(b, x, i), _combined(g[f, 0, i], g[f, 1, i], g[f, 2, i], t0, t1, t2)))


@inner_kernel
def _without(a: Row, f: float, b: Row) -> Row:
    """Return ``a - f b``."""
    return (
        a[0] - f * b[0],
        a[1] - f * b[1],
        a[2] - f * b[2],
        a[3] - f * b[3],
        a[4] - f * b[4],
        a[5] - f * b[5],
        a[6] - f * b[6],
        a[7] - f * b[7],
    )


@inner_kernel
def _invert(b: Array, k: int) -> bool:
    """Invert one block in place by the elimination of Gauss and Jordan."""
    for i in range(6):
        if not abs(b[k, i, i]) > 0.0:
            return False
        pivot, c = 1.0 / b[k, i, i], _row(b, k, i)
        c = (pivot * c[0], pivot * c[1], pivot * c[2], pivot * c[3], pivot * c[4], pivot * c[5], c[6], c[7])
        for l in range(6):
            if l != i:
                f = b[k, l, i]
                _write(b, k, l, _without(_row(b, k, l), f, c))
                b[k, l, i] = -f * pivot
        _write(b, k, i, c)
        b[k, i, i] = pivot
    return True


@inner_kernel
def _block(b: Array, k: int) -> Block:
    """Return the rows of block `k`."""
    return (_row(b, k, 0), _row(b, k, 1), _row(b, k, 2), _row(b, k, 3), _row(b, k, 4), _row(b, k, 5))


@inner_kernel
def _row_times(a: Row, m: Block) -> Row:
    """Return a row times a block."""
    return _sum(_combined(a[0], a[1], a[2], m[0], m[1], m[2]), _combined(a[3], a[4], a[5], m[3], m[4], m[5]))


@inner_kernel
def _factorise(w: IntArray) -> bool:
    """Overwrite the matrix with its factors: diagonal blocks become their inverses, L is divided by them.

    Rows are read, combined and written as a whole, which the compiler turns into vector instructions;
    what rows are multiplied by is read before, or it would be read again for each.
    """
    b, start, target = real_blocks(w, B), wholes(w, START), wholes(w, TARGET)
    n, at = start.shape[0] - 1, 0
    for k in range(n):
        if not _invert(b, k):
            return False
        d = _block(b, k)
        for t in range(start[k], start[k + 1]):
            L = n + 2 * t + 1
            for i in range(6):
                _write(b, L, i, _row_times(_row(b, L, i), d))
        for t in range(start[k], start[k + 1]):
            L = n + 2 * t + 1
            for v in range(start[k], start[k + 1]):
                u, x = _block(b, n + 2 * v), target[at]
                at += 1
                for i in range(6):
                    _write(b, x, i, _without(_row(b, x, i), 1.0, _row_times(_row(b, L, i), u)))
    return True


@inner_kernel
def substitute_factors(w: IntArray, y: Array) -> None:
    """Solve with the factors, in place."""
    b, start, column = real_blocks(w, B), wholes(w, START), wholes(w, COLUMN)
    n = start.shape[0] - 1
    for k in range(n):
        a = (y[k, 0], y[k, 1], y[k, 2], y[k, 3], y[k, 4], y[k, 5])
        for t in range(start[k], start[k + 1]):
            L, x = n + 2 * t + 1, column[t]
            for i in range(6):
                y[x, i] -= _times_column(b, L, i, a)
    for k in range(n - 1, -1, -1):
        for t in range(start[k], start[k + 1]):
            U, x = n + 2 * t, column[t]
            a = (y[x, 0], y[x, 1], y[x, 2], y[x, 3], y[x, 4], y[x, 5])
            for i in range(6):
                y[k, i] -= _times_column(b, U, i, a)
        a = (y[k, 0], y[k, 1], y[k, 2], y[k, 3], y[k, 4], y[k, 5])
        for i in range(6):
            y[k, i] = _times_column(b, k, i, a)


@inner_kernel
def _times_column(b: Array, k: int, i: int, a: Column) -> float:
    """Return row `i` of a block times a column."""
    return float(
        b[k, i, 0] * a[0]
        + b[k, i, 1] * a[1]
        + b[k, i, 2] * a[2]
        + b[k, i, 3] * a[3]
        + b[k, i, 4] * a[4]
        + b[k, i, 5] * a[5]
    )


@inner_kernel
def factor_matrix(w: IntArray, S: Array, weight: float) -> bool:
    """Factorise ``weight I + G^T S G``; False where it is singular."""
    _assemble(w, S, weight)
    return _factorise(w)


@inner_kernel
def factor_rows(w: IntArray, S: Array, weight: float) -> bool:
    """Do as :func:`factor_matrix` where contacts have any number of rows."""
    first, g, pair_start, pair = wholes(w, FIRST), real_blocks(w, G), wholes(w, PAIR_START), wholes(w, PAIR)
    b, n, rows = real_blocks(w, B), wholes(w, START).shape[0] - 1, S.shape[1]
    for k in range(b.shape[0]):
        for i in range(6):
            for j in range(_WIDE):
                b[k, i, j] = weight if k < n and i == j else 0.0
    for c in range(S.shape[0]):
        m = first[c + 1] - first[c]
        for i in range(rows):
            some = False
            for j in range(rows):
                some = some or S[c, i, j] != 0.0
            for l in range(m if some else 0):
                t = (0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0)
                for j in range(rows):
                    t = _without(t, -S[c, i, j], _row_of(g, first[c] + l, j))
                for k in range(m):
                    x = pair[pair_start[c] + m * k + l]
                    for a in range(6):
                        _write(b, x, a, _without(_row(b, x, a), -g[first[c] + k, i, a], t))
    return _factorise(w)


@inner_kernel
def factor(w: IntArray, S: Array, weight: float) -> bool:
    """Do as :func:`factor_matrix`, by its address."""
    return succeeds(w[FACTOR, 0], (w, S, weight))


@inner_kernel
def substitute(w: IntArray, y: Array) -> None:
    """Do as :func:`substitute_factors`, by its address."""
    perform(w[SUBSTITUTE, 0], (w, y))
