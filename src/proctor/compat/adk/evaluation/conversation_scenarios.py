"""As `google.adk.evaluation.conversation_scenarios`."""

from proctor.schema.format.scenario import (
    ConversationGenerationConfig,
    ConversationScenario,
    ConversationScenarios,
)

__all__ = ["ConversationGenerationConfig", "ConversationScenario", "ConversationScenarios"]
