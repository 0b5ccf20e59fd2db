"""Makes the Python modules of `runs.proto` when the distribution is built; they are not kept in the repository."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

PROTO = "tuvl_grpc/proto/runs.proto"
MADE = ("runs_pb2.py", "runs_pb2.pyi", "runs_pb2_grpc.py")


class Protoc(BuildHookInterface[Any]):
    """Runs protoc on the one file there is."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Make the modules, and have the wheel hold them although git ignores them."""
        from grpc_tools import protoc

        source = Path(self.root) / "src"
        out = str(source)
        flags = [f"--proto_path={out}", f"--python_out={out}", f"--pyi_out={out}", f"--grpc_python_out={out}"]
        if protoc.main(["protoc", *flags, PROTO]) != 0:
            raise RuntimeError(f"protoc could not read src/{PROTO}")
        build_data["artifacts"] += [f"src/tuvl_grpc/proto/{name}" for name in MADE]
