"""Rules over what a program means -> findings. Needs neither TensorFlow nor libcst."""
