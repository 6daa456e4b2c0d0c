"""The tokenizer of a Hugging Face model, as `backend.Tokenizer`, for every backend that runs such a model.

The decision: the answer is tokenized on its own, as the model itself would write it, not as the rest of some
longer text; the chat template is asked not to open a passage of thinking.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from traceback import walk_tb
from typing import Any, TypeVar

from stead_sym.agents.prompts.prompt import Message
from stead_sym.agents.records.digest import digest
from stead_sym.agents.records.possible import Tokens
from stead_sym.errors import ModelError
from stead_sym.models.control_tokens import ControlTokens, HubVocabulary
from stead_sym.support.extras import install
from stead_sym.support.printable import one_line

Loaded = TypeVar("Loaded")

_UNUSED = ("torchvision", "torchaudio", "torchcodec")
"""Packages that engines install, and that do not load with a torch of another build, such as the CPU's."""


class ChatTokenizer:
    """The tokenizer and the chat template of a model; build it with `load`.

    ``identity`` has the digests of the tokenizer and of the template.
    """

    def __init__(self, tokenizer: Any, name: str) -> None:
        """Wrap a tokenizer; raise `ModelError` if it has no chat template or no end token."""
        self._tokenizer = tokenizer
        self._name = name
        if not tokenizer.chat_template:
            raise ModelError(
                f"the tokenizer of {name} has no chat template; add chat_template.jinja to the model"
            )
        if tokenizer.eos_token_id is None:
            raise ModelError(
                f"the tokenizer of {name} has no end token; set eos_token in tokenizer_config.json"
            )
        self._control = ControlTokens(HubVocabulary(tokenizer), name)
        self.end: int = tokenizer.eos_token_id
        self.identity: Mapping[str, str] = {
            "tokenizer": digest(tokenizer.backend_tokenizer.to_str()),
            "template": digest(tokenizer.chat_template),
        }

    @classmethod
    def load(cls, name: str, revision: str | None = None, extra: str = "hf") -> ChatTokenizer:
        """Return the tokenizer of a model on disk or, if that is allowed, on the hub.

        ``extra`` is that of the package with the backend's libraries.
        """
        transformers = library("transformers", name, extra)
        # transformers imports lazily, which may fail here too.
        return cls(
            reporting(name, lambda: transformers.AutoTokenizer.from_pretrained(name, revision=revision)), name
        )

    def prompt(self, messages: Sequence[Message]) -> Tokens:
        """Return the tokens of a chat up to the start of the model's answer.

        Text in a message never becomes a control token.
        """
        return self._control.prompt(messages, self._rendered)

    def text(self, text: str) -> Tokens:
        """Return the tokens of a text, without special ones at its ends or in it."""
        return self._control.text(text)

    def _rendered(self, messages: Sequence[Message]) -> str:
        from jinja2.exceptions import TemplateError

        chat = [message._asdict() for message in messages]
        try:
            text: str = self._tokenizer.apply_chat_template(
                chat, tokenize=False, add_generation_prompt=True, enable_thinking=False
            )
        except TemplateError as error:
            raise ModelError(
                f"the chat template of {self._name} refuses the prompt: {error}; change the prompt's messages"
            ) from None
        return text

    def spelled(self, token: int) -> str:
        """Return the text of a token."""
        text: str = self._tokenizer.decode([token])
        return text


def library(module: str, name: str, extra: str = "hf") -> Any:
    """Return an imported library, of an extra of the package.

    Raise `ModelError` if it is not installed or does not load.
    """
    from importlib import import_module

    try:
        return import_module(module)
    except Exception as error:  # noqa: BLE001 (its code, or that of its dependencies, may raise anything)
        if isinstance(error, ModuleNotFoundError) and f"{module}.".startswith(f"{error.name}."):
            raise ModelError(
                f"{name} needs the library {module}, which is not installed; {install(extra)}"
            ) from None
        raise _not_loading(name, f"the library {module}", error) from None


def reporting(name: str, load: Callable[[], Loaded]) -> Loaded:
    """Return the result of ``load``; raise `ModelError` if a model of that name cannot be loaded."""
    import safetensors

    if name.startswith((".", "/", "~")) and not Path(name).is_dir():
        raise ModelError(f"{name}: no such folder; name a folder that has a model, or a model of the hub")
    try:
        return load()
    except ImportError as error:
        raise _not_loading(name, "a library that it needs", error) from None
    except (OSError, ValueError, KeyError, RuntimeError, safetensors.SafetensorError) as error:
        if _comes_from(error, _UNUSED):
            raise _not_loading(name, "a library that it needs", error) from None
        raise ModelError(
            f"{name}: no model can be loaded from there: {_reason(error)}; name a folder that has one, "
            "or a model of the hub"
        ) from None


def _not_loading(name: str, what: str, error: Exception) -> ModelError:
    mend = "install versions that go together"
    if _comes_from(error, _UNUSED):
        mend = f"pip uninstall {' '.join(_UNUSED)}, which are not used here and do not fit the torch that is"
    return ModelError(f"{name}: {what} does not load: {one_line(_reason(error))}; {mend}")


def _comes_from(error: BaseException | None, libraries: Sequence[str]) -> bool:
    """Return True if an error, or one of its causes, was raised in code of these libraries."""
    while error is not None:
        frames = [frame for frame, _ in walk_tb(error.__traceback__)]
        modules = {str(frame.f_globals.get("__name__")).partition(".")[0] for frame in frames}
        if not modules.isdisjoint(libraries):
            return True
        error = error.__cause__ or error.__context__
    return False


def _reason(error: Exception) -> str:
    """Return the first informative line of an error's message."""
    details = getattr(error, "errors", None)  # for pydantic, whose own message starts with a count
    text = "; ".join(str(detail["msg"]) for detail in details()) if callable(details) else str(error)
    first = next(iter(text.strip().splitlines()), type(error).__name__)
    return first.removeprefix("Value error, ").rstrip(".")
