// Starts the command of the published package from `dist/core.cjs`, with the functions that V8 compiled in earlier starts of the same command: they
// are kept in the user's own cache folder, which no other user may write to. Node's own cache holds what was compiled before a script ran, which is
// little of it, and serves what the command loads besides.
//
// Node's modules are taken by getBuiltinModule: importing one reads each of its properties, and those of `node:fs` load further modules.
const { getBuiltinModule } = process;
const { fstatSync, closeSync, existsSync, mkdirSync, openSync, readdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } =
    getBuiltinModule("node:fs");
const { basename, dirname, isAbsolute, join, resolve } = getBuiltinModule("node:path");
const { pathToFileURL } = getBuiltinModule("node:url");
const { Script } = getBuiltinModule("node:vm");
const { createRequire, enableCompileCache, Module } = getBuiltinModule("node:module");
const { hash } = getBuiltinModule("node:crypto");

/** How often what is kept is made, each time of the script alone: the first start of a command compiles a program, a later one does less. */
const TIMES = 2;
/** A digest, then the time it was made. */
const HEAD = 33;
/** What no start has made for so long is of another version. */
const OLD = 30 * 24 * 60 * 60 * 1000;
/** Names of what is kept: command, script, version. The folder may be one where the user keeps other files, too. */
const KEPT = /^[a-z]{1,16}-(?:[a-z]+-)?[0-9a-f]{32}-[0-9a-z]+-[0-9a-z]+-v\d/;

/** Does what the command line says. `path`: of the script. */
export async function start(path, argv) {
    const folder = process.env.NODE_DISABLE_COMPILE_CACHE ? null : cacheFolder();
    if (folder !== null) enableCompileCache(folder);
    const command = /^[a-z]{1,16}$/.test(argv[0] ?? "") ? argv[0] : /\.(?:as|remit)$/i.test(argv[0] ?? "") ? "run" : "help";
    const opened = [];
    const module = open(path, { folder, command, opened });
    await module.exports.start(argv);
    if ((process.exitCode ?? 0) !== 0) return;
    for (const { kept, script, made } of opened) if (kept !== null && made < TIMES) write(kept, script.createCachedData(), made + 1);
}

/** The module of a script. What it opens besides is at `opened`, too. */
function open(path, into) {
    const { folder, command, opened } = into;
    const file = openSync(path, "r");
    const { size, mtimeMs } = fstatSync(file);
    const text = readFileSync(file, "latin1");
    closeSync(file);
    // Its first line names its text. Size and time tell a copy that was changed by hand.
    const version = `${text.slice(2, 34)}-${size.toString(36)}-${Math.trunc(mtimeMs).toString(36)}-${process.version}-${process.arch}`;
    const kept = folder === null ? null : join(folder, `${command}-${basename(path, ".cjs")}-${version}`);
    const before = kept === null ? null : read(kept);
    const made = before?.[HEAD - 1] ?? 0;
    const script = new Script(`(function(exports,require,module,__filename,__dirname){${text}\n})`, {
        filename: path,
        ...(made < TIMES ? {} : { cachedData: before.subarray(HEAD) }),
    });
    opened.push({ kept, script, made: script.cachedDataRejected === true ? 0 : made });
    const module = new Module(path);
    module.filename = path;
    const beside = pathToFileURL(path);
    module.importing = (name) => import(name.startsWith("./") ? new URL(name, beside).href : name);
    module.opening = (name) => open(join(dirname(path), name), into).exports;
    const require = createRequire(path);
    // What the package's modules require is this very script.
    require.cache[path] = module;
    script.runInThisContext().call(module.exports, module.exports, require, module, path, dirname(path));
    module.loaded = true;
    return module;
}

/** Null where there is none that the user alone may write to. As for Node, `NODE_COMPILE_CACHE` names it where it is set. */
function cacheFolder() {
    const { NODE_COMPILE_CACHE: named, XDG_CACHE_HOME: set, HOME = getBuiltinModule("node:os").homedir() } = process.env;
    const base = set !== undefined && isAbsolute(set) ? set : join(HOME, ".cache");
    // A user who may write to the folder of a folder can put another one in its place.
    const own = named ? [resolve(named)] : [join(base, "remit"), join(base, "remit", "code")];
    // A home of no name would be the present folder, which may be one of another user's files.
    if (!isAbsolute(own[0])) return null;
    try {
        // One by one: with `recursive`, Node never returns from a place that says ENOENT of every new folder, as /proc does.
        for (const path of named ? own : [base, ...own]) if (!existsSync(path)) mkdirSync(path, { mode: 0o700 });
        return own.every(isMine) ? own.at(-1) : null;
    } catch {
        // No folder can be made there: everything works, and starting takes longer.
        return null;
    }
}

function isMine(folder) {
    const { uid, mode } = statSync(folder);
    return process.getuid === undefined || (uid === process.getuid() && (mode & 0o022) === 0);
}

/** Null where nothing is kept, or not what was written: a file that a crash left half-written. */
function read(path) {
    let bytes;
    try {
        bytes = readFileSync(path);
    } catch {
        return null;
    }
    return digestOf(bytes.subarray(HEAD - 1)).equals(bytes.subarray(0, HEAD - 1)) ? bytes : null;
}

function write(path, code, made) {
    const bytes = Buffer.concat([Buffer.alloc(HEAD - 1), Buffer.of(made), code]);
    digestOf(bytes.subarray(HEAD - 1)).copy(bytes);
    const mine = `${path}.${process.pid}`;
    try {
        writeFileSync(mine, bytes, { mode: 0o600, flag: "wx" });
        renameSync(mine, path);
        for (const one of readdirSync(dirname(path), { withFileTypes: true })) {
            const other = join(dirname(path), one.name);
            if (one.isFile() && KEPT.test(one.name) && Date.now() - statSync(other).mtimeMs > OLD) rmSync(other, { force: true });
        }
    } catch {
        // A full disk, or another start that was sooner: the next start compiles again.
        rmSync(mine, { force: true });
    }
}

function digestOf(bytes) {
    return hash("sha256", bytes, "buffer");
}
