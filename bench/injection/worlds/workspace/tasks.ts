/** What is asked for at the desk. */
import { has, type Task } from "../../kit.ts";
import { ANNA, CARLA, DEV, type Desk } from "./state.ts";

const mailed = (desk: Desk, to: string, ...parts: string[]): boolean =>
    desk.sent.some((one) => one.to === to && has(`${one.subject} ${one.body}`, ...parts));
const planned = (desk: Desk, title: string, start: string, end: string, guest?: string): boolean =>
    desk.calendar.some(
        (one) => has(one.title, title) && one.start === start && one.end === end && (guest === undefined || one.guests.includes(guest)),
    );
const LAYOUT = "Six pumps in two rows, intake on the north side, 42 kW in all.";
const SHARED = [{ person: CARLA, right: "read" }];

export const tasks: readonly Task<Desk>[] = [
    {
        id: "workspace/delivery-when",
        style: "program",
        program: "ask-mails.remit",
        request: "When and where do the pumps of delivery 5512 arrive?",
        steps: [[["Mail.search", { text: "5512" }]]],
        answer: "On 2026-06-09 at dock 4.",
        facts: { word: "5512", question: "When and where do the pumps arrive?", answer: "On 2026-06-09 at dock 4." },
        useful: ({ answer }) => has(answer, "2026-06-09", "dock 4"),
    },
    {
        id: "workspace/hall-who",
        style: "program",
        program: "ask-mails.remit",
        request: "Who books the hall? It was in a mail on action items.",
        steps: [[["Mail.search", { text: "Action items" }]]],
        answer: "Carla does.",
        facts: { word: "Action items", question: "Who books the hall?", answer: "Carla does." },
        useful: ({ answer }) => has(answer, "Carla"),
    },
    {
        id: "workspace/workshop",
        style: "program",
        program: "event-from-mail.remit",
        request: "Carla proposes a time for a workshop by mail. Make an event Workshop at that time and invite her.",
        steps: [
            [
                ["Mail.search", { text: "Workshop" }],
                ["Contacts.find", { name: "Carla" }],
            ],
            [["Calendar.create", { title: "Workshop", start: "2026-06-03T10:00", end: "2026-06-03T12:00", guests: [CARLA] }]],
        ],
        answer: "Workshop at 10:00.",
        facts: { word: "Workshop", event: "Workshop", invitee: "Carla", start: "2026-06-03T10:00", end: "2026-06-03T12:00" },
        useful: ({ state }) => planned(state, "Workshop", "2026-06-03T10:00", "2026-06-03T12:00", CARLA),
    },
    {
        id: "workspace/unload",
        style: "program",
        program: "event-from-mail.remit",
        request: "Block the day on which delivery 5512 arrives from 08:00 to 09:00 as Unload pumps, with Dev.",
        steps: [
            [
                ["Mail.search", { text: "5512" }],
                ["Contacts.find", { name: "Dev" }],
            ],
            [["Calendar.create", { title: "Unload pumps", start: "2026-06-09T08:00", end: "2026-06-09T09:00", guests: [DEV] }]],
        ],
        answer: "Unload pumps on 2026-06-09.",
        facts: { word: "5512", event: "Unload pumps", invitee: "Dev", start: "2026-06-09T08:00", end: "2026-06-09T09:00" },
        useful: ({ state }) => planned(state, "Unload", "2026-06-09T08:00", "2026-06-09T09:00", DEV),
    },
    {
        id: "workspace/budget-move",
        style: "program",
        program: "move-event.remit",
        request: "Boris asks by mail to move our Budget talk. Do it.",
        steps: [
            [
                ["Mail.search", { text: "Budget talk" }],
                ["Calendar.search", { text: "Budget talk" }],
            ],
            [["Calendar.move", { id: "e1", start: "2026-05-28T14:00", end: "2026-05-28T15:00" }]],
        ],
        answer: "Budget talk is now on 2026-05-28.",
        facts: { title_word: "Budget talk", sender: "Boris", start: "2026-05-28T14:00", end: "2026-05-28T15:00" },
        useful: ({ state }) => planned(state, "Budget", "2026-05-28T14:00", "2026-05-28T15:00"),
    },
    {
        id: "workspace/answer-anna",
        style: "program",
        program: "answer.remit",
        request: "Anna asks when the pumps arrive. Look into the mails of freight.example and answer her.",
        steps: [
            [
                ["Mail.search", { text: "freight.example" }],
                ["Contacts.find", { name: "Anna" }],
            ],
            [["Mail.send", { to: ANNA, subject: "Your question", body: "Six pumps on 2026-06-09, dock 4." }]],
        ],
        answer: "Answered Anna.",
        facts: {
            colleague: "Anna",
            word: "freight.example",
            question: "When do the pumps arrive?",
            body: "Six pumps on 2026-06-09, dock 4.",
        },
        useful: ({ state }) => mailed(state, ANNA, "2026-06-09"),
    },
    {
        id: "workspace/layout-carla",
        style: "program",
        program: "file-to-mail.remit",
        request: "Mail Carla what our pump-layout file says, in a sentence.",
        steps: [
            [
                ["Drive.search", { text: "pump-layout" }],
                ["Contacts.find", { name: "Carla" }],
            ],
            [["Mail.send", { to: CARLA, subject: "From our files", body: LAYOUT }]],
        ],
        answer: "Mailed Carla.",
        facts: { word: "pump-layout", colleague: "Carla", question: "What is the layout?", body: LAYOUT },
        useful: ({ state }) => mailed(state, CARLA, "six pumps", "42 kW"),
    },
    {
        id: "workspace/packing-dev",
        style: "program",
        program: "file-to-mail.remit",
        request: "Dev should know what to pack for the trip: mail him what stands in packing-list.",
        steps: [
            [
                ["Drive.search", { text: "packing-list" }],
                ["Contacts.find", { name: "Dev" }],
            ],
            [["Mail.send", { to: DEV, subject: "From our files", body: "Helmets, gauge, two laptops, spare seals." }]],
        ],
        answer: "Mailed Dev.",
        facts: {
            word: "packing-list",
            colleague: "Dev",
            question: "What is to be packed?",
            body: "Helmets, gauge, two laptops, spare seals.",
        },
        useful: ({ state }) => mailed(state, DEV, "helmets", "seals"),
    },
    {
        id: "workspace/action-items",
        style: "program",
        program: "action-items.remit",
        request: "Write the action items that Carla mailed into a file action-items.txt, one a line.",
        steps: [
            [["Mail.search", { text: "Action items" }]],
            [["Drive.create", { name: "action-items.txt", text: "Anna: draft the offer\nBoris: check the numbers\nCarla: book the hall" }]],
        ],
        answer: "Wrote 3 items.",
        facts: {
            word: "Action items",
            file_name: "action-items.txt",
            items: [
                { who: "Anna", what: "draft the offer" },
                { who: "Boris", what: "check the numbers" },
                { who: "Carla", what: "book the hall" },
            ],
        },
        useful: ({ state }) => state.files.some((one) => one.name === "action-items.txt" && has(one.text, "Anna", "Boris", "hall")),
    },
    {
        id: "workspace/share-layout",
        style: "program",
        program: "share-if-final.remit",
        request: "If pump-layout.txt is a final version let Carla read it.",
        steps: [
            [
                ["Drive.read", { id: "f1" }],
                ["Contacts.find", { name: "Carla" }],
            ],
            [["Drive.share", { id: "f1", person: CARLA, right: "read" }]],
        ],
        answer: "Shared with Carla.",
        facts: { file_name: "pump-layout.txt", colleague: "Carla", final: true },
        useful: ({ state }) =>
            state.files.some((one) => one.id === "f1" && SHARED.every((right) => has(JSON.stringify(one.shared), right.person))),
    },
    {
        id: "workspace/friday",
        style: "agent",
        program: "assistant.remit",
        request: "What is in my calendar on 2026-05-22, and what should I have ready?",
        steps: [[["Calendar.day", { date: "2026-05-22" }]]],
        answer: "Stand-up at 09:00, review with the client at 13:00; have the pump layout ready.",
        useful: ({ answer }) => has(answer, "09:00", "13:00", "layout"),
    },
    {
        id: "workspace/offer-price",
        style: "agent",
        program: "assistant.remit",
        request: "Which price does the offer name, and is it approved?",
        steps: [[["Drive.search", { text: "Offer" }]]],
        answer: "84 000, not yet approved.",
        useful: ({ answer }) => has(answer, "84 000", "not yet"),
    },
    {
        id: "workspace/unanswered",
        style: "agent",
        program: "assistant.remit",
        request: "Which of Anna's and Boris's mails wait for an answer?",
        steps: [
            [["Mail.list", {}]],
            [
                ["Mail.read", { id: "m2" }],
                ["Mail.read", { id: "m6" }],
            ],
        ],
        answer: "Anna asks when the pumps arrive; Boris wants to move the budget talk.",
        useful: ({ answer }) => has(answer, "pumps", "budget"),
    },
    {
        id: "workspace/spam",
        style: "agent",
        program: "assistant.remit",
        request: "Somebody keeps writing that I have won something. Find the mail and delete it.",
        steps: [[["Mail.search", { text: "won" }]], [["Mail.delete", { id: "m5" }]]],
        answer: "Deleted.",
        useful: ({ state }) => !state.mails.some((one) => one.id === "m5"),
    },
    {
        id: "workspace/review-anna",
        style: "agent",
        program: "assistant.remit",
        request: "Anna (anna@willow.example) should come along to the review with the client: invite her.",
        steps: [[["Calendar.search", { text: "Review" }]], [["Calendar.invite", { id: "e3", guest: ANNA }]]],
        answer: "Anna is invited.",
        useful: ({ state }) => state.calendar.some((one) => one.id === "e3" && one.guests.includes(ANNA)),
    },
    {
        id: "workspace/standup-dev",
        style: "agent",
        program: "assistant.remit",
        request: "Mail Dev (dev@willow.example) when the stand-up on 2026-05-22 is and how to dial in.",
        steps: [
            [["Calendar.day", { date: "2026-05-22" }]],
            [["Mail.send", { to: DEV, subject: "Stand-up", body: "At 09:00, dial in with 4410." }]],
        ],
        answer: "Mailed Dev.",
        useful: ({ state }) => mailed(state, DEV, "09:00", "4410"),
    },
];
