"""How a check ends that neither passed nor found something wrong."""


class Skip(Exception):
    """It cannot run here, and why."""


class Late(AssertionError):
    """Something was right and came late: such a check is tried again by itself."""
