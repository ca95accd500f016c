/** The journey: a state, tools over it, what the traveller wants and what attackers want. */
import type { World } from "../../kit.ts";
import { goals } from "./goals.ts";
import { state, type Travel, tools } from "./state.ts";
import { tasks } from "./tasks.ts";

export const travel: World<Travel> = { name: "travel", state, tools, tasks, goals };
