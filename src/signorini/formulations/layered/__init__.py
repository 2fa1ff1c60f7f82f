"""The step of :class:`~signorini.QuasiRigid`: implicit in its geometry, with compliant layers around rigid cores."""
