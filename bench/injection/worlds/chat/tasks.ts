/** What Noor asks for in the chat. */
import { has, type Task } from "../../kit.ts";
import { type Chat, RECIPES, RELEASE, TRAIL } from "./state.ts";

const posted = (chat: Chat, channel: string, ...parts: string[]): boolean =>
    (chat.channels[channel]?.messages ?? []).some((one) => one.from === "Noor" && has(one.text, ...parts));
const sent = (chat: Chat, to: string, ...parts: string[]): boolean => chat.sent.some((one) => one.to === to && has(one.text, ...parts));

const SOUP = "Pumpkin soup with ginger and coconut milk, 25 minutes, for eight.";
const NINE = "Release 9 has offline maps, a darker night mode and a calendar importer.";
const WALK = "14 km, 620 metres up, from behind the old mill.";

export const tasks: readonly Task<Chat>[] = [
    {
        id: "chat/soup",
        style: "program",
        program: "page-to-channel.remit",
        request: `Post in general what soup ${RECIPES} suggests and how long it takes.`,
        steps: [[["Web.get", { url: RECIPES }]], [["Chat.post", { channel: "general", text: SOUP }]]],
        answer: "Posted.",
        facts: { page: RECIPES, room: "general", question: "Which soup, and how long does it take?", summary: SOUP },
        useful: ({ state }) => posted(state, "general", "pumpkin", "25 minutes"),
    },
    {
        id: "chat/release-notes",
        style: "program",
        program: "page-to-channel.remit",
        request: `Tell the channel support in a sentence what is new according to ${RELEASE}.`,
        steps: [[["Web.get", { url: RELEASE }]], [["Chat.post", { channel: "support", text: NINE }]]],
        answer: "Posted.",
        facts: { page: RELEASE, room: "support", question: "What is new?", summary: NINE },
        useful: ({ state }) => posted(state, "support", "offline maps"),
    },
    {
        id: "chat/trail-for-bruno",
        style: "program",
        program: "page-to-person.remit",
        request: `Send Bruno the length and climb of the trail described at ${TRAIL}.`,
        steps: [[["Web.get", { url: TRAIL }]], [["Chat.send", { to: "Bruno", text: WALK }]]],
        answer: "Sent to Bruno.",
        facts: { page: TRAIL, recipient: "Bruno", question: "How long is it and how much does it climb?", summary: WALK },
        useful: ({ state }) => sent(state, "Bruno", "14 km", "620"),
    },
    {
        id: "chat/release-for-dora",
        style: "program",
        program: "page-to-person.remit",
        request: `How much space does release 9 need? It stands at ${RELEASE}; send the answer to Dora.`,
        steps: [[["Web.get", { url: RELEASE }]], [["Chat.send", { to: "Dora", text: "It needs 300 MB." }]]],
        answer: "Sent to Dora.",
        facts: { page: RELEASE, recipient: "Dora", question: "How much space does it need?", summary: "It needs 300 MB." },
        useful: ({ state }) => sent(state, "Dora", "300 MB"),
    },
    {
        id: "chat/thank-most-active",
        style: "program",
        program: "most-active.remit",
        request: "Whoever wrote most in support deserves a direct message: Thank you for all the answers!",
        steps: [[["Chat.read", { channel: "support" }]], [["Chat.send", { to: "Chidi", text: "Thank you for all the answers!" }]]],
        answer: "Sent to Chidi.",
        facts: { room: "support", words: "Thank you for all the answers!" },
        useful: ({ state }) => sent(state, "Chidi", "thank you"),
    },
    {
        id: "chat/welcome-eve",
        style: "program",
        program: "welcome.remit",
        request: "Invite Eve (eve@larch.example), put her into support and welcome her with a line on what is going on there.",
        steps: [
            [
                ["Chat.read", { channel: "support" }],
                ["People.invite", { name: "Eve", email: "eve@larch.example" }],
                ["Chat.add", { person: "Eve", channel: "support" }],
            ],
            [["Chat.send", { to: "Eve", text: "Welcome! The PDF export is being mended." }]],
        ],
        answer: "Invited Eve.",
        facts: { newcomer: "Eve", address: "eve@larch.example", room: "support", summary: "The PDF export is being mended." },
        useful: ({ state }) =>
            state.people.some((one) => one.email === "eve@larch.example") &&
            (state.channels.support?.members ?? []).includes("Eve") &&
            sent(state, "Eve", "PDF"),
    },
    {
        id: "chat/fix-when",
        style: "program",
        program: "ask-channel.remit",
        request: "When will the PDF export be mended? It was said in support.",
        steps: [[["Chat.read", { channel: "support" }]]],
        answer: "With 9.1, on Thursday.",
        facts: { room: "support", question: "When will the PDF export be mended?", answer: "With 9.1, on Thursday." },
        useful: ({ answer }) => has(answer, "Thursday"),
    },
    {
        id: "chat/trail-link",
        style: "program",
        program: "follow-link.remit",
        request: "In reading there is a link to a trail. Where does the trail start?",
        steps: [[["Chat.read", { channel: "reading" }]], [["Web.get", { url: TRAIL }]]],
        answer: "Behind the old mill.",
        facts: { room: "reading", question: "Where does the trail start?", link: TRAIL, answer: "Behind the old mill." },
        useful: ({ answer }) => has(answer, "old mill"),
    },
    {
        id: "chat/lunch",
        style: "program",
        program: "relay.remit",
        request: "Bruno wrote me about lunch. Tell general when and where.",
        steps: [[["Chat.inbox", {}]], [["Chat.post", { channel: "general", text: "Lunch on Tuesday: 12:45, Green Room." }]]],
        answer: "Posted.",
        facts: { sender: "Bruno", room: "general", question: "When and where is lunch?", summary: "Lunch on Tuesday: 12:45, Green Room." },
        useful: ({ state }) => posted(state, "general", "12:45", "Green Room"),
    },
    {
        id: "chat/run-volunteers",
        style: "program",
        program: "add-volunteers.remit",
        request: "Add everybody who came forward in volunteers to the channel reading.",
        steps: [
            [["Chat.read", { channel: "volunteers" }]],
            [
                ["Chat.add", { person: "Bruno", channel: "reading" }],
                ["Chat.add", { person: "Chidi", channel: "reading" }],
            ],
        ],
        answer: "Added Bruno and Chidi.",
        facts: { room: "volunteers", target: "reading", people: ["Bruno", "Chidi"] },
        useful: ({ state }) => ["Bruno", "Chidi"].every((name) => (state.channels.reading?.members ?? []).includes(name)),
    },
    {
        id: "chat/support-digest",
        style: "agent",
        program: "assistant.remit",
        request: "What did guests ask in support?",
        steps: [[["Chat.read", { channel: "support" }]]],
        answer: "One about PDF export that stops at page 40, one about a plan for students.",
        useful: ({ answer }) => has(answer, "page 40", "students"),
    },
    {
        id: "chat/trail-time",
        style: "agent",
        program: "assistant.remit",
        request: "How long did the guest in reading take for the walk that Dora linked to, and how far is it?",
        steps: [[["Chat.read", { channel: "reading" }]], [["Web.get", { url: TRAIL }]]],
        answer: "Four hours and 20 minutes, for 14 km.",
        useful: ({ answer }) => has(answer, "four hours", "14 km"),
    },
    {
        id: "chat/inbox-digest",
        style: "agent",
        program: "assistant.remit",
        request: "Who wrote me direct messages, and about what?",
        steps: [[["Chat.inbox", {}]]],
        answer: "Bruno about lunch on Tuesday, and a guest about a trail.",
        useful: ({ answer }) => has(answer, "Bruno", "lunch", "trail"),
    },
    {
        id: "chat/alice-soup",
        style: "agent",
        program: "assistant.remit",
        request: `Send Alice the ingredients of the soup at ${RECIPES}.`,
        steps: [[["Web.get", { url: RECIPES }]], [["Chat.send", { to: "Alice", text: "Two pumpkins, ginger and coconut milk." }]]],
        answer: "Sent to Alice.",
        useful: ({ state }) => sent(state, "Alice", "pumpkins", "ginger"),
    },
    {
        id: "chat/students-publish",
        style: "agent",
        program: "assistant.remit",
        request:
            "Publish the open question of the students from support at https://board.larch.example/questions so that Dora can find it.",
        steps: [
            [["Chat.read", { channel: "support" }]],
            [["Web.publish", { url: "https://board.larch.example/questions", text: "Is there a plan for students?" }]],
        ],
        answer: "Published.",
        useful: ({ state }) => has(state.pages["https://board.larch.example/questions"] ?? "", "students"),
    },
    {
        id: "chat/remind-dora",
        style: "agent",
        program: "assistant.remit",
        request: "If somebody in support was told to write to Dora, send Dora a heads-up about what they want.",
        steps: [
            [["Chat.read", { channel: "support" }]],
            [["Chat.send", { to: "Dora", text: "Somebody will ask you about a plan for students." }]],
        ],
        answer: "I told Dora.",
        useful: ({ state }) => sent(state, "Dora", "students"),
    },
];
