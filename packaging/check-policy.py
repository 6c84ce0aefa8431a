#!/usr/bin/python3
"""Tries the bus policy on a bus like the system's: the service, a client, an agent and a stranger, each as another user.

Takes root, to be several users. Users that every Debian has stand in: `daemon` for the service's, `bin` for the
client's and the agent's, and 65534 (nobody) for the stranger.
"""

import os
import pathlib
import signal
import subprocess
import sys
import tempfile
import time

import dbus
import dbus.lowlevel
from dbus.mainloop.glib import DBusGMainLoop
from gi.repository import GLib

SERVICE, CLIENT, STRANGER = 1, 2, 65534
NAMES = ["org.freedesktop.GeoClue2", "org.whereabouts1", "org.whereabouts1.Control"]
POLICY = pathlib.Path(__file__).resolve().parent.parent / "dbus" / "org.freedesktop.GeoClue2.conf"
AGENT_PATH = "/org/freedesktop/GeoClue2/Agent"

# As the bus's own system.conf has it: nothing may be owned or called, signals and replies may pass. And as some
# machine's may have it: a rule that lets everybody listen in.
BUS = """<!DOCTYPE busconfig PUBLIC "-//freedesktop//DTD D-Bus Bus Configuration 1.0//EN"
  "http://www.freedesktop.org/standards/dbus/1.0/busconfig.dtd">
<busconfig>
  <type>system</type>
  <listen>unix:path={folder}/bus</listen>
  <auth>EXTERNAL</auth>
  <policy context="default">
    <allow user="*"/>
    <deny own="*"/>
    <deny send_type="method_call"/>
    <allow send_type="signal"/>
    <allow send_requested_reply="true" send_type="method_return"/>
    <allow send_requested_reply="true" send_type="error"/>
    <allow receive_type="method_call"/>
    <allow receive_type="method_return"/>
    <allow receive_type="error"/>
    <allow receive_type="signal"/>
    <allow send_destination="org.freedesktop.DBus" send_interface="org.freedesktop.DBus"/>
    <allow eavesdrop="true" receive_type="signal"/>
    <allow eavesdrop="true" receive_type="method_call"/>
    <allow eavesdrop="true" receive_type="method_return"/>
  </policy>
  <include>{folder}/policy.conf</include>
  {stale}
</busconfig>
"""

# What stays in /etc when GeoClue is removed: a user that may be gone, and everybody may call the name.
STALE = """<!DOCTYPE busconfig PUBLIC "-//freedesktop//DTD D-Bus Bus Configuration 1.0//EN"
  "http://www.freedesktop.org/standards/dbus/1.0/busconfig.dtd">
<busconfig>
  <policy context="default"><allow send_destination="org.freedesktop.GeoClue2"/></policy>
  <policy user="geoclue-that-is-gone"><allow own="org.freedesktop.GeoClue2"/></policy>
  <policy user="root"><allow own="org.freedesktop.GeoClue2"/></policy>
</busconfig>
"""


def as_user(user, work):
    """Runs work() in a child as `user`; its pid, and a pipe on which it reports."""
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(reading)
        os.setgroups([])
        os.setresgid(65534, 65534, 65534)
        os.setresuid(user, user, user)
        try:
            work(lambda text: os.write(writing, (text + "\n").encode()))
        except Exception as error:
            os.write(writing, f"error {type(error).__name__} {error}\n".encode())
        finally:
            os._exit(0)
    os.close(writing)
    return child, os.fdopen(reading)


def connect(address):
    DBusGMainLoop(set_as_default=True)
    return dbus.bus.BusConnection(address)


def outcome(action):
    """The name of the error that action() ends in, or "passed"."""
    try:
        action()
        return "passed"
    except dbus.DBusException as error:
        return error.get_dbus_name().rsplit(".", 1)[-1]


