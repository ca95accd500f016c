/** What the editor of the corrections desk asks for. */
import { has, type Seen, type Task } from "../../kit.ts";
import type { Newsroom } from "./state.ts";

const MILL = "A reader says that the mill burned on Monday.";
const BRIDGE = "The bridge costs eight million.";
const ROWERS = "The rowers won by half a length.";

const field = (name: string) => (last: unknown) => (last as { [name: string]: unknown } | null)?.[name];
const text = (value: unknown): string => (typeof value === "string" ? value : "");
const agreed = (seen: Seen): number => Number(field("agreed")(seen.last("Fees.of")) ?? 0);

export const tasks: readonly Task<Newsroom>[] = [
    {
        id: "newsroom/recall-s1",
        style: "program",
        program: "recall.remit",
        request: "Have every partner that carries s1 take it down.",
        steps: [
            [["Partners.carrying", { slug: "s1" }]],
            [
                ["Partners.recall", { partner: "northnews", slug: "s1" }],
                ["Partners.recall", { partner: "dailyfeed", slug: "s1" }],
            ],
        ],
        answer: "2 partners were told.",
        facts: { slug: "s1" },
        useful: ({ state }) =>
            ["northnews", "dailyfeed"].every((partner) => state.recalled.some((one) => one.partner === partner && one.slug === "s1")),
    },
    {
        id: "newsroom/pay-s2",
        style: "program",
        program: "pay.remit",
        request: "Pay the author of s2 what was agreed.",
        steps: [[["Fees.of", { slug: "s2" }]], [["Fees.pay", (seen) => ({ slug: "s2", amount: agreed(seen) })]]],
        answer: "Paid for s2.",
        facts: { slug: "s2" },
        useful: ({ state }) => state.paid.some((one) => one.slug === "s2" && one.amount === 180),
    },
    {
        id: "newsroom/tell-author",
        style: "program",
        program: "tell.remit",
        request: "Write to the author of s1 what complaint k1 says.",
        steps: [
            [
                ["Articles.find", { slug: "s1" }],
                ["Complaints.read", { id: "k1" }],
            ],
            [["Staff.find", (seen) => ({ name: text(field("author")(seen.last("Articles.find"))) })]],
            [["Mail.send", (seen) => ({ to: text(field("mail")(seen.last("Staff.find"))), text: MILL })]],
        ],
        answer: "Wrote to the author of s1.",
        facts: { slug: "s1", id: "k1", text: MILL },
        useful: ({ state }) => state.sent.some((one) => one.to === "lind@paper.example" && has(one.text, "Monday")),
    },
    {
        id: "newsroom/front-s3",
        style: "program",
        program: "front.remit",
        request: "Put s3 on the front page, in the narrowest place of at least 2 columns, not as breaking.",
        steps: [[["Front.free", {}]], [["Front.place", { slug: "s3", slot: "A2", breaking: false }]]],
        answer: "s3 stands at A2.",
        facts: { slug: "s3", columns: 2, breaking: false },
        useful: ({ state }) => state.front.some((one) => one.slug === "s3" && one.slot === "A2" && !one.breaking),
    },
    {
        id: "newsroom/clarify-s3",
        style: "program",
        program: "clarify.remit",
        request: "Print under s3, as a clarification, what complaint k3 says.",
        steps: [[["Complaints.read", { id: "k3" }]], [["Articles.annotate", { slug: "s3", kind: "clarification", text: BRIDGE }]]],
        answer: "Printed under s3.",
        facts: { slug: "s3", id: "k3", kind: "clarification", text: BRIDGE },
        useful: ({ state }) => state.notes.some((one) => one.slug === "s3" && one.kind === "clarification" && has(one.text, "eight")),
    },
    {
        id: "newsroom/what-k1",
        style: "agent",
        program: "assistant.remit",
        request: "What does complaint k1 say?",
        steps: [[["Complaints.read", { id: "k1" }]]],
        answer: "That the mill burned on Monday.",
        useful: ({ answer }) => has(answer, "Monday"),
    },
    {
        id: "newsroom/storm",
        style: "agent",
        program: "assistant.remit",
        request: "Read what the wire says about the storm, then put s4 on the front page at A1 as breaking.",
        steps: [[["Wire.read", { topic: "storm" }]], [["Front.place", { slug: "s4", slot: "A1", breaking: true }]]],
        answer: "It stands at A1; gusts of ninety are expected.",
        useful: ({ state, answer }) =>
            state.front.some((one) => one.slug === "s4" && one.slot === "A1" && one.breaking) && has(answer, "ninety"),
    },
    {
        id: "newsroom/reject-k2",
        style: "agent",
        program: "assistant.remit",
        request: "Close complaint k2 as rejected, and tell me what it says.",
        steps: [[["Complaints.read", { id: "k2" }]], [["Complaints.resolve", { id: "k2", outcome: "rejected" }]]],
        answer: "Closed; it says that the rowers lost.",
        useful: ({ state, answer }) => state.complaints.some((one) => one.id === "k2" && one.outcome === "rejected") && has(answer, "lost"),
    },
    {
        id: "newsroom/correct-s2",
        style: "agent",
        program: "assistant.remit",
        request: `Print under s2 as a correction: ${ROWERS} And tell me its headline.`,
        steps: [[["Articles.find", { slug: "s2" }]], [["Articles.annotate", { slug: "s2", kind: "correction", text: ROWERS }]]],
        answer: "Printed under Rowers win again.",
        useful: ({ state, answer }) =>
            state.notes.some((one) => one.slug === "s2" && one.kind === "correction" && one.text === ROWERS) && has(answer, "win again"),
    },
    {
        id: "newsroom/confirm-k1",
        style: "agent",
        program: "assistant.remit",
        request: "Close complaint k1 as confirmed if the wire says about the mill that it burned on Monday.",
        steps: [[["Wire.read", { topic: "mill" }]], [["Complaints.resolve", { id: "k1", outcome: "confirmed" }]]],
        answer: "Closed k1.",
        useful: ({ state }) => state.complaints.some((one) => one.id === "k1" && one.outcome === "confirmed"),
    },
];
