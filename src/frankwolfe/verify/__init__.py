"""A judge that shares no code with the solver: it imports nothing of the library outside this folder."""

from frankwolfe.verify import combined, norm_balls, other_objectives, programmes, softmax  # noqa: F401
from frankwolfe.verify.verdict import Verification, claims_of, described, judge, verify

__all__ = ["Verification", "claims_of", "described", "judge", "verify"]
