/**
 * The keys that tokens are sealed with: in the keychain of the operating system, else in a file that only the user may read.
 *
 * Boundary: keeps a ring of keys and gives it back. What is sealed with them is `store.ts`.
 *
 * TKY1: which of the two has the keys is said with the tokens: a keychain that does not answer later is an error, never a reason for new keys.
 */
import { appear, writePrivate } from "../ledger/place.ts";
import { TokenError } from "./error.ts";
import { readPrivate } from "./private.ts";
import { type KeyRing, newRing } from "./seal.ts";

/** A keychain of the operating system. Throws where it is locked or not there. */
export interface Keychain {
    read(): string | null;
    write(text: string): void;
}

export type KeysIn = "keychain" | "file";

/** A user installs it where the keychain is to have the keys. */
const PACKAGE: string = "@napi-rs/keyring";

interface Entry {
    getPassword(): string | null;
    setPassword(text: string): void;
    deleteCredential(): boolean;
}

/** On Linux the package takes the kernel's keyring where no service answers, which is empty after a restart. */
const LASTING = { linux: { store: "secret-service" } };

/** The keychain of this machine; null where the package is not installed, or no keychain answers that lasts. */
export async function systemKeychain(account: string): Promise<Keychain | null> {
    try {
        const { Entry } = (await import(/* @vite-ignore */ PACKAGE)) as {
            readonly Entry: new (service: string, account: string, options: typeof LASTING) => Entry;
        };
        const entry = new Entry("remit", account, LASTING);
        const keychain: Keychain = { read: () => entry.getPassword(), write: (text) => entry.setPassword(text) };
        if (keychain.read() !== null) return keychain;
        // One that is read may still take nothing.
        const probe = new Entry("remit", `${account} probe`, LASTING);
        probe.setPassword("probe");
        probe.deleteCredential();
        return keychain;
    } catch {
        // Not installed, or without a service behind it: the file has the keys.
        return null;
    }
}

export interface Keys {
    /** Where new keys are kept. */
    readonly place: KeysIn;
    read(place: KeysIn): KeyRing;
    write(place: KeysIn, ring: KeyRing): void;
}

/** `file`: of the keys that no keychain has. */
export function keysOf(file: string, keychain: Keychain | null): Keys {
    const inChain = (): Keychain => {
        if (keychain !== null) return keychain;
        throw new TokenError(
            "keychain",
            "the keys of the tokens are in the keychain of the system, which does not answer",
            `unlock it, and keep the package ${PACKAGE} installed; or remove the tokens and log in again`,
        );
    };
    return {
        place: keychain === null ? "file" : "keychain",
        read: (place) => {
            if (place === "keychain") {
                const chain = inChain();
                const text = chain.read();
                if (text !== null) return ringOf(text, "the keychain");
                const ring = newRing();
                chain.write(textOf(ring));
                return ring;
            }
            const text = readPrivate(file);
            if (text !== null) return ringOf(text, file);
            // Of two processes the first one's keys count.
            appear(file, (draft) => writePrivate(draft, textOf(newRing()), true));
            return ringOf(readPrivate(file) ?? "", file);
        },
        write: (place, ring) => {
            if (place === "keychain") inChain().write(textOf(ring));
            else writePrivate(file, textOf(ring), true);
        },
    };
}

function textOf({ current, keys }: KeyRing): string {
    const all = Object.entries(keys).map(([id, key]) => [id, key.toString("base64")]);
    return `${JSON.stringify({ version: 1, current, keys: Object.fromEntries(all) })}\n`;
}

function ringOf(text: string, where: string): KeyRing {
    const damaged = (): TokenError =>
        new TokenError("damaged", `the keys in ${where} cannot be read`, "without them no token can be: remove both, then log in again");
    let json: unknown;
    try {
        json = JSON.parse(text);
    } catch (error) {
        if (!(error instanceof SyntaxError)) throw error;
        throw damaged();
    }
    const { current, keys } = (json ?? {}) as { readonly current?: unknown; readonly keys?: { readonly [id: string]: unknown } };
    const all = Object.entries(keys ?? {}).map(([id, key]) => [id, Buffer.from(typeof key === "string" ? key : "", "base64")] as const);
    if (typeof current !== "string" || !all.some(([id]) => id === current) || all.some(([, key]) => key.length !== 32)) throw damaged();
    return { current, keys: Object.fromEntries(all) };
}
