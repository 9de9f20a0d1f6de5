"""As `google.adk.agents.common_configs`: what an eval config needs of it."""

from proctor.schema.format.config import CodeConfig

__all__ = ["CodeConfig"]
