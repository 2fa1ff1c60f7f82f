"""Multibody dynamics with contact and friction by complementarity."""
