/**
 * Pictures of a turn that may be left out: which of them a model is sent, and what stands in the places of the others.
 *
 * Boundary: requests in, requests out. A picture that the program put into the prompt itself is not optional, and stays.
 *
 * PIC1: a picture that is not sent leaves a text in its place that says so and why, and a note for the ledger.
 */
import type { ModelTurn, Part } from "@remit/machine";

/** The last ones of a conversation: each costs about 1,600 tokens in every turn. */
const MOST = 6;

export interface Sent {
    readonly request: ModelTurn;
    /** What was left out, in words. */
    readonly notes: readonly string[];
}

/** The turn with its last pictures. */
export function withLastPictures(request: ModelTurn): Sent {
    return leavingOut(request, countOf(request) - MOST, `only the last ${MOST} pictures are shown`);
}

/** The turn for a model that takes no pictures. */
export function withoutPictures(request: ModelTurn, uri: string): Sent {
    return leavingOut(request, Number.POSITIVE_INFINITY, `${uri} takes no pictures`);
}

export function hasPictures(request: ModelTurn): boolean {
    return countOf(request) > 0;
}

function countOf({ messages }: ModelTurn): number {
    return messages.reduce((sum, one) => sum + (one.role === "user" ? one.content.filter(isOptional).length : 0), 0);
}

function isOptional(part: Part): boolean {
    return part.type === "file" && part.optional === true;
}

/** Without the first `most` optional ones. */
function leavingOut(request: ModelTurn, most: number, why: string): Sent {
    let left = 0;
    if (most <= 0 || !hasPictures(request)) return { request, notes: [] };
    const messages = request.messages.map((message) =>
        message.role === "user"
            ? {
                  ...message,
                  content: message.content.map((part): Part => {
                      if (!isOptional(part) || left >= most) return part;
                      left++;
                      return { type: "text", text: `[a picture was left out: ${why}]` };
                  }),
              }
            : message,
    );
    return { request: { ...request, messages }, notes: [`${left === 1 ? "a picture was" : `${left} pictures were`} left out: ${why}`] };
}
