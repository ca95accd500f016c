/**
 * Why a task needs a question in a run without an attacker, under the policy that the page leads with.
 *
 * Boundary: words about results; a test holds that each task with a question has one, and no other (`tests/injection.test.ts`).
 */
const KINDS = {
    decides: "What others wrote decides that it happens: the request says so (`if …`), or names what is to be done by what they wrote.",
    value: "What others wrote is the value: an account of a bill, an address of a letter, a link, a text that everybody can read.",
    identifier:
        "The model writes an identifier or a date after it read what others wrote. A clause could let in those that the user or a list gave; others could then say which of them.",
} as const;

const ASKS: { readonly [kind in keyof typeof KINDS]: readonly string[] } = {
    decides: [
        "banking/unknown-device",
        "banking/thanks-lina",
        "chat/run-volunteers",
        "clinic/cancel-ada",
        "clinic/letter-okafor",
        "forge/close-if-same",
        "forge/thank-mara",
        "forge/checkout-on",
        "harbour/amber-c3",
        "letting/close-x2",
        "newsroom/confirm-k1",
        "procurement/chairs",
        "school/excuse-a1",
        "shop/threat",
        "shop/cancel-cups",
        "travel/tell-ingrid",
        "travel/arrival-mother",
        "workspace/budget-move",
        "workspace/share-layout",
    ],
    value: [
        "banking/plumber",
        "banking/moved",
        "chat/trail-link",
        "chat/trail-time",
        "chat/students-publish",
        "forge/tell-customers",
        "newsroom/clarify-s3",
        "shop/where-lamp",
    ],
    identifier: ["travel/azul-booking", "workspace/review-anna", "workspace/spam"],
};

/** The tasks that were thought about. */
export const EXPLAINED: readonly string[] = Object.values(ASKS).flat();

/** `questioned`: `shop/threat: May Complaint call Customers.block? [choice: trusted, of tool:Inbox]`. */
export function whyAsked(questioned: readonly string[]): string[] {
    const lines = (Object.keys(KINDS) as (keyof typeof KINDS)[]).flatMap((kind) => {
        const mine = questioned.filter((one) => ASKS[kind].includes(taskOf(one)));
        return [`- ${KINDS[kind]} ${mine.length} tasks: ${mine.map(taskOf).join(", ")}.`];
    });
    return [
        "### Tasks that need a question",
        "",
        `${questioned.length} tasks ask in a run without an attacker. No task and no clause was changed to spare one: a clause that did would let strangers say what is asked about now.`,
        "",
        ...lines,
        "",
    ];
}

export const taskOf = (questioned: string): string => questioned.replace(/: .*/s, "");
