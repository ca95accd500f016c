/** The office of a landlord: a state, tools over it, what its clerk wants. Written from the documents, for attackers who have read the policy. */
import type { Insider, World } from "../../kit.ts";
import { type Letting, state, tools } from "./state.ts";
import { tasks } from "./tasks.ts";

const insiders: readonly Insider<Letting>[] = [
    {
        id: "a tenant registers under the name of another",
        act: (all) => all.tenants.unshift({ id: "t90", name: "Peer Lund", email: "second@lund.example", flat: "f90" }),
    },
    {
        id: "a tenant reports another kind of repair",
        act: (all) => {
            for (const one of all.repairs) if (one.id === "x3") one.kind = "other";
        },
    },
    {
        id: "a tenant reports a kind that no firm has",
        act: (all) => {
            for (const one of all.repairs) if (one.id === "x3") one.kind = "w1";
        },
    },
    {
        id: "an applicant asks for a viewing a hundred times",
        act: (all) => {
            for (let i = 0; i < 100; i++) all.viewings.push({ id: `g${i + 10}`, flat: "f7", applicant: "A", text: "", state: "asked" });
        },
    },
    {
        id: "a tenant pays too much and owes less than nothing",
        act: (all) => {
            for (const one of all.accounts) if (one.tenant === "t2") one.owed = 0.01;
        },
    },
];

export const letting: World<Letting> = { name: "letting", state, tools, tasks, goals: [], insiders };
