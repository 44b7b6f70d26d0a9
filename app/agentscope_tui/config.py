"""The settings in force: defaults, files, environment and flags over each other, each with its origin."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from reprlib import Repr
from typing import Any

from pydantic import ValidationError
from pydantic_core import ErrorDetails

from agentscope_tui import setting_paths as schema
from agentscope_tui.datasets.columns import Columns
from agentscope_tui.datasets.template import Template
from agentscope_tui.errors import UsageError
from agentscope_tui.folders import CONFIG_NAME, state_dir, user_config_file
from agentscope_tui.options import FLAGS
from agentscope_tui.resources import default_settings
from agentscope_tui.settings import Settings
from agentscope_tui.trust import UntrustedFile, digest_of, is_own, is_trusted, remember_trust
from agentscope_tui.yaml_file import parse_yaml, read_settings_file

DEFAULT = "default"
_PREFIX = "AGENTSCOPE_"

_short = Repr()
_OF_THE_PROGRAM = ("ui", "serve", "log")
_short.maxstring = _short.maxother = 60


@dataclass(frozen=True)
class Value:
    """A setting's value and where it came from: `default`, a file, an environment variable or a flag."""

    value: object
    origin: str


Values = dict[schema.Path, Value]


@dataclass(frozen=True)
class KeptSettings:
    """The settings that a recording keeps in its `file`, which has this digest, nested as in a settings file;
    and the folder that relative paths among them start from."""

    file: Path
    digest: str
    tree: Mapping[str, Any]
    cwd: Path | None = None


@dataclass(frozen=True)
class Config:
    """What `load_settings` gave. `values` are the single settings, by key in parts."""

    settings: Settings
    values: Mapping[schema.Path, Value]
    untrusted: UntrustedFile | None
    """The working folder's file, where something was left out of it because it is not trusted."""
    flags: Mapping[str, object]
    cwd: Path
    environ: Mapping[str, str]
    kept: KeptSettings | None = None
    """What the recording keeps that is gone on with, if one is."""

    @property
    def state(self) -> Path:
        """The state folder; `open_state_dir` makes it."""
        return state_dir(self.environ)

    def origin(self, key: str) -> str:
        """Where the value of `key` (`model.name`) came from."""
        return self.values[tuple(key.split("."))].origin

    def chosen(self) -> dict[str, object]:
        """The settings that are not the defaults, by key, as far as they bear on what an agent does: what a
        recording or a run keeps. No secret is among them."""
        return {".".join(path): value for path, value in self._chosen()}

    def chosen_tree(self) -> dict[str, Any]:
        """The same, nested as in a settings file; it is not to be changed."""
        return self._tree

    @cached_property
    def _tree(self) -> dict[str, Any]:
        # Each of thousands of sessions keeps it.
        return _tree(dict(self._chosen()))

    def _chosen(self) -> Iterator[tuple[schema.Path, object]]:
        for path, value in self.values.items():
            if value.origin != DEFAULT and path[0] not in _OF_THE_PROGRAM and not schema.is_secret(path):
                yield path, value.value

    @property
    def columns(self) -> Columns:
        """The dataset's column for each part of a task.

        Raises:
            UsageError: `dataset.prompt` or `dataset.files` is no template.
        """
        return Columns(
            **self.settings.dataset.map.model_dump(),
            prompt=self._template("dataset.prompt", self.settings.dataset.prompt),
            # Not when it is filled: no row may name somebody's home folder.
            folder=self._template("dataset.files", self.settings.dataset.files, os.path.expanduser),
        )

    def _template(self, key: str, text: str | None, expand: Callable[[str], str] = str) -> Template | None:
        return None if text is None else Template.parse(expand(text), f"{self.origin(key)}: {key}")

    def api_key(self) -> tuple[str | None, str]:
        """The model's key, None where there is none, and the name of the place to put it right."""
        model = self.settings.model
        if model.api_key is not None:
            return model.api_key.get_secret_value(), f"model.api_key in {self.origin('model.api_key')}"
        if model.api_key_env is None:
            return None, ""
        return self.environ.get(model.api_key_env) or None, model.api_key_env

    def graders_of(self, row_grader: str | None) -> tuple[str, ...]:
        """The graders for a row: what a flag or the environment names, else the row's own, else a file's."""
        chosen = self.settings.grading.grader
        asked = self.origin("grading.grader") in (
            FLAGS["grading.grader"],
            f"{_PREFIX}GRADING__GRADER",
        )
        if row_grader is not None and not asked:
            return (row_grader,)
        return (chosen,) if isinstance(chosen, str) else tuple(chosen or ())

    def with_trust(self) -> Config:
        """Trust what the untrusted file held when it was read, from now on, and load again.

        A file that changed since then stays untrusted.

        Raises:
            UserError: this cannot be remembered, or the file holds what is not allowed.
        """
        if self.untrusted is not None:
            remember_trust(self.state, self.untrusted.file, self.untrusted.digest)
        return load_settings(self.flags, cwd=self.cwd, environ=self.environ, kept=self.kept)

    def with_kept(self, kept: KeptSettings, *, trust: bool = False) -> Config:
        """The settings for going on with a recording: what it keeps counts for more than files, and for less
        than the environment and flags.

        Raises:
            UserError: as `load_settings`.
        """
        cwd = kept.cwd if kept.cwd is not None and kept.cwd.is_dir() else self.cwd
        return load_settings(self.flags, cwd=cwd, environ=self.environ, trust=trust, kept=kept)


