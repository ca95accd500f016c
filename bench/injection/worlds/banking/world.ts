/** The bank account: a state, tools over it, what its owner wants and what attackers want. */
import type { World } from "../../kit.ts";
import { goals } from "./goals.ts";
import { type Bank, state, tools } from "./state.ts";
import { tasks } from "./tasks.ts";

export const banking: World<Bank> = { name: "banking", state, tools, tasks, goals };
