/**
 * An `expect` that does something first.
 *
 * Boundary: passes everything through; `soft` and the calls themselves look first.
 */
export function guarded<E extends (...args: never[]) => unknown>(expect: E, look: () => void): E {
    return new Proxy(expect, {
        apply: (target, self, args) => {
            look();
            return Reflect.apply(target, self, args);
        },
        get: (target, name) => {
            const value: unknown = Reflect.get(target, name, target);
            return name === "soft" && typeof value === "function" ? guarded(value as E, look) : value;
        },
    });
}