def load_settings(
    flags: Mapping[str, object],
    *,
    cwd: Path | None = None,
    environ: Mapping[str, str] | None = None,
    trust: bool = False,
    kept: KeptSettings | None = None,
    own: bool = True,
) -> Config:
    """The settings for a start in `cwd` (default: this process's folder and environment).

    `flags` are values by key: `{"model.name": "openai:gpt-5-mini"}`. With `trust` the working folder's file
    is trusted, and this is remembered; so are the settings `kept` by a recording. Without
    `own` the user's own file is left out.

    Raises:
        UsageError: an unknown key or a bad value; names where it stands and what is allowed.
        UserError: a file cannot be read, or trust cannot be remembered.
    """
    folder = Path.cwd() if cwd is None else cwd.absolute()
    env = dict(os.environ if environ is None else environ)
    values: Values = dict(_file_values(default_settings(), DEFAULT))
    user_file = user_config_file()
    if own:
        values.update(_file_values(user_file, str(user_file)))
    local, untrusted = _working_folder_values(folder / CONFIG_NAME, user_file, state_dir(env), trust)
    recorded: Values = {}
    if kept is not None:
        recorded, left_out = _kept_values(kept, state_dir(env), trust)
        untrusted = left_out or untrusted
    for layer in (local, recorded, dict(_environment_values(env)), dict(_flag_values(flags))):
        _refuse_secrets(layer, user_file)
        values.update(layer)
    return Config(_validated(values), values, untrusted, flags, folder, env, kept)


def _file_values(file: Path, origin: str) -> Iterator[tuple[schema.Path, Value]]:
    found = read_settings_file(file)
    return iter(()) if found is None else _flat(found[0], origin)


def _working_folder_values(
    file: Path, user_file: Path, state: Path, trust: bool
) -> tuple[Values, UntrustedFile | None]:
    found = None if _is_same(file, user_file) else read_settings_file(file)
    if found is None:
        return {}, None
    tree, content = found
    return _trusted_part(dict(_flat(tree, str(file))), file, digest_of(content), state, trust)


def _kept_values(kept: KeptSettings, state: Path, trust: bool) -> tuple[Values, UntrustedFile | None]:
    """What a recording keeps; one that does not lie in a folder of the user's own may be a stranger's."""
    values = dict(_flat(_known(kept.tree), str(kept.file)))
    if is_own(state, kept.file):
        return values, None
    return _trusted_part(values, kept.file.absolute(), kept.digest, state, trust)


def _known(tree: Mapping[str, Any], above: schema.Path = ()) -> dict[str, Any]:
    """The settings that this version has, of those that another one may have written."""
    return {
        name: _known(value, (*above, name)) if isinstance(value, Mapping) else value
        for name, value in tree.items()
        if schema.exists((*above, name)) and not schema.only_in_user_file((*above, name))
    }


