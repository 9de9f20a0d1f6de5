"""As `google.adk.evaluation.app_details`."""

from proctor.schema.invocation import AgentDetails, AppDetails

__all__ = ["AgentDetails", "AppDetails"]
