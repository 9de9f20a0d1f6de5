"""What the agent used: counted as trials end, to be shown and to be limited."""

from __future__ import annotations

from collections.abc import Iterable

from proctor.schema.trial import Trial, Turn


class Spending:
    """Tokens that the agent reported, and the models that it named."""

    __slots__ = ("_before", "models", "tokens")

    def __init__(self) -> None:
        """Begin with nothing."""
        self.tokens = self._before = 0
        self.models: set[str] = set()

    def begin_with(self, tokens: int, models: Iterable[str]) -> None:
        """Take over what was counted before, where a run is gone on with."""
        self.tokens += tokens
        self._before += tokens
        self.models.update(models)

    @property
    def tokens_now(self) -> int:
        """Tokens since this process has been at work."""
        return self.tokens - self._before

    def add(self, trial: Trial) -> None:
        """Count one trial, the attempts before its last one included."""
        self._add(trial.turns)
        for attempt in trial.attempts:
            self._add(attempt.turns)

    def _add(self, turns: Iterable[Turn]) -> None:
        for turn in turns:
            for event in turn.events:
                if event.usage_metadata is not None:
                    self.tokens += event.usage_metadata.total_token_count or 0
                if event.model_version:
                    self.models.add(event.model_version)