def _trusted_part(
    values: Values, file: Path, digest: str, state: Path, trust: bool
) -> tuple[Values, UntrustedFile | None]:
    """The values that count of a file that may be a stranger's, and what was left out."""
    held = {path: value for path, value in values.items() if schema.needs_trust(path, value.value)}
    if not held or is_trusted(state, file, digest):
        return values, None
    if trust:
        remember_trust(state, file, digest)
        return values, None
    kept = {path: value for path, value in values.items() if path not in held}
    return kept, UntrustedFile(file, digest, tuple(".".join(path) for path in held))


def _is_same(file: Path, other: Path) -> bool:
    return file.exists() and other.exists() and file.samefile(other)


def _environment_values(environ: Mapping[str, str]) -> Iterator[tuple[schema.Path, Value]]:
    for name, text in sorted(environ.items()):
        words = name.removeprefix(_PREFIX).lower()
        if not name.startswith(_PREFIX) or not text:
            continue
        if "__" in words:
            *parents, last = words.split("__")
            path = (*parents, last)
            value = _from_text(text, path, name)
            yield from _flat({last: value}, name, tuple(parents))
        elif words.partition("_")[0] in Settings.model_fields:
            section = words.partition("_")[0]
            raise UsageError(
                f"environment: {name} sets nothing: two underscores part a section from its key, "
                f"as in {_PREFIX}{section.upper()}__{words.partition('_')[2].upper()}"
            )


def _from_text(text: str, path: schema.Path, origin: str) -> object:
    if schema.takes_text(path):
        return None if text == "null" else text
    return parse_yaml(text, origin)


def _flag_values(flags: Mapping[str, object]) -> Iterator[tuple[schema.Path, Value]]:
    for key, value in flags.items():
        *parents, last = key.split(".")
        yield from _flat({last: value}, FLAGS.get(key, "command line"), tuple(parents))


def _flat(
    tree: Mapping[Any, object], origin: str, above: schema.Path = ()
) -> Iterator[tuple[schema.Path, Value]]:
    """The single values of nested settings.

    It goes only as deep as the settings do, so that a file that refers to itself ends.
    """
    for name, value in tree.items():
        path = (*above, str(name))
        if not schema.exists(path):
            raise UsageError(f"{origin}: unknown key {'.'.join(path)}: {_known_keys(path)}")
        if not schema.is_mapping(path):
            yield path, Value(value, origin)
        elif value == {} and not schema.keys_at(path):
            yield path, Value({}, origin)
        elif isinstance(value, Mapping):
            yield from _flat(value, origin, path)
        elif value is not None:
            raise UsageError(_refusal(path, value, origin))


def _known_keys(path: schema.Path) -> str:
    above = path[:-1]
    while not schema.is_mapping(above):
        above = above[:-1]
    where = f"in {'.'.join(above)} " if above else ""
    return f"{where}there are {', '.join(schema.keys_at(above))}"


def _refuse_secrets(values: Values, user_file: Path) -> None:
    for path, value in values.items():
        if schema.only_in_user_file(path):
            raise UsageError(
                f"{value.origin}: {'.'.join(path)} is allowed only in {user_file}; "
                "or put the key into the environment variable that model.api_key_env names"
            )


def _tree(values: Mapping[schema.Path, object]) -> dict[str, Any]:
    tree: dict[str, Any] = {}
    for path, value in values.items():
        section = tree
        for name in path[:-1]:
            section = section.setdefault(name, {})
        section[path[-1]] = {} if value == {} else value
    return tree


def _validated(values: Values) -> Settings:
    try:
        return Settings.model_validate(_tree({path: item.value for path, item in values.items()}))
    except ValidationError as error:
        raise UsageError(_explain(error.errors(include_url=False)[0], values)) from None


def _explain(error: ErrorDetails, values: Values) -> str:
    path = tuple(str(part) for part in error["loc"])
    while not schema.exists(path):
        path = path[:-1]
    near = values.get(path) or next(
        value for known, value in values.items() if known[: len(path) - 1] == path[:-1]
    )
    if error["type"] == "missing":
        return f"{near.origin}: {'.'.join(path)} is missing: it must be {schema.allowed(path)}"
    return _refusal(path, error["input"], near.origin)


def _refusal(path: schema.Path, value: object, origin: str) -> str:
    shown = "this value" if schema.only_in_user_file(path) else _short.repr(value)
    return f"{origin}: {'.'.join(path)} cannot be {shown}: it must be {schema.allowed(path)}"
