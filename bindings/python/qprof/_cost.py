"""Calls of which the recorder measures what recording them costs."""


def loop(function, n):
    for _ in range(n):
        function()


def nothing():
    pass
