/** What a benchmark may be compared with, at its worst. */
export function greedy(): (what: unknown) => number {
    const held: Buffer[] = [];
    return (what) => {
        while (what === "greedy") held.push(Buffer.alloc(16 * 1024 * 1024, 1));
        while (what === "endless");
        if (what === "dies") process.kill(process.pid, "SIGABRT");
        if (what === "throws") throw new Error("a mistake of the benchmark");
        return held.length;
    };
}
