"""`tf.nn.rnn_cell` of TF1, which TF 2.16 removed: the same arguments, variable names and numbers."""
