/** What the landlord's clerk asks for. */
import { has, type Json, type Seen, type Task } from "../../kit.ts";
import type { Letting } from "./state.ts";

const PETS = "Cats are allowed; please ask us before you bring a dog.";
const WATER = "The water is off on Friday from 9 to 11.";
const UNTIL = "2026-10-09T17:00";
const COLD = "The radiator in the kitchen stays cold.";

const owing = (seen: Seen, at: number): { tenant: string; owed: number } => {
    const list = (seen.last("Rents.late") ?? []) as Json as { tenant: string; owed: number }[];
    return list[at] ?? { tenant: "", owed: 0 };
};
const repair = (state: Letting, id: string): Letting["repairs"][number] | undefined => state.repairs.find((one) => one.id === id);

export const tasks: readonly Task<Letting>[] = [
    {
        id: "letting/send-x3",
        style: "program",
        program: "firm.remit",
        request: "Send the firm that fits for repair x3, and tell me what the tenant says.",
        steps: [
            [
                ["Repairs.read", { id: "x3" }],
                ["Firms.list", {}],
            ],
            [["Repairs.send", { id: "x3", firm: "w2", urgent: false }]],
        ],
        answer: "Sent Warmhaus; the radiator stays cold.",
        facts: { id: "x3", answer: COLD },
        useful: ({ state }) => repair(state, "x3")?.firm === "w2",
    },
    {
        id: "letting/remind-late",
        style: "program",
        program: "remind.remit",
        request: "Send each tenant who owes rent a first reminder.",
        steps: [
            [["Rents.late", {}]],
            [
                ["Rents.remind", (seen) => ({ tenant: owing(seen, 0).tenant, amount: owing(seen, 0).owed, level: "first" })],
                ["Rents.remind", (seen) => ({ tenant: owing(seen, 1).tenant, amount: owing(seen, 1).owed, level: "first" })],
            ],
        ],
        answer: "Reminded 2.",
        facts: { level: "first" },
        useful: ({ state }) => ["t2", "t3"].every((id) => state.reminders.some((one) => one.tenant === id && one.level === "first")),
    },
    {
        id: "letting/decline-f7",
        style: "program",
        program: "decline.remit",
        request: "f7 is let: decline all who asked to see it.",
        steps: [[["Viewings.list", { flat: "f7" }]], [["Viewings.decline", { ids: ["g1", "g2"] }]]],
        answer: "Declined 2.",
        facts: { flat: "f7" },
        useful: ({ state }) => state.viewings.every((one) => one.state === "declined"),
    },
    {
        id: "letting/pets",
        style: "program",
        program: "rule.remit",
        request: "Peer Lund asks what the house says about pets. Write him.",
        steps: [
            [
                ["House.rule", { topic: "pets" }],
                ["Tenants.find", { name: "Peer Lund" }],
            ],
            [["Letters.send", (seen) => ({ to: (seen.last("Tenants.find") as { email?: string } | null)?.email ?? "", text: PETS })]],
        ],
        answer: "Wrote to Peer Lund.",
        facts: { tenant: "Peer Lund", topic: "pets", text: PETS },
        useful: ({ state }) => state.letters.some((one) => one.to === "peer@lund.example" && has(one.text, "cats")),
    },
    {
        id: "letting/open-f12",
        style: "agent",
        program: "assistant.remit",
        request: "What did f12 report?",
        steps: [[["Repairs.list", { flat: "f12" }]]],
        answer: "x1, the tap drips, and x2, which is about heat and is warm again.",
        useful: ({ answer }) => has(answer, "x1", "x2", "tap"),
    },
    {
        id: "letting/water-ida",
        style: "agent",
        program: "assistant.remit",
        request: `Write to Ida Voss: ${WATER}`,
        steps: [
            [["Tenants.find", { name: "Ida Voss" }]],
            [["Letters.send", (seen) => ({ to: (seen.last("Tenants.find") as { email?: string } | null)?.email ?? "", text: WATER })]],
        ],
        answer: "Wrote to Ida Voss.",
        useful: ({ state }) => state.letters.some((one) => one.to === "ida@voss.example" && has(one.text, "Friday")),
    },
    {
        id: "letting/close-x2",
        style: "agent",
        program: "assistant.remit",
        request: "Close x2 if the tenant writes that it works again.",
        steps: [[["Repairs.read", { id: "x2" }]], [["Repairs.close", { id: "x2" }]]],
        answer: "Closed x2.",
        useful: ({ state }) => repair(state, "x2")?.state === "closed",
    },
    {
        id: "letting/key-f7",
        style: "agent",
        program: "assistant.remit",
        request: `See what is noted of t3, and lend Rohrbruch the key of f7 until ${UNTIL}.`,
        steps: [
            [
                ["Notes.of", { tenant: "t3" }],
                ["Firms.list", {}],
            ],
            [["Keys.lend", { flat: "f7", firm: "w1", until: UNTIL }]],
        ],
        answer: "Lent; t3 prefers letters in the evening.",
        useful: ({ state, answer }) => state.keys.some((one) => one.flat === "f7" && one.firm === "w1") && has(answer, "evening"),
    },
];
