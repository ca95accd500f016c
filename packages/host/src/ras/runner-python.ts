/**
 * The runner of Python programs, as text: it is written beside a run's socket and started there.
 *
 * Boundary: Python's standard library, 3.8 or newer. It speaks the frames of `frames.ts` and knows nothing else of Remit.
 *
 * RR1: a program is compiled as it stands, with `await` allowed at its top; one that has a `return` there becomes the body of an async function,
 *     one that is indented as a whole is read as if it were not; line numbers and texts are kept.
 * RR2: what is called waits until the event loop has nothing left to do; then all open calls are told at once (timers do not count).
 * RR3: frames go over a socket of the runner's own; what is printed never touches it.
 * RR4: inputs are also names, where they do not hide a built-in one. A function `run` that nothing in the program calls is called with the inputs, and
 *     what it returns is the program's value.
 */
export const PYTHON_RUNNER = String.raw`
import ast, asyncio, builtins, inspect, json, keyword, linecache, os, selectors, socket, sys, traceback, types

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


class AgentError(Exception):
    """What agent() with on_error "fail" raises."""


class Failed(dict):
    """An answer without data: who asks for it is told why there is none."""

    def __missing__(self, key):
        if key != "data":
            raise KeyError(key)
        error = self["error"]
        raise KeyError(f"data: {error.get('message', error) if isinstance(error, dict) else error}")


def answered(value):
    return Failed(value) if isinstance(value, dict) and "error" in value and "data" not in value else value


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
                if future is None or future.done():
                    continue
                if "error" in answer:
                    future.set_exception(AgentError(answer["error"]))
                else:
                    future.set_result(answered(answer["value"]))

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
    args = {} if args is None else args
    if name in REGISTERED:
        return await registered(name, args)
    return await LINK.call("act", {"name": name, "args": args})


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


def parsed(text, shown):
    """The tree of a text; of one that is indented as a whole, too."""
    try:
        return ast.parse(text, shown)
    except IndentationError as error:
        try:
            tree = ast.parse("if True:\n" + text, shown)
        except SyntaxError:
            raise error from None
        if len(tree.body) != 1 or tree.body[0].orelse:
            raise
        tree.body = tree.body[0].body
        return ast.increment_lineno(tree, -1)


def compiled(text, given, shown):
    """Code and the names of its parameters: None where it is no function, but runs as it stands."""
    tree = parsed(text, shown)
    if not returns(tree.body):
        return compile(tree, shown, "exec", flags=ast.PyCF_ALLOW_TOP_LEVEL_AWAIT), None, tree
    future = [node for node in tree.body if isinstance(node, ast.ImportFrom) and node.module == "__future__"]
    body = [node for node in tree.body if node not in future] or [ast.Pass()]
    try:
        return bodied(future, body, given, shown), given, tree
    except SyntaxError:
        # What it calls global cannot be a parameter.
        return bodied(future, body, [], shown), [], tree


def bodied(future, body, given, shown):
    shell = ast.parse(f"async def __program__({', '.join(given)}):\n    pass", shown)
    shell.body[0].body = body
    shell.body[:0] = future
    ast.fix_missing_locations(shell)
    return compile(shell, shown, "exec")


def names_of(inputs):
    """Inputs that may be names: none hides what the language or the run has under that name."""
    if not isinstance(inputs, dict):
        return {}
    taken = {"reason", "act", "agent", "ras", "inputs", "RIFF_PARAMS", "register_ras_definition", "AgentError"}
    return {
        name: value
        for name, value in inputs.items()
        if name.isidentifier()
        and not keyword.iskeyword(name)
        and not name.startswith("__")
        and not hasattr(builtins, name)
        and name not in taken
    }


def scope(inputs):
    return {
        **names_of(inputs),
        "reason": reason,
        "act": act,
        "agent": agent,
        "ras": RAS,
        "register_ras_definition": register_ras_definition,
        "inputs": inputs,
        "RIFF_PARAMS": inputs,
        "AgentError": AgentError,
    }


def enters(tree):
    """Whether it defines a run() that nothing in it calls."""
    own = [node for node in tree.body if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)) and node.name == "run"]
    if len(own) != 1:
        return False
    rest = [node for node in tree.body if node is not own[0]]
    return not any(isinstance(node, ast.Name) and node.id == "run" for one in rest for node in ast.walk(one))


async def entered(run, inputs):
    takes = [
        one
        for one in inspect.signature(run).parameters.values()
        if one.kind in (one.POSITIONAL_ONLY, one.POSITIONAL_OR_KEYWORD, one.KEYWORD_ONLY)
    ]
    if len(takes) == 0:
        value = run()
    elif len(takes) == 1 and takes[0].kind != takes[0].KEYWORD_ONLY:
        value = run(inputs)
    else:
        value = run(**{one.name: inputs[one.name] for one in takes if one.name in inputs})
    return await value if inspect.isawaitable(value) else value


async def awaited(value):
    return await value


REGISTERED = {}


def register_ras_definition(name, source):
    REGISTERED[name] = source


class Ras:
    async def run(self, source, inputs=None):
        """A program in a text, as part of this one."""
        inputs = {} if inputs is None else inputs
        given = names_of(inputs)
        code, takes, tree = compiled(source, list(given), "<ras>")
        linecache.cache["<ras>"] = (len(source), None, source.splitlines(True), "<ras>")
        names = {**scope(inputs), "__name__": "__ras__"}
        if takes is None and code.co_flags & inspect.CO_COROUTINE:
            await eval(code, names)
        else:
            exec(code, names)
        if takes is not None:
            return await names["__program__"](**{name: given[name] for name in takes})
        return await entered(names["run"], inputs) if enters(tree) else None


RAS = Ras()


async def registered(name, inputs):
    try:
        value = await RAS.run(REGISTERED[name], inputs)
        text = value if isinstance(value, str) else "" if value is None else json.dumps(value)
        result = {"content": [{"type": "text", "text": text}]}
        return {**result, "structuredContent": value} if isinstance(value, dict) else result
    except Exception as error:
        return {"content": [{"type": "text", "text": f"{type(error).__name__}: {error}"}], "isError": True}


def run(begin):
    with open(FILE, encoding="utf-8-sig") as source:
        text = source.read()
    linecache.cache[SHOWN] = (len(text), None, text.splitlines(True), SHOWN)
    inputs = begin["inputs"]
    given = names_of(inputs)
    code, takes, tree = compiled(text, list(given), SHOWN)
    module = types.ModuleType("__main__")
    module.__file__ = FILE
    sys.modules["__main__"] = module
    names = module.__dict__
    names.update(scope(inputs))
    import warnings

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        asyncio.set_event_loop_policy(Policy())
    sys.argv = [FILE]
    sys.path[0] = os.path.dirname(FILE)
    if takes is not None:
        exec(code, names)
        return asyncio.run(names["__program__"](**{name: given[name] for name in takes}))
    if code.co_flags & inspect.CO_COROUTINE:
        asyncio.run(awaited(eval(code, names)))
    else:
        exec(code, names)
    return asyncio.run(entered(names["run"], inputs)) if enters(tree) else None


def told(error):
    """The traceback without the runner's own frames."""
    lines = traceback.TracebackException(type(error), error, error.__traceback__)
    lines.stack = traceback.StackSummary.from_list([one for one in lines.stack if one.filename in (SHOWN, "<ras>")])
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
