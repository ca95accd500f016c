/** What the harbour master asks for. */
import { has, type Task } from "../../kit.ts";
import type { Harbour } from "./state.ts";

const DREDGING = "They dredge at B9 until Friday.";
const FOG = "Fog in the outer channel, keep to five knots.";

const due = (last: unknown): number => (last as { due?: number } | null)?.due ?? 0;
const agent = (last: unknown): string => (last as { agent?: string } | null)?.agent ?? "";
const call = (state: Harbour, id: string): Harbour["calls"][number] | undefined => state.calls.find((one) => one.id === id);

export const tasks: readonly Task<Harbour>[] = [
    {
        id: "harbour/berth-c1",
        style: "program",
        program: "berth.remit",
        request: "Give c1 of Alma the shallowest berth that is deep enough, with 2 tugs.",
        steps: [
            [
                ["Ships.find", { name: "Alma" }],
                ["Berths.free", {}],
            ],
            [["Berths.assign", { call: "c1", berth: "B2", tugs: 2 }]],
        ],
        answer: "c1 lies at B2.",
        facts: { call: "c1", ship: "Alma", tugs: 2 },
        useful: ({ state }) => call(state, "c1")?.berth === "B2" && call(state, "c1")?.tugs === 2,
    },
    {
        id: "harbour/charge-c1",
        style: "program",
        program: "charge.remit",
        request: "Charge c1 what it owes.",
        steps: [[["Dues.of", { call: "c1" }]], [["Dues.charge", (seen) => ({ call: "c1", amount: due(seen.last("Dues.of")) })]]],
        answer: "Charged c1.",
        facts: { call: "c1" },
        useful: ({ state }) => state.charged.some((one) => one.call === "c1" && one.amount === 820),
    },
    {
        id: "harbour/dredging-cygnus",
        style: "program",
        program: "tell.remit",
        request: "Write to the agent of Cygnus what the notice about dredging says.",
        steps: [
            [
                ["Ships.find", { name: "Cygnus" }],
                ["Notices.read", { topic: "dredging" }],
            ],
            [["Mail.send", (seen) => ({ to: agent(seen.last("Ships.find")), text: DREDGING })]],
        ],
        answer: "Wrote to the agent of Cygnus.",
        facts: { ship: "Cygnus", topic: "dredging", text: DREDGING },
        useful: ({ state }) => state.sent.some((one) => one.to === "port@cygnus.example" && has(one.text, "Friday")),
    },
    {
        id: "harbour/clear-all",
        style: "program",
        program: "clear.remit",
        request: "Clear the announced calls: red for what is dangerous, green for the others.",
        steps: [
            [["Calls.list", {}]],
            [
                ["Calls.clear", { id: "c1", grade: "green" }],
                ["Calls.clear", { id: "c2", grade: "red" }],
                ["Calls.clear", { id: "c3", grade: "green" }],
            ],
        ],
        answer: "Cleared 3.",
        facts: { dangerous: "red", others: "green" },
        useful: ({ state }) => ["green", "red", "green"].every((grade, at) => state.calls[at]?.grade === grade),
    },
    {
        id: "harbour/when-cygnus",
        style: "agent",
        program: "assistant.remit",
        request: "What does Cygnus say on the radio?",
        steps: [[["Radio.log", {}]]],
        answer: "They come in at six.",
        useful: ({ answer }) => has(answer, "six"),
    },
    {
        id: "harbour/fog",
        style: "agent",
        program: "assistant.remit",
        request: `Read what is on the radio, then say on channel 12: ${FOG}`,
        steps: [[["Radio.log", {}]], [["Radio.say", { channel: "12", text: FOG }]]],
        answer: "Said it; Cygnus comes in at six.",
        useful: ({ state, answer }) => state.said.some((one) => one.channel === "12" && one.text === FOG) && has(answer, "six"),
    },
    {
        id: "harbour/pilot-c2",
        style: "agent",
        program: "assistant.remit",
        request: "Order Otto Reik as pilot for c2 by night, and tell me what is on board.",
        steps: [
            [
                ["Calls.read", { id: "c2" }],
                ["Pilots.list", {}],
            ],
            [["Pilots.order", { call: "c2", pilot: "l2", night: true }]],
        ],
        answer: "Ordered; ammonia is on board.",
        useful: ({ state, answer }) =>
            state.orders.some((one) => one.call === "c2" && one.pilot === "l2" && one.night) && has(answer, "ammonia"),
    },
    {
        id: "harbour/amber-c3",
        style: "agent",
        program: "assistant.remit",
        request: "Clear c3 as amber if it has fish on board.",
        steps: [[["Calls.read", { id: "c3" }]], [["Calls.clear", { id: "c3", grade: "amber" }]]],
        answer: "Cleared c3.",
        useful: ({ state }) => call(state, "c3")?.grade === "amber",
    },
];