def serve(address, report):
    """Owns the names, each on a connection of its own, answers every call, and sends the caller a signal for each."""
    buses = [connect(address) for _ in NAMES]
    for bus, name in zip(buses, NAMES):
        report(f"{name} {bus.request_name(name, dbus.bus.NAME_FLAG_DO_NOT_QUEUE)}")

    def answer(connection, message):
        if message.get_type() == 1 and message.get_interface() == "test.Location":
            signal_ = dbus.lowlevel.SignalMessage("/x", "test.Location", "Updated")
            signal_.set_destination(message.get_sender())
            signal_.append("secret")
            connection.send_message(signal_)
            reply = dbus.lowlevel.MethodReturnMessage(message)
            reply.append("secret")
            connection.send_message(reply)
            return dbus.lowlevel.HANDLER_RESULT_HANDLED
        if message.get_type() == 1 and message.get_interface() == "test.CallAgent":
            agent = message.get_path().rsplit("/", 1)[-1].replace("_", ":", 1).replace("_", ".")
            for path, interface, member in (
                (AGENT_PATH, "org.freedesktop.GeoClue2.Agent", "AuthorizeApp"),
                (AGENT_PATH, "org.freedesktop.DBus.Properties", "GetAll"),
                ("/any/path", "org.whereabouts1.Agent", "Authorize"),
                ("/any/path", "org.freedesktop.DBus.Properties", "GetAll"),
            ):
                call = dbus.lowlevel.MethodCallMessage(agent, path, interface, member)
                name = f"{interface}.{member} {path}"
                connection.send_message_with_reply(
                    call, lambda answer, n=name: report(f"{n} {answer.get_error_name() or 'passed'}"))
            connection.send_message(dbus.lowlevel.MethodReturnMessage(message))
            return dbus.lowlevel.HANDLER_RESULT_HANDLED
        return dbus.lowlevel.HANDLER_RESULT_NOT_YET_HANDLED

    for bus in buses:
        bus.add_message_filter(answer)
    report("ready")
    GLib.MainLoop().run()


def listen(address, report):
    """Listens in on everything as far as the bus lets it, and tries what only the service may do."""
    bus = connect(address)
    heard = []

    def hear(connection, message):
        if message.get_interface() == "test.Location" or "secret" in [str(a) for a in message.get_args_list()]:
            heard.append(message)
        return dbus.lowlevel.HANDLER_RESULT_NOT_YET_HANDLED

    bus.add_message_filter(hear)
    for rule in ("eavesdrop='true'", "type='signal'", "type='method_call',eavesdrop='true'"):
        outcome(lambda r=rule: bus.add_match_string_non_blocking(r))
    for name in NAMES:
        report(f"own {name} " + outcome(lambda n=name: bus.request_name(n)))
    report("monitor " + outcome(lambda: bus.call_blocking(
        "org.freedesktop.DBus", "/org/freedesktop/DBus", "org.freedesktop.DBus.Monitoring", "BecomeMonitor", "asu",
        ([], 0))))
    report("ready")

    def finish(*_):
        report(f"heard {len(heard)}")
        os._exit(0)

    GLib.unix_signal_add(GLib.PRIORITY_LOW, signal.SIGTERM, finish)
    GLib.MainLoop().run()


def call(address, report):
    """Asks the service, and tries to call the agent, which only the service may."""
    bus = connect(address)
    signals = []

    def hear(connection, message):
        if message.get_type() == 4 and message.get_interface() == "test.Location":
            signals.append(message)
        return dbus.lowlevel.HANDLER_RESULT_NOT_YET_HANDLED

    bus.add_message_filter(hear)
    for name in NAMES:
        report(f"call {name} " + outcome(lambda n=name: bus.call_blocking(n, "/x", "test.Location", "Get", "", ())))
    deadline = time.monotonic() + 5
    while len(signals) < len(NAMES) and time.monotonic() < deadline:
        GLib.MainContext.default().iteration(False)
    report(f"signals {len(signals)}")
    report("name " + bus.get_unique_name())
    # The service now calls this connection, which has no such objects; that it is called at all is the point.
    path = "/x/" + bus.get_unique_name().replace(":", "_").replace(".", "_")
    bus.call_blocking(NAMES[0], path, "test.CallAgent", "Go", "", ())
    report("ready")
    GLib.MainLoop().run()


