"""`python -m proctor` is `proctor`."""

import gc
import signal


def main() -> None:
    """Load the command line and run it."""
    gc.disable()  # until the command begins: see `cli.own_process.enable_garbage_collector`
    # until it listens, Ctrl-C ends this process without a word: nothing has begun
    listened = signal.getsignal(signal.SIGINT) is signal.default_int_handler
    if listened:
        signal.signal(signal.SIGINT, signal.SIG_DFL)
    from proctor.cli.main import main as run

    if listened:
        signal.signal(signal.SIGINT, signal.default_int_handler)
    run()


if __name__ == "__main__":
    main()
