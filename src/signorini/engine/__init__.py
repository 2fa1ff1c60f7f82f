"""The compiled step of :class:`~signorini.MoreauJean`: kernels on one table of arrays, stage by stage."""
