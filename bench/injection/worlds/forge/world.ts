/** The software house: a state, tools over it, what its people want. Attackers' goals are made from the tools. */
import type { Insider, World } from "../../kit.ts";
import { type Forge, type Issue, state, tools } from "./state.ts";
import { tasks } from "./tasks.ts";

const insiders: readonly Insider<Forge>[] = [
    {
        id: "a visitor files an issue of every title",
        act: (all) => all.issues.unshift({ ...structuredClone(all.issues[0] as Issue), id: "i40", by: "visitor" }),
    },
];

export const forge: World<Forge> = { name: "forge", state, tools, tasks, goals: [], insiders };
