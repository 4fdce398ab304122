"""Keras callbacks that do what TF1's built-in hooks did: at the same steps, in the same words.

A session of TF1 is one `fit`, or one call of a loop's `train`. What a hook forgot with its session these
callbacks forget, and what it carried over to the next they carry over. They work in `fit` (after
`runtime.BackupAndRestore`) and in loops of one's own, through `tf.keras.callbacks.CallbackList`.
"""
