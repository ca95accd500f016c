/**
 * Who may answer a question: one principal, or several of whom one is enough.
 *
 * Boundary: a text that stands where a question has its owner, so that whatever seals the one seals the other.
 *
 * APR1: only one of them whole is one of them: no part of a name, and not all of them together.
 */

/** What no name of a principal holds. */
const BETWEEN = "\n";

export function approversOf(names: readonly string[]): string {
    return names.join(BETWEEN);
}

export function principalsOf(owner: string): readonly string[] {
    return owner.split(BETWEEN);
}

export function mayAnswer(owner: string, by: string): boolean {
    return by !== "" && principalsOf(owner).includes(by);
}

/** As a person reads it. */
export function shownApprovers(owner: string): string {
    return principalsOf(owner).join(", ");
}
