"""Tools, resources and prompts that the conformance suite calls. The service does not ship them."""

import base64
import json
from collections.abc import Callable
from typing import Annotated, Any

from mcp.server.context import ServerRequestContext
from mcp.server.mcpserver import Context, MCPServer
from mcp.server.mcpserver.prompts.base import Prompt, UserMessage
from mcp.shared.exceptions import MCPError
from mcp_types import (
    MISSING_REQUIRED_CLIENT_CAPABILITY,
    AudioContent,
    CreateMessageRequest,
    CreateMessageRequestParams,
    CreateMessageResult,
    ElicitRequest,
    ElicitRequestFormParams,
    ElicitResult,
    EmbeddedResource,
    EmptyResult,
    ImageContent,
    InputRequiredResult,
    ListRootsRequest,
    ListRootsResult,
    SamplingMessage,
    TextContent,
    TextResourceContents,
)
from pydantic import BaseModel, Field

PNG = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8DwHwAFBQIAX8jx0gAAAABJRU5ErkJggg=="
WAV = "UklGRiYAAABXQVZFZm10IBAAAAABAAEAQB8AAAB9AAACABAAZGF0YQIAAAA="

fixtures = MCPServer(name="fixtures", version="1")


def tool(function: Callable[..., Any]) -> None:
    fixtures.add_tool(function, description=f"Fixture {function.__name__}")


def prompt(function: Callable[..., Any]) -> None:
    fixtures.add_prompt(Prompt.from_function(function, description=f"Fixture {function.__name__}"))


def words(text: str) -> TextContent:
    return TextContent(type="text", text=text)


def image() -> ImageContent:
    return ImageContent(type="image", data=PNG, mime_type="image/png")


def embedded(uri: str, mime_type: str, text: str) -> EmbeddedResource:
    return EmbeddedResource(type="resource", resource=TextResourceContents(uri=uri, mime_type=mime_type, text=text))


@tool
def test_simple_text() -> str:
    return "This is a simple text response for testing."


@tool
def test_image_content() -> list[ImageContent]:
    return [image()]


@tool
def test_audio_content() -> list[AudioContent]:
    return [AudioContent(type="audio", data=WAV, mime_type="audio/wav")]


@tool
def test_embedded_resource() -> list[EmbeddedResource]:
    return [embedded("test://embedded-resource", "text/plain", "This is an embedded resource content.")]


@tool
def test_multiple_content_types() -> list[TextContent | ImageContent | EmbeddedResource]:
    mixed = embedded("test://mixed-content-resource", "application/json", '{"test": "data", "value": 123}')
    return [words("Multiple content types test:"), image(), mixed]


@tool
async def test_tool_with_logging(ctx: Context) -> str:
    for step in ("Tool execution started", "Tool processing data", "Tool execution completed"):
        await ctx.info(step)
    return "Tool with logging executed successfully"


@tool
async def test_logging_tool(ctx: Context) -> str:
    await ctx.info("Only for clients that asked for it")
    return "done"


@tool
async def test_tool_with_progress(ctx: Context) -> str:
    for step in (0, 50, 100):
        await ctx.report_progress(progress=step, total=100, message=f"Completed step {step} of 100")
    return "done"


@tool
async def test_sampling(prompt: str, ctx: Context) -> str:
    result = await ctx.session.create_message(
        messages=[SamplingMessage(role="user", content=words(prompt))],
        max_tokens=100,
        related_request_id=ctx.request_id,
    )
    return f"LLM response: {getattr(result.content, 'text', '')}"


class UserResponse(BaseModel):
    """One answer of the user."""

    response: str = Field(description="User's response")


@tool
async def test_elicitation(message: str, ctx: Context) -> str:
    result = await ctx.elicit(message=message, schema=UserResponse)
    content = result.data.model_dump_json() if result.action == "accept" else "{}"
    return f"User response: action={result.action}, content={content}"


class Defaults(BaseModel):
    """A default of each primitive type (SEP-1034)."""

    name: str = Field(default="John Doe")
    age: int = Field(default=30)
    score: float = Field(default=95.5)
    status: str = Field(default="active", json_schema_extra={"enum": ["active", "inactive", "pending"]})
    verified: bool = Field(default=True)


@tool
async def test_elicitation_sep1034_defaults(ctx: Context) -> str:
    result = await ctx.elicit(message="Please provide user information", schema=Defaults)
    content = result.data.model_dump_json() if result.action == "accept" else "{}"
    return f"Elicitation result: action={result.action}, content={content}"


def titled(**values: str) -> list[Any]:
    return [{"const": value, "title": title} for value, title in values.items()]


