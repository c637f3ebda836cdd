"""What several test modules use."""

import pytest
from hypothesis import HealthCheck, Phase, settings

# Building and tracing a random robot takes a good part of a second; the machine is shared, so no deadlines, and
# no shrinking, which would rebuild robots for minutes.
settings.register_profile(
    "kronbot",
    deadline=None,
    suppress_health_check=list(HealthCheck),
    derandomize=True,
    phases=[Phase.explicit, Phase.reuse, Phase.generate],
)
settings.load_profile("kronbot")


@pytest.fixture(autouse=True)
def no_colour(monkeypatch):
    """Messages as a pipe sees them."""
    monkeypatch.setenv("NO_COLOR", "1")
