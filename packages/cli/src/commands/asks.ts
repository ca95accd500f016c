/** `remit asks`: questions that wait for a person, with everything needed to decide. */
import { type Ask, type AskNote, isCarriedElsewhere, LedgerError, type LedgerStore } from "@remit/host";
import type { Json } from "@remit/language";
import { shownApprovers } from "@remit/machine";
import { askText, offered } from "../asking.ts";
import { EXIT, paint, plainLine, printJson, printLines, say } from "../io.ts";
import { openForShowing, sayNoRuns } from "../ledger.ts";

export default async function asks(args: string[], options: Record<string, unknown>): Promise<number> {
    const store = await openForShowing(options);
    if (store === null) {
        sayNoRuns("No runs yet, so there are no questions.", options);
        if (options["json"]) printJson([]);
        return EXIT.ok;
    }
    try {
        const all = await store.asks.list(args[0] === undefined ? undefined : (await store.run(args[0])).id);
        const found = options["all"] ? all : all.filter((one) => one.state === "open");
        if (options["json"]) {
            printJson(found as unknown as Json);
            return EXIT.ok;
        }
        if (found.length === 0) {
            say("No question waits for an answer.");
            return EXIT.ok;
        }
        const colour = paint(process.stdout);
        for (const one of found) {
            const [id, run] = [plainLine(one.id), plainLine(one.run)];
            const { root, isElsewhere } = await placeOf(store, one.run);
            printLines(`${colour("bold", id)}  ${state(one)}  ${colour("dim", `run ${run}, ${plainLine(one.path)}`)}`);
            printLines(
                askText(one.request, {
                    paint: colour,
                    root,
                    full: options["full"] === true,
                    more: "--full shows all",
                    width: process.stdout.isTTY === true ? process.stdout.columns || 80 : undefined,
                }),
            );
            for (const note of one.notes ?? []) printLines(colour("dim", `  ${noteText(note)}`));
            if (one.tampered)
                printLines(
                    colour(
                        "red",
                        "  This record is signed with another key, so it is ignored. It was made by another user, or changed after it was made.",
                    ),
                );
            else if (one.state === "open") {
                const command = isElsewhere ? "approve" : "answer";
                printLines(colour("dim", `  remit ${command} ${run} ${id} … (${offered(one.request.options)})`));
            }
            printLines("");
        }
        return EXIT.ok;
    } finally {
        await store.close();
    }
}

/** A question of a run that is not there, or cannot be read, is shown all the same. */
async function placeOf(store: LedgerStore, run: string): Promise<{ readonly root: string; readonly isElsewhere: boolean }> {
    try {
        const info = await store.run(run);
        return { root: info.root || process.cwd(), isElsewhere: isCarriedElsewhere(info) };
    } catch (error) {
        if (!(error instanceof LedgerError)) throw error;
        return { root: process.cwd(), isElsewhere: false };
    }
}

function noteText({ kind, who, text, at }: AskNote): string {
    const when = at.replace("T", " ").slice(0, 16);
    if (kind === "told") return plainLine(`${when} ${text} by ${who}, which says that a person answered`);
    if (kind === "sent") return plainLine(`${when} sent to ${who}`);
    return plainLine(
        kind === "failed" ? `${when} could not be sent to ${who}: ${text}` : `${when} refused: ${who} said ${text} and may not answer`,
    );
}

function state(one: Ask): string {
    if (one.state === "open")
        return `open until ${one.expires.replace("T", " ").slice(0, 16)} UTC, for ${plainLine(shownApprovers(one.owner))}`;
    // A decision that a program told is no decision of the owner.
    const told = one.notes?.find(({ kind }) => kind === "told");
    const by = told === undefined ? (one.by ?? "") : `${told.who}, which says that a person answered,`;
    if (one.decision !== undefined) return `${plainLine(one.decision)} by ${plainLine(by)} at ${(one.decided ?? "").slice(0, 16)}`;
    return one.state === "expired" ? "expired: a no" : plainLine(one.state);
}
