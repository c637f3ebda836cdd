"""One module a question: what it takes, what is traced, how its answer reads."""

from kronbot.system.importing import parts_of

__getattr__ = parts_of(__name__)
