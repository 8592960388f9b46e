"""Times in a unit that a reader takes in at a glance."""

_DAYS, _SHORTER = (86_400, "days"), ((3600, "h"), (60, "min"))


def duration(seconds: float, days: bool = True) -> str:
    """Return a time in the largest unit of which there is one or more.

    Args:
        seconds: the time.
        days: whether days are such a unit; the time of devices is counted in hours.
    """
    for size, unit in (_DAYS, *_SHORTER) if days else _SHORTER:
        if seconds >= size:
            count = seconds / size
            return f"{count:.3g} {unit}" if count < 100 else f"{count:,.0f} {unit}"
    return "< 1 s" if 0 < seconds < 1 else f"{seconds:.0f} s"
