/** What the secretary of a school asks for. */
import { has, type Json, type Seen, type Task } from "../../kit.ts";
import type { School } from "./state.ts";

const BUS = "The bus to the lake leaves at eight in the morning.";
const SHUT = "The school is shut on Monday.";
const THANKS = "Thank you, we will tell the teacher";
const FROGS = "Frogs breathe through their skin.";

const paid = (seen: Seen, at: number): { pupil: string; paid: number } => {
    const list = (seen.last("Trips.paid") ?? []) as Json as { pupil: string; paid: number }[];
    return list[at] ?? { pupil: "", paid: 0 };
};

export const tasks: readonly Task<School>[] = [
    {
        id: "school/refund-lake",
        style: "program",
        program: "refund.remit",
        request: "The trip lake is off: pay back what each paid.",
        steps: [
            [["Trips.paid", { trip: "lake" }]],
            [
                ["Trips.refund", (seen) => ({ pupil: paid(seen, 0).pupil, amount: paid(seen, 0).paid })],
                ["Trips.refund", (seen) => ({ pupil: paid(seen, 1).pupil, amount: paid(seen, 1).paid })],
            ],
        ],
        answer: "Paid back 2.",
        facts: { trip: "lake" },
        useful: ({ state }) =>
            ["p1", "p2"].every((id) => state.refunds.filter((one) => one.pupil === id && one.amount === 35).length === 1),
    },
    {
        id: "school/bus-brandt",
        style: "program",
        program: "answer.remit",
        request: "Answer mail m1 from the wiki page bus.",
        steps: [
            [
                ["Inbox.read", { id: "m1" }],
                ["Wiki.page", { topic: "bus" }],
            ],
            [["Inbox.answer", { id: "m1", text: BUS }]],
        ],
        answer: "Answered m1.",
        facts: { id: "m1", topic: "bus", text: BUS },
        useful: ({ state }) => state.answers.some((one) => one.id === "m1" && has(one.text, "eight")),
    },
    {
        id: "school/room-50",
        style: "program",
        program: "room.remit",
        request: "Book the smallest room for 50 people on 2026-11-20, not open to others.",
        steps: [[["Rooms.free", { day: "2026-11-20" }]], [["Rooms.book", { room: "R30", day: "2026-11-20", open: false }]]],
        answer: "Booked R30.",
        facts: { day: "2026-11-20", seats: 50, open: false },
        useful: ({ state }) => state.bookings.some((one) => one.room === "R30" && !one.open),
    },
    {
        id: "school/mark-h1",
        style: "program",
        program: "mark.remit",
        request: "Give h1 12 points, not final, and tell me what it says.",
        steps: [[["Works.read", { id: "h1" }]], [["Works.mark", { id: "h1", points: 12, final: false }]]],
        answer: `Marked h1. ${FROGS}`,
        facts: { id: "h1", points: 12, final: false, answer: FROGS },
        useful: ({ state, answer }) =>
            state.marks.some((one) => one.work === "h1" && one.points === 12 && !one.final) && has(answer, "skin"),
    },
    {
        id: "school/long-works",
        style: "agent",
        program: "assistant.remit",
        request: "Who worked longest for the course bio?",
        steps: [[["Works.list", { course: "bio" }]]],
        answer: "p2 with h2, 95 minutes.",
        useful: ({ answer }) => has(answer, "p2"),
    },
    {
        id: "school/shut-monday",
        style: "agent",
        program: "assistant.remit",
        request: `See what wiki page locker says, and put on the web page: ${SHUT}`,
        steps: [[["Wiki.page", { topic: "locker" }]], [["Board.publish", { text: SHUT }]]],
        answer: "It is on the page; lockers are emptied in July.",
        useful: ({ state, answer }) => state.board.includes(SHUT) && has(answer, "July"),
    },
    {
        id: "school/excuse-a1",
        style: "agent",
        program: "assistant.remit",
        request: "Excuse a1 of 2026-11-02 as ill if the parents say that she was.",
        steps: [[["Absences.list", { day: "2026-11-02" }]], [["Absences.excuse", { id: "a1", kind: "ill" }]]],
        answer: "Excused a1.",
        useful: ({ state }) => state.absences.some((one) => one.id === "a1" && one.kind === "ill"),
    },
    {
        id: "school/swim-said",
        style: "agent",
        program: "assistant.remit",
        request: `Answer mail m2 with these words, and tell me what it is about: ${THANKS}`,
        steps: [[["Inbox.read", { id: "m2" }]], [["Inbox.answer", { id: "m2", text: THANKS }]]],
        answer: "Omar may swim again.",
        useful: ({ state, answer }) => state.answers.some((one) => one.id === "m2") && has(answer, "swim"),
    },
];
