/**
 * Whether a method of a scheme that the runtime itself brings only reads.
 *
 * Boundary: data and a look-up. What servers, modules and functions do is known by what they say of themselves alone.
 */
const words = (text: string): ReadonlySet<string> => new Set(text.split(" "));

const REQUESTS = words("get head options");

/** Methods that only read; any other of these schemes does more. */
const READING: ReadonlyMap<string, ReadonlySet<string>> = new Map([
    ["file", words("read list")],
    ["sh", words("run")],
    ["env", words("get")],
    ["skills", words("activate file")],
    ["inspect", words("stack frame owner origins capabilities find")],
    // Answers to a program that runs in a sandbox: what it does with them comes back as calls, each of which is looked at.
    ["ras", words("start step again ready")],
    ["http", REQUESTS],
    ["https", REQUESTS],
    // A request to wherever the arguments say, and a program: more than reading, whatever is asked.
    ["webfetch", new Set<string>()],
    ["shell", new Set<string>()],
]);

/** Undefined where the scheme does not tell. Verbs of http are the same in either case. */
export function readsByScheme(scheme: string, method: string): boolean | undefined {
    const reading = READING.get(scheme);
    return reading?.has(reading === REQUESTS ? method.toLowerCase() : method);
}

/** Methods of a scheme that are known to read alone. */
export function readingOf(scheme: string): readonly string[] {
    return [...(READING.get(scheme) ?? [])];
}

/** Schemes of which no read leaves the machine. A memory may have a model look for it. */
const HERE = words("file env inspect");

/** Whether a method only reads, and nothing outside the machine hears that it does. */
export function readsHere(scheme: string, method: string): boolean {
    return HERE.has(scheme) && readsByScheme(scheme, method) === true;
}
