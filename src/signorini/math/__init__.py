"""Small algebra for kernels: quaternions and 3x3 matrices, tangent frames, cones and projections."""
