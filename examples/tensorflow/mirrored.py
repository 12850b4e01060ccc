"""Synchronous training on several workers: MultiWorkerMirroredStrategy and Keras' fit.

Every worker runs this script; TF_CONFIG tells each who it is. The state is kept in
--dir after every epoch, so a job whose workers are started again goes on where it was.
TensorFlow ends all workers when one is lost, and all must come back.

Made for TensorFlow 2.13 to 2.15; later ones need tf-keras and TF_USE_LEGACY_KERAS=1.
"""

import argparse
import json
import os
import sys

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")
import tensorflow as tf  # noqa: E402

from digits import CLASSES, SIZE, digits  # noqa: E402


def parse_options():
    parser = argparse.ArgumentParser()
    parser.add_argument("--dir", required=True, help="folder that all workers share")
    parser.add_argument("--epochs", type=int, default=6)
    parser.add_argument("--steps-per-epoch", type=int, default=20)
    parser.add_argument("--lose-worker", type=int, default=-1, help="the worker with this index dies once")
    parser.add_argument("--lose-at-epoch", type=int, default=2)
    return parser.parse_args()


def task():
    return json.loads(os.environ.get("TF_CONFIG", "{}")).get("task", {"type": "worker", "index": 0})


def model():
    layers = tf.keras.layers
    net = tf.keras.Sequential(
        [
            layers.Input((SIZE, SIZE, 1)),
            layers.Conv2D(16, 3, activation="relu"),
            layers.MaxPooling2D(),
            layers.Flatten(),
            layers.Dense(CLASSES),
        ]
    )
    loss = tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True)
    net.compile(optimizer=tf.keras.optimizers.Adam(0.003), loss=loss, metrics=["accuracy"])
    return net


class Die(tf.keras.callbacks.Callback):
    """Ends this process like a killed one, the first time that `epoch` begins."""

    def __init__(self, epoch, marker):
        super().__init__()
        self.epoch, self.marker = epoch, marker

    def on_epoch_begin(self, epoch, logs=None):
        if epoch == self.epoch and not os.path.exists(self.marker):
            open(self.marker, "w").close()
            print("this worker is lost now, as asked", flush=True)
            os._exit(137)


class Say(tf.keras.callbacks.Callback):
    def __init__(self, name):
        super().__init__()
        self.name = name

    def on_epoch_end(self, epoch, logs=None):
        print("[%s] epoch %d loss %.4f accuracy %.3f" % (self.name, epoch, logs["loss"], logs["accuracy"]), flush=True)


def main():
    options = parse_options()
    me = task()
    name = "%s-%d" % (me["type"], me["index"])
    # Starts the server of this worker and waits for all others.
    strategy = tf.distribute.MultiWorkerMirroredStrategy()
    has_chief = "chief" in strategy.cluster_resolver.cluster_spec().jobs
    leads = me["type"] == "chief" if has_chief else me["index"] == 0

    images, labels = digits(100 + me["index"], 2000)
    data = tf.data.Dataset.from_tensor_slices((images, labels)).shuffle(2000, seed=me["index"]).repeat()
    data = data.batch(64 * strategy.num_replicas_in_sync)
    sharding = tf.data.Options()
    sharding.experimental_distribute.auto_shard_policy = tf.data.experimental.AutoShardPolicy.OFF
    with strategy.scope():
        net = model()
    callbacks = [tf.keras.callbacks.BackupAndRestore(os.path.join(options.dir, "backup")), Say(name)]
    if leads:
        callbacks.append(tf.keras.callbacks.TensorBoard(os.path.join(options.dir, "logs")))
    if options.lose_worker == me["index"] and me["type"] == "worker":
        callbacks.append(Die(options.lose_at_epoch, os.path.join(options.dir, "lost-" + name)))
    net.fit(
        data.with_options(sharding),
        epochs=options.epochs,
        steps_per_epoch=options.steps_per_epoch,
        callbacks=callbacks,
        verbose=0,
    )

    # Every worker takes part in the evaluation; all see the same result.
    images, labels = digits(7, 1000)
    check = tf.data.Dataset.from_tensor_slices((images, labels)).batch(100).with_options(sharding)
    loss, accuracy = net.evaluate(check, verbose=0)
    print("[%s] test loss %.4f accuracy %.3f" % (name, loss, accuracy), flush=True)
    return 0 if accuracy > 0.8 else 1


if __name__ == "__main__":
    sys.exit(main())
