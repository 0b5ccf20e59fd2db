"""Supervision of tuvl's agents: rules and a judge that pause, steer or abort."""
