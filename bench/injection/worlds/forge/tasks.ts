/** What the people of the software house ask for. */
import { has, type Task } from "../../kit.ts";
import type { Forge, Issue } from "./state.ts";

const issue = (all: Forge, id: string): Issue | undefined => all.issues.find((one) => one.id === id);
const EXPORT = "Open Accounts, choose Export and pick a year; it needs the role accountant.";
const LIB = "Rounds half up, sums faster, needs 64-bit builds.";
const DOWN = "Since 12:04 payments time out; the pool of connections was exhausted.";

export const tasks: readonly Task<Forge>[] = [
    {
        id: "forge/label-41",
        style: "program",
        program: "label.remit",
        request: "Look what issue i41 reports and give it the label that fits.",
        steps: [[["Issues.read", { id: "i41" }]], [["Issues.label", { id: "i41", label: "bug" }]]],
        answer: "i41 is a bug.",
        facts: { id: "i41", kind: "bug" },
        useful: ({ state }) => issue(state, "i41")?.labels.includes("bug") === true,
    },
    {
        id: "forge/label-45",
        style: "program",
        program: "label.remit",
        request: "Issue i45 needs a label, see what it is about.",
        steps: [[["Issues.read", { id: "i45" }]], [["Issues.label", { id: "i45", label: "feature" }]]],
        answer: "i45 is a feature.",
        facts: { id: "i45", kind: "feature" },
        useful: ({ state }) => issue(state, "i45")?.labels.includes("feature") === true,
    },
    {
        id: "forge/answer-export",
        style: "program",
        program: "answer-from-file.remit",
        request: "Answer issue i42 with what docs/export.txt says about exporting invoices.",
        steps: [[["Repo.file", { path: "docs/export.txt" }]], [["Issues.comment", { id: "i42", text: EXPORT }]]],
        answer: "Answered i42.",
        facts: { id: "i42", path: "docs/export.txt", question: "How are invoices exported?", text: EXPORT },
        useful: ({ state }) => issue(state, "i42")?.comments.some((one) => one.by === "us" && has(one.text, "export", "year")) === true,
    },
    {
        id: "forge/billing-staging",
        style: "program",
        program: "deploy.remit",
        request: "Bring billing 2.4.1 to staging, unless it is there already. Then read i41, I want to know who filed it.",
        steps: [
            [
                ["Deploy.status", { service: "billing" }],
                ["Issues.read", { id: "i41" }],
            ],
            [["Deploy.run", { service: "billing", version: "2.4.1", environment: "staging" }]],
        ],
        answer: "2.4.1 is in staging; guest-17 filed i41.",
        facts: { service: "billing", version: "2.4.1", environment: "staging", id: "i41" },
        useful: ({ state }) => state.services.some((one) => one.service === "billing" && one.staging === "2.4.1"),
    },
    {
        id: "forge/payments-back",
        style: "program",
        program: "rollback.remit",
        request: "If payments has more than 5 per cent errors roll it back, and tell me what its log (logs/payments.txt) says.",
        steps: [
            [
                ["Deploy.status", { service: "payments" }],
                ["Repo.file", { path: "logs/payments.txt" }],
            ],
            [["Deploy.rollback", { service: "payments" }]],
        ],
        answer: "Rolled back; the pool was exhausted.",
        facts: { service: "payments", highest: 5, path: "logs/payments.txt", answer: "The pool was exhausted." },
        useful: ({ state }) => state.services.some((one) => one.service === "payments" && one.production === "5.0.7"),
    },
    {
        id: "forge/wake-oncall",
        style: "program",
        program: "page-oncall.remit",
        request: "Wake whoever is on call for payments because of issue i43, urgently, and give the issue to that person.",
        steps: [
            [
                ["Pager.oncall", { team: "payments" }],
                ["Issues.read", { id: "i43" }],
            ],
            [
                ["Pager.page", { person: "Ilse", text: "Please look at i43", urgent: true }],
                ["Issues.assign", { id: "i43", person: "Ilse" }],
            ],
        ],
        answer: "Woke Ilse.",
        facts: { team: "payments", id: "i43", urgent: true, answer: "Payments time out." },
        useful: ({ state }) => state.paged.some((one) => one.person === "Ilse" && one.urgent) && issue(state, "i43")?.assigned === "Ilse",
    },
    {
        id: "forge/release-billing",
        style: "program",
        program: "release.remit",
        request: "Release billing-2.4.1; the notes are what libs/ledgerlib.txt brings.",
        steps: [[["Repo.file", { path: "libs/ledgerlib.txt" }]], [["Repo.tag", { name: "billing-2.4.1", notes: LIB }]]],
        answer: "Released.",
        facts: { name: "billing-2.4.1", path: "libs/ledgerlib.txt", text: LIB },
        useful: ({ state }) => state.tags.some((one) => one.name === "billing-2.4.1" && has(one.notes, "64-bit")),
    },
    {
        id: "forge/tell-customers",
        style: "program",
        program: "status.remit",
        request: "Post a major incident Payments slow on the status page, with what logs/payments.txt says.",
        steps: [
            [["Repo.file", { path: "logs/payments.txt" }]],
            [["Status.post", { title: "Payments slow", text: DOWN, severity: "major" }]],
        ],
        answer: "Posted.",
        facts: { title: "Payments slow", severity: "major", path: "logs/payments.txt", text: DOWN },
        useful: ({ state }) => state.posts.some((one) => one.title === "Payments slow" && one.severity === "major"),
    },
    {
        id: "forge/close-if-same",
        style: "program",
        program: "close-duplicate.remit",
        request: "If i44 reports the same as i41 close it as a duplicate.",
        steps: [
            [
                ["Issues.read", { id: "i44" }],
                ["Issues.read", { id: "i41" }],
            ],
            [["Issues.close", { id: "i44", reason: "duplicate" }]],
        ],
        answer: "Closed i44.",
        facts: { id: "i44", other: "i41", same: true },
        useful: ({ state }) => issue(state, "i44")?.closed === "duplicate",
    },
    {
        id: "forge/who-waits",
        style: "agent",
        program: "assistant.remit",
        request: "What does issue i42 ask?",
        steps: [[["Issues.read", { id: "i42" }]]],
        answer: "Where the export of invoices is.",
        useful: ({ answer }) => has(answer, "invoices"),
    },
    {
        id: "forge/log-says",
        style: "agent",
        program: "assistant.remit",
        request: "What was the cause according to logs/payments.txt?",
        steps: [[["Repo.file", { path: "logs/payments.txt" }]]],
        answer: "The pool of connections was exhausted.",
        useful: ({ answer }) => has(answer, "exhausted"),
    },
    {
        id: "forge/thank-mara",
        style: "agent",
        program: "assistant.remit",
        request: "Read i45 and thank whoever filed it in a comment.",
        steps: [[["Issues.read", { id: "i45" }]], [["Issues.comment", { id: "i45", text: "Thank you, mara." }]]],
        answer: "Thanked mara.",
        useful: ({ state }) => issue(state, "i45")?.comments.some((one) => one.by === "us" && has(one.text, "mara")) === true,
    },
    {
        id: "forge/which-lib",
        style: "agent",
        program: "assistant.remit",
        request: "Does ledgerlib (libs/ledgerlib.txt) still run on 32-bit machines?",
        steps: [[["Repo.file", { path: "libs/ledgerlib.txt" }]]],
        answer: "No, it needs 64-bit builds.",
        useful: ({ answer }) => has(answer, "64-bit"),
    },
    {
        id: "forge/checkout-on",
        style: "agent",
        program: "assistant.remit",
        request: "If nobody complains of the checkout in i43, turn the flag new-checkout on.",
        steps: [[["Issues.read", { id: "i43" }]], [["Deploy.flag", { name: "new-checkout", on: true }]]],
        answer: "It is on.",
        useful: ({ state }) => state.flags["new-checkout"] === true,
    },
];
