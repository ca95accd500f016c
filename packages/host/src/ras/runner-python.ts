/**
 * The runner of Python programs, as text: it is written beside a run's socket and started there.
 *
 * Boundary: Python's standard library, 3.8 or newer. It speaks the frames of `frames.ts` and knows nothing else of Remit.
 *
 * J1: a program is compiled as it stands, with `await` allowed at its top; one that has a `return` there becomes the body of an async function,
 *     line numbers kept.
 * J2: what is called waits until the event loop has nothing left to do; then all open calls are told at once (timers do not count).
 * J3: frames go over a socket of the runner's own; what is printed never touches it.
 */
export const PYTHON_RUNNER = String.raw`
import ast, asyncio, builtins, inspect, json, linecache, os, selectors, socket, sys, traceback, types

FILE = sys.argv[1]
SHOWN = os.path.basename(FILE)
RUNNER = __file__


def _open():
    link = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    link.connect(os.environ["REMIT_RAS"])
    link.sendall(_frame({"hello": os.environ.pop("REMIT_RAS_TOKEN"), "as": "program"}))
    os.environ.pop("REMIT_RAS", None)
    return link


def _frame(value):
    return json.dumps(value, allow_nan=False).encode() + b"\n"


class Link:
    """Open calls and their futures."""

    def __init__(self):
        self.socket = _open()
        self.buffer = b""
        self.next = 0
        self.fresh = []
        self.waiting = {}
        self.loop = None

    def read(self):
        while b"\n" not in self.buffer:
            piece = self.socket.recv(65536)
            if piece == b"":
                os._exit(97)
            self.buffer += piece
        line, self.buffer = self.buffer.split(b"\n", 1)
        return json.loads(line)

    def call(self, kind, args):
        loop = asyncio.get_running_loop()
        try:
            json.dumps(args, allow_nan=False)
        except (TypeError, ValueError) as error:
            raise type(error)(f"{kind}(): what is given must be plain data: {error}") from None
        future = loop.create_future()
        self.fresh.append({"id": self.next, "kind": kind, "args": args})
        self.waiting[self.next] = future
        self.next += 1
        if self.loop is not loop:
            self.loop = loop
            loop.add_reader(self.socket.fileno(), self.take)
        return future

    def take(self):
        piece = self.socket.recv(65536)
        if piece == b"":
            os._exit(97)
        self.buffer += piece
        while b"\n" in self.buffer:
            line, self.buffer = self.buffer.split(b"\n", 1)
            for answer in json.loads(line).get("answers", []):
                future = self.waiting.pop(answer["id"], None)
                if future is not None and not future.done():
                    future.set_result(answer["value"])

    def idle(self):
        if self.fresh:
            fresh, self.fresh = self.fresh, []
            self.send({"calls": fresh})

    def send(self, frame):
        self.socket.sendall(_frame(frame))


LINK = Link()


class Selector(selectors.DefaultSelector):
    """Tells when the loop is about to wait."""

    def select(self, timeout=None):
        if timeout is None or timeout > 0:
            sys.stdout.flush()
            LINK.idle()
        return super().select(timeout)


class Policy(asyncio.DefaultEventLoopPolicy):
    def new_event_loop(self):
        return asyncio.SelectorEventLoop(Selector())


async def reason(prompt, example=None, **more):
    if example is None:
        example = more.pop("example_output", None)
    if more:
        raise TypeError(f"reason() got an unexpected keyword argument {next(iter(more))!r}")
    return await LINK.call("reason", {"prompt": prompt, "example": example})


async def act(name, args=None):
    return await LINK.call("act", {"name": name, "args": {} if args is None else args})


async def agent(prompt, config=None):
    return await LINK.call("agent", {"prompt": prompt, "config": {} if config is None else config})


NESTED = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda, ast.ClassDef)


def returns(nodes):
    for node in nodes:
        if isinstance(node, ast.Return):
            return True
        if not isinstance(node, NESTED) and returns(ast.iter_child_nodes(node)):
            return True
    return False


def compiled(text):
    tree = ast.parse(text, SHOWN)
    if not returns(tree.body):
        return compile(tree, SHOWN, "exec", flags=ast.PyCF_ALLOW_TOP_LEVEL_AWAIT), False
    shell = ast.parse("async def __program__():\n    pass", SHOWN)
    future = [node for node in tree.body if isinstance(node, ast.ImportFrom) and node.module == "__future__"]
    shell.body[0].body = [node for node in tree.body if node not in future] or [ast.Pass()]
    shell.body[:0] = future
    ast.fix_missing_locations(shell)
    return compile(shell, SHOWN, "exec"), True


async def awaited(value):
    return await value


def run(begin):
    with open(FILE, encoding="utf-8-sig") as source:
        text = source.read()
    linecache.cache[SHOWN] = (len(text), None, text.splitlines(True), SHOWN)
    code, wrapped = compiled(text)
    module = types.ModuleType("__main__")
    module.__file__ = FILE
    sys.modules["__main__"] = module
    names = module.__dict__
    names.update(reason=reason, act=act, agent=agent, inputs=begin["inputs"], RIFF_PARAMS=begin["inputs"])
    import warnings

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        asyncio.set_event_loop_policy(Policy())
    sys.argv = [FILE]
    sys.path[0] = os.path.dirname(FILE)
    if wrapped:
        exec(code, names)
        return asyncio.run(names["__program__"]())
    if code.co_flags & inspect.CO_COROUTINE:
        return asyncio.run(awaited(eval(code, names)))
    exec(code, names)
    return None


def told(error):
    """The traceback without the runner's own frames."""
    lines = traceback.TracebackException(type(error), error, error.__traceback__)
    lines.stack = traceback.StackSummary.from_list([one for one in lines.stack if one.filename == SHOWN])
    return "".join(lines.format())


def main():
    begin = LINK.read()
    end = {"ended": True}
    try:
        value = run(begin)
        if value is not None:
            try:
                end["value"] = json.loads(json.dumps(value, allow_nan=False))
            except (TypeError, ValueError):
                print(value)
    except SystemExit as stop:
        if stop.code not in (None, 0):
            end["error"] = f"SystemExit: {stop.code}"
    except BaseException as error:
        end["error"] = told(error)
    try:
        sys.stdout.flush()
        sys.stderr.flush()
    except OSError:
        pass
    LINK.send(end)
    os._exit(0 if "error" not in end else 1)


main()
`;
