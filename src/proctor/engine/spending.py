"""What the agent used: counted as trials end, to be shown and to be limited."""

from __future__ import annotations

from proctor.schema.trial import Trial


class Spending:
    """Tokens that the agent reported, and the models that it named."""

    __slots__ = ("models", "tokens")

    def __init__(self) -> None:
        """Begin with nothing."""
        self.tokens = 0
        self.models: set[str] = set()

    def add(self, trial: Trial) -> None:
        """Count one trial, the attempts before its last one included."""
        for turns in (trial.turns, *(attempt.turns for attempt in trial.attempts)):
            for turn in turns:
                for event in turn.events:
                    if event.usage_metadata is not None:
                        self.tokens += event.usage_metadata.total_token_count or 0
                    if event.model_version:
                        self.models.add(event.model_version)
