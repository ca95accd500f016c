/**
 * No stack for every promise: what a run waits for its status says, by the names that the program gave.
 *
 * Boundary: the global object of one workflow, which no other workflow sees. What else runs in `remitRun` are the workflow interceptors and the payload
 * converter of a team.
 *
 * WST1: `new Error()` without a text has no more than the first line of a stack. All other errors, and classes of errors, are as the runtime makes them.
 *     The SDK makes one without a text for each promise of a workflow and finds ten frames of it in a source map, so that Temporal can show where the
 *     workflow waits. That took half of the workflow thread's time in a fan-out (section `temporal` of `bench/`). A real error takes 2.6 µs, as its
 *     frames are collected, an object of its prototype 0.4 µs: so `Error.isError` says no of one without a text.
 */
export function withoutStacks(): void {
    const stack: PropertyDescriptor = { value: "Error", writable: true, configurable: true };
    const Plain: ErrorConstructor = new Proxy(globalThis.Error, {
        construct: (Usual, given, made) => {
            if (made !== Plain) return Reflect.construct(Usual, given, made) as Error;
            return given.length === 0 ? (Object.create(Usual.prototype, { stack }) as Error) : Reflect.construct(Usual, given);
        },
    });
    globalThis.Error = Plain;
}
