"""The step of :class:`~signorini.Recursive`: what its joints remember, ask, and account for."""
