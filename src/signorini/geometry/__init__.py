"""From the configuration to candidate contacts."""

from signorini.geometry.detect import detect

__all__ = ["detect"]
