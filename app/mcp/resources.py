"""Resources and completions, compiled from the operation documents of this folder."""

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

import orjson

from app.domain.kernel.errors import DomainError, InsufficientScope, InvalidInput
from app.domain.kernel.unit_of_work import Actor
from app.graphql.execution.execute import Executor
from app.operations.arguments import Acceptor, Unacceptable
from app.operations.document import Operation
from app.operations.json_schema import Json
from app.operations.surface import Resource

MIME_TYPE = "application/json"
MAX_VALUES = 100
_PLACEHOLDER = re.compile(r"\\\{(\w+)\\\}")


class UnknownResource(DomainError):
    """No resource has this URI. The templates of resources say which URIs there are."""

    code = "unknown_resource"
    status = 404
    message = "There is no resource {uri}."


@dataclass(frozen=True, slots=True)
class CompiledResource:
    """A resource: its query, the pattern of its URIs, and its entry in the list of resources or of templates."""

    operation: Operation
    pattern: re.Pattern[str]
    accept: Acceptor
    entry: Json

    @property
    def is_template(self) -> bool:
        """Return whether the URI has variables."""
        return "uriTemplate" in self.entry

    def uris_of(self, ids: Mapping[str, int]) -> Iterator[str]:
        """Yield the URI of the resource with ids; nothing if its URIs have no variables, or others."""
        if self.pattern.groupindex and self.pattern.groupindex.keys() <= ids.keys():
            yield self.entry["uriTemplate"].format_map(ids)


@dataclass(frozen=True, slots=True)
class Resources:
    """The resources and the completions of the service."""

    executor: Executor
    found: list[CompiledResource] = field(default_factory=list)
    completions: dict[str, Operation] = field(default_factory=dict)

    def find(self, uri: str) -> CompiledResource | None:
        """Return the resource of a URI."""
        return next((each for each in self.found if each.pattern.fullmatch(uri)), None)

    def entries(self, actor: Actor, *, templates: bool) -> Iterator[Json]:
        """Yield the entries of the resources, or of the templates, that an actor may read or ask for."""
        for each in self.found:
            may_read = actor.grant_id is not None or each.operation.scopes <= actor.scopes
            if each.is_template is templates and may_read:
                yield each.entry

    async def read(self, uri: str, actor: Actor) -> Json:
        """Return the contents of a resource; raise `UnknownResource`, `InvalidInput` and the errors of its query."""
        resource = self.find(uri)
        if resource is None:
            raise UnknownResource(uri=uri[:200])
        given = resource.pattern.fullmatch(uri)
        assert given
        try:
            variables = resource.accept.texts({name: [text] for name, text in given.groupdict().items()})
        except Unacceptable as fault:
            raise InvalidInput(reason=str(fault), field=fault.field) from None
        answer = await self.executor(resource.operation, variables, actor)
        return {"contents": [{"uri": uri, "mimeType": MIME_TYPE, "text": orjson.dumps(answer.value).decode()}]}

    async def complete(self, argument: str, text: str, actor: Actor) -> list[str]:
        """Return values for an argument that begins with a text; none for an actor without the scopes."""
        operation = self.completions.get(argument)
        if operation is None:
            return []
        searches = "value" in operation.variables
        try:
            answer = await self.executor(operation, {"value": text or None} if searches else {}, actor)
        except InsufficientScope:
            return []
        rows: list[Mapping[str, Any]] = answer.value["nodes"] if isinstance(answer.value, dict) else answer.value
        values = [str(row["value"]) for row in rows]
        return [value for value in values if searches or value.lower().startswith(text.lower())][:MAX_VALUES]


def compile_resources(operations: Iterable[Operation], executor: Executor) -> Resources:
    """Return the resources and completions of documents."""
    resources = Resources(executor)
    for operation in operations:
        if operation.resource:
            resources.found.append(_compile(operation, operation.resource))
        resources.completions.update(dict.fromkeys(operation.completes, operation))
    return resources


def _compile(operation: Operation, resource: Resource) -> CompiledResource:
    place = {"uriTemplate" if resource.placeholders else "uri": resource.uri}
    entry = {
        **place,
        "name": operation.name,
        "title": resource.title,
        "description": operation.description,
        "mimeType": MIME_TYPE,
    }
    pattern = re.compile(_PLACEHOLDER.sub(r"(?P<\1>[^/]{1,64})", re.escape(resource.uri)))
    return CompiledResource(operation, pattern, Acceptor(operation.variables.values()), entry)
