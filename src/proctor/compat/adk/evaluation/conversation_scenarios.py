"""As `google.adk.evaluation.conversation_scenarios`."""

from proctor.schema.format.case import (
    ConversationGenerationConfig,
    ConversationScenario,
    ConversationScenarios,
)

__all__ = ["ConversationGenerationConfig", "ConversationScenario", "ConversationScenarios"]
