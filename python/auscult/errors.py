"""What can go wrong, as exceptions; the texts are those of the library and the program.

Every exception of this package is an :class:`AuscultError`. Those that mean the same as a built-in exception are one of
these too, so that code which never heard of this package handles them.
"""

__all__ = [
    "AuscultError",
    "AuscultWarning",
    "BudgetError",
    "EvaluationError",
    "FrontEndError",
    "InputError",
    "LabelFoldersError",
    "ModelError",
    "ModelNotFoundError",
    "NothingToLearnError",
    "SoundError",
    "SoundNotFoundError",
    "StoppedError",
    "TargetError",
    "UnusableClipError",
]


class AuscultError(Exception):
    """Anything this package refuses or cannot do.

    >>> import auscult
    >>> try:
    ...     auscult.Machine.open("no-such-file.auscult")
    ... except auscult.AuscultError as error:
    ...     print(type(error).__name__)
    ModelNotFoundError
    """


class InputError(AuscultError, ValueError):
    """A value, array or setting is not one of those allowed; the text says which are."""


class SoundError(AuscultError):
    """Sound cannot be read: damaged, of an unknown kind, empty."""


class SoundNotFoundError(SoundError, FileNotFoundError):
    """There is no such recording, folder or match of a pattern."""


class ModelError(AuscultError):
    """A file is not an undamaged model of a version that is known here."""


class ModelNotFoundError(ModelError, FileNotFoundError):
    """There is no such model file."""


class TargetError(AuscultError, OSError):
    """A file cannot be written, or must not be written over."""


class FrontEndError(AuscultError):
    """A front end or encoder cannot be made or used here."""


class LabelFoldersError(AuscultError):
    """Folders look like labels (``normal``, ``abnormal``) and nobody said whether they are.

    Pass ``label_folders="use"`` or ``label_folders="ignore"``.
    """


class NothingToLearnError(AuscultError):
    """Not one clip can be learnt from."""


class BudgetError(AuscultError):
    """No alarm rule keeps the budget yet."""


class UnusableClipError(AuscultError, ValueError):
    """A clip is not the sound of a machine, so it cannot be explained."""


class StoppedError(AuscultError):
    """The work was stopped before it was done."""


class EvaluationError(AuscultError):
    """A data set or protocol is not what it should be."""


class AuscultWarning(UserWarning):
    """Something was left out or is not to be relied on; results say so too."""
