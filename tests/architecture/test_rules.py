"""Rules that no linter checks: sizes, prose, names, the error catalogue, the locks."""

import ast
import importlib
import io
import pkgutil
import re
import tokenize
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache, cached_property
from pathlib import Path
from statistics import median

import app
from app.domain.kernel.errors import DomainError

ROOT = Path(__file__).parents[2]
ROOMS = ("app", "tests", "docs", "benchmarks", ".ci")
LOCKS = ("requirements.lock", "requirements-dev.lock")
MIGRATIONS = "migrations"
UNTYPED = {
    "cli/commands.py _complain(fault)",
    "cli/documents.py get_command(ctx)",
    "cli/usage.py _sentence(fault)",
    "cli/usage.py explain(fault)",
    "domain/automations/actions.py _checked(value)",
    "rest/envelope.py success(value)",
}
"""The parameters of the type `Any`: classes without a public name in Typer, and values whose type follows from another
parameter."""

VAGUE = frozenset({"util", "utils", "helper", "helpers", "manager", "managers", "misc"})

Function = ast.FunctionDef | ast.AsyncFunctionDef
Definition = Function | ast.ClassDef


@dataclass(frozen=True)
class Module:
    """A file of `app`, read once."""

    name: str
    text: str
    tree: ast.Module

    @property
    def lines(self) -> int:
        """Count the lines of the file."""
        return self.text.count("\n")

    @cached_property
    def nodes(self) -> list[ast.AST]:
        """List every node: each walk over all modules takes most of a second."""
        return list(ast.walk(self.tree))

    def functions(self) -> Iterator[tuple[str, Function]]:
        """Walk over every function, however deep, with the place it stands at."""
        for node in self.nodes:
            if isinstance(node, Function):
                yield f"{self.name}:{node.lineno} {node.name}", node


def read(path: Path) -> Module:
    text = path.read_text()
    return Module(str(path.relative_to(ROOT)), text, ast.parse(text))


@cache
def modules() -> list[Module]:
    return [read(path) for path in sorted((ROOT / "app").rglob("*.py")) if MIGRATIONS not in path.parts]


@cache
def functions() -> list[tuple[str, Function]]:
    return [found for module in modules() for found in module.functions()]


def length(function: Function) -> int:
    return (function.end_lineno or function.lineno) - function.lineno + 1


def public(node: ast.Module | ast.ClassDef) -> Iterator[Definition]:
    for child in node.body:
        if isinstance(child, Definition) and not child.name.startswith("_") and not described(child):
            yield child
            if isinstance(child, ast.ClassDef):
                yield from public(child)


def described(node: Definition) -> bool:
    """Return whether the prose stands elsewhere: in a GraphQL description, or on the signature that is overloaded."""
    names = [ast.unparse(decorator) for decorator in node.decorator_list]
    return any(name.startswith("strawberry.") or name in {"overload", "override"} for name in names)


def texts() -> Iterator[tuple[str, str]]:
    files = [path for room in ROOMS for path in (ROOT / room).rglob("*") if "__pycache__" not in path.parts]
    for path in [*files, *ROOT.iterdir()]:
        if path.is_file() and path.name != ".git":
            yield str(path.relative_to(ROOT)), path.read_bytes().decode(errors="ignore")


def import_the_whole_app() -> None:
    for module in pkgutil.walk_packages(app.__path__, "app."):
        if MIGRATIONS not in module.name and not module.name.endswith("__main__"):
            importlib.import_module(module.name)


def errors(root: type[DomainError]) -> Iterator[type[DomainError]]:
    """Walk over the errors of the app; those that tests define for themselves are not in its catalogue."""
    if root.__module__.startswith("app."):
        yield root
    for child in root.__subclasses__():
        yield from errors(child)


def test_no_file_is_longer_than_400_lines():
    assert [module.name for module in modules() if module.lines > 400] == []


def test_no_file_of_tests_is_longer_than_400_lines():
    files = (ROOT / "tests").rglob("*.py")

    assert [path.name for path in files if path.read_text().count("\n") > 400] == []


def test_each_group_of_settings_fits_on_150_lines():
    settings = [module for module in modules() if module.name.startswith("app/settings/")]

    assert [module.name for module in settings if module.lines > 150] == []


def test_no_function_is_longer_than_40_lines():
    assert [place for place, function in functions() if length(function) > 40] == []


def test_half_of_the_functions_are_shorter_than_10_lines():
    assert median(length(function) for _, function in functions()) < 10


def test_every_function_declares_its_return_type():
    assert [place for place, function in functions() if function.returns is None] == []


