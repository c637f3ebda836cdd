"""The system that kronbot runs on, chosen once: its own means on POSIX, plain ones elsewhere (Windows)."""

try:
    from kronbot.system import posix as host
except ImportError:  # there is no fcntl
    from kronbot.system import plain as host  # type: ignore[no-redef]

__all__ = ["host"]
