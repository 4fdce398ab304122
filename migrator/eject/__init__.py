"""Live feature columns of a model -> layers that take their place, as source code."""
