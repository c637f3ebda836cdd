"""Pictures of answers."""

from kronbot.system.importing import parts_of

__getattr__ = parts_of(__name__)
