"""Events of Python 3.12 and newer: sys.monitoring calls the recorder."""
import sys

from . import _cost, _recorder

IS_USED = sys.version_info >= (3, 12)
_IDS = (3, 4, 0)  # those of debuggers, coverage and profilers stay free for others
_tools = []


def _take():
    for number in _IDS:
        if sys.monitoring.get_tool(number) is None:
            sys.monitoring.use_tool_id(number, "qprof")
            _tools.append(number)
            return number
    raise RuntimeError("no tool id of sys.monitoring is free")


def _register(number, functions):
    events = 0
    for name, function in functions.items():
        event = getattr(sys.monitoring.events, name)
        sys.monitoring.register_callback(number, event, getattr(_recorder, function))
        events |= event
    return events


def begin(has_calls, has_lines):
    """Ask for the events of a run."""
    if has_calls:
        number = _take()
        events = _register(number, {
            "PY_START": "on_start", "PY_RESUME": "on_resume", "PY_THROW": "on_throw", "PY_RETURN": "on_return",
            "PY_YIELD": "on_return", "PY_UNWIND": "on_return", "CALL": "on_call", "C_RETURN": "on_c_return",
            "C_RAISE": "on_c_return"})
        events &= ~(sys.monitoring.events.C_RETURN | sys.monitoring.events.C_RAISE)  # they come with CALL
        if not has_lines:
            _recorder.measure(_cost.loop, _cost.nothing, _recorder.nothing,
                              lambda is_on: sys.monitoring.set_events(number, events if is_on else 0))
        sys.monitoring.set_events(number, events)
    if has_lines:
        number = _take()
        local = _register(number, {"LINE": "on_line", "PY_RESUME": "on_line_resume", "PY_RETURN": "on_line_return",
                                   "PY_YIELD": "on_line_leave"})
        everywhere = _register(number, {"PY_START": "on_line_start", "PY_THROW": "on_line_resume",
                                        "PY_UNWIND": "on_line_leave"})
        _recorder.set_counted(lambda code: sys.monitoring.set_local_events(number, code, local),
                              sys.monitoring.DISABLE)
        sys.monitoring.set_events(number, everywhere)
        sys.monitoring.restart_events()
        for frame in list(sys._current_frames().values()):
            while frame:
                _recorder.meet_frame(frame)
                frame = frame.f_back


def end():
    """The run ends, or could not begin."""
    while _tools:
        number = _tools.pop()
        sys.monitoring.set_events(number, 0)
        for event in range(19):
            if 1 << event <= sys.monitoring.events.C_RAISE:
                sys.monitoring.register_callback(number, 1 << event, None)
        sys.monitoring.free_tool_id(number)