class Enums(BaseModel):
    """The variations of enums (SEP-1330)."""

    untitledSingle: str = Field(json_schema_extra={"enum": ["active", "inactive", "pending"]})  # noqa: N815
    titledSingle: str = Field(json_schema_extra={"oneOf": titled(low="Low", medium="Medium", high="High")})  # noqa: N815
    untitledMulti: list[str] = Field(  # noqa: N815
        json_schema_extra={"items": {"type": "string", "enum": ["read", "write", "execute"]}}
    )
    titledMulti: list[str] = Field(  # noqa: N815
        json_schema_extra={"items": {"anyOf": titled(feature="Feature", bug="Bug", docs="Docs")}}
    )
    legacyEnum: str = Field(  # noqa: N815
        json_schema_extra={"enum": ["small", "medium", "large"], "enumNames": ["Small", "Medium", "Large"]}
    )


@tool
async def test_elicitation_sep1330_enums(ctx: Context) -> str:
    result = await ctx.elicit(message="Please select values", schema=Enums)
    content = result.data.model_dump_json() if result.action == "accept" else "{}"
    return f"Elicitation completed: action={result.action}, content={content}"


@tool
def test_error_handling() -> str:
    raise RuntimeError("This tool intentionally returns an error for testing")


@tool
def test_x_mcp_header(
    region: Annotated[str, Field(json_schema_extra={"x-mcp-header": "Region"})] = "<none>",  # noqa: PT028
) -> str:
    return f"region={region}"


@tool
async def test_missing_capability(ctx: Context) -> str:
    capabilities = ctx.session.client_capabilities
    if capabilities is None or capabilities.sampling is None:
        raise MCPError(
            code=MISSING_REQUIRED_CLIENT_CAPABILITY,
            message="This tool requires the client 'sampling' capability",
            data={"requiredCapabilities": {"sampling": {}}},
        )
    return "done"


def ask(message: str, name: str, kind: str = "string") -> ElicitRequest:
    schema = {"type": "object", "properties": {name: {"type": kind}}, "required": [name]}
    return ElicitRequest(params=ElicitRequestFormParams(message=message, requested_schema=schema))


def sample(text: str) -> CreateMessageRequest:
    message = SamplingMessage(role="user", content=words(text))
    return CreateMessageRequest(params=CreateMessageRequestParams(messages=[message], max_tokens=100))


def answered(answer: object, name: str) -> Any:
    return (answer.content or {}).get(name) if isinstance(answer, ElicitResult) else None


@tool
async def test_input_required_result_elicitation(ctx: Context) -> str | InputRequiredResult:
    given = (ctx.input_responses or {}).get("user_name")
    if given:
        return f"Hello, {answered(given, 'name')}!"
    return InputRequiredResult(input_requests={"user_name": ask("What is your name?", "name")})


@tool
async def test_streaming_elicitation(ctx: Context) -> InputRequiredResult:
    return InputRequiredResult(input_requests={"user_name": ask("What is your name?", "name")})


@tool
async def test_input_required_result_sampling(ctx: Context) -> str | InputRequiredResult:
    given = (ctx.input_responses or {}).get("capital_question")
    if isinstance(given, CreateMessageResult):
        return f"Model said: {getattr(given.content, 'text', '')}"
    return InputRequiredResult(input_requests={"capital_question": sample("What is the capital of France?")})


@tool
async def test_input_required_result_list_roots(ctx: Context) -> str | InputRequiredResult:
    given = (ctx.input_responses or {}).get("client_roots")
    if isinstance(given, ListRootsResult):
        return f"Client exposed {len(given.roots)} root(s)."
    return InputRequiredResult(input_requests={"client_roots": ListRootsRequest()})


@tool
async def test_input_required_result_request_state(ctx: Context) -> str | InputRequiredResult:
    if "confirm" in (ctx.input_responses or {}) and ctx.request_state == "nonce":
        return "state-ok: confirmation received"
    return InputRequiredResult(
        input_requests={"confirm": ask("Please confirm", "ok", "boolean")}, request_state="nonce"
    )


@tool
async def test_input_required_result_multiple_inputs(ctx: Context) -> str | InputRequiredResult:
    if {"user_name", "greeting", "client_roots"} <= (ctx.input_responses or {}).keys():
        return "All inputs received."
    requests = {
        "user_name": ask("What is your name?", "name"),
        "greeting": sample("Generate a greeting"),
        "client_roots": ListRootsRequest(),
    }
    return InputRequiredResult(input_requests=requests, request_state="multiple-inputs")