def test_a_parameter_has_a_type_unless_it_takes_any_value():
    bare = {
        f"{module.name.removeprefix('app/')} {function.name}({given.arg})"
        for module in modules()
        for _, function in module.functions()
        for given in (*function.args.posonlyargs, *function.args.args, *function.args.kwonlyargs)
        if given.annotation and ast.unparse(given.annotation) == "Any"
    }

    assert bare == UNTYPED


def test_a_limit_of_the_contract_is_a_constant_of_the_domain():
    literal = [
        f"{module.name}:{call.lineno} {limit.arg}={limit.value.value}"
        for module in modules()
        for call in module.nodes
        if isinstance(call, ast.Call) and isinstance(call.func, ast.Name) and call.func.id == "Constraint"
        for limit in call.keywords
        if isinstance(limit.value, ast.Constant) and limit.value.value not in (0, 1)
    ]

    assert literal == []


def test_no_text_begins_with_a_clause_in_the_place_of_a_noun():
    clause = re.compile(r"\s*(?:What|Who|Whose|Whoever|Whatever|Why|How|Nobody|Somebody)\b[^?]*$")
    found = [
        f"{module.name}:{node.lineno} {node.value[:60]}"
        for module in modules()
        for node in module.nodes
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and clause.match(node.value)
    ]

    assert found == []


def test_no_text_has_a_clause_in_the_place_of_an_object():
    clause = re.compile(
        r"\b(?:add|apply|count|do|empty|end|find|give|list|load|move|read|record|return|send|store|take|write|yield)s? "
        r"(?:what|who)\b(?! to\b)|\b(?:for|label of|of) who\b",
        re.I,
    )
    found = [
        f"{module.name}:{node.lineno} {text[0]}"
        for module in modules()
        for node in module.nodes
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and (text := clause.search(node.value))
    ]

    assert found == []


def test_no_test_has_a_name_with_a_clause_in_the_place_of_a_noun():
    clause = re.compile(r"def (test_(?:(?:what|whatever|who|whose|whoever|nothing)_|\w*(?:nobody|somebody))\w*)")
    names = [
        f"{path.relative_to(ROOT)} {name}"
        for path in (ROOT / "tests").rglob("*.py")
        for name in clause.findall(path.read_text())
    ]

    assert names == []


def test_the_docstring_of_every_module_begins_with_a_sentence():
    first_lines = {module.name: (ast.get_docstring(module.tree) or "").partition("\n")[0] for module in modules()}

    assert [name for name, line in first_lines.items() if not line.endswith(".")] == []


def test_every_public_class_and_function_has_a_docstring_that_ends_with_a_dot():
    undocumented = [
        f"{module.name}:{node.lineno} {node.name}"
        for module in modules()
        for node in public(module.tree)
        if not (ast.get_docstring(node) or "").endswith(".")
    ]

    assert undocumented == []


def test_comments_are_rare():
    comments = [
        token.string
        for module in modules()
        if "#" in module.text
        for token in tokenize.generate_tokens(io.StringIO(module.text).readline)
        if token.type == tokenize.COMMENT
    ]

    assert 100 * len(comments) <= 5 * sum(module.lines for module in modules())


def test_no_file_has_a_name_that_says_nothing():
    files = [path for room in ("app", "tests") for path in (ROOT / room).rglob("*.py")]

    assert [path for path in files if VAGUE & {path.stem, path.parent.name}] == []


def test_every_error_has_a_code_of_its_own_and_a_docstring():
    import_the_whole_app()

    found = list(errors(DomainError))

    assert [code for code, times in Counter(error.code for error in found).items() if times > 1] == []
    assert [error.__name__ for error in found if not vars(error).get("__doc__")] == []


def test_locks_pin_every_package_by_hash_and_name_no_host():
    for lock in LOCKS:
        requirements = (ROOT / lock).read_text().replace("\\\n", "").splitlines()

        assert [line for line in requirements if "==" not in line or "--hash=sha256:" not in line] == []
        assert [line for line in requirements if "://" in line or " @ " in line] == []


def test_the_development_lock_holds_the_same_versions_as_the_lock():
    runtime, development = ({*re.findall(r"^\S+==\S+", (ROOT / lock).read_text(), re.M)} for lock in LOCKS)

    assert runtime - development == set()


def test_no_file_points_outside_the_repository():
    outside = "shared" + "/"

    assert [name for name, text in texts() if outside in text] == []


def test_every_test_folder_holds_tests():
    folders = {path.parent for path in (ROOT / "tests").rglob("*.py")}

    assert [
        path for path in folders if path.name not in ("factories", "peers") and not any(path.rglob("test_*.py"))
    ] == []
