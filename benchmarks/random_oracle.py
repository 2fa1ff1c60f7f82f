"""Does the compiled step do what the step by functions of Python does? Random scenes, each step from the same state.

::

    python -m benchmarks.random_oracle --scenes 300

Says for each scene which law it has, how many steps could be compared, and the largest difference of a velocity, of the
fastest. Exits with 1 if one is above 1e-9.
"""

from __future__ import annotations

import argparse
import sys
import warnings

import numpy as np
from tests.oracle import compare, random_scene

AGREED = 1e-9


def main() -> int:
    """Compare and tell."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--scenes", type=int, default=300)
    parser.add_argument("--first", type=int, default=0, help="seed of the first scene")
    parser.add_argument("--steps", type=int, default=50)
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    worst, steps, free = 0.0, 0, 0
    for seed in range(options.first, options.first + options.scenes):
        scene, law = random_scene(np.random.default_rng(seed))
        compared = compare(scene, law, options.steps)
        worst, steps, free = max(worst, compared.worst), steps + compared.steps, free + compared.open
        print(seed, law, *compared, "differs" if compared.worst > AGREED else "", flush=True)
    print(f"{steps} steps of {options.scenes} scenes, largest difference {worst:.1e}; {free} left open by the law")
    return int(worst > AGREED)


if __name__ == "__main__":
    sys.exit(main())
