/**
 * Who a server is: a key pair of its state folder, so that a client that was paired once knows any later server of the same user again.
 *
 * Boundary: one private file, and signatures. Who a client is stands in `clients.ts`.
 *
 * IDT1: what is signed holds the port that the server itself listens on: a program on another port that passes a challenge on gets a signature that
 *     is no good for its own port.
 */
import { createPrivateKey, createPublicKey, generateKeyPairSync, type KeyObject, sign } from "node:crypto";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { privateFolder, writePrivate } from "@remit/host";
import { ClientsError } from "./clients.ts";

export interface Identity {
    /** Ed25519 as SPKI in DER, base64. */
    readonly key: string;
    /** Base64. `challenge`: what the client made up. */
    proof(challenge: string, port: number): string;
}

/** Throws `ClientsError`. */
export function identityOf(folder: string): Identity {
    privateFolder(folder);
    const pair = keyOf(join(folder, "identity.pem"));
    return {
        key: createPublicKey(pair).export({ type: "spki", format: "der" }).toString("base64"),
        proof: (challenge, port) => sign(null, Buffer.from(signed(challenge, port)), pair).toString("base64"),
    };
}

/** The text that is signed; clients make it too. */
function signed(challenge: string, port: number): string {
    return `remit server\n${port}\n${challenge}`;
}

function keyOf(file: string): KeyObject {
    let text: string;
    try {
        text = readFileSync(file, "utf8");
    } catch (error) {
        if ((error as NodeJS.ErrnoException).code !== "ENOENT")
            throw new ClientsError(`the key of the server ${file} cannot be read: ${(error as Error).message}`);
        const { privateKey } = generateKeyPairSync("ed25519");
        writePrivate(file, privateKey.export({ type: "pkcs8", format: "pem" }).toString());
        return privateKey;
    }
    try {
        return createPrivateKey(text);
    } catch {
        // The library's reason may hold parts of the key.
        throw new ClientsError(`${file} is no key; move it away, and pair the clients anew`);
    }
}
