"""Rows about sites: their load, how many rounds they take, the lives they tell of, and what surrounds the servers."""

import collections
import os
import socket
import ssl
import subprocess
import sys
import threading
import types
import unittest
import unittest.mock

import load
import report
import rounds
import running
import sites
from allowance import Allowance
from bench import CONTENT
from goals import Goal
from machine import FOLDER, Machine
from sites import Site, Story

TEN = (10_240, 10_240)
STEP = 1_000_003  # object i begins at i times this in the content


class ManyObjects(Machine):
    def site(self, side=None, objects=10, sizes=(100, 100), **more):
        return load.site(
            self.bench,
            side or self.side(self.bench.origin.port),
            objects,
            sizes,
            **{"connections": 1, "count": 1, **more},
        )

    def object(self, number, size=100):
        start = number * STEP % CONTENT
        return self.answer(self.bench.bytes[start : start + size])

    def test_each_object_is_asked_for_in_turn_and_has_octets_of_its_own(self):
        before = self.bench.origin.counts()
        work = self.site(objects=300, sizes=TEN, count=700, connections=16)
        self.assertEqual((work.count, work.octets), (700, 700 * 10_240))
        self.assertEqual(self.bench.origin.counts()[0] - before[0], 700)
        self.assertLessEqual(work.more["p50"], work.more["p99"])
        self.bench.probe(
            self.side(self.bench.origin.port),
            "/site/50000000/7",
            10,
            {"Range": "bytes=40000000-40000009"},
            status=206,
            first=7 * STEP + 40_000_000,
        )

    def test_the_octets_of_another_object_are_noticed(self):
        self.assertEqual(self.site(self.answers(self.object(0), self.object(1)), count=2).count, 2)
        with self.assertRaisesRegex(running.Failure, "wrong bytes"):
            self.site(self.answers(self.object(0), self.object(2)), count=2)

    def test_a_body_too_short_or_too_long_or_broken_off_ends_the_load(self):
        for answer, why in (
            (self.object(0, 99), "unexpected length"),
            (self.object(0) + b"x", "more than was asked for"),
            (self.object(0)[:-1], "a connection broke"),
            (self.answer(b"", "404 Not Found"), "unexpected answer"),
        ):
            with self.assertRaisesRegex(running.Failure, why):
                self.site(self.answers(answer))

    def test_the_mix_is_the_same_for_the_same_seed_and_favours_few(self):
        one, same, other = (
            self.site(objects=1000, sizes=(1024, 262_144), zipf=0.95, count=2000, connections=8, seed=seed).octets
            for seed in (1, 1, 2)
        )
        self.assertEqual(one, same)
        self.assertNotEqual(one, other)

    def test_sizes_add_up_to_what_a_story_expects_of_its_site(self):
        story = Story([], (20_000, 0), (1024, 65_536), (0, 0), (0, 0), 1)
        octets = self.site(objects=20_000, sizes=story.sizes, count=20_000, connections=16).octets
        self.assertAlmostEqual(octets / story.octets(types.SimpleNamespace(quick=False)), 1, delta=0.03)

    def test_a_connection_for_each_request_is_closed_by_the_server(self):
        before = self.bench.origin.counts()[0]
        self.assertEqual(self.site(count=50, connections=4, close=True).count, 50)
        self.assertEqual(self.bench.origin.counts()[0] - before, 50)

    def test_handshakes_are_all_full_or_all_resumed(self):
        for tls, expected in (("full", [False] * 4), ("resumed", [False] + [True] * 4)):
            side, resumed = self.over_tls()
            self.assertEqual(self.site(side, objects=1, count=4, close=True, tls=tls).count, 4)
            self.assertEqual(resumed, expected)

    def test_a_server_that_gives_no_tickets_ends_the_load(self):
        side, _ = self.over_tls(tickets=0)
        with self.assertRaisesRegex(running.Failure, "no ticket"):
            self.site(side, objects=1, count=4, close=True, tls="resumed")

    def over_tls(self, tickets=2):
        """A server that closes after each answer, and of each of its handshakes whether it was resumed."""
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(*self.bench.certificate)
        context.num_tickets = tickets
        listener, resumed = socket.create_server(("127.0.0.1", 0)), []
        self.addCleanup(listener.close)

        def serve():
            while True:
                try:
                    with context.wrap_socket(listener.accept()[0], server_side=True) as connection:
                        connection.recv(65536)
                        resumed.append(connection.session_reused)
                        connection.sendall(self.object(0))
                        connection.unwrap()
                except ssl.SSLError:
                    continue
                except OSError:
                    if listener.fileno() < 0:
                        return

        threading.Thread(target=serve, daemon=True).start()
        side = self.side(listener.getsockname()[1])
        side.secure = True
        return side, resumed


