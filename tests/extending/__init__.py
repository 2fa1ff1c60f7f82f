"""What the recipes of docs/extending.rst make: none of it is known to the library."""
