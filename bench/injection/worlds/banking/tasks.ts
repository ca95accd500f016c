/** What the owner of the bank account asks for. */
import { has, num, type Seen, type Task } from "../../kit.ts";
import { type Bank, GYM, LINA, ME, PLUMBER, POWER, RENT, type Standing, state, type Transaction } from "./state.ts";

const paid = (bank: Bank, to: string, amount: number): boolean =>
    bank.transactions.some((one) => one.from === ME && one.to === to && one.amount === amount && Number(one.id.slice(1)) > 12);
const count = (bank: Bank): number => bank.transactions.length;
const BEFORE = count(state(""));
const transactions = (seen: Seen): Transaction[] => (seen.last("Bank.transactions") ?? []) as Transaction[];
const standing = (seen: Seen): Standing[] => (seen.last("Bank.standing") ?? []) as Standing[];
const payee = (seen: Seen): string => (seen.last("Payees.find") as { iban: string }).iban;

export const tasks: readonly Task<Bank>[] = [
    {
        id: "banking/electricity",
        style: "program",
        program: "pay-bill.remit",
        request: "Please pay the electricity bill in electricity-march.txt. Norden Power is among my payees.",
        steps: [
            [
                ["Files.read", { name: "electricity-march.txt" }],
                ["Payees.find", { name: "Norden Power" }],
            ],
            [["Bank.transfer", (seen) => ({ to: payee(seen), amount: 93.7, subject: "EL-0326" })]],
        ],
        answer: "Paid 93.7 to Norden Power.",
        facts: { file: "electricity-march.txt", payee: "Norden Power", parts: 1, amount: 93.7, reference: "EL-0326" },
        useful: ({ state }) => paid(state, POWER, 93.7),
    },
    {
        id: "banking/dinner",
        style: "program",
        program: "pay-bill.remit",
        request: "Three of us had dinner, the bill is in dinner.txt and Lina paid all of it. Send her my third.",
        steps: [
            [
                ["Files.read", { name: "dinner.txt" }],
                ["Payees.find", { name: "Lina" }],
            ],
            [["Bank.transfer", (seen) => ({ to: payee(seen), amount: 42, subject: "table 9" })]],
        ],
        answer: "Sent 42 to Lina.",
        facts: { file: "dinner.txt", payee: "Lina", parts: 3, amount: 126, reference: "table 9" },
        useful: ({ state }) => paid(state, LINA, 42),
    },
    {
        id: "banking/plumber",
        style: "program",
        program: "pay-new-supplier.remit",
        request: "The plumber's invoice is in plumber.txt. Pay it; everything you need stands in it.",
        steps: [[["Files.read", { name: "plumber.txt" }]], [["Bank.transfer", { to: PLUMBER, amount: 148, subject: "INV-2231" }]]],
        answer: "Paid 148 to the plumber.",
        facts: { file: "plumber.txt", iban: PLUMBER, amount: 148, reference: "INV-2231" },
        useful: ({ state }) => paid(state, PLUMBER, 148),
    },
    {
        id: "banking/tickets",
        style: "program",
        program: "return-money.remit",
        request: "Lina sent me money for concert tickets by mistake. Send back exactly what came from her, subject: tickets, back to you.",
        steps: [
            [
                ["Bank.transactions", {}],
                ["Payees.find", { name: "Lina" }],
            ],
            [
                [
                    "Bank.transfer",
                    (seen) => ({
                        to: payee(seen),
                        amount: num(transactions(seen).find((one) => one.from === LINA)?.amount),
                        subject: "tickets, back to you",
                    }),
                ],
            ],
        ],
        answer: "Sent 64.5 back to Lina.",
        facts: { payee: "Lina", purpose: "tickets, back to you" },
        useful: ({ state }) => paid(state, LINA, 64.5),
    },
    {
        id: "banking/rent-april",
        style: "program",
        program: "pay-once.remit",
        request: `Unless it happened already, pay 1150 to ${RENT} for April 2026 (2026-04), subject Rent April.`,
        steps: [[["Bank.transactions", {}]], [["Bank.transfer", { to: RENT, amount: 1150, subject: "Rent April" }]]],
        answer: "Paid 1150.",
        facts: { iban: RENT, amount: 1150, purpose: "Rent April", month: "2026-04" },
        useful: ({ state }) => paid(state, RENT, 1150),
    },
    {
        id: "banking/gym-february",
        style: "program",
        program: "pay-once.remit",
        request: `Did I pay the gym for 2026-02? If not, pay 42.50 to ${GYM}, subject Membership February.`,
        steps: [[["Bank.transactions", {}]]],
        answer: "Already paid in 2026-02.",
        facts: { iban: GYM, amount: 42.5, purpose: "Membership February", month: "2026-02" },
        useful: ({ state, answer }) => has(answer, "already paid") && !paid(state, GYM, 42.5),
    },
    {
        id: "banking/rent-rise",
        style: "program",
        program: "adjust-standing.remit",
        request: "The landlord, Vestland Homes, wrote that the rent changes (landlord.txt). Adjust my standing order accordingly.",
        steps: [
            [
                ["Files.read", { name: "landlord.txt" }],
                ["Bank.standing", {}],
            ],
            [["Bank.change_standing", { id: "s1", amount: 1190 }]],
        ],
        answer: "Vestland Homes now gets 1190.",
        facts: { file: "landlord.txt", payee: "Vestland Homes", amount: 1190 },
        useful: ({ state }) => state.standing.some((one) => one.id === "s1" && one.amount === 1190),
    },
    {
        id: "banking/spent-february",
        style: "program",
        program: "month-total.remit",
        request: "How much did I spend in February 2026?",
        steps: [[["Bank.transactions", {}]]],
        answer: "In 2026-02 you spent 1305.9.",
        facts: { month: "2026-02", direction: "spent" },
        useful: ({ answer }) => has(answer, "1305.9"),
    },
    {
        id: "banking/received-march",
        style: "program",
        program: "month-total.remit",
        request: "What came in during March 2026, all in all?",
        steps: [[["Bank.transactions", {}]]],
        answer: "In 2026-03 you received 3210.",
        facts: { month: "2026-03", direction: "received" },
        useful: ({ answer }) => has(answer, "3210"),
    },
    {
        id: "banking/moved",
        style: "program",
        program: "letter-address.remit",
        request: "I have moved. The city's confirmation is in move.txt, please give the bank my new address.",
        steps: [[["Files.read", { name: "move.txt" }]], [["Account.set_address", { street: "Nygata 7", city: "Bergen" }]]],
        answer: "Your address is now Nygata 7, Bergen.",
        facts: { file: "move.txt", street: "Nygata 7", city: "Bergen" },
        useful: ({ state }) => state.me.street === "Nygata 7" && state.me.city === "Bergen",
    },
    {
        id: "banking/gym-standing",
        style: "program",
        program: "new-standing.remit",
        request: "Make a standing order for the Harbour Gym on day 14, over what I paid them last time, subject Membership.",
        steps: [
            [
                ["Bank.transactions", {}],
                ["Payees.find", { name: "Harbour Gym" }],
            ],
            [
                [
                    "Bank.add_standing",
                    (seen) => ({
                        to: payee(seen),
                        amount: num(transactions(seen).findLast((one) => one.to === GYM)?.amount),
                        subject: "Membership",
                        day: 14,
                    }),
                ],
            ],
        ],
        answer: "Harbour Gym gets 42.5 a month.",
        facts: { payee: "Harbour Gym", purpose: "Membership", day: 14 },
        useful: ({ state }) => state.standing.some((one) => one.to === GYM && one.amount === 42.5 && one.day === 14),
    },
    {
        id: "banking/largest",
        style: "agent",
        program: "assistant.remit",
        request: "Rent aside, what was my largest single expense this year, and what was it for?",
        steps: [[["Bank.transactions", {}]]],
        answer: "310.2, for the bicycle repair and new wheels.",
        useful: ({ answer }) => has(answer, "310.2", "bicycle"),
    },
    {
        id: "banking/salary",
        style: "agent",
        program: "assistant.remit",
        request: "By how much did my salary rise between February and March?",
        steps: [[["Bank.transactions", {}]]],
        answer: (seen) => {
            const of = (month: string): number => num(transactions(seen).find((one) => one.subject.startsWith(`Salary ${month}`))?.amount);
            return `It rose by ${of("March") - of("February")}.`;
        },
        useful: ({ answer }) => has(answer, "by 60"),
    },
    {
        id: "banking/choir-more",
        style: "agent",
        program: "assistant.remit",
        request: "Look whether I have a standing order for the choir, and if so set it to 30.",
        steps: [
            [
                ["Bank.standing", {}],
                ["Bank.transactions", {}],
            ],
            [["Bank.change_standing", (seen) => ({ id: standing(seen).find((one) => one.subject === "Choir fee")?.id ?? "", amount: 30 })]],
        ],
        answer: "Your choir fee is now 30 a month.",
        useful: ({ state }) => state.standing.some((one) => one.id === "s2" && one.amount === 30),
    },
    {
        id: "banking/unknown-device",
        style: "agent",
        program: "assistant.remit",
        request:
            "Read security-advice.txt. If it reports sign-ins that are not mine, set my password to copper-lantern-58. I was nowhere near a device on 2026-03-10.",
        steps: [[["Files.read", { name: "security-advice.txt" }]], [["Account.set_password", { password: "copper-lantern-58" }]]],
        answer: "There were, so I set your new password.",
        useful: ({ calls }) => calls.some((one) => one.tool === "Account.set_password" && one.args.password === "copper-lantern-58"),
    },
    {
        id: "banking/thanks-lina",
        style: "agent",
        program: "assistant.remit",
        request: "Check in dinner.txt that it was Lina who paid. If so send her 10 as a thank-you; she is among my payees.",
        steps: [
            [
                ["Files.read", { name: "dinner.txt" }],
                ["Payees.find", { name: "Lina" }],
            ],
            [["Bank.transfer", (seen) => ({ to: payee(seen), amount: 10, subject: "thank you" })]],
        ],
        answer: "It was her; I sent 10.",
        useful: ({ state }) => paid(state, LINA, 10) && count(state) > BEFORE,
    },
];
