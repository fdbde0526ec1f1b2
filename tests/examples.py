"""The examples of properties: how many there are, and the same ones in each run in CI."""

import os

import hypothesis
from hypothesis.internal import constants_ast
from hypothesis.internal.conjecture import providers

PROFILE = os.environ.get("HYPOTHESIS_PROFILE", "default")

if "CI" in os.environ:
    # Hypothesis draws some values from the constants of the modules of the service that are loaded, which depend on
    # the tests that ran before in the process. In CI it draws none of them.
    providers._get_local_constants = constants_ast.Constants
    assert len(providers.HypothesisProvider(None)._local_constants) == 0

# No test depends on speed, and runs in CI use the same examples every time.
for name, examples in (("default", 40), ("deep", 1_000)):
    hypothesis.settings.register_profile(
        name,
        max_examples=examples,
        deadline=None,
        derandomize="CI" in os.environ,
        suppress_health_check=[hypothesis.HealthCheck.too_slow],
        print_blob=True,
    )
hypothesis.settings.load_profile(PROFILE)
