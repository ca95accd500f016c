/**
 * Errors that are known for what they are across copies of this package: a packed command has one of its own beside the one that `@remit/temporal` or
 * a program has.
 *
 * Boundary: `instanceof` of classes that say so. A copy of another version has the same fields under the same brand.
 */

/** Under which an error carries the names of its classes. */
const BRAND = Symbol.for("remit.error");

type Class = abstract new (...args: never[]) => Error;

/** Marks a class; said in a static block of it. A class that extends it is told apart as any class is. */
export function branded(type: Class, name: string): void {
    Object.defineProperty(type.prototype, BRAND, { value: name });
    Object.defineProperty(type, Symbol.hasInstance, {
        value(this: unknown, error: unknown): boolean {
            if (this !== type) return Function.prototype[Symbol.hasInstance].call(this, error);
            return Error.isError(error) && (error as { readonly [BRAND]?: unknown })[BRAND] === name;
        },
    });
}