Named = collections.namedtuple("Named", "peer")


class MoreRounds(unittest.TestCase):
    def taken(self, figures, asked=5, quick=False, goals=(Goal("bar", "nginx", 0.9),)):
        """How many rounds each took. figures: of each peer by round, over and over."""
        sides = {each: Named(each) for each in figures}
        works = {each: {} for each in sides.values()}
        order = []

        def once(side, turn):
            order.append((turn, side.peer))
            works[side][turn] = figures[side.peer][turn % len(figures[side.peer])]
            return True

        rounds.interleaved(
            types.SimpleNamespace(rounds=asked, quick=quick),
            list(sides.values()),
            once,
            lambda: rounds.unclear(goals, works, lambda work, what: work),
        )
        return {name: len(works[side]) for name, side in sides.items()}, order

    def test_steady_rounds_are_enough(self):
        taken, order = self.taken({"pawl": [10, 10.5], "nginx": [10.2, 10.9]})
        self.assertEqual(taken, {"pawl": 5, "nginx": 5})
        self.assertEqual([name for turn, name in order if turn < 2], ["pawl", "nginx", "nginx", "pawl"])

    def test_unsteady_rounds_are_enough_where_it_is_clear_who_is_ahead(self):
        self.assertEqual(self.taken({"pawl": [5, 7], "nginx": [10, 12]})[0], {"pawl": 5, "nginx": 5})

    def test_where_it_is_not_clear_the_two_go_on_and_others_do_not(self):
        figures = {"pawl": [10, 12, 10, 12, *[10] * 40], "nginx": [11], "varnish": [20]}
        self.assertEqual(
            self.taken(figures, goals=[Goal("bar", "nginx", 1), Goal("bar", "varnish", 1)])[0],
            {"pawl": 10, "nginx": 10, "varnish": 5},
        )

    def test_it_ends_however_unclear_it_is(self):
        self.assertEqual(self.taken({"pawl": [10, 12], "nginx": [11]})[0]["pawl"], rounds.MOST_ROUNDS)
        self.assertEqual(self.taken({"pawl": [10, 12], "nginx": [11]}, quick=True)[0]["pawl"], 5)

    def test_the_table_names_the_congestion_control_and_the_spread(self):
        pair = [
            {
                "name": name,
                "peer": name,
                "cost": cost,
                "costs": [cost - 1, cost, cost + 1],
                "rate": 1,
                "memory": {"pss": 0},
            }
            for name, cost in (("pawl", 5), ("nginx", 10))
        ]
        text = report.markdown(
            {
                "congestion control": "reno",
                "rows": [{"name": "x", "title": "a row", "unit": "us", "skipped": {}, "peers": pair, "goals": []}],
            }
        )
        self.assertIn("Congestion control of every server and of the load: reno.", text)
        self.assertIn("| a row | 5.00 us (4.00 to 6.00, 3 rounds) | nginx 10.00 us (9.00 to 11.00, 3 rounds) |", text)


