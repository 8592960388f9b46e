"""Whether an error says that memory is full."""


def is_out_of_memory(error: BaseException) -> bool:
    """Return whether a device or the machine had no memory left.

    torch's own class of a full GPU is known by its name: torch is not imported here. A full machine
    is a RuntimeError of torch like many others.

    Args:
        error: of any kind.
    """
    if isinstance(error, MemoryError) or type(error).__name__ == "OutOfMemoryError":
        return True
    return isinstance(error, RuntimeError) and "can't allocate memory" in str(error)
