"""Names that are shown as they are."""

import pytest

from app.domain.kernel import plain_names
from app.domain.kernel.errors import InvalidInput


@pytest.mark.parametrize("name", ["Shop", " Shop 2 ", "متجر", "می\u200cخواهم", "👩\u200d💻", "नमस्ते", "!"])
def test_a_name_of_any_script_is_trimmed(name: str) -> None:
    assert plain_names.checked(name, 100) == name.strip()


@pytest.mark.parametrize(
    "name",
    [
        "a\nb",
        "a\x1b[31m",
        "a\u202eb",
        "\u2066a",
        "a\u2028b",
        "\ud800",
        "\u200b",
        "\u3164",
        "\u2800\u2800",
        "\u0301",
        "\xad",
    ],
)
def test_a_name_that_would_be_shown_as_another_is_refused(name: str) -> None:
    with pytest.raises(InvalidInput) as refused:
        plain_names.checked(name, 100)

    assert str(refused.value) == plain_names.REASON
