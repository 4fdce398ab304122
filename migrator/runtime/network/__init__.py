"""A network written as a function in the style of TF1, with its variables under their TF1 names."""

from migrator.runtime.network.checkpoint import NetworkCheckpoint
from migrator.runtime.network.network import Network
from migrator.runtime.network.pairs import batches

__all__ = ["Network", "NetworkCheckpoint", "batches"]
