"""Rules that no linter checks: sizes, prose, names, the error catalogue, the locks."""

import ast
import re
from collections import Counter, defaultdict
from collections.abc import Iterator
from statistics import median

from tests.architecture.sources import ROOT, Function, files_of_tests, modules

ROOMS = ("app", "tests", "docs", "benchmarks", ".ci")
LOCKS = ("requirements.lock", "requirements-dev.lock")
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

Definition = Function | ast.ClassDef


def functions() -> Iterator[tuple[str, Function]]:
    for module in modules():
        yield from module.functions


def length(function: Function) -> int:
    return (function.end_lineno or function.lineno) - function.lineno + 1


def is_private(name: str) -> bool:
    return name.startswith("_") and not name.startswith("__")


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


def errors() -> list[ast.ClassDef]:
    """List `DomainError` and the classes derived from it."""
    derived: defaultdict[str, list[ast.ClassDef]] = defaultdict(list)
    for module in modules():
        imports = [each for node in module.nodes if isinstance(node, ast.ImportFrom) for each in node.names]
        names = {each.asname: each.name for each in imports if each.asname}
        for node in module.nodes:
            for base in node.bases if isinstance(node, ast.ClassDef) else ():
                name = ast.unparse(base).partition("[")[0].rpartition(".")[2]
                derived[names.get(name, name)].append(node)

    def below(name: str) -> Iterator[ast.ClassDef]:
        for child in derived[name]:
            yield child
            yield from below(child.name)

    return [child for child in derived["Exception"] if child.name == "DomainError"] + [*below("DomainError")]


def code_of(error: ast.ClassDef) -> str | None:
    """Return the code that an error states itself."""
    for node in error.body:
        match node:
            case (
                ast.Assign(targets=[ast.Name(id="code")], value=ast.Constant(value=str(code)))
                | ast.AnnAssign(target=ast.Name(id="code"), value=ast.Constant(value=str(code)))
            ):
                return code
            case _:
                continue
    return None


def test_no_file_is_longer_than_400_lines():
    assert [module.name for module in modules() if module.lines > 400] == []


def test_no_file_of_tests_is_longer_than_400_lines():
    assert [path.name for path, text in files_of_tests().items() if text.count("\n") > 400] == []


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
        for _, function in module.functions
        for given in (*function.args.posonlyargs, *function.args.args, *function.args.kwonlyargs)
        if given.annotation and ast.unparse(given.annotation) == "Any"
    }

    assert bare == UNTYPED


def test_a_private_name_is_used_in_its_module():
    unused = [
        f"{module.name}:{node.lineno} {node.name}"
        for module in modules()
        for node in module.nodes
        if isinstance(node, Definition) and is_private(node.name) and not node.decorator_list
        if len(re.findall(rf"\b{node.name}\b", module.text)) == 1
    ]

    assert unused == []


def test_no_module_imports_a_private_name_of_another():
    imported = [
        f"{module.name}:{node.lineno} {alias.name}"
        for module in modules()
        for node in module.nodes
        if isinstance(node, ast.ImportFrom)
        for alias in node.names
        if is_private(alias.name)
    ]

    assert imported == []


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
        f"{path.relative_to(ROOT)} {name}" for path, text in files_of_tests().items() for name in clause.findall(text)
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
    lines = [line for module in modules() if "#" in module.text for line in module.text.splitlines() if "#" in line]

    assert 100 * len(lines) <= 5 * sum(module.lines for module in modules())


def test_no_file_has_a_name_that_says_nothing():
    files = [path for room in ("app", "tests") for path in (ROOT / room).rglob("*.py")]

    assert [path for path in files if VAGUE & {path.stem, path.parent.name}] == []


def test_every_error_has_a_code_of_its_own_and_a_docstring():
    found = errors()

    assert [error.name for error in found if not code_of(error)] == []
    assert [code for code, times in Counter(map(code_of, found)).items() if times > 1] == []
    assert [error.name for error in found if not ast.get_docstring(error)] == []
    assert len(found) > 80


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
    folders = {path.parent for path in files_of_tests()}

    assert [
        path for path in folders if path.name not in ("factories", "peers") and not any(path.rglob("test_*.py"))
    ] == []
