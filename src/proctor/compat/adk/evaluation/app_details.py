"""As `google.adk.evaluation.app_details`."""

from proctor.schema.format.invocation import AgentDetails, AppDetails

__all__ = ["AgentDetails", "AppDetails"]
