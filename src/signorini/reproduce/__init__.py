"""The worked examples of the papers: expected numbers against computed ones, with data and figures."""

from signorini.reproduce.registry import EXAMPLES, choose
from signorini.reproduce.reproduction import Check, Example, Reproduction, printed

__all__ = ["EXAMPLES", "Check", "Example", "Reproduction", "choose", "printed"]
