"""`sandlot bots` against a real world: every behaviour plays, and the measurements are plausible."""

import subprocess
import sys

from bots import Bots, write_meadow
from support import World, check, run


def meadow(program, folder, *options):
    return World(program, write_meadow(folder), folder + "/data", *options)


def measured(program, world, tries=6):
    """What bots measured while they had the processor that they need. A busy machine delays ticks of
    bots and world alike, and then the number of snapshots says nothing: bots report that as `starved`."""
    for _ in range(tries):
        result = Bots(program, world.port, 10, 4, "walk").result(60)
        if not result["starved"]:
            break
    return result


def test_bots_walk(program, places, folder):
    world = meadow(program, folder)
    try:
        result = measured(program, world)
        check(result["playing"] == 10, f"all play: {result}")
        check(result["ok"] and result["failures"] == 0, f"nobody fails: {result['reasons']}")
        ticks, missed = result["server_ticks"], result["server_ticks_missed"]
        expected = 20 * ticks / (ticks + missed)  # of a world that a busy machine made late
        check(0.85 < result["snapshots_per_second"] / expected < 1.05,
              f"{expected:.1f} snapshots a second: {result}")
        check(result["position_checks"] > 50, f"the truth is compared: {result}")
        check(result["position_error_p99_m"] < 0.05, f"within 5 cm of the truth: {result}")
        check(result["position_missing"] == 0, f"nobody is shown who is not there: {result}")
        check(result["corrections_without_cause"] == 0, f"every correction has a cause: {result}")
        check(result["cpu_ms_per_client_second"] > 0, f"the world's metrics: {result}")
        check(0 < result["bytes_down_per_client_second"] < 4000, f"bytes: {result}")
        check(900 < result["bytes_up_per_client_second"] < 2500, f"bytes: {result}")
        # They said goodbye: nobody's body stays.
        check(world.metric("sandlot_world_sessions") <= 10, "sessions end")
        world.stop()
    finally:
        world.kill()


def test_bots_behaviours(program, places, folder):
    world = meadow(program, folder)
    try:
        for behaviour in ("fight", "build", "churn", "mixed"):
            result = Bots(program, world.port, 8, 3, behaviour, "--ramp", "20").result(90)
            check(result["connects"] >= 8, f"{behaviour}: {result}")
            check(result["corrections_without_cause"] == 0, f"{behaviour}: {result}")
            check(result["position_error_p99_m"] < 0.5, f"{behaviour}: {result}")
            if behaviour == "build":
                check(result["durable"] > 0, f"something is stored: {result}")
            if behaviour == "churn":
                check(result["connects"] > 8, f"they come back: {result}")
        world.stop()
    finally:
        world.kill()


def test_bots_shapes(program, places, folder):
    """What moves by segments is exactly where the server has it, at the tick that is compared."""
    world = World(program, places + "/island", folder + "/data")
    try:
        result = Bots(program, world.port, 6, 5, "platforms", "--truth", "6").result(60)
        check(result["shape_checks"] > 20, f"shapes are compared: {result}")
        check(result["shape_error_max_m"] < 0.001, f"they are exact: {result}")
        world.stop()
    finally:
        world.kill()


def test_bots_ledger(program, places, folder):
    """What is not there is missed: a check that always passes would prove nothing."""
    world = meadow(program, folder)
    ledger, wrong = folder + "/ledger", folder + "/wrong"
    try:
        built = Bots(program, world.port, 4, 5, "build", "--ledger", ledger).result(60)
        check(built["durable"] > 0, f"something is stored: {built}")
        good = Bots(program, world.port, 2, 2, "stand", "--check", ledger).result(60)
        check(good["durable_checked"] > 0 and good["durable_lost"] == 0, f"all is there: {good}")
        for line in ("structure 999999\n", "voxel 3 20 3 1\n"):
            with open(wrong, "w", encoding="ascii") as file:
                file.write(line)
            lost = Bots(program, world.port, 2, 2, "stand", "--check", wrong).result(60, code=1)
            check(lost["durable_lost"] == 1 and not lost["ok"] and lost["reason"], f"{line}: {lost}")
        world.stop()
    finally:
        world.kill()


def test_bots_usage(program, places, folder):
    def code(*arguments):
        return subprocess.run([program, "bots", *arguments], capture_output=True, text=True,
                              timeout=60, check=False)
    check(code("--help").returncode == 0, "--help")
    for wrong in (["-n", "5"], ["--server", "http://x", "-n", "0"], ["--server", "http://x", "-x"],
                  ["--server", "http://x", "--behaviour", "fly"], ["--server"],
                  ["--server", "http://x", "--world", "../etc"]):
        answer = code(*wrong)
        check(answer.returncode == 2 and "sandlot bots --help" in answer.stderr, f"{wrong}: {answer}")
    nobody = code("--server", "http://127.0.0.1:1", "-n", "1", "--ramp", "1", "--json")
    check(nobody.returncode == 1 and "nobody answers" in nobody.stderr, f"{nobody}")
    other = code("--server", "ftp://127.0.0.1", "-n", "1")
    check(other.returncode == 1, f"{other}")


if __name__ == "__main__":
    sys.exit(run(dict(globals()), sys.argv))
