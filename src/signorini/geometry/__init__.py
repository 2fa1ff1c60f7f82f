"""From the configuration to candidate contacts."""

from signorini.geometry.advancement import Impact, time_of_impact
from signorini.geometry.detect import detect

__all__ = ["Impact", "detect", "time_of_impact"]