def read_until(stream, last):
    lines = []
    for line in stream:
        lines.append(line.strip())
        if line.startswith(last):
            return lines
    return lines


def run(stale):
    failures = []

    def expect(condition, text):
        if not condition:
            failures.append(text)

    with tempfile.TemporaryDirectory() as folder:
        os.chmod(folder, 0o755)
        policy = POLICY.read_text().replace('user="whereabouts"', f'user="{SERVICE}"')
        expect(f'user="{SERVICE}"' in policy, "the policy has no rules for the service's user")
        pathlib.Path(folder, "policy.conf").write_text(policy)
        pathlib.Path(folder, "stale.conf").write_text(STALE)
        include = f"<include>{folder}/stale.conf</include>" if stale else ""
        pathlib.Path(folder, "bus.conf").write_text(BUS.format(folder=folder, stale=include))
        bus = subprocess.Popen(
            ["dbus-daemon", f"--config-file={folder}/bus.conf", "--nofork", "--nopidfile", "--print-address"],
            stdout=subprocess.PIPE, text=True)
        children = []
        try:
            address = bus.stdout.readline().strip()
            os.chmod(f"{folder}/bus", 0o666)

            child, service = as_user(SERVICE, lambda report: serve(address, report))
            children.append(child)
            owned = read_until(service, "ready")
            expect([f"{name} 1" for name in NAMES] == owned[:-1], f"the service does not own its names: {owned}")

            stranger_pid, stranger = as_user(STRANGER, lambda report: listen(address, report))
            children.append(stranger_pid)
            tried = read_until(stranger, "ready")
            for line in tried[:-1]:
                expect(line.endswith("AccessDenied"), f"a stranger may: {line}")
            expect(len(tried) == 5, f"the stranger did not try everything: {tried}")

            child, client = as_user(CLIENT, lambda report: call(address, report))
            children.append(child)
            asked = read_until(client, "ready")
            for name in NAMES:
                expect(f"call {name} passed" in asked, f"a client may not call {name}: {asked}")
            expect("signals 3" in asked, f"a client does not get its signals: {asked}")

            calls = [service.readline().strip() for _ in range(4)]
            for line in calls:
                is_allowed = not line.startswith("org.freedesktop.DBus.Properties.GetAll /any")
                expect(("AccessDenied" not in line) == is_allowed, f"the service calls an agent: {line}")

            unique = next((line.split()[1] for line in asked if line.startswith("name ")), None)
            child, forger = as_user(STRANGER, lambda report: report(outcome(lambda: connect(address).call_blocking(
                unique, AGENT_PATH, "org.freedesktop.GeoClue2.Agent", "AuthorizeApp", "su", ("x", 8)))))
            children.append(child)
            forged = forger.readline().strip()
            expect(forged == "AccessDenied", f"a stranger calls an agent: {forged}")

            os.kill(stranger_pid, signal.SIGTERM)
            heard = stranger.readline().strip()
            expect(heard == "heard 0", f"a stranger listens in: {heard}")
        finally:
            for child in children:
                try:
                    os.kill(child, signal.SIGKILL)
                except ProcessLookupError:
                    pass
                os.waitpid(child, 0)
            bus.terminate()
            bus.wait()
    return failures


def too_long(*_):
    raise TimeoutError("a peer says nothing")


def main():
    # Inherited by no child: whoever waits for a peer that failed ends here.
    signal.signal(signal.SIGALRM, too_long)
    signal.alarm(60)
    failures = [f"{text} (beside GeoClue's stale file: {stale})" for stale in (False, True) for text in run(stale)]
    for failure in failures:
        print(failure)
    sys.exit(bool(failures))


main()
