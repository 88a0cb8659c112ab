"""Plays the template `obby` from the start to the finish as a person would: it looks at its position
and the time, and tries again after a fall."""

import math
import time

from support import PATIENCE, Player, check

# Platforms end here; who jumps within the last metre before them reaches the next one.
EDGES = (15.0, 19.0, 23.0, 27.0)
FERRY_PERIOD, LIFT_PERIOD = 12.0, 10.0  # seconds: there, wait, back, wait


class Runner(Player):
    def __init__(self, world, name="bo"):
        self.said, self.falls = [], 0  # in the chat; how often it had to begin again
        self.tick, self.tick_at = 0, time.monotonic()
        super().__init__(world, name)

    def hear(self, seconds=10.0 * PATIENCE):
        message = super().hear(seconds)
        tick = message.get("payload", {}).get("tick")
        if message["kind"] == "snapshot" and tick is not None:
            self.tick, self.tick_at = tick, time.monotonic()
            features = message["payload"].get("features", {})
            self.said += [row["text"] for row in features.get("chat", {}).get("said", [])]
        return message

    def world_seconds(self):
        return self.tick / 60 + time.monotonic() - self.tick_at

    def send(self, move_x=0, move_z=0, jump=False):
        inputs = []
        for _ in range(2):
            self.input_seq += 1
            inputs.append({"seq": self.input_seq, "moveX": move_x, "moveZ": move_z, "jump": jump})
        self.say("movement", "input_batch", {"lastSnapshot": self.last_snapshot, "inputs": inputs})

    def play(self, steer, until, seconds):
        """Thirty times a second steer(position) says what to do, until until(position)."""
        begin, sent, last_z = time.monotonic(), 0, None
        while time.monotonic() - begin < seconds:
            position = self.position()
            if position and until(position):
                return True
            if sent <= (time.monotonic() - begin) * 30:
                self.send(**(steer(position) if position else {}))
                sent += 1
            try:
                self.hear(0.005)
            except TimeoutError:
                pass
            if position and last_z is not None and position[2] < last_z - 5:
                self.falls += 1
            last_z = position[2] if position else last_z
        return False


def towards(position, x):
    """How to push sideways to come to that x, in parts of 127. Right is −x for who looks along +z."""
    return max(-127, min(127, int((position[0] - x) * 120)))


def steer(runner):
    def decide(position):
        x, y, z = position
        clock = runner.world_seconds()
        want_x, forward, jump = 0.0, 127, False
        if any(edge - 0.9 <= z <= edge - 0.1 for edge in EDGES):
            jump = True
        elif 35 <= z < 41:
            want_x = 1.2
        elif 41 <= z < 44.6:
            want_x = -1.2
        elif 45.2 <= z < 46.2:
            jump = True  # over the one that sweeps
        elif 49.8 <= z < 51:  # until the ferry is here
            forward = 127 if 10.3 <= clock % FERRY_PERIOD <= 11.2 else -int((z - 50.2) * 60)
        elif 51 <= z < 66 and y < 2.9:  # on it, until it is there
            phase = clock % FERRY_PERIOD
            arrived = 4.2 <= phase <= 5.6
            forward = 127 if arrived or z < 52.6 or z > 64.6 else 0
        elif 79.2 <= z < 81 and y > 5:  # until the lift is down
            forward = 127 if 8.6 <= clock % LIFT_PERIOD <= 9.4 else -int((z - 79.8) * 60)
        elif 81 <= z < 85.5 and y > 4.5:  # on it, until it is up
            forward = 127 if y > 9.35 or z < 82.6 else 0
        if 35 <= z < 44.6 and abs(x - want_x) > 0.5:
            forward = 30  # first to the side
        return {"move_x": towards(position, want_x), "move_z": forward, "jump": jump}
    return decide


def run_course(runner, seconds=240):
    """To the finish. Who falls begins again at the last checkpoint."""
    def is_over(position):
        return any("made it in" in text for text in runner.said)
    done = runner.play(steer(runner), is_over, seconds)
    check(done, f"the finish was not reached: at {runner.position()}, {runner.falls} falls, "
                f"{runner.said}")
    check(not math.isnan(runner.position()[0]), "nowhere")
