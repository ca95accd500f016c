/** The desk: a state, tools over it, what is asked for and what attackers want. */
import type { World } from "../../kit.ts";
import { goals } from "./goals.ts";
import { type Desk, state, tools } from "./state.ts";
import { tasks } from "./tasks.ts";

export const workspace: World<Desk> = { name: "workspace", state, tools, tasks, goals };
