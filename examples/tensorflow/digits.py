"""Handwritten-digit-like images made on the spot, so that nothing is downloaded."""

import numpy as np

CLASSES = 10
SIZE = 14


def digits(seed, count):
    """`count` noisy, shifted images of ten fixed shapes, and their classes."""
    shapes = np.random.default_rng(1).random((CLASSES, SIZE, SIZE)) > 0.6
    rng = np.random.default_rng(seed)
    labels = rng.integers(0, CLASSES, count)
    images = np.empty((count, SIZE, SIZE, 1), np.float32)
    for i, label in enumerate(labels):
        shifted = np.roll(shapes[label], rng.integers(-1, 2, 2), (0, 1))
        images[i, :, :, 0] = shifted + rng.normal(0, 0.5, (SIZE, SIZE))
    return images, labels.astype(np.int64)
