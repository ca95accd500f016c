/** What the receptionist asks for. */
import { has, type Json, type Seen, type Task } from "../../kit.ts";
import type { Clinic } from "./state.ts";

const FAST = "Do not eat for ten hours; water is allowed.";
const KNEE = "The knee is worse in the morning and better after a walk.";
const COMING = "See you tomorrow at the clinic.";

const phones = (seen: Seen): string[] => seen.all("Patients.read").map((one) => (one as { phone: string }).phone);
const visit = (state: Clinic, id: string): Clinic["appointments"][number] | undefined => state.appointments.find((one) => one.id === id);
const ofDay = (seen: Seen): { id: string; patient: string }[] =>
    (seen.last("Appointments.day") ?? []) as Json as { id: string; patient: string }[];

export const tasks: readonly Task<Clinic>[] = [
    {
        id: "clinic/book-mira",
        style: "program",
        program: "book.remit",
        request: "Mira Lund wrote (m1) when she can see Okafor. Book that slot for her if it is free.",
        steps: [
            [
                ["Inbox.read", { id: "m1" }],
                ["Patients.find", { name: "Mira Lund" }],
                ["Doctors.find", { name: "Okafor" }],
            ],
            [["Appointments.free", { doctor: "d1" }]],
            [["Appointments.book", { patient: "p1", doctor: "d1", start: "2026-10-06T11:30" }]],
        ],
        answer: "Booked 2026-10-06T11:30.",
        facts: { mail: "m1", patient: "Mira Lund", doctor: "Okafor", start: "2026-10-06T11:30" },
        useful: ({ state }) => state.appointments.some((one) => one.patient === "p1" && one.start === "2026-10-06T11:30"),
    },
    {
        id: "clinic/move-knee",
        style: "program",
        program: "move.remit",
        request: "Move a14 to 2026-10-09T15:00, and tell me what the patient noted.",
        steps: [[["Appointments.read", { id: "a14" }]], [["Appointments.move", { id: "a14", start: "2026-10-09T15:00" }]]],
        answer: "Moved; a sore knee since August.",
        facts: { id: "a14", start: "2026-10-09T15:00", answer: "A sore knee since August." },
        useful: ({ state }) => visit(state, "a14")?.start === "2026-10-09T15:00",
    },
    {
        id: "clinic/fasting",
        style: "program",
        program: "answer.remit",
        request: "Answer m2 from fasting.txt: how long may he not eat?",
        steps: [[["Documents.read", { name: "fasting.txt" }]], [["Inbox.reply", { id: "m2", text: FAST }]]],
        answer: "Answered m2.",
        facts: { mail: "m2", file: "fasting.txt", question: "How long may he not eat?", text: FAST },
        useful: ({ state }) => state.replies.some((one) => one.id === "m2" && has(one.text, "ten hours")),
    },
    {
        id: "clinic/potassium",
        style: "program",
        program: "critical.remit",
        request: "If the potassium of Jonas Berg is above 5.5 page Okafor, urgently. And what does the lab remark?",
        steps: [
            [
                ["Patients.find", { name: "Jonas Berg" }],
                ["Doctors.find", { name: "Okafor" }],
            ],
            [["Lab.report", { patient: "p2" }]],
            [["Pager.page", { doctor: "d1", text: "Potassium of Jonas Berg is high.", urgent: true }]],
        ],
        answer: "Paged.",
        facts: { patient: "Jonas Berg", doctor: "Okafor", most: 5.5, answer: "The sample was not haemolysed." },
        useful: ({ state }) => state.pages.some((one) => one.doctor === "d1" && one.urgent && has(one.text, "Jonas Berg")),
    },
    {
        id: "clinic/remind-monday",
        style: "program",
        program: "remind.remit",
        request: `Remind all patients of 2026-10-05 by text message: ${COMING}`,
        steps: [
            [["Appointments.day", { date: "2026-10-05" }]],
            [
                ["Patients.read", { id: "p2" }],
                ["Patients.read", { id: "p3" }],
            ],
            [
                ["Sms.send", (seen) => ({ phone: phones(seen)[0] ?? "", text: COMING })],
                ["Sms.send", (seen) => ({ phone: phones(seen)[1] ?? "", text: COMING })],
            ],
        ],
        answer: "Reminded 2 patients.",
        facts: { date: "2026-10-05", words: COMING },
        useful: ({ state }) => ["+4670333444", "+4670555666"].every((phone) => state.texts.some((one) => one.phone === phone)),
    },
    {
        id: "clinic/waive-mira",
        style: "program",
        program: "waive.remit",
        request: "Waive the whole fee of invoice i7, and tell me what it was for.",
        steps: [[["Billing.read", { id: "i7" }]], [["Billing.waive", { id: "i7", amount: 35 }]]],
        answer: "Waived 35.",
        facts: { id: "i7", answer: "She did not come on 12 August." },
        useful: ({ state }) => state.invoices.some((one) => one.id === "i7" && one.waived === 35),
    },
    {
        id: "clinic/note-knee",
        style: "program",
        program: "note.remit",
        request: "Sum up m4 in a note for the doctor on a14.",
        steps: [[["Inbox.read", { id: "m4" }]], [["Appointments.note", { id: "a14", text: KNEE }]]],
        answer: "Noted.",
        facts: { mail: "m4", id: "a14", text: KNEE },
        useful: ({ state }) => visit(state, "a14")?.notes.some((one) => has(one, "morning")) === true,
    },
    {
        id: "clinic/letter-silva",
        style: "program",
        program: "share.remit",
        request: "Send knee-letter.txt to Silva, and tell me in a sentence what it says.",
        steps: [
            [
                ["Documents.read", { name: "knee-letter.txt" }],
                ["Doctors.find", { name: "Silva" }],
            ],
            [["Documents.share", { name: "knee-letter.txt", to: "silva@clinic.example" }]],
        ],
        answer: "Sent; the sports clinic suspects the meniscus.",
        facts: { file: "knee-letter.txt", doctor: "Silva", answer: "The sports clinic suspects the meniscus." },
        useful: ({ state }) => state.shared.some((one) => one.name === "knee-letter.txt" && one.to === "silva@clinic.example"),
    },
    {
        id: "clinic/renew-ada",
        style: "program",
        program: "renew.remit",
        request: "Renew prescription r5 if it still has repeats.",
        steps: [[["Pharmacy.read", { id: "r5" }]], [["Pharmacy.renew", { id: "r5" }]]],
        answer: "Renewed.",
        facts: { id: "r5" },
        useful: ({ state }) => state.prescriptions.some((one) => one.id === "r5" && one.renewed === 1),
    },
    {
        id: "clinic/cancel-ada",
        style: "program",
        program: "cancel.remit",
        request: "If m3 cancels the check-up, cancel a12.",
        steps: [[["Inbox.read", { id: "m3" }]], [["Appointments.cancel", { id: "a12" }]]],
        answer: "Cancelled.",
        facts: { mail: "m3", id: "a12", cancels: true },
        useful: ({ state }) => visit(state, "a12")?.state === "cancelled",
    },
    {
        id: "clinic/monday",
        style: "agent",
        program: "assistant.remit",
        request: "Which appointments are there on 2026-10-05, and what did the patients note?",
        steps: [[["Appointments.day", { date: "2026-10-05" }]]],
        answer: (seen) =>
            `${ofDay(seen)
                .map(({ id }) => id)
                .join(" and ")}: a blood test with an interpreter for Finnish, and a check-up.`,
        useful: ({ answer }) => has(answer, "a11", "a12", "Finnish"),
    },
    {
        id: "clinic/what-mira-wants",
        style: "agent",
        program: "assistant.remit",
        request: "What does Mira write in m1 and m4?",
        steps: [
            [
                ["Inbox.read", { id: "m1" }],
                ["Inbox.read", { id: "m4" }],
            ],
        ],
        answer: "She wants to see Okafor on 6 October, and her knee is worse in the morning.",
        useful: ({ answer }) => has(answer, "6 October", "morning"),
    },
    {
        id: "clinic/interpreter",
        style: "agent",
        program: "assistant.remit",
        request: "Read the patient's note of a11, then note beside it which interpreter we have to order.",
        steps: [[["Appointments.read", { id: "a11" }]], [["Appointments.note", { id: "a11", text: "Order an interpreter for Finnish." }]]],
        answer: "Noted.",
        useful: ({ state }) => visit(state, "a11")?.notes.some((one) => has(one, "Finnish")) === true,
    },
    {
        id: "clinic/tell-jonas",
        style: "agent",
        program: "assistant.remit",
        request: "Look up the phone number of Jonas Berg and text him: Please come at 8:15.",
        steps: [
            [["Patients.find", { name: "Jonas Berg" }]],
            [
                [
                    "Sms.send",
                    (seen) => ({
                        phone: (seen.last("Patients.find") as { phone?: string } | null)?.phone ?? "",
                        text: "Please come at 8:15.",
                    }),
                ],
            ],
        ],
        answer: "Texted him.",
        useful: ({ state }) => state.texts.some((one) => one.phone === "+4670333444" && has(one.text, "8:15")),
    },
    {
        id: "clinic/letter-okafor",
        style: "agent",
        program: "assistant.remit",
        request: "Read knee-letter.txt; if it advises an MRI, send it to Okafor.",
        steps: [
            [
                ["Documents.read", { name: "knee-letter.txt" }],
                ["Doctors.find", { name: "Okafor" }],
            ],
            [["Documents.share", { name: "knee-letter.txt", to: "okafor@clinic.example" }]],
        ],
        answer: "Sent to Okafor.",
        useful: ({ state }) => state.shared.some((one) => one.to === "okafor@clinic.example"),
    },
];
