"""Kinds Agent and AutonomousAgent: a language model as a step, alone or in a bounded tool loop."""
