"""What happens to files on a disk that fails."""


def flip(path):
    """Flip a bit in the middle of a file."""
    content = bytearray(path.read_bytes())
    content[len(content) // 2] ^= 1
    path.write_bytes(content)


def empty(path):
    """Leave a file without content."""
    path.write_bytes(b"")


def replace_by_folder(path):
    """Put a folder in the place of a file."""
    path.unlink()
    path.mkdir()
    (path / "file").write_text("file", encoding="utf-8")
