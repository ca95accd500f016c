/**
 * No stack for every promise: what a run waits for its status says, by the names that the program gave.
 *
 * Boundary: the global object of one workflow, which no other workflow sees.
 *
 * WST1: an error that is made without a text has no stack; all others have theirs. The SDK makes one without a text for each promise of a workflow and
 *     finds ten frames of it in a source map, so that Temporal can show where the workflow waits. That took half of the workflow thread's time in a
 *     fan-out (section `temporal` of `bench/`).
 */
export function withoutStacks(): void {
    const Usual = globalThis.Error;
    function Plain(...given: Parameters<ErrorConstructor>): Error {
        return given.length === 0 ? (Object.create(Usual.prototype) as Error) : new Usual(...given);
    }
    Object.setPrototypeOf(Plain, Usual);
    globalThis.Error = Object.assign(Plain, { prototype: Usual.prototype }) as unknown as ErrorConstructor;
}
