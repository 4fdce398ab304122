"""Runs a `model_fn` as the Estimator ran it: in a graph, with a monitored session."""
