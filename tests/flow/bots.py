"""Helpers of the tests with bots: a flat place that is generated for them, and running `sandlot bots`."""

import json
import os
import signal
import subprocess

from support import Failure, check


def write_meadow(folder, players=64, half=40):
    """A flat square of terrain to build on, and spawns on it."""
    path = os.path.join(folder, "meadow")
    os.makedirs(path, exist_ok=True)
    spawns = [{"id": 1 + i, "name": f"Spawn{i}", "type": "spawn",
               "transform": {"position": [(i % 6 - 2.5) * 9, 0, (i // 6 - 2.5) * 9]}}
              for i in range(36)]
    with open(os.path.join(path, "place.json"), "w", encoding="utf-8") as file:
        json.dump({"format": 1, "name": "Meadow",
                   "limits": {"players": players, "viewRadius": 128, "reach": 10},
                   "permissions": {"build": True, "terraform": True},
                   "catalogue": [{"name": "plank", "cells": [2, 1, 1], "health": 40},
                                 {"name": "post", "cells": [1, 2, 1], "health": 40}],
                   "voxelKinds": [{"name": "grass", "material": "grass", "colour": "#5d9c4d"}]}, file)
    with open(os.path.join(path, "scene.json"), "w", encoding="utf-8") as file:
        json.dump({"format": 1,
                   "bounds": {"min": [-128, -40, -128], "max": [128, 80, 128]},
                   "terrain": [{"min": [-half, -2, -half], "max": [half, -1, half],
                                "kind": "grass"}],
                   "entities": spawns}, file)
    return path


class Bots:
    """`sandlot bots --json`, beside whatever else the test does."""

    def __init__(self, program, port, count, seconds, behaviour, *options, before=None):
        self.process = subprocess.Popen(
            [program, "bots", "--server", f"http://127.0.0.1:{port}", "-n", str(count), "--seconds",
             str(seconds), "--behaviour", behaviour, "--json", "--best-effort", *options],
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
            preexec_fn=before)

    def runs(self):
        return self.process.poll() is None

    def stop(self):
        """They report what there is."""
        self.process.send_signal(signal.SIGINT)

    def result(self, seconds, code=0):
        try:
            out, err = self.process.communicate(timeout=seconds)
        except subprocess.TimeoutExpired as expired:
            self.kill()
            raise Failure("the bots did not end") from expired
        check(code is None or self.process.returncode == code, f"bots end with {self.process.returncode}: {err}{out}")
        return json.loads(out.splitlines()[-1]) if out else err

    def kill(self):
        if self.runs():
            self.process.kill()
            self.process.communicate()
