"""What may be typed after ``signorini``."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path
from typing import NoReturn

from signorini.errors import InputError, suggestion


class _Parser(argparse.ArgumentParser):
    """A parser whose complaints are one line, like all others."""

    def error(self, message: str) -> NoReturn:
        raise InputError(f"{message}; see '{self.prog} --help'")


def parse(argv: Sequence[str]) -> argparse.Namespace:
    """Return the arguments with the function that carries out the command as ``command``."""
    parser, names = _parser()
    word = next((text for text in argv if not text.startswith("-")), None)
    if word is None and not argv:
        argv = ["--help"]
    if word is not None and word not in names:
        raise InputError(f"command {word!r} is unknown{suggestion(word, names)}")
    arguments = parser.parse_args(argv)
    if not hasattr(arguments, "command"):
        parser.error("no command given")
    return arguments


def _parser() -> tuple[argparse.ArgumentParser, list[str]]:
    parser = _Parser(
        prog="signorini",
        description="Multibody dynamics with contact and exact Coulomb friction; every step is certified.",
        epilog="Start with 'signorini demo'.",
    )
    parser.add_argument("--version", action=_Version, help="print the version")
    commands = parser.add_subparsers(metavar="COMMAND", parser_class=_Parser)

    demo = commands.add_parser("demo", help="simulate a built-in scene, certify it, draw it")
    _add_output(demo, "signorini-out/demo")
    demo.set_defaults(command=_demo)

    run = commands.add_parser("run", help="simulate a scene file, certify it, draw it")
    run.add_argument("scene", metavar="SCENE", type=Path, help="YAML file")
    run.add_argument("--h", type=float, help="step size [s]; default from the scene file")
    run.add_argument("--duration", type=float, metavar="T", help="[s]; default from the scene file")
    run.add_argument(
        "--formulation",
        metavar="NAME",
        help="moreau_jean, stewart_trinkle, quasi_rigid, recursive; default from the scene file",
    )
    run.add_argument("--tolerance", type=float, help="residual to which each step is solved; default 1e-6")
    run.add_argument(
        "--record", metavar="WHAT", help="all, or motion to leave out the contacts of all steps; default all"
    )
    run.add_argument("--every", type=int, metavar="K", help="record the states after every K-th step only")
    run.add_argument("--bodies", metavar="NAME,...", help="record the motion of these bodies only, and of fixed ones")
    run.add_argument("--resume", action="store_true", help="continue the run that was stopped in the output directory")
    run.add_argument("--outside", action="store_true", help="meshes may lie outside the folder of the scene")
    _add_output(run, "signorini-out/SCENE")
    run.set_defaults(command=_run)

    reproduce = commands.add_parser("reproduce", help="worked examples of the papers: expected against obtained")
    reproduce.add_argument("names", metavar="NAME", nargs="*", help="examples; default all")
    reproduce.add_argument("--list", action="store_true", help="list the examples and stop")
    _add_output(reproduce, "signorini-out/NAME")
    reproduce.set_defaults(command=_reproduce)

    check = commands.add_parser("check", help="existence, uniqueness and stability of the contact forces; wedging")
    check.add_argument("scene", metavar="SCENE", type=Path, help="YAML file")
    check.add_argument("--at", type=float, metavar="T", default=0.0, help="time to which to simulate first [s]")
    check.add_argument("--damping", type=float, metavar="C2K", help="contact damping c^2/k [kg]")
    check.add_argument("--outside", action="store_true", help="meshes may lie outside the folder of the scene")
    check.add_argument("--json", action="store_true", help="print one JSON document")
    check.set_defaults(command=_check)

    audit = commands.add_parser("audit", help="repeat the certificate of a run from its file: can it be trusted?")
    audit.add_argument("result", metavar="RESULT", type=Path, help=".h5 file of a run")
    audit.add_argument("--json", action="store_true", help="print one JSON document")
    audit.set_defaults(command=_audit)

    solve = commands.add_parser("solve", help="solve a problem file")
    solve.add_argument("problem", metavar="PROBLEM", type=Path, help=".npz or FCLIB file")
    solve.add_argument("--all", action="store_true", help="compare every applicable solver, draw residual against time")
    _add_output(solve, "signorini-out/PROBLEM")
    solve.set_defaults(command=_solve)

    view = commands.add_parser("view", help="show a run in the browser (the extra 'view')")
    view.add_argument("result", metavar="RESULT", type=Path, help=".h5 file of a run")
    view.add_argument("--port", type=int, default=8080, help="default 8080, or the next that is free")
    view.add_argument("--no-browser", action="store_true", help="only print the address")
    view.set_defaults(command=_view)

    warm = commands.add_parser("warm-up", help="compile beforehand what runs need, into a folder that can be shipped")
    warm.add_argument("--into", type=Path, metavar="DIR", help="to be used with NUMBA_CACHE_DIR=DIR; default the usual")
    warm.set_defaults(command=_warm_up)
    return parser, list(commands.choices)


def _add_output(parser: argparse.ArgumentParser, default: str) -> None:
    parser.add_argument("--out", type=Path, metavar="DIR", help=f"directory for results; default {default}")
    parser.add_argument("--json", action="store_true", help="print one JSON document")


class _Version(argparse.Action):
    """Print the version of the installed package; finding it costs time, so it is looked up only here."""

    def __init__(self, option_strings: Sequence[str], dest: str, help: str | None = None) -> None:
        super().__init__(option_strings, dest, nargs=0, help=help)

    def __call__(self, parser: argparse.ArgumentParser, *_: object) -> NoReturn:
        from importlib.metadata import version

        print(f"signorini {version('signorini')}")
        parser.exit()


# Each command lives in a module of its own, imported when it is called.


def _demo(arguments: argparse.Namespace) -> int:
    from signorini.cli.simulating import demo

    return demo(arguments.out, as_json=arguments.json)


def _run(arguments: argparse.Namespace) -> int:
    from signorini.cli.simulating import run

    return run(
        arguments.scene,
        arguments.out,
        h=arguments.h,
        duration=arguments.duration,
        formulation=arguments.formulation,
        tolerance=arguments.tolerance,
        record=_recording(arguments),
        continued=arguments.resume,
        outside=arguments.outside,
        as_json=arguments.json,
    )


def _recording(arguments: argparse.Namespace) -> dict[str, object] | str | None:
    """Return what is to be recorded, None where nothing is said."""
    if arguments.record not in (None, "all", "motion"):
        raise InputError(f"--record is {arguments.record!r}, must be 'all' or 'motion'")
    if arguments.every is None and arguments.bodies is None:
        word: str | None = arguments.record
        return word
    record: dict[str, object] = {} if arguments.every is None else {"every": arguments.every}
    if arguments.bodies is not None:
        record["bodies"] = [name for name in arguments.bodies.split(",") if name]
    return record | {"contacts": arguments.record != "motion"}


def _view(arguments: argparse.Namespace) -> int:
    from signorini.cli.viewing import view

    return view(arguments.result, port=arguments.port, open_browser=not arguments.no_browser)


def _warm_up(arguments: argparse.Namespace) -> int:
    from signorini.cli.warming import warm_up

    return warm_up(arguments.into)


def _reproduce(arguments: argparse.Namespace) -> int:
    from signorini.cli.reproducing import reproduce

    return reproduce(arguments.names, arguments.out, only_list=arguments.list, as_json=arguments.json)


def _check(arguments: argparse.Namespace) -> int:
    from signorini.cli.checking import check

    return check(
        arguments.scene,
        at=arguments.at,
        damping=arguments.damping,
        outside=arguments.outside,
        as_json=arguments.json,
    )


def _audit(arguments: argparse.Namespace) -> int:
    from signorini.cli.auditing import audit

    return audit(arguments.result, as_json=arguments.json)


def _solve(arguments: argparse.Namespace) -> int:
    from signorini.cli.solving import solve_file

    return solve_file(arguments.problem, arguments.out, compare=arguments.all, as_json=arguments.json)
