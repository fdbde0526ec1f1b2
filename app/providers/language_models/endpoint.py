"""The endpoint of a language model."""

from dataclasses import dataclass
from typing import Literal

Protocol = Literal["openai", "anthropic"]
Output = Literal["tool", "json_schema", "prompted"]


@dataclass(frozen=True, slots=True)
class Endpoint:
    """A model at an endpoint. Without `base_url` it is that of the protocol's vendor.

    `output` is the way in which the model is asked for structured output. A request takes at most `seconds`.
    """

    protocol: Protocol
    model: str
    api_key: str
    base_url: str | None = None
    output: Output = "tool"
    seconds: float = 30
