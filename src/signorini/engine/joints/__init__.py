"""Joints of the compiled step: kernels on a table of arrays of their own."""
