"""Why a rule does not compile, in one sentence: the rule, the file and line of the fault, and what is wrong.

Some faults are looked for before the compiler sees the rule. A name that is not defined it reports without its line.
What prints or raises it would compile, and then fail at every call: rules run where no exception can be handled.
"""

from __future__ import annotations

import builtins
import dis
import re
from collections.abc import Iterator
from pathlib import Path
from types import CodeType, FunctionType, ModuleType
from typing import Any, cast

from numba.core.typing.templates import Signature

from qdts.errors import InputError
from qdts.kernels import Kernel

HINTS = {
    "int64*": "a vector is a bare pointer, which can be indexed and nothing else",
    "<class 'function'>": "a helper is decorated with @kernel()",
    "mismatch of return type": "every path through the rule must return what it promises",
}
"""What to do about errors of the compiler that hold these words."""
COLOURS = re.compile(r"\x1b\[[0-9;]*m")
"""What the compiler puts into its messages for terminals."""
PLACE = re.compile(r'File "([^"]+)", line ([0-9]+)')
RAISE = dis.opmap["RAISE_VARARGS"]


def verify_compilable(rule: Kernel, signature: Signature) -> None:
    """Raise an InputError for a rule with other arguments than expected, or with something that can't be in a rule.

    That is to print, to raise and to name what is not defined, in the rule or in a helper that it calls.
    """
    code = _python(rule).__code__
    if code.co_argcount != len(signature.args):
        why = f"it takes {code.co_argcount} arguments, expected {len(signature.args)}"
        raise InputError(_sentence(rule, code.co_filename, code.co_firstlineno, why))
    for function in reached(rule):
        for line, why in _faults(function):
            raise InputError(_sentence(rule, function.__code__.co_filename, line, why))


def why_not(rule: Kernel, error: Exception) -> str:
    """Which rule does not compile, where and why, in one sentence of the compiler's many."""
    message = COLOURS.sub("", str(error))
    words = message.partition("There are ")[0].partition("\nFile ")[0].splitlines()
    why = " ".join(" ".join(w for w in words if not w.startswith(("Failed in", "During:"))).split())
    why = "; ".join([why, *(hint for words, hint in HINTS.items() if words in why)])
    return _sentence(rule, *_place(rule, message, error), why)


def reached(rule: Kernel) -> Iterator[FunctionType]:
    """A rule's function, and those of all kernels that it calls by name, and that these call."""
    found: set[FunctionType] = set()
    ahead = [_python(rule)]
    while ahead:
        function = ahead.pop()
        if function not in found:
            found.add(function)
            yield function
            ahead += [_python(kernel) for kernel in _named(function) if isinstance(kernel, Kernel)]


def _named(function: FunctionType) -> Iterator[object]:
    """What the names in a function may stand for: globals, and whatever is in modules among them."""
    names, scope = function.__code__.co_names, function.__globals__
    modules = [vars(scope[name]) for name in names if isinstance(scope.get(name), ModuleType)]
    return (place[name] for place in (scope, *modules) for name in names if name in place)


def _faults(function: FunctionType) -> Iterator[tuple[int, str]]:
    """The line of everything that must not be in a rule, and what it is."""
    code = function.__code__
    suspects = {name for name in code.co_names if _is_suspect(name, function)}
    if not suspects and RAISE not in code.co_code[::2]:
        return
    for at in dis.get_instructions(code):
        if at.opcode == RAISE:
            yield _line(at, code), "a rule can't raise or assert: whoever calls compiled code can't catch an exception"
        elif at.opname == "LOAD_GLOBAL" and at.argval in suspects:
            printing = hasattr(builtins, at.argval)
            why = "a rule can't print, since it is compiled: `qdts walk` shows each world and view"
            yield _line(at, code), why if printing else f"NameError: name '{at.argval}' is not defined"


def _is_suspect(name: str, function: FunctionType) -> bool:
    """Whether a global name stands for nothing, or for the function that prints."""
    return name not in function.__globals__ and getattr(builtins, name, print) is print


def _line(instruction: dis.Instruction, code: CodeType) -> int:
    positions = instruction.positions
    return (positions.lineno if positions else None) or code.co_firstlineno


def _place(rule: Kernel, message: str, error: Exception) -> tuple[str, int]:
    """The file and line of the fault: the first that the compiler names, which is where it noticed it."""
    files = {Path(f.__code__.co_filename).name: f.__code__.co_filename for f in reached(rule)}
    for name, line in PLACE.findall(message):
        if name in files:
            return files[name], int(line)
    code, noticed = _python(rule).__code__, getattr(error, "loc", None)
    if noticed is not None and noticed.filename in files.values():
        return noticed.filename, noticed.line
    return code.co_filename, code.co_firstlineno


def _sentence(rule: Kernel, file: str, line: int, why: str) -> str:
    return f"the rule '{rule.__name__}' does not compile: {file}, line {line}: {why}"


def _python(kernel: Any) -> FunctionType:
    return cast(FunctionType, kernel.py_func)
