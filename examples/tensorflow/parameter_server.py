"""Asynchronous training through parameter servers: ParameterServerStrategy.

The chief hands out steps to the workers and keeps checkpoints in --dir; workers and
parameter servers only serve, for ever. A lost worker is replaced without anybody
noticing but the chief; when a parameter server is lost the chief ends, and starts from
the last checkpoint when it is run again. An evaluator, which is in nobody's cluster,
judges every checkpoint and ends with the last one.

Runs on TensorFlow 2.13 to 2.21: no Keras in it.
"""

import argparse
import json
import os
import sys
import time

# A lost worker is reported by the chief below; TensorFlow's own words on it fill screens.
os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
# Lets a call fail when its worker is lost instead of waiting for it.
os.environ.setdefault("GRPC_FAIL_FAST", "use_caller")
import tensorflow as tf  # noqa: E402

from digits import CLASSES, SIZE, digits  # noqa: E402

HIDDEN = 64


def parse_options():
    parser = argparse.ArgumentParser()
    parser.add_argument("--dir", required=True, help="folder that survives the chief")
    parser.add_argument("--epochs", type=int, default=8)
    parser.add_argument("--steps-per-epoch", type=int, default=40)
    parser.add_argument("--lose-worker", type=int, default=-1, help="the worker with this index dies once")
    parser.add_argument("--lose-server", type=int, default=-1, help="the parameter server with this index dies once")
    parser.add_argument("--lose-after", type=float, default=2.0, metavar="SECONDS", help="after the chief has begun")
    return parser.parse_args()


def serve(resolver, options):
    server = tf.distribute.Server(
        resolver.cluster_spec(),
        job_name=resolver.task_type,
        task_index=resolver.task_id,
        protocol=resolver.rpc_layer or "grpc",
        start=True,
    )
    print("[%s-%d] serving" % (resolver.task_type, resolver.task_id), flush=True)
    lost = options.lose_worker if resolver.task_type == "worker" else options.lose_server
    if resolver.task_id == lost:
        lose_once("%s-%d" % (resolver.task_type, lost), options)
    server.join()


def lose_once(name, options):
    """Ends this process like a killed one, once, while the training is under way."""
    marker = os.path.join(options.dir, "lost-" + name)
    if os.path.exists(marker):
        return
    while not tf.train.latest_checkpoint(options.dir):
        time.sleep(0.1)
    time.sleep(options.lose_after)
    open(marker, "w").close()
    print("[%s] is lost now, as asked" % name, flush=True)
    os._exit(137)


class Net(tf.Module):
    """Two dense layers, trained by gradient descent with momentum."""

    def __init__(self):
        super().__init__()
        rng = tf.random.Generator.from_seed(3)
        shapes = [(SIZE * SIZE, HIDDEN), (HIDDEN,), (HIDDEN, CLASSES), (CLASSES,)]
        scales = [0.1, 0.0, 0.1, 0.0]
        self.weights = [tf.Variable(rng.normal(shape) * scale) for shape, scale in zip(shapes, scales)]
        self.slopes = [tf.Variable(tf.zeros(shape), trainable=False) for shape in shapes]

    def logits(self, images):
        first, first_bias, second, second_bias = self.weights
        flat = tf.reshape(images, (-1, SIZE * SIZE))
        return tf.nn.relu(flat @ first + first_bias) @ second + second_bias

    def loss(self, images, labels):
        return tf.reduce_mean(tf.nn.sparse_softmax_cross_entropy_with_logits(labels, self.logits(images)))

    def accuracy(self):
        """On images that nobody trains with."""
        images, labels = digits(7, 1000)
        guess = tf.argmax(self.logits(images), axis=1)
        return float(tf.reduce_mean(tf.cast(guess == labels, tf.float32)))

    def descend(self, gradients):
        for weight, slope, gradient in zip(self.weights, self.slopes, gradients):
            slope.assign(0.8 * slope + gradient)
            weight.assign_sub(0.05 * slope)


def coordinate(resolver, options):
    strategy = tf.distribute.ParameterServerStrategy(resolver)
    coordinator = tf.distribute.coordinator.ClusterCoordinator(strategy)
    with strategy.scope():
        net = Net()
        epoch_done = tf.Variable(0, dtype=tf.int64, trainable=False)
    checkpoint = tf.train.Checkpoint(net=net, epoch=epoch_done)
    manager = tf.train.CheckpointManager(checkpoint, options.dir, max_to_keep=2)
    if manager.latest_checkpoint:
        checkpoint.restore(manager.latest_checkpoint)
        print("[chief-0] resumed after epoch %d" % epoch_done.numpy(), flush=True)

    @tf.function
    def step(iterator):
        def train(batch):
            with tf.GradientTape() as tape:
                loss = net.loss(*batch)
            net.descend(tape.gradient(loss, net.weights))
            return loss

        return strategy.run(train, args=(next(iterator),))

    def dataset():
        images, labels = digits(100, 2000)
        return tf.data.Dataset.from_tensor_slices((images, labels)).shuffle(2000).repeat().batch(64)

    batches = iter(coordinator.create_per_worker_dataset(dataset))
    writer = tf.summary.create_file_writer(os.path.join(options.dir, "logs"))

    while epoch_done.numpy() < options.epochs:
        losses = [coordinator.schedule(step, args=(batches,)) for _ in range(options.steps_per_epoch)]
        coordinator.join()
        epoch_done.assign_add(1)
        manager.save()
        epoch = int(epoch_done.numpy())
        loss = sum(value.fetch() for value in losses) / len(losses)
        print("[chief-0] epoch %d loss %.4f accuracy %.3f" % (epoch, loss, net.accuracy()), flush=True)
        with writer.as_default():
            tf.summary.scalar("loss", loss, step=epoch)
            tf.summary.scalar("accuracy", net.accuracy(), step=epoch)
            writer.flush()
    return 0 if net.accuracy() > 0.8 else 1


def evaluate(options):
    net = Net()
    epoch_done = tf.Variable(0, dtype=tf.int64, trainable=False)
    checkpoint = tf.train.Checkpoint(net=net, epoch=epoch_done)
    seen = None
    while epoch_done.numpy() < options.epochs:
        newest = tf.train.latest_checkpoint(options.dir)
        if newest in (seen, None):
            time.sleep(0.2)
            continue
        try:
            checkpoint.restore(newest).expect_partial()
        except tf.errors.NotFoundError:
            continue  # the chief has replaced it by a newer one
        seen = newest
        print("[evaluator-0] after epoch %d accuracy %.3f" % (epoch_done.numpy(), net.accuracy()), flush=True)
    return 0 if net.accuracy() > 0.8 else 1


def main():
    options = parse_options()
    tf.get_logger().setLevel("ERROR")
    role = json.loads(os.environ["TF_CONFIG"])["task"]["type"]
    if role == "evaluator":
        return evaluate(options)
    resolver = tf.distribute.cluster_resolver.TFConfigClusterResolver()
    if role in ("worker", "ps"):
        serve(resolver, options)
    return coordinate(resolver, options)


if __name__ == "__main__":
    sys.exit(main())
