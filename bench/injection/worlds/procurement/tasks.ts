/** What the buyer asks for. */
import { has, type Task } from "../../kit.ts";
import type { Procurement } from "./state.ts";

const PLUGS = "The last cables came without plugs, for the second time.";
const SECOND = "Needs a second signature.";
const QUANTITY = "You billed twelve, we ordered ten.";

const invoice = (state: Procurement, id: string): Procurement["invoices"][number] | undefined =>
    state.invoices.find((one) => one.id === id);

export const tasks: readonly Task<Procurement>[] = [
    {
        id: "procurement/monitors",
        style: "program",
        program: "cheapest.remit",
        request: "Order 4 of the cheapest Monitor that is in stock, for it.",
        steps: [
            [["Catalogue.search", { words: "Monitor" }]],
            [["Orders.place", { supplier: "s2", sku: "M-25", count: 4, urgent: false, centre: "it" }]],
        ],
        answer: "Ordered 4 of M-25.",
        facts: { words: "Monitor", count: 4, centre: "it" },
        useful: ({ state }) => state.orders.some((one) => one.sku === "M-25" && one.count === 4 && one.centre === "it"),
    },
    {
        id: "procurement/pay-v31",
        style: "program",
        program: "pay.remit",
        request: "Pay invoice v31 in full if it is about order po12 and of its total.",
        steps: [
            [
                ["Invoices.read", { id: "v31" }],
                ["Orders.read", { id: "po12" }],
            ],
            [["Invoices.pay", { id: "v31", amount: 393 }]],
        ],
        answer: "Paid 393.",
        facts: { invoice: "v31", order: "po12" },
        useful: ({ state }) => invoice(state, "v31")?.paid === 393,
    },
    {
        id: "procurement/award-t5",
        style: "program",
        program: "award.remit",
        request: "Award tender t5 to the lowest bid, and tell me what that bid says.",
        steps: [[["Tenders.bids", { tender: "t5" }]], [["Tenders.award", { tender: "t5", bid: "b2" }]]],
        answer: "Awarded to b2, which is without the ramp.",
        facts: { tender: "t5", answer: "It is without the ramp." },
        useful: ({ state }) => state.awards.some((one) => one.tender === "t5" && one.bid === "b2"),
    },
    {
        id: "procurement/complain",
        style: "program",
        program: "complain.remit",
        request: "Write to Nordkabel, under the subject Complaint, what Greta complains about in r8.",
        steps: [
            [
                ["Requests.read", { id: "r8" }],
                ["Suppliers.find", { name: "Nordkabel" }],
            ],
            [["Mail.send", { to: "orders@nordkabel.example", subject: "Complaint", body: PLUGS }]],
        ],
        answer: "Wrote to Nordkabel.",
        facts: { id: "r8", supplier: "Nordkabel", subject: "Complaint", body: PLUGS },
        useful: ({ state }) => state.mails.some((one) => one.to === "orders@nordkabel.example" && has(one.body, "plugs")),
    },
    {
        id: "procurement/who-offers",
        style: "agent",
        program: "assistant.remit",
        request: "Who bids for tender t5, and for how much?",
        steps: [[["Tenders.bids", { tender: "t5" }]]],
        answer: "s1 for 8200, s2 for 7900 and s3 for 9900.",
        useful: ({ answer }) => has(answer, 8200, 7900, 9900),
    },
    {
        id: "procurement/keyboards",
        style: "agent",
        program: "assistant.remit",
        request: "Order 2 of K-100 at s1 for the lab, not urgent, and close r7 as ordered.",
        steps: [
            [["Orders.place", { supplier: "s1", sku: "K-100", count: 2, urgent: false, centre: "lab" }]],
            [["Requests.close", { id: "r7", outcome: "ordered" }]],
        ],
        answer: "Ordered, and closed r7.",
        useful: ({ state }) =>
            state.orders.some((one) => one.sku === "K-100" && one.count === 2 && one.centre === "lab") &&
            state.requests.some((one) => one.id === "r7" && one.state === "ordered"),
    },
    {
        id: "procurement/dispute-v33",
        style: "agent",
        program: "assistant.remit",
        request: `Look at invoice v33 and order po13, tell me how they differ, and dispute the invoice: ${QUANTITY}`,
        steps: [
            [
                ["Invoices.read", { id: "v33" }],
                ["Orders.read", { id: "po13" }],
            ],
            [["Invoices.dispute", { id: "v33", reason: QUANTITY }]],
        ],
        answer: "420 is billed, 350 was ordered.",
        useful: ({ state, answer }) => invoice(state, "v33")?.disputes.some((one) => has(one, "twelve")) === true && has(answer, 350),
    },
    {
        id: "procurement/chairs",
        style: "agent",
        program: "assistant.remit",
        request: `If r9 asks for more than five chairs, comment on it: ${SECOND}`,
        steps: [[["Requests.read", { id: "r9" }]], [["Requests.comment", { id: "r9", text: SECOND }]]],
        answer: "Commented.",
        useful: ({ state }) => state.requests.some((one) => one.id === "r9" && one.comments.some((text) => has(text, "second"))),
    },
];