class Lives(unittest.TestCase):
    """Rows of one story, whose servers and load are stand-ins."""

    def setUp(self):
        self.log, self.asked = [], 0
        found = unittest.mock.patch.object(sites.load, "site", self.load)
        found.start()
        self.addCleanup(found.stop)
        self.story = Story(["pawl", "varnish:file"], (100, 10), TEN, (100, 10), (300, 30), 4)
        self.rows = [
            Site(name, name, self.story, phase, [Goal("bar", "varnish", 1)])
            for name, phase in (("first", "cold"), ("again", "warm"), ("after", "restart"))
        ]
        origin = types.SimpleNamespace(counts=lambda: (self.asked, 0, 0))
        self.bench = types.SimpleNamespace(
            rounds=2,
            quick=False,
            before=None,
            wanted=None,
            rows=None,
            up={},
            origin=origin,
            server=self.server,
            stop_servers=self.stop,
        )

    def load(self, bench, side, objects, sizes, count=0, **_):
        self.log.append((side, count))
        self.asked += 100 if len(self.log) == 1 or self.log[-2][0] != side else 0
        return load.Work(count, count * sizes[0], 1, 0.5, **dict.fromkeys(load.PERCENTILES, 1))

    def server(self, name, **options):
        def restart():
            if name == "varnish":
                raise running.Skip("it forgets")

        return types.SimpleNamespace(
            sides=lambda kind: [name], restart=restart, processes=types.SimpleNamespace(memory=lambda: {"pss": 0})
        )

    def stop(self, *names):
        self.log.append(("stopped", names))

    def test_rows_share_a_life_and_each_server_is_gone_before_the_next(self):
        told = {each.name: each.run(self.bench) for each in self.rows}
        once = {
            "pawl": [("pawl", 100), ("pawl", 100), ("pawl", 300), ("pawl", 100), ("stopped", ("pawl",))],
            "varnish": [("varnish", 100), ("varnish", 100), ("varnish", 300), ("stopped", ("varnish",))],
        }
        self.assertEqual(self.log, [("stopped", ()), *once["pawl"], *once["varnish"], *once["varnish"], *once["pawl"]])
        self.assertEqual([each["peer"] for each in told["first"]["peers"]], ["pawl", "varnish"])
        self.assertEqual([each["peer"] for each in told["after"]["peers"]], ["pawl"])
        self.assertEqual(told["after"]["skipped"], {"varnish, file": "it forgets"})
        self.assertTrue(told["again"]["goals"][0]["met"])

    def test_a_life_goes_no_further_than_the_rows_that_were_chosen(self):
        self.bench.rows = ["first"]
        self.assertEqual(self.rows[0].run(self.bench)["skipped"], {})
        self.assertEqual({count for side, count in self.log if side == "pawl"}, {100})


class Surroundings(unittest.TestCase):
    def test_every_socket_has_the_same_congestion_control_and_the_machine_keeps_its_own(self):
        with open("/proc/sys/net/ipv4/tcp_congestion_control") as file:
            before = file.read()
        script = (
            "import network, running, socket\nif running.LIBC.unshare(network.CLONE_NEWNET): print('not "
            "allowed')\nelse:\n  network.alone()\n"
            "  listener = socket.create_server(('127.0.0.1', 0))\n  socket.create_connection(listener.getsockname())\n"
            "  print(network.preferred(), listener.accept()[0].getsockopt(socket.IPPROTO_TCP, socket.TCP_CONGESTION, "
            "16).strip(b'\\0').decode())"
        )
        said = subprocess.run(
            [sys.executable, "-B", "-c", script], cwd=FOLDER, capture_output=True, text=True
        ).stdout.strip()
        if said == "not allowed":
            self.skipTest("a network of its own is not allowed here")
        self.assertEqual(said, "reno reno")
        with open("/proc/sys/net/ipv4/tcp_congestion_control") as file:
            self.assertEqual(file.read(), before)

    def test_a_process_that_needs_more_than_its_allowance_is_ended_and_the_group_goes(self):
        try:
            allowance = Allowance("test", 64 << 20)
        except running.Skip as why:
            self.skipTest(str(why))
        words = [sys.executable, "-c", "import sys; held = b'x' * (int(sys.argv[1]) << 20)"]
        for octets, killed in ((8, False), (200, True)):
            process = running.start([*words, octets], running.CORES, allowance.join)
            process.wait()
            running.stop(process)
            self.assertEqual((process.returncode != 0, allowance.killed()), (killed, killed))
        allowance.end()
        self.assertFalse(os.path.exists(allowance.folder))
