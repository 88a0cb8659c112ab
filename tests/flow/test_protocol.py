"""docs/PROTOCOL.md is complete: two clients written only from it play in a real world.

    test_protocol.py PROGRAM PLACES [TEST]
"""

import math
import os
import sys
import threading

from protocol_client import Client, Line, distance, expect, join
from support import World, run

NEAR = 0.05  # metres


def island(program, places, folder):
    return World(program, os.path.join(places, "island"), os.path.join(folder, "data"))


def both(*tasks):
    """Runs functions at the same time; the first failure is raised."""
    failures = []

    def attempt(task):
        try:
            task()
        except BaseException as error:  # raised again below
            failures.append(error)
    threads = [threading.Thread(target=attempt, args=(task,)) for task in tasks]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if failures:
        raise failures[0]


def compare_with_truth(watcher, entity):
    """How far off the watcher's picture of an entity was, at ticks of which it knows the truth."""
    errors = []
    for tick, entities in watcher.truth:
        if entity in entities and (entity, tick) in watcher.trace:
            errors.append(distance(entities[entity], watcher.trace[(entity, tick)]))
    return errors


def test_protocol_two_walk(program, places, folder):
    world = island(program, places, folder)
    try:
        address = f"127.0.0.1:{world.port}"
        one, two = Client(address, "one", debug=True), Client(address, "two", debug=True)
        expect(one.entity != two.entity, "two bodies")
        both(lambda: one.wait(lambda: one.p and two.entity in one.bodies, "one sees both"),
             lambda: two.wait(lambda: two.p and one.entity in two.bodies, "two sees both"))
        expect(one.types[two.entity] == "player", f"of type {one.types[two.entity]}")
        starts = {one.entity: one.p, two.entity: two.p}
        done = threading.Event()

        def walk():
            one.walk_to((starts[one.entity][0] + 10, starts[one.entity][2]))
            done.set()

        def walk_less():
            # Two walks too, out of the way because bodies push each other, and watches.
            two.walk_to((starts[two.entity][0], starts[two.entity][2] + 3))
            two.wait(done.is_set, "one arrives", 20)
        both(walk, walk_less)
        both(lambda: one.play(1.3), lambda: two.play(1.3))  # a truth of each comes in that time

        way = distance(starts[one.entity], one.p)
        expect(9.9 < way < 10.1, f"one walked {way:.3f} m")
        seen = two.bodies[one.entity].p
        expect(distance(seen, one.p) < NEAR, f"two sees one at {seen}, one is at {one.p}")
        seen = one.bodies[two.entity].p
        expect(distance(seen, two.p) < NEAR, f"one sees two at {seen}, two is at {two.p}")
        for watcher, entity in ((one, one.entity), (two, one.entity), (two, two.entity),
                                (one, two.entity)):
            last = watcher.truth[-1][1][entity]
            error = distance(last, watcher.bodies[entity].p)
            expect(error < NEAR, f"{error:.3f} m from the truth at the end")
            errors = compare_with_truth(watcher, entity)
            expect(len(errors) >= 3, f"only {len(errors)} moments to compare")
            expect(max(errors) < NEAR, f"up to {max(errors):.3f} m from the truth on the way")
            print(f"      {len(errors)} comparisons, at most {max(errors) * 1000:.0f} mm off")
        for client in (one, two):
            expect(not client.errors, f"errors: {client.errors}")
            late = client.input_seq - client.acknowledged
            expect(0 <= late < 60, f"{late} inputs are not acknowledged")
            expect(client.leave() == 1000, f"left with {client.line.close_code}")
        world.stop()
    finally:
        world.kill()


def test_protocol_ways_to_say_it(program, places, folder):
    """The other forms of an input, pings, acknowledgements, and what is wrong."""
    world = island(program, places, folder)
    try:
        client = Client(f"127.0.0.1:{world.port}", "one")
        client.wait(lambda: client.p, "a position")
        # Every form of "to the right" goes the same way: looking along +z, right is -x.
        client.yaw = 0.0
        for held in ({"right": True}, {"move": [1, 0]}, {"moveX": 127}):
            begin = client.p
            client.play(0.5, **held)
            client.play(0.3)
            dx, dz = client.p[0] - begin[0], client.p[2] - begin[2]
            expect(dx < -0.5 and abs(dz) < 0.2, f"{held} went {dx:.2f}, {dz:.2f}")
        client.yaw = math.pi / 2
        begin = client.p
        client.play(0.5, down=True)  # backwards, looking along +x
        client.play(0.3)
        expect(client.p[0] - begin[0] < -0.5, "backwards")
        begin = client.p
        height = 0.0
        client.play(0.1, jump=True)
        for _ in range(10):
            client.play(0.05)
            height = max(height, client.p[1] - begin[1])
        expect(height > 0.3, f"jumped {height:.2f} m")

        nonce = 4242
        ping = client.command("session", "ping", {"nonce": nonce})
        client.wait(lambda: nonce in client.pongs, "a pong")
        expect(not client.errors, f"errors: {client.errors}")
        say = client.command("chat", "say", {"text": "grüße"})
        client.wait(lambda: say in client.acks, "an ack")
        expect(ping > 0 and client.pongs[nonce] > 0, "the pong's tick")

        client.line.send('{"v":2,"kind":"command","seq":900,"feature":"movement",'
                         '"action":"input_batch","payload":{"inputs":[{"seq":1,"jmup":true}]}}')
        client.wait(lambda: client.errors, "an error")
        error = client.errors.pop()
        expect(error["code"] == "malformed" and "$.payload.inputs[0].jmup" in error["message"],
               f"{error}")
        client.line.send('{"v":2,"kind":"command","seq":901,"feature":"no","action":"such"}')
        client.wait(lambda: client.errors, "an error")
        error = client.errors.pop()
        expect(error["code"] == "unknown_action" and error["commandSeq"] == 0, f"{error}")
        client.line.send_frame(9, b"are you there")  # of WebSocket, not of the protocol
        client.wait(lambda: client.line.pongs, "a WebSocket pong")
        expect(client.line.pongs == [b"are you there"], f"{client.line.pongs}")
        expect(client.leave() == 1000, f"left with {client.line.close_code}")

        # A handshake of another version, and no handshake at all.
        for first in ('{"v":2,"kind":"command","seq":1,"feature":"session","action":"handshake",'
                      '"payload":{"version":3}}',
                      '{"v":2,"kind":"command","seq":1,"feature":"chat","action":"say",'
                      '"payload":{"text":"hi"}}'):
            line = Line(join(f"127.0.0.1:{world.port}")["server_address"])
            line.send(first)
            answer = line.receive(5)
            expect(answer and '"fatal":true' in answer.replace(" ", ""), f"{first}: {answer}")
            line.receive(5)
            expect(line.close_code is not None, "a fatal error ends the session")
            line.close()
        world.stop()
    finally:
        world.kill()


if __name__ == "__main__":
    sys.exit(run(dict(globals()), sys.argv))
