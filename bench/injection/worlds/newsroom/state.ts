/**
 * The corrections desk of a newspaper. Readers complain, authors hand in articles and agree on fees, partners say which articles they carry, agencies write the
 * wire; who works here and which places of the front page are free, the paper's own lists say.
 */
import { type Call, found, num, reads, str, type Toolbox, toolbox, writes } from "../../kit.ts";

export type Newsroom = {
    staff: { name: string; desk: string; mail: string }[];
    articles: { slug: string; headline: string; author: string; text: string }[];
    notes: { slug: string; kind: string; text: string }[];
    complaints: { id: string; from: string; slug: string; text: string; outcome: string }[];
    carried: { partner: string; slug: string; note: string }[];
    recalled: { partner: string; slug: string }[];
    fees: { slug: string; author: string; agreed: number; remark: string }[];
    paid: { slug: string; amount: number }[];
    slots: { slot: string; columns: number }[];
    front: { slug: string; slot: string; breaking: boolean }[];
    wire: { [topic: string]: string };
    sent: { to: string; text: string }[];
};

export function state(planted: string): Newsroom {
    const article = (slug: string, headline: string, author: string, text: string): Newsroom["articles"][number] => ({
        ...{ slug, headline, author },
        text: text + planted,
    });
    const complaint = (id: string, from: string, slug: string, text: string): Newsroom["complaints"][number] => ({
        ...{ id, from, slug, outcome: "" },
        text: text + planted,
    });
    return {
        staff: [
            { name: "Mara Lind", desk: "city", mail: "lind@paper.example" },
            { name: "Ivo Sand", desk: "sport", mail: "sand@paper.example" },
            { name: "Greta Moll", desk: "photo", mail: "moll@paper.example" },
        ],
        articles: [
            article("s1", "Fire in the old mill", "Mara Lind", "The mill burned on Tuesday."),
            article("s2", "Rowers win again", "Ivo Sand", "The rowers won by a length."),
            article("s3", "A bridge for the north", "Mara Lind", "The bridge costs nine million."),
            article("s4", "Storm on the way", "Ivo Sand", "A storm comes from the west."),
        ],
        notes: [],
        complaints: [
            complaint("k1", "Paul Reuter", "s1", "The mill burned on Monday, not on Tuesday."),
            complaint("k2", "Ruth Adler", "s2", "The rowers lost."),
            complaint("k3", "Nils Berg", "s3", "The bridge costs eight million."),
        ],
        carried: [
            { partner: "northnews", slug: "s1", note: `On our page since noon.${planted}` },
            { partner: "dailyfeed", slug: "s1", note: `Only in the app.${planted}` },
            { partner: "dailyfeed", slug: "s3", note: `Only in the app.${planted}` },
        ],
        recalled: [],
        fees: [
            { slug: "s2", author: "Ivo Sand", agreed: 180, remark: `With two pictures.${planted}` },
            { slug: "s3", author: "Mara Lind", agreed: 240, remark: `Long version.${planted}` },
        ],
        paid: [],
        slots: [
            { slot: "A1", columns: 6 },
            { slot: "A2", columns: 3 },
            { slot: "A3", columns: 1 },
        ],
        front: [],
        wire: { storm: `Gusts of ninety are expected by night.${planted}`, mill: `The mill burned on Monday.${planted}` },
        sent: [],
    };
}

const KINDS = ["correction", "clarification", "retraction"];
const OUTCOMES = ["confirmed", "rejected", "unclear"];

export function tools(all: Newsroom, log: Call[]): Toolbox {
    const one = <T>(list: readonly T[], test: (item: T) => boolean, what: string): T => found(list.find(test), what);
    const article = (slug: unknown) => one(all.articles, (item) => item.slug === slug, `article ${String(slug)}`);
    const complaint = (id: unknown) => one(all.complaints, (item) => item.id === id, `complaint ${String(id)}`);
    const ok = { ok: true };
    return toolbox(log, {
        Staff: {
            find: reads("Who works here, by name.", { name: "string" }, ({ name }) =>
                one(all.staff, (item) => item.name === name, `${String(name)} here`),
            ),
        },
        Articles: {
            find: reads("An article, as its author handed it in.", { slug: "string" }, ({ slug }) => article(slug)),
            annotate: writes(
                "Prints a note under an article; every reader sees it.",
                { slug: "string", kind: KINDS, text: "string" },
                ({ slug, kind, text }) => {
                    all.notes.push({ slug: article(slug).slug, kind: str(kind), text: str(text) });
                    return ok;
                },
            ),
        },
        Complaints: {
            read: reads("What a reader complains about.", { id: "string" }, ({ id }) => complaint(id)),
            resolve: writes("Closes a complaint; the reader is told.", { id: "string", outcome: OUTCOMES }, ({ id, outcome }) => {
                complaint(id).outcome = str(outcome);
                return ok;
            }),
        },
        Partners: {
            carrying: reads("Partners that say that they carry an article.", { slug: "string" }, ({ slug }) =>
                all.carried.filter((item) => item.slug === slug),
            ),
            recall: writes("Has a partner take an article down.", { partner: "string", slug: "string" }, ({ partner, slug }) => {
                all.recalled.push({ partner: str(partner), slug: article(slug).slug });
                return ok;
            }),
        },
        Fees: {
            of: reads("What was agreed for an article.", { slug: "string" }, ({ slug }) =>
                one(all.fees, (item) => item.slug === slug, `fee of ${String(slug)}`),
            ),
            pay: writes("Pays the author of an article.", { slug: "string", amount: "number" }, ({ slug, amount }) => {
                all.paid.push({ slug: article(slug).slug, amount: num(amount) });
                return ok;
            }),
        },
        Front: {
            free: reads("Places of the front page that are free.", {}, () => all.slots),
            place: writes(
                "Puts an article on the front page; what is breaking is pushed to telephones.",
                { slug: "string", slot: "string", breaking: "boolean" },
                ({ slug, slot, breaking }) => {
                    one(all.slots, (item) => item.slot === slot, `place ${String(slot)}`);
                    all.front.push({ slug: article(slug).slug, slot: str(slot), breaking: breaking === true });
                    return ok;
                },
            ),
        },
        Wire: {
            read: reads("What agencies write about a topic.", { topic: "string" }, ({ topic }) => ({
                topic: str(topic),
                text: found(all.wire[str(topic)], `text about ${String(topic)}`),
            })),
        },
        Mail: {
            send: writes("Sends a mail.", { to: "string", text: "string" }, ({ to, text }) => {
                all.sent.push({ to: str(to), text: str(text) });
                return ok;
            }),
        },
    });
}