@tool
async def test_input_required_result_multi_round(ctx: Context) -> str | InputRequiredResult:
    state = json.loads(ctx.request_state) if ctx.request_state else {"round": 0}
    given = ctx.input_responses or {}
    if state["round"] == 1 and "step1" in given:
        return InputRequiredResult(
            input_requests={"step2": ask("Step 2: What is your favorite color?", "color")},
            request_state=json.dumps({"round": 2, "name": answered(given["step1"], "name")}),
        )
    if state["round"] == 2 and "step2" in given:
        return f"{state['name']} likes {answered(given['step2'], 'color')}."
    return InputRequiredResult(
        input_requests={"step1": ask("Step 1: What is your name?", "name")}, request_state=json.dumps({"round": 1})
    )


@tool
async def test_input_required_result_tampered_state(ctx: Context) -> str | InputRequiredResult:
    if ctx.request_state is not None:
        return f"state-ok: {ctx.request_state}"
    return InputRequiredResult(
        input_requests={"confirm": ask("Please confirm", "ok", "boolean")}, request_state="round-1"
    )


@tool
async def test_input_required_result_capabilities(ctx: Context) -> InputRequiredResult:
    declared, requests = ctx.client_capabilities, dict[str, Any]()
    if declared is None or declared.sampling is not None:
        requests["sample"] = sample("Say hello")
    if declared is None or declared.elicitation is not None:
        requests["ask"] = ask("What is your name?", "name")
    return InputRequiredResult(input_requests=requests, request_state="capability-gated")


@tool
def json_schema_2020_12_tool() -> str:
    return "json_schema_2020_12_tool"


fixtures._tool_manager._tools["json_schema_2020_12_tool"].parameters = {
    "$schema": "https://json-schema.org/draft/2020-12/schema",
    "type": "object",
    "$defs": {
        "address": {
            "$anchor": "addressDef",
            "type": "object",
            "properties": {"street": {"type": "string"}, "city": {"type": "string"}},
        }
    },
    "properties": {
        "name": {"type": "string"},
        "address": {"$ref": "#/$defs/address"},
        "contactMethod": {"type": "string", "enum": ["phone", "email"]},
        "phone": {"type": "string"},
        "email": {"type": "string"},
    },
    "allOf": [{"anyOf": [{"required": ["phone"]}, {"required": ["email"]}]}],
    "if": {"properties": {"contactMethod": {"const": "phone"}}, "required": ["contactMethod"]},
    "then": {"required": ["phone"]},
    "else": {"required": ["email"]},
    "additionalProperties": False,
}


def dynamic() -> str:
    return "dynamic"


@tool
async def test_trigger_tool_change(ctx: Context) -> str:
    fixtures.add_tool(dynamic, name="test_dynamic_tool")
    fixtures.remove_tool("test_dynamic_tool")
    await ctx.notify_tools_changed()
    return "tool list changed"


@tool
async def test_trigger_prompt_change(ctx: Context) -> str:
    fixtures.add_prompt(Prompt.from_function(dynamic, name="test_dynamic_prompt", description="dynamic"))
    fixtures.remove_prompt("test_dynamic_prompt")
    await ctx.notify_prompts_changed()
    return "prompt list changed"


@fixtures.resource("test://static-text")
def static_text() -> str:
    return "This is the content of the static text resource."


@fixtures.resource("test://static-binary")
def static_binary() -> bytes:
    return base64.b64decode(PNG)


@fixtures.resource("test://template/{id}/data")
def template(id: str) -> str:
    return json.dumps({"id": id, "templateTest": True, "data": f"Data for ID: {id}"})


@fixtures.resource("test://watched-resource")
def watched() -> str:
    return "Watched resource content"


def said(*contents: Any) -> list[Any]:
    return [UserMessage(role="user", content=content) for content in contents]


@prompt
def test_simple_prompt() -> list[UserMessage]:
    return said(words("This is a simple prompt for testing."))


@prompt
def test_prompt_with_arguments(arg1: str, arg2: str) -> list[UserMessage]:
    return said(words(f"Prompt with arguments: arg1='{arg1}', arg2='{arg2}'"))


@prompt
def test_prompt_with_embedded_resource(resourceUri: str) -> list[UserMessage]:  # noqa: N803
    resource = embedded(resourceUri, "text/plain", "Embedded resource content for testing.")
    return said(resource, words("Please process the embedded resource above."))


@prompt
def test_prompt_with_image() -> list[UserMessage]:
    return said(image(), words("Please analyze the image above."))


@prompt
async def test_input_required_result_prompt(ctx: Context) -> list[UserMessage] | InputRequiredResult:
    given = (ctx.input_responses or {}).get("user_context")
    if given:
        return said(words(f"Use the following context: {answered(given, 'context')}"))
    return InputRequiredResult(input_requests={"user_context": ask("What context should be used?", "context")})


async def accept(_: ServerRequestContext[Any, Any], __: Any) -> EmptyResult:
    return EmptyResult()
