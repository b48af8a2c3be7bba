"""Signatures that name every keyword, for completion and help in editors and notebooks."""

from __future__ import annotations

from inspect import Parameter, signature
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

__all__ = ["keywords_of", "keywords_with", "name_keywords"]


def keywords_of(function: Callable[..., Any]) -> dict[str, Parameter]:
    """Return the keyword-only parameters of a function by name."""
    found = signature(function).parameters.items()
    return {name: one for name, one in found if one.kind == Parameter.KEYWORD_ONLY}


def keywords_with(annotations: Mapping[str, object]) -> dict[str, Parameter]:
    """Return optional keyword-only parameters with these annotations, which `TypedDict` wraps."""
    return {
        name: Parameter(
            name,
            Parameter.KEYWORD_ONLY,
            default=None,
            annotation=getattr(annotation, "__forward_arg__", annotation),
        )
        for name, annotation in annotations.items()
    }


def name_keywords(function: Callable[..., Any], named: Mapping[str, Parameter]) -> None:
    """Replace ``**keywords`` in the signature of a function by parameters."""
    found = signature(function)
    own = {name: one for name, one in found.parameters.items() if one.kind != Parameter.VAR_KEYWORD}
    for name, one in named.items():
        own.setdefault(name, one)
    function.__signature__ = found.replace(parameters=[*own.values()])  # type: ignore[attr-defined]
